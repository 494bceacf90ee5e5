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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .._aliases import did_you_mean, own_names
from .._exact import read_json
from ..errors import BadInput
from .columns import SQL_TYPES, Column, ColumnType, Derivation, find_column, read_as, read_value, try_cast
from .engine import quote_name
from .spellings import (
    FIRST_OF_1900,
    MONTHS,
    OF_COLUMN,
    PLAIN,
    Spelling,
    date_pattern,
    number_codes,
    number_pattern,
    plain_number,
    read_spelling,
    removed_marks,
    spelt_date,
)

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


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of a column of text; public.

    Attributes
    ----------
    type : str or None
        The name of its type; None where each question decides what the column is read as.
    spelling : Spelling
        How its values are written.
    """

    type: str | None = None
    spelling: Spelling = PLAIN

    def document(self, kinds: Collection[ColumnType], *, codes: bool = True) -> Any:
        """Return what of it matters where the column is read as some kinds: JSON-ready, and a type alone as its name.

        Parameters
        ----------
        kinds : collection of ColumnType
            What a question reads a column without a type as.
        codes : bool
            Whether codes for missing values matter.
        """
        read = {TYPES[self.type]} if self.type else set(kinds)
        facts: dict[str, Any] = {} if self.type is None else {"type": self.type}
        if read & _NUMBERS:
            facts |= self.spelling.numbers
        if ColumnType.DATE in read and self.spelling.date_format:
            facts["format"] = self.spelling.date_format
        if codes and self.spelling.missing:
            whole = {"integer": True, "number": False}.get(self.type or "")
            listed = self.spelling.missing if whole is None else number_codes(self.spelling, whole=whole)
            facts |= {"missing": [str(code) for code in listed]} if listed else {}
        return self.type if set(facts) == {"type"} else facts

    def describe(self, kind: ColumnType) -> str:
        """Say in words how the column is written, where it is read as a kind; empty where nothing is declared."""
        read = TYPES[self.type] if self.type else kind
        return self.spelling.describe(number=read in _NUMBERS, date=read is ColumnType.DATE)


_NUMBERS = frozenset((ColumnType.NUMBER, ColumnType.INTEGER))


def read_types(
    types: Any, columns: Sequence[Column], usual: Spelling = PLAIN, *, held: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Declared]:
    """Read declared types: a JSON file, or a mapping from column to type, or to type and spelling.

    Parameters
    ----------
    types : path or mapping
    columns : sequence of Column
        As the table holds them.
    usual : Spelling
        What is declared of all columns.
    held : mapping
        Types that a database declares of its columns; who says otherwise knows better.

    Returns
    -------
    dict
        From the names of columns, as the table has them, to what is declared of them.

    Raises
    ------
    BadInput
        For anything else, columns that the table does not have, a column named twice, and types that there are not.
    """
    result: dict[str, Declared] = {}
    for name, kind in load_types(types).items():
        column = find_column(name, columns, "types")
        if column.kind is not ColumnType.UNTYPED:
            raise BadInput("types", f"gives {column.name} a type, which its file does already", "leave it out")
        if column.name in result:
            raise BadInput("types", f"declares {column.name} twice (case does not count)", "declare each column once")
        said = _declared(column, kind, usual)
        result[column.name] = replace(said, type=said.type or held.get(column.name))
    result = {**{name: Declared(kind, usual) for name, kind in held.items()}, **result}
    if usual != PLAIN:
        untyped = [column.name for column in columns if column.kind is ColumnType.UNTYPED]
        result |= {name: Declared(None, usual) for name in untyped if name not in result}
    return result


def _declared(column: Column, said: Any, usual: Spelling) -> Declared:
    if not isinstance(said, Mapping):
        return Declared(_type(column, said), usual)
    try:
        said = own_names(said, {"date_format": "format", "missing_codes": "missing"})
    except BadInput as error:
        raise BadInput("types", f"gives {column.name} {error.field}, which {error.rule}", error.remedy) from None
    other = next((key for key in said if key not in OF_COLUMN), None)
    if other is not None:
        guess = did_you_mean(str(other), OF_COLUMN)
        remedy = f"{guess} choose from {', '.join(OF_COLUMN)}".lstrip()
        raise BadInput("types", f"gives {column.name} the unknown key {str(other)[:40]!r}", remedy)
    kind = _type(column, said["type"]) if said.get("type") is not None else None
    read = None if kind is None else TYPES[kind]
    for keys, kinds, needed in (
        (("decimal", "thousands"), _NUMBERS, "number"),
        (("format",), {ColumnType.DATE}, "date"),
    ):
        key = next((key for key in keys if said.get(key) is not None), None)
        if key is not None and read is not None and read not in kinds:
            raise BadInput("types", f"gives {column.name} a {key}, and the type {kind}", f"declare the type {needed}")
    return Declared(kind, read_spelling(said, usual, column=column.name))


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


def typed(columns: Sequence[Column], types: Mapping[str, Declared]) -> tuple[Column, ...]:
    """Return columns of text as columns of what is declared of some of them."""
    return tuple(_typed(column, types[column.name]) if column.name in types else column for column in columns)


def _typed(column: Column, declared: Declared) -> Column:
    kind, spelling = declared.type, declared.spelling
    if kind is None:
        tree = _without_codes(column.reference, spelling)
        return replace(column, derivation=Derivation("", "", (column,), tree), spelling=spelling)
    tree = _spelt(column.reference, kind, spelling)
    return Column(column.name, TYPES[kind], Derivation(kind, "", (column,), tree), spelling=spelling)


def is_spelt(column: Column, kind: ColumnType) -> bool:
    """Tell whether it is declared how text without a type writes values of a kind, or which of them are missing."""
    declared: Any = column.spelling.date_format
    if kind in _NUMBERS:
        declared = column.spelling.numbers or number_codes(column.spelling, whole=False)
    return column.kind is ColumnType.UNTYPED and kind in (*_NUMBERS, ColumnType.DATE) and bool(declared)


def read_column(column: Column, kind: ColumnType) -> exp.Expr:
    """Return SQL that reads a column as a kind: by the spelling that is declared of it, if it is of text."""
    from .sql_types import as_instant

    text = column.reference
    if is_spelt(column, kind):
        spelling = column.spelling
        if kind not in _NUMBERS:
            return _formatted(text, spelling.date_format)
        read = read_as(_plain(text, spelling) if spelling.numbers else text, kind)
        return _without_numbers(read, spelling, whole=kind is ColumnType.INTEGER)
    dated = column.kind is ColumnType.UNTYPED and kind is ColumnType.DATE
    return as_instant(text) if dated else read_as(text, kind)


def written_as(column: Column, kind: ColumnType) -> str:
    """Write how a column is read as a kind; what the table holds, as `read_as` does, which would load a parser."""
    if column.derivation is not None:
        # A key without a type has the kind that the question reads it as; the table's column says how it is written.
        tree = read_column(column, kind) if is_spelt(column, kind) else read_as(column.reference, kind)
        return tree.sql("duckdb")
    read = f"TRY_CAST(data.{quote_name(column.name)} AS {_WRITTEN_TYPES.get(kind, SQL_TYPES[kind])})"
    return f"NULLIF({read}, CAST('NaN' AS DOUBLE))" if kind is ColumnType.NUMBER else read


_WRITTEN_TYPES = {ColumnType.TEXT: "TEXT"}
"""How sqlglot spells a type for DuckDB, if it differs from the type's name."""


