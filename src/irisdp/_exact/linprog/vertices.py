"""The point and the multipliers that belong to a basis: exactly, by rationals, or nearly, by floats and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import flint
import numpy as np

from .highs import FloatSolution, FloatSolver
from .program import Basis, Floats, LinearProgram
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
    residual : dict of rationals
        right − A z where it is not 0: the artificial columns that are not.
    """

    basis: Basis
    basic: list[flint.fmpq]
    values: list[flint.fmpq]
    duals: list[flint.fmpq]
    reduced: list[flint.fmpq]
    infeasibility: flint.fmpq
    suboptimality: flint.fmpq
    residual: dict[int, flint.fmpq]

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
    residual = {index - count: x for index, x in zip(basis, basic, strict=True) if index >= count and x != 0}
    return Vertex(basis, basic, values, duals, reduced, infeasibility, max(-min(reduced), _ZERO), residual)


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


# The same nearly, where exact numbers would be long: HiGHS's factors of the basis give a point in floats, and its
# residual, in whole multiples of 2^-192, the next correction. Every round gains about as many digits as floats have,
# less those of the condition of the basis.

_BITS = 192
"""Points and multipliers are multiples of 2^-192."""

_NEAR = 2.0**24
"""Residuals of so many units are as good as none."""

_MOST_BITS = 800
"""Denominators of a row or a column that are longer are left to exact numbers."""

_NONE = 1 << 42
"""Numbers of less than so many units, 2^-150, are taken for 0; of reduced costs times the largest cost."""

_LEAST_GAIN = 0.9
_MOST_IN_VAIN = 3
_MOST_ROUNDS = 60
"""The factor by which a round must reduce the residual, how often in a row it may fail, and how many there may be."""


