"""Large graphs: depth, spreading of fixed probabilities, audits; beside NetworkX, igraph, SciPy, and one reading."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]


def shape_of(edges: int, shape: str) -> tuple[Any, Any, Any]:
    """Return tails, heads and which nodes are red.

    Random: few levels, wide frontiers; mean degree 20, a thousand red nodes. Grid: a square whose left half is red, as
    many levels as half a side. Path: one red end, as many levels as nodes.
    """
    import numpy as np

    if shape == "random":
        nodes = max(2, edges // 10)
        tails, heads = np.random.default_rng(1).integers(0, nodes, (2, edges))
        return tails, heads, np.arange(nodes) < min(1000, nodes // 2)
    if shape == "path":
        row = np.arange(edges + 1)
        return row[:-1], row[1:], row < 1
    tails, heads = grid_of(side := max(2, math.isqrt(edges // 2)))
    return tails, heads, np.arange(side * side) % side < side // 2


def grid_of(side: int) -> tuple[Any, Any]:
    import numpy as np

    cells = np.arange(side * side).reshape(side, side)
    tails = np.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    return tails, np.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))


def depths(edges: int, shape: str) -> Task:
    """Find the boundary, and every node's distance to it."""
    from irisdp.graphs import colour, depth, graph_from_arrays

    tails, heads, red = shape_of(edges, shape)
    coloured = colour(graph_from_arrays(tails, heads, nodes=range(len(red))), red)
    return lambda: {"deepest": int(depth(coloured).max())}


def neighbours_read(edges: int, shape: str) -> Task:
    """Read every neighbour of every node once, in the order in which they lie."""
    import numpy as np

    tails, heads, _ = shape_of(edges, shape)
    both = np.concatenate((tails, heads))
    return lambda: {"sum": int(both.sum())}


def depths_by_networkx(edges: int, shape: str) -> Task:
    """The same: a plain loop over the edges finds the boundary, its fastest search from several nodes the rest."""
    import networkx as nx

    tails, heads, red = (each.tolist() for each in shape_of(edges, shape))
    graph = nx.Graph()
    graph.add_nodes_from(range(len(red)))
    graph.add_edges_from(zip(tails, heads, strict=True))

    def run() -> dict[str, float]:
        found = {node for edge in graph.edges if red[edge[0]] != red[edge[1]] for node in edge}
        depth = {node: level for level, layer in enumerate(nx.bfs_layers(graph, found)) for node in layer}
        return {"deepest": max(depth.values())}

    return run


def depths_by_igraph(edges: int, shape: str) -> Task:
    """Distances from one node more, which is joined to the boundary beforehand."""
    import igraph
    import numpy as np

    tails, heads, red = shape_of(edges, shape)
    apart = red[tails] != red[heads]
    found = np.unique(np.concatenate((tails[apart], heads[apart])))
    joined = np.stack((np.full(len(found), len(red)), found), axis=1)
    graph = igraph.Graph(len(red) + 1, np.concatenate((np.stack((tails, heads), axis=1), joined)))

    def run() -> dict[str, float]:
        there = np.array(graph.distances(source=[len(red)])[0])
        return {"deepest": float(there[np.isfinite(there)].max() - 1)}

    return run


def depths_by_scipy(edges: int, shape: str) -> Task:
    """Its search from several nodes visits the nearest first."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    tails, heads, red = shape_of(edges, shape)
    graph = csr_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(len(red), len(red)))

    def run() -> dict[str, float]:
        apart = red[tails] != red[heads]
        found = np.unique(np.concatenate((tails[apart], heads[apart])))
        there = dijkstra(graph, directed=False, indices=found, unweighted=True, min_only=True)
        return {"deepest": float(there[np.isfinite(there)].max())}

    return run


def binary(nodes: int, share: float, values: int) -> Task:
    """Design yes or no on a grid on which probabilities are fixed, each one of so many values."""
    import numpy as np

    from irisdp import design

    graph, fixed, privacy = _fixed(nodes, share, values)
    colours = np.zeros(graph.number_of_nodes, np.int64)
    return lambda: {"rows": len(design.binary(graph, colours, privacy, boundary=fixed).rows)}


def labels(nodes: int, share: float, values: int) -> Task:
    """Of that only: the least label that each node may have."""
    from irisdp.design._propagation import spread

    graph, given, steps = _given(nodes, share, values)
    return lambda: spread(graph, given, steps) and {}


def labels_by_heap(nodes: int, share: float, values: int) -> Task:
    """The same by shortest paths with a heap, in plain Python."""
    from propagation import by_heap

    graph, given, steps = _given(nodes, share, values)
    return lambda: by_heap(graph, given, steps.step, steps.one) and {}


def _given(nodes: int, share: float, values: int) -> tuple[Any, Any, Any]:
    from irisdp.design._propagation import GridSteps

    graph, fixed, privacy = _fixed(nodes, share, values)
    steps = GridSteps(privacy, 128)
    return graph, {node: steps.label(p) for node, p in fixed.items()}, steps


def _fixed(nodes: int, share: float, values: int) -> tuple[Any, dict[int, Any], Any]:
    from fractions import Fraction

    import numpy as np

    from irisdp import Privacy
    from irisdp.graphs import graph_from_arrays

    graph, rng = graph_from_arrays(*grid_of(math.isqrt(nodes))), np.random.default_rng(1)
    chosen = np.flatnonzero(rng.random(graph.number_of_nodes) < share).tolist()
    # Within the reach of one step of each other, so that no two contradict.
    fixed = {
        node: Fraction(1, 2) + Fraction(int(k), 10 * values)
        for node, k in zip(chosen, rng.integers(0, values, len(chosen)), strict=True)
    }
    return graph, fixed, Privacy(epsilon="0.3", delta="1e-6")


def _depth(shape: str, title: str, sizes: tuple[int, ...], most: int) -> Row:
    said = {"shape": shape}
    return Row(
        name=f"depth-{shape}",
        group="Graphs",
        title=f"Depth of every node, {title}",
        unit="edges",
        sizes=sizes,
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="depths", options=said),
            Side(name="NetworkX", work="depths_by_networkx", kind="peer", environment="networkx", options=said,
                 most=most),
            Side(name="igraph", work="depths_by_igraph", kind="peer", environment="igraph", options=said),
            Side(name="SciPy", work="depths_by_scipy", kind="peer", environment="highs", options=said),
            Side(name="reading each neighbour once", work="neighbours_read", kind="limit", options=said),
        ),
        promise="speed of depth",
        program="graph_depth.py",
    )  # fmt: skip


def _binary(name: str, share: float, values: int, title: str) -> Row:
    said = {"share": share, "values": values}
    return Row(
        name=name,
        group="Graphs",
        title=title,
        unit="nodes",
        sizes=(10**4, 10**5, 10**6),
        quick=(400, 1600),
        sides=(
            Side(name="Iris, the whole design", work="binary", options=said),
            Side(name="Iris, its labels alone", work="labels", kind="way", options=said),
            Side(name="the labels with a heap", work="labels_by_heap", kind="peer", options=said),
        ),
        program="propagation.py",
        warm=False,
    )


ROWS = (
    _depth("random", "random graph of mean degree 20", (10**5, 10**6, 10**7), 10**6),
    _depth("grid", "square grid", (10**5, 10**6, 10**7), 10**6),
    _depth("path", "path", (10**4, 10**5, 10**6), 10**6),
    _binary("binary-few", 0.01, 10_000, "Yes or no where one node in a hundred is fixed, 10,000 values"),
    _binary("binary-many", 0.5, 10**9, "Yes or no where one node in two is fixed, each to a value of its own"),
)
