"""A linear program in exact numbers, and HiGHS as the fast and fallible guesser of its optimal basis.

Every program here is in standard form: minimise cost·z subject to A z = right, z ≥ 0. Column N + k, beyond the N
columns of the program, is the artificial column of row k: the unit vector e_k, held at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .elimination import SparseRow

__all__ = ["Basis", "FloatSolution", "FloatSolver", "LinearProgram", "as_floats", "as_fmpq", "as_fraction"]

Floats = NDArray[np.float64]

Basis = tuple[int, ...]
"""As many columns as the program has rows, ascending; artificial columns are N, N + 1, …"""

_TOLERANCE = 1e-9
"""Feasibility that HiGHS is asked for; what it leaves is removed exactly (`optimum`)."""

_MANY_ROWS = 10_000

_INFINITE = 1e12
"""Scaled bounds and costs beyond this never bind in floats."""


def as_fmpq(value: Fraction) -> flint.fmpq:
    """Convert to the number type of the exact kernels."""
    return flint.fmpq(value.numerator, value.denominator)


def as_fraction(value: flint.fmpq) -> Fraction:
    """Convert back to the number type of the public interface."""
    return Fraction(int(value.p), int(value.q))


def as_floats(numbers: Sequence[flint.fmpq], factor: flint.fmpq | int = 1) -> Floats:
    """Round rationals times a factor to floats, cut off where they are as good as infinite; for guesses only."""
    most = flint.fmpq(int(_INFINITE))
    return np.array([float(min(max(x * factor, -most), most)) for x in numbers])


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Minimise cost·z subject to A z = right, z ≥ 0.

    Parameters
    ----------
    columns : list of N sparse columns
        Row → coefficient.
    cost : list of N rationals
    right : list of m rationals
    """

    columns: list[SparseRow]
    cost: list[flint.fmpq]
    right: list[flint.fmpq]

    def column(self, index: int) -> SparseRow:
        """Return a column, artificial ones included."""
        if index < len(self.columns):
            return self.columns[index]
        return {index - len(self.columns): flint.fmpq(1)}


@dataclass(frozen=True, slots=True)
class FloatSolution:
    """What HiGHS says: `values` of the N columns, `duals` of the m rows, and the basis it stopped at."""

    basis: Basis
    values: Floats
    duals: Floats
    objective: float


class FloatSolver:
    """HiGHS on one constraint matrix, for changing costs, bounds and right-hand sides.

    Rows are scaled by powers of two to a largest coefficient of about 1, so that a large ratio does not drown the rest;
    all numbers that go in and come out are unscaled.
    """

    def __init__(self, program: LinearProgram) -> None:
        import highspy

        starts = np.cumsum([0, *(len(column) for column in program.columns)])
        rows = np.fromiter((k for column in program.columns for k in column), np.int32, starts[-1])
        values = as_floats([x for column in program.columns for x in column.values()])
        largest = np.zeros(len(program.right))
        np.maximum.at(largest, rows, np.abs(values))
        self._row_scale = 2.0 ** -np.round(np.log2(np.where(largest > 0, largest, 1)))
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(program.columns), len(program.right)
        model.col_upper_ = np.full(len(program.columns), highspy.kHighsInf)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = starts.astype(np.int32), rows
        model.a_matrix_.value_ = values * self._row_scale[rows]
        self._model = model

    def solve(
        self, cost: Floats, right: Floats, lower: Floats | None = None, *, start: Basis | None = None
    ) -> FloatSolution | None:
        """Minimise cost·z subject to A z = right, z ≥ lower (0 when left out), from a basis if one is given.

        Returns
        -------
        FloatSolution or None
            Where HiGHS stopped, whatever it says of it: exact arithmetic has the last word. None when it has no basis.
        """
        import highspy

        model = self._model
        model.col_cost_ = cost
        model.col_lower_ = np.zeros(model.num_col_) if lower is None else np.where(lower <= -_INFINITE, -np.inf, lower)
        model.row_lower_ = model.row_upper_ = right * self._row_scale
        highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            # Interior points, then a basis, are twice as fast on large programs, where there is no basis to start from.
            ("solver", "simplex" if start is not None or model.num_row_ < _MANY_ROWS else "ipm"),
            ("simplex_scale_strategy", 0),  # scaled already, and a scaled tolerance is not the one asked for
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
        ):
            highs.setOptionValue(option, value)
        highs.passModel(model)
        if start is not None:
            highs.setBasis(self._to_highs(start))
        highs.run()
        basis, solution = highs.getBasis(), highs.getSolution()
        columns, rows = list(basis.col_status), list(basis.row_status)  # each access copies the whole list
        basic = highspy.HighsBasisStatus.kBasic
        members = tuple(index for index, state in enumerate(columns + rows) if state == basic)
        if len(members) != model.num_row_ or not solution.value_valid:
            return None
        return FloatSolution(
            basis=members,
            values=np.array(solution.col_value),
            duals=np.array(solution.row_dual) * self._row_scale,
            objective=float(highs.getInfo().objective_function_value),
        )

    def _to_highs(self, basis: Basis) -> Any:
        import highspy

        status = highspy.HighsBasisStatus
        states = [status.kLower] * (self._model.num_col_ + self._model.num_row_)
        for index in basis:
            states[index] = status.kBasic
        result = highspy.HighsBasis()
        result.col_status, result.row_status = states[: self._model.num_col_], states[self._model.num_col_ :]
        result.valid = True
        return result