class NearVertices:
    """Points and multipliers of bases to about 160 bits, in time that does not depend on the length of exact numbers.

    Parameters
    ----------
    program : LinearProgram
    solver : FloatSolver
        Of this program.
    """

    def __init__(self, program: LinearProgram, solver: FloatSolver) -> None:
        self._program, self._solver = program, solver
        count = len(program.columns)
        self._rows = np.fromiter((k for column in program.columns for k in column), np.int64)
        lengths = np.array([len(column) for column in program.columns])
        self._columns = np.repeat(np.arange(count), lengths)
        entries = [x for column in program.columns for x in column.values()]
        tops, bottoms = [int(x.p) for x in entries], [int(x.q) for x in entries]
        # Both ways, all is multiplied by what makes the coefficients of a row, or of a column, whole.
        self._row_units = [int(x.q) for x in program.right]
        self._column_units = [int(x.q) for x in program.cost]
        for k, j, bottom in zip(self._rows.tolist(), self._columns.tolist(), bottoms, strict=True):
            if bottom != 1:
                self._row_units[k] = lcm(self._row_units[k], bottom)
                self._column_units[j] = lcm(self._column_units[j], bottom)
        row_units, column_units = _whole(self._row_units), _whole(self._column_units)
        tops, bottoms = _whole(tops), _whole(bottoms)
        self._by_row = tops * (row_units[self._rows] // bottoms)
        self._by_column = tops * (column_units[self._columns] // bottoms)
        right = _whole([int(x.p) for x in program.right]) * row_units // _whole([int(x.q) for x in program.right])
        cost = _whole([int(x.p) for x in program.cost]) * column_units // _whole([int(x.q) for x in program.cost])
        self._right, self._cost = right << _BITS, cost << _BITS
        most = 1 << _MOST_BITS
        self._in_floats = max(self._row_units) < most and max(self._column_units) < most
        if not self._in_floats:
            return
        self._row_floats = np.array([float(x) for x in self._row_units])
        self._column_floats = np.array([float(x) for x in self._column_units])
        self._row_order = np.argsort(self._rows, kind="stable")

    def at(self, basis: Basis) -> Vertex | None:
        """Return the vertex of a basis, nearly; None where floats do not come near it."""
        factors = self._solver.factors(basis) if self._in_floats else None
        if factors is None:
            return None
        try:
            basic = self._point(basis, factors.forward)
            duals = self._multipliers(basis, factors.backward)
        except OverflowError:  # a number that no float holds
            return None
        if basic is None or duals is None:
            return None
        count, unit, zero = len(self._program.columns), 1 << _BITS, flint.fmpq(0)
        values, members, infeasibility = [zero] * count, [], zero
        residual: dict[int, flint.fmpq] = {}
        for index, x in zip(basis, basic.tolist(), strict=True):
            value = flint.fmpq(x, unit) if abs(x) >= _NONE else zero
            members.append(value)
            if index < count:
                values[index] = value
            elif value:
                residual[index - count] = value
            infeasibility = max(infeasibility, abs(value) if index >= count else -value)
        multipliers, reduced = self._costs(duals)
        return Vertex(basis, members, values, multipliers, reduced, infeasibility, max(-min(reduced), zero), residual)

    def corrected(self, vertex: Vertex, found: FloatSolution, primal: flint.fmpq, dual: flint.fmpq) -> Vertex:
        """Add to a point and its multipliers what HiGHS found for them, magnified: no vertex, but where none is found.

        Parameters
        ----------
        vertex : Vertex
        found : FloatSolution
            Of the correction, times `primal`, and of the multipliers' correction, times `dual`.
        primal, dual : rational
        """
        unit, zero = 1 << _BITS, flint.fmpq(0)
        point = _whole(_in_units(vertex.values)) + _whole(_in_units(_scaled(found.values, 1 / primal)))
        duals = _whole(_in_units(vertex.duals)) + _whole(_in_units(_scaled(found.duals, 1 / dual)))
        order = self._row_order
        sums = _sums(self._by_row[order] * point[self._columns[order]], self._rows[order], len(self._row_units))
        left = [
            flint.fmpq(x, each * unit) for x, each in zip((self._right - sums).tolist(), self._row_units, strict=True)
        ]
        residual = {k: x for k, x in enumerate(left) if abs(x) >= flint.fmpq(_NONE, unit)}
        values = [flint.fmpq(x, unit) if abs(x) >= _NONE else zero for x in point.tolist()]
        infeasibility = max(-min(values), *map(abs, residual.values()), zero)
        multipliers, reduced = self._costs(duals)
        return Vertex(found.basis, [], values, multipliers, reduced, infeasibility, max(-min(reduced), zero), residual)

    def _costs(self, duals: Any) -> tuple[list[flint.fmpq], list[flint.fmpq]]:
        """Return multipliers that are given in units, and the reduced costs of all columns."""
        unit, zero = 1 << _BITS, flint.fmpq(0)
        none = flint.fmpq(_NONE, unit) * max(map(abs, self._program.cost))
        reduced = [
            flint.fmpq(x, each * unit) if x else zero
            for x, each in zip(self._reduced(duals).tolist(), self._column_units, strict=True)
        ]
        return [flint.fmpq(x, unit) for x in duals.tolist()], [x if abs(x) > none else zero for x in reduced]

    def _point(self, basis: Basis, forward: Any) -> Any:
        """Return the values of the basic columns, in units."""
        count = len(self._program.columns)
        members = np.array(basis)
        artificial = members >= count
        place = np.full(count, -1)
        place[members[~artificial]] = np.flatnonzero(~artificial)
        order = self._row_order[place[self._columns[self._row_order]] >= 0]
        where, coefficients = place[self._columns[order]], self._by_row[order]
        rows = self._rows[order]
        own, units = members[artificial] - count, _whole(self._row_units)

        def residual(basic: Any) -> Any:
            left = self._right - _sums(coefficients * basic[where], rows, len(units))
            left[own] -= units[own] * basic[artificial]
            return left

        return _refined(residual, self._row_floats, forward, len(basis))

    def _multipliers(self, basis: Basis, backward: Any) -> Any:
        """Return the multipliers of the rows, in units."""
        count = len(self._program.columns)
        members = np.array(basis)
        artificial = members >= count
        own = members[~artificial]
        units = np.ones(len(basis))
        units[~artificial] = self._column_floats[own]
        kept = np.zeros(count, np.bool_)
        kept[own] = True
        chosen = kept[self._columns]
        rows, columns, coefficients = self._rows[chosen], self._columns[chosen], self._by_column[chosen]

        def residual(duals: Any) -> Any:
            left = np.empty(len(basis), dtype=object)
            left[~artificial] = (self._cost - _sums(coefficients * duals[rows], columns, count))[own]
            left[artificial] = -duals[members[artificial] - count]
            return left

        return _refined(residual, units, backward, len(self._row_units))

    def _reduced(self, duals: Any) -> Any:
        return self._cost - _sums(self._by_column * duals[self._rows], self._columns, len(self._cost))


def _refined(residual: Any, units: Floats, solve: Any, size: int) -> Any:
    """Correct a solution in whole numbers, at first 0, until its residual is as good as none; None where it stays."""
    solution = _whole([0] * size)
    least, in_vain = np.inf, 0
    for _ in range(_MOST_ROUNDS):
        left = np.array([float(x) for x in residual(solution).tolist()]) / units
        largest = float(abs(left).max(initial=0))
        if largest <= _NEAR:
            return solution
        in_vain = 0 if largest <= _LEAST_GAIN * least else in_vain + 1
        if in_vain == _MOST_IN_VAIN or not np.isfinite(largest):
            return None
        least = min(least, largest)
        correction = solve(left / largest)
        if correction is None or not np.isfinite(correction).all():
            return None
        solution = solution + _whole([round(x) for x in (correction * largest).tolist()])
    return None


def _in_units(numbers: list[flint.fmpq]) -> list[int]:
    return [(int(x.p) << _BITS) // int(x.q) if x else 0 for x in numbers]


def _scaled(floats: Floats, factor: flint.fmpq) -> list[flint.fmpq]:
    zero = flint.fmpq(0)
    return [flint.fmpq(*x.as_integer_ratio()) * factor if x else zero for x in floats.tolist()]


def _whole(numbers: list[int]) -> Any:
    """Return an array of Python's whole numbers."""
    result = np.empty(len(numbers), dtype=object)
    result[:] = numbers
    return result


def _sums(values: Any, places: Any, size: int) -> Any:
    """Add up values of equal, ascending places."""
    result = _whole([0] * size)
    if len(values):
        first = np.flatnonzero(np.diff(places, prepend=-1))
        result[places[first]] = np.add.reduceat(values, first)
    return result
