"""at-least K [EXPR]: are there K records or more, for which a condition is true?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..cells import NO_BOUNDARY, ClassNodes
from .neighbours import Relation
from .statistics import Statistics
from .threshold import Threshold

__all__ = ["AtLeast"]


@dataclass(frozen=True, slots=True)
class AtLeast(Threshold):
    """Yes if a condition is true for at least `threshold` records (of all records without a condition).

    The count c walks on a path (see `Count`), and the classes are its two sides: the last yes is at K, the last no at K
    − 1. So a yes has depth c − K and a no K − 1 − c. A path that lies on one side only has no boundary: K = 0, or under
    exchange K > n, or no condition at all, where c = n never changes (proofs/depth-formulas.md).
    """

    name: ClassVar[str] = "at-least"

    def nodes(self, statistics: Statistics, relation: Relation) -> ClassNodes:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count >= self.threshold, count - self.threshold, self.threshold - 1 - count)
        certain = np.full(len(statistics), self.threshold == 0)
        if relation is Relation.EXCHANGE:
            certain |= (self.threshold > statistics.total) | (self.expression is None)
        return ClassNodes(self.classes, np.where(count >= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth))
