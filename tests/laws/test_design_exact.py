"""The exact solver: elimination, vertices, refinement and pivots, each against something slower."""

import sys
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, CertificateRejected, Infeasible, Privacy, design, mechanisms
from irisdp._exact import ONE, exp_below, stepping_stones, to_grid, workable_ratio
from irisdp._exact.linprog import LinearProgram, exact_optimum, exact_simplex
from irisdp._exact.linprog.exact_simplex import pivot_to_optimum
from irisdp._exact.linprog.highs import FloatSolver
from irisdp._exact.linprog.program import as_floats
from irisdp._exact.linprog.sparse_solve import solve_sparse
from irisdp._exact.linprog.vertices import NearVertices, vertex_of
from irisdp.design import Goal
from irisdp.design._privacy_program import mechanism_program, read_loss
from irisdp.design._repair import contract, is_private
from irisdp.graphs import Complete, Cycle, Path, graph_from_edges
from support.seeds import fresh_generator, fresh_random
from support.sweeps import tried

seeds = st.integers(0, 2**32 - 1)


def count_program(n, loss, privacy):
    goal = Goal(name=loss, loss=read_loss(loss, n + 1)[0], side_information=tuple(range(n + 1)))
    return mechanism_program(goal, Path(n + 1), privacy).linear


def sparse_system(seed, size, entries):
    chance = fresh_random(seed)
    rows = [
        {
            c: flint.fmpq(chance.randint(-5, 5) or 1, chance.randint(1, 4))
            for c in chance.sample(range(size), min(size, k))
        }
        for k in (chance.choice(entries) for _ in range(size))
    ]
    return rows, [flint.fmpq(chance.randint(-9, 9)) for _ in range(size)]


@given(seeds, st.integers(1, 25), st.sampled_from([[1, 2], [1, 2, 3], [2, 3, 5], [4]]))
@settings(max_examples=tried(64, 400), deadline=None)
def test_sparse_elimination_solves_the_system_or_knows_that_it_is_singular(seed, size, entries):
    rows, right = sparse_system(seed, size, entries)
    dense = flint.fmpq_mat(size, size, [row.get(c, 0) for row in rows for c in range(size)])
    found = solve_sparse(rows, right)
    if dense.det() == 0:
        assert found is None
    else:
        assert found is not None
        for row, b in zip(rows, right, strict=True):
            assert sum((x * found[c] for c, x in row.items()), flint.fmpq(0)) == b


def test_the_arguments_of_the_elimination_are_left_alone():
    rows, right = sparse_system(7, 12, [1, 2, 3])
    before = ([dict(row) for row in rows], list(right))
    solve_sparse(rows, right)
    assert (rows, right) == before


@pytest.mark.parametrize("loss", ["absolute", "zero-one", "squared"])
@pytest.mark.parametrize("privacy", [Privacy(ratio=4), Privacy(ratio="6/5"), Privacy(ratio=3, delta="1/50")])
def test_an_optimum_is_feasible_dual_feasible_and_without_gap(loss, privacy):
    program = count_program(7, loss, privacy)
    found = exact_optimum(program)
    assert found.exact
    assert min(found.values) >= 0
    totals = [flint.fmpq(0)] * len(program.right)
    for z, column in zip(found.values, program.columns, strict=True):
        for k, x in column.items():
            totals[k] += x * z
    assert totals == program.right
    for cost, column in zip(program.cost, program.columns, strict=True):
        assert sum((found.duals[k] * x for k, x in column.items()), flint.fmpq(0)) <= cost
    primal = sum(c * z for c, z in zip(program.cost, found.values, strict=True))
    dual = sum(y * b for y, b in zip(found.duals, program.right, strict=True))
    assert primal == dual


def test_refinement_mends_a_basis_that_floats_take_for_optimal():
    """At n = 24 and r = 4 probabilities below the tolerance of floats decide; the first basis is infeasible there."""
    program = count_program(24, "absolute", Privacy(ratio=4))
    guess = FloatSolver(program).solve(as_floats(program.cost), as_floats(program.right))
    first = vertex_of(program, guess.basis)
    assert 0 < first.infeasibility < flint.fmpq(1, 10**6)
    assert not first.optimal
    found = exact_optimum(program)
    assert found.exact
    assert found.refinements > 0
    again = exact_optimum(program, start=first.basis)
    assert again.exact
    assert again.values[25 * 25] == found.values[25 * 25]


NEAR = flint.fmpq(1, 1 << 140)
"""How near is near, in parts of the largest number."""


