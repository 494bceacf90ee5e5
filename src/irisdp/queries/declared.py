"""Every form in which groups or categories can be declared, brought into columns in the order of those they are of."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping, MappingView, Sequence, Set
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput
from ..outputs import same_file
from .columns import list_names
from .engine import check_readable, guarded
from .text import DELIMITERS, read_columns, read_form

__all__ = ["CATEGORIES", "GROUPS", "Declared", "Declares", "check_apart", "groups_file", "read_declared"]


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
    one_file = (
        file is not None
        and path is not None
        and guarded(
            lambda: same_file(Path(file).expanduser(), Path(path).expanduser()),
            "is no usable path",
            "name a file",
            what.option,
        )
    )
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
    if isinstance(declared, str):
        _refuse_file_as_value(declared, what)
        if len(names) > 1:
            raise BadInput(
                what.option, "lists values, but there are several group columns", "give a list of tuples, or a CSV file"
            )
        return [_listed(declared, what)]
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


def _listed(text: str, what: Declares) -> list[str]:
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
    """Return a scalar of NumPy's as Python's own; what that would change stays as it is, to be refused."""
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

    from ..graphs.frames import refuse_names_given_twice
    from .frames import arrow_table

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
