"""Exact draws from rows that are known step by step: T^depth of a boundary distribution (docs/theory.md#rainbows)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import rational
from ..privacy import Privacy, enclose_steps
from .bits import BitSource, system_bits
from .fixed_point import LARGEST_DEPTH, open_cells, saturation_depth
from .inputs import integers
from .thresholds import ThresholdTable, chunks
from .ties import bracket_enclosed, resolve

__all__ = ["draw_ranks"]

NODES_PER_ROW = 8
"""From so many nodes for each row that could occur, all rows are built: that is quick then, and says nothing."""


def draw_ranks(
    boundary: Sequence[Sequence[Fraction]],
    classes: Any,
    depths: Any,
    privacy: Privacy,
    *,
    source: BitSource | None = None,
) -> NDArray[np.int64]:
    """Draw for each node the rank of its answer from T^depth of its class's boundary distribution.

    Parameters
    ----------
    boundary : sequence of sequences of Fraction, shape (classes, q − 1)
        For each class the prefix sums s_1 ≤ … ≤ s_{q−1} of its boundary distribution in rank order; the last, 1, is
        left out.
    classes : array of int
        Class number of each node, in any shape.
    depths : array of int, the same shape
        Distance to the boundary, or −1 without a boundary: such a node always answers its first choice.
    privacy : Privacy
        The ratio r and δ of the operator u.
    source : BitSource, optional
        The operating system's bits unless given.

    Returns
    -------
    array of int64, the same shape
        Ranks in [0, q), 0 for the first choice. Independent; rank k has probability u^depth(s_{k+1}) − u^depth(s_k),
        exactly, for any depth.

    Raises
    ------
    BadInput
        If prefix sums decrease or leave [0, 1], lengths or shapes differ, or a number is out of range.

    Notes ----- One word a node and ⌈log2 q⌉ comparisons; ties, of probability below 2q/2^64, enclose u^depth more
    finely. The time to find the distinct pairs of class and depth depends on their number. If the nodes outnumber all
    pairs up to the depth that 64-bit words still resolve, every pair gets a row instead.

    Examples
    --------
    >>> draw_ranks([[Fraction(1, 2)]], [0, 0], [10**12, -1], Privacy(epsilon=1)).tolist()
    [0, 0]
    """
    bits = system_bits(source)
    sums = [_prefix_sums(row) for row in boundary]
    if len({len(row) for row in sums}) != 1:
        raise BadInput("boundary", "must be at least one row, all of the same length", "give q − 1 sums for each class")
    class_array = integers(classes, "classes", at_least=0, at_most=len(sums) - 1)
    depth_array = integers(depths, "depths", at_least=-1, at_most=LARGEST_DEPTH)
    if class_array.shape != depth_array.shape:
        raise BadInput("depths", "must have the shape of classes", "give one depth for each node")
    numbers, distances = class_array.ravel(), depth_array.ravel()
    table, rows = _table(sums, numbers, distances, privacy)
    table = table.at(bits.word_bits)
    drawn = np.empty(len(numbers), dtype=np.int64)
    for part in chunks(len(numbers)):
        words = bits.words(part.stop - part.start)
        drawn[part], ties = table.count_reached(words, rows[part])
        for tie in ties.tolist():
            place = part.start + tie
            bracket = partial(_bracket, sums[numbers[place]], int(distances[place]), privacy)
            drawn[place] = resolve(int(words[tie]), bracket, bits, first=0, last=len(sums[0]))
    return drawn.reshape(class_array.shape)


def _table(
    sums: Sequence[Sequence[Fraction]], classes: NDArray[np.int64], depths: NDArray[np.int64], privacy: Privacy
) -> tuple[ThresholdTable, NDArray[np.int64]]:
    """Build a row for each distinct pair of class and depth, and say which row each node has."""
    caps = np.array([max((saturation_depth(s, privacy) for s in row), default=0) for row in sums], dtype=np.int64)
    pair_class, pair_depth, rows = _distinct(classes, np.minimum(depths, caps[classes]), caps)
    cells = np.empty((len(pair_class), len(sums[0]), 2), dtype=np.uint64)
    for threshold in range(len(sums[0])):
        cells[:, threshold] = open_cells([row[threshold] for row in sums], pair_class, pair_depth, privacy)
    return ThresholdTable.from_cells(cells), rows


def _distinct(
    classes: NDArray[np.int64], depths: NDArray[np.int64], caps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return classes and depths of the rows to build, and the row of each node."""
    stride = int(caps.max()) + 2
    if NODES_PER_ROW * stride * len(caps) <= len(classes):  # every row, which is public, rather than those that occur
        every = np.arange(stride * len(caps), dtype=np.int64)
        return every // stride, every % stride - 1, classes * stride + depths + 1
    levels, level = np.unique(depths, return_inverse=True)
    keys, rows = np.unique(classes * len(levels) + level, return_inverse=True)
    return keys // len(levels), levels[keys % len(levels)], rows


def _bracket(sums: Sequence[Fraction], depth: int, privacy: Privacy, rank: int, bits: int) -> tuple[int, int]:
    if depth < 0:
        return 1 << bits, 1 << bits
    return bracket_enclosed(partial(enclose_steps, sums[rank - 1], depth, privacy), bits)


def _prefix_sums(row: Sequence[Fraction]) -> tuple[Fraction, ...]:
    sums = tuple(rational(value, "boundary") for value in row)
    if any(low > high for low, high in pairwise((Fraction(0), *sums, Fraction(1)))):
        raise BadInput(
            "boundary", "must hold prefix sums that rise from 0 to 1", "give s_1 ≤ … ≤ s_{q−1} in rank order"
        )
    return sums
