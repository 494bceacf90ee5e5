"""Sums with noise: whole numbers of steps, each shown as so many times the step."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, rational_text, shown_above, shown_below
from .._sampling import BitSource
from ..errors import BadInput
from ..noise import StaircaseLaw, UniversalDistribution, law, root_of
from ..privacy import Gaussian, Guarantee, Privacy
from .confidence import assured_between, promised
from .counts import AddedNoise, CountNodes, GaussianNoise, draw_link
from .protocol import HIGH, LOW, ChainLink, ConfidenceStatement, Law, short
from .registry import MeasurementKind

# Whole numbers that one person moves by more than one: counts of several records, and sums.
#
# Two laws, for two ways in which a person's step may move the cells of a release. If it moves one cell, by at most m,
# the staircase is best among noise that is added to every number alike. For every further cell it would pay once
# more. Where it moves several cells by at most m in all, geometric noise at the m-th root of r pays once for them
# together. Where it moves several, but few, `noise_for` compares the two by their errors, which are public. Answers
# with geometric noise form a chain, and those with staircase noise do not: for audiences `as_link` takes the former.
#
# Under Gaussian privacy a step costs what the root of the sum of its squares costs, wherever it goes.

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
        distribution = law("staircase", root_of(self.privacy, self.cells), self.sensitivity)
        assert isinstance(distribution, StaircaseLaw)
        return distribution

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
        document = {
            "kind": MeasurementKind.STAIRCASE_NOISE.value,
            "sensitivity": self.sensitivity,
            "step": self.noise.step,
        }
        return document | ({"cells": self.cells} if self.cells > 1 else {})


@dataclass(frozen=True, slots=True)
class SpreadNoise(_MovedFurther):
    """Geometric noise at the m-th root of r, where a person moves several cells, by at most m in all.

    The root is rounded down, towards privacy. Shifts s₁, s₂, … of cells change no probability by more than the product
    of their powers, which is at most r.

    References
    ----------
    proofs/audiences.md, claim 4: answers at several ε form a chain.
    """

    @property
    def chained(self) -> Privacy:
        """Privacy of the link that answers are."""
        return self.privacy

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one unbounded noisy number per cell, as the link of its chain."""
        return draw_link(nodes.values, self.privacy, links, noise=self.of_one, source=source)

    def of_one(self, privacy: Privacy) -> Privacy:
        """Return what the noise keeps for a shift by 1, if answers keep this."""
        return root_of(privacy, self.sensitivity)

    @property
    def noise(self) -> UniversalDistribution:
        """What is added, in whole numbers."""
        distribution = law("geometric", self.privacy, self.sensitivity)
        assert isinstance(distribution, UniversalDistribution)
        return distribution

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
        for index, (before, after) in enumerate(pairwise(cuts)):
            yield index - largest, after - before

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.SPREAD_NOISE.value, "sensitivity": self.sensitivity}


def as_link(measurement: Any) -> Any:
    """Return what answers the same question in a chain with other answers to it; None where nothing does.

    Staircase noise forms no chain, and is replaced by geometric noise for steps that are as large together.
    """
    if isinstance(measurement, NoisySums):
        noise = as_link(measurement.noise)
        return None if noise is None else replace(measurement, noise=noise)
    if isinstance(measurement, StaircaseNoise):
        spread = measurement.instead_of
        if isinstance(spread, SpreadNoise):
            return spread
        return SpreadNoise(measurement.privacy, measurement.sensitivity * measurement.cells)
    return None if measurement.chained is None else measurement


def noise_for(
    privacy: Guarantee, *, each: int, total: int | None = None, cells: int = 1
) -> StaircaseNoise | SpreadNoise | GaussianNoise:
    """Return the noise for whole numbers that one step of a person moves.

    Parameters
    ----------
    privacy : Guarantee
        Of one step: one pair, whose δ is not used, or Gaussian.
    each, total, cells : int
        The step moves each cell by at most `each`, all by at most `total` together, and at most `cells` of
        them. [default of `total`: as far as `each` and `cells` allow]

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


# Values in equal steps between two public bounds: the unit of sums and means.


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a step between two bounds, which are multiples of it as well; public.

    Parameters
    ----------
    least, most : int
        The bounds, in steps.
    size : Fraction
        The step; a decimal number above 0.
    rounding : Fraction
        Largest distance between a value and the multiple of the step that it counts as; 0 where every value is known
        to be a multiple.
    """

    least: int
    most: int
    size: Fraction
    rounding: Fraction = Fraction(0)

    def rounds(self) -> Grid:
        """Return the same steps for values that are not known to be multiples of the step.

        A value is at most half a step away from the nearest multiple. Values are doubles, so that a value near the
        middle of two multiples can go to either: this adds a little to the distance, most where the bounds are large.
        """
        return replace(self, rounding=self.size * (Fraction(1, 2) + Fraction(self.farthest, 1 << 49)))

    @property
    def covered(self) -> str:
        """Say which errors an interval covers that is widened by the rounding of the values."""
        return f"noise, and rounding to multiples of {rational_text(self.size)}" if self.rounding else "noise only"

    @property
    def span(self) -> int:
        """K: how many steps lie between the bounds."""
        return self.most - self.least

    @property
    def lower(self) -> Fraction:
        """The lower bound, as it was given."""
        return self.least * self.size

    @property
    def upper(self) -> Fraction:
        """The upper bound, as it was given."""
        return self.most * self.size

    @property
    def farthest(self) -> int:
        """How far, in steps, one value that comes or goes moves a sum at most."""
        return max(abs(self.least), abs(self.most))

    @property
    def widest(self) -> int:
        """How far, in steps, one value moves a sum that becomes another, or none, at most: none counts as 0."""
        return max(self.most, 0) - min(self.least, 0)

    def shown(self, number: int) -> int | float:
        """Return so many steps as people count: a whole number where steps are whole, else the nearest decimal."""
        value = number * self.size
        return int(value) if self.size.denominator == 1 else float(value)

    def to_document(self) -> dict[str, str]:
        """Return bounds and step as exact text."""
        return {name: rational_text(getattr(self, name)) for name in ("lower", "upper")} | {
            "step": rational_text(self.size)
        }


