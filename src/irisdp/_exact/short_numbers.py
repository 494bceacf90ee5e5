"""Short numbers for exact linear algebra: a ratio no larger than the one asked for, and what counts as short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

# Put rows on a grid: probabilities as multiples of 2^-128 that sum to exactly 1.

GRID_BITS = 128
"""39 decimal digits: fine enough that rounding costs nothing seen, coarse enough that an entry stays short."""

ONE = 1 << GRID_BITS
"""Probability 1 on the grid."""

GridRow = list[int]
"""Multiples of 2^-128 that sum to ONE."""

_ROUNDING_BITS = 16
"""A sum that misses 1 by more than 2^-16 does so by no rounding."""


def to_grid(row: Sequence[Fraction]) -> GridRow:
    """Round a row to the grid: negative entries up to 0, others down, and the largest takes what the sum misses.

    A row whose sum is nowhere near 1 is scaled, and one without anything positive becomes uniform.
    """
    entries = [max(0, x.numerator << GRID_BITS) // x.denominator for x in row]
    total = sum(entries)
    if total == 0:
        entries = [1] * len(row)
        total = len(row)
    if abs(total - ONE) > ONE >> _ROUNDING_BITS:
        entries = [x * ONE // total for x in entries]
    return completed(entries)


def completed(row: GridRow) -> GridRow:
    """Give the largest entry what the sum misses, in place."""
    row[max(range(len(row)), key=row.__getitem__)] += ONE - sum(row)
    return row


_SHORT = 1 << 40
"""Ratios with numerator and denominator below this are kept as they are."""

_LOSS = Fraction(1, 1 << 64)
"""How much of (r − 1)/r may be given away: value and bound change relatively by about as much, far below any float."""

_NEARBY = Fraction(1, 1 << 12)

_NEAR_ONE, _COMFORTABLE, _BEYOND, _STRIDE = Fraction(65, 64), 16, 1 << 40, 8


_LONGEST = 10**100


def is_short(rows: Iterable[Iterable[Fraction]]) -> bool:
    """Tell whether all numerators and denominators have at most 100 digits."""
    return all(x.numerator < _LONGEST and x.denominator < _LONGEST for row in rows for x in row)


def workable_ratio(ratio: Fraction) -> Fraction:
    """Return a ratio at most as large, short, and short of it by at most 2^-64 of (r − 1)/r."""
    if ratio.numerator < _SHORT:
        return ratio
    return simplest_between(ratio - (ratio - 1) * _LOSS / ratio, ratio)


def stepping_stones(ratio: Fraction) -> list[Fraction]:
    """Return ratios on the way to one that floats cannot start from or that is long, and the ratio itself last.

    The basis that is optimal at one ratio is so over a range of them (for a count and δ = 0: often from about 8 to
    infinity). Floats find it where r^-n is not yet far below their resolution, and rationals check it cheaply where the
    ratio has few digits.
    """
    stones = []
    if 1 < ratio < _NEAR_ONE:
        stones.append(_NEAR_ONE)
    stone = Fraction(_COMFORTABLE)
    while stone < ratio and stone < _BEYOND:
        stones.append(stone)
        stone *= _STRIDE
    stones.append(simplest_between(ratio - (ratio - 1) * _NEARBY, ratio))
    return [*stones, ratio] if stones[-1] < ratio else stones


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high], 0 < low ≤ high, by continued fractions."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
