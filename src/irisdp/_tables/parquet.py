"""Parquet files: columns whose every value DuckDB can read are read by it, the others through Arrow, made total.

DuckDB fails on text that is not UTF-8, on times of day beyond the day and on instants it cannot hold. So one record
could decide whether a question ends in an error. Which way a question is read depends on the types of its columns
alone, and for the columns that may go either way both ways read the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, file_digest
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import BadInput
from .arrow_values import is_safe, kind_of_type, type_name
from .columns import Column, ColumnType, check_names
from .engine import Embedded, check_readable, guarded, locked_connection, quote_name, quote_text, streaming_connection
from .locations import WILDCARDS, Location, locate, location_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


# Open Parquet files by their columns only, and ignore notes of the writer.

_DIGITS_OF_16_BYTES = 38


def opened_parquet(path: Path, listed: Sequence[str] = ()) -> Any:
    """Open a file by its own types: an Arrow schema stored beside them would make Arrow check what it decodes.

    Texts of the parts listed are read as dictionaries.

    Raises
    ------
    BadInput
        For decimals in bytes whose number may differ, or that are too many: Arrow fails on single values of these.
    """
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        size = file.read(4)
        file.seek(-8 - int.from_bytes(size, "little"), os.SEEK_END)
        footer = file.read().replace(b"ARROW:schema", b"arrow:schema")
    metadata = pq.read_metadata(BytesIO(b"PAR1" + footer))
    for column in map(metadata.schema.column, range(metadata.num_columns)):
        if _some_fail(column):
            rule = f"keeps the decimals of {column.path} in bytes of any number, of which some values cannot be read"
            raise BadInput("data", rule, "write it again with decimals of one length, as DuckDB, PyArrow and Spark do")
    # Old instants (INT96) overflow in nanoseconds, the default, from the year 2262 on.
    return pq.ParquetFile(
        path, metadata=metadata, coerce_int96_timestamp_unit="us", read_dictionary=list(listed) or None
    )


def _some_fail(column: Any) -> bool:
    """Tell whether Arrow fails on some values of a column: decimals of no bytes, or of more than its own have."""
    if column.logical_type.type != "DECIMAL":
        return False
    most = 16 if column.precision <= _DIGITS_OF_16_BYTES else 32
    return bool(column.physical_type == "BYTE_ARRAY" or column.length > most)


def old_instants(file: Any) -> set[str]:
    """Return the columns of instants in 96 bits: DuckDB and Arrow read some of them as different instants."""
    columns = map(file.metadata.schema.column, range(file.metadata.num_columns))
    return {column.path for column in columns if column.physical_type == "INT96"}


# Read columns of a Parquet file through Arrow, in memory bounded by the size of the file, not by its unpacked size.
#
# A text that a file holds once may occur in thousands of records, or thousands of times in one list. It is read as a
# dictionary, and expanded in small pieces. Of a list or a structure Iris only needs whether it exists, so it reads one
# of its parts, of numbers rather than text.

RECORDS = 1 << 17
"""Read at once."""
_NESTED_RECORDS = 1 << 10
"""Read at once where text within lists or structures is: Arrow takes 2 GiB of different texts there."""


def parquet_batches(path: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read columns of a file; texts are dictionaries where the file has such, and nested columns have one part."""
    file = opened_parquet(path)
    leaves = _leaves(file, names)
    nested = {name for name in names if kind_of_type(file.schema_arrow.field(name).type) is ColumnType.NESTED}
    texts = {name: leaf for name, leaf in leaves.items() if leaf.physical_type == "BYTE_ARRAY"}
    repeated = _with_dictionaries(file.metadata)
    listed = [leaf.path for name, leaf in texts.items() if name in nested or leaf.path in repeated]
    size = _NESTED_RECORDS if nested & set(texts) else RECORDS
    paths = [leaf.path for leaf in leaves.values()]
    for batch in opened_parquet(path, listed).iter_batches(size, columns=paths):
        yield batch.select(names)


