"""Pull from the top on capped gaps: what it costs that the cap hides records, found by an exact check of every edge.

A gap at the cap may truly be larger. So a move of records that takes pull from one row to a close one may look, on
capped gaps, like a move between rows that are not close. For example, with three categories and R = 6 the gaps (0, 6,
7) and (0, 4, 6) are neighbours. They are represented by (0, 6, 6) and (0, 4, 6), whose rows are further apart than r.
So the rows are those of a smaller ratio, the largest of few digits for which all edges of the capped graph are private
at r.

All of this is the same for any order of the categories: states are gaps in ascending order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import flint
import numpy as np

from ...exact.short import simplest_between
from ...graphs.protocol import Indices
from ...linprog.program import as_fmpq, as_fraction
from ...mechanisms.pulling import pull

__all__ = ["MOST_STATES", "CappedPull", "CappedStates", "capped_pull", "capped_states", "number_of_states"]

MOST_STATES = 1_000
"""Most ascending gaps that are checked: a few seconds."""

_FEW_DIGITS = Fraction(1, 1 << 12)
_MOST_TRIES = 8
_HALVINGS = 30

State = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CappedStates:
    """Ascending gaps up to a cap, their classes of categories, and which classes meet over an edge.

    Parameters
    ----------
    states : list of tuples
        Ascending gaps, the first of them 0.
    orbits : list of int
        In how many orders each can stand.
    classes : list of (state, gap)
        A class holds the categories with one gap in one state.
    pairs : int64 array, shape (pairs, 2)
        Classes of one category at the two ends of an edge, each once.
    """

    states: list[State]
    orbits: list[int]
    classes: list[tuple[int, int]]
    pairs: Indices

    def chances(self, ratio: Any) -> list[Any]:
        """Return the chance of a category of each class, in whatever numbers the ratio is."""
        place = {state: number for number, state in enumerate(self.states)}
        tops: dict[State, Any] = {}
        found: dict[tuple[int, int], Any] = {}
        # Pulling brings categories closer together, so that the states it leads to come first in this order.
        for state in sorted(self.states, key=_spread):
            held, number = Counter(state), place[state]
            left = 1
            for gap in held:
                if gap > 1:
                    pulled, steps, behind = pull(state, gap)
                    found[number, gap] = tops[pulled] / ratio ** (steps + behind)
                    left = left - held[gap] * found[number, gap]
            tops[state] = found[number, 0] = left / (held[0] + held[1] / ratio)
            found[number, 1] = tops[state] / ratio
        return [found[one] for one in self.classes]

    def errors(self, chances: Sequence[Fraction]) -> list[Fraction]:
        """Return the probability of a wrong answer at every state."""
        tops = {number: chance for (number, gap), chance in zip(self.classes, chances, strict=True) if gap == 0}
        return [1 - state.count(0) * tops[number] for number, state in enumerate(self.states)]

    def mean(self, values: Sequence[Fraction]) -> Fraction:
        """Average over all gaps what is given for ascending ones."""
        total = sum((orbit * value for orbit, value in zip(self.orbits, values, strict=True)), start=Fraction(0))
        return total / sum(self.orbits)


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedPull:
    """What was found: the ratio to pull at, and the errors then.

    Parameters
    ----------
    ratio : Fraction
        r' of few digits, from 1 to r.
    worst_error, mean_error : Fraction
        Over all capped gaps.
    """

    ratio: Fraction
    worst_error: Fraction
    mean_error: Fraction


def number_of_states(categories: int, largest: int) -> int:
    """Return how many ascending gaps there are."""
    return comb(largest + categories - 1, largest)


@lru_cache(maxsize=8)
def capped_states(categories: int, largest: int, exchange: bool = True) -> CappedStates:
    """List ascending gaps up to a cap, and which classes of categories meet over an edge."""
    states = [(0, *rest) for rest in combinations_with_replacement(range(largest + 1), categories - 1)]
    place = {state: number for number, state in enumerate(states)}
    orbits = [factorial(categories) // prod(map(factorial, Counter(state).values())) for state in states]
    classes = [(number, gap) for number, state in enumerate(states) for gap in sorted(set(state))]
    number_of = {one: number for number, one in enumerate(classes)}
    pairs = set()
    for number, state in enumerate(states):
        for moved in moves(state, largest, exchange):
            other = place[tuple(sorted(moved))]
            pairs |= {
                (number_of[number, here], number_of[other, there]) for here, there in {*zip(state, moved, strict=True)}
            }
    return CappedStates(states, orbits, classes, np.array(sorted(pairs), dtype=np.int64))


def moves(state: State, largest: int, exchange: bool) -> set[State]:
    """Return what gaps become by moves of a record by which the largest count does not fall, as `graphs.Gaps` does."""
    first = {gap: place for place, gap in reversed(list(enumerate(state)))}
    last = {gap: place for place, gap in enumerate(state)}
    found = set()
    for gainer in first.values():
        for loser in last.values() if exchange else (None,):
            if loser == gainer:  # the only category with this gap
                continue
            heights = [(place == gainer) - (place == loser) - gap for place, gap in enumerate(state)]
            if max(heights) >= 0:
                found.add(tuple(min(max(heights) - height, largest) for height in heights))
    return found - {state}


@lru_cache(maxsize=64)
def capped_pull(categories: int, largest: int, ratio: Fraction) -> CappedPull:
    """Find the largest ratio of few digits to pull at so that every edge of the capped graph is private at `ratio`.

    Floats look for it; whether it holds is decided in fractions, on every edge and in both directions.
    """
    states = capped_states(categories, largest)
    low, high = 1.0, float(ratio)
    if _private_in_floats(states, high, float(ratio)):
        low = high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _private_in_floats(states, middle, float(ratio)) else (low, middle)
    near = min(Fraction(low), ratio)
    for _ in range(_MOST_TRIES):
        tried = simplest_between(near - (near - 1) * _FEW_DIGITS, near)
        chances = states.chances(as_fmpq(tried))
        if _private(states, chances, as_fmpq(ratio)):
            break
        near = near - (near - 1) * _FEW_DIGITS
    else:
        tried, chances = Fraction(1), states.chances(flint.fmpq(1))
    errors = states.errors([as_fraction(chance) for chance in chances])
    return CappedPull(ratio=tried, worst_error=max(errors), mean_error=states.mean(errors))


def _spread(state: State) -> int:
    """Return q² times the variance of some gaps."""
    return len(state) * sum(gap * gap for gap in state) - sum(state) ** 2


def _private_in_floats(states: CappedStates, tried: float, ratio: float) -> bool:
    chances = np.array(states.chances(tried))
    here, there = chances[states.pairs[:, 0]], chances[states.pairs[:, 1]]
    return bool(chances.min() > 0 and (here <= ratio * there).all() and (there <= ratio * here).all())


def _private(states: CappedStates, chances: Sequence[flint.fmpq], ratio: flint.fmpq) -> bool:
    most = [ratio * chance for chance in chances]
    return min(chances) > 0 and all(
        chances[here] <= most[there] and chances[there] <= most[here] for here, there in states.pairs.tolist()
    )
