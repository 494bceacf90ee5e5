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

import flint

from .._exact import Enclosure, ball, dyadic_above, dyadic_below, enclosure_of, rational_text, working_precision

# One pair (ε, δ), and when one of several pairs is redundant.

MOST_PAIRS = 10_000
"""Pairs that a shape may have; the stand-alone verifier has the same limit."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One (ε,δ) guarantee: ratio r ≤ e^ε and δ, and the ε to be charged for it."""

    ratio: Fraction
    delta: Fraction
    epsilon: Fraction

    def __str__(self) -> str:
        """Write (ε, δ) for people."""
        text = f"ε = {rational_text(self.epsilon)}"
        return text if self.delta == 0 else f"{text}, δ = {rational_text(self.delta)}"


def turning_point(pair: Pair) -> Fraction:
    """Return θ = (1 − δ)/(r + 1), where the pair's u meets the diagonal 1 − s."""
    return (1 - pair.delta) / (pair.ratio + 1)


def follows(pairs: Sequence[Pair], place: int) -> bool:
    """Tell whether a pair, of pairs with falling ratio and rising δ, follows from its neighbours in the list.

    Up to the diagonal u is the least of the lines r·s + δ. A line is never below its two neighbours in the list if it
    is not so where they meet; the last is not below the one before it if that one reaches the diagonal first. The first
    begins below all others. Where none follows from its neighbours, none follows from all the others either: the places
    where each takes over from the one before then stand in order.
    """
    if place == 0:
        return False
    here, before = pairs[place], pairs[place - 1]
    if place == len(pairs) - 1:
        at = turning_point(before)
    else:
        after = pairs[place + 1]
        at = (after.delta - before.delta) / (before.ratio - after.ratio)
    return here.ratio * at + here.delta >= before.ratio * at + before.delta


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


# Enclose many steps of a u of many pieces: within one piece a run of any length has a closed form.
#
# On a piece u(s) = m·s + c, and n steps that all begin in it take s to m^n·(s − f) + f around the fixed point f, or to
# s + n·c where m = 1. As u climbs, a start rounded down stays below and one rounded up stays above, however many steps
# follow. So two tracks are followed through the pieces, with rounding after every run.

_FEWEST_BITS = 64

_WHOLE = Fraction(1)


def enclose_runs(probability: Fraction, count: int, shape: Shape, *, width: Fraction) -> Enclosure:
    """Enclose u^count(s), no wider than asked; see `enclose_steps`."""
    bits = _FEWEST_BITS + width.denominator.bit_length()
    while True:
        lower = _track(probability, count, shape, bits, up=False)
        upper = _track(probability, count, shape, bits, up=True)
        if upper - lower <= width:
            return Enclosure(lower, upper)
        bits *= 2


def _track(s: Fraction, count: int, shape: Shape, bits: int, *, up: bool) -> Fraction:
    """Apply u, rounding every run down (or up) to so many bits."""
    while count:
        place = shape.place(s)
        line = shape.lines[place]
        further = line.at(s)
        if further == s:
            return s
        run = min(count, _surely_inside(s, shape.end(place), line, count))
        count -= run
        s = _rounded(further if run == 1 else _run(s, run, line, bits, up=up), bits, up=up)
    return s


def _surely_inside(s: Fraction, end: Fraction, line: Line, count: int) -> int:
    """Return a number of steps, from 1 up, each of which surely begins before the end; few short of the most."""
    if end == 1 and line.at(end) == 1:
        return count  # it never leaves
    if line.slope == 1:
        return -int((s - end) // line.constant)
    fixed = line.constant / (1 - line.slope)
    with working_precision(_FEWEST_BITS):
        steps = (ball(end - fixed) / ball(s - fixed)).log() / ball(line.slope).log()
        return max(1, _floor(steps)) if steps.is_finite() else 1


def _run(s: Fraction, run: int, line: Line, bits: int, *, up: bool) -> Fraction:
    """Return a bound from below (or above) on what so many steps on one line make of s."""
    if line.slope == 1:
        return s + run * line.constant
    fixed = line.constant / (1 - line.slope)
    enclosure = enclosure_of(
        lambda: ball(line.slope) ** run * ball(s - fixed) + ball(fixed), width=Fraction(1, 1 << bits)
    )
    return enclosure.upper if up else max(s, enclosure.lower)


def _rounded(s: Fraction, bits: int, *, up: bool) -> Fraction:
    """Round to so many significant bits; the starts of a shape's climb may be tiny."""
    return min(_WHOLE, dyadic_above(s, bits)) if up else dyadic_below(s, bits)


def _floor(number: flint.arb) -> int:
    lower = number.lower()
    return int(lower.floor().unique_fmpz() or 0)
