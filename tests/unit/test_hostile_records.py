"""One record never decides an error, nor what another is read as: hostile values of every type in every kind of frame.

Every question is asked of a clean table, of the hostile record alone and of both together. The counts must add up, and
nothing may be raised.
"""

import uuid
import warnings
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp._queries import PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.arrow_values import LONGEST_TEXT
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

CONNECTION = duckdb.connect()
LONG = "x" * (LONGEST_TEXT + 1)


def raw(kind, *values):
    """Return values of a type by their bits, checked by nobody."""
    return pa.array(values, pa.int64() if kind.bit_width == 64 else pa.int32()).view(kind)


def bytes_as_text(*values, kind=None):
    return pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary()).view(kind or pa.string())


EXTREME = (2**63 - 1, -(2**63), 10**18, -(10**18), 2**62 + 1)
EXTREME32 = (2**31 - 1, -(2**31), 6_672_000, -800_000)
OLD = pa.array([0, 86_400, 1_700_000_000], pa.int64())
ONE_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def instants(unit, zone=None):
    kind = pa.timestamp(unit, zone)
    return pa.array([value.as_py() * ONE_SECOND[unit] for value in OLD], pa.int64()).view(kind), raw(kind, *EXTREME)


TEXTS = pa.array(["a", "b", "ü", "a", None])
BAD_BYTES = (b"\xff\xfe", b"a\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", LONG.encode())
ARROW = {
    **{f"timestamp[{unit}]": instants(unit) for unit in ONE_SECOND},
    **{f"timestamp[{unit}] with a zone": instants(unit, "America/New_York") for unit in ONE_SECOND},
    "date32": (raw(pa.date32(), 0, 1, 19_000), raw(pa.date32(), *EXTREME32)),
    "date64": (raw(pa.date64(), 0, 86_400_000), raw(pa.date64(), *EXTREME, 5)),
    "time32[s]": (raw(pa.time32("s"), 0, 5), raw(pa.time32("s"), *EXTREME32)),
    "time32[ms]": (raw(pa.time32("ms"), 0, 5), raw(pa.time32("ms"), *EXTREME32)),
    "time64[us]": (raw(pa.time64("us"), 0, 5), raw(pa.time64("us"), *EXTREME)),
    "time64[ns]": (raw(pa.time64("ns"), 0, 5), raw(pa.time64("ns"), *EXTREME)),
    **{f"duration[{unit}]": (raw(pa.duration(unit), 0, 5), raw(pa.duration(unit), *EXTREME)) for unit in ONE_SECOND},
    "text": (TEXTS, bytes_as_text(*BAD_BYTES)),
    "large text": (TEXTS.cast(pa.large_string()), bytes_as_text(*BAD_BYTES, kind=pa.large_string())),
    "text view": (TEXTS.cast(pa.string_view()), pa.array([LONG, "\0", "\ufffd"], pa.string_view())),
    "dictionary of text": (
        pa.DictionaryArray.from_arrays([0, 1], TEXTS.slice(0, 2)),
        pa.DictionaryArray.from_arrays([0, 1, 2, None], bytes_as_text(*BAD_BYTES[:3])),
    ),
    "dictionary of instants": (
        pa.DictionaryArray.from_arrays([0, 1], instants("ms")[0]),
        pa.DictionaryArray.from_arrays([0, 1], instants("ms")[1]),
    ),
    "run ends": (
        pa.RunEndEncodedArray.from_arrays([1, 3], TEXTS.slice(0, 2)),
        pa.RunEndEncodedArray.from_arrays([1, 3], pa.array([LONG, "\0"])),
    ),
    "whole numbers": (pa.array([1, 2, 7], pa.uint64()), pa.array([2**64 - 1, 2**63, 0, None], pa.uint64())),
    "numbers": (
        pa.array([1.5, 2.0, 7.0]),
        pa.array([float("inf"), float("-inf"), float("nan"), -0.0, 5e-324, 1.7e308, None]),
    ),
    "half floats": (pa.array(np.array([1.5, 7], "f2")), pa.array(np.array([np.inf, np.nan, -0.0], "f2"))),
    "decimals": (
        pa.array([Decimal("1.50"), Decimal(7)], pa.decimal128(38, 2)),
        pa.array([Decimal(10) ** 35, -(Decimal(10) ** 35)], pa.decimal128(38, 2)),
    ),
    "wide decimals": (
        pa.array([Decimal("1.50"), Decimal(7)], pa.decimal256(76, 2)),
        pa.array([Decimal(10) ** 70, -(Decimal(10) ** 70)], pa.decimal256(76, 2)),
    ),
    "narrow decimals": (
        pa.array([Decimal("1.5")], pa.decimal32(5, 2)),
        pa.array([Decimal("999.99")], pa.decimal32(5, 2)),
    ),
    "bytes": (pa.array([b"a", None]), pa.array([LONG.encode(), b"\xff\0"])),
    "UUIDs": (pa.array([uuid.UUID(int=1).bytes], pa.uuid()), pa.array([uuid.UUID(int=2**128 - 1).bytes], pa.uuid())),
    "nothing": (pa.nulls(2), pa.nulls(1)),
    "lists": (pa.array([["a"], None]), pa.array([["\0"] * 10, [None]])),
    "list views": (pa.array([[1], None], pa.list_view(pa.int64())), pa.array([[2] * 99], pa.list_view(pa.int64()))),
    "lists of instants": (
        pa.ListArray.from_arrays([0, 1, 3], instants("s")[0]),
        pa.ListArray.from_arrays([0, 1, 3], instants("s")[1].slice(0, 3)),
    ),
    "structs": (pa.array([{"a": 1}, None]), pa.array([{"a": 2**63 - 1}])),
    "calendar spans": (
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([(2**31 - 1, -(2**31), 2**63 - 1)], pa.month_day_nano_interval()),
    ),
}

