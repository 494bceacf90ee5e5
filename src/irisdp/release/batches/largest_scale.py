"""The largest scale that fits, on decimals of few digits, with few trials: where to try next is guessed in floats.

δ at the budget's ε is near that of a normal law whose deviation grows with the scale, so that √log(1/δ) is nearly a
straight line over 1/scale. Nothing rests on that: whatever is returned was tried itself, and so was the next decimal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from math import ceil, floor, inf, log, log10, sqrt

__all__ = ["LargestScale"]

_GUESSES = 12
"""Trials after which the middle is taken, so that a bad guess cannot make the search long."""

_FARTHEST = 8


@dataclass(slots=True)
class LargestScale:
    """A search that can be made finer: what was tried is kept.

    Parameters
    ----------
    delta_at : callable
        The δ that a scale needs; None where there is no such noise. It never falls as the scale grows.
    allowed : Fraction
        The δ that there is, above 0.
    """

    delta_at: Callable[[Fraction], Fraction | None]
    allowed: Fraction
    fits: Fraction | None = None
    fails: Fraction | None = None
    seen: list[tuple[float, float]] = field(default_factory=list)

    def tries(self, start: Fraction, digits: int) -> bool:
        """Tell whether a scale fits, cut to so many digits."""
        step = Fraction(10) ** (_magnitude(start) - digits)
        scale = max(1, start // step) * step
        self._try(scale)
        return self.fits == scale

    def find(self, start: Fraction, digits: int) -> Fraction | None:
        """Return the largest decimal of so many digits that fits; None if no scale within a factor of about 100 fits.

        Searched again with more digits, it begins where it ended.
        """
        step = Fraction(10) ** (_magnitude(start) - digits)
        if self.fits is None and self.fails is None:
            self.tries(start, digits)
        for trial in count():
            low = None if self.fits is None else floor(self.fits / step)
            high = None if self.fails is None else ceil(self.fails / step)
            if high is not None and high - (low or 0) <= 1:
                break
            self._try(self._next(low, high, float(step), guess=trial < _GUESSES) * step)
        if self.fits is not None and _magnitude(self.fits) < _magnitude(start):
            return self.find(self.fits, digits)
        return self.fits

    def _try(self, scale: Fraction) -> None:
        needed = self.delta_at(scale)
        if needed is not None and needed <= self.allowed:
            self.fits = scale if self.fits is None else max(scale, self.fits)
        else:
            self.fails = scale if self.fails is None else min(scale, self.fails)
        if needed is not None and 0 < needed < 1:
            self.seen.append((1 / float(scale), _height(needed)))

    def _next(self, low: int | None, high: int | None, step: float, *, guess: bool) -> int:
        """Return where to try next, strictly between what fits and what does not."""
        least = (high or 0) // _FARTHEST if low is None else low + 1
        most = _FARTHEST * (low or 1) if high is None else high - 1
        middle = (least + most) // 2 if low is not None and high is not None else 2 * low if low else (high or 2) // 2
        found = self._guess() if guess else None
        place = middle if found is None else floor(found / step)
        return max(1, least, min(place, most))

    def _guess(self) -> float | None:
        """Return where the line through the last two trials has the height of the allowed δ."""
        if not self.seen:
            return None
        wanted = _height(self.allowed)
        (here, up), (there, high) = self.seen[-1], self.seen[-2] if len(self.seen) > 1 else (0.0, 0.0)
        if up == high:
            return None
        inverse = here + (wanted - up) * (there - here) / (high - up)
        return 1 / inverse if 0 < inverse < inf else None


def _height(delta: Fraction) -> float:
    """Return √log(1/δ)."""
    return sqrt(max(0.0, log(delta.denominator) - log(delta.numerator)))


def _magnitude(value: Fraction) -> int:
    """Return how many digits stand before the point, less than 0 for zeros after it."""
    return floor(log10(value.numerator) - log10(value.denominator)) + 1
