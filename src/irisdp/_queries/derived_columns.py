"""--bins E1,E2,…: a column's values in bins between public edges, as a derived column and the names of its bins.

A bin holds its left edge and not its right one, and values outside the edges have open bins of their own. So every
value is in exactly one bin; null and NaN are in none. Numbers are compared with the edges as everywhere, as IEEE
doubles: an edge of 0.3 is the double that a record's 0.3 is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._exact import entries, rational, rational_text
from .._measurements import ANSWER_COLUMNS
from .._tables import Column, ColumnType, Derivation, Table, find_column, is_unknown_column, read_value, split_at_commas
from ..errors import BadInput
from .groups import Groups, read_groups

if TYPE_CHECKING:
    from sqlglot import exp


_MOST_EDGES = 1000
"""More would take an engine minutes a million records."""

Edge = Fraction | datetime


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a column; all of it public.

    Attributes
    ----------
    of : Column
        Whose values they are.
    column : Column
        The derived column, whose value is the name of a record's bin; null where the record has no value.
    names : tuple of str
        The bins in order, one more than edges: ``below 0``, ``0 to under 18``, …, ``65 and over``.
    edges : tuple of Fraction, or of datetime
        What lies between them, strictly increasing.
    groups : Groups
        The bins as declared groups of the derived column, for an engine to join with.
    """

    of: Column
    column: Column
    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    groups: Groups = field(repr=False, compare=False)

    def within(self, table: Table) -> Table:
        """Return the table with the derived column to be found in it."""
        return table.deriving([self.column])


def read_bins(table: Table, column: Any, bins: Any, *, name: str | None = None) -> Bins:
    """Read the edges of bins.

    Parameters
    ----------
    table : Table
        Whose column is binned; no record is read.
    column : str
        A column of numbers or dates, or an untyped one (CSV), which the edges say how to read.
    bins : text or sequence
        One edge or more, strictly increasing: ``"0,18,65"``, numbers, quotients such as ``"1/3"``, or dates.
    name : str, optional
        Name of the derived column. [default: named after its source column]

    Raises
    ------
    BadInput
        For a column of another kind, and for edges that are none, not of the column's kind, or not in order.

    Examples
    --------
    >>> from irisdp._tables import open_table
    >>> import pyarrow
    >>> read_bins(open_table(pyarrow.table({"age": [70, 3]})), "age", "18,65").names
    ('below 18', '18 to under 65', '65 and over')
    """
    binned = find_column(column, table.named, "bins")
    edges = _read_edges(binned, _listed(bins))
    names = _names(edges)
    called = _free_name(binned.name, table) if name is None else name
    derived = Column(called, ColumnType.TEXT, _derivation(binned, edges, names, table))
    groups = read_groups(table.deriving([derived]), [derived.name], list(names))
    return Bins(binned, derived, names, edges, groups)


def _listed(bins: Any) -> list[Any]:
    listed = [part.strip() for part in bins.split(",")] if isinstance(bins, str) else entries(bins)
    if not listed or (len(listed) == 1 and listed[0] == ""):
        raise BadInput("bins", "lists no edge", "write for example bins='0,18,65'")
    if len(listed) > _MOST_EDGES:
        raise BadInput("bins", f"lists more than {_MOST_EDGES} edges", "give fewer, wider bins")
    return listed


def _read_edges(column: Column, listed: list[Any]) -> tuple[Edge, ...]:
    """Read edges as the kind of the column; an untyped column is read as what the edges are."""
    dated = column.kind is ColumnType.DATE or (column.kind is ColumnType.UNTYPED and all(map(_is_date, listed)))
    if not dated and column.kind not in (ColumnType.UNTYPED, ColumnType.INTEGER, ColumnType.NUMBER):
        rule = f"are edges of numbers or dates, and {column.name} is {column.kind}"
        raise BadInput("bins", rule, "name a column of numbers or dates")
    edges: list[Edge] = [_date(edge) if dated else _number(edge) for edge in listed]
    places: list[Any] = list(edges) if dated else [_double(edge) for edge in edges]
    for (left, right), edge in zip(pairwise(places), edges[1:], strict=True):
        if not left < right:
            rule = f"must increase, as 64-bit floats tell numbers apart, and {_spelt(edge)} does not"
            raise BadInput("bins", rule, "list the edges from the least to the greatest, each once")
    return tuple(edges)


def _is_date(edge: Any) -> bool:
    """Tell a date from a number: 2024 is a number."""
    if isinstance(edge, str):
        try:
            rational(edge, "bins")
        except BadInput:
            return read_value(edge, ColumnType.DATE) is not None
        return False
    return isinstance(edge, date)


def _number(edge: Any) -> Fraction:
    """Read one edge as an exact number; dates stand among dates only."""
    try:
        return rational(edge, "bins")
    except BadInput:
        rule = f"has {str(edge)[:40]!r}, and edges are all numbers or all dates"
        raise BadInput("bins", rule, "write for example 0,18,65 or 2020-01-01,2021-07-01") from None


