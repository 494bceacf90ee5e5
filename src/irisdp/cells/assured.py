"""Ends of numbers and least probabilities of names, from what a mechanism says of its chances; see `assurance`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..exact import rational_text
from .assurance import HIGH, LOW, PROBABILITY, Assurance
from .chances import WithChances, least_distance

__all__ = ["assured_between", "assured_distance", "assured_names", "assured_together", "no_assurance", "promised"]

Integers = NDArray[np.int64]

_DIGITS = 6

_BEYOND_ALL = 1 << 62
"""Beyond what anyone counts, and within 64 bits."""


def no_assurance() -> Assurance:
    """Return what can be said of answers of which nothing can be."""
    return Assurance()


def assured_between(
    mechanism: WithChances,
    shown: Sequence[int],
    least: Integers | int | None,
    most: Integers | int | None,
    confidence: Fraction,
) -> Assurance:
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
    return Assurance({LOW: lows, HIGH: highs}, promised(confidence), confidence)


def promised(confidence: Fraction, covers: str = "noise only") -> str:
    """Say of what the columns `answer_low` and `answer_high` are the ends, and which errors the interval covers."""
    return f"{_percent(confidence)} confidence interval ({covers})"


def assured_together(ends: Sequence[Sequence[tuple[int, int | None]]], confidence: Fraction) -> Assurance:
    """Return ends of lists of numbers, which hold for all numbers of a list together; None stands for no end."""
    promise = (
        f"with probability {_percent(confidence)} or more, whatever the data, all true numbers of a list are together"
        f" at least {LOW} and at most {HIGH}"
    )
    lows, highs = ([[each[side] for each in found] for found in ends] for side in (0, 1))
    return Assurance({LOW: lows, HIGH: highs}, promise, confidence)


def assured_names(chance: Fraction, shown: Sequence[Any]) -> Assurance:
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
    return Assurance({PROBABILITY: beside}, promise)


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
