"""`--lookup wards.csv --on ward`: columns of a public table, found for each record by a key that is unique there.

The value that a record gets is a function of its own key and of the lookup, which is public. So a record stays one
record, no record changes another's value, and neighbouring tables stay neighbours (proofs/lookups.md). A key that the
lookup does not have, and a missing key, get nulls.

Keys are read as declared groups of the key's column are: by their spelling where the column has no type (`01` is not
`1`), and as the type otherwise (as whole numbers the two are one key).
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._aliases import did_you_mean
from .._files import same_file
from ..errors import BadInput
from .arrow_values import array_of_kind, text_of, texts
from .column_types import Declared, read_declared_value, read_types, typed, written_as
from .columns import Column, ColumnType, Derivation, Note, check_names, find_column, list_names, read_values
from .engine import check_readable, guarded, quote_name
from .spellings import PLAIN
from .text_comparisons import grouped_by_letters
from .text_files import DELIMITERS, read_columns, read_form, read_header

if TYPE_CHECKING:
    import pyarrow as pa

_MARKS = (",", ";", "\t", "|")
_MOST = 10
"""Lookups of one question."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table whose columns are joined to the records; all of it may be shown.

    Attributes
    ----------
    name : str
        What people call it: the name of its file.
    path : Path or None
        Its file; None where it is a frame.
    key : Column
        The column of the data that a row is found by.
    kind : ColumnType
        What keys are read as.
    columns : tuple of Column
        What is joined.
    rows : int
        How many keys it has.
    digest : str
        SHA-256 of keys and values, whatever the order and the format of the file.
    """

    name: str
    path: Path | None
    key: Column
    kind: ColumnType
    columns: tuple[Column, ...]
    rows: int
    digest: str
    _values: pa.Table = field(repr=False, compare=False)

    @property
    def keys(self) -> pa.Table:
        """The keys as a relation with the column `k`."""
        return self._values.select(["k"])

    def listed(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the different rows of some columns, in the order of the file, but for those without a value."""
        places = {column.name: place for place, column in enumerate(self.columns)}
        columns = [self._values.column(f"c{places[name]}").to_pylist() for name in names]
        return list(dict.fromkeys(row for row in zip(*columns, strict=True) if None not in row))

    def document(self, used: Sequence[str]) -> dict[str, Any]:
        """Return what a question says of it that uses some columns, JSON-ready."""
        return {"on": self.key.name, "columns": sorted(used), "rows": self.rows, "sha256": self.digest}

    def describe(self, used: Sequence[str]) -> str:
        """Say in a line for people which columns come from it, and how a row is found."""
        rows = f"{self.rows:,} row{'s' if self.rows > 1 else ''}"
        said = f"{list_names(sorted(used))} from the lookup {self.name} ({rows}, SHA-256 {self.digest[:12]}…)"
        return f"{said}, joined on {self.key.name}; null without a match"


@dataclass(frozen=True, slots=True)
class RawLookup:
    """A lookup as it is written, whose keys nobody has read yet.

    Attributes
    ----------
    key : str
        The column of its key, as it was asked for.
    columns : tuple of Column
        All others.
    keys, values : list
        The keys, and the values of each other column; None stands for a missing value.
    """

    name: str
    path: Path | None
    key: str
    columns: tuple[Column, ...]
    keys: list[Any] = field(repr=False)
    values: list[list[Any]] = field(repr=False)


def lookup_files(lookup: Any) -> dict[str, Path]:
    """Return the files that lookups are read from, each with what messages call it."""
    listed = lookup if isinstance(lookup, list | tuple) else [lookup]
    files = [Path(os.fsdecode(each)) for each in listed if isinstance(each, str | os.PathLike)]
    return {f"the lookup {file}" if len(files) > 1 else "the lookup": file for file in files}


