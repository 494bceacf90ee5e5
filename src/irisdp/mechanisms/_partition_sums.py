"""Sums over sorted lists: the dynamic program behind exact draws of integer partitions.

For targets x_1 ≥ x_2 ≥ … and 0 < β < 1 the tail sums

    G(i, u) = Σ β^(|y_1 − x_1| + … + |y_i − x_i|)   over y_1 ≥ … ≥ y_i ≥ u

satisfy G(i, u) = G(i, u + 1) + β^|u − x_i| · G(i − 1, u): one product and one addition a cell. They are computed twice:
in floats, between two rigorous bounds, which decides all but about one draw in 10^7; and in any exact arithmetic
(fractions, or balls of any precision), which decides the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._exact import ball, working_precision

_SCALE = 960
"""Binary exponent of a row's first cell: far up, so that the others may be far below."""

_FLOOR = 2.0**-900
"""Smaller powers and smaller cells are counted as 0 from below and as this from above."""

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
    beyond : float
        Bound from above of the first cell left out; 0 if the last cell is the last value allowed.
    whole : tuple of float
        Bounds of the first cell, before rounding errors, whether it is kept or not.
    """

    first: int
    sums: NDArray[np.float64]
    exponent: int
    beyond: float
    whole: tuple[float, float]


def float_rows(strip: Strip, step: Fraction, reach: int) -> tuple[list[TailRow], Fraction]:
    """Compute every tail sum of a strip in floats, and a bound on their relative errors.

    Parameters
    ----------
    strip : Strip
        Values and targets.
    step : Fraction
        β.
    reach : int
        At least every distance between a value and its row's target; the same for every list, as powers are kept.

    Returns
    -------
    list of TailRow
        One for each row.
    Fraction
        s with (1 − s)·float ≤ G ≤ (1 + s)·float for every cell kept.

    Notes
    -----
    `proofs/exponential-partitions.md`, section 4. All terms are positive, so that a sum is off by at most the factor
    (1 ± 2^-53)^D, D the roundings on the longest chain from a power of β to the sum. A row costs 8 (tabulated powers,
    their product, the product with the row before) and one for each cell that the chain passes; as the values along a
    chain never increase, those are at most the largest value in all. Cells that might underflow are rounded to 0 from
    below and to `_FLOOR` from above. Once a whole row underflows, far beyond the squares that are likely, the
    rows from there on are only bounded from above.
    """
    largest = max(strip.last, default=0)
    upward = power_table(step, reach)
    powers = np.concatenate((upward[:0:-1], upward))
    powers = np.stack((np.where(powers < _FLOOR, 0, powers), np.maximum(powers, _FLOOR)))
    kept: list[TailRow] = []
    before, before_first, exponent = np.full((2, 1), 2.0**_SCALE), 0, -_SCALE
    lost = False
    for first, last, target in zip(strip.first, strip.last, strip.targets, strict=True):
        weights = powers[:, reach + first - target : reach + last - target + 1]
        sums = np.empty((2, last - first + 1))
        if kept:
            inherited = before[:, max(first - before_first, 0) : max(last - before_first + 1, 0)]
            missing = sums.shape[1] - inherited.shape[1]
            np.multiply(inherited, weights[:, missing:], out=sums[:, missing:])
            np.multiply(before[:, :1], weights[:, :missing], out=sums[:, :missing])
        else:
            np.multiply(weights, before, out=sums)
        sums[0, sums[0] < _FLOOR] = 0
        np.maximum(sums[1], _FLOOR, out=sums[1])
        np.cumsum(sums[:, ::-1], axis=1, out=sums[:, ::-1])
        shift = int(np.frexp(sums[1, 0])[1]) - _SCALE
        np.ldexp(sums, -shift, out=sums)
        wide = np.flatnonzero(sums[1] - sums[0] > _WIDEST_GAP * sums[0])
        width = int(wide[0]) if len(wide) else sums.shape[1]
        if sums[0, 0] and not lost:
            exponent += shift
            whole = (float(sums[0, 0]), float(sums[1, 0]))
        else:
            lost = True
            bound, doublings = math.frexp(kept[-1].whole[1])
            bound *= _growth(strip, step, len(kept))
            exponent, whole, width = exponent + doublings, (0.0, bound), 0
            sums[:] = 1  # what is computed from here on is not used, but takes its time
        beyond = float(sums[1, width]) if width < sums.shape[1] else 0.0
        kept.append(TailRow(first, sums[0, :width].copy(), exponent, beyond, whole))
        before, before_first = sums, first
    roundings = largest + 8 * len(strip)
    # (1 ± 2^-53)^D is within 2·D·2^-53 of 1 for D below 2^50.
    return kept, Fraction(2 * roundings, 1 << 53) + Fraction(2 * _WIDEST_GAP)


def _growth(strip: Strip, step: Fraction, row: int) -> float:
    """Bound G(i, first)/G(i − 1, first) from above, for a row from position 1 on.

    The rows above whose targets are below this row's least value i are the last k; taken v − i + 1 lower, they turn
    lists that are nowhere below v into lists that are nowhere below i − 1, at a gain of k a step. So the ratio is at
    most Σ_{v ≥ i} β^(v − i)·β^(k(v − i + 1)). Where the target is not i itself, it is at most Σ_v β^|v − target|.
    """
    if step == 1:
        return math.inf
    first = strip.first[row]
    with working_precision(256):
        base = ball(step)
        if strip.targets[row] > first:
            bound = (1 + base) / (1 - base)
        else:
            k = sum(target < first for target in strip.targets[:row])
            bound = base**k / (1 - base ** (k + 1))
        return max(float(bound.upper()), _FLOOR) * (1 + 2.0**-40)


@lru_cache(maxsize=2)
def power_table(step: Fraction, reach: int) -> NDArray[np.float64]:
    """Return β^k for k = 0 … reach, each at most 5 roundings off where it is not below 2^-1000; public, so kept."""
    with working_precision(128):
        small_step = ball(step)
        large_step = small_step**_SPLIT
        small = np.array([float((small_step**k).mid()) for k in range(min(_SPLIT, reach + 1))])
        large = np.array([float((large_step**k).mid()) for k in range(reach // _SPLIT + 1)])
    powers: NDArray[np.float64] = np.outer(large, small).ravel()[: reach + 1]
    powers.setflags(write=False)
    return powers
