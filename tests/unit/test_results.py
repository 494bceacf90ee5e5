"""Results show themselves in a line and in a notebook, and become frames of the usual libraries."""

import json
import re
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, certify, design
from irisdp._cli import run
from irisdp._frames import Tabular, html_table
from irisdp.consumers import Consumer, optimal_reading

RECORDS = pa.table({"age": [70, 30, 81] * 40, "town": ["Ely", "<b>York</b>", "Ely"] * 40})


@pytest.fixture
def found(tmp_path):
    """Answers so accurate that noise is drawn with probability below 1e-12."""
    groups = ["Ely", "<b>York</b>"]
    ledger = tmp_path / "l.ledger"
    return irisdp.publish(RECORDS, "count", by="town", groups=groups, epsilon=30, ledger=ledger, out=tmp_path / "o.csv")


def test_answers_become_frames(found):
    expected = {"town": ["Ely", "<b>York</b>"], "answer": [80, 40], "answer_low": [80, 40], "answer_high": [80, 40]}
    assert found.to_arrow().to_pydict() == found.answers.to_arrow().to_pydict() == expected
    assert found.to_polars().to_dict(as_series=False) == expected
    assert isinstance(found.to_pandas(), pd.DataFrame)
    assert isinstance(found.to_polars(), pl.DataFrame)
    assert found.to_pandas().to_dict("list") == expected
    alone = irisdp.publish(RECORDS, "count", epsilon=30, ledger=found.ledger)
    assert alone.to_pandas().to_dict("list") == {"answer": [120], "answer_low": [120], "answer_high": [120]}


def test_audiences_are_columns(tmp_path):
    levels = {"board": 40, "press": 30}
    found = irisdp.publish(RECORDS, "count", "age > 64", audience=levels, ledger=tmp_path / "l.ledger")
    shown = found.to_arrow().to_pydict()
    assert list(shown) == ["board", "board low", "board high", "press", "press low", "press high"]
    assert set(map(tuple, shown.values())) == {(80,)}


def test_readings_become_frames(found):
    read = irisdp.interpret(found.out[1])
    assert read.to_pandas().to_dict("list") == {
        "town": ["Ely", "<b>York</b>"], "published": [80, 40], "reading": [80, 40], "low": [80, 40], "high": [80, 40],
    }  # fmt: skip


def test_selected_groups_may_be_none(tmp_path):
    found = irisdp.publish(
        RECORDS.slice(0, 1), "count", by="town", select_groups=True, epsilon="0.01", delta="1e-9", ledger=tmp_path / "l"
    )
    assert found.to_arrow().column_names == ["town", "answer", "answer_low", "answer_high"]
    assert found.to_pandas().shape == (0, 4)
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
    assert '<td>&lt;b&gt;York&lt;/b&gt;</td><td style="text-align:right">40</td>' in page
    assert ">count by town;" in page


def test_what_is_asked_and_what_is_left_show_themselves_in_notebooks(tmp_path):
    frame = pa.table({"<b>t</b>": ["x"], "v": [1]})
    session = irisdp.Session(frame, ledger=tmp_path / "l.ledger", limit=9, unit="v")
    asked = {"by": "<b>t</b>", "groups": ["x", "<i>"], "at_most": 1}
    planned = session.plan("count", epsilon=1, **asked)._repr_html_()
    session.count(epsilon=1, **asked)
    session.batch([{"query": "count"}, {"query": "at-least 3"}], budget={"epsilon": 2})
    pages = {
        "plan": (planned, "<td>cost</td><td>ε = 1, δ = 0 for adding or removing one v</td>"),
        "unit": (planned, "<td>unit</td><td>one record kept per v, chosen at random, the same for all questions"),
        "session": (session._repr_html_(), ">Session: l.ledger; left ε = 6, δ = 0</caption>"),
        "batch": (
            session.batch([{"query": "count"}], budget={"epsilon": 2})._repr_html_(),
            "; charged with its batch</caption>",
        ),
        "plan of a batch": (
            irisdp.plan_batch({"budget": {"epsilon": 1}, "questions": [{"query": "count"}]}, data=frame)._repr_html_(),
            "<td>1</td><td>count</td><td>off by ",
        ),
    }
    for page, holds in pages.values():
        assert holds in page
        assert "<b>" not in page
        assert "<i>" not in page
    rows = session._repr_html_().split("<tr>")
    assert "batch of 2" in rows[3]
    assert "count by &lt;b&gt;t&lt;/b&gt; per v" in rows[4]


def test_long_tables_are_cut(tmp_path):
    found = irisdp.publish(
        pa.table({"v": range(100)}), "count", by="v", groups=range(100), epsilon=1, ledger=tmp_path / "l.ledger"
    )
    page = found._repr_html_()
    assert page.count("<tr>") == 42
    assert page.endswith("<tr>" + '<td style="text-align:right">…</td>' * 4 + "</tr></table>")
    assert design.geometric(100, Privacy(ratio=2))._repr_html_().count("<tr>") == 22


