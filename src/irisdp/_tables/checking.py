"""Look for faults in a table, for the data owner's eyes: what is found depends on single records, and is no release.

The records are read once. While they go to the engine, which counts values that cannot be read, their fields are
counted here, and some of their values are kept to find out what they may mean. The first of them are read again to
find records that occur twice. Nothing is written anywhere.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._exact import so_many
from .arrow_values import text_schema
from .checked_table import FIRST, ColumnCheck, Seen, TableCheck
from .column_types import TYPES, Declared, read_column, typed, written_as
from .columns import Column, ColumnType, names_people
from .compressed import opened
from .csv_records import Block, read_blocks
from .date_shapes import date_shape
from .engine import locked_connection, quote_name, quote_text
from .faults_of_rows import ERRORS, about_encoding, about_rows, expected_by_chance
from .faults_of_values import MOST_EXAMPLES, SPELLINGS, about_values, is_no_value, unit_sign
from .sources import TextSource
from .spellings import PLAIN, Spelling, number_codes, plain_number, spelt_date
from .table import Table
from .text_files import records_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_WRONG = 20
"""Values of a column that cannot be read and are kept; the most frequent ones, about."""
_GUESSED = 500
"""Values that say what a column looks like."""
_LONGEST = 80
_CODE_LIKE = r"^\s*(0[0-9]|[0-9]{16})"
"""Whole numbers that lose something as numbers."""
_MOST, _HALF = 0.8, 0.5
"""The share of values that a column must have to look like a kind; the lower one where all others are few words."""
_FEW_WORDS = 3
_COMPARED = 1_000_000
"""Records that are compared with each other."""


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
        return _report(table, seen, columns, found, guesses, unit)
    return _check_other(table, columns, unit)


def _check_text(table: Table, source: TextSource, columns: Sequence[Column]) -> tuple[Seen, dict[str, Any], list[str]]:
    names = [column.name for column in columns]
    first = int(source.form.row_names)
    places = [source.names.index(name) + first for name in names]
    schema = text_schema(names)
    seen = Seen(len(source.names) + first, places)
    seen.undecodable, seen.empty = [0] * len(names), [0] * len(names)
    seen.values = [Counter() for _ in names]

    def passing() -> Iterator[pa.RecordBatch]:
        for block, batch in _text_blocks(source, places, schema):
            seen.note(block, batch)
            yield batch

    preview = next((batch.slice(0, FIRST) for _, batch in _text_blocks(source, places, schema)), None)
    texts = [[] if preview is None else preview.column(index).drop_null().to_pylist() for index in range(len(names))]
    guesses = [_guess(column, values) for column, values in zip(columns, texts, strict=True)]
    row = _run_over(passing(), schema, _statement(table, columns, guesses))
    return seen, row, guesses


def _text_blocks(
    source: TextSource, places: Sequence[int], schema: pa.Schema
) -> Iterator[tuple[Block, pa.RecordBatch]]:
    with opened(source.path, source.packing) as file:
        for block in records_of(read_blocks(file, source.start, ord(source.form.delimiter)), source.form):
            if len(block.kept):
                yield block, to_batch(block, places, source.form.encoding, schema)


def _run_over(batches: Iterator[pa.RecordBatch], schema: pa.Schema, statement: str) -> dict[str, Any]:
    """Return the one row of a statement over columns of text, which go to the engine as they are."""
    import pyarrow as pa

    connection = locked_connection()
    try:
        connection.register("data", pa.RecordBatchReader.from_batches(schema, batches))
        row: dict[str, Any] = connection.sql(statement).to_arrow_table().to_pylist()[0]
    finally:
        connection.close()
    return row


def _guess(column: Column, values: Sequence[str]) -> str:
    """Return the declared type of a column, or what its first values look like: a number, a date, or empty for text."""
    if column.kind is not ColumnType.UNTYPED:
        return {ColumnType.INTEGER: "integer", ColumnType.NUMBER: "number", ColumnType.DATE: "date"}.get(
            column.kind, "boolean" if column.kind is ColumnType.BOOLEAN else ""
        )
    known = [value for value in values[:_GUESSED] if value not in column.spelling.missing]
    sample = [value for value in known if not is_no_value(value, short=True) and value not in ERRORS]
    if not sample:
        return ""
    numbers, dates = _like_numbers(sample, column.spelling), _like_dates(sample, column.spelling.date_format)
    for kind, fitting in (("number", numbers), ("date", dates)):
        if len(fitting) >= _MOST * len(sample) or (
            len(fitting) >= _HALF * len(sample) and _are_few_words({*sample} - {*fitting})
        ):
            return kind
    return ""


def _like_numbers(sample: Sequence[str], spelling: Spelling) -> list[str]:
    """Return the values that are numbers in some marks, or with a sign that many have."""
    spellings = [spelling, *(() if spelling.numbers else (Spelling(), *SPELLINGS))]
    found = [value for value in sample if any(plain_number(value, each) is not None for each in spellings)]
    signs = Counter(sign for value in sample if value not in found and (sign := unit_sign(value)))
    often = {sign for sign, times in signs.items() if times >= 0.2 * len(sample)}
    signed = [value for value in sample if unit_sign(value) in often] if often else []
    return [*found, *(value for value in signed if value not in found)]


def _like_dates(sample: Iterable[str], form: str) -> list[str]:
    return [value for value in sample if date_shape(value) is not None or (form and spelt_date(value, form))]


def _are_few_words(values: Iterable[str]) -> bool:
    """Tell whether values look like words for a missing value: few, and without digits."""
    listed = list(values)
    return len(listed) <= _FEW_WORDS and not any(letter.isdigit() for value in listed for letter in value)


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
            counts.append(f"approx_top_k(wrong{index}, {_MOST_WRONG}) AS shown{index}")
            if kind in ("number", "integer"):
                values.append(f"CASE WHEN NOT {coded} THEN ({read}) END AS number{index}")
                counts += [f"{extreme}(number{index}) AS {extreme}{index}" for extreme in ("min", "max")]
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
    empty = [row[f"empty{index}"] or 0 for index in range(len(columns))]
    checked = _columns(table, columns, kinds, row, empty)
    warnings = [*_columns_without_values(checked, row["records"]), *_persons(table, unit), *_unmatched(table)]
    return TableCheck(
        records=row["records"], short=0, long=0, undecodable=0, columns=tuple(checked), warnings=tuple(warnings)
    )


def _columns(
    table: Table, columns: Sequence[Column], kinds: Sequence[str], row: Mapping[str, Any], empty: Sequence[int]
) -> list[ColumnCheck]:
    checked = []
    for index, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        wrong = row.get(f"shown{index}") or ()
        extremes = [row.get(f"{extreme}{index}") for extreme in ("min", "max")]
        checked.append(
            ColumnCheck(
                name=column.name,
                read_as=_said(table, column, kind),
                empty=empty[index] + (row.get(f"coded{index}") or 0),
                unreadable=row.get(f"wrong{index}") or 0,
                examples=tuple(sorted(wrong[:MOST_EXAMPLES])),
                wrong=tuple(wrong),
                kind=kind,
                least=extremes[0],
                largest=extremes[1],
            )
        )
    return checked


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
    seen: Seen,
    columns: Sequence[Column],
    row: dict[str, Any],
    guesses: Sequence[str],
    unit: str | None,
) -> TableCheck:
    checked = _columns(table, columns, guesses, row, seen.empty)
    undecodable = sum(seen.undecodable)
    warnings = [*about_rows(table, seen), *about_encoding(table, seen, undecodable)]
    if any(_WRONG_HEADER.search(said) for said in warnings):
        warnings = [said for said in warnings if "header_rows=" not in said]
        warnings.append("Other faults may follow from these: check again once they are mended.")
    else:
        warnings += _about_columns(table, seen, columns, checked, unit)
    return TableCheck(
        records=seen.records,
        short=seen.short,
        long=seen.long,
        undecodable=undecodable,
        columns=tuple(checked),
        warnings=tuple(dict.fromkeys(warnings)),
    )


_WRONG_HEADER = re.compile("say (skip_rows|delimiter)=")
"""Then names and values are those of other lines or fields, and what seems wrong with them follows from that."""


def _about_columns(
    table: Table, seen: Seen, columns: Sequence[Column], checked: Sequence[ColumnCheck], unit: str | None
) -> list[str]:
    return [
        *_columns_without_values(checked, seen.records),
        *(said for index, column in enumerate(columns) for said in about_values(column, checked[index], seen, index)),
        *_about_repeated(table, seen, columns, checked, unit),
        *_persons(table, unit),
        *_unmatched(table),
    ]


def _columns_without_values(columns: Iterable[ColumnCheck], records: int) -> Iterator[str]:
    for column in columns:
        if records and column.empty == records:
            yield f"{column.name} has no value in any record."


# Records and values that occur twice, among the first records of a text file.


def _about_repeated(
    table: Table, seen: Seen, columns: Sequence[Column], checked: Sequence[ColumnCheck], unit: str | None
) -> Iterator[str]:
    """Name identical records, and a column that looks like an identifier and has values in several records."""
    candidates = [
        index
        for index, (column, each) in enumerate(zip(columns, checked, strict=True))
        if unit is None
        and each.kind != "date"
        and (names_people(column.name) or _is_nearly_unique(seen, index, each.kind))
    ]
    different, records, found = _compared(table, columns, candidates)
    repeats = [
        columns[index].name
        for index, (kinds, there) in zip(candidates, found, strict=True)
        if kinds < there and kinds >= _least_kinds(columns[index].name, there)
    ]
    same = records - different
    # Records of few kinds agree by chance, and so do those of many kinds that depend on each other.
    rare = not 0.05 < same / max(1, records) < 0.5 and same > 3 * expected_by_chance(seen.first, records)
    if same and len(columns) > 1 and (repeats or rare):
        verb = "equals" if same == 1 else "equal"
        among = f" of the first {records:,}" if records < seen.records else ""
        yield (
            f"{so_many(same, 'record')}{among} {verb} an earlier one in every column: "
            f"if {'it was' if same == 1 else 'they were'} entered twice, remove {'it' if same == 1 else 'them'}."
        )
    for name in repeats:
        yield (
            f"Column {name!r} repeats values: give unit={_quoted(name)} if it says whose record it is and a person "
            "has several records."
        )


def _quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text else f'"{text}"'


def _least_kinds(name: str, values: int) -> float:
    """Return how many different values a column must have to look like an identifier."""
    return max(5, 0.02 * values) if names_people(name) else 0.9 * values


def _is_nearly_unique(seen: Seen, index: int, kind: str) -> bool:
    """Tell whether a column of codes or whole numbers has another value in almost every one of the first records."""
    values = [value for record in seen.first if (value := record[index]) is not None]
    if len(values) < 10 or len(set(values)) < 0.9 * len(values) or max(map(len, values)) > _LONGEST // 2:
        return False
    if kind:  # measurements differ, too: numbers of records stand close to each other, or have leading zeros
        if not all(value.isascii() and value.isdigit() for value in values):
            return False
        numbers = [int(value) for value in values if len(value) <= len(str(2**63))]
        return len(numbers) == len(values) and max(numbers) - min(numbers) < 2 * len(values)
    return all(re.search(r"[0-9]", value) for value in values)


def _compared(
    table: Table, columns: Sequence[Column], candidates: Sequence[int]
) -> tuple[int, int, list[tuple[int, int]]]:
    """Count different records, all of them, and of some columns different values and all of them."""
    source = table._source._behind
    names = [column.name for column in columns]
    first = int(source.form.row_names)
    places = [source.names.index(name) + first for name in names]
    schema = text_schema(names)
    most = min(_COMPARED, 20 * _COMPARED // max(1, len(names)))

    def beginning() -> Iterator[pa.RecordBatch]:
        left = most
        for _, batch in _text_blocks(source, places, schema):
            yield batch.slice(0, left)
            left -= len(batch)
            if left <= 0:
                return

    listed = ", ".join(quote_name(name) for name in names)
    counts = ["COUNT(*) AS records", f"COUNT(DISTINCT hash({listed})) AS different"]
    for index in candidates:
        counts.append(f"COUNT(DISTINCT {quote_name(names[index])}) AS kinds{index}")
        counts.append(f"COUNT({quote_name(names[index])}) AS there{index}")
    row = _run_over(beginning(), schema, f"SELECT {', '.join(counts)} FROM data")
    return row["different"], row["records"], [(row[f"kinds{index}"], row[f"there{index}"]) for index in candidates]


def fitting_types(table: Table) -> dict[str, str]:
    """Return the types that fit every value of the columns without a type: integer, number or date.

    A column that is called as if it said whose record it is stays text, and so do numbers with leading zeros.
    """
    found = {each.name: each for each in check_table(table).columns}
    free = [column for column in table.columns if column.kind is ColumnType.UNTYPED and not names_people(column.name)]
    kinds = {column.name: found[column.name].kind for column in free if not found[column.name].unreadable}
    numbers = [column for column in free if kinds.get(column.name) == "number" and found[column.name].least is not None]
    if numbers:
        whole = {column.name: Declared("integer", column.spelling) for column in numbers}
        columns = typed([_held(column) for column in numbers], whole)
        row = table.run(_wholeness(replace(table, types=whole), columns), columns).to_pylist()[0]
        for index, column in enumerate(numbers):
            if row[f"zeros{index}"]:
                kinds[column.name] = ""
            elif not row[f"wrong{index}"]:
                kinds[column.name] = "integer"
    return {name: kind for name, kind in kinds.items() if kind}


def _wholeness(table: Table, columns: Sequence[Column]) -> str:
    """Return what counts values of columns of text that are no whole numbers, and those with leading zeros."""
    counts = []
    for index, column in enumerate(columns):
        text = f"data.{quote_name(column.name)}"
        read, spelling = _read_without_codes(table, column, "integer"), column.spelling
        codes = [f"{text} IN ({', '.join(map(quote_text, spelling.missing))})"] if spelling.missing else []
        numbers = number_codes(spelling, whole=True)
        codes += [f"({read}) IN ({', '.join(map(str, numbers))})"] if numbers else []
        coded = f"COALESCE({' OR '.join(codes)}, FALSE)" if codes else "FALSE"
        counts.append(f"COUNT_IF({text} IS NOT NULL AND NOT {coded} AND ({read}) IS NULL) AS wrong{index}")
        counts.append(f"COUNT_IF(NOT {coded} AND regexp_matches({text}, '{_CODE_LIKE}')) AS zeros{index}")
    return f"SELECT {', '.join(counts)} FROM data"


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
            f"{row['several']:,} of {so_many(row['persons'], 'person')} ({column.name}) "
            f"{'has' if row['several'] == 1 else 'have'} several records, up to {row['most']:,}: choose at_most=…, "
            "per_unit=… or person=… for them."
        )
    if row["unknown"]:
        verb, them = ("has", "it") if row["unknown"] == 1 else ("have", "them")
        yield f"{so_many(row['unknown'], 'record')} {verb} no {column.name}; no question about persons counts {them}."
    if row["merged"] < row["persons"]:
        number = row["persons"] - row["merged"]
        verb = "differs" if number == 1 else "differ"
        yield f"{so_many(number, 'person')} ({column.name}) {verb} from others in blanks or case alone."


def _unmatched(table: Table) -> Iterator[str]:
    """Say how many records have a key that a lookup does not have, with the most frequent ones."""
    for lookup in table.lookups:
        text = f"LEFT(CAST(keys.k AS VARCHAR), {_LONGEST})"
        statement = (
            f"SELECT COUNT(*) AS records, approx_top_k({text}, {MOST_EXAMPLES}) AS shown "
            f"FROM (SELECT {written_as(lookup.key, lookup.kind)} AS k FROM data) AS keys "
            "LEFT JOIN lookup ON keys.k = lookup.k WHERE keys.k IS NOT NULL AND lookup.k IS NULL"
        )
        row = table.run(statement, [lookup.key], lookup=lookup.keys).to_pylist()[0]
        if row["records"]:
            shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in sorted(row["shown"] or ()))
            verb = "has" if row["records"] == 1 else "have"
            held = f"{so_many(row['records'], 'record')} {verb} a {lookup.key.name} that {lookup.name} does not have"
            yield f"{held}, such as {shown}; the columns of the lookup are null there."
