"""Columns, what their values are read as, and the one cast that reads them.

Public facts alone decide how a value is read (a declared schema, a condition, declared groups), never the values.
Reading is total: a value that cannot be read is null, so no record can make a query fail.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from .._aliases import did_you_mean
from ..errors import BadInput
from .spellings import PLAIN, Spelling

if TYPE_CHECKING:
    from sqlglot import exp


READER = "7"
"""The version of the rules by which records are read; part of every question, so that no count read by other rules is
refined or given again. Raise it with any change to what some value of some table is read as: the rules of
`_tables/arrow_values.py`, `_tables/dataframes.py`, `_tables/sql_types.py` and
`column_types.py`, of text files, of `read_as`, of a condition's SQL, or
which record `--unit` keeps."""


class ColumnType(StrEnum):
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
        return self in (ColumnType.OTHER, ColumnType.NESTED)


_UNKNOWN = "names the column"

SQL_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.NUMBER: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "TIMESTAMP",
}


class Note(NamedTuple):
    """What a question reads otherwise than somebody may expect: the fact, and what to write instead; both public.

    Attributes
    ----------
    beside_answer : bool
        Whether a published answer shows the note too, not the plan alone.
    """

    fact: str
    remedy: str
    beside_answer: bool = False

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
    type_name : str
        The type that the table gives it, for messages; empty where nothing is known of it.
    is_shown : bool
        Whether messages may list its name; not where a record may have written a part of it.
    spelling : Spelling
        How its text writes values, if that is declared.
    """

    name: str
    kind: ColumnType
    derivation: Derivation | None = None
    type_name: str = field(default="", compare=False)
    is_shown: bool = field(default=True, compare=False)
    spelling: Spelling = PLAIN

    @property
    def reference(self) -> exp.Expr:
        """The column as SQL, quoted and tied to the relation `data`, so that no alias can stand in for it."""
        from sqlglot import exp

        if self.derivation is not None and self.derivation.tree is not None:
            return exp.paren(self.derivation.tree)  # a copy: statements are rewritten where they stand
        return exp.column(exp.to_identifier(self.name, quoted=True), table="data")

    @property
    def described_kind(self) -> str:
        """The kind in words, with the table's own type where a condition can ask for IS NULL only."""
        shown = shorten_type(self.type_name)
        return f"{self.kind} ({shown})" if shown and self.kind.is_opaque else str(self.kind)

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
        Its total form: evaluating it never fails, on any record; null where there is no value. None of a column of
        `PersonRows`, which the rows hold.
    notes : tuple of Note
        What it reads otherwise than somebody may expect.
    readings : tuple of (str, Kind)
        What it reads each of its columns as.
    texts : tuple of str
        The quoted texts in it.
    joined : bool
        Whether a lookup gives the value, found by the one column that it is computed of.
    """

    text: str
    shown: str
    columns: tuple[Column, ...]
    tree: exp.Expr | None = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(default=(), repr=False, compare=False)
    readings: tuple[tuple[str, ColumnType], ...] = field(default=(), repr=False, compare=False)
    texts: tuple[str, ...] = field(default=(), repr=False, compare=False)
    joined: bool = field(default=False, repr=False)


def read_as(value: exp.Expr, kind: ColumnType, *, whole: bool = False) -> exp.Expr:
    """Return SQL that reads a value as a kind; what cannot be read, and NaN, is null. No whole number is NaN."""
    from sqlglot import exp

    read = try_cast(value, exp.DataType.build(SQL_TYPES[kind], dialect="duckdb"))
    if kind is not ColumnType.NUMBER or whole:
        return read
    # Engines sort NaN above every number, so without this an unknown age would be over 65.
    return exp.Nullif(this=read, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE"))


def try_cast(value: exp.Expr, target: exp.DataType) -> exp.Expr:
    """Return a cast whose failure is null; without `safe` sqlglot would write a failing CAST for Spark."""
    from sqlglot import exp

    return exp.TryCast(this=value, to=target, safe=True)


def kind_of(dtype: Any) -> ColumnType:
    """Map a Narwhals data type to a kind."""
    import narwhals as nw

    if dtype.is_integer():
        return ColumnType.INTEGER
    if dtype.is_decimal() or dtype in (nw.Float32, nw.Float64):
        return ColumnType.NUMBER
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return ColumnType.TEXT
    if dtype == nw.Boolean:
        return ColumnType.BOOLEAN
    if dtype in (nw.List, nw.Array, nw.Struct):
        return ColumnType.NESTED
    return ColumnType.DATE if dtype in (nw.Date, nw.Datetime) else ColumnType.OTHER


_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_VALUE = re.compile(
    r"[\d\s.,:/%+\-−€$£()TZ]*\d[\d\s.,:/%+\-−€$£()TZ]*|.*[@\x00].*"  # numbers, dates, times and addresses
    r"|[+-]?[\d.,]+e[+-]?\d+|[?.\-]+|n/?a|nan|null|none|true|false"  # and what programs write for numbers and no value
    rf"|\d{{1,2}}[-/. ]+{_MONTH}[-/., ]+\d{{2,4}}|{_MONTH}[. ]+\d{{1,2}},? +\d{{4}}"  # 12-Nov-2024, Nov 12, 2024
    r"|(?=.*\d)[\da-f]{8}(-?[\da-f]{4}){3}-?[\da-f]{12}",  # keys that programs draw
    re.IGNORECASE,
)
_LONGEST_NAME = 100


def can_be_header(names: Sequence[str]) -> bool:
    """Tell whether the first line of a text file can be a header, and is no record: only then are its names shown.

    A name is no number, no date, no e-mail address and no mark of a missing value, and stands there once. A place
    without a name is called ``column3``, which says that nothing stood there.

    Examples
    --------
    >>> can_be_header(["age", "town"]), can_be_header(["000123", "Anna Example"]), can_be_header(["a", "A"])
    (True, False, False)
    """
    return len({name.casefold() for name in names}) == len(names) and all(
        not looks_like_value(name) and name != f"column{index}" for index, name in enumerate(names, 1)
    )


def looks_like_value(name: str) -> bool:
    """Tell whether a name of a header looks like a value of a record: a number, a date, an address, or a long text."""
    return len(name) > _LONGEST_NAME or _VALUE.fullmatch(name) is not None


_PEOPLE = re.compile(
    r"person|patient|people|respondent|participant|subject|voter|student|employee|customer|client|member|user|household"
    r"|resident|citizen|(^|[^a-z])id$"
)
"""Names of columns, in small letters, that may well say whose record it is."""


def names_people(name: str) -> bool:
    """Tell whether a column is called as if it said whose record it is.

    Examples
    --------
    >>> names_people("patient_id"), names_people("paid")
    (True, False)
    """
    return _PEOPLE.search(name.casefold()) is not None


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names that can stand for a header which cannot be one, as long as nobody but its owner looks at it.

    Examples
    --------
    >>> distinct_names(["a", "A", "b"])
    ['a', 'A (column 2)', 'b']
    """
    known: set[str] = set()
    result = []
    for place, name in enumerate(names, 1):
        plain = "".join(letter if letter.isprintable() else "?" for letter in name) or f"column{place}"
        plain = plain if plain.casefold() not in known else f"{plain} (column {place})"
        while plain.casefold() in known:
            plain += "'"
        known.add(plain.casefold())
        result.append(plain)
    return result


