"""What the linear programs of readings share: the solver, the form its answers take, and the grid they are put on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernel import Floats, Integers

__all__ = [
    "GRID_BITS",
    "MAGNIFIED",
    "RawSolution",
    "add_columns",
    "compressed",
    "float_solver",
    "on_grid",
    "run",
    "snapped",
]

_MOST_PIVOTS = 5
"""Per row and column: a solver that needs more is going round in circles."""

_MANY_ROWS = 20_000

GRID_BITS = 52
"""Chances and priors are multiples of 2^-52: exact as floats, and so are their sums up to 1."""


MAGNIFIED = 1e3
"""What the chances of answers, and the weights of nature, sum to in a program: the solver's tolerances are absolute."""


@dataclass(frozen=True, slots=True)
class RawSolution:
    """What a solver found: a reading, as released values, answers and chances, and nature's prior on the counts."""

    released: Integers
    answers: Integers
    chances: Floats
    weights: Floats


def float_solver() -> Any:
    """Return HiGHS as it is used here: quiet, one thread, tight tolerances, keeping small coefficients."""
    import highspy

    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "simplex"),
        ("primal_feasibility_tolerance", 1e-10),
        ("dual_feasibility_tolerance", 1e-10),
        ("small_matrix_value", 1e-12),
    ):
        solver.setOptionValue(option, value)
    return solver


def run(solver: Any, columns: int) -> tuple[Floats, Floats] | None:
    """Solve from the last basis if there is one, and otherwise with presolve; then try what else there is.

    Returns
    -------
    values, duals, or None
        Of columns and rows, whatever the solver says of them; None when it has none, or not so many columns because
        some were out of its range.
    """
    if solver.getNumCol() != columns:
        return None
    solver.setOptionValue("simplex_iteration_limit", _MOST_PIVOTS * (solver.getNumRow() + solver.getNumCol()))
    # Interior points, and then a basis, are quicker on large programs, where there is no basis to go on from.
    large = solver.getNumRow() > _MANY_ROWS and not solver.getBasis().valid
    solver.setOptionValue("solver", "ipm" if large else "simplex")
    for options in ({}, {"solver": "simplex", "presolve": "off"}, {"simplex_strategy": 4}, {"solver": "ipm"}):
        for option, value in options.items():
            solver.setOptionValue(option, value)
        solver.run()
        solution = solver.getSolution()
        if solution.value_valid and solution.dual_valid and len(solution.col_value) == columns:
            values, duals = np.array(solution.col_value), np.array(solution.row_dual)
            if np.isfinite(values).all() and np.isfinite(duals).all():
                # From here on the basis at hand is the better start; what helped once is kept.
                solver.setOptionValue("presolve", "off")
                return values, duals
        solver.clearSolver()
    return None


def add_columns(
    solver: Any, starts: NDArray[np.int32], rows: NDArray[np.int32], values: Floats, most: float = np.inf
) -> None:
    """Add variables from 0 to `most` that cost nothing, given where their entries start, the rows and the values."""
    size = len(starts)
    nothing = np.zeros(size)
    solver.addCols(size, nothing, nothing, np.full(size, most), len(values), starts, rows, values)


def on_grid(weights: Floats) -> Floats:
    """Normalise to multiples of 2^-52 that sum to exactly 1, which floats of this size do exactly."""
    units = np.floor(np.ldexp(weights / weights.sum(), GRID_BITS)).astype(np.int64)
    units[units.argmax()] += (1 << GRID_BITS) - int(units.sum())
    rounded: Floats = np.ldexp(units.astype(np.float64), -GRID_BITS)
    return rounded


def snapped(groups: Integers, chances: Floats) -> Floats:
    """Round chances to multiples of 2^-52 so that those of each group sum to exactly 1."""
    units = np.rint(np.ldexp(np.maximum(chances, 0), GRID_BITS))
    units = np.floor(np.ldexp(units / np.bincount(groups, units)[groups], GRID_BITS)).astype(np.int64)
    order = np.lexsort((units, groups))
    largest = order[np.append(np.diff(groups[order]) != 0, True)]
    missing = np.full(int(groups.max()) + 1, 1 << GRID_BITS)
    np.subtract.at(missing, groups, units)
    units[largest] += missing[groups[largest]]
    rounded: Floats = np.ldexp(units.astype(np.float64), -GRID_BITS)
    return rounded


def compressed(
    rows: NDArray[Any], columns: NDArray[Any], values: Floats, count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Sort entries by column, add up those in one place, and return column starts, row indices and values."""
    order = np.lexsort((rows, columns))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.flatnonzero(np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))[: len(rows)])
    summed = np.add.reduceat(values, first) if len(first) else values
    kept = summed != 0
    starts = np.searchsorted(columns[first][kept], np.arange(count + 1))
    return starts.astype(np.int32), rows[first][kept].astype(np.int32), summed[kept]