@pytest.mark.parametrize("seed", range(12))
def test_a_near_vertex_is_the_exact_one_to_forty_digits(seed):
    """Of bases that are optimal and of bases nearby, with artificial columns and without."""
    chance = fresh_random(seed)
    privacy = Privacy(epsilon=chance.choice(["0.3", "1.7", "4"]), delta=chance.choice(["0", "1/1000"]))
    program = count_program(chance.randint(2, 9), chance.choice(["absolute", "squared"]), privacy)
    solver = FloatSolver(program)
    basis = set(solver.solve(as_floats(program.cost), as_floats(program.right)).basis)
    for _ in range(seed // 3):
        basis.remove(chance.choice(sorted(basis)))
        columns = len(program.columns) + len(program.right) * (seed % 2)
        basis.add(chance.choice([k for k in range(columns) if k not in basis]))
    near, exact = NearVertices(program, solver).at(tuple(sorted(basis))), vertex_of(program, tuple(sorted(basis)))
    if exact is None:
        assert near is None
        return
    if near is None:
        assert seed // 3
        return
    for field in ("basic", "values", "duals", "reduced"):
        mine, theirs = getattr(near, field), getattr(exact, field)
        largest = max(1, *map(abs, theirs), *map(abs, exact.duals))
        assert all(abs(x - y) <= NEAR * largest for x, y in zip(mine, theirs, strict=True)), field
    assert abs(near.miss - exact.miss) <= NEAR * max(1, *map(abs, exact.values), *map(abs, exact.reduced))


def test_columns_that_are_dependent_have_no_near_vertex():
    one = flint.fmpq(1)
    program = LinearProgram([{0: one, 1: one}, {0: 2 * one, 1: 2 * one}], [one, one], [one, one])
    assert NearVertices(program, FloatSolver(program)).at((0, 1)) is None


def test_numbers_beyond_floats_have_no_near_vertex():
    program = LinearProgram([{0: flint.fmpq(1, 10**400)}], [flint.fmpq(1)], [flint.fmpq(1)])
    assert NearVertices(program, FloatSolver(program)).at((0,)) is None


def test_close_is_good_enough_where_no_more_is_asked_for(monkeypatch):
    """The same optimum with no exact solution of a basis."""
    program = count_program(24, "absolute", Privacy(ratio=4))
    found = exact_optimum(program)
    monkeypatch.setattr(exact_simplex, "vertex_of", None)
    near = exact_optimum(program, nearly=True)
    assert near.close and near.miss == 0 and not near.exact
    assert abs(near.values[25 * 25] - found.values[25 * 25]) <= NEAR


@pytest.mark.parametrize("seed", range(12))
def test_pivots_reach_the_optimum_from_a_basis_nearby(seed):
    """Exchange a few columns of the optimal basis, then let exact pivots find the way back."""
    chance = fresh_random(seed)
    program = count_program(3, "absolute", Privacy(ratio=3, delta=chance.choice(["0", "1/20"])))
    optimum = exact_optimum(program)
    vertex = None
    while vertex is None or vertex.optimal:
        basis = set(optimum.basis)
        for _ in range(chance.randint(1, 4)):
            basis.discard(chance.choice(sorted(basis)))
            basis.add(chance.choice([k for k in range(len(program.columns)) if k not in basis]))
        vertex = vertex_of(program, tuple(sorted(basis))) if len(basis) == len(optimum.basis) else None
    found, used = pivot_to_optimum(program, vertex, most=500)
    assert found.optimal
    assert used > 0
    assert sum(c * z for c, z in zip(program.cost, found.values, strict=True)) == sum(
        c * z for c, z in zip(program.cost, optimum.values, strict=True)
    )


def test_contradictions_are_proved_exactly():
    """z_0 = 1 and z_0 = 1 + 1e-30 at once: floats cannot tell, rationals can."""
    one = flint.fmpq(1)
    columns = [{0: one, 1: one}, {0: one}, {1: one, 0: -one}]
    program = LinearProgram(columns[:1], [one], [one, one + flint.fmpq(1, 10**30)])
    with pytest.raises(Infeasible):
        exact_optimum(program)
    feasible = LinearProgram(columns, [one, one, one], [one, one + flint.fmpq(1, 10**30)])
    assert exact_optimum(feasible).exact


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=100, max_denominator=10**9))
@settings(max_examples=tried(40, 100), deadline=None)
def test_a_workable_ratio_is_below_close_and_short(epsilon):
    ratio = Privacy(epsilon=epsilon).ratio
    found = workable_ratio(ratio)
    assert 1 < found <= ratio
    assert (ratio - found) * ratio <= (ratio - 1) / 2**64
    assert stepping_stones(found)[-1] == found
    assert all(stone < found for stone in stepping_stones(found)[1:-1])


