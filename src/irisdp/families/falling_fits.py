"""The list of sizes, largest first, that is nearest to noisy numbers: least Σ|fitted − noisy| over lists that fit.

Sizes y_1 ≥ y_2 ≥ … are described by the first D of them and, below those, by how many are at least 1, 2, …, J: both
lists fall. Each alone has a nearest falling list, found with a heap. Together they must fit: below a last size y_D
nothing is larger than it. For each t, the largest size below, the nearest head is the raised one max(h, t), as the
nearest falling list that is bounded is the nearest falling list, bounded; and the nearest counts are those of the first
t, with nothing after them. So the best t of all is found by adding up (proofs/sizes.md).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["fall_together", "nearest_falling", "sizes_of"]

Integers = NDArray[np.int64]


def nearest_falling(values: Sequence[int]) -> list[int]:
    """Return the falling list of least Σ|fitted − value|: of several such lists the largest, entry by entry.

    Examples
    --------
    >>> nearest_falling([9, 3, 6, 2, 2, 4])
    [9, 6, 6, 2, 2, 2]
    """
    return _read_off(_medians(values)[0])


def fall_together(head: Sequence[int], below: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the falling head, and counts below it, of least Σ|fitted − value| such that together they are one list.

    Parameters
    ----------
    head : sequence of int
        The first sizes, noisy; at least one.
    below : sequence of int
        How many sizes after those are at least 1, 2, …, noisy.

    Returns
    -------
    tuple of two lists
        Falling and at least 0; the second is as long as the largest size below the head, and no longer than the last
        size of the head.

    Examples
    --------
    >>> fall_together([9, 7, 1], [40, 39, 1])
    ([9, 7, 2], [40, 39])
    """
    heads, counts = np.maximum(head, 0), np.maximum(below, 0)
    fitted = np.array(nearest_falling(heads.tolist()), dtype=np.int64)
    medians, costs = _medians(counts.tolist())
    after = np.concatenate([np.cumsum(counts[::-1])[::-1], [0]])
    last = int(np.argmin(np.array(costs) + after + _raising(heads, fitted, len(counts))))
    return np.maximum(fitted, last).tolist(), _read_off(medians[:last])


def sizes_of(head: Sequence[int], below: Sequence[int]) -> list[int]:
    """Return the list of sizes that a head and the counts below it tell, without zeros.

    Examples
    --------
    >>> sizes_of([9, 7, 2], [3, 1])
    [9, 7, 2, 2, 1, 1]
    """
    rest = np.asarray(below, dtype=np.int64)
    if not len(rest) or not rest[0]:
        return [size for size in head if size > 0]
    places = np.arange(1, int(rest[0]) + 1)
    tail = len(rest) - np.searchsorted(rest[::-1], places)
    return [*head, *tail.tolist()]


def _medians(values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return, for every beginning of a list, the last entry of its nearest falling list, and how far off that is.

    The heap holds where the slope of the least distance, as a function of the last entry, jumps (proofs/sizes.md).
    """
    heap: list[int] = []
    ends, costs, cost = [], [0], 0
    for value in values:
        heapq.heappush(heap, value)
        least = heap[0]
        if least < value:
            cost += value - least
            heapq.heapreplace(heap, value)
        ends.append(heap[0])
        costs.append(cost)
    return ends, costs


def _read_off(ends: Sequence[int]) -> list[int]:
    """Return the nearest falling list from the last entries of those of its beginnings."""
    fitted = list(ends)
    for place in range(len(fitted) - 2, -1, -1):
        fitted[place] = max(fitted[place], fitted[place + 1])
    return fitted


def _raising(heads: Integers, fitted: Integers, largest: int) -> Integers:
    """Return Σ|max(fitted, t) − head| for t = 0, …, largest."""
    steps = np.zeros(largest + 2, dtype=np.int64)
    # Raising an entry from t − 1 to t brings it nearer where the noisy size is at least t, else further away.
    start = np.minimum(fitted, largest) + 1
    turn = np.minimum(np.maximum(fitted, heads), largest) + 1
    np.add.at(steps, start, -1)
    np.add.at(steps, turn, 2)
    rises = np.cumsum(steps[: largest + 1])
    rises[0] = 0
    found: Integers = np.abs(fitted - heads).sum() + np.cumsum(rises)
    return found
