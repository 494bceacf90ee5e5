"""Bad input: each kind ends in one line that names field, rule and remedy, and holds nothing private."""

import csv
import logging
import os
import traceback
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BadInput, NeighbouringRelation
from irisdp._queries import Count, PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.majority import Majority
from irisdp._queries.statistics import count_records
from irisdp._queries.threshold import AtLeast
from irisdp._tables.dataframes import RelationSource
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

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
        "text": [CANARY],
        "age": [3],
        "rate": [0.5],
        "flag": [True],
        "day": pa.array([0], pa.timestamp("us")),
        "list": [[CANARY]],
    }
)

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
