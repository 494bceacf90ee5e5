"""In which order categories stand, and how far apart neighbours in it are, capped: what top K and a ranking depend on.

Heights of counts h keep their order and the steps between consecutive counts: the least height is 0, equal counts have
equal heights, and a step above a cap R stands as R. So which categories are among the K largest, and which rankings are
right, is the same for heights as for counts, ties included; gaps to the largest would not do, since a cap on them makes
the last of many categories look level.

The edges are the images of all pairs of neighbouring counts of any size, and no others: heights are a morphism from
counts by category. A move of one record changes a step by at most 2, so a step of R + 2 or more is R or more after it,
and no category crosses it: to look at true steps up to R + 2 is to look at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from math import factorial
from typing import Any, Literal

import numpy as np

from ..errors import BadInput
from ..exact import checked, integer
from .explicit import Graph, compress
from .names import ListedNodes
from .protocol import Indices

__all__ = ["Moves", "capped_heights", "keys_of_heights", "order_graph"]

Moves = Literal["exchange", "add-remove", "any"]
"""How neighbours differ: a record exchanged, one more, or either; "any" is what exchange becomes where records may be
in no category."""

_MOST_MOVES = 1 << 22
"""Counts looked at times ways in which a record may move: a few seconds."""


@checked
def capped_heights(counts: Any, largest: int) -> Indices:
    """Return the heights of counts: their order, with steps between consecutive ones of at most `largest`.

    Parameters
    ----------
    counts : integer array, shape (tables, categories)
    largest : int
        R, at least 1.

    Examples
    --------
    >>> capped_heights([[9, 0, 4], [7, 7, 7]], 3).tolist()
    [[6, 0, 3], [0, 0, 0]]
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.dtype.kind not in "iu" or counts.shape[1] == 0:
        raise BadInput("counts", "must be a table of whole numbers", "give one row of counts per table")
    order = np.argsort(counts, axis=1, kind="stable")
    ascending = np.take_along_axis(counts, order, axis=1)
    steps = np.minimum(np.diff(ascending, axis=1, prepend=ascending[:, :1]), integer(largest, "largest", at_least=1))
    heights = np.empty(counts.shape, np.int64)
    np.put_along_axis(heights, order, np.cumsum(steps, axis=1), axis=1)
    return heights


@checked
def order_graph(categories: int, largest: int, relation: Moves = "exchange") -> Graph:
    """Build the graph of heights.

    Parameters
    ----------
    categories : int
        q, from 2 to 8.
    largest : int
        R: steps of R and more look alike. Few enough that the edges can be listed.
    relation : {"exchange", "add-remove", "any"}

    Returns
    -------
    Graph
        Its nodes are tuples of q heights, in lexicographic order.

    Examples
    --------
    >>> order_graph(2, 1).nodes[:], order_graph(3, 6).number_of_edges
    (((0, 0), (0, 1), (1, 0)), 816)
    """
    q = integer(categories, "categories", at_least=2, at_most=8)
    cap = integer(largest, "largest", at_least=1, at_most=_MOST_MOVES)
    if relation not in ("exchange", "add-remove", "any"):
        raise BadInput("relation", "must be exchange, add-remove or any", "choose one of the three")
    if (cap + 3) ** (q - 1) * factorial(q) > _MOST_MOVES // (q * q):
        raise BadInput("largest", "makes too many nodes with that many categories", "lower one of the two")
    counts = _counts(q, cap + 2)
    heights, first = np.unique(keys_of_heights(capped_heights(counts, cap), cap), return_index=True)
    nodes = ListedNodes([tuple(one) for one in capped_heights(counts[first], cap).tolist()])
    here = np.searchsorted(heights, keys_of_heights(capped_heights(counts, cap), cap))
    there = [
        np.searchsorted(heights, keys_of_heights(capped_heights(counts + move, cap), cap))
        for move in _moves(q, relation)
    ]
    return compress(nodes, np.tile(here, len(there)), np.concatenate(there))


def _counts(q: int, farthest: int) -> Indices:
    """List all counts, the least of them 0, with steps up to `farthest` between consecutive ones, in any order."""
    steps = np.array(list(product(range(farthest + 1), repeat=q - 1)), dtype=np.int64)
    ascending = np.hstack([np.zeros((len(steps), 1), np.int64), np.cumsum(steps, axis=1)])
    return np.concatenate([ascending[:, order] for order in permutations(range(q))])


def _moves(q: int, relation: Moves) -> Iterator[Indices]:
    """Yield what a record more, or one exchanged, adds to counts; the other way is the same edge."""
    records = np.eye(q, dtype=np.int64)
    if relation != "exchange":
        yield from records
    if relation != "add-remove":
        yield from (records[gains] - records[loses] for gains, loses in permutations(range(q), 2))


def keys_of_heights(heights: Indices, cap: int) -> Indices:
    """Number heights under a cap, ascending in lexicographic order."""
    q = heights.shape[1]
    base = cap * (q - 1) + 1
    keys: Indices = heights @ (base ** np.arange(q - 1, -1, -1, dtype=np.int64))
    return keys
