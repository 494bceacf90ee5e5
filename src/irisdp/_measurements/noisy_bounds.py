"""Bounds for values: the powers of two between which noisy counts of bins stand out from noise.

A record is in one bin, so noise on the counts of all bins costs what noise on one costs. A bin stands out if its noisy
count reaches a public threshold, which all empty bins together do in 5 % of cases at most. The bounds are the outer
edges of the first and the last bin that stands out; where none does, they are the widest there are
(proofs/value-bounds.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import log_near
from .._sampling import BitSource, add_geometric
from ..mechanisms import geometric_row
from ..privacy import Privacy
from .confidence import no_assurance
from .protocol import ChainLink, ConfidenceStatement, records
from .quantiles import BinNodes
from .registry import MeasurementKind

Integers = NDArray[np.int64]

LEAST_POWER, LARGEST_POWER = -12, 49
"""Of the exponents: what --lower and --upper take has at most 12 decimal places, and is at most 10^15."""


def _edges() -> tuple[Fraction, ...]:
    powers = [Fraction(2) ** exponent for exponent in range(LEAST_POWER, LARGEST_POWER + 1)]
    return (*(-power for power in reversed(powers)), Fraction(0), *powers)


EDGES_OF_POWERS = _edges()
"""The edges of the bins: 0, and all powers of two and their negatives."""

_WRONG = 0.05
_UPWARD = 1e-9
"""By how much thresholds are raised before they are rounded up, so that floats lower none."""


@dataclass(frozen=True, slots=True)
class NoisyBounds:
    """Counts every bin with noise, and shows the outer edges of those that stand out.

    Parameters
    ----------
    noise : Privacy
        What the noise on each count keeps for a step of that count.
    privacy : Privacy
        What that comes to for a step on the cell's graph.
    edges : tuple of Fraction
        What lies between the bins; the first and the last bin are open.

    References
    ----------
    proofs/value-bounds.md.
    """

    noise: Privacy
    privacy: Privacy
    edges: tuple[Fraction, ...]

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    @property
    def threshold(self) -> int:
        """The noisy count from which on a bin stands out."""
        return self._beyond(_WRONG / (len(self.edges) + 1))

    @property
    def inside_from(self) -> int:
        """With how many records a bin lies between the bounds in 95 % of cases or more."""
        return self.threshold - 1 + self._beyond(_WRONG)

    def draw(self, nodes: BinNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None) -> Integers:
        """Draw the noisy counts of every cell; equally many random words whatever they are, but for ties."""
        return add_geometric(nodes.counts, self.noise, source=source)

    def show(self, drawn: list[Any], nodes: BinNodes) -> list[Any]:
        """Return a lower and an upper bound for every cell."""
        return [self._bounds(counts) for counts in drawn]

    def ends(self, nodes: BinNodes) -> dict[str, Any]:
        """Return nothing: bounds have no ends but the widest, which are public."""
        return {}

    def law(self, nodes: BinNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the law of the noisy counts, lumped as those of counts are; `show` makes bounds of them."""
        rows = [geometric_row(int(count), largest, self.noise.ratio) for count in nodes.counts[cell]]
        return {
            tuple(place for place, _ in parts): math.prod((chance for _, chance in parts), start=Fraction(1))
            for parts in product(*(enumerate(row) for row in rows))
        }

    def expected_error(self) -> dict[str, Any]:
        """Return from how many records on a bin lies between the bounds, and which chance empty bins have."""
        return {"inside_from_records": self.inside_from, "empty_bin_stands_out": _WRONG}

    def chance_within(self, distance: int) -> None:
        """Return None: bounds have no distance."""
        return

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: BinNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return nothing beside the bounds."""
        return no_assurance()

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        return (
            f"a range from one power of two to the next that holds {records(self.inside_from)} is inside the bounds in "
            "95 % of cases; also in 95 % of cases, each bound has a value next to it, unless the bounds are the widest "
            "possible"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.NOISY_BOUNDS.value, "threshold": self.threshold}

    def _beyond(self, chance: float) -> int:
        """Return the least number that the noise reaches with at most a chance: α^k/(1 + α)."""
        rate = log_near(self.noise.ratio)
        return max(math.ceil(-math.log(chance * (1 + math.exp(-rate))) / rate + _UPWARD), 1)

    def _bounds(self, counts: Sequence[int]) -> tuple[float | int, float | int]:
        threshold = self.threshold
        found = [place for place, count in enumerate(counts) if count >= threshold]
        first, last = (found[0], found[-1]) if found else (0, len(self.edges))
        lower, upper = self.edges[max(first - 1, 0)], self.edges[min(last, len(self.edges) - 1)]
        if lower == upper:  # of an open bin alone
            lower, upper = (2 * lower, upper) if lower < 0 else (lower, 2 * upper)
        return _number(lower), _number(upper)


def _number(edge: Fraction) -> float | int:
    return int(edge) if edge.denominator == 1 else float(edge)
