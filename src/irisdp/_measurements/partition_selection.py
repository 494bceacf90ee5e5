"""Which groups may be named, where they are not declared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import dyadic_above, dyadic_below
from .._sampling import BitSource, draw_ranks
from ..errors import BadInput
from ..noise import UniversalDistribution, root_of
from ..privacy import Privacy, enclose_steps, steps
from .confidence import promised
from .counts import CountNodes, NoisyCounts, ShapeNoise, shape_law
from .protocol import HIGH, LOW, ChainLink, ConfidenceStatement, first_where, longer
from .registry import MeasurementKind

# Intervals for the count of a group that its own noisy count named, which allow for the naming.
#
# If a group with few records is named, its noisy count must be far too large: given that it is named, n + Z is known to
# lie above x₊. So n is excluded at a noisy count v if, given that a group of n records is named, a count that large, or
# one that small, has probability at most a/2. Here a is the failure probability of the interval. A small group's noisy
# count lies just above x₊, so for v near x₊ the lower bound is small.
#
# With a condition a group may be named by its other records, whose number is not known. A count that large is likeliest
# without other records. So lower bounds stay unchanged, and only for v above x₊. The possibility of 0 counted records
# does not depend on naming, and is excluded as usual. A count that small is likeliest if the group is certainly named.

_BITS = 128
_NARROW = Fraction(1, 1 << 160)


@dataclass(frozen=True, slots=True)
class NamedEnds:
    """Ends of counts, by the cells in which their noisy counts lie.

    Attributes
    ----------
    from_where : tuple of int
        For n = 1, 2, …: the first cell that rules n out for being too large, never falling. Beyond the last the cell
        moves on with the count.
    none_from : int or None
        The first cell that rules 0 out; None where a group without records that count cannot be named.
    too_small : int
        The last cell that rules 0 out for being too small; that of n lies n units on.
    unit : int
        Cells of a unit.

    References
    ----------
    proofs/named-counts.md, claim 9.
    """

    from_where: tuple[int, ...]
    none_from: int | None
    too_small: int
    unit: int

    def of(self, cell: int) -> tuple[int, int]:
        """Return the least and the largest count held possible at a noisy count in a cell."""
        high = -(-(cell - self.too_small) // self.unit) - 1
        if self.none_from is not None and cell < self.none_from:
            return 0, max(high, 0)
        low = bisect_right(self.from_where, cell) + 1  # of 1, 2, …, so many are ruled out
        if low > len(self.from_where):
            low += (cell - self.from_where[-1]) // self.unit
        return low, max(high, low)


@lru_cache(maxsize=64)
def named_ends(noise: UniversalDistribution, last: int, *, split: bool, confidence: Fraction) -> NamedEnds:
    """Return the ends that hold with a confidence, whatever the count, given that its group was named.

    Parameters
    ----------
    noise : UniversalDistribution
        With an end.
    last : int
        The last cell of an empty group's noisy count.
    split : bool
        Whether other records can name the group as well.
    confidence : Fraction
        Each answer is spoken of for itself.
    """
    unit, support = noise.atoms_per_unit, noise.support
    assert support is not None
    first, tail = support[0], (1 - confidence) / 2
    least, most = _tails(noise, up=False), _tails(noise, up=True)

    def beyond(bound: Fraction) -> int:
        """Return the first k at which the tail is surely no larger."""
        low, high = 0, len(most) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if most[middle] <= bound else (middle + 1, high)
        return low

    from_where: list[int] = []
    for count in range(1, -(-(last + 1 - first) // unit) + 1):
        named = least[max(0, last + 1 - count * unit - first)]
        from_where.append(max(first + beyond(tail * named) + count * unit, last + 1, *from_where[-1:]))
    # The noise is symmetric about −½: cell z has the mass of cell unit − 1 − z.
    reach = first + beyond(tail)
    return NamedEnds(tuple(from_where), reach if split else None, unit - 1 - reach, unit)


def _tails(noise: UniversalDistribution, *, up: bool) -> list[Fraction]:
    """Bound the probabilities that the noise lies in its k-th cell or beyond: a unit to the left a tail is u of it."""
    unit, support, shape = noise.atoms_per_unit, noise.support, noise.privacy.shape
    assert support is not None
    tops = [noise.below(support[1] + 1 - index, width=_NARROW) for index in range(unit)]
    tails = [1 - (top.lower if up else top.upper) for top in tops]  # from the last cell but one downward
    while len(tails) <= support[1] + 1 - support[0]:
        further = shape.step(tails[-unit])
        tails.append(min(Fraction(1), dyadic_above(further, _BITS)) if up else dyadic_below(further, _BITS))
    return tails[::-1]


# The number of records that a group needs to be named with a given probability.

_SURENESS = tuple(Fraction(percent, 100) for percent in (50, 95, 99))


def named_from(chance: Callable[[int], Fraction]) -> dict[str, int]:
    """Return from how many records on a group is named with probability 50, 95 and 99 %, by the percentage.

    Parameters
    ----------
    chance : callable
        The probability for so many records, or a bound below it; never falls, and comes to 1.
    """

    def from_where(sure: Fraction) -> int:
        return first_where(lambda n: chance(n) >= sure)

    return {f"{100 * sure}": from_where(sure) for sure in _SURENESS}


def describe_naming(sizes: dict[str, int]) -> str:
    """Say the same in words.

    Examples
    --------
    >>> describe_naming({"50": 14, "95": 17, "99": 19})
    'a group is named with probability 50 % from 14 records on, 95 % from 17, 99 % from 19'
    """
    (percent, size), *more = sizes.items()
    first = f"a group is named with probability {percent} % from {size} records on"
    return ", ".join([first, *(f"{percent} % from {size}" for percent, size in more)])


# Divide the guarantee of a person between the person's records.


@lru_cache(maxsize=64)
def share_of(privacy: Privacy, records: int) -> Privacy:
    """Return a guarantee of one record such that any M records of a person, wherever they are, keep another together.

    M steps of r′ = r^(1/M) and δ′ take a probability s to at most r′^M·s + δ′(1 + r′ + … + r′^(M−1)). The sum is at
    most (r − 1)/(r′ − 1), because r′^M is at most r. So δ′ = δ(r′ − 1)/(r − 1), or δ/M where r′ = 1, keeps (r, δ); all
    are rounded towards privacy. Where all records are in one group that is exact, but for rounding.

    Parameters
    ----------
    privacy : Privacy
        What a person may reveal: one pair.
    records : int
        M.

    Raises
    ------
    BadInput
        For several pairs at once.

    References
    ----------
    proofs/named-counts.md, claim 8.

    Examples
    --------
    >>> share = share_of(Privacy(ratio=4, delta="3/10"), 2)
    >>> share.ratio, float(share.delta)
    (Fraction(2, 1), 0.1)
    """
    if records == 1:
        return privacy
    if not privacy.single:
        rule = "is above 1, and several pairs at once have noise for one record of each only"
        raise BadInput("at_most", rule, "give epsilon= and delta=, or leave at_most out")
    root = root_of(privacy.pure, records)
    part = Fraction(1, records) if root.ratio == 1 else (root.ratio - 1) / (privacy.ratio - 1)
    return root.with_delta(dyadic_below(privacy.delta * part, _BITS))


# One noisy count for a group's name and its answer, charged once.
#
# The noise ends: it is at most x₊, and an empty group never has a noisy count above it. So a group is named exactly if
# its noisy count lies above x₊, which is post-processing of the noisy count. Without a condition this is optimal. No
# private rule that never names an empty group names any group more often, and no other way to name and count at the
# same cost serves any reader better (proofs/named-counts.md).
#
# With a condition a group is a pair of counts, of the records that satisfy it and of the others. A record is in one of
# the two, so noise for both costs no more than for one. A group is named if either lies above x₊, and answered by the
# first.

UNNAMED = np.iinfo(np.int64).min
"""Stands for the answer about a group that is not named."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupCountNodes(CountNodes):
    """Two counts for each group, of which a record is in one: private, and not shown by `repr`.

    Attributes
    ----------
    values : int64 array
        Records that are counted.
    lower, upper
        0, and no end.
    others : int64 array
        The group's other records.
    """

    others: NDArray[np.int64] = field(repr=False)

    def padded(self, size: int) -> GroupCountNodes:
        """Return `size` nodes: these, and after them groups that nobody is in."""
        return GroupCountNodes(longer(self.values, size), longer(self.lower, size), None, longer(self.others, size))

    def alone(self, cell: int) -> GroupCountNodes:
        """Return one group."""
        part = slice(cell, cell + 1)
        return GroupCountNodes(self.values[part], self.lower[part], None, self.others[part])


