"""Parquet files: columns whose every value DuckDB can read are read by it, the others through Arrow, made total.

DuckDB fails on text that is not UTF-8, on times of day beyond the day and on instants it cannot hold. So one record
could decide whether a question ends in an error. Which way a question is read depends on the types of its columns
alone, and for the columns that may go either way both ways read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from .columns import Column, check_names
from .engine import Embedded, guarded, locked_connection, quote_name, quote_text, streaming_connection
from .locations import Location, location_of
from .parquet_batches import parquet_batches
from .parquet_files import old_instants, opened_parquet
from .total import is_safe, kind_of_type, type_name

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["ParquetSource", "open_parquet", "plain_column"]


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
