"""The exact solver: elimination, vertices, refinement and pivots, each against something slower."""

from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Infeasible, Privacy
from irisdp._exact import simplest_between, stepping_stones, workable_ratio
from irisdp._exact.linprog import LinearProgram, exact_optimum
from irisdp._exact.linprog.exact_simplex import pivot_to_optimum, vertex_of
from irisdp._exact.linprog.highs import FloatSolver
from irisdp._exact.linprog.program import as_floats
from irisdp._exact.linprog.sparse_solve import solve_sparse
from irisdp.design import Goal
from irisdp.design._privacy_program import mechanism_program, read_loss
from irisdp.graphs import Path
from support.seeds import fresh_random
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
@settings(max_examples=tried(160, 400), deadline=None)
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


@given(
    st.fractions(min_value=1, max_value=50, max_denominator=10**6),
    st.fractions(min_value=0, max_value=1, max_denominator=10**4),
)
@settings(max_examples=tried(80, 200), deadline=None)
def test_the_simplest_fraction_of_an_interval(low, width):
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, min(found.denominator, 200)):
        assert (low * denominator).__ceil__() > (low + width) * denominator


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=100, max_denominator=10**9))
@settings(max_examples=100, deadline=None)
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
