"""Released answers: one per group, with the names of the groups; what the ledger stores and files hold."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._exact import json_bytes
from .._frames import Tabular
from .._lazy import renamed_method
from .._measurements import ConfidenceStatement
from .._tables import ColumnType, array_of_kind
from ..errors import BadInput

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


# What the numbers of a release count: records, one or some of each person, persons, or values of a column.


def counted(sidecar: Mapping[str, Any]) -> str:
    """Say what numbers count, and errors are measured in.

    Examples
    --------
    >>> counted({"query": {"query": "count"}, "by": ["town"], "unit": "person"})
    'records, one per person'
    >>> counted({"query": {"query": "count"}, "by": [], "unit": "person"})
    'different values of person'
    """
    asked = sidecar["query"]
    if asked["query"] in ("sum", "mean"):
        return f"as {asked['column']}"
    if asked["query"] == "count-distinct":
        return f"different values of {asked['column']}"
    unit = sidecar.get("unit")
    if unit is None:
        return "records"
    if counts_persons(sidecar):
        return f"different values of {unit}"
    return f"records, {'one' if (kept := kept_of_each(sidecar)) == 1 else f'at most {kept}'} per {unit}"


def counts_persons(sidecar: Mapping[str, Any]) -> bool:
    """Return whether each person of the table is one in the number, or in that of one group; not some record of it."""
    if sidecar.get("unit") is None or kept_of_each(sidecar) != 1:
        return False
    asked = sidecar["query"]
    whole = asked["query"] == "count" and "expression" not in asked and not sidecar.get("by")
    return whole or sidecar.get("per_unit") is not None


def kept_of_each(sidecar: Mapping[str, Any]) -> Any:
    """Return how many records of a person count at most."""
    return sidecar.get("at_most") or 1


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
        return [self._key_column(place) for place in range(len(self.by))]

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

    def by_entry(self, name: str) -> Answers:
        """Return answers that are lists entry by entry: a row for each, which a column of that name numbers from 1."""
        rows = [
            ((*key, place), entry)
            for key, entries in zip(self.keys, self.values, strict=True)
            for place, entry in enumerate(entries, 1)
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
