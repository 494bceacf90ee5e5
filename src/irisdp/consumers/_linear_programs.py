"""The reader's linear program over a few answers per released value, written with running sums so that it stays sparse.

A reading is held as g(z, v), the probability of an answer above v, for a few v in a row around a first answer c(z);
moving along them changes the losses by a step, which is a few runs (`_geometric_game.py`). Written out, a step
touches every count. So the sums over runs become variables, one per count and direction, tied to their neighbours:

    y_j(i) = α (y_j(i−1) + y_{j+1}(i−1)) + what starts at i          y_0(i) is what the runs add at i

with j = 0, or j = 0, 1 for a loss that grows faster than the error. The program has a handful of entries per variable,
whatever n and ε. Where loss and side information are symmetric, so is a best reading: only one half is written, and
what runs out of it over the middle comes back mirrored. Nothing here is trusted: what comes out is evaluated elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact.linprog import GrowingProgram, SparseColumns
from ._geometric_game import Floats, Integers, RecurrentGame

# Shared parts of the linear programs: the form of a solution, and the grid to which it is rounded.

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


_REFINEMENTS = 3
_GOOD_ENOUGH = 5e-11

_LARGE = 4000
"""Counts from which the solver is no longer asked for the weights to more digits than it has by itself."""

_STEEP = 1e6
"""What weights sum to where they fall off over many orders of magnitude."""

_MOST_MAGNIFIED = 1e9

_BOX = 100.0
"""Running sums are a few units at most, once divided by the scale of losses; bounds keep the dual simplex in range."""


class CumulativeProgram:
    """A restricted program for one game. Answers may be added, and it goes on from where it stood.

    Parameters
    ----------
    game : RecurrentGame
    centre : array of n + 1 integers
        The first answer c(z) to every released value.
    scale : float
        About the value expected: losses are divided by it.
    """

    def __init__(self, game: RecurrentGame, centre: Integers, scale: float) -> None:
        self.game, self.scale = game, scale
        self.last = game.n // 2 if game.symmetric else game.n
        self.count = self.last + 1
        self.released = np.arange(self.count)
        self.low = self.high = centre[: self.count]
        self.z, self.v = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.above = np.zeros(0)
        self.pairs = np.zeros((2, 0), np.int64)
        tails = (game.low, game.high)
        self.sums = 2 if any(tail.curvature for tail in tails) else int(any(tail.slope for tail in tails))
        self.worst = 2 * self.sums * self.count
        self.solver = self._skeleton()

    def allow(self, low: Integers, high: Integers) -> bool:
        """Let the answer to every z lie anywhere from low(z) to high(z); tell whether that is new."""
        low, high = np.minimum(low[: self.count], self.low), np.maximum(high[: self.count], self.high)
        below, beyond = self.low - low, high - self.high
        z = np.concatenate((np.repeat(self.released, below), np.repeat(self.released, beyond)))
        v = np.concatenate((_counted(low, below), _counted(self.high, beyond)))
        self.low, self.high = low, high
        if len(z):
            self.z, self.v = np.append(self.z, z), np.append(self.v, v)
            self.above = np.concatenate((self.above, np.ones(below.sum()), np.zeros(beyond.sum())))
            self._add_columns(z, v)
            self._add_order(len(self.z) - len(z))
        return bool(len(z))

    def begin(self, answers: Integers, mixed: NDArray[np.bool_], worst: NDArray[np.bool_]) -> None:
        """Begin where z is read as `answers`, or that mixed with the next, and losses of `worst` counts are equal.

        Call it once answers are allowed. From here on weights sum to far more than 1: far from the middle they may be
        smaller than what the solver sees.
        """
        lower = answers[self.z]
        above = np.where(self.v < lower, 1, np.where((self.v == lower) & mixed[self.z], 0, -1))
        columns = np.concatenate((np.zeros(self.worst + 1, np.int8), above.astype(np.int8)))
        losses, ties = np.where(worst[: self.count], 1, 0), np.full(self.worst, -1)
        rows = np.concatenate((losses, ties, np.zeros(self.pairs.shape[1], np.int64))).astype(np.int8)
        self.solver.change_cost(self.worst, _STEEP)
        self.solver.begin(columns, rows)

    def solve(self) -> RawSolution | None:
        """Solve the program as it stands; None when the solver gives up.

        A basis may run a recurrence in its unstable direction, and then the reading found is not quite what the solver
        takes it for. So its losses are evaluated, and the program is solved again, from the same basis, as a correction
        to it that is magnified until the error is of size 1: iterative refinement.
        """
        best, lowest, magnification = None, np.inf, 1.0
        for _ in range(_REFINEMENTS):
            losses = self._pose(magnification)
            solution = self.solver.solve() or self._unmagnified()
            if solution is None:
                break
            values, weights = solution[0], np.maximum(-solution[1][: self.count], 0)
            if not 0 < weights.sum() < np.inf:
                break
            before, expected = self.above, losses + values[self.worst] / magnification
            self.above = self._ordered(before + values[self.worst + 1 :] / magnification)
            reading = self._reading()
            reached = self._worst(self._losses(*reading))
            if reached < lowest:
                best, lowest = RawSolution(*self._unfolded(*reading), self._prior(weights)), reached
            if reached <= expected + _GOOD_ENOUGH:
                break
            magnification = min(1 / (reached - expected), _MOST_MAGNIFIED)
        return best

    def _unmagnified(self) -> tuple[Floats, Floats] | None:
        """Try once more with weights that sum to 1: less exact, and easier on the largest programs."""
        self.solver.change_cost(self.worst, 1.0)
        self.solver.forget_what_helped()
        return self.solver.solve()

    def _pose(self, magnification: float) -> float:
        """Write the program as a magnified change of the reading at hand; return the worst loss of that reading."""
        losses = self._losses(*self._reading())
        worst = self._worst(losses)
        room = np.where(self.game.possible[: self.count], magnification * (worst - losses), np.inf)
        left, right = self.pairs
        self.solver.bound_rows(0, np.full(self.count, -np.inf), room)
        gaps = magnification * (self.above[right] - self.above[left])
        self.solver.bound_rows(self.count + self.worst, gaps, np.full(len(gaps), np.inf))
        self.solver.bound_columns(self.worst + 1, -magnification * self.above, magnification * (1 - self.above))
        return worst

    def _worst(self, losses: Floats) -> float:
        return float(losses.max(initial=0.0, where=self.game.possible[: self.count]))

    def _skeleton(self) -> GrowingProgram:
        """Write the running sums and the worst loss, without any answer."""
        count, i = self.count, np.arange(self.count)
        entries = [(i, np.full(count, self.worst), -np.ones(count))]
        for backward in range(2):
            earlier = i + 1 if backward else i - 1
            (inner,) = np.nonzero((earlier >= 0) & (earlier < count))
            if self.sums:
                entries.append((i, self._sum(backward, 0) + i, np.ones(count)))
            for j in range(self.sums):
                row = count + self._sum(backward, j)
                entries.append((row + i, self._sum(backward, j) + i, np.ones(count)))
                for k in range(j, min(j + 2, self.sums)):
                    column = self._sum(backward, k)
                    entries.append((row + inner, column + earlier[inner], np.full(len(inner), -self._alpha)))
                if backward and self.game.symmetric:
                    entries += self._over_the_middle(row + self.last, j)
        rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        tied = np.zeros(self.worst)
        return GrowingProgram(
            SparseColumns.of_entries(rows, columns, values, self.worst + 1),
            cost=np.append(tied, MAGNIFIED if count < _LARGE else 1.0),
            bounds=(np.full(self.worst + 1, -_BOX), np.full(self.worst + 1, _BOX)),
            row_bounds=(np.append(np.full(count, -np.inf), tied), np.append(np.full(count, np.inf), tied)),
        )

    def _over_the_middle(self, row: int, j: int) -> list[tuple[NDArray[Any], NDArray[Any], Floats]]:
        """Feed the backward sums at the last count written from the forward sums, which are their mirror image."""
        parts = [(j, -1.0)] if self.game.n % 2 == 0 else [(k, -self._alpha) for k in range(j, min(j + 2, self.sums))]
        return [
            (np.array([row]), np.array([self._sum(0, k) + self.last]), np.array([coefficient]))
            for k, coefficient in parts
        ]

    def _add_columns(self, z: Integers, v: Integers) -> None:
        """Add one variable per pair, the change of g(z, v)."""
        n, folded = self.game.n, self.game.symmetric
        # The middle one is its own mirror image.
        share = np.where(folded & (2 * z == n), 0.5, 1.0) / self.scale
        steps = self.game.steps(z, v)
        runs, jumps, rows = steps.runs, steps.jumps * share, steps.rows
        position, backward = runs.position, runs.backward
        if folded:
            beyond = np.where(backward, 2 * position >= n, 2 * position > n)
            position, backward = np.where(beyond, n - position, position), backward ^ beyond
            jumps = np.where(2 * rows == n, 2 * jumps, jumps)
            rows = np.where(2 * rows > n, n - rows, rows)
        entries = []
        for j in range(self.sums):
            row = self.count + position + np.where(backward, self._sum(1, j), self._sum(0, j))
            entries.append((row, runs.column, -runs.coefficients[j] * share[runs.column]))
        for row, jump in zip(rows, jumps, strict=True):
            (inside,) = np.nonzero((row >= 0) & (row < self.count))
            entries.append((row[inside], inside, jump[inside]))
        where, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        self.solver.add_columns(SparseColumns.of_entries(where, columns, values, len(z)), most=1.0)

    def _add_order(self, first: int) -> None:
        """Insist on g(z, v) ≥ g(z, v + 1) wherever one of the two is the pair `first` or a later one."""
        order = np.lexsort((self.v, self.z))
        left, right = order[:-1], order[1:]
        new = (self.z[left] == self.z[right]) & ((left >= first) | (right >= first))
        pairs = np.stack((left[new], right[new]))
        self.pairs = np.append(self.pairs, pairs, axis=1)
        self.solver.add_differences(self.worst + 1 + pairs)

    def _ordered(self, above: Floats) -> Floats:
        """Round g to the grid, and down where it would rise with v."""
        above = np.ldexp(np.rint(np.ldexp(np.clip(above, 0, 1), GRID_BITS)), -GRID_BITS)
        order, start, length = self._by_released()
        for step in range(1, int(length.max(initial=0))):
            here = start[length > step] + step
            above[order[here]] = np.minimum(above[order[here]], above[order[here - 1]])
        return above

    def _reading(self) -> tuple[Integers, Integers, Floats]:
        """Return the chances of all answers, for the released values that are written."""
        order, start, length = self._by_released()
        above = self.above[order]
        some = length > 0
        lowest, following = np.ones(self.count), np.append(above[1:], 0.0)[: len(above)]
        lowest[some] -= above[start[some]]
        following[(start + length - 1)[some]] = 0
        released = np.concatenate((self.released, self.z[order]))
        answers = np.concatenate((self.low, self.v[order] + 1))
        chances = np.concatenate((lowest, above - following))
        kept = chances > 0
        return released[kept], answers[kept], chances[kept]

    def _by_released(self) -> tuple[Integers, Integers, Integers]:
        """Return the pairs in order of z and v, and where those of every z start and how many they are."""
        length = self.high - self.low
        return np.lexsort((self.v, self.z)), np.cumsum(length) - length, length

    def _unfolded(self, z: Integers, answers: Integers, chances: Floats) -> tuple[Integers, Integers, Floats]:
        if not self.game.symmetric:
            return z, answers, chances
        n = self.game.n
        chances = np.where(2 * z == n, chances / 2, chances)
        return np.append(z, n - z), np.append(answers, n - answers), np.append(chances, chances)

    def _losses(self, z: Integers, answers: Integers, chances: Floats) -> Floats:
        return self.game.losses(*self._unfolded(z, answers, chances))[0][: self.count] / self.scale

    def _prior(self, weights: Floats) -> Floats:
        whole = np.zeros(self.game.n + 1)
        whole[: self.count] = weights
        return on_grid(whole + whole[::-1] if self.game.symmetric else whole)

    @property
    def _alpha(self) -> float:
        return float(self.game.kernel.powers[1])

    def _sum(self, backward: int, j: int) -> int:
        """Return where the variables y_j of one direction begin; their rows begin `count` further."""
        return (backward * self.sums + j) * self.count


def _counted(first: Integers, length: Integers) -> Integers:
    """Concatenate first(z), first(z) + 1, … of the given lengths."""
    return np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - first, length)


# The reader's linear program over some pairs (z, v) of a released value and an answer, each column written out.
#
# It uses no recurrence, so it is well conditioned where the program above is not: strong noise decay, possible counts
# with wide gaps. A column holds the counts around z whose losses are above the solver's resolution. A loss that is one
# jump is written by its complement, the counts that an answer is near enough to, unless errors are so rare that their
# probability would be lost in the complement.

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
        solution = self.solver.solve()
        if solution is None:
            return None
        chances, weights = solution[0][1:], np.zeros(self.game.n + 1)
        weights[self.counts] = np.maximum(-solution[1][: len(self.counts)], 0)
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
        result: Floats = kernel.powers[abs(counts - z[:, None])] * kernel.scale[z][:, None]
        return result
