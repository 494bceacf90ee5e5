"""at-most K [EXPR]: are there K records or fewer, for which a condition is true?"""

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

__all__ = ["AtMost"]

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class AtMost(YesOrNo):
    """Yes if a condition is true for at most `threshold` records (of all records without a condition).

    The other side of `AtLeast`: the last yes is at K, the last no at K + 1, so a yes has depth K − c, a no c − K − 1.
    There is no boundary under exchange for K ≥ n, nor without a condition, where c = n never changes; a count that has
    no end always has one (proofs/depth-formulas.md).

    Parameters
    ----------
    threshold : int
        K ≥ 0.
    """

    threshold: int
    expression: str | None = None

    name: ClassVar[str] = "at-most"
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        threshold: Any = self.threshold
        object.__setattr__(self, "threshold", integer(threshold, "threshold", at_least=0, at_most=_LARGEST))
        check_expression(self.expression, self.name, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> AtMost:
        """Read ``K [EXPR]``."""
        words = split_number(words)
        check_one_condition(words[1:], cls.name)
        if not words:
            raise BadInput("query", "at-most needs a number K", 'write for example at-most 100 "age > 64"')
        return cls(integer(words[0], "K", at_least=0, at_most=_LARGEST), *words[1:])

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        shown = {"query": self.name, "threshold": str(self.threshold)}
        return shown | ({"expression": self.expression} if self.expression else {})

    def nodes(self, statistics: Statistics, relation: Relation) -> ClassNodes:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count <= self.threshold, self.threshold - count, count - self.threshold - 1)
        certain = np.zeros(len(statistics), dtype=np.bool_)
        if relation is Relation.EXCHANGE:
            certain |= (self.threshold >= statistics.total) | (self.expression is None)
        return ClassNodes(self.classes, np.where(count <= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth))
