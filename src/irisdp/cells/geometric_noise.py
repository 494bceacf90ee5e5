"""Counts with two-sided geometric noise. All releases of one count form a chain.

Someone who sees several releases learns no more than from the most accurate one. In any order of requests, they are
drawn from the joint distribution of the chain. The first is drawn directly, a coarser one from the next finer one, and
a finer or middle one conditionally on its neighbours (proofs/audiences.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, ball, enclosure_of
from ..privacy import Privacy
from ..sampling import BitSource, add_geometric, coarsen, refine
from .chances import least_distance
from .counts_on_paths import CountNodes, NoisyCounts
from .protocol import ENCLOSED, Link
from .wording import EVERY_LOSS

__all__ = ["GeometricNoise"]

_LONGEST = 1 << 14
"""Bits, about, of the longest chance that is worked out as a fraction."""


@dataclass(frozen=True, slots=True)
class GeometricNoise(NoisyCounts):
    """Adds two-sided geometric noise: the one mechanism that all minimax readers of a count agree on.

    References
    ----------
    docs/theory.md#counts; proofs/geometric-privacy.md.
    """

    claim: ClassVar[str] = EVERY_LOSS

    privacy: Privacy

    @property
    def chained(self) -> Privacy:
        """Privacy of the link that answers are."""
        return self.privacy

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
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

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the distribution of the answer clamped to 0..largest and then shown, for a count in that range.

        Clamping there hides nothing: beyond the range the likelihood ratio of any two counts inside is constant.
        """
        from ..mechanisms import geometric_row

        row = geometric_row(int(nodes.values[cell]), largest, self.privacy.ratio)
        return self.shown_masses(enumerate(row), nodes.alone(cell))

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error 2α/(1−α²), and what 95 % of answers stay within."""
        ratio = self.privacy.ratio
        if ratio == 1:
            return {"mean_absolute": None, "within_95_percent": None}
        return {
            "mean_absolute": float(2 * ratio / (ratio**2 - 1)),
            "within_95_percent": least_distance(self, Fraction(19, 20)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Return P(|Z| ≤ k) = 1 − 2·α^(k+1)/(1+α), exactly where it is short."""
        ratio, power = self.privacy.ratio, distance + 1
        if ratio == 1:
            return Enclosure.exactly(Fraction(0))
        twice = 2 * ratio / (ratio + 1)
        if power * ratio.numerator.bit_length() <= _LONGEST:
            return Enclosure.exactly(1 - twice / ratio**power)
        found = enclosure_of(lambda: 1 - ball(twice) * ball(ratio) ** -power, width=ENCLOSED)
        return found.clamp(Fraction(0), Fraction(1))

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        return {"kind": "geometric-noise"}
