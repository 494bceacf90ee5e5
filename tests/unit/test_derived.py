"""Named expressions to group by, against plain Python: total, typed by the schema, blind to everybody else."""

import bisect
import datetime
import json
import math
from fractions import Fraction
from functools import cache

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, Session, batch, interpret, plan, publish
from irisdp._cli import run
from irisdp._queries import derived_columns, read_by, read_groups
from irisdp._queries.derived_columns import read_bins
from irisdp._queries.privacy_units import _hashed
from irisdp._queries.statistics import count_records
from irisdp._release.pipeline import read_statistics
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.derived import AGES, EXPRESSIONS, TABLE, TRUTHS, values

pytestmark = pytest.mark.usefixtures("one_engine")

SOURCES = {
    "arrow": lambda folder: TABLE,
    "polars": lambda folder: pl.from_arrow(TABLE),
    "lazy": lambda folder: pl.from_arrow(TABLE).lazy(),
    "pandas": lambda folder: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "parquet": lambda folder: _written(folder / "t.parquet"),
    "relation": lambda folder: duckdb.connect().from_arrow(TABLE),
}


def _written(path):
    pyarrow.parquet.write_table(TABLE, path)
    return path


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_meaning_that_python_gives_it(expression):
    kind, meaning = EXPRESSIONS[expression]
    found = values(TABLE, expression)
    assert found[0] is kind
    if meaning is not None:
        assert found[1] == [meaning(n) for n in range(len(TABLE))]


@cache
def in_memory(expression):
    return values(TABLE, expression)


