"""Closeness of many pairs of rows at once, exactly: the worst hockey-stick, and the smallest ratio that would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Number, Numbers, as_fraction
from ._audited_mechanism import RowPairs

# Find the pairs of rows that need an exact check, from floats with a bounded error.
#
# Let u = 2^-53. An entry in floats is within u of itself, relatively, and r·Q_v within 3.01 u. Their difference is
# therefore within 2.01 u·|P_v| + 4.02 u·r|Q_v|. A sum of q such parts, in any order, is within u·M·(1 + r)·(4.02 + 1.05
# q), where M is the largest sum of sizes of a row's entries. `Screen` takes eight times that, which covers the rounding
# of the bound itself and of whatever it is compared with. If anything could overflow or lose digits to underflow, there
# is no screen.

Places = NDArray[np.int64]

_ERROR = 2.0**-50
_SMALLEST, _LARGEST = 1e-290, 1e290
_LARGEST_RATIO = 1e9
_WORTH = 8
"""Pairs a row from which on a screen is made: rounding a row costs about what looking at three pairs does."""

_AT_ONCE = 1 << 18
"""Entries that are compared at a time."""


def screen_of(rows: Sequence[Numbers], pairs: int) -> Screen | None:
    """Return a screen of rows, where there are enough pairs to be worth it; of the usual arithmetic alone.

    The other arithmetics are second opinions, and look at every pair.
    """
    if pairs < _WORTH * len(rows) or not rows or not rows[0] or not isinstance(rows[0][0], flint.fmpq):
        return None
    table = np.array([[_float(entry) for entry in row] for row in rows])
    sizes = np.abs(table)
    if np.any((sizes > _LARGEST) | ((sizes < _SMALLEST) & (sizes > 0))) or np.isnan(table).any():
        return None
    return Screen(table)


def _float(value: Number) -> float:
    """Round to the nearest float; NaN if it overflows, or if a nonzero number is rounded to 0."""
    exact = as_fraction(value)
    try:
        quotient = exact.numerator / exact.denominator
    except OverflowError:
        return float("nan")
    return float("nan") if exact and not quotient else quotient


class Screen:
    """Rows in floats, which tell of many pairs at once what they may be."""

    def __init__(self, table: NDArray[np.float64]) -> None:
        self._table = table
        self._mass = float(np.abs(table).sum(axis=1).max())

    def may_exceed(self, first: Places, second: Places, ratio: Number, delta: Number) -> NDArray[np.bool_]:
        """Mark the pairs whose hockey-stick divergence at a ratio may be more than δ; that of others is less."""
        scale, most = _float(ratio), _float(delta)
        if not self._bounded(scale, most):
            return np.ones(len(first), np.bool_)
        return self._sticks(first, second, scale) > most - self._error(scale, most)

    def may_be_worst(self, first: Places, second: Places, ratio: Number) -> NDArray[np.bool_]:
        """Mark the pairs whose divergence may be the largest of all of these."""
        scale = _float(ratio)
        if not len(first) or not self._bounded(scale, 0.0):
            return np.ones(len(first), np.bool_)
        sticks = self._sticks(first, second, scale)
        near: NDArray[np.bool_] = sticks >= sticks.max() - 2 * self._error(scale, 0.0)
        return near

    def may_spend(self, first: Places, second: Places, ratio: Number, delta: Number) -> NDArray[np.bool_]:
        """Mark the pairs whose divergence may be δ; at δ = 0, those with an output whose ratio may be this one."""
        scale, most = _float(ratio), _float(delta)
        if not self._bounded(scale, most):
            return np.ones(len(first), np.bool_)
        if delta > 0:
            return np.abs(self._sticks(first, second, scale) - most) < self._error(scale, most)
        near = np.zeros(len(first), np.bool_)
        for part in self._parts(len(first)):
            mine, other = self._table[first[part]], scale * self._table[second[part]]
            equal = np.abs(mine - other) <= _ERROR * (np.abs(mine) + np.abs(other))
            near[part] = (equal & (mine > 0)).any(axis=1)
        return near

    def _sticks(self, first: Places, second: Places, scale: float) -> NDArray[np.float64]:
        result = np.empty(len(first))
        for part in self._parts(len(first)):
            gains = self._table[first[part]] - scale * self._table[second[part]]
            result[part] = np.maximum(gains, 0).sum(axis=1)
        return result

    def _error(self, scale: float, most: float) -> float:
        return float(_ERROR * (self._mass * (1 + scale) * (self._table.shape[1] + 4) + abs(most)))

    def _bounded(self, scale: float, most: float) -> bool:
        return 1 <= scale <= _LARGEST_RATIO and abs(most) <= 1 and self._mass <= _LARGEST / _LARGEST_RATIO**2

    def _parts(self, count: int) -> Iterator[Any]:
        step = max(1, _AT_ONCE // self._table.shape[1])
        return (slice(start, start + step) for start in range(0, count, step))


INFINITE = None
"""The ratio of a pair that no ratio suffices for: more than δ faces zero."""

_BLOCK = 1 << 16
"""Pairs, each way round counted, that floats are asked about at a time."""


@dataclass(frozen=True, slots=True)
class Worst:
    """A maximum over pairs and directions, and one pair (by its place) and direction where it is attained."""

    value: Number
    place: int
    forward: bool


def hockey_stick(row: Numbers, scaled: Numbers) -> Number:
    """Return Σ_v max(0, P_v − S_v), where S is the other row already multiplied by the ratio."""
    return sum(p - s for p, s in zip(row, scaled, strict=True) if p > s)


def worst_delta(rows: Sequence[Numbers], pairs: RowPairs, ratio: Number) -> Worst | None:
    """Return the largest hockey-stick divergence at a ratio: the δ that the mechanism needs there.

    Returns None when no two different rows meet, and nothing is needed.
    """
    scaled = [tuple(ratio * entry for entry in row) for row in rows]
    worst, ways, screen = None, _Ways.of(pairs), screen_of(rows, len(pairs))
    looked_at = (
        np.arange(len(ways)) if screen is None else screen.may_be_worst(ways.first, ways.second, ratio).nonzero()[0]
    )
    for place, forward, i, j in ways.at(looked_at):
        value = hockey_stick(rows[i], scaled[j])
        if worst is None or value > worst.value:
            worst = Worst(value, place, forward)
    return worst


def smallest_ratio(rows: Sequence[Numbers], pairs: RowPairs, delta: Number) -> Worst | None:
    """Return the smallest ratio at which δ suffices for every pair, never below 1; its value may be INFINITE.

    Each pair is only asked whether the ratio found so far suffices. Visited in random order, about log(pairs) of them
    raise it, so the dearer `least_ratio` is seldom called; and floats tell of most that they do not.
    """
    one = delta * 0 + 1
    worst, best = None, one
    scaled: dict[int, Numbers] = {}
    ways, screen = _Ways.of(pairs, shuffled=True), screen_of(rows, len(pairs))
    for start in range(0, len(ways), _BLOCK):
        left = np.arange(start, min(start + _BLOCK, len(ways)))
        while len(left):
            if screen is not None and worst is not None:
                left = left[screen.may_exceed(ways.first[left], ways.second[left], best, delta)]
            raised_at = len(left)
            for step, (index, forward, i, j) in enumerate(ways.at(left)):
                other = scaled.get(j)
                if other is None:
                    other = scaled[j] = tuple(best * entry for entry in rows[j])
                if worst is None or hockey_stick(rows[i], other) > delta:
                    needed = least_ratio(rows[i], rows[j], delta)
                    worst = Worst(needed, index, forward)
                    if needed is INFINITE:
                        return worst
                    if needed > best:
                        best, scaled = needed, {}
                    raised_at = step
                    break
            left = left[raised_at + 1 :]
    return worst


def tight_places(
    rows: Sequence[Numbers], pairs: RowPairs, ratio: Number | None, delta: Number
) -> Iterator[tuple[int, bool]]:
    """Yield the pairs, by place and direction, that need the `smallest_ratio` found; all of them where it is 1."""
    scaled = rows if ratio is INFINITE else [tuple(ratio * entry for entry in row) for row in rows]
    ways, looked_at = _Ways.of(pairs), np.arange(2 * len(pairs))
    if ratio is not INFINITE and ratio != 1 and (screen := screen_of(rows, len(pairs))) is not None:
        looked_at = looked_at[screen.may_spend(ways.first, ways.second, ratio, delta)]
    for place, forward, i, j in ways.at(looked_at):
        if ratio is INFINITE:
            tight = sum(p for p, q in zip(rows[i], rows[j], strict=True) if q == 0 and p > 0) > delta
        elif ratio == 1:
            tight = True
        elif delta > 0:
            tight = hockey_stick(rows[i], scaled[j]) == delta
        else:
            tight = any(p == s and p > 0 for p, s in zip(rows[i], scaled[j], strict=True))
        if tight:
            yield place, forward


def least_ratio(row: Numbers, other: Numbers, delta: Number) -> Number | None:
    """Return the smallest r ≥ 1 with Σ_v max(0, P_v − r·Q_v) ≤ δ, or INFINITE.

    In r the sum is convex and piecewise linear. Between two likelihood ratios it is C − r·S, with C and S the masses of
    the outputs whose likelihood ratio is larger.
    """
    one = delta * 0 + 1
    above, below = one - one, one - one
    for breakpoint_, (mass, facing) in by_likelihood_ratio(row, other):
        if breakpoint_ is INFINITE:
            above += mass
            if above > delta:
                return INFINITE
            continue
        if above - breakpoint_ * below > delta:
            break
        above, below = above + mass, below + facing
    return max(one, (above - delta) / below) if below > 0 else one


def losing_outputs(row: Numbers, other: Numbers, ratio: Number | None) -> list[int]:
    """Return the outputs that the worst event consists of: P_v ≥ r·Q_v and P_v > 0 (at INFINITE, Q_v = 0)."""
    if ratio is INFINITE:
        return [v for v, (p, q) in enumerate(zip(row, other, strict=True)) if q == 0 and p > 0]
    return [v for v, (p, q) in enumerate(zip(row, other, strict=True)) if p > 0 and p >= ratio * q]


def by_likelihood_ratio(row: Numbers, other: Numbers) -> list[tuple[Number | None, tuple[Number, Number]]]:
    """Return (P_v/Q_v, (P_v, Q_v)) from the largest likelihood ratio down, INFINITE first."""
    endless = [(INFINITE, (p, q)) for p, q in zip(row, other, strict=True) if q == 0 and p > 0]
    finite = [(p / q, (p, q)) for p, q in zip(row, other, strict=True) if q > 0 and p > 0]
    return endless + sorted(finite, key=lambda item: item[0], reverse=True)


def directions(pairs: RowPairs) -> Iterator[tuple[int, bool, int, int]]:
    """Yield place, direction and both row numbers, of every pair of rows both ways round."""
    ways = _Ways.of(pairs)
    return ways.at(np.arange(len(ways)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Every pair both ways round, forward at even numbers: its place, and the row that gains beside the other one."""

    place: Places
    first: Places
    second: Places

    @classmethod
    def of(cls, pairs: RowPairs, *, shuffled: bool = False) -> _Ways:
        """Take all pairs in order, or in one that is the same every time and says nothing of theirs."""
        order = np.arange(len(pairs))
        if shuffled:
            order = np.random.default_rng(0).permutation(order)
        here, there = pairs.first[order], pairs.second[order]
        return cls(order.repeat(2), np.stack((here, there), axis=1).ravel(), np.stack((there, here), axis=1).ravel())

    def __len__(self) -> int:
        return len(self.place)

    def at(self, numbers: Places) -> Iterator[tuple[int, bool, int, int]]:
        """Yield place, direction and both row numbers of some of them."""
        chosen = (self.place[numbers], numbers % 2 == 0, self.first[numbers], self.second[numbers])
        return zip(*(each.tolist() for each in chosen), strict=True)


