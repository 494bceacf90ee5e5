"""Named expressions to group by, against plain Python: total, typed by the schema, blind to everybody else."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from irisdp import BadInput, plan, publish
from irisdp._queries import PrivacyUnit, read_by, read_groups
from irisdp._queries.privacy_units import _hashed
from irisdp._queries.statistics import count_records
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


@pytest.mark.parametrize("source", SOURCES)
def test_every_table_gives_an_expression_one_meaning(source, tmp_path):
    data = SOURCES[source](tmp_path)
    for expression in EXPRESSIONS:
        assert values(data, expression) == values(TABLE, expression), expression


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_the_parts_of_a_date_are_those_in_utc(zone):
    shown = TABLE.set_column(3, "seen", TABLE["seen"].cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", zone)))
    for expression in EXPRESSIONS:
        assert values(shown, expression) == values(TABLE, expression), expression


def test_text_files_are_read_as_the_expression_says(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("age,seen\n17,2023-12-31T23:30:00-01:00\n1e1,2024-02-30\nx,9999-12-31\n,0001-01-01\n-0.5,\n")
    assert values(file, "YEAR(seen)") == (ColumnType.INTEGER, [2024, None, 9999, 1, None])
    assert values(file, "FLOOR(age / 10) * 10") == (ColumnType.INTEGER, [10, 10, None, None, -10])
    assert values(file, "age") == (ColumnType.TEXT, ["17", "1e1", "x", None, "-0.5"])


HOSTILE = [
    "",
    "nan",
    "-inf",
    "1e400",
    "9" * 500,
    "2024-02-30",
    "infinity",
    "'",
    "\u0000",
    "é" * 2000,
    "0000-00-00",
    "1_0",
]


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
    unit = PrivacyUnit("town", b"k" * 32)
    assert _hashed(within, unit) == _hashed(table, unit)
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
    "y = EXTRACT(HOUR FROM seen)": "EXTRACT.HOUR",
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
