"""Tables in memory and in a DuckDB of the caller's: any frame that Narwhals knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from .columns import Column, Kind, check_names, kind_of
from .engine import Embedded, Source, guarded, locked_connection, quote_name
from .spark import SparkSource

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa

__all__ = ["ArrowSource", "RelationSource", "arrow_table", "open_frame"]


@dataclass(frozen=True, slots=True)
class ArrowSource(Embedded):
    """An Arrow table in memory."""

    table: pa.Table = field(repr=False)

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the table as an Arrow stream, written to nowhere else."""
        import pyarrow as pa

        hashing = blake2b(b"arrow", digest_size=32)
        plain = self.table.replace_schema_metadata(None).combine_chunks()
        with pa.PythonFile(_HashingFile(hashing), mode="w") as file, pa.ipc.new_stream(file, plain.schema) as stream:
            stream.write_table(plain)
        return hashing.digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is the table's named columns."""
        connection = locked_connection()
        connection.register("data", self.table.select(names))
        return connection


@dataclass(frozen=True, slots=True)
class RelationSource(Embedded):
    """A relation of the caller's DuckDB: it runs there, and streams the columns needed into the locked engine."""

    relation: duckdb.DuckDBPyRelation = field(repr=False)

    def digest(self) -> bytes:
        """Return a digest of the multiset of records: their number and the sum of their hashes, whatever the order."""
        names = ", ".join(quote_name(name) for name in self.relation.columns)
        ((count, total),) = self.relation.aggregate(f"count(*), sum(hash({names}))").fetchall()
        schema = list(zip(self.relation.columns, map(str, self.relation.types), strict=True))
        return blake2b(repr(("relation", schema, count, total)).encode(), digest_size=32).digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        connection = locked_connection()
        needed = self.relation.project(", ".join(map(quote_name, names)))
        # DuckDB renamed the method; a relation also answers to the names of its columns, so ask its type.
        renamed = hasattr(type(needed), "to_arrow_reader")
        connection.register("data", needed.to_arrow_reader() if renamed else needed.fetch_arrow_reader())
        return connection


def open_frame(data: Any) -> tuple[list[Column], Source]:
    """Open a frame: eager ones go to DuckDB through Arrow, DuckDB relations and Spark run where they are.

    Raises
    ------
    BadInput
        For anything that is no frame, and columns without usable names.
    """
    import narwhals as nw

    frame = guarded(
        lambda: nw.from_native(data),
        f"cannot read a table from {type(data).__name__}",
        "give a path, or a frame with distinct column names that are text",
    )
    names = guarded(lambda: frame.collect_schema().names(), "has columns that cannot be listed", "check the frame")
    check_names(names)
    if isinstance(frame, nw.LazyFrame):
        schema = frame.collect_schema()
        columns = [Column(name, kind_of(dtype)) for name, dtype in schema.items()]
        engine = frame.implementation
        if engine.is_duckdb():
            return columns, RelationSource(frame.to_native())
        if engine.is_pyspark() or engine.is_pyspark_connect():
            return columns, SparkSource(frame.to_native())
        frame = guarded(
            lambda: nw.from_native(frame.collect(backend="pyarrow").to_native(), eager_only=True),
            "is a lazy frame that cannot be computed",
            "collect it first",
        )
    untyped = _untyped(frame)
    table = arrow_table(frame, untyped)
    kinds = nw.from_native(table, eager_only=True).schema
    columns = [Column(name, Kind.UNTYPED if name in untyped else kind_of(kinds[name])) for name in names]
    return columns, ArrowSource(table)


def arrow_table(frame: nw.DataFrame[Any], untyped: Sequence[str] = ()) -> pa.Table:
    """Convert an eager frame to Arrow, without an index and without dictionaries; untyped columns become text."""
    import pyarrow as pa

    typed = [name for name in frame.columns if name not in untyped]
    rule = "has a column of a type that Arrow cannot hold"
    table = guarded(lambda: frame.select(typed).to_arrow().select(typed), rule, "drop or convert that column")
    columns = dict(zip(typed, (_decoded(column) for column in table.columns), strict=True))
    for name in untyped:
        columns[name] = pa.chunked_array([pa.array(_texts(frame[name]), pa.string())])
    return pa.table({name: columns[name] for name in frame.columns})


def _untyped(frame: nw.DataFrame[Any]) -> list[str]:
    """List the columns of Python objects: their type would be guessed from the values."""
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        types = zip(frame.columns, frame.to_native().dtypes, strict=True)
        return [name for name, dtype in types if str(dtype) == "object"]
    return [name for name, dtype in frame.schema.items() if dtype == nw.Object]


def _texts(values: nw.Series[Any]) -> list[str | None]:
    # Lone surrogates have no UTF-8 form; replaced, they cannot make one record fail the rest.
    missing = values.is_null().to_list()
    return [
        None if null else str(value).encode("utf-8", "replace").decode()
        for value, null in zip(values.to_list(), missing, strict=True)
    ]


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo dictionaries: DuckDB would make an ENUM whose members come from the data."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


class _HashingFile:
    """A file that only hashes what is written to it."""

    closed = False

    def __init__(self, hashing: Any) -> None:
        self._hashing = hashing

    def write(self, data: Any) -> int:
        self._hashing.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass
