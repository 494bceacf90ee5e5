"""Counts with two-sided geometric noise. All releases of one count form a chain.

Whoever reads several releases knows no more than the most accurate one says. In whatever order they are asked for, they
are drawn from the joint law of the chain: the first directly, a coarser one from the next finer one, a finer or middle
one conditionally on its neighbours (proofs/audiences.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import geometric_row
from ..privacy import Privacy
from ..sampling import BitSource, add_geometric, coarsen, refine
from .padding import longer
from .protocol import Link

__all__ = ["CountNodes", "GeometricNoise"]

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
    """

    values: Integers = field(repr=False)
    lower: Integers = field(repr=False)
    upper: Integers | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.values)

    def padded(self, size: int) -> CountNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        upper = None if self.upper is None else longer(self.upper, size)
        return CountNodes(longer(self.values, size), longer(self.lower, size), upper)


@dataclass(frozen=True, slots=True)
class GeometricNoise:
    """Adds two-sided geometric noise: the one mechanism that all minimax readers of a count agree on.

    References
    ----------
    docs/theory.md#counts; proofs/geometric-privacy.md.
    """

    privacy: Privacy

    def draw(self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None) -> Integers:
        """Draw one unbounded noisy count per cell, as the link of the chain that this privacy has; see `show`."""
        ratio = self.privacy.ratio
        finer = next((link for link in reversed(links) if link.privacy.ratio > ratio), None)
        coarser = next((link for link in links if link.privacy.ratio <= ratio), None)
        if coarser is not None:
            return refine(
                nodes.values if finer is None else finer.values,
                coarser.values,
                self.privacy,
                finer_privacy=finer.privacy if finer else None,
                coarser_privacy=coarser.privacy,
                source=source,
            )
        if finer is not None:
            return coarsen(finer.values, finer.privacy, self.privacy, source=source)
        return add_geometric(nodes.values, self.privacy, source=source)

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Clamp to the ends of the cells' paths where they are public; nothing is lost by it."""
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

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the law of the answer clamped to 0..largest and then shown, for a count in that range.

        Clamping there hides nothing: beyond the range the likelihood ratio of any two counts inside is constant.
        """
        alone = slice(cell, cell + 1)
        upper = None if nodes.upper is None else nodes.upper[alone]
        node = CountNodes(nodes.values[alone], nodes.lower[alone], upper)
        law: dict[Any, Fraction] = {}
        for value, probability in enumerate(geometric_row(int(nodes.values[cell]), largest, self.privacy.ratio)):
            (shown,) = self.show([value], node)
            law[shown] = law.get(shown, Fraction(0)) + probability
        return law

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error 2α/(1−α²), and what 95 % of answers stay within."""
        ratio = self.privacy.ratio
        if ratio == 1:
            return {"mean_absolute": None, "within_95_percent": None}
        # P(|Z| > k) = 2·α^(k+1)/(1+α) ≤ 1/20
        excess = math.log(40 / (1 + float(1 / ratio))) / _logarithm(ratio)
        return {
            "mean_absolute": float(2 * ratio / (ratio**2 - 1)),
            "within_95_percent": max(0, math.ceil(excess) - 1),
        }

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        if error["mean_absolute"] is None:
            return "pure noise"
        return (
            f"off by {error['mean_absolute']:.3g} on average, by at most {error['within_95_percent']} in 95 % of cases"
        )

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for whoever reads the answers."""
        return {"kind": "geometric-noise"}


def _logarithm(ratio: Fraction) -> float:
    """Return log(ratio) of a ratio that may be near 1, or too large for a float."""
    return math.log1p(float(ratio - 1)) if ratio < 2 else math.log(ratio.numerator) - math.log(ratio.denominator)