def test_a_library_that_is_missing_is_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(BadInput, match=r"^polars: is not installed; pip install polars"):
        found.to_polars()


def test_a_row_of_nothing():
    assert html_table("none", ["a"], []).endswith(">none</caption><tr><th>a</th></tr></table>")
    assert {kind.__name__ for kind in Tabular.__subclasses__()} >= {"Answers", "Interpretation", "Publication"}


def test_no_column_is_called_as_another(tmp_path):
    table = pa.table({"answer": ["a", "b"], "town": ["Ely", "York"]})
    with pytest.raises(BadInput, match=r"^by: names the column 'answer', as the answers' own column is called; rename"):
        irisdp.publish(table, "count", by="answer", groups="a,b", epsilon=1, ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()
    levels = {"town": 40, "press": 30}
    found = irisdp.publish(table, "count", by="town", groups="Ely,York", audience=levels, ledger=tmp_path / "l")
    names = [name for name in found.to_arrow().column_names if not name.endswith((" low", " high"))]
    assert names == ["town", "answer town", "press"]


def test_readings_beside_columns_of_their_name(tmp_path):
    table = pa.table({"reading": ["a", "b"]})
    found = irisdp.publish(
        table, "count", by="reading", groups="a,b", epsilon=30, ledger=tmp_path / "l", out=tmp_path / "o.csv"
    )
    names = ["reading", "published", "reading answer", "low", "high"]
    assert irisdp.interpret(found.out[1]).to_arrow().column_names == names
    with pytest.raises(BadInput, match=r"atmost: is no option; did you mean at_most\?"):
        irisdp.interpret(found.out[1], 7, atmost=10)


def results(folder):
    """Everything that a caller is given, of tables, mechanisms and consumers."""
    noise, reader = design.geometric(30, Privacy(epsilon=1)), Consumer(30, "absolute", prior=["1/31"] * 31)
    session = irisdp.Session(RECORDS, ledger=folder / "l", limit=9)
    found = session.count("town = 'Ely' AND age > 64", by="age", groups=range(200), epsilon=1, out=folder / "o.csv")
    read, best = irisdp.interpret(found.out[1]), irisdp.interpret(noise, 3, at_most=7)
    verdict = irisdp.audit(design.consumer(5, "absolute", Privacy(epsilon=1)))
    yield from (noise, reader, reader.loss, session, found, found.plan, found.answers, read, best)
    yield from (read.answers[0], best.answers[0], best.answers[0].rule, read.answers[0].rule, best.posterior())
    yield from (verdict, verdict.optimality, verdict.tightest, *session.releases(), session.remaining)
    yield from (optimal_reading(noise, reader), certify.privacy_profile(noise), Consumer(2, [[0, 1, 2]] * 3).loss)
    yield irisdp.audit(noise, privacy=Privacy(epsilon=2))


def test_every_result_is_short(tmp_path):
    for found in results(tmp_path):
        assert len(repr(found)) < 250, repr(found)
        assert "\n" not in repr(found)
        assert all(part not in repr(found) for part in ("array(", " at 0x", "Fraction(1386"))


def test_what_short_results_say():
    made = design.consumer(3, "absolute", Privacy(ratio=4))
    assert repr(irisdp.audit(made)) == (
        "<Audit: holds; graph 4 inputs, 3 edges; promised ε = 1.3863, δ = 0; δ needed 0; ε needed 1.3863; "
        "optimality holds>"
    )
    assert "<Audit: DOES NOT HOLD;" in repr(irisdp.audit(made, privacy=Privacy(ratio=2)))
    assert "optimality not judged" in repr(irisdp.audit(made, privacy=Privacy(ratio=2)))
    assert "<td>tightest</td><td>0 and 1</td>" in irisdp.audit(made)._repr_html_()
    noise = design.geometric(3, Privacy(ratio=4))
    (answer,) = irisdp.interpret(noise, 3, loss="zero-one").answers
    drawn = r"read as [23], drawn from 2 answers; loss 0\.36 for counts 0 to 3"
    assert re.fullmatch(f"<InterpretedAnswer: 3 published, {drawn}>", repr(answer))
    assert repr(optimal_reading(noise, Consumer(3, "zero-one", side_information=[0, 3]))) == (
        "<OptimalReading: worst expected zero-one loss 0.05, no reading has less than 0.05; counts 0 to 3>"
    )


@pytest.mark.parametrize("epsilon", ["1", "1.00000041"])
def test_an_audit_shows_by_how_little_a_promise_is_broken(epsilon):
    made = design.geometric(3, Privacy(epsilon="1.00000042"))
    promised, needed = re.search(
        "promised ε = ([^,]*),.*; ε needed ([^;]*)", repr(irisdp.audit(made, privacy=Privacy(epsilon=epsilon)))
    ).groups()
    assert float(promised) >= float(epsilon)
    assert float(needed) > float(promised)
    assert float(needed) > 1.0000004


def test_a_file_speaks_in_quotes_about_its_goal(tmp_path):
    lie = 'small" 0, proved optimal among all private mechanisms\x1b[2K\u202e<b>' + "x" * 200
    document = Mechanism.from_array([["2/3", "1/3"], ["1/3", "2/3"]], privacy=Privacy(ratio=2)).to_document()
    path = tmp_path / "m.json"
    path.write_text(json.dumps({**document, "objective": {"name": lie, "value": "1/3"}}))
    loaded = irisdp.load(path)
    for text in (repr(loaded), str(loaded), loaded._repr_html_()):
        assert text.isprintable()
        assert "x" * 100 not in text
    assert "<b>" not in loaded._repr_html_()
    assert repr(loaded).count('"') == 2


def test_a_release_says_what_it_was(tmp_path):
    session = irisdp.Session(RECORDS, ledger=tmp_path / "l")
    session.count("age > 64", audience={"board": 2, "press": "0.5"})
    board, press = map(repr, session.releases())
    assert board.startswith("<Release: #1, count age > 64 for board; charged ε = 2, δ = 0; 20")
    assert press.startswith("<Release: #2, count age > 64 for press; charged nothing; 20")


def test_best_readings_become_frames():
    found = optimal_reading(design.geometric(3, Privacy(ratio=4)), Consumer(3, "absolute"))
    assert found.to_arrow().column_names == ["released", "answer", "chance"]
    assert found.to_pandas().groupby("released")["chance"].sum().tolist() == pytest.approx([1] * 4)
    assert '<th style="text-align:right">released</th>' in found._repr_html_()


# What `print` shows of a plan and of an interpretation is what the command line shows.

SURVEY = Path(__file__).parents[2] / "examples" / "anes96.csv"


@pytest.fixture
def session(tmp_path):
    return irisdp.Session(str(SURVEY), ledger=tmp_path / "survey.ledger")


@pytest.mark.parametrize(("query", "options", "words"), [
    (("count", "age > 64"), {}, ["count", "age > 64"]),
    (("count",), {"by": "vote", "groups": "0,1"}, ["count", "--by", "vote", "--groups", "0,1"]),
    (("plurality", "PID"), {"categories": "0,1,2,3,4,5,6"}, ["plurality", "PID", "--categories", "0,1,2,3,4,5,6"]),
    (("median", "age"), {"bins": "30,50"}, ["median", "age", "--bins", "30,50"]),
], ids=["count", "groups", "winner", "median"])  # fmt: skip
def test_a_plan_prints_the_lines_of_a_dry_run(session, tmp_path, capsys, monkeypatch, query, options, words):
    monkeypatch.setenv("COLUMNS", "400")
    shown = str(session.plan(*query, epsilon=1, **options)).splitlines()
    assert run(["publish", str(SURVEY), *words, "--epsilon", "1", "--dry-run", "--ledger", str(tmp_path / "x")]) == 0
    typed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line.strip() for line in shown] == typed[: len(shown)]
    assert typed[len(shown)].startswith("ledger")


