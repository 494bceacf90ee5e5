"""Answers drawn from a designed mechanism: each cell is a node of its graph, and the node's row is the law."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, shown_above
from .._sampling import BitSource
from ..mechanisms import FactoredMechanism, Mechanism
from ..privacy import Privacy
from .confidence import no_assurance
from .protocol import ChainLink, ConfidenceStatement, longer
from .registry import MeasurementKind

_MOST_COMPARED = 10**6
"""Probabilities up to which the largest mean error is worked out."""

_MOST_ADDED = 10**5
"""Probabilities up to which they are added up exactly, once for each distance that is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedNodes:
    """Where each cell is among a mechanism's inputs; private, and not shown by `repr`.

    Attributes
    ----------
    places : int64 array
        A position in `inputs` per cell.
    """

    places: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.places)

    def padded(self, size: int) -> PlacedNodes:
        """Return `size` nodes: these, and after them cells that are drawn for and not shown."""
        return PlacedNodes(longer(self.places, size))


@dataclass(frozen=True, slots=True)
class DesignedAnswers:
    """Draws from the rows of a mechanism that was checked on every edge of its graph.

    Parameters
    ----------
    mechanism : Mechanism or FactoredMechanism
        Inputs in the order of the nodes.
    names : tuple of int or text, or None
        How its outputs are shown; None where they are the counts themselves.
    categories : tuple of text, or None
        What the answers 0, 1, … stand for, where they are places of declared categories.
    description : mapping
        The description in release files, JSON-ready.
    proven : mapping
        What is known of its error: what its certificate proves, or nothing.

    References
    ----------
    [DOliveira2021], Theorem 1 (proofs/pullback.md): a map that sends neighbours to neighbours or equals costs nothing.
    """

    mechanism: Mechanism | FactoredMechanism
    names: tuple[int | str, ...] | None
    categories: tuple[str, ...] | None
    description: Mapping[str, Any] = field(repr=False)
    proven: Mapping[str, Any] = field(repr=False)

    @property
    def privacy(self) -> Privacy:
        """What one step on the mechanism's graph may reveal: what it states, which was checked."""
        return self.mechanism.privacy

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: PlacedNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[Any]:
        """Draw one answer per cell, with exactly the probabilities of its row."""
        drawn = self.mechanism.draw_each(nodes.places, source=source)
        if self.names is None:
            return drawn
        whole = all(type(name) is int for name in self.names)
        named: NDArray[Any] = np.array(self.names, dtype=np.int64 if whole else object)[drawn]
        return named

    def show(self, drawn: list[Any], nodes: PlacedNodes) -> list[Any]:
        """Show the answers as they were drawn, or the categories that they are places of."""
        return drawn if self.categories is None else [self.categories[place] for place in drawn]

    def ends(self, nodes: PlacedNodes) -> dict[str, Any]:
        """Return the categories, in the order of their places, where answers are some; nothing is clamped."""
        return {} if self.categories is None else {"outputs": self.categories}

    def law(self, nodes: PlacedNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a cell's answer: its row."""
        row = self.mechanism.row(self.mechanism.inputs[int(nodes.places[cell])])
        law = dict(zip(self.mechanism.outputs if self.names is None else self.names, row, strict=True))
        return law if self.categories is None else {name: law[index] for index, name in enumerate(self.categories)}

    def expected_error(self) -> dict[str, Any]:
        """Return the goal that the file's certificate proves, and where answers are counts their largest mean error."""
        return {**self.proven, "mean_absolute_at_worst": self._mean_error_at_worst()}

    def chance_within(self, distance: int) -> Enclosure | None:
        """Return, where answers are counts, the probability of one so near at the count that fares worst, exactly."""
        answers = self._counts_answered()
        if answers is None or len(self.mechanism.inputs) * len(answers) > _MOST_ADDED:
            return None
        rows = ((count, self.mechanism.row(count)) for count in range(len(self.mechanism.inputs)))
        chances = (
            sum((p for p, answer in zip(row, answers, strict=True) if abs(answer - count) <= distance), Fraction(0))
            for count, row in rows
        )
        return Enclosure.exactly(min(chances))

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: PlacedNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return nothing: counts beyond the path's end stand as its end, and what is right the file does not say."""
        return no_assurance()

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        told = []
        worst = self._mean_error_at_worst()
        if worst is not None:
            told.append(
                f"off by {shown_above(worst)} on average at the worst count up to {len(self.mechanism.inputs) - 1}"
            )
        if "value" in self.proven:
            bound = f"proven: at least {self.proven['lower_bound']} among {self.proven['among']}"
            told.append(f"{self.proven['goal']}: {self.proven['value']} ({bound})")
        if "says" in self.proven:
            told.append(str(self.proven["says"]))
        return "; ".join(told) or "not known: the file proves no goal, and its answers are no counts"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.DESIGNED.value, **self.description}

    def _mean_error_at_worst(self) -> float | None:
        """Return the largest mean distance of an answer from the count, where both are counts and few enough."""
        answers = self._counts_answered()
        if answers is None:
            return None
        rows = ((count, self.mechanism.row(count)) for count in range(len(self.mechanism.inputs)))
        return max(
            math.fsum(float(p) * abs(answer - count) for p, answer in zip(row, answers, strict=True))
            for count, row in rows
        )

    def _counts_answered(self) -> list[int] | None:
        """Return the counts that outputs are shown as; None where they are none, or all rows would be too many."""
        mechanism = self.mechanism
        names = mechanism.outputs if self.names is None else self.names
        few = len(mechanism.inputs) * len(mechanism.outputs) <= _MOST_COMPARED
        if not few or not isinstance(mechanism.inputs[0], int) or self.categories is not None:
            return None
        answers = [int(name) for name in names if isinstance(name, int)]
        return answers if len(answers) == len(names) else None
