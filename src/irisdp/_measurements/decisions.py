"""Which of several bands a count is in: one noisy count, read off between thresholds.

The noise climbs by u from one count to the next, and its cut points stand at half integers. So a count that is d
records on its side of a threshold is answered on that side with the probability that u^d gives from the middle,
whatever the other thresholds are. This equals the optimum for that threshold alone, for all thresholds at once
(proofs/bands.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, shown_above
from .._sampling import BitSource, draw_ranks
from ..mechanisms import DepthMechanism
from ..privacy import Guarantee, Privacy
from .confidence import assured_names, at_most, least_distance
from .counts import CountNodes, GaussianNoise, ShapeNoise
from .protocol import ENCLOSED, ChainLink, ConfidenceStatement, Law, longer, records
from .registry import MeasurementKind

# Answers that are one of a few classes, such as yes or no, right with the largest probability that a depth allows.

NO_BOUNDARY = -1
"""Depth of a node whose component has one class only: the truth is public and is said with probability 1."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionDistances:
    """A class and a depth per cell; private, and not shown by `repr`.

    Attributes
    ----------
    classes : tuple of text
        The names of the classes; public.
    true_class : int64 array
        Index of the cell's class among `classes`.
    depth : int64 array
        Distance to the boundary of the cell's own class, or `NO_BOUNDARY`.
    """

    classes: tuple[str, ...]
    true_class: NDArray[np.int64] = field(repr=False)
    depth: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.depth)

    def padded(self, size: int) -> DecisionDistances:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        return DecisionDistances(self.classes, longer(self.true_class, size), longer(self.depth, size))


@dataclass(frozen=True, slots=True)
class DecisionMeasurement:
    """Answers which class a node is in, right with the largest probability that its depth allows.

    Parameters
    ----------
    mechanism : DepthMechanism
        Keeps pairs (ε, δ), one or several.
    privacy : Guarantee
        What was asked for, and the pairs imply: they, or Gaussian privacy, of which they are a polygon.

    References
    ----------
    [DOliveira2021], Theorem 4, corrected, docs/theory.md#operator; proofs/rainbow-optimality.md.
    """

    claim: ClassVar[str] = "smallest worst probability of the wrong answer"

    mechanism: DepthMechanism
    privacy: Guarantee

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: DecisionDistances, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.object_]:
        """Draw one answer per class and depth; such answers form no chain."""
        boundary = [self.mechanism.prefix_sums(number) for number in range(len(self.mechanism.boundary))]
        ranks = draw_ranks(boundary, nodes.true_class, nodes.depth, self.mechanism.privacy, source=source)
        names = np.array(self.mechanism.rankings, dtype=object)
        answers: NDArray[np.object_] = names[nodes.true_class, ranks]
        return answers

    def show(self, drawn: list[Any], nodes: DecisionDistances) -> list[Any]:
        """Show the names as they were drawn."""
        return drawn

    def ends(self, nodes: DecisionDistances) -> dict[str, Any]:
        """Return nothing: names have no ends."""
        return {}

    def law(self, nodes: DecisionDistances, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a cell's answer; names are not lumped."""
        group, depth = int(nodes.true_class[cell]), int(nodes.depth[cell])
        return dict(zip(self.mechanism.rankings[group], self.mechanism.row(group, depth), strict=True))

    def expected_error(self) -> dict[str, Any]:
        """Return the probability of a wrong answer at the boundary, and the depths that bring it to 5 % and 1 %."""
        return {
            "wrong_at_boundary": float(1 - self.mechanism.boundary[0][0]),
            "depth_for_95_percent": _least_depth(self, Fraction(19, 20)),
            "depth_for_99_percent": _least_depth(self, Fraction(99, 100)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability of the right answer at this depth, for the class that fares worse."""
        both = [self.mechanism.truth(number, distance, width=ENCLOSED) for number in range(2)]
        return Enclosure(min(one.lower for one in both), min(one.upper for one in both))

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: DecisionDistances, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.chance_within(0).lower, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        text = f"wrong with probability {shown_above(error['wrong_at_boundary'])} at worst (at the boundary)"
        depth = error["depth_for_99_percent"]
        if depth is None:
            return text
        return f"{text}, below 1 % {f'from {records(depth)} away on' if depth else 'wherever the truth is'}"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        document = {
            "kind": MeasurementKind.STEPPED.value,  # the name that sidecars have had since version 0.1
            "rankings": [list(ranking) for ranking in self.mechanism.rankings],
            "boundary": [[str(p) for p in row] for row in self.mechanism.boundary],
        }
        # Of a curve the boundary has to be stepped by the pairs below it: hundreds, so by what they are made from.
        return document if isinstance(self.privacy, Privacy) else {**document, "pairs": self.privacy.polygon_document()}


@lru_cache(maxsize=256)
def _least_depth(cells: DecisionMeasurement, confidence: Fraction) -> int | None:
    """Find a depth once: plans, sidecars and pages all say it, and enclosing powers of u takes its time."""
    return least_distance(cells, confidence)


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
        self, nodes: CountNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
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

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction
    ) -> ConfidenceStatement:
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
        return {
            "kind": MeasurementKind.BANDED_NOISE.value,
            "thresholds": list(self.thresholds),
            "noise": self.noisy.to_document(),
        }

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
