"""What is public of published counts: their noise, the ends they were shown between, and the cells they lie in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, integer, working_precision
from .._measurements import least_distance
from ..accounting import charged_pair
from ..consumers import Consumer
from ..errors import BadInput
from ..graphs import Path
from ..mechanisms import Mechanism
from ..noise import GaussianLaw, UniversalDistribution, gaussian_law, law
from ..privacy import Gaussian, Guarantee, Privacy

LARGEST_COUNT = 1 << 62
"""Beyond what anyone counts, and within 64 bits."""

Ends = tuple[int, int] | None
"""The least and the largest count there can be, where that is public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCounts:
    """What is public of published counts, whatever their noise: the ends that they were clamped to, if any.

    Parameters
    ----------
    ends : tuple
        For every answer its least and largest count, or None where its path has no largest; or one entry for all.
    selected : bool
        Whether groups without an answer may have records too: the release did not name them.
    """

    ends: tuple[Ends, ...]
    selected: bool = False

    def ends_of(self, row: int) -> Ends:
        """Return the ends of one answer."""
        return self.ends[0] if len(self.ends) == 1 else self.ends[row]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCount(PublishedCounts):
    """Counts with two-sided geometric noise.

    Parameters
    ----------
    privacy : Privacy
        α = 1/ratio.
    """

    privacy: Privacy


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNoisyCount(PublishedCounts):
    """Counts with the noise of a δ, of several pairs or of Gaussian privacy.

    Parameters
    ----------
    guarantee : Guarantee
        What the noise is made for.
    cells : tuple of int, optional
        For every answer the cell that it was drawn in, as it was drawn; None where only whole numbers are known.
    named : bool
        Whether the noisy counts decided which groups are answered about (proofs/named-counts.md).
    shared : bool
        Whether the guarantee is a share: a person has several records that count.
    split : bool
        Of groups that are named, whether their other records may have named them.
    """

    guarantee: Guarantee
    cells: tuple[int, ...] | None = None
    named: bool = False
    shared: bool = False
    split: bool = False

    def whole(self) -> OtherNoisyCount:
        """Return the same without cells: what someone has who knows whole numbers alone."""
        return replace(self, cells=None)


