"""One record never decides an error, nor what another is read as: hostile values of every type in every kind of frame.

Every question is asked of a clean table, of the hostile record alone and of both together. The counts must add up, and
nothing may be raised.
"""

import datetime
import json
import os
import subprocess
import sys
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
from hypothesis import given, settings
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, plan
from irisdp._queries import PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.arrow_values import LONGEST_TEXT
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.sweeps import by_turns, tried

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
    expect(counts(clean), hostile, both)


def expect(alone, hostile, both):
    expected = {}
    for part in (alone, counts(hostile)):
        for question, numbers in part.items():
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


@pytest.mark.parametrize(("name", "library"), by_turns(ARROW, FRAMES))
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
    rows = f"SELECT CAST({clean} AS {kind}) AS x UNION ALL SELECT NULL"
    alone = counts(CONNECTION.sql(rows))
    for hostile in HOSTILE_SQL[kind]:
        row = f"SELECT CAST({hostile} AS {kind}) AS x"
        expect(alone, CONNECTION.sql(row), CONNECTION.sql(f"{rows} UNION ALL {row}"))


# Keys that could meet: no record is in two accepted groups, and in a typed column spelling is no question.

MOMENT = 1_700_000_000_000_000_000
NANOSECONDS = pa.timestamp("ns")


def nanoseconds(count):
    return pa.array(range(MOMENT, MOMENT + count), NANOSECONDS)


@pytest.mark.parametrize("declare", [
    lambda: nanoseconds(999),
    lambda: pa.table({"g": nanoseconds(999)}),
    lambda: {"g": nanoseconds(999)},
    lambda: pl.DataFrame({"g": nanoseconds(999)}),
    lambda: pl.Series(nanoseconds(999)),
    lambda: {"g": pl.Series(nanoseconds(999))},
    lambda: pd.Series(nanoseconds(999).to_pandas()),
    lambda: np.arange(MOMENT, MOMENT + 999).view("datetime64[ns]"),
    lambda: [pd.Timestamp(MOMENT + k) for k in range(999)],
    lambda: {pd.Timestamp(MOMENT + k) for k in range(999)},
    lambda: [f"2023-11-14 22:13:20.{k:09}" for k in range(999)],
])  # fmt: skip
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_timestamps_a_nanosecond_apart_are_refused(declare, unit):
    moments = pa.array([MOMENT] * 5, NANOSECONDS).cast(pa.timestamp(unit))
    with pytest.raises(BadInput, match="groups"):
        read_groups(open_table(pa.table({"g": moments})), "g", declare())


@pytest.mark.parametrize(("kind", "declared"), [
    (pa.float64(), [2**53 + 1]),
    (pa.float64(), ["9007199254740993"]),
    (pa.float64(), ["0.1000000000000000055"]),
    (pa.float64(), [Decimal("0.1000000000000000055")]),
    (pa.float64(), [0.0, -0.0]),
    (pa.float64(), [1, "1.0"]),
    (pa.float64(), [0.1, "0.10"]),
    (pa.float64(), [True]),
    (pa.decimal128(38, 2), ["12345678901234567890.12"]),
    (pa.decimal128(38, 2), [Decimal("12345678901234567890.12")]),
    (pa.decimal128(38, 2), [Decimal("1.5"), 1.5]),
    (pa.int64(), ["1.5"]),
    (pa.int64(), [2**63]),
    (pa.int64(), [10**5000]),
    (pa.int64(), ["1", 1.0]),
    (pa.int64(), [np.datetime64(1, "ns")]),
    (pa.int64(), [np.timedelta64(1, "ns")]),
    (pa.bool_(), ["true", "TRUE"]),
    (pa.bool_(), [True, " true "]),
    (pa.string(), [1, "1"]),
    (pa.string(), ["\ud800"]),
    (pa.timestamp("us"), ["2024-01-01", datetime.date(2024, 1, 1)]),
    (pa.timestamp("us"), ["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00"]),
    (pa.timestamp("us", "UTC"), ["2024-01-01", "2023-12-31T23:00:00-01:00"]),
    (pa.timestamp("us"), ["2024-01-01 00:00:00.000001", "2024-01-01 00:00:00.0000011"]),
    (pa.date32(), ["2024-01-01", "2024-01-01 00:00:00"]),
    (pa.date32(), [datetime.date(2024, 1, 1), pd.Timestamp("2024-01-01")]),
])  # fmt: skip
def test_what_would_be_rounded_or_meets_is_refused_in_one_line(kind, declared):
    table = open_table(pa.table({"g": pa.array([], kind)}))
    with pytest.raises(BadInput, match=r"^groups: ") as caught:
        read_groups(table, "g", declared)
    assert "\n" not in str(caught.value)


