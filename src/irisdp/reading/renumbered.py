"""A reader's problem on the counts that matter, numbered from 0, and the noise clamped to them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..consumers import Consumer
from ..mechanisms import Reading

__all__ = ["clamping", "renumbered"]


def clamping(n: int, low: int, high: int) -> Reading:
    """Return the reading of 0..n that puts what lies beyond two ends there."""
    return {z: ((min(max(z, low), high), Fraction(1)),) for z in range(n + 1)}


def renumbered(consumer: Consumer, first: int, last: int) -> Consumer:
    """Number the counts first..last from 0 on."""
    prior: Any = None
    if consumer.prior is not None:
        missing = [0] * (last + 1 - len(consumer.prior))
        kept = consumer.prior[first : last + 1]
        prior = np.append(kept, missing) if isinstance(kept, np.ndarray) else [*kept, *missing]
    counts = consumer.considered  # a count without weight in the prior may lie outside
    known: Any = {"at_least": counts[0] - first, "at_most": counts[-1] - first}
    if len(counts) <= counts[-1] - counts[0]:
        known = [count - first for count in counts]
    return Consumer(last - first, consumer.loss, side_information=known, prior=prior)
