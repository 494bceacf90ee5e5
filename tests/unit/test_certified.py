"""A mechanism of one's own is certified for a goal: optima of SciPy's HiGHS with their errors, and anything private."""

import contextlib
import io
import json
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design, graphs
from irisdp.certify import verify_mechanism
from support.programs import Program

GOAL = design.Goal(
    name="worst error", loss=[[abs(i - v) for v in range(5)] for i in range(5)], side_information=range(5)
)
MEAN = design.Goal(name="mean error", loss=[[abs(i - v) for v in range(5)] for i in range(5)], weights=["1/5"] * 5)
PATH = graphs.Path(5)
PRIVACIES = [
    Privacy(ratio=2),
    Privacy(epsilon=1),
    Privacy(epsilon=1, delta="1/50"),
    Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta="1/20")]),
]


def float_optimum(goal, privacy):
    """The optimal matrix in floats, by a program that shares nothing with the library."""
    program = Program()
    first = program.table(5, 5)
    for pair in privacy.pairs:
        edges = [(i, i + 1) for i in range(4)]
        program.private(first, 5, edges, float(pair.ratio), float(pair.delta))
    if goal.weights is None:
        program.worst({first + 5 * i + v: float(x) for v, x in enumerate(row)} for i, row in enumerate(goal.loss))
    else:
        program.charge(first, [w * x for w, row in zip(goal.weights, goal.loss, strict=True) for x in row])
    solved = program.solve()
    return solved.value, solved.point[first : first + 25].reshape(5, 5)


def verified(mechanism, tmp_path):
    """Whether the stand-alone verifier accepts it."""
    file = tmp_path / "m.json"
    file.write_text(json.dumps(mechanism.to_document()))
    with contextlib.redirect_stdout(io.StringIO()):
        return verify_mechanism.main(str(file)) == 0


@pytest.mark.parametrize("goal", [GOAL, MEAN], ids=["worst", "mean"])
@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_an_optimum_in_floats_is_repaired_and_certified(goal, privacy, tmp_path):
    value, matrix = float_optimum(goal, privacy)
    noisy = matrix + np.random.default_rng(5).uniform(-1e-9, 1e-9, (5, 5))
    mine = design.certified(design.repair(noisy, PATH, privacy), goal)
    objective = mine.objective
    assert objective.name == goal.name and objective.value == goal.value(mine.matrix())
    assert abs(float(objective.lower_bound) - value) <= 1e-8
    assert 0 <= objective.value - objective.lower_bound <= Fraction(1, 10**7)
    checked = audit(mine)
    assert checked.holds and checked.optimality.lower_bound == objective.lower_bound
    assert verified(mine, tmp_path)


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_the_bound_is_that_of_the_optimal_design_whatever_is_certified(privacy, tmp_path):
    best = design.optimal_mechanism(GOAL, PATH, privacy).objective
    constant = Mechanism.from_matrix([["1/5"] * 5] * 5, privacy=privacy, graph=PATH)
    poor = design.certified(constant, GOAL)
    assert poor.rows == constant.rows and poor.objective.value == 2
    assert abs(poor.objective.lower_bound - best.lower_bound) <= Fraction(1, 10**15)
    assert audit(poor).holds and verified(poor, tmp_path)


def test_an_optimal_design_is_certified_as_such():
    best = design.optimal_mechanism(GOAL, PATH, Privacy(ratio=3))
    again = design.certified(best, GOAL)
    assert again.objective == best.objective and again.objective.value == again.objective.lower_bound


def test_constraints_are_met_and_part_of_the_claim(tmp_path):
    answers = range(-2, 7)
    loss = [[(i - v) ** 2 for v in answers] for i in range(5)]
    goal = design.Goal(name="worst squared error", loss=loss, side_information=range(5))
    rules, privacy = ["unbiased", {"error_at_most": 4}], Privacy(ratio=2, delta="1/10")
    best = design.optimal_mechanism(goal, PATH, privacy, outputs=answers, constraints=rules)
    again = design.certified(best, goal, constraints=rules)
    assert again.objective == best.objective and again.certificate["among"] == best.certificate["among"]
    assert audit(again).holds and verified(again, tmp_path)
    free = design.certified(best, goal)
    assert free.certificate["among"] != best.certificate["among"]
    assert free.objective.lower_bound < best.objective.lower_bound
    assert audit(free).holds and verified(free, tmp_path)
    biased = design.optimal_mechanism(goal, PATH, privacy, outputs=answers)
    with pytest.raises(BadInput, match=r"^mechanism: does not meet the constraints exactly"):
        design.certified(biased, goal, constraints=rules)


def test_what_cannot_be_certified_is_refused():
    rows = [["1/5"] * 5] * 5
    with pytest.raises(BadInput, match=r"^mechanism: has no graph"):
        design.certified(Mechanism.from_matrix(rows, privacy=Privacy(ratio=2)), GOAL)
    with pytest.raises(BadInput, match=r"^goal: has a loss of 5 rows and 5 columns; the mechanism needs 4 and 5"):
        design.certified(Mechanism.from_matrix(rows[:4], privacy=Privacy(ratio=2), graph=graphs.Path(4)), GOAL)
    exact = [[int(i == v) for v in range(5)] for i in range(5)]
    with pytest.raises(BadInput, match=r"^mechanism: is not private on its graph"):
        design.certified(Mechanism.from_matrix(exact, privacy=Privacy(ratio=2), graph=PATH), GOAL)
    large = Mechanism.from_matrix([["1/300"] * 300] * 300, privacy=Privacy(ratio=2), graph=graphs.Path(300))
    goal = design.Goal(name="error", loss=np.ones((300, 300), dtype=int), side_information=range(300))
    with pytest.raises(BadInput, match=r"^graph: makes a program of"):
        design.certified(large, goal)


def test_inputs_in_another_order_than_the_nodes_are_not_certified():
    made = design.repair(np.eye(3)[[1, 0, 2]], graphs.Path(3), Privacy(ratio=2))
    turned = Mechanism.from_matrix(made.matrix(), privacy=made.privacy, graph=made.graph, inputs=[1, 0, 2])
    goal = design.Goal(name="", loss=[[0, 1, 1]] * 3, weights=[1] * 3)
    with pytest.raises(BadInput, match=r"^mechanism: has inputs that are not the nodes of its graph in their order; "):
        design.certified(turned, goal)