@dataclass(frozen=True, slots=True)
class NoisyCountSelection(ShapeNoise):
    """Names groups by their noisy counts and answers with these, in the cells of noise that is best for every reader.

    Parameters
    ----------
    privacy : Privacy
        Of one person who comes or goes, for names and answers together. Every pair has a δ above 0.
    split : bool
        Whether a group's other records are counted beside those that are asked for, so that they can name it too.
    records : int
        How many records one person has that count, in whatever groups.

    References
    ----------
    proofs/named-counts.md; `irisdp.noise.law`.
    """

    privacy: Privacy
    split: bool = False
    records: int = 1

    def __post_init__(self) -> None:
        """Refuse a guarantee under which noise has no end, or one too far out: then nothing may be named by it."""
        if self.noise.support is None:
            raise BadInput("delta", "must be above 0 to name groups by their counts", "give delta=1e-6")

    @property
    def share(self) -> Privacy:
        """What one record may reveal."""
        return share_of(self.privacy, self.records)

    @property
    def noise(self) -> UniversalDistribution:
        """What is added, in cells."""
        return shape_law(self.share)

    @property
    def last(self) -> int:
        """The last cell that an empty group's noisy count can be in: beyond it, groups are named."""
        support = self.noise.support
        assert support is not None
        return support[1]

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the cell of each group's noisy count, or `UNNAMED`."""
        drawn = self.noise.draw(nodes.values, source)
        named = self._passes(drawn)
        if self.split:
            named |= self._passes(self.noise.draw(self._others(nodes), source))
        return np.where(named, drawn, UNNAMED)

    def named(self, drawn: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which groups were named, by what was drawn."""
        result: NDArray[np.bool_] = drawn != UNNAMED
        return result

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Show the whole numbers in which the noisy counts of named groups lie."""
        whole: list[Any] = self.noise.whole(drawn).tolist()
        # Named, as a class with slots is made twice and `super()` would mean the first.
        return NoisyCounts.show(self, whole, nodes)

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the cells, as they were drawn: what readers need beside the numbers that people are shown."""
        return {"cells": drawn}

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return ends that allow for the groups' being named: a small one's noisy count must be far too large."""
        between = named_ends(self.noise, self.last, split=self.split, confidence=confidence)
        ends = [between.of(cell) for cell in drawn]
        columns = {LOW: [low for low, _ in ends], HIGH: [high for _, high in ends]}
        return ConfidenceStatement(columns, promised(confidence), confidence)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a named group's cell; None stands for a group that is not named."""
        first, chances = self._cells(int(nodes.values[cell]))
        otherwise = Fraction(0)
        if self.split:
            other, masses = self._cells(int(self._others(nodes)[cell]))
            otherwise = sum((masses[place] for place in np.flatnonzero(self._passes(other))), Fraction(0))
        alone = self._passes(first).tolist()
        named = {
            z: chance if passes else chance * otherwise
            for z, passes, chance in zip(first.tolist(), alone, chances, strict=True)
        }
        return {None: 1 - sum(named.values())} | {z: chance for z, chance in named.items() if chance}

    def describe_error(self) -> str:
        """Say the expected error in one line, and what noise is made for where a person has several records."""
        return self.describe_error_for("person")

    def describe_error_for(self, unit: str) -> str:
        """Return the same text with another word for a protected person."""
        of = "of a group chosen beforehand; a small one that is named is off by more"
        said = f"{NoisyCounts.describe_error(self)}, {of}"
        if self.records == 1:
            return said
        most = self.records
        return f"{said}; noise at ε/{most}, as one {unit} can change the groups by at most {most} in all"

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named, whatever part of them is counted."""
        return named_from(self._chance)

    def describe_naming(self) -> str:
        """Say the same in words."""
        whatever = ", for however many of them the condition holds" if self.split else ""
        return f"{describe_naming(self.named_from())}{whatever}"

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers: how many cells are a unit, and which is the last unnamed.

        Cell 0 begins at −½.
        """
        document = {
            "kind": MeasurementKind.NAMED_COUNTS.value,
            "cells_per_unit": self.noise.atoms_per_unit,
            "named_above": self.last,
        }
        document |= {"split": True} if self.split else {}
        return document | ({"records": self.records} if self.records > 1 else {})

    def _passes(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which noisy counts no empty group can have."""
        passing: NDArray[np.bool_] = cells > self.last
        return passing

    def _cells(self, count: int) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return the cells in which a count's noisy count may lie, and their probabilities."""
        size, support = self.noise.atoms_per_unit, self.noise.support
        assert support is not None
        below = [self.noise.below_exactly(z) for z in range(support[0], support[1] + 2)]
        places = np.arange(support[0], support[1] + 1) + count * size
        return places, [after - before for before, after in pairwise(below)]

    def _others(self, nodes: CountNodes) -> NDArray[np.int64]:
        assert isinstance(nodes, GroupCountNodes)
        return nodes.others

    def _chance(self, size: int) -> Fraction:
        """Bound from below the probability that a group of this size is named.

        Where it is split in two it is least in the middle: the chances to miss have ratios that never rise.
        """
        parts = (size // 2, size - size // 2) if self.split else (size,)
        missed = Fraction(1)
        for part in parts:
            missed *= 1 - enclose_steps(Fraction(0), part, self.share, width=Fraction(1, 1 << 40)).lower
        return 1 - missed


@dataclass(frozen=True, slots=True)
class PartitionSelection:
    """Decides which groups may be named: a group of n records with probability u applied n times to 0.

    A group without records is never named, so u(0), the least δ promised, must be above 0. Under Gaussian DP it is
    0, and no group may ever be named, however large.

    Parameters
    ----------
    privacy : Privacy
        Of one person who comes or goes, for all groups together.
    records : int
        How many records one person has that count, in whatever groups: u is that of one record's share.

    References
    ----------
    [Desfontaines2022] (the optimal rule); docs/theory.md#operator; proofs/partition-selection.md.
    """

    privacy: Privacy
    records: int = 1

    def __post_init__(self) -> None:
        """Refuse a privacy under which no group is ever named."""
        if self.privacy.pairs[0].delta == 0:
            remedy = "give a small probability such as 1e-6, or declare the groups"
            if not self.privacy.single:
                remedy = "declare the groups: under Gaussian privacy, as with δ = 0 in any pair, none may ever be named"
            raise BadInput("delta", "must be above 0 to select groups privately", remedy)
        _ = self.share  # refused before anything is read

    @property
    def share(self) -> Privacy:
        """What one record may reveal."""
        return share_of(self.privacy, self.records)

    def draw(self, sizes: NDArray[np.int64], source: BitSource | None = None) -> NDArray[np.bool_]:
        """Draw for every group whether it is named."""
        # u^n(0) is the second rank of a class whose first prefix sum is 0, so rank 0 means "named".
        ranks: NDArray[np.int64] = draw_ranks([[Fraction(0)]], np.zeros_like(sizes), sizes, self.share, source=source)
        named: NDArray[np.bool_] = ranks == 0
        return named

    def law(self, size: int) -> Fraction:
        """Return the exact probability that a group of this size is named."""
        return steps(Fraction(0), size, self.share)

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named with probability 50, 95 and 99 %."""
        return named_from(self._named)

    def describe_naming(self) -> str:
        """Say the same in words."""
        return describe_naming(self.named_from())

    def _named(self, size: int) -> Fraction:
        return enclose_steps(Fraction(0), size, self.share, width=Fraction(1, 1 << 40)).lower
