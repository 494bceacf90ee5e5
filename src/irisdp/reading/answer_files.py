"""A published file of answers as it is on the disk: its columns and its rows, whatever its format."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..exact import read_json
from ..release.group_names import as_written

__all__ = ["rows_of"]

_MOST_VALUES = 2 * 10**7
"""Values that a Parquet file of answers may hold, or one for each of its bytes."""


def rows_of(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of a published file, by its ending.

    Raises
    ------
    BadInput
        For a file that is not there or none that `publish` wrote, and for one that was changed since: the data package
        beside it holds its digest.
    """
    if not path.is_file():
        raise BadInput("release", f"there is no {path.name} beside it", "give value=, or put the file beside it")
    _check_unchanged(path)
    columns, rows = _read(path)
    if any(len(row) != len(columns) for row in rows):
        raise BadInput("release", f"{path.name} has rows of different lengths", "give a file that publish wrote")
    return columns, rows


def _check_unchanged(path: Path) -> None:
    package = path.with_name(f"{path.name}.datapackage.json")
    if not package.is_file():
        return
    described = read_json(package, "release")
    resources = described.get("resources") if isinstance(described, Mapping) else None
    for resource in resources if isinstance(resources, list) else []:
        if isinstance(resource, Mapping) and resource.get("path") == path.name:
            kind, _, digest = str(resource.get("hash")).partition(":")
            if kind == "sha256" and digest != hashlib.sha256(path.read_bytes()).hexdigest():
                rule = f"{path.name} is not as it was published: {package.name} holds another sha256"
                raise BadInput("release", rule, "publish the same again with force=True, which is free of charge")


def _read(path: Path) -> tuple[list[str], list[list[Any]]]:
    ending = path.suffix.lower()
    if ending == ".parquet":
        return _read_parquet(path)
    if ending == ".json":
        found = read_json(path, "release")
        rows = found if isinstance(found, list) and all(isinstance(row, Mapping) for row in found) else []
        columns = list(rows[0]) if rows else ["answer"]
        return columns, [list(row.values()) if list(row) == columns else [] for row in rows]
    try:
        with path.open(newline="", encoding="utf-8") as file:
            columns, *lines = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise BadInput("release", f"cannot read {path.name} as CSV", "give a file that publish wrote") from None
    return list(map(as_written, columns)), [list(map(as_written, line)) for line in lines]


def _read_parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Read within bounds: a few bytes can say that one value stands there a billion times."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names, told = file.schema_arrow.names, file.metadata
            rows = sum(told.row_group(place).num_rows for place in range(told.num_row_groups))
            nested = any(map(pyarrow.types.is_nested, file.schema_arrow.types))
        if nested or rows * len(names) > max(_MOST_VALUES, path.stat().st_size):
            rule = f"{path.name} holds lists, or more rows ({rows}) than are read from a file of its size"
            raise BadInput("release", rule, "give a file that publish wrote")
        # A text that stands there many times is held once.
        table = pyarrow.parquet.read_table(path, read_dictionary=names)
    except (OSError, pyarrow.ArrowException):
        raise BadInput("release", f"cannot read {path.name} as Parquet", "give a file that publish wrote") from None
    return table.column_names, list(map(list, zip(*map(_values, table.columns), strict=True)))


def _values(column: Any) -> list[Any]:
    found: list[Any] = []
    for chunk in column.chunks:
        listed = getattr(chunk, "dictionary", None)
        if listed is None:
            found += chunk.to_pylist()
        else:
            values = listed.to_pylist()
            found += [None if place is None else values[place] for place in chunk.indices.to_pylist()]
    return found
