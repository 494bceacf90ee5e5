"""The weight factor of a record in a baseline mechanism: α = r^(−1/root), a fraction or enclosed.

A mechanism in which one record moves a score by 1 keeps ε at the root 1, where scores only rise or only fall together;
at the root 2, where one may rise while another falls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import flint

from .._exact import Enclosure, ball, enclosure_of
from ..errors import BadInput

Number = Any
"""An exact rational (`flint.fmpq`) or a ball (`flint.arb`): the formulas are the same."""

_ABSOLUTE = Fraction(1, 10**18)
_SMALL = Fraction(1, 10**8)
_TINY = Fraction(1, 10**60)

_LONGEST = 100_000
"""Bits of a fraction; what is longer is enclosed."""


class Powers:
    """Powers of α in one kind of number, and what else depends on α alone, each worked out once.

    Parameters
    ----------
    base : fmpq or arb
        α, above 0 and below 1.
    """

    __slots__ = ("_kept", "_known", "base")

    def __init__(self, base: Number) -> None:
        self.base = base
        self._known: dict[int, Number] = {}
        self._kept: dict[Hashable, Number] = {}

    def __call__(self, exponent: int) -> Number:
        """Return α to a whole power, of either sign."""
        if exponent not in self._known:
            self._known[exponent] = self.base**exponent
        return self._known[exponent]

    def keep(self, name: Hashable, work_out: Callable[[], Number]) -> Number:
        """Return what was worked out under this name before, or work it out."""
        if name not in self._kept:
            self._kept[name] = work_out()
        return self._kept[name]


@dataclass(frozen=True, slots=True)
class Rate:
    """What one unit of score weighs.

    Parameters
    ----------
    ratio : Fraction
        r, above 1.
    root : int
        1 for all of ε, 2 for half of it, and so on.
    """

    ratio: Fraction
    root: int = 1

    def __post_init__(self) -> None:
        """Refuse an ε of 0, at which every mechanism guesses."""
        if self.ratio <= 1:
            raise BadInput("epsilon", "must be above 0 to compare mechanisms", "choose a larger epsilon")

    @property
    def exact(self) -> flint.fmpq | None:
        """α, where it is a fraction."""
        above, below = self.ratio.as_integer_ratio()
        if self.root == 1:
            return flint.fmpq(below, above)
        roots = isqrt(above), isqrt(below)
        if self.root == 2 and (roots[0] ** 2, roots[1] ** 2) == (above, below):
            return flint.fmpq(roots[1], roots[0])
        return None

    def exact_up_to(self, exponent: int) -> flint.fmpq | None:
        """Return α where it is a fraction, and its power not too long to be worked with."""
        exact = self.exact
        short = exact is not None and exponent * int(exact.q).bit_length() <= _LONGEST
        return exact if short else None

    def powers(self) -> Powers:
        """Return powers of α as balls, at the working precision."""
        whole = ball(self.ratio)
        return Powers(1 / (whole if self.root == 1 else whole.root(self.root)))

    def enclose(self, formula: Callable[[Powers], Number], exponent: int | None) -> Enclosure:
        """Return the value of a formula in α: a fraction where that is short, else an interval.

        Parameters
        ----------
        formula : callable
            From powers of α to a number of their kind.
        exponent : int or None
            The largest power of α in the fraction, which says how long that is; None for an interval always.
        """
        exact = None if exponent is None else self.exact_up_to(exponent)
        if exact is not None:
            return Enclosure.exactly(as_fraction(formula(Powers(exact))))
        return enclose_closely(lambda: formula(self.powers()))

    def enclose_probability(self, formula: Callable[[Powers], Number], exponent: int | None) -> Enclosure:
        """Return the value of a formula for a probability, as `enclose` does; no end lies outside 0 to 1."""
        return self.enclose(formula, exponent).clamp(Fraction(0), Fraction(1))

    def words(self) -> str:
        """Say which ε this is."""
        return "ε" if self.root == 1 else f"ε/{self.root}"


def enclose_closely(compute: Callable[[], flint.arb]) -> Enclosure:
    """Enclose a probability or an error to about nine digits, or to 10^-60 where it is next to nothing.

    Parameters
    ----------
    compute : callable
        Computes a ball at the working precision.
    """
    enclosure = enclosure_of(compute, width=_ABSOLUTE)
    return enclosure if enclosure.lower > _SMALL else enclosure_of(compute, width=_TINY)


def polynomial(coefficients: list[Number]) -> Any:
    """Return a polynomial over whichever kind of number its coefficients are."""
    exact = not any(isinstance(coefficient, flint.arb) for coefficient in coefficients)
    return flint.fmpq_poly(coefficients) if exact else flint.arb_poly(coefficients)


def as_fraction(value: flint.fmpq) -> Fraction:
    """Return an exact rational as Python has them."""
    return Fraction(int(value.p), int(value.q))
