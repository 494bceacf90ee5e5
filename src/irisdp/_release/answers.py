"""Released answers: one per group, with the names of the groups; what the ledger stores and files hold."""

from __future__ import annotations

import csv
import datetime
import decimal
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO, StringIO
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._exact import json_bytes, parse_json, read_json
from .._files import is_there
from .._frames import Tabular
from .._lazy import renamed_method
from .._measurements import ConfidenceStatement
from .._tables import ColumnType, array_of_kind
from ..errors import BadInput
from .release_file import ReleaseFile

if TYPE_CHECKING:
    import pyarrow


# The names of groups in files and on terminals: what a record says must not become a formula or a command.
#
# Names of selected groups come from the people in the table. Names of declared groups come from the data owner or a
# file. All are treated alike. Numbers stay numbers, and JSON and Parquet hold every name unchanged.

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""What spreadsheets may take for a formula, after any number of apostrophes; full-width signs too."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_QUOTED = re.compile(r'[,;|"\t\r\n]')


def defused(value: Any) -> Any:
    """Return a cell of a CSV that no spreadsheet takes for a formula: text that looks like one gets an apostrophe.

    Text that is a number, such as -5, stays unchanged. `as_written` undoes it, for every text.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def csv_cell(value: Any) -> str:
    """Write a cell of a CSV; quoted also where a program that expects other separators would split it."""
    text = str(defused(value))
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text


def as_written(text: str) -> str:
    """Return the text that `defused` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


_ROWS_TOGETHER = 1 << 16
"""In a file of Parquet, which keeps them as one group."""


