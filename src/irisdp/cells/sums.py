"""Sums with noise: whole numbers of steps, each shown as so many times the step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, rational_text, shown_above, shown_below
from ..privacy import Guarantee
from ..sampling import BitSource
from .added_noise import GaussianNoise
from .assurance import HIGH, LOW, Assurance
from .assured import assured_between, promised
from .counts_on_paths import CountNodes
from .many_records import SpreadNoise, StaircaseNoise
from .protocol import Law, Link
from .steps import Steps
from .wording import short

__all__ = ["NoisySums"]


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
    steps: Steps

    @property
    def privacy(self) -> Guarantee:
        """What one step of a person may reveal."""
        return self.noise.privacy

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
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
            name: [self.steps.shown(one) for one in found] if isinstance(found, list) else self.steps.shown(found)
            for name, found in ends.items()
        }

    def law(self, nodes: CountNodes, cell: int, largest: int) -> Law:
        """Return the law in steps, for a sum of at most `largest` values; `show` counts in their unit."""
        least = largest * min(self.steps.least, 0)
        upper = None if nodes.upper is None else nodes.upper - least
        raised = CountNodes(nodes.values - least, nodes.lower - least, upper)
        found: Mapping[int, Any] = self.noise.law(raised, cell, largest * self.steps.widest)
        return {number + least: chance for number, chance in found.items()}

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

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction) -> Assurance:
        """Return ends from the noise's law, between those that are public, in the column's own unit."""
        least = nodes.lower if nodes.upper is not None else 0 if self.steps.least >= 0 else None
        most = nodes.upper if nodes.upper is not None else 0 if self.steps.most <= 0 else None
        found = assured_between(self.noise, self.noise.show(drawn, nodes), least, most, confidence)
        columns, promise = found.columns, found.promise
        if columns and nodes.records is not None and nodes.upper is not None:  # where values are rounded
            each = self.steps.rounding / self.steps.size
            off = np.array([math.ceil(each * number) for number in nodes.records.tolist()])
            columns = {
                LOW: np.maximum(columns[LOW] - off, nodes.lower).tolist(),
                HIGH: np.minimum(columns[HIGH] + off, nodes.upper).tolist(),
            }
            promise = promised(confidence, self.steps.covered)
        columns = {name: [self.steps.shown(end) for end in column] for name, column in columns.items()}
        return replace(found, columns=columns, promise=promise)

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
        return {"kind": "noisy-sum", "noise": self.noise.to_document()}