def test_exact_spellings_are_read():
    def keys(kind, declared):
        return read_groups(open_table(pa.table({"g": pa.array([], kind)})), "g", declared).arrow()["k0"].to_pylist()

    assert keys(pa.int64(), ["1.0", 2.0, Decimal(3), "4e0"]) == [1, 2, 3, 4]
    assert keys(pa.float64(), ["0.1", Decimal("0.2"), 2**53, "1e300"]) == [0.1, 0.2, 2.0**53, 1e300]
    assert keys(pa.timestamp("us"), ["2024-01-01 00:00:00.123456000"])[0].microsecond == 123456


def test_long_numbers_in_a_file_without_types_are_compared_as_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("g\n9007199254740993\n9007199254740992\n9007199254740993\n")
    table = open_table(path)
    groups = read_groups(table, "g", "9007199254740992,9007199254740993")
    assert groups.columns[0].kind is ColumnType.TEXT
    assert count_records(table, groups=groups).total.tolist() == [1, 2]


TEXTS_GROUP_KEYS = st.one_of(
    st.sampled_from(
        ["a", "A", "a ", " a", "a\0", "ä", "a\u0308", "ß", "ss", "ı", "i", "I", "İ", "１", "1", "01", "1.0"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3),
)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(2**53 - 3, 2**53 + 3),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), "1", "1.0", "01", "1e0", " 1", "+1", "0", "-0", "-0.0", 0.0, -0.0]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-3, 3, places=2),
)
MOMENTS = st.one_of(
    st.dates(datetime.date(2, 1, 1), datetime.date(9998, 1, 1)),
    st.datetimes(datetime.datetime(2, 1, 1), datetime.datetime(9998, 1, 1)),
    st.integers(0, 3000).map(lambda k: pd.Timestamp(MOMENT + k)),
    st.sampled_from(["2024-01-01", "2024-01-01 00:00:00", "2024-01-01T00:00Z", "2024-01-01T01:00+01:00"]),
)
KINDS = {
    "text": (TEXTS_GROUP_KEYS, pa.string(), str),
    "integers": (NUMBERS, pa.int64(), lambda value: round(Fraction(str(value).strip()))),
    "floats": (NUMBERS, pa.float64(), float),
    "decimals": (NUMBERS, pa.decimal128(38, 3), lambda value: Decimal(str(value).strip())),
    "moments": (MOMENTS, NANOSECONDS, lambda value: pd.Timestamp(value).tz_localize(None)),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=tried(16, 40))  # each asks the engine six times
@given(data=st.data())
def test_no_record_joins_two_groups(kind, data):
    """Groups that are accepted together part the records: the engine joins each record at most once."""
    values, arrow_type, held = KINDS[kind]
    declared = data.draw(st.lists(values, min_size=1, max_size=6))
    records = []
    for value in declared:
        try:
            records.append(pa.scalar(held(value), arrow_type).as_py())
        except (pa.ArrowException, ValueError, OverflowError):
            continue  # a value the column cannot hold
    table = open_table(pa.table({"g": pa.array(records, arrow_type)}))
    accepted = []
    for value in declared:
        try:
            read_groups(table, "g", [*accepted, value])
        except BadInput:
            continue
        accepted.append(value)
    if accepted:
        groups = read_groups(table, "g", accepted)
        assert count_records(table, groups=groups).total.sum() <= len(records)
        keys = groups.arrow()["k0"].to_pylist()
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=tried(12, 20))
@given(data=st.data())
def test_keys_are_in_the_order_of_an_engine(kind, data):
    """The cells, and so the digest of a question, do not depend on who sorts."""
    values, arrow_type, _ = KINDS[kind]
    table, accepted = open_table(pa.table({"g": pa.array([], arrow_type)})), []
    for value in data.draw(st.lists(values, min_size=1, max_size=8)):
        try:
            read_groups(table, "g", [*accepted, value])
        except BadInput:
            continue
        accepted.append(value)
    if accepted:
        keys = read_groups(table, "g", accepted).by_key().arrow()
        with duckdb.connect() as engine:
            placed = engine.register("keys", keys).sql("SELECT position FROM keys ORDER BY k0").fetchall()
        assert [place for (place,) in placed] == list(range(len(keys)))


