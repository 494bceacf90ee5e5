"""band T1,T2,… [EXPR]: which of the bands between thresholds is the number of records in?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from .._exact import integer
from .._measurements import CountNodes, GaussianNoise, Measurement, NoisyBands, ShapeNoise
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee
from .count import Count
from .query import CountsRecords, as_asked, check_expression, check_one_condition
from .statistics import Statistics

_LARGEST = 2**62
_MOST = 1000

_LISTED = re.compile(r"\s*[^\s,]*(\s*,\s*[^\s,]*)*")
"""Thresholds between commas, around which there may be blanks; what follows is the condition."""
"""Thresholds of one question."""


@dataclass(frozen=True, slots=True)
class Band(CountsRecords):
    """Which band the number of records for which a condition is true (of all records without one) is in.

    At least K, for several K at once: each threshold is answered as surely as `at-least` answers it alone, since all
    are read off one count (proofs/bands.md). The count is a morphism to a path; see `Count`.

    Parameters
    ----------
    thresholds : tuple of int
        Where bands begin, ascending, from 1 up.
    expression : str, optional
        SQL condition.
    """

    thresholds: tuple[int, ...]
    expression: str | None = None

    name: ClassVar[str] = "band"
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        given: Any = self.thresholds
        thresholds = tuple(integer(threshold, "thresholds", at_least=1, at_most=_LARGEST) for threshold in given)
        if not thresholds or any(one >= next_one for one, next_one in pairwise(thresholds)):
            raise BadInput("thresholds", "must be different and ascending", f"write for example {self._example()}")
        if len(thresholds) > _MOST:
            raise BadInput("thresholds", f"must be at most {_MOST}", "leave some out")
        object.__setattr__(self, "thresholds", thresholds)
        check_expression(self.expression, self.name, self._listed, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> Band:
        """Read ``T1,T2,… [EXPR]``."""
        if not words:
            raise BadInput("thresholds", "are missing for band", f"write for example {cls._example()}")
        first, *others = words
        parts = [first]
        if isinstance(first, str):
            listed = _LISTED.match(first)
            rest = first[listed.end() :].strip() if listed else ""
            parts = listed[0].split(",") if listed else [first]
            others = [*([rest] if rest else []), *others]
        check_one_condition(others, cls.name)
        return cls(tuple(parts), *others)

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "thresholds": self._listed}

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> CountNodes:
        """Return the counts and the ends of their paths."""
        return Count(self.expression).nodes(statistics, relation)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[CountNodes]:
        """Return the noisy count that is best at every threshold, on paths of either relation, read off in bands."""
        noisy = GaussianNoise(privacy) if isinstance(privacy, Gaussian) else ShapeNoise(privacy)
        return NoisyBands(self.thresholds, noisy)

    @property
    def _listed(self) -> str:
        return ",".join(map(str, self.thresholds))

    @classmethod
    def _example(cls) -> str:
        return as_asked(cls.name, "10,100,1000", "age > 64")
