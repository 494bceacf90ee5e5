"""The K largest of several counts, or all in order, with the baselines: probability of a right answer.

A set of K categories is right if none of it is below one left out; an order if counts never rise along it. So among
categories that are level any is right. What a record weighs is said by a rate α = r^(−1/root).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations
from typing import Any, ClassVar

import flint
import numpy as np

from .._exact import Enclosure, integer
from .._measurements import LargestCategories
from ..design import UNIT
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ._comparison import (
    Comparison,
    ComparisonParameters,
    Objective,
    in_records,
    number_of_kinds,
    number_of_tables,
    tables,
)
from ._rates import Number, Powers, Rate

_FARTHEST = 10_000
"""How far noise is looked at, at the least precision: some seconds."""


@dataclass(frozen=True, slots=True)
class PeerOrder(ABC):
    """A mechanism that names the K largest categories, or all in order.

    Parameters
    ----------
    rate : Rate
        What one record weighs.
    named : int or None
        K; None for all in order.
    """

    rate: Rate
    named: int | None

    name: ClassVar[str]
    known_as: ClassVar[str] = ""

    @abstractmethod
    def right(self, counts: Sequence[int], powers: Powers) -> Number:
        """Work out the probability of a right answer."""

    def wrong(self, counts: Sequence[int]) -> Enclosure:
        """Return the probability of a wrong answer: a fraction where it is one, else an interval."""
        longest = len(counts) * max(counts)
        return self.rate.enclose_probability(lambda powers: 1 - self.right(counts, powers), longest)

    def answers(self, counts: Sequence[int]) -> set[tuple[int, ...]]:
        """Return the right answers: sets in ascending order, or whole orders."""
        return {sequence if self.named is None else tuple(sorted(sequence)) for sequence in self.sequences(counts)}

    def sequences(self, counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield what K categories may be named one after the other such that they are right, or all, in order."""
        for permutation in permutations(range(len(counts)), self.named or len(counts)):
            rest = [count for place, count in enumerate(counts) if place not in permutation]
            if self.named is None:
                right = all(counts[above] >= counts[below] for above, below in pairwise(permutation))
            else:
                right = min(counts[place] for place in permutation) >= max(rest)
            if right:
                yield permutation


@dataclass(frozen=True, slots=True)
class PeeledExponential(PeerOrder):
    """The exponential mechanism again and again, each time among those not yet named.

    A record changes what each of n rounds divides by, and the product of all weights, by what it weighs at most. Where
    records come and go the two pull apart, and the root n keeps ε; where they are exchanged the root n + 1 does.

    References
    ----------
    [McSherry2007].
    """

    name: ClassVar[str] = "exponential mechanism, one after the other"
    known_as: ClassVar[str] = "peeling; the largest counts with Gumbel noise"

    def right(self, counts: Sequence[int], powers: Powers) -> Number:
        """Work out the probability of a right answer: each is named with its weight over those that are left."""
        most = max(counts)
        weights = [powers(most - count) for count in counts]
        total = 0 * powers.base
        for sequence in self.sequences(counts):
            chance, left = 1 + 0 * powers.base, list(range(len(counts)))
            for place in sequence[: len(counts) - 1]:  # whoever is last of all is named for certain
                chance = chance * weights[place] / sum((weights[other] for other in left), start=0 * powers.base)
                left.remove(place)
            total += chance
        return total


@dataclass(frozen=True, slots=True)
class JointExponential(PeerOrder):
    """The exponential mechanism over sequences of K; a score is how far the worst place falls short of its due.

    References
    ----------
    [Gillenwater2022].
    """

    name: ClassVar[str] = "joint exponential mechanism"

    def right(self, counts: Sequence[int], powers: Powers) -> Number:
        """Work out the probability of a right answer."""
        due = sorted(counts, reverse=True)
        length = self.named or len(counts)

        def weight(one: tuple[int, ...]) -> Number:
            return powers(max(best - counts[place] for best, place in zip(due, one, strict=False)))

        total = sum(map(weight, permutations(range(len(counts)), length)), start=0 * powers.base)
        return sum(map(weight, self.sequences(counts)), start=0 * powers.base) / total


