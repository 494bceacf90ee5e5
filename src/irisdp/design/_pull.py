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
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import simplest_between
from .._exact.linprog import GrowingProgram, SparseColumns, as_fmpq, as_fraction
from ..graphs import Graph, Indices, Mask
from ..mechanisms import Row, pull

# The general pull: on any finite graph, with any answers, of which some are right at each node.
#
# A wrong answer is as rare as neighbours allow: its chance is the largest that a neighbour gives it, divided by r.
# The right ones share what is left. Nothing says that such rows are private: between neighbours at which the same
# answer is right its chance may differ by more. So a fixed point is found in floats, mixed with a small part of the
# uniform row to allow for rounding, and rounded to whole numbers of 2^-60. An exact check in whole numbers, on every
# edge and both ways, then decides whether *these* rows are private. A question is a graph and what is right, and
# nothing else.

UNIT = 1 << 60
"""Chances are whole numbers of 1/UNIT."""

LARGEST_RATIO = Fraction(UNIT)
"""No two positive whole numbers that add up to UNIT are further apart: what is private at this ratio is as good as any
rows of such chances at a larger one, whose powers no float holds."""

_HAIR = 2.0**-24
"""Weight of the uniform row: each constraint then has room of (r − 1)/q times as much, far more than rounding takes."""

_TOLERANCE = 1e-13
_MOST_SWEEPS = 3_000
_LEAST = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pulled:
    """Rows that were checked on every edge.

    Parameters
    ----------
    weights : int64 array, shape (nodes, answers)
        Chances, in units of 1/UNIT: positive, and each row adds up to UNIT.
    """

    weights: Indices = field(repr=False)

    def row(self, node: int) -> Row:
        """Return the chance of each answer at a node, exactly."""
        return tuple(Fraction(weight, UNIT) for weight in self.weights[node].tolist())


def pulled(graph: Graph, right: Mask, ratio: Fraction, start: Floats | None = None) -> Pulled | None:
    """Pull on a graph, and check what comes out.

    Parameters
    ----------
    graph : Graph
        Every node has a neighbour.
    right : bool array, shape (nodes, answers)
        Which answers are right; at least one at every node.
    ratio : Fraction
        r = e^ε.
    start : float array, shape (nodes, answers), optional
        About what chances are, all above 0: it saves sweeps, and decides nothing.

    Returns
    -------
    Pulled or None
        Rows that are ε-private on every edge, which was checked in whole numbers; None where that fails, or where no
        fixed point was found.
    """
    ratio = min(ratio, LARGEST_RATIO)
    chances = fixed_point(graph, right, float(ratio), start) if ratio > 1 else None
    return None if chances is None else checked_rows(graph, right, chances, ratio)


def private_on_every_edge(graph: Graph, weights: Indices, ratio: Fraction) -> bool:
    """Check in whole numbers that rows are positive, add up, and differ by at most the ratio over every edge."""
    if weights.min(initial=1) < 1 or (weights.sum(axis=1) != UNIT).any():
        return False
    if ((weights >> 20).sum(axis=1) > UNIT >> 20).any():  # the sum went round 2^64
        return False
    most = most_allowed(weights, ratio)
    rows = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))  # every edge stands in both its rows
    return bool((weights[rows] <= most[graph.indices]).all())