def read_raw_lookups(lookup: Any, on: Any, data: Any) -> tuple[RawLookup, ...]:
    """Read the lookups of a question, each with the name of its key.

    Parameters
    ----------
    lookup : path, frame or list of them
        A .csv or .tsv file in UTF-8, whose delimiter is the first of comma, semicolon, tab and bar with which its
        header names the key.
    on : text or list of text
        The key of each.
    data : path or frame
        What they are joined to; refused as its own lookup.

    Raises
    ------
    BadInput
        For what cannot be read, is not paired, or is the data itself.
    """
    if lookup is None and on is None:
        return ()
    if lookup is None:
        rule = "names the key of a lookup, but you gave no lookup"
        raise BadInput("on", rule, "add lookup='FILE.csv', or leave on= out")
    listed = list(lookup) if isinstance(lookup, list | tuple) else [lookup]
    keys = list(on) if isinstance(on, list | tuple) else [] if on is None else [on]
    if not listed or len(listed) != len(keys) or len(listed) > _MOST:
        rule = f"occurs {_times(len(listed))}, and on= {_times(len(keys))}"
        if len(listed) > _MOST:
            rule = f"is given more than {_MOST} times"
        raise BadInput("lookup", rule, "give one on=KEY for each lookup, in the same order")
    if not all(isinstance(key, str) and key for key in keys):
        raise BadInput("on", "must name a column", "give the name of the key as text, as in on='ward'")
    raw = tuple(_read_raw(each, key, data) for each, key in zip(listed, keys, strict=True))
    first: dict[str, RawLookup] = {}
    for each in raw:
        for column in each.columns:
            other = first.setdefault(column.name.casefold(), each)
            if other is not each:
                rule = f"has the column {column.name!r} in {other.name} and in {each.name}"
                raise BadInput("lookup", rule, "rename it in one of them")
    return raw


def _times(number: int) -> str:
    return {0: "not at all", 1: "once"}.get(number, f"{number} times")


def _read_raw(lookup: Any, key: str, data: Any) -> RawLookup:
    path = Path(os.fsdecode(lookup)) if isinstance(lookup, str | os.PathLike) else None
    own = Path(os.fsdecode(data)) if isinstance(data, str | os.PathLike) else None
    apart = "a lookup is a public table with one row for each key: put it in a file of its own"
    if lookup is data or (
        path is not None
        and own is not None
        and guarded(lambda: _same(path, own), "is no usable path", "give the path of a .csv or .tsv file", "lookup")
    ):
        raise BadInput("lookup", "is the data itself, and would reveal what is in it", apart)
    name, names, kinds, values = _of_frame(lookup) if path is None else _of_file(path, key)
    folded = [each.casefold() for each in names]
    if key.casefold() not in folded:
        raise _no_key(key, name, names)
    place = names.index(key) if key in names else folded.index(key.casefold())
    others = [number for number in range(len(names)) if number != place]
    if not others:
        raise BadInput("lookup", f"{name} has no column besides its key {names[place]}", "add the columns to join")
    if not values[place]:
        raise BadInput("lookup", f"{name} has no rows", "give a table with one row for each key")
    columns = tuple(Column(names[number], kinds[number]) for number in others)
    return RawLookup(name, path, names[place], columns, values[place], [values[number] for number in others])


def _same(one: Path, other: Path) -> bool:
    return same_file(one.expanduser(), other.expanduser())


def _of_file(path: Path, key: str) -> tuple[str, list[str], list[ColumnType], list[list[Any]]]:
    ending = path.suffix.lower()
    if ending not in DELIMITERS:
        raise BadInput("lookup", f"cannot read {str(path)!r}", "give a .csv or .tsv file, and in Python also a frame")
    rule, remedy = f"finds no file at {str(path)!r}", "give the path of an existing .csv or .tsv file"
    found = guarded(path.expanduser, rule, remedy, "lookup")
    if not guarded(found.is_file, rule, remedy, "lookup"):
        raise BadInput("lookup", rule, remedy)
    check_readable(found, "lookup")
    if not found.stat().st_size:
        raise BadInput("lookup", f"{path.name} is empty", "give a table with a header and one row for each key")
    own = DELIMITERS[ending]
    headers = {mark: _header(found, read_form(ending, delimiter=mark)) for mark in dict.fromkeys((own, *_MARKS))}
    mark = next((mark for mark, names in headers.items() if key.casefold() in map(str.casefold, names)), None)
    if mark is None:
        names = max(headers.values(), key=len)
        try:
            names = names or read_header(found, read_form(ending), "lookup")[0]
        except BadInput as error:
            raise BadInput("lookup", f"{path.name} {error.rule}", error.remedy) from None
        raise _no_key(key, path.name, names)
    try:
        header, columns = read_columns(found, read_form(ending, delimiter=mark), "lookup")
        check_names(header)
    except BadInput as error:
        raise BadInput("lookup", f"{path.name} {error.rule}", error.remedy) from None
    values: list[list[Any]] = [[value or None for value in column] for column in columns]
    return path.name, header, [ColumnType.UNTYPED] * len(header), values


