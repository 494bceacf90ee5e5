"""The largest count with the baseline mechanisms: their exact distributions.

Counts stand by how far each is behind the largest. A category's chance is worked out from powers of α = r^(−1/root).
Where records are added or removed one count moves by 1, the others stay, and each mechanism here keeps ε at α = 1/r;
where a record is exchanged one count rises and another falls, their difference moves by 2, and ε is kept at r^(−1/2).
No smaller α keeps it for counts of any size (docs/theory.md#peers).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb, factorial, prod
from typing import Any, ClassVar

import flint

from .._exact import Enclosure, enclosures_of
from ..design import PluralityMechanism, plurality
from ..errors import BadInput
from ..mechanisms import Pull, PulledChances, Winner, none_accepted_before
from ._comparison import (
    MOST_TABLES,
    Comparison,
    ComparisonParameters,
    Objective,
    in_records,
    number_of_kinds,
    number_of_tables,
    tables,
)
from ._rates import Number, Powers, Rate, as_fraction, polynomial


@dataclass(frozen=True, slots=True)
class BaselineArgmax(ABC):
    """A mechanism that names the largest of several counts.

    Parameters
    ----------
    rate : Rate
        What one record weighs.
    """

    rate: Rate

    name: ClassVar[str]
    known_as: ClassVar[str]
    rational: ClassVar[bool] = True
    """Whether chances are rational in α."""

    @abstractmethod
    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named.

        Parameters
        ----------
        gaps : sequence of int
            How many records each category has fewer than the largest.
        place : int
            Which category.
        powers : Powers
            Of α.
        """

    @property
    def exact(self) -> flint.fmpq | None:
        """α, where every chance is a fraction."""
        return self.rate.exact if self.rational else None

    def row(self, gaps: Sequence[int]) -> tuple[Enclosure, ...]:
        """Return the chance of each category: fractions where they are, else intervals."""
        return tuple(self._enclose(gaps, partial(self.chance, gaps, index)) for index in range(len(gaps)))

    def wrong(self, gaps: Sequence[int]) -> Enclosure:
        """Return the probability that none of the largest is named."""
        return self._enclose(gaps, partial(self.miss, gaps))

    def miss(self, gaps: Sequence[int], powers: Powers) -> Number:
        """Work out the probability that none of the largest is named."""
        tops = [index for index, gap in enumerate(gaps) if gap == 0]
        return 1 - len(tops) * self.chance(gaps, tops[0], powers)

    def _enclose(self, gaps: Sequence[int], formula: Callable[[Powers], Number]) -> Enclosure:
        return self.rate.enclose_probability(formula, sum(gaps) if self.rational else None)


@dataclass(frozen=True, slots=True)
class ExponentialScore(BaselineArgmax):
    """The exponential mechanism with the counts as scores: a chance proportional to α^gap.

    References
    ----------
    [McSherry2007].
    """

    name: ClassVar[str] = "exponential mechanism"
    known_as: ClassVar[str] = "report noisy max with Gumbel noise"

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        return powers(gaps[place]) / sum((powers(gap) for gap in gaps), start=0 * powers.base)


@dataclass(frozen=True, slots=True)
class PermutedFlips(BaselineArgmax):
    """Permute and flip: in random order, the first category that is accepted, each with a chance of α^gap.

    References
    ----------
    [McKenna2020]; [Ding2021], where it is the largest count with one-sided exponential noise.
    """

    name: ClassVar[str] = "permute and flip"
    known_as: ClassVar[str] = "report noisy max with exponential noise"

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        others = [powers(gap) for rank, gap in enumerate(gaps) if rank != place]
        return powers(gaps[place]) * none_accepted_before(others)


@dataclass(frozen=True, slots=True)
class _TwoSided(BaselineArgmax):
    """The largest count with noise on both sides, which falls by α a record.

    The law of the largest is added up over stretches of the sum on each of which every factor is one formula: cut where
    the own noise, or that which another category needs to come level, changes its sign.
    """

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        # By how much the own count is ahead of each other; its noise x is enough against noise up to x + ahead.
        ahead = [gap - gaps[place] for rank, gap in enumerate(gaps) if rank != place]
        cuts = sorted({0, *(-lead for lead in ahead)})
        stretches = [(None, cuts[0]), *pairwise(cuts), (cuts[-1], None)]
        total = 0 * powers.base
        for low, high in stretches:
            # At a cut itself noise counts as positive; a stretch ends before the next.
            above = [lead for lead in ahead if low is not None and low + lead >= 0]
            below = [lead for lead in ahead if low is None or low + lead < 0]
            total += self._stretch(low, high, above, below, powers)
        return total

    @abstractmethod
    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        """Work out the chance of winning with own noise from low up to below high.

        Parameters
        ----------
        low, high : int or None
            None for no end.
        above, below : list of int
            By how much the own count is ahead of others: those against whom noise of either sign, and those against
            whom only noise below 0, is beaten here.
        """


