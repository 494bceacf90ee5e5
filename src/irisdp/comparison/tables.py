"""All tables of n records in q categories, those alike but for names together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import comb, factorial, prod

__all__ = ["MOST_TABLES", "number_of_kinds", "number_of_tables", "tables"]

MOST_TABLES = 50_000
"""Kinds of tables over which a mean is taken: up to a minute."""

Sorted = tuple[int, ...]


def number_of_kinds(records: int, categories: int, most: int = MOST_TABLES) -> int:
    """Count the tables that differ by more than names; beyond `most`, some number above it."""
    if records > most:  # with two categories there are half as many as records
        return most + 1
    ways = [1] + [0] * records
    for part in range(1, categories + 1):  # as many as there are partitions into parts of at most q
        for total in range(part, records + 1):
            ways[total] += ways[total - part]
    return ways[records]


def number_of_tables(records: int, categories: int) -> int:
    """Count all tables."""
    return comb(records + categories - 1, categories - 1)


def tables(records: int, categories: int) -> Iterator[tuple[Sorted, int]]:
    """Yield the gaps of each kind of table in ascending order, and how many tables are of that kind."""
    orders = factorial(categories)
    for counts in _falling(records, categories, records):
        gaps = tuple(counts[0] - count for count in counts)
        yield gaps, orders // prod(map(factorial, Counter(counts).values()))


def _falling(records: int, categories: int, most: int) -> Iterator[Sorted]:
    """Yield falling counts with a sum, none above `most`."""
    if categories == 1:
        yield (records,)
        return
    for first in range(-(-records // categories), min(records, most) + 1):
        for rest in _falling(records - first, categories - 1, first):
            yield (first, *rest)
