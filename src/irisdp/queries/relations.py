"""Relations of a DuckDB of the caller's: they run there, and stream the columns needed into the locked engine.

The caller's session decides what the relation holds; here it decides nothing. Columns leave it as plain values, an
instant as an instant (never as text in the session's zone). The digest covers exactly those plain values, so two
relations with one digest are read alike. A plain value is total before it is used in a computation. DuckDB keeps any
value from Arrow or a file, fails on some text, and then makes the caller's whole database unusable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .columns import Column, Kind, kind_of
from .engine import Embedded, quote_name, streaming_connection
from .multisets import multiset_digest
from .total import LONGEST_TEXT

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["RelationSource", "open_relation"]

_NUMBERS = "boolean tinyint smallint integer bigint utinyint usmallint uinteger ubigint float double decimal"
_PLAIN = frozenset((*_NUMBERS.split(), "date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "time"))
"""Types that Arrow carries as they are."""

_YEARS = "{{0}} >= CAST('0001-01-01' AS {0}) AND {{0}} < CAST('10000-01-01' AS {0})"
_INSIDE = {
    **{kind: _YEARS.format(kind) for kind in ("timestamp", "timestamp_s", "timestamp_ms")},
    "timestamp_ns": "{0} > CAST('-infinity' AS TIMESTAMP_NS) AND {0} < CAST('infinity' AS TIMESTAMP_NS)",
    "timestamp with time zone": "epoch_us({0}) >= -62135596800000000 AND epoch_us({0}) < 253402300800000000",
}
"""Which instants `total.py` leaves as they are. Compared in their own type, as a cast to another could fail; or by
whole numbers, where a literal would be read by the session's zone and calendar."""

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
        columns.append(Column(name, kind if flat else Kind.NESTED, type_name=str(dtype.id)))
    return columns, RelationSource(relation)


def _typed(relation: Any) -> list[tuple[str, Any]]:
    return list(zip(relation.columns, relation.types, strict=True))


def _batches(relation: Any, size: int) -> pa.RecordBatchReader:
    # DuckDB renamed the method; a relation also answers to the names of its columns, so ask its type.
    renamed = hasattr(type(relation), "to_arrow_reader")
    found: pa.RecordBatchReader = relation.to_arrow_reader(size) if renamed else relation.fetch_arrow_reader(size)
    return found


def _plain(value: str, dtype: Any) -> str:
    """Return SQL for a value in a form that Arrow carries unharmed, and of which text can be made."""
    kind = str(dtype.id)
    if kind in _INSIDE:
        return f"CASE WHEN {_INSIDE[kind].format(value)} THEN {value} END"
    if kind == "decimal":  # more digits than the type has are null, as in `total.py`
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
    elif kind == "time":  # outside of the day, which is a number to `total.py`, there is no text
        day = f"CASE WHEN {value} BETWEEN TIME '00:00:00' AND TIME '24:00:00' THEN {value} END"
        text = f"coalesce(CAST({day} AS VARCHAR), CAST(epoch_us({value}) AS VARCHAR))"
    return f"coalesce(strlen({text}) || ':' || {text}, '-')"
