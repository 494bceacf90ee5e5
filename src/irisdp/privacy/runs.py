"""Many steps of a u of many pieces, enclosed: within one piece a run of any length has a closed form.

On a piece u(s) = m·s + c, and n steps that all begin in it take s to m^n·(s − f) + f around the fixed point f, or to
s + n·c where m = 1. As u climbs, a start rounded down stays below and one rounded up stays above, however far they go.
So two tracks are followed, each through the pieces as they come, with rounding after every run.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from ..exact import Enclosure, ball, dyadic_above, dyadic_below, enclosure_of, working_precision
from .shape import Line, Shape

__all__ = ["enclose_runs"]

_FEWEST_BITS = 64

_ONE = Fraction(1)


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
    found = enclosure_of(lambda: ball(line.slope) ** run * ball(s - fixed) + ball(fixed), width=Fraction(1, 1 << bits))
    return found.upper if up else max(s, found.lower)


def _rounded(s: Fraction, bits: int, *, up: bool) -> Fraction:
    """Round to so many significant bits; the starts of a shape's climb may be tiny."""
    return min(_ONE, dyadic_above(s, bits)) if up else dyadic_below(s, bits)


def _floor(number: flint.arb) -> int:
    lower = number.lower()
    return int(lower.floor().unique_fmpz() or 0)