# One question in a column of numbers, however it is spelled.

SPELLINGS = [
    "1,2,3",
    "3,1,2",
    "1.0,2,03",
    [3, 2, 1],
    {1, 2, 3},
    frozenset(["1", "2", "3"]),
    {1: "x", 2: "y", 3: "z"}.keys(),
    iter((2, 3, 1)),
    {"G": [2, 1, 3]},
    pd.DataFrame({"g": [1, 3, 2]}),
    np.array([2.0, 3.0, 1.0]),
]


def test_asking_again_is_free_in_every_spelling_of_a_number(tmp_path):
    (tmp_path / "t.csv").write_text("g,x\n" + "1,1\n" * 40 + "2,1\n" * 60 + "3,0\n")
    asked = {"types": {"g": "number"}}  # without a type, another spelling is another group
    stored = None
    for declared in SPELLINGS:
        found = irisdp.publish(tmp_path / "t.csv", "count", "x = 1", by="g", groups=declared, epsilon=1, **asked)
        answers = {float(row["g"]): row["answer"] for row in found.answers.to_documents()}
        stored = stored or answers
        assert answers == stored
    assert irisdp.publish(tmp_path / "t.csv", "count", "x = 1", by=["G"], groups="1,2,3", epsilon=1, **asked).repeated
    releases = irisdp.Ledger(tmp_path / "t.ledger")
    assert releases.spent.epsilon == 1
    shown = irisdp.publish(tmp_path / "t.csv", "count", "x = 1", by="g", groups="03,1.0,2", epsilon=1, **asked)
    assert shown.repeated
    assert [row["g"] for row in shown.answers.to_documents()] == ["03", "1.0", "2"]
    finer = irisdp.publish(tmp_path / "t.csv", "count", "x = 1", by="g", groups=[3, 1, 2], epsilon=2, **asked)
    assert finer.cost.epsilon == 1  # it refines the first, whatever the order


def test_ends_stand_beside_their_groups(tmp_path):
    (tmp_path / "t.csv").write_text("g,x\n" + "1,1\n" * 4 + "2,1\n" * 6)
    options = {"by": "g", "groups": "2,1", "epsilon": 1, "relation": "exchange", "public_membership": True}
    irisdp.publish(tmp_path / "t.csv", "count", "x = 1", **options, out=tmp_path / "out.csv")
    sidecar = json.loads((tmp_path / "out.csv.release.json").read_text())
    assert sidecar["mechanism"]["upper"] == [6, 4]


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_sets_are_one_question_whatever_the_hash_seed(tmp_path, seed):
    (tmp_path / "t.csv").write_text("g\n" + "a\nb\nc\nd\n" * 10)
    asked = f"plan({str(tmp_path / 't.csv')!r}, 'count', by='g', groups=set('abcd'), epsilon=1)"
    code = f"from irisdp._release import plan; print({asked}.question())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    first = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    again = plan(tmp_path / "t.csv", "count", by="g", groups=list("dcba"), epsilon=1).question()
    assert first.stdout.strip() == again


def test_sets_are_shown_by_key_and_no_column_of_several_is_a_set():
    table = open_table(pa.table({"g": ["a"], "h": ["b"]}))
    assert read_groups(table, "g", {"b", "c", "a"}).labels == (("a",), ("b",), ("c",))
    with pytest.raises(BadInput, match="not a set"):
        read_groups(table, ["g", "h"], {"g": {"a", "b"}, "h": {"a", "b"}})
