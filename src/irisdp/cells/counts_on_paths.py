"""Counts as nodes of paths, and what is public about showing them with noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, shown_above
from .assurance import Assurance
from .assured import assured_between
from .padding import longer

__all__ = ["CountNodes", "NoisyCounts"]

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
        upper, records = (None if found is None else longer(found, size) for found in (self.upper, self.records))
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
        return {name: found[0] if len(set(found)) == 1 else found for name, found in ends.items()}

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction) -> Assurance:
        """Return ends from the noise's law, put between the public ends of the cells' paths."""
        if nodes.upper is not None:
            return assured_between(self, shown, nodes.lower, nodes.upper, confidence)
        least = set(nodes.lower.tolist())  # of selected groups there are fewer answers than nodes
        return assured_between(self, shown, least.pop() if len(least) == 1 else None, None, confidence)

    @abstractmethod
    def chance_within(self, distance: int) -> Enclosure | None:
        """See `CellMechanism`."""

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
