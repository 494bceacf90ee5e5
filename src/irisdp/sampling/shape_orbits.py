"""u^t(s) for many depths t where u has many pieces: two tracks of integers, one rounded down and one up.

Several pairs have no closed form over all depths. But few depths matter: u soon takes every probability to 1, as near
as a word can tell. So u is applied step by step in units of 2^-F, both ways, with F doubled until the tracks stay
together.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..privacy import Privacy, enclose_steps

__all__ = ["RESULT_BITS", "Orbit", "orbit_of"]

RESULT_BITS = 96
_SURE = 1 << RESULT_BITS - 66
"""Within 2^-66 of 1 the open cell no longer changes."""

_MOST_STEPS = 1 << 18


@dataclass(frozen=True, slots=True)
class Orbit:
    """u^t(s) · 2^96 for t = 0, 1, …, each rounded down, less than one unit below; and whether the last is for good."""

    probability: Fraction
    privacy: Privacy
    numerators: tuple[int, ...]
    settled: bool

    def at(self, depth: int) -> int:
        """Return the numerator at a depth, less than one unit off before rounding down."""
        if depth < len(self.numerators):
            return self.numerators[depth]
        if self.settled:
            return self.numerators[-1]
        width = Fraction(1, 1 << RESULT_BITS)
        lower = enclose_steps(self.probability, depth, self.privacy, width=width).lower
        return (lower.numerator << RESULT_BITS) // lower.denominator


@lru_cache(maxsize=256)
def orbit_of(probability: Fraction, privacy: Privacy) -> Orbit:
    """Follow a probability until it no longer changes, or for 2^18 steps."""
    bits = 2 * RESULT_BITS
    while True:
        found = _tracked(probability, privacy, bits)
        if found is not None:
            return Orbit(probability, privacy, *found)
        bits *= 2


def _tracked(probability: Fraction, privacy: Privacy, bits: int) -> tuple[tuple[int, ...], bool] | None:
    """Return the numerators; None where the tracks part by more than one unit of 2^-96."""
    shape, one, down = privacy.shape, 1 << bits, bits - RESULT_BITS
    starts = [-(-start.numerator * one // start.denominator) for start in shape.starts]
    pieces = []
    for line in shape.lines:
        (a, b), (c, d) = line.slope.as_integer_ratio(), line.constant.as_integer_ratio()
        pieces.append((a * d, c * b << bits, b * d))
    low = (probability.numerator << bits) // probability.denominator
    high = -(-(probability.numerator << bits) // probability.denominator)
    numerators = []
    for _ in range(_MOST_STEPS):
        if high - low >> down:
            return None
        numerators.append(low >> down)
        factor, constant, divisor = pieces[bisect_right(starts, low) - 1]
        lower = (factor * low + constant) // divisor
        factor, constant, divisor = pieces[bisect_right(starts, high) - 1]
        upper = min(one, -(-(factor * high + constant) // divisor))
        if (1 << RESULT_BITS) - numerators[-1] <= _SURE or (lower, upper) == (low, high):
            return tuple(numerators), True
        low, high = lower, upper
    return tuple(numerators), False
