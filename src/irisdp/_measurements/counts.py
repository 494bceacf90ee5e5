"""Counts with whole-number noise of another law than the geometric one: under several pairs, or under Gaussian privacy.

Both laws are those of `irisdp.noise`, rounded to whole numbers, which is post-processing. Two releases of one count are
drawn independently: they form no chain. Those with geometric noise, further below, do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, enclosure_of, rational_text, shown_above
from .._sampling import BitSource, add_geometric, coarsen, refine
from ..privacy import Gaussian, Privacy
from .confidence import assured_between, least_distance
from .protocol import ENCLOSED, EVERY_LOSS, ChainLink, ConfidenceStatement, longer
from .registry import MeasurementKind

if TYPE_CHECKING:
    from ..noise import GaussianLaw, StaircaseLaw, UniversalDistribution

# Counts as nodes of paths, and the public bounds of noisy counts.

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CountNodes:
    """A node of a path per cell; private, and not shown by `repr`.

    Attributes
    ----------
    values : int64 array
        The counts.
    lower : int64 array
        Least count the cell's path has; public.
    upper : int64 array or None
        Largest count the cell's path has, public; None if it has no end.
    records : int64 array or None
        How many records the cell has, where that is public and the mechanism needs it.
    """

    values: Integers = field(repr=False)
    lower: Integers = field(repr=False)
    upper: Integers | None = field(repr=False)
    records: Integers | None = field(default=None, repr=False, kw_only=True)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.values)

    def padded(self, size: int) -> CountNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        upper, records = (None if values is None else longer(values, size) for values in (self.upper, self.records))
        return CountNodes(longer(self.values, size), longer(self.lower, size), upper, records=records)

    def alone(self, cell: int) -> CountNodes:
        """Return one cell."""
        part = slice(cell, cell + 1)
        return CountNodes(self.values[part], self.lower[part], None if self.upper is None else self.upper[part])


class NoisyCounts(ABC):
    """What all noise on counts has in common: answers are shown between the public ends of their paths.

    Clamping is post-processing that knows public facts alone, whatever the noise.
    """

    __slots__ = ()

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Clamp to the ends of the cells' paths where they are public."""
        if nodes.upper is None:
            return drawn
        shown: list[Any] = np.clip(np.array(drawn, dtype=np.int64), nodes.lower, nodes.upper).tolist()
        return shown

    def ends(self, nodes: CountNodes) -> dict[str, Any]:
        """Return the ends that answers are clamped to, where they are public."""
        if nodes.upper is None:
            return {}
        ends = {"lower": nodes.lower.tolist(), "upper": nodes.upper.tolist()}
        return {name: values[0] if len(set(values)) == 1 else values for name, values in ends.items()}

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return ends from the noise's law, put between the public ends of the cells' paths."""
        if nodes.upper is not None:
            return assured_between(self, shown, nodes.lower, nodes.upper, confidence)
        least = set(nodes.lower.tolist())  # of selected groups there are fewer answers than nodes
        return assured_between(self, shown, least.pop() if len(least) == 1 else None, None, confidence)

    @abstractmethod
    def chance_within(self, distance: int) -> Enclosure | None:
        """See `Measurement`."""

    def shown_masses(self, masses: Iterable[tuple[int, Fraction]], node: CountNodes) -> dict[Any, Fraction]:
        """Add up the probabilities of values that are shown alike, for one cell."""
        law: dict[Any, Fraction] = {}
        for value, probability in masses:
            (shown,) = self.show([value], node)
            law[shown] = law.get(shown, Fraction(0)) + probability
        return law

    @abstractmethod
    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error, and what 95 % of answers stay within; None where nothing bounds it."""

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        if error["mean_absolute"] is None:
            return "pure noise"
        mean = shown_above(error["mean_absolute"])
        return f"off by {mean} on average, by at most {error['within_95_percent']} in 95 % of cases"


_FAR = 12
"""Deviations beyond which a Gaussian's mass, below 1e-32, is lumped."""


