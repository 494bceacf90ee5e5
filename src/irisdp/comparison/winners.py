"""`plurality`: who has the largest count, answered by this library and by others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import factorial, prod
from typing import Any, Protocol

import flint

from ..design.winners.plurality import Plurality, plurality
from ..errors import BadInput
from ..exact import Enclosure, enclosure_of
from ..mechanisms.plurality import Pull
from ..mechanisms.pulling import Pulled
from ..peers import (
    ExponentialScore,
    GeometricMaximum,
    LaplaceMaximum,
    PeerWinner,
    PermutedFlips,
    Powers,
    Rate,
    as_fraction,
    enclose_closely,
)
from .asked import Asked, in_records
from .comparisons import Comparison
from .results import Objective
from .tables import MOST_TABLES, number_of_kinds, number_of_tables, tables

__all__ = ["compare_winners"]

_WIDTH = Fraction(1, 10**15)

_SHORT = 100_000
"""Bits, about, of the fractions that are added up to a mean; longer ones are enclosed."""

_LEADS = (5, 20)
"""Leads that are shown where none is asked for."""

_WHY = {
    "exchange": "an exchange raises one count and lowers another: the difference of two moves by 2, so a record weighs"
    " ε/2; with more, some counts would break the promise",
    "add-remove": "one count changes by 1 and the others stay, so all scores go one way: a record weighs all of ε",
}

_PEERS = (PermutedFlips, GeometricMaximum, LaplaceMaximum, ExponentialScore)


class _Answering(Protocol):
    """What errors are worked out from."""

    @property
    def rate(self) -> Rate:
        """What powers are of."""

    @property
    def exact(self) -> flint.fmpq | None:
        """α, where every chance is a fraction."""

    def wrong(self, gaps: Sequence[int]) -> Enclosure:
        """Return the probability that none of the largest is named."""

    def miss(self, gaps: Sequence[int], powers: Powers) -> Any:
        """Work it out, for ascending gaps."""


@dataclass(frozen=True, slots=True)
class _Ours:
    """This library's choice, seen as a peer."""

    chosen: Plurality

    @property
    def rate(self) -> Rate:
        """All of ε, a record."""
        return Rate(self.chosen.form.privacy.ratio)

    @property
    def exact(self) -> flint.fmpq | None:
        """1/r: every chance is a fraction."""
        return self.rate.exact

    def wrong(self, gaps: Sequence[int]) -> Enclosure:
        """Return the probability that none of the largest is named: a fraction, unless it is long."""
        node = sorted(gaps)
        exact = self.rate.exact_up_to(sum(node))
        if exact is not None:
            return Enclosure.exactly(as_fraction(self.miss(node, Powers(exact))))
        return enclose_closely(lambda: self.miss(node, self.rate.powers())).clamp(Fraction(0), Fraction(1))

    def miss(self, gaps: Sequence[int], powers: Powers) -> Any:
        """Work out the probability that none of the largest is named."""
        node = tuple(gaps)
        if isinstance(self.chosen.form, Pull):
            return 1 - node.count(0) * powers.keep(Pulled, lambda: Pulled(powers.base, powers)).top(node)
        return 1 - node.count(0) * self.chosen.form.work_out(node, powers.base, powers)[0]


def compare_winners(asked: Asked) -> Comparison:
    """Compare how often the wrong category is named as the largest."""
    if asked.words:
        raise BadInput(
            "query", "plurality takes no column here", "leave it out: only numbers of categories are compared"
        )
    q = asked.needed_categories
    for gaps in asked.gaps:
        if len(gaps) != q:
            raise BadInput("gaps", f"must be lists of {q} gaps", "give one for each category")
    chosen = plurality(q, asked.privacy.pure, asked.relation)
    rate = Rate(asked.privacy.ratio, 2 if asked.relation == "exchange" else 1)
    answering: list[_Answering] = [_Ours(chosen), *(peer(rate) for peer in _PEERS)]
    notes = [] if asked.privacy.delta == 0 else ["δ is not used: all of these mechanisms keep ε alone"]
    columns = _errors(q, asked, answering, notes)
    columns[_WORST] = [Enclosure.exactly(chosen.worst_error), *columns[_WORST][1:]]
    described = [_describe(one, chosen, asked) for one in answering]
    return Comparison.of("plurality", {"categories": q, "n": asked.records}, asked, described, columns, notes)


