"""From a deployed mechanism and a consumer to the game they stand for, in floats or in exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import Table
from ..mechanisms import FactoredMechanism, Mechanism
from .consumer import Consumer
from .geometric_sums import UNIT, Floats, GeometricKernel
from .matrix import MatrixGame
from .recurrences import RecurrentGame

__all__ = [
    "Deployed",
    "check_counts",
    "exact_rows",
    "float_rows",
    "game_of",
    "harmless_answer",
    "is_plain_noise",
    "mean_between",
    "possible_counts",
    "prior_in_floats",
]

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
