"""How many of the tables that fit what a reader knows lie how deep on one side of a yes-or-no question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

from ..exact import Enclosure

__all__ = ["Side", "side_of_counts", "side_of_leads", "side_of_weights"]

_BITS = 96
"""Chances are rounded outwards to multiples of 2^-96 before they are added up."""
_NEGLIGIBLE = Fraction(1, 1 << 64)
_ALL_DISTINCT = 12
"""Depths from 2^12 on are taken together, 2^-12 of their size at a time, by the ends: chances never fall with depth."""


@dataclass(frozen=True, slots=True)
class Side:
    """The tables on one side.

    Parameters
    ----------
    first : int
        The least depth.
    last : int or None
        The largest depth; None if it is unbounded, and then nothing is weighed.
    upto : callable
        The weight of all tables up to a depth.
    """

    first: int
    last: int | None
    upto: Callable[[int], Fraction] = field(repr=False)

    def right(self, truth: Callable[[int], Enclosure]) -> tuple[Enclosure, Fraction]:
        """Add up weights times the chance of the side's own answer, `truth(depth)`; and the weights alone."""
        assert self.last is not None
        total, limit = self.upto(self.last), truth(self.last).upper
        lower = upper = done = Fraction(0)
        depth = self.first
        while depth <= self.last:
            here = truth(depth)
            rest = limit - here.lower <= _NEGLIGIBLE
            end = self.last if rest else min(self.last, depth + (depth >> _ALL_DISTINCT))
            there = limit if end == self.last else here.upper if end == depth else truth(end).upper
            weight = self.upto(end) - done
            lower += weight * _below(here.lower)
            upper += weight * -_below(-there)
            done, depth = done + weight, end + 1
        return Enclosure(lower, upper), total


def side_of_counts(first: int, last: int | None) -> Side | None:
    """Return depths that each one table has; None where there are none."""
    if last is not None and last < first:
        return None
    return Side(first, last, lambda depth: Fraction(depth - first + 1))


def side_of_weights(weights: Mapping[int, Fraction]) -> Side | None:
    """Return depths with a weight each."""
    depths = sorted(weights)
    sums = [Fraction(0), *accumulate(weights[depth] for depth in depths)]
    return Side(depths[0], depths[-1], lambda depth: sums[bisect_right(depths, depth)]) if depths else None


def side_of_leads(least: int, first: int, last: int | None, *, furthest: Callable[[int], int]) -> Side | None:
    """Return the tables of `first` to `last` records, two kinds of them, where one kind leads by `least` or more.

    Parameters
    ----------
    least : int
        At least 0.
    furthest : callable
        The largest lead at a depth; depths do not fall as leads grow.
    """
    if last is not None and not _tables(least, first, last):
        return None
    nearest = least
    if last is not None and _tables(least + 1, first, last) == _tables(least, first, last):
        nearest += 1  # a lead is even where the number of records is
    depth = 0
    if furthest(0) < nearest:
        # Depths grow by one with every lead, or with every second one.
        step = furthest(1) - furthest(0)
        depth = -(-(nearest - furthest(0)) // step)

    def upto(deep: int) -> Fraction:
        assert last is not None
        return Fraction(_tables(least, first, last) - _tables(max(least, furthest(deep) + 1), first, last))

    if last is None:
        return Side(depth, None, upto)
    step = furthest(1) - furthest(0)
    return Side(depth, max(depth, -(-(last - furthest(0)) // step)), upto)


def _tables(lead: int, first: int, last: int) -> int:
    """Count the tables of `first` to `last` records where one kind leads the other by `lead` or more.

    With m records there are ⌊(m − lead)/2⌋ + 1 of them.
    """

    def below(most: int) -> int:
        """Add up ⌊j/2⌋ + 1 for j from 0 to `most`."""
        return most + 1 + most * most // 4 if most >= 0 else 0

    return below(last - lead) - below(max(first, lead) - lead - 1)


def _below(value: Fraction) -> Fraction:
    return Fraction((value.numerator << _BITS) // value.denominator, 1 << _BITS)
