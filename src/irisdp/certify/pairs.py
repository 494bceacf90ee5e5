"""From edges to distinct pairs of rows: what an audit costs.

A graph may have 10^7 edges and a mechanism 10^3 different rows. Closeness looks at rows only, so every pair of rows
that meets over some edge is looked at once, and edges within one row not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..graphs import Complete, DatasetGraph

__all__ = ["RowPairs", "distinct_row_pairs"]

_BUFFER = 1 << 21
"""Edges gathered before equal pairs are merged: sorting a few millions at once is cheaper than often."""

MOST_EDGES = 1 << 30
"""Edges up to which a graph is streamed over: about a minute."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """The unordered pairs of different rows that some edge joins.

    Parameters
    ----------
    first, second : arrays
        Row numbers of every pair, first < second.
    tails, heads : arrays
        One edge for every pair: node indices, the tail using row `first`.
    counts : array
        How many edges share the pair.
    """

    first: Integers
    second: Integers
    tails: Integers
    heads: Integers
    counts: Integers

    def __len__(self) -> int:
        """Return the number of distinct pairs."""
        return len(self.first)


def distinct_row_pairs(graph: DatasetGraph, row_of: Integers) -> RowPairs:
    """Stream over a graph's edges and keep one edge for every distinct pair of rows.

    Parameters
    ----------
    graph : DatasetGraph
        Its edges are read chunk by chunk and never held all at once.
    row_of : array
        The row of every node, in the graph's order.
    """
    rows = int(row_of.max(initial=0)) + 1
    if isinstance(graph, Complete):
        return _all_pairs(row_of)
    if graph.number_of_edges > MOST_EDGES:
        rule = f"has {graph.number_of_edges:,} edges, and every one is looked at up to {MOST_EDGES:,}"
        raise BadInput("graph", rule, "audit a smaller member of the family")
    none = np.zeros(0, np.int64)
    found = [(none, none, none, none)]
    waiting = 0
    for chunk_tails, chunk_heads in graph.edges():
        apart = row_of[chunk_tails] != row_of[chunk_heads]
        tails, heads = chunk_tails[apart], chunk_heads[apart]
        here, there = row_of[tails], row_of[heads]
        swap = here > there
        codes = np.where(swap, there * rows + here, here * rows + there)
        found.append((codes, np.where(swap, heads, tails), np.where(swap, tails, heads), np.ones_like(codes)))
        waiting += len(codes)
        if waiting > _BUFFER:
            found, waiting = [_merge(found)], 0
    codes, tails, heads, counts = _merge(found)
    return RowPairs(*np.divmod(codes, rows), tails, heads, counts)


def _all_pairs(row_of: Integers) -> RowPairs:
    """Return the pairs of a complete graph without looking at its edges: every two rows meet, at their first nodes."""
    rows, place, uses = np.unique(row_of, return_index=True, return_counts=True)
    if len(rows) * (len(rows) - 1) // 2 > MOST_EDGES:
        raise BadInput("graph", f"has more than {MOST_EDGES:,} pairs of different rows", "audit a smaller mechanism")
    first, second = np.triu_indices(len(rows), 1)
    return RowPairs(rows[first], rows[second], place[first], place[second], uses[first] * uses[second])


def _merge(found: list[tuple[Integers, Integers, Integers, Integers]]) -> tuple[Integers, Integers, Integers, Integers]:
    codes, tails, heads, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    distinct, place, number = np.unique(codes, return_index=True, return_inverse=True)
    totals = np.bincount(number, weights=counts, minlength=len(distinct)).astype(np.int64)
    return distinct, tails[place], heads[place], totals
