"""Rational intervals that are certain to hold a real number.

Arb (through python-flint) does the arithmetic with balls; an `Enclosure` is what the rest of the library sees: two
rationals, in order, with the number between them. Arb is loaded when a ball is first needed: it takes longer than
everything else that the command line's help needs from this layer.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from ..errors import BadInput
from .rationals import short_text

if TYPE_CHECKING:
    import flint


_LONGEST = 1 << 20
"""Binary digits behind the point, beyond which a number next to 0 is bounded by 0 and a power of two."""


@dataclass(frozen=True, slots=True, repr=False)
class Enclosure:
    """An interval [lower, upper] of rationals that holds the number meant."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def exactly(cls, value: Fraction) -> Enclosure:
        """Hold one rational and nothing else."""
        return cls(value, value)

    @property
    def width(self) -> Fraction:
        """Upper end minus lower end."""
        return self.upper - self.lower

    def __float__(self) -> float:
        """Return a float near the middle, for people and plots."""
        return float((self.lower + self.upper) / 2)

    def __repr__(self) -> str:
        """Show both ends for people; they may have hundreds of digits."""
        if self.lower == self.upper:
            return f"<Enclosure: exactly {short_text(self.lower)}>"
        return f"<Enclosure: {short_text(self.lower)} to {short_text(self.upper)}, apart {float(self.width):.1g}>"

    def __contains__(self, value: Fraction) -> bool:
        """Tell whether a rational lies in the interval."""
        return self.lower <= value <= self.upper

    def hull(self, other: Enclosure) -> Enclosure:
        """Hold both intervals."""
        return Enclosure(min(self.lower, other.lower), max(self.upper, other.upper))

    def clamp(self, lower: Fraction, upper: Fraction) -> Enclosure:
        """Apply x ↦ min(upper, max(lower, x)), which keeps the number inside."""
        return Enclosure(min(upper, max(lower, self.lower)), min(upper, max(lower, self.upper)))


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with Arb at this many bits inside the block."""
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(value: Fraction) -> flint.arb:
    """Enclose a rational at the working precision."""
    import flint

    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def enclosure_of(compute: Callable[[], flint.arb], *, width: Fraction) -> Enclosure:
    """Raise the working precision until a ball computation is as narrow as asked.

    Parameters
    ----------
    compute : callable
        Computes a ball at the working precision; called again with more precision while the ball is too wide.
    width : Fraction
        Largest width of the enclosure returned, more than 0.
    """
    bits = 64 + max(0, -_floor_log2(width))
    while True:
        with working_precision(bits):
            result = compute()
            if result.is_finite():
                enclosure = ends(result)
                if enclosure.width <= width:
                    return enclosure
        bits *= 2


def enclosures_of(compute: Callable[[], Sequence[flint.arb]], count: int, *, width: Fraction) -> tuple[Enclosure, ...]:
    """Enclose several numbers that one computation returns together: it runs once for each working precision.

    Parameters
    ----------
    compute : callable
        Computes `count` balls at the working precision.
    width : Fraction
        Largest width of each enclosure, more than 0.
    """
    import flint

    known: dict[int, Sequence[flint.arb]] = {}

    def part(place: int) -> flint.arb:
        if flint.ctx.prec not in known:
            known[flint.ctx.prec] = compute()
        return known[flint.ctx.prec][place]

    return tuple(enclosure_of(partial(part, place), width=width) for place in range(count))


def ends(held: flint.arb) -> Enclosure:
    """Return the ends of a finite ball, rounded outward to the working precision."""
    return Enclosure(_rational(held.lower(), up=False), _rational(held.upper(), up=True))


def _rational(point: flint.arb, *, up: bool) -> Fraction:
    mantissa, exponent = point.man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    if -exponent > _longest():  # nearer to 0 than anyone asks
        least = Fraction(1, 1 << _longest() - mantissa.bit_length())
        if up:
            return least if mantissa > 0 else Fraction(0)
        return -least if mantissa < 0 else Fraction(0)
    return Fraction(mantissa, 1 << -exponent)


def _longest() -> int:
    import flint

    longest: int = max(_LONGEST, 4 * flint.ctx.prec)
    return longest


def _floor_log2(value: Fraction) -> int:
    """Return k with 2^k ≤ value < 2^(k+2): close enough to choose a precision."""
    return value.numerator.bit_length() - value.denominator.bit_length() - 1


# Directed rounding. Names say the direction: a ratio is rounded *below* e^ε (more privacy), and the ε charged for a
# ratio is rounded *above* its logarithm.

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
        enclosure = enclosure_of(lambda: ball(exponent).exp(), width=Fraction(1, 1 << width))
        below = dyadic_below(enclosure.lower, bits)
        if below == dyadic_below(enclosure.upper, bits):
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
