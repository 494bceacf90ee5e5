"""Public numbers that a question is given, such as bounds and steps: decimals of a few places, kept exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import meant_decimal, rational

__all__ = ["read_decimal"]

_MOST_PLACES = 12
_SUCH_AS = "give for example 1000, 0.5 or 0.01"
_LARGEST = 10**15
"""Of a bound: differences of doubles between bounds, and products of two, stay finite, and the engine refuses no record
for its value."""


def read_decimal(value: Any, name: str) -> Fraction:
    """Read a number that can be written in a few decimal places."""
    try:
        number = rational(value, name)
    except BadInput as error:  # which quotients, and how many places, is said here
        meant = meant_decimal(value) if isinstance(value, str) else None
        raise BadInput(name, error.rule, _SUCH_AS if meant is None else error.remedy) from None
    if number * 10**_MOST_PLACES % 1:
        rule = f"must be a decimal number of at most {_MOST_PLACES} places"
        raise BadInput(name, rule, _SUCH_AS)
    if abs(number) > _LARGEST:
        raise BadInput(name, f"must lie between -{_LARGEST:,} and {_LARGEST:,}", "give a number nearer to 0")
    return number
