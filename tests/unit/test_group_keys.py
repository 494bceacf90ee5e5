"""Keys that could meet: no record is in two accepted groups, and in a typed column spelling is no question."""

import datetime
import json
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, plan
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import ColumnType
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

MOMENT = 1_700_000_000_000_000_000
NANOSECONDS = pa.timestamp("ns")


def nanoseconds(count):
    return pa.array(range(MOMENT, MOMENT + count), NANOSECONDS)


@pytest.mark.parametrize(
    "declare",
    [
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
    ],
)
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_timestamps_a_nanosecond_apart_are_refused(declare, unit):
    moments = pa.array([MOMENT] * 5, NANOSECONDS).cast(pa.timestamp(unit))
    with pytest.raises(BadInput, match="groups"):
        read_groups(open_table(pa.table({"g": moments})), "g", declare())


@pytest.mark.parametrize(
    ("kind", "declared"),
    [
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
    ],
)
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


TEXTS = st.one_of(
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
    "text": (TEXTS, pa.string(), str),
    "integers": (NUMBERS, pa.int64(), lambda value: round(Fraction(str(value).strip()))),
    "floats": (NUMBERS, pa.float64(), float),
    "decimals": (NUMBERS, pa.decimal128(38, 3), lambda value: Decimal(str(value).strip())),
    "moments": (MOMENTS, NANOSECONDS, lambda value: pd.Timestamp(value).tz_localize(None)),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)  # each asks the engine six times
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
@settings(max_examples=20)
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
