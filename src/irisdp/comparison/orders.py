"""`top K` and `ranking`: the largest categories, or all in order, named by this library and by others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..cells import LargestCategories
from ..design.pulling import UNIT
from ..errors import BadInput
from ..exact import Enclosure, integer
from ..peers import JointExponential, PeeledExponential, PeerOrder, Rate, SortedNoise
from .asked import Asked, in_records
from .comparisons import Comparison
from .results import Objective
from .tables import number_of_kinds, number_of_tables, tables

__all__ = ["compare_ranking", "compare_top"]

LARGEST_CATEGORIES = 5
"""All orders of the categories are gone through."""

_MOST_KINDS = 200
"""Kinds of tables over which a mean is taken: seconds."""

_LEADS = (1, 5, 20)


class _Answering(Protocol):
    """What errors are worked out from."""

    def wrong(self, counts: Sequence[int]) -> Enclosure:
        """Return the probability of a wrong answer."""


@dataclass(frozen=True, slots=True)
class _Table:
    """This library's table of chances."""

    made: LargestCategories

    def wrong(self, counts: Sequence[int]) -> Enclosure:
        """Add up the chances of all wrong answers, a fraction."""
        table = self.made.table
        assert table is not None
        weights = table.at(np.array([counts], np.int64))[0].tolist()
        right = set(SortedNoise(Rate(Fraction(2)), self.made.k).answers(counts))
        lost = sum(weight for weight, answer in zip(weights, table.answers, strict=True) if answer not in right)
        return Enclosure.exactly(Fraction(lost, UNIT))


def compare_top(asked: Asked) -> Comparison:
    """Compare how often a wrong category is among the K that are named as the largest."""
    if len(asked.words) != 1:
        raise BadInput("query", "top needs a number K and takes no column here", "write top 2")
    q = _categories(asked)
    named = integer(asked.words[0], "K", at_least=1, at_most=q - 1)
    return _compare(asked, f"top {named}", q, named)


def compare_ranking(asked: Asked) -> Comparison:
    """Compare how often categories are not named in their order."""
    if asked.words:
        raise BadInput("query", "ranking takes no column here", "leave it out: only numbers of categories are compared")
    return _compare(asked, "ranking", _categories(asked), None)


def _categories(asked: Asked) -> int:
    return integer(asked.needed_categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)


def _compare(asked: Asked, query: str, q: int, named: int | None) -> Comparison:
    exchange, ratio = asked.relation == "exchange", asked.privacy.ratio
    ours = LargestCategories(named, q, asked.privacy.pure, exchange)
    rounds = q - 1 if named is None else named
    peers: list[tuple[PeerOrder, str]] = [
        (
            SortedNoise(Rate(ratio, 2 if exchange else 1), named),
            "an exchange moves two counts, each with noise of its own: ε/2 for each"
            if exchange
            else "a record moves one count: its noise may keep all of ε",
        ),
        (
            PeeledExponential(Rate(ratio, rounds + exchange), named),
            f"{rounds} rounds, each of which a record moves by its weight at most"
            + (", and the chance of all that are named once more" if exchange else ""),
        ),
        (
            JointExponential(Rate(ratio, 4 if exchange else 2), named),
            f"its score moves by {2 if exchange else 1} at most, of some answers up and of others down: half of ε",
        ),
    ]
    if ours.table is None:
        peers = peers[1:]  # this library sorts noisy counts itself
    notes = [] if asked.privacy.delta == 0 else ["δ is not used: all of these mechanisms keep ε alone"]
    if ours.table is None:
        notes.append("equal sums stand in a public order of the categories: errors are means over all such orders")
    answering: list[_Answering] = [_ours(ours), *(peer for peer, _ in peers)]
    columns = _errors(q, named, asked, answering, notes)
    described = [
        _describe(ours),
        *(
            {"name": peer.name, "known_as": peer.known_as, "runs_at": f"{peer.rate.words()} a record", "why": why}
            for peer, why in peers
        ),
    ]
    return Comparison.of(query, {"categories": q, "n": asked.records}, asked, described, columns, notes)


def _ours(made: LargestCategories) -> _Answering:
    return _Table(made) if made.table is not None else SortedNoise(Rate(made.noise.ratio), made.k)


def _describe(made: LargestCategories) -> dict[str, Any]:
    table = made.table
    if table is None:
        name = "noisy counts, sorted"
        why = "no table of this size passes: each count has geometric noise"
    else:
        name = {"pull": "pull on capped heights", "linear program": "linear program on capped heights"}[table.rule]
        why = f"steps above {table.largest} count as that; every edge of their graph was checked in whole numbers"
    return {"name": name, "ours": True, "runs_at": "ε in all", "why": why, "scope": "no optimality is claimed"}


def _errors(
    q: int, named: int | None, asked: Asked, answering: Sequence[_Answering], notes: list[str]
) -> dict[Objective, list[Enclosure]]:
    found = {}
    for lead in _LEADS if asked.leads is None else asked.leads:
        counts = [lead * (q - 1 - place) for place in range(q)] if named is None else [lead] * named + [0] * (q - named)
        where = "consecutive ones are" if named is None else "the largest are level, and ahead of all others by"
        words = f"probability of a wrong answer where {where} {in_records(lead)}{' apart' if named is None else ''}"
        found[Objective(f"lead-{lead}", words, "probability")] = [one.wrong(counts) for one in answering]
    for gaps in asked.gaps:
        if len(gaps) != q:
            raise BadInput("gaps", f"must be lists of {q} gaps", "give one for each category")
        shown = ",".join(map(str, gaps))
        words = f"probability of a wrong answer at gaps {shown} to the largest"
        counts = [max(gaps) - gap for gap in gaps]
        found[Objective(f"gaps-{shown}", words, "probability")] = [one.wrong(counts) for one in answering]
    n = asked.records
    if n is not None and number_of_kinds(n, q) <= _MOST_KINDS:
        words = f"probability of a wrong answer, mean over all histograms of {in_records(n)}, each alike"
        found[Objective("mean", words, "probability")] = [_mean(one, n, q) for one in answering]
    elif n is not None:
        notes.append(f"no mean: {n:,} records in {q} categories make more than {_MOST_KINDS} histograms up to names")
    return found


def _mean(one: _Answering, records: int, q: int) -> Enclosure:
    low = high = Fraction(0)
    for gaps, orders in tables(records, q):
        most = (records + sum(gaps)) // q
        error = one.wrong([most - gap for gap in gaps])
        low, high = low + orders * error.lower, high + orders * error.upper
    total = number_of_tables(records, q)
    return Enclosure(low / total, high / total)
