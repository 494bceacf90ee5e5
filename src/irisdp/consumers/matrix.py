"""The game of reading any mechanism that is given as a matrix, for any table of losses.

The same game as for geometric noise (`recurrences`), by plain matrix products. All numbers that enter are at
least 0, so every sum has a small relative error, which is counted and taken into the bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..linprog.highs import GrowingProgram, SparseColumns
from .geometric_sums import UNDERFLOW, UNIT, Floats, Integers
from .raw_solutions import MAGNIFIED, RawSolution, on_grid, snapped
from .recurrences import BestAnswers

__all__ = ["MatrixGame", "MatrixProgram"]


class MatrixGame:
    """A consumer with a table of losses against a mechanism with known rows.

    Parameters
    ----------
    rows : array, inputs × released values
        Non-negative, each entry within a few units in its last place.
    losses : array, inputs × answers
        Non-negative, likewise.
    possible : array of booleans
        The side information.
    """

    def __init__(self, rows: Floats, losses: Floats, possible: NDArray[np.bool_]) -> None:
        self.rows, self.table, self.possible = rows, losses, possible
        self.released = np.arange(rows.shape[1])
        self.error = (rows.shape[0] + 2 * rows.shape[1] + losses.shape[1] + 20) * UNIT

    def losses(self, z: Integers, answers: Integers, chances: Floats) -> tuple[Floats, Floats]:
        """Return the expected loss of every input when z is read as `answers` with `chances`, and error bounds."""
        reading = np.zeros((self.rows.shape[1], self.table.shape[1]))
        np.add.at(reading, (z, answers), chances)
        found = ((self.rows @ reading) * self.table).sum(axis=1)
        return found, self.error * found + UNDERFLOW

    def costs(self, weights: Floats) -> Floats:
        """Return Σ_i w_i Pr[z | i] l(i, v), one row per z and one column per v."""
        return (self.rows * weights[:, None]).T @ self.table

    def best(self, weights: Floats) -> BestAnswers:
        """Return best answers to a prior, with certified bounds on their cost."""
        costs = self.costs(weights)
        least = math.fsum(costs.min(axis=1))
        lower = max(least * (1 - 2 * self.error) - UNDERFLOW, 0.0)
        return BestAnswers(costs.argmin(axis=1), lower, least * (1 + 2 * self.error) + UNDERFLOW)


class MatrixProgram:
    """The reader's linear program over some pairs (z, v); pairs may be added, and it goes on from where it stood."""

    def __init__(self, game: MatrixGame, scale: float) -> None:
        self.game, self.scale = game, scale
        inputs, released = game.rows.shape
        self.z, self.v = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.allowed = np.zeros((released, game.table.shape[1]), bool)
        whole = np.full(released, MAGNIFIED)
        self.solver = GrowingProgram(
            SparseColumns(np.array([0, inputs], np.int32), np.arange(inputs, dtype=np.int32), -np.ones(inputs)),
            cost=np.full(1, MAGNIFIED),
            bounds=(np.zeros(1), np.full(1, np.inf)),
            row_bounds=(
                np.append(np.full(inputs, -np.inf), whole),
                np.append(np.where(game.possible, 0.0, np.inf), whole),
            ),
        )

    def allow(self, pairs: NDArray[np.bool_]) -> bool:
        """Let every marked pair (z, v) be used; tell whether any is new."""
        z, v = np.nonzero(pairs & ~self.allowed)
        self.allowed |= pairs
        if not len(z):
            return False
        inputs, size = self.game.rows.shape[0], len(z)
        values = np.vstack((self.game.rows[:, z] * self.game.table[:, v] / self.scale, np.ones(size)))
        rows = np.vstack((np.repeat(np.arange(inputs)[:, None], size, axis=1), inputs + z))
        kept = (values != 0).T
        starts = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
        self.solver.add_columns(SparseColumns(starts, rows.T[kept].astype(np.int32), values.T[kept]))
        self.z, self.v = np.append(self.z, z), np.append(self.v, v)
        return True

    def solve(self) -> RawSolution | None:
        """Solve the program as it stands; None when the solver gives up."""
        found = self.solver.solve()
        if found is None:
            return None
        values, duals = found[0][1:], found[1]
        weights = np.maximum(-duals[: self.game.rows.shape[0]], 0)
        if not 0 < weights.sum() < np.inf:
            return None
        return RawSolution(self.z, self.v, snapped(self.z, values), on_grid(weights))
