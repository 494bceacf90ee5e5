"""Tests between neighbours: trade-off curves and profiles of guarantees, mechanisms and noise distributions.

A test that takes one of two neighbours for the other errs in two ways: it says so where it is not (type I), and does
not where it is (type II). Everything here is exact, or rounded toward less privacy: errors down, δ up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from ..certify import PrivacyProfile
from ..exact import exp_below, log_above
from ..peers import GeometricCount, PeerNoise, RoundedLaplace, RoundedStaircase
from ..privacy import Privacy
from ..privacy.gaussian import gaussian_delta, gaussian_errors

__all__ = ["Corners", "Normal", "Point", "Tests", "of_noise", "of_privacy", "of_profile"]

Point = tuple[Fraction, Fraction]
"""Type I error, and the least type II error that goes with it."""

_ZERO, _ONE = Fraction(0), Fraction(1)
_STEPS = 48
"""Thresholds of a Gaussian that are drawn, on either side of the middle."""
_DEVIATIONS = 5
"""How far out: beyond, an error is below 3e-7."""


class Tests(Protocol):
    """The best tests between two laws."""

    def points(self) -> tuple[Point, ...]:
        """Return tests by rising type I error; the first and the last ignore the answer."""

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return δ at an ε, rounded up."""

    def kinks(self) -> tuple[Fraction, ...]:
        """Return the ε, rounded up, where the profile turns."""


@dataclass(frozen=True, slots=True)
class Corners:
    """A trade-off curve that is straight between its corners.

    Parameters
    ----------
    corners : tuple of points
        By rising type I error.
    """

    corners: tuple[Point, ...]

    def points(self) -> tuple[Point, ...]:
        """Return the corners."""
        return self.corners

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the most that any test's power exceeds e^ε times its type I error by."""
        ratio = exp_below(epsilon)
        return max(_ZERO, *(1 - missed - ratio * alarm for alarm, missed in self.corners))

    def kinks(self) -> tuple[Fraction, ...]:
        """Return the logarithms of the slopes from 1 up."""
        slopes = [(above - below) / (right - left) for (left, above), (right, below) in pairwise(self.corners)]
        return tuple(log_above(slope) for slope in reversed(slopes) if slope > 1)


@dataclass(frozen=True, slots=True)
class Normal:
    """N(0, 1) and N(μ, 1): Gaussian privacy itself.

    Parameters
    ----------
    mu : Fraction
    """

    mu: Fraction

    def points(self) -> tuple[Point, ...]:
        """Return tests with thresholds at even distances around the one that errs as often either way."""
        places = [self.mu / 2 - Fraction(k * _DEVIATIONS, _STEPS) for k in range(-_STEPS, _STEPS + 1)]
        return ((_ZERO, _ONE), *(gaussian_errors(self.mu, place) for place in places), (_ONE, _ZERO))

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return δ."""
        return gaussian_delta(self.mu, epsilon)

    def kinks(self) -> tuple[Fraction, ...]:
        """Return nothing: the profile is smooth."""
        return ()


def of_privacy(privacy: Privacy) -> Corners:
    """Return the curve that no release with a guarantee lies below: 1 − u, exactly."""
    starts = privacy.shape.starts
    return Corners(_cleaned([*((start, 1 - privacy.shape.step(start)) for start in starts), (_ONE, _ZERO)]))


def of_profile(profile: PrivacyProfile) -> Corners:
    """Return the trade-off curve of a profile, exactly: each of its lines C − r·S is a test with errors S and 1 − C."""
    segments = zip(pairwise(profile.ratios), pairwise(profile.deltas), strict=True)
    slopes = [((left, above), (above - below) / (right - left)) for (left, right), (above, below) in segments]
    tests = [(slope, 1 - (delta + ratio * slope)) for (ratio, delta), slope in slopes]
    return Corners(_cleaned([(_ZERO, 1 - profile.unbounded), *reversed(tests), (_ONE, _ZERO)]))


def of_noise(law: GeometricCount | RoundedLaplace | RoundedStaircase) -> Corners:
    """Return the curve of noise on a count that one record moves by 1, of errors rounded down.

    A test takes for the greater count what is at least k. Beyond 1 and −1 such noise falls evenly, so that the curve
    turns at k = 2, 1 and 0 alone.
    """
    tests = ((_at_least(law, k), _at_least(law, 2 - k)) for k in (2, 1, 0))
    return Corners(_cleaned([(_ZERO, _ONE), *tests, (_ONE, _ZERO)]))


def _at_least(law: PeerNoise, least: int) -> Fraction:
    found = law.tail(least).lower if least >= 1 else 1 - law.tail(1 - least).upper
    return max(_ZERO, found)


def _cleaned(points: Iterable[Point]) -> tuple[Point, ...]:
    """Keep of points with one type I error the lowest, and none that is on the line between its neighbours."""
    kept: list[Point] = []
    for point in points:
        if kept and point[0] == kept[-1][0]:
            kept[-1] = min(kept[-1], point)
            continue
        while len(kept) > 1 and _on_line(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _on_line(first: Point, middle: Point, last: Point) -> bool:
    return (middle[1] - first[1]) * (last[0] - first[0]) == (last[1] - first[1]) * (middle[0] - first[0])