def _date(edge: Any) -> datetime:
    value = read_value(edge, ColumnType.DATE)
    if not isinstance(value, datetime):
        remedy = "write dates as '2024-12-31', '2024-12-31 23:59:59' or '2024-12-31T23:59:59+01:00'"
        raise BadInput("bins", "has an edge that is no date, for a column of dates", remedy)
    return value


def _double(edge: Any) -> float:
    try:
        return float(edge)
    except OverflowError:
        raise BadInput("bins", "has an edge beyond 1.8e308", "leave it out: the last bins are open") from None


def _spelt(edge: Edge) -> str:
    """Write an edge in its one spelling; a day without its midnight."""
    return rational_text(edge) if isinstance(edge, Fraction) else str(edge).removesuffix(" 00:00:00")


def _names(edges: Sequence[Edge]) -> tuple[str, ...]:
    spelt = [_spelt(edge) for edge in edges]
    below, under, over = ("before", "before", "or later") if isinstance(edges[0], datetime) else _NUMBERS
    inner = [f"{left} to {under} {right}" for left, right in pairwise(spelt)]
    return (f"{below} {spelt[0]}", *inner, f"{spelt[-1]} {over}")


_NUMBERS = ("below", "under", "and over")


def _free_name(name: str, table: Table) -> str:
    """Name the derived column after the one it is of, apart from all others: which there are is public."""
    taken = {column.name.casefold() for column in (*table.of_records, *table.named)}
    derived = f"{name}_bin"
    while derived.casefold() in taken:
        derived += "_"
    return derived


def _derivation(column: Column, edges: Sequence[Edge], names: Sequence[str], table: Table) -> Derivation:
    """Write the bins as an expression of the grammar, which makes it total, and say in short what it is.

    Bins of a named expression hold the whole expression, for two questions may give one name to two expressions.
    """
    from sqlglot import exp

    from .._tables import ConditionCompiler, spell

    value = exp.column(exp.to_identifier(column.name, quoted=True))

    def between(first: int, last: int) -> exp.Expr:
        """Ask which of the bins from `first` to `last` a value is in: the middle edge first, as there may be many."""
        if first == last:
            return exp.Literal.string(names[first])
        middle = (first + last) // 2
        test = exp.LT(this=value.copy(), expression=_literal(edges[middle]))
        return exp.Case(ifs=[exp.If(this=test, true=between(first, middle))], default=between(middle + 1, last))

    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    compiler = ConditionCompiler(table.named)
    tree, _ = compiler.value(exp.Case(ifs=[exp.If(this=known, true=between(0, len(edges)))]))
    written = [f"'{_spelt(edge)}'" if isinstance(edge, datetime) else _spelt(edge) for edge in edges]
    of = column.derivation if column in table.derived else None
    if of is None:
        text = f"BINS({', '.join([spell(value, table.row_columns), *written])})"
        return Derivation(text, text, (column,), tree, readings=compiler.readings)
    text, shown = (f"BINS({', '.join([part, *written])})" for part in (of.text, of.shown))
    return Derivation(text, shown, of.columns, tree, of.notes, of.readings, of.texts)


def _literal(edge: Edge) -> exp.Expr:
    """Write an edge as a condition would."""
    from sqlglot import exp

    if isinstance(edge, datetime):
        return exp.cast(exp.Literal.string(str(edge)), "TIMESTAMP")
    number = exp.Literal.number(repr(abs(float(edge))))
    return exp.Neg(this=number) if edge < 0 else number


# --by with named expressions: `ward, band = CASE WHEN age < 18 THEN 'child' ELSE 'adult' END, year = YEAR(visited)`.
#
# A named expression is a column that the question computes, record by record, from those of the table. Its kind follows
# from the expression and the schema alone. It is total: a value that cannot be computed is null, and a null is in no
# group. Which record of a person is kept does not depend on it.

_NAMED = re.compile(r'\s*(?P<name>"(?:[^"]|"")+"|[^\W\d]\w*)\s*=(?P<expression>.*)', re.DOTALL)
_BINS = re.compile(r'\s*BINS\s*\(\s*(?P<column>"(?:[^"]|"")+"|[^,]*?)\s*,(?P<edges>.*)\)\s*', re.DOTALL | re.IGNORECASE)
_EDGE = re.compile(r"\s*(?:DATE|TIMESTAMP)?\s*'(?P<quoted>[^']*)'\s*", re.IGNORECASE)
_MARKS = frozenset("=<>()+*/'")