# Check closeness at many claimed pairs at once, with outputs sorted by likelihood ratio once for every two rows.
#
# Let C_k and S_k be the masses of the k outputs with the largest likelihood ratios. The hockey-stick divergence at r is
# C_k − r·S_k for the k of them whose likelihood ratio is more than r. As the guarantee's ratios fall this k rises, and
# so does the k at which a δ is spent as the guarantee's δ rise. So two passes over one list answer for all pairs.


def needs(
    rows: Sequence[Numbers], pairs: RowPairs, promised: Sequence[tuple[Number, Number]], *, non_negative: bool
) -> tuple[list[Number], list[Number | None]]:
    """Return the largest hockey-stick divergence at every promised ratio, and the smallest ratio at every promised δ.

    Parameters
    ----------
    rows, pairs
        The table, and which of its rows meet.
    promised : sequence of pairs
        (r, δ) by falling r and rising δ; from one up.
    non_negative : bool
        Whether no entry of a row in use is negative. Otherwise no ratio means anything, and each is INFINITE.

    Returns
    -------
    tuple of two lists
        In the order of the pairs: divergences, at least 0; and ratios, at least 1 or INFINITE.
    """
    zero = promised[0][1] * 0
    if not non_negative or len(promised) == 1:
        worst = [worst_delta(rows, pairs, ratio) for ratio, _ in promised]
        needed = [zero if one is None else one.value for one in worst]
        if not non_negative:
            return needed, [INFINITE] * len(promised)
        tight = [smallest_ratio(rows, pairs, delta) for _, delta in promised]
        return needed, [zero + 1 if one is None else one.value for one in tight]
    deltas: list[Number] = [zero] * len(promised)
    ratios: list[Number | None] = [zero + 1] * len(promised)
    for _, _, i, j in directions(pairs):
        walk = _Walk(rows[i], rows[j])
        for k, (ratio, delta) in enumerate(promised):
            deltas[k] = max(deltas[k], walk.delta_at(ratio))
            if ratios[k] is not INFINITE:
                least = walk.ratio_at(delta)
                ratios[k] = INFINITE if least is INFINITE else max(ratios[k], least)
    return deltas, ratios