@dataclass(frozen=True, slots=True)
class SortedNoise(PeerOrder):
    """Two-sided geometric noise for each count, and the sums sorted, equal ones in random order.

    In a public order of the categories they are wrong as often, in the mean over all such orders.

    References
    ----------
    [Ghosh2012]; proofs/geometric-privacy.md.
    """

    name: ClassVar[str] = "noisy counts, sorted"
    known_as: ClassVar[str] = "a noisy histogram"

    def wrong(self, counts: Sequence[int]) -> Enclosure:
        """Enclose the probability of a wrong answer."""
        if self._reach() > _FARTHEST:
            raise BadInput("epsilon", "is too small for noisy counts that are sorted", "choose a larger epsilon")
        return self.rate.enclose_probability(lambda powers: 1 - self.right(counts, powers), None)

    def right(self, counts: Sequence[int], powers: Powers) -> Number:
        """Enclose the probability of a right answer: sums are placed from the lowest to the highest.

        Noise beyond a reach is left out, and what it could add is allowed for.
        """
        alpha, everyone = powers.base, (1 << len(counts)) - 1
        reach = self._reach()
        centre = (1 - alpha) / (1 + alpha)
        allowed = [self._may_be_lowest(placed, counts) for placed in range(everyone + 1)]
        chances = [flint.arb(0)] * (everyone + 1)
        chances[0] = flint.arb(1)
        for total in range(min(counts) - reach, max(counts) + reach + 1):
            weights = [centre * powers(abs(total - count)) if abs(total - count) <= reach else 0 for count in counts]
            if any(abs(total - count) <= reach for count in counts):
                chances = self._placed(chances, weights, allowed)
        left_out = 2 * len(counts) * powers(reach + 1) / (1 + alpha)
        return chances[everyone] + left_out / 2 + flint.arb(0, (left_out / 2).upper())

    def _placed(self, chances: list[Number], weights: list[Number], allowed: list[bool]) -> list[Number]:
        """Let some of the categories not yet placed have this sum."""
        after, newest = list(chances), list(chances)
        for number in range(1, len(weights) + 1):  # in one of number! orders
            step = [flint.arb(0)] * len(chances)
            for placed, chance in enumerate(newest):
                for index, weight in enumerate(weights):
                    bit = 1 << index
                    if not placed & bit and allowed[placed | bit]:
                        step[placed | bit] += chance * weight / number
            after = [one + other for one, other in zip(after, step, strict=True)]
            newest = step
        return after

    def _may_be_lowest(self, placed: int, counts: Sequence[int]) -> bool:
        """Tell whether categories, as bits, may be those with the lowest sums in a right answer."""
        low = [count for index, count in enumerate(counts) if placed >> index & 1]
        high = [count for index, count in enumerate(counts) if not placed >> index & 1]
        decides = self.named is None or len(high) == self.named
        return not decides or not low or not high or max(low) <= min(high)

    def _reach(self) -> int:
        """Return how far noise is looked at, for the working precision."""
        epsilon = float(flint.arb(flint.fmpq(*self.rate.ratio.as_integer_ratio())).log()) / self.rate.root
        return int(flint.ctx.prec * 0.7 / epsilon) + 2


# `top K` and `ranking`: the largest categories, or all in order, named by this library and by others.

LARGEST_CATEGORIES = 5
"""All orders of the categories are gone through."""

_MOST_KINDS = 200
"""Kinds of tables over which a mean is taken: seconds."""

_LEADS = (1, 5, 20)


_WrongChance = Callable[[Sequence[int]], Enclosure]
"""From counts to the probability of a wrong answer."""


