"""top K COLUMN, ranking COLUMN: which declared categories most records have, and how they rank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from .._exact import integer
from .._measurements import CategoryNodes, LargestCategories, Measurement
from .._tables import Condition, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee
from .categories import MOST_CATEGORIES, AboutCategories, CategoryCounts, count_categories, read_column
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds, PrivacyUnit
from .query import AnswersByRecord, as_asked, split_number
from .statistics import CountsByGroup


@dataclass(frozen=True, slots=True)
class _Orders(AboutCategories, AnswersByRecord, ABC):
    """What both questions have in common: the counts of declared categories, whose order decides what is right.

    Mechanisms are private under every way in which a record may move the counts (proofs/orders.md).

    Parameters
    ----------
    about, categories, expression
        As of any question about categories.
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    """

    contribution: ContributionBounds = field(default=ONE_RECORD, kw_only=True)

    @property
    @abstractmethod
    def named(self) -> int | None:
        """How many of the largest are named; None for a ranking of all."""

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> CategoryCounts:
        """Count the records of each cell by category."""
        return count_categories(table, self._bound(), condition=condition, groups=groups, unit=unit)

    def nodes(self, statistics: CategoryCounts, relation: NeighbouringRelation) -> CategoryNodes:
        """Return the counts of each cell."""
        return CategoryNodes(self._bound().names, statistics.counts)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[CategoryNodes]:
        """Return a table of chances where there is one, else noisy counts, at the ε of the guarantee."""
        pair = self.of_one_record(privacy)
        return LargestCategories(self.named, len(self._bound()), pair, relation)


@dataclass(frozen=True, slots=True)
class Ranking(_Orders):
    """All categories of a cell, largest first; where several have as many records, any order of those is right."""

    name: ClassVar[str] = "ranking"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Ranking:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name)
        return cls(about, expression=expression)

    @property
    def named(self) -> int | None:
        """None: all are ranked."""
        return None


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
        """Read ``K COLUMN [EXPR]``."""
        words = split_number(words)
        if len(words) < 2:
            example = as_asked(cls.name, 3, "party")
            raise BadInput("query", f"{cls.name} needs a number K and a column", f"write for example {example}")
        k = integer(words[0], "K", at_least=1, at_most=MOST_CATEGORIES - 1)
        about, expression = read_column(words[1:], f"{cls.name} {k}")
        return cls(about, expression=expression, k=k)

    @property
    def named(self) -> int | None:
        """K."""
        return self.k

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Read the categories for a table; K must be fewer than they are."""
        result = super(Top, self).over(table, choices)
        if self.k >= len(result._bound()):
            rule = f"must be fewer than the {len(result._bound())} categories, not {self.k}"
            raise BadInput("K", rule, "ask for fewer, or for their ranking")
        return result

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "k": str(self.k), "column": self.about}
