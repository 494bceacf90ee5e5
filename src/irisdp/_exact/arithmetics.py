"""The exact arithmetics an audit can run in: one for speed, two for a second opinion.

Everything below is written with +, −, ·, / and < only, so any type of exact rational serves. A verdict that two
independent implementations of arithmetic share does not hang on a bug in either.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import flint

from ..errors import BadInput

Number = Any
"""An exact rational of the arithmetic chosen."""

Numbers = tuple[Number, ...]
"""A row of them."""

ARITHMETICS = ("flint", "fractions", "gmpy2")
"""python-flint (the default, fastest), the standard library, and gmpy2 (when it is installed)."""


def conversion(name: str) -> Callable[[Fraction], Number]:
    """Return the conversion from `Fraction` to an arithmetic's own numbers.

    Raises
    ------
    BadInput
        For a name that is not in `ARITHMETICS`, or an arithmetic that is not installed.
    """
    if name == "flint":
        return flint_rational
    if name == "fractions":
        return lambda value: value
    if name == "gmpy2":
        try:
            gmpy2: Any = importlib.import_module("gmpy2")
        except ImportError:
            raise BadInput("arithmetic", "gmpy2 is not installed", 'choose "flint" or "fractions"') from None
        return lambda value: gmpy2.mpq(value.numerator, value.denominator)
    raise BadInput("arithmetic", "is not known", f"choose one of {', '.join(ARITHMETICS)}")


def flint_rational(value: Fraction) -> Number:
    """Convert to python-flint's rational."""
    return flint.fmpq(value.numerator, value.denominator)


def as_fraction(value: Number) -> Fraction:
    """Convert a number of any of the arithmetics back."""
    if isinstance(value, flint.fmpq):
        return Fraction(int(value.p), int(value.q))
    return Fraction(int(value.numerator), int(value.denominator))


def convert(rows: Iterable[Iterable[Fraction]], number: Callable[[Fraction], Number]) -> list[Numbers]:
    """Convert a table row by row."""
    return [tuple(map(number, row)) for row in rows]