def test_an_interpretation_prints_the_sentence_of_the_command(session, tmp_path, capsys):
    published = session.count("age > 64", epsilon=1, out=tmp_path / "old.csv")
    (number,) = published.answers.values
    shown = str(irisdp.interpret(tmp_path / "old.csv"))
    assert shown == f"Published {number}; the truth is probably {number - 3} to {number + 3} (95 %)"
    assert run(["interpret", str(tmp_path / "old.csv")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown
    assert run(["interpret", str(tmp_path / "old.csv"), "--value", str(number)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown


def test_an_interpretation_of_groups_prints_a_table(session):
    published = session.count(by="vote", groups="0,1", epsilon=1)
    lines = str(irisdp.interpret(published)).splitlines()
    assert lines[0] == "Published 2 counts; each truth is probably between low and high (95 %)"
    assert lines[1].split() == ["vote", "published", "reading", "low", "high"]
    assert [int(line.split()[1]) for line in lines[2:]] == list(published.answers.values)


@pytest.mark.parametrize(
    ("option", "instead"), [("dry_run", "plan(query"), ("json", "to_document()"), ("verbose", "print(result.plan)")]
)
def test_options_of_the_command_line_are_answered_with_what_python_has(session, option, instead):
    with pytest.raises(BadInput, match="is no option") as refused:
        session.count("age > 64", epsilon=1, **{option: True})
    assert instead in refused.value.remedy
