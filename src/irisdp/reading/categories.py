"""How many records are in each category, given a published answer about each record."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np
from numpy.typing import NDArray

from ..cells.first_where import first_where

__all__ = ["count_between", "estimated"]

_FLOAT_ERROR = 1e-9
"""More than the floats of a tail are off by, and than the terms left out are in all."""


def estimated(answers: int, records: int, truth: Fraction, lie: Fraction) -> Fraction:
    """Estimate how many records are in a category that so many answers name, without bias.

    Examples
    --------
    >>> estimated(4, 8, Fraction(1, 2), Fraction(1, 4))
    Fraction(8, 1)
    """
    return (answers - records * lie) / (truth - lie)


def count_between(
    answers: int, records: int, truth: Fraction, lie: Fraction, *, wrong: Fraction = Fraction(1, 20)
) -> tuple[int, int]:
    """Return ends of how many records are in a category, which hold with probability 1 − `wrong` and more.

    Of t records in it, those that say so are binomially distributed with the truth's probability, of all others with
    that of a lie: together the more, the larger t. So every t is kept under which neither as many answers nor as few
    are less likely than half of `wrong` [Clopper1934]. Tails are floats, and the check allows for their error.

    Examples
    --------
    >>> count_between(60, 100, Fraction(3, 4), Fraction(1, 4))
    (53, 88)
    """
    most = float(wrong) / 2
    p, q = float(truth), float(lie)
    least = first_where(lambda t: t >= records or _at_least(answers, t, records, p, q) > most)
    # As few answers under t are as many of the other kind under the records that are not in the category.
    others = first_where(lambda t: t >= records or _at_least(records - answers, t, records, 1 - q, 1 - p) > most)
    return least, max(records - others, least)


def _at_least(answers: int, inside: int, records: int, truth: float, lie: float) -> float:
    """Bound the probability of so many answers or more, if `inside` records are in the category."""
    if answers <= 0:
        return 1.0
    first, right = _binomial(inside, truth)
    start, wrong = _binomial(records - inside, lie)
    beyond = np.append(np.cumsum(wrong[::-1])[::-1], 0.0)  # of so many lies, or more, from `start` on
    needed = answers - first - np.arange(len(right)) - start
    rounded = records * 2.0**-53  # a probability next to 1 is off by so much in each record
    return float(right @ beyond[np.clip(needed, 0, len(wrong))]) + _FLOAT_ERROR + rounded


def _binomial(trials: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the first of the outcomes within 12 deviations and 40 of the mean, and the probability of each."""
    if chance in (0.0, 1.0):  # as floats: at ε = 40 a truth has probability 1 − 1e-17
        return int(trials * chance), np.ones(1)
    reach = 12 * sqrt(trials * chance * (1 - chance)) + 40
    mode = min(trials, floor((trials + 1) * chance))
    low, high = max(0, ceil(mode - reach)), min(trials, floor(mode + reach))
    odds = chance / (1 - chance)
    up = np.arange(mode, high)
    down = np.arange(mode, low, -1)
    rising = np.cumprod((trials - up) / (up + 1) * odds)
    sinking = np.cumprod(down / (trials - down + 1) / odds)
    weights = np.concatenate([sinking[::-1], [1.0], rising])
    return low, weights / weights.sum()
