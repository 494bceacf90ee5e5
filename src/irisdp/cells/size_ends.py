"""Between what ends the sizes of categories lie, given a published list of them; all ranks at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

__all__ = ["LARGEST_SIZE", "MOST_SIZES", "sizes_between"]

LARGEST_SIZE = 1 << 40
"""Sizes beyond this are told as this."""

MOST_SIZES = 10**6
"""Sizes that are told at most: a list beyond would hold little but noise, or more than anyone reads."""


def sizes_between(
    shown: Sequence[int], *, head: int, within: int, records: int | None = None
) -> list[tuple[int, int | None]]:
    """Return ends of the true size of every rank that is shown.

    Parameters
    ----------
    shown : sequence of int
        The published list, largest first.
    head : int
        How many first sizes are released each by itself; later ones are described by how many are at least 1, 2, ….
    within : int
        The largest error of the released numbers, before they were made consistent.
    records : int, optional
        How many records there are, where that is public.

    Returns
    -------
    list of (int, int or None)
        The least and the largest size. All hold together whenever no number is further off; None stands for no end.

    References
    ----------
    proofs/sizes.md, claim 6.

    Examples
    --------
    >>> sizes_between([9, 7, 1], head=3, within=2)
    [(7, 11), (5, 9), (0, 3)]
    """
    top, rest = list(shown[:head]), np.array(shown[head:], dtype=np.int64)
    last = int(rest[0]) if len(rest) else 0
    counts = len(rest) - np.searchsorted(rest[::-1], np.arange(1, last + 1))  # c′_1, …, c′_t
    at_least = int(np.count_nonzero(counts > within))
    lows = [max(size - within if size > last else 0, at_least) for size in top]
    highs: list[int | None] = [None if size >= LARGEST_SIZE else size + within for size in top]
    places = np.arange(1, len(rest) + 1)
    lows += np.searchsorted(within - counts, -places, side="right").tolist()
    # The first j with c′_j + m < i − D; sizes are below it.
    told = np.where(counts < MOST_SIZES, counts + within, np.iinfo(np.int64).max)
    first = last - np.searchsorted(told[::-1], places)
    beyond = highs[-1] if highs else None
    highs += [int(j) if j < last else beyond for j in first.tolist()]
    if records is not None:
        parts = [records // rank for rank in range(1, len(highs) + 1)]
        highs = [part if high is None else min(high, part) for high, part in zip(highs, parts, strict=True)]
    falling = list(accumulate(highs, _smaller))
    raised = list(accumulate(reversed(lows), max))[::-1]
    return list(zip(raised, falling, strict=True))


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
