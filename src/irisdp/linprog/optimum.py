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

from dataclasses import dataclass

import flint
import numpy as np

from ..errors import Refusal
from .highs import FloatSolver
from .pivoting import pivot_to_optimum
from .program import Basis, LinearProgram, as_floats
from .vertex import Vertex, vertex_of

__all__ = ["Optimum", "exact_optimum"]

_MOST_REFINEMENTS = 15
"""Each gains about nine digits where it gains any."""

_MOST_PIVOTS = 100
"""Each costs about as much as three exact solutions of the basis."""


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


def exact_optimum(program: LinearProgram, *, start: Basis | None = None, most_pivots: int = _MOST_PIVOTS) -> Optimum:
    """Solve a linear program exactly.

    Parameters
    ----------
    program : LinearProgram
    start : Basis, optional
        Where to begin: the basis of a program of the same shape, often optimal here too. Left out, HiGHS guesses.
    most_pivots : int
        Exact pivots after which to give up.

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
    closest, refinements, pivots = vertex, 0, 0
    while not vertex.optimal and refinements < _MOST_REFINEMENTS:
        following = _refine(program, solver, vertex)
        if following is None:
            break
        vertex = following
        closest = min(closest, vertex, key=lambda vertex: vertex.infeasibility + vertex.suboptimality)
        refinements += 1
    if not vertex.optimal:
        vertex, pivots = pivot_to_optimum(program, closest, most=most_pivots)
    if not vertex.optimal:
        vertex = closest
    return Optimum(vertex.basis, vertex.values, vertex.duals, vertex.optimal, refinements, pivots)


def _refine(program: LinearProgram, solver: FloatSolver, vertex: Vertex) -> Vertex | None:
    """Let HiGHS correct a vertex under a magnifying glass; None when that leads nowhere new."""
    primal = 1 / vertex.infeasibility if vertex.infeasibility else 1
    dual = 1 / vertex.suboptimality if vertex.suboptimality else 1
    right = np.zeros(len(program.right))
    for index, value in zip(vertex.basis, vertex.basic, strict=True):
        if index >= len(program.columns):  # an artificial column that is not 0 is a residual of its row
            right[index - len(program.columns)] = float(value * primal)
    found = solver.solve(as_floats(vertex.reduced, dual), right, as_floats(vertex.values, -primal), start=vertex.basis)
    if found is None or found.basis == vertex.basis:
        return None
    return vertex_of(program, found.basis)
