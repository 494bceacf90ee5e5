"""Bins of a column against a plain reference: every value in one bin, its left edge in it, null and NaN in none."""

import bisect
import datetime
import math
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput
from irisdp._queries import PrivacyUnit, derived_columns
from irisdp._queries.derived_columns import read_bins
from irisdp._queries.privacy_units import _hashed
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import ColumnType
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

NUMBERS = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 0.3, math.nextafter(0.3, 0), 1 / 3, 17.9, 18.0, 1e300]
INTEGERS = [None, 0, -1, 17, 18, 64, 65, 120, 2**53, 2**63 - 1, -(2**63)]
DAYS = [None, *(datetime.date(*day) for day in ((1, 1, 1), (2019, 12, 31), (2020, 1, 1), (2020, 1, 2), (9999, 12, 31)))]


def counted(data, column, bins):
    table = open_table(data)
    found = read_bins(table, column, bins)
    return found, count_records(found.within(table), groups=found.groups).total.tolist()


def expected(values, edges):
    counts = [0] * (len(edges) + 1)
    for value in values:
        if value is not None and not (isinstance(value, float) and math.isnan(value)):
            counts[bisect.bisect_right(edges, value)] += 1
    return counts


@pytest.mark.parametrize(
    "bins", ["0,18,65,120", "18", ["1/10", "0.3"], [0.1, Fraction(1, 3), 1], "-1e300,0,1e300", range(-2, 30)]
)
def test_numbers_are_in_one_bin_each(bins):
    found, counts = counted(pa.table({"x": pa.array(NUMBERS, pa.float64())}), "x", bins)
    assert counts == expected(NUMBERS, [float(edge) for edge in found.edges])


def test_whole_numbers_are_in_one_bin_each():
    table = pa.table({"age": pa.array(INTEGERS, pa.int64())})
    found, counts = counted(table, "age", "0,18,65,120")
    assert counts == expected(INTEGERS, [0, 18, 65, 120])
    assert found.names == ("below 0", "0 to under 18", "18 to under 65", "65 to under 120", "120 and over")
    assert (found.column.name, found.column.kind) == ("age_bin", ColumnType.TEXT)
    assert found.column.derivation.text == "BINS(age, 0, 18, 65, 120)"


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "Asia/Tokyo")])
@pytest.mark.parametrize("bins", ["2020-01-01,2020-01-02", [datetime.date(2020, 1, 1), "2020-01-01T23:00:00-01:00"]])
def test_days_are_in_one_bin_each(kind, bins):
    days = DAYS if kind == pa.date32() else [day and datetime.datetime(*day.timetuple()[:3]) for day in DAYS]
    found, counts = counted(pa.table({"visited": pa.array(days, kind)}), "visited", bins)
    assert counts == [2, 1, 2]
    assert found.names == ("before 2020-01-01", "2020-01-01 to before 2020-01-02", "2020-01-02 or later")


