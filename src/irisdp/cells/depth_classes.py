"""Answers that are one of a few classes, such as yes or no, right with the largest probability that a depth allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, shown_above
from ..mechanisms import DepthMechanism
from ..privacy import Guarantee, Privacy
from ..sampling import BitSource, draw_ranks
from .assurance import Assurance
from .assured import assured_names
from .chances import least_distance
from .padding import longer
from .protocol import ENCLOSED, Link
from .wording import records

__all__ = ["NO_BOUNDARY", "ClassNodes", "DepthClasses"]

NO_BOUNDARY = -1
"""Depth of a node whose component has one class only: the truth is public and is said with probability 1."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassNodes:
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

    def padded(self, size: int) -> ClassNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        return ClassNodes(self.classes, longer(self.true_class, size), longer(self.depth, size))


@dataclass(frozen=True, slots=True)
class DepthClasses:
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
        self, nodes: ClassNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.object_]:
        """Draw one answer per class and depth; such answers form no chain."""
        boundary = [self.mechanism.prefix_sums(number) for number in range(len(self.mechanism.boundary))]
        ranks = draw_ranks(boundary, nodes.true_class, nodes.depth, self.mechanism.privacy, source=source)
        names = np.array(self.mechanism.rankings, dtype=object)
        answers: NDArray[np.object_] = names[nodes.true_class, ranks]
        return answers

    def show(self, drawn: list[Any], nodes: ClassNodes) -> list[Any]:
        """Show the names as they were drawn."""
        return drawn

    def ends(self, nodes: ClassNodes) -> dict[str, Any]:
        """Return nothing: names have no ends."""
        return {}

    def law(self, nodes: ClassNodes, cell: int, largest: int) -> dict[Any, Fraction]:
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

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: ClassNodes, confidence: Fraction) -> Assurance:
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
            "kind": "stepped",  # the name that sidecars have had since version 0.1
            "rankings": [list(ranking) for ranking in self.mechanism.rankings],
            "boundary": [[str(p) for p in row] for row in self.mechanism.boundary],
        }
        # Of a curve the boundary has to be stepped by the pairs below it: hundreds, so by what they are made from.
        return document if isinstance(self.privacy, Privacy) else {**document, "pairs": self.privacy.polygon_document()}


@lru_cache(maxsize=256)
def _least_depth(cells: DepthClasses, confidence: Fraction) -> int | None:
    """Find a depth once: plans, sidecars and pages all say it, and enclosing powers of u takes its time."""
    return least_distance(cells, confidence)
