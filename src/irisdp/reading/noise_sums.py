"""How far the sum of independent noises is from 0, from the convolution of their law.

Masses are kept as multiples of 2^-112, each rounded down, in every step. So sums of them never exceed the true mass,
and a distance holds with at least the requested confidence. It is the least such distance, but for confidences that lie
within 2^-45 of what a smaller one has.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

import flint

from ..cells.chances import least_distance
from ..exact import Enclosure
from ..noise import GaussianLaw, ShapeLaw

__all__ = ["sum_distance"]

_BITS = 112
_ONE = 1 << _BITS
_NARROW = Fraction(1, _ONE << 16)
_SURE = 1 - Fraction(1, 1 << 70)
_LEFT_OUT = _ONE >> 70
"""Mass at either end that is left out in every step."""
_LONGEST = 1 << 16
"""Whole numbers on a side that one noise may reach; further, sums are bounded by their parts."""
_WIDEST = 5000
"""The largest standard deviation of a sum that is convolved: some seconds."""


@lru_cache(maxsize=256)
def sum_distance(noise: ShapeLaw | GaussianLaw, number: int, confidence: Fraction) -> int | None:
    """Return the least distance from 0 that the sum of `number` such noises, in whole numbers, stays within.

    Parameters
    ----------
    noise : ShapeLaw or GaussianLaw
        Its own mirror image. A law in cells is that of the whole numbers that cells are shown as.
    number : int
        At least 1.
    confidence : Fraction
        At most 1 − 1e-12.

    Returns
    -------
    int or None
        None where the noise reaches too far for its masses to be listed.

    Examples
    --------
    >>> from irisdp import Privacy, noise
    >>> sum_distance(noise.law("geometric", Privacy(ratio=2)), 4, Fraction(19, 20))
    8
    """
    masses = _masses(noise)
    if masses is None:
        return None
    if _spread(masses) * number > _WIDEST**2:
        return None
    found = [_ONE]
    for bit in bin(number)[2:]:  # from the first digit on: twice as many, and one more
        found = _product(found, found)
        if bit == "1":
            found = _product(found, masses)
    middle = len(found) // 2
    outward = (found[middle], *(2 * mass for mass in found[middle + 1 :]))
    wanted = confidence * _ONE
    return next((distance for distance, mass in enumerate(accumulate(outward)) if mass >= wanted), None)


class _OfLaw:
    """A law, as `least_distance` asks it."""

    def __init__(self, noise: ShapeLaw | GaussianLaw) -> None:
        self._noise = noise

    def chance_within(self, distance: int) -> Enclosure:
        return self._noise.within(distance, width=_NARROW)


def _masses(noise: ShapeLaw | GaussianLaw) -> list[int] | None:
    """Return the masses of −reach, …, reach, each rounded down and alike on both sides."""
    if isinstance(noise, ShapeLaw) and noise.kind == "geometric" and noise.sensitivity == 1:
        return _geometric(1 / noise.privacy.pairs[0].ratio)
    reach = least_distance(_OfLaw(noise), _SURE)
    if reach is None or reach > _LONGEST:
        return None
    size = noise.atoms_per_unit
    cuts = [noise.below(place * size, width=_NARROW) for place in range(-reach, 2)]
    left = [max(0, int((after.lower - before.upper) * _ONE)) for before, after in pairwise(cuts)]
    return [*left, *left[-2::-1]]


def _geometric(alpha: Fraction) -> list[int] | None:
    """Return the masses (1 − α)/(1 + α)·α^|z|, rounded down at every step."""
    shrink, right = int(alpha * _ONE), [int((1 - alpha) / (1 + alpha) * _ONE)]
    while right[-1] * alpha > (1 - alpha) * _LEFT_OUT:
        if len(right) > _LONGEST:
            return None
        right.append(right[-1] * shrink >> _BITS)
    return [*right[:0:-1], *right]


def _spread(masses: list[int]) -> float:
    """Return the variance."""
    middle = len(masses) // 2
    return float(sum(2 * place**2 * mass for place, mass in enumerate(masses[middle:])) / _ONE)


def _product(one: list[int], other: list[int]) -> list[int]:
    """Convolve, round down, and leave out what hardly has mass, as much on either side."""
    found = [int(mass) >> _BITS for mass in (flint.fmpz_poly(one) * flint.fmpz_poly(other)).coeffs()]
    found += [0] * (len(one) + len(other) - 1 - len(found))  # a polynomial has no leading noughts
    start = next(place for place, mass in enumerate(accumulate(found)) if mass > _LEFT_OUT)
    return found[start : len(found) - start]