class AddedNoise(NoisyCounts):
    """Noise that knows its law."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Refuse a guarantee for which there is no such noise, before anything is read."""
        _ = self.noise

    @property
    @abstractmethod
    def noise(self) -> UniversalDistribution | StaircaseLaw | GaussianLaw:
        """What is added, in atoms."""

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one unbounded noisy count per cell; see `show`."""
        drawn = self.noise.draw(nodes.values, source)
        return np.floor_divide(drawn, self.noise.atoms_per_unit)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error, rounded up, and what 95 % of answers stay within."""
        return {"mean_absolute": _mean(self.noise), "within_95_percent": least_distance(self, Fraction(19, 20))}

    def chance_within(self, distance: int) -> Enclosure:
        """Return the probability that the noise, rounded to whole numbers, is at most so far from 0."""
        return self.noise.within(distance, width=ENCLOSED)


@dataclass(frozen=True, slots=True)
class ShapeNoise(AddedNoise):
    """Adds noise whose cumulative distribution climbs by the u of any pairs, rounded to whole numbers.

    Its cells, unrounded, are best for every reader (`irisdp.noise.law`); whole numbers are not.

    References
    ----------
    proofs/shape-noise.md.
    """

    privacy: Privacy

    @property
    def noise(self) -> UniversalDistribution:
        """What is added, in cells."""
        return shape_law(self.privacy)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact distribution of the answer, lumped beyond all kinks of u, where ratios are constant."""
        noise, value = self.noise, int(nodes.values[cell])
        low, high = -noise.cells.reach, largest + noise.cells.reach
        below = [noise.below_exactly((z - value) * noise.atoms_per_unit) for z in range(low + 1, high + 1)]
        cuts = [Fraction(0), *below, Fraction(1)]
        masses = ((low + index, after - cuts[index]) for index, after in enumerate(cuts[1:]))
        return self.shown_masses(masses, nodes.alone(cell))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers; the pairs are listed separately."""
        return {"kind": MeasurementKind.SHAPE_NOISE.value}


