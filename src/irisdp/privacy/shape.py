"""The operator u of a guarantee, piece by piece, and its profile: what any number of pairs come to together.

For pairs (r_i, δ_i) u is the least of their operators. It is concave, climbs in pieces along the lines r_i·s + δ_i up
to the diagonal 1 − s, and is its own mirror image there: s and 1 − u(s) change places (docs/theory.md#shapes).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .pair import Pair, turning_point

__all__ = ["Line", "Shape", "shape_of"]

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of u: slope·s + constant."""

    slope: Fraction
    constant: Fraction

    def at(self, s: Fraction) -> Fraction:
        """Return the value at s."""
        return self.slope * s + self.constant


@dataclass(frozen=True, slots=True)
class Shape:
    """u as pieces.

    Parameters
    ----------
    starts : tuple of Fraction
        Where pieces begin, ascending; the first is 0.
    lines : tuple of Line
        As many, by falling slope; the last is constantly 1.
    """

    starts: tuple[Fraction, ...]
    lines: tuple[Line, ...]

    def place(self, s: Fraction) -> int:
        """Return the piece in which s lies; a kink belongs to the piece on its right."""
        return bisect_right(self.starts, s) - 1

    def step(self, s: Fraction) -> Fraction:
        """Return u(s)."""
        return self.lines[self.place(s)].at(s)

    def end(self, place: int) -> Fraction:
        """Return where a piece ends."""
        return self.starts[place + 1] if place + 1 < len(self.starts) else _ONE

    def delta_at(self, ratio: Fraction) -> Fraction:
        """Return the smallest δ of the shape at a ratio: the maximum of u(s) − r·s."""
        pieces = zip(self.starts, self.lines, strict=True)
        # u(s) − r·s climbs up to this piece and falls from here on; the last has slope 0.
        start, line = next((start, line) for start, line in pieces if line.slope <= ratio)
        return line.at(start) - ratio * start

    def ratio_at(self, delta: Fraction) -> Fraction | None:
        """Return the smallest ratio, at least 1, at which the shape holds with a δ; None if no ratio is enough."""
        if delta < self.lines[0].constant:
            return None
        kinks = zip(self.starts[1:], self.lines[1:], strict=True)
        return max(_ONE, *((line.at(start) - delta) / start for start, line in kinks))


def shape_of(pairs: Sequence[Pair]) -> Shape:
    """Return u for pairs by falling ratio, none of which follows from the others."""
    meetings = [(after.delta - before.delta) / (before.ratio - after.ratio) for before, after in pairwise(pairs)]
    left = [_ZERO, *meetings]
    climbing = [Line(pair.ratio, pair.delta) for pair in pairs]
    mirrored = [Line(1 / pair.ratio, 1 - (1 - pair.delta) / pair.ratio) for pair in reversed(pairs)]
    # The mirror image of the kink (s, u(s)) is at 1 − u(s); that of the beginning is where u arrives at 1.
    right = [1 - line.at(start) for start, line in zip(reversed(left), reversed(climbing), strict=True)]
    return Shape(
        starts=(*left, turning_point(pairs[-1]), *right),
        lines=(*climbing, *mirrored, Line(_ZERO, _ONE)),
    )
