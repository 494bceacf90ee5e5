"""plurality COLUMN: which of the declared categories do most records have?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..cells import CellMechanism, GapNodes, LargestCategory
from ..privacy import Guarantee
from .categories import CategoryCounts, count_categories, read_categories, read_column
from .columns import Column
from .expression import Condition
from .groups import Groups
from .neighbours import Relation
from .persons import Unit
from .query import pure_pair, refuse_choices
from .statistics import Cells
from .table import Table

__all__ = ["Plurality"]


@dataclass(frozen=True, slots=True)
class Plurality:
    """The category that most records of a cell have; where several have as many, any of them is right.

    A record with a value that is not declared, or with none, counts for no category. Adding or removing a record moves
    one count by one. Exchanging one moves two counts by one, in opposite directions, or one count alone: whichever it
    is, the gaps to the largest count are all that matters (proofs/plurality.md).

    Parameters
    ----------
    about : str
        Name of the column.
    categories : Groups, optional
        Bound by `over`.
    """

    about: str
    categories: Groups | None = field(default=None, repr=False)

    name: ClassVar[str] = "plurality"
    expression: ClassVar[str | None] = None
    exchange_steps: ClassVar[int] = 2

    @classmethod
    def read(cls, words: Sequence[Any]) -> Plurality:
        """Read ``COLUMN``."""
        return cls(read_column(words, cls.name))

    def over(self, table: Table, *, categories: Any, bins: Any) -> Plurality:
        """Read the categories for a table."""
        refuse_choices(self.name, bins=bins)
        found = read_categories(table, self.about, categories, self.name)
        return replace(self, about=found.columns[0].name, categories=found)

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return None if self.categories is None else self.categories.columns[0]

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}

    def choices(self) -> dict[str, Any]:
        """Return which categories there are."""
        found = self._bound()
        return {"categories": {"declared": len(found), "sha256": found.digest}}

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: Cells | None, unit: Unit | None
    ) -> CategoryCounts:
        """Count the records of each cell by category."""
        return count_categories(table, self._bound(), condition=condition, groups=groups, unit=unit)

    def nodes(self, statistics: CategoryCounts, relation: Relation) -> GapNodes:
        """Return how far each category is behind the largest of its cell."""
        largest = statistics.counts.max(axis=1, keepdims=True)
        return GapNodes(self._bound().names, largest - statistics.counts)

    def mechanism(self, privacy: Guarantee, relation: Relation) -> CellMechanism[GapNodes]:
        """Return the mechanism that `design.plurality` chooses, at the ε of the guarantee.

        Where a record is exchanged it may come to count for no category, or for one after having counted for none; that
        is proved too (proofs/plurality.md, T5), for gaps without a cap.
        """
        from ..design import plurality  # which loads what solves programs

        pair = pure_pair(privacy, self.name)
        return LargestCategory(plurality(len(self._bound()), pair, relation.value).form, pair)

    def _bound(self) -> Groups:
        assert self.categories is not None, "a plan binds the categories before it asks anything else"
        return self.categories
