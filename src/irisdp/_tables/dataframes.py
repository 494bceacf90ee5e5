"""Tables in memory and in a DuckDB of the caller's: any frame that Narwhals knows."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from .._frames import refuse_names_given_twice
from ..errors import BadInput
from .arrow_values import LONGEST_TEXT, kind_of_type, object_kinds, object_texts, total_column, type_name
from .columns import Column, ColumnType, check_names, kind_of
from .engine import Embedded, Source, guarded, locked_connection, multiset_digest, quote_name, streaming_connection
from .spark_frames import open_spark

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa


# Relations of the caller's DuckDB run there and stream the columns needed into the locked engine.
#
# The caller's session decides what the relation holds, and nothing here. Columns leave it as plain values, an instant
# as an instant (never as text in the session's zone). The digest covers exactly those plain values, so two relations
# with one digest are read alike. A plain value is made total before it is used in a computation, because DuckDB keeps
# any value from Arrow or a file, fails on some text, and then makes the caller's whole database unusable.

_NUMBERS = "boolean tinyint smallint integer bigint utinyint usmallint uinteger ubigint float double decimal"
_PLAIN = frozenset((*_NUMBERS.split(), "date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "time"))
"""Types that Arrow carries as they are."""

_YEARS = "{{0}} >= CAST('0001-01-01' AS {0}) AND {{0}} < CAST('10000-01-01' AS {0})"
_INSIDE = {
    **{kind: _YEARS.format(kind) for kind in ("timestamp", "timestamp_s", "timestamp_ms")},
    "timestamp_ns": "{0} > CAST('-infinity' AS TIMESTAMP_NS) AND {0} < CAST('infinity' AS TIMESTAMP_NS)",
    "timestamp with time zone": "epoch_us({0}) >= -62135596800000000 AND epoch_us({0}) < 253402300800000000",
}
"""Which instants `_tables/arrow_values.py` leaves as they are. Compared in their own type, as a cast to another could
fail; or by whole numbers, where a literal would be read by the session's zone and calendar."""

_AS_TEXT = frozenset(("hugeint", "uhugeint", "time with time zone", "bit", "uuid", "interval"))
"""Types that Arrow would bend; their text is exact, and the same in every session."""

_VECTOR = 2048
"""Records per batch: as many texts of the greatest length fit into the 2 GiB that a batch can hold."""


@dataclass(frozen=True, slots=True)
class RelationSource(Embedded):
    """A relation of the caller's DuckDB."""

    relation: duckdb.DuckDBPyRelation = field(repr=False)

    @property
    def ordered(self) -> bool:
        """No: a relation is a set of records."""
        return False

    def digest(self) -> bytes:
        """Return a digest of the multiset of records: BLAKE2b over types, number, and sorted SHA-256 of each record.

        A relation has no order, so the records' digests are sorted. It takes one to two seconds for each million
        records; more than 2^24 are sorted in several passes over the relation, each in about 1 GiB.
        """
        types = [(name, str(dtype)) for name, dtype in _typed(self.relation)]
        ((count,),) = self.relation.aggregate("count(*)").fetchall()
        plain = self._plain(self.relation.columns)
        parts = ", ".join(_injective(quote_name(name), str(dtype.id)) for name, dtype in _typed(plain))
        hashes = plain.project(f"unhex(sha256(concat({parts}))) AS digest")
        return multiset_digest(("relation", types, count), count, lambda: _batches(hashes, _VECTOR * 64))

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        reader = _batches(self._plain(names), _VECTOR)
        return streaming_connection(reader.schema, reader)

    def _plain(self, names: Sequence[str]) -> duckdb.DuckDBPyRelation:
        types = dict(_typed(self.relation))
        listed = (f"{_plain(quote_name(name), types[name])} AS {quote_name(name)}" for name in names)
        return self.relation.project(", ".join(listed))


def open_relation(relation: Any, schema: Any) -> tuple[list[Column], RelationSource]:
    """Open a relation whose Narwhals schema is given."""
    columns = []
    for name, dtype in _typed(relation):
        kind = kind_of(schema[name])
        flat = str(dtype.id) in _PLAIN | _AS_TEXT | {"varchar", "enum", "timestamp with time zone", "blob", "null"}
        columns.append(Column(name, kind if flat else ColumnType.NESTED, type_name=str(dtype.id)))
    return columns, RelationSource(relation)


def _typed(relation: Any) -> list[tuple[str, Any]]:
    return list(zip(relation.columns, relation.types, strict=True))


