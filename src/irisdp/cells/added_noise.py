"""Counts with whole-number noise of another law than the geometric one: under several pairs, or under Gaussian privacy.

Both laws are those of `irisdp.noise`, rounded to whole numbers, which is post-processing. Two releases of one count are
drawn independently: they form no chain.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, rational_text
from ..noise import GaussianLaw, ShapeLaw, StaircaseLaw, gaussian_law, law
from ..privacy import Gaussian, Privacy
from ..sampling import BitSource
from .chances import least_distance
from .counts_on_paths import CountNodes, NoisyCounts
from .protocol import ENCLOSED, Link

__all__ = ["AddedNoise", "GaussianNoise", "ShapeNoise", "shape_law"]

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
    def noise(self) -> ShapeLaw | StaircaseLaw | GaussianLaw:
        """What is added, in atoms."""

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
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
    def noise(self) -> ShapeLaw:
        """What is added, in cells."""
        return shape_law(self.privacy)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact distribution of the answer, lumped beyond all kinks of u, where ratios are constant."""
        noise, value = self.noise, int(nodes.values[cell])
        low, high = -noise.cells.reach, largest + noise.cells.reach
        below = [noise.below_exactly((z - value) * noise.atoms_per_unit) for z in range(low + 1, high + 1)]
        cuts = [Fraction(0), *below, Fraction(1)]
        masses = ((low + place, after - cuts[place]) for place, after in enumerate(cuts[1:]))
        return self.shown_masses(masses, nodes.alone(cell))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers; the pairs are listed separately."""
        return {"kind": "shape-noise"}


@dataclass(frozen=True, slots=True)
class GaussianNoise(AddedNoise):
    """Adds Gaussian noise of deviation s/μ, rounded to whole numbers: exactly μ-GDP for steps of length s.

    Parameters
    ----------
    privacy : Gaussian
    sensitivity : Fraction
        s, the largest root of a sum of squares by which one step moves all cells; 1 unless given.

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
        document = {"kind": "gaussian-noise", "mu": rational_text(self.mu)}
        return document | ({} if self.sensitivity == 1 else {"sensitivity": rational_text(self.sensitivity)})


@lru_cache(maxsize=64)
def shape_law(privacy: Privacy) -> ShapeLaw:
    """Return the noise that climbs by the u of any pairs, in cells."""
    found = law("universal", privacy)
    assert isinstance(found, ShapeLaw)
    return found


@lru_cache(maxsize=64)
def _mean(noise: ShapeLaw | StaircaseLaw | GaussianLaw) -> float:
    return float(noise.expected().upper)
