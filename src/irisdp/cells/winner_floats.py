"""Chances of many winners at once: intervals of floats, every operation rounded outwards.

Each interval holds the exact chance. It decides all draws but those whose word falls inside, which are decided from the
exact one (`winners`). Pulling from the top, a category that is behind refers to a state in which it is level, with
fewer behind, so that there are at most as many rounds as categories; gaps stand in ascending order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import flint
import numpy as np
from numpy.typing import NDArray

from ..exact import ball, enclosure_of

__all__ = ["Interval", "flip_chances", "pull_chances"]

Floats = NDArray[np.float64]
States = NDArray[np.int64]

_NEGLIGIBLE = 100
"""Powers below 2^-100 stand as [0, 2^-100]: words have 64 bits."""
_WIDTH = Fraction(1, 1 << 200)
_LISTED = 1 << 16
"""Powers that are worked out one after the other, for all cells: more, under a smaller ε, only where they are asked."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Floats on both sides of exact numbers."""

    low: Floats
    high: Floats

    def times(self, other: Interval) -> Interval:
        """Multiply numbers that are not negative."""
        return _outward(self.low * other.low, self.high * other.high)

    def plus(self, other: Interval) -> Interval:
        """Add."""
        return _outward(self.low + other.low, self.high + other.high)

    def at(self, places: NDArray[np.int64] | int) -> Interval:
        """Return the numbers at some places."""
        return Interval(self.low[places], self.high[places])


def pull_chances(states: States, ratio: Fraction) -> Interval:
    """Return the chance of every category.

    Parameters
    ----------
    states : int64 array, shape (n, q)
        Gaps to the largest, ascending: the first of each row is 0.
    ratio : Fraction
        r > 1.

    Returns
    -------
    Interval of shape (n, q)
    """
    powers = partial(_powers, ratio)
    top, behind = _tops(states, powers)
    near = top.at(np.repeat(np.arange(len(states)), states.shape[1])).times(powers(np.minimum(states.ravel(), 1)))
    low, high = near.low.reshape(states.shape), near.high.reshape(states.shape)
    far = states >= 2
    low[far], high[far] = behind.low, behind.high
    return Interval(low, high)


def flip_chances(states: States, ratio: Fraction, *, exchange: bool) -> Interval:
    """Return the chance of every category by permute and flip; gaps in any order, shape (n, q).

    Written with y = 1 − x, the chance that no other is accepted before moment x, Π (1 − a·x), is a sum of positive
    terms Π ((1 − a) + a·y), and loses no digits.
    """
    categories = states.shape[1]
    halves = states // 2 if exchange else states
    accepted = _powers(ratio, halves.ravel())
    if exchange:
        odd = enclosure_of(lambda: 2 / (1 + ball(ratio)), width=_WIDTH)
        factor = np.where(states.ravel() % 2 == 1, 1, 0).astype(np.int64)
        table = Interval(
            np.array([1.0, np.nextafter(float(odd.lower), 0.0)]), np.array([1.0, np.nextafter(float(odd.upper), 2.0)])
        )
        accepted = accepted.times(table.at(factor))
    low, high = accepted.low.reshape(states.shape), np.minimum(accepted.high, 1.0).reshape(states.shape)
    # A row for each category: whole rows are multiplied.
    move = Interval(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))
    refused = _outward(1 - move.high, 1 - move.low)
    stay = Interval(np.maximum(refused.low, 0.0), refused.high)
    found = Interval(np.empty(states.shape), np.empty(states.shape))
    for place in range(categories):
        chance = _first_of(stay, move, place).times(move.at(place))
        found.low[:, place], found.high[:, place] = chance.low, chance.high
    return found


def _first_of(stay: Interval, move: Interval, place: int) -> Interval:
    """Return the chance that none of the other categories is accepted before one at a random place of the order."""
    one = np.ones((1, stay.low.shape[1]))
    terms = Interval(one, one)  # of the powers of y
    for other in range(len(stay.low)):
        if other != place:
            kept, moved = terms.times(stay.at(other)), terms.times(move.at(other))
            inner = Interval(kept.low[1:], kept.high[1:]).plus(Interval(moved.low[:-1], moved.high[:-1]))
            terms = Interval(
                np.concatenate([kept.low[:1], inner.low, moved.low[-1:]]),
                np.concatenate([kept.high[:1], inner.high, moved.high[-1:]]),
            )
    share = 1 / np.arange(1.0, len(terms.low) + 1)[:, None]
    weighed = terms.times(_outward(share, share))
    total = weighed.at(0)
    for power in range(1, len(terms.low)):
        total = total.plus(weighed.at(power))
    return total