def _batches(relation: Any, size: int) -> pa.RecordBatchReader:
    # DuckDB renamed the method; a relation also answers to the names of its columns, so ask its type.
    renamed = hasattr(type(relation), "to_arrow_reader")
    result: pa.RecordBatchReader = relation.to_arrow_reader(size) if renamed else relation.fetch_arrow_reader(size)
    return result


def _plain(value: str, dtype: Any) -> str:
    """Return SQL for a value in a form that Arrow carries unharmed, and of which text can be made."""
    kind = str(dtype.id)
    if kind in _INSIDE:
        return f"CASE WHEN {_INSIDE[kind].format(value)} THEN {value} END"
    if kind == "decimal":  # more digits than the type has are null, as in `_tables/arrow_values.py`
        (_, precision), (_, scale) = dtype.children
        most = f"{'9' * (precision - scale)}.{'9' * scale}"
        held = f"DECIMAL({precision}, {scale})"
        return f"CASE WHEN {value} BETWEEN CAST('-{most}' AS {held}) AND CAST('{most}' AS {held}) THEN {value} END"
    if kind in _PLAIN:
        return value
    if kind in _AS_TEXT:
        return f"CAST({value} AS VARCHAR)"
    if kind in ("varchar", "enum"):
        text = f"CAST({value} AS VARCHAR)"
        return f"CASE WHEN strlen({text}) <= {LONGEST_TEXT} THEN {text} END"
    if kind == "blob":
        return f"CASE WHEN octet_length({value}) <= {LONGEST_TEXT} THEN {value} END"
    return f"CASE WHEN {value} IS NOT NULL THEN TRUE END"


def _injective(value: str, kind: str) -> str:
    """Return SQL for a plain value's text, null told apart and its length in front, so that no two records meet."""
    text = f"CAST({value} AS VARCHAR)"
    if kind == "blob":
        text = f"hex({value})"
    elif kind == "timestamp with time zone":  # an instant, not the session's way to write it
        text = f"CAST(make_timestamp(epoch_us({value})) AS VARCHAR)"
    elif kind == "time":  # outside of the day, which is a number to `_tables/arrow_values.py`, there is no text
        day = f"CASE WHEN {value} BETWEEN TIME '00:00:00' AND TIME '24:00:00' THEN {value} END"
        text = f"coalesce(CAST({day} AS VARCHAR), CAST(epoch_us({value}) AS VARCHAR))"
    return f"coalesce(strlen({text}) || ':' || {text}, '-')"


_OWN = "check the frame, and that each column has a name of its own"


@dataclass(frozen=True, slots=True)
class ArrowSource(Embedded):
    """An Arrow table in memory, and the kinds its columns are read as."""

    table: pa.Table = field(repr=False)
    kinds: tuple[ColumnType, ...]

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of kinds, types and all that is ever read (an Arrow stream, written nowhere else).

        Chunks of one type are combined in their total form, which always can be: dictionaries and run ends of few bits
        cannot hold what all chunks hold together.
        """
        import pyarrow as pa

        types = [str(column.type) for column in self.table.schema]
        hashing = blake2b(repr(("arrow", *map(str, self.kinds), *types)).encode(), digest_size=32)
        plain = pa.table({name: total_column(self.table[name]) for name in self.table.column_names}).combine_chunks()
        with pa.PythonFile(_HashingFile(hashing), mode="w") as file, pa.ipc.new_stream(file, plain.schema) as stream:
            stream.write_table(plain)
        return hashing.digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is the table's named columns, every value total."""
        import pyarrow as pa

        connection = locked_connection()
        connection.register("data", pa.table({name: total_column(self.table[name]) for name in names}))
        return connection


