"""Boundary, interior and depth: where the true answer changes between neighbours, and how far away that is.

The boundary of a class of equal colour (or ranking) is its nodes with a neighbour in another class, its interior the
rest. [DOliveira2021], Definition 4; [Gu2024], Definition 5.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from .._exact import checked
from ._colouring import ColouredGraph
from ._explicit import Graph, breadth_first, connected_components, listed
from ._protocol import DatasetGraph, Indices, Mask, Node, blocks

_ROWS = 1 << 13
"""Nodes whose neighbours are compared at once."""


@checked
def boundary(coloured: ColouredGraph) -> Mask:
    """Mark the nodes that have a neighbour of another colour; `& coloured.in_class(colour)` picks one class."""
    # In the fewest bytes, so that more of them stay in the processor's cache.
    codes = coloured.codes.astype(np.min_scalar_type(len(coloured.classes)))
    marked = np.zeros(len(codes), np.bool_)
    graph = coloured.graph
    if isinstance(graph, Graph):
        for start, stop in blocks(len(codes), _ROWS):
            heads = graph.indices[graph.indptr[start] : graph.indptr[stop]]
            own = np.repeat(codes[start:stop], np.diff(graph.indptr[start : stop + 1]))
            marked[heads[(own != codes.take(heads)).nonzero()[0]]] = True  # every edge is met from both of its ends
        return marked
    for tails, heads in graph.edges():
        crossing = np.flatnonzero(codes[tails] != codes[heads])
        marked[tails[crossing]] = True
        marked[heads[crossing]] = True
    return marked


@checked
def boundary_nodes(coloured: ColouredGraph, colour: Hashable = None) -> tuple[Node, ...]:
    """Return the names of the boundary nodes, in the order of the graph's nodes.

    Parameters
    ----------
    coloured : ColouredGraph
        A graph whose nodes have colours or rankings.
    colour : hashable, optional
        A colour or ranking, to name the boundary of its class alone.

    Returns
    -------
    tuple of names
        `boundary` marks the same nodes in an array.

    Raises
    ------
    BadInput
        For a colour that no node has.

    Examples
    --------
    >>> from irisdp.graphs import Path, colour
    >>> votes = colour(Path(6), lambda ayes: "yes" if ayes >= 3 else "no")
    >>> boundary_nodes(votes), boundary_nodes(votes, "yes")
    ((2, 3), (3,))

    References
    ----------
    [DOliveira2021], Definition 4; [Gu2024], Definition 5.
    """
    marked = boundary(coloured)
    if colour is not None:
        marked &= coloured.in_class(tuple(colour) if isinstance(colour, list) else colour)
    return tuple(coloured.graph.nodes[index] for index in np.flatnonzero(marked).tolist())


@checked
def interior(coloured: ColouredGraph) -> Mask:
    """Mark the nodes whose neighbours all have their colour.

    Parameters
    ----------
    coloured : ColouredGraph
        A graph whose nodes have colours or rankings.
    """
    return ~boundary(coloured)


@checked
def depth(coloured: ColouredGraph) -> Indices:
    """Return every node's distance to the boundary of its own class, UNREACHABLE (−1) where that is infinite.

    It is infinite where the node's component has no boundary: there the truthful answer costs no privacy.

    Parameters
    ----------
    coloured : ColouredGraph
        A graph whose nodes have colours or rankings.

    Notes
    -----
    One search from the whole boundary suffices. A path from a node to its nearest boundary node of any class passes
    through interior nodes only, and an interior node's neighbours have its colour; so the path stays in the node's
    class, and the boundary node it ends at is of that class. Hence the distance to the boundary of all classes, the
    distance to that of one's own, and the distance to it within one's own class are all the same.

    References
    ----------
    [DOliveira2021], Definition 4 and Theorem 5; [Gu2024], Definition 8.
    """
    graph = listed(coloured.graph)
    return breadth_first(graph.indptr, graph.indices, np.flatnonzero(boundary(coloured)))


@checked
def touching(coloured: ColouredGraph) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of colours that meet along an edge, each once, in the order of `coloured.classes`."""
    return [(coloured.classes[one], coloured.classes[other]) for one, other in touching_codes(coloured).tolist()]


def touching_codes(coloured: ColouredGraph) -> Indices:
    """Return the pairs of classes that meet along an edge as positions in `classes`, shape (pairs, 2)."""
    count = len(coloured.classes)
    codes = np.zeros(0, np.int64)
    for tails, heads in coloured.graph.edges():
        one, other = coloured.codes[tails], coloured.codes[heads]
        keys = (np.minimum(one, other) * count + np.maximum(one, other))[one != other]
        codes = np.union1d(codes, keys)
    return np.stack(np.divmod(codes, count), axis=1)


@checked
def components(graph: DatasetGraph) -> Indices:
    """Return the number of every node's connected component: 0, 1, … in the order of their first nodes.

    Parameters
    ----------
    graph : DatasetGraph
        Any graph that can be listed.
    """
    rows = listed(graph)
    tails = np.repeat(np.arange(rows.number_of_nodes), np.diff(rows.indptr))
    return connected_components(rows.number_of_nodes, tails, rows.indices)


@checked
def components_without_boundary(coloured: ColouredGraph) -> Indices:
    """Return the numbers, as of `components`, of the components that hold one colour only.

    Components of a class need no notion of their own here: one that has no boundary has no edge that leaves it, and
    is a component of the graph.

    Parameters
    ----------
    coloured : ColouredGraph
        A graph whose nodes have colours or rankings.
    """
    numbers = components(coloured.graph)
    return np.setdiff1d(numbers, numbers[boundary(coloured)])
