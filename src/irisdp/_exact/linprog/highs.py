"""HiGHS, the float solver, and the only file that knows how to call it.

Two ways of using it: `FloatSolver` keeps one constraint matrix and starts afresh for every cost and right-hand side;
`GrowingProgram` takes new columns and rows and goes on from the basis it has (column generation). Neither is trusted
with more than a guess: what they find is checked exactly (`optimum`) or evaluated with all rounding counted by those
who ask.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .program import Basis, Floats, LinearProgram, as_floats, cut_off

_TOLERANCE = 1e-9
"""Feasibility that `FloatSolver` asks for; what it leaves is removed exactly (`optimum`)."""

_MANY_ROWS = 10_000

_GROWING_TOLERANCE = 1e-10
_GROWING_SMALLEST = 1e-12
"""Coefficients of growing programs from which they are kept."""

_GROWING_MANY_ROWS = 20_000

_RESORTS: tuple[dict[str, Any], ...] = (
    {},
    {"solver": "simplex", "presolve": "off"},
    {"simplex_strategy": 4},
    {"solver": "ipm"},
)
"""What is tried one after the other until HiGHS ends with a basis: it may end with an error of its own."""

_AFRESH: tuple[dict[str, Any], ...] = ({}, {})

_MOST_PIVOTS = 5
"""Per row and column: a solver that needs more is going round in circles."""


@dataclass(frozen=True, slots=True)
class SparseColumns:
    """Columns of a matrix by their entries that are not 0.

    Parameters
    ----------
    starts : integer array, shape (columns + 1,)
        Where the entries of every column begin; last, how many there are.
    rows, values : arrays, one entry each
    """

    starts: NDArray[np.int32]
    rows: NDArray[np.int32]
    values: Floats

    @classmethod
    def of_entries(cls, rows: NDArray[Any], columns: NDArray[Any], values: Floats, count: int) -> SparseColumns:
        """Sort entries of `count` columns by column, and add up those in one place."""
        order = np.lexsort((rows, columns))
        rows, columns, values = rows[order], columns[order], values[order]
        first = np.flatnonzero(np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))[: len(rows)])
        summed = np.add.reduceat(values, first) if len(first) else values
        kept = summed != 0
        starts = np.searchsorted(columns[first][kept], np.arange(count + 1))
        return cls(starts.astype(np.int32), rows[first][kept].astype(np.int32), summed[kept])

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True)
class FloatSolution:
    """What HiGHS says: `values` of the N columns, `duals` of the m rows, the basis it stopped at, and how soon."""

    basis: Basis
    values: Floats
    duals: Floats
    objective: float
    iterations: int


class FloatSolver:
    """HiGHS on one constraint matrix, for changing costs, bounds and right-hand sides.

    Rows are scaled by powers of two to a largest coefficient of about 1, so that a large ratio does not drown the rest;
    all numbers that go in and come out are unscaled.
    """

    def __init__(self, program: LinearProgram) -> None:
        starts = np.cumsum([0, *(len(column) for column in program.columns)])
        rows = np.fromiter((k for column in program.columns for k in column), np.int32, starts[-1])
        values = as_floats([x for column in program.columns for x in column.values()])
        largest = np.zeros(len(program.right))
        np.maximum.at(largest, rows, np.abs(values))
        self._row_scale: Floats = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1))))
        self._model = _model(
            SparseColumns(starts.astype(np.int32), rows, values * self._row_scale[rows]), len(program.right)
        )
        nothing = np.zeros(len(program.columns))
        self._model.col_cost_, self._model.col_lower_ = nothing, nothing
        self._model.col_upper_ = np.full(len(program.columns), np.inf)
        self._model.row_lower_ = self._model.row_upper_ = np.zeros(len(program.right))

    def solve(
        self,
        cost: Floats,
        right: Floats,
        lower: Floats | None = None,
        *,
        start: Basis | None = None,
        most: int | None = None,
        interior: bool = False,
    ) -> FloatSolution | None:
        """Minimise cost·z subject to A z = right, z ≥ lower (0 when left out), from a basis if one is given.

        With `most`, it stops after so many iterations. Where HiGHS ends with an error, it then begins without a basis,
        and tries nothing else. With `interior` and no basis it begins with interior points whatever the size.

        Returns
        -------
        FloatSolution or None
            The basis at which HiGHS stopped, whatever its status: exact arithmetic decides. None without a basis.
        """
        import highspy

        model = self._model
        model.col_cost_ = cost
        model.col_lower_ = np.zeros(model.num_col_) if lower is None else cut_off(lower)
        model.row_lower_ = model.row_upper_ = right * self._row_scale
        highs = _quiet(
            # Interior points, then a basis, are twice as fast on large programs, where there is no basis to start from.
            solver="ipm" if start is None and (interior or self.is_large) else "simplex",
            simplex_scale_strategy=0,  # scaled already, and a scaled tolerance is not the one asked for
            primal_feasibility_tolerance=_TOLERANCE,
            dual_feasibility_tolerance=_TOLERANCE,
        )
        if most is not None:
            _set(highs, simplex_iteration_limit=most)
        highs.passModel(model)
        basic = highspy.HighsBasisStatus.kBasic
        for attempt, options in enumerate(_RESORTS if most is None else _AFRESH):
            _set(highs, **options)
            if start is not None and (most is None or not attempt):
                highs.setBasis(self._to_highs(start))
            _run(highs, model.num_row_)
            basis, solution = highs.getBasis(), highs.getSolution()
            columns, rows = list(basis.col_status), list(basis.row_status)  # each access copies the whole list
            members = tuple(index for index, state in enumerate(columns + rows) if state == basic)
            if len(members) == model.num_row_ and solution.value_valid:
                info = highs.getInfo()
                return FloatSolution(
                    basis=members,
                    values=np.array(solution.col_value),
                    duals=np.array(solution.row_dual) * self._row_scale,
                    objective=float(info.objective_function_value),
                    iterations=max(0, info.simplex_iteration_count) + max(0, info.crossover_iteration_count),
                )
            highs.clearSolver()
        return None

    @property
    def is_large(self) -> bool:
        """Whether a solution without a basis begins with interior points anyway."""
        return bool(self._model.num_row_ >= _MANY_ROWS)

    def factors(self, basis: Basis) -> Factors | None:
        """Factorise the columns of a basis; None where floats take them for dependent."""
        highs = _quiet(simplex_scale_strategy=0, factor_pivot_tolerance=0.0)
        model = self._model
        highs.passModel(model)
        highs.setBasis(self._to_highs(basis))
        _, order = highs.getBasicVariables()
        # HiGHS counts the columns of the rows from −1 down, and puts them in place of columns that are dependent.
        indices = np.where(order >= 0, order, model.num_col_ - 1 - order)
        if tuple(sorted(indices.tolist())) != basis:
            return None
        scale: Floats = np.ones(len(basis))
        artificial = np.flatnonzero(order < 0)
        scale[artificial] = self._row_scale[-1 - order[artificial]]
        return Factors(highs, np.argsort(indices), self._row_scale, scale)

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


class Factors:
    """The factors of a basis: systems with its columns are solved in floats.

    Parameters
    ----------
    highs : Highs
        With the basis.
    place : integer array
        Where HiGHS has each member of the basis.
    row_scale, column_scale : arrays
        What rows, and in HiGHS's order the basic columns, were multiplied by.
    """

    def __init__(self, highs: Any, place: NDArray[Any], row_scale: Floats, column_scale: Floats) -> None:
        self._highs, self._place, self._row_scale, self._column_scale = highs, place, row_scale, column_scale

    def forward(self, right: Floats) -> Floats:
        """Write a vector as a combination of the columns of the basis, in its order."""
        _, solution = self._highs.getBasisSolve(right * self._row_scale)
        combination: Floats = (solution / self._column_scale)[self._place]
        return combination

    def backward(self, cost: Floats) -> Floats:
        """Return the multipliers of the rows at which every column of the basis costs so much."""
        ordered: Floats = np.empty(len(cost))
        ordered[self._place] = cost
        _, solution = self._highs.getBasisTransposeSolve(ordered / self._column_scale)
        multipliers: Floats = solution * self._row_scale
        return multipliers


class GrowingProgram:
    """Minimise cost·x subject to bounds on A x and on x; columns and rows may be added between solutions.

    Parameters
    ----------
    columns : SparseColumns
        The first columns of A.
    cost : array, one per column
    bounds : two arrays, one per column
        Least and most of x.
    row_bounds : two arrays, one per row
        Least and most of A x; those of one row may be equal, or infinite.
    """

    def __init__(
        self, columns: SparseColumns, cost: Floats, bounds: tuple[Floats, Floats], row_bounds: tuple[Floats, Floats]
    ) -> None:
        model = _model(columns, len(row_bounds[0]))
        model.col_cost_ = cost
        model.col_lower_, model.col_upper_ = bounds
        model.row_lower_, model.row_upper_ = row_bounds
        self._columns = columns.count
        self._highs = _quiet(
            solver="simplex",
            primal_feasibility_tolerance=_GROWING_TOLERANCE,
            dual_feasibility_tolerance=_GROWING_TOLERANCE,
            small_matrix_value=_GROWING_SMALLEST,
        )
        self._highs.passModel(model)

    def add_columns(self, columns: SparseColumns, most: float = np.inf) -> None:
        """Add variables from 0 to `most` that cost nothing."""
        size = columns.count
        nothing, full = np.zeros(size), np.full(size, most)
        self._highs.addCols(
            size, nothing, nothing, full, len(columns.values), columns.starts[:-1], columns.rows, columns.values
        )
        self._columns += size

    def add_differences(self, pairs: NDArray[np.integer[Any]]) -> None:
        """Add the row x_i − x_j, as yet without bounds, for every pair of columns, shape (2, pairs)."""
        size = pairs.shape[1]
        self._highs.addRows(
            size,
            np.full(size, -np.inf),
            np.full(size, np.inf),
            2 * size,
            2 * np.arange(size, dtype=np.int32),
            pairs.T.ravel().astype(np.int32),
            np.tile([1.0, -1.0], size),
        )

    def bound_rows(self, first: int, lower: Floats, upper: Floats) -> None:
        """Change the bounds of consecutive rows."""
        self._highs.changeRowsBounds(len(lower), first + np.arange(len(lower), dtype=np.int32), lower, upper)

    def bound_columns(self, first: int, lower: Floats, upper: Floats) -> None:
        """Change the bounds of consecutive columns."""
        self._highs.changeColsBounds(len(lower), first + np.arange(len(lower), dtype=np.int32), lower, upper)

    def change_cost(self, column: int, cost: float) -> None:
        """Change the cost of a column."""
        self._highs.changeColCost(column, cost)

    def forget_what_helped(self) -> None:
        """Begin again with the dual simplex method and presolve, whatever `solve` had to resort to before."""
        _set(self._highs, solver="simplex", simplex_strategy=1, presolve="choose")

    def begin(self, columns: NDArray[np.int8], rows: NDArray[np.int8]) -> None:
        """Go on from a guess of what is at its least (−1), at its most (1) and between (0), of columns and rows.

        Steepest edges are not worked out for it: that takes a solution per row, more than a good guess leaves to do.
        """
        import highspy

        status = highspy.HighsBasisStatus
        words = {-1: status.kLower, 0: status.kBasic, 1: status.kUpper}
        guess = highspy.HighsBasis()
        guess.col_status, guess.row_status = ([words[one] for one in part.tolist()] for part in (columns, rows))
        guess.valid = guess.alien = True  # as many as there are rows may be between, and HiGHS mends what is not
        _set(self._highs, simplex_dual_edge_weight_strategy=1)
        self._highs.setBasis(guess)

    def solve(self) -> tuple[Floats, Floats] | None:
        """Solve from the last basis if there is one, and otherwise with presolve; then try what else there is.

        Returns
        -------
        values, duals, or None
            Of columns and rows, whatever the solver says of them; None when it has none, or does not have every column
            because some were out of its range.
        """
        highs = self._highs
        rows, columns = highs.getNumRow(), highs.getNumCol()
        if columns != self._columns:
            return None
        # Interior points, and then a basis, are quicker on large programs, where there is no basis to go on from.
        large = rows > _GROWING_MANY_ROWS and not highs.getBasis().valid
        _set(highs, simplex_iteration_limit=_MOST_PIVOTS * (rows + columns), solver="ipm" if large else "simplex")
        for options in _RESORTS:
            _set(highs, **options)
            _run(highs, rows)
            solution = highs.getSolution()
            if solution.value_valid and solution.dual_valid and len(solution.col_value) == columns:
                values, duals = np.array(solution.col_value), np.array(solution.row_dual)
                if np.isfinite(values).all() and np.isfinite(duals).all():
                    # From here on the basis at hand is the better start; what helped once is kept.
                    _set(highs, presolve="off")
                    return values, duals
            highs.clearSolver()
        return None


_FEW_ROWS = 1000
"""Programs of fewer rows are solved before anyone could interrupt them."""

_TICK, _PATIENCE = 0.1, 2.0
"""Seconds between two looks at whether HiGHS is done, and for which it may take its leave when it is interrupted."""


def _run(highs: Any, rows: int) -> None:
    """Run HiGHS, where it may take long in a thread of its own: Python hears of Ctrl-C only outside of it."""
    if rows < _FEW_ROWS or threading.current_thread() is not threading.main_thread():
        highs.run()
        return
    highs.allow_interrupts()
    done = threading.Event()

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    threading.Thread(target=work, name="irisdp-highs", daemon=True).start()
    try:
        while not done.wait(_TICK):
            pass
    except BaseException:  # an interrupt: a thread whose `join` it ends counts as stopped although it runs
        highs.cancelSolve()
        done.wait(_PATIENCE)
        raise
    highs.disableCallbacks()


def _model(columns: SparseColumns, rows: int) -> Any:
    """Return a model with a matrix, as yet without costs and bounds."""
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns.count, rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = columns.starts, columns.rows
    model.a_matrix_.value_ = columns.values
    return model


def _quiet(**options: Any) -> Any:
    """Return HiGHS on one thread, without output."""
    highs = _silent_solver()()
    _set(highs, output_flag=False, threads=1, **options)
    return highs


@cache
def _silent_solver() -> Any:
    """Return a class of solvers that print nothing when they are made.

    From highspy 1.16 on, a new solver prints a banner to file descriptor 1 when its callbacks are set, and `Highs` sets
    them before an option can switch output off. To redirect the descriptor would divert what other threads print, too.
    """
    import highspy

    class SilentSolver(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:  # noqa: N802
            self.setOptionValue("output_flag", False)

        def allow_interrupts(self) -> None:
            super().enableCallbacks()
            self.HandleUserInterrupt = True

    return SilentSolver


def _set(highs: Any, **options: Any) -> None:
    for option, value in options.items():
        highs.setOptionValue(option, value)