def _tops(states: States, powers: Callable[[States], Interval]) -> tuple[Interval, Interval]:
    """Return the chance of each winner in every state, and of each category that is two or more behind."""
    count, categories = states.shape
    rows, places = np.nonzero(states >= 2)
    ahead, beside = (states == 0).sum(axis=1), (states == 1).sum(axis=1)
    lost = Interval(np.zeros(count), np.zeros(count))
    behind = Interval(np.zeros(0), np.zeros(0))
    if len(rows):
        pulled, steps = _pulled(states, rows, places)
        distinct, which = _distinct(pulled)
        tops, _ = _tops(distinct, powers)
        behind = tops.at(which).times(powers(steps))
        for place in range(categories):
            here = np.flatnonzero(places == place)
            added = lost.at(rows[here]).plus(behind.at(here))
            lost.low[rows[here]], lost.high[rows[here]] = added.low, added.high
    shares = Interval(ahead.astype(np.float64), ahead.astype(np.float64)).plus(
        powers(np.ones(count, dtype=np.int64)).times(Interval(beside.astype(np.float64), beside.astype(np.float64)))
    )
    left = _outward(1 - lost.high, 1 - lost.low)
    return _outward(left.low / shares.high, left.high / shares.low), behind


def _pulled(states: States, rows: States, places: States) -> tuple[States, States]:
    """Let one category of each row gain records from the winners until it is level, or one behind; see `pull`.

    Returns
    -------
    states, steps
        The gaps then, ascending, and how many factors r the chance has lost.
    """
    count, categories = len(rows), states.shape[1]
    gap = states[rows, places]
    others = states[rows]
    others[np.arange(count), places] = np.iinfo(np.int64).max
    others.sort(axis=1)
    others = others[:, :-1]
    before = np.concatenate([np.zeros((count, 1), np.int64), np.cumsum(others, axis=1)], axis=1)
    number = np.arange(categories)
    arrives = ((gap[:, None] + number + before) // (number + 1)).min(axis=1)
    steps = gap - arrives
    left = steps - (number * (arrives - 1)[:, None] - before).max(axis=1)
    lowered = others < arrives[:, None]
    ahead = lowered.sum(axis=1)
    level = left >= ahead  # all winners came down to the category
    top = np.where(level, arrives, arrives - 1)
    found = np.empty((count, categories), dtype=np.int64)
    one_down = np.arange(categories - 1) >= (ahead - left)[:, None]
    found[:, :-1] = np.where(lowered, np.where(one_down & ~level[:, None], 1, 0), others - top[:, None])
    found[:, -1] = arrives - top
    found.sort(axis=1)
    return found, steps + arrives - top


def _distinct(states: States) -> tuple[States, States]:
    """Return the different rows and which of them each row is."""
    order = np.lexsort(states.T[::-1])
    ordered = states[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    which = np.empty(len(states), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which


def _powers(ratio: Fraction, places: States) -> Interval:
    """Return r^-t for each place t of a list."""
    if ratio > 1 and _NEGLIGIBLE * math.log(2) < _LISTED * math.log1p(float(ratio - 1)):
        listed = _first_powers(ratio)
        return listed.at(np.minimum(places, len(listed.low) - 1))
    asked, which = np.unique(places, return_inverse=True)
    found = [_ends(ratio, int(place)) for place in asked]
    return Interval(np.array([low for low, _ in found]), np.array([high for _, high in found])).at(which.ravel())


@lru_cache(maxsize=16)
def _first_powers(ratio: Fraction) -> Interval:
    """Return r^-t for t = 0, 1, …, and last an interval for all further ones."""
    low, high = [1.0], [1.0]
    while high[-1] > 2.0**-_NEGLIGIBLE:
        below, above = _ends(ratio, len(low))
        low.append(below)
        high.append(above)
    low[-1] = 0.0
    return Interval(np.array(low), np.array(high))


def _ends(ratio: Fraction, power: int) -> tuple[float, float]:
    """Return floats on both sides of r^-t."""
    if power == 0 or ratio == 1:
        return 1.0, 1.0
    found = enclosure_of(partial(_power, ratio, power), width=_WIDTH)
    return max(0.0, float(np.nextafter(float(found.lower), 0.0))), float(np.nextafter(float(found.upper), 1.0))


def _power(ratio: Fraction, power: int) -> flint.arb:
    return ball(ratio) ** -power


def _outward(low: Floats, high: Floats) -> Interval:
    return Interval(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))