@dataclass(frozen=True, slots=True)
class LazySource(Embedded):
    """A lazy frame, computed once, when first needed: the digest and the answer use the same records."""

    frame: nw.LazyFrame[Any] = field(repr=False)
    columns: tuple[Column, ...]
    _computed: list[ArrowSource] = field(default_factory=list, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def digest(self) -> bytes:
        """Return the digest of the frame that it is, once computed."""
        return self._now().digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is the frame's named columns."""
        return self._now().connect(names)

    def _now(self) -> ArrowSource:
        with self._lock:
            if not self._computed:
                columns, source = _open_eager(_collected(self.frame))
                if tuple(columns) != self.columns:
                    raise BadInput("data", "has other columns than its schema says", "collect it first")
                self._computed.append(source)
            return self._computed[0]


def open_frame(data: Any) -> tuple[list[Column], Source]:
    """Open a frame: eager ones go to DuckDB through Arrow, DuckDB relations and Spark run where they are.

    Raises
    ------
    BadInput
        For anything that is no frame, and columns without usable names.
    """
    import narwhals as nw

    remedy = "give a path, or a frame with distinct column names that are text"
    if nw.dependencies.is_into_series(data):
        remedy = "give a frame: data.to_frame('NAME')"
    elif isinstance(data, dict | list | np.ndarray):
        remedy = "give a frame, such as pandas.DataFrame(data)"
    try:
        frame = guarded(lambda: nw.from_native(data), f"cannot read a table from {type(data).__name__}", remedy)
    except BadInput:
        refuse_names_given_twice(data, "data")
        raise
    names = guarded(lambda: frame.collect_schema().names(), "has columns that cannot be listed", _OWN)
    if any(isinstance(name, tuple) for name in names):
        rule = "has column names in several levels (a MultiIndex)"
        raise BadInput("data", rule, "join them: frame.columns = ['_'.join(map(str, name)) for name in frame.columns]")
    check_names(names)
    if isinstance(frame, nw.LazyFrame):
        schema = frame.collect_schema()
        engine = frame.implementation
        if engine.is_duckdb():
            return open_relation(frame.to_native(), schema)
        if engine.is_pyspark() or engine.is_pyspark_connect():
            return open_spark(frame.to_native(), schema)
        if engine.is_polars() and (lazy := _open_lazy(frame)) is not None:
            return lazy
        frame = _collected(frame)
    return _open_eager(frame)


def _open_eager(frame: nw.DataFrame[Any]) -> tuple[list[Column], ArrowSource]:
    names = frame.columns
    objects = object_kinds(frame)
    unreadable = {name for name in names if name not in objects and not _fits_arrow(frame, name)}
    table = arrow_table(frame, objects, unreadable)
    types = table.schema
    kinds = [
        ColumnType.NESTED if name in unreadable else objects.get(name) or kind_of_type(types.field(name).type)
        for name in names
    ]
    columns = [
        Column(
            name, kind, type_name=str(frame.schema[name]) if name in unreadable else type_name(types.field(name).type)
        )
        for name, kind in zip(names, kinds, strict=True)
    ]
    return columns, ArrowSource(table, tuple(kinds))


def _fits_arrow(frame: nw.DataFrame[Any], name: str) -> bool:
    """Tell whether Arrow has a type for a column's type; no record is looked at."""
    try:
        guarded(lambda: frame[name].head(0).to_arrow(), "", "")
    except BadInput:
        return False
    return True


def _open_lazy(frame: nw.LazyFrame[Any]) -> tuple[list[Column], LazySource] | None:
    """Open a lazy frame of Polars' by its schema alone; None where only values tell what a column holds."""
    import polars as pl

    schema = guarded(frame.to_native().collect_schema, "has columns that cannot be listed", _OWN)
    if any(dtype == pl.Object for dtype in schema.values()):
        return None
    import narwhals as nw

    columns, _ = _open_eager(nw.from_native(pl.DataFrame(schema=schema), eager_only=True))
    return columns, LazySource(frame, tuple(columns))


def _collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    return guarded(frame.collect, "is a lazy frame that cannot be computed", "collect it first")


def arrow_table(frame: nw.DataFrame[Any], objects: Collection[str] = (), unreadable: Collection[str] = ()) -> pa.Table:
    """Convert the columns of an eager frame to Arrow, and nothing else of it.

    Columns of objects become text. Of an unreadable column only whether there is a value is kept.
    """
    import pyarrow as pa

    typed = [name for name in frame.columns if name not in objects and name not in unreadable]
    rule, remedy = "has a column of a type that Arrow cannot hold", "drop or convert that column"
    if frame.implementation.is_pandas_like():
        # One by one: of a whole frame the index would be converted too, and one record's label could end that.
        columns = {name: guarded(lambda name=name: _chunked(frame[name].to_arrow()), rule, remedy) for name in typed}  # type: ignore[misc]
    else:
        columns = dict(zip(typed, guarded(lambda: frame.select(typed).to_arrow(), rule, remedy).columns, strict=True))
    for name in unreadable:
        missing = frame[name].is_null().to_numpy()
        columns[name] = pa.chunked_array([pa.array(~missing, mask=missing)])
    for name in objects:
        columns[name] = object_texts(frame[name])
    return pa.table({name: columns[name] for name in frame.columns})


def _chunked(values: Any) -> pa.ChunkedArray:
    import pyarrow as pa

    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


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
