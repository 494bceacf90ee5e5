"""What every dataset graph answers: one small protocol for explicit graphs and for families in closed form.

A dataset graph has datasets (or values of a query) as nodes, and an edge joins neighbours. Names appear only in `nodes`
and `index_of`; everything else speaks of nodes by their index 0, 1, …, `number_of_nodes` − 1.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._exact import checked, entries, so_many
from .._frames import html_table
from .._hooks import Drawable
from ..errors import BadInput

# Names of nodes: strings, integers, or tuples of names, and their form in JSON.

Node = Hashable
"""A string, an integer, or a tuple of nodes (which JSON writes as a list)."""

_INTEGER = re.compile(r"0|-?[1-9]\d{0,4000}")
_HALF = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can spell and no file can hold."""
_DEEPEST = 16
_MOST_NUMBERED = 1 << 62
_AT_ONCE = 1 << 10
"""Names computed together."""


def as_node(value: Any, field: str = "node", *, nested: int = 0) -> Node:
    """Read one name: a list becomes a tuple, a NumPy integer an integer.

    Raises
    ------
    BadInput
        For booleans, floats and whatever else is not a string, an integer or a list of them.
    """
    if isinstance(value, str):
        if not value.isascii() and _HALF.search(value):
            raise BadInput(field, "must be named by whole characters, not half of one", "rename the node")
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return int(value)
    if isinstance(value, list | tuple) and nested < _DEEPEST:
        return tuple(as_node(part, field, nested=nested + 1) for part in value)
    raise BadInput(field, "must be named by a string, an integer or a list of them", "rename the node")


def json_node(node: Node) -> Any:
    """Write one name as JSON-ready data: a tuple becomes a list."""
    return [json_node(part) for part in node] if isinstance(node, tuple) else node


class NodeNames(Sequence[Node]):
    """A sequence of distinct names that finds the position of a name without a search."""

    @abstractmethod
    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""

    @abstractmethod
    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""

    @overload
    def __getitem__(self, position: int) -> Node: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, position: int | slice) -> Node | tuple[Node, ...]:
        """Return one name, or a tuple of names for a slice."""
        if isinstance(position, slice):
            return tuple(map(self.at, range(len(self))[position]))
        return self.at(range(len(self))[position])

    def __contains__(self, node: object) -> bool:
        """Tell whether a name is there."""
        return self.position(node) is not None

    def __repr__(self) -> str:
        """Show the first few names."""
        nodes = "node" if len(self) == 1 else "nodes"
        return f"<{len(self)} {nodes}: {', '.join(map(repr, self[:4]))}{', …' if len(self) > 4 else ''}>"


class NumberedNodes(NodeNames):
    """Consecutive integers."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[Node]:
        """Yield the integers."""
        return iter(self.numbers)

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.numbers[position]

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        if not isinstance(node, int | np.integer) or isinstance(node, bool | np.timedelta64):
            return None
        if int(node) not in self.numbers:
            return None
        return self.numbers.index(int(node))


class ListedNodes(NodeNames):
    """Names held one by one."""

    def __init__(self, names: Iterable[Node]) -> None:
        self.names = tuple(names)

    @functools.cached_property
    def positions(self) -> dict[Node, int]:
        """The position of every name; built when first asked for, since large graphs may never need it."""
        return {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.names)

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.names[position]

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        # True == 1 and 1.0 == 1 in Python, but neither is the name 1.
        return None if isinstance(node, bool | float | list) else self.positions.get(node)


class ComputedNodes(NodeNames):
    """Names that a family computes from their positions and back; many at once where it has a faster way for that."""

    def __init__(
        self,
        count: int,
        name_at: Callable[[int], Node],
        position_of: Callable[[Any], int | None],
        names_at: Callable[[range], Iterable[Node]] | None = None,
    ) -> None:
        self.size, self.name_at, self.position_of, self.names_at = count, name_at, position_of, names_at

    def __iter__(self) -> Iterator[Node]:
        """Yield the names in order."""
        if self.names_at is None:
            yield from map(self.name_at, range(self.size))
            return
        for start in range(0, self.size, _AT_ONCE):
            yield from self.names_at(range(start, min(start + _AT_ONCE, self.size)))

    def __len__(self) -> int:
        """Return how many names there are."""
        return self.size

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.name_at(position)

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        return self.position_of(node)


def named_nodes(names: Iterable[Any], field: str = "nodes") -> NodeNames:
    """Read names given one by one.

    Raises
    ------
    BadInput
        When it is no list, when there are none, when one is no name, or when one comes twice.
    """
    if isinstance(names, NodeNames):
        return names
    if isinstance(names, range) and names.step == 1 and names.stop - names.start > _MOST_NUMBERED:
        raise BadInput(field, "are too many to be numbered", "name fewer")
    if isinstance(names, range) and names.step == 1:
        nodes: NodeNames = NumberedNodes(names)
    else:
        given = entries(names) if not isinstance(names, Mapping | Set | str) else list(names)
        if given is None:
            raise BadInput(field, "must be a list of names", "write range(n) for n nodes named 0..n-1")
        listed = ListedNodes(as_node(name, field) for name in given)
        if len(listed.positions) < len(listed):
            twice = next(name for index, name in enumerate(listed.names) if listed.positions[name] != index)
            raise BadInput(field, f"names {json.dumps(json_node(twice))} twice", "name every node once")
        nodes = listed
    if not len(nodes):
        raise BadInput(field, "must name at least one node", "add a node")
    return nodes


@checked
def key_of_node(node: Node) -> str:
    """Write one name as a key of a JSON object: itself, its digits, or the JSON text of a list.

    Parameters
    ----------
    node : str, int or tuple of these
        The name of a node.

    Raises
    ------
    BadInput
        For any other name.
    """
    try:
        return node if isinstance(node, str) else json.dumps(json_node(node))
    except TypeError:
        raise BadInput("node", "must be text, an integer or a list of these", "give the name of a node") from None


def node_among(nodes: NodeNames, key: Any, field: str = "node") -> Node:
    """Find the name that a key of a JSON object (or a word on a command line) means, among given ones.

    Parameters
    ----------
    nodes : Nodes
        Where to look.
    key : str, int or list
        Text may be the name itself, the digits of an integer, or the JSON text of a list; anything but text is the
        name itself.
    field : str
        How the caller names the key, for the error message; the key itself is not repeated, it may be private.

    Raises
    ------
    BadInput
        When no name is meant, or when two are (3 and "3").
    """
    matches = [node for node in _readings(key, field) if node in nodes]
    if not matches:
        raise BadInput(field, "is not a node of the graph", f"name one of {nodes!r}")
    if len(matches) > 1:
        raise BadInput(field, "could mean two nodes, one of them a string", "rename one of the two")
    return matches[0]


def _readings(key: Any, field: str) -> list[Node]:
    if not isinstance(key, str):
        return [as_node(key, field)]
    readings: list[Node] = [key]
    if _INTEGER.fullmatch(key):
        readings.append(int(key))
    elif key.startswith("["):
        with contextlib.suppress(ValueError, RecursionError):  # no list after all; BadInput is a ValueError too
            readings.append(as_node(json.loads(key)))
    return readings


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
    def nodes(self) -> NodeNames:
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
    neighbours = graph.neighbours(index)
    named = [str(graph.nodes[place]) for place in neighbours[:_NEIGHBOURS_SHOWN].tolist()]
    return len(neighbours), ", ".join([*named, *["…"] * (len(neighbours) > _NEIGHBOURS_SHOWN)])


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
