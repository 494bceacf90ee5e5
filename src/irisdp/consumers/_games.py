"""Build the game of a deployed mechanism and a consumer, in floats or in exact numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Table
from .._exact.linprog import (
    GrowingProgram,
    LinearProgram,
    SparseColumns,
    SparseRow,
    as_fmpq,
    as_fraction,
    exact_optimum,
)
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ._consumer import Consumer
from ._geometric_game import UNDERFLOW, UNIT, BestAnswers, Floats, GeometricKernel, Integers, RecurrentGame
from ._linear_programs import MAGNIFIED, RawSolution, on_grid, snapped

# Optimal post-processing of small mechanisms: the game as a linear program in rationals, and its exact certificate.
#
# Larger games are solved in floats with certified bounds (`_minimax.py`).


@dataclass(frozen=True, slots=True)
class ExactReading:
    """A reading as a stochastic matrix, and the prior that bounds all readings."""

    table: Table
    weights: tuple[Fraction, ...]


def costs(rows: Table, losses: Table, weights: Sequence[Fraction]) -> list[list[flint.fmpq]]:
    """Return Σ_i w_i P_iz l_iv: one row per released value, one column per answer."""
    channel = flint.fmpq_mat([[as_fmpq(row[z]) for row in rows] for z in range(len(rows[0]))])
    weighed = flint.fmpq_mat([[as_fmpq(w) * as_fmpq(x) for x in line] for w, line in zip(weights, losses, strict=True)])
    products: list[list[flint.fmpq]] = (channel * weighed).tolist()
    return products


def bayes_bound(rows: Table, losses: Table, weights: Sequence[Fraction]) -> Fraction:
    """Return Σ_z min_v Σ_i w_i P_iz l_iv: what no reading of the mechanism stays below, on average over the prior."""
    return as_fraction(sum((min(line) for line in costs(rows, losses, weights)), flint.fmpq(0)))


def expected_losses(rows: Table, losses: Table, reading: Table) -> list[Fraction]:
    """Return Σ_z P_iz Σ_v T_zv l_iv for every input."""
    read = flint.fmpq_mat([[as_fmpq(p) for p in row] for row in rows]) * flint.fmpq_mat(
        [[as_fmpq(p) for p in row] for row in reading]
    )
    return [
        as_fraction(sum((p * as_fmpq(x) for p, x in zip(row, line, strict=True) if p != 0), flint.fmpq(0)))
        for row, line in zip(read.tolist(), losses, strict=True)
    ]


def exact_bayes(rows: Table, losses: Table, weights: Sequence[Fraction]) -> ExactReading:
    """Return the deterministic best reading for a prior; among equals the least answer."""
    best = [line.index(min(line)) for line in costs(rows, losses, weights)]
    one, zero = Fraction(1), Fraction(0)
    return ExactReading(
        tuple(tuple(one if v == b else zero for v in range(len(losses[0]))) for b in best), tuple(weights)
    )


_FINE = 1 << 256


def exact_minimax(rows: Table, losses: Table, possible: Sequence[int], *, nearly: bool = False) -> ExactReading:
    """Solve the reader's linear program, exactly unless the solver has to give up close to the optimum.

    Variables: T_zv, a slack per possible input, and the worst loss above the least entry, so that all are non-negative.
    With `nearly`, close is good enough, for callers that round what they get: then so are rows up to 2^-256.
    """
    released, answers = len(rows[0]), len(losses[0])
    one = flint.fmpq(1)
    floor = as_fmpq(min(min(losses[i]) for i in possible))
    if nearly:
        rows = tuple(tuple(Fraction(round(p * _FINE), _FINE) for p in row) for row in rows)
    channel = [[as_fmpq(p) for p in row] for row in rows]
    table = [[as_fmpq(x) - floor for x in row] for row in losses]
    columns: list[SparseRow] = []
    for z in range(released):
        for v in range(answers):
            column: SparseRow = {z: one}
            for k, i in enumerate(possible):
                if (x := channel[i][z] * table[i][v]) != 0:
                    column[released + k] = x
            columns.append(column)
    columns += [{released + k: one} for k in range(len(possible))]
    columns.append({released + k: -one for k in range(len(possible))})
    cost = [flint.fmpq(0)] * (len(columns) - 1) + [one]
    right = [one] * released + [flint.fmpq(0)] * len(possible)
    program = LinearProgram(columns, cost, right)
    optimum = exact_optimum(program, nearly=nearly)
    if not optimum.close:
        optimum = exact_optimum(program)
    weights = [Fraction(0)] * len(rows)
    for k, i in enumerate(possible):
        weights[i] = max(-as_fraction(optimum.duals[released + k]), Fraction(0))
    if not any(weights):
        # The worst loss is the least entry there is, which any prior proves.
        weights[possible[0]] = Fraction(1)
    values = [max(as_fraction(x), Fraction(0)) for x in optimum.values[: released * answers]]
    lines = [values[z * answers : (z + 1) * answers] for z in range(released)]
    return ExactReading(tuple(_normalised(line) for line in lines), _normalised(weights))


def _normalised(numbers: list[Fraction]) -> tuple[Fraction, ...]:
    total = sum(numbers, Fraction(0))
    return tuple(numbers) if total == 1 else tuple(x / total for x in numbers)


# The game of post-processing a mechanism that is given as a matrix, for any table of losses.
#
# It is the game of `_geometric_game.py` by plain matrix products. All numbers that enter are at least 0, so every sum
# has a small relative error, which is counted and added to the bounds.


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
        solution = self.solver.solve()
        if solution is None:
            return None
        values, duals = solution[0][1:], solution[1]
        weights = np.maximum(-duals[: self.game.rows.shape[0]], 0)
        if not 0 < weights.sum() < np.inf:
            return None
        return RawSolution(self.z, self.v, snapped(self.z, values), on_grid(weights))


Deployed = Mechanism | FactoredMechanism

LARGEST_TABLE = 2_000
"""Counts up to which losses and rows are multiplied out."""


def check_counts(deployed: Deployed, consumer: Consumer) -> None:
    """Refuse a mechanism with another number of inputs than the consumer's 0..n."""
    if len(deployed.inputs) != consumer.n + 1:
        rule = f"has {len(deployed.inputs)} inputs, and the consumer expects the counts 0..{consumer.n}"
        raise BadInput("deployed", rule, "give a mechanism with one input per count, in order")


