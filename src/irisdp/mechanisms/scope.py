"""Among which mechanisms a certificate says that one is best: part of the file format, and of every claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import or_

from ..privacy import Privacy

__all__ = ["ALL_PRIVATE", "LONGEST_PROPAGATION", "SAME_ROWS", "too_deep", "too_many_events"]

ALL_PRIVATE = "all private mechanisms"
"""No private mechanism on the graph has a smaller goal."""

SAME_ROWS = "mechanisms with these boundary rows"
"""No private mechanism that gives some inputs (usually those on the boundary) the same rows has a smaller goal."""

LONGEST_PROPAGATION = 10**8
"""Bits, about, of the exact numbers that one event is propagated with; the stand-alone verifier has the same limit."""

_FEW_EVENTS = 256
_MOST_PROPAGATED = 4 * 10**6
"""Sets of first choices that are propagated one by one, if they are not few, times the inputs that they reach."""


def too_many_events(rankings: Iterable[Sequence[int]], inputs: int) -> bool:
    """Tell whether a certificate by rankings is not checked, nor written, since so many first choices differ.

    The possible mass of the first k outputs is computed again for each set of them; the stand-alone verifier has the
    same limits.
    """
    events = {event for line in set(map(tuple, rankings)) for event in accumulate((1 << v for v in line), or_)}
    return len(events) > max(_FEW_EVENTS, _MOST_PROPAGATED // inputs)


def too_deep(deepest: int, privacy: Privacy) -> bool:
    """Tell whether a certificate whose rows follow from given ones this far away is not checked, nor written.

    Exact numbers grow with every step, by about the digits of a ratio and δ.
    """
    step = max(
        sum(number.numerator.bit_length() + number.denominator.bit_length() for number in (pair.ratio, pair.delta))
        for pair in privacy.pairs
    )
    return deepest * deepest * step > LONGEST_PROPAGATION
