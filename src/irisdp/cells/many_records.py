"""Whole numbers that one person moves by more than one: counts of several records, and sums.

Two laws, for two ways in which a person's step may move the cells of a release. Where it moves one cell, by at most m,
the staircase is best among noise that is added to every number alike; it would pay once more for every further cell.
Where it moves several cells by at most m in all, geometric noise at the m-th root of r pays once for them together.
Neither forms a chain.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ..noise import ShapeLaw, StaircaseLaw, law
from ..privacy import Privacy
from .added_noise import AddedNoise
from .counts_on_paths import CountNodes

__all__ = ["SpreadNoise", "StaircaseNoise"]


@dataclass(frozen=True, slots=True)
class _MovedFurther(AddedNoise):
    """Noise for one pair with δ = 0 and steps of up to `sensitivity`.

    Parameters
    ----------
    privacy : Privacy
        Of one step of a person.
    sensitivity : int
        m.
    """

    privacy: Privacy
    sensitivity: int

    @abstractmethod
    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law about one value, lumped where that hides nothing of values from −largest to largest."""

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the answer, for a value whose magnitude is at most `largest`."""
        return self.shown_masses(self.masses(int(nodes.values[cell]), largest), nodes.alone(cell))


@dataclass(frozen=True, slots=True)
class StaircaseNoise(_MovedFurther):
    """Staircase noise, with the step that is best for the mean absolute error, where a person moves one cell.

    The best among noise that is added to every number alike (compared with linear programs, not proved here); it is not
    universal.

    References
    ----------
    [Geng2016]; docs/theory.md#shapes.
    """

    @property
    def noise(self) -> StaircaseLaw:
        """What is added, in whole numbers."""
        found = law("staircase", self.privacy, self.sensitivity)
        assert isinstance(found, StaircaseLaw)
        return found

    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law; beyond all steps a shift by m takes every mass down by r, so m numbers stand for all."""
        noise, m = self.noise, self.sensitivity
        edge, ratio = largest + noise.step, self.privacy.ratio
        for z in range(-edge - m, edge + m + 1):
            mass = noise.probability(z - value)
            yield z, mass * ratio / (ratio - 1) if abs(z) > edge else mass

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for whoever reads the answers."""
        return {"kind": "staircase-noise", "sensitivity": self.sensitivity, "step": self.noise.step}


@dataclass(frozen=True, slots=True)
class SpreadNoise(_MovedFurther):
    """Geometric noise at the m-th root of r, where a person moves several cells, by at most m in all.

    The root is rounded down, towards privacy. Shifts s₁, s₂, … of cells change no probability by more than the product
    of their powers, which is at most r.
    """

    @property
    def noise(self) -> ShapeLaw:
        """What is added, in whole numbers."""
        found = law("geometric", self.privacy, self.sensitivity)
        assert isinstance(found, ShapeLaw)
        return found

    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law; beyond `largest` on either side all ratios stay as they are."""
        noise = self.noise
        cuts = [Fraction(0), *(noise.below_exactly(z - value) for z in range(-largest + 1, largest + 1)), Fraction(1)]
        for place, (before, after) in enumerate(pairwise(cuts)):
            yield place - largest, after - before

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for whoever reads the answers."""
        return {"kind": "spread-noise", "sensitivity": self.sensitivity}
