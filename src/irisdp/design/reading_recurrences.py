"""The game of reading the geometric mechanism, for losses of the error alone, by recurrences in linear time.

The reader picks an answer for every released value, nature a prior. Everything is a sum of tails over the mechanism
(`geometric_kernel`), so losses of a reading, best answers to a prior and the effect of moving one answer by one cost
O(n log n) for any n, whatever the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .consumer_loss import Loss, Tail
from .geometric_kernel import DEGREES, Floats, GeometricKernel, Integers, Runs

__all__ = ["RecurrentGame", "Steps"]


@dataclass(frozen=True, slots=True)
class Steps:
    """How the losses change when the answer to z moves from v to v + 1: runs, and single entries (row, size).

    Column c of `runs`, `rows[:, c]` and `jumps[:, c]` belong together; a row outside 0..n means no entry. All are per unit
    of probability, the mechanism's own included.
    """

    runs: Runs
    rows: Integers
    jumps: Floats


class RecurrentGame:
    """A consumer with a loss of the error alone against the geometric mechanism on 0..n."""

    def __init__(self, n: int, ratio: Fraction, loss: Loss, possible: NDArray[np.bool_]) -> None:
        assert loss.low is not None and loss.high is not None
        self.n, self.kernel, self.possible = n, GeometricKernel(n, ratio), possible
        self.low, self.high = loss.low, loss.high
        self.convex = loss.low.jump == 0 and loss.high.jump == 0
        self.symmetric = loss.low == loss.high and bool((possible == possible[::-1]).all())

    def columns(self, z: Integers, answers: Integers) -> Runs:
        """Return Pr[z | i]·l(i, answer) as runs, one column per pair."""
        low = self.kernel.right_tails(z, answers + self.low.beyond + 1, self._whole(self.low, z))
        high = self.kernel.left_tails(z, answers - self.high.beyond - 1, self._whole(self.high, z))
        return low.joined(high)

    def steps(self, z: Integers, v: Integers) -> Steps:
        """Return what moving the answer to z from v to v + 1 changes."""
        low_start, high_start = v + self.low.beyond + 1, v - self.high.beyond
        low = self.kernel.right_tails(z, low_start, -self._increments(self.low, z))
        high = self.kernel.left_tails(z, high_start, self._increments(self.high, z))
        rows = np.stack((low_start, high_start))
        reached = self.kernel.scale[z] * self.kernel.powers[np.minimum(abs(rows - z), self.n + 1)]
        jumps = reached * np.array([[-float(self.low.jump)], [float(self.high.jump)]])
        return Steps(low.joined(high), rows, jumps)

    def losses(self, z: Integers, answers: Integers, chances: Floats) -> tuple[Floats, Floats]:
        """Return the expected loss of every count under a reading, and a bound on the error of each."""
        runs = self.columns(z, answers)
        value = self.kernel.spread(runs, chances)
        sizes = Runs(runs.column, runs.backward, runs.position, abs(runs.coefficients))
        return value, self.kernel.relative_error(4 * len(z)) * self.kernel.spread(sizes, chances)

    def _whole(self, tail: Tail, z: Integers) -> Floats:
        return self._scaled((tail.jump + tail.level, tail.level + tail.slope, tail.slope), z)

    def _increments(self, tail: Tail, z: Integers) -> Floats:
        return self._scaled((tail.level, tail.slope, Fraction(0)), z)

    def _scaled(self, coefficients: tuple[Fraction, ...], z: Integers) -> Floats:
        return np.array([float(c) for c in coefficients])[:, None] * self.kernel.scale[z]


assert DEGREES == 3
