"""The game of post-processing the geometric mechanism, for losses that depend on the error alone.

The reader chooses an answer for every released value, and nature a prior. Everything is a sum of tails over the
mechanism (below). So losses of a post-processing, best answers to a prior and the effect of moving an answer by one
cost O(n log n) for any n. All results have a bound on their error, so they are proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from .._exact import ball, working_precision
from ._loss_functions import Loss, Tail

# Sums over the geometric mechanism in linear time, with a bound on every rounding.
#
# The weight α^|i−z| of a count i under a released z, times a polynomial that starts somewhere, is a *tail*:
#
#     f(i) = α^|i−z| · p(i − t)  for i ≥ t,  0 before        (a right-hand tail; a left-hand one is its mirror image)
#
# Beyond the kink at z a tail is a *run*, α^(i−s)·Σ_j c_j C(i−s, j) for i ≥ s, or its mirror image. A tail that starts
# left of z is three runs: one forward from z, one backward from z − 1, and one backward from t − 1 that is subtracted.
# Runs are summed, and multiplied with other sums, by first-order recurrences, so no matrix is ever built. Nothing here
# is exact, but everything can be enclosed: a sum of non-negative terms has a small relative error, and a sum with signs
# an error of that share of the sum of the absolute values, which the same recurrences give
# (proofs/reading-certificate.md).

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2.0**-53
"""Largest relative error of one float operation."""

UNDERFLOW = 2.0**-700
"""More than everything that numbers below the range of floats may add up to (proofs/reading-certificate.md)."""

DEGREES = 3
"""Coefficients of a polynomial, on C(k, 0), C(k, 1), C(k, 2): losses up to the squared."""

_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Runs:
    """K runs, each belonging to a column.

    Parameters
    ----------
    column : array of K integers
        Which column the run is part of.
    backward : array of K booleans
        Whether it runs towards smaller counts.
    position : array of K integers
        Where it starts, in 0..n.
    coefficients : array, DEGREES × K
        On C(k, j), k the distance from the start.
    """

    column: Integers
    backward: NDArray[np.bool_]
    position: Integers
    coefficients: Floats

    def mirrored(self, n: int) -> Runs:
        """Reflect 0..n."""
        return Runs(self.column, ~self.backward, n - self.position, self.coefficients)

    def joined(self, other: Runs) -> Runs:
        """Take the runs of both, for the same columns."""
        return Runs(
            np.concatenate((self.column, other.column)),
            np.concatenate((self.backward, other.backward)),
            np.concatenate((self.position, other.position)),
            np.concatenate((self.coefficients, other.coefficients), axis=1),
        )


class GeometricKernel:
    """The geometric mechanism G_{n,α} on 0..n as an operator.

    Parameters
    ----------
    n : int
        Largest count.
    ratio : Fraction
        1/α ≥ 1, exact.
    """

    def __init__(self, n: int, ratio: Fraction) -> None:
        self.n = n
        self.powers = alpha_powers(ratio, n + 1)
        alpha = float(1 / ratio)
        self.scale = np.full(n + 1, float((ratio - 1) / (ratio + 1)))
        self.scale[[0, n]] = 1 / (1 + alpha) if n else 1.0

    def relative_error(self, terms: int) -> float:
        """Bound the relative error of a sum of non-negative tails in which at most `terms` runs start at one place.

        Each doubling step of a recurrence costs four roundings, three recurrences are nested, and everything else,
        with what differences of coefficients lose, fewer than two hundred (proofs/reading-certificate.md, 4).
        """
        return (250 + 12 * ceil(log2(self.n + 2)) + terms) * UNIT

    def rows(self) -> Floats:
        """Return the whole matrix, inputs × released values; for small n."""
        counts = np.arange(self.n + 1)
        matrix: Floats = self.powers[abs(counts[:, None] - counts)] * self.scale
        return matrix

    def column(self, z: int) -> Floats:
        """Return the probabilities of one released value under every count."""
        column: Floats = self.powers[abs(np.arange(self.n + 1) - z)] * self.scale[z]
        return column

    def right_tails(self, z: Integers, start: Integers, coefficients: Floats) -> Runs:
        """Split right-hand tails, one per column, into runs.

        Parameters
        ----------
        z : array of C integers
            Released values.
        start : array of C integers
            Where the tails start; may lie outside 0..n.
        coefficients : array, DEGREES × C
            Of p, on C(i − t, j).
        """
        column = np.arange(len(z))
        ahead = np.maximum(z - start, 0)
        amplitude = self.powers[np.clip(start - z, 0, self.n)]
        parts = [(column, np.maximum(start, z), amplitude * _shifted(coefficients, ahead), False)]
        (early,) = np.nonzero(ahead)
        if len(early):
            gap, inner = ahead[early], coefficients[:, early]
            parts.append((early, z[early] - 1, self.powers[1] * _reversed(inner, gap - 1), True))
            cut = -self.powers[np.minimum(gap + 1, self.n + 1)] * _reversed(inner, np.full_like(gap, -1))
            parts.append((early, start[early] - 1, cut, True))
        runs = Runs(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([np.full(len(part[0]), part[3]) for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts], axis=1),
        )
        return _kept(runs, self.n)

    def left_tails(self, z: Integers, start: Integers, coefficients: Floats) -> Runs:
        """Split left-hand tails, α^|i−z|·p(t − i) for i ≤ t, into runs."""
        return self.right_tails(self.n - z, self.n - start, coefficients).mirrored(self.n)

    def spread(self, runs: Runs, weights: Floats) -> Floats:
        """Return Σ_c weights_c · column_c, a value per count."""
        total = np.zeros(self.n + 1)
        for backward in (False, True):
            chosen = runs.backward == backward
            position = self.n - runs.position[chosen] if backward else runs.position[chosen]
            load = runs.coefficients[:, chosen] * weights[runs.column[chosen]]
            found = np.zeros(self.n + 1)
            for j in reversed(range(DEGREES)):
                # C(k, j) α^k is the (j+1)-fold sum of α^k, moved by j: Horner's rule for recurrences.
                moved = np.concatenate(([0.0], self.powers[1] * found[:-1]))
                if load[j].any() or moved.any():
                    found = self._accumulated(moved + np.bincount(position, load[j], self.n + 1))
            total += found[::-1] if backward else found
        return total

    def states(self, weights: Floats) -> tuple[Floats, Floats]:
        """Prepare sums against runs: Σ_k C(k, j) α^k weights_{s±k}, for runs forward and backward, DEGREES × (n+1)."""
        return self._ahead(weights[::-1])[:, ::-1], self._ahead(weights)

    def collect(self, runs: Runs, states: tuple[Floats, Floats], columns: int) -> Floats:
        """Return Σ_i weights_i · column_c(i) for every column."""
        forward, backward = states
        collected = np.where(
            runs.backward,
            np.einsum("jk,jk->k", runs.coefficients, backward[:, runs.position]),
            np.einsum("jk,jk->k", runs.coefficients, forward[:, runs.position]),
        )
        return np.bincount(runs.column, collected, columns).astype(np.float64)

    def _ahead(self, values: Floats) -> Floats:
        result = np.zeros((DEGREES, self.n + 1))
        summed = values
        for j in range(DEGREES):
            summed = self._accumulated(summed)
            result[j, j:] = self.powers[min(j, self.n)] * summed[: self.n + 1 - j]
        return result

    def _accumulated(self, values: Floats) -> Floats:
        """Return Σ_k α^k values_{i−k}, by doubling the reach of the sum."""
        result, reach = values.copy(), 1
        while reach <= self.n and self.powers[reach] > 0:
            result[reach:] += self.powers[reach] * result[:-reach]
            reach *= 2
        return result


def alpha_powers(ratio: Fraction, most: int) -> Floats:
    """Return α^k for k = 0..most, each within a few units of its last place."""
    with working_precision(96):
        base = 1 / ball(ratio)
        low = np.array([float(base**k) for k in range(min(_BLOCK, most + 1))])
        high = np.array([float(base**k) for k in range(0, most + 1, _BLOCK)])
    return np.outer(high, low).ravel()[: most + 1] if most >= _BLOCK else low


def binomial(k: Integers, j: int) -> Floats:
    """Return C(k, j) for j ≤ 2 and any integers k."""
    whole = k.astype(np.float64)
    return (np.ones(k.shape), whole, whole * (whole - 1) / 2)[j]


def _shifted(coefficients: Floats, by: Integers) -> Floats:
    """Return the coefficients of p(k + by)."""
    c0, c1, c2 = coefficients
    return np.stack((c0 + c1 * binomial(by, 1) + c2 * binomial(by, 2), c1 + c2 * binomial(by, 1), c2))


def _reversed(coefficients: Floats, at: Integers) -> Floats:
    """Return the coefficients of p(at − k)."""
    c0, c1, c2 = coefficients
    return np.stack((c0 + c1 * binomial(at, 1) + c2 * binomial(at, 2), -c1 + c2 * binomial(1 - at, 1), c2))


def _kept(runs: Runs, n: int) -> Runs:
    """Leave out runs that start beyond the end they run to."""
    inside = (runs.position >= 0) & (runs.position <= n)
    if inside.all():
        return runs
    return Runs(runs.column[inside], runs.backward[inside], runs.position[inside], runs.coefficients[:, inside])


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
class RecurrenceSteps:
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

    def steps(self, z: Integers, v: Integers) -> RecurrenceSteps:
        """Return what moving the answer to z from v to v + 1 changes."""
        low_start, high_start = v + self.low.beyond + 1, v - self.high.beyond
        low = self.kernel.right_tails(z, low_start, -self._increments(self.low, z))
        high = self.kernel.left_tails(z, high_start, self._increments(self.high, z))
        rows = np.stack((low_start, high_start))
        reached = self.kernel.scale[z] * self.kernel.powers[np.minimum(abs(rows - z), self.n + 1)]
        jumps = reached * np.array([[-float(self.low.jump)], [float(self.high.jump)]])
        return RecurrenceSteps(low.joined(high), rows, jumps)

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
            enclosure, doubt = self._enclosed(self.columns(z, candidate), states, n + 1)
            better = enclosure < cost
            answers[better], cost[better], error[better] = candidate[better], enclosure[better], doubt[better]
            # The recurrence compares what took few roundings: it passes over nothing better by more than one error.
            least = np.minimum(least, enclosure - 2 * doubt)
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