def read_by(table: Table, by: Any) -> tuple[Table, Any]:
    """Read group columns, some of which may be named expressions.

    Parameters
    ----------
    table : Table
        What is grouped.
    by : text or sequence of text
        Each a column, or a name, ``=`` and an expression over the table's columns: a value of the grammar of
        `_tables/sql_compiler.py`, or ``BINS(age, 0, 18, 65)``. Text is split at commas outside parentheses and quotes.

    Returns
    -------
    tuple of (Table, names)
        The table with the derived columns to be found in it, and the names of all group columns, for `find_keys`.

    Raises
    ------
    BadInput
        For an expression that is no value, and a name that a column has, or another expression, or the answers' column.

    Examples
    --------
    >>> import pyarrow
    >>> from irisdp._tables import open_table
    >>> table = open_table(pyarrow.table({"age": [70], "town": ["a"]}))
    >>> found, names = read_by(table, "town, decade = FLOOR(age / 10)")
    >>> names, found.column("decade", "by").kind
    (['town', 'decade'], <ColumnType.INTEGER: 'a whole number'>)
    """
    parts = _split(table, by) if isinstance(by, str) else by
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        return table, by  # said in words by `find_keys`
    names = []
    for part in parts:
        if _is_column(table, part) or not is_named_expression(part):
            _refuse_unnamed(table, part)
            names.append(_column_in_quotes(table, part))
            continue
        table, name = _named(table, part, "by")
        names.append(name)
    return table, names


def is_named_expression(text: str) -> bool:
    """Tell whether a text is a name, ``=`` and an expression; a column of a table may still be called so."""
    return _NAMED.fullmatch(text) is not None


def read_about(table: Table, about: str) -> tuple[Table, str]:
    """Read what a question is about: a column, or a named expression over the table's columns.

    Parameters
    ----------
    table : Table
        No record of it is read.
    about : str
        A column, or for instance ``pay = hours * rate``. Unlike a group, its value may be any number.

    Returns
    -------
    tuple of (Table, str)
        The table with the derived column to be found in it, and the column's name.

    Raises
    ------
    BadInput
        As `read_by`.

    Examples
    --------
    >>> import pyarrow
    >>> from irisdp._tables import open_table
    >>> table = open_table(pyarrow.table({"hours": [7.5], "rate": [20]}))
    >>> found, name = read_about(table, "pay = hours * rate")
    >>> name, found.column("pay", "query").kind
    ('pay', <ColumnType.NUMBER: 'a number'>)
    """
    if _is_column(table, about) or not is_named_expression(about):
        return table, _column_in_quotes(table, about)
    return _named(table, about, "query")


def _named(table: Table, text: str, field: str) -> tuple[Table, str]:
    match = _NAMED.fullmatch(text)
    assert match is not None, "the caller looked"
    name = _unquoted(match["name"])
    _check_name(table, name, field)
    return table.deriving([_derived(table, name, match["expression"], field)]), name


def _split(table: Table, by: str) -> list[str]:
    """Split at commas; where not all of what is between them are columns, at those outside parentheses and quotes."""
    parts = [part.strip() for part in by.split(",")]
    if all(_is_column(table, part) for part in parts):
        return parts
    return [part.strip() for part in split_at_commas(by)]


def _column_in_quotes(table: Table, part: str) -> str:
    """Return the column that is named in double quotes, as in SQL; anything else unchanged."""
    plain = _unquoted(part)
    return plain if part.endswith('"') and not _is_column(table, part) and _is_column(table, plain) else part


def _is_column(table: Table, name: str) -> bool:
    return name.casefold() in {column.name.casefold() for column in table.row_columns}


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _refuse_unnamed(table: Table, part: str) -> None:
    """Say of an expression that it needs a name; what names a column, or nothing, is for `find_keys`."""
    if not _is_column(table, _column_in_quotes(table, part)) and not _MARKS.isdisjoint(part):
        rule = f"holds {part[:60]!r}, which is neither a column nor a named expression"
        raise BadInput("by", rule, "write a name before it, as in 'year = YEAR(born)'")


def _check_name(table: Table, name: str, field: str) -> None:
    held = {column.name.casefold() for column in table.of_records}  # also where rows of persons have other columns
    if _is_column(table, name) or name.casefold() in held:
        raise BadInput(field, f"gives an expression the name of the column {name!r}", "give it a name of its own")
    if name.casefold() in {column.name.casefold() for column in table.derived}:
        raise BadInput(field, f"names two expressions {name!r} (case does not count)", "give each a name of its own")
    if name.casefold() in ANSWER_COLUMNS:
        rule = f"names an expression {name.casefold()!r}, as the answers' own column is called"
        raise BadInput(field, rule, "name it otherwise")
    if not name.isprintable() or not name.strip():
        raise BadInput(field, "has a name that is not plain text on one line", "write for example 'year = YEAR(born)'")


def _derived(table: Table, name: str, expression: str, field: str) -> Column:
    bins = _BINS.fullmatch(expression)
    try:
        if bins is not None:
            edges = [_edge(part) for part in bins["edges"].split(",")]
            return read_bins(table, _unquoted(bins["column"]), edges, name=name).column
        from .._tables import read_value_of_record  # here: it loads the parser of SQL

        kind, derivation = read_value_of_record(expression, table.row_columns, fractions=field != "by")
    except BadInput as error:
        rule = error.rule if is_unknown_column(error) else error.rule.replace("a condition", "an expression")
        raise BadInput(field, f"{name!r} {rule}", error.remedy) from None
    return Column(name, kind, derivation)


def _edge(part: str) -> str:
    """Return an edge without the quotes in which SQL writes a date."""
    quoted = _EDGE.fullmatch(part)
    return part.strip() if quoted is None else quoted["quoted"]