def most_allowed(weights: Indices, ratio: Fraction) -> Indices:
    """Return ⌊r·w⌋ for every weight: the most that a neighbour's may be; no weight is above UNIT."""
    upper, lower = ratio.numerator, ratio.denominator
    flat = [min(weight * upper // lower, UNIT) for weight in weights.ravel().tolist()]
    return np.array(flat, np.int64).reshape(weights.shape)


def checked_rows(graph: Graph, right: Mask, chances: Floats, ratio: Fraction) -> Pulled | None:
    """Round chances to whole numbers, and check them on every edge; None where that fails."""
    weights = _rounded((1 - _HAIR) * chances + _HAIR / chances.shape[1], right)
    return Pulled(weights) if private_on_every_edge(graph, weights, ratio) else None


def fixed_point(graph: Graph, right: Mask, ratio: float, start: Floats | None = None) -> Floats | None:
    """Sweep until nothing moves, each chance relative to itself; None if that takes too long."""
    if np.diff(graph.indptr).min(initial=1) < 1:
        return None
    rights = right.sum(axis=1)
    # What is left answers to what is taken with a slope of at most (q − 1)/r, downwards: half way damps it.
    slope = (right.shape[1] - 1) / ratio
    pace = 1 / (1 + slope / 2)
    share = 0.5 / rights if start is None else np.where(right, start, 0).sum(axis=1) / rights
    chances = np.where(right, share[:, np.newaxis], np.finfo(np.float64).tiny if start is None else start)
    for _ in range(_MOST_SWEEPS):
        after = np.maximum.reduceat(chances[graph.indices], graph.indptr[:-1], axis=0) / ratio
        after[right] = 0
        left = np.maximum((1 - after.sum(axis=1)) / rights, _LEAST)
        share = (1 - pace) * share + pace * left
        after = np.maximum(np.where(right, share[:, np.newaxis], after), np.finfo(np.float64).tiny)
        moved = float(np.abs(after / chances - 1).max())
        chances = after
        if moved < _TOLERANCE:
            return chances
    return None


def _rounded(chances: Floats, right: Mask) -> Indices:
    """Round wrong chances to whole numbers of 1/UNIT, and share what is left; the first right one takes the rest."""
    weights = np.rint(np.where(right, 0, chances) * UNIT).astype(np.int64)
    left, rights = UNIT - weights.sum(axis=1), right.sum(axis=1)
    weights += np.where(right, (left // rights)[:, np.newaxis], 0)
    weights[np.arange(len(weights)), right.argmax(axis=1)] += left % rights
    whole: Indices = weights
    return whole


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
        probabilities: dict[tuple[int, int], Any] = {}
        # Pulling brings categories closer together, so that the states it leads to come first in this order.
        for state in sorted(self.states, key=_spread):
            held, number = Counter(state), place[state]
            left = 1
            for gap in held:
                if gap > 1:
                    pulled, steps, behind = pull(state, gap)
                    probabilities[number, gap] = tops[pulled] / ratio ** (steps + behind)
                    left = left - held[gap] * probabilities[number, gap]
            tops[state] = probabilities[number, 0] = left / (held[0] + held[1] / ratio)
            probabilities[number, 1] = tops[state] / ratio
        return [probabilities[one] for one in self.classes]

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
def capped_states(categories: int, largest: int) -> CappedStates:
    """List ascending gaps up to a cap, and which classes of categories meet over an edge."""
    states = [(0, *rest) for rest in combinations_with_replacement(range(largest + 1), categories - 1)]
    place = {state: number for number, state in enumerate(states)}
    orbits = [factorial(categories) // prod(map(factorial, Counter(state).values())) for state in states]
    classes = [(number, gap) for number, state in enumerate(states) for gap in sorted(set(state))]
    number_of = {one: number for number, one in enumerate(classes)}
    pairs = set()
    for number, state in enumerate(states):
        for moved in moves(state, largest):
            other = place[tuple(sorted(moved))]
            pairs |= {
                (number_of[number, here], number_of[other, there]) for here, there in {*zip(state, moved, strict=True)}
            }
    return CappedStates(states, orbits, classes, np.array(sorted(pairs), dtype=np.int64))


def moves(state: State, largest: int) -> set[State]:
    """Return what gaps become by moves of a record by which the largest count does not fall, as `graphs.Gaps` does."""
    first = {gap: place for place, gap in reversed(list(enumerate(state)))}
    last = {gap: place for place, gap in enumerate(state)}
    steps = set()
    for gainer in first.values():
        for loser in last.values():
            if loser == gainer:  # the only category with this gap
                continue
            heights = [(place == gainer) - (place == loser) - gap for place, gap in enumerate(state)]
            if max(heights) >= 0:
                steps.add(tuple(min(max(heights) - height, largest) for height in heights))
    return steps - {state}


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


# The best mechanism that treats categories alike, by a linear program in floats, checked in whole numbers.
#
# Renaming categories takes neighbours to neighbours and right answers to right ones, so averaging a mechanism over
# all names costs nothing. The best mechanism on average over inputs that count alike is therefore among those whose
# probabilities are the same under every renaming. One unknown for each class of chances is all there is to find,
# which is q! times fewer.

Renamed = Sequence[tuple[Indices, Indices]]
"""Where each renaming takes every node and every answer: a group of maps that keep edges and what is right."""


def classes_of_chances(renamed: Renamed) -> Indices:
    """Number the classes of chances under renamings, shape (nodes, answers)."""
    answers = len(renamed[0][1])
    least = np.min([nodes[:, np.newaxis] * answers + answer for nodes, answer in renamed], axis=0)
    return np.unique(least, return_inverse=True)[1].reshape(least.shape)


def best_alike(graph: Graph, right: Mask, ratio: Fraction, renamed: Renamed, most: int) -> Pulled | None:
    """Minimise the mean probability of a wrong answer.

    Parameters
    ----------
    graph, right, ratio
        As for `pulled`.
    renamed : sequence of pairs of integer arrays
        Every renaming, by where it takes nodes and answers.
    most : int
        Give up beyond so many privacy constraints between classes.

    Returns
    -------
    Pulled or None
        Rows that are private on every edge, which was checked in whole numbers, and best to about 1e-6; None where the
        program is too large, or the check fails.
    """
    number = classes_of_chances(renamed)
    count = int(number.max()) + 1
    tails = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))
    pairs = np.unique(np.stack([number[tails].ravel(), number[graph.indices].ravel()]), axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    if pairs.shape[1] > most:
        return None
    sums = np.unique(np.sort(number, axis=1), axis=0)  # nodes of one class have the same row
    rows = np.arange(pairs.shape[1])
    columns = SparseColumns.of_entries(
        np.concatenate([rows, rows, len(rows) + np.repeat(np.arange(len(sums)), number.shape[1])]),
        np.concatenate([pairs[0], pairs[1], sums.ravel()]),
        np.concatenate([np.ones(len(rows)), np.full(len(rows), -float(ratio)), np.ones(sums.size)]),
        count,
    )
    cost = np.bincount(number[~right], minlength=count) / len(right)
    least = np.concatenate([np.full(len(rows), -np.inf), np.ones(len(sums))])
    program = GrowingProgram(
        columns,
        cost,
        (np.zeros(count), np.ones(count)),
        (least, np.concatenate([np.zeros(len(rows)), np.ones(len(sums))])),
    )
    solved = program.solve()
    return None if solved is None else checked_rows(graph, right, np.maximum(solved[0], 0)[number], ratio)