def _header(path: Path, form: Any) -> list[str]:
    """Return the names in a header, if it can be read with that delimiter."""
    try:
        return read_header(path, form, "lookup")[0]
    except BadInput:
        return []


def _no_key(key: str, name: str, names: Sequence[str]) -> BadInput:
    rule = f"names the column {key!r}, which the lookup {name} does not have"
    return BadInput("on", rule, f"{did_you_mean(key, names)} it has {list_names(names)}".lstrip())


def _of_frame(frame: Any) -> tuple[str, list[str], list[ColumnType], list[list[Any]]]:
    """Read a frame, as frames of data are read; no kind of it is guessed."""
    from .dataframes import open_frame

    try:
        columns, source = open_frame(frame)
        opaque = next((column for column in columns if column.kind.is_opaque), None)
        if opaque is not None:
            rule = f"has the column {opaque.name}, which is {opaque.described_kind}"
            raise BadInput("lookup", rule, "leave that column out of the lookup")
        listed = ", ".join(f"{written_as(column, _held(column))} AS c{n}" for n, column in enumerate(columns))
        rows = guarded(
            lambda: source.run(f"SELECT {listed} FROM data", [column.name for column in columns], {}),
            "could not be read to the end by its engine",
            "give a frame that fits into memory",
        )
    except BadInput as error:
        raise BadInput("lookup", error.rule, error.remedy) from None
    values = [rows.column(f"c{n}").to_pylist() for n in range(len(columns))]
    return "(a frame)", [column.name for column in columns], [column.kind for column in columns], values


def _held(column: Column) -> ColumnType:
    return ColumnType.TEXT if column.kind is ColumnType.UNTYPED else column.kind


def split_types(types: Mapping[Any, Any], raw: Sequence[RawLookup]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return the declared types of the data's columns, and those of columns of lookups."""
    joined = {column.name.casefold() for each in raw for column in each.columns}
    of_lookups = {name: kind for name, kind in types.items() if str(name).casefold() in joined}
    return {name: kind for name, kind in types.items() if name not in of_lookups}, of_lookups


def bind_lookups(
    raw: Sequence[RawLookup], columns: Sequence[Column], types: Mapping[Any, Any]
) -> tuple[tuple[Lookup, ...], dict[str, Declared]]:
    """Read the keys of lookups as the columns of the data that they are joined on; no record is read.

    Parameters
    ----------
    raw : sequence of RawLookup
    columns : sequence of Column
        Those of the data, with their declared types.
    types : mapping
        Declared types of columns of lookups.

    Returns
    -------
    tuple of (tuple of Lookup, dict)
        The lookups, and what is declared of their columns.

    Raises
    ------
    BadInput
        For a key that the data does not have, one that cannot be compared, keys that are missing or given twice, and
        columns that the data has as well.
    """
    declared = read_types(types, [column for each in raw for column in each.columns]) if types else {}
    return tuple(_bind(each, columns, declared) for each in raw), declared


def _bind(raw: RawLookup, columns: Sequence[Column], declared: Mapping[str, Declared]) -> Lookup:
    key = _key(raw, columns)
    own = {column.name.casefold(): column.name for column in columns}
    taken = next((column.name for column in raw.columns if column.name.casefold() in own), None)
    if taken is not None:
        rule = f"{raw.name} has the column {taken!r}, which the data has as well"
        raise BadInput("lookup", rule, "rename or drop it in the lookup")
    kind = _held(key)
    keys = _read_keys(raw, key, kind)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    made = _derivation(raw, key, kind, keys)
    joined = tuple(replace(column, derivation=made) for column in raw.columns)
    digest = _digest(kind, [keys[row] for row in order], raw, order)
    return Lookup(raw.name, raw.path, key, kind, _typed(joined, declared), len(keys), digest, _arrow(kind, keys, raw))


def _key(raw: RawLookup, columns: Sequence[Column]) -> Column:
    key = find_column(raw.key, columns, "on")
    if key.kind.is_opaque:
        rule = f"names {key.name}, which is {key.described_kind}"
        raise BadInput("on", rule, "join on text, numbers, dates or truth values")
    return key


def _read_keys(raw: RawLookup, key: Column, kind: ColumnType) -> list[Any]:
    """Read keys as records are read; no two are one, and none is missing."""
    if key.spelling == PLAIN:  # all at once, for there may be a million
        at_once = read_values([_as_text(value, kind) for value in raw.keys], kind)
        if None not in at_once and len(set(at_once)) == len(at_once):
            return at_once
    keys: list[Any] = []
    first: dict[Any, int] = {}
    for row, value in enumerate(raw.keys, 1):
        where = f"{raw.name} has in row {row}"
        if value is None:
            rule = f"{where} no value of the key {raw.key}"
            raise BadInput("lookup", rule, "drop the row: a record without a key has no match")
        try:
            read = read_declared_value(_as_text(value, kind), key, kind)
        except ValueError:
            rule = f"{where} the key {_shown(value)}, which is declared to be a missing value of {key.name}"
            raise BadInput("lookup", rule, "drop the row, or declare other codes for missing values") from None
        if read is None:
            declared = key.spelling.describe(number=kind is not ColumnType.DATE, date=kind is ColumnType.DATE)
            remedy = "correct or drop the row, or declare the type of the key with types="
            if declared:
                remedy = f"write keys as the data does: {key.name} is declared as {declared}"
            raise BadInput("lookup", f"{where} the key {_shown(value)}, and {key.name} is {kind} in the data", remedy)
        if first.setdefault(read, row) != row:
            other = raw.keys[first[read] - 1]
            spelt = "" if other == value else f" ({_shown(other)} and {_shown(value)} are one value as {kind})"
            rule = f"{raw.name} has the key {_shown(value)} in rows {first[read]} and {row}{spelt}"
            raise BadInput("lookup", rule, f"keep one row for each value of {key.name}")
        keys.append(read)
    return keys


def _as_text(value: Any, kind: ColumnType) -> Any:
    """Return a number of a frame as the text that a text column holds it as."""
    return value if isinstance(value, str) or kind is not ColumnType.TEXT else text_of(value)


def _shown(value: Any) -> str:
    return (json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value))[:60]


def _derivation(raw: RawLookup, key: Column, kind: ColumnType, keys: Sequence[Any]) -> Derivation:
    text = f"LOOKUP({key.name})"
    return Derivation(
        text,
        text,
        (key,),
        None,
        tuple(_notes_on_spelling(raw, key, kind)),
        ((key.name, kind),),
        tuple(value for value in keys if isinstance(value, str) and not value.isascii())[:1],
        joined=True,
    )


def _notes_on_spelling(raw: RawLookup, key: Column, kind: ColumnType) -> Iterator[Note]:
    """Say of keys that look like numbers or dates how they are compared, and of keys that few records may spell so."""
    if kind is not ColumnType.TEXT:
        return
    values = [value for value in raw.keys if isinstance(value, str)]
    alike = grouped_by_letters(replace(key, kind=ColumnType.TEXT), values[:5])
    if alike is not None:
        yield alike
    odd = next((each for each in values if each != each.strip() or not unicodedata.is_normalized("NFC", each)), None)
    if odd is not None:
        why = "blanks at an end" if odd != odd.strip() else "an accent as a letter of its own (not in NFC)"
        fact = f"the key {json.dumps(odd[:40])} of {raw.name} has {why}, and matches records that spell it so"
        yield Note(fact, "correct the lookup if the data is spelt otherwise")


