"""The reader's linear program over some pairs (z, v) of a released value and an answer, each column written out.

It leans on no recurrence, so it is well conditioned where `cumulative_program` is not: strong noise decay, possible
counts with wide gaps. A column holds the counts about as far from z as its losses are above the solver's resolution. A
loss that is one jump is written the other way round, by the counts an answer is near enough to, unless errors are so
rare that their probability would drown in its complement.
"""

from __future__ import annotations

import math

import numpy as np

from ..linprog.highs import GrowingProgram, SparseColumns
from .geometric_sums import Floats, Integers
from .raw_solutions import MAGNIFIED, RawSolution, on_grid, snapped
from .recurrences import RecurrentGame

__all__ = ["PairProgram"]

_RESOLUTION = 1e-16
"""Probabilities below this share of the scale of losses are left out."""

_RARE = 1e-2


class PairProgram:
    """A restricted program for one game. Pairs may be added, and it goes on from where it stood.

    Parameters
    ----------
    game : RecurrentGame
    scale : float
        About the value expected: losses are divided by it.
    """

    def __init__(self, game: RecurrentGame, scale: float) -> None:
        self.game, self.scale = game, scale
        self.counts = np.flatnonzero(game.possible)
        self.row_of = np.full(game.n + 1, -1)
        self.row_of[self.counts] = np.arange(len(self.counts))
        jump = float(game.low.jump)
        self.by_hits = not game.convex and scale > _RARE * jump
        self.table = [
            np.array([float(tail.at(error)) for error in range(game.n + 1)]) for tail in (game.low, game.high)
        ]
        self.z, self.v = np.zeros(0, np.int64), np.zeros(0, np.int64)
        # The probability of the largest loss within reach is what is resolved.
        above = math.log(max(1.0, float(max(self.table[0][-1], self.table[1][-1])) / scale) / _RESOLUTION)
        epsilon = game.epsilon
        self.band = game.n if epsilon * game.n <= above else math.ceil(above / epsilon)
        rows, released = len(self.counts), game.n + 1
        certain, whole = MAGNIFIED * jump / scale if self.by_hits else 0.0, np.full(released, MAGNIFIED)
        self.solver = GrowingProgram(
            SparseColumns(np.array([0, rows], np.int32), np.arange(rows, dtype=np.int32), -np.ones(rows)),
            cost=np.full(1, MAGNIFIED),
            bounds=(np.zeros(1), np.full(1, np.inf)),
            row_bounds=(np.append(np.full(rows, -np.inf), whole), np.append(np.full(rows, -certain), whole)),
        )

    def allow(self, z: Integers, v: Integers) -> bool:
        """Let every z be read as the v beside it; tell whether any of these pairs is new."""
        size = self.game.n + 1
        keys = np.setdiff1d(z * size + v, self.z * size + self.v)
        if not len(keys):
            return False
        z, v = keys // size, keys % size
        where, values = self._hits(z, v) if self.by_hits else self._losses(z, v)
        column = np.broadcast_to(np.arange(len(z))[:, None], where.shape)
        rows = np.where((where >= 0) & (where <= self.game.n), self.row_of[np.clip(where, 0, self.game.n)], -1)
        kept = (rows >= 0) & (values != 0)
        columns = SparseColumns.of_entries(
            np.append(rows[kept], len(self.counts) + z),
            np.append(column[kept], np.arange(len(z))),
            np.append(values[kept] / self.scale, np.ones(len(z))),
            len(z),
        )
        self.solver.add_columns(columns)
        self.z, self.v = np.append(self.z, z), np.append(self.v, v)
        return True

    def solve(self) -> RawSolution | None:
        """Solve the program as it stands; None when the solver gives up."""
        found = self.solver.solve()
        if found is None:
            return None
        chances, weights = found[0][1:], np.zeros(self.game.n + 1)
        weights[self.counts] = np.maximum(-found[1][: len(self.counts)], 0)
        if not 0 < weights.sum() < np.inf or not np.bincount(self.z, np.maximum(chances, 0)).min() > 0:
            return None
        return RawSolution(self.z, self.v, snapped(self.z, chances), on_grid(weights))

    def _losses(self, z: Integers, v: Integers) -> tuple[Integers, Floats]:
        """Return counts near z, and Pr[z | i]·l(i, v) there."""
        low, high = self.table
        if len(self.counts) <= 2 * self.band:
            counts = np.broadcast_to(self.counts, (len(z), len(self.counts)))
        else:
            counts = np.clip(z[:, None] + np.arange(-self.band, self.band + 1), -1, self.game.n + 1)
        inside = np.clip(counts, 0, self.game.n)
        error = v[:, None] - inside
        loss = np.where(error >= 0, high[abs(error)], low[abs(error)])
        return counts, self._chance(z, inside) * loss

    def _hits(self, z: Integers, v: Integers) -> tuple[Integers, Floats]:
        """Return the counts an answer is near enough to, and what the loss there is less by."""
        reach = self.game.low.beyond
        counts = v[:, None] + np.arange(-reach, reach + 1)
        return counts, -float(self.game.low.jump) * self._chance(z, np.clip(counts, 0, self.game.n))

    def _chance(self, z: Integers, counts: Integers) -> Floats:
        kernel = self.game.kernel
        found: Floats = kernel.powers[abs(counts - z[:, None])] * kernel.scale[z][:, None]
        return found
