"""--person "visits = COUNT(*), spent = SUM(amount)": one row for each person, derived from all of their records.

The rows stand in for the records: every query then counts persons, and adding or removing one person, with all of their
records, adds or removes one row. A row depends on the records of its person alone, and computing it never fails.

Sums are exact, so that they do not depend on the order in which an engine adds: each value is a whole number, or a
number of millionths, as long as it fits into 53 bits (proofs/persons.md).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadInput
from .columns import Column, ColumnType, Derivation, Note, find_column, is_unknown_column, split_at_commas
from .engine import over, quote_name

_LARGEST = (1 << 53) - 1
"""The largest sum, in whole numbers or in millionths: doubles tell it from its neighbours."""
_MILLIONTHS = 1_000_000
_MOST_COLUMNS = 100
_NAMED = re.compile(r'\s*(?P<name>"(?:[^"]|"")+"|[^\W\d]\w*)\s*=\s*(?P<call>.*)', re.DOTALL)
_CALL = re.compile(r"(?P<function>[^\W\d]\w*)\s*\(", re.DOTALL)
_DISTINCT = re.compile(r"\s*DISTINCT\b(?P<value>.*)", re.DOTALL | re.IGNORECASE)
_FILTER = re.compile(r"\s*FILTER\s*\(\s*WHERE\b(?P<condition>.*)\)\s*", re.DOTALL | re.IGNORECASE)
_EXAMPLE = 'write for example person="visits = COUNT(*), spent = SUM(amount)"'


@dataclass(frozen=True, slots=True)
class PersonRows:
    """How a row is derived for each person; public.

    Attributes
    ----------
    unit : Column
        The column that identifies a person; a record without a value belongs to nobody.
    columns : tuple of Column
        The columns of a row.
    """

    unit: Column
    columns: tuple[Column, ...]
    _aggregates: tuple[str, ...] = field(repr=False)
    _values: tuple[str, ...] = field(repr=False)

    @property
    def sources(self) -> tuple[Column, ...]:
        """The columns of the table that the rows are derived from."""
        return (self.unit, *(source for column in self.columns for source in column.sources))

    def over(self, statement: str, data: str = "data") -> str:
        """Return a statement over `data` as one over the rows of `data`, or of a relation that is called so."""
        aggregates = ", ".join(f"{value} AS a{index}" for index, value in enumerate(self._aggregates))
        person = self.unit.reference.sql("duckdb")
        gathered = f"SELECT {person} AS person, {aggregates} FROM {data} WHERE NOT {person} IS NULL GROUP BY {person}"
        named = zip(self._values, self.columns, strict=True)
        listed = ", ".join(f"{value} AS {quote_name(column.name)}" for value, column in named)
        return over(f"WITH data AS (SELECT {listed} FROM ({gathered}) AS gathered)", statement)


def read_person_rows(text: Any, unit: Column, columns: Sequence[Column]) -> PersonRows:
    """Read ``NAME = AGGREGATE, …`` over a table's columns; no record is read.

    Parameters
    ----------
    text : str
        Each aggregate is COUNT(*), COUNT(value), COUNT(DISTINCT value), COUNT_IF(condition), SUM, AVG, MIN or MAX of a
        value, BOOL_OR or BOOL_AND of a condition; each may be followed by FILTER (WHERE condition).
    unit : Column
        The column that identifies a person.
    columns : sequence of Column
        Those of the table.

    Raises
    ------
    BadInput
        For anything else.

    Examples
    --------
    >>> found = [Column("id", ColumnType.TEXT), Column("paid", ColumnType.INTEGER)]
    >>> rows = read_person_rows("visits = COUNT(*), spent = sum(paid)", found[0], found)
    >>> [(column.name, str(column.kind), column.derivation.text) for column in rows.columns]
    [('visits', 'a whole number', 'COUNT(*)'), ('spent', 'a whole number', 'SUM(paid)')]
    """
    parts = split_at_commas(text) if isinstance(text, str) and text.strip() else []
    if not parts or len(parts) > _MOST_COLUMNS:
        rule = f"must list 1 to {_MOST_COLUMNS} named aggregates of a person's records"
        raise BadInput("person", rule, _EXAMPLE)
    aggregates: list[str] = []
    values: list[str] = []
    made: list[Column] = []
    for part in parts:
        match = _NAMED.fullmatch(part)
        if match is None:
            raise BadInput("person", f"holds {part.strip()[:60]!r}, which has no name", _EXAMPLE)
        name = match["name"][1:-1].replace('""', '"') if match["name"].startswith('"') else match["name"]
        if name.casefold() in {column.name.casefold() for column in made}:
            raise BadInput("person", f"names two columns {name!r} (case does not count)", "rename one of them")
        if name.casefold() in {column.name.casefold() for column in columns}:
            rule = f"gives an aggregate the name of the column {name!r}"
            raise BadInput("person", rule, f"give it a name of its own, such as {name}_per_person")
        if not name.isprintable() or not name.strip():
            raise BadInput("person", "has a name that is not plain text on one line", _EXAMPLE)
        try:
            found = _read_aggregate(match["call"].strip(), columns)
        except BadInput as error:
            if error.field == "person":
                raise
            rule = error.rule if is_unknown_column(error) else error.rule.replace("a condition", "an aggregate")
            raise BadInput("person", f"{name!r} {rule}", error.remedy) from None
        aggregates.append(found.aggregate)
        values.append(found.value.replace("{}", f"gathered.a{len(values)}"))
        made.append(Column(name, found.kind, found.derivation))
    return PersonRows(unit, tuple(made), tuple(aggregates), tuple(values))


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """An aggregate in SQL, and what the row holds of it: ``{}`` stands for the aggregate."""

    aggregate: str
    value: str
    kind: ColumnType
    derivation: Derivation


@dataclass(frozen=True, slots=True)
class _Argument:
    """What an aggregate is of: its SQL, the kind of its values, and where they come from."""

    sql: str
    kind: ColumnType
    read: Derivation


def _read_aggregate(call: str, columns: Sequence[Column]) -> _Aggregate:
    opened = _CALL.match(call)
    end = None if opened is None else _closing(call, opened.end())
    if opened is None or end is None:
        raise BadInput("person", f"holds {call[:60]!r}, which is no aggregate", f"choose from {_listed()}")
    name, inner, rest = opened["function"].upper(), call[opened.end() : end].strip(), call[end + 1 :]
    filtered = _FILTER.fullmatch(rest)
    if rest.strip() and filtered is None:
        rule = f"has {rest.strip()[:40]!r} after an aggregate"
        raise BadInput("person", rule, "leave it out, or write FILTER (WHERE …); combine aggregates in the query")
    distinct = _DISTINCT.fullmatch(inner)
    if distinct is not None and name == "COUNT":
        name, inner = "COUNT DISTINCT", distinct["value"].strip()
    if name == "COUNT" and inner == "*":
        name = "COUNT *"
    if name not in _AGGREGATES:
        raise BadInput("person", f"holds the function {opened['function']}", f"choose from {_listed()}")
    aggregate = _AGGREGATES[name]
    argument = aggregate.read(inner, columns, name)
    condition = None if filtered is None else _condition(filtered["condition"].strip(), columns)
    read = [*([argument.read] if argument else []), *([condition.read] if condition else [])]
    where = "" if condition is None else f" FILTER (WHERE {condition.read.text})"
    text = aggregate.spelt.format(argument.read.text if argument else "") + where
    shown = aggregate.spelt.format(argument.read.shown if argument else "")
    shown += "" if condition is None else f" FILTER (WHERE {condition.read.shown})"
    value = argument.sql if argument else "TRUE"
    if condition is not None:
        value = f"CASE WHEN {condition.sql} THEN {value} END"
    kind = argument.kind if argument else ColumnType.INTEGER
    sql, made, result = aggregate.write(value, kind)
    return _Aggregate(sql, made, result, _derivation(text, shown, read, aggregate.notes(kind, argument)))


def _derivation(text: str, shown: str, read: Sequence[Derivation], notes: tuple[Note, ...]) -> Derivation:
    return Derivation(
        text,
        shown,
        tuple(dict.fromkeys(column for each in read for column in each.columns)),
        None,
        (*notes, *(note for each in read for note in each.notes)),
        tuple(dict.fromkeys(reading for each in read for reading in each.readings)),
        tuple(dict.fromkeys(each_text for each in read for each_text in each.texts)),
    )


def _closing(text: str, start: int) -> int | None:
    """Return where the parenthesis that was opened before `start` closes."""
    quote, depth = "", 1
    for place in range(start, len(text)):
        mark = text[place]
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        else:
            depth += (mark == "(") - (mark == ")")
            if depth == 0:
                return place
    return None


def _no_argument(inner: str, columns: Sequence[Column], name: str) -> None:
    pass


def _condition(inner: str, columns: Sequence[Column], name: str = "") -> _Argument:
    from .expressions import read_condition

    found = read_condition(inner, columns)
    read = Derivation(found.text, found.shown, found.columns, None, found.notes, found.readings, found.texts)
    return _Argument(found.sql("duckdb"), ColumnType.BOOLEAN, read)


def _value(inner: str, columns: Sequence[Column], name: str) -> _Argument:
    from .expressions import read_value_of_record

    if name in ("MIN", "MAX"):
        _refuse_untyped(inner, columns, name)
    kind, read = read_value_of_record(inner, columns, fractions=True)
    return _Argument(_sql(read), kind, read)


def _number(inner: str, columns: Sequence[Column], name: str) -> _Argument:
    from .expressions import read_value_of_record

    kind, read = read_value_of_record(inner, columns, fractions=True, number=True)
    return _Argument(_sql(read), kind, read)


def _sql(read: Derivation) -> str:
    assert read.tree is not None, "the value of a record is an expression"
    return read.tree.sql("duckdb")


def _refuse_untyped(inner: str, columns: Sequence[Column], name: str) -> None:
    """Refuse the least or largest value of a column of which nothing says what it holds: 9 is above 10 as text."""
    plain = inner[1:-1].replace('""', '"') if inner.startswith('"') else inner
    try:
        column = find_column(plain, columns, "person")
    except BadInput:
        return
    if column.kind is ColumnType.UNTYPED:
        rule = f"takes the {name} of {column.name}, and nothing says whether that holds numbers, dates or text"
        remedy = f"write {name}(CAST({column.name} AS DATE)), AS DOUBLE or AS TEXT, or declare its type with types="
        raise BadInput("person", rule, remedy)


_Written = tuple[str, str, ColumnType]


def _count(value: str, kind: ColumnType) -> _Written:
    return f"COUNT({value})", "CAST({} AS BIGINT)", ColumnType.INTEGER


def _count_distinct(value: str, kind: ColumnType) -> _Written:
    value = f"({value}) + CAST('0' AS DOUBLE)" if kind is ColumnType.NUMBER else value  # there is one zero
    return f"COUNT(DISTINCT {value})", "CAST({} AS BIGINT)", ColumnType.INTEGER


def _count_if(value: str, kind: ColumnType) -> _Written:
    return f"COUNT(CASE WHEN {value} THEN TRUE END)", "CAST({} AS BIGINT)", ColumnType.INTEGER


def _any(value: str, kind: ColumnType) -> _Written:
    return f"BOOL_OR({value})", "{}", ColumnType.BOOLEAN


def _all(value: str, kind: ColumnType) -> _Written:
    return f"BOOL_AND({value})", "{}", ColumnType.BOOLEAN


def _least(value: str, kind: ColumnType) -> _Written:
    value = f"({value}) + CAST('0' AS DOUBLE)" if kind is ColumnType.NUMBER else value
    return f"MIN({value})", "{}", kind


def _most(value: str, kind: ColumnType) -> _Written:
    value = f"({value}) + CAST('0' AS DOUBLE)" if kind is ColumnType.NUMBER else value
    return f"MAX({value})", "{}", kind


def _exact_sum(value: str, kind: ColumnType) -> str:
    """Write a sum that no order of adding changes, in whole numbers or in millionths."""
    if kind is ColumnType.INTEGER:
        return f"SUM(CAST({value} AS DECIMAL(19, 0)))"
    largest = f"CAST('{_LARGEST / _MILLIONTHS!r}' AS DOUBLE)"
    infinite = f"CAST('{sys.float_info.max!r}' AS DOUBLE)"
    scaled = f"({value}) * CAST('{_MILLIONTHS}' AS DOUBLE)"
    clamped = (
        f"CASE WHEN ABS({value}) <= {infinite} THEN CASE WHEN {value} >= {largest} THEN {_LARGEST} "
        f"WHEN {value} <= -{largest} THEN -{_LARGEST} "
        f"ELSE CAST(FLOOR({scaled} + CAST('0.5' AS DOUBLE)) AS BIGINT) END END"
    )
    return f"SUM(CAST({clamped} AS DECIMAL(19, 0)))"


def _clamped(name: str) -> str:
    return f"CASE WHEN {name} > {_LARGEST} THEN {_LARGEST} WHEN {name} < -{_LARGEST} THEN -{_LARGEST} ELSE {name} END"


def _sum(value: str, kind: ColumnType) -> _Written:
    whole = f"CAST({_clamped('{}')} AS BIGINT)"
    if kind is ColumnType.INTEGER:
        return _exact_sum(value, kind), whole, ColumnType.INTEGER
    return _exact_sum(value, kind), f"CAST({whole} AS DOUBLE) / CAST('{_MILLIONTHS}' AS DOUBLE)", ColumnType.NUMBER


def _average(value: str, kind: ColumnType) -> _Written:
    """Write a mean as a quotient of two whole numbers, in one aggregate: a sum in steps, and how many there are."""
    total, scale = _exact_sum(value, kind), 1 if kind is ColumnType.INTEGER else _MILLIONTHS
    count = f"COUNT({total[4:-1]})"
    quotient = f"CAST({_clamped(total)} AS DOUBLE) / CAST(NULLIF({count}, 0) AS DOUBLE) / CAST('{scale}' AS DOUBLE)"
    return quotient, "{}", ColumnType.NUMBER


def _without_notes(kind: ColumnType, argument: _Argument | None) -> tuple[Note, ...]:
    return ()


def _notes_on_sums(kind: ColumnType, argument: _Argument | None) -> tuple[Note, ...]:
    if kind is ColumnType.INTEGER or argument is None:
        return ()
    fact = f"values of {argument.read.shown} are rounded to millionths before they are added up for a person"
    return (Note(fact, "declare the type integer if they are whole numbers"),)


@dataclass(frozen=True, slots=True)
class _Function:
    """An aggregate: how it is spelt, how its argument is read and what it is written as."""

    spelt: str
    read: Callable[[str, Sequence[Column], str], _Argument | None]
    write: Callable[[str, ColumnType], _Written]
    notes: Callable[[ColumnType, _Argument | None], tuple[Note, ...]] = _without_notes


_AGGREGATES = {
    "COUNT *": _Function("COUNT(*)", _no_argument, _count),
    "COUNT": _Function("COUNT({})", _value, _count),
    "COUNT DISTINCT": _Function("COUNT(DISTINCT {})", _value, _count_distinct),
    "COUNT_IF": _Function("COUNT_IF({})", _condition, _count_if),
    "SUM": _Function("SUM({})", _number, _sum, _notes_on_sums),
    "AVG": _Function("AVG({})", _number, _average, _notes_on_sums),
    "MIN": _Function("MIN({})", _value, _least),
    "MAX": _Function("MAX({})", _value, _most),
    "BOOL_OR": _Function("BOOL_OR({})", _condition, _any),
    "BOOL_AND": _Function("BOOL_AND({})", _condition, _all),
}


def _listed() -> str:
    *others, last = (function.spelt.format("…") for function in _AGGREGATES.values())
    return f"{', '.join(others)} and {last}"
