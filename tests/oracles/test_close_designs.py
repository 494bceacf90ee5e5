"""Designs that floats and exact residuals lead close to an optimum, against SciPy's solver on programs of their own."""

from fractions import Fraction

import networkx as nx
import pytest

from irisdp import Privacy, design
from irisdp._exact.linprog import exact_simplex
from irisdp.certify import audit
from irisdp.graphs import graph_from_edges
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREEMENT = 1e-6
"""HiGHS keeps constraints to 1e-7, each of which may move a value by as many times the loss."""

LITTLE = Fraction(1, 10**9)
"""The largest gap, in parts of the value."""


def least(loss, edges, privacy, weights=None):
    """Return the least weighted loss, or without weights the least worst one, in floats."""
    answers, program = len(loss[0]), Program()
    first = program.table(len(loss), answers)
    program.private(first, answers, edges, float(privacy.ratio), float(privacy.delta))
    if weights is not None:
        program.charge(first, [w * x for w, row in zip(weights, loss, strict=True) for x in row])
    else:
        program.worst({first + i * answers + v: x for v, x in enumerate(row)} for i, row in enumerate(loss))
    return program.minimum()


def is_private(rows, edges, privacy):
    """Apply the definition to every edge and both directions, in fractions."""
    return all(
        sum(max(Fraction(0), x - privacy.ratio * y) for x, y in zip(rows[a], rows[b], strict=True)) <= privacy.delta
        for i, j in edges
        for a, b in ((i, j), (j, i))
    )


def check(made, loss, edges, privacy, weights=None, gap=LITTLE):
    rows, objective = made.matrix(), made.objective
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows) and is_private(rows, edges, privacy)
    losses = [sum(Fraction(x) * p for x, p in zip(*pair, strict=True)) for pair in zip(loss, rows, strict=True)]
    reached = max(losses) if weights is None else sum(Fraction(w) * x for w, x in zip(weights, losses, strict=True))
    assert objective.value == reached
    assert 0 <= objective.value - objective.lower_bound <= gap * objective.value
    expected, slack = least(loss, edges, privacy, weights), AGREEMENT * max(1, *map(max, loss))
    assert float(objective.value) >= expected - slack and float(objective.lower_bound) <= expected + slack
    verdict = audit(made)
    assert verdict.holds and verdict.private and verdict.optimality.holds


def random_count(seed):
    chance = fresh_random(seed)
    n = chance.randint(10, 30)
    loss = [[abs(i - v) ** (1 + seed % 2) for v in range(n + 1)] for i in range(n + 1)]
    epsilon = str(round(chance.uniform(0.3, 4), 2))
    privacy = Privacy(epsilon=epsilon, delta=chance.choice(["1e-6", "1/1000", "1/20"]))
    return n, loss, [(i, i + 1) for i in range(n)], privacy


@pytest.mark.parametrize("seed", range(tried(6, 60)))
def test_counts_under_delta(seed):
    n, loss, edges, privacy = random_count(seed)
    made = design.consumer(n, ("absolute", "squared")[seed % 2], privacy)
    check(made, loss, edges, privacy)


@pytest.mark.parametrize("seed", range(tried(3, 20)))
def test_a_solver_that_never_comes_closer_leaves_a_gap_and_no_mistake(seed, monkeypatch):
    n, loss, edges, privacy = random_count(seed)
    monkeypatch.setattr(exact_simplex._Refinements, "_better", lambda search, vertex, at: None)
    made = design.consumer(n, ("absolute", "squared")[seed % 2], privacy)
    check(made, loss, edges, privacy, gap=Fraction(1, 10**4))


@pytest.mark.parametrize("seed", range(tried(3, 20)))
def test_mean_distance_without_symmetry(seed):
    chance = fresh_random(seed)
    size = chance.randint(12, 22)
    drawn = nx.compose(nx.gnp_random_graph(size, 0.25, seed=seed), nx.path_graph(size))
    far = dict(nx.all_pairs_shortest_path_length(drawn))
    loss = [[far[i][j] for j in range(size)] for i in range(size)]
    edges, weights = list(drawn.edges), [chance.randint(1, 5) for _ in range(size)]
    privacy = Privacy(epsilon=str(round(chance.uniform(0.3, 3), 2)))
    made = design.distance(graph_from_edges(edges, nodes=range(size)), privacy, weights=weights)
    total = sum(weights)
    check(made, loss, edges, privacy, [Fraction(w, total) for w in weights])
