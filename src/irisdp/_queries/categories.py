"""Declared categories of a column, and how many records of each cell are in which: what a winner is found from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._tables import Column, Condition, Table, integers_of
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from .derived_columns import is_named_expression
from .groups import CATEGORIES, Groups, read_groups
from .privacy_units import ColumnChoices, PrivacyUnit, columns_read, records_statement
from .query import AnswersByRecord, as_asked, check_expression, left_out
from .statistics import CountsByGroup, counted

MOST_CATEGORIES = 100
"""As many as winners are found of."""


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCounts:
    """Records by category, per cell; private, and not shown by `repr`.

    Attributes
    ----------
    counts : int64 array, shape (cells, categories)
        In the order of the declared categories. Records of another category, or of none, are in no column.
    """

    counts: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class AboutCategories:
    """What questions about the declared categories of a column have in common.

    A condition changes none of the statements below (proofs/conditions.md).

    A record with a value that is not declared, with none, or for which the condition is not true counts for no
    category. Adding or removing a record moves one count by one. Exchanging one moves two counts by one, in opposite
    directions, or one count alone.

    Parameters
    ----------
    about : str
        Name of the column.
    categories : Groups, optional
        Bound by `over`.
    expression : str, optional
        The condition.
    """

    about: str
    categories: Groups | None = field(default=None, repr=False)
    expression: str | None = field(default=None, kw_only=True)

    name: ClassVar[str]
    exchange_steps: ClassVar[int] = 2

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Read the categories for a table."""
        choices.refuse_all_but(self.name, "categories")
        categories = read_categories(table, self.about, choices.categories, self.name)
        found = replace(self, about=categories.columns[0].name, categories=categories)
        return replace(found, contribution=choices.contribution) if isinstance(found, AnswersByRecord) else found

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return None if self.categories is None else self.categories.columns[0]

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}

    def describe_values(self) -> list[str]:
        """Return nothing: what is no declared category is in none."""
        return []

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say which records are of no declared category."""
        return [left_out(self.about, undeclared=True)]

    def choices(self) -> dict[str, Any]:
        """Return which categories there are."""
        bound = self._bound()
        return {"categories": {"declared": len(bound), "sha256": bound.digest}}

    def _bound(self) -> Groups:
        assert self.categories is not None, "a plan binds the categories before it asks anything else"
        return self.categories


_CONDITION = re.compile(r"[=<>!(]|\b(is|in|like|between|not)\b", re.IGNORECASE)
"""What conditions hold, and few names."""

_QUOTED = re.compile(r'("(?:[^"]|"")+")(?:\s+(.*))?', re.DOTALL)
"""A column in double quotes, and what follows it."""


def split_condition(text: str) -> list[str]:
    """Return a column, or a named expression, and the condition after it if one text holds both.

    Double quotes around a column keep it in one piece.

    Examples
    --------
    >>> split_condition("party age > 64"), split_condition("favourite party"), split_condition("pay = hours * rate")
    (['party', 'age > 64'], ['favourite party'], ['pay = hours * rate'])
    >>> split_condition('"seen (UTC)" age > 64'), split_condition('"seen (UTC)"')
    (['"seen (UTC)"', 'age > 64'], ['"seen (UTC)"'])
    """
    quoted = _QUOTED.fullmatch(text.strip())
    first, rest = quoted.groups("") if quoted else text.strip().partition(" ")[::2]
    return [first, rest] if _CONDITION.search(rest) and not is_named_expression(text) else [text]


def read_column(
    words: Sequence[Any], query: str, *, such_as: str = "party", besides: str = ""
) -> tuple[str, str | None]:
    """Read ``COLUMN [EXPR]``, each a word of its own or both in one text; an example says what a query needs besides.

    A column's name may look like a column and a condition; `reading.find_subject` joins such a name again.
    """
    parts = list(words)
    if len(parts) == 1 and isinstance(parts[0], str):
        parts = split_condition(parts[0])
    column = parts[0] if parts else None
    if not isinstance(column, str) or not column.strip() or len(parts) > 2:
        rule = f"{query} needs one column, and after it at most a condition"
        raise BadInput("query", rule, f"write for example {as_asked(query, such_as)}{besides}")
    expression = parts[1] if len(parts) == 2 else None
    check_expression(expression, query, column.strip(), needed=False)
    return column.strip(), expression


def read_categories(table: Table, column: str, declared: Any, query: str) -> Groups:
    """Read the categories of a column that a query is about; from public facts alone.

    Parameters
    ----------
    table : Table
        What the column is of.
    column : str
        Its name.
    declared : text, path, sequence, mapping or frame
        As for `groups.read_groups`.
    query : str
        Its name, for messages.

    Returns
    -------
    Groups
        Of one column, sorted by key, so that the order and spelling they were declared in is no part of the question.

    Raises
    ------
    BadInput
        For fewer than two, or more than `MOST_CATEGORIES`, and as `groups.read_groups`.
    """
    if declared is None:
        rule = "is missing; taken from the data, it would reveal who is in it"
        raise BadInput("categories", rule, "give categories='v1,v2,…', a list, or a CSV file")
    result = read_groups(table, table.column(column, "query").name, declared, CATEGORIES).by_key()
    if not 2 <= len(result) <= MOST_CATEGORIES:
        (only, *others) = result.names
        one_text = not others and isinstance(only, str) and "," in only
        remedy = f"a list is not split at commas: write categories={only!r}" if one_text else "declare that many"
        if isinstance(declared, str) and len(result) == 1:
            remedy = "separate them with commas, as in categories='v1,v2'"
        raise BadInput("categories", f"must be from 2 to {MOST_CATEGORIES}, not {len(result)}", remedy)
    return result


def count_categories(
    table: Table,
    categories: Groups,
    *,
    condition: Condition | None = None,
    groups: CountsByGroup | None = None,
    unit: PrivacyUnit | None = None,
) -> CategoryCounts:
    """Count the records of each cell by category, in one pass of the engine.

    Parameters
    ----------
    table : Table
        What is counted.
    categories : Groups
        Of one column; each is declared.
    condition, groups, unit
        As for `count_records`. Records for which a condition is not true are in no category.

    Returns
    -------
    CategoryCounts
        Adding or removing a record (a person, with `unit`) changes at most one entry, by one.
    """
    cells = 1 if groups is None else len(groups)
    counts = np.zeros((cells, len(categories)), dtype=np.int64)
    if not cells:
        return CategoryCounts(counts)
    columns = () if groups is None else groups.columns
    keys = (*columns, *categories.columns)
    # A category first becomes its place: few are declared, so what follows takes memory in proportion to the cells.
    taken = "" if condition is None else " WHERE answer"
    placed = (
        "categorized AS (SELECT records.*, categories.position AS place FROM records "
        f"JOIN categories ON records.k{len(columns)} = categories.k0{taken})"
    )
    number = counted({"total": "COUNT(*)"}, groups, records="categorized", also="place")
    found = table.run(
        f"{records_statement(table, condition, keys, unit)}, {placed} {number}",
        columns_read(table, condition, keys, unit),
        categories=categories.arrow(),
        **({} if groups is None else {"groups": groups.arrow()}),
    )
    position, place = (integers_of(found.column(name)) for name in ("position", "place"))
    counts[position, place] = integers_of(found.column("total"))
    return CategoryCounts(counts)