def _typed(columns: Sequence[Column], declared: Mapping[str, Declared]) -> tuple[Column, ...]:
    """Return columns of what is declared of them, which are still read from the lookup."""
    return tuple(
        found
        if found is column or found.derivation is None
        else replace(found, derivation=replace(found.derivation, readings=((column.name, column.kind),)))
        for column, found in zip(columns, typed(columns, declared), strict=True)
    )


def _digest(kind: ColumnType, keys: Sequence[Any], raw: RawLookup, order: Sequence[int]) -> str:
    named = sorted(zip(raw.columns, raw.values, strict=True), key=lambda pair: pair[0].name)
    listed = [[column.name, str(column.kind), [values[row] for row in order]] for column, values in named]
    document = json.dumps([str(kind), list(keys), listed], ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(document.encode()).hexdigest()


def _arrow(kind: ColumnType, keys: Sequence[Any], raw: RawLookup) -> pa.Table:
    import pyarrow as pa

    columns = {"k": array_of_kind(keys, kind)}
    for number, (column, values) in enumerate(zip(raw.columns, raw.values, strict=True)):
        columns[f"c{number}"] = _values(values, _held(column))
    return pa.table(columns)


def _values(values: Sequence[Any], kind: ColumnType) -> pa.Array:
    import pyarrow as pa

    if kind is ColumnType.TEXT:
        return texts(values)
    arrow = {
        ColumnType.INTEGER: pa.int64(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.DATE: pa.timestamp("us"),
    }
    return pa.array(values, arrow[kind])


# Join in a statement.


def used_lookups(lookups: Sequence[Lookup], columns: Sequence[Column]) -> list[tuple[Lookup, list[str]]]:
    """Return the lookups that some columns come from, each with the names of its columns among them."""
    names = {found.name for column in columns for found in lineage(column) if _is_joined(found)}
    used = [(lookup, [column.name for column in lookup.columns if column.name in names]) for lookup in lookups]
    return [(lookup, named) for lookup, named in used if named]


def _is_joined(column: Column) -> bool:
    return column.derivation is not None and column.derivation.joined


def lineage(column: Column) -> Iterator[Column]:
    """Yield a column, and all that it is computed of."""
    yield column
    for source in column.sources:
        if source is not column:
            yield from lineage(source)


def held_names(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that a table must hold for some to be read."""
    found = (each for column in columns for each in lineage(column))
    return list(dict.fromkeys(each.name for each in found if each.derivation is None))


def join(
    used: Sequence[tuple[Lookup, list[str]]], held: Sequence[str] | None = None, *, place: str | None = None
) -> str:
    """Write a SELECT over `data` and the relations of lookups that has the joined columns as well.

    Parameters
    ----------
    used : sequence of (Lookup, list of str)
        Keys are unique, so that a record finds one row at most, and a left join keeps each record once.
    held : sequence of str, optional
        The columns of `data` that are wanted. [default: all]
    place : str, optional
        The name of a further column, which numbers records as they are read, before the join.
    """
    listed = [] if held is None else [f"data.{quote_name(name)} AS {quote_name(name)}" for name in held]
    data = "data"
    if place is not None:
        numbered = ", ".join([*listed, f"ROW_NUMBER() OVER () AS {quote_name(place)}"])
        data = f"(SELECT {numbered} FROM data) AS data"
        listed.append(f"data.{quote_name(place)} AS {quote_name(place)}")
    parts, joins = listed or ["data.*"], []
    for number, (lookup, named) in enumerate(used):
        relation = f"lookup{number}"
        places = {column.name: index for index, column in enumerate(lookup.columns)}
        parts += [f"{relation}.c{places[name]} AS {quote_name(name)}" for name in named]
        joins.append(f"LEFT JOIN {relation} ON {written_as(lookup.key, lookup.kind)} = {relation}.k")
    return " ".join([f"SELECT {', '.join(parts)} FROM {data}", *joins])


def relations(used: Sequence[tuple[Lookup, list[str]]]) -> dict[str, pa.Table]:
    """Return the relations that `join` names."""
    return {f"lookup{number}": lookup._values for number, (lookup, _) in enumerate(used)}
