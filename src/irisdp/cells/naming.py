"""How many records a group needs to be named as surely as people ask for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .first_where import first_where

__all__ = ["describe_naming", "named_from"]

_SURENESS = tuple(Fraction(percent, 100) for percent in (50, 95, 99))


def named_from(chance: Callable[[int], Fraction]) -> dict[str, int]:
    """Return from how many records on a group is named with probability 50, 95 and 99 %, by the percentage.

    Parameters
    ----------
    chance : callable
        The probability for so many records, or a bound below it; never falls, and comes to 1.
    """

    def from_where(sure: Fraction) -> int:
        return first_where(lambda n: chance(n) >= sure)

    return {f"{100 * sure}": from_where(sure) for sure in _SURENESS}


def describe_naming(sizes: dict[str, int]) -> str:
    """Say the same in words.

    Examples
    --------
    >>> describe_naming({"50": 14, "95": 17, "99": 19})
    'a group is named with probability 50 % from 14 records on, 95 % from 17, 99 % from 19'
    """
    (percent, size), *more = sizes.items()
    first = f"a group is named with probability {percent} % from {size} records on"
    return ", ".join([first, *(f"{percent} % from {size}" for percent, size in more)])
