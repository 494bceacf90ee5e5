"""Depth of every node of a two-coloured graph: this library and NetworkX on the same graphs in the same run.

Depth takes finding the boundary and a breadth-first search from it. NetworkX offers two ways to search: its only
function that returns distances from several sources (`multi_source_dijkstra_path_length`) and its fastest one that
can be made to (`bfs_layers`); both are shown, each with the same plain loop over the edges that finds the boundary.
Ours is the best of three runs and theirs a single one, since it takes a minute.

    python benchmarks/graph_depth.py                        # ten million edges, and a path of a million nodes
    python benchmarks/graph_depth.py --edges 1000000
    python benchmarks/graph_depth.py --shapes path --alone  # without NetworkX, which takes gigabytes and minutes
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from irisdp.graphs import ColouredGraph, colour, depth, graph_from_arrays

LONGEST_PATH = 10**6


def random_graph(edges: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few levels, wide frontiers: mean degree 20, a thousand red nodes."""
    nodes = max(2, edges // 10)
    tails, heads = np.random.default_rng(1).integers(0, nodes, (2, edges))
    return tails, heads, np.arange(nodes) < min(1000, nodes // 2)


def grid(edges: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A square grid whose left half is red: as many levels as half a side, frontiers as wide as a side."""
    side = max(2, math.isqrt(edges // 2))
    cells = np.arange(side * side).reshape(side, side)
    tails = np.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    heads = np.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))
    return tails, heads, np.arange(side * side) % side < side // 2


def path(edges: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One red end: as many levels as nodes, frontiers of one node."""
    nodes = min(edges, LONGEST_PATH)
    row = np.arange(nodes)
    return row[:-1], row[1:], row < 1


def depth_by_networkx(graph: nx.Graph, colours: list[bool], search: Callable[..., Any]) -> dict[int, int]:
    found = set()
    for tail, head in graph.edges:
        if colours[tail] != colours[head]:
            found.update((tail, head))
    return search(graph, found)


def layers(graph: nx.Graph, sources: set[int]) -> dict[int, int]:
    return {node: level for level, layer in enumerate(nx.bfs_layers(graph, sources)) for node in layer}


def dijkstra(graph: nx.Graph, sources: set[int]) -> dict[int, int]:
    return nx.multi_source_dijkstra_path_length(graph, sources, weight=None)


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def load(tails: np.ndarray, heads: np.ndarray, red: np.ndarray) -> ColouredGraph:
    return colour(graph_from_arrays(tails, heads, nodes=range(len(red))), red)


def load_networkx(tails: np.ndarray, heads: np.ndarray, red: np.ndarray) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(red)))
    graph.add_edges_from(zip(tails.tolist(), heads.tolist(), strict=True))
    return graph


def report(shape: Callable[[int], tuple[np.ndarray, ...]], edges: int, alone: bool) -> None:
    arrays = shape(edges)
    loading, coloured = timed(load, *arrays)
    ours, depths = min((timed(depth, coloured) for _ in range(3)), key=lambda run: run[0])
    print(f"{shape.__name__}: {coloured.graph}, depth up to {depths.max()}")
    print(f"  irisdp                         load {loading:8.2f} s   depth {ours:8.3f} s")
    if alone:
        return
    loading, graph = timed(load_networkx, *arrays)
    for search in (layers, dijkstra):
        theirs, found = timed(depth_by_networkx, graph, arrays[2].tolist(), search)
        assert found == {node: level for node, level in enumerate(depths.tolist()) if level >= 0}
        name = f"networkx ({search.__name__})"
        print(f"  {name:30} load {loading:8.2f} s   depth {theirs:8.3f} s   {theirs / ours:6.1f} times ours")


def main() -> None:
    shapes = {shape.__name__: shape for shape in (random_graph, grid, path)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=10**7, help="edges of the random graph and the grid")
    parser.add_argument("--shapes", nargs="+", choices=shapes, default=list(shapes))
    parser.add_argument("--alone", action="store_true", help="leave NetworkX out")
    options = parser.parse_args()
    for name in options.shapes:
        report(shapes[name], options.edges, options.alone)


if __name__ == "__main__":
    main()
