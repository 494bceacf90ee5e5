"""How long designs of every kind take as they grow, up to the largest that is accepted.

    python benchmarks/design_limits.py [--kinds WORDS] [--seconds 300]

Each design is made in a process of its own, which is ended after --seconds of the clock; only the design counts, not
the start of Python. A row of the table, in Markdown, holds the kind, the size, seconds of the processor (the clock is
that of a machine on which others work), how many times those of the size before, the gap between value and bound
relative to the value, and what a refusal says. Sizes past the limit come last, so that the table shows where it lies.
The status is 1 if a design fails in any other way than by a refusal.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import networkx as nx

from irisdp import BadInput, Privacy, Refusal, design, graphs

PURE, SLACK = Privacy(epsilon=1), Privacy(epsilon=1, delta="1e-3")


def falling(n: int) -> list[list[int]]:
    """Return a loss that falls with the distance at some counts, so that universality does not help."""
    return [[abs(i - v) % 7 + (i != v) for v in range(n + 1)] for i in range(n + 1)]


def random_graph(nodes: int) -> Any:
    """Return a connected graph without symmetry, of four edges a node."""
    drawn = nx.compose(nx.gnm_random_graph(nodes, 4 * nodes, seed=1), nx.path_graph(nodes))
    return graphs.graph_from_edges(list(drawn.edges), nodes=range(nodes))


def worst_distance(nodes: int) -> Any:
    """Return the best mechanism for the worst distance to the true node of a graph without symmetry."""
    graph = random_graph(nodes)
    loss = [[int(x) for x in graph.distances_from(node)] for node in range(nodes)]
    goal = design.Goal(name="worst distance", loss=loss, side_information=range(nodes))
    return design.optimal_mechanism(goal, graph, PURE)


def certified(nodes: int) -> Any:
    """Return a mechanism from floats, repaired and certified."""
    line = graphs.Path(nodes)
    loss = [[abs(i - v) for v in range(nodes)] for i in range(nodes)]
    goal = design.Goal(name="worst error", loss=loss, side_information=range(nodes))
    noise = [[float(x) for x in row] for row in design.geometric(nodes - 1, PURE).matrix()]
    return design.certified(design.repair(noise, line, PURE), goal)


def three_colours(nodes: int) -> Any:
    """Return the best mechanism for three answers ranked by where a node of a line lies."""
    third, orders = -(-nodes // 3), ("abc", "bac", "cba")
    rankings = {k: tuple(orders[k // third]) for k in range(nodes)}
    return design.rainbow(graphs.Path(nodes), rankings, PURE)


KINDS: dict[str, tuple[str, tuple[int, ...], Callable[[int], Any]]] = {
    "consumer": (
        "reader of a count 0..n, δ = 0",
        (32, 100, 999, 1_000, 10_000, 100_000, 100_001),
        lambda n: design.consumer(n, "absolute", PURE),
    ),
    "consumer-delta": (
        "reader of a count 0..n, δ = 1e-3",
        (10, 30, 100, 273, 274),
        lambda n: design.consumer(n, "absolute", SLACK),
    ),
    "consumer-falling": (
        "reader of a count 0..n, a loss that falls",
        (10, 30, 100, 273, 274),
        lambda n: design.consumer(n, falling(n), PURE),
    ),
    "goal": ("goal on a random graph, n nodes, about 5 n edges", (15, 30, 60, 120, 123), worst_distance),
    "certified": ("repaired and certified, n inputs in a line", (10, 30, 100, 274, 275), certified),
    "geometric": (
        "geometric noise, counts 0..n",
        (100, 999, 10**6, 10**18),
        lambda n: design.geometric(n, PURE),
    ),
    "binary": (
        "two answers, n nodes in a line",
        (100, 1_000, 10_000, 100_000),
        lambda n: design.binary(graphs.Path(n), {k: k % 9 < 4 for k in range(n)}, PURE),
    ),
    "rainbow": ("three ranked answers, n nodes in a line", (30, 300, 3_000, 30_000), three_colours),
    "plurality": ("largest of q categories", (3, 6, 12, 100, 101), lambda q: design.plurality(q, PURE)),
    "winner": (
        "largest of 3 categories, n records",
        (10, 20, 40, 80),
        lambda n: design.winner(3, PURE, total=n),
    ),
    "ranking": (
        "3 categories in order, n records",
        (5, 10, 20, 40),
        lambda n: design.ranking(3, PURE, total=n),
    ),
    "randomized-response": (
        "randomized response, n choices",
        (10, 100, 1_000, 1_001),
        lambda n: design.randomized_response(n, PURE),
    ),
    "distance": (
        "nearest table, n yes-or-no records",
        (4, 8, 12, 16),
        lambda n: design.distance(graphs.Hamming(n, 2), PURE),
    ),
    "distance-random": (
        "nearest node of a random graph, n nodes",
        (15, 30, 60, 120, 123),
        lambda n: design.distance(random_graph(n), PURE),
    ),
    "exponential": (
        "exponential mechanism, n nodes in a line",
        (10, 100, 1_000, 3_000),
        lambda n: design.exponential(graphs.Path(n), PURE),
    ),
    "quantile": ("median, k bins", (3, 5, 20, 100, 101), lambda k: design.quantile(k, PURE)),
}
"""Kind → what it is, sizes, and what makes one."""


def one(kind: str, size: int) -> None:
    """Make one design; print what came of it."""
    for small in (2, 40):  # loads what designs need
        design.consumer(small, "absolute", PURE)
    begun = time.process_time()
    try:
        made = KINDS[kind][2](size)
    except (BadInput, Refusal) as refusal:
        print(json.dumps({"refused": str(refusal)}))
        return
    seconds = time.process_time() - begun
    objective = getattr(made, "objective", None)
    gap = None
    if objective is not None and getattr(objective, "lower_bound", None) is not None and objective.value:
        gap = float((objective.value - objective.lower_bound) / objective.value)
    print(json.dumps({"seconds": seconds, "gap": gap}))


def measured(kind: str, size: int, limit: float) -> dict[str, Any]:
    """Make one design in a process of its own."""
    command = [sys.executable, __file__, "--one", kind, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"over": limit}
    if done.returncode:
        return {"failed": done.stderr.strip().rpartition("\n")[2]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one[0], int(options.one[1]))
        return 0
    print("| design | size | seconds | times the size before | gap |\n|---|---|---|---|---|", flush=True)
    failed = False
    for kind in options.kinds.split(","):
        before = None
        for size in KINDS[kind][1]:
            found = measured(kind, size, options.seconds)
            failed |= "failed" in found
            if "seconds" in found:
                ratio = "" if before is None else f"{found['seconds'] / before:.1f}"
                gap = "" if found["gap"] is None else f"{found['gap']:.0e}" if found["gap"] else "0"
                before, words = found["seconds"], (f"{found['seconds']:.2g}", ratio, gap)
            else:
                key, value = next(iter(found.items()))
                words = (f"over {value:g}" if key == "over" else f"{key}: {value}", "", "")
            print(f"| {KINDS[kind][0]} | {size:,} | {' | '.join(words)} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
