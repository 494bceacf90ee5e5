"""The exact point and multipliers that belong to a basis, and by how much they miss being an optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import flint

from .elimination import SparseRow, solve_sparse
from .program import Basis, LinearProgram

__all__ = ["Vertex", "in_basis", "price", "vertex_of"]

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
