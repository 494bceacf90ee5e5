"""Means over records that all have a value, and whose number is public: a noisy sum, by that number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import shown_above
from ..privacy import Privacy
from ..sampling import BitSource
from .assurance import HIGH, LOW, Assurance
from .assured import assured_distance, promised
from .counts_on_paths import CountNodes
from .many_records import StaircaseNoise
from .means import MeanNodes, public_records, shown_ends, shown_mean
from .protocol import Link
from .steps import Steps

__all__ = ["MeanOfAll"]

_USUAL = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class MeanOfAll:
    """Adds staircase noise to how far values lie above the lower bound, and divides by how many records there are.

    Parameters
    ----------
    noise : StaircaseNoise
        For as many steps as an exchange moves the sum by.
    steps : Steps

    References
    ----------
    proofs/sums-and-means.md.
    """

    noise: StaircaseNoise
    steps: Steps

    @property
    def privacy(self) -> Privacy:
        """What one step on a cell's graph may reveal."""
        return self.noise.privacy

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(
        self, nodes: MeanNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one noisy sum of steps per cell; see `show`."""
        return self.noise.draw(_sums(nodes), links, source=source)

    def show(self, drawn: list[Any], nodes: MeanNodes) -> list[Any]:
        """Return means between the bounds; half-way between them where nobody is."""
        off = Fraction(self.noise.expected_error()["within_95_percent"]) or Fraction(1, 2)
        return [
            shown_mean(self.steps, self._above(total, number), float(off * self.steps.size) / max(number, 1))
            for total, number in zip(drawn, _numbers(nodes), strict=False)
        ]

    def intervals(self, drawn: list[Any], nodes: MeanNodes, confidence: Fraction = _USUAL) -> list[tuple[float, float]]:
        """Return between what each mean lies, with this probability or a higher one, if there are any records."""
        within = assured_distance(self.noise, confidence)
        lower, upper = float(self.steps.lower), float(self.steps.upper)
        found = []
        for total, number, shown in zip(drawn, _numbers(nodes), self.show(drawn, nodes), strict=False):
            low, high = lower, upper
            if within is not None and number:
                ends = (self._above(total + side * within, number) * self.steps.size for side in (-1, 1))
                low, high = (
                    float(min(max(self.steps.lower + end, self.steps.lower), self.steps.upper)) for end in ends
                )
            found.append(shown_ends(self.steps, min(low, shown), max(high, shown)))
        return found

    def ends(self, nodes: MeanNodes) -> dict[str, Any]:
        """Return how many records there are, by which sums are divided."""
        return public_records(nodes)

    def law(self, nodes: MeanNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the noisy sum, in steps; `show` divides it."""
        return self.noise.law(_sums(nodes), cell, largest * self.steps.span)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error times the number of records, and what that stays within in 95 % of cases."""
        error = self.noise.expected_error()
        return {
            "mean_absolute_times_records": float(Fraction(error["mean_absolute"]) * self.steps.size),
            "within_95_percent_times_records": float(error["within_95_percent"] * self.steps.size),
        }

    def chance_within(self, distance: int) -> None:
        """Return None: how far off a mean may be depends on how many records there are."""
        return

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: MeanNodes, confidence: Fraction) -> Assurance:
        """Return the ends of means that the noisy sums leave possible."""
        found = self.intervals(drawn, nodes, confidence)
        promise = f"{promised(confidence, self.steps.covered)}, if there are any records"
        return Assurance({LOW: [low for low, _ in found], HIGH: [high for _, high in found]}, promise, confidence)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        return (
            f"off by {shown_above(error['mean_absolute_times_records'])}/N on average, by at most "
            f"{shown_above(error['within_95_percent_times_records'])}/N in 95 % of cases, where there are N records"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": "mean-of-all", "noise": self.noise.to_document()}

    def _above(self, total: int, number: int) -> Fraction:
        """Return how many steps the mean lies above the lower bound."""
        return Fraction(total, number) if number else Fraction(self.steps.span, 2)


def _sums(nodes: MeanNodes) -> CountNodes:
    return CountNodes(values=nodes.above, lower=np.zeros_like(nodes.above), upper=None)


def _numbers(nodes: MeanNodes) -> list[int]:
    assert nodes.records is not None, "the number of records is public under the relation that this is for"
    found: list[int] = nodes.records.tolist()
    return found
