"""The table that draws cells: two tracks of integers, one rounded down and one up, stepped outward from the middle.

Right of θ no line of u is steeper than 1. So a step adds no more than the rounding of one unit to the distance of the
tracks; left of it 1 − F does the same.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..errors import BadInput
from ..privacy import Shape
from ..sampling.digits import Digit
from ..sampling.geometric import geometric_digits
from ..sampling.thresholds import LAST_WORD, ThresholdTable, open_cell
from .cells import Cells

__all__ = ["digits_of_cells"]

_BITS = 256
_DOWN = _BITS - 64
_ONE = 1 << _BITS

_MOST_CELLS = 1 << 18
"""Cells of one table, on a side."""


@lru_cache(maxsize=16)
def digits_of_cells(cells: Cells) -> tuple[Digit, ...]:
    """Return what draws the cells: geometric noise digit by digit, any other from one table; public, so it is kept."""
    if cells.privacy.single and cells.privacy.delta == 0:
        return geometric_digits(cells.privacy, signed=True)
    middle, step = (
        [cells.cumulative(place, width=Fraction(1, _ONE)) for place in range(len(cells.phases))],
        _Step(cells),
    )
    right = _outward([(_floor(q.lower), _ceiling(q.upper)) for q in middle], step)[1:]
    # Going left from cut point 0, which stands alone in its unit, come −1 … −m, one step of u further.
    mirrored = [(_floor(1 - q.upper), _ceiling(1 - q.lower)) for q in (middle[0], *reversed(middle[1:]))]
    one_further = [mirrored[0], *(step.both(track) for track in mirrored[1:])]
    left = [(LAST_WORD - last, LAST_WORD - first) for first, last in reversed(_outward(one_further, step))]
    table = np.array([left + right], dtype=np.uint64)
    return (Digit(cells, ThresholdTable.from_cells(table), -len(left)),)


class _Step:
    """u for integers in units of 2^-256."""

    __slots__ = ("pieces", "starts")

    def __init__(self, cells: Cells) -> None:
        shape: Shape = cells.privacy.shape
        self.starts = [_ceiling(start) for start in shape.starts]
        self.pieces = []
        for line in shape.lines:
            (a, b), (c, d) = line.slope.as_integer_ratio(), line.constant.as_integer_ratio()
            self.pieces.append((a * d, c * b << _BITS, b * d))

    def both(self, track: tuple[int, int]) -> tuple[int, int]:
        """Move a number known from below and from above one step, and round outward."""
        low, high = track
        factor, constant, divisor = self.pieces[bisect_right(self.starts, low) - 1]
        lower = (factor * low + constant) // divisor
        factor, constant, divisor = self.pieces[bisect_right(self.starts, high) - 1]
        return lower, min(_ONE, -(-(factor * high + constant) // divisor))


def _outward(tracks: list[tuple[int, int]], step: _Step) -> list[tuple[int, int]]:
    """Return open cells unit after unit, up to the first that is nothing but the last word."""
    found: list[tuple[int, int]] = []
    while len(found) <= _MOST_CELLS:
        for low, high in tracks:
            found.append(open_cell(low >> _DOWN, -(-high >> _DOWN)))
            if found[-1] == (LAST_WORD, LAST_WORD):
                return found
        tracks = [step.both(track) for track in tracks]
    raise BadInput("privacy", f"needs more than {_MOST_CELLS:,} cells on a side", "choose a larger epsilon")


def _floor(value: Fraction) -> int:
    return (value.numerator << _BITS) // value.denominator


def _ceiling(value: Fraction) -> int:
    return -((-value.numerator << _BITS) // value.denominator)
