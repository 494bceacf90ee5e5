"""column COLUMN: in which of the declared categories is each record?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .._measurements import EachRecord, Measurement, RecordNodes
from .._tables import Condition, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee
from .categories import AboutCategories, read_column
from .groups import CATEGORIES, read_groups
from .privacy_units import ColumnChoices, PrivacyUnit
from .query import AnswersLists
from .statistics import CountsByGroup, RecordValues, read_values

OTHER = "other"
"""The category of records without a value that is declared, and of those for which the condition is not true."""

_MOST = 1 << 16


@dataclass(frozen=True, slots=True)
class EachCategory(AboutCategories, AnswersLists):
    """The category of each record, in the order of the records.

    Every record is in one of the categories: those declared and `other`, which holds what is not declared, what has no
    value, and records for which the condition is not true. Any of them may become any other when a record is exchanged,
    and the answers about all other records keep their law (proofs/columns.md). How many records there are is public, so
    records can only be exchanged.
    """

    name: ClassVar[str] = "column"
    entry: ClassVar[str] = "record"
    exchange_steps: ClassVar[int] = 1

    @classmethod
    def read(cls, words: Sequence[Any]) -> EachCategory:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name)
        return cls(about, expression=expression)

    def over(self, table: Table, choices: ColumnChoices) -> EachCategory:
        """Read the categories for a table whose records have an order."""
        choices.refuse_all_but(self.name, "categories")
        if choices.categories is None:
            rule = "is missing; taken from the data, it would reveal who is in it"
            raise BadInput("categories", rule, "give categories='v1,v2,…', a list, or a CSV file")
        groups = read_groups(table, table.column(self.about, "query").name, choices.categories, CATEGORIES).by_key()
        if len(groups) >= _MOST:
            raise BadInput("categories", f"must be fewer than {_MOST}, not {len(groups)}", "declare fewer")
        if not table.ordered:
            rule = "has no order, and answers about each record stand in the order of the records"
            raise BadInput("data", rule, "give a file, or a frame in memory")
        return replace(self, about=groups.columns[0].name, categories=groups)

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say nothing: a record of no declared category is in `other`."""
        return []

    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse groups, and persons who may have several records."""
        if by:
            rule = "is not for column, which answers about each record and not about groups"
            raise BadInput("by", rule, "leave it out, or publish plurality or count by groups")
        if unit is not None:
            rule = "is not for column, whose answers are about records, one for each"
            raise BadInput("unit", rule, "leave it out, and give a table with one record for each person")

    @property
    def names(self) -> tuple[Any, ...]:
        """The possible answers: the declared categories, and `other` for every other value."""
        declared = self._bound().names
        if OTHER in declared:
            return declared
        # One column of answers holds values of one kind.
        return (*(declared if all(isinstance(name, str) for name in declared) else map(str, declared)), OTHER)

    @property
    def rest(self) -> str | None:
        """What is answered about a record that is in no declared category; None where that is declared itself."""
        return None if OTHER in self._bound().names else OTHER

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> RecordValues:
        """Read the category of every record."""
        return read_values(table, self._bound(), condition)

    def nodes(self, statistics: RecordValues, relation: NeighbouringRelation) -> RecordNodes:
        """Return the place of every record's category among the names."""
        names, codes = self.names, statistics.codes.copy()
        codes[codes == len(self._bound())] = names.index(OTHER)
        return RecordNodes(names, codes[None])

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[RecordNodes]:
        """Return randomised response on every record."""
        if relation != NeighbouringRelation.EXCHANGE:
            rule = "must be exchange for column: it has an answer for each record, so how many there are is public"
            raise BadInput("relation", rule, "add relation='exchange'")
        return EachRecord(len(self.names), privacy)
