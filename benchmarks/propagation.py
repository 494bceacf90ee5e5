"""Heterogeneous propagation: a binary design on a large graph with probabilities fixed at many nodes.

Shows the whole design call (contradictions, labels, rows, exact privacy check) and the spreading of labels alone,
beside plain shortest paths [Dijkstra1959] with a heap on the same labels in the same run.

    python benchmarks/propagation.py                    # a grid of a million nodes, one in a hundred fixed
    python benchmarks/propagation.py --nodes 100000 --values 50
"""

from __future__ import annotations

import argparse
import heapq
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from irisdp import Privacy
from irisdp.design import binary
from irisdp.design._propagation import GridSteps, spread
from irisdp.graphs import Graph, graph_from_arrays


def grid(nodes: int) -> Graph:
    side = math.isqrt(nodes)
    cells = np.arange(side * side).reshape(side, side)
    tails = np.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    heads = np.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))
    return graph_from_arrays(tails, heads)


def by_heap(graph: Graph, given: dict[int, int], step: Callable[[int], int], one: int) -> list[int]:
    first, row = graph.indptr.tolist(), graph.indices.tolist()
    labels = [one] * graph.number_of_nodes
    for node, label in given.items():
        labels[node] = label
    heap = [(label, node) for node, label in given.items()]
    heapq.heapify(heap)
    while heap:
        label, node = heapq.heappop(heap)
        if label > labels[node]:
            continue
        further = step(label)
        for other in row[first[node] : first[node + 1]]:
            if further < labels[other] and other not in given:
                labels[other] = further
                heapq.heappush(heap, (further, other))
    return labels


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--share", type=float, default=0.01, help="share of the nodes that is fixed")
    parser.add_argument("--values", type=int, default=10_000, help="how many different probabilities are fixed")
    options = parser.parse_args()
    graph = grid(options.nodes)
    nodes, rng = graph.number_of_nodes, np.random.default_rng(1)
    chosen = np.flatnonzero(rng.random(nodes) < options.share).tolist()
    # Within the reach of one step of each other, so that no two contradict.
    fixed = {
        node: Fraction(1, 2) + Fraction(int(k), 10 * options.values)
        for node, k in zip(chosen, rng.integers(0, options.values, len(chosen)), strict=True)
    }
    privacy = Privacy(epsilon="0.3", delta="1e-6")
    steps = GridSteps(privacy, 128)
    given = {node: steps.label(p) for node, p in fixed.items()}
    print(f"{nodes} nodes, {graph.number_of_edges} edges, {len(fixed)} fixed, {options.values} values")
    ours, found = timed(lambda: spread(graph, given, steps).labels)
    theirs, same = timed(lambda: by_heap(graph, given, steps.step, steps.one))
    assert found == same
    print(f"labels: {ours:.2f} s; with a heap {theirs:.2f} s, {theirs / ours:.1f} times as long")
    whole, mechanism = timed(lambda: binary(graph, np.zeros(nodes, np.int64), privacy, boundary=fixed))
    print(f"the whole design: {whole:.2f} s, {len(mechanism.rows)} distinct rows")


if __name__ == "__main__":
    main()
