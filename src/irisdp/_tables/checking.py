"""Look for faults in a table, for the data owner's eyes: what is found depends on single records, and is no release.

The records are read once. While they go to the engine, which counts values that cannot be read, their fields are
counted here, and some of their values are kept to find out what they may mean. Nothing is written anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrow_values import text_schema
from .column_types import TYPES, Declared, read_column, typed
from .columns import Column, ColumnType, names_are_public
from .compressed import opened
from .csv_records import Block, read_blocks
from .engine import locked_connection, quote_name, quote_text
from .sources import TextSource
from .spellings import PLAIN, Spelling, number_codes, plain_number, spelt_date
from .table import Table
from .text_files import records_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa


MOST_EXAMPLES = 5
_MOST_VALUES = 5_000
"""Different values of a column that are kept."""
_FIRST, _LAST = 2_000, 120
"""Records that are kept from the start and from the end."""
_GUESSED = 500
"""Values that say what a column looks like."""
_LONGEST = 80
_MOST = 0.8
"""The share of values that a column must have to look like a kind."""

DATE_FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%y"),
    *("%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M"),
    *("%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p"),
)
_ISO_DATE = re.compile(r"\s*\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}([.]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?\s*")
_SPELLINGS = tuple(
    Spelling(decimal, thousands) for decimal, thousands in ((",", ""), (",", "."), (".", ","), (",", " "), (".", "'"))
)
_CODES = frozenset(
    f"{sign}{digits}" for sign in ("", "-") for digits in ("77", "88", "97", "98", "99", "777", "888", "997", "998")
) | frozenset(("999", "-999", "9999", "-9999", "99999", "-1", "-2", "-7", "-8", "-9"))
_NO_VALUES = frozenset(
    (
        *("na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown", "not available", "no answer"),
        *("k.a.", "keine angabe", "(null)", "<na>", "\\n", "-", "--", "---", ".", "..", "?"),
    )
)
_ERRORS = frozenset(("#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#SPILL!", "#CALC!"))
_TOTAL = re.compile(
    r"\s*(grand\s+)?(totals?|sum|summe|gesamt|insgesamt|source|quelle|notes?|average|mean|subtotal|end of)\b",
    re.IGNORECASE,
)
_COMMENTS = ("#", "//", "%", "--", "!")
_MOJIBAKE = re.compile("[ÃÂ][\u0080-\u00bf©¤¶¼Ÿ„–œ]|â€")
_UNIT_SIGNS = re.compile(r"\s*[$€£¥]?\s*[+-]?[\d.,' ]*\d\s*([$€£¥%]|[A-Za-z]{1,3})\s*|\s*[$€£¥]\s*[+-]?[\d.,' ]*\d\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """What was found in a column; private.

    Attributes
    ----------
    name : str
    read_as : str
        The declared type, or what an undeclared column looks like.
    empty, unreadable : int
        Values that are missing, and values that cannot be read so.
    examples : tuple of str
        Some of those that cannot be read, the most frequent ones.
    kind : str
        The type that would fit; empty for text.
    """

    name: str
    read_as: str
    empty: int
    unreadable: int
    examples: tuple[str, ...] = field(repr=False)
    kind: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableCheck:
    """What was found in a table; private.

    Attributes
    ----------
    records, short, long, undecodable : int
        Records, those with fewer and those with more fields than columns, and values that are not in the encoding.
    columns : tuple of ColumnCheck
    warnings : tuple of str
        Faults in sentences, with the option that may mend each.
    """

    records: int
    short: int
    long: int
    undecodable: int
    columns: tuple[ColumnCheck, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        """Say no more than that it is private."""
        return "<TableCheck: for the data owner, not for publication>"

    def to_document(self) -> dict[str, Any]:
        """Return the JSON-ready form."""
        return {
            "private": True,
            "records": self.records,
            "short": self.short,
            "long": self.long,
            "undecodable": self.undecodable,
            "columns": [
                {
                    "name": each.name,
                    "read_as": each.read_as,
                    "empty": each.empty,
                    "unreadable": each.unreadable,
                    "examples": list(each.examples),
                }
                for each in self.columns
            ],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class _Seen:
    """What is noted of the records of a text file while they pass."""

    width: int
    places: list[int]
    records: int = 0
    widths: Counter[int] = field(default_factory=Counter)
    stray: bool = False
    undecodable: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    values: list[set[str] | None] = field(default_factory=list)
    first: list[tuple[str | None, ...]] = field(default_factory=list)
    last: list[tuple[str | None, ...]] = field(default_factory=list)
    last_widths: list[int] = field(default_factory=list)

    @property
    def short(self) -> int:
        """Records with fewer fields than columns."""
        return sum(times for width, times in self.widths.items() if width < self.width)

    @property
    def long(self) -> int:
        """Records with more fields than columns."""
        return sum(times for width, times in self.widths.items() if width > self.width)

    def note(self, block: Block, batch: pa.RecordBatch) -> None:
        """Note the fields of a block, of which the batch holds those of the columns."""
        kept = block.kept
        counts = block.fields.counts[kept]
        self.records += len(kept)
        if counts.min() == counts.max():
            self.widths[int(counts[0])] += len(counts)
        else:
            numbers, times = np.unique(counts, return_counts=True)
            self.widths.update(dict(zip(numbers.tolist(), times.tolist(), strict=True)))
        self.stray |= block.fields.stray
        for index, column in enumerate(batch.columns):
            self._note_column(block, index, column, counts)
        if len(self.first) < _FIRST:
            head = batch.slice(0, _FIRST - len(self.first)).columns
            self.first += zip(*(column.to_pylist() for column in head), strict=True)
        tail = batch.slice(max(0, len(batch) - _LAST)).columns
        self.last = (self.last + list(zip(*(column.to_pylist() for column in tail), strict=True)))[-_LAST:]
        self.last_widths = (self.last_widths + counts[-_LAST:].tolist())[-_LAST:]

    def _note_column(self, block: Block, index: int, column: Any, counts: Any) -> None:
        if column.null_count:
            place = self.places[index]
            there = counts > place
            fields = block.fields.firsts[block.kept] + np.where(there, place, 0)
            empty = int(((block.fields.starts[fields] == block.fields.ends[fields]) | ~there).sum())
            self.empty[index] += empty
            self.undecodable[index] += int(column.null_count) - empty
        known = self.values[index]
        if known is not None:
            known.update(value for value in column.unique().to_pylist() if value is not None)
            if len(known) > _MOST_VALUES:
                self.values[index] = None


def check_table(table: Table, *, unit: str | None = None) -> TableCheck:
    """Look for faults in a table.

    Parameters
    ----------
    table : Table
        Opened as questions would open it.
    unit : str, optional
        The column that identifies a person.

    Returns
    -------
    TableCheck
        For the data owner alone: it depends on single records.
    """
    source = table._source._behind
    columns = [column for column in table.columns if not column.kind.is_opaque]
    if isinstance(source, TextSource):
        seen, found, guesses = _check_text(table, source, columns)
        sources = [column.name for column in columns]
        return _report(table, seen, columns, sources, found, guesses, unit)
    return _check_other(table, columns, unit)


def _check_text(table: Table, source: TextSource, columns: Sequence[Column]) -> tuple[_Seen, dict[str, Any], list[str]]:
    import pyarrow as pa

    names = [column.name for column in columns]
    first = int(source.form.row_names)
    places = [source.names.index(name) + first for name in names]
    schema = text_schema(names)
    seen = _Seen(len(source.names) + first, places)
    seen.undecodable, seen.empty = [0] * len(names), [0] * len(names)
    seen.values = [set() for _ in names]

    def blocks() -> Iterator[tuple[Block, pa.RecordBatch]]:
        with opened(source.path, source.packing) as file:
            for block in records_of(read_blocks(file, source.start, ord(source.form.delimiter)), source.form):
                if len(block.kept):
                    yield block, to_batch(block, places, source.form.encoding, schema)

    def passing() -> Iterator[pa.RecordBatch]:
        for block, batch in blocks():
            seen.note(block, batch)
            yield batch

    preview = next((batch.slice(0, _FIRST) for _, batch in blocks()), None)
    texts = [[] if preview is None else preview.column(index).drop_null().to_pylist() for index in range(len(names))]
    guesses = [_guess(column, values) for column, values in zip(columns, texts, strict=True)]
    statement = _statement(table, columns, guesses)
    # The values are valid text already, so they go to the engine as they are.
    connection = locked_connection()
    try:
        connection.register("data", pa.RecordBatchReader.from_batches(schema, passing()))
        row = connection.sql(statement).to_arrow_table().to_pylist()[0]
    finally:
        connection.close()
    return seen, row, guesses


def _guess(column: Column, values: Sequence[str]) -> str:
    """Return the declared type of a column, or what its first values look like: a number, a date, or empty for text."""
    if column.kind is not ColumnType.UNTYPED:
        return {ColumnType.INTEGER: "integer", ColumnType.NUMBER: "number", ColumnType.DATE: "date"}.get(
            column.kind, "boolean" if column.kind is ColumnType.BOOLEAN else ""
        )
    sample = [
        value for value in values[:_GUESSED] if value.strip().casefold() not in _NO_VALUES and value not in _ERRORS
    ]
    sample = [value for value in sample if value not in column.spelling.missing]
    if not sample:
        return ""
    spellings = [column.spelling, *(() if column.spelling.numbers else (Spelling(), *_SPELLINGS))]
    if max(sum(plain_number(v, each) is not None for v in sample) for each in spellings) >= _MOST * len(sample):
        return "number"
    if sum(_UNIT_SIGNS.fullmatch(v) is not None for v in sample) >= _MOST * len(sample):
        return "number" if sum(v.strip()[:1].isdigit() or v.strip()[:1] in "$€£¥-+" for v in sample) else ""
    formats = [column.spelling.date_format] if column.spelling.date_format else ["", *DATE_FORMATS]
    if max(_dates(sample, form) for form in formats) >= _MOST * len(sample):
        return "date"
    return ""


def _dates(values: Iterable[str], form: str) -> int:
    return sum((spelt_date(v, form) if form else _ISO_DATE.fullmatch(v)) is not None for v in values)


def _statement(table: Table, columns: Sequence[Column], guesses: Sequence[str]) -> str:
    """Return what to count of each column: missing values, codes for these, unreadable values, and some of the last."""
    values, counts = ["1 AS one"], ["COUNT(*) AS records"]
    for index, (column, kind) in enumerate(zip(columns, guesses, strict=True)):
        text, spelling = f"data.{quote_name(column.name)}", column.spelling
        values.append(f"{text} IS NULL AS empty{index}")
        counts.append(f"COUNT_IF(empty{index}) AS empty{index}")
        tests = [f"{text} IN ({', '.join(map(quote_text, spelling.missing))})"] if spelling.missing else []
        read = _read_without_codes(table, column, kind)
        if column.kind is not ColumnType.UNTYPED and kind in ("integer", "number"):
            codes = [f"CAST('{code!r}' AS DOUBLE)" for code in number_codes(spelling, whole=kind == "integer")]
            tests += [f"({read}) IN ({', '.join(codes)})"] if codes else []
        coded = f"COALESCE({' OR '.join(tests)}, FALSE)" if tests else "FALSE"
        if tests:
            values.append(f"{coded} AS coded{index}")
            counts.append(f"COUNT_IF(coded{index}) AS coded{index}")
        if read:
            wrong = f"{text} IS NOT NULL AND NOT {coded} AND ({read}) IS NULL"
            values.append(f"CASE WHEN {wrong} THEN LEFT(CAST({text} AS VARCHAR), {_LONGEST}) END AS wrong{index}")
            counts.append(f"COUNT(wrong{index}) AS wrong{index}")
            counts.append(f"approx_top_k(wrong{index}, {MOST_EXAMPLES}) AS shown{index}")
    return f"SELECT {', '.join(counts)} FROM (SELECT {', '.join(values)} FROM data)"


def _read_without_codes(table: Table, column: Column, kind: str) -> str:
    """Return SQL that reads a column of text as a kind, codes for missing values too; empty for other columns."""
    bare = replace(column.spelling, missing=())
    declared = table.types.get(column.name)
    if not kind or (declared is None and column.kind is not ColumnType.UNTYPED):
        return ""
    if declared is not None and declared.type:
        return typed([_held(column)], {column.name: Declared(declared.type, bare)})[0].reference.sql("duckdb")
    return read_column(replace(_held(column), spelling=bare), TYPES[kind]).sql("duckdb")


def _held(column: Column) -> Column:
    """Return a column of text as the table holds it."""
    return column.sources[0] if column.derivation is not None else replace(column, spelling=PLAIN)


def _check_other(table: Table, columns: Sequence[Column], unit: str | None) -> TableCheck:
    """Check a table whose format says what its columns are: frames, Parquet, databases, JSON lines."""
    kinds = [_guess(column, ()) for column in columns]
    row = table.run(_statement(table, columns, kinds), columns).to_pylist()[0]
    checked = [
        ColumnCheck(
            name=column.name,
            read_as=_said(table, column, kind),
            empty=row[f"empty{index}"] + row.get(f"coded{index}", 0),
            unreadable=row.get(f"wrong{index}", 0),
            examples=tuple(sorted(row.get(f"shown{index}") or ())),
            kind=kind,
        )
        for index, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    ]
    warnings = [*_columns_without_values(checked, row["records"]), *_persons(table, unit)]
    return TableCheck(
        records=row["records"], short=0, long=0, undecodable=0, columns=tuple(checked), warnings=tuple(warnings)
    )


def _said(table: Table, column: Column, kind: str) -> str:
    declared = table.types.get(column.name)
    if declared and declared.type:
        spelt = declared.describe(column.kind)
        return f"{declared.type} {spelt}" if spelt else declared.type
    if column.kind is ColumnType.UNTYPED:
        return f"untyped; looks like a {kind}" if kind else "untyped; looks like text"
    return str(column.kind)


def _report(
    table: Table,
    seen: _Seen,
    columns: Sequence[Column],
    names: Sequence[str],
    row: dict[str, Any],
    guesses: Sequence[str],
    unit: str | None,
) -> TableCheck:
    checked = [
        ColumnCheck(
            name=name,
            read_as=_said(table, column, kind),
            empty=seen.empty[index] + row.get(f"coded{index}", 0),
            unreadable=row.get(f"wrong{index}") or 0,
            examples=tuple(sorted(row.get(f"shown{index}") or ())),
            kind=kind,
        )
        for index, (name, column, kind) in enumerate(zip(names, columns, guesses, strict=True))
    ]
    undecodable = sum(seen.undecodable)
    warnings = [
        *_about_rows(table, seen, columns),
        *_about_encoding(table, seen, undecodable),
        *_columns_without_values(checked, seen.records),
        *(said for index, column in enumerate(columns) for said in _about_values(column, checked[index], seen, index)),
        *_persons(table, unit),
    ]
    return TableCheck(
        records=seen.records,
        short=seen.short,
        long=seen.long,
        undecodable=undecodable,
        columns=tuple(checked),
        warnings=tuple(dict.fromkeys(warnings)),
    )


# What the shape of the file says.


def _about_rows(table: Table, seen: _Seen, columns: Sequence[Column]) -> Iterator[str]:
    form = table._source._behind.form
    names = table._source._behind.names
    usual, times = max(seen.widths.items(), key=lambda each: each[1], default=(seen.width, 0))
    if not seen.records:
        yield "The file has no records."
        return
    if not names_are_public(table.columns) and not form.columns:
        yield (
            "The first line may be a record: a name in it looks like a value, is empty or "
            'stands twice. If so, say no_header=True, columns="A,B"'
        )
    if usual != seen.width and times > seen.records / 2:
        yield _about_width(table, seen, usual)
    else:
        if seen.short:
            yield f"{_many(seen.short)} fewer fields than columns; the missing ones are null."
        if seen.long:
            yield (
                f"{_many(seen.long)} more fields than columns; Iris ignores those. "
                "A value with the delimiter needs double quotes."
            )
    if seen.stray:
        yield (
            "A double quote opens a value and does not close it; Iris reads it as a character. "
            "Check for values that run over several lines."
        )
    yield from _about_names(seen, names, form)
    yield from _about_comments(seen, form)
    yield from _about_ends(seen, form, columns)


def _about_width(table: Table, seen: _Seen, usual: int) -> str:
    """Say what may be meant where most records have another number of fields than the header."""
    form = table._source._behind.form
    line, looks_like_names = _first_of_width(table, usual)
    known = f"Most records have {usual} fields, and the header has {seen.width}"
    if line and (line > 1 or looks_like_names):
        return f"{known}: say skip_rows={line + form.skip_rows}"
    if usual == seen.width + 1 and not form.row_names:
        return f"{known}: if the first field is a row name, say row_names=True"
    return f"{known}: check the delimiter, and lines above the header (skip_rows=…)."


def _about_names(seen: _Seen, names: Sequence[str], form: Any) -> Iterator[str]:
    """Say what the names of the columns suggest: another delimiter, or row names."""
    if len(names) == 1:
        values = [record[0] for record in seen.first if record[0]]
        for mark, spelt in _MARKS.items():
            if values and sum(mark in value for value in values) > len(values) / 2:
                yield f"The file has one column whose values hold {mark!r}: say delimiter='{spelt}'"
                break
    place = next((place for place, name in enumerate(names, 1) if name == f"column{place}"), 0)
    if not place or form.columns or form.row_names:
        return
    listed = [record[place - 1] for record in seen.first]
    if place == 1 and len(set(listed)) == len(listed):
        yield "The first column has no name and no value twice: if these are row names, say row_names=True"
    else:
        yield f"The header has no name for column {place}; Iris calls it column{place}."


_MARKS = {";": ";", "\t": "\\t", "|": "|", ",": ","}


def _many(number: int) -> str:
    return "1 record has" if number == 1 else f"{number:,} records have"


def _first_of_width(table: Table, width: int) -> tuple[int, bool]:
    """Return how many lines stand above the first line with so many fields, and whether that holds no digit."""
    source = table._source._behind
    with opened(source.path, source.packing) as file:
        file.seek(0)
        begun = file.read(1 << 16)
    lines = begun.split(b"\n")[source.form.skip_rows : source.form.skip_rows + 60]
    for place, line in enumerate(lines):
        if line.count(source.form.delimiter.encode()) + 1 == width:
            return place, not any(byte in b"0123456789" for byte in line)
    return 0, False


def _about_comments(seen: _Seen, form: Any) -> Iterator[str]:
    if form.comment:
        return
    for mark in _COMMENTS:
        number = sum(bool(record and record[0] and record[0].startswith(mark)) for record in seen.first)
        if (
            number
            and number < len(seen.first) / 2
            and not all(record[0] in _ERRORS for record in seen.first if record[0] and record[0].startswith(mark))
        ):
            yield f"Records begin with {mark}: if they are comments, say comment='{mark}'."
            return


def _about_ends(seen: _Seen, form: Any, columns: Sequence[Column]) -> Iterator[str]:
    """Look for further rows of a header, and for a footer."""
    odd = 0
    for place in range(1, min(len(seen.last), 20) + 1):
        record, width = seen.last[-place], seen.last_widths[-place]
        first = next((value for value in record if value), "") or ""
        few = sum(value is not None for value in record) <= max(1, len(record) // 4) and len(record) > 1
        if (_TOTAL.match(first) and len(seen.last) > place) or (width < seen.width and few):
            odd = place
    if odd:
        yield f"The last rows look like totals or notes: say footer_rows={odd + form.footer_rows}"
    if len(seen.first) > 10 and form.header_rows == 1:
        texts = [
            index
            for index in range(len(columns))
            if seen.first[0][index] is not None
            and not _is_value(seen.first[0][index])
            and sum(_is_value(record[index]) for record in seen.first[1:200] if record[index] is not None)
            >= 0.95 * max(1, sum(record[index] is not None for record in seen.first[1:200]))
            and any(record[index] is not None for record in seen.first[1:200])
        ]
        if texts and sum(not _is_value(value) for value in seen.first[0]) == len(columns):
            yield "The first record holds text where all others hold numbers or dates: say header_rows=2"


def _is_value(text: str | None) -> bool:
    return text is not None and any(character.isdigit() for character in text)


def _about_encoding(table: Table, seen: _Seen, undecodable: int) -> Iterator[str]:
    encoding = table.encoding or ""
    if undecodable:
        other = "windows-1252" if encoding == "utf-8" else "utf-8"
        values = "1 value is" if undecodable == 1 else f"{undecodable:,} values are"
        yield f"{values} not {encoding.upper()}, and null: say encoding={other}"
    if encoding != "utf-8" and any(_MOJIBAKE.search(value) for each in seen.values for value in each or ()):
        yield "Values look like UTF-8 that was read in another encoding: say encoding=utf-8"
    names = table._source._behind.names
    if encoding != "utf-8" and any(_MOJIBAKE.search(name) for name in names):
        yield "Names of columns look like UTF-8 that was read in another encoding: say encoding=utf-8"


# What the values of a column say.


def _columns_without_values(columns: Iterable[ColumnCheck], records: int) -> Iterator[str]:
    for column in columns:
        if records and column.empty == records:
            yield f"{column.name} has no value in any record."


def _about_values(column: Column, checked: ColumnCheck, seen: _Seen, index: int) -> Iterator[str]:
    """Say what the values of a column suggest; if nothing, that some cannot be read."""
    said = list(_about_column(column, checked, seen, index))
    yield from said
    if checked.unreadable and not said:
        number = "1 value" if checked.unreadable == 1 else f"{checked.unreadable:,} values"
        yield f"{column.name}: {number} cannot be read as {checked.kind} ({_listed(checked.examples)})."


def _about_column(column: Column, checked: ColumnCheck, seen: _Seen, index: int) -> Iterator[str]:
    kept = seen.values[index]
    sample = [value for record in (*seen.first, *seen.last) if (value := record[index]) is not None]
    values = sorted(kept if kept is not None else set(sample))
    values = [value for value in values if value not in column.spelling.missing]
    name, kind = column.name, checked.kind
    errors = sorted(_ERRORS & {*values, *checked.examples})
    if errors:
        yield (
            f"{name} holds errors of a spreadsheet ({', '.join(errors)}): mend them there, "
            f"or say missing_codes='{errors[0]}'."
        )
    missing = sorted(v for v in values if v.strip().casefold() in _NO_VALUES and v not in errors)
    if missing:
        yield (
            f"{name} holds {_listed(missing)}, which may mean a missing value: say missing_codes='{','.join(missing)}'"
        )
    left = [v for v in values if v not in errors and v not in missing]
    if kind in ("number", "integer"):
        yield from _about_numbers(column, left, checked)
    elif kind == "date":
        yield from _about_dates(column, left)
    else:
        yield from _about_mixed(name, left)
    yield from _merged(name, left, kind)
    if any(not v.isprintable() and re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", v) for v in values):
        yield f"{name} holds control characters: clean the file."


def _about_numbers(column: Column, values: Sequence[str], checked: ColumnCheck) -> Iterator[str]:
    name, spelling = column.name, column.spelling
    plain = {v: plain_number(v, spelling) for v in {*values, *checked.examples}}
    other = [v for v, number in plain.items() if number is None]
    for each in _SPELLINGS:
        fits = [v for v in other if plain_number(v, each) is not None]
        if fits and len(fits) >= len(other) / 2:
            options = [f"decimal='{each.decimal}'"] if each.decimal != spelling.decimal else []
            options += [f'thousands="{each.thousands}"'] if each.thousands else []
            if options:
                yield f"{name} holds {_listed(sorted(fits))}: say {' and '.join(options)}"
                break
    grouped = [v for v in values if re.fullmatch(r"\s*-?[0-9]{1,3}[.][0-9]{3}\s*", v)]
    if not spelling.numbers and len(grouped) > 1 and len(grouped) == len([v for v in values if "." in v]) and not other:
        how = "say decimal=',' and thousands='.'"
        yield f"{name} holds {_listed(grouped)}: if full stops stand between thousands, {how}"
    signs = [v for v in other if _UNIT_SIGNS.fullmatch(v)]
    if signs:
        yield (
            f"{name} holds numbers with a sign or a unit ({_listed(sorted(signs))}), which "
            "are no numbers: write the numbers alone."
        )
    numbers = {v: float(number) for v, number in plain.items() if number is not None}
    codes = sorted((v for v in numbers if v.strip() in _CODES), key=lambda v: numbers[v])
    rest = [number for v, number in numbers.items() if v.strip() not in _CODES]
    apart = [
        v for v in codes if rest and len(rest) > 1 and (numbers[v] < 0 <= min(rest) or numbers[v] > 1.5 * max(rest) > 0)
    ]
    apart = [v for v in apart if numbers[v] not in _neighbours(rest)]
    if apart:
        yield (
            f"{name} holds {_listed(apart)}, apart from all other values: if they are codes, "
            f"say missing_codes='{','.join(apart)}'."
        )
    zeros = [v for v in values if re.fullmatch(r"\s*0[0-9]+\s*", v)]
    if zeros:
        yield f"{name} holds numbers with leading zeros ({_listed(zeros)}): if they are codes, declare the type text."
    if any(re.fullmatch(r"\s*[0-9]{16,}\s*", v) for v in values):
        yield (
            f"{name} holds whole numbers of more than 15 digits, which lose digits as numbers: declare the type text."
        )
    if checked.read_as.startswith("integer") and any(
        re.fullmatch(r"\s*-?[0-9]+[.][0-9]*[1-9][0-9]*\s*", v) for v in values
    ):
        yield f"{name} holds fractions, and is declared as integer: declare the type number."


def _neighbours(numbers: Iterable[float]) -> set[float]:
    """Return the whole numbers beside values that are there: -1 beside 0 and 99 beside 98 may be values too."""
    return {number + step for number in numbers if number == int(number) for step in (-1, 1)} if numbers else set()


def _about_dates(column: Column, values: Sequence[str]) -> Iterator[str]:
    name, form = column.name, column.spelling.date_format
    other = [v for v in values if not _dates([v], form)]
    if not other:
        return
    fitting = {each: _dates(other, each) for each in DATE_FORMATS if each != form}
    most = max(fitting.values())
    best = [each for each, number in fitting.items() if number == most and most]
    if best and len(other) == len(values) and most >= _MOST * len(other):
        said = " or ".join(f"date_format='{each}'" for each in best[:2])
        doubt = "; both fit all values, so ask the author of the file" if len(best) > 1 else ""
        yield f"{name} holds dates such as {_listed(other)}: say {said}{doubt}."
    elif best:
        yield f"{name} holds dates in several formats ({_listed(other)}): write all of them in one."
    else:
        yield f"{name} holds values that are no dates ({_listed(other)})."


def _about_mixed(name: str, values: Sequence[str]) -> Iterator[str]:
    numbers = [v for v in values if plain_number(v, PLAIN) is not None]
    if len(values) > 20 and numbers and len(numbers) >= len(values) / 2:
        yield f"{name} holds numbers and text ({_listed([v for v in values if v not in numbers])})."


def _merged(name: str, values: Sequence[str], kind: str) -> Iterator[str]:
    """Name values that differ in case, blanks, zeros or a fraction alone: one reading keeps them apart, another not."""
    keys: dict[str, list[str]] = {}
    for value in values:
        keys.setdefault(_key(value), []).append(value)
    several = [sorted(spellings) for spellings in keys.values() if len(spellings) > 1]
    if several:
        shown = "; ".join(" = ".join(map(repr, spellings[:3])) for spellings in several[:MOST_EXAMPLES])
        how = "declare a type to read them as one" if kind else "write them alike, or use lower(…) and trim(…)"
        yield (
            f"{name} spells {len(several)} value{'s' if len(several) > 1 else ''} in several "
            f"ways ({shown[:300]}): {how}."
        )
    blanks = [v for v in values if v != v.strip() and not kind]
    if blanks and not several:
        yield f"{name} holds values with blanks around them ({_listed(blanks)}): trim(…) removes them."


def _key(value: str) -> str:
    plain = " ".join(value.replace("\u00a0", " ").split()).casefold()
    number = plain_number(plain, PLAIN)
    if number is None:
        return plain
    try:
        return repr(float(number)) if len(number) < 16 else plain
    except ValueError:
        return plain


def _listed(values: Sequence[str]) -> str:
    """Write some values for the screen."""
    return ", ".join(repr(value[:40]) for value in values[:3]) + (", …" if len(values) > 3 else "")


def _persons(table: Table, unit: str | None) -> Iterator[str]:
    """Say how many persons have several records; this reads the records again."""
    if unit is None:
        return
    column = table.column(unit, "unit")
    person = column.reference.sql("duckdb")
    statement = (
        f"WITH persons AS (SELECT {person} AS person, COUNT(*) AS n FROM data GROUP BY 1) SELECT "
        "COUNT(*) FILTER (WHERE n > 1 AND person IS NOT NULL) AS several, "
        "MAX(n) FILTER (WHERE person IS NOT NULL) AS most, "
        "COALESCE(MAX(n) FILTER (WHERE person IS NULL), 0) AS unknown, COUNT(DISTINCT person) AS persons, "
        "COUNT(DISTINCT LOWER(TRIM(CAST(person AS VARCHAR)))) AS merged FROM persons"
    )
    row = table.run(statement, [column]).to_pylist()[0]
    if row["several"]:
        yield (
            f"{row['several']:,} of {row['persons']:,} persons ({column.name}) have several "
            f"records, up to {row['most']:,}: choose at_most=, per_unit= or person=."
        )
    if row["unknown"]:
        yield f"{_many(row['unknown'])} no {column.name}; no question about persons counts them."
    if row["merged"] < row["persons"]:
        yield (
            f"{row['persons'] - row['merged']:,} persons ({column.name}) differ from others in blanks or case alone."
        )