def read_declared_value(value: Any, column: Column, kind: ColumnType) -> Any:
    """Return a declared group or category as a kind, as a record of that text is read; None if it cannot be read.

    Raises
    ------
    ValueError
        For a value that is declared to be missing.
    """
    spelling = column.spelling
    if isinstance(value, str) and kind in _NUMBERS and spelling.numbers:
        plain = plain_number(value, spelling, whole=kind is ColumnType.INTEGER)
        read = None if plain is None else read_value(plain, kind)
    elif isinstance(value, str) and kind is ColumnType.DATE and spelling.date_format:
        read = spelt_date(value, spelling.date_format)
    else:
        read = read_value(value, kind)
    missing: Collection[Any] = spelling.missing
    if kind in _NUMBERS:
        missing = number_codes(spelling, whole=kind is ColumnType.INTEGER)
    if (read if kind in _NUMBERS else value) in missing:
        raise ValueError("missing")
    return read


def _spelt(text: exp.Expr, kind: str, spelling: Spelling) -> exp.Expr:
    """Return SQL that reads text as a type, as it is declared to be written."""
    if kind not in ("number", "integer"):
        text = _without_codes(text, spelling)
        return _reading(text, kind, spelling.date_format) if spelling.date_format else _reading(text, kind)
    whole = kind == "integer"
    read = read_as(_plain(text, spelling, whole=whole), TYPES[kind]) if spelling.numbers else _reading(text, kind)
    return _without_numbers(read, spelling, whole=whole)


def _without_numbers(read: exp.Expr, spelling: Spelling, *, whole: bool) -> exp.Expr:
    """Return SQL for a number that is null where it equals a code for missing values: 99 is also 99.0."""
    from sqlglot import exp

    for code in number_codes(spelling, whole=whole):
        read = exp.Nullif(
            this=read, expression=exp.cast(exp.Literal.string(repr(code)), "BIGINT" if whole else "DOUBLE")
        )
    return read


def _without_codes(text: exp.Expr, spelling: Spelling) -> exp.Expr:
    from sqlglot import exp

    for code in spelling.missing:
        text = exp.Nullif(this=text, expression=exp.Literal.string(code))
    return text