@dataclass(frozen=True, slots=True)
class LaplaceMaximum(_TwoSided):
    """Report noisy max with Laplace noise, which falls by α a record.

    References
    ----------
    [Dwork2014], Claim 3.9.
    """

    name: ClassVar[str] = "noisy max, Laplace noise"
    known_as: ClassVar[str] = "report noisy max with Laplace noise"
    rational: ClassVar[bool] = False

    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        # With v = α^x every factor is 1 − ½α^lead·v or ½α^−lead/v, and the own density is ½v or ½/v times dv/v.
        terms = polynomial([1 + 0 * powers.base])
        for lead in above:
            terms *= polynomial([1 + 0 * powers.base, -powers(lead) / 2])
        scale = 1 + 0 * powers.base
        for lead in below:
            scale *= powers(-lead) / 2
        lowest = (1 if low is not None and low >= 0 else -1) - len(below)
        total = 0 * powers.base
        for index, term in enumerate(terms.coeffs()):
            exponent = lowest + index
            if exponent == 0:
                assert low is not None
                assert high is not None
                total += term * (low - high) * powers.base.log()
                continue
            start = 0 if low is None else powers(exponent * low)
            end = 0 if high is None else powers(exponent * high)
            total += term * (start - end) / exponent
        return total * scale / 2


@dataclass(frozen=True, slots=True)
class GeometricMaximum(_TwoSided):
    """Report noisy max with two-sided geometric noise, which falls by α a record; of equal sums one at random.

    It is also what comes of publishing every count with that noise, and naming the largest.

    References
    ----------
    [Dwork2014], Claim 3.9, for Laplace noise; docs/theory.md#peers.
    """

    name: ClassVar[str] = "noisy max, geometric noise"
    known_as: ClassVar[str] = "report noisy max with discrete Laplace noise; the largest of a noisy histogram"

    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        # Of equal sums the one with the largest uniform number wins. With the own one t, τ = 1 − t(1 − α) and X = α^x,
        # another is beaten with a chance of 1 − κ·α^lead·X·τ or κ·α^−lead·(1 + α − τ)/X, κ = 1/(1 + α).
        alpha = powers.base
        terms = polynomial([1 + 0 * alpha])
        for lead in above:
            terms *= polynomial([1 + 0 * alpha, -powers(lead) / (1 + alpha)])
        scale = 1 / (1 + alpha)
        for lead in below:
            scale *= powers(-lead) / (1 + alpha)
        lowest = (1 if low is not None and low >= 0 else -1) - len(below)
        total = 0 * alpha
        for index, term in enumerate(terms.coeffs()):
            moment = powers.keep((index, len(below)), partial(_moment, index, len(below), powers))
            total += term * moment * _sum_of_powers(lowest + index, low, high, powers)
        return total * scale


def _moment(one: int, other: int, powers: Powers) -> Number:
    """Work out ∫ τ^one·(1 + α − τ)^other dτ over [α, 1]."""
    total = 0 * powers.base
    for index in range(other + 1):
        power = one + index + 1
        weight = (-1) ** index * comb(other, index)
        total += weight * (1 + powers.base) ** (other - index) * (1 - powers(power)) / power
    return total


def _sum_of_powers(exponent: int, low: int | None, high: int | None, powers: Powers) -> Number:
    """Return the sum of α^(exponent·x) over whole x from low to below high."""
    if exponent == 0:
        assert low is not None
        assert high is not None
        return (high - low) + 0 * powers.base
    start = 0 if low is None else powers(exponent * low)
    end = 0 if high is None else powers(exponent * high)
    return (start - end) / (1 - powers(exponent))


# `plurality`: who has the largest count, answered by this library and by others.

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


