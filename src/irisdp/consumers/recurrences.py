"""The game of reading the geometric mechanism, for losses of the error alone, by recurrences in linear time.

The reader picks an answer for every released value, nature a prior. Everything is a sum of tails over the mechanism
(`geometric_sums`), so losses of a reading, best answers to a prior and the effect of moving an answer by one cost
O(n log n) for any n. All results come with a bound on their error, so they prove what they say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .geometric_sums import UNDERFLOW, Floats, GeometricKernel, Integers, Runs
from .losses import Loss, Tail

__all__ = ["BestAnswers", "RecurrentGame", "Steps"]

_TABLED = 256
"""Counts up to which best answers are found in a whole table."""

_STRIDES = (4096, 64, 8, 1)
"""Every so many released values are searched first; best answers grow with the value, so the rest lie between."""


@dataclass(frozen=True, slots=True)
class BestAnswers:
    """A best answer to every released value under a prior, and an enclosure of what they cost together.

    No reading at all costs less than `lower` under the prior; this one costs at most `upper`.
    """

    answers: Integers
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Steps:
    """How the expected losses change when the answer to z moves from v to v + 1, one column per pair (z, v).

    Column c of `runs`, and the single entries `jumps[:, c]` at the counts `rows[:, c]` (outside 0..n: none), add up.
    """

    runs: Runs
    rows: Integers
    jumps: Floats


class RecurrentGame:
    """A consumer whose loss depends on the error alone, against the geometric mechanism on 0..n.

    Parameters
    ----------
    n : int
        Largest count, at least 1.
    ratio : Fraction
        1/α.
    loss : Loss
        A recurrent one.
    possible : array of n + 1 booleans
        The side information.
    """

    def __init__(self, n: int, ratio: Fraction, loss: Loss, possible: NDArray[np.bool_]) -> None:
        assert loss.low is not None and loss.high is not None and loss.recurrent
        self.n, self.ratio, self.loss, self.possible = n, ratio, loss, possible
        self.kernel = GeometricKernel(n, ratio)
        self.low, self.high = loss.low, loss.high
        self.convex = self.low.jump == 0 and self.high.jump == 0
        self.symmetric = self.low == self.high and bool((possible == possible[::-1]).all())
        self.released = np.arange(n + 1)
        # Not `log_near`: priors are tried that follow from this float, and a design is to stay what it was bit for bit.
        self.epsilon = math.log(ratio.numerator) - math.log(ratio.denominator)

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
        """Return the expected loss of every count if z is read as `answers` with `chances`, and the errors at most."""
        runs = self.columns(z, answers)
        starts = np.bincount(runs.position)
        error = self.kernel.relative_error(int(starts.max(initial=0)))
        sizes = replace(runs, coefficients=abs(runs.coefficients))
        return self.kernel.spread(runs, chances), error * self.kernel.spread(sizes, chances) + UNDERFLOW

    def costs(self, z: Integers, answers: Integers, weights: Floats) -> tuple[Floats, Floats]:
        """Return Σ_i w_i Pr[z | i] l(i, answer) for every pair, and bounds on the errors."""
        return self._enclosed(self.columns(z, answers), self.kernel.states(weights), len(z))

    def best(self, weights: Floats) -> BestAnswers:
        """Return best answers to a prior (unnormalised, at least 0), with certified bounds on their cost."""
        states = self.kernel.states(weights)
        if self.convex:
            answers = self._by_table(weights) if self.n <= _TABLED else self._medians(states)
            cost, error = self._enclosed(self.columns(self.released, answers), states, self.n + 1)
            least = cost - error - self._slack(answers, states)
        else:
            answers, cost, error, least = self._modes(weights, states)
        return BestAnswers(
            answers,
            math.nextafter(math.fsum(np.maximum(least, 0)), 0.0),
            math.nextafter(math.fsum(cost + error), math.inf),
        )

    def _by_table(self, weights: Floats) -> Integers:
        """Find for every z the least of the cheapest answers by a product of matrices: quicker while they are small."""
        rows, table = self._tables
        answers: Integers = (rows.T @ (weights[:, None] * table)).argmin(axis=1)
        return answers

    def roughly(self, weights: Floats) -> float | None:
        """Return what best answers to a prior cost, without any certainty, where that takes no time."""
        if self.n > _TABLED:
            return None
        rows, table = self._tables
        return float((rows.T @ (weights[:, None] * table)).min(axis=1).sum())

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        low, high = ([float(tail.at(error)) for error in range(self.n + 1)] for tail in (self.low, self.high))
        errors = self.released - self.released[:, None]
        return self.kernel.rows(), np.where(errors >= 0, np.array(high)[abs(errors)], np.array(low)[abs(errors)])

    def _medians(self, states: tuple[Floats, Floats]) -> Integers:
        """Find for every z the least answer from which on the cost no longer falls; convex losses only."""
        known, answers = np.array([0, self.n]), np.array([0, self.n])
        for stride in _STRIDES:
            z = self.released[::stride] if self.n % stride == 0 else np.append(self.released[::stride], self.n)
            after = np.searchsorted(known, z)
            low, high = answers[np.maximum(after - 1, 0)], answers[after]
            if len(known) == 2:
                low, high = np.zeros_like(z), np.full_like(z, self.n)
            known, answers = z, self._search(z, np.minimum(low, high), np.maximum(low, high), states)
        return answers

    def _search(self, z: Integers, low: Integers, high: Integers, states: tuple[Floats, Floats]) -> Integers:
        low, high = low.copy(), high.copy()
        (open_,) = np.nonzero(low < high)
        while len(open_):
            middle = (low[open_] + high[open_]) // 2
            falls = self.kernel.collect(self.steps(z[open_], middle).runs, states, len(open_)) < 0
            low[open_] = np.where(falls, middle + 1, low[open_])
            high[open_] = np.where(falls, high[open_], middle)
            open_ = open_[low[open_] < high[open_]]
        return low

    def _slack(self, answers: Integers, states: tuple[Floats, Floats]) -> Floats:
        """Bound how much the cost may still fall on either side of the answers.

        The change φ(v) from v to v + 1 grows with v. If it is at least −e at the answer and certainly not negative m
        steps further, nothing within reach saves more than m·e.
        """
        slack = np.zeros(self.n + 1)
        for side in (1, -1):
            (z,) = np.nonzero(answers < self.n if side == 1 else answers > 0)
            first, steps = np.zeros(len(z)), 0
            while len(z):
                v = answers[z] + steps if side == 1 else answers[z] - 1 - steps
                beyond = (v < 0) | (v >= self.n)
                change, error = self._changes(z, np.clip(v, 0, self.n - 1), states)
                fall = np.maximum(error - side * change, 0)
                first = fall if steps == 0 else first
                done = beyond | (fall == 0)
                slack[z] = np.maximum(slack[z], np.where(done, steps * first, 0))
                z, first = z[~done], first[~done]
                steps = 2 * steps + 1
        return slack

    def _changes(self, z: Integers, v: Integers, states: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        return self._enclosed(self.steps(z, v).runs, states, len(z))

    def _enclosed(self, runs: Runs, states: tuple[Floats, Floats], columns: int) -> tuple[Floats, Floats]:
        sizes = replace(runs, coefficients=abs(runs.coefficients))
        return (
            self.kernel.collect(runs, states, columns),
            self.kernel.relative_error(6) * self.kernel.collect(sizes, states, columns) + UNDERFLOW,
        )

    def _modes(self, weights: Floats, states: tuple[Floats, Floats]) -> tuple[Integers, Floats, Floats, Floats]:
        """Find for every z the answer whose window, 2·beyond + 1 counts wide, misses the least weight; jumps only.

        Windows that reach over z are tried one by one; of those on one side of z the best follows by a recurrence.
        Returns the answers, what they cost, the errors of that, and what no answer costs less than.
        """
        n, reach, z = self.n, self.low.beyond, self.released
        cost, error, answers = np.full(n + 1, np.inf), np.zeros(n + 1), z.copy()
        least = cost.copy()
        candidates = [np.clip(z + offset, 0, n) for offset in range(-reach, reach + 1)]
        if n > 2 * reach:
            backward, forward = states[1][0], states[0][0]
            candidates.append(self._best_window(weights, forward, reach))
            candidates.append(n - self._best_window(weights[::-1], backward[::-1], reach)[::-1])
        for candidate in candidates:
            found, doubt = self._enclosed(self.columns(z, candidate), states, n + 1)
            better = found < cost
            answers[better], cost[better], error[better] = candidate[better], found[better], doubt[better]
            # The recurrence compares what took few roundings: it passes over nothing better by more than one error.
            least = np.minimum(least, found - 2 * doubt)
        return answers, cost, error, least

    def _best_window(self, weights: Floats, ahead: Floats, reach: int) -> Integers:
        """Return for every z the centre of the best window that lies at or right of it, where there is one.

        Windows are compared by what they miss at and right of z, since what they catch may be far more; `ahead` is what
        all counts there weigh. No number is taken off another.
        """
        n, powers, width = self.n, self.kernel.powers, 2 * reach + 1
        best = np.full(n + 1, np.inf)
        best[: n + 1 - width] = powers[width] * ahead[width:]
        best[n + 1 - width] = 0
        start, between, step = np.arange(n + 1), weights, 1
        while step <= n and powers[step] > 0:
            further = between[:-step] + powers[step] * best[step:]
            better = further < best[:-step]
            best = np.concatenate((np.where(better, further, best[:-step]), best[-step:]))
            start = np.concatenate((np.where(better, start[step:], start[:-step]), start[-step:]))
            between = np.concatenate((between[:-step] + powers[step] * between[step:], between[-step:]))
            step *= 2
        return np.minimum(start + reach, n - reach)

    def _whole(self, tail: Tail, z: Integers) -> Floats:
        return self._scaled((tail.jump + tail.slope, tail.slope + tail.curvature, tail.curvature), z)

    def _increments(self, tail: Tail, z: Integers) -> Floats:
        return self._scaled((tail.slope, tail.curvature, Fraction(0)), z)

    def _scaled(self, coefficients: tuple[Fraction, ...], z: Integers) -> Floats:
        scaled: Floats = np.array([float(c) for c in coefficients])[:, None] * self.kernel.scale[z]
        return scaled
