"""at-least K [EXPR]: are there K records or more, for which a condition is true?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..cells import NO_BOUNDARY, ClassNodes
from ..errors import BadInput
from ..exact import integer
from .neighbours import Relation
from .query import YesOrNo, check_expression, check_one_condition, split_number
from .statistics import Statistics

__all__ = ["AtLeast"]

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class AtLeast(YesOrNo):
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
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        threshold: Any = self.threshold
        object.__setattr__(self, "threshold", integer(threshold, "threshold", at_least=0, at_most=_LARGEST))
        check_expression(self.expression, self.name, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> AtLeast:
        """Read ``K [EXPR]``."""
        words = split_number(words)
        check_one_condition(words[1:], cls.name)
        if not words:
            raise BadInput("query", "at-least needs a number K", 'write for example at-least 100 "age > 64"')
        return cls(integer(words[0], "K", at_least=0, at_most=_LARGEST), *words[1:])

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
