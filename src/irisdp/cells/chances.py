"""How surely an answer stays within a distance of the truth, and within which distance it surely stays.

The mechanism defines the distance in `chance_within`. For numbers it is the distance of the drawn answer from the
truth. For names it is the number of records that separate the truth from another name. Chances are exact, or enclosed,
and whatever is concluded from one rests on the end that is worse.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Protocol

import flint

from ..exact import Enclosure, ball, enclosure_of
from .protocol import ENCLOSED

__all__ = ["WithChances", "at_most", "least_distance", "surely_within", "together"]

_FARTHEST = 1 << 48
"""A distance beyond any table; the search for one ends there."""

_NONE, _ALL = Fraction(0), Fraction(1)


class WithChances(Protocol):
    """Whatever knows how surely it stays within a distance."""

    def chance_within(self, distance: int) -> Enclosure | None:
        """See `CellMechanism`."""
        ...


def surely_within(mechanism: WithChances, distance: int, confidence: Fraction) -> bool:
    """Tell whether an answer surely stays within a distance with this probability, or is right from it on."""
    chance = mechanism.chance_within(distance)
    return chance is not None and chance.lower >= confidence


def least_distance(mechanism: WithChances, confidence: Fraction) -> int | None:
    """Return the least distance that answers surely stay within, or from which on they are right, this often.

    Parameters
    ----------
    mechanism : CellMechanism
        Chances never fall with the distance.
    confidence : Fraction
        The probability asked for, up to 1.

    Returns
    -------
    int or None
        None where the mechanism says no chances, or none is as high.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> from irisdp.cells import GeometricNoise
    >>> least_distance(GeometricNoise(Privacy(ratio=2)), Fraction(19, 20))
    4
    """
    low, high = -1, 0
    while not surely_within(mechanism, high, confidence):
        if high == 0 and not surely_within(mechanism, _FARTHEST, confidence):
            return None
        low, high = high, min(2 * high + 1, _FARTHEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if surely_within(mechanism, middle, confidence) else (middle, high)
    return high


def at_most(wrong: Enclosure) -> Enclosure:
    """Return the chance of being right from that of being wrong, within [0, 1]."""
    return Enclosure(1 - wrong.upper, 1 - wrong.lower).clamp(_NONE, _ALL)


def together(chance: Enclosure, number: int) -> Enclosure:
    """Enclose the chance that so many independent answers all stay within, from that of each."""
    if number == 1 or chance.lower == chance.upper == 1:
        return chance
    low, high = (enclosure_of(partial(_power, end, number), width=ENCLOSED) for end in (chance.lower, chance.upper))
    return Enclosure(low.lower, high.upper).clamp(_NONE, _ALL)


def _power(chance: Fraction, number: int) -> flint.arb:
    return ball(chance) ** number