def test_text_is_read_as_what_the_edges_are(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('when\n2020\n2020-01-01\n2019-12-31\n-5\n1e400\nnan\n""\ninf\n2019-12-31T23:30:00-01:00\nx\n')
    found, counts = counted(file, "when", "2020-01-01")
    assert (found.names, counts) == (("before 2020-01-01", "2020-01-01 or later"), [1, 3])  # inf is a date to DuckDB
    found, counts = counted(file, "when", "2020")
    assert found.names == ("below 2020", "2020 and over")
    assert counts[0] == 1
    assert counts[1] >= 2  # 2020 and infinity; what 1e400 is, the engine says


HOSTILE = ["x", "1e400", "nan", "inf", "-inf", "", "9" * 400, "0x10", "1_0", "'; DROP", "2020-02-30", "é", "\u0000"]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("bins", ["0,10", "2020-01-01"])
def test_no_record_changes_the_bin_of_another(value, bins):
    plain, counts = ["5", "2020-06-01", "11", None], []
    for values in (plain, [*plain, value]):
        frame = pd.DataFrame({"when": pd.Series(values, dtype=object)})  # untyped: read as the edges say
        counts.append(counted(frame, "when", bins)[1])
    added = [after - before for before, after in zip(*counts, strict=True)]
    assert sum(added) in (0, 1)
    assert min(added) == 0


@given(st.lists(st.fractions(-100, 100), min_size=1, max_size=8, unique=True), st.lists(st.floats(), max_size=8))
def test_bins_part_the_numbers(edges, values):
    edges = sorted(edges)
    table = open_table(pa.table({"x": pa.array(values, pa.float64())}))
    doubles = [float(edge) for edge in edges]
    if len(set(doubles)) < len(doubles):
        with pytest.raises(BadInput, match="64-bit"):
            read_bins(table, "x", edges)
        return
    found = read_bins(table, "x", edges)
    assert count_records(found.within(table), groups=found.groups).total.tolist() == expected(values, doubles)
    assert len(set(found.names)) == len(edges) + 1


def test_many_bins():
    found, counts = counted(pa.table({"x": list(range(-5, 1500))}), "x", range(1000))
    assert counts == [5, *[1] * 999, 501]
    assert found.names[-1] == "999 and over"


@pytest.mark.parametrize("side", [math.inf, -math.inf])
def test_an_edge_on_the_wrong_side_is_caught(side, monkeypatch):
    """Planted: every edge one double off, so that a bin holds its right edge, or a neighbour of its left one."""
    real = derived_columns._literal
    monkeypatch.setattr(derived_columns, "_literal", lambda edge: real(Fraction(math.nextafter(edge, side))))
    edges = [0.3, 18.0]
    _, counts = counted(pa.table({"x": pa.array(NUMBERS, pa.float64())}), "x", edges)
    assert counts != expected(NUMBERS, edges)


TABLE = pa.table({"age": [1], "town": ["a"], "flag": [True], "born": [datetime.date(2020, 1, 1)], "part": [[1]]})


@pytest.mark.parametrize(
    ("column", "bins", "rule"),
    [
        ("age", "", "lists no edge"),
        ("age", [], "lists no edge"),
        ("age", "0,0", "must increase"),
        ("age", "18,0", "must increase"),
        ("age", "0,1e-400", "must increase"),
        ("age", "0,x", "edges are all numbers or all dates"),
        ("age", "0,,1", "edges are all numbers or all dates"),
        ("age", "0,nan", "edges are all numbers or all dates"),
        ("age", "1e999", "beyond 1.8e308"),
        ("age", [True], "edges are all numbers or all dates"),
        ("age", 18, "lists no edge"),
        ("age", {18}, "lists no edge"),
        ("age", "2020-01-01", "edges are all numbers or all dates"),
        ("age", range(1001), "more than 1000"),
        ("born", "2020", "no date"),
        ("born", "2020-01-01,2020-02-30", "no date"),
        ("born", "2020-01-02,2020-01-01", "must increase"),
        ("town", "0", "which|is text"),
        ("flag", "0", "true or false"),
        ("part", "0", "a list"),
        ("rank", "0", "does not have"),
    ],
)
def test_what_are_no_bins_is_refused(column, bins, rule):
    with pytest.raises(BadInput, match=rule) as refused:
        read_bins(open_table(TABLE), column, bins)
    assert refused.value.field == "bins"


def test_a_derived_column_is_found_by_name_and_hashes_nobody():
    table = open_table(TABLE)
    found = read_bins(table, "AGE", "0")
    within = found.within(table)
    assert within.column("age_BIN", "by") == found.column
    assert within.columns == table.columns
    unit = PrivacyUnit("town", b"k" * 32)
    assert _hashed(within, unit) == _hashed(table, unit)
    with pytest.raises(BadInput, match="does not have"):
        within.column("age_bin", "unit")


def test_the_derived_column_gets_a_name_of_its_own():
    table = open_table(pa.table({"age": [1], "Age_Bin": [2], "age_bin_": [3]}))
    assert read_bins(table, "age", "0").column.name == "age_bin__"


def test_one_set_of_bins_is_one_derivation():
    table = open_table(TABLE)
    one, other = read_bins(table, "age", "0,18.0,50"), read_bins(table, "Age", [0, "1.8e1", 50.0])
    assert one == other
    assert read_bins(table, "age", "0,18").column.derivation != one.column.derivation