def check_names(names: Sequence[Any], *, first_line: bool = False) -> None:
    """Refuse a header that engines could misread.

    Parameters
    ----------
    names : sequence
    first_line : bool
        Whether they are the first line of a text file, which may be a record: then no name is quoted.

    Raises
    ------
    BadInput
        For no columns, names that are no text, hold a control character, or differ in nothing but case.
    """
    if not names:
        raise BadInput("data", "has no columns", "give a table with a header")
    if not all(isinstance(name, str) and name and name.isprintable() for name in names):
        remedy = "rename that column"
        if not all(isinstance(name, str) for name in names):
            remedy += ", or write all names as text: frame.columns = frame.columns.map(str)"
        raise BadInput("data", "has a column name that is not plain text on one line", remedy)
    before: dict[str, str] = {}
    for name in names:
        other = before.get(name.casefold())
        if other is not None:
            rule = "has two columns of one name (case does not count)"
            if first_line:
                raise BadInput("data", f"{rule}, or no header line", "rename one of them, or add a line with the names")
            raise BadInput("data", f"{rule}, {other!r} and {name!r}", "rename one of them")
        before[name.casefold()] = name


def find_column(name: Any, columns: Sequence[Column], field: str) -> Column:
    """Return the column of that name; as in SQL, case matters only when nothing else decides."""
    if not isinstance(name, str):
        raise BadInput(field, "must name a column", "give its name as text")
    exact = [column for column in columns if column.name == name]
    matches = exact or [column for column in columns if column.name.casefold() == name.casefold()]
    if matches:
        return matches[0]
    if not names_are_public(columns):
        rule = f"{_UNKNOWN} {name!r}, and no column is called that"
        raise BadInput(field, rule, NO_HEADER)
    guess = did_you_mean(name, [column.name for column in columns])
    remedy = f"{guess} {_what_to_name(columns)}".lstrip()
    raise BadInput(field, f"{_UNKNOWN} {name!r}, which the data does not have", remedy)


def shorten_type(name: str) -> str:
    """Return a type's name without what it holds: labels and names inside it may come from records.

    Examples
    --------
    >>> shorten_type("struct<a: int64>"), shorten_type("ENUM('Ann')")
    ('struct', 'ENUM')
    """
    return re.split(r"[<(\[{]", name)[0].strip()[:60]


def is_unknown_column(error: BadInput) -> bool:
    """Tell whether an error is about a column that the data does not have."""
    return error.rule.startswith(_UNKNOWN)