@pytest.mark.parametrize("source", SOURCES)
def test_every_table_gives_an_expression_one_meaning(source, tmp_path):
    data = SOURCES[source](tmp_path)
    for expression in EXPRESSIONS:
        assert values(data, expression) == in_memory(expression), expression


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_the_parts_of_a_date_are_those_in_utc(zone):
    shown = TABLE.set_column(3, "seen", TABLE["seen"].cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", zone)))
    for expression in EXPRESSIONS:
        assert values(shown, expression) == in_memory(expression), expression


def test_text_files_are_read_as_the_expression_says(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("age,seen\n17,2023-12-31T23:30:00-01:00\n1e1,2024-02-30\nx,9999-12-31\n,0001-01-01\n-0.5,\n")
    assert values(file, "YEAR(seen)") == (ColumnType.INTEGER, [2024, None, 9999, 1, None])
    assert values(file, "FLOOR(age / 10) * 10") == (ColumnType.INTEGER, [10, 10, None, None, -10])
    assert values(file, "age") == (ColumnType.TEXT, ["17", "1e1", "x", None, "-0.5"])


HOSTILE = [
    "", "nan", "-inf", "1e400", "9" * 500, "2024-02-30", "infinity", "'", "\u0000", "é" * 2000, "0000-00-00", "1_0",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
def test_no_record_changes_the_value_of_another_or_raises(value):
    plain = ["17", "2024-02-29", "", None, "x"]
    for expression in (
        "YEAR(v)", "FLOOR(v / 10) * 10", "CASE WHEN v < 18 THEN 'child' ELSE 'adult' END", "CAST(v AS INT)",
        "length(v)", "CAST(v AS DATE)", "FLOOR(FLOOR(v / 0) % v)", "CASE WHEN v LIKE '%a' THEN upper(v) END",
        "BINS(v, 0, 18)", "BINS(v, '2020-01-01')",
    ):  # fmt: skip
        frames = [pd.DataFrame({"v": pd.Series(each, dtype=object)}) for each in (plain, [*plain, value])]
        (kind, alone), (same, beside) = (values(frame, expression) for frame in frames)
        assert (kind, alone) == (same, beside[:-1]), expression


def test_groups_are_counted_by_columns_and_expressions():
    table, names = read_by(open_table(TABLE), "flag, band = CASE WHEN age < 18 THEN 'a,b' ELSE 'adult' END")
    assert names == ["flag", "band"]
    groups = read_groups(table, names, [(True, "a,b"), (False, "a,b"), (True, "adult"), (True, "none")])
    found = count_records(table, groups=groups)
    pairs = [(flag, "a,b" if age is not None and age < 18 else "adult") for flag, age in zip(TRUTHS, AGES, strict=True)]
    assert found.total.tolist() == [pairs.count(label) for label in groups.labels]
    condition = read_condition("band = 'adult' AND age > 64", table.named)
    assert count_records(table, condition=condition).yes.tolist() == [sum(age is not None and age > 64 for age in AGES)]


SPLIT = {
    "town, flag": ["town", "flag"],
    'town,"first name"': ["town", "first name"],
    "y = YEAR(seen), town": ["y", "town"],
    "t = CASE WHEN town IN ('a', 'b,c') THEN 'x, y' ELSE COALESCE(town, \"first name\") END, flag": ["t", "flag"],
    'town , "odd, name" = lower(town) ,flag': ["town", "odd, name", "flag"],
    "a=age>64": ["a"],
    "b = BINS(age, 0, 18), c = bins(\"seen\", '2020-01-01', DATE '2021-01-01')": ["b", "c"],
    "é = length(town)": ["é"],
}


@pytest.mark.parametrize("by", SPLIT)
def test_by_is_split_at_commas_outside_parentheses_and_quotes(by):
    _, names = read_by(open_table(TABLE), by)
    assert names == SPLIT[by]


def test_columns_with_marks_in_their_names_are_columns_first():
    table = open_table(pa.table({"a = b": ["x"], "o'clock": [1], "f(x": [2], "case": [3], "y": [4]}))
    assert read_by(table, "o'clock, f(x, case,y")[1] == ["o'clock", "f(x", "case", "y"]
    assert read_by(table, ["a = b", "z = y + 1"])[1] == ["a = b", "z"]
    assert read_by(table, 'case, z = "case" + y')[1] == ["case", "z"]


SAME = [
    ["CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", "case when (18.0 > AGE) then 'child' else ('adult') end"],
    ["YEAR(seen)", "extract(year from Seen)", "year((seen))", "EXTRACT('year' FROM seen)"],
    ["FLOOR(age / 10) * 10", "floor((age/1e1))*10.0"],
    ["town IN ('a', 'b')", "town in ('b', 'a', 'b')"],
    ["BINS(age, 0, 18)", "bins( Age ,0.0, 1.8e1)"],
    ["BINS(seen, '2020-01-01')", "bins(seen, DATE '2020-01-01')", "bins(seen, TIMESTAMP '2020-01-01 00:00:00')"],
    ["CASE WHEN flag THEN age END", "CASE WHEN flag THEN age ELSE NULL END"],
]  # fmt: skip


@pytest.mark.parametrize("spellings", SAME)
def test_two_spellings_are_one_question(spellings):
    asked = [plan(TABLE, "count", by=f"g = {text}", select_groups=True, epsilon=1, delta="1/10") for text in spellings]
    assert len({planned.question() for planned in asked}) == 1
    texts = [text for same in SAME for text in same[:1]]
    others = {
        plan(TABLE, "count", by=f"g = {text}", select_groups=True, epsilon=1, delta="1/10").question() for text in texts
    }
    assert len(others) == len(texts)


def test_the_expression_is_in_the_question_and_its_line_and_the_sidecar(tmp_path):
    by, out = "ward = lower(town), y = YEAR(seen)", tmp_path / "o.csv"
    found = publish(TABLE, "count", by=by, groups=[("a", 2024)], epsilon=1, ledger=tmp_path / "l.ledger", out=out)
    derived = {"ward": "LOWER(town)", "y": "YEAR(seen)"}
    assert found.plan.subject()["derived"] == derived
    assert found.sidecars[None]["derived"] == derived
    assert found.plan.line == "count by ward = LOWER(town), y = YEAR(seen)"
    assert out.read_text().splitlines()[0] == "ward,y,answer,answer_low,answer_high"
    named = {"age": "a whole number", "y": "a whole number", "seen": "a date"}
    asked = plan(TABLE, "count", "y > 2000 AND age > 3", by="y = YEAR(seen)", groups=[2024], epsilon=1)
    assert asked.subject()["columns"] == named
    assert publish(TABLE, "count", by=by, groups=[("a", "2024")], epsilon=1, ledger=tmp_path / "l.ledger").repeated


def test_another_expression_of_one_name_is_another_question():
    one, other = (
        plan(TABLE, "count", "y > 5", by=f"y = {text}(seen)", groups=[1], epsilon=1) for text in ("MONTH", "DAY")
    )
    assert one.condition.text == other.condition.text
    assert one.question() != other.question()
    assert one.chain != other.chain


def test_a_person_is_hashed_by_what_the_table_holds():
    table = open_table(TABLE)
    within, _ = read_by(table, "y = YEAR(seen), b = BINS(age, 0)")
    assert _hashed(within, "town") == _hashed(table, "town")
    with pytest.raises(BadInput, match="'y', which the data does not have"):
        plan(TABLE, "count", by="y = YEAR(seen)", groups=[1], epsilon=1, unit="y")


def test_public_membership_by_an_expression_is_promised_by_its_columns():
    """Of one name there may be many expressions; whoever keeps the columns keeps the value of each."""
    options = {"epsilon": 1, "relation": "exchange", "public_membership": True}
    planned = plan(TABLE, "count", by="flag, b = lower(town)", groups=[(True, "a")], **options)
    assert planned.asked.promise.public_columns == ["flag", "town"]


REFUSED = {
    "y = age / 3": "need not be whole",
    "y = rate": "need not be whole",
    "y = 1": "names no column",
    "y = 'a'": "names no column",
    "y = NULL": "names no column",
    "y =": "must be a SQL expression",
    "y = age >": "is not a SQL expression",
    "y = sum(age)": "SUM",
    "y = (SELECT 1)": "a SELECT",
    "y = random()": "RAND",
    "y = age; DROP": "semicolon",
    "y = age -- x": "comment",
    "y = EXTRACT(SECOND FROM seen)": "EXTRACT.SECOND",
    "y = FLOOR(rate, 2)": "FLOOR with decimals",
    "y = FLOOR(town)": "both as text and as a number",
    "y = CASE WHEN age < 1 THEN 'a' ELSE 2 END": "both as",
    "y = nothing + 1": "does not have",
    "y = y + 1": "does not have",
    "z = age, y = z + 1": "does not have",
    "Age = age + 1": "the name of the column",
    "y = age, Y = YEAR(seen)": "names two expressions",
    "Answer = age": "answers' own column",
    "YEAR(seen)": "neither a column nor a named expression",
    "1y = age": "neither a column nor a named expression",
    "y = BINS(town, 1)": "town is text",
    "y = BINS(age, 2, 1)": "must increase",
    "y = 1 + BINS(age, 1)": "BINS",
    "y = " + "FLOOR(" * 17 + "age" + ")" * 17: "repeat its parts more than 8192 times",
    "y = " + "+".join(["age"] * 6000): "10000 characters",
    "town, ": "does not have",
    "y = x' OR 1": "is not a SQL|does not have",
}  # fmt: skip


@pytest.mark.parametrize("by", REFUSED)
def test_what_is_no_value_is_refused(by):
    with pytest.raises(BadInput, match=REFUSED[by]) as refused:
        plan(TABLE, "count", by=by, groups=[1], epsilon=1)
    assert refused.value.field == "by"


def test_an_opaque_column_is_no_value():
    data = pa.table({"part": [[1]], "span": pa.array([1], pa.duration("s"))})
    for name in data.column_names:
        with pytest.raises(BadInput, match="by:"):
            plan(data, "count", by=f"y = {name}", groups=[1], epsilon=1)


# Bins of a column against a plain reference: every value in one bin, its left edge in it, null and NaN in none.

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


HOSTILE_BINS = [
    "x", "1e400", "nan", "inf", "-inf", "", "9" * 400, "0x10", "1_0", "'; DROP", "2020-02-30", "é", "\u0000",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE_BINS)
@pytest.mark.parametrize("bins", ["0,10", "2020-01-01"])
def test_no_record_changes_the_bin_of_another(value, bins):
    plain, counts = ["5", "2020-06-01", "11", None], []
    for listed in (plain, [*plain, value]):
        frame = pd.DataFrame({"when": pd.Series(listed, dtype=object)})  # untyped: read as the edges say
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


TABLE_BINS = pa.table({"age": [1], "town": ["a"], "flag": [True], "born": [datetime.date(2020, 1, 1)], "part": [[1]]})


@pytest.mark.parametrize(("column", "bins", "rule"), [
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
])  # fmt: skip
def test_what_are_no_bins_is_refused(column, bins, rule):
    with pytest.raises(BadInput, match=rule) as refused:
        read_bins(open_table(TABLE_BINS), column, bins)
    assert refused.value.field == "bins"


def test_a_derived_column_is_found_by_name_and_hashes_nobody():
    table = open_table(TABLE_BINS)
    found = read_bins(table, "AGE", "0")
    within = found.within(table)
    assert within.column("age_BIN", "by") == found.column
    assert within.columns == table.columns
    assert _hashed(within, "town") == _hashed(table, "town")
    with pytest.raises(BadInput, match="does not have"):
        within.column("age_bin", "unit")


def test_the_derived_column_gets_a_name_of_its_own():
    table = open_table(pa.table({"age": [1], "Age_Bin": [2], "age_bin_": [3]}))
    assert read_bins(table, "age", "0").column.name == "age_bin__"


def test_one_set_of_bins_is_one_derivation():
    table = open_table(TABLE_BINS)
    one, other = read_bins(table, "age", "0,18.0,50"), read_bins(table, "Age", [0, "1.8e1", 50.0])
    assert one == other
    assert read_bins(table, "age", "0,18").column.derivation != one.column.derivation


# A histogram is the count by its groups and the bin: the same question, cells and noise, answers in order.

AGES_HISTOGRAM = [5, 17, 18, 40, 64, 65, 99, None, -1, 18]
TABLE_HISTOGRAM = pa.table(
    {"age": AGES_HISTOGRAM, "ward": [*"ababababa", None], "party": ["x", "y", "x", None, "z", "x", "y", "y", "x", "w"]}
)
BINS = ["below 0", "0 to under 18", "18 to under 65", "65 and over"]
SURE = {"epsilon": 40}  # noise is drawn with probability below 1e-16 a cell


def counted_histogram(options, *words):
    planned = plan(TABLE_HISTOGRAM, *words, **{"epsilon": 1, **options})
    counts = read_statistics(planned, b"k" * 32).nodes.values
    return dict(zip(planned.groups.labels, counts.tolist(), strict=True))


def test_every_bin_is_counted_in_order(tmp_path):
    found = publish(TABLE_HISTOGRAM, "histogram", "age", bins="0,18,65", ledger=tmp_path / "l.ledger", **SURE)
    edges = [(None, 0), (0, 18), (18, 65), (65, None)]
    assert found.answers.to_documents() == [
        {
            "age_bin": name,
            "answer": count,
            "answer_from": start,
            "answer_below": end,
            "answer_low": count,
            "answer_high": count,
        }
        for name, count, (start, end) in zip(BINS, [1, 2, 4, 2], edges, strict=True)
    ]


def test_every_group_has_every_bin_in_order(tmp_path):
    asked = {"by": "ward", "groups": ["b", "a"], "bins": [0, 18, 65]}
    found = publish(TABLE_HISTOGRAM, "histogram", "age", **asked, **SURE, ledger=tmp_path / "l.ledger")
    assert found.answers.keys == [(ward, name) for ward in "ba" for name in BINS]
    assert found.answers.values == [0, 1, 1, 1, 1, 1, 2, 1]


def test_categories_are_counted_as_declared():
    assert counted_histogram({"categories": "z,x"}, "histogram", "party") == {("x",): 4, ("z",): 1}
    by = {"categories": ["x", "nobody"], "by": "ward", "groups": "a,b"}
    labels = {("a", "x"): 3, ("b", "x"): 1, ("a", "nobody"): 0, ("b", "nobody"): 0}
    assert counted_histogram(by, "histogram", "party") == labels


def test_a_histogram_by_expressions():
    by = {"by": "old = age >= 65, ward", "groups": [(True, "a"), (True, "b")], "bins": "70"}
    cells = counted_histogram(by, "histogram", "age")
    assert cells == {(True, ward, name): int((ward, name) in (("b", "below 70"), ("a", "70 and over")))
                     for ward in "ab" for name in ("below 70", "70 and over")}  # fmt: skip


SAME_HISTOGRAM = [
    ({"bins": "0,18,65"}, {"by": "age_bin = BINS(age, 0, 18, 65)", "groups": BINS[::-1]}),
    ({"categories": "x,y"}, {"by": "party", "groups": "y,x"}),
    (
        {"bins": "18", "by": "ward", "groups": "b,a"},
        {"by": "ward, age_bin = bins(age, 18.0)",
         "groups": [(ward, name) for name in ("18 and over", "below 18") for ward in "ab"]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("histogram", "count"), SAME_HISTOGRAM)
@pytest.mark.parametrize("options", [
    {"epsilon": 1},
    {"mu": 1, "delta": "1e-6"},
    {"epsilon": 1, "relation": "exchange"},
    {"epsilon": 1, "unit": "ward", "at_most": 1},
    {"audience": {"board": 2, "press": 1}},
], ids=str)  # fmt: skip
def test_a_histogram_is_the_count_by_its_bins(histogram, count, options):
    about = "party" if "categories" in histogram else "age"
    asked = plan(TABLE_HISTOGRAM, "histogram", about, **histogram, **options)
    same = plan(TABLE_HISTOGRAM, "count", **count, **options)
    assert asked.question() == same.question()
    assert (asked.chain, asked.cost, asked.line) == (same.chain, same.cost, same.line)


def test_a_histogram_is_refined_and_given_again(tmp_path):
    kept = {"bins": "0,18,65", "ledger": tmp_path / "l.ledger"}
    first = publish(TABLE_HISTOGRAM, "histogram", "age", epsilon=1, **kept)
    again = publish(TABLE_HISTOGRAM, "histogram", "AGE", epsilon=1, **{**kept, "bins": [0, 18.0, "65"]})
    assert (again.repeated, again.answers.values) == (True, first.answers.values)
    finer = publish(TABLE_HISTOGRAM, "histogram", "age", epsilon=3, **kept)
    assert str(finer.cost.epsilon) == "2"


def test_a_histogram_goes_the_ways_that_counts_go(tmp_path, capsys):
    file, out = tmp_path / "t.csv", tmp_path / "o.csv"
    file.write_text("age\n" + "\n".join("" if age is None else str(age) for age in AGES_HISTOGRAM) + "\n")
    assert (
        run(["publish", str(file), "histogram", "age", "--bins", "0,18,65", "--epsilon", "40", "--out", str(out)]) == 0
    )
    head, *rows = out.read_text().splitlines()
    assert head == "age_bin,answer,answer_from,answer_below,answer_low,answer_high"
    assert [row.split(",")[:2] for row in rows] == [[*pair] for pair in zip(BINS, "1242", strict=True)]
    sidecar = json.loads((tmp_path / "o.csv.release.json").read_text())
    assert sidecar["derived"] == {"age_bin": "BINS(age, 0, 18, 65)"}
    assert interpret(out.with_suffix(".csv.release.json")).to_pandas()["age_bin"].tolist() == BINS
    capsys.readouterr()
    assert run(["publish", str(file), "histogram", "age", "--bins", "5", "--epsilon", "1", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by"] == ["age_bin"]
    session = Session(file, ledger=tmp_path / "s.ledger", another_ledger=True)
    assert session.histogram("age", bins="18", **SURE).answers.values == [3, 6]
    asked = {"data": str(file), "budget": {"epsilon": 50}, "questions": [{"query": "histogram age", "bins": "18"}]}
    found = batch(asked, ledger=tmp_path / "b.ledger", another_ledger=True)
    assert found.publications[0].answers.values == [3, 6]


REFUSED_HISTOGRAM = [
    ({}, "bins", "missing for histogram"),
    ({"bins": "0", "categories": "x,y"}, "bins", "categories="),
    ({"bins": "0", "by": "ward", "select_groups": True, "delta": "1/10"}, "select_groups", "histogram"),
    ({"bins": "0", "by": "ward"}, "groups", "declared or privately selected"),
    ({"bins": "0", "groups": "a"}, "by", "missing"),
    ({"bins": "0", "relation": "exchange", "public_membership": True}, "public_membership", "may change its bin"),
    ({"categories": "5,6", "by": "age", "groups": "5"}, "by", "which the histogram is of"),
    ({"bins": "0", "unit": "ward", "per_unit": "any"}, "per_unit", "asks a condition"),
    ({"bins": "5,1"}, "bins", "must increase"),
]


@pytest.mark.parametrize(("options", "field", "rule"), REFUSED_HISTOGRAM)
def test_what_is_no_histogram_is_refused(options, field, rule):
    with pytest.raises(BadInput, match=rule) as refused:
        plan(TABLE_HISTOGRAM, "histogram", "age", epsilon=1, **options)
    assert refused.value.field == field


@pytest.mark.parametrize("words", [[], ["age", "ward > 1", "age > 1"], ["rank"], [5]])
def test_what_names_no_column_is_refused(words):
    with pytest.raises(BadInput, match=r"^query: "):
        plan(TABLE_HISTOGRAM, "histogram", *words, bins="0", epsilon=1)


def test_other_questions_take_no_bins():
    with pytest.raises(BadInput, match=r"^bins: is not for count"):
        plan(TABLE_HISTOGRAM, "count", bins="0", epsilon=1)


def test_parted_groups_are_those_declared_together():
    table = open_table(TABLE_HISTOGRAM)
    groups = read_groups(table, ["ward", "age"], [("b", 5), ("a", 7), ("a", 5)]).by_key()
    parts = read_groups(table, "party", ["y", "x"]).by_key()
    together = read_groups(
        table, ["ward", "age", "party"], [(*pair, party) for pair in (("b", 5), ("a", 7), ("a", 5)) for party in "yx"]
    ).by_key()
    found = groups.parted(parts)
    assert (found.labels, found.shown.tolist()) == (together.labels, together.shown.tolist())
    assert found.digest == together.digest
    assert found.arrow().equals(together.arrow())


@pytest.mark.parametrize("option", ["lower", "upper", "step", "missing", "weight", "weight_upper"])
def test_options_of_sums_are_refused(option):
    """They would be ignored without a word."""
    table = pa.table({"age": [1, 30]})
    with pytest.raises(BadInput, match=f"^{option}: is not for histogram, but for sum"):
        plan(table, "histogram", "age", bins="18,65", epsilon=1, **{option: "age" if option == "weight" else 1})
