"""A published file of answers as stored on disk: its columns and its rows, in any format."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..exact import is_there, read_json
from ..release.group_names import as_written
from .agreement import check_agreement

__all__ = ["rows_of"]

_BESIDE = ".release.json"

_MOST_VALUES = 2 * 10**7
"""Values that a Parquet file of answers may hold, or one for each of its bytes."""


def rows_of(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of a published file, by its ending.

    Raises
    ------
    BadInput
        If a file is missing, was not written by `publish`, or was changed since (the data package and the release file
        hold its digest). Also if a release file contradicts itself or the columns.
    """
    if not path.is_file():
        raise BadInput("release", f"there is no {path.name} beside it", "give value=, or put the file beside it")
    sidecar = _sidecar_beside(path)
    _check_unchanged(path, sidecar)
    columns, rows = _read(path)
    if any(len(row) != len(columns) for row in rows):
        raise BadInput("release", f"{path.name} has rows of different lengths", "give a file that publish wrote")
    check_agreement(f"{path.name}{_BESIDE}", sidecar, columns if rows and "answer" in columns else None)
    return columns, rows


def _sidecar_beside(path: Path) -> Any:
    beside = path.with_name(f"{path.name}{_BESIDE}")
    return read_json(beside, "release") if is_there(beside) else None


def _check_unchanged(path: Path, sidecar: Any) -> None:
    """Compare a file with the digests that stand beside it: in the data package, and in the sidecar since 0.2."""
    told: list[tuple[str, str]] = []
    package = path.with_name(f"{path.name}.datapackage.json")
    if is_there(package):  # one that cannot be read is refused: it may hold another digest
        described = read_json(package, "release")
        resources = described.get("resources") if isinstance(described, Mapping) else None
        for resource in resources if isinstance(resources, list) else []:
            if isinstance(resource, Mapping) and resource.get("path") == path.name:
                kind, _, digest = str(resource.get("hash")).partition(":")
                told += [(package.name, digest)] if kind == "sha256" else []
    answers = sidecar.get("answers") if isinstance(sidecar, Mapping) else None
    if isinstance(answers, Mapping) and answers.get("sha256") is not None:
        told.append((f"{path.name}{_BESIDE}", str(answers["sha256"])))
    found = hashlib.sha256(path.read_bytes()).hexdigest() if told else ""
    for name, digest in told:
        if digest != found:
            rule = f"{path.name} is not as it was published: {name} holds another sha256"
            raise BadInput(
                "release",
                rule,
                "ask the publisher for both files; publishing the same again with force=True costs nothing",
            )


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