def _leaves(file: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the part of each column that is read: of numbers if there is one, and in as few lists as may be."""
    result: dict[str, Any] = {}
    place = 0
    for column in file.schema_arrow:
        parts = [file.metadata.schema.column(place + part) for part in range(_parts(column.type))]
        place += len(parts)
        if column.name in names:
            result[column.name] = min(
                parts, key=lambda one: (one.physical_type == "BYTE_ARRAY", one.max_repetition_level)
            )
    return result


def _parts(kind: pa.DataType) -> int:
    """Count the columns of numbers and texts that a type is stored in."""
    return sum(_parts(kind.field(index).type) for index in range(kind.num_fields)) if kind.num_fields else 1


def _with_dictionaries(metadata: Any) -> set[str]:
    """Return the columns whose values some part of the file lists once."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = [group.column(index) for group in groups for index in range(metadata.num_columns)]
    return {chunk.path_in_schema for chunk in chunks if any("DICTIONARY" in name for name in chunk.encodings)}


@dataclass(frozen=True, slots=True)
class ParquetSource(Embedded):
    """A Parquet file."""

    path: Path

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the file's bytes, which hold the kinds."""
        with self.path.open("rb") as file:
            content = file_digest(file, blake2b).digest()
        return blake2b(b".parquet" + content, digest_size=32).digest()

    @property
    def location(self) -> Location:
        """Where the file lies."""
        return location_of(self.path)

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` holds the named columns."""
        import pyarrow as pa

        file = opened_parquet(self.path)
        types = {field.name: field.type for field in file.schema_arrow}
        if all(is_safe(types[name]) for name in names) and not old_instants(file) & set(names):
            connection = locked_connection(str(self.path))
            listed = ", ".join(plain_column(name, types[name]) for name in names)
            reader = f"read_parquet({quote_text(str(self.path))}, hive_partitioning = false)"
            connection.execute(f"CREATE TEMP VIEW data AS SELECT {listed} FROM {reader}")
            return connection
        fields = [file.schema_arrow.field(name) for name in names]
        return streaming_connection(pa.schema(fields), parquet_batches(self.path, names))


def open_parquet(path: Path) -> tuple[list[Column], ParquetSource]:
    """Open a Parquet file.

    Raises
    ------
    BadInput
        For an invalid file, and names that cannot be used.
    """
    rule, remedy = "is not a Parquet file that can be read", "write it again as Parquet"
    schema = guarded(lambda: opened_parquet(path).schema_arrow, rule, remedy)
    check_names(schema.names)
    return [
        Column(field.name, kind_of_type(field.type), type_name=type_name(field.type)) for field in schema
    ], ParquetSource(path)


def plain_column(name: str, kind: pa.DataType) -> str:
    """Return SQL for a column; dates and instants outside the years 1 to 9999 are null."""
    import pyarrow as pa

    value = quote_name(name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        sql = "DATE" if pa.types.is_date(kind) else "TIMESTAMP"
        inside = f"{value} >= {sql} '0001-01-01' AND {value} < {sql} '10000-01-01'"
        return f"CASE WHEN {inside} THEN {value} END AS {value}"
    return value


# A folder of Parquet files, or a pattern that selects some of them, is one table.
#
# All files have one schema. A hive partition (`year=2024/`) is a column, read as text unless a type is declared.
# Neither the names of the files nor their order matter. A file reached twice, through a link, would let one record
# count twice, so links within a folder are refused. A folder of versioned files (Delta Lake, Hudi, Iceberg) is refused
# too: some records in them are deleted, and some occur twice.

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WILD = re.compile(f"[{re.escape(WILDCARDS)}]")
_VERSIONED = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}

Values = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FolderSource(Embedded):
    """Parquet files of one schema.

    Attributes
    ----------
    files : tuple
        Each file with the values of its partition columns.
    keys : tuple of str
        The partition columns, in alphabetical order.
    schema : pyarrow.Schema
        Of every file, columns in alphabetical order.
    old : frozenset of str
        The columns that some file keeps as instants in 96 bits.
    """

    location: Location
    files: tuple[tuple[Path, Values], ...] = field(repr=False)
    keys: tuple[str, ...]
    schema: pa.Schema = field(repr=False)
    old: frozenset[str]

    @property
    def ordered(self) -> bool:
        """No: the names of files say nothing."""
        return False

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the files' digests, sorted, each with what its partition says."""
        digests = []
        for path, values in self.files:
            with path.open("rb") as file:
                digests.append((file_digest(file, blake2b).hexdigest(), values))
        listed = repr(("Parquet files", self.keys, sorted(digests, key=repr)))
        return blake2b(listed.encode(), digest_size=32).digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` holds the named columns.

        Which way they are read follows from the columns alone: how many partitions there are, a record may decide.
        """
        if not set(names) & {*self.keys, *self.old} and all(is_safe(self.schema.field(name).type) for name in names):
            paths = [str(path) for path, _ in self.files]
            # DuckDB takes every path for a pattern: of each file, one that fits it alone.
            patterns = [_WILD.sub(r"[\g<0>]", path) for path in paths]
            connection = locked_connection(*dict.fromkeys(paths + patterns))
            listed = ", ".join(plain_column(name, self.schema.field(name).type) for name in names)
            files = ", ".join(map(quote_text, patterns))
            reader = f"read_parquet([{files}], hive_partitioning = false)"
            connection.execute(f"CREATE TEMP VIEW data AS SELECT {listed} FROM {reader}")
            return connection
        import pyarrow as pa

        kinds = [pa.string() if name in self.keys else self.schema.field(name).type for name in names]
        held = [name for name in names if name not in self.keys]
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        return streaming_connection(schema, self._batches(held, schema))

    def _batches(self, held: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for path, values in self.files:
            said = dict(zip(self.keys, values, strict=True))
            read: Any = parquet_batches(path, held) if held else _lengths(opened_parquet(path).metadata.num_rows)
            for batch in read:
                size = batch if isinstance(batch, int) else batch.num_rows
                columns = [
                    pa.repeat(pa.scalar(said[name], pa.string()), size) if name in said else batch.column(name)
                    for name in schema.names
                ]
                yield pa.record_batch(columns, names=schema.names)


def open_folder(text: str) -> tuple[list[Column], FolderSource]:
    """Open a folder of Parquet files, or those that a pattern such as `sales/**/*.parquet` names.

    Raises
    ------
    BadInput
        For a folder without a file, or with links, files other than Parquet, files of several schemas, or partitions
        that are not the same in every file. None of it depends on a record.
    """
    location = guarded(lambda: locate(text), "is not a usable path", "give the path of a folder")
    root = location.path
    if not root.name:
        raise BadInput("data", "is the root of the file system", "name a folder in it")
    paths = guarded(lambda: _listed(location), "is a folder that cannot be listed", "check that it can be read")
    if not paths:
        remedy = "name a folder that holds some; other files are named one by one, and without *"
        raise BadInput("data", f"finds no .parquet file in {text!r}", remedy)
    # sale[s]/*.parquet would be the whole of sales, with the ledger and the project of the folder around it.
    within = PurePath(location.pattern).parts[:-1]
    if within and within[0] != "**" and not all("=" in path.relative_to(root).parts[0] for path in paths):
        rule = "has a pattern where the table's own folder is named"
        raise BadInput("data", rule, "name the folder, and behind it **, key=VALUE or files")
    parted = [(path, _partition(path.relative_to(root))) for path in paths]
    keys = sorted(parted[0][1])
    for path, said in parted:
        if sorted(said) != keys:
            there = _shown(root, path)
            raise BadInput("data", f"holds {there}, which has other partitions", "give every file the same key=VALUE/")
    schema, old = _one_schema(root, paths)
    check_names([*schema.names, *keys])
    columns = [Column(field.name, kind_of_type(field.type), type_name=type_name(field.type)) for field in schema]
    columns += [Column(key, ColumnType.UNTYPED) for key in keys]
    files = tuple((path, tuple(said[key] for key in keys)) for path, said in parted)
    return sorted(columns, key=lambda column: column.name), FolderSource(location, files, tuple(keys), schema, old)


def _listed(location: Location) -> list[Path]:
    """List the files of the table in one order."""
    root = location.path
    for name, format_name in _VERSIONED.items():
        if os.path.lexists(root / name):
            rule = f"is a table of {format_name}, whose files hold deleted records too"
            raise BadInput("data", rule, "export it to plain Parquet")
    files = []
    for path in location.files() if root.is_dir() else ():
        shown = _shown(root, path)
        if path.is_symlink():
            raise BadInput("data", f"holds {shown}, to which a link leads", "put the file itself there")
        if path.suffix.lower() != ".parquet" or not path.is_file():
            raise BadInput(
                "data", f"holds {shown}, which is no .parquet file", "keep other files elsewhere, or name one file"
            )
        files.append(path)
    if len({(status.st_dev, status.st_ino) for status in map(os.stat, files)}) < len(files):
        raise BadInput("data", "holds one file under two names (hard links)", "keep one of them")
    return sorted(files)


def _partition(path: PurePath) -> dict[str, str | None]:
    """Return what the folders that a file lies in say of its records."""
    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    rule, remedy = "has partitions that are not read", "name each column once, by UTF-8 text: key=VALUE/"
    said = guarded(
        lambda: {_plain(key): None if value in ("", _NULL) else _plain(value) for key, value in pairs}, rule, remedy
    )
    if len(said) < len(pairs):
        raise BadInput("data", rule, remedy)
    return said


def _plain(text: str) -> str:
    """Return text without percent signs; with a mark in place of what is no text, two values could become one."""
    result = unquote(text, errors="strict")
    result.encode()
    return result


def _one_schema(root: Path, paths: Sequence[Path]) -> tuple[pa.Schema, frozenset[str]]:
    import pyarrow as pa

    first: dict[str, pa.DataType] = {}
    old: set[str] = set()
    for number, path in enumerate(paths, start=1):
        check_readable(path)
        rule, remedy = f"holds {_shown(root, path)}, which is no Parquet file that can be read", "write it again"
        file = guarded(lambda path=path: opened_parquet(path), rule, remedy)  # type: ignore[misc]
        schema = file.schema_arrow
        old |= old_instants(file)
        types = {field.name: field.type for field in schema}
        first = first or types
        if types != first or len(types) < len(schema):
            other = next((name for name in (*first, *types) if first.get(name) != types.get(name)), schema.names[0])
            rule = (
                f"holds {_shown(root, path)} and {_shown(root, paths[0])}, which differ in the column {other!r}:"
                f" {_typed(types.get(other))} in the former, file {number} of {len(paths)} in the order of names, and"
                f" {_typed(first.get(other))} in the first"
            )
            raise BadInput("data", rule, "give all files the same columns, of the same types")
    return pa.schema(sorted(first.items())), frozenset(old)


def _typed(kind: pa.DataType | None) -> str:
    return "it is missing" if kind is None else f"it is {kind}"


def _shown(root: Path, path: Path) -> str:
    """Show where a file lies, but no value of a partition, which may be a record's."""
    parts = path.relative_to(root).parts
    return repr("/".join(f"{part.split('=')[0]}=…" if "=" in part else part for part in parts))


def _lengths(count: int) -> Iterator[int]:
    """Part a number of records into batches."""
    for start in range(0, count, RECORDS):
        yield min(RECORDS, count - start)