CONDITIONS = {
    ColumnType.TEXT: "lower(x) LIKE '%a%' OR length(x) > 3 OR CAST(x AS DOUBLE) > 0 OR CAST(x AS DATE) > '2000-01-01'",
    ColumnType.INTEGER: "x * x > 4 OR CAST(x AS VARCHAR) > '1'",
    ColumnType.NUMBER: "x * x > 4 OR CAST(x AS VARCHAR) > '1'",
    ColumnType.BOOLEAN: "x",
    ColumnType.DATE: "x > '1999-12-31' OR year(x) = 1970 OR month(x) + day(x) > 3 OR CAST(x AS VARCHAR) > '2'",
    ColumnType.UNTYPED: "CAST(x AS DOUBLE) > 1 OR lower(x) LIKE '%a%' OR CAST(x AS DATE) > '2000-01-01'",
}
GROUPS = {
    ColumnType.TEXT: ["a", "b"],
    ColumnType.INTEGER: [1, 7],
    ColumnType.NUMBER: [1.5, 7],
    ColumnType.DATE: ["1970-01-01", "1970-01-02"],
    ColumnType.UNTYPED: ["a", "b"],
}


def counts(data):
    """Return the answers to every question that a column allows, by question."""
    table = open_table(data)
    kind = table.columns[0].kind
    found = {}
    for text in filter(None, ["x IS NULL", CONDITIONS.get(kind)]):
        cells = count_records(table, condition=read_condition(text, table.columns))
        found[text] = (cells.total[0], cells.yes[0], cells.no[0])
    if kind in GROUPS:
        found["groups"] = tuple(count_records(table, groups=read_groups(table, "x", GROUPS[kind])).total)
        keys = enumerate_keys(table, "x")
        assert (count_records(table, groups=keys.cells()).total == keys.counts).all()
        # Whoever is chosen, labels can be written; here everybody is.
        labels = keys.select(np.ones(len(keys.counts), bool)).labels
        for label, count in zip(labels, keys.counts, strict=True):
            found["key", str(label)] = (count,)
    if kind is not ColumnType.NESTED:
        people = count_records(table, unit=PrivacyUnit("x", b"k" * 32)).total[0]
        assert 0 <= people <= count_records(table).total[0]
    assert len(table.digest()) == 32
    return found


def check(clean, hostile, both):
    expected = {}
    for part in (clean, hostile):
        for question, numbers in counts(part).items():
            expected[question] = tuple(np.add(expected.get(question, (0,) * len(numbers)), numbers))
    assert counts(both) == expected


def in_parquet(folder):
    def write(table):
        path = folder / f"{uuid.uuid4().hex}.parquet"
        pq.write_table(table, path)
        return path

    return write


