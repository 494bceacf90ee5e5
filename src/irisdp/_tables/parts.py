"""One partition of a table that grows: the files of a hive folder, or the records of one value or calendar period.

Which records belong to a partition, each record says by itself, or the folder that it lies in; no record decides it for
another. A partition has a digest of its own, so that new data elsewhere leaves its answers as they are.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._calendar import days_of
from ..errors import BadInput
from .columns import Column, ColumnType, list_names
from .engine import multiset_digest, over, quote_name
from .locations import is_address, names_several
from .parquet import FolderSource, open_folder

if TYPE_CHECKING:
    import pyarrow as pa

    from .expressions import Condition

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class TablePart:
    """Which part of a table a question is about; public.

    Attributes
    ----------
    column : str
        What divides the table: a hive column, a column of the records, or a name for what whole files hold.
    value : str
    period : str or None
        Of a column of dates, the calendar period that is one partition.
    where : Condition or None
        The records of the partition; None where files are taken whole.
    is_declared : bool
        Whether the caller says that all of the table is this partition, and nothing in the table does.
    reading : str
        How a record says which partition it belongs to, the same for all partitions of a ledger.
    """

    column: str
    value: str
    period: str | None = None
    where: Condition | None = None
    is_declared: bool = False
    reading: str = "folders"

    def __str__(self) -> str:
        """Name it in a line."""
        return f"{self.column if self.period is None else self.period} {self.value}"


def part_of_folder(source: FolderSource, part: TablePart) -> FolderSource:
    """Return the files of one hive partition; all files where the folder is divided by something else.

    Raises
    ------
    BadInput
        For a partition without a file, and for one that has the same value as another, spelt otherwise.
    """
    key = next((key for key in source.keys if key.casefold() == part.column.casefold()), None)
    if key is None or part.is_declared:
        return source
    if part.period is not None:
        rule = f"divides {key} by {part.period}, and the folder is divided by {key} already"
        raise BadInput("partition", rule, f'write partition="{key}={part.value}"')
    place = source.keys.index(key)
    files = tuple((path, values) for path, values in source.files if values[place] == part.value)
    if not files:
        known = list_names(folder_values(source, key), _MOST_NAMED)
        raise BadInput("partition", f"{key}={part.value} is no folder of the data", f"choose from {known}")
    return replace(source, files=files, location=replace(source.location, part=(key, part.value)))


def folder_values(source: FolderSource, key: str) -> list[str]:
    """List the values of a hive column that folders have, in order; records without a value belong to no partition."""
    place = source.keys.index(key)
    return sorted({value for _, values in source.files if (value := values[place]) is not None})


def hive_values(data: Any, column: str) -> list[str]:
    """List the values of a hive column, in order; none where the data is no folder that has it. Reads no record.

    Raises
    ------
    BadInput
        For a folder that cannot be opened as a table.
    """
    if not isinstance(data, str | os.PathLike) or is_address(os.fsdecode(data)) or not names_several(os.fsdecode(data)):
        return []
    _, source = open_folder(os.fsdecode(data))
    key = next((key for key in source.keys if key.casefold() == column.casefold()), None)
    return [] if key is None else folder_values(source, key)


_KINDS = {
    **dict.fromkeys(("ArrowSource", "LazySource", "RelationSource"), "frame"),
    **dict.fromkeys(("ParquetSource", "FolderSource"), "Parquet file"),
    **{
        "TextSource": "text file",
        "JsonLinesSource": "JSON lines",
        "SqliteSource": "SQLite",
        "ServerSource": "PostgreSQL",
    },
}
"""By the class of a source, what a ledger calls it."""


def reading_of(source: Any, column: Column, kinds: Sequence[ColumnType], declared: Any, text: Mapping[str, Any]) -> str:
    """Say how a record says which partition it belongs to: the kind of table, and how the column is written and read.

    Two ways to read one column may put a record into two partitions. `kinds` are what the column's values are compared
    as, which decides what of a declared format counts.
    """
    said: dict[str, Any] = dict(text)
    if declared is not None:
        said["type"] = declared.document(kinds) or declared.type
    if column.type_name is not None and "tz=" in column.type_name:
        said["instants"] = True
    words = f"{column.kind.name.lower()} in a {_KINDS.get(type(source).__name__, type(source).__name__)}"
    return f"{words} {json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)}" if said else words


def records_of(
    source: Any,
    column: Column,
    part: TablePart,
    columns: Sequence[Column],
    held: Sequence[Column],
    read_by: tuple[Any, Any, Mapping[str, Any]],
) -> Any:
    """Return the records of a source that belong to a partition, and the part with how a record says so.

    Parameters
    ----------
    source : Source
        Of the whole table.
    column : Column
        What divides it.
    part : TablePart
    columns, held : sequence of Column
        The table's columns, as questions read them and as it holds them.
    read_by : tuple
        The source itself, what is declared of the column, and how the table is written: see `reading_of`.

    Returns
    -------
    tuple of (PartSource, TablePart)

    Raises
    ------
    BadInput
        For a column that cannot divide it, a value that it cannot have, and a table that Spark reads.
    """
    if source.engine.startswith("spark"):
        rule = f"divides records by {column.name}, and Spark reads partitions only by folders: {column.name}=VALUE/"
        raise BadInput("partition", rule, "leave engine= out, or keep the table in such folders")
    behind, declared, text = read_by
    from .expressions import read_condition  # here: it loads the parser of SQL

    where = read_condition(_expression(column, part), columns)
    location = getattr(source, "location", None)
    if location is not None:
        location = replace(location, part=(column.name, part.value, part.period or ""))
    reading = reading_of(behind, column, [kind for _, kind in where.readings], declared, text)
    only = PartSource(source, where, column.name, tuple(each.name for each in held), location)
    return only, replace(part, column=column.name, where=where, reading=reading)


def _expression(column: Column, part: TablePart) -> str:
    """Write the condition of a record that belongs to a partition."""
    name = quote_name(column.name)
    if part.period is not None:
        first, after = days_of(part.period, part.value, "partition")
        if column.kind not in (ColumnType.UNTYPED, ColumnType.DATE):
            rule = f"divides {column.name} by {part.period}, and it is {column.described_kind}"
            raise BadInput("partition", rule, "name a column of dates")
        return f"{name} >= DATE '{first}' AND {name} < DATE '{after}'"
    if column.kind in (ColumnType.UNTYPED, ColumnType.TEXT):
        return f"{name} = {_text(part.value)}"
    if column.kind is ColumnType.INTEGER:
        if not re.fullmatch(r"-?\d{1,18}", part.value) or str(int(part.value)) != part.value:
            rule = f"has the value {part.value!r}, and {column.name} holds whole numbers"
            raise BadInput("partition", rule, "write it as a number, without zeros in front")
        return f"{name} = {part.value}"
    rule = f"is divided by {column.name}, which is {column.described_kind}"
    raise BadInput("partition", rule, "name a column of text or whole numbers, or of dates with a period")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class PartSource:
    """The records of a source that meet a condition; without an order, so that other records leave no trace.

    Attributes
    ----------
    source : Source
        Of the whole table.
    where : Condition
    column : str
        The column that it reads.
    names : tuple of str
        All columns that the table holds.
    location : Location or None
    """

    source: Any = field(repr=False)
    where: Condition
    column: str
    names: tuple[str, ...]
    location: Any = None

    def __getattr__(self, name: str) -> Any:
        """Return what else the source has: how it is written, the moment of a server that it reads."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.source, name)

    @property
    def engine(self) -> str:
        """Name the engine and its version."""
        return str(self.source.engine)

    @property
    def ordered(self) -> bool:
        """No: the place of a record in the whole table says something of the others."""
        return False

    def digest(self) -> bytes:
        """Return a digest of the multiset of records, of all columns that the table holds."""
        types = {column.name: column.type for column in self._rows("SELECT * FROM data LIMIT 0").schema}
        parts = ", ".join(injective(quote_name(name), types[name]) for name in self.names)
        hashes = self._rows(f"SELECT unhex(sha256(concat({parts}))) AS digest FROM data")
        kinds = sorted((name, str(kind).partition("(")[0]) for name, kind in types.items())  # no digits of decimals
        header = ("part", kinds, hashes.num_rows)
        return multiset_digest(header, hashes.num_rows, hashes.to_batches)

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data`, which has the partition's records alone."""
        return self.source.run(*self._only(statement, names), declared)

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> Any:
        """Run a statement as `run` does, and hold what it finds."""
        return self.source.hold(*self._only(statement, names), declared)

    def _only(self, statement: str, names: Sequence[str]) -> tuple[str, list[str]]:
        """Return a statement over the whole table that finds records of the partition alone, and what it reads."""
        listed = ", ".join(f"data.{quote_name(name)} AS {quote_name(name)}" for name in names)
        rows = f"WITH data AS (SELECT {listed} FROM data WHERE coalesce({self.where.sql()}, FALSE))"
        # Rows of persons and joined rows are called data, too: theirs is made of the partition's.
        inner = statement.startswith("WITH data AS")
        whole = f"{rows} SELECT * FROM ({statement})" if inner else over(rows, statement)
        return whole, list(dict.fromkeys([*names, self.column]))

    def _rows(self, statement: str) -> pa.Table:
        return self.run(statement, self.names, {})


def injective(value: str, kind: pa.DataType) -> str:
    """Return SQL for the text of a value with its length in front, and for null a sign, so that no two records meet."""
    import pyarrow as pa

    if pa.types.is_nested(kind):  # of which Iris only ever reads whether it is there
        value = f"CASE WHEN {value} IS NOT NULL THEN TRUE END"
    text = f"CAST({value} AS VARCHAR)"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        text = f"hex({value})"
    elif pa.types.is_decimal(kind) and kind.scale > 0:  # of which other records may decide how many digits are written
        text = f"rtrim(rtrim({text}, '0'), '.')"
    elif pa.types.is_timestamp(kind) and kind.tz is not None:  # an instant, not the session's way to write it
        text = f"CAST(make_timestamp(epoch_us({value})) AS VARCHAR)"
    return f"coalesce(strlen({text}) || ':' || {text}, '-')"
