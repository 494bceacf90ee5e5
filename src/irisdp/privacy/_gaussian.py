"""Gaussian differential privacy as pairs: a polygon below its curve, as near as wished.

Under μ-GDP an event of probability s has at most u(s) = Φ(Φ⁻¹(s) + μ) at a neighbour. A polygon between points on or
below that concave curve lies below it everywhere, so any mechanism that satisfies the polygon's pairs is μ-GDP,
exactly. Corners are placed from the left so that every side misses the curve by no more than the gap; the mirror image
does the other half.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint

from .._exact import Enclosure, ball, dyadic_above, dyadic_below, enclosure_of, log_above, rational, rational_text
from ..errors import BadInput
from ._shape import MOST_PAIRS, Pair

DEFAULT_GAP = Fraction(1, 10**6)
"""How far below the curve the polygon may be."""

_SMALLEST_GAP, _LARGEST_GAP = Fraction(1, 10**9), Fraction(1, 10)
_SMALLEST, _LARGEST = Fraction(1, 10**4), Fraction(5)
"""μ for which the polygon is made."""

_BITS = 64
"""Significant bits of a corner."""

_WIDTH = Fraction(1, 1 << 200)
_SPARE = Fraction(999, 1000)
"""Share of the gap that corners are placed for; rounding may take the rest."""


def gaussian_pairs(mu: Any, gap: Any) -> tuple[Pair, ...]:
    """Return pairs that imply μ-GDP and ask for hardly more; see `Privacy.gaussian`."""
    mean, most = rational(mu, "mu"), rational(gap, "gap")
    if not _SMALLEST <= mean <= _LARGEST:
        rule = f"must lie between {rational_text(_SMALLEST)} and {rational_text(_LARGEST)} for Gaussian DP"
        raise BadInput("mu", rule, "give for example 1")
    if not _SMALLEST_GAP <= most <= _LARGEST_GAP:
        raise BadInput("gap", "must lie between 1e-9 and 0.1", "leave it out for 1e-6")
    places = _places(float(mean), float(most * _SPARE))
    if len(places) > MOST_PAIRS:
        raise BadInput("gap", f"makes more than {MOST_PAIRS:,} pairs", "give a wider one")
    corners = [(Fraction(0), Fraction(0))]
    for x in places:
        corners.append((dyadic_above(_phi(x).upper, _BITS), dyadic_below(_phi(x + mean).lower, _BITS)))
    # The last corner lies on the diagonal, where the mirror image begins.
    edge = dyadic_above(_phi(-mean / 2).upper, _BITS)
    corners[-1] = (edge, 1 - edge)
    pairs = []
    for (s, u), (t, v) in pairwise(corners):
        slope = (v - u) / (t - s)
        pairs.append(Pair(slope, u - slope * s, log_above(slope)))
    return tuple(pairs)


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """Return the δ of μ-Gaussian privacy at an ε, rounded up: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).

    References
    ----------
    [Dong2022], Corollary 1.
    """

    def delta() -> flint.arb:
        here, there = (_normal_ball(side * mu / 2 - epsilon / mu) for side in (1, -1))
        return here - ball(epsilon).exp() * there

    return max(Fraction(0), enclosure_of(delta, width=_WIDTH).upper)


def gaussian_errors(mu: Fraction, threshold: Fraction) -> tuple[Fraction, Fraction]:
    """Return the errors of the best test between N(0, 1) and N(μ, 1) that rejects above a threshold, both rounded down.

    Returns
    -------
    tuple of two Fractions
        Type I, Φ(−t), and type II, Φ(t − μ): a point on or below the trade-off curve.

    References
    ----------
    [Dong2022], Definition 3.
    """
    first, second = _phi(-threshold).lower, _phi(threshold - mu).lower
    return max(Fraction(0), first), max(Fraction(0), second)


def gaussian_mean(apart: Fraction) -> Fraction:
    """Return the μ at which neighbours are so far apart in total variation, 2Φ(μ/2) − 1, rounded down.

    Parameters
    ----------
    apart : Fraction
        Above 0 and below 1.
    """
    mean = enclosure_of(lambda: 2 * flint.arb(2).sqrt() * ball(apart).erfinv(), width=_WIDTH).lower
    return dyadic_below(mean, _BITS)


def gaussian_mean_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest μ that keeps (ε,δ), rounded down; δ above 0."""
    low, high = Fraction(0), Fraction(1)
    while gaussian_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    while high - low > high / (1 << _BITS):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon) <= delta else (low, middle)
    return low


def zcdp_mean(rho: Any) -> Fraction:
    """Return √(2ρ), rounded down: the μ that is enough for ρ-zCDP; see `Privacy.zcdp`."""
    variance = rational(rho, "rho")
    if not _SMALLEST**2 / 2 <= variance <= _LARGEST**2 / 2:
        raise BadInput("rho", "must lie between 5e-9 and 12.5", "give for example 0.5")
    root = enclosure_of(lambda: ball(2 * variance).sqrt(), width=_WIDTH).lower
    return max(_SMALLEST, dyadic_below(root, _BITS))


def _places(mu: float, gap: float) -> list[Fraction]:
    """Place the corners, in floats, by their quantiles; the last is −μ/2. What the polygon misses is checked below."""
    last, here, places = -mu / 2, -math.inf, []
    while here < last:
        low, high = max(here, last - 64.0), last
        if _gap(here, last, mu) > gap:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if _gap(here, middle, mu) <= gap else (low, middle)
            here = low
        else:
            here = last
        places.append(Fraction(here))
    return places


def _gap(here: float, there: float, mu: float) -> float:
    """Return by how much the chord between two quantiles lies below the curve at most: where the slopes agree."""
    (s, u), (t, v) = _point(here, mu), _point(there, mu)
    slope = (v - u) / (t - s)
    at = -math.log(slope) / mu - mu / 2
    x, y = _point(at, mu)
    return y - u - slope * (x - s)


def _point(x: float, mu: float) -> tuple[float, float]:
    # erfc keeps its digits in the tail, where the corners of a large μ lie
    return _normal(x), _normal(x + mu)


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _phi(x: Fraction) -> Enclosure:
    """Enclose Φ(x)."""
    return enclosure_of(lambda: _normal_ball(x), width=_WIDTH)


def _normal_ball(x: Fraction) -> flint.arb:
    return (-ball(x) / flint.arb(2).sqrt()).erfc() / 2
