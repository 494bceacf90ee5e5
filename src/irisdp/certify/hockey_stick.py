"""Closeness of many pairs of rows at once, exactly: the worst hockey-stick, and the smallest ratio that would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .arithmetic import Number, Numbers
from .pairs import RowPairs
from .screening import Places, screen_of

__all__ = [
    "INFINITE",
    "Worst",
    "by_likelihood_ratio",
    "directions",
    "hockey_stick",
    "least_ratio",
    "losing_outputs",
    "smallest_ratio",
    "tight_places",
    "worst_delta",
]

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
            for step, (place, forward, i, j) in enumerate(ways.at(left)):
                other = scaled.get(j)
                if other is None:
                    other = scaled[j] = tuple(best * entry for entry in rows[j])
                if worst is None or hockey_stick(rows[i], other) > delta:
                    needed = least_ratio(rows[i], rows[j], delta)
                    worst = Worst(needed, place, forward)
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
