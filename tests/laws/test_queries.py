"""Statistics equal a plain recomputation in every engine; one move changes what the cost model says; nothing fails."""

import csv
import math
import tempfile
from hashlib import sha256
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, NeighbouringRelation
from irisdp._queries import PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.majority import Majority
from irisdp._queries.neighbouring_relation import moves
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

CONNECTION = duckdb.connect()
"""Kept open: in older versions a relation does not keep its connection."""

GROUPS = ["a", "b", "it's"]
COLUMNS = ("g", "x", "u")
records = st.tuples(
    st.sampled_from([*GROUPS, "other", None]), st.sampled_from([-1, 0, 1, 5, None]), st.sampled_from(["p", "q", None])
)
tables = st.lists(records, max_size=6)


def three_valued(test):
    return lambda x: None if x is None else test(x)


CONDITIONS = {
    "x > 0": three_valued(lambda x: x > 0),
    "x / x = 1": three_valued(lambda x: None if x == 0 else True),
    "x is null": lambda x: x is None,
    "not (x = 1 or x = 5)": three_valued(lambda x: x not in (1, 5)),
    "coalesce(x, 7) in (7, -1)": lambda x: x in (None, -1),
    "case when x > 0 then true when x < 0 then false end": three_valued(lambda x: None if x == 0 else x > 0),
}


def arrow(rows):
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    types = (pa.string(), pa.int64(), pa.string())
    arrays = (pa.array(column, kind) for column, kind in zip(columns, types, strict=True))
    return pa.table(dict(zip(COLUMNS, arrays, strict=True)))


def as_csv(rows, folder):
    path = folder / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return path


def as_parquet(rows, folder):
    pq.write_table(arrow(rows), folder / "t.parquet")
    return folder / "t.parquet"


FORMS = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda rows, folder: arrow(rows).to_pandas(),
    "pandas objects": lambda rows, folder: pd.DataFrame(rows, columns=list(COLUMNS), dtype=object),
    "polars": lambda rows, folder: pl.from_arrow(arrow(rows)),
    "polars lazy": lambda rows, folder: pl.from_arrow(arrow(rows)).lazy(),
    "pyarrow": lambda rows, folder: arrow(rows),
    "duckdb": lambda rows, folder: CONNECTION.from_arrow(arrow(rows)),
}


KEY = bytes(range(32))
UNITS = [None, "one", "any", "all"]


def record_texts(data):
    """What the engine holds of each record, as text: the person, then the other columns."""
    columns = ", ".join(f"CAST(data.{name} AS VARCHAR) AS {name}" for name in ("u", "g", "x"))
    table = open_table(data)
    found = table.run(f"SELECT {columns} FROM data", table.columns)
    return list(zip(*(found.column(name).to_pylist() for name in ("u", "g", "x")), strict=True))


def kept(rows, texts):
    """Recompute which record each person keeps, with hashlib and math."""

    def lot(text):
        parts = "".join("-" if part is None else f"{len(part)}:{part}" for part in text)
        number = int(sha256((KEY.hex() + parts).encode()).hexdigest()[:15], 16)
        return -math.log((number + 0.5) / 2**60) / texts.count(text)

    found = {}
    for row, _ in sorted(zip(rows, texts, strict=True), key=lambda pair: -lot(pair[1])):
        found[row[2]] = row
    found.pop(None, None)
    return found


def persons_answers(rows, texts, answer, unit):
    """Pair the group of each person's record with the person's answer."""
    found = []
    for person, row in kept(rows, texts).items():
        said = [answer(other[1]) for other in rows if other[2] == person]
        known = [said for said in said if said is not None]
        whole = (any if unit == "any" else all)(known) if known else None
        found.append((row[0], answer(row[1]) if unit == "one" else whole))
    return found


def recomputed(rows, texts, answer, *, grouped, unit):
    pairs = persons_answers(rows, texts, answer, unit) if unit else [(row[0], answer(row[1])) for row in rows]
    cells = [[said for name, said in pairs if name == group] for group in GROUPS]
    cells = cells if grouped else [[said for _, said in pairs]]
    return [(len(cell), cell.count(True), cell.count(False)) for cell in cells]


def counted(data, expression=None, *, grouped=True, unit=None):
    table = open_table(data)
    found = count_records(
        table,
        condition=None if expression is None else read_condition(expression, table.columns),
        groups=read_groups(table, "g", GROUPS) if grouped else None,
        unit=PrivacyUnit("u", KEY, unit if unit != "one" else None) if unit else None,
    )
    return list(zip(found.total.tolist(), found.yes.tolist(), found.no.tolist(), strict=True))


