"""sizes [K] COLUMN: how large are the categories, largest first and without their names?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._exact import integer
from .._measurements import GaussianNoise, GeometricNoise, Measurement, ShapeNoise, SizeNodes, SizesShape, SortedSizes
from .._tables import Column, ColumnType, Condition, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee, Privacy, halved
from .categories import count_categories, read_column
from .groups import CATEGORIES, Groups, read_groups
from .privacy_units import ColumnChoices, PrivacyUnit
from .query import AnswersLists, as_asked, left_out, split_number
from .statistics import CountsByGroup, ValueCounts, count_values

HEAD, BELOW = 100, 100_000
"""The whole list is told by its first sizes and by how many below are at least so large (`_measurements.SizesShape`).

Neither may be read off the data. A record in a table of fewer than 100 · 100,000 can never be in a category that is
beyond both; a longer head costs more where sizes are few, and more counts cost next to nothing.
"""

_MOST_FIRST = 10_000
_MOST_NUMBERS = 20_000_000
_MOST_SELECTED = 16
"""As numbers are drawn for groups that nobody is in, too (`cells.padding`)."""


@dataclass(frozen=True, slots=True)
class Sizes(AnswersLists):
    """The sizes of a column's categories, as a list that falls.

    A record more or less moves one entry of the list by one, and exchanging a record moves two. Neither moves more than
    that many of the numbers that describe the list (proofs/sizes.md). A record without a value is in no category.

    Parameters
    ----------
    about : str
        Name of the column.
    first : int or None
        How many of the largest are asked for; None for all.
    column : Column, optional
        Bound by `over`.
    categories : Groups, optional
        Bound by `over` where they are declared: then no other value is a category, and as many sizes are shown. Where
        they are not, every value is one.
    expression : str, optional
        The condition; a record for which it is not true is in no category.
    """

    about: str
    first: int | None = None
    column: Column | None = None
    categories: Groups | None = field(default=None, repr=False)
    expression: str | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "sizes"
    entry: ClassVar[str] = "rank"
    exchange_steps: ClassVar[int] = 2

    @classmethod
    def read(cls, words: Sequence[Any]) -> Sizes:
        """Read ``[K] COLUMN [EXPR]``; a column whose name begins with a number is a word of its own."""
        parts = list(words)
        if parts and isinstance(parts[0], str) and parts[0].strip().partition(" ")[0].isdecimal():
            parts = split_number(parts)
        numbered = bool(parts) and (not isinstance(parts[0], str) or (len(parts) > 1 and parts[0].isdecimal()))
        number, others = (parts[:1], parts[1:]) if numbered else ([], parts)
        if not others or len(others) > 2 or not isinstance(others[0], str) or not others[0].strip():
            rule = "sizes needs one column, before it at most a number, and after it at most a condition"
            raise BadInput(
                "query", rule, f"write for example {as_asked('sizes', 'town')} or {as_asked('sizes', 10, 'town')}"
            )
        first = integer(number[0], "K", at_least=1, at_most=_MOST_FIRST) if number else None
        about, expression = read_column(others, cls.name, such_as="town")
        return cls(about, first, expression=expression)

    def over(self, table: Table, choices: ColumnChoices) -> Sizes:
        """Find the column, and read the categories where they are declared."""
        choices.refuse_all_but(self.name, "categories")
        column = table.column(self.about, "query")
        if column.kind.is_opaque:
            raise BadInput(
                "query", f"asks for sizes of {column.name}, which is {column.described_kind}", "name another column"
            )
        categories = choices.categories
        if categories is None:
            read = replace(column, kind=ColumnType.TEXT) if column.kind is ColumnType.UNTYPED else column
            return replace(self, about=column.name, column=read)
        groups = read_groups(table, column.name, categories, CATEGORIES).by_key()
        if len(groups) > _MOST_FIRST:
            raise BadInput("categories", f"must be at most {_MOST_FIRST}, not {len(groups)}", "leave them undeclared")
        if self.first is not None and self.first > len(groups):
            raise BadInput(
                "K", f"must be at most the {len(groups)} categories, not {self.first}", "ask for fewer sizes"
            )
        return replace(self, about=column.name, column=groups.columns[0], categories=groups)

    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse to select groups, for more numbers than can be drawn for every group there might be."""
        if selected and self.shape.numbers > _MOST_SELECTED:
            rule = (
                f"cannot be with more than {_MOST_SELECTED} sizes, as those of groups that nobody is in are drawn too"
            )
            raise BadInput(
                "select_groups", rule, f"declare the groups, or ask for example {as_asked('sizes', 10, self.about)}"
            )

    @property
    def shape(self) -> SizesShape:
        """Which numbers tell the list: the first sizes alone where few are asked for, or few can be; public."""
        declared = None if self.categories is None else len(self.categories)
        if self.first is not None:
            return SizesShape(head=self.first, first=self.first)
        if declared is not None and declared <= HEAD:
            return SizesShape(head=declared, first=declared)
        return SizesShape(head=HEAD, below=BELOW, first=declared)

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        first = {} if self.first is None else {"largest": str(self.first)}
        return {"query": self.name, **first, "column": self.about}

    def describe_values(self) -> list[str]:
        """Return nothing: a value without a type is text."""
        return []

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say which records are of no category."""
        return [left_out(self.about, undeclared=self.categories is not None)]

    def choices(self) -> dict[str, Any]:
        """Return which categories were declared, if any."""
        categories = self.categories
        return {
            "categories": None if categories is None else {"declared": len(categories), "sha256": categories.digest}
        }

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> ValueCounts:
        """Count the records of each cell by value, or by declared category."""
        if self.categories is None:
            assert self.column is not None, "a plan binds the column before it asks anything else"
            column = table.column(self.about, "query")
            return count_values(table, column, condition=condition, groups=groups, unit=unit)
        counts = count_categories(table, self.categories, condition=condition, groups=groups, unit=unit).counts
        cells, categories = counts.shape
        ends = np.arange(cells + 1, dtype=np.int64) * categories
        return ValueCounts(ends, counts.ravel(), None)

    def nodes(self, statistics: ValueCounts, relation: NeighbouringRelation) -> SizeNodes:
        """Return the numbers that tell each cell's list."""
        cells, shape = len(statistics), self.shape
        if cells * shape.numbers > _MOST_NUMBERS:
            raise BadInput(
                "groups", "are too many for as many sizes", f"ask for example {as_asked('sizes', 10, self.about)}"
            )
        told = np.zeros((cells, shape.numbers), dtype=np.int64)
        for cell in range(cells):
            told[cell] = shape.tell(statistics.of_cell(cell))
        return SizeNodes(told, statistics.total if relation == NeighbouringRelation.EXCHANGE else None)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[SizeNodes]:
        """Return the noise that is best for a count, on every number: half of it, where an exchange moves two."""
        each = halved(privacy) if relation == NeighbouringRelation.EXCHANGE else privacy
        noise: GeometricNoise | ShapeNoise | GaussianNoise
        if isinstance(each, Gaussian):
            noise = GaussianNoise(each)
        else:
            noise = GeometricNoise(each.pure) if each.single else ShapeNoise(each)
        # Such noise has no use for the δ of one pair, which is then not charged either.
        kept = privacy.pure if isinstance(privacy, Privacy) and privacy.single else privacy
        return SortedSizes(noise, kept, self.shape)
