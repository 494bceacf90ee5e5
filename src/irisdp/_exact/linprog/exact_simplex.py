"""From a float basis to the optimum of a linear program, exactly or nearly.

1. HiGHS guesses a basis. Floats and exact residuals give its point and multipliers to forty digits (`NearVertices`).
2. If all values and all reduced costs are non-negative, the point is the optimum. That is all of duality for a program
   in standard form.
3. If not, what is wrong lies below what floats resolve. So the program is rewritten as a correction to the point, and
   magnified, every time by four digits more: HiGHS goes on from the same basis (iterative refinement [Gleixner2016]).
   It has a budget of iterations.
4. Where close is good enough, the closest vertex is the result: its multipliers, rounded, still prove a bound.
5. Otherwise the basis is solved exactly: forward for the point, transposed for the multipliers. No float has a say then
   in whether it is optimal. Should it not be, exact pivots finish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import flint
import numpy as np

from ...errors import Infeasible, Refusal
from .. import report, so_many
from .highs import FloatSolver
from .program import Basis, LinearProgram, as_floats
from .sparse_solve import solve_sparse
from .vertices import NearVertices, Vertex, in_basis, price, vertex_of

_ZERO = flint.fmpq(0)

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
"""Each gains about four digits where it gains any."""

_STEP = 1 << 13
"""How much stronger every refinement magnifies than the last: costs and bounds far beyond 1 are beyond floats."""

_MOST_IN_VAIN = 4
"""Refinements in a row that come no closer to an optimum, after which only exact pivots are left to try."""

_LAST_ITERATIONS = 200
"""The iterations that a refinement may take where close is good enough and a vertex is very close."""

_CLOSE, _VERY_CLOSE, _NEAREST = (flint.fmpq(1, 1 << bits) for bits in (36, 46, 70))
"""What misses an optimum by less, in parts of the largest cost, is close to it, very close, or as close as is asked."""

_ITERATIONS = 2
_FEW_ITERATIONS = 1000
"""The iterations that all refinements may take: so many times those of the first solution, and so many more."""

_MOST_PIVOTS = 100
"""Where no number of pivots is given and numbers are short; each takes about as long as three exact solutions."""

_MOST_BITS = 500_000
"""Length of the numbers of all pivots together, where no number of pivots is given: about half a second."""

_LARGEST_EXACT = 30_000
"""Rows of a program for which no exact numbers are worked out."""


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
    miss : rational
        By how much they miss an optimum; 0 also where, of the largest cost, nothing above 2^-70 is wrong.
    close : bool
        Whether that is little: at most 2^-36 of the largest cost.
    refinements, pivots : int
        What the floats left to do.
    """

    basis: Basis
    values: list[flint.fmpq]
    duals: list[flint.fmpq]
    exact: bool
    miss: flint.fmpq
    close: bool
    refinements: int = 0
    pivots: int = 0


def exact_optimum(
    program: LinearProgram,
    *,
    start: Basis | None = None,
    most_refinements: int = MOST_REFINEMENTS,
    most_pivots: int | None = None,
    nearly: bool = False,
    again: bool = True,
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
    nearly : bool
        Whether close is good enough, as it always is for more than 30,000 rows: then no exact numbers are worked out
        where floats and exact residuals lead to a vertex, and `exact` is false.
    again : bool
        Whether to begin again, by interior points, where close is good enough and refinements do not come close.

    Raises
    ------
    Infeasible
        When exact arithmetic proves that no point satisfies the constraints.
    """
    nearly = nearly or len(program.right) > _LARGEST_EXACT
    report(f"writing a program of {so_many(len(program.right), 'row')} and {so_many(len(program.columns), 'column')}")
    solver = FloatSolver(program)
    near = NearVertices(program, solver)

    def exactly(basis: Basis) -> Vertex | None:
        return vertex_of(program, basis)

    if start is not None:
        vertex = near.at(start) if nearly else exactly(start)
        if vertex is not None and vertex.optimal:
            return _at(vertex, exact=not nearly, close=True)
    basis, guess = start, None
    largest = max(map(abs, program.cost)) or flint.fmpq(1)
    search = _Refinements(program, solver, near, most_refinements, nearly)
    if basis is None:
        report("solving it in floats")
        guess = solver.solve(as_floats(program.cost, 1 / largest), as_floats(program.right))
        if guess is None:
            raise Refusal("the linear-programming solver ended without a basis", status="solver failed")
        basis, search.iterations = guess.basis, _ITERATIONS * guess.iterations + _FEW_ITERATIONS
    first = near.at(basis)
    if first is not None:
        search.refine(first, near.at)
        if nearly and again and not search.is_close and guess is not None and not solver.is_large:
            # Interior points end at another basis, from which refinements often come closer.
            report("solving it in floats, by interior points")
            other_guess = solver.solve(as_floats(program.cost, 1 / largest), as_floats(program.right), interior=True)
            first = None if other_guess is None else near.at(other_guess.basis)
            if first is not None:
                other = _Refinements(program, solver, near, most_refinements, nearly)
                other.iterations = _ITERATIONS * guess.iterations + _FEW_ITERATIONS
                other.refine(first, near.at)
                search = min(search, other, key=lambda search: search.closest.miss)
        if nearly:
            vertex, miss = search.closest, flint.fmpq(0) if search.is_done else search.closest.miss
            return Optimum(vertex.basis, vertex.values, vertex.duals, False, miss, search.is_close, search.refinements)
        basis = search.closest.basis
    report("solving its best basis exactly")
    found = exactly(basis)
    if found is None:
        if guess is None:
            raise Refusal("the linear-programming solver ended without a basis", status="solver failed")
        # Floats took a singular basis for a regular one.
        z, y = ([flint.fmpq(*x.as_integer_ratio()) for x in array] for array in (guess.values, guess.duals))
        return Optimum(guess.basis, z, [largest * x for x in y], exact=False, miss=largest, close=False)
    search.refine(found, exactly)
    vertex, pivots = search.closest, 0
    if not vertex.optimal:
        most = _affordable(vertex) if most_pivots is None else most_pivots
        pivoted, pivots = pivot_to_optimum(program, vertex, most=most)
        vertex = pivoted if pivoted.optimal else vertex
    return _at(vertex, exact=vertex.optimal, close=search.is_close, refinements=search.refinements, pivots=pivots)


def _at(vertex: Vertex, **found: Any) -> Optimum:
    return Optimum(vertex.basis, vertex.values, vertex.duals, miss=vertex.miss, **found)


class _Refinements:
    """Refinements on the way to an optimum, and the vertices closest to it.

    Parameters
    ----------
    program : LinearProgram
    solver : FloatSolver
    near : NearVertices
        Both of this program.
    most : int
        Refinements after which to give up.
    nearly : bool
        Whether to give up as soon as one comes no closer to an optimum, but was close.
    """

    def __init__(
        self, program: LinearProgram, solver: FloatSolver, near: NearVertices, most: int, nearly: bool
    ) -> None:
        self._program, self._solver, self._near, self._most, self._nearly = program, solver, near, most, nearly
        self._largest = max(map(abs, program.cost))
        self._strength = flint.fmpq(1)
        self.iterations = _FEW_ITERATIONS
        self.refinements = 0

    def refine(self, vertex: Vertex, at: Callable[[Basis], Vertex | None]) -> None:
        """Refine a vertex until it is optimal, or for as long as that comes closer and the iterations last."""
        self.closest = vertex
        in_vain = 0
        while not (vertex.optimal or self.is_done):
            if self.refinements == self._most or in_vain == _MOST_IN_VAIN or self.iterations <= 0:
                break
            following = self._better(vertex, at)
            if following is None:
                break
            if following is not vertex:
                vertex = following
                in_vain = 0 if vertex.miss < self.closest.miss else in_vain + 1
                self.closest = min(self.closest, vertex, key=lambda vertex: vertex.miss)
            self.refinements += 1
            if self._nearly and in_vain and self.is_close:
                break

    @property
    def is_close(self) -> bool:
        """Whether a point and multipliers close to an optimum were found."""
        return self._within(_CLOSE)

    @property
    def is_done(self) -> bool:
        """Whether an optimum was found, or where close is good enough one as near as is asked."""
        return self.closest.optimal or (self._nearly and self._within(_NEAREST))

    def _within(self, part: flint.fmpq) -> bool:
        return bool(self.closest.miss <= part * self._largest)

    def _better(self, vertex: Vertex, at: Callable[[Basis], Vertex | None]) -> Vertex | None:
        """Let HiGHS correct a vertex under a magnifying glass, stronger every time; None where that leads nowhere."""
        report(f"refining the solution, step {self.refinements + 1}")
        program, self._strength = self._program, self._strength * _STEP
        primal = min(self._strength, 1 / vertex.infeasibility) if vertex.infeasibility else flint.fmpq(1)
        dual = min(self._strength, 1 / vertex.suboptimality) if vertex.suboptimality else flint.fmpq(1)
        right = np.zeros(len(program.right))
        for row, x in vertex.residual.items():
            right[row] = float(x * primal)
        solution = self._solver.solve(
            as_floats(vertex.reduced, dual),
            right,
            as_floats(vertex.values, -primal),
            start=vertex.basis,
            most=min(self.iterations, _LAST_ITERATIONS)
            if self._nearly and self._within(_VERY_CLOSE)
            else self.iterations,
        )
        if solution is None:
            return None
        self.iterations -= solution.iterations
        if solution.basis == vertex.basis and vertex.basic:
            strongest = self._strength * max(vertex.infeasibility, vertex.suboptimality) >= 1
            return None if strongest else vertex
        return at(solution.basis) or (self._near.corrected(vertex, solution, primal, dual) if self._nearly else None)


def optimum_near(program: LinearProgram, basis: Basis, *, nearly: bool = False) -> Optimum | None:
    """Let HiGHS go on from the optimal basis of a similar program; None unless it stops at the optimum.

    `nearly` is that of `exact_optimum`.
    """
    solver = FloatSolver(program)
    largest = max(map(abs, program.cost)) or flint.fmpq(1)
    guess = solver.solve(as_floats(program.cost, 1 / largest), as_floats(program.right), start=basis)
    if guess is None:
        return None
    vertex = NearVertices(program, solver).at(guess.basis) if nearly else vertex_of(program, guess.basis)
    return _at(vertex, exact=not nearly, close=True) if vertex is not None and vertex.optimal else None


def _affordable(vertex: Vertex) -> int:
    """Return how many pivots to try, fewer where numbers are long; one takes about as long as three exact solutions."""
    bits = sum(int(x.p).bit_length() + int(x.q).bit_length() for x in (*vertex.basic, *vertex.duals))
    return min(_MOST_PIVOTS, _MOST_BITS // max(bits, 1))
