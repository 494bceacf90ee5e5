"""Would edges of different lengths, as in metric privacy, fit the closed forms? An experiment on small random graphs.

    python benchmarks/metric_privacy.py [--number 300] [--seed 1]

An edge of length ℓ lets probabilities differ by r^ℓ. Rows are given on the boundary; elsewhere each prefix sum gets
what the nearest given rows allow: the smallest composition of the operators u of the edges over all paths. The
experiment counts how often these rows are private. If they are, they are optimal, as for edges of one length; if not,
no closed form is known, and a linear program has to decide. This part is exact.

Whole lengths can also be had today: put ℓ − 1 inputs that no table has on an edge of length ℓ. The second part compares
the best mechanisms for 0-1 loss with and without these inputs, in floats.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

Edges = dict[tuple[int, int], int]


def u(s: Fraction, ratio: Fraction) -> Fraction:
    """Return the most that an event may have next to a node where it has s (δ = 0)."""
    return min(ratio * s, 1 - (1 - s) / ratio)


def spread(nodes: int, edges: Edges, given: dict[int, Fraction], ratio: Fraction) -> list[Fraction]:
    """Return the most that an event may have at every node, nearest first: u makes no number smaller [Dijkstra1959]."""
    most = [Fraction(2)] * nodes
    heap = [(s, node) for node, s in given.items()]
    while heap:
        s, node = heapq.heappop(heap)
        if s >= most[node]:
            continue
        most[node] = s
        for (i, j), length in edges.items():
            for here, there in ((i, j), (j, i)):
                if here == node and there not in given:
                    heapq.heappush(heap, (u(s, ratio**length), there))
    return most


def is_private(rows: list[list[Fraction]], edges: Edges, ratio: Fraction) -> bool:
    """Tell whether every pair of neighbours is close."""
    return all(
        p <= ratio**length * q and q <= ratio**length * p
        for (i, j), length in edges.items()
        for p, q in zip(rows[i], rows[j], strict=True)
    )


def bound_rows(
    nodes: int, edges: Edges, rankings: list[tuple[int, ...]], ratio: Fraction, boundary: list[Fraction]
) -> list[list[Fraction]]:
    """Return the rows that meet the bound of every prefix sum; nodes with a neighbour of another ranking are given.

    Parameters
    ----------
    boundary : list of Fraction
        The given row, along every ranking.
    """
    answers = len(rankings[0])
    given = {}
    for i, j in edges:
        if rankings[i] != rankings[j]:
            for node in (i, j):
                given[node] = [boundary[rankings[node].index(v)] for v in range(answers)]
    rows = [given.get(node, [Fraction(0)] * answers) for node in range(nodes)]
    for node in range(nodes):
        if node not in given:
            below, row = Fraction(0), [Fraction(0)] * answers
            for k in range(1, answers + 1):
                event = rankings[node][:k]
                masses = {other: sum((line[v] for v in event), Fraction(0)) for other, line in given.items()}
                reached = Fraction(1) if k == answers else min(Fraction(1), spread(nodes, edges, masses, ratio)[node])
                row[rankings[node][k - 1]], below = reached - below, reached
            rows[node] = row
    return rows


def experiment(answers: int, longest: int, number: int, seed: int) -> int:
    """Return in how many of so many random graphs the rows that meet the bound are not private."""
    chance = random.Random(seed)
    broken = 0
    for _ in range(number):
        nodes = chance.randint(4, 10)
        edges = {(chance.randrange(j), j): chance.randint(1, longest) for j in range(1, nodes)}
        edges |= {pair: chance.randint(1, longest) for pair in combinations(range(nodes), 2) if chance.random() < 0.2}
        order = tuple(range(answers))
        other = tuple(order[k - 1] for k in range(answers))
        rankings = [order if chance.random() < 0.7 else other for _ in range(nodes)]
        rankings[0], rankings[-1] = order, other
        ratio = chance.choice([Fraction(3, 2), Fraction(2), Fraction(3)])
        # Entries that differ by a factor of at most r may stand in any order next to each other.
        weights = sorted((1 + (ratio - 1) * Fraction(chance.randint(0, 8), 8) for _ in order), reverse=True)
        boundary = [weight / sum(weights) for weight in weights]
        rows = bound_rows(nodes, edges, rankings, ratio, boundary)
        broken += not (min(map(min, rows)) >= 0 and is_private(rows, edges, ratio))
    return broken


def best_error(nodes: int, edges: Edges, ratio: float, inputs: int) -> float:
    """Return the least mean probability of missing the node, for the first `inputs` nodes, of any private mechanism."""
    rows, columns, values = [], [], []
    for (one, other), length in edges.items():
        for i, j in ((one, other), (other, one)):
            for v in range(inputs):
                number = len(rows) // 2
                rows += [number, number]
                columns += [i * inputs + v, j * inputs + v]
                values += [1.0, -(ratio**length)]
    private = coo_array((values, (rows, columns)), shape=(len(rows) // 2, nodes * inputs)).tocsr()
    sums = np.kron(np.eye(nodes), np.ones(inputs))
    cost = np.zeros((nodes, inputs))
    cost[:inputs] = (1 - np.eye(inputs)) / inputs
    found = linprog(cost.ravel(), private, np.zeros(private.shape[0]), sums, np.ones(nodes), method="highs")
    return float(found.fun)


def with_steps(nodes: int, edges: Edges) -> tuple[int, Edges]:
    """Replace every edge of length ℓ by a path of ℓ edges through new nodes."""
    result: Edges = {}
    for (i, j), length in edges.items():
        path = [i, *range(nodes, nodes + length - 1), j]
        nodes += length - 1
        result |= {(a, b): 1 for a, b in pairwise(path)}
    return nodes, result


def price_of_steps(longest: int, number: int, seed: int) -> list[float]:
    """Return how much larger the error becomes by inputs that no table has, on random graphs: ratios."""
    chance = random.Random(seed)
    result = []
    for _ in range(number):
        nodes = chance.randint(3, 7)
        edges = {(chance.randrange(j), j): chance.randint(1, longest) for j in range(1, nodes)}
        edges |= {pair: chance.randint(1, longest) for pair in combinations(range(nodes), 2) if chance.random() < 0.3}
        ratio = chance.choice([1.5, 2.0, 3.0])
        result.append(best_error(*with_steps(nodes, edges), ratio, nodes) / best_error(nodes, edges, ratio, nodes))
    return result


def main() -> None:
    """Print how often the bound is no private mechanism, for lengths that are all 1 and for others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print("answers  lengths  not private")
    for answers in (2, 3, 4, 5):
        for longest in (1, 2, 3):
            broken = experiment(answers, longest, chosen.number, chosen.seed)
            print(f"{answers:7}  1 to {longest}   {broken} of {chosen.number}")
    print("lengths  error with inputs that no table has, as a multiple of the least: median, largest")
    for longest in (2, 3):
        ratios = price_of_steps(longest, chosen.number, chosen.seed)
        print(f"1 to {longest}   {statistics.median(ratios):.3f}, {max(ratios):.3f}")


if __name__ == "__main__":
    main()
