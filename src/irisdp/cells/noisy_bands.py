"""Which of several bands a count is in: one noisy count, read off between thresholds.

The noise climbs by u from one count to the next, and its cut points stand at half integers. So a count that is d
records on its side of a threshold is answered on that side with the probability that u^d gives from the middle,
whatever the other thresholds are. This equals the optimum for that threshold alone, for all thresholds at once
(proofs/bands.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, shown_above
from ..privacy import Guarantee, Privacy
from ..sampling import BitSource
from .added_noise import GaussianNoise, ShapeNoise
from .assurance import Assurance
from .assured import assured_names
from .chances import at_most, least_distance
from .counts_on_paths import CountNodes
from .protocol import ENCLOSED, Law, Link

__all__ = ["NoisyBands", "band_names"]

_FARTHEST = 1 << 13
"""Counts beyond which the far side of a band is taken to be this near, where an error is stated: it is no less."""

_NONE, _ALL = Enclosure.exactly(Fraction(0)), Enclosure.exactly(Fraction(1))


def band_names(thresholds: Sequence[int]) -> tuple[str, ...]:
    """Return what bands are called, from below; they begin at 0 and at the thresholds, which ascend."""
    inner = [
        str(first) if first + 1 == after else f"{first} to {after - 1}" for first, after in pairwise((0, *thresholds))
    ]
    return (*inner, f"{thresholds[-1]} or more")


@dataclass(frozen=True, slots=True)
class NoisyBands:
    """Adds noise to a count and answers with the band that the noisy count is in.

    Parameters
    ----------
    thresholds : tuple of int
        Where bands begin, ascending, the first at least 1; the first band begins at 0 and the last has no end.
    noisy : ShapeNoise or GaussianNoise
        The noise for the guarantee; for one pair with δ = 0 it is two-sided geometric.

    References
    ----------
    proofs/bands.md.
    """

    thresholds: tuple[int, ...]
    noisy: ShapeNoise | GaussianNoise

    @property
    def names(self) -> tuple[str, ...]:
        """What the bands are called, from below."""
        return band_names(self.thresholds)

    @property
    def privacy(self) -> Guarantee:
        """What one step on a cell's path may reveal: as much as the noisy count does, of which a band is a reading."""
        return self.noisy.privacy

    @property
    def chained(self) -> Privacy | None:
        """None: bands form no chain, not even with counts of the same records."""
        return None

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.object_]:
        """Draw a noisy count per cell, put it between the public ends of its path, and name its band."""
        counts = self.noisy.draw(nodes, source=source)
        if nodes.upper is not None:
            counts = np.clip(counts, nodes.lower, nodes.upper)
        bands = np.searchsorted(np.array(self.thresholds, dtype=np.int64), counts, side="right")
        named: NDArray[np.object_] = np.array(self.names, dtype=object)[bands]
        return named

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Show the names as they were drawn."""
        return drawn

    def ends(self, nodes: CountNodes) -> dict[str, Any]:
        """Return nothing: names have no ends."""
        return {}

    def law(self, nodes: CountNodes, cell: int, largest: int) -> Law:
        """Return the law of a cell's answer, exact for pairs and enclosed under Gaussian privacy; nothing is lumped."""
        reached = [_ALL, *(self._reached(nodes.alone(cell), threshold) for threshold in self.thresholds), _NONE]
        masses = [Enclosure(here.lower - after.upper, here.upper - after.lower) for here, after in pairwise(reached)]
        if isinstance(self.noisy, ShapeNoise):
            return {name: mass.lower for name, mass in zip(self.names, masses, strict=True)}
        return {name: mass.clamp(Fraction(0), Fraction(1)) for name, mass in zip(self.names, masses, strict=True)}

    def expected_error(self) -> dict[str, Any]:
        """Return how likely a wrong answer is at worst, and how far from all thresholds it is below 1 %."""
        return {
            "wrong_side_at_threshold": float(self._strays(0).upper),
            "wrong_band_at_worst": float(1 - self.chance_within(0).lower),
            "depth_for_99_percent": least_distance(self, Fraction(99, 100)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability of the right band for a count so far from all others' counts, at worst.

        A band of w counts has such a count if w > 2·distance, and its far side is w − 1 − distance further on. Counts
        in between are misread less often than those.
        """
        wrong = self._strays(distance)
        inner = [after - first for first, after in pairwise(self.thresholds)]
        left = [width - 1 - distance for width in inner if width > 2 * distance]
        if left:
            near = min(_FARTHEST, *left)
            far = self._strays(near)
            wrong = Enclosure(wrong.lower + (far.lower if near in left else 0), wrong.upper + far.upper)
        return at_most(wrong)

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction) -> Assurance:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.chance_within(0).lower, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        worst = shown_above(error["wrong_band_at_worst"])
        depth = error["depth_for_99_percent"]
        where = f"from {depth} records away on" if depth else "wherever the truth is"
        return f"in the wrong band with probability {worst} at worst (beside a threshold), below 1 % {where}"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": "banded-noise", "thresholds": list(self.thresholds), "noise": self.noisy.to_document()}

    def _strays(self, depth: int) -> Enclosure:
        """Enclose the probability of the wrong side of a threshold that is `depth` records away."""
        noise = self.noisy.noise
        # The noise is symmetric, so it goes as far up as down.
        return noise.below(-depth * noise.atoms_per_unit)

    def _reached(self, node: CountNodes, threshold: int) -> Enclosure:
        """Enclose the probability that a cell's clamped noisy count is at least `threshold`."""
        if threshold <= int(node.lower[0]):
            return _ALL
        if node.upper is not None and threshold > int(node.upper[0]):
            return _NONE
        noise = self.noisy.noise
        place = (threshold - int(node.values[0])) * noise.atoms_per_unit
        if isinstance(self.noisy, ShapeNoise):
            return Enclosure.exactly(1 - self.noisy.noise.below_exactly(place))
        below = noise.below(place, width=ENCLOSED / (2 * len(self.thresholds)))
        return Enclosure(1 - below.upper, 1 - below.lower)
