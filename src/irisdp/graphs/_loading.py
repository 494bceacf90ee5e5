"""Explicit graphs from what people have: pairs of names, arrays, NetworkX, SciPy, dataframes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Set
from typing import Any

import numpy as np

from .._exact import checked, entries
from .._frames import asked, computed, opened
from ..errors import BadInput
from ._capped_counts import Gaps
from ._explicit import Graph, compress
from ._families import Complete, Cycle, Hamming, Path
from ._histograms import Histograms, SortedHistograms
from ._protocol import (
    MOST_LISTED,
    DatasetGraph,
    Indices,
    ListedNodes,
    NodeNames,
    NumberedNodes,
    as_node,
    key_of_node,
    named_nodes,
)

_INT64 = range(-(2**63), 2**63)


@checked
def graph_from_edges(edges: Iterable[Any], *, nodes: Iterable[Any] | None = None) -> Graph:
    """Build a graph from pairs of names.

    Parameters
    ----------
    edges : iterable of pairs
        Names of the two ends. Direction does not matter, loops are ignored, double edges merged.
    nodes : iterable of names, optional
        All the nodes, in index order; nodes without an edge need it. Without it the nodes are those that the edges
        name: in ascending order if all are integers, else in the order they first appear.

    Raises
    ------
    BadInput
        When an edge is not a pair or names an unknown node, when a node comes twice, or when there is no node.

    Examples
    --------
    >>> graph_from_edges([["a", "b"], ["b", "c"]]).distances_from(0).tolist()
    [0, 1, 2]
    """
    pairs = list(edges) if isinstance(edges, Set) else entries(edges)
    if pairs is not None and any(isinstance(pair, np.ndarray) for pair in pairs):
        pairs = [pair.tolist() if isinstance(pair, np.ndarray) else pair for pair in pairs]
    if pairs is None or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise BadInput("edges", "must be pairs of nodes", "write each edge as [a, b]")
    ends = list(itertools.chain.from_iterable(pairs))
    if nodes is None and set(map(type, ends)) == {int} and min(ends) in _INT64 and max(ends) in _INT64:
        array = np.array(ends, np.int64)
        return graph_from_arrays(array[0::2], array[1::2])
    names = [as_node(end, "edges") for end in ends]
    if nodes is None:  # integers of any size are put in order, as those of 64 bits are above
        whole = [name for name in names if isinstance(name, int)]
        nodes = sorted(set(whole)) if len(whole) == len(names) else dict.fromkeys(names)
    known = _listable(nodes)
    positions = [known.position(name) for name in names]
    if None in positions:
        stranger = key_of_node(names[positions.index(None)])
        raise BadInput("edges", f"name {stranger}, which is not among the nodes", "add it to nodes or drop the edge")
    found = np.array(positions, np.int64)
    return compress(known, found[0::2], found[1::2])


@checked
def graph_from_arrays(tails: Any, heads: Any, *, nodes: Iterable[Any] | None = None) -> Graph:
    """Build a graph from two integer arrays, fast for tens of millions of edges.

    Parameters
    ----------
    tails, heads : integer arrays of equal length
        The ends of the edges: positions among `nodes` if those are given, else names of nodes.
    nodes : iterable of names, optional
        `range(n)` for n nodes that are named by their positions. Without it the nodes are the integers that occur,
        in ascending order.

    Raises
    ------
    BadInput
        For arrays of other numbers or different lengths, positions that are no nodes, or too many nodes to be listed.
    """
    ends = _integers(tails, "tails"), _integers(heads, "heads")
    if len(ends[0]) != len(ends[1]):
        raise BadInput("tails", "must be as many as heads", "give the two ends of each edge")
    if nodes is None:
        known, ends = _numbered(*ends)
    else:
        known = _listable(nodes)
        if any(len(end) and (end.min() < 0 or end.max() >= len(known)) for end in ends):
            raise BadInput("edges", "must be positions among the nodes", f"use integers from 0 to {len(known) - 1}")
    return compress(known, *ends)


@checked
def graph_from_frame(frame: Any) -> Graph:
    """Build a graph from any dataframe of two columns that narwhals reads: one row per edge.

    Parameters
    ----------
    frame : dataframe
        pandas, Polars, PyArrow or any other, of exactly two columns without missing values. Edges have no weights.

    Raises
    ------
    BadInput
        For anything else.
    """
    table = opened(frame, "frame", "give two columns, one per end")

    def ends() -> list[Any]:
        names = table.collect_schema().names()
        if len(names) != 2:
            rule = f"must have two columns, and the frame has {len(names)}"
            raise BadInput("edges", rule, "give a frame with one column per end of an edge")
        chosen = computed(table)
        return [chosen[name] for name in names]

    first, second = asked(ends, "edges", "cannot be read", "give a frame of names in two columns")
    if first.null_count() or second.null_count():
        raise BadInput("edges", "must not have missing values", "drop the rows with nulls")
    if first.dtype.is_integer() and second.dtype.is_integer():
        return graph_from_arrays(first.to_numpy(), second.to_numpy())
    names = asked(lambda: (first.to_list(), second.to_list()), "edges", "cannot be read", "give names as text")
    return graph_from_edges(zip(*names, strict=True))


@checked
def graph_from_networkx(graph: Any) -> Graph:
    """Build a graph from a NetworkX graph whose edges say which nodes are neighbours.

    Parameters
    ----------
    graph : networkx.Graph, or one of its other kinds
        A directed graph must have every edge in both directions, and edges no weight but 1: neighbours are mutual and
        one step apart. Parallel edges are one edge, loops say nothing, and isolated nodes stay. Attributes other than
        "weight" are not read.

    Raises
    ------
    BadInput
        For what is no NetworkX graph, edges without their reverse, and weights.

    Examples
    --------
    >>> import networkx
    >>> graph_from_networkx(networkx.path_graph(3)).number_of_edges
    2
    """
    if (
        not callable(getattr(graph, "edges", None))
        or not hasattr(graph, "nodes")
        or isinstance(graph, type | DatasetGraph)
    ):
        raise BadInput("graph", "is no NetworkX graph", "give one, or use graph_from_edges")
    edges = [(edge[0], edge[1]) for edge in graph.edges()]
    if callable(getattr(graph, "is_directed", None)) and graph.is_directed():
        known = set(edges)
        lone = next(((a, b) for a, b in edges if (b, a) not in known), None)
        if lone is not None:
            rule = f"has an edge from {lone[0]!r} to {lone[1]!r} and none back, but neighbours are mutual"
            raise BadInput("graph", rule, "give graph.to_undirected()")
    weights = graph.edges(data=_WEIGHT, default=1)
    if any(edge[-1] is not None and edge[-1] != 1 for edge in weights):
        raise BadInput("graph", "has weights, but neighbours are one step apart", _UNWEIGHTED)
    return graph_from_edges(edges, nodes=list(graph.nodes))


@checked
def graph_from_sparse(matrix: Any) -> Graph:
    """Build a graph from the adjacency matrix of one, a square SciPy sparse matrix; nodes are 0, …, n − 1.

    Parameters
    ----------
    matrix : SciPy sparse array or matrix
        Symmetric, or triangular where every edge stands once. Entries are 1; stored zeros are no edges.

    Raises
    ------
    BadInput
        For what is no sparse matrix, or not square, edges without their reverse, and weights.
    """
    if not hasattr(matrix, "tocoo") or isinstance(matrix, type):
        raise BadInput("matrix", "is no SciPy sparse matrix", "give one, or use graph_from_arrays")
    found = matrix.tocoo()
    if found.shape[0] != found.shape[1]:
        raise BadInput("matrix", "must be square", "give an adjacency matrix")
    stored = found.data != 0
    if (found.data[stored] != 1).any():
        raise BadInput("matrix", "has weights, but neighbours are one step apart", _UNWEIGHTED)
    tails, heads = (ends[stored].astype(np.int64) for ends in (found.row, found.col))
    upper, lower = tails < heads, tails > heads
    there, back = (
        np.unique(a * found.shape[0] + b) for a, b in ((tails[upper], heads[upper]), (heads[lower], tails[lower]))
    )
    if len(there) and len(back) and not np.array_equal(there, back):
        raise BadInput(
            "matrix",
            "is not symmetric, but neighbours are mutual",
            "give the larger of the matrix and its transpose, or its upper triangle",
        )
    return graph_from_arrays(tails, heads, nodes=range(found.shape[0]))


_WEIGHT = "weight"
_UNWEIGHTED = "drop them, or join nodes that are k steps apart by a path of k edges"


def _listable(nodes: Iterable[Any]) -> NodeNames:
    """Read the names of nodes, no more than can be listed."""
    known = named_nodes(nodes)
    if len(known) > MOST_LISTED:
        raise BadInput("nodes", f"must be at most {MOST_LISTED} to be listed", "choose a smaller graph")
    return known


def _integers(values: Any, field: str) -> Indices:
    try:
        array = np.asarray(entries(values) if isinstance(values, range) else values)
    except (TypeError, ValueError, OverflowError):  # parts of several shapes, or none that NumPy makes an array of
        raise BadInput(field, "must be one column of integers of 64 bits", "give integer arrays") from None
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or int(array.max()) not in _INT64:
        raise BadInput(field, "must be one column of integers of 64 bits", "give integer arrays")
    return array.astype(np.int64)


def _numbered(tails: Indices, heads: Indices) -> tuple[NodeNames, tuple[Indices, Indices]]:
    """Number the labels that occur in ascending order; consecutive labels need no list of names."""
    ends = np.concatenate((tails, heads))
    if not len(ends):
        raise BadInput("nodes", "must be given when there are no edges", "list the nodes")
    low, high = int(ends.min()), int(ends.max())
    if high - low < 4 * len(ends) + 1024:
        shifted = ends - low
        occurs = np.zeros(high - low + 1, np.bool_)
        occurs[shifted] = True
        labels, places = np.flatnonzero(occurs) + low, np.cumsum(occurs)[shifted] - 1
    else:
        labels, places = np.unique(ends, return_inverse=True)
    consecutive = len(labels) == high - low + 1
    known = NumberedNodes(range(low, high + 1)) if consecutive else ListedNodes(labels.tolist())
    return known, (places[: len(tails)], places[len(tails) :])


# Read graphs from JSON: {"nodes": […], "edges": [[a, b], …]} or {"family": …} with its sizes.

_FAMILIES: dict[str, tuple[type[DatasetGraph], tuple[str, ...]]] = {
    "path": (Path, ("n",)),
    "cycle": (Cycle, ("n",)),
    "complete": (Complete, ("n",)),
    "hamming": (Hamming, ("length", "symbols")),
    "histograms": (Histograms, ("total", "types")),
    "sorted_histograms": (SortedHistograms, ("total", "types")),
    "gaps": (Gaps, ("categories", "largest", "relation")),
}


@checked
def graph_from_document(document: Any) -> DatasetGraph:
    """Read a graph; `graph.to_document()` is the way back.

    Parameters
    ----------
    document : dict
        Parsed JSON: {"edges": …} with "nodes" where some have no edge or order matters, or {"family": …, sizes}.

    Raises
    ------
    BadInput
        For an unknown family or key, a missing or negative size, a size that cannot be built, an edge that names an
        unknown node, and a node that comes twice.

    Examples
    --------
    >>> graph_from_document({"family": "hamming", "length": 3, "symbols": 2}).number_of_edges
    12
    """
    if not isinstance(document, dict):
        raise BadInput("graph", "must be a JSON object", 'write {"edges": [[a, b], …]} or {"family": …}')
    if "family" not in document:
        _check_keys(document, needed=("edges",), allowed=("nodes",))
        nodes = document.get("nodes")
        for key, value in (("edges", document["edges"]), ("nodes", () if nodes is None else nodes)):
            if not isinstance(value, list | tuple):
                raise BadInput(f"graph.{key}", "must be a list", f'write "{key}": […]')
        return graph_from_edges(document["edges"], nodes=nodes)
    family = document["family"]
    if not isinstance(family, str) or family not in _FAMILIES:
        raise BadInput("graph.family", "is unknown", f"choose one of {', '.join(_FAMILIES)}")
    build, sizes = _FAMILIES[family]
    _check_keys(document, needed=sizes, allowed=("family",))
    return build(**{size: document[size] for size in sizes})


def _check_keys(document: dict[str, Any], *, needed: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    missing = [key for key in needed if key not in document]
    if missing:
        raise BadInput("graph", f"needs {' and '.join(missing)}", "add it to the graph")
    strange = [key for key in document if key not in needed + allowed]
    if strange:
        raise BadInput("graph", f"has an unknown key {strange[0]}", f"use {', '.join(needed + allowed)}")
