"""Between which numbers the count of a group lies that its own noisy count named, allowing for its being named.

If a group with few records is named all the same, its noisy count must be far too large: given that it is named, n + Z
is known to lie above x₊. So n is excluded at a noisy count v if, given that a group of n records is named, a count that
large, or one that small, has probability at most a/2. Here a is the failure probability of the interval. A small
group's noisy count lies just above x₊, so for v near x₊ the lower end is small.

With a condition a group may be named by its other records, and how many there are is not known. A count that large is
likeliest without records. So lower ends stay unchanged, and only for v above x₊. The possibility of 0 counted records
has nothing to do with naming, and is excluded as usual. One that small is likeliest if it is named surely.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..exact import dyadic_above, dyadic_below
from ..noise import ShapeLaw

__all__ = ["NamedEnds", "named_ends"]

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
def named_ends(noise: ShapeLaw, last: int, *, split: bool, confidence: Fraction) -> NamedEnds:
    """Return the ends that hold with a confidence, whatever the count, given that its group was named.

    Parameters
    ----------
    noise : ShapeLaw
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


def _tails(noise: ShapeLaw, *, up: bool) -> list[Fraction]:
    """Bound the probabilities that the noise lies in its k-th cell or beyond: a unit to the left a tail is u of it."""
    unit, support, shape = noise.atoms_per_unit, noise.support, noise.privacy.shape
    assert support is not None
    tops = [noise.below(support[1] + 1 - place, width=_NARROW) for place in range(unit)]
    tails = [1 - (top.lower if up else top.upper) for top in tops]  # from the last cell but one downward
    while len(tails) <= support[1] + 1 - support[0]:
        further = shape.step(tails[-unit])
        tails.append(min(Fraction(1), dyadic_above(further, _BITS)) if up else dyadic_below(further, _BITS))
    return tails[::-1]
