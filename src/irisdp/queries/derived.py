"""--by with named expressions: `ward, band = CASE WHEN age < 18 THEN 'child' ELSE 'adult' END, year = YEAR(visited)`.

A named expression is a column that the question computes, record by record, of those the table holds. Its kind follows
from the expression and the schema alone. It is total: a value that cannot be computed is null, and a null is in no
group. The choice of a person's record does not depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..cells import ANSWER_COLUMNS
from ..errors import BadInput
from .bins import read_bins
from .columns import Column, is_unknown_column
from .expression import read_value_of_record
from .table import Table

__all__ = ["read_by"]

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
        `grammar.py`, or ``BINS(age, 0, 18, 65)``. Text is split at commas outside parentheses and quotes.

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
    >>> from irisdp.queries import open_table
    >>> table = open_table(pyarrow.table({"age": [70], "town": ["a"]}))
    >>> found, names = read_by(table, "town, decade = FLOOR(age / 10)")
    >>> names, found.column("decade", "by").kind
    (['town', 'decade'], <Kind.INTEGER: 'a whole number'>)
    """
    parts = _split(table, by) if isinstance(by, str) else by
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        return table, by  # said in words by `find_keys`
    names = []
    for part in parts:
        found = None if _is_column(table, part) else _NAMED.fullmatch(part)
        if found is None:
            _refuse_unnamed(table, part)
            names.append(_column_in_quotes(table, part))
            continue
        name = _unquoted(found["name"])
        _check_name(table, name)
        table = table.deriving([_derived(table, name, found["expression"])])
        names.append(name)
    return table, names


def _split(table: Table, by: str) -> list[str]:
    """Split at commas; where not all of what is between them are columns, at those outside parentheses and quotes."""
    parts = [part.strip() for part in by.split(",")]
    if all(_is_column(table, part) for part in parts):
        return parts
    parts, quote, depth = [""], "", 0
    for mark in by:
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
    return [part.strip() for part in parts]


def _column_in_quotes(table: Table, part: str) -> str:
    """Return the column that is named in double quotes, as SQL has it; anything else as it is."""
    plain = _unquoted(part)
    return plain if part.endswith('"') and not _is_column(table, part) and _is_column(table, plain) else part


def _is_column(table: Table, name: str) -> bool:
    return name.casefold() in {column.name.casefold() for column in table.columns}


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _refuse_unnamed(table: Table, part: str) -> None:
    """Say of an expression that it needs a name; what names a column, or nothing, is for `find_keys`."""
    if not _is_column(table, _column_in_quotes(table, part)) and not _MARKS.isdisjoint(part):
        rule = f"holds {part[:60]!r}, which is neither a column nor a named expression"
        raise BadInput("by", rule, "write a name before it, as in 'year = YEAR(born)'")


def _check_name(table: Table, name: str) -> None:
    if _is_column(table, name):
        raise BadInput("by", f"gives an expression the name of the column {name!r}", "give it a name of its own")
    if name.casefold() in {column.name.casefold() for column in table.derived}:
        raise BadInput("by", f"names two expressions {name!r} (case does not count)", "give each a name of its own")
    if name.casefold() in ANSWER_COLUMNS:
        rule = f"names an expression {name.casefold()!r}, as the answers' own column is called"
        raise BadInput("by", rule, "name it otherwise")
    if not name.isprintable() or not name.strip():
        raise BadInput("by", "has a name that is not plain text on one line", "write for example 'year = YEAR(born)'")


def _derived(table: Table, name: str, expression: str) -> Column:
    bins = _BINS.fullmatch(expression)
    try:
        if bins is not None:
            edges = [_edge(part) for part in bins["edges"].split(",")]
            return read_bins(table, _unquoted(bins["column"]), edges, name=name).column
        kind, derivation = read_value_of_record(expression, table.columns)
    except BadInput as error:
        rule = error.rule if is_unknown_column(error) else error.rule.replace("a condition", "an expression")
        raise BadInput("by", f"{name!r} {rule}", error.remedy) from None
    return Column(name, kind, derivation)


def _edge(part: str) -> str:
    """Return an edge without the quotes in which SQL writes a date."""
    quoted = _EDGE.fullmatch(part)
    return part.strip() if quoted is None else quoted["quoted"]
