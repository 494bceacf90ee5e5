"""Tables from which the K largest, or a ranking, are published: chosen from public facts alone, and kept on disk.

The cap of heights follows from the number of categories, the ratio and the relation. It is large enough that an answer
about categories that are further apart is wrong with a probability of at most 1/10,000. For a ranking all steps matter.
For the K largest only the step between the last of them and the next matters, so the other steps may have a smaller
cap, as large as the size of the graph allows. Where even the least graph takes too long there is no table, and noisy
counts are sorted instead.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from ...exact import Enclosure, rational_text
from ...graphs import capped_heights, order_graph
from ...graphs.orders import Moves, keys_of_heights, number_of_heights, steps_are_few
from ...graphs.protocol import Indices
from ..kept_tables import CACHE, kept_table
from ..pulling import LARGEST_RATIO, UNIT, Pulled, pulled
from .orders import Answers, all_rankings, all_tops, order_rows, right_rankings, right_tops

__all__ = ["CACHE", "OrderTable", "order_table"]

LARGEST_CATEGORIES = 5

WRONG_FAR_APART = 1e-4
"""Probability of a wrong answer, at most, where all categories are further apart than a table tells apart."""

MOST_CHANCES = 100_000
"""Inputs times answers of a table."""

MOST_WORK = 4_000_000
"""Chances times the larger cap: the sweeps by which they are found are as many as steps are long. Seconds."""

LEAST_CAP = 2
"""Least cap of the steps that a right answer does not tell apart."""

_ROUNDED = Fraction(1, 1 << 44)
"""More than rounding takes from a sum of 120 chances at most."""

_MORE = 4
"""How many further caps are tried where the first does not reach far enough."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderTable:
    """Chances of all answers at all capped heights.

    Parameters
    ----------
    answers : list of tuples of int
        Each names categories by number.
    caps : tuple of int
        Steps of so many records and more look alike: one for each step, from below.
    largest : int
        R, the cap of the steps between categories that a right answer tells apart.
    rule : {"pull", "linear program"}
        How it was found.
    weights : int64 array, shape (nodes, answers)
        Chances in units of 1/UNIT, private on every edge of the graph, which was checked.
    wrong : float array, one per node
        The probability of a wrong answer.
    apart : int array, one per node
        The least step between two categories that a right answer tells apart.
    """

    answers: Answers
    caps: tuple[int, ...]
    largest: int
    rule: str
    weights: Indices = field(repr=False)
    wrong: NDArray[np.float64] = field(repr=False)
    apart: Indices = field(repr=False)
    _keys: Indices = field(repr=False)

    def at(self, counts: Indices) -> Indices:
        """Return the weights of each table of counts, shape (tables, categories) → (tables, answers)."""
        keys = keys_of_heights(capped_heights(counts, self.caps), self.caps)
        found: Indices = self.weights[np.searchsorted(self._keys, keys)]
        return found

    @property
    def worst_error(self) -> float:
        """The largest probability of a wrong answer, over all counts."""
        return float(self.wrong.max())

    @property
    def error_far_apart(self) -> float:
        """The largest probability of a wrong answer if the relevant distances are R or more."""
        return float(self.wrong[self.apart >= self.largest].max())

    def wrong_from(self, step: int) -> Enclosure:
        """Enclose the largest probability of a wrong answer if the relevant distances are at least so many records."""
        found = Fraction(float(self.wrong[self.apart >= min(step, self.largest)].max()))
        return Enclosure(found - _ROUNDED, found + _ROUNDED)

    def apart_for(self, truth: float) -> int | None:
        """Return the least step from which on answers are right with this probability; None if no cap is as far."""
        for step in range(self.largest + 1):
            if self.wrong[self.apart >= step].max() <= 1 - truth:
                return step
        return None


@lru_cache(maxsize=16)
def order_table(k: int | None, categories: int, ratio: Fraction, relation: Moves) -> OrderTable | None:
    """Find or read the table for a question; None where noisy counts have to do.

    Parameters
    ----------
    k : int or None
        How many of the largest are named; None for a ranking of all.
    categories : int
    ratio : Fraction
        r = e^ε.
    relation : {"exchange", "add-remove", "any"}

    Returns
    -------
    OrderTable or None
        Private at the ratio on every edge, which was checked in whole numbers, however it was come by.
    """
    if categories > LARGEST_CATEGORIES or ratio <= 1:
        return None
    ratio = min(ratio, LARGEST_RATIO)
    answers = all_rankings(categories) if k is None else all_tops(k, categories)
    # A step shrinks by two records at a time where they are exchanged, and by one where they come and go.
    pace = (1 if relation == "add-remove" else 2) / log(ratio)
    first = max(1, ceil(pace * log(1 / WRONG_FAR_APART)))
    for largest in range(first, first + _MORE + 1):
        caps = _caps(k, categories, largest, len(answers))
        found = None if caps is None else _table(k, ratio, relation, caps, largest, answers)
        if found is None or found.error_far_apart <= WRONG_FAR_APART:
            return found
    return None


def _caps(k: int | None, categories: int, largest: int, answers: int) -> tuple[int, ...] | None:
    """Return the caps of all steps, as large as the size of a graph allows; None where it allows none."""

    def caps_with(other: int) -> tuple[int, ...]:
        return tuple(largest if k in (None, categories - 1 - step) else other for step in range(categories - 1))

    def fits(other: int) -> bool:
        caps = caps_with(other)
        chances = number_of_heights(caps) * answers
        return chances <= min(MOST_CHANCES, MOST_WORK // largest) and steps_are_few(caps)

    least = largest if k is None else min(LEAST_CAP, largest)
    # A graph grows with every cap, so that those which fit come first.
    room = bisect_left(range(least, largest + 1), True, key=lambda other: not fits(other))
    return caps_with(least + room - 1) if room else None


def _table(
    k: int | None, ratio: Fraction, relation: Moves, caps: tuple[int, ...], largest: int, answers: Answers
) -> OrderTable | None:
    graph = order_graph(len(caps) + 1, caps, relation)
    heights = np.array(graph.nodes[:], dtype=np.int64)
    right = right_rankings(heights, answers) if k is None else right_tops(heights, answers)
    asked = f"{'ranking' if k is None else f'top {k}'} up to {caps}, {relation}, {rational_text(ratio)}"

    def find() -> tuple[Pulled | None, str]:
        # Pull fails for the K largest only where caps are small for the ratio: no program would be worth its minute.
        return order_rows(graph, right, answers, ratio) if k is None else (pulled(graph, right, ratio), "pull")

    kept = kept_table(f"order table 2: {asked}", graph, len(answers), ratio, find)
    if kept is None:
        return None
    rows, rule = kept
    wrong = 1 - np.where(right, rows.weights / UNIT, 0).sum(axis=1)
    falling = -np.sort(-heights, axis=1)
    steps = falling[:, :-1] - falling[:, 1:]
    apart = steps.min(axis=1) if k is None else steps[:, k - 1]
    return OrderTable(answers, caps, largest, rule, rows.weights, wrong, apart, keys_of_heights(heights, caps))