def cells_in(mechanism: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Read the cells that answers were drawn in; None where a document leaves them out."""
    cells = mechanism.get("cells")
    if cells is None:
        return None
    if not isinstance(cells, list):
        raise BadInput("cells", "must be a list of whole numbers", "give the file that publish wrote")
    return tuple(integer(cell, "cells", at_least=-LARGEST_COUNT, at_most=LARGEST_COUNT) for cell in cells)


# How far the sum of independent noises is from 0, from the convolution of their law.
#
# Masses are kept as multiples of 2^-112, each rounded down, in every step. So sums of them never exceed the true
# mass, and a distance holds with at least the requested confidence. It is the least such distance, but for
# confidences that lie within 2^-45 of what a smaller one has.

_SUM_BITS = 112
_ONE = 1 << _SUM_BITS
_NARROW = Fraction(1, _ONE << 16)
_SURE = 1 - Fraction(1, 1 << 70)
_LEFT_OUT = _ONE >> 70
"""Mass at either end that is left out in every step."""
_LONGEST = 1 << 16
"""Whole numbers on a side that one noise may reach; further, sums are bounded by their parts."""
_WIDEST = 5000
"""The largest standard deviation of a sum that is convolved: some seconds."""


@lru_cache(maxsize=256)
def sum_distance(noise: UniversalDistribution | GaussianLaw, number: int, confidence: Fraction) -> int | None:
    """Return the least distance from 0 that the sum of `number` such noises, in whole numbers, stays within.

    Parameters
    ----------
    noise : UniversalDistribution or GaussianLaw
        Its own mirror image. A law in cells is that of the whole numbers that cells are shown as.
    number : int
        At least 1.
    confidence : Fraction
        At most 1 − 1e-12.

    Returns
    -------
    int or None
        None where the noise reaches too far for its masses to be listed.

    Examples
    --------
    >>> from irisdp import Privacy, noise
    >>> sum_distance(noise.law("geometric", Privacy(ratio=2)), 4, Fraction(19, 20))
    8
    """
    masses = _masses(noise)
    if masses is None:
        return None
    if _spread(masses) * number > _WIDEST**2:
        return None
    polynomial = [_ONE]
    for bit in bin(number)[2:]:  # from the first digit on: twice as many, and one more
        polynomial = _product(polynomial, polynomial)
        if bit == "1":
            polynomial = _product(polynomial, masses)
    middle = len(polynomial) // 2
    outward = (polynomial[middle], *(2 * mass for mass in polynomial[middle + 1 :]))
    wanted = confidence * _ONE
    return next((distance for distance, mass in enumerate(accumulate(outward)) if mass >= wanted), None)


@dataclass(frozen=True, slots=True)
class NoiseChances:
    """How surely noise stays within a distance, enclosed to a width: what `least_distance` asks for."""

    noise: UniversalDistribution | GaussianLaw
    width: Fraction

    def chance_within(self, distance: int) -> Enclosure:
        """Return the probability that the noise, in whole units, is at most so far from 0."""
        return self.noise.within(distance, width=self.width)


def _masses(noise: UniversalDistribution | GaussianLaw) -> list[int] | None:
    """Return the masses of −reach, …, reach, each rounded down and alike on both sides."""
    if isinstance(noise, UniversalDistribution) and noise.kind == "geometric" and noise.sensitivity == 1:
        return _geometric(1 / noise.privacy.pairs[0].ratio)
    reach = least_distance(NoiseChances(noise, _NARROW), _SURE)
    if reach is None or reach > _LONGEST:
        return None
    size = noise.atoms_per_unit
    cuts = [noise.below(index * size, width=_NARROW) for index in range(-reach, 2)]
    left = [max(0, int((after.lower - before.upper) * _ONE)) for before, after in pairwise(cuts)]
    return [*left, *left[-2::-1]]


def noise_masses(deployed: NoisyCount | OtherNoisyCount) -> list[float] | None:
    """Return the probabilities of noise −m, …, m in whole numbers, alike on both sides; None if m is large."""
    if isinstance(deployed, NoisyCount):
        masses = _geometric(1 / deployed.privacy.ratio) if deployed.privacy.ratio > 1 else None
    else:
        masses = _masses(noise_of(deployed.guarantee))
    return None if masses is None else [mass / _ONE for mass in masses]


def _geometric(alpha: Fraction) -> list[int] | None:
    """Return the masses (1 − α)/(1 + α)·α^|z|, rounded down at every step."""
    shrink, right = int(alpha * _ONE), [int((1 - alpha) / (1 + alpha) * _ONE)]
    while right[-1] * alpha > (1 - alpha) * _LEFT_OUT:
        if len(right) > _LONGEST:
            return None
        right.append(right[-1] * shrink >> _SUM_BITS)
    return [*right[:0:-1], *right]


def _spread(masses: list[int]) -> float:
    """Return the variance."""
    middle = len(masses) // 2
    return float(sum(2 * index**2 * mass for index, mass in enumerate(masses[middle:])) / _ONE)


def _product(one: list[int], other: list[int]) -> list[int]:
    """Convolve, round down, and leave out what hardly has mass, as much on either side."""
    product = [int(mass) >> _SUM_BITS for mass in (flint.fmpz_poly(one) * flint.fmpz_poly(other)).coeffs()]
    product += [0] * (len(one) + len(other) - 1 - len(product))  # a polynomial has no leading noughts
    start = next(index for index, mass in enumerate(accumulate(product)) if mass > _LEFT_OUT)
    return product[start : len(product) - start]


# Counts that were published with other than geometric noise, as a mechanism that a reader's game can be played with.
#
# Rows are those of the noise in whole numbers, or in cells of a unit, rounded to multiples of 2^-160. Values beyond
# all that could distinguish counts are lumped together, and rows are clamped where the release was. What rounding and
# lumping may change in any loss is bounded.

_ROW_BITS = 160
_SPARE = Fraction(1, 1 << _ROW_BITS + 16)
_MOST_ENTRIES = 60_000
_FAR = 12
"""Deviations beyond which a Gaussian's values are lumped: they have less than 2^-100 of its mass."""
_LUMPED = Fraction(1, 1 << 100)
_FAR_OUT = 1000


def noise_of(guarantee: Guarantee) -> UniversalDistribution | GaussianLaw:
    """Return the noise that a count has under several pairs, or under Gaussian privacy."""
    if isinstance(guarantee, Gaussian):
        return gaussian_law(guarantee.mu)
    distribution = law("universal", guarantee)
    assert isinstance(distribution, UniversalDistribution)
    return distribution


def outputs_of(guarantee: Guarantee, first: int, last: int, ends: Ends, *, in_cells: bool) -> range | None:
    """Return the published values, or cells, that tell the counts from `first` to `last` apart; None for too many.

    Cells are never clamped, so the ends of what is shown do not matter to them.
    """
    noise = noise_of(guarantee)
    step = noise.atoms_per_unit if in_cells else 1
    if (
        isinstance(noise, UniversalDistribution) and noise.support is not None
    ):  # what lies beyond nobody can have published
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
    below = {z: int(noise.below(z * size, width=_SPARE).lower * (1 << _ROW_BITS)) for z in places}
    rows = []
    for count in range(first, last + 1):
        # Rounded down, a cut may lie a unit below the one before it.
        cuts = accumulate([0, *(below[z - count * step] for z in values[1:]), 1 << _ROW_BITS], max)
        rows.append([Fraction(after - before, 1 << _ROW_BITS) for before, after in pairwise(cuts)])
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

    with working_precision(2 * _ROW_BITS):
        return np.array([float(chance(distance).log()) for distance in distances])


def slack(deployed: Mechanism, consumer: Consumer) -> Fraction:
    """Bound what rounding and lumping change in the loss of any reading, at any count.

    Cuts are moved by less than two units each, so that rows are moved by less than four for each value.
    """
    entries = [entry for line in consumer.loss.table(consumer.n) for entry in line]
    spread = Fraction(max(entries)) - Fraction(min(entries))
    return spread * (Fraction(4 * len(deployed.outputs), 1 << _ROW_BITS) + _LUMPED)


def _reach(noise: UniversalDistribution | GaussianLaw) -> int:
    if isinstance(noise, UniversalDistribution):
        return noise.cells.reach
    return math.ceil(_FAR / noise.mu) + 1