def is_plain_noise(deployed: Deployed) -> bool:
    """Tell whether a mechanism is the formula of geometric noise, unread."""
    return isinstance(deployed, FactoredMechanism) and deployed.reading is None


def exact_rows(deployed: Deployed) -> Table:
    """Return the rows in rationals."""
    if isinstance(deployed, FactoredMechanism):
        return tuple(deployed.row(i) for i in deployed.inputs)
    return tuple(deployed.matrix())


def float_rows(deployed: Deployed) -> Floats:
    """Return the rows in floats, each entry within a few units of its last place."""
    if isinstance(deployed, FactoredMechanism):
        noise = GeometricKernel(deployed.n, deployed.privacy.ratio).rows()
        if deployed.reading is None:
            return noise
        reading = np.zeros_like(noise)
        for z, line in deployed.reading.items():
            for v, p in line:
                reading[z, v] += float(p)
        return noise @ reading
    return np.array([[float(p) for p in row] for row in deployed.rows])[deployed.row_of]


def possible_counts(consumer: Consumer) -> NDArray[np.bool_]:
    """Mark the counts that are possible."""
    possible = np.zeros(consumer.n + 1, bool)
    possible[np.fromiter(consumer.possible, np.int64)] = True
    return possible


def prior_in_floats(consumer: Consumer) -> tuple[Floats, float]:
    """Return the consumer's prior, each weight within one rounding of it up to a common factor, and their sum."""
    assert consumer.prior is not None
    weights = np.array([float(w) for w in consumer.prior]) if isinstance(consumer.prior, tuple) else consumer.prior
    return weights, math.fsum(weights)


def mean_between(lower: float, upper: float, total: float) -> tuple[Fraction, Fraction]:
    """Divide bounds on Σ w_i x_i by the sum of the weights, covering the rounding of weights and sum."""
    return Fraction(lower * (1 - 8 * UNIT)) / Fraction(total), Fraction(upper * (1 + 8 * UNIT)) / Fraction(total)


def harmless_answer(consumer: Consumer) -> int | None:
    """Return an answer that costs nothing whatever is true, if there is one."""
    counts = consumer.considered
    low, high = consumer.loss.low, consumer.loss.high
    if low is not None and high is not None:
        answer = max(counts[-1] - low.beyond, counts[0])
        return answer if answer - counts[0] <= high.beyond or answer == counts[0] else None
    lines = [consumer.loss.entries[i] for i in counts] if consumer.loss.entries is not None else []
    if min(map(min, lines)) < 0:
        return None
    return next((v for v in range(consumer.n + 1) if not any(line[v] for line in lines)), None)


def game_of(deployed: Deployed, consumer: Consumer) -> tuple[RecurrentGame | MatrixGame, Fraction]:
    """Set up the game on all of 0..n, and the constant taken off the losses so that none is negative."""
    possible = possible_counts(consumer)
    if is_plain_noise(deployed) and consumer.loss.recurrent and consumer.n:
        return RecurrentGame(consumer.n, deployed.privacy.ratio, consumer.loss, possible), Fraction(0)
    if consumer.n > LARGEST_TABLE:
        rule = f"has {consumer.n + 1:,} counts, and only plain noise under a loss with a name is read beyond a matrix"
        raise BadInput("deployed", rule, f"give at most {LARGEST_TABLE + 1:,} counts")
    table = consumer.loss.table(consumer.n)
    floor = min(Fraction(0), *map(min, table))
    return MatrixGame(
        float_rows(deployed), np.array([[float(x - floor) for x in row] for row in table]), possible
    ), floor
