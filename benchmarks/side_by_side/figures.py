"""Figures of what was measured: medians with their spread, ratios round by round, growth with size."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

CLOCKS = ("clock", "processor")
Round = dict[str, float]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median, lowest and highest."""
    found = {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}
    return {name: rounded(value) for name, value in found.items()}


def rounded(value: float) -> float:
    """Return five significant digits, which is more than a clock is good for."""
    return float(f"{value:.5g}")


def seconds(rounds: Sequence[Round], part: int = 1) -> dict[str, dict[str, float]]:
    """Return the spread of both clocks, for the whole size where a part of it was done."""
    return {clock: spread([part * one[clock] for one in rounds]) for clock in CLOCKS}


def ratios(theirs: Sequence[Round], ours: Sequence[Round], part: int = 1) -> dict[str, dict[str, float]]:
    """Return how many times ours the others took, each round on its own: more than 1 is in our favour."""
    paired = list(zip(theirs, ours, strict=True))
    return {clock: spread([part * one[clock] / max(other[clock], 1e-9) for one, other in paired]) for clock in CLOCKS}


def growth(sizes: Sequence[int], times: Sequence[float]) -> dict[str, float] | None:
    """Return the exponent b of time ~ size^b by least squares of logarithms, and the least and most between neighbours.

    None unless there are two sizes or more.
    """
    points = [(math.log(size), math.log(max(one, 1e-9))) for size, one in sorted(zip(sizes, times, strict=True))]
    if len(points) < 2:
        return None
    slopes = [(after[1] - before[1]) / (after[0] - before[0]) for before, after in pairwise(points)]
    middle = [statistics.mean(each) for each in zip(*points, strict=True)]
    across = sum((x - middle[0]) ** 2 for x, _ in points)
    fitted = sum((x - middle[0]) * (y - middle[1]) for x, y in points) / across
    return {"exponent": rounded(fitted), "lowest": rounded(min(slopes)), "highest": rounded(max(slopes))}
