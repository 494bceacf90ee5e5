"""Every form in which groups can be declared, brought into rows in the order of the group columns."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..outputs import same_file
from .columns import list_names
from .engine import guarded
from .text import DELIMITERS, read_form, read_rows

__all__ = ["check_apart", "declared_rows", "groups_file"]


def declared_rows(declared: Any, names: list[str]) -> list[tuple[Any, ...]]:
    """Return one row of plain values per declared group; see `groups.read_groups` for the forms."""
    rows = _rows(declared, names)
    return [tuple(value.item() if isinstance(value, np.generic) else value for value in row) for row in rows]


def groups_file(declared: Any) -> Path | None:
    """Return the file that declares the groups, where it is a file that does."""
    if isinstance(declared, os.PathLike) or (isinstance(declared, str) and declared.lower().endswith((".csv", ".tsv"))):
        return Path(os.fsdecode(declared))
    return None


def check_apart(declared: Any, data: Any) -> None:
    """Refuse the data, under whatever name, as the declaration of its own groups.

    A copy of the data cannot be told from a file of groups; whoever makes one has been warned by the manual.

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
            "groups",
        )
    )
    if one_file or (declared is not None and declared is data):
        raise BadInput(
            "--groups", "is the data itself, and would reveal who is in it", "declare the groups in a file of their own"
        )


def _rows(declared: Any, names: list[str]) -> list[tuple[Any, ...]]:
    import narwhals as nw

    file = groups_file(declared)
    if file is not None:
        return _file_rows(file, names)
    if isinstance(declared, str):
        if len(names) > 1:
            raise BadInput("groups", "lists values, but there are several group columns", "give a CSV file of groups")
        values = guarded(lambda: next(csv.reader([declared]), []), "is not a list a,b,c", "quote odd values", "groups")
        return [(value.strip(),) for value in values]
    if isinstance(declared, Mapping):
        return _column_rows(declared, names)
    if nw.dependencies.is_into_dataframe(declared):
        return _frame_rows(declared, names)
    if isinstance(declared, Iterable):
        return [_row(row, names) for row in declared]
    raise BadInput("groups", f"cannot be read from {type(declared).__name__}", "give a CSV file, a list, or a frame")


def _file_rows(path: Path, names: list[str]) -> list[tuple[Any, ...]]:
    form = read_form(path.suffix.lower() if path.suffix.lower() in DELIMITERS else ".csv")
    rule = f"cannot read {str(path)!r} as a CSV file in UTF-8"
    path = guarded(path.expanduser, rule, "give an existing file", "groups")
    if not guarded(path.is_file, rule, "give an existing file", "groups"):
        raise BadInput("groups", f"finds no file at {str(path)!r}", "give an existing file")
    header, rows = read_rows(path, form, "groups")
    places = _places(header, names)
    return [tuple(row[place] for place in places) for row in rows]


def _column_rows(declared: Mapping[Any, Any], names: list[str]) -> list[tuple[Any, ...]]:
    places = _places(list(declared), names)
    columns = [list(value) for value in declared.values()]
    if len({len(column) for column in columns}) > 1:
        raise BadInput("groups", "has columns of unequal length", "give one value per group in each")
    return list(zip(*(columns[place] for place in places), strict=True))


def _frame_rows(declared: Any, names: list[str]) -> list[tuple[Any, ...]]:
    import narwhals as nw

    from .frames import arrow_table

    table = guarded(
        lambda: arrow_table(nw.from_native(declared, eager_only=True)),
        "cannot be read from this frame",
        "give columns of text, numbers or dates",
        "groups",
    )
    return _column_rows({name: table.column(name).to_pylist() for name in table.column_names}, names)


def _row(row: Any, names: list[str]) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        return tuple(list(row.values())[place] for place in _places(list(row), names))
    values = tuple(row) if isinstance(row, tuple | list) else (row,)
    if len(values) != len(names):
        raise BadInput("groups", f"needs {len(names)} values in each group", f"give them as {', '.join(names)}")
    return values


def _places(header: Sequence[Any], names: list[str]) -> list[int]:
    """Find the group columns in a header that must name exactly them, in any order."""
    folded = [str(name).strip().casefold() for name in header]
    wanted = [name.casefold() for name in names]
    if sorted(folded) != sorted(wanted):
        raise BadInput("groups", "must have exactly the group columns", f"name them {list_names(names)}")
    return [folded.index(name) for name in wanted]
