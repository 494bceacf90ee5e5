"""Released answers: one per group, with the names of the groups; what the ledger stores and files hold."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput

__all__ = ["Answers", "check_output", "write_answers"]

_ENDINGS = (".csv", ".parquet", ".json")


@dataclass(frozen=True, slots=True)
class Answers:
    """A released table: the group columns, then `answer`.

    Parameters
    ----------
    by : tuple of str
        Names of the group columns; empty for a single answer.
    keys : sequence of tuples
        The groups, in the order they were declared (or sorted, where they were selected).
    values : list of int or str
        One answer per group.
    """

    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    values: list[Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return (*self.by, "answer")

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield one tuple per group."""
        return ((*key, value) for key, value in zip(self.keys, self.values, strict=True))

    def documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per group, as `publish --json` prints them."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows()]

    def to_bytes(self) -> bytes:
        """Write for the ledger, column by column."""
        columns = [[_plain(part) for part in column] for column in zip(*self.keys, strict=True)]
        document = {"by": self.by, "columns": columns, "values": self.values}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Answers:
        """Read what `to_bytes` wrote."""
        document = json.loads(data)
        by, values = tuple(document["by"]), document["values"]
        keys = list(zip(*document["columns"], strict=True)) if by else [()]
        return cls(by, keys, values)


def check_output(path: Path) -> None:
    """Refuse, before anything is spent, a file that could not be written afterwards."""
    if path.suffix.lower() not in _ENDINGS:
        raise BadInput("--out", "must end in .csv, .parquet or .json", "choose one of these endings")
    if path.is_dir():
        raise BadInput("--out", f"{path} is a folder", "give the name of a file")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".irisdp-"):
            pass
    except OSError:
        raise BadInput(
            "--out", f"cannot write to the folder {path.parent}", "choose a folder that exists and can be written"
        ) from None


def write_answers(answers: Answers, path: Path) -> None:
    """Write CSV, Parquet or JSON by the file's ending; the file appears whole or not at all."""
    writers: dict[str, Callable[[Answers], bytes]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}
    replace_file(path, writers[path.suffix.lower()](answers))


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in place in one step."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".irisdp-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)  # what is released is public
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise BadInput(
            "--out",
            f"could not write {path}, but the answer is in the ledger",
            "free some space and ask the same question again: it costs nothing",
        ) from None


def _csv(answers: Answers) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answers.columns)
    writer.writerows(answers.rows())
    return text.getvalue().encode()


def _json(answers: Answers) -> bytes:
    return (json.dumps(answers.documents(), ensure_ascii=False, indent=1) + "\n").encode()


def _parquet(answers: Answers) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = list(zip(*answers.rows(), strict=True)) or [()] * len(answers.columns)
    table = pyarrow.table(dict(zip(answers.columns, map(list, columns), strict=True)))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def _plain(value: Any) -> Any:
    """Turn a group's value into what JSON can hold."""
    if isinstance(value, (datetime.date, datetime.time, decimal.Decimal)):
        return str(value)
    return value.hex() if isinstance(value, bytes) else value
