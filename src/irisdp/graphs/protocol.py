"""What every dataset graph answers: one small protocol for explicit graphs and for families in closed form.

A dataset graph has datasets (or values of a query) as nodes, and an edge joins neighbours. Names appear only in `nodes`
and `index_of`; everything else speaks of nodes by their index 0, 1, …, `number_of_nodes` − 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..exact import checked, so_many
from ..tabular import html_table
from ..upstairs import Drawable
from .names import Node, Nodes, node_among

__all__ = ["UNREACHABLE", "Chunk", "DatasetGraph", "Indices", "Mask", "blocks", "node_from_key"]

Indices = npt.NDArray[np.int64]
"""Indices of nodes, or distances."""

Mask = npt.NDArray[np.bool_]
"""One truth value per node or per pair."""

Chunk = tuple[Indices, Indices]
"""Some edges: the indices of their first ends and of their second ends."""

UNREACHABLE = -1
"""The distance between nodes that no path joins, and the depth of a node whose component has no boundary."""

CHUNK = 1 << 16
"""About how many nodes or edges are worked on at once: few enough to stay in the processor's cache."""

MOST_LISTED = 1 << 28
"""Most nodes, and most edges, that a graph may have to be listed in memory."""

_NODES_SHOWN, _NEIGHBOURS_SHOWN = 10, 6
"""In a notebook."""


def blocks(count: int, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Cut 0, …, count − 1 into ranges [start, stop) of at most `size` each."""
    for start in range(0, count, size):
        yield start, min(start + size, count)


class DatasetGraph(Drawable, ABC):
    """A finite undirected graph without loops or double edges, explicit or in closed form."""

    __slots__ = ()

    @property
    @abstractmethod
    def nodes(self) -> Nodes:
        """The names of the nodes, in index order; computed on demand for families."""

    @property
    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    @abstractmethod
    def number_of_edges(self) -> int:
        """How many edges there are."""

    @abstractmethod
    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once, in chunks of index arrays, so that no one needs to hold them all."""

    @abstractmethod
    def neighbours(self, index: int) -> Indices:
        """Return the neighbours of a node in ascending order."""

    @abstractmethod
    def distance(self, first: int, second: int) -> int:
        """Return the number of edges on a shortest path, or UNREACHABLE."""

    @abstractmethod
    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node."""

    @abstractmethod
    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes are neighbours; the arrays have equal shape."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """Describe the graph as JSON-ready data that `graph_from_document` reads back."""

    def _repr_html_(self) -> str:
        """Show the first nodes in a notebook, each with its neighbours."""
        rows: list[tuple[Any, ...]] = [
            (node, *_listed(self, index)) for index, node in enumerate(self.nodes[:_NODES_SHOWN])
        ]
        if self.number_of_nodes > _NODES_SHOWN:
            rows.append(("…",) * 3)
        nodes, edges = so_many(self.number_of_nodes, "node"), so_many(self.number_of_edges, "edge")
        size = f"{type(self).__name__}: {nodes} and {edges}"
        return html_table(size, ["node", "neighbours", "which"], rows)

    @checked
    def index_of(self, node: Node) -> int:
        """Return the index of a named node.

        Raises
        ------
        BadInput
            When no node has this name. The name is not repeated: it may be somebody's data.
        """
        position = self.nodes.position(node)
        if position is None:
            raise BadInput("node", "is not a node of the graph", "name one of the graph's nodes")
        return position


def _listed(graph: DatasetGraph, index: int) -> tuple[int, str]:
    """Count the neighbours of a node, and name the first of them."""
    found = graph.neighbours(index)
    named = [str(graph.nodes[place]) for place in found[:_NEIGHBOURS_SHOWN].tolist()]
    return len(found), ", ".join([*named, *["…"] * (len(found) > _NEIGHBOURS_SHOWN)])


@checked
def node_from_key(graph: DatasetGraph, key: Any, field: str = "node") -> Node:
    """Find the node that a key of a JSON object (or a word on a command line) means; see `names.node_among`.

    Parameters
    ----------
    graph : DatasetGraph
        Whose node is meant.
    key : str
        Its name, its digits, or the JSON text of a list.
    field : str
        What messages call the key.

    Raises
    ------
    BadInput
        For a key that names no node.

    Examples
    --------
    >>> from irisdp.graphs import Histograms, Path
    >>> node_from_key(Path(4), "3"), node_from_key(Histograms(2, 2), "[1, 1]")
    (3, (1, 1))
    """
    if not isinstance(graph, DatasetGraph):
        raise BadInput("graph", "must be a DatasetGraph", "give a graph, such as irisdp.graphs.Path(3)")
    return node_among(graph.nodes, key, field)