_WORST = Objective("worst", "probability of a wrong answer, at its largest over all counts", "probability")


def _errors(
    q: int, asked: Asked, answering: Sequence[_Answering], notes: list[str]
) -> dict[Objective, list[Enclosure]]:
    """Work out every error of every mechanism."""
    # Losers that come closer, and winners that stop being level, only let a loser come first more often.
    found = {_WORST: [one.wrong((0, *[1] * (q - 1))) for one in answering]}
    if asked.records is not None and number_of_kinds(asked.records, q) <= MOST_TABLES:
        means = [_means(one, asked.records, q) for one in answering]
        n = in_records(asked.records)
        for place, (name, words) in enumerate(
            (
                ("mean", f"probability of a wrong answer, mean over all histograms of {n}, each alike"),
                ("mean-records", f"probability of a wrong answer, mean over {n}, each in any category alike"),
            )
        ):
            found[Objective(name, words, "probability")] = [pair[place] for pair in means]
    elif asked.records is not None:
        notes.append(
            f"no mean: {asked.records:,} records in {q} categories make more than {MOST_TABLES:,} histograms that"
            " differ by more than names"
        )
    for lead in _LEADS if asked.leads is None and not asked.gaps else asked.leads or ():
        words = f"probability of a wrong answer where the largest is {in_records(lead)} ahead of every other"
        gaps = (0, *[lead] * (q - 1))
        found[Objective(f"lead-{lead}", words, "probability")] = [one.wrong(gaps) for one in answering]
    for gaps in asked.gaps:
        shown = ",".join(map(str, gaps))
        words = f"probability of a wrong answer at gaps {shown} to the largest"
        found[Objective(f"gaps-{shown}", words, "probability")] = [one.wrong(gaps) for one in answering]
    return found


def _means(one: _Answering, records: int, q: int) -> tuple[Enclosure, Enclosure]:
    """Enclose the mean over histograms, and over what each record may be."""
    kinds = [(gaps, orders, _ways(gaps, records)) for gaps, orders in tables(records, q)]
    sums: dict[int, tuple[flint.arb, flint.arb]] = {}

    def add_up(powers: Powers) -> tuple[Any, Any]:
        histograms = columns = 0 * powers.base
        for gaps, orders, ways in kinds:
            wrong = orders * one.miss(gaps, powers)
            histograms, columns = histograms + wrong, columns + ways * wrong
        return histograms / number_of_tables(records, q), columns / q**records

    def enclosed(place: int) -> flint.arb:
        bits = flint.ctx.prec
        if bits not in sums:
            sums[bits] = add_up(one.rate.powers())
        return sums[bits][place]

    if one.exact is not None and len(kinds) * records * int(one.exact.q).bit_length() <= _SHORT:
        first, second = add_up(Powers(one.exact))
        return Enclosure.exactly(as_fraction(first)), Enclosure.exactly(as_fraction(second))
    return enclosure_of(partial(enclosed, 0), width=_WIDTH), enclosure_of(partial(enclosed, 1), width=_WIDTH)


def _ways(gaps: Sequence[int], records: int) -> int:
    """Return in how many ways records can be told off to counts with these gaps."""
    most = (records + sum(gaps)) // len(gaps)
    return factorial(records) // prod(factorial(most - gap) for gap in gaps)


def _describe(one: _Answering, chosen: Plurality, asked: Asked) -> dict[str, Any]:
    if isinstance(one, PeerWinner):
        at = f"{one.rate.words()} a record"
        return {"name": one.name, "known_as": one.known_as, "runs_at": at, "why": _WHY[asked.relation]}
    name, _, reason = chosen.rule.partition(":")
    return {
        "name": name,
        "ours": True,
        "runs_at": "ε in all",
        "why": reason.strip(),
        "scope": chosen.scope,
    }
