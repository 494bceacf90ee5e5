"""Weights by score for any number of bins: the exponential mechanism where just one answer is right, tightened.

Each bin has a score: 0 if the quantile is in it, else how far the quantile's rank is from it. A neighbour changes no
score by more than one. A bin is named with probability proportional to w_s, and this is private if A·G ≤ r. A is the
largest w_s/w_{s+1}. G bounds the growth of a total of the right bin and K = k − 2 wrong ones: the largest (w_0 +
K·w_t)/(w_0 + K·w_{t+1}) for t ≥ 1 (proofs/quantiles.md).

EM* is the best geometric sequence, w_s = β^s. For a given G the lowest sequence falls by at most G from step to step as
long as many wrong bins outweigh the right one, and by r/G from then on. G may be chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from .._exact import checked, integer, rational
from ..errors import BadInput

HEIGHT = 1 << 56
"""The weight of the right bin: a hundred of them add up below 2^63."""

MOST_BINS = 100

_BASE_UNIT = 10**9
_LONGEST = 1 << 20
"""Most steps; beyond, all scores count alike."""
_SMALLEST = Fraction(1, 20)
"""Ladders of a smaller ε have the shape of this one's."""
_SHAPES = [Fraction(place, 32) for place in range(1, 17)]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreWeights:
    """Weights w_0 ≥ w_1 ≥ … of scores, the last of which stands for all beyond.

    Parameters
    ----------
    bins : int
        k.
    ratio : Fraction
        r; A·G ≤ r was checked.
    weights : tuple of int
        Positive.
    growth : Fraction
        A bound on G; r divided by it is one on A.
    """

    bins: int
    ratio: Fraction
    weights: tuple[int, ...] = field(repr=False)
    growth: Fraction

    def wrong(self, score: int) -> Fraction:
        """Return the largest chance that a bin with this score or a higher one is named, whatever the data."""
        others = (self.bins - 1) * self.weights[min(score, len(self.weights) - 1)]
        return Fraction(others, self.weights[0] + others) if score else Fraction(1)


@checked
def exponential_base(bins: int, ratio: Fraction) -> Fraction:
    """Return EM*'s β, rounded up to nine digits: the least with r·β·(1 + (k − 2)·β²) ≥ 1 + (k − 2)·β.

    Parameters
    ----------
    bins : int
        k, from 2 to 100.
    ratio : Fraction
        r ≥ 1.

    Examples
    --------
    >>> float(exponential_base(3, Fraction(2)))
    0.589754513

    References
    ----------
    proofs/quantiles.md.
    """
    others = integer(bins, "bins", at_least=2, at_most=MOST_BINS) - 2
    least = rational(ratio, "ratio")
    if least < 1:
        raise BadInput("ratio", "must be at least 1 (it is e^epsilon)", "give a number from 1 up")
    low, high = 0, _BASE_UNIT  # what is asked of β fails at 0, holds at 1, and changes once: the difference is convex
    while high - low > 1:
        middle = (low + high) // 2
        base = Fraction(middle, _BASE_UNIT)
        holds = least * base * (1 + others * base**2) >= 1 + others * base
        low, high = (low, middle) if holds else (middle, high)
    return Fraction(high, _BASE_UNIT)


def is_private(bins: int, ratio: Fraction, weights: tuple[int, ...], growth: Fraction) -> bool:
    """Check in whole numbers that weights never rise, that G ≤ `growth`, and that A ≤ r/growth.

    Parameters
    ----------
    bins, ratio, growth
        k, r and a bound on G.
    weights : tuple of int
        By score; the last stands for all beyond.
    """
    others, pairs = bins - 2, list(pairwise(weights))
    up, down = growth.numerator, growth.denominator
    fall = ratio / growth
    most, least = fall.numerator, fall.denominator
    return (
        growth >= 1  # two weights alone would ask nothing of it
        and weights[-1] > 0
        and all(below <= above and above * least <= below * most for above, below in pairs)
        and all(
            (weights[0] + others * above) * down <= (weights[0] + others * below) * up for above, below in pairs[1:]
        )
    )


@lru_cache(maxsize=32)
def ladder(bins: int, ratio: Fraction) -> ScoreWeights:
    """Build, of a few shapes, the sequence with the smallest worst expected score; all are private, exactly.

    Parameters
    ----------
    bins : int
        k, from 2 to 100.
    ratio : Fraction
        r ≥ 1.
    """
    if ratio == 1:
        return ScoreWeights(bins, ratio, (HEIGHT,), Fraction(1))
    seen = max(math.log(ratio), float(_SMALLEST))
    base = float(exponential_base(bins, Fraction(math.exp(seen))))
    growths = [*(math.exp(seen * float(part)) for part in _SHAPES), math.exp(seen) * base]
    best = min(growths, key=lambda growth: _worst_mean(_steps(bins, math.exp(seen), growth)))
    growth = Fraction(math.exp(math.log(best) / seen * math.log(ratio)))
    made = whole_ladder(bins, ratio, growth.limit_denominator(1 << 20))
    if not is_private(bins, ratio, made.weights, made.growth):
        raise AssertionError("a ladder that is not private")
    return made


_SEEN = 4_000


def _steps(bins: int, ratio: float, growth: float) -> list[float]:
    """Return what the k − 1 wrong bins weigh together, by score, in floats."""
    others, weight, result = bins - 2, 1 / (ratio / growth), [1.0]
    while weight > 1e-6 and len(result) < _SEEN:
        result.append((bins - 1) * weight)
        slow = ((1 + others * weight) / growth - 1) / others if others else 0
        weight = max(weight * growth / ratio, slow)
    return result


def _worst_mean(together: list[float]) -> float:
    """Return the largest expected score: where all wrong bins have the same."""
    return max((score * weight / (1 + weight) for score, weight in enumerate(together) if score), default=math.inf)


def whole_ladder(bins: int, ratio: Fraction, growth: Fraction) -> ScoreWeights:
    """Build the lowest sequence for a G in whole numbers, each rounded up, which satisfies the condition."""
    others, weights = bins - 2, [HEIGHT]
    growth = min(max(growth, Fraction(1)), ratio)
    fall = ratio / growth
    most, least, up, down = fall.numerator, fall.denominator, growth.numerator, growth.denominator
    while len(weights) < _LONGEST:
        weight = -(-weights[-1] * least // most)
        if others and len(weights) > 1:
            total = -(-(HEIGHT + others * weights[-1]) * down // up)
            weight = max(weight, -((HEIGHT - total) // others))
        if weight >= weights[-1]:
            break
        weights.append(weight)
    return ScoreWeights(bins, ratio, tuple(weights), growth)
