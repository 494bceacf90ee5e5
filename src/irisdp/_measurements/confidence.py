"""Ends of numbers and least probabilities of names, from what a mechanism says of its chances; see `assurance`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Protocol, cast

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, enclosure_of, rational_text
from .protocol import ENCLOSED, HIGH, LOW, PROBABILITY, ConfidenceStatement

# The probability that an answer is within a distance of the truth, and the distance for a given probability.
#
# Each mechanism defines the distance. For numbers it is the distance of the drawn answer from the truth. For names it
# is the number of records that separate the truth from another name. Probabilities are exact, or enclosed, and every
# conclusion uses the worse bound.

_FARTHEST = 1 << 48
"""A distance beyond any table; the search for one ends there."""

_NONE, _ALL = Fraction(0), Fraction(1)


class WithChances(Protocol):
    """Whatever knows how surely it stays within a distance."""

    def chance_within(self, distance: int) -> Enclosure | None:
        """See `Measurement`."""
        ...


def surely_within(mechanism: WithChances, distance: int, confidence: Fraction) -> bool:
    """Tell whether an answer surely stays within a distance with this probability, or is right from it on."""
    chance = mechanism.chance_within(distance)
    return chance is not None and chance.lower >= confidence


def least_distance(mechanism: WithChances, confidence: Fraction) -> int | None:
    """Return the least distance that answers surely stay within, or from which on they are right, this often.

    Parameters
    ----------
    mechanism : Measurement
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
    >>> from irisdp._measurements import GeometricNoise
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


Integers = NDArray[np.int64]

_DIGITS = 6

_BEYOND_ALL = 1 << 62
"""Beyond what anyone counts, and within 64 bits."""


def no_assurance() -> ConfidenceStatement:
    """Return what can be said of answers of which nothing can be."""
    return ConfidenceStatement()


def assured_between(
    mechanism: WithChances,
    shown: Sequence[int],
    least: Integers | int | None,
    most: Integers | int | None,
    confidence: Fraction,
) -> ConfidenceStatement:
    """Return intervals of numbers whose noise `chance_within` describes.

    Parameters
    ----------
    mechanism
        Made the answers.
    shown : sequence of int
        The answers, between their public ends.
    least, most : int64 array, or int, or None
        The public ends, of each answer or of all; None if there are no public ends.
    confidence : Fraction
        Confidence that the truth lies in the interval, for each answer by itself.
    """
    distance = assured_distance(mechanism, confidence)
    if distance is None:
        return no_assurance()
    values = np.clip(np.array(shown, dtype=np.int64), -_BEYOND_ALL, _BEYOND_ALL)  # so that no sum overflows
    lows, highs = (_between(end, least, most).tolist() for end in (values - distance, values + distance))
    return ConfidenceStatement({LOW: lows, HIGH: highs}, promised(confidence), confidence)


def promised(confidence: Fraction, covers: str = "noise only") -> str:
    """Say of what the columns `answer_low` and `answer_high` are the ends, and which errors the interval covers."""
    return f"{_percent(confidence)} confidence interval ({covers})"


def assured_together(ends: Sequence[Sequence[tuple[int, int | None]]], confidence: Fraction) -> ConfidenceStatement:
    """Return ends of lists of numbers, which hold for all numbers of a list together; None stands for no end."""
    promise = (
        f"with probability {_percent(confidence)} or more, whatever the data, all true numbers of a list are together"
        f" at least {LOW} and at most {HIGH}"
    )
    lows, highs = ([[each[side] for each in intervals] for intervals in ends] for side in (0, 1))
    return ConfidenceStatement({LOW: lows, HIGH: highs}, promise, confidence)


def assured_names(chance: Fraction, shown: Sequence[Any]) -> ConfidenceStatement:
    """Return the least probability of the right answer beside each, rounded down to six significant digits.

    Parameters
    ----------
    chance : Fraction
        The probability, or the lower end of a narrow enclosure of it.
    shown : sequence
        The answers; of lists, each entry is an answer.
    """
    stated = float(_rounded_down(chance))
    if stated <= 0:
        return no_assurance()
    beside = [[stated] * len(answer) if isinstance(answer, tuple | list) else stated for answer in shown]
    promise = f"{PROBABILITY} is the least probability of the right answer, on the data on which it is least"
    return ConfidenceStatement({PROBABILITY: beside}, promise)


def _rounded_down(chance: Fraction) -> Fraction:
    """Return the largest number of six significant digits that is no more than a probability."""
    digits = _DIGITS
    while 0 < chance * 10**digits < 10 ** (_DIGITS - 1):
        digits += 1
    return Fraction(int(chance * 10**digits), 10**digits)


def assured_distance(mechanism: WithChances, confidence: Fraction) -> int | None:
    """Return the least distance with this chance; found once for each mechanism, which is frozen."""
    return _found(cast(Any, mechanism), confidence)


@lru_cache(maxsize=256)
def _found(mechanism: WithChances, confidence: Fraction) -> int | None:
    return least_distance(mechanism, confidence)


def _between(ends: Integers, least: Integers | int | None, most: Integers | int | None) -> Integers:
    raised = ends if least is None else np.maximum(ends, least)
    return raised if most is None else np.minimum(raised, most)


def _percent(confidence: Fraction) -> str:
    return f"{rational_text(100 * confidence)} %"
