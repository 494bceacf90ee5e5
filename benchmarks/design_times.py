"""Random designs beside HiGHS on the same program: values, gaps, and how many times as long an exact design takes.

    python benchmarks/design_times.py [--kinds consumer,delta,distance,graph] [--number 250] [--seed 1] [--over 20]

    consumer   a count in 0..n, n up to 60, δ = 0: losses with a name, random ones that grow on each side, and random
               ones that do not (n up to 16)
    delta      a count, n up to 45, with δ of 1e-6, 1/1000 or 1/20
    distance   least mean distance on a connected random graph of up to 16 nodes
    graph      least worst loss, a random table, on such a graph, of up to 5 answers, with and without δ

HiGHS solves the program in floats, as SciPy calls it; only its own time counts. A design holds the program, its
solution, certificate and seal; a first one of each kind, which loads the packages it needs, does not count. Every line
of a design that takes more than --over times as long is shown. The status is 1 if a value differs from HiGHS's by more
than its tolerance, a bound lies above it, or a call fails.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from irisdp import Mechanism, Privacy, design
from irisdp.graphs import graph_from_edges

Losses = NDArray[np.float64]
TOLERANCE = 1e-5
"""HiGHS keeps constraints up to 1e-7, each of which may move the value by as many times the loss."""
QUICKEST = 0.02
"""Seconds below which HiGHS is taken to need so many: there, what is measured is the start of either."""


@dataclass(frozen=True)
class Case:
    """A design and the same program in floats: minimise the weighted loss, or the worst one where weights are None."""

    said: str
    design: Callable[[], Mechanism]
    losses: Losses
    edges: list[tuple[int, int]]
    privacy: Privacy
    weights: Losses | None = None


def a_privacy(rng: random.Random, deltas: tuple[Any, ...] = (0,)) -> Privacy:
    """Return an ε between 0.1 and 4, as many small as large, and one of the δ."""
    return Privacy(epsilon=round(math.exp(rng.uniform(math.log(0.1), math.log(4))), 3), delta=rng.choice(deltas))


def a_consumer(rng: random.Random, largest: int, deltas: tuple[Any, ...], kinds: tuple[str, ...]) -> Case:
    """Return a consumer of a count."""
    privacy, kind, n = a_privacy(rng, deltas), rng.choice(kinds), rng.randint(2, largest)
    n = min(n, 16) if kind == "any" else n
    error = abs(np.arange(n + 1)[:, None] - np.arange(n + 1))
    named = {"absolute": error, "squared": error**2, "zero-one": (error > 0).astype(int)}
    if kind in named:
        losses, given = named[kind], kind
    else:
        steps = np.array([[rng.randint(0, 5) for _ in range(n + 1)] for _ in range(n + 1)])
        sums = np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)[:, :-1]
        losses = abs(sums - sums.diagonal()[:, None]) if kind == "growing" else steps
        given = losses.tolist()
    edges = [(i, i + 1) for i in range(n)]
    return Case(f"n={n} {kind}", lambda: design.consumer(n, given, privacy), losses.astype(float), edges, privacy)


def a_graph(rng: random.Random, largest: int) -> tuple[nx.Graph, Any, list[tuple[int, int]]]:
    """Return a connected random graph, twice, and its edges as positions."""
    size = rng.randint(3, largest)
    drawn = nx.gnp_random_graph(size, rng.uniform(0.2, 0.6), seed=rng.randrange(1 << 30))
    if not nx.is_connected(drawn):
        drawn = nx.compose(drawn, nx.path_graph(size))
    return drawn, graph_from_edges(list(drawn.edges), nodes=range(size)), list(drawn.edges)


def a_distance(rng: random.Random) -> Case:
    """Return the least mean distance on a graph."""
    drawn, graph, edges = a_graph(rng, 16)
    size, privacy = len(drawn), a_privacy(rng)
    losses = np.array([[nx.shortest_path_length(drawn, i, j) for j in range(size)] for i in range(size)], float)
    said = f"{size} nodes, {len(edges)} edges"
    return Case(said, lambda: design.distance(graph, privacy), losses, edges, privacy, np.full(size, 1 / size))


def a_goal(rng: random.Random) -> Case:
    """Return the least worst loss on a graph, of a random table of losses."""
    drawn, graph, edges = a_graph(rng, 16)
    size, answers, privacy = len(drawn), rng.randint(2, 5), a_privacy(rng, (0, "1/100", "1e-6"))
    losses = [[rng.randint(0, 9) for _ in range(answers)] for _ in range(size)]
    table = tuple(tuple(Fraction(x) for x in row) for row in losses)
    goal = design.Goal(name="loss", loss=table, side_information=tuple(range(size)))
    said = f"{size} nodes, {len(edges)} edges, {answers} answers"
    return Case(said, lambda: design.optimal_mechanism(goal, graph, privacy), np.array(losses, float), edges, privacy)


KINDS: dict[str, Callable[[random.Random], Case]] = {
    "consumer": lambda rng: a_consumer(rng, 60, (0,), ("absolute", "squared", "zero-one", "growing", "any")),
    "delta": lambda rng: a_consumer(rng, 45, ("1e-6", "1/1000", "1/20"), ("absolute", "squared", "zero-one")),
    "distance": a_distance,
    "graph": a_goal,
}


def in_floats(case: Case, method: str = "highs", limit: float | None = None) -> tuple[float | None, float]:
    """Return HiGHS's value, or None where it ends without one, and the seconds it took; stop it after the limit."""
    inputs, answers = case.losses.shape
    ratio, delta = float(case.privacy.ratio), float(case.privacy.delta)
    both = [*case.edges, *((j, i) for i, j in case.edges)]
    shape = inputs * answers
    worst, excess = shape, shape + (case.weights is None)
    entries: list[tuple[int, int, float]] = []
    right: list[float] = []
    for place, (i, j) in enumerate(both):
        for v in range(answers):
            entries += [(len(right), i * answers + v, 1.0), (len(right), j * answers + v, -ratio)]
            entries += [(len(right), excess + place * answers + v, -1.0)] * (delta > 0)
            right.append(0.0)
        if delta > 0:
            entries += [(len(right), excess + place * answers + v, 1.0) for v in range(answers)]
            right.append(delta)
    columns = excess + len(both) * answers * (delta > 0)
    cost = np.zeros(columns)
    if case.weights is None:
        cost[worst] = 1
        for i in range(inputs):
            entries += [(len(right), i * answers + v, case.losses[i, v]) for v in range(answers)]
            entries.append((len(right), worst, -1.0))
            right.append(0.0)
    else:
        cost[:shape] = (case.weights[:, None] * case.losses).ravel()
    rows, places, values = zip(*entries, strict=True)
    upper = csr_matrix((values, (rows, places)), shape=(len(right), columns))
    sums = csr_matrix((np.ones(shape), (np.arange(shape) // answers, np.arange(shape))), shape=(inputs, columns))
    begun = time.perf_counter()
    limits = {} if limit is None else {"time_limit": limit}
    found = linprog(cost, A_ub=upper, b_ub=right, A_eq=sums, b_eq=np.ones(inputs), method=method, options=limits)
    return found.fun if found.status == 0 else None, time.perf_counter() - begun


def try_kind(kind: str, number: int, seed: int, over: float) -> bool:
    """Try so many designs of a kind; print what stands out and a summary, and tell whether nothing was wrong."""
    rng, times, gaps, longest, wrong = random.Random(f"{kind} {seed}"), [], [], 0.0, 0
    KINDS[kind](random.Random(kind)).design()
    for _ in range(number):
        case = KINDS[kind](rng)
        value, theirs = in_floats(case)
        said = f"{kind}: {case.said}, {case.privacy}"
        begun = time.perf_counter()
        try:
            objective = case.design().objective
        except Exception as error:
            print(f"{said}: {type(error).__name__}: {error}", flush=True)
            wrong += 1
            continue
        ours = time.perf_counter() - begun
        assert objective is not None
        times.append(ours / max(theirs, QUICKEST))
        longest = max(longest, ours)
        gaps.append(float((objective.value - objective.lower_bound) / max(objective.value, Fraction(1, 10**9))))
        if value is None:
            print(f"{said}: {float(objective.value)}; HiGHS has none", flush=True)
            continue
        slack = TOLERANCE * max(1, abs(value))
        if abs(float(objective.value) - value) > slack or float(objective.lower_bound) > value + slack:
            print(
                f"{said}: {float(objective.value)}, at least {float(objective.lower_bound)}; HiGHS {value}", flush=True
            )
            wrong += 1
        if times[-1] > over:
            print(f"{said}: {ours:.2f} s, HiGHS {theirs:.3f} s", flush=True)
    times.sort()
    print(
        f"{kind}: {number} designs, {wrong} wrong; times HiGHS's time: median {statistics.median(times):.1f},"
        f" nine in ten under {times[9 * len(times) // 10]:.1f}, worst {times[-1]:.1f}; longest {longest:.1f} s;"
        f" gap at most {max(gaps):.1e} of the value, {sum(gap > 1e-9 for gap in gaps)} above 1e-9",
        flush=True,
    )
    return not wrong


def main() -> int:
    """Try the kinds asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--number", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--over", type=float, default=20)
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kinds knows {', '.join(KINDS)}, not {', '.join(sorted(unknown))}")
    done = [try_kind(kind, options.number, options.seed, options.over) for kind in kinds]
    return int(not all(done))


if __name__ == "__main__":
    sys.exit(main())