@pytest.mark.parametrize("form", FORMS)
@given(tables, st.sampled_from(sorted(CONDITIONS)), st.booleans(), st.sampled_from(UNITS))
@settings(max_examples=15, deadline=None)
def test_statistics_equal_a_plain_recomputation(form, rows, expression, grouped, unit):
    with tempfile.TemporaryDirectory() as folder:
        found = counted(FORMS[form](rows, Path(folder)), expression, grouped=grouped, unit=unit)
        texts = record_texts(FORMS[form](rows, Path(folder)))
    assert found == recomputed(rows, texts, CONDITIONS[expression], grouped=grouped, unit=unit)


@given(tables)
@settings(max_examples=tried(12, 20), deadline=None)
def test_keys_are_counted_without_being_declared(rows):
    keys = enumerate_keys(open_table(arrow(rows)), "g")
    expected = sorted({row[0] for row in rows} - {None})
    assert keys.counts.tolist() == [sum(row[0] == key for row in rows) for key in expected]
    assert [label for (label,) in keys.select(keys.counts > 0).labels] == expected


def changed_cells(before, after):
    return [(old, new) for old, new in zip(before, after, strict=True) if old != new]


def is_one_record(old, new):
    """Tell whether a cell's (total, yes, no) differ by one record that came or went."""
    low, high = sorted((old, new))
    return tuple(b - a for a, b in zip(low, high, strict=True)) in {(1, 1, 0), (1, 0, 1), (1, 0, 0)}


@given(tables, records, st.sampled_from(sorted(CONDITIONS)))
@settings(max_examples=tried(12, 25), deadline=None)
def test_one_record_more_changes_one_cell_by_one(rows, record, expression):
    changed = changed_cells(counted(arrow(rows), expression), counted(arrow([*rows, record]), expression))
    assert len(changed) == (record[0] in GROUPS)
    assert all(is_one_record(*cell) for cell in changed)


@given(
    tables,
    st.lists(records, min_size=1, max_size=4),
    st.sampled_from(sorted(CONDITIONS)),
    st.booleans(),
    st.sampled_from(UNITS[1:]),
)
@settings(max_examples=tried(12, 25), deadline=None)
def test_one_person_more_changes_at_most_one_cell_by_one(rows, belongings, expression, first, unit):
    added = [(group, x, "new") for group, x, _ in belongings]
    after = [*added, *rows] if first else [*rows, *added]
    changed = changed_cells(counted(arrow(rows), expression, unit=unit), counted(arrow(after), expression, unit=unit))
    assert len(changed) <= 1
    assert all(is_one_record(*cell) for cell in changed)


@given(tables.filter(bool), records, st.sampled_from(sorted(CONDITIONS)), st.data())
@settings(max_examples=tried(12, 25), deadline=None)
def test_exchanging_one_record_makes_no_dearer_move_than_the_cost_model_lists(rows, record, expression, data):
    place = data.draw(st.integers(0, len(rows) - 1))
    after = [*rows[:place], record, *rows[place + 1 :]]
    changed = changed_cells(counted(arrow(rows), expression), counted(arrow(after), expression))
    leads = sorted(abs((new[1] - new[2]) - (old[1] - old[2])) for old, new in changed)
    resized = sum(old[0] != new[0] for old, new in changed)
    listed = moves(NeighbouringRelation.EXCHANGE, grouped=True, exchange_steps=Majority.exchange_steps)
    assert any(
        resized <= move.resized and len(leads) <= len(move.steps) and all(map(int.__le__, leads, move.steps))
        for move in listed
    )


