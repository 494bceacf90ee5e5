"""How far off a weighted sum of two geometric noises may be: what intervals around means rest on.

A geometric noise Z of parameter α = e^(−λ) and a Laplace variable X of rate λ can be drawn together. They have one
sign, and their magnitudes are never further apart than `slack`. The tail of a weighted sum of two Laplace variables has
a closed form (proofs/sums-and-means.md, claim 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..exact import log_near

__all__ = ["Rated", "distance_for"]

_ROUNDING = 1e-9
"""By how much, relatively, distances are raised, so that floats lower none."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The rate of a geometric noise, and how far its magnitude is from that of a Laplace variable of that rate.

    Parameters
    ----------
    ratio : Fraction
        1/α, above 1.
    """

    ratio: Fraction

    @property
    def rate(self) -> float:
        """λ = log(1/α)."""
        return log_near(self.ratio)

    @property
    def slack(self) -> float:
        """Return max(c, 1 − c) with e^(λc) = 2/(1 + α)."""
        shift = -math.log1p(-float((self.ratio - 1) / (2 * self.ratio))) / self.rate
        return max(shift, 1 - shift)


def distance_for(wrong: float, first: tuple[float, Rated], second: tuple[float, Rated]) -> float:
    """Return a distance that a weighted sum of two noises exceeds with at most this probability.

    Parameters
    ----------
    wrong : float
        Above 0 and below 1.
    first, second : tuple of (float, Rated)
        The weights, of which one may be 0, and the noises, which are independent.
    """
    scales = sorted(abs(weight) / noise.rate for weight, noise in (first, second))
    small, large = scales[0] / scales[1], scales[1]
    low, high = 0.0, 1.0
    while _tail(high, small) > wrong:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, small) > wrong else (low, middle)
    slack = sum(abs(weight) * noise.slack for weight, noise in (first, second))
    return (high * large + slack) * (1 + _ROUNDING)


def _tail(distance: float, small: float) -> float:
    """Return P(|X + small·Y| > distance) of two Laplace variables of scale 1, for 0 ≤ small ≤ 1."""
    if small == 0:
        return math.exp(-distance)
    if 1 - small < 1e-4:  # the tail grows with `small`, so that of equal scales bounds it
        return (1 + distance / 2) * math.exp(-distance)
    other = small**2 * math.exp(-distance / small)
    return (math.exp(-distance) - other) / (1 - small**2)
