"""majority EXPR: is a condition true more often than false?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._measurements import NO_BOUNDARY, DecisionDistances
from ..graphs import NeighbouringRelation
from .query import YesOrNo, check_expression, check_one_condition
from .statistics import Statistics


@dataclass(frozen=True, slots=True)
class Majority(YesOrNo):
    """Yes if more records say yes than no; records without an answer abstain, and a tie is a no.

    Let d = yes − no, so the class is yes iff d ≥ 1.

    - Add-remove: a move changes d by at most 1, and each of d ± 1 can be reached. The last yes is d = 1, the last no
      d = 0: depth d − 1 and −d.
    - Exchange: a move changes d by at most 2 (a yes becomes a no). It changes d by exactly 2 towards the other side
      whenever someone is left to change sides; a person who abstains can change it by 1. The last yes are d = 1, 2 and
      the last no d = 0, −1: depth ⌊(d − 1)/2⌋ and ⌊−d/2⌋. A cell of no records has no neighbour at all.

    Under exchange two leads are at the boundary on either side. For one cell, no private mechanism has a smaller worst
    probability of a wrong answer. A mechanism that is worse at one of these leads may be better far away, as a noisy
    lead is.

    proofs/depth-formulas.md.
    """

    expression: str

    name: ClassVar[str] = "majority"
    exchange_steps: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Check what was given."""
        check_expression(self.expression, self.name, needed=True)

    @classmethod
    def read(cls, words: Sequence[Any]) -> Majority:
        """Read ``EXPR``."""
        check_one_condition(words, cls.name)
        return cls(words[0] if words else "")

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name}

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> DecisionDistances:
        """Return class and depth per cell."""
        lead = statistics.yes - statistics.no
        depth = np.where(lead >= 1, lead - 1, -lead)
        if relation == NeighbouringRelation.EXCHANGE:
            depth = np.where(statistics.total == 0, NO_BOUNDARY, depth // 2)
        return DecisionDistances(self.classes, np.where(lead >= 1, 0, 1), depth)