def test_short_ratios_are_kept():
    for ratio in (Fraction(1), Fraction(6, 5), Fraction(4), Fraction(27182818, 10**7)):
        assert workable_ratio(ratio) == ratio


# Repair: whatever goes in, what comes out is exactly stochastic and exactly private, and hardly moved.

ratios = st.one_of(
    st.sampled_from([Fraction(1), Fraction(6, 5), Fraction(2), Fraction(4)]),
    st.fractions(min_value=Fraction(1, 10**6), max_value=6, max_denominator=10**6).map(exp_below),
)
deltas = st.one_of(st.just(Fraction(0)), st.sampled_from([Fraction(1, 10**k) for k in (1, 3, 9, 30, 60)]))
privacies = st.builds(lambda r, d: Privacy(ratio=r, delta=d), ratios, deltas)


def breaches(mechanism, privacy):
    """Count violated directions and rows, with nothing but fractions."""
    rows = mechanism.matrix()
    count = sum(sum(row) != 1 or min(row) < 0 for row in rows)
    for tails, heads in mechanism.graph.edges():
        for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
            for p, q in ((rows[i], rows[j]), (rows[j], rows[i])):
                count += sum(max(0, x - privacy.ratio * y) for x, y in zip(p, q, strict=True)) > privacy.delta
    return count


def random_graph(rng, nodes):
    kind = rng.integers(4)
    if kind == 0:
        return Path(nodes)
    if kind == 1 and nodes >= 3:
        return Cycle(nodes)
    if kind == 2 and nodes <= 8:
        return Complete(nodes)
    return graph_from_edges([(i, j) for i in range(nodes) for j in range(i) if rng.random() < 0.3], nodes=range(nodes))


@given(seeds, st.integers(1, 31), privacies)
@settings(max_examples=tried(48, 300), deadline=None)
def test_any_float_matrix_becomes_private(seed, nodes, privacy):
    rng = fresh_generator(seed)
    matrix = rng.dirichlet(np.full(rng.integers(1, 8), 10.0 ** rng.integers(-2, 2)), size=nodes)
    graph = random_graph(rng, nodes)
    repaired = design.repair(matrix, graph, privacy)
    assert breaches(repaired, privacy) == 0
    assert 0 <= repaired.objective.value <= 1


@given(st.integers(0, 30), privacies)
@settings(max_examples=tried(40, 100), deadline=None)
def test_closed_forms_with_long_ratios_hardly_move(n, privacy):
    given_rows = mechanisms.geometric(n, privacy).matrix()
    repaired = design.repair(given_rows, Path(n + 1), privacy)
    assert breaches(repaired, privacy) == 0
    assert max(len(str(x)) for row in repaired.rows for x in row) <= 201
    room = max(privacy.ratio - 1, Fraction(1, 10**7))
    assert repaired.objective.value <= Fraction((n + 1) ** 2, 2**120) / room


@given(st.integers(1, 30), st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=1000))
@settings(max_examples=tried(24, 60), deadline=None)
def test_a_matrix_in_floats_moves_by_about_their_precision(n, epsilon):
    privacy = Privacy(epsilon=epsilon)
    matrix = np.array([[float(x) for x in row] for row in mechanisms.geometric(n, privacy).matrix()])
    repaired = design.repair(matrix, Path(n + 1), privacy)
    assert breaches(repaired, privacy) == 0
    assert repaired.objective.value <= Fraction(n + 1, 10**15) / min(privacy.ratio - 1, 1)


@given(st.integers(2, 30), st.integers(0, 2))
@settings(max_examples=tried(16, 40), deadline=None)
def test_zeros_stay_zero_on_their_component(n, unused):
    """With δ = 0 an answer that is never given here must not appear anywhere in the component."""
    privacy = Privacy(epsilon=1)
    matrix = [[*row, *[Fraction(0)] * unused] for row in mechanisms.geometric(n, privacy).matrix()]
    repaired = design.repair(matrix, Path(n + 1), privacy)
    assert breaches(repaired, privacy) == 0
    assert all(row[n + 1 :] == (0,) * unused for row in repaired.rows)