@dataclass(frozen=True, slots=True)
class GaussianNoise(AddedNoise):
    """Adds Gaussian noise of deviation s/μ, rounded to whole numbers: exactly μ-GDP for steps of length s.

    Parameters
    ----------
    privacy : Gaussian
    sensitivity : Fraction
        s, the largest root of a sum of squares by which one step moves all cells. [default: 1]

    References
    ----------
    [Dong2022], Theorem 1; proofs/shape-noise.md.
    """

    privacy: Gaussian
    sensitivity: Fraction = Fraction(1)

    @property
    def mu(self) -> Fraction:
        """One over the deviation."""
        return Fraction(self.privacy.mu / self.sensitivity)

    @property
    def noise(self) -> GaussianLaw:
        """What is added, in whole numbers."""
        from ..noise import gaussian_law  # here, because most counts have geometric noise

        return gaussian_law(self.mu)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Enclosure]:
        """Enclose the distribution of the answer, lumped twelve deviations beyond 0 and `largest`."""
        noise, value = self.noise, int(nodes.values[cell])
        low = -math.ceil(_FAR / self.mu) - 1
        high, width = largest - low, ENCLOSED / (largest - 2 * low + 1)
        masses = {z: noise.enclose(z - value, width=width) for z in range(low + 1, high)}
        # By symmetry what lies beyond either end is what lies below some atom.
        masses[low] = noise.below(low + 1 - value, width=width)
        masses[high] = noise.below(value + 1 - high, width=width)
        node = nodes.alone(cell)
        least = self.shown_masses(((z, mass.lower) for z, mass in sorted(masses.items())), node)
        most = self.shown_masses(((z, mass.upper) for z, mass in sorted(masses.items())), node)
        return {shown: Enclosure(least[shown], most[shown]) for shown in least}

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers, with its μ: the deviation is 1/μ."""
        document = {"kind": MeasurementKind.GAUSSIAN_NOISE.value, "mu": rational_text(self.mu)}
        return document | ({} if self.sensitivity == 1 else {"sensitivity": rational_text(self.sensitivity)})


@lru_cache(maxsize=64)
def shape_law(privacy: Privacy) -> UniversalDistribution:
    """Return the noise that climbs by the u of any pairs, in cells."""
    from ..noise import UniversalDistribution, law

    distribution = law("universal", privacy)
    assert isinstance(distribution, UniversalDistribution)
    return distribution


@lru_cache(maxsize=64)
def _mean(noise: UniversalDistribution | StaircaseLaw | GaussianLaw) -> float:
    return float(noise.expected().upper)


# Counts with two-sided geometric noise. All releases of one count form a chain.
#
# Someone who sees several releases learns no more than from the most accurate one. In any order of requests, they are
# drawn from the joint distribution of the chain. The first is drawn directly, a coarser one from the next finer one,
# and a finer or middle one conditionally on its neighbours (proofs/audiences.md).

_LONGEST = 1 << 14
"""Bits, about, of the longest chance that is worked out as a fraction."""


@dataclass(frozen=True, slots=True)
class GeometricNoise(NoisyCounts):
    """Adds two-sided geometric noise: the one mechanism that all minimax readers of a count agree on.

    References
    ----------
    docs/theory.md#counts; proofs/geometric-privacy.md.
    """

    claim: ClassVar[str] = EVERY_LOSS

    privacy: Privacy

    @property
    def chained(self) -> Privacy:
        """Privacy of the link that answers are."""
        return self.privacy

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one unbounded noisy count per cell, as the link of the chain that this privacy has; see `show`."""
        return draw_link(nodes.values, self.privacy, links, source=source)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the distribution of the answer clamped to 0..largest and then shown, for a count in that range.

        Clamping there hides nothing: beyond the range the likelihood ratio of any two counts inside is constant.
        """
        from ..mechanisms import geometric_row

        row = geometric_row(int(nodes.values[cell]), largest, self.privacy.ratio)
        return self.shown_masses(enumerate(row), nodes.alone(cell))

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error 2α/(1−α²), and what 95 % of answers stay within."""
        ratio = self.privacy.ratio
        if ratio == 1:
            return {"mean_absolute": None, "within_95_percent": None}
        return {
            "mean_absolute": float(2 * ratio / (ratio**2 - 1)),
            "within_95_percent": least_distance(self, Fraction(19, 20)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Return P(|Z| ≤ k) = 1 − 2·α^(k+1)/(1+α), exactly where it is short."""
        ratio, power = self.privacy.ratio, distance + 1
        if ratio == 1:
            return Enclosure.exactly(Fraction(0))
        twice = 2 * ratio / (ratio + 1)
        if power * ratio.numerator.bit_length() <= _LONGEST:
            return Enclosure.exactly(1 - twice / ratio**power)
        enclosure = enclosure_of(lambda: 1 - ball(twice) * ball(ratio) ** -power, width=ENCLOSED)
        return enclosure.clamp(Fraction(0), Fraction(1))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.GEOMETRIC_NOISE.value}


def draw_link(
    values: NDArray[np.int64],
    privacy: Privacy,
    links: Sequence[ChainLink],
    *,
    noise: Callable[[Privacy], Privacy] = lambda privacy: privacy,
    source: BitSource | None = None,
) -> NDArray[np.int64]:
    """Add geometric noise to numbers, as the link of their chain that has this privacy.

    Parameters
    ----------
    values : array of int64
        The true numbers, in any shape.
    privacy : Privacy
        Of the answers; each link of a chain has its own.
    links : sequence of ChainLink
        What was drawn before about the same numbers, the most accurate first.
    noise : callable
        From the privacy of the answers to that of the noise for a step by 1; a larger privacy has no smaller one.
        [default: the same]
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    array of int64, the same shape
        Together with the links, distributed as a chain that was drawn at once (proofs/audiences.md).
    """
    finer = next((link for link in reversed(links) if link.privacy.ratio > privacy.ratio), None)
    coarser = next((link for link in links if link.privacy.ratio <= privacy.ratio), None)
    own = noise(privacy)
    if coarser is not None:
        return refine(
            values if finer is None else finer.values,
            coarser.values,
            own,
            finer_privacy=noise(finer.privacy) if finer else None,
            coarser_privacy=noise(coarser.privacy),
            source=source,
        )
    if finer is not None:
        return coarsen(finer.values, noise(finer.privacy), own, source=source)
    return add_geometric(values, own, source=source)


# Counts under a δ, or under several pairs: noise that is optimal for every reader, kept in cells.
#
# The noisy count lies in one of a few cells of a unit, and which one is all that a reader can use. People see the whole
# number that the cell belongs to, between the public bounds of its path. The ledger and the release file keep the cell
# itself, as it was drawn. Post-processing of whole numbers loses a little, and so does clamping first
# (proofs/shape-noise.md).

_BUYS_NOTHING = 0.001
"""Share of the error below which a δ is said to buy next to nothing."""


@dataclass(frozen=True, slots=True)
class UniversalNoiseMeasurement(ShapeNoise):
    """Adds the noise whose cumulative distribution climbs by the u of any pairs, and keeps the cell of the sum.

    For one pair (ε,δ) there are at most three cells to a unit. There is one if δ = 0, or if the noise ends at a whole
    number K, which is geometric noise cut off there. Every reader of the cell, whatever is known and feared, gets the
    best that any mechanism for the count under the same guarantee could give: one noise serves every reader.

    References
    ----------
    proofs/shape-noise.md, claims 3 to 5.
    """

    claim: ClassVar[str] = EVERY_LOSS

    privacy: Privacy

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the cell of one noisy count per cell of the question; see `show`."""
        return self.noise.draw(nodes.values, source)

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Show the whole numbers in which noisy counts lie, between the ends of their paths where they are public."""
        whole: list[Any] = self.noise.whole(drawn).tolist()
        # Named, as a class with slots is made twice and `super()` would mean the first.
        return ShapeNoise.show(self, whole, nodes)

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the cells, as they were drawn: what readers need beside the numbers that people are shown."""
        return {"cells": drawn}

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the noisy count's cell, from which what is shown follows.

        Cells are lumped beyond all kinks of u, where ratios stay as they are; where the noise ends there are none.
        """
        noise, value = self.noise, int(nodes.values[cell])
        size = noise.atoms_per_unit
        first, last = noise.cells.telling(largest)
        places = range(first, last + 1)
        cuts = [Fraction(0), *(noise.below_exactly(z - value * size) for z in places[1:]), Fraction(1)]
        return {z: after - before for z, (before, after) in zip(places, pairwise(cuts), strict=True) if after > before}

    def describe_error(self) -> str:
        """Say the expected error in one line, and what the δ saves."""
        said = f"{ShapeNoise.describe_error(self)}; one noise serves every reader (see interpret)"
        return said if self.saved is None else f"{said}; {_worth(self.saved)}"

    @property
    def saved(self) -> float | None:
        """Share of the mean error that one pair's δ saves; None without one, and where no noise needs no δ."""
        if not self.privacy.single or self.privacy.delta == 0 or self.privacy.ratio == 1:
            return None
        without = 2 * self.privacy.ratio / (self.privacy.ratio**2 - 1)
        return float(max(0.0, 1 - self.expected_error()["mean_absolute"] / float(without)))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers, and say how many cells are a unit; cell 0 begins at −½."""
        return {"kind": MeasurementKind.UNIVERSAL_NOISE.value, "cells_per_unit": self.noise.atoms_per_unit}


def _worth(saved: float) -> str:
    if saved >= _BUYS_NOTHING:
        return f"δ saves {saved:.1%} of the error"
    return "δ buys next to nothing on a single count: without it the count costs none, and later ones can refine it"
