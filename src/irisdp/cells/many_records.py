"""Whole numbers that one person moves by more than one: counts of several records, and sums.

Two laws, for two ways in which a person's step may move the cells of a release. If it moves one cell, by at most m, the
staircase is best among noise that is added to every number alike. For every further cell it would pay once more. Where
it moves several cells by at most m in all, geometric noise at the m-th root of r pays once for them together. Where it
moves several, but few, `noise_for` compares the two by their errors, which are public. Neither forms a chain.

Under Gaussian privacy a step costs what the root of the sum of its squares costs, wherever it goes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

from ..errors import BadInput
from ..exact import shown_below
from ..noise import ShapeLaw, StaircaseLaw, law
from ..noise.laws import root_of
from ..privacy import Gaussian, Guarantee, Privacy
from .added_noise import AddedNoise, GaussianNoise
from .counts_on_paths import CountNodes

__all__ = ["SpreadNoise", "StaircaseNoise", "noise_for"]

_ROOT_BITS = 64


@dataclass(frozen=True, slots=True)
class _MovedFurther(AddedNoise):
    """Noise for one pair with δ = 0 and steps of up to `sensitivity`.

    Parameters
    ----------
    privacy : Privacy
        Of one step of a person.
    sensitivity : int
        m.
    instead_of : AddedNoise, optional
        What was compared with it, and is off by more.
    """

    privacy: Privacy
    sensitivity: int
    instead_of: _MovedFurther | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    @abstractmethod
    def called(self) -> str:
        """Which noise it is, for people."""

    @abstractmethod
    def reason(self, unit: str) -> str:
        """The reason for that noise, in text that calls a protected person a `unit`."""

    def describe_error(self) -> str:
        """Say the expected error in one line, which noise it is and why."""
        return self.describe_error_for("person")

    def describe_error_for(self, unit: str) -> str:
        """Return the same text with another word for a protected person."""
        said = f"{AddedNoise.describe_error(self)}; {self.called}, as {self.reason(unit)}"
        if self.instead_of is None:
            return said
        beside = shown_below(self.instead_of.expected_error()["mean_absolute"])
        return f"{said} ({self.instead_of.called} would be off by {beside})"

    @abstractmethod
    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law about one value, lumped where that hides nothing of values from −largest to largest."""

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact distribution of the answer, for a value whose magnitude is at most `largest`."""
        return self.shown_masses(self.masses(int(nodes.values[cell]), largest), nodes.alone(cell))


@dataclass(frozen=True, slots=True)
class StaircaseNoise(_MovedFurther):
    """Staircase noise, with the step that is best for the mean absolute error, where a person moves one cell, or few.

    The best for one cell among noise that is added to every number alike (compared with linear programs, not proved
    here); it is not universal.

    Parameters
    ----------
    privacy, sensitivity
        A step moves each cell by at most `sensitivity`.
    cells : int
        How many cells a step moves at most. Each has an equal part of ε, by the root of r rounded down.

    References
    ----------
    [Geng2016]; docs/theory.md#shapes.
    """

    cells: int = 1

    @property
    def noise(self) -> StaircaseLaw:
        """What is added, in whole numbers."""
        found = law("staircase", root_of(self.privacy, self.cells), self.sensitivity)
        assert isinstance(found, StaircaseLaw)
        return found

    @property
    def called(self) -> str:
        """Which noise it is."""
        return "staircase noise" + (f" at ε/{self.cells} for each answer" if self.cells > 1 else "")

    def reason(self, unit: str) -> str:
        """Why."""
        answers = "one answer" if self.cells == 1 else f"at most {self.cells} answers, each"
        return f"one {unit} moves {answers} by at most {self.sensitivity:,}"

    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law; beyond all steps a shift by m takes every mass down by r, so m numbers stand for all."""
        noise, m = self.noise, self.sensitivity
        edge, ratio = largest + noise.step, noise.privacy.ratio
        for z in range(-edge - m, edge + m + 1):
            mass = noise.probability(z - value)
            yield z, mass * ratio / (ratio - 1) if abs(z) > edge else mass

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        document = {"kind": "staircase-noise", "sensitivity": self.sensitivity, "step": self.noise.step}
        return document | ({"cells": self.cells} if self.cells > 1 else {})


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

    @property
    def called(self) -> str:
        """Which noise it is."""
        return f"geometric noise at ε/{self.sensitivity:,}"

    def reason(self, unit: str) -> str:
        """Why."""
        return f"one {unit} can change the answers by at most {self.sensitivity:,} in all"

    def masses(self, value: int, largest: int) -> Iterable[tuple[int, Fraction]]:
        """Yield the exact law; beyond `largest` on either side all ratios stay as they are."""
        noise = self.noise
        cuts = [Fraction(0), *(noise.below_exactly(z - value) for z in range(-largest + 1, largest + 1)), Fraction(1)]
        for place, (before, after) in enumerate(pairwise(cuts)):
            yield place - largest, after - before

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        return {"kind": "spread-noise", "sensitivity": self.sensitivity}


def noise_for(
    privacy: Guarantee, *, each: int, total: int | None = None, cells: int = 1
) -> StaircaseNoise | SpreadNoise | GaussianNoise:
    """Return the noise for whole numbers that one step of a person moves.

    Parameters
    ----------
    privacy : Guarantee
        Of one step: one pair, whose δ is not used, or Gaussian.
    each, total, cells : int
        The step moves each cell by at most `each`, all by at most `total` together (as far as they may, unless given),
        and at most `cells` of them.

    Returns
    -------
    StaircaseNoise, SpreadNoise or GaussianNoise
        For ε, of the two that keep it, the one with the smaller mean absolute error: public facts decide. Gaussian
        noise is for the largest sum of squares that such a step can have, `each`·`total`.

    Raises
    ------
    BadInput
        For several pairs: the noise of their own law is for numbers that move by one.

    References
    ----------
    proofs/many-records.md.

    Examples
    --------
    >>> noise_for(Privacy(epsilon=1), each=5).called
    'staircase noise'
    >>> noise_for(Privacy(epsilon=1), each=5, total=5, cells=2).called
    'geometric noise at ε/5'
    >>> noise_for(Privacy(epsilon=10), each=5, total=5, cells=2).called
    'staircase noise at ε/2 for each answer'
    """
    most = each * cells if total is None else min(total, each * cells)
    if isinstance(privacy, Gaussian):
        return GaussianNoise(privacy, _root_above(each * most))
    if not privacy.single:
        rule = "is above 1, and several pairs at once have noise for one record of each only"
        raise BadInput("at_most", rule, "give epsilon= or mu=, or leave at_most out")
    staircase = StaircaseNoise(privacy.pure, each, cells)
    if cells == 1:
        return staircase
    spread = SpreadNoise(privacy.pure, most)
    if cells >= most:  # then the other keeps as little of ε for each cell, or less, and is for larger steps
        return spread
    if staircase.noise.expected().upper < spread.noise.expected().upper:
        return replace(staircase, instead_of=spread)
    return replace(spread, instead_of=staircase)


def _root_above(square: int) -> Fraction:
    """Return the square root, rounded up unless it is whole."""
    whole = isqrt(square)
    if whole * whole == square:
        return Fraction(whole)
    return Fraction(isqrt(square << 2 * _ROOT_BITS) + 1, 1 << _ROOT_BITS)
