"""What the linear programs of readings share: the form their solutions take, and the grid these are put on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .geometric_sums import Floats, Integers

__all__ = [
    "GRID_BITS",
    "MAGNIFIED",
    "RawSolution",
    "on_grid",
    "snapped",
]

GRID_BITS = 52
"""Chances and priors are multiples of 2^-52: exact as floats, and so are their sums up to 1."""


MAGNIFIED = 1e3
"""What the chances of answers, and the weights of nature, sum to in a program: the solver's tolerances are absolute."""


@dataclass(frozen=True, slots=True)
class RawSolution:
    """What a solver found: a reading, as released values, answers and chances, and nature's prior on the counts."""

    released: Integers
    answers: Integers
    chances: Floats
    weights: Floats


def on_grid(weights: Floats) -> Floats:
    """Normalise to multiples of 2^-52 that sum to exactly 1, which floats of this size do exactly."""
    units = np.floor(np.ldexp(weights / weights.sum(), GRID_BITS)).astype(np.int64)
    units[units.argmax()] += (1 << GRID_BITS) - int(units.sum())
    rounded: Floats = np.ldexp(units.astype(np.float64), -GRID_BITS)
    return rounded


def snapped(groups: Integers, chances: Floats) -> Floats:
    """Round chances to multiples of 2^-52 so that those of each group sum to exactly 1."""
    units = np.rint(np.ldexp(np.maximum(chances, 0), GRID_BITS))
    units = np.floor(np.ldexp(units / np.bincount(groups, units)[groups], GRID_BITS)).astype(np.int64)
    order = np.lexsort((units, groups))
    largest = order[np.append(np.diff(groups[order]) != 0, True)]
    missing = np.full(int(groups.max()) + 1, 1 << GRID_BITS)
    np.subtract.at(missing, groups, units)
    units[largest] += missing[groups[largest]]
    rounded: Floats = np.ldexp(units.astype(np.float64), -GRID_BITS)
    return rounded
