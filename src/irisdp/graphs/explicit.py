"""Explicit graphs: a list of edges held as compressed rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import checked, so_many
from .names import Nodes, json_node
from .protocol import MOST_LISTED, Chunk, DatasetGraph, Indices, Mask, blocks
from .search import breadth_first

__all__ = ["Graph", "compress", "listed"]

_ROWS = 1 << 13
"""Rows to a chunk of edges."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(DatasetGraph):
    """An undirected graph in compressed rows; made by `graph_from_edges` and its siblings, or by `listed`.

    Parameters
    ----------
    names : Nodes
        Names of the nodes, in index order.
    indptr : int64 array, shape (number_of_nodes + 1,)
        The neighbours of node i are `indices[indptr[i] : indptr[i + 1]]`.
    indices : int64 array, shape (2 · number_of_edges,)
        Neighbours row after row, ascending within a row; every edge stands in both its rows.
    """

    names: Nodes
    indptr: Indices
    indices: Indices

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<Graph of {so_many(self.number_of_nodes, 'node')} and {so_many(self.number_of_edges, 'edge')}>"

    @property
    def nodes(self) -> Nodes:
        """The names of the nodes."""
        return self.names

    @property
    def number_of_edges(self) -> int:
        """How many edges there are."""
        return len(self.indices) // 2

    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once, first end below second end, in chunks of whole rows."""
        for start, stop in blocks(self.number_of_nodes, _ROWS):
            tails = np.repeat(np.arange(start, stop), np.diff(self.indptr[start : stop + 1]))
            heads = self.indices[self.indptr[start] : self.indptr[stop]]
            once = np.flatnonzero(tails < heads)  # twice as fast as a mask
            yield tails[once], heads[once]

    def neighbours(self, index: int) -> Indices:
        """Return the neighbours of a node in ascending order."""
        index = range(self.number_of_nodes)[index]
        return self.indices[self.indptr[index] : self.indptr[index + 1]]

    def distance(self, first: int, second: int) -> int:
        """Return the number of edges on a shortest path, or UNREACHABLE."""
        return int(self.distances_from(first)[second])

    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node, UNREACHABLE where there is no path."""
        return breadth_first(self.indptr, self.indices, np.array([range(self.number_of_nodes)[index]]))

    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes are neighbours, by bisection of all rows at once."""
        low, high = self.indptr[first], self.indptr[first + 1]
        stop = high
        padded = np.append(self.indices, -1)  # a row may end where the array ends
        while (searching := low < high).any():
            middle = (low + high) // 2
            before = searching & (padded[middle] < second)
            low = np.where(before, middle + 1, low)
            high = np.where(searching & ~before, middle, high)
        found: Mask = (low < stop) & (padded[low] == second)
        return found

    def to_document(self) -> dict[str, Any]:
        """Describe the graph as {"nodes": […], "edges": [[a, b], …]}."""
        names = [json_node(node) for node in self.nodes]
        pairs = (pair for tails, heads in self.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True))
        return {"nodes": names, "edges": [[names[tail], names[head]] for tail, head in pairs]}


@checked
def listed(graph: DatasetGraph) -> Graph:
    """List a graph as compressed rows; an explicit graph is returned unchanged.

    Raises
    ------
    BadInput
        When it has too many nodes or edges to be listed.
    """
    if isinstance(graph, Graph):
        return graph
    if max(graph.number_of_nodes, graph.number_of_edges) > MOST_LISTED:
        raise BadInput("graph", f"has more than {MOST_LISTED} nodes or edges to list", "choose a smaller graph")
    none = np.zeros(0, np.int64)
    chunks = [(none, none), *graph.edges()]
    return compress(
        graph.nodes, np.concatenate([tails for tails, _ in chunks]), np.concatenate([heads for _, heads in chunks])
    )


def compress(nodes: Nodes, tails: Indices, heads: Indices) -> Graph:
    """Build a graph from the ends of its edges; loops are ignored, double edges merged.

    Parameters
    ----------
    nodes : Nodes
        Names, in index order.
    tails, heads : int64 arrays of equal length
        Indices of the two ends of each edge, in any order.
    """
    count = len(nodes)
    apart = tails != heads
    tails, heads = tails[apart], heads[apart]
    # One number per direction of an edge: sorting the numbers sorts rows and columns together, and fast.
    keys = np.concatenate((tails * count + heads, heads * count + tails))
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows = keys // count
    indices = keys - rows * count
    indptr = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=indptr[1:])
    for array in (indptr, indices):
        array.setflags(write=False)
    return Graph(nodes, indptr, indices)
