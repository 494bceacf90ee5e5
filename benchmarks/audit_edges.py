"""An exact audit of a graph with 10^7 edges and 10^3 distinct rows: cost is per pair of rows that meet, not per edge.

Once with rows that change slowly around a ring, so that few pairs meet, and once with rows at random, so that nearly
all 500,000 pairs do. Target: under 30 s each, beyond building the graph.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from irisdp import Mechanism, Privacy, audit
from irisdp.graphs import graph_from_arrays


def main() -> None:
    """Build two graphs and two mechanisms of the sizes asked for, and audit them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--degree", type=int, default=10, help="edges from each node")
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    nodes, random = np.arange(options.nodes), np.random.default_rng(0)
    tails = np.repeat(nodes, options.degree)
    # Truth-probabilities rise and fall by a thousandth from one block of nodes to the next.
    half = options.rows // 2
    levels = [Fraction(1, 4) + Fraction(min(k, options.rows - k), 4 * half) for k in range(options.rows)]
    ring = (tails + np.tile(np.arange(1, options.degree + 1), options.nodes)) % options.nodes
    blocks = nodes * options.rows // options.nodes
    report("slow ring", tails, ring, tuple((p, 1 - p) for p in levels), blocks, Privacy(ratio="11/10"))
    weights = random.integers(500, 1000, (options.rows, 4)).tolist()
    laws = tuple(tuple(Fraction(weight, sum(row)) for weight in row) for row in weights)
    anywhere = random.integers(0, options.nodes, len(tails))
    anyhow = random.integers(0, options.rows, options.nodes)
    report("random", tails, anywhere, laws, anyhow, Privacy(ratio=2, delta="1/20"))


def report(
    name: str,
    tails: np.ndarray,
    heads: np.ndarray,
    rows: tuple[tuple[Fraction, ...], ...],
    row_of: np.ndarray,
    privacy: Privacy,
) -> None:
    """Build one graph, audit one mechanism on it, and say how long that took."""
    start = time.perf_counter()
    graph = graph_from_arrays(tails, heads, nodes=range(len(row_of)))
    built = time.perf_counter() - start
    mechanism = Mechanism(
        privacy=privacy,
        inputs=range(len(row_of)),
        outputs=tuple(range(len(rows[0]))),
        rows=rows,
        row_of=row_of,
        graph=graph,
    )
    start = time.perf_counter()
    verdict = audit(mechanism)
    seconds = time.perf_counter() - start
    print(
        f"{name}: {graph.number_of_edges} edges, {len(rows)} rows: built in {built:.1f} s, audited in {seconds:.1f} s"
    )
    print(f"  private: {verdict.private}; smallest ratio {float(verdict.ratio_at_delta or 0):.6f} (target: under 30 s)")


if __name__ == "__main__":
    main()
