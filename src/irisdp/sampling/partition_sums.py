"""Sums over sorted lists: the dynamic program behind exact draws of integer partitions.

For targets x_1 ≥ x_2 ≥ … and 0 < β < 1 the tail sums

    G(i, u) = Σ β^(|y_1 − x_1| + … + |y_i − x_i|)   over y_1 ≥ … ≥ y_i ≥ u

satisfy G(i, u) = G(i, u + 1) + β^|u − x_i| · G(i − 1, u): one product and one addition a cell. They are computed twice:
in floats, between two rigorous bounds, which decides all but about one draw in 10^7; and in any exact arithmetic
(fractions, or balls of any precision), which decides the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..exact import ball, working_precision

__all__ = ["Strip", "TailRow", "exact_rows", "float_rows", "strip_of"]

_FLOOR = 2.0**-900
"""Cells below this part of their row's sum are counted as 0 from below and as this from above."""

_WIDEST_GAP = 2.0**-44
"""Beyond the first cell where the two bounds differ by more than this part, a row is not kept."""

_SPLIT = 1 << 12


class _Number(Protocol):
    def __add__(self: _N, other: _N) -> _N: ...
    def __mul__(self: _N, other: _N) -> _N: ...


_N = TypeVar("_N", bound=_Number)


@dataclass(frozen=True, slots=True)
class Strip:
    """Which values each row may take, and the value it should have.

    Attributes
    ----------
    targets, first, last : tuples of int, one entry a row
        Row i may be anything from first to last; `last` never increases. A target below `first` is raised to it, which
        takes a constant off every distance.
    raised : tuple of int
        By how much the targets up to each row were raised in all: the true sums are β^raised times those here.
    """

    targets: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    raised: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.targets)


def strip_of(targets: NDArray[np.int64], caps: NDArray[np.int64], window: int | None) -> Strip:
    """Allow row i the values i … caps[i] (from 1), within `window` of its target; stop at the first empty row."""
    first = np.arange(1, len(targets) + 1)
    last = caps
    if window is not None:
        first, last = np.maximum(first, targets - window), np.minimum(last, targets + window)
    empty = np.flatnonzero(first > last)
    rows = int(empty[0]) if len(empty) else len(targets)
    near = np.maximum(targets, first)
    columns = (near, first, last, np.cumsum(near - targets))
    return Strip(*(tuple(column[:rows].tolist()) for column in columns))


def exact_rows(strip: Strip, rows: int, start: int, power: Callable[[int], _N]) -> Iterator[tuple[int, list[_N]]]:
    """Yield, for rows 1, 2, …, the least u ≥ start allowed and G(i, u), G(i, u + 1), …, up to the last value.

    Parameters
    ----------
    strip : Strip
        Values and targets.
    rows : int
        How many rows to compute.
    start : int
        Smaller values are left out; they do not enter the sums over larger ones.
    power : callable
        k ↦ β^k in the arithmetic wanted.
    """
    before: list[_N] = []
    before_first = 0
    for row in range(rows):
        first, target = max(strip.first[row], start), strip.targets[row]
        sums: list[_N] = []
        for value in range(strip.last[row], first - 1, -1):
            term = power(abs(value - target))
            if row:
                term = term * before[max(value - before_first, 0)]
            sums.append(sums[-1] + term if sums else term)
        sums.reverse()
        before, before_first = sums, first
        yield first, sums


@dataclass(frozen=True, slots=True)
class TailRow:
    """G(i, first), G(i, first + 1), … of one row, as floats times 2^exponent.

    Attributes
    ----------
    first : int
        Value of the first cell.
    sums : array of float
        Never increasing. Cells known too badly are left out at the end.
    exponent : int
        Power of two that scales the row.
    ends : bool
        Whether the last cell is the last value allowed, so that beyond it G is 0.
    whole : tuple of float
        Bounds of the first cell, before rounding errors, whether it is kept or not.
    """

    first: int
    sums: NDArray[np.float64]
    exponent: int
    ends: bool
    whole: tuple[float, float]


def float_rows(strip: Strip, step: Fraction) -> tuple[list[TailRow], Fraction]:
    """Compute every tail sum of a strip in floats, and a bound on their relative errors.

    Returns
    -------
    list of TailRow
        One for each row.
    Fraction
        s with (1 − s)·float ≤ G ≤ (1 + s)·float for every cell kept.

    Notes
    -----
    All terms are positive, so that a sum is off by at most the factor (1 ± 2^-53)^D, D the roundings on the longest
    chain from a power of β to the sum. A row costs 8 (tabulated powers, their product, the product with the row before)
    and one for each cell that the chain passes; as the values along a chain never increase, those are at most the
    largest value in all. Cells that might underflow are rounded to 0 from below and to `_FLOOR` from above.
    """
    largest = max(strip.last, default=0)
    reach = max((max(t - f, v - t) for f, t, v in zip(strip.first, strip.targets, strip.last, strict=True)), default=0)
    powers = _power_table(step, reach)
    kept: list[TailRow] = []
    before, before_first, exponent = np.ones((2, 1)), 0, 0
    for first, last, target in zip(strip.first, strip.last, strip.targets, strict=True):
        weights = powers[reach + first - target : reach + last - target + 1]
        sums = np.empty((2, last - first + 1))
        if kept:
            inherited = before[:, max(first - before_first, 0) : last - before_first + 1]
            missing = sums.shape[1] - inherited.shape[1]
            np.multiply(inherited, weights[missing:], out=sums[:, missing:])
            np.multiply(before[:, :1], weights[:missing], out=sums[:, :missing])
        else:
            sums[:] = weights
        sums[0, sums[0] < _FLOOR] = 0
        np.maximum(sums[1], _FLOOR, out=sums[1])
        np.cumsum(sums[:, ::-1], axis=1, out=sums[:, ::-1])
        shift = int(np.frexp(sums[0, 0])[1])
        sums *= 2.0**-shift
        exponent += shift
        wide = np.flatnonzero(sums[1] - sums[0] > _WIDEST_GAP * sums[0])
        width = int(wide[0]) if len(wide) else sums.shape[1]
        whole = (float(sums[0, 0]), float(sums[1, 0]))
        kept.append(TailRow(first, sums[0, :width].copy(), exponent, width == sums.shape[1], whole))
        before, before_first = sums, first
    roundings = largest + 8 * len(strip)
    # (1 ± 2^-53)^D is within 2·D·2^-53 of 1 for D below 2^50.
    return kept, Fraction(2 * roundings, 1 << 53) + Fraction(2 * _WIDEST_GAP)


def _power_table(step: Fraction, reach: int) -> NDArray[np.float64]:
    """Return β^|k| for k = −reach … reach, each at most 5 roundings off where it is not below 2^-1000."""
    with working_precision(128):
        small_step = ball(step)
        large_step = small_step**_SPLIT
        small = np.array([float((small_step**k).mid()) for k in range(min(_SPLIT, reach + 1))])
        large = np.array([float((large_step**k).mid()) for k in range(reach // _SPLIT + 1)])
    upward = np.outer(large, small).ravel()[: reach + 1]
    return np.concatenate((upward[:0:-1], upward))