def _plain(text: exp.Expr, spelling: Spelling, *, whole: bool = False) -> exp.Expr:
    """Return SQL for a number as engines read it; empty text where it is written in another way."""
    from sqlglot import exp

    number = _extract(text, number_pattern(spelling, whole=whole), 1)
    for mark, plain in removed_marks(spelling):
        number = exp.Anonymous(
            this="REPLACE", expressions=[number, exp.Literal.string(mark), exp.Literal.string(plain)]
        )
    return number


def _extract(text: exp.Expr, pattern: str, group: int) -> exp.Expr:
    from sqlglot import exp

    parts = [text, exp.Literal.string(pattern), exp.Literal.number(group)]
    return exp.Anonymous(this="REGEXP_EXTRACT", expressions=parts)


def _formatted(text: exp.Expr, form: str) -> exp.Expr:
    """Return SQL that reads text as an instant in a format: rewritten in ISO 8601, and null where it does not fit."""
    from sqlglot import exp

    from .sql_types import Term, TypeVariable, as_instant, on_calendar

    pattern, groups = date_pattern(form)

    def part(name: str, otherwise: str = "") -> exp.Expr:
        if name not in groups:
            return exp.Literal.string(otherwise)
        return _extract(text.copy(), pattern, groups[name])

    def two(digits: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="LPAD", expressions=[digits, exp.Literal.number(2), exp.Literal.string("0")])

    def chosen(cases: Iterable[tuple[exp.Expr, str]], otherwise: str) -> exp.Expr:
        ifs = [exp.If(this=test, true=exp.Literal.string(value)) for test, value in cases]
        return exp.Case(ifs=ifs, default=exp.Literal.string(otherwise))

    def joined(*parts: exp.Expr | str) -> exp.Expr:
        listed = [exp.Literal.string(each) if isinstance(each, str) else each for each in parts]
        return exp.Anonymous(this="CONCAT", expressions=listed)

    year = part("year")
    if "short year" in groups:
        last = exp.GTE(this=part("short year"), expression=exp.Literal.string(FIRST_OF_1900))
        year = joined(chosen([(last, "19")], "20"), part("short year"))
    month = two(part("month", "01"))
    if "name" in groups:
        begins = exp.Lower(this=exp.Anonymous(this="LEFT", expressions=[part("name"), exp.Literal.number(3)]))
        named = [exp.EQ(this=begins.copy(), expression=exp.Literal.string(name)) for name in MONTHS]
        month = chosen(((test, f"{number:02}") for number, test in enumerate(named, 1)), "")
    hour = two(part("hour", "00"))
    if "half hour" in groups:
        after = exp.EQ(this=exp.Lower(this=part("half")), expression=exp.Literal.string("pm"))
        names = [(number % 12 + noon, number, noon) for noon in (0, 12) for number in range(1, 13)]
        tests = [
            (
                exp.And(
                    this=exp.EQ(this=two(part("half hour")), expression=exp.Literal.string(f"{number:02}")),
                    expression=exp.paren(after.copy() if noon else exp.Not(this=exp.paren(after.copy()))),
                ),
                f"{value:02}",
            )
            for value, number, noon in names
        ]
        hour = chosen(tests, "")
    clock: list[exp.Expr | str] = [hour, ":", two(part("minute", "00")), ":", two(part("second", "00"))]
    fraction: list[exp.Expr | str] = [".", part("fraction")] if "fraction" in groups else []
    zone = part("zone")
    if "zone" in groups:  # +0100 and +01:00; Z is no offset
        zone = exp.Anonymous(
            this="REGEXP_REPLACE",
            expressions=[zone, exp.Literal.string("([0-9]{2})([0-9]{2})$"), exp.Literal.string(r"\1:\2")],
        )
    iso = joined(year, "-", month, "-", two(part("day", "01")), " ", *clock, *fraction, zone)
    fits = exp.Anonymous(this="REGEXP_MATCHES", expressions=[text.copy(), exp.Literal.string(pattern)])
    written = exp.Case(ifs=[exp.If(this=fits, true=iso)])
    return exp.paren(on_calendar(Term(TypeVariable(ColumnType.DATE), lambda: as_instant(written.copy()))))


def _reading(text: exp.Expr, kind: str, form: str = "") -> exp.Expr:
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
    if form:
        instant = _formatted(text, form)
    else:
        instant = exp.paren(on_calendar(Term(TypeVariable(ColumnType.DATE), lambda: as_instant(text.copy()))))
    if kind == "timestamp":
        return instant
    # A time of day makes no day: were it dropped, which of two days an instant is on would depend on its offset.
    day = read_as(try_cast(instant.copy(), exp.DataType.build("DATE", dialect="duckdb")), ColumnType.DATE)
    return exp.Case(ifs=[exp.If(this=exp.EQ(this=instant, expression=day.copy()), true=day)])
