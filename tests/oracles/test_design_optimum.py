"""Designs against SciPy's solver on an independent formulation, and bounds against brute force."""

from fractions import Fraction

import pytest

from irisdp import Privacy, design
from irisdp.design import Goal
from irisdp.design._privacy_program import Dual
from irisdp.graphs import Path, graph_from_edges
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREEMENT = 1e-9
"""SciPy's solver stops within about 1e-10 of its optimum on programs of this size and range."""

RATIOS = ["1", "1.01", "6/5", "2", "3", "20", None]
DELTAS = ["0", "0", "1/1000", "1/10"]


def optimum_by_scipy(loss, edges, ratio, delta, weights=None, considered=None):
    """Minimise over all private mechanisms: no shift of the worst loss."""
    m, q = len(loss), len(loss[0])
    program = Program()
    first = program.table(m, q)
    program.private(first, q, edges, ratio, delta)
    if weights is not None:
        program.charge(first, [w * x for w, row in zip(weights, loss, strict=True) for x in row])
    else:
        program.worst({first + i * q + v: x for v, x in enumerate(loss[i])} for i in considered)
    return program.minimum()


def random_case(seed):
    chance = fresh_random(seed)
    m, q = chance.randint(2, 7), chance.randint(2, 5)
    edges = [(i, j) for i in range(m) for j in range(i) if chance.random() < 0.5]
    loss = [[chance.choice([0, 1, 2, 3, -1, 0.5]) for _ in range(q)] for _ in range(m)]
    ratio, delta = chance.choice(RATIOS), chance.choice(DELTAS)
    privacy = Privacy(epsilon="0.7", delta=delta) if ratio is None else Privacy(ratio=ratio, delta=delta)
    table = tuple(tuple(Fraction(x) for x in row) for row in loss)
    if seed % 2:
        weights = [chance.randint(0, 4) for _ in range(m)]
        goal = Goal(name="average", loss=table, weights=tuple(map(Fraction, weights)))
        expected = optimum_by_scipy(loss, edges, float(privacy.ratio), float(privacy.delta), weights=weights)
    else:
        considered = sorted(chance.sample(range(m), chance.randint(1, m)))
        goal = Goal(name="worst", loss=table, side_information=tuple(considered))
        expected = optimum_by_scipy(loss, edges, float(privacy.ratio), float(privacy.delta), considered=considered)
    return goal, graph_from_edges(edges, nodes=range(m)), privacy, expected


@pytest.mark.parametrize("seed", range(tried(80, 200)))
def test_optimum_on_random_graphs_losses_and_deltas(seed):
    goal, graph, privacy, expected = random_case(seed)
    objective = design.optimal_mechanism(goal, graph, privacy).objective
    assert abs(float(objective.value) - expected) < AGREEMENT
    assert objective.lower_bound <= objective.value
    if privacy.ratio.denominator < 1000:
        assert objective.lower_bound == objective.value
    else:
        assert objective.value - objective.lower_bound <= Fraction(1, 10**15) * max(1, abs(objective.value))


@pytest.mark.parametrize("seed", range(20))
def test_a_consumer_is_the_general_program_on_a_path(seed):
    chance = fresh_random(1000 + seed)
    n = chance.randint(1, 7)
    loss = [[chance.randint(0, 9) for _ in range(n + 1)] for _ in range(n + 1)]
    considered = sorted(chance.sample(range(n + 1), chance.randint(1, n + 1)))
    expected = optimum_by_scipy(loss, [(i, i + 1) for i in range(n)], 1.5, 0.01, considered=considered)
    made = design.consumer(n, loss, Privacy(ratio="3/2", delta="0.01"), side_information=considered)
    assert abs(float(made.objective.value) - expected) < AGREEMENT


@pytest.mark.parametrize("seed", range(60))
def test_no_multipliers_prove_too_much(seed):
    """Whatever the numbers, the bound stays below the optimum; and wrong ones are weaker than the right ones."""
    goal, graph, privacy, expected = random_case(seed)
    chance = fresh_random(seed)
    m, q = len(goal.loss), len(goal.loss[0])
    edges = [pair for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True)]
    for _ in range(20):
        size = Fraction(1, chance.choice([1, 10, 100]))
        multipliers = {
            (*chance.choice([(i, j), (j, i)]), v, 0): size * chance.randint(0, 9)
            for i, j in edges
            for v in range(q)
            if chance.random() < 0.5
        }
        weights = goal.weights
        if weights is None:
            raw = [Fraction(chance.randint(1, 9) if i in goal.side_information else 0) for i in range(m)]
            weights = tuple(w / sum(raw) for w in raw)
        assert Dual(weights=weights, multipliers=multipliers).bound(goal, privacy) <= Fraction(expected) + Fraction(
            1, 10**9
        )


def test_a_spoilt_dual_is_weaker_and_an_inflated_bound_is_seen():
    made = design.consumer(5, "absolute", Privacy(ratio=2))
    goal = Goal(
        name="",
        loss=tuple(tuple(Fraction(abs(i - v)) for v in range(6)) for i in range(6)),
        side_information=tuple(range(6)),
    )
    written = made.certificate
    right = {(i, j, v, 0): Fraction(x) for i, j, v, x in written["multipliers"]}
    weights = tuple(map(Fraction, written["weights"]))
    value = made.objective.value
    assert Dual(weights=weights, multipliers=right).bound(goal, made.privacy) == value
    spoilt = 0
    for key, multiplier in right.items():
        for factor in (0, Fraction(99, 100), Fraction(101, 100)):
            bound = Dual(weights=weights, multipliers=right | {key: factor * multiplier}).bound(goal, made.privacy)
            assert bound <= value
            spoilt += bound < value
    assert spoilt > len(right)
    # The formula without its minimum over answers would prove more than the optimum: the check above can fail.
    assert sum(w * max(row) for w, row in zip(weights, goal.loss, strict=True)) > value


def test_rounding_a_dual_costs_next_to_nothing():
    made = design.consumer(6, "squared", Privacy(epsilon=1))
    assert 0 <= made.objective.value - made.objective.lower_bound <= made.objective.value / 10**15
    assert max(len(x) for *_, x in made.certificate["multipliers"]) < 100
    assert sum(map(Fraction, made.certificate["weights"])) == 1


def test_one_input_and_no_edges():
    made = design.consumer(0, "absolute", Privacy(epsilon=1))
    assert (made.objective.value, made.objective.lower_bound) == (0, 0)
    alone = Goal(name="", loss=((Fraction(3), Fraction(-2)),), side_information=(0,))
    assert design.optimal_mechanism(alone, Path(1), Privacy(ratio=2)).objective.value == -2
