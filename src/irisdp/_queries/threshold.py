"""What `at-least K [EXPR]` and `at-most K [EXPR]` have in common: a count is compared with a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._exact import integer
from .._measurements import NO_BOUNDARY, DecisionDistances
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from .query import YesOrNo, as_asked, check_expression, check_one_condition, split_number
from .statistics import Statistics

_LARGEST = 2**62
_BEGINS_A_NUMBER = re.compile(r"[+-]?[.]?[0-9]")


@dataclass(frozen=True, slots=True)
class Threshold(YesOrNo):
    """Whether the records for which a condition is true (all records without one) are on one side of a number.

    Parameters
    ----------
    threshold : int
        K ≥ 0.
    expression : str, optional
        SQL condition.
    """

    threshold: int
    expression: str | None = None

    name: ClassVar[str]
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        threshold: Any = self.threshold
        object.__setattr__(self, "threshold", integer(threshold, "threshold", at_least=0, at_most=_LARGEST))
        check_expression(self.expression, self.name, self.threshold, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> Self:
        """Read ``K [EXPR]``."""
        words = split_number(words)
        check_one_condition(words[1:], cls.name)
        if not words or (isinstance(words[0], str) and not _BEGINS_A_NUMBER.match(words[0].strip())):
            example = as_asked(cls.name, 100, "age > 64")
            raise BadInput("query", f"{cls.name} needs a number K", f"write for example {example}")
        return cls(integer(words[0], "K", at_least=0, at_most=_LARGEST), *words[1:])

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "threshold": str(self.threshold)}


@dataclass(frozen=True, slots=True)
class AtLeast(Threshold):
    """Yes if a condition is true for at least `threshold` records (of all records without a condition).

    The count c walks on a path (see `Count`), and the classes are its two sides: the last yes is at K, the last no at K
    − 1. So a yes has depth c − K and a no K − 1 − c. A path that lies on one side only has no boundary: K = 0, or under
    exchange K > n, or no condition at all, where c = n never changes (proofs/depth-formulas.md).
    """

    name: ClassVar[str] = "at-least"

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> DecisionDistances:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count >= self.threshold, count - self.threshold, self.threshold - 1 - count)
        certain = np.full(len(statistics), self.threshold == 0)
        if relation == NeighbouringRelation.EXCHANGE:
            certain |= (self.threshold > statistics.total) | (self.expression is None)
        return DecisionDistances(
            self.classes, np.where(count >= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth)
        )


@dataclass(frozen=True, slots=True)
class AtMost(Threshold):
    """Yes if a condition is true for at most `threshold` records (of all records without a condition).

    The other side of `AtLeast`: the last yes is at K, the last no at K + 1, so a yes has depth K − c, a no c − K − 1.
    There is no boundary under exchange for K ≥ n, nor without a condition, where c = n never changes; a count that has
    no end always has one (proofs/depth-formulas.md).
    """

    name: ClassVar[str] = "at-most"

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> DecisionDistances:
        """Return class and depth per cell."""
        count = statistics.yes
        depth = np.where(count <= self.threshold, self.threshold - count, count - self.threshold - 1)
        certain = np.zeros(len(statistics), dtype=np.bool_)
        if relation == NeighbouringRelation.EXCHANGE:
            certain |= (self.threshold >= statistics.total) | (self.expression is None)
        return DecisionDistances(
            self.classes, np.where(count <= self.threshold, 0, 1), np.where(certain, NO_BOUNDARY, depth)
        )