def test_tails_below_the_grid_are_lifted_and_nothing_else_is():
    privacy = Privacy(epsilon=1)
    matrix = np.array([[float(x) for x in row] for row in mechanisms.geometric(1000 // 10, privacy).matrix()])
    matrix[matrix < 1e-30] = 0  # as a float library would cut them: an infinite privacy loss
    matrix /= matrix.sum(axis=1, keepdims=True)
    assert (
        breaches(mechanisms.Mechanism.from_matrix(matrix_rows(matrix), privacy=privacy, graph=Path(101)), privacy) > 0
    )
    repaired = design.repair(matrix, Path(101), privacy)
    assert breaches(repaired, privacy) == 0
    assert repaired.objective.value < Fraction(1, 10**13)
    assert min(min(row) for row in repaired.rows) > 0


def matrix_rows(matrix):
    """Read floats exactly and give each row's residual to its largest entry."""
    rows = []
    for line in matrix.tolist():
        row = [Fraction(x) for x in line]
        row[line.index(max(line))] += 1 - sum(row)
        rows.append(row)
    return rows


def test_what_is_already_right_and_short_is_left_alone():
    privacy = Privacy(ratio=4)
    exact = mechanisms.geometric(6, privacy)
    repaired = design.repair(exact.matrix(), Path(7), privacy)
    assert repaired.matrix() == exact.matrix()
    assert repaired.objective.value == 0


def test_the_least_weight_is_no_more_than_needed():
    """Half of the weight chosen is not enough: 0.7 against 0.1 at r = 2 needs a contraction by about 5/8."""
    privacy = Privacy(ratio=2)
    repaired = design.repair([["7/10", "3/10"], ["1/10", "9/10"]], Path(2), privacy)
    assert breaches(repaired, privacy) == 0
    tight = max(repaired.rows[0][0] / repaired.rows[1][0], repaired.rows[1][1] / repaired.rows[0][1])
    assert Fraction(2) - Fraction(1, 10**5) < tight <= 2


def test_rounding_without_contraction_is_caught():
    """Negative control: the grid alone breaks the tight constraints of a long ratio, and the check sees it."""
    privacy = Privacy(epsilon=1)
    exact = mechanisms.geometric(8, privacy)
    grid = [to_grid(row) for row in exact.matrix()]
    edges = [(i, j) for i in range(9) for j in (i - 1, i + 1) if 0 <= j < 9]
    assert not is_private(grid, edges, privacy)
    rounded = mechanisms.Mechanism.from_matrix(
        [[Fraction(x, ONE) for x in row] for row in grid], privacy=privacy, graph=Path(9)
    )
    assert breaches(rounded, privacy) > 0
    contracted = contract(grid, edges, privacy)
    assert is_private(contracted, edges, privacy)
    # Taking one unit in 2^128 across a tight constraint is caught too.
    constant = [[ONE // 4, ONE // 4, ONE // 2]] * 2
    assert is_private(constant, [(0, 1), (1, 0)], Privacy(ratio=1))
    nudged = [[ONE // 4 + 1, ONE // 4 - 1, ONE // 2], constant[1]]
    assert not is_private(nudged, [(0, 1), (1, 0)], Privacy(ratio=1))


def test_rows_may_come_in_any_order_of_the_nodes():
    privacy = Privacy(ratio=2)
    graph = graph_from_edges([("a", "b"), ("b", "c")])
    rows = {"a": ["4/7", "2/7", "1/7"], "b": ["2/7", "3/7", "2/7"], "c": ["1/7", "2/7", "4/7"]}
    order = ["c", "a", "b"]
    repaired = design.repair([rows[node] for node in order], graph, privacy, inputs=order)
    assert [repaired.row(node) for node in "abc"] == [tuple(map(Fraction, rows[node])) for node in "abc"]
    with pytest.raises(BadInput, match="inputs"):
        design.repair([rows[node] for node in order], graph, privacy, inputs=["a", "b", "b"])


@pytest.mark.parametrize("matrix", [
    [],
    "no table",
    [[1, 0]],
    [[1, 0], [1]],
    [[], []],
    [[0.5, 0.4], [0.5, 0.5]],
    [[1.5, -0.5], [0.5, 0.5]],
    [[float("nan"), 1], [0, 1]],
    [[True, False], [0, 1]],
    {0: [1, 0], 1: [0, 1]},
    ["10", "01"],
])  # fmt: skip
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(BadInput, match="matrix"):
        design.repair(matrix, Path(2), Privacy(ratio=2))


def test_a_repair_that_fails_is_never_handed_out(monkeypatch):
    """Negative control: with the contraction taken out, the final check refuses the rows."""
    privacy = Privacy(epsilon=1)
    monkeypatch.setattr(sys.modules["irisdp.design._repair"], "contract", lambda rows, edges, privacy: rows)
    with pytest.raises(CertificateRejected):
        design.repair(mechanisms.geometric(8, privacy).matrix(), Path(9), privacy)