def _wrong_in_table(made: LargestCategories, counts: Sequence[int]) -> Enclosure:
    """Add up the chances of all wrong answers in this library's table: a fraction."""
    table = made.table
    assert table is not None
    weights = table.at(np.array([counts], np.int64))[0].tolist()
    right = set(SortedNoise(Rate(Fraction(2)), made.k).answers(counts))
    lost = sum(weight for weight, answer in zip(weights, table.answers, strict=True) if answer not in right)
    return Enclosure.exactly(Fraction(lost, UNIT))


def compare_top(asked: ComparisonParameters) -> Comparison:
    """Compare how often a wrong category is among the K that are named as the largest."""
    if len(asked.words) != 1:
        raise BadInput("query", "top needs a number K and takes no column here", "write top 2")
    q = _categories(asked)
    named = integer(asked.words[0], "K", at_least=1, at_most=q - 1)
    return _compare(asked, f"top {named}", q, named)


def compare_ranking(asked: ComparisonParameters) -> Comparison:
    """Compare how often categories are not named in their order."""
    if asked.words:
        raise BadInput("query", "ranking takes no column here", "leave it out: only numbers of categories are compared")
    return _compare(asked, "ranking", _categories(asked), None)


def _categories(asked: ComparisonParameters) -> int:
    return integer(asked.needed_categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)


def _compare(asked: ComparisonParameters, query: str, q: int, named: int | None) -> Comparison:
    exchange, ratio = asked.relation == "exchange", asked.privacy.ratio
    ours = LargestCategories(named, q, asked.privacy.pure, NeighbouringRelation(asked.relation))
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
    answering = [_ours(ours), *(peer.wrong for peer, _ in peers)]
    columns = _errors(q, named, asked, answering, notes)
    described = [
        _describe(ours),
        *(
            {"name": peer.name, "known_as": peer.known_as, "runs_at": f"{peer.rate.words()} a record", "why": why}
            for peer, why in peers
        ),
    ]
    return Comparison.of(query, {"categories": q, "n": asked.records}, asked, described, columns, notes)


def _ours(made: LargestCategories) -> _WrongChance:
    if made.table is None:
        return SortedNoise(Rate(made.noise.ratio), made.k).wrong
    return partial(_wrong_in_table, made)


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
    q: int, named: int | None, asked: ComparisonParameters, answering: Sequence[_WrongChance], notes: list[str]
) -> dict[Objective, list[Enclosure]]:
    result = {}
    for lead in _LEADS if asked.leads is None else asked.leads:
        counts = [lead * (q - 1 - index) for index in range(q)] if named is None else [lead] * named + [0] * (q - named)
        where = "consecutive ones are" if named is None else "the largest are level, and ahead of all others by"
        words = f"probability of a wrong answer where {where} {in_records(lead)}{' apart' if named is None else ''}"
        result[Objective(f"lead-{lead}", words, "probability")] = [wrong(counts) for wrong in answering]
    for gaps in asked.gaps:
        if len(gaps) != q:
            raise BadInput("gaps", f"must be lists of {q} gaps", "give one for each category")
        shown = ",".join(map(str, gaps))
        words = f"probability of a wrong answer at gaps {shown} to the largest"
        counts = [max(gaps) - gap for gap in gaps]
        result[Objective(f"gaps-{shown}", words, "probability")] = [wrong(counts) for wrong in answering]
    n = asked.records
    if n is not None and number_of_kinds(n, q) <= _MOST_KINDS:
        words = f"probability of a wrong answer, mean over all histograms of {in_records(n)}, each alike"
        result[Objective("mean", words, "probability")] = [_mean(wrong, n, q) for wrong in answering]
    elif n is not None:
        notes.append(f"no mean: {n:,} records in {q} categories make more than {_MOST_KINDS} histograms up to names")
    return result


def _mean(wrong: _WrongChance, records: int, q: int) -> Enclosure:
    low = high = Fraction(0)
    for gaps, orders in tables(records, q):
        most = (records + sum(gaps)) // q
        error = wrong([most - gap for gap in gaps])
        low, high = low + orders * error.lower, high + orders * error.upper
    total = number_of_tables(records, q)
    return Enclosure(low / total, high / total)
