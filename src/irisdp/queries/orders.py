"""top K COLUMN, ranking COLUMN: which declared categories most records have, and how they rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from ..cells import CategoryNodes, CellMechanism, LargestCategories
from ..errors import BadInput
from ..exact import integer
from ..privacy import Guarantee
from .categories import MOST_CATEGORIES, CategoryCounts, count_categories, read_categories, read_column
from .columns import Column
from .expression import Condition
from .groups import Groups
from .neighbours import Relation
from .persons import Unit
from .query import as_asked, pure_pair, refuse_choices, split_number
from .statistics import Cells
from .table import Table

__all__ = ["Ranking", "Top"]


@dataclass(frozen=True, slots=True)
class _Orders:
    """What both questions have in common: the counts of declared categories, whose order decides what is right.

    A record with a value that is not declared, or with none, counts for no category. Adding or removing a record moves
    one count by one. Exchanging one moves two counts by one, in opposite directions, or one count alone; mechanisms are
    private under all of these moves (proofs/orders.md).

    Parameters
    ----------
    about : str
        Name of the column.
    categories : Groups, optional
        Bound by `over`.
    """

    about: str
    categories: Groups | None = field(default=None, repr=False)

    name: ClassVar[str]
    expression: ClassVar[str | None] = None
    exchange_steps: ClassVar[int] = 2

    @property
    def named(self) -> int | None:
        """How many of the largest are named; None for a ranking of all."""
        raise NotImplementedError

    def over(self, table: Table, *, categories: Any, bins: Any) -> Self:
        """Read the categories for a table."""
        refuse_choices(self.name, bins=bins)
        found = read_categories(table, self.about, categories, self.name)
        if self.named is not None and self.named >= len(found):
            rule = f"must be fewer than the {len(found)} categories, not {self.named}"
            raise BadInput("K", rule, "ask for fewer, or for their ranking")
        return replace(self, about=found.columns[0].name, categories=found)

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return None if self.categories is None else self.categories.columns[0]

    def choices(self) -> dict[str, Any]:
        """Return which categories there are."""
        found = self._bound()
        return {"categories": {"declared": len(found), "sha256": found.digest}}

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: Cells | None, unit: Unit | None
    ) -> CategoryCounts:
        """Count the records of each cell by category."""
        return count_categories(table, self._bound(), condition=condition, groups=groups, unit=unit)

    def nodes(self, statistics: CategoryCounts, relation: Relation) -> CategoryNodes:
        """Return the counts of each cell."""
        return CategoryNodes(self._bound().names, statistics.counts)

    def mechanism(self, privacy: Guarantee, relation: Relation) -> CellMechanism[CategoryNodes]:
        """Return a table of chances where there is one, else noisy counts, at the ε of the guarantee."""
        pair = pure_pair(privacy, self.name)
        return LargestCategories(self.named, len(self._bound()), pair, relation is Relation.EXCHANGE)

    def _bound(self) -> Groups:
        assert self.categories is not None, "a plan binds the categories before it asks anything else"
        return self.categories


@dataclass(frozen=True, slots=True)
class Ranking(_Orders):
    """All categories of a cell, largest first; where several have as many records, any order of those is right."""

    name: ClassVar[str] = "ranking"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Ranking:
        """Read ``COLUMN``."""
        return cls(read_column(words, cls.name))

    @property
    def named(self) -> int | None:
        """None: all are ranked."""
        return None

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}


@dataclass(frozen=True, slots=True)
class Top(_Orders):
    """The K categories that most records of a cell have; where it is open which, any choice is right.

    Parameters
    ----------
    k : int
        From 1 to one fewer than there are categories.
    """

    k: int = field(kw_only=True)

    name: ClassVar[str] = "top"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Top:
        """Read ``K COLUMN``."""
        words = split_number(words)
        if len(words) < 2:
            example = as_asked(cls.name, 3, "party")
            raise BadInput("query", f"{cls.name} needs a number K and a column", f"write for example {example}")
        k = integer(words[0], "K", at_least=1, at_most=MOST_CATEGORIES - 1)
        return cls(read_column(words[1:], f"{cls.name} {k}"), k=k)

    @property
    def named(self) -> int | None:
        """K."""
        return self.k

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "k": str(self.k), "column": self.about}
