"""Graphs for NetworkX and SciPy; `irisdp.graphs.graph_from_networkx` and its siblings read what comes from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._exact import checked
from .._lazy import needed
from ..graphs import DatasetGraph, listed


@checked
def to_networkx(graph: DatasetGraph) -> Any:
    """Return a dataset graph as a `networkx.Graph`: the same names in the same order, and every edge once.

    Parameters
    ----------
    graph : DatasetGraph
        Listed first, if it is of a family.

    Returns
    -------
    networkx.Graph
        `graph_from_networkx` makes the same graph of it.

    Raises
    ------
    BadInput
        Where NetworkX is not installed, and for a graph too large to be listed.

    Examples
    --------
    >>> from irisdp.graphs import Cycle, graph_from_networkx
    >>> found = to_networkx(Cycle(5))
    >>> len(found), found.has_edge(4, 0), graph_from_networkx(found).number_of_edges
    (5, True, 5)
    """
    library = needed("networkx", "graphs")
    explicit, made = listed(graph), library.Graph()
    nodes = explicit.nodes
    made.add_nodes_from(nodes)
    for tails, heads in explicit.edges():
        made.add_edges_from(
            (nodes[tail], nodes[head]) for tail, head in zip(tails.tolist(), heads.tolist(), strict=True)
        )
    return made


@checked
def to_sparse(graph: DatasetGraph) -> Any:
    """Return the adjacency matrix of a dataset graph, as a SciPy sparse array.

    Parameters
    ----------
    graph : DatasetGraph
        With n nodes. Their names are left behind: rows and columns stand in the order of `graph.nodes`.

    Returns
    -------
    scipy.sparse.csr_array of int8, shape (n, n)
        1 where two nodes are neighbours, symmetric, 0 on the diagonal. `graph_from_sparse` reads it.

    Raises
    ------
    BadInput
        Where SciPy is not installed, and for a graph too large to be listed.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> to_sparse(Path(3)).toarray().tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    library = needed("scipy.sparse", "", package="scipy")
    explicit = listed(graph)
    entries = np.ones(len(explicit.indices), dtype=np.int8)
    shape = (explicit.number_of_nodes, explicit.number_of_nodes)
    # SciPy may sort and sum in place, and a graph's own arrays must stay as they are.
    return library.csr_array((entries, explicit.indices.copy(), explicit.indptr.copy()), shape=shape)
