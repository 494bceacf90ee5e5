"""Rational intervals that are certain to hold a real number.

Arb (through python-flint) does the arithmetic with balls; an `Enclosure` is what the rest of the library sees: two
rationals, in order, with the number between them. Arb is loaded when a ball is first needed: it takes longer than
everything else that the command line's help needs from this layer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .rationals import short_text

if TYPE_CHECKING:
    import flint

__all__ = ["Enclosure", "ball", "enclosure_of", "ends", "working_precision"]

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
                found = ends(result)
                if found.width <= width:
                    return found
        bits *= 2


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
