"""Sums with noise: whole numbers of steps, each shown as so many times the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure
from ..privacy import Privacy
from ..sampling import BitSource
from .assurance import Assurance
from .assured import assured_between
from .counts_on_paths import CountNodes
from .many_records import SpreadNoise, StaircaseNoise
from .protocol import Link
from .steps import Steps

__all__ = ["NoisySums"]


@dataclass(frozen=True, slots=True)
class NoisySums:
    """Adds noise to sums in steps.

    Parameters
    ----------
    noise : StaircaseNoise or SpreadNoise
        For as many steps as one step on the cell's graph moves a sum.
    privacy : Privacy
        What that comes to for a step on the cell's graph.
    steps : Steps

    References
    ----------
    proofs/sums-and-means.md.
    """

    noise: StaircaseNoise | SpreadNoise
    privacy: Privacy
    steps: Steps

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

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law in steps, for a sum of at most `largest` values; `show` counts in their unit."""
        return self.noise.law(nodes, cell, largest * self.steps.widest)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error, and what 95 % of answers stay within, in the column's own unit."""
        error = self.noise.expected_error()
        return {
            "mean_absolute": float(Fraction(error["mean_absolute"]) * self.steps.size),
            "within_95_percent": self.steps.shown(error["within_95_percent"]),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Return the probability that the noise is at most so far from 0, counted in the column's own unit."""
        return self.noise.chance_within(int(distance / self.steps.size))

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction) -> Assurance:
        """Return ends from the noise's law, between those that are public, in the column's own unit."""
        least = nodes.lower if nodes.upper is not None else 0 if self.steps.least >= 0 else None
        most = nodes.upper if nodes.upper is not None else 0 if self.steps.most <= 0 else None
        found = assured_between(self.noise, self.noise.show(drawn, nodes), least, most, confidence)
        columns = {name: [self.steps.shown(end) for end in column] for name, column in found.columns.items()}
        return replace(found, columns=columns)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        return (
            f"off by {error['mean_absolute']:,.6g} on average, by at most {error['within_95_percent']:,} "
            "in 95 % of cases"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for whoever reads the answers."""
        return {"kind": "noisy-sum", "noise": self.noise.to_document()}
