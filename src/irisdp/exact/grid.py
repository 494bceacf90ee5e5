"""Rows on a grid: probabilities as whole multiples of 2^-128 that sum to exactly 1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["GRID_BITS", "ONE", "GridRow", "completed", "to_grid"]

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
