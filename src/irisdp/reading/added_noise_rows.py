"""Counts that were published with other than geometric noise, as a mechanism that a reader's game can be played with.

Rows are those of the noise in whole numbers, or in cells of a unit, rounded to multiples of 2^-160. Values beyond all
that could distinguish counts are lumped together, and rows are clamped where the release was. What rounding and lumping
may change in any loss is bounded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise

import flint
import numpy as np
from numpy.typing import NDArray

from ..accounting import charged_pair
from ..consumers import Consumer
from ..errors import BadInput
from ..exact import ball, working_precision
from ..graphs import Path
from ..mechanisms import Mechanism
from ..noise import GaussianLaw, ShapeLaw, gaussian_law, law
from ..privacy import Gaussian, Guarantee
from .published_counts import Ends

__all__ = ["log_likelihoods", "mechanism_of_noise", "noise_of", "outputs_of", "slack"]

_BITS = 160
_SPARE = Fraction(1, 1 << _BITS + 16)
_MOST_ENTRIES = 60_000
_FAR = 12
"""Deviations beyond which a Gaussian's values are lumped: they have less than 2^-100 of its mass."""
_LUMPED = Fraction(1, 1 << 100)
_FAR_OUT = 1000


def noise_of(guarantee: Guarantee) -> ShapeLaw | GaussianLaw:
    """Return the noise that a count has under several pairs, or under Gaussian privacy."""
    if isinstance(guarantee, Gaussian):
        return gaussian_law(guarantee.mu)
    found = law("universal", guarantee)
    assert isinstance(found, ShapeLaw)
    return found


def outputs_of(guarantee: Guarantee, first: int, last: int, ends: Ends, *, in_cells: bool) -> range | None:
    """Return the published values, or cells, that tell the counts from `first` to `last` apart; None for too many.

    Cells are never clamped, so the ends of what is shown do not matter to them.
    """
    noise = noise_of(guarantee)
    step = noise.atoms_per_unit if in_cells else 1
    if isinstance(noise, ShapeLaw) and noise.support is not None:  # what lies beyond nobody can have published
        start, end = (place * step // noise.atoms_per_unit for place in noise.support)
        low, high = first * step + start, last * step + end
    else:
        low, high = (first - _reach(noise)) * step, (last + _reach(noise) + 1) * step - 1
    if ends is not None and not in_cells:
        low, high = max(low, ends[0]), min(high, ends[1])
    return range(low, high + 1) if (last - first + 1) * (high - low + 1) <= _MOST_ENTRIES else None


def mechanism_of_noise(guarantee: Guarantee, first: int, last: int, ends: Ends, *, in_cells: bool = False) -> Mechanism:
    """Return the mechanism on the counts from `first` to `last`, numbered from 0; outputs are `outputs_of`.

    Raises
    ------
    BadInput
        Where that is a table of more than 60,000 entries.
    """
    noise, values = noise_of(guarantee), outputs_of(guarantee, first, last, ends, in_cells=in_cells)
    if values is None:
        rule = f"leaves {last - first + 1:,} counts possible, too many to read with this noise"
        raise BadInput("at_most", rule, "say more with at_least= and at_most=")
    # How many outputs are a unit, and how many cells are an output.
    step, size = (noise.atoms_per_unit, 1) if in_cells else (1, noise.atoms_per_unit)
    places = range(values[0] + 1 - last * step, values[-1] + 1 - first * step)
    below = {z: int(noise.below(z * size, width=_SPARE).lower * (1 << _BITS)) for z in places}
    rows = []
    for count in range(first, last + 1):
        # Rounded down, a cut may lie a unit below the one before it.
        cuts = accumulate([0, *(below[z - count * step] for z in values[1:]), 1 << _BITS], max)
        rows.append([Fraction(after - before, 1 << _BITS) for before, after in pairwise(cuts)])
    # One pair that holds, for the search; the rows decide.
    pair = charged_pair(guarantee, "1e-6" if isinstance(guarantee, Gaussian) else 0)
    return Mechanism.from_matrix(rows, privacy=pair, graph=Path(last - first + 1), outputs=values)


def log_likelihoods(guarantee: Gaussian, value: int, counts: range) -> NDArray[np.float64]:
    """Return how likely each count makes a value that is no end, however far away: logarithms, up to a common term."""
    distances = [abs(value - count) for count in counts]
    nearest = (2 * min(distances) - 1) * guarantee.mu / 2
    if nearest > _FAR_OUT:  # a tail at x is e^(−x²/2)/x, up to 1/x² of it
        near = [(2 * distance - 1) * guarantee.mu / 2 for distance in distances]
        return np.array([-float((x - nearest) * (x + nearest) / 2) - math.log(x / nearest) for x in near])
    half, root = ball(guarantee.mu / 2), flint.arb(2).sqrt()

    def chance(distance: int) -> flint.arb:
        return ((2 * distance - 1) * half / root).erfc() - ((2 * distance + 1) * half / root).erfc()

    with working_precision(2 * _BITS):
        return np.array([float(chance(distance).log()) for distance in distances])


def slack(deployed: Mechanism, consumer: Consumer) -> Fraction:
    """Bound what rounding and lumping change in the loss of any reading, at any count.

    Cuts are moved by less than two units each, so that rows are moved by less than four for each value.
    """
    entries = [entry for line in consumer.loss.table(consumer.n) for entry in line]
    spread = Fraction(max(entries)) - Fraction(min(entries))
    return spread * (Fraction(4 * len(deployed.outputs), 1 << _BITS) + _LUMPED)


def _reach(noise: ShapeLaw | GaussianLaw) -> int:
    if isinstance(noise, ShapeLaw):
        return noise.cells.reach
    return math.ceil(_FAR / noise.mu) + 1
