"""The interface of every noise distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, checked, integer, rational
from .._sampling import BitSource, SimulatedBits, shape_of_draws
from ..errors import BadInput

Loss = Literal["absolute", "squared"]
"""What noise is charged for: |z| or z², in the values' own units."""

DEFAULT_WIDTH = Fraction(1, 10**30)
LONGEST_FRACTION = 1 << 24
"""Bits of the longest exact probability that is worked out; enclosures have no such limit."""

_FARTHEST = 1 << 62


class NoiseDistribution(Protocol):
    """A law on the integers, and how it is added to whole numbers."""

    @property
    def atoms_per_unit(self) -> int:
        """By how many atoms a value that grows by 1 moves the law."""

    def probability(self, z: int) -> Fraction:
        """Return the probability of an atom, exactly."""

    def enclose(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of an atom."""

    def within(self, distance: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability that the noise, in whole units, is at most so far from 0."""

    def expected(self, loss: Loss = "absolute") -> Enclosure:
        """Enclose the mean of |error| or error² in the values' units."""

    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Move the law to each value and draw, in atoms."""


class Simulated(ABC):
    """Noise that can be drawn for an experiment."""

    __slots__ = ()

    @abstractmethod
    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Move the law to each value and draw, in atoms."""

    @checked
    def simulate(self, size: Any = 1, *, seed: int) -> NDArray[np.int64]:
        """Draw noise for an experiment that others can repeat. Not for release.

        Anyone who knows the seed knows the noise, so such draws protect nobody. What publishes
        takes no seed.

        Parameters
        ----------
        size : int or tuple of int
            How many draws, at most 10^8, or the shape of an array of draws.
        seed : int
            From 0 to 2^128 − 1. The same seed gives the same draws on every machine.

        Returns
        -------
        array of int64
            The noise at the value 0, in atoms; `probability` has its distribution.

        Examples
        --------
        >>> from irisdp import Privacy, noise
        >>> noise.law("geometric", Privacy(epsilon=1)).simulate(8, seed=1).tolist()
        [0, 1, 0, 0, 0, 0, 0, 0]
        """
        return self.draw(np.zeros(shape_of_draws(size), dtype=np.int64), SimulatedBits(seed))


def check_atom(z: Any) -> int:
    """Return the number of an atom."""
    return integer(z, "z", at_least=-_FARTHEST, at_most=_FARTHEST)


def check_distance(distance: Any, atoms_per_unit: int) -> int:
    """Return how many atoms reach so far from 0."""
    return integer(distance, "distance", at_least=0, at_most=_FARTHEST // atoms_per_unit) * atoms_per_unit


def check_width(width: Any) -> Fraction:
    """Return the largest width that an enclosure may have."""
    exact = rational(width, "width")
    if not Fraction(1, 1 << 4096) <= exact <= 1:
        raise BadInput("width", "must lie between 2^-4096 and 1", "give for example 1e-30")
    return exact


def check_length(bits: int) -> None:
    """Refuse an exact fraction that would be too long."""
    if bits > LONGEST_FRACTION:
        raise BadInput("z", "lies so far out that its exact probability has millions of digits", "use enclose(z)")