HOSTILE = [
    "1e308", "-1e308", "9" * 400, "0", "-0.0", "nan", "inf", "", "abc", "2024-02-30", "2024-02-29", "infinity", "true",
    "%", "\\", "'", '"', "é", "9223372036854775808", "0.1",
]  # fmt: skip
NUMBERS = st.recursive(
    st.sampled_from(["a", "b", "0", "1e308", "2.5", "null"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        inner.map(lambda part: f"abs({part})"),
        inner.map(lambda part: f"-({part})"),
        inner.map(lambda part: f"({part})::int"),
        inner.map(lambda part: f"length(({part})::text)"),
        st.tuples(inner, inner).map(lambda parts: f"nullif({parts[0]}, {parts[1]})"),
        st.tuples(inner, inner).map(lambda parts: f"case when {parts[0]} > 1 then {parts[1]} end"),
    ),
    max_leaves=6,
)
TEXTS = st.sampled_from(["c", "lower(c)", "trim(c)", "'x'", "a::text", "upper(c::text)", "(c::double)::text"])
ATOMS = st.one_of(
    st.tuples(NUMBERS, st.sampled_from(["=", "<>"]), NUMBERS).map(" ".join),
    # Untyped columns are compared by size only beside a number: alone they are refused.
    st.tuples(NUMBERS, st.sampled_from(["<", ">="]), NUMBERS).map(
        lambda parts: f"{parts[0]} + 0 {parts[1]} {parts[2]}"
    ),
    st.tuples(NUMBERS, NUMBERS).map(lambda parts: f"{parts[0]} between 0 and {parts[1]}"),
    NUMBERS.map(lambda part: f"({part}) in (0, 1, 2.5) or ({part}) is null"),
    TEXTS.map(lambda part: f"{part} like '%a_' or {part} = 'abc'"),
    # A constant that is no date is refused; what a record makes of a column is null.
    TEXTS.filter(lambda part: part != "'x'").map(lambda part: f"({part})::date > '2020-01-01' or ({part})::boolean"),
    st.sampled_from(["year(d) + month(d) > 2000", "d between '1999-01-01' and '2030-01-01' and day(d) > 3"]),
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
        ),
        inner.map(lambda part: f"not ({part})"),
        inner.map(lambda part: f"({part}) is true"),
    ),
    max_leaves=3,
)


def answers(rows, expressions, folder):
    path = Path(folder) / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("a", "b", "c", "d"), *rows])
    table = open_table(path)
    conditions = [read_condition(expression, table.columns).sql() for expression in expressions]
    listed = ", ".join(f"{condition} AS answer{place}" for place, condition in enumerate(conditions))
    return table.run(f"SELECT {listed} FROM data", table.columns).to_pylist()


@given(
    st.lists(EXPRESSIONS, min_size=1, max_size=8),
    st.lists(st.tuples(*[st.sampled_from(HOSTILE)] * 4), min_size=2, max_size=8),
    st.data(),
)
@settings(max_examples=tried(15, 40), deadline=None)
def test_no_record_makes_a_condition_fail_or_changes_what_another_says(expressions, rows, data):
    split = data.draw(st.integers(1, len(rows) - 1))
    with tempfile.TemporaryDirectory() as folder:
        together = answers(rows, expressions, folder)
        apart = [answers(part, expressions, folder) for part in (rows[:split], rows[split:])]
    assert together == apart[0] + apart[1]
    assert {said for row in together for said in row.values()} <= {True, False, None}


WORDS = [
    "a", "b", "'x'", '"a"', "3", "(", ")", ",", "and", "or", "not", "is", "null", "in", "like", "between", "case",
    "when", "then", "end", "=", "<", "+", "/", "-", "::", "int", "select", "from", "abs", ";", "--", "/*", "'", ".",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=30))
@settings(max_examples=tried(64, 400), deadline=None)
def test_any_text_is_a_condition_or_bad_input(text):
    table = open_table(pa.table({"a": ["1"], "b": [2]}))
    try:
        condition = read_condition(text, table.columns)
    except BadInput:
        return
    assert len(table.run(f"SELECT {condition.sql()} AS answer FROM data", condition.columns)) == 1


LINES = st.text(alphabet='a,; \r#\\"\x00é', max_size=8).filter(
    lambda line: line.count('"') % 2 == 0 and "," not in line
)


@given(st.lists(st.tuples(st.sampled_from(["1", "x y", ""]), st.sampled_from(["2", 'q"', "r\ns"])), max_size=4), LINES)
@settings(max_examples=tried(16, 40), deadline=None)
def test_a_malformed_line_harms_no_record(rows, line):
    """A line without a separator is a record that lacks a field, whatever else it holds; its quotes are closed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        found = []
        for extra in ("", line + "\n"):
            with path.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([("a", "b"), *rows[:2]])
                file.write(extra)
                csv.writer(file, lineterminator="\n").writerows(rows[2:])
            table = open_table(path)
            found.append(table.run("SELECT a, b FROM data", table.columns).to_pylist())
    whole = [{"a": a or None, "b": b} for a, b in rows]
    assert found[0] == whole
    before, more = len(rows[:2]), len(found[1]) - len(whole)
    assert more in (0, 1)
    assert found[1][:before] == whole[:before] and found[1][before + more :] == whole[before:]
    assert all(record["b"] is None for record in found[1][before : before + more])
