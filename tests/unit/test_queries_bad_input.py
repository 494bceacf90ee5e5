"""Bad input: each kind ends in one line that names field, rule and remedy, and holds nothing private."""

import csv
import datetime
import logging
import os
import traceback
from collections import Counter
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

import irisdp._queries.groups
import irisdp._tables.arrow_values
from irisdp import BadInput, NeighbouringRelation
from irisdp._queries import Count, PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.majority import Majority
from irisdp._queries.statistics import count_records
from irisdp._queries.threshold import AtLeast
from irisdp._tables import engine
from irisdp._tables.columns import ColumnType
from irisdp._tables.dataframes import RelationSource
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.seeds import fresh_generator
from support.sweeps import tried

CANARY = "canary7f3a"
CONNECTION = duckdb.connect()
"""Kept open: in older versions a relation does not keep its connection."""


def written(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def private(tmp_path):
    """Tables whose every value is a canary, and broken files full of them."""
    rows = [(f"{CANARY}{place}", f"{CANARY}x", f"{CANARY}y") for place in range(5)]
    arrow = pa.table(dict(zip("abu", map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(arrow, tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "damaged.parquet").write_bytes(whole[:8] + bytes(40) + whole[48:])
    (tmp_path / "text.parquet").write_text(CANARY * 100)
    written(tmp_path / "t.csv", [("a", "b", "u"), *rows])
    (tmp_path / "t.xlsx").write_text(CANARY)
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "blank.csv").write_bytes(b"\na,b\n1,2\n")
    (tmp_path / "twins.csv").write_text(f"a,A\n{CANARY},{CANARY}\n")
    (tmp_path / "utf16.csv").write_bytes(f"a,b\n{CANARY},x\n".encode("utf-16"))
    (tmp_path / "latin.csv").write_bytes(b"\xe9t\xe9,b\n" + CANARY.encode() + b",1\n")
    (tmp_path / "open.csv").write_text(f'"a,b\n{CANARY},1\n')
    (tmp_path / "folder.csv").mkdir()
    written(tmp_path / "a*.csv", [("a",), (CANARY,)])
    (tmp_path / "g_wrong.csv").write_text("a,c\nx,y\n")
    (tmp_path / "g_more.csv").write_text("a,b,c\nx,y,z\n")
    (tmp_path / "g_ragged.csv").write_text("a,b\nx\n")
    (tmp_path / "g_none.csv").write_text("a,b\n")
    (tmp_path / "g_empty.csv").write_text("a,b\nx,\n")
    (tmp_path / "g_bytes.csv").write_bytes(b"a,b\nx,\xff\n")
    os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path


def count_with(data, expression=None, by=None, groups=None, unit=None):
    table = open_table(data)
    condition = None if expression is None else read_condition(expression, table.columns)
    declared = None if by is None else read_groups(table, by, groups)
    person = None if unit is None else PrivacyUnit(unit, b"k" * 32)
    return count_records(table, condition=condition, groups=declared, unit=person)


TYPED = pa.table(
    {
        "text": [CANARY], "age": [3], "rate": [0.5], "flag": [True], "day": pa.array([0], pa.timestamp("us")),
        "list": [[CANARY]],
    }
)  # fmt: skip

BAD_DATA = {
    "missing file": lambda folder: open_table(folder / "none.csv"),
    "folder": lambda folder: open_table(folder / "folder.csv"),
    "pipe": lambda folder: open_table(folder / "pipe.csv"),
    "unknown ending": lambda folder: open_table(folder / "t.xlsx"),
    "no ending": open_table,
    "empty path": lambda folder: open_table(""),
    "a NUL in the path": lambda folder: open_table("a\0b.csv"),
    "path too long": lambda folder: open_table("x" * 5000 + ".csv"),
    "unknown home": lambda folder: open_table("~nobody-here/t.csv"),
    "pattern": lambda folder: open_table(folder / "a*.csv"),
    "url": lambda folder: open_table("https://example.org/t.csv"),
    "empty CSV": lambda folder: open_table(folder / "empty.csv"),
    "blank header": lambda folder: open_table(folder / "blank.csv"),
    "two names alike": lambda folder: open_table(folder / "twins.csv"),
    "UTF-16": lambda folder: open_table(folder / "utf16.csv"),
    "Latin-1 header": lambda folder: open_table(folder / "latin.csv"),
    "open quote in the header": lambda folder: open_table(folder / "open.csv"),
    "text as Parquet": lambda folder: open_table(folder / "text.parquet"),
    "cut Parquet": lambda folder: open_table(folder / "cut.parquet"),
    "damaged Parquet": lambda folder: count_with(folder / "damaged.parquet", f"a = '{CANARY[:3]}'"),
    "dict": lambda folder: open_table({"a": [CANARY]}),
    "list": lambda folder: open_table([CANARY]),
    "series": lambda folder: open_table(pd.Series([CANARY])),
    "array": lambda folder: open_table(np.array([CANARY])),
    "None": lambda folder: open_table(None),
    "no columns": lambda folder: open_table(pd.DataFrame()),
    "numbered columns": lambda folder: open_table(pd.DataFrame([[CANARY]])),
    "frame with twins": lambda folder: open_table(pa.table([[CANARY], [CANARY]], names=["a", "a"])),
    "frame with twins but for case": lambda folder: open_table(pa.table([[CANARY], [CANARY]], names=["a", "A"])),
    "line end in a name": lambda folder: open_table(pa.table({"a\nb": [CANARY]})),
    "lazy frame that fails": lambda folder: count_with(
        pl.LazyFrame({"a": [CANARY]}).with_columns(pl.col("a").cast(pl.Int64)), "a > 1"
    ),
    "relation that fails": lambda folder: count_with(
        CONNECTION.from_arrow(TYPED).project("CAST(text AS INT) AS a"), "a > 1"
    ),
    "unknown column": lambda folder: count_with(folder / "t.csv", "income > 3"),
    "contradictory use": lambda folder: count_with(folder / "t.csv", "a > 3 and a = 'x'"),
    "text against number": lambda folder: count_with(folder / "t.parquet", "a > 3"),
    "decimal too wide": lambda folder: count_with(folder / "t.csv", "cast(a as decimal(90, 2)) > 3"),
    "unknown unit": lambda folder: count_with(folder / "t.csv", unit="person"),
    "unit is no name": lambda folder: count_with(folder / "t.csv", unit=3),
    "unknown group column": lambda folder: count_with(folder / "t.csv", by="region", groups="x"),
    "group column is no name": lambda folder: count_with(folder / "t.csv", by=[3], groups="x"),
    "no group column": lambda folder: count_with(folder / "t.csv", by=[], groups="x"),
    "group column is a number": lambda folder: count_with(folder / "t.csv", by=3, groups="x"),
    "group is an array": lambda folder: count_with(folder / "t.csv", by="a", groups=[np.array([1, 2])]),
    "groups file in an unknown home": lambda folder: count_with(folder / "t.csv", by="a", groups="~nobody-here/g.csv"),
    "lines for a list": lambda folder: count_with(folder / "t.csv", by="a", groups="x\ry,z"),
    "date beyond the last": lambda folder: count_with(TYPED, by="day", groups=["9999-12-31T23:59:59-23:00"]),
    "group column twice": lambda folder: count_with(folder / "t.csv", by=["a", "A"], groups=[("x", "y")]),
    "group by a list": lambda folder: count_with(TYPED, by="list", groups="x"),
    "select by a list": lambda folder: enumerate_keys(open_table(TYPED), "list"),
    "no groups": lambda folder: count_with(folder / "t.csv", by="a", groups=[]),
    "empty text of groups": lambda folder: count_with(folder / "t.csv", by="a", groups=""),
    "group twice": lambda folder: count_with(folder / "t.csv", by="a", groups="x, y ,x"),
    "group twice as a number": lambda folder: read_groups(
        open_table(folder / "t.csv", types={"a": "number"}), "a", "3,3.0"
    ),
    "empty group": lambda folder: count_with(folder / "t.csv", by="a", groups="x,,y"),
    "null group": lambda folder: count_with(folder / "t.csv", by="a", groups=["x", None]),
    "NaN group": lambda folder: count_with(folder / "t.csv", by="a", groups=[1.0, float("nan")]),
    "NA group": lambda folder: count_with(folder / "t.csv", by="a", groups=[pd.NA]),
    "values for two columns": lambda folder: count_with(folder / "t.csv", by=["a", "b"], groups="x,y"),
    "pairs for one column": lambda folder: count_with(folder / "t.csv", by="a", groups=[("x", "y")]),
    "groups are a number": lambda folder: count_with(folder / "t.csv", by="a", groups=3),
    "groups are None": lambda folder: count_with(folder / "t.csv", by="a", groups=None),
    "wrong mapping": lambda folder: count_with(folder / "t.csv", by="a", groups={"b": ["x"]}),
    "unequal mapping": lambda folder: count_with(folder / "t.csv", by=["a", "b"], groups={"a": ["x"], "b": []}),
    "wrong record": lambda folder: count_with(folder / "t.csv", by="a", groups=[{"b": "x"}]),
    "wrong frame": lambda folder: count_with(folder / "t.csv", by="a", groups=pl.DataFrame({"b": ["x"]})),
    "groups file missing": lambda folder: count_with(folder / "t.csv", by="a", groups="none.csv"),
    "groups file wrong header": lambda folder: count_with(
        folder / "t.csv", by=["a", "b"], groups=folder / "g_wrong.csv"
    ),
    "groups file more columns": lambda folder: count_with(
        folder / "t.csv", by=["a", "b"], groups=folder / "g_more.csv"
    ),
    "groups file ragged": lambda folder: count_with(folder / "t.csv", by=["a", "b"], groups=folder / "g_ragged.csv"),
    "groups file without groups": lambda folder: count_with(
        folder / "t.csv", by=["a", "b"], groups=folder / "g_none.csv"
    ),
    "groups file with a gap": lambda folder: count_with(folder / "t.csv", by=["a", "b"], groups=folder / "g_empty.csv"),
    "groups file no UTF-8": lambda folder: count_with(folder / "t.csv", by=["a", "b"], groups=folder / "g_bytes.csv"),
    "text for a whole number": lambda folder: count_with(TYPED, by="age", groups="x"),
    "fraction for a whole number": lambda folder: count_with(TYPED, by="age", groups=[1.5]),
    "whole number too large": lambda folder: count_with(TYPED, by="age", groups=[2**63]),
    "infinite number": lambda folder: count_with(TYPED, by="rate", groups="inf"),
    "truth value for a number": lambda folder: count_with(TYPED, by="rate", groups=[True]),
    "text for a truth value": lambda folder: count_with(TYPED, by="flag", groups="maybe"),
    "text for a date": lambda folder: count_with(TYPED, by="day", groups="31.12.2024"),
    "fraction for text": lambda folder: count_with(TYPED, by="text", groups=[Fraction(1, 2)]),
    "wrong selection": lambda folder: enumerate_keys(open_table(folder / "t.csv"), "a").select(np.ones(2, bool)),
    "selection of numbers": lambda folder: enumerate_keys(open_table(folder / "t.csv"), "b").select(np.ones(1)),
    "threshold below 0": lambda folder: AtLeast(-1),
    "threshold with a fraction": lambda folder: AtLeast(1.5),
    "threshold true": lambda folder: AtLeast(True),
    "threshold NaN": lambda folder: AtLeast(float("nan")),
    "threshold huge": lambda folder: AtLeast(2**63),
    "majority of nothing": lambda folder: Majority(None),
    "majority of blanks": lambda folder: Majority("  "),
    "count of a number": lambda folder: Count(3),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_input_ends_in_one_line_without_anything_private(name, private, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(BadInput) as refusal:
        BAD_DATA[name](private)
    error = refusal.value
    assert "\n" not in str(error) and error.field and error.rule and error.remedy
    said = "".join(traceback.format_exception(error)) + repr(error) + caplog.text + "".join(capsys.readouterr())
    assert CANARY not in said + repr(error.__context__)


def test_an_engine_that_quotes_data_is_not_quoted(monkeypatch):
    """Negative control inside: the engine's own message does hold the canary."""
    relation = CONNECTION.from_arrow(TYPED).project("CAST(text AS INT) AS a")
    with pytest.raises(duckdb.Error, match=CANARY):
        relation.fetchall()
    table = open_table(relation)
    for ask in (table.digest, lambda: count_records(table, condition=read_condition("a > 1", table.columns))):
        with pytest.raises(BadInput) as refusal:
            ask()
        assert refusal.value.__cause__ is None and refusal.value.__context__ is None
        assert CANARY not in str(refusal.value)

    def broken(*_):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(RelationSource, "run", broken)
    with pytest.raises(BadInput) as refusal:
        count_records(table)
    assert refusal.value.__context__ is None


def test_nothing_private_is_shown():
    table = open_table(pa.table({"g": [CANARY] * 41, "x": [7] * 41}))
    keys = enumerate_keys(table, "g")
    found = count_records(table, condition=read_condition("x > 3", table.columns))
    nodes = [
        query.nodes(found, NeighbouringRelation.ADD_REMOVE) for query in (Count("x"), AtLeast(3, "x"), Majority("x"))
    ]
    shown = "".join(map(repr, [table, table._source, keys, found, *nodes]))
    assert CANARY not in shown and "41" not in shown


# Declared groups in every form, kinds of keys, persons, and keys for private selection.

TABLE = pa.table({"g": ["n", "s", "s", None, "e"], "k": [1, 1, 2, 2, None], "x": [1, 2, 3, 4, 5]})


def totals(table, by, declared):
    return count_records(table, groups=read_groups(table, by, declared)).total.tolist()


@pytest.mark.parametrize("declared", [
    "s, n ,w",
    '"s",n,w',
    ["s", "n", "w"],
    ("s", "n", "w"),
    [("s",), ["n"], ("w",)],
    [{"g": "s"}, {"G": "n"}, {"g": "w"}],
    {"g": ["s", "n", "w"]},
    np.array(["s", "n", "w"]),
    pd.Series(["s", "n", "w"]),
    pl.Series(["s", "n", "w"]),
    pa.table({"g": ["s", "n", "w"]}),
    pd.DataFrame({"g": ["s", "n", "w"]}),
    pl.DataFrame({"g": ["s", "n", "w"]}),
    (label for label in "snw"),
])  # fmt: skip
def test_one_column_in_every_form(declared):
    table = open_table(TABLE)
    groups = read_groups(table, "g", declared)
    assert groups.labels == (("s",), ("n",), ("w",))
    assert count_records(table, groups=groups).total.tolist() == [2, 1, 0]


@pytest.mark.parametrize("by", [["g", "k"], ["k", "g"]])
def test_two_columns_in_every_form_and_order(tmp_path, by):
    pairs = {"g": ["s", "s", "n", "e"], "k": [2, 1, 7, 2]}
    rows = [dict(zip(pairs, row, strict=True)) for row in zip(*pairs.values(), strict=True)]
    (tmp_path / "groups.csv").write_text("k,g\n2,s\n1,s\n7,n\n\n2,e\n")
    (tmp_path / "groups.TSV").write_text("\ufeffK\tg\n2\ts\n1\ts\n7\tn\n2\te\n")
    tuples = [tuple(row[name] for name in by) for row in rows]
    for declared in (pairs, rows, tuples, pa.table(pairs), tmp_path / "groups.csv", str(tmp_path / "groups.TSV")):
        assert totals(open_table(TABLE), by, declared) == [1, 1, 0, 0]


def test_an_untyped_column_is_found_by_spelling_and_a_typed_one_by_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("g,x\n3,1\n3.0,1\n03,1\n3e0,1\nx,1\n,1\n")
    table = open_table(path)
    assert totals(table, "g", "3, 4") == [1, 0]
    assert totals(table, "g", [3]) == [1]
    assert totals(table, "g", "3,x,03,3.0,3e0") == [1, 1, 1, 1, 1]
    assert read_groups(table, "g", "3,4").columns[0].kind is ColumnType.TEXT
    assert read_groups(table, "g", "03").labels == (("03",),)
    typed = open_table(path, types={"g": "number"})
    assert totals(typed, "g", "3, 4") == totals(typed, "g", [3.0, 4.0]) == [4, 0]
    with pytest.raises(
        BadInput, match=r"has the number 3.0 for g, which is read as text.*'3.0', or declare the type of g as number"
    ):
        read_groups(table, "g", [3.0])


def test_keys_of_every_kind():
    days = pa.array([0, 86_400_000_000], pa.timestamp("us"))
    table = open_table(
        pa.table(
            {
                "day": days, "date": days.cast(pa.date32()), "flag": [True, False], "rate": [0.1, -0.0],
                "big": [2**53 + 1, 2**53], "text": ["1", "01"],
            }
        )
    )  # fmt: skip
    assert totals(table, "day", ["1970-01-02", datetime.date(1970, 1, 1), "1970-01-01 00:00:01"]) == [1, 1, 0]
    assert totals(table, "date", "1970-01-02") == [1]
    assert totals(table, "flag", ["TRUE", False]) == [1, 1]
    assert totals(table, "rate", "0.1,0") == [1, 1]
    assert totals(table, "big", [2**53, str(2**53 + 1), 2**53 + 2]) == [1, 1, 0]
    assert totals(table, "text", ["01", 1]) == [1, 1]


def test_ten_thousand_groups_in_declared_order():
    numbers = fresh_generator(0).permutation(10_000)
    table = open_table(pa.table({"g": np.repeat(np.arange(10_000), 2), "x": np.arange(20_000)}))
    groups = read_groups(table, "g", numbers)
    counted = count_records(table, groups=groups, condition=read_condition("x % 2 = 0 and x < 10000", table.columns))
    assert counted.total.tolist() == [2] * 10_000
    assert counted.yes.tolist() == (numbers < 5_000).astype(int).tolist()


def test_a_person_keeps_one_record():
    table = open_table(
        pa.table({"u": [1, 1, 1, 2, None, 3], "g": ["n", "s", "e", "n", "n", None], "x": [1, 2, 3, 4, 5, 6]})
    )
    groups = read_groups(table, "g", "n,s,e")
    assert count_records(table, unit=PrivacyUnit("u", b"k" * 32)).total.tolist() == [3]
    assert count_records(table, groups=groups, unit=PrivacyUnit("u", b"k" * 32)).total.sum() == 2
    assert enumerate_keys(table, "g", unit=PrivacyUnit("u", b"k" * 32)).counts.sum() == 2


def test_the_group_a_person_keeps_does_not_depend_on_the_condition():
    """Else membership could not be declared public: an exchanged answer would move the person."""
    people = 40
    table = open_table(
        pa.table({"u": np.repeat(np.arange(people), 3), "g": ["n", "s", "e"] * people, "x": np.arange(3 * people) % 7})
    )
    groups = read_groups(table, "g", "n,s,e")
    plain = count_records(table, groups=groups, unit=PrivacyUnit("u", b"k" * 32)).total
    for text in ("x > 3", "x = 1", "x is null"):
        found = count_records(
            table, groups=groups, unit=PrivacyUnit("u", b"k" * 32), condition=read_condition(text, table.columns)
        )
        assert found.total.tolist() == plain.tolist()
    assert enumerate_keys(table, "g", unit=PrivacyUnit("u", b"k" * 32)).counts.sum() == people


def test_a_persons_choice_is_even_handed():
    """300 persons with a yes and a no each, in a group of their own: neither is preferred (10 standard errors)."""
    people = 300
    table = open_table(
        pa.table({"u": np.repeat(np.arange(people), 2), "g": np.repeat(np.arange(people), 2), "x": [0, 1] * people})
    )
    groups = read_groups(table, "g", np.arange(people))
    found = count_records(
        table, groups=groups, unit=PrivacyUnit("u", b"k" * 32), condition=read_condition("x = 1", table.columns)
    )
    assert found.total.tolist() == [1] * people
    assert 60 < found.yes.sum() < 240


def test_selected_keys_are_sorted_and_can_be_counted_again():
    table = open_table(TABLE)
    keys = enumerate_keys(table, ["g", "k"])
    assert keys.counts.tolist() == [1, 1, 1]
    groups = keys.select(np.array([True, False, True]))
    assert groups.labels == (("n", 1), ("s", 2))
    assert count_records(table, groups=groups).total.tolist() == [1, 1]


ENDINGS = ["txt", "TXT", "parquet", "json", "xlsx", "csv.gz", "tab"]


@pytest.mark.parametrize(
    "declared", [*(f"g.{ending}" for ending in ENDINGS), "g", " g.txt ", "n,g.txt", "./g", "folder/no.txt"]
)
@pytest.mark.parametrize("by", ["g", ["g", "k"]])
def test_a_file_that_is_no_groups_file_is_no_group(tmp_path, monkeypatch, declared, by):
    monkeypatch.chdir(tmp_path)
    for name in ("g", *(f"g.{ending}" for ending in ENDINGS)):
        (tmp_path / name).write_text("g,k\nn,1\n")
    with pytest.raises(
        BadInput, match=r"^groups: names the file '.*'; Iris reads .*; save it as CSV .* If it is .* name, write '\""
    ) as found:
        read_groups(open_table(TABLE), by, declared)
    assert f"'\"{declared.strip().removeprefix('n,')}\"'" in found.value.remedy


@pytest.mark.parametrize(
    "declared", ['"g.txt"', '"g.txt",n', 'n,"g.parquet"', '"a, b.txt, c"', "g,n", "g.txt.", '"g.csv"']
)
def test_in_quotes_any_name_is_a_group(tmp_path, monkeypatch, declared):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g").write_text("g\nn\n")
    (tmp_path / "g.txt").write_text("g\nn\n")
    labels = [label for (label,) in read_groups(open_table(TABLE), "g", declared).labels]
    assert ",".join(labels) == declared.replace('"', "")


def test_a_list_holds_groups_whatever_they_are_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text("g\nn\n")
    assert read_groups(open_table(TABLE), "g", ["g.txt", "g.csv"]).labels == (("g.txt",), ("g.csv",))


ENDS = (-(2**63), 2**63 - 1)
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([ENDS[0], ENDS[0] + 1, ENDS[1] - 1, ENDS[1]]))
KEYS = st.none() | NUMBERS


@given(
    records=st.lists(st.tuples(KEYS, KEYS, st.sampled_from([None, 0, 1])), max_size=30),
    groups=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12, unique=True),
)
@settings(max_examples=tried(14, 35), deadline=None)  # each asks for two counts of up to twelve groups
@pytest.mark.parametrize("wide", [False, True])
def test_whole_numbers_are_counted_alike_however_far_apart_the_groups_are(records, groups, wide):
    by = ["g", "h"] if wide else ["g"]
    groups = list(dict.fromkeys(group[: len(by)] for group in groups))
    columns = [list(column) for column in zip(*records, strict=True)] or [[], [], []]
    table = open_table(pa.table({n: pa.array(c, pa.int64()) for n, c in zip("ghx", columns, strict=True)}))
    declared = read_groups(table, by, groups)
    of_all = Counter(record[: len(by)] for record in records)
    assert count_records(table, groups=declared).total.tolist() == [of_all[group] for group in groups]
    found = count_records(table, condition=read_condition("x = 1", table.columns), groups=declared)
    for answer, counts in ((1, found.yes), (0, found.no)):
        of_these = Counter(record[: len(by)] for record in records if record[2] == answer)
        assert counts.tolist() == [of_these[group] for group in groups]
    assert found.total.tolist() == [of_all[group] for group in groups]


def test_only_declared_whole_numbers_close_together_are_boxed_in():
    table = open_table(pa.table({"g": [1, 2, 3], "h": [1, 2, 3], "t": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}))
    assert read_groups(table, "g", [7, 5, -3]).box() == [(-3, 7)]
    assert read_groups(table, "g", [7, 5, -6]).box() is None
    assert read_groups(table, ["g", "h"], [(1, 2), (4, 3)]).box() == [(1, 4), (2, 3)]
    assert read_groups(table, ["g", "h"], [(1, 2), (5, 3)]).box() is None
    assert read_groups(table, ["g", "t"], [(1, "a")]).box() is None
    assert read_groups(table, "x", [1, 2]).box() is None
    assert read_groups(table, "g", ENDS).box() is None
    assert enumerate_keys(table, "g").cells().box() is None


@pytest.mark.parametrize("groups", [range(100), range(0, 10**6, 10**4)])
def test_undeclared_keys_cost_no_memory(monkeypatch, groups):
    monkeypatch.setattr(engine, "MEMORY_LIMIT", "40MB")
    table = open_table(pa.table({"g": np.arange(-(10**6), 10**6)}))
    assert count_records(table, groups=read_groups(table, "g", list(groups))).total.tolist() == [1] * 100
    with pytest.raises(BadInput, match="memory"):
        enumerate_keys(table, "g")


KEYS = {
    "numbers": (pa.float64(), [2.5, -0.0, -1e300, 3, 7]),
    "whole": (pa.int64(), [2**63 - 1, -(2**63), 0, 5, -5]),
    "text": (pa.string(), ["b", "\U0001f600", "\ufb01", "é", "a\x00b"]),
    "dates": (pa.timestamp("us"), [datetime.datetime(year, 1, 1) for year in (1970, 1, 9999, 1969, 2000)]),
    "truths": (pa.bool_(), [True, False]),
}
"""Letters beyond 16 bits come after those before them in UTF-8, and not so in UTF-16."""


@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("kind", KEYS)
def test_few_groups_are_sorted_as_many_are_and_as_an_engine_sorts_them(kind, few, monkeypatch):
    for file in (irisdp._tables.arrow_values, irisdp._queries.groups):
        monkeypatch.setattr(file, "FEW", few)
    arrow, values = KEYS[kind]
    table = open_table(pa.table({"g": pa.array(values, arrow), "h": [1] * len(values)}))
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"g": pa.array(values, arrow)}))
        engines = connection.sql("SELECT g FROM t ORDER BY g").fetchall()
    found = read_groups(table, "g", values).by_key()
    assert [label for (label,) in found.labels] == [value for (value,) in engines]
    assert found.arrow().column("k0").to_pylist() == [label for (label,) in found.labels]
    assert [found.labels[row][0] for row in found.shown] == values
    pairs = [(value, other) for value in values for other in ("y", "x")]
    table = open_table(pa.table({"g": pa.array(values, arrow), "h": ["x"] * len(values)}))
    both = read_groups(table, ["g", "h"], pairs).by_key()
    assert list(both.labels) == [(label, other) for (label,) in found.labels for other in ("x", "y")]
    with pytest.raises(BadInput, match="twice"):
        read_groups(table, ["g", "h"], [*pairs, pairs[3]])
