"""Columns, what their values are read as, and the one cast that reads them.

A reading is decided by public facts alone (a declared schema, a condition, declared groups), never by the values, and
it is total: a value that cannot be read is null, so no record can make a query fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BadInput

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = [
    "READER",
    "Column",
    "Derivation",
    "Kind",
    "Note",
    "check_names",
    "find_column",
    "is_unknown_column",
    "kind_of",
    "list_names",
    "read_as",
    "try_cast",
]

READER = "6"
"""The version of the rules by which records are read; part of every question, so that no count read by other rules is
refined or given again. Raise it with any change to what some value of some table is read as: the rules of `total.py`,
`objects.py`, `relations.py`, `instants.py` and `column_types.py`, of text files, of `read_as`, of a condition's SQL, or
which record `--unit` keeps."""


class Kind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    INTEGER = "a whole number"
    """As a group key it lies within 64 bits; a larger one is no key."""
    NUMBER = "a number"
    BOOLEAN = "true or false"
    DATE = "a date"
    UNTYPED = "untyped"
    """Text whose reading the question decides: every CSV column, and pandas columns of `object`."""
    OTHER = "of another type"
    """A duration, a time of day, bytes, ...: usable with IS NULL and as `--unit` only."""
    NESTED = "a list or a structure"
    """A list, a struct, a map, ...: usable with IS NULL only; nothing else of it is read."""

    @property
    def is_opaque(self) -> bool:
        """Tell whether a condition can ask no more of a value than whether there is one."""
        return self in (Kind.OTHER, Kind.NESTED)


_UNKNOWN = "names the column"

SQL_TYPES = {
    Kind.TEXT: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "TIMESTAMP",
}


class Note(NamedTuple):
    """What a question reads otherwise than somebody may expect: the fact, and what to write instead; both public."""

    fact: str
    remedy: str

    def __str__(self) -> str:
        """Say both in one line."""
        return f"{self.fact}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; both its name and its kind are public.

    Attributes
    ----------
    derivation : Derivation or None
        How it is computed of others, where the question names it and the table does not hold it; or of its own text,
        where a type is declared.
    """

    name: str
    kind: Kind
    derivation: Derivation | None = None

    @property
    def reference(self) -> exp.Expr:
        """The column as SQL, quoted and tied to the relation `data`, so that no alias can stand in for it."""
        from sqlglot import exp

        if self.derivation is not None:
            return exp.paren(self.derivation.tree)  # a copy: statements are rewritten where they stand
        return exp.column(exp.to_identifier(self.name, quoted=True), table="data")

    @property
    def sources(self) -> tuple[Column, ...]:
        """The columns of the table that its values come from: itself, unless it is computed."""
        return (self,) if self.derivation is None else self.derivation.columns


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a column that the table does not hold, or not as what it is read as, is computed, record by record.

    Attributes
    ----------
    text : str
        The expression in one form and spelling; public. No two of one text over one table's columns differ.
    shown : str
        The expression in the order it was written in, for people; empty for a declared type.
    columns : tuple of Column
        The table's columns that it reads.
    tree : sqlglot expression
        Its total form: evaluating it never fails, on any record; null where there is no value.
    notes : tuple of Note
        What it reads otherwise than somebody may expect.
    """

    text: str
    shown: str
    columns: tuple[Column, ...]
    tree: exp.Expr = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(default=(), repr=False, compare=False)


def read_as(value: exp.Expr, kind: Kind, *, whole: bool = False) -> exp.Expr:
    """Return SQL that reads a value as a kind; what cannot be read, and NaN, is null. No whole number is NaN."""
    from sqlglot import exp

    read = try_cast(value, exp.DataType.build(SQL_TYPES[kind], dialect="duckdb"))
    if kind is not Kind.NUMBER or whole:
        return read
    # Engines sort NaN above every number, so without this an unknown age would be over 65.
    return exp.Nullif(this=read, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE"))


def try_cast(value: exp.Expr, target: exp.DataType) -> exp.Expr:
    """Return a cast whose failure is null; without `safe` sqlglot would write a failing CAST for Spark."""
    from sqlglot import exp

    return exp.TryCast(this=value, to=target, safe=True)


def kind_of(dtype: Any) -> Kind:
    """Map a Narwhals data type to a kind."""
    import narwhals as nw

    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_decimal() or dtype in (nw.Float32, nw.Float64):
        return Kind.NUMBER
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return Kind.TEXT
    if dtype == nw.Boolean:
        return Kind.BOOLEAN
    if dtype in (nw.List, nw.Array, nw.Struct):
        return Kind.NESTED
    return Kind.DATE if dtype in (nw.Date, nw.Datetime) else Kind.OTHER


def check_names(names: Sequence[Any]) -> None:
    """Refuse a header that engines could misread.

    Raises
    ------
    BadInput
        For no columns, names that are no text, hold a control character, or differ in nothing but case.
    """
    if not names:
        raise BadInput("data", "has no columns", "give a table with a header")
    if not all(isinstance(name, str) and name and name.isprintable() for name in names):
        raise BadInput("data", "has a column name that is not plain text on one line", "rename that column")
    before: dict[str, str] = {}
    for name in names:
        other = before.get(name.casefold())
        if other is not None:
            rule = f"has two columns of one name (case does not count), {other!r} and {name!r}"
            raise BadInput("data", rule, "rename one of them")
        before[name.casefold()] = name


def find_column(name: Any, columns: Sequence[Column], field: str) -> Column:
    """Return the column of that name; as in SQL, case matters only when nothing else decides."""
    if not isinstance(name, str):
        raise BadInput(field, "must name a column", "give its name as text")
    exact = [column for column in columns if column.name == name]
    found = exact or [column for column in columns if column.name.casefold() == name.casefold()]
    if found:
        return found[0]
    known = {column.name.casefold(): column.name for column in columns}
    near = get_close_matches(name.casefold(), known, n=1)
    meant = f"did you mean {known[near[0]]}? " if near else ""
    raise BadInput(field, f"{_UNKNOWN} {name!r}, which the data does not have", f"{meant}{_what_to_name(columns)}")


def is_unknown_column(error: BadInput) -> bool:
    """Tell whether an error is about a column that the data does not have."""
    return error.rule.startswith(_UNKNOWN)


def _what_to_name(columns: Sequence[Column]) -> str:
    """Say which columns there are, which is public."""
    return f"choose from {list_names([column.name for column in columns])}"


def list_names(names: Sequence[str], most: int = 30) -> str:
    """Write a list of names for a message."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