@dataclass(frozen=True, slots=True, repr=False)
class Answers(Tabular):
    """A released table: the group columns, then `answer`, then what says how sure each answer is.

    Parameters
    ----------
    by : tuple of str
        Names of the group columns; empty for a single answer.
    keys : sequence of tuples
        The groups, in the order they were declared (or sorted, where they were selected).
    values : list of int or str
        One answer per group.
    assured : ConfidenceStatement
        The columns after `answer`: of numbers `answer_low` and `answer_high`, of names `answer_probability`.
    """

    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    values: list[Any]
    assured: ConfidenceStatement = field(default_factory=ConfidenceStatement)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return (*self.by, "answer", *self.assured.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield one tuple per group."""
        beside = self.assured.columns.values()
        return ((*key, *told) for key, *told in zip(self.keys, self.values, *beside, strict=True))

    documents = renamed_method("documents", "to_documents")

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per group, as `publish --json` prints them."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows()]

    def to_arrow(self) -> pyarrow.Table:
        """Return the group columns, `answer` and its auxiliary columns as an Arrow table."""
        import pyarrow

        return pyarrow.table(dict(zip(self.columns, map(_arrow_column, self._columns()), strict=True)))

    def keys_by_column(self) -> list[list[Any]]:
        """Return the groups' values column by column: of a million groups, many times faster than to unpack them."""
        return [self._key_column(index) for index in range(len(self.by))]

    def _key_column(self, place: int) -> list[Any]:
        return list(map(itemgetter(place), self.keys))

    def _columns(self) -> Iterator[Sequence[Any]]:
        """Yield all columns, one after the other."""
        return chain(map(self._key_column, range(len(self.by))), [self.values], self.assured.columns.values())

    def _part(self, rows: slice) -> Answers:
        columns = {name: column[rows] for name, column in self.assured.columns.items()}
        return Answers(self.by, self.keys[rows], self.values[rows], replace(self.assured, columns=columns))

    def _summary(self) -> str:
        return f"{len(self.values)} answers by {', '.join(self.by)}" if self.by else f"answer {self.values[0]}"

    def by_entry(self, name: str, numbers: Sequence[Any] | None = None) -> Answers:
        """Return answers that are lists entry by entry: a row for each, which a column of that name numbers.

        From 1 on, unless there are `numbers`.
        """
        rows = [
            ((*key, index), entry)
            for key, entries in zip(self.keys, self.values, strict=True)
            for index, entry in (enumerate(entries, 1) if numbers is None else zip(numbers, entries, strict=True))
        ]
        columns = {
            name: [entry for entries in column for entry in entries] for name, column in self.assured.columns.items()
        }
        assured = replace(self.assured, columns=columns)
        return Answers((*self.by, name), [key for key, _ in rows], [entry for _, entry in rows], assured)

    def in_order(self, order: Sequence[int], keys: Sequence[tuple[Any, ...]]) -> Answers:
        """Return the answers at some places, of the groups given."""
        columns = {name: list(map(column.__getitem__, order)) for name, column in self.assured.columns.items()}
        assured = replace(self.assured, columns=columns)
        return Answers(self.by, keys, list(map(self.values.__getitem__, order)), assured)

    def to_bytes(self) -> bytes:
        """Write for the ledger, column by column."""
        columns = [_plain_column(column) for column in self.keys_by_column()]
        document = {"by": self.by, "columns": columns, "values": self.values}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Answers:
        """Read what `to_bytes` wrote."""
        document = json.loads(data)
        by, values = tuple(document["by"]), document["values"]
        keys = list(zip(*document["columns"], strict=True)) if by else [()]
        return cls(by, keys, values)


def plain_keys(keys: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return groups' values as JSON can hold them."""
    if _HELD.issuperset(map(type, chain.from_iterable(keys))):  # nearly all can, and there may be a million
        return list(keys)
    return [tuple(map(_plain, key)) for key in keys]


def check_ending(path: Path) -> None:
    """Refuse, before anything is spent, a file whose ending names no format."""
    if path.suffix.lower() not in _WRITERS:
        raise BadInput("out", "must end in .csv, .parquet or .json", "choose one of these endings")


def answers_bytes(answers: Answers, path: Path) -> bytes:
    """Write answers as CSV, Parquet or JSON, by the file's ending."""
    return _WRITERS[path.suffix.lower()](answers)


def _csv(answers: Answers) -> bytes:
    # Column by column: most hold few texts, or none.
    beside = [["" if end is None else end for end in column] for column in answers.assured.columns.values()]
    columns = [map(csv_cell, column) for column in (*answers.keys_by_column(), answers.values, *beside)]
    lines = [map(csv_cell, answers.columns), *zip(*columns, strict=True)]
    return ("\n".join(map(",".join, lines)) + "\n").encode()


def _json(answers: Answers) -> bytes:
    return json_bytes(answers.to_documents())


def _parquet(answers: Answers) -> bytes:
    """Write a group of rows after the other: beside the file no second table is held, of however many answers."""
    import pyarrow
    import pyarrow.parquet

    kinds, types = [], []
    for values in answers._columns():
        kinds.append(_kind(values))
        types.append(pyarrow.infer_type(values) if kinds[-1] is None else array_of_kind([], kinds[-1]).type)
    schema, file = pyarrow.schema(list(zip(answers.columns, types, strict=True))), BytesIO()
    # In a single column of groups every value is another, and to list them first would be waste.
    repeating = answers.columns[1:] if len(answers.by) == 1 else answers.columns
    with pyarrow.parquet.ParquetWriter(file, schema, use_dictionary=list(repeating)) as writer:
        for start in range(0, max(1, len(answers.values)), _ROWS_TOGETHER):
            part = answers._part(slice(start, start + _ROWS_TOGETHER))
            made = [_of_kind(*one) for one in zip(part._columns(), kinds, types, strict=True)]
            writer.write_batch(pyarrow.record_batch(made, schema=schema))
    return file.getvalue()


def _arrow_column(values: Sequence[Any]) -> Any:
    """Return a column as Arrow has it."""
    return _of_kind(values, _kind(values), None)


def _kind(values: Sequence[Any]) -> ColumnType | None:
    """Tell the two kinds that nearly all columns have, which are made without a detour."""
    kinds = {int: ColumnType.INTEGER, str: ColumnType.TEXT}
    types = set(map(type, values))
    kind = kinds.get(types.pop()) if len(types) == 1 else None
    if kind is ColumnType.INTEGER and not -(1 << 63) < min(values) <= max(values) < 1 << 63:  # sums in a large step
        return ColumnType.NUMBER
    return kind


def _of_kind(values: Sequence[Any], kind: ColumnType | None, arrow: Any) -> Any:
    import pyarrow

    return pyarrow.array(list(values), arrow) if kind is None else array_of_kind(values, kind)


_WRITERS: dict[str, Callable[[Answers], bytes]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}


def _plain_column(column: Sequence[Any]) -> list[Any]:
    """Turn a column of groups' values into what JSON can hold; most can be held as they are."""
    return list(column) if set(map(type, column)) <= _HELD else [_plain(part) for part in column]


_HELD = {str, int, float, bool}


def _plain(value: Any) -> Any:
    """Turn a group's value into what JSON can hold."""
    if isinstance(value, (datetime.date, datetime.time, decimal.Decimal)):
        return str(value)
    return value.hex() if isinstance(value, bytes) else value


# A published file of answers as it lies on disk, in any format.

_BESIDE, _PACKAGE = ".release.json", ".datapackage.json"
_GIVE = "give a file that publish wrote"

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
    sidecar, package = (path.with_name(f"{path.name}{ending}") for ending in (_BESIDE, _PACKAGE))
    # A data package that cannot be read is refused: it may hold another digest.
    told = [read_json(beside, "release") if is_there(beside) else None for beside in (sidecar, package)]
    try:
        content = path.read_bytes()
    except OSError:
        raise BadInput("release", f"cannot read {path.name}", _GIVE) from None
    return rows_in(path.name, content, *told)


def rows_in(name: str, content: bytes, sidecar: Any, package: Any = None) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of the content of a published file, by the ending of its name.

    Parameters
    ----------
    name : str
        Of the file of answers.
    content : bytes
    sidecar, package : JSON, or None
        What the release file and the data package hold.

    Raises
    ------
    BadInput
        As `rows_of`.
    """
    facts = ReleaseFile(sidecar) if isinstance(sidecar, Mapping) else None
    _check_unchanged(name, content, facts, package)
    columns, rows = _read(name, content)
    if any(len(row) != len(columns) for row in rows):
        raise BadInput("release", f"{name} has rows of different lengths", _GIVE)
    if facts is not None:
        facts.check_agreement(f"{name}{_BESIDE}", columns if rows and "answer" in columns else None)
    return columns, rows


def _check_unchanged(name: str, content: bytes, sidecar: ReleaseFile | None, package: Any) -> None:
    """Compare a file with its digests: in the data package and, since 0.2, in the release file."""
    told: list[tuple[str, str]] = []
    resources = package.get("resources") if isinstance(package, Mapping) else None
    for resource in resources if isinstance(resources, list) else []:
        if isinstance(resource, Mapping) and resource.get("path") == name:
            kind, _, digest = str(resource.get("hash")).partition(":")
            told += [(f"{name}{_PACKAGE}", digest)] if kind == "sha256" else []
    own = None if sidecar is None else sidecar.part("answers").get("sha256")
    if own is not None:
        told.append((f"{name}{_BESIDE}", str(own)))
    found = hashlib.sha256(content).hexdigest() if told else ""
    for file, digest in told:
        if digest != found:
            raise BadInput(
                "release",
                f"{name} is not as it was published: {file} holds another sha256",
                "ask the publisher for both files; publishing the same again with force=True costs nothing",
            )


def _read(name: str, content: bytes) -> tuple[list[str], list[list[Any]]]:
    ending = Path(name).suffix.lower()
    if ending == ".parquet":
        return _read_parquet(name, content)
    try:
        text = content.decode("utf-8")
        if ending == ".json":
            document = parse_json(text, "release")
            rows = document if isinstance(document, list) and all(isinstance(row, Mapping) for row in document) else []
            columns = list(rows[0]) if rows else ["answer"]
            return columns, [list(row.values()) if list(row) == columns else [] for row in rows]
        columns, *lines = list(csv.reader(StringIO(text, newline=""))) or [[]]
    except (UnicodeDecodeError, csv.Error):
        kind = "JSON" if ending == ".json" else "CSV"
        raise BadInput("release", f"cannot read {name} as {kind}", _GIVE) from None
    return list(map(as_written, columns)), [list(map(as_written, line)) for line in lines]


def _read_parquet(name: str, content: bytes) -> tuple[list[str], list[list[Any]]]:
    """Read within bounds: a few bytes can say that one value stands there a billion times."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)) as file:
            names, told = file.schema_arrow.names, file.metadata
            rows = sum(told.row_group(index).num_rows for index in range(told.num_row_groups))
            nested = any(map(pyarrow.types.is_nested, file.schema_arrow.types))
        if nested or rows * len(names) > max(_MOST_VALUES, len(content)):
            rule = f"{name} holds lists, or more rows ({rows}) than are read from a file of its size"
            raise BadInput("release", rule, _GIVE)
        # A text that stands there many times is held once.
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content), read_dictionary=names)
    except (OSError, pyarrow.ArrowException):
        raise BadInput("release", f"cannot read {name} as Parquet", _GIVE) from None
    return table.column_names, list(map(list, zip(*map(_values, table.columns), strict=True)))


def _values(column: Any) -> list[Any]:
    result: list[Any] = []
    for chunk in column.chunks:
        listed = getattr(chunk, "dictionary", None)
        if listed is None:
            result += chunk.to_pylist()
        else:
            values = listed.to_pylist()
            result += [None if place is None else values[place] for place in chunk.indices.to_pylist()]
    return result
