"""The general pull: on any finite graph, with any answers, of which some are right at each node.

A wrong answer is as rare as neighbours allow: its chance is the largest that a neighbour gives it, divided by r. The
right ones share what is left. Nothing says that such rows are private: between neighbours at which the same answer is
right its chance may differ by more. So a fixed point is found in floats, mixed with a small part of the uniform row to
allow for rounding, and rounded to whole numbers of 2^-60. An exact check in whole numbers, on every edge and both ways,
then decides whether *these* rows are private. A question is a graph and what is right, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..graphs import Graph
from ..graphs.protocol import Indices, Mask
from ..mechanisms import Row

__all__ = [
    "LARGEST_RATIO",
    "UNIT",
    "Pulled",
    "broken_edges",
    "checked_rows",
    "fixed_point",
    "most_allowed",
    "private_on_every_edge",
    "pulled",
]

UNIT = 1 << 60
"""Chances are whole numbers of 1/UNIT."""

LARGEST_RATIO = Fraction(UNIT)
"""No two positive whole numbers that add up to UNIT are further apart: what is private at this ratio is as good as any
rows of such chances at a larger one, whose powers no float holds."""

_HAIR = 2.0**-24
"""Weight of the uniform row: each constraint then has room of (r − 1)/q times as much, far more than rounding takes."""

_TOLERANCE = 1e-13
_NOTHING = 1e-9
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


def broken_edges(graph: Graph, chances: Floats, ratio: float) -> int:
    """Count the edges over which some chance grows by more than the ratio, as floats see it."""
    tails = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))
    over = (chances[graph.indices] > ratio * chances[tails] * (1 + _NOTHING)).any(axis=1)
    ends = np.sort(np.stack([tails[over], graph.indices[over]]), axis=0)
    return len(np.unique(ends, axis=1).T)


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
