"""In which order categories stand, and how far apart neighbours in it are, capped: what top K and a ranking depend on.

Heights of counts h keep their order and the steps between consecutive counts: the least height is 0, equal counts have
equal heights, and a step above its cap stands as the cap. So which categories are among the K largest, and which
rankings are right, is the same for heights as for counts, ties included; gaps to the largest would not do, since a cap
on them makes the last of many categories look level. Each step, counted from below, may have a cap of its own.

The edges are the images of all pairs of neighbouring counts of any size, and no others: heights are a morphism from
counts by category. A move of one record changes a step by at most 2, so a step that is 2 or more above its cap R is R
or more after it, and no category crosses it: to look at true steps up to R + 2 is to look at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod
from typing import Any, Literal

import numpy as np

from ..errors import BadInput
from ..exact import checked, integer
from .explicit import Graph, compress
from .names import ListedNodes
from .protocol import Indices

__all__ = ["Moves", "capped_heights", "keys_of_heights", "number_of_heights", "order_graph", "steps_are_few"]

Moves = Literal["exchange", "add-remove", "any"]
"""How neighbours differ: a record exchanged, one more, or either; "any" is what exchange becomes where records may be
in no category."""

_MOST_MOVES = 1 << 22
"""Counts looked at times ways in which a record may move: a few seconds."""


@checked
def capped_heights(counts: Any, largest: int | Sequence[int]) -> Indices:
    """Return the heights of counts: their order, with steps between consecutive ones of at most `largest`.

    Parameters
    ----------
    counts : integer array, shape (tables, categories)
    largest : int, or one for each step, from below
        R, at least 1.

    Raises
    ------
    BadInput
        For what is no table of whole numbers.

    Examples
    --------
    >>> capped_heights([[9, 0, 4], [7, 7, 7]], 3).tolist()
    [[6, 0, 3], [0, 0, 0]]
    """
    try:
        counts = np.asarray(counts)
    except (TypeError, ValueError, OverflowError):  # rows of several lengths
        raise BadInput("counts", "must be a table of whole numbers", "give one row of counts per table") from None
    if counts.ndim != 2 or counts.dtype.kind not in "iu" or counts.shape[1] == 0:
        raise BadInput("counts", "must be a table of whole numbers", "give one row of counts per table")
    order = np.argsort(counts, axis=1, kind="stable")
    ascending = np.take_along_axis(counts, order, axis=1)
    caps = np.array([0, *_caps(counts.shape[1], largest)])
    steps = np.minimum(np.diff(ascending, axis=1, prepend=ascending[:, :1]), caps)
    heights = np.empty(counts.shape, np.int64)
    np.put_along_axis(heights, order, np.cumsum(steps, axis=1), axis=1)
    return heights


@checked
def order_graph(categories: int, largest: int | Sequence[int], relation: Moves = "exchange") -> Graph:
    """Build the graph of heights.

    Parameters
    ----------
    categories : int
        q, from 2 to 8.
    largest : int, or one for each step, from below
        R: steps of R and more look alike. Few enough that the edges can be listed.
    relation : {"exchange", "add-remove", "any"}

    Returns
    -------
    Graph
        Its nodes are tuples of q heights, in lexicographic order.

    Raises
    ------
    BadInput
        For another relation, or more nodes than can be listed.

    Examples
    --------
    >>> order_graph(2, 1).nodes[:], order_graph(3, 6).number_of_edges
    (((0, 0), (0, 1), (1, 0)), 816)
    """
    q = integer(categories, "categories", at_least=2, at_most=8)
    caps = _caps(q, largest)
    if relation not in ("exchange", "add-remove", "any"):
        raise BadInput("relation", "must be exchange, add-remove or any", "choose one of the three")
    if not steps_are_few(caps):
        raise BadInput("largest", "makes too many nodes with that many categories", "lower one of the two")
    counts = _counts(caps)
    here = capped_heights(counts, caps)
    keys, first = np.unique(keys_of_heights(here, caps), return_index=True)
    nodes = ListedNodes([tuple(one) for one in here[first].tolist()])
    tails = np.searchsorted(keys, keys_of_heights(here, caps))
    heads = [
        np.searchsorted(keys, keys_of_heights(capped_heights(counts + move, caps), caps))
        for move in _moves(q, relation)
    ]
    return compress(nodes, np.tile(tails, len(heads)), np.concatenate(heads))


def number_of_heights(caps: Sequence[int]) -> int:
    """Return how many heights there are under caps: for every set of steps that are no ties, orders times sizes."""
    q = len(caps) + 1
    found = 0
    for ends in (chosen for size in range(q) for chosen in combinations(range(1, q), size)):
        level = prod(factorial(after - before) for before, after in pairwise((0, *ends, q)))
        found += factorial(q) // level * prod(caps[end - 1] for end in ends)
    return found


def steps_are_few(caps: Sequence[int]) -> bool:
    """Tell whether the edges of the graph under caps can be listed, in seconds."""
    q = len(caps) + 1
    return prod(cap + 3 for cap in caps) * factorial(q) <= _MOST_MOVES // (q * q)


def _caps(q: int, largest: int | Sequence[int]) -> tuple[int, ...]:
    """Read one cap for each step."""
    given = list(largest) if isinstance(largest, Sequence) else [largest] * (q - 1)
    if len(given) != q - 1:
        raise BadInput("largest", f"must be one cap, or one for each of {q - 1} steps", "list them from below")
    return tuple(integer(cap, "largest", at_least=1, at_most=_MOST_MOVES) for cap in given)


def _counts(caps: Sequence[int]) -> Indices:
    """List all counts, the least of them 0, with consecutive steps up to 2 above their caps, in any order."""
    steps = np.array(list(product(*(range(cap + 3) for cap in caps))), dtype=np.int64)
    ascending = np.hstack([np.zeros((len(steps), 1), np.int64), np.cumsum(steps, axis=1)])
    return np.concatenate([ascending[:, order] for order in permutations(range(len(caps) + 1))])


def _moves(q: int, relation: Moves) -> Iterator[Indices]:
    """Yield what a record more, or one exchanged, adds to counts; the other way is the same edge."""
    records = np.eye(q, dtype=np.int64)
    if relation != "exchange":
        yield from records
    if relation != "add-remove":
        yield from (records[gains] - records[loses] for gains, loses in permutations(range(q), 2))


def keys_of_heights(heights: Indices, largest: int | Sequence[int]) -> Indices:
    """Number heights under caps, ascending in lexicographic order."""
    q = heights.shape[1]
    base = sum(_caps(q, largest)) + 1
    keys: Indices = heights @ (base ** np.arange(q - 1, -1, -1, dtype=np.int64))
    return keys
