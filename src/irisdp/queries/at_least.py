"""at-least K [EXPR]: are there K records or more, for which a condition is true?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exact import integer
from .neighbours import Relation
from .nodes import NO_BOUNDARY, ClassNodes, check_expression
from .statistics import Statistics

__all__ = ["AtLeast"]

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Yes if a condition is true for at least `threshold` records (of all records without a condition).

    The count c walks on a path (see `Count`), and the classes are its two sides: the last yes is at K, the last no at
    K − 1, so a yes has depth c − K and a no K − 1 − c. A path that lies on one side only has no boundary: K = 0, or
    under exchange K > n, or no condition at all, where c = n never changes (proofs/depth-formulas.md).

    Parameters
    ----------
    threshold : int
        K ≥ 0.
    """

    threshold: int
    expression: str | None = None

    name: ClassVar[str] = "at-least"
    classes: ClassVar[tuple[str, str]] = ("yes", "no")
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        threshold: Any = self.threshold
        object.__setattr__(self, "threshold", integer(threshold, "threshold", at_least=0, at_most=_LARGEST))
        check_expression(self.expression, self.name, needed=False)

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        shown = {"query": self.name, "threshold": str(self.threshold)}
        return shown | ({"expression": self.expression} if self.expression else {})

    def nodes(self, statistics: Statistics, relation: Relation) -> ClassNodes:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count >= self.threshold, count - self.threshold, self.threshold - 1 - count)
        certain = np.full(len(statistics), self.threshold == 0)
        if relation is Relation.EXCHANGE:
            certain |= (self.threshold > statistics.total) | (self.expression is None)
        return ClassNodes(self.classes, np.where(count >= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth))
