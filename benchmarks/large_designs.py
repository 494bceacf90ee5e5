"""A large design beside plain HiGHS: the least mean distance (LP[1]) on a random graph without symmetry.

    python benchmarks/large_designs.py [--nodes 120] [--edges 491] [--seed 1] [--epsilon 1] [--limit 200]

HiGHS solves the same program in floats, as SciPy calls it, by interior points and by the simplex method; each is
stopped after --limit seconds. The design holds the program, its solution, certificate and seal. Then the file is
checked, by `irisdp audit` and by the stand-alone verifier. The status is 1 if a value or a bound contradicts HiGHS.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np
from design_times import TOLERANCE, Case, in_floats

from irisdp import Privacy, design
from irisdp.certify import verify_mechanism
from irisdp.graphs import graph_from_edges, symmetry


def graph_without_symmetry(nodes: int, edges: int, seed: int) -> nx.Graph:
    """Return the first connected random graph, from a seed on, that has no automorphism but the identity."""
    while True:
        drawn = nx.gnm_random_graph(nodes, edges, seed=seed)
        seed += 1
        if nx.is_connected(drawn):
            graph = graph_from_edges(list(drawn.edges), nodes=range(nodes))
            if len(set(symmetry(graph).orbit_of.tolist())) == nodes:
                return drawn


def main() -> int:
    """Print times, value and gap."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--nodes", 120), ("--edges", 491), ("--seed", 1)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--limit", type=float, default=200)
    options = parser.parse_args()
    drawn = graph_without_symmetry(options.nodes, options.edges, options.seed)
    size, edges, privacy = options.nodes, list(drawn.edges), Privacy(epsilon=options.epsilon)
    graph = graph_from_edges(edges, nodes=range(size))
    print(f"{size} nodes, {len(edges)} edges, {2 * len(edges) * size:,} privacy constraints, {privacy}", flush=True)
    far = dict(nx.all_pairs_shortest_path_length(drawn))
    losses = np.array([[far[i][j] for j in range(size)] for i in range(size)], float)
    design.distance(graph_from_edges([(0, 1), (1, 2)]), privacy)  # loads what is needed
    begun = time.perf_counter()
    made = design.distance(graph, privacy)
    seconds, objective = time.perf_counter() - begun, made.objective
    assert objective is not None and objective.lower_bound is not None and made.certificate is not None
    gap = float((objective.value - objective.lower_bound) / objective.value)
    value = float(objective.value)
    multipliers = len(made.certificate["multipliers"])
    print(f"design: {seconds:.1f} s, value {value:.12g}, gap {gap:.1e} of it, {multipliers:,} multipliers", flush=True)
    wrong = False
    case = Case("", lambda: made, losses, edges, privacy, np.full(size, 1 / size))
    for method in ("highs-ipm", "highs-ds"):
        found, seconds = in_floats(case, method, options.limit)
        if found is None:
            print(f"HiGHS, {method}: nothing after {seconds:.1f} s", flush=True)
            continue
        print(f"HiGHS, {method}: {seconds:.1f} s, value {found:.12g}", flush=True)
        wrong |= value < found - TOLERANCE or float(objective.lower_bound) > found + TOLERANCE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.json")
        made.save(path)
        print(f"the file: {path.stat().st_size / 1e6:.1f} MB")
        for command in (["-m", "irisdp", "audit"], [str(verify_mechanism.__file__)]):
            begun = time.perf_counter()
            done = subprocess.run([sys.executable, *command, str(path)], capture_output=True, check=False)
            print(f"{command[-1]}: status {done.returncode} in {time.perf_counter() - begun:.1f} s")
            wrong |= done.returncode != 0
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