FRAMES = {
    "PyArrow": lambda folder: lambda table: table,
    "Parquet": in_parquet,
    "pandas": lambda folder: lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda folder: pl.from_arrow,
    "Polars, lazy": lambda folder: lambda table: pl.from_arrow(table).lazy(),
    "DuckDB": lambda folder: CONNECTION.from_arrow,
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", ARROW)
def test_hostile_values_of_every_type(name, library, tmp_path):
    clean, hostile = ARROW[name]
    make = FRAMES[library](tmp_path)
    tables = [pa.table({"x": pa.chunked_array(chunks)}) for chunks in ([clean], [hostile], [clean, hostile])]
    try:
        frames = [make(table) for table in tables]
        if library == "DuckDB":  # a relation that cannot be computed fails in the caller's engine, with or without us
            for frame in frames:
                frame.fetchall()
    except BaseException:  # Polars panics over what it cannot hold
        return
    check(*frames)


def explode(self, *_):
    raise RuntimeError("a private value")


class Silent:
    __str__ = __repr__ = __eq__ = __bool__ = __len__ = __hash__ = __float__ = explode


class Leaving:
    def __str__(self):
        raise SystemExit("a private value")


class Alarming:
    def __str__(self):
        warnings.warn("a private value", stacklevel=1)
        return "warned"


class Wordless:
    __str__ = (3).__add__


class Sly(str):
    def __str__(self):
        return self

    def encode(self, *_):
        raise RuntimeError("a private value")


nested = []
for _ in range(100_000):
    nested = [nested]

OBJECTS = [
    Silent(), Leaving(), Alarming(),
    Wordless(), Sly("a"), 10**5000, -(10**5000), Fraction(10**5000, 3), Decimal("1e999999"), Decimal("sNaN"),
    "\ud800", "a\udfff", "\0", LONG, LONG.encode(), b"\xff", nested, 2.0, float("inf"), True, None, float("nan"), pd.NA,
    pd.NaT, pd.Timestamp.max, np.datetime64("20240-01-01"), np.float64(1), [1], {"a": Silent()}, np.array([1, 2]),
    object, len, complex(1, 2), pd.Period("2024"), uuid.UUID(int=5), range(3),
]  # fmt: skip


def object_series(values):
    series = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        series[place] = value
    return series


def in_pandas(values):
    return pd.DataFrame({"x": pd.Series(object_series(values), dtype=object)})


def in_polars(values):
    return pl.DataFrame({"x": pl.Series(values, dtype=pl.Object)})


@pytest.mark.parametrize("make", [in_pandas, in_polars, lambda values: in_polars(values).lazy()])
def test_hostile_python_objects(make):
    clean = ["a", 3, "b", None, 2.5]
    check(make(clean), make(OBJECTS), make([*clean, *OBJECTS]))


HOSTILE_SQL = {
    "DATE": ["DATE 'infinity'", "DATE '-infinity'", "DATE '20240-01-01'", "DATE '0044-03-15 (BC)'"],
    "TIMESTAMP": ["TIMESTAMP 'infinity'", "TIMESTAMP '20240-01-01'", "TIMESTAMP '-infinity'"],
    "TIMESTAMPTZ": ["TIMESTAMPTZ 'infinity'", "TIMESTAMPTZ '20240-01-01'"],
    "TIMESTAMP_S": ["TIMESTAMP_S '290000-01-01'"],
    "VARCHAR": ["repeat('x', 3000000)", "chr(0)", "''"],
    "JSON": ["'[1]'::JSON", "json_quote(repeat('x', 3000000))"],
    "BLOB": ["repeat('x', 3000000)::BLOB", r"'\xFF'::BLOB"],
    "HUGEINT": ["170141183460469231731687303715884105727", "(-170141183460469231731687303715884105727)::HUGEINT"],
    "UHUGEINT": ["340282366920938463463374607431768211455"],
    "UBIGINT": ["18446744073709551615"],
    "DOUBLE": ["'nan'::DOUBLE", "'inf'::DOUBLE", "'-0.0'::DOUBLE"],
    "INTERVAL": ["INTERVAL 200000 YEARS", "INTERVAL (-5) MONTHS"],
    "TIMETZ": ["TIMETZ '24:00:00-15:00'"],
    "UUID": ["uuid()"],
    "BIT": ["repeat('1', 3000)::BIT"],
    "ENUM('a', 'b')": ["'b'"],
    "UNION(a INTEGER, b VARCHAR)": ["union_value(b := 'q')"],
    "INTEGER[]": ["range(1000)"],
    "MAP(VARCHAR, INTEGER)": ["MAP {'q': 1}"],
    "STRUCT(a VARCHAR)": ["{'a': repeat('x', 3000000)}"],
    "VARIANT": ["[1, 2]::VARIANT"],
}
CLEAN_SQL = {
    "VARCHAR": "'a'", "JSON": "'[2]'", "BLOB": "'a'", "INTERVAL": "INTERVAL 1 DAY", "TIMETZ": "'01:00:00+00'",
    "UUID": "'00000000-0000-0000-0000-000000000001'", "BIT": "'101'", "ENUM('a', 'b')": "'a'",
    "UNION(a INTEGER, b VARCHAR)": "1", "INTEGER[]": "[1]", "MAP(VARCHAR, INTEGER)": "MAP {'a': 1}",
    "STRUCT(a VARCHAR)": "{'a': 'q'}", "VARIANT": "1",
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE_SQL)
def test_hostile_values_in_a_relation(kind):
    clean = CLEAN_SQL.get(kind, "'1970-01-01'" if "DATE" in kind or "TIME" in kind else "7")
    try:
        CONNECTION.sql(f"SELECT CAST(NULL AS {kind})")
    except duckdb.Error:
        pytest.skip(f"this DuckDB has no {kind}")
    for hostile in HOSTILE_SQL[kind]:
        rows = [f"SELECT CAST({clean} AS {kind}) AS x UNION ALL SELECT NULL", f"SELECT CAST({hostile} AS {kind}) AS x"]
        check(*map(CONNECTION.sql, [*rows, f"{rows[0]} UNION ALL {rows[1]}"]))
