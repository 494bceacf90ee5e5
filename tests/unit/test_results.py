"""Results show themselves in a line and in a notebook, and become frames of the usual libraries."""

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import irisdp
from irisdp import Privacy, design
from irisdp.errors import BadInput
from irisdp.tabular import Tabular, html_table

RECORDS = pa.table({"age": [70, 30, 81] * 40, "town": ["Ely", "<b>York</b>", "Ely"] * 40})


@pytest.fixture
def found(tmp_path):
    """Answers so accurate that noise is drawn with probability below 1e-12."""
    groups = ["Ely", "<b>York</b>"]
    ledger = tmp_path / "l.ledger"
    return irisdp.publish(RECORDS, "count", by="town", groups=groups, epsilon=30, ledger=ledger, out=tmp_path / "o.csv")


def test_answers_become_frames(found):
    expected = {"town": ["Ely", "<b>York</b>"], "answer": [80, 40]}
    assert found.to_arrow().to_pydict() == found.answers.to_arrow().to_pydict() == expected
    assert found.to_polars().to_dict(as_series=False) == expected
    assert isinstance(found.to_pandas(), pd.DataFrame)
    assert isinstance(found.to_polars(), pl.DataFrame)
    assert found.to_pandas().to_dict("list") == expected
    alone = irisdp.publish(RECORDS, "count", epsilon=30, ledger=found.ledger)
    assert alone.to_pandas().to_dict("list") == {"answer": [120]}


def test_audiences_are_columns(tmp_path):
    levels = {"board": 40, "press": 30}
    found = irisdp.publish(RECORDS, "count", "age > 64", audience=levels, ledger=tmp_path / "l.ledger")
    assert found.to_arrow().to_pydict() == {"board": [80], "press": [80]}


def test_readings_become_frames(found):
    read = irisdp.interpret(found.out[1])
    assert read.to_pandas().to_dict("list") == {
        "town": ["Ely", "<b>York</b>"], "published": [80, 40], "reading": [80, 40],
    }  # fmt: skip


def test_selected_groups_may_be_none(tmp_path):
    found = irisdp.publish(
        RECORDS.slice(0, 1), "count", by="town", select_groups=True, epsilon="0.01", delta="1e-9", ledger=tmp_path / "l"
    )
    assert found.to_arrow().column_names == ["town", "answer"]
    assert found.to_pandas().shape == (0, 2)
    assert "0 answers by town" in repr(found)


def test_each_says_what_it_is_in_one_line(found):
    assert repr(found) == "<Publication: count by town; 2 answers by town; charged ε = 30>"
    assert repr(found.answers) == "<Answers: 2 answers by town>"
    assert repr(found.plan).startswith("<Plan: count by town; ε = 30, δ = 0 for adding or removing one record; off by ")
    assert repr(irisdp.interpret(found.out[1])).startswith(
        "<Interpretation: 2 published counts read for absolute loss; "
    )
    made = design.consumer(5, "absolute", Privacy(ratio=2))
    assert repr(made).startswith("<Mechanism: 6 inputs, 6 outputs, ")
    assert "worst expected absolute loss" in repr(made)


def test_nothing_published_is_markup(found):
    page = found._repr_html_()
    assert "<b>" not in page
    assert "<td>&lt;b&gt;York&lt;/b&gt;</td><td>40</td>" in page
    assert "<caption>count by town;" in page


def test_long_tables_are_cut(tmp_path):
    found = irisdp.publish(
        pa.table({"v": range(100)}), "count", by="v", groups=range(100), epsilon=1, ledger=tmp_path / "l.ledger"
    )
    page = found._repr_html_()
    assert page.count("<tr>") == 42
    assert page.endswith("<tr><td>…</td><td>…</td></tr></table>")
    assert design.geometric(100, Privacy(ratio=2))._repr_html_().count("<tr>") == 22


def test_a_library_that_is_missing_is_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(BadInput, match=r"^polars: is not installed; pip install polars"):
        found.to_polars()


def test_a_row_of_nothing():
    assert html_table("none", ["a"], []) == "<table><caption>none</caption><tr><th>a</th></tr></table>"
    assert {kind.__name__ for kind in Tabular.__subclasses__()} >= {"Answers", "Interpretation", "Publication"}


def test_no_column_is_called_as_another(tmp_path):
    table = pa.table({"answer": ["a", "b"], "town": ["Ely", "York"]})
    with pytest.raises(BadInput, match=r"^by: names the column 'answer', as the answers' own column is called; rename"):
        irisdp.publish(table, "count", by="answer", groups="a,b", epsilon=1, ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()
    levels = {"town": 40, "press": 30}
    found = irisdp.publish(table, "count", by="town", groups="Ely,York", audience=levels, ledger=tmp_path / "l")
    assert found.to_arrow().column_names == ["town", "answer town", "press"]


def test_readings_beside_columns_of_their_name(tmp_path):
    table = pa.table({"reading": ["a", "b"]})
    found = irisdp.publish(
        table, "count", by="reading", groups="a,b", epsilon=30, ledger=tmp_path / "l", out=tmp_path / "o.csv"
    )
    assert irisdp.interpret(found.out[1]).to_arrow().column_names == ["reading", "published", "reading answer"]
    with pytest.raises(BadInput, match=r"atmost: is no option; did you mean at_most\?"):
        irisdp.interpret(found.out[1], 7, atmost=10)
