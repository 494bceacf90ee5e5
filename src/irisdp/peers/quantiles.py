"""Which of several ordered bins holds a quantile, by scores: how far each bin is from being the right one.

A record moves each score by at most 1, some up and others down, so that any mechanism which looks at scores alone keeps
ε if a step weighs ε/2. `ExponentialScore` and `PermutedFlips` take scores where they take gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

__all__ = ["rank_scores", "records_off"]


def rank_scores(counts: Sequence[int], share: Fraction, span: Fraction) -> tuple[int, ...]:
    """Return the score of each bin: 0 for the right one, which is the first up to whose end there are p·n records.

    Parameters
    ----------
    counts : sequence of int
        Records in each bin, in order.
    share : Fraction
        p, above 0 and at most 1.
    span : Fraction
        By how many records a neighbour moves C_j − p·n at most: 1 where records are exchanged, else max(p, 1 − p).

    Examples
    --------
    >>> rank_scores((4, 1, 5), Fraction(1, 2), Fraction(1))
    (1, 0, 1)
    """
    ends = list(accumulate(counts))
    rank = share * ends[-1]
    found = []
    for place, end in enumerate(ends):
        start = ends[place - 1] if place else None
        if end < rank:
            found.append(ceil((rank - end) / span))
        elif start is not None and start >= rank:
            found.append(floor((start - rank) / span) + 1)
        else:
            found.append(0)
    return tuple(found)


def records_off(counts: Sequence[int], share: Fraction) -> tuple[int, ...]:
    """Return how many records lie between each bin and the record at the rank ⌈p·n⌉, that one included."""
    ends = list(accumulate(counts))
    rank = ceil(share * ends[-1])
    starts = [0, *ends]
    return tuple(
        rank - end if end < rank else start - rank + 1 if place and start >= rank else 0
        for place, (start, end) in enumerate(zip(starts, ends, strict=False))
    )