class _Walk:
    """One row against another: asked for ratios that fall, and for δ that rise."""

    def __init__(self, row: Numbers, other: Numbers) -> None:
        ordered = by_likelihood_ratio(row, other)
        zero = row[0] * 0
        self._ratios = [ratio for ratio, _ in ordered]
        self._above = list(accumulate((mass for _, (mass, _) in ordered), initial=zero))
        self._below = list(accumulate((facing for _, (_, facing) in ordered), initial=zero))
        self._losing = self._spent = 0

    def delta_at(self, ratio: Number) -> Number:
        """Return the divergence at a ratio, no larger than the one asked for before."""
        while self._losing < len(self._ratios):
            likelihood = self._ratios[self._losing]
            if likelihood is not INFINITE and likelihood <= ratio:
                break
            self._losing += 1
        return self._above[self._losing] - ratio * self._below[self._losing]

    def ratio_at(self, delta: Number) -> Number | None:
        """Return the smallest ratio, at least 1, at which a δ suffices, no smaller than the one asked for before."""
        while self._spent < len(self._ratios):
            likelihood = self._ratios[self._spent]
            if likelihood is INFINITE:
                if self._above[self._spent + 1] > delta:
                    return INFINITE
            elif self._above[self._spent] - likelihood * self._below[self._spent] > delta:
                break
            self._spent += 1
        below = self._below[self._spent]
        one = delta * 0 + 1
        return max(one, (self._above[self._spent] - delta) / below) if below > 0 else one
