"""Declared types of the columns of a text file: what each value is read as, whatever the question.

A text file has no types of its own (docs/decisions/text-files.md), and none is guessed. If the data owner declares one,
the column is computed from the text record by record, like a named expression of `--by`. A value that cannot be read is
null. So no record decides whether there is an answer, nor the meaning of another record's value. A number and an
instant are read as in an undeclared column that a question uses as one; a declared type holds for every
question at once.

What the file holds stays text: the digest of the table, and which record is kept of a person, know no types.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._aliases import did_you_mean
from .._exact import read_json
from ..errors import BadInput
from .columns import Column, ColumnType, Derivation, find_column, read_as, try_cast

if TYPE_CHECKING:
    from sqlglot import exp


TYPES = {
    "integer": ColumnType.INTEGER,
    "number": ColumnType.NUMBER,
    "text": ColumnType.TEXT,
    "boolean": ColumnType.BOOLEAN,
    "date": ColumnType.DATE,
    "timestamp": ColumnType.DATE,
}
"""The types that may be declared, and the kinds of such columns."""

_MEANT = {
    **dict.fromkeys(("int", "long", "bigint", "whole"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "real", "numeric"), "number"),
    **dict.fromkeys(("string", "str", "varchar", "character", "category"), "text"),
    **dict.fromkeys(("bool", "logical"), "boolean"),
    **dict.fromkeys(("datetime", "instant", "time"), "timestamp"),
}
_WHOLE = r"^\s*([+-]?[0-9]+)([.]0*)?\s*$"
"""A whole number in digits; pandas writes 1 as 1.0 beside another record's 2.5."""
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_EXAMPLE = 'write for example {"age": "integer", "born": "date"}'


def types_file(types: Any) -> Path | None:
    """Return the file that declares the types, where it is a file that does."""
    return Path(os.fsdecode(types)) if isinstance(types, str | os.PathLike) else None


def load_types(types: Any) -> Mapping[Any, Any]:
    """Return declared types as they were declared: what a mapping holds, or a JSON file; nothing of None.

    Raises
    ------
    BadInput
        For a file that cannot be read, and what is no mapping.
    """
    file = types_file(types)
    document = {} if types is None else types if file is None else read_json(file, "types")
    if not isinstance(document, Mapping):
        raise BadInput("types", "must map columns to types", _EXAMPLE)
    return document


def read_types(types: Any, columns: Sequence[Column]) -> dict[str, str]:
    """Read declared types: a JSON file, or a mapping from column to type.

    Returns
    -------
    dict
        From the names of columns, as the table has them, to the names of their types.

    Raises
    ------
    BadInput
        For anything else, columns that the table does not have, a column named twice, and types that there are not.
    """
    result: dict[str, str] = {}
    for name, kind in load_types(types).items():
        column = find_column(name, columns, "types")
        if column.kind is not ColumnType.UNTYPED:
            raise BadInput("types", f"gives {column.name} a type, which its file does already", "leave it out")
        if column.name in result:
            raise BadInput("types", f"declares {column.name} twice (case does not count)", "declare each column once")
        result[column.name] = _type(column, kind)
    return result


def _type(column: Column, kind: Any) -> str:
    if isinstance(kind, str) and kind in TYPES:
        return kind
    called = (
        f"unknown type {kind[:40]!r}"
        if isinstance(kind, str)
        else f"type as a value of {type(kind).__name__}, not as text"
    )
    word = kind.strip().casefold() if isinstance(kind, str) else ""
    guess = did_you_mean(_MEANT.get(word, word), TYPES)
    raise BadInput("types", f"gives {column.name} the {called}", f"{guess} choose from {', '.join(TYPES)}".lstrip())


def typed(columns: Sequence[Column], types: Mapping[str, str]) -> tuple[Column, ...]:
    """Return columns of text as columns of the types that are declared of some of them."""
    return tuple(_typed(column, types[column.name]) if column.name in types else column for column in columns)


def _typed(column: Column, kind: str) -> Column:
    return Column(column.name, TYPES[kind], Derivation(kind, "", (column,), _reading(column.reference, kind)))


def _reading(text: exp.Expr, kind: str) -> exp.Expr:
    """Return SQL that reads text as a type, by a rule that is total and looks at this one value."""
    from sqlglot import exp

    from .sql_types import Term, TypeVariable, as_instant, on_calendar

    if kind == "text":
        return text
    if kind == "number":
        return read_as(text, ColumnType.NUMBER)
    if kind == "integer":  # an engine's own cast would round 1.5, and read 0x10 and 1_000
        digits = exp.Anonymous(
            this="REGEXP_EXTRACT", expressions=[text, exp.Literal.string(_WHOLE), exp.Literal.number(1)]
        )
        return read_as(digits, ColumnType.INTEGER)
    if kind == "boolean":
        word = exp.Lower(this=exp.Trim(this=text))
        tests = [(_TRUE, True), (_FALSE, False)]
        return exp.Case(
            ifs=[
                exp.If(
                    this=exp.In(this=word.copy(), expressions=[exp.Literal.string(each) for each in words]),
                    true=exp.Boolean(this=truth),
                )
                for words, truth in tests
            ]
        )
    instant = exp.paren(on_calendar(Term(TypeVariable(ColumnType.DATE), lambda: as_instant(text.copy()))))
    if kind == "timestamp":
        return instant
    # A time of day makes no day: were it dropped, which of two days an instant is on would depend on its offset.
    day = read_as(try_cast(instant.copy(), exp.DataType.build("DATE", dialect="duckdb")), ColumnType.DATE)
    return exp.Case(ifs=[exp.If(this=exp.EQ(this=instant, expression=day.copy()), true=day)])
