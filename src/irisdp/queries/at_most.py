"""at-most K [EXPR]: are there K records or fewer, for which a condition is true?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..cells import NO_BOUNDARY, ClassNodes
from .neighbours import Relation
from .statistics import Statistics
from .threshold import Threshold

__all__ = ["AtMost"]


@dataclass(frozen=True, slots=True)
class AtMost(Threshold):
    """Yes if a condition is true for at most `threshold` records (of all records without a condition).

    The other side of `AtLeast`: the last yes is at K, the last no at K + 1, so a yes has depth K − c, a no c − K − 1.
    There is no boundary under exchange for K ≥ n, nor without a condition, where c = n never changes; a count that has
    no end always has one (proofs/depth-formulas.md).
    """

    name: ClassVar[str] = "at-most"

    def nodes(self, statistics: Statistics, relation: Relation) -> ClassNodes:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count <= self.threshold, self.threshold - count, count - self.threshold - 1)
        certain = np.zeros(len(statistics), dtype=np.bool_)
        if relation is Relation.EXCHANGE:
            certain |= (self.threshold >= statistics.total) | (self.expression is None)
        return ClassNodes(self.classes, np.where(count <= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth))
