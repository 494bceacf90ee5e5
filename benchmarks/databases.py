"""The smallest mean distance on a graph: this project's exact designs by size, and qif's float design in the same run.

    python benchmarks/databases.py --repeats 3 --nodes 60

Every design is timed whole: symmetry, program, exact solution, certificate, seal. "gap" is what its certificate leaves
open, relative to the value. qif (LGPL; it is called here and in foreign.py only) solves the same program in floats,
without symmetry, without a certificate, for δ = 0. Repeats alternate between the two, and what counts is the ratio of
their times within a repeat. Its matrix breaks privacy by what its solver tolerates, and can undercut the optimum by as
much: "δ it needs" says so, and the last column is how far it is above ours once repaired to be exactly private.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from unittest import mock

import numpy as np
from qif import mechanism as qif_mechanism

from irisdp import Privacy, audit, design
from irisdp.certify import matrix_document
from irisdp.design import _symmetry_reduction as by_orbits
from irisdp.graphs import Cycle, DatasetGraph, Hamming, Histograms, Path, SortedHistograms, Symmetry, graph_from_edges

OURS: dict[str, DatasetGraph] = {
    "path of 100": Path(100),
    "path of 1,000 (geometric reading)": Path(1000),
    "cycle of 400": Cycle(400),
    "6-cube": Hamming(6, 2),
    "10-cube": Hamming(10, 2),
    "words of 6 letters from 3": Hamming(6, 3),
    "(8,3)-histograms": Histograms(8, 3),
    "(12,3)-histograms": Histograms(12, 3),
    "sorted histograms of 10": SortedHistograms(10, 10),
}


def main() -> None:
    arguments = read_arguments()
    privacy = Privacy(epsilon=arguments.epsilon)
    design.distance(Cycle(5), privacy)  # loads the solver
    if not arguments.only_qif:
        by_size(privacy, arguments.repeats)
    beside_qif(arguments.nodes, arguments.repeats)


def by_size(privacy: Privacy, repeats: int) -> None:
    print(f"mean distance, uniform inputs, {privacy}; medians of {repeats} repeats [least, most]")
    print(f"{'graph':<42}{'nodes':>7}{'seconds':>26}{'optimum':>12}{'gap':>9}")
    for name, graph in OURS.items():
        show(name, graph, [timed(lambda graph=graph: design.distance(graph, privacy)) for _ in range(repeats)])
    whole = Histograms(12, 3)
    with mock.patch.object(by_orbits, "group_of", no_symmetry):
        show("(12,3)-histograms, not divided by symmetry", whole, [timed(lambda: design.distance(whole, privacy))])


def show(name: str, graph: DatasetGraph, runs: list) -> None:
    objective = runs[-1][1].objective
    gap = float((objective.value - objective.lower_bound) / objective.value)
    times = spread([spent for spent, _ in runs])
    row = f"{name:<42}{graph.number_of_nodes:>7}{times:>26}{float(objective.value):>12.6f}{gap:>9.0e}"
    print(row, flush=True)


def no_symmetry(graph: DatasetGraph, *_: object) -> Symmetry:
    count = graph.number_of_nodes
    return Symmetry(np.zeros((0, count), np.int64), np.arange(count))


def beside_qif(nodes: int, repeats: int) -> None:
    epsilon = 0.5
    privacy = Privacy(epsilon="0.5")
    chance = random.Random(7)
    tree = [(chance.randrange(i), i) for i in range(1, 16)]
    more = [(i, j) for j in range(16) for i in range(j) if chance.random() < 0.1]
    graphs: dict[str, DatasetGraph] = {
        "random graph of 16": graph_from_edges(tree + more, nodes=range(16)),
        "path of 20": Path(20),
        "4-cube": Hamming(4, 2),
        f"path of {nodes}": Path(nodes),
        f"cycle of {nodes}": Cycle(nodes),
    }
    print(f"\nbeside qif, LP[1], δ = 0, ε = {epsilon}")
    columns = f"{'qif s':>24}{'ours s':>22}{'times faster':>24}{'qif − ours':>12}{'δ it needs':>12}{'repaired':>10}"
    print(f"{'graph':<20}{columns}")
    for name, graph in graphs.items():
        distances = np.array([graph.distances_from(i) for i in range(graph.number_of_nodes)]).astype(float)
        theirs, ours, ratios = [], [], []
        for _ in range(repeats):
            spent, matrix = timed(lambda distances=distances: by_qif(distances, epsilon))
            theirs.append(spent)
            spent, made = timed(lambda graph=graph: design.distance(graph, privacy))
            ours.append(spent)
            ratios.append(theirs[-1] / spent)
        value, best = mean_distance(matrix, distances), float(made.objective.value)
        fixed = np.array(design.repair(matrix, graph, privacy).matrix(), dtype=float)
        needed = float(audit(matrix_document(matrix, graph=graph, privacy=privacy)).delta_at_epsilon)
        times = f"{statistics.median(ratios):.1f} [{min(ratios):.1f}, {max(ratios):.1f}]"
        print(f"{name:<20}{spread(theirs):>24}{spread(ours):>22}{times:>24}", end="")
        print(f"{value - best:>12.0e}{needed:>12.0e}{mean_distance(fixed, distances) - best:>10.0e}", flush=True)


def mean_distance(matrix: np.ndarray, distances: np.ndarray) -> float:
    return float((matrix * distances).sum() / len(matrix))


def by_qif(distances: np.ndarray, epsilon: float) -> np.ndarray:
    """Let qif solve LP[1] for these distances between nodes."""
    count = len(distances)
    found = qif_mechanism.d_privacy.min_loss_given_d(
        np.full(count, 1 / count),
        count,
        lambda i, j: epsilon * float(distances[i, j]),
        lambda i, v: float(distances[i, v]),
    )
    return np.array(found)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def spread(times: list[float]) -> str:
    return f"{statistics.median(times):.3f} [{min(times):.3f}, {max(times):.3f}]"


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--nodes", type=int, default=60, help="nodes of the path and the cycle beside qif")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only-qif", action="store_true", help="leave out the first table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
