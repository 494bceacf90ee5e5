"""Rounding with a direction.

Names say which way: a ratio is rounded *below* e^ε (more privacy), the ε charged for a ratio *above* its logarithm.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from ..errors import BadInput
from .enclosures import Enclosure, ball, enclosure_of

__all__ = [
    "decimal_above",
    "dyadic_above",
    "dyadic_below",
    "exp_below",
    "float_above",
    "log_above",
    "log_below",
    "log_near",
]

RATIO_BITS = 128
"""Significant bits kept of e^ε; the ratio used is below e^ε by at most 2^-126 of its size."""

LARGEST_EPSILON = 1000
"""Beyond this a ratio is no longer privacy but a long number."""

_LOGARITHM_PLACES = 30


def exp_below(exponent: Fraction, bits: int = RATIO_BITS) -> Fraction:
    """Return a dyadic rational r ≤ e^exponent with about `bits` significant bits; exactly 1 at 0.

    Parameters
    ----------
    exponent : Fraction
        In [0, LARGEST_EPSILON].
    bits : int
        Significant bits of the result, at least 100 for anything released.
    """
    if exponent == 0:
        return Fraction(1)
    if not 0 < exponent <= LARGEST_EPSILON:
        raise BadInput("epsilon", f"must lie between 0 and {LARGEST_EPSILON}", "choose a smaller epsilon")
    # The later widths are for an exponent that was made to come close to a short number: the stand-alone verifier
    # decides on which side it lies, and so must we.
    for width in (bits + 2, 2_000, 28_000):
        found = enclosure_of(lambda: ball(exponent).exp(), width=Fraction(1, 1 << width))
        below = dyadic_below(found.lower, bits)
        if below == dyadic_below(found.upper, bits):
            break
    return max(Fraction(1), below)


def log_above(ratio: Fraction) -> Fraction:
    """Return a decimal of 30 places that is at least log(ratio): the ε to charge for a ratio."""
    return Fraction(0) if ratio == 1 else decimal_above(_log(ratio).upper, _LOGARITHM_PLACES)


def log_below(ratio: Fraction) -> Fraction:
    """Return a rational within 10^-30 below log(ratio)."""
    return Fraction(0) if ratio == 1 else _log(ratio).lower


def log_near(ratio: Fraction) -> float:
    """Return log(ratio) in floats, relatively within 10^-12, above or below.

    Of a ratio of 1 or more, and of at most 4,096 bits. For searches, and for lengths that are raised
    afterwards; not for an ε, nor for a bound: see `log_above`.

    Examples
    --------
    >>> log_near(Fraction(1)), log_near(1 + Fraction(1, 10**20)), log_near(Fraction(10**400))
    (0.0, 1e-20, 921.0340371976182)
    """
    if ratio < 2:  # the logarithms of the two parts would be nearly equal
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)  # no float holds e^710


def dyadic_below(value: Fraction, bits: int) -> Fraction:
    """Round a non-negative rational down to `bits` significant bits."""
    return _floor(value, _scale(value, bits))


def dyadic_above(value: Fraction, bits: int) -> Fraction:
    """Round a non-negative rational up to `bits` significant bits."""
    return -_floor(-value, _scale(value, bits))


def decimal_above(value: Fraction, places: int) -> Fraction:
    """Round up to a number of decimal places."""
    return Fraction(-(-value.numerator * 10**places // value.denominator), 10**places)


def float_above(value: Fraction) -> float:
    """Return the least float that is not below a rational; infinity beyond all floats.

    Examples
    --------
    >>> float_above(Fraction(3, 10)), float_above(Fraction(1, 2))
    (0.30000000000000004, 0.5)
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def _log(ratio: Fraction) -> Enclosure:
    return enclosure_of(lambda: ball(ratio).log(), width=Fraction(1, 10 ** (_LOGARITHM_PLACES + 5)))


def _scale(value: Fraction, bits: int) -> int:
    """Return the power of two that leaves about `bits` bits before the point."""
    return bits - (value.numerator.bit_length() - value.denominator.bit_length())


def _floor(value: Fraction, scale: int) -> Fraction:
    if scale >= 0:
        return Fraction((value.numerator << scale) // value.denominator, 1 << scale)
    return Fraction((value.numerator // (value.denominator << -scale)) << -scale)
