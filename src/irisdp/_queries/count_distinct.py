"""count-distinct COLUMN [EXPR]: how many different values, such as people, there are in the records that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._measurements import CountNodes, Measurement, noise_for
from .._tables import Column, ColumnType, Condition, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee
from .categories import read_column
from .count import Count
from .groups import Groups
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds, PrivacyUnit
from .query import left_out
from .statistics import CountsByGroup, Statistics, count_records


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """The number of different values of a column, in records for which a condition is true; null is not counted.

    A record more or less moves the number by at most one in its cell, and so does exchanging one. So M records move all
    numbers by at most M together. If the values are the protected people, someone with several records is one value in
    each cell that they are in (proofs/many-records.md).

    Parameters
    ----------
    about : str
        Name of the column.
    expression : str, optional
        The condition.
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    of : Column, optional
        The column, with the kind its values are read as. Bound by `over`, and so is the next.
    of_people : bool
        Whether the column is the one that says whose record it is.
    untyped : bool
        Whether nothing says what the column holds, so that it is read as text.
    """

    about: str
    expression: str | None = None
    contribution: ContributionBounds = ONE_RECORD
    of: Column | None = None
    of_people: bool = False
    untyped: bool = False

    name: ClassVar[str] = "count-distinct"
    exchange_steps: ClassVar[int] = 1
    categories: ClassVar[Groups | None] = None

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return self.of

    def choices(self) -> dict[str, Any]:
        """Return nothing: no choice belongs to it."""
        return {}

    @classmethod
    def read(cls, words: Sequence[Any]) -> CountDistinct:
        """Read ``COLUMN [EXPR]``."""
        return cls(*read_column(words, cls.name, such_as="person"))

    def over(self, table: Table, choices: ColumnChoices) -> CountDistinct:
        """Find the column, and whether its values are the people who are protected."""
        choices.refuse_all_but(self.name)
        column = table.column(self.about, "query")
        if column.kind.is_opaque:
            raise BadInput(
                "query", f"counts values of {column.name}, which is {column.described_kind}", "name another column"
            )
        return replace(
            self,
            about=column.name,
            of=replace(column, kind=ColumnType.TEXT) if column.kind is ColumnType.UNTYPED else column,
            contribution=choices.contribution,
            untyped=column.kind is ColumnType.UNTYPED,
            of_people=choices.unit is not None and table.column(choices.unit, "unit") == column,
        )

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}

    def describe_values(self) -> list[str]:
        """Return nothing: a value without a type is text."""
        return []

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say which records have no value; records without a person are named for every question about persons."""
        counted = ", but the text NA counts as a value" if self.untyped else ""
        return [] if self.of_people else [left_out(self.about) + counted]

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> Statistics:
        """Count the records of each cell, and the different values that say yes."""
        # Where each person counts once, their records that say yes are one: there is nothing to tell apart.
        persons = unit is not None and unit.per_unit is not None and self.of_people and groups is None
        return count_records(
            table, condition=condition, groups=groups, unit=unit, different=None if persons else self.of
        )

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> CountNodes:
        """Return the numbers; under exchange there are no more values than records, whose number is public."""
        return CountNodes(
            values=statistics.yes,
            lower=np.zeros_like(statistics.total),
            upper=statistics.total if relation == NeighbouringRelation.EXCHANGE else None,
        )

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[CountNodes]:
        """Return the noise of a count where a person moves one number by one; else that of several."""
        limits = self.contribution
        if self.of_people and limits.cells > 1:
            return noise_for(privacy, each=1, total=limits.cells, cells=limits.cells)
        if self.of_people:
            return Count().mechanism(privacy, relation)
        return Count(contribution=limits).mechanism(privacy, relation)
