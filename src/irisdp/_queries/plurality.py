"""plurality COLUMN: which of the declared categories do most records have?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._measurements import GapNodes, LargestCategory, Measurement
from .._tables import Condition, Table
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee
from .categories import AboutCategories, CategoryCounts, count_categories, read_column
from .privacy_units import ONE_RECORD, ContributionBounds, PrivacyUnit
from .query import AnswersByRecord
from .statistics import CountsByGroup


@dataclass(frozen=True, slots=True)
class Plurality(AboutCategories, AnswersByRecord):
    """The category that most records of a cell have; where several have as many, any of them is right.

    Whichever way a record moves the counts, the gaps to the largest are all that matters (proofs/plurality.md).

    Parameters
    ----------
    about, categories, expression
        As of any question about categories.
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    """

    contribution: ContributionBounds = field(default=ONE_RECORD, kw_only=True)

    name: ClassVar[str] = "plurality"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Plurality:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name)
        return cls(about, expression=expression)

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> CategoryCounts:
        """Count the records of each cell by category."""
        return count_categories(table, self._bound(), condition=condition, groups=groups, unit=unit)

    def nodes(self, statistics: CategoryCounts, relation: NeighbouringRelation) -> GapNodes:
        """Return how far each category is behind the largest of its cell."""
        largest = statistics.counts.max(axis=1, keepdims=True)
        return GapNodes(self._bound().names, largest - statistics.counts)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[GapNodes]:
        """Return the mechanism that `design.plurality` chooses, at the ε of the guarantee.

        An exchanged record may lose its category, or gain one. That case is proved too (proofs/plurality.md, T5), for
        gaps without a cap.
        """
        from ..design import plurality  # which loads what solves programs

        pair = self.of_one_record(privacy)
        return LargestCategory(plurality(len(self._bound()), pair, relation.value).form, pair)