@dataclass(frozen=True, slots=True)
class _ChosenWinner(BaselineArgmax):
    """The mechanism that Iris uses; its rate is all of ε."""

    form: Winner

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        node, gap = tuple(sorted(gaps)), gaps[place]
        if isinstance(self.form, Pull):
            return powers.keep(PulledChances, lambda: PulledChances(powers.base, powers)).chance(node, gap)
        return self.form.work_out(node, powers.base, powers)[node.index(gap)]


def compare_winners(asked: ComparisonParameters) -> Comparison:
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
    answering = [_ChosenWinner(Rate(chosen.form.privacy.ratio), chosen.form), *(peer(rate) for peer in _PEERS)]
    notes = [] if asked.privacy.delta == 0 else ["δ is not used: all of these mechanisms keep ε alone"]
    columns = _errors(q, asked, answering, notes)
    columns[_WORST] = [Enclosure.exactly(chosen.worst_error), *columns[_WORST][1:]]
    described = [_describe(one, chosen, asked) for one in answering]
    return Comparison.of("plurality", {"categories": q, "n": asked.records}, asked, described, columns, notes)


_WORST = Objective("worst", "probability of a wrong answer, at its largest over all counts", "probability")


def _errors(
    q: int, asked: ComparisonParameters, answering: Sequence[BaselineArgmax], notes: list[str]
) -> dict[Objective, list[Enclosure]]:
    """Work out every error of every mechanism."""
    # Losers that come closer, and winners that stop being level, only let a loser come first more often.
    result = {_WORST: [one.wrong((0, *[1] * (q - 1))) for one in answering]}
    if asked.records is not None and number_of_kinds(asked.records, q) <= MOST_TABLES:
        means = [_means(one, asked.records, q) for one in answering]
        n = in_records(asked.records)
        for index, (name, words) in enumerate(
            (
                ("mean", f"probability of a wrong answer, mean over all histograms of {n}, each alike"),
                ("mean-records", f"probability of a wrong answer, mean over {n}, each in any category alike"),
            )
        ):
            result[Objective(name, words, "probability")] = [pair[index] for pair in means]
    elif asked.records is not None:
        notes.append(
            f"no mean: {asked.records:,} records in {q} categories make more than {MOST_TABLES:,} histograms that"
            " differ by more than names"
        )
    for lead in _LEADS if asked.leads is None and not asked.gaps else asked.leads or ():
        words = f"probability of a wrong answer where the largest is {in_records(lead)} ahead of every other"
        gaps = (0, *[lead] * (q - 1))
        result[Objective(f"lead-{lead}", words, "probability")] = [one.wrong(gaps) for one in answering]
    for gaps in asked.gaps:
        shown = ",".join(map(str, gaps))
        words = f"probability of a wrong answer at gaps {shown} to the largest"
        result[Objective(f"gaps-{shown}", words, "probability")] = [one.wrong(gaps) for one in answering]
    return result


def _means(one: BaselineArgmax, records: int, q: int) -> tuple[Enclosure, ...]:
    """Enclose the mean over histograms, and over what each record may be."""
    kinds = [(gaps, orders, _ways(gaps, records)) for gaps, orders in tables(records, q)]

    def add_up(powers: Powers) -> tuple[Any, Any]:
        histograms = columns = 0 * powers.base
        for gaps, orders, ways in kinds:
            wrong = orders * one.miss(gaps, powers)
            histograms, columns = histograms + wrong, columns + ways * wrong
        return histograms / number_of_tables(records, q), columns / q**records

    if one.exact is not None and len(kinds) * records * int(one.exact.q).bit_length() <= _SHORT:
        first, second = add_up(Powers(one.exact))
        return Enclosure.exactly(as_fraction(first)), Enclosure.exactly(as_fraction(second))
    return enclosures_of(lambda: add_up(one.rate.powers()), 2, width=_WIDTH)


def _ways(gaps: Sequence[int], records: int) -> int:
    """Return in how many ways records can be told off to counts with these gaps."""
    most = (records + sum(gaps)) // len(gaps)
    return factorial(records) // prod(factorial(most - gap) for gap in gaps)


def _describe(one: BaselineArgmax, chosen: PluralityMechanism, asked: ComparisonParameters) -> dict[str, Any]:
    if not isinstance(one, _ChosenWinner):
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
