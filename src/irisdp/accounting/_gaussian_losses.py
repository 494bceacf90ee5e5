"""Gaussian privacy in totals: μ_1, …, μ_k come to √(μ_1² + … + μ_k²), in closed form.

Among other releases the Gaussian ones are replaced by one finite pair for each bound. From above it is the largest
profile through points of their own, from below the polygon `Privacy.gaussian`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint

from .._exact import Enclosure, ball, dyadic_above, dyadic_below, enclosure_of
from ..certify import PrivacyLossDistribution, dominating_pair, finite_law, worst_profile
from ..errors import BadInput
from ..privacy import Privacy

_WIDTH = Fraction(1, 1 << 320)
_KEPT = 160
_STEPS = 400
_POLYGON = Fraction(1, 10**4), Fraction(5)
"""Means for which there is a polygon."""

_FAR = 70
"""Deviations of the loss beyond which δ is next to nothing."""

_LAWS = 64
"""Cached distributions: a search for a scale asks for the same totals again, and each takes about a second."""

_PER_MEAN, _NEGLIGIBLE = 40, Fraction(1, 1 << 110)
"""How many points of the profile lie within one μ; the δ beyond which no more are taken."""


@dataclass(frozen=True, slots=True)
class GaussianSide:
    """One of the two bounds of a total of nothing but Gaussian releases, to 2^-160 of itself.

    Parameters
    ----------
    square : Fraction
        Σ μ_i², exactly.
    upward : bool
        Whether the bound is from above.
    """

    square: Fraction
    upward: bool

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the bound of δ at an ε: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ([Dong2022], Corollary 1)."""
        if epsilon > self.square / 2 + _FAR * _root(self.square, lambda held: held.upper):  # at most Φ(−70) < 2^-3500
            return Fraction(1, 1 << 3_000) if self.upward else Fraction(0)
        delta = self._delta(epsilon).clamp(Fraction(0), Fraction(1))
        return dyadic_above(delta.upper, _KEPT) if self.upward else dyadic_below(delta.lower, _KEPT)

    def least_epsilon(self, delta: Fraction) -> Fraction:
        """Return the bound of the least ε at a δ, which must be above 0."""
        if delta == 0:
            raise BadInput("delta", "must be above 0: no epsilon is enough for Gaussian privacy", "raise delta")
        far = self.square / 2 + _FAR * _root(self.square, lambda held: held.upper)
        low, high = Fraction(0), min(Fraction(1), far)
        if self._delta(low).upper <= delta:
            return low
        while self._delta(high).upper > delta:
            if high == far:
                return self._beyond(delta) if self.upward else far
            low, high = high, min(2 * high, far)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            here = self._delta(middle)
            if here.upper <= delta:
                high = middle
            elif here.lower > delta:
                low = middle
            else:
                break
            if high - low < high / (1 << _KEPT):
                break
        return dyadic_above(high, _KEPT) if self.upward else dyadic_below(low, _KEPT)

    def _beyond(self, delta: Fraction) -> Fraction:
        """Return μ²/2 + μ·√(2 log(1/δ)), which is enough at every δ ([Bun2016], Propositions 1.3 and 1.6)."""

        def curve() -> flint.arb:
            return (-2 * ball(self.square) * ball(delta).log()).sqrt()

        return dyadic_above(self.square / 2 + enclosure_of(curve, width=_WIDTH).upper, _KEPT)

    def _delta(self, epsilon: Fraction) -> Enclosure:
        def curve() -> flint.arb:
            mean = ball(self.square).sqrt()
            away = ball(epsilon) / mean
            return _normal(mean / 2 - away) - ball(epsilon).exp() * _normal(-mean / 2 - away)

        return enclosure_of(curve, width=_WIDTH)


@lru_cache(maxsize=_LAWS)
def law_above(square: Fraction) -> PrivacyLossDistribution:
    """Return a finite pair at least as distinguishable as the Gaussians, by points of their profile, rounded up."""
    side, mean = GaussianSide(square, upward=True), _root(square, lambda held: held.upper)
    points, delta, place = [], Fraction(1), 0
    while delta > _NEGLIGIBLE:
        epsilon = place * mean / _PER_MEAN
        delta = side.delta_at(epsilon)
        # At a ratio above e^ε no more δ is needed.
        if delta < 1:  # rounded up to 1 it says nothing
            points.append((dyadic_above(_power(epsilon), _KEPT), delta))
        place += 1
    return finite_law(dominating_pair(worst_profile(points)).losses())


@lru_cache(maxsize=_LAWS)
def optimistic_distribution(square: Fraction) -> PrivacyLossDistribution | None:
    """Return a finite pair no more distinguishable than the Gaussians; None where there is no polygon to take."""
    smallest, largest = _POLYGON
    mean = min(largest, _root(square, lambda held: held.lower))
    if mean < smallest:
        return None
    pairs = [(pair.ratio, pair.delta) for pair in Privacy.gaussian(mean).pairs]
    return finite_law(dominating_pair(worst_profile(pairs)).losses())


def _root(square: Fraction, end: Callable[[Enclosure], Fraction]) -> Fraction:
    return end(enclosure_of(lambda: ball(square).sqrt(), width=_WIDTH))


def _power(epsilon: Fraction) -> Fraction:
    return enclosure_of(lambda: ball(epsilon).exp(), width=_WIDTH).upper


def _normal(x: flint.arb) -> flint.arb:
    return (-x / flint.arb(2).sqrt()).erfc() / 2
