"""Exact simplex pivots: slow and certain, for the last few steps to an optimum that floats cannot see.

First the dual simplex method makes the point feasible, under costs shifted so that the multipliers already are; then
the primal simplex method makes it optimal under the true costs. The steepest violation goes first; after a step of
length 0 the first violation does (Bland's rule, [Bland1977]), which cannot cycle.
"""

from __future__ import annotations

from dataclasses import replace

import flint

from ..errors import Infeasible
from .elimination import solve_sparse
from .program import LinearProgram
from .vertex import Vertex, in_basis, price, vertex_of

__all__ = ["pivot_to_optimum"]

_ZERO = flint.fmpq(0)


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
