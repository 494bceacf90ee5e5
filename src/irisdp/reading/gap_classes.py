"""All tables of so many records in q categories, up to their order and their common part: few, and easy to list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["GapClasses", "gap_classes", "most_weighed", "weighed"]

_MOST_ENTRIES = 1_500_000
"""Gaps in all that are listed; some seconds."""


@dataclass(frozen=True, slots=True)
class GapClasses:
    """Gaps to the largest category, ascending, and how many tables have them, in any order.

    Attributes
    ----------
    gaps : int64 array, shape (classes, q)
    tables : list of int
    """

    gaps: NDArray[np.int64]
    tables: list[int]


def gap_classes(categories: int, first: int, last: int, lead: int) -> GapClasses | None:
    """List the gaps of all tables of `first` to `last` records whose largest category leads by `lead` or more.

    Returns
    -------
    GapClasses or None
        None where they would be more than about a million numbers.

    Notes
    -----
    What every category has above the least is a list of q − 1 numbers, sorted, with a sum of `last` at most. The least
    category's own count is then free, as far as the number of records allows.
    """
    if _too_many(categories, last):
        return None
    above = np.zeros((1, 1), dtype=np.int64)
    for left in range(categories - 1, 0, -1):
        least = above[:, -1]
        most = (last - above.sum(axis=1)) // left
        choices = most - least + 1
        rows = np.repeat(np.arange(len(above)), choices)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(choices) - choices, choices)
        above = np.column_stack([above[rows], least[rows] + place])
    above = above[above[:, -1] - above[:, -2] >= lead]
    total = above.sum(axis=1)
    copies = (last - total) // categories - np.maximum(0, -((total - first) // categories)) + 1
    above, copies = above[copies > 0], copies[copies > 0]
    return GapClasses((above[:, -1:] - above)[:, ::-1], _in_any_order(above, copies))


def most_weighed(categories: int) -> int:
    """Return the most records of which `gap_classes` lists all tables of that many categories."""
    beyond = 1
    while not _too_many(categories, beyond):
        beyond *= 2
    fits = beyond // 2
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        fits, beyond = (fits, middle) if _too_many(categories, middle) else (middle, beyond)
    return fits


def _too_many(categories: int, last: int) -> bool:
    return _partitions(categories - 1, last) * categories > _MOST_ENTRIES


def _partitions(parts: int, largest: int) -> int:
    """Count the lists of `parts` sorted numbers with a sum of `largest` at most; where they are too many, too many."""
    if parts == 1:
        return largest + 1
    if math.comb(largest + parts, parts) // math.factorial(parts) > _MOST_ENTRIES:
        return _MOST_ENTRIES + 1  # each list has at most that many orders
    ways = [1] + [0] * largest
    for part in range(1, parts + 1):
        for total in range(part, largest + 1):
            ways[total] += ways[total - part]
    return sum(ways)


def _in_any_order(sorted_rows: NDArray[np.int64], copies: NDArray[np.int64]) -> list[int]:
    """Multiply how often every row comes by the number of its different orders."""
    runs = np.ones(len(sorted_rows), dtype=np.int64)
    alike = np.ones(len(sorted_rows), dtype=object)
    for place in range(1, sorted_rows.shape[1]):
        runs = np.where(sorted_rows[:, place] == sorted_rows[:, place - 1], runs + 1, 1)
        alike = alike * runs.astype(object)
    orders = math.factorial(sorted_rows.shape[1])
    return [orders // int(same) * int(often) for same, often in zip(alike, copies, strict=True)]


def weighed(values: NDArray[np.float64], weights: list[int], *, up: bool) -> Fraction:
    """Add up weights times floats in [0, 1], each rounded to a multiple of 2^-62, down or up."""
    scaled = np.ceil(values * 2.0**62) if up else np.floor(values * 2.0**62)
    return Fraction(sum(int(value) * weight for value, weight in zip(scaled, weights, strict=True)), 1 << 62)
