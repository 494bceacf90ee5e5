"""Declared groups: the cells of a grouped question, listed by the data owner and never taken from the data."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, MappingView, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._files import same_file
from .._tables import (
    DELIMITERS,
    FEW,
    PLAIN,
    Column,
    ColumnType,
    Note,
    Table,
    any_empty,
    array_of_kind,
    check_readable,
    grouped_by_letters,
    guarded,
    integers_of,
    list_names,
    read_columns,
    read_declared_value,
    read_form,
    read_values,
    rows_of,
    text_of,
    whole_numbers,
)
from ..errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa


# Convert every form in which groups or categories can be declared to columns.


class Declares(NamedTuple):
    """What a list declares: the option, and what one value of it is called."""

    option: str
    one: str


GROUPS = Declares("groups", "group")
CATEGORIES = Declares("categories", "category")


_TABLE_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".psv", ".txt", ".dat", ".parquet", ".pq", ".arrow", ".feather", ".json", ".jsonl"),
    *(".ndjson", ".xlsx", ".xls", ".ods", ".gz", ".zip", ".zst", ".bz2", ".xz"),
)
"""Whoever writes a name that ends so means a file: as a group it would be charged for, and hold nobody."""

_WRITTEN_LIST = re.compile(r'(?: *"(?:[^"]|"")*" *|[^",]*)(?:,(?: *"(?:[^"]|"")*" *|[^",]*))*')
"""Values between commas: each in double quotes, in which two stand for one, or without any."""

_WRITTEN_PART = re.compile(r'(?:^|,)( *"(?:[^"]|"")*" *|[^",]*)')

_LIST_AS_TEXT = re.compile(r"""\s*[\[({]\s*((['"]).*\2\s*,?|[^][(){}]*,[^][(){}]*|)\s*[])}]\s*""", re.DOTALL)
"""What Python and JSON write for a list, with its quotes or without: the first value would begin with a bracket."""

_WRITTEN_VALUE = re.compile(r'(?:^|,)("(?:[^"]|"")*"|[^,]*)')


class Declared(NamedTuple):
    """Groups as they were declared: a list of plain values for each group column."""

    columns: list[list[Any]]
    ordered: bool
    """False for a set, whose order changes from run to run."""


def groups_file(declared: Any) -> Path | None:
    """Return the file that declares the groups, where it is a file that does."""
    if isinstance(declared, os.PathLike) or (isinstance(declared, str) and declared.lower().endswith((".csv", ".tsv"))):
        return Path(os.fsdecode(declared))
    return None


def check_apart(declared: Any, data: Any, what: Declares = GROUPS) -> None:
    """Refuse the data, under whatever name, as the declaration of its own groups (or categories).

    A copy of the data looks like a file of groups; the manual warns against making one.

    Raises
    ------
    BadInput
        If both are one frame or, through links of either kind, one file.
    """
    file = groups_file(declared)
    path = data if isinstance(data, str | os.PathLike) else None
    one_file = file is not None and path is not None and _is_one_file(file, path, what)
    if one_file or (declared is not None and declared is data):
        raise BadInput(
            what.option,
            "is the data itself, and would reveal who is in it",
            f"declare the {what.option} in a file of their own",
        )


def read_declared(declared: Any, names: list[str], what: Declares = GROUPS) -> Declared:
    """Bring declared groups or categories into columns, in the order of `names`; forms as for `read_groups`."""
    ordered = not _is_unordered(declared)
    return Declared([_plain_values(column) for column in _columns(declared, names, what)], ordered)


def _columns(declared: Any, names: list[str], what: Declares) -> list[list[Any]]:
    file = groups_file(declared)
    if file is not None:
        return _file_columns(file, names, what)
    lists = _lists_by_column(declared, names) if what is GROUPS else None
    if lists is not None:
        return _product(lists, names)
    if isinstance(declared, str):
        _refuse_file_as_value(declared, what)
        if len(names) > 1:
            raise BadInput(
                what.option, "lists values, but there are several group columns", "give a list of tuples, or a CSV file"
            )
        return [_declared_list(declared, what)]
    if isinstance(declared, Mapping):
        return _from_mapping(declared, names, what)
    import narwhals as nw  # for frames and series alone

    if nw.dependencies.is_into_dataframe(declared):
        return _from_frame(declared, names, what)
    if nw.dependencies.is_into_series(declared) and not nw.dependencies.is_into_dataframe(declared):
        declared = _series_values(declared, what)
    if isinstance(declared, Iterable) and not isinstance(declared, bytes | bytearray | memoryview):
        return _transposed([_row(row, names, what) for row in declared], names)
    kind = "a number" if isinstance(declared, int | float | Decimal) else type(declared).__name__
    raise BadInput(what.option, f"cannot be read from {kind}", "give a CSV file, a list, or a frame")


_MOST_IN_PRODUCT = 10**6


def _lists_by_column(declared: Any, names: list[str]) -> dict[str, str] | None:
    """Return the values listed for each of several group columns, as text; None where groups are listed otherwise.

    A text such as ``ward=north,east`` for each column is no list of groups of several columns, which are tuples.
    """
    if len(names) < 2 or not isinstance(declared, list | tuple) or not declared:
        return None
    lists: dict[str, str] = {}
    for text in declared:
        named = split_list(text)
        if named is None:
            return None
        name, values = named
        column = next((own for own in names if own.casefold() == name.casefold()), None)
        if column is None:
            rule = f"lists values of {name[:60]!r}, which is no group column"
            raise BadInput("groups", rule, f"write for example groups=['{names[0]}=north,east', '{names[1]}=f,m']")
        lists[column] = f"{lists[column]},{values}" if column in lists else values
    missing = [name for name in names if name not in lists]
    if missing:
        rule = f"lists no values of {list_names(missing)}"
        raise BadInput("groups", rule, f"add a list for each group column, such as '{missing[0]}=a,b'")
    return lists


def split_list(text: Any) -> tuple[str, str] | None:
    """Return the column and the values of a text such as ``ward=north,east``; None for any other.

    Examples
    --------
    >>> split_list("ward=north,east"), split_list("north,east")
    (('ward', 'north,east'), None)
    """
    if not isinstance(text, str) or '"' in text.partition("=")[0]:
        return None
    name, sign, values = text.partition("=")
    return (name.strip(), values) if sign and name.strip() and "," not in name else None


def _product(lists: Mapping[str, str], names: list[str]) -> list[list[Any]]:
    """Return every combination of the values that are listed for the columns."""
    parts = []
    for name in names:
        _refuse_file_as_value(lists[name], GROUPS)
        parts.append(_declared_list(lists[name], GROUPS))
        if len(set(parts[-1])) < len(parts[-1]):
            raise BadInput("groups", f"lists a value of {name} twice", "list each value once")
    if math.prod(map(len, parts)) > _MOST_IN_PRODUCT:
        rule = f"makes more than {_MOST_IN_PRODUCT:,} groups of all combinations"
        raise BadInput("groups", rule, "declare those there are, in a CSV file")
    return _transposed(list(itertools.product(*parts)), names)


def _declared_list(text: str, what: Declares) -> list[str]:
    """Split values at commas; which part of a text is quoted is never guessed. A quoted value keeps its blanks.

    Raises
    ------
    BadInput
        For a double quote inside a value, or one that is not closed, and for a list of Python or JSON as text.
    """
    if _LIST_AS_TEXT.fullmatch(text):
        rule = f"is a list written as text, {text[:60]!r}"
        remedy = (
            f"write {what.option}='north,east', or a list and no text; one value with a comma is written '\"[0,5]\"'"
        )
        raise BadInput(what.option, rule, remedy)
    if not _WRITTEN_LIST.fullmatch(text):
        rule = "has a double quote inside a value, and values are split at commas"
        written = 'put the whole value in double quotes and write those in it twice, \'"a ""b"" c"\''
        raise BadInput(what.option, rule, f"give a list of values, or a CSV file, or {written}")
    guarded(
        lambda: list(csv.reader([text], skipinitialspace=True)),
        "is not a list a,b,c",
        "give a list of values",
        what.option,
    )
    return [_unquoted(value) for value in _WRITTEN_PART.findall(text)] if text else []


def _unquoted(written: str) -> str:
    """Return a value without the blanks around it, or the quotes."""
    value = written.strip()
    return value[1:-1].replace('""', '"') if value.startswith('"') else value


def _refuse_file_as_value(text: str, what: Declares) -> None:
    """Refuse what looks like the name of a file among values: only names in double quotes are values then.

    Raises
    ------
    BadInput
        For a value that ends as tables do, and for a single one that is the name of a file.
    """
    values = [value.strip() for value in _WRITTEN_VALUE.findall(text)]
    files = [value for value in values if value.lower().endswith(_TABLE_ENDINGS)]  # one in quotes ends in a quote
    if len(values) == 1 and os.path.isfile(os.path.expanduser(values[0])):
        files = values
    if files:
        raise BadInput(
            what.option,
            f"names the file {files[0][:60]!r}; Iris reads {what.option} from .csv and .tsv files",
            f"save it as CSV with a header. If it is a {what.one}'s name, write '\"{files[0][:60]}\"'",
        )


def _transposed(rows: list[tuple[Any, ...]], names: list[str]) -> list[list[Any]]:
    return list(map(list, zip(*rows, strict=True))) if rows else [[] for _ in names]


def _is_unordered(values: Any) -> bool:
    """Tell a set from what has an order; views of a mapping count as sets, but have one."""
    return isinstance(values, Set) and not isinstance(values, MappingView)


def _plain_values(values: Sequence[Any]) -> list[Any]:
    """Return values with scalars of NumPy's as Python's own."""
    if any(issubclass(kind, np.generic) for kind in set(map(type, values))):
        return list(map(_plain, values))
    return list(values)


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to Python; a value that this would change stays, and is refused later."""
    if isinstance(value, np.datetime64):
        whole = value.astype("datetime64[us]")
        return whole.item() if whole == value or np.isnat(value) else value
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.timedelta64) else value


def _series_values(series: Any, what: Declares) -> Any:
    """List a series without rounding: Polars would cut times down to microseconds."""
    import narwhals as nw

    if nw.dependencies.is_pandas_like_series(series):
        return series
    whole = nw.from_native(series, series_only=True)
    return guarded(
        lambda: whole.to_arrow().to_pylist(), "cannot be read from this series", "give a list of values", what.option
    )


def _file_columns(path: Path, names: list[str], what: Declares) -> list[list[Any]]:
    form = read_form(path.suffix.lower() if path.suffix.lower() in DELIMITERS else ".csv")
    rule = f"cannot read {str(path)!r} as a CSV file in UTF-8"
    path = guarded(path.expanduser, rule, "give an existing file", what.option)
    if not guarded(path.is_file, rule, "give an existing file", what.option):
        raise BadInput(what.option, f"finds no file at {str(path)!r}", "give an existing file")
    check_readable(path, what.option)
    header, columns = read_columns(path, form, what.option)
    return [columns[place] for place in _places(header, names, what)]


def _from_mapping(declared: Mapping[Any, Any], names: list[str], what: Declares) -> list[list[Any]]:
    import narwhals as nw

    places = _places(list(declared), names, what)
    if any(_is_unordered(value) or not isinstance(value, Iterable) for value in declared.values()):
        raise BadInput(what.option, "has a column that is no list of values", "give each column as a list, not a set")
    columns = [
        list(_series_values(value, what) if nw.dependencies.is_into_series(value) else value)
        for value in declared.values()
    ]
    if len({len(column) for column in columns}) > 1:
        raise BadInput(what.option, "has columns of unequal length", f"give one value per {what.one} in each")
    return [columns[place] for place in places]


def _from_frame(declared: Any, names: list[str], what: Declares) -> list[list[Any]]:
    import narwhals as nw

    from .._frames import refuse_names_given_twice
    from .._tables import arrow_table

    try:
        table = guarded(
            lambda: arrow_table(nw.from_native(declared, eager_only=True)),
            "cannot be read from this frame",
            "give columns of text, numbers or dates",
            what.option,
        )
    except BadInput:
        refuse_names_given_twice(declared, what.option)
        raise
    values = guarded(
        lambda: {name: table.column(name).to_pylist() for name in table.column_names},
        "has values that Python cannot hold",
        "give columns of text, numbers or dates",
        what.option,
    )
    return _from_mapping(values, names, what)


def _row(row: Any, names: list[str], what: Declares) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        return tuple(list(row.values())[place] for place in _places(list(row), names, what))
    values = tuple(row) if isinstance(row, tuple | list) else (row,)
    if len(values) != len(names):
        remedy = (
            f"give them as {', '.join(names)}" if len(names) > 1 else "give a list of values, as in ['north', 'east']"
        )
        raise BadInput(what.option, f"needs {len(names)} values in each {what.one}, not {len(values)}", remedy)
    return values


def _places(header: Sequence[Any], names: list[str], what: Declares) -> list[int]:
    """Find the group columns in a header that must name exactly them, in any order."""
    folded = [str(name).strip().casefold() for name in header]
    wanted = [name.casefold() for name in names]
    if sorted(folded) != sorted(wanted):
        wanted_columns = "the group columns" if what is GROUPS else "one column"
        raise BadInput(
            what.option,
            f"must have exactly {wanted_columns}",
            f"name {'them' if what is GROUPS else 'it'} {list_names(names)}",
        )
    return [folded.index(name) for name in wanted]


_KEYS_PER_GROUP = 4
"""Keys in the box around the declared ones, at most, for each declared one."""

_MOST_NAMED = 5
_MOST_LISTED = 30


@dataclass(frozen=True, eq=False)
class Groups:
    """The cells of a grouped question: no two have one key, for the engine that joins them with the records.

    Attributes
    ----------
    columns : tuple of Column
        The group columns, with the kind their values are read as.
    labels : tuple of tuple
        One row per group, as declared; public.
    shown : int64 array
        In which order people see them: the n-th group shown is the row `shown[n]` of the others.
    """

    columns: tuple[Column, ...]
    labels: tuple[tuple[Any, ...], ...] = field(repr=False)
    shown: NDArray[np.int64] = field(repr=False)
    _keys: pa.Table = field(repr=False)
    _order: NDArray[np.int64] = field(repr=False)
    """The rows as an engine sorts them by key."""
    listed: Note | None = field(default=None, repr=False)
    """The values as Iris split them, where blanks, commas or quotes make another split likely."""

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.labels)

    @property
    def names(self) -> tuple[Any, ...]:
        """The values of the one column, as declared and as JSON can hold them."""
        return tuple(value if isinstance(value, str | int | float | bool) else str(value) for (value,) in self.labels)

    def arrow(self) -> pa.Table:
        """Return the keys as columns k0, k1, ... and each group's `position`, for an engine to join with."""

        return self._keys.append_column("position", whole_numbers(np.arange(len(self))))

    def box(self) -> list[tuple[int, int]] | None:
        """Return the least and greatest key of each column where they are whole numbers and box in few keys in all.

        An engine that counts every key in the box then needs memory in proportion to the number of groups, whatever
        the records are.
        """
        if not len(self) or any(column.kind is not ColumnType.INTEGER for column in self.columns):
            return None
        columns = [integers_of(column) for column in self._keys.columns]
        ends = [(int(column.min()), int(column.max())) for column in columns]
        boxed = math.prod(greatest - least + 1 for least, greatest in ends)
        return ends if boxed <= _KEYS_PER_GROUP * len(self) else None

    def by_key(self) -> Groups:
        """Return the groups sorted by key, to be shown as before: the same cells for every order and spelling."""
        place = np.empty_like(self._order)
        place[self._order] = np.arange(len(place))
        labels = tuple(map(self.labels.__getitem__, self._order.tolist()))
        keys, order = self._taken(self._order), np.arange(len(place))
        return Groups(self.columns, labels, place[self.shown], keys, order, self.listed)

    def _taken(self, rows: NDArray[np.int64], first: int = 0) -> pa.Table:
        """Return rows of the keys, whose columns are counted from the first."""
        import pyarrow as pa

        pairs = enumerate(zip(self._keys.columns, self.columns, strict=True), first)
        return pa.table({f"k{place}": rows_of(keys, column.kind, rows) for place, (keys, column) in pairs})

    def describe(self) -> str:
        """Say how many there are, and the first few by name, as text or as numbers."""
        shown = [self.labels[row] for row in self.shown[:_MOST_NAMED].tolist()]
        named = [
            ", ".join(json.dumps(part, ensure_ascii=False) if isinstance(part, str) else str(part) for part in label)
            for label in shown
        ]
        more = len(self) - len(named)
        return f"{len(self)} declared: {' · '.join(named)}" + (f" and {more} more" if more else "")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on groups that look like dates or numbers but are compared as text, and on how they were split."""
        values = zip(*self.labels[:_MOST_NAMED], strict=True)
        alike = (grouped_by_letters(column, listed) for column, listed in zip(self.columns, values, strict=False))
        return tuple(note for note in (*alike, self.listed) if note is not None)

    @property
    def texts(self) -> tuple[str, ...]:
        """The declared values that are looked for as text."""
        return tuple(dict.fromkeys(value for label in self.labels for value in label if isinstance(value, str)))

    def parted(self, parts: Groups) -> Groups:
        """Return a group for each pair of a group here and a part of other columns; all are sorted by key.

        They are shown in the order of these groups, and within each in the order of the parts.
        """
        size = len(parts)
        keys = self._taken(np.repeat(np.arange(len(self)), size))
        more = parts._taken(np.tile(np.arange(size), len(self)), len(self.columns))
        for name in more.column_names:
            keys = keys.append_column(name, more.column(name))
        labels = tuple((*label, *part) for label in self.labels for part in parts.labels)
        shown = (self.shown[:, None] * size + parts.shown[None, :]).ravel()
        return Groups((*self.columns, *parts.columns), labels, shown, keys, np.arange(len(labels)))

    @cached_property
    def digest(self) -> str:
        """A digest of what the engine joins, kinds and keys, in the order of these groups."""
        columns = [self._keys.column(name) for name in self._keys.column_names]
        kinds = [str(column.kind) for column in self.columns]
        keys = [_numbered(column).to_pylist() for column in columns]
        return hashlib.sha256(json.dumps([kinds, keys], ensure_ascii=False).encode()).hexdigest()


def find_keys(table: Table, by: Sequence[str] | str) -> tuple[Column, ...]:
    """Return the group columns of a table, checked."""
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not names:
        raise BadInput("by", "names no column", "give a list of one or more columns")
    columns = tuple(table.column(name, "by") for name in names)
    if len({column.name for column in columns}) < len(columns):
        raise BadInput("by", "names a column twice", "name each column once")
    for column in columns:
        if column.kind.is_opaque:
            raise BadInput(
                "by", f"groups by {column.name}, which is {column.described_kind}", "group by text, numbers or dates"
            )
    return columns


def read_groups(table: Table, by: Sequence[str] | str, declared: Any, what: Declares = GROUPS) -> Groups:
    """Read declared groups, or the categories of a column.

    Parameters
    ----------
    table : Table
        What is grouped.
    by : text or sequence of text
        The group columns.
    declared : text, path, sequence, mapping or frame
        Text such as ``"north,east"`` for one column; a value that could be meant for a file (it ends as tables do, or a
        file of that name exists) needs double quotes. Or a path (or text that ends in .csv or .tsv) of a file whose
        header names the group columns in any order, or of the lookup that has them. Or a sequence or set of values,
        tuples or mappings, a mapping from column to values, one for each group, or a frame. Of several columns also a
        list of one text for each, such as ``["ward=north,east", "sex=f,m"]``, which means all combinations.
    what : Declares
        What they are, for messages. [default: groups]

    Returns
    -------
    Groups
        In the declared order (a set, which has none, sorted by key), each group once. An untyped column (CSV) is read
        as text: 3 finds the records that spell it 3, and not 3.0 or 03, whatever else is declared. In a column with a
        type, declared values are of that type. No record has two of the keys: none are equal to an engine.

    Raises
    ------
    BadInput
        For no groups, a group given twice in whatever spelling, an empty value, the wrong columns, and a value its
        column cannot hold exactly.
    """
    import pyarrow as pa

    columns = find_keys(table, by)
    names = [column.name for column in columns]
    declared_values = read_declared(_listed_by_lookup(table, names, declared, what), names, what)
    if not declared_values.columns[0]:
        raise BadInput(what.option, f"declares no {what.one}", "declare one or more")
    kinds, arrays = [], {}
    for index, (column, values) in enumerate(zip(columns, declared_values.columns, strict=True)):
        kind, keys = _read_column(column, values, what, in_file=table.location is not None)
        kinds.append(replace(column, kind=kind))
        arrays[f"k{index}"] = array_of_kind(keys, kind)
    labels = tuple(zip(*declared_values.columns, strict=True))
    keys = pa.table(arrays)
    order = _sorted([_ranks(arrays[f"k{index}"], column.kind) for index, column in enumerate(kinds)], labels, what)
    groups = Groups(tuple(kinds), labels, np.arange(len(labels)), keys, order, _note_on_list(declared, labels, what))
    return groups if declared_values.ordered else replace(groups.by_key(), shown=np.arange(len(labels)))


def _listed_by_lookup(table: Table, names: Sequence[str], declared: Any, what: Declares) -> Any:
    """Return all that a lookup lists of its own columns, where it is the file that declares them."""
    file = groups_file(declared)
    if file is None:
        return declared
    for lookup in table.lookups:
        own = {column.name for column in lookup.columns}
        if lookup.path is not None and own.issuperset(names) and _is_one_file(file, lookup.path, what):
            return lookup.listed(names)
    return declared


def _is_one_file(one: Path, other: str | os.PathLike[str], what: Declares) -> bool:
    def compared() -> bool:
        return same_file(one.expanduser(), Path(other).expanduser())

    return guarded(compared, "is no usable path", "name a file", what.option)


def _note_on_list(declared: Any, labels: Sequence[tuple[Any, ...]], what: Declares) -> Note | None:
    """List the values where people may have meant others: with blanks at an end, or split from a text with quotes."""
    if isinstance(declared, str) and groups_file(declared) is None:
        doubtful = any(mark in declared for mark in "\"';|\t") or any(
            part != part.strip() for part in declared.split(",")
        )
    else:
        values = [value for label in labels for value in label if isinstance(value, str)]
        doubtful = any(value != value.strip() for value in values) or (
            len(labels) == 1 and any("," in v for v in values)
        )
    if not doubtful:
        return None
    shown = [", ".join(json.dumps(part, ensure_ascii=False, default=str) for part in label) for label in labels]
    more = f" and {len(shown) - _MOST_LISTED} more" if len(shown) > _MOST_LISTED else ""
    one = what.one if len(shown) == 1 else what.option
    remedy = "text is split at commas; put a value with a comma, or with a blank at an end, in double quotes"
    return Note(f"{len(shown)} {one} as declared: {' · '.join(shown[:_MOST_LISTED])}{more}", remedy, beside_answer=True)


def _read_column(column: Column, values: list[Any], what: Declares, *, in_file: bool) -> tuple[ColumnType, list[Any]]:
    if any_empty(values):
        remedy = f"give every {what.one} a value"
        if what is GROUPS:  # an empty cell is null, and in no group
            remedy += f"; for records without one write by=\"known = COALESCE({column.name}, 'none')\""
        raise BadInput(what.option, f"has an empty value for {column.name}", remedy)
    kind = column.kind
    if kind is ColumnType.UNTYPED:
        # By spelling, whatever is declared: were 1 and 2 numbers, declaring XYZ would change which records 1 counts.
        kind = ColumnType.TEXT
        other = next((value for value in values if _is_no_text(value)), None)
        if other is not None and in_file:
            kind_of_other = "truth value" if isinstance(other, bool) else "number"
            rule = f"has the {kind_of_other} {_show(other)} for {column.name}, which is read as text, by its spelling"
            declare = "boolean" if isinstance(other, bool) else "number"
            remedy = (
                f"write it as the file does, as in {str(other)!r}, or declare the type of {column.name} as {declare}"
            )
            raise BadInput(what.option, rule, remedy)
        if other is not None:  # a frame's own objects are read as text by the same rule
            values = [text_of(value) if _is_no_text(value) else value for value in values]
    keys = read_values(values, kind) if column.spelling == PLAIN else _spelt_keys(column, values, kind, what)
    if None in keys:
        value = values[keys.index(None)]
        remedy = f"give {kind} that needs no rounding: {_EXACT.get(kind, 'as the column holds it')}"
        declared = column.spelling.describe(number=kind is not ColumnType.DATE, date=kind is ColumnType.DATE)
        if declared and isinstance(value, str):
            remedy = f"write it as the file does: {column.name} is declared as {declared}"
        raise BadInput(what.option, f"has {_show(value)} for {column.name}, which is {kind}", remedy)
    return kind, keys


def _spelt_keys(column: Column, values: list[Any], kind: ColumnType, what: Declares) -> list[Any]:
    """Read declared values as records are, where it is declared how these are written."""
    keys = []
    for value in values:
        try:
            keys.append(read_declared_value(value, column, kind))
        except ValueError:
            rule = f"has {_show(value)} for {column.name}, and that is declared to be a missing value"
            raise BadInput(what.option, rule, "leave it out, or declare other codes for missing values") from None
    return keys


def _is_no_text(value: Any) -> bool:
    return isinstance(value, bool | float | Decimal)


_EXACT = {
    ColumnType.INTEGER: "it must fit 64 bits",
    ColumnType.NUMBER: "it is compared as a 64-bit float, so at most 17 digits",
    ColumnType.DATE: "dates and times go down to microseconds",
    ColumnType.TEXT: "it must be Unicode text",
}


def _ranks(keys: pa.Array, kind: ColumnType) -> NDArray[Any]:
    """Return numbers that are ordered, and equal, as engines have it that join keys: text goes by its bytes."""
    import pyarrow as pa

    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        return np.from_dlpack(keys)
    if len(keys) <= FEW:
        values = keys.to_pylist()  # by letters, whose order is that of their bytes in UTF-8
        places = {value: index for index, value in enumerate(sorted(set(values)))}
        return np.array([places[value] for value in values], dtype=np.int64)
    import pyarrow.compute as pc

    order = pc.sort_indices(keys)
    placed, ranks = keys.take(order), np.zeros(len(keys), dtype=np.int64)
    new = np.from_dlpack(pc.not_equal(placed[1:], placed[:-1]).cast(pa.uint8()))
    ranks[np.from_dlpack(order).astype(np.int64)[1:]] = np.cumsum(new, dtype=np.int64)
    return ranks


def _sorted(ranks: list[NDArray[Any]], labels: Sequence[tuple[Any, ...]], what: Declares) -> NDArray[np.int64]:
    """Sort keys by their ranks in each column, and refuse any two equal."""
    order = np.lexsort(ranks[::-1])
    alike = np.ones(len(order) - 1, dtype=np.bool_)
    for column in ranks:
        placed = column[order]
        alike &= placed[1:] == placed[:-1]
    twice = np.concatenate([order[1:][alike], order[:-1][alike]])
    if len(twice):
        found_twice = labels[int(twice.max())]
        label = _show(found_twice[0] if len(found_twice) == 1 else found_twice)
        raise BadInput(
            what.option, f"declares {label} twice, perhaps in another spelling", f"declare each {what.one} once"
        )
    return order


def _numbered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as microseconds, which every version of every library reads alike."""
    import pyarrow as pa

    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def _show(value: Any) -> str:
    try:
        return repr(value)[:80]
    except ValueError:  # an integer of thousands of digits
        return "a value that cannot be written"