NO_HEADER = (
    "the first line of the file may be a record (a name in it looks like a value, such as a number or a date, holds a"
    " line break, or is empty or repeated), so Iris does not show it: add a header line"
)
"""The text shown instead of names that may be values of a record."""


def names_are_public(columns: Sequence[Column]) -> bool:
    """Tell whether columns have names that may be shown: those of a schema, or of a first line that can be a header."""
    columns = [column for column in columns if column.derivation is None or not column.derivation.joined]  # else public
    if not all(column.is_shown for column in columns):
        return False
    untyped = any(column.kind is ColumnType.UNTYPED for column in columns)
    return not untyped or can_be_header([column.name for column in columns])


def _what_to_name(columns: Sequence[Column]) -> str:
    """Say which columns there are, which is public."""
    return f"choose from {list_names([column.name for column in columns])}"


def list_names(names: Sequence[str], most: int = 30) -> str:
    """Write a list of names for a message."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


_LONGEST_INTEGER = 10**1000
_SURE_DIGITS = {ColumnType.INTEGER: 18, ColumnType.NUMBER: 15}
"""So many digits fit a kind exactly, whatever they are."""
_AT_ONCE: dict[ColumnType, Callable[[str], Any]] = {ColumnType.INTEGER: int, ColumnType.NUMBER: float}
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read_value(value: Any, kind: ColumnType) -> Any:
    """Return a declared value as its kind, in the form that Arrow takes; None if it cannot be read so."""
    return _READERS[kind](value)


def read_values(values: Sequence[Any], kind: ColumnType) -> list[Any]:
    """Return declared values as a kind, each as `read_value` does; of a million that are written alike, all at once."""
    if set(map(type, values)) == {str}:
        together = "".join(values)
        longest = max(map(len, values)) if together.isascii() and together.isdigit() and "" not in values else None
        if longest is not None and kind in _AT_ONCE and longest <= _SURE_DIGITS[kind]:
            return list(map(_AT_ONCE[kind], values))
    return [_READERS[kind](value) for value in values]


def any_empty(values: Sequence[Any]) -> bool:
    """Return whether any declared value is missing."""
    return "" in values if set(map(type, values)) == {str} else any(map(is_empty, values))


def is_empty(value: Any) -> bool:
    """Return whether a declared value is missing: null, NaN, NaT, NA or empty text."""
    try:
        return value is None or bool(value == "" or value != value)  # noqa: PLR0124 (so NaN and NaT are told)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True


def _is_number(value: Any) -> bool:
    """Tell whether a declared value is written as a number, whether or not a float can hold it."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LONGEST_INTEGER:
        return str(value)
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate is no text that an engine could compare
        return None
    return str(value)


def _number(value: Any) -> float | None:
    """Read a number that a double holds: exactly, or as the shortest way of writing that double."""
    if not _is_number(value):
        return None
    try:
        number = float(value)
        if not math.isfinite(number):
            return None
        if isinstance(value, float):
            return number + 0.0  # so that there is one zero
        exact = Decimal(value.strip() if isinstance(value, str) else value)
        return number + 0.0 if exact in (Decimal(number), Decimal(repr(number))) else None
    except (OverflowError, ValueError, InvalidOperation):  # also text of more digits than Python converts
        return None


def _integer(value: Any) -> int | None:
    """Read an integer within 64 bits, also one that is written 1.0."""
    if not _is_number(value):
        return None
    try:
        exact = Decimal(value.strip() if isinstance(value, str) else value)
        if not -(2**63) <= exact < 2**63 or exact != exact.to_integral_value():
            return None
        return int(exact)
    except (ValueError, InvalidOperation):  # NaN is neither
        return None


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _date(value: Any) -> datetime | None:
    if isinstance(value, str):
        # Python silently drops what follows the microseconds.
        if _BELOW_MICROSECONDS.search(value):
            return None
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or getattr(value, "nanosecond", False):
        return None
    try:
        plain = datetime.combine(value.date(), value.timetz())  # pandas' kind of datetime has a mind of its own
        return plain.astimezone(UTC).replace(tzinfo=None) if plain.tzinfo else plain
    except (OverflowError, ValueError):  # within a day of the first or last date
        return None


_READERS: dict[ColumnType, Callable[[Any], Any]] = {
    ColumnType.TEXT: _text,
    ColumnType.INTEGER: _integer,
    ColumnType.NUMBER: _number,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.DATE: _date,
}


def split_at_commas(text: str) -> list[str]:
    """Split text at commas outside parentheses and quotes.

    Examples
    --------
    >>> split_at_commas("a, n = COALESCE(b, 'x,y')")
    ['a', " n = COALESCE(b, 'x,y')"]
    """
    parts, quote, depth = [""], "", 0
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        else:
            depth = max(depth + (mark == "(") - (mark == ")"), 0)
        if mark == "," and not quote and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    return parts
