"""From a float basis to the exact optimum of a linear program.

1. HiGHS guesses a basis. Its system is solved exactly: forward for the point, transposed for the multipliers.
2. If all values and all reduced costs are non-negative, the point is the optimum. That is all of duality for a program
   in standard form, and no float has a say in it.
3. If not, what is wrong lies below what floats resolve. So the program is rewritten as a correction to the exact point,
   magnified until the largest violation is 1, and HiGHS goes on from the same basis (iterative refinement
   [Gleixner2016], here with a residual that is exactly zero).
4. Should that lead nowhere new, exact pivots finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import flint
import numpy as np

from ...errors import Infeasible, Refusal
from .highs import FloatSolver
from .program import Basis, LinearProgram, as_floats
from .sparse_solve import SparseRow, solve_sparse

# Compute the exact point and multipliers of a basis, and by how much they miss an optimum.

_ZERO = flint.fmpq(0)


@dataclass(frozen=True, slots=True)
class Vertex:
    """The exact point of a basis and its multipliers.

    Parameters
    ----------
    basis : Basis
    basic : list of m rationals
        Values of the basic columns, in the order of `basis`.
    values : list of N rationals
        z: the basic columns at their values, the others at 0.
    duals : list of m rationals
    reduced : list of N rationals
        cost − duals·A; 0 on the basis.
    infeasibility : rational
        Largest violation of z ≥ 0 and of artificial = 0; 0 when the point is feasible.
    suboptimality : rational
        Largest violation of duals·A ≤ cost; 0 when the multipliers are feasible.
    """

    basis: Basis
    basic: list[flint.fmpq]
    values: list[flint.fmpq]
    duals: list[flint.fmpq]
    reduced: list[flint.fmpq]
    infeasibility: flint.fmpq
    suboptimality: flint.fmpq

    @property
    def miss(self) -> flint.fmpq:
        """By how much point and multipliers together miss an optimum."""
        return self.infeasibility + self.suboptimality

    @property
    def optimal(self) -> bool:
        """Whether point and multipliers are feasible, which makes both optimal (strong duality)."""
        return bool(self.infeasibility == 0 and self.suboptimality == 0)


def vertex_of(program: LinearProgram, basis: Basis) -> Vertex | None:
    """Solve a basis exactly; None when its columns are linearly dependent."""
    count = len(program.columns)
    basic = in_basis(program, basis, program.right)
    duals = solve_sparse(
        [program.column(index) for index in basis],
        [program.cost[index] if index < count else _ZERO for index in basis],
    )
    if basic is None or duals is None:
        return None
    values = [_ZERO] * count
    infeasibility = _ZERO
    for index, value in zip(basis, basic, strict=True):
        if index < count:
            values[index] = value
            infeasibility = max(infeasibility, -value)
        else:
            infeasibility = max(infeasibility, abs(value))
    reduced = [x - p for x, p in zip(program.cost, price(program, duals), strict=True)]
    return Vertex(basis, basic, values, duals, reduced, infeasibility, max(-min(reduced), _ZERO))


def in_basis(program: LinearProgram, basis: Basis, target: Sequence[flint.fmpq]) -> list[flint.fmpq] | None:
    """Write a vector as a combination of the basic columns; None when these are dependent."""
    rows: list[SparseRow] = [{} for _ in basis]
    for place, index in enumerate(basis):
        for k, x in program.column(index).items():
            rows[k][place] = x
    return solve_sparse(rows, target)


def price(program: LinearProgram, multipliers: Sequence[flint.fmpq]) -> list[flint.fmpq]:
    """Return multipliers·A, one number per column."""
    return [sum((multipliers[k] * x for k, x in column.items()), _ZERO) for column in program.columns]


# Exact simplex pivots: slow and certain, for the last few steps to an optimum that floats cannot resolve.
#
# The dual simplex method first makes the point feasible, under costs shifted so that the multipliers are feasible. Then
# the primal simplex method makes it optimal under the true costs. The largest violation goes first. After a step of
# length 0 the first violation does (Bland's rule, [Bland1977]), which cannot cycle.


def pivot_to_optimum(program: LinearProgram, vertex: Vertex, *, most: int) -> tuple[Vertex, int]:
    """Walk from a vertex to an optimal one.

    Parameters
    ----------
    most : int
        Pivots after which to give up.

    Returns
    -------
    vertex, number of pivots
        Optimal unless the pivots ran out.

    Raises
    ------
    Infeasible
        When no point satisfies the constraints.
    """
    shifted = replace(
        program, cost=[cost - min(x, _ZERO) for cost, x in zip(program.cost, vertex.reduced, strict=True)]
    )
    used, stalled = 0, False
    vertex = _regular(shifted, vertex.basis)
    while vertex.infeasibility and used < most:
        vertex, stalled = _dual_pivot(shifted, vertex, stalled)
        used += 1
    vertex, stalled = _regular(program, vertex.basis), False
    while not vertex.optimal and used < most:
        vertex, stalled = _primal_pivot(program, vertex, stalled)
        used += 1
    return vertex, used


def _dual_pivot(program: LinearProgram, vertex: Vertex, stalled: bool) -> tuple[Vertex, bool]:
    """Let the most violated basic column leave, and the column enter that keeps all reduced costs non-negative."""
    count = len(program.columns)
    # An artificial column is held at 0 from both sides: a positive value is a violation too.
    violation = [
        abs(value) if index >= count else -value for index, value in zip(vertex.basis, vertex.basic, strict=True)
    ]
    violated = [place for place, amount in enumerate(violation) if amount > 0]
    leaving = violated[0] if stalled else max(violated, key=violation.__getitem__)
    sign = 1 if vertex.basic[leaving] < 0 else -1
    unit = [flint.fmpq(sign) if place == leaving else _ZERO for place in range(len(vertex.basis))]
    row = solve_sparse([program.column(index) for index in vertex.basis], unit)
    assert row is not None, "the basis of a vertex is regular"
    basic = set(vertex.basis)
    ratios = [
        (vertex.reduced[index] / -x, index)
        for index, x in enumerate(price(program, row))
        if x < 0 and index not in basic
    ]
    if not ratios:
        raise Infeasible("no mechanism satisfies all constraints", status="infeasible")
    length, entering = min(ratios)
    return _exchange(program, vertex, vertex.basis[leaving], entering), bool(length == 0)


def _primal_pivot(program: LinearProgram, vertex: Vertex, stalled: bool) -> tuple[Vertex, bool]:
    """Let the column of most negative reduced cost enter, and the basic column leave that reaches 0 first."""
    count = len(program.columns)
    improving = [index for index, x in enumerate(vertex.reduced) if x < 0]
    entering = improving[0] if stalled else min(improving, key=vertex.reduced.__getitem__)
    column = program.columns[entering]
    direction = in_basis(program, vertex.basis, [column.get(k, _ZERO) for k in range(len(vertex.basis))])
    assert direction is not None, "the basis of a vertex is regular"
    length, leaving = min(
        (value / x, index)  # artificial columns are at 0 and must stay there, whichever way they would move
        for index, value, x in zip(vertex.basis, vertex.basic, direction, strict=True)
        if x > 0 or (x < 0 and index >= count)
    )
    return _exchange(program, vertex, leaving, entering), bool(length == 0)


def _exchange(program: LinearProgram, vertex: Vertex, leaving: int, entering: int) -> Vertex:
    return _regular(program, tuple(sorted({*vertex.basis, entering} - {leaving})))


def _regular(program: LinearProgram, basis: tuple[int, ...]) -> Vertex:
    vertex = vertex_of(program, basis)
    assert vertex is not None, "a pivot on a non-zero entry keeps the basis regular"
    return vertex


MOST_REFINEMENTS = 15
"""Each gains about nine digits where it gains any."""

_MOST_IN_VAIN = 4
"""Refinements in a row that come no closer to an optimum, after which only exact pivots are left to try."""

_MOST_PIVOTS = 100
"""Where no number of pivots is given and numbers are short; each takes about as long as three exact solutions."""

_MOST_BITS = 2_000_000
"""Length of the numbers of all pivots together, where no number of pivots is given: about two seconds."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """A solution of a linear program.

    Parameters
    ----------
    basis : Basis
        For a start elsewhere.
    values : list of N rationals
        z.
    duals : list of m rationals
        Multipliers of the rows.
    exact : bool
        Whether z is feasible and optimal, and `duals` prove it, all exactly. Otherwise both are only close, and the
        caller has to repair the one and bound with the other.
    refinements, pivots : int
        What the floats left to do.
    """

    basis: Basis
    values: list[flint.fmpq]
    duals: list[flint.fmpq]
    exact: bool
    refinements: int = 0
    pivots: int = 0


def exact_optimum(
    program: LinearProgram,
    *,
    start: Basis | None = None,
    most_refinements: int = MOST_REFINEMENTS,
    most_pivots: int | None = None,
) -> Optimum:
    """Solve a linear program exactly.

    Parameters
    ----------
    program : LinearProgram
    start : Basis, optional
        Where to begin: the basis of a program of the same shape, often optimal here too. Left out, HiGHS guesses.
    most_refinements : int
        Refinements after which to give up.
    most_pivots : int, optional
        Exact pivots after which to give up: at most 100, and fewer where numbers are long, when left out.

    Raises
    ------
    Infeasible
        When exact arithmetic proves that no point satisfies the constraints.
    """
    vertex = None if start is None else vertex_of(program, start)
    if vertex is not None and vertex.optimal:
        return Optimum(vertex.basis, vertex.values, vertex.duals, exact=True)
    solver = FloatSolver(program)
    if vertex is None:
        largest = max(map(abs, program.cost)) or flint.fmpq(1)
        guess = solver.solve(as_floats(program.cost, 1 / largest), as_floats(program.right))
        if guess is None:
            raise Refusal("the linear-programming solver ended without a basis", status="solver failed")
        vertex = vertex_of(program, guess.basis)
        if vertex is None:  # floats took a singular basis for a regular one
            z, y = ([flint.fmpq(*x.as_integer_ratio()) for x in array] for array in (guess.values, guess.duals))
            return Optimum(guess.basis, z, [largest * x for x in y], exact=False)
    closest, refinements, pivots, in_vain = vertex, 0, 0, 0
    while not vertex.optimal and refinements < most_refinements and in_vain < _MOST_IN_VAIN:
        following = _refine(program, solver, vertex)
        if following is None:
            break
        vertex = following
        in_vain = 0 if vertex.miss < closest.miss else in_vain + 1
        closest = min(closest, vertex, key=lambda vertex: vertex.miss)
        refinements += 1
    if not vertex.optimal:
        most = _affordable(closest) if most_pivots is None else most_pivots
        vertex, pivots = pivot_to_optimum(program, closest, most=most)
    if not vertex.optimal:
        vertex = closest
    return Optimum(vertex.basis, vertex.values, vertex.duals, vertex.optimal, refinements, pivots)


def optimum_near(program: LinearProgram, basis: Basis) -> Optimum | None:
    """Let HiGHS go on from the optimal basis of a similar program; None unless it stops at the exact optimum."""
    solver = FloatSolver(program)
    largest = max(map(abs, program.cost)) or flint.fmpq(1)
    guess = solver.solve(as_floats(program.cost, 1 / largest), as_floats(program.right), start=basis)
    vertex = None if guess is None else vertex_of(program, guess.basis)
    if vertex is None or not vertex.optimal:
        return None
    return Optimum(vertex.basis, vertex.values, vertex.duals, exact=True)


def _affordable(vertex: Vertex) -> int:
    """Return how many pivots to try, fewer where numbers are long; one takes about as long as three exact solutions."""
    bits = sum(int(x.p).bit_length() + int(x.q).bit_length() for x in (*vertex.basic, *vertex.duals))
    return min(_MOST_PIVOTS, _MOST_BITS // max(bits, 1))


def _refine(program: LinearProgram, solver: FloatSolver, vertex: Vertex) -> Vertex | None:
    """Let HiGHS correct a vertex under a magnifying glass; None when that leads nowhere new."""
    primal = 1 / vertex.infeasibility if vertex.infeasibility else 1
    dual = 1 / vertex.suboptimality if vertex.suboptimality else 1
    right = np.zeros(len(program.right))
    for index, value in zip(vertex.basis, vertex.basic, strict=True):
        if index >= len(program.columns):  # an artificial column that is not 0 is a residual of its row
            right[index - len(program.columns)] = float(value * primal)
    solution = solver.solve(
        as_floats(vertex.reduced, dual), right, as_floats(vertex.values, -primal), start=vertex.basis
    )
    if solution is None or solution.basis == vertex.basis:
        return None
    return vertex_of(program, solution.basis)