@dataclass(frozen=True, slots=True)
class NoisySums:
    """Adds noise to sums in steps.

    Parameters
    ----------
    noise : StaircaseNoise, SpreadNoise or GaussianNoise
        For as many steps as one step of a person moves sums by (`noise_for`).
    steps : Steps

    References
    ----------
    proofs/sums-and-means.md.
    """

    noise: StaircaseNoise | SpreadNoise | GaussianNoise
    steps: Grid

    @property
    def privacy(self) -> Guarantee:
        """What one step of a person may reveal."""
        return self.noise.privacy

    @property
    def chained(self) -> Privacy | None:
        """Privacy of the link that answers are, if the noise is geometric."""
        return self.noise.chained

    def draw(
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one unbounded noisy sum per cell, in steps; see `show`."""
        return self.noise.draw(nodes, links, source=source)

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Clamp to the public ends of the cells' sums, where there are any, and count in the column's own unit."""
        return [self.steps.shown(number) for number in self.noise.show(drawn, nodes)]

    def ends(self, nodes: CountNodes) -> dict[str, Any]:
        """Return the ends that answers are clamped to, where they are public."""
        ends = self.noise.ends(nodes)
        return {
            name: [self.steps.shown(value) for value in values]
            if isinstance(values, list)
            else self.steps.shown(values)
            for name, values in ends.items()
        }

    def law(self, nodes: CountNodes, cell: int, largest: int) -> Law:
        """Return the law in steps, for a sum of at most `largest` values; `show` counts in their unit."""
        least = largest * min(self.steps.least, 0)
        upper = None if nodes.upper is None else nodes.upper - least
        raised = CountNodes(nodes.values - least, nodes.lower - least, upper)
        masses: Mapping[int, Any] = self.noise.law(raised, cell, largest * self.steps.widest)
        return {number + least: chance for number, chance in masses.items()}

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error, and what 95 % of answers stay within, in the column's own unit."""
        error = self.noise.expected_error()
        return {
            "mean_absolute": float(Fraction(error["mean_absolute"]) * self.steps.size),
            "within_95_percent": self.steps.shown(error["within_95_percent"]),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Return the probability that the noise is at most so many steps from 0."""
        return self.noise.chance_within(distance)

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return ends from the noise's law, between those that are public, in the column's own unit."""
        least = nodes.lower if nodes.upper is not None else 0 if self.steps.least >= 0 else None
        most = nodes.upper if nodes.upper is not None else 0 if self.steps.most <= 0 else None
        statement = assured_between(self.noise, self.noise.show(drawn, nodes), least, most, confidence)
        columns, promise = statement.columns, statement.promise
        if columns and nodes.records is not None and nodes.upper is not None:  # where values are rounded
            each = self.steps.rounding / self.steps.size
            off = np.array([math.ceil(each * number) for number in nodes.records.tolist()])
            columns = {
                LOW: np.maximum(columns[LOW] - off, nodes.lower).tolist(),
                HIGH: np.minimum(columns[HIGH] + off, nodes.upper).tolist(),
            }
            promise = promised(confidence, self.steps.covered)
        columns = {name: [self.steps.shown(end) for end in column] for name, column in columns.items()}
        return replace(statement, columns=columns, promise=promise)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        return self.describe_error_for("person")

    def describe_error_for(self, unit: str) -> str:
        """Return the same text with another word for a protected person."""
        error = self.expected_error()
        most = short(error["within_95_percent"])
        said = f"off by {shown_above(error['mean_absolute'], 6)} on average, by at most {most} in 95 % of cases"
        if isinstance(self.noise, GaussianNoise):
            return said
        said += f"; {self.noise.called}, as {self.noise.reason(unit)}"
        said += f" (steps of {rational_text(self.steps.size)})" if self.steps.size != 1 else ""
        if self.noise.instead_of is None:
            return said
        beside = self.noise.instead_of.expected_error()["mean_absolute"] * float(self.steps.size)
        return f"{said} ({self.noise.instead_of.called} would be off by {shown_below(beside, 6)})"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.NOISY_SUM.value, "noise": self.noise.to_document()}
