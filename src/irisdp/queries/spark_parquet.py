"""As what Spark reads a column of Parquet files, so that it fails on no value: decided by the files' types alone.

Spark converts some types while it reads, and a value that does not fit ends the question: milliseconds beyond its
microseconds, a decimal of more digits than its type has. Such columns are read as what is stored, which always fits,
and made total by SQL, as `total.py` does it on this machine. What cannot be read so is not read at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .parquet_files import opened_parquet

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Reading", "spark_readings"]

Reading = tuple[str, str]
"""The type that is asked of Spark, and SQL in which `{0}` is the value read."""
_Stored = tuple[str, int]
"""A physical type of Parquet's, and its bytes where these are fixed."""

_PLAIN = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "uint32": "BIGINT",
    "uint64": "DECIMAL(20, 0)",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date32[day]": "DATE",
}
"""Arrow's types whose every stored value Spark reads, and as what."""
_SMALL = {"uint8": ("SMALLINT", "({0} & 255S)"), "uint16": ("INT", "({0} & 65535)")}
"""Stored in 32 bits, of which other readers take the last."""

_FIRST, _END = -62_135_596_800_000, 253_402_300_800_000
"""Milliseconds since 1970 of 0001-01-01 and of 10000-01-01."""
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_MILLISECONDS = (
    f"CASE WHEN {{0}} >= {_FIRST} AND {{0}} < {_END} THEN timestampadd(MICROSECOND, {{0}} * 1000, {_EPOCH}) END"
)

_DIGITS = "lpad(hex({0}), 32, CASE WHEN hex({0}) >= '8' THEN 'F' ELSE '0' END)"
_HIGH = f"CAST(conv(substr({_DIGITS}, 1, 16), 16, 10) AS DECIMAL(20, 0))"
_LOW = f"CAST(conv(substr({_DIGITS}, 17, 16), 16, 10) AS DECIMAL(20, 0))"
_TWO_TO_64 = "CAST('18446744073709551616' AS DECIMAL(20, 0))"
# Of a negative number both parts are taken negative: the sum is never smaller in size than one of them.
_WHOLE = (
    f"CASE WHEN hex({{0}}) >= '8' THEN try_add(try_multiply({_HIGH} - {_TWO_TO_64} + 1, {_TWO_TO_64}), "
    f"{_LOW} - {_TWO_TO_64}) ELSE try_add(try_multiply({_HIGH}, {_TWO_TO_64}), {_LOW}) END"
)
"""A big-endian number in two's complement, of at most 16 bytes, as a decimal; null beyond 38 digits."""


def spark_readings(schema: pa.Schema, paths: Iterable[Path]) -> dict[str, Reading]:
    """Return how Spark reads the columns that it can read, by name.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of every file.
    paths : iterable of Path
        The files: a decimal is stored in several ways, and its type does not say in which.
    """
    import pyarrow as pa

    decimals = [found.name for found in schema if pa.types.is_decimal(found.type)]
    stored = _stored(decimals, paths) if decimals else {}
    readings = {found.name: _reading(found.type, stored.get(found.name, frozenset())) for found in schema}
    return {name: reading for name, reading in readings.items() if reading is not None}


def _stored(names: Iterable[str], paths: Iterable[Path]) -> Mapping[str, frozenset[_Stored]]:
    found: dict[str, set[_Stored]] = {name: set() for name in names}
    for path in paths:
        schema = opened_parquet(path).schema
        for place in range(len(schema)):
            column = schema.column(place)
            if column.path in found:
                found[column.path].add((column.physical_type, column.length))
    return {name: frozenset(kinds) for name, kinds in found.items()}


def _reading(kind: pa.DataType, stored: frozenset[_Stored]) -> Reading | None:
    import pyarrow as pa

    types = pa.types
    if types.is_timestamp(kind):
        # Also of those without a zone: in a session in UTC both are the same instant, in INT96 as well.
        return {"us": ("TIMESTAMP", "{0}"), "ms": ("BIGINT", _MILLISECONDS)}.get(kind.unit)
    if types.is_decimal(kind):
        return _decimal(kind, stored) if kind.precision <= 38 and kind.scale >= 0 else None
    name = str(kind).removeprefix("large_")
    return (_PLAIN[name], "{0}") if name in _PLAIN else _SMALL.get(name)


def _decimal(kind: pa.DataType, stored: frozenset[_Stored]) -> Reading | None:
    held = f"DECIMAL({kind.precision}, {kind.scale})"
    widths = {4 if name == "INT32" else 8 if name == "INT64" else width for name, width in stored}
    fixed = all(name == "FIXED_LEN_BYTE_ARRAY" for name, _ in stored)
    if not stored or not (fixed or {name for name, _ in stored} <= {"INT32", "INT64", "FIXED_LEN_BYTE_ARRAY"}):
        return None
    if max(widths) < 16:  # 15 bytes hold less than 10^38
        return f"DECIMAL(38, {kind.scale})", f"try_cast({{0}} AS {held})"
    if not fixed or max(widths) > 16:
        return None
    return "BINARY", f"try_cast(concat(CAST({_WHOLE} AS STRING), 'E-{kind.scale}') AS {held})"
