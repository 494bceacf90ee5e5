"""Find the pairs of rows that could matter, from floats whose error is bounded: the others need no exact check.

Let u = 2^-53. An entry in floats is within u of itself, relatively, and r·Q_v within 3.01 u. Their difference is
therefore within 2.01 u·|P_v| + 4.02 u·r|Q_v|. A sum of q such parts, in any order, is within u·M·(1 + r)·(4.02 + 1.05
q), where M is the largest sum of sizes of a row's entries. `Screen` takes eight times that, which makes up for the
rounding of the bound itself and of whatever it is compared with. Nothing overflows or loses digits to underflow, or
there is no screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .arithmetic import Number, Numbers, as_fraction

__all__ = ["Places", "Screen", "screen_of"]

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
    """Round to the nearest float; NaN where it is none, or another than 0 that is rounded to 0."""
    exact = as_fraction(value)
    try:
        found = exact.numerator / exact.denominator
    except OverflowError:
        return float("nan")
    return float("nan") if exact and not found else found


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
        found = self._sticks(first, second, scale)
        near: NDArray[np.bool_] = found >= found.max() - 2 * self._error(scale, 0.0)
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
        found = np.empty(len(first))
        for part in self._parts(len(first)):
            gains = self._table[first[part]] - scale * self._table[second[part]]
            found[part] = np.maximum(gains, 0).sum(axis=1)
        return found

    def _error(self, scale: float, most: float) -> float:
        return float(_ERROR * (self._mass * (1 + scale) * (self._table.shape[1] + 4) + abs(most)))

    def _bounded(self, scale: float, most: float) -> bool:
        return 1 <= scale <= _LARGEST_RATIO and abs(most) <= 1 and self._mass <= _LARGEST / _LARGEST_RATIO**2

    def _parts(self, count: int) -> Iterator[Any]:
        step = max(1, _AT_ONCE // self._table.shape[1])
        return (slice(start, start + step) for start in range(0, count, step))
