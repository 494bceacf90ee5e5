"""A histogram's answers have the edges of their bins in columns of their own, as medians do."""

import datetime
import json

import pyarrow as pa

import irisdp
from irisdp import publish

TABLE = pa.table({
    "age": [1, 20, 70, None], "ward": ["b", "a", "a", "a"],
    "born": [datetime.date(1950, 1, 1), datetime.date(2001, 2, 3), None, datetime.date(1999, 12, 31)],
})  # fmt: skip


def test_edges_are_numbers_beside_each_bin_in_the_order_of_the_answers(tmp_path):
    found = publish(
        TABLE, "histogram", "age", bins="18,65.5", by="ward", groups=["b", "a"], epsilon=30,
        ledger=tmp_path / "t.ledger", out=tmp_path / "o.csv",
    )  # fmt: skip
    frame = found.answers.to_pandas()
    assert list(frame.columns)[:5] == ["ward", "age_bin", "answer", "answer_from", "answer_below"]
    below = {"below 18": (None, 18), "18 to under 65.5": (18, 65.5), "65.5 and over": (65.5, None)}
    frame = frame.astype(object).where(frame.notna(), None)
    rows = [(row.age_bin, row.answer_from, row.answer_below) for row in frame.itertuples()]
    assert [(name, *ends) for name, *ends in rows] == [(name, *below[name]) for name in [*below] * 2]
    assert (tmp_path / "o.csv").read_text().splitlines()[:2] == [
        "ward,age_bin,answer,answer_from,answer_below,answer_low,answer_high", "b,below 18,1,,18,1,1",
    ]  # fmt: skip
    fields = json.loads((tmp_path / "o.csv.datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    assert {field["name"]: field["type"] for field in fields}["answer_below"] == "number"
    assert "answer_from" not in str(found), "names say it already"
    assert irisdp.interpret(tmp_path / "o.csv")


def test_edges_of_dates_are_dates_and_categories_have_none(tmp_path):
    ledger = tmp_path / "t.ledger"
    dated = publish(TABLE, "histogram", "born", bins=["2000-01-01"], epsilon=30, ledger=ledger).answers
    assert dated.assured.columns["answer_below"] == [datetime.date(2000, 1, 1), None]
    named = publish(TABLE, "histogram", "ward", categories=["a", "b"], epsilon=30, ledger=ledger).answers
    assert set(named.assured.columns) == {"answer_low", "answer_high"}
