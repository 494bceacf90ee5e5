"""Counts under a δ, or under several pairs: noise that is best for every reader, kept in cells.

The noisy count lies in one of a few cells of a unit, and which one is all that a reader can use. People see the whole
number that the cell belongs to, between the public ends of its path. The ledger and the release file keep the cell
itself, as it was drawn. Reading from whole numbers loses a little, and so does clamping first (proofs/shape-noise.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..privacy import Privacy
from ..sampling import BitSource
from .added_noise import ShapeNoise
from .counts_on_paths import CountNodes
from .protocol import Link
from .wording import EVERY_LOSS

__all__ = ["UniversalNoise"]

_BUYS_NOTHING = 0.001
"""Share of the error below which a δ is said to buy next to nothing."""


@dataclass(frozen=True, slots=True)
class UniversalNoise(ShapeNoise):
    """Adds the noise whose cumulative distribution climbs by the u of any pairs, and keeps the cell of the sum.

    For one pair (ε,δ) there are at most three cells to a unit. There is one if δ = 0, or if the noise ends at a whole
    number K, which is geometric noise cut off there. Every reader of the cell, whatever is known and feared, gets the
    best that any mechanism for the count under the same guarantee could give: one noise serves every reader.

    References
    ----------
    proofs/shape-noise.md, claims 3 to 5.
    """

    claim: ClassVar[str] = EVERY_LOSS

    privacy: Privacy

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the cell of one noisy count per cell of the question; see `show`."""
        return self.noise.draw(nodes.values, source)

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Show the whole numbers in which noisy counts lie, between the ends of their paths where they are public."""
        whole: list[Any] = self.noise.whole(drawn).tolist()
        # Named, as a class with slots is made twice and `super()` would mean the first.
        return ShapeNoise.show(self, whole, nodes)

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the cells, as they were drawn: what readers need beside the numbers that people are shown."""
        return {"cells": drawn}

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the noisy count's cell, from which what is shown follows.

        Cells are lumped beyond all kinks of u, where ratios stay as they are; where the noise ends there are none.
        """
        noise, value = self.noise, int(nodes.values[cell])
        size = noise.atoms_per_unit
        first, last = noise.cells.telling(largest)
        places = range(first, last + 1)
        cuts = [Fraction(0), *(noise.below_exactly(z - value * size) for z in places[1:]), Fraction(1)]
        return {z: after - before for z, (before, after) in zip(places, pairwise(cuts), strict=True) if after > before}

    def describe_error(self) -> str:
        """Say the expected error in one line, and what the δ saves."""
        said = f"{ShapeNoise.describe_error(self)}; one noise serves every reader (see interpret)"
        return said if self.saved is None else f"{said}; {_worth(self.saved)}"

    @property
    def saved(self) -> float | None:
        """Share of the mean error that one pair's δ saves; None without one, and where no noise needs no δ."""
        if not self.privacy.single or self.privacy.delta == 0 or self.privacy.ratio == 1:
            return None
        without = 2 * self.privacy.ratio / (self.privacy.ratio**2 - 1)
        return float(max(0.0, 1 - self.expected_error()["mean_absolute"] / float(without)))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers, and say how many cells are a unit; cell 0 begins at −½."""
        return {"kind": "universal-noise", "cells_per_unit": self.noise.atoms_per_unit}


def _worth(saved: float) -> str:
    if saved >= _BUYS_NOTHING:
        return f"δ saves {saved:.1%} of the error"
    return "δ buys next to nothing on a single count: without it the count costs none, and later ones can refine it"
