"""Titles and labels: words that readers see instead of names, escaped everywhere, and nothing else changes."""

import json
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._release import Labels, read_labels
from irisdp._release.labels import _BESIDE, KEYS
from irisdp._release.plan_file import PLAN_KEYS
from irisdp._release.project import KEYS as PROJECT_KEYS
from support.read_pages import ReadPage

EVIL = '</td><script>alert(1)</script><b a="\'">&amp; {{7*7}}'
LABELS = f"""
[labels]
title = "Readers of the library"
[labels.columns]
town = "Place & <i>town</i>"
answer = "Readers"
[labels.groups.town]
Ely = '''{EVIL}'''
[labels.queries]
"count age > 64" = "People over 64"
"""
PLAN = """
[datasets.lib]
data = "t.csv"
[[questions]]
name = "old"
query = "count"
expression = "age > 64"
by = "town"
groups = "Ely,York"
epsilon = 1
[[questions]]
query = "count"
epsilon = 1
title = "Everybody <b>"
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age,town\n" + "70,Ely\n30,Ely\n81,York\n" * 9)
    Path("labels.toml").write_text(LABELS, encoding="utf-8")


def publish(**more):
    return irisdp.publish("t.csv", "count", "age > 64", by="town", groups="Ely,York", epsilon=1, **more)


def test_the_keys_beside_labels_are_those_of_project_files_and_plans():
    assert {*PROJECT_KEYS, *PLAN_KEYS} - {"labels"} == _BESIDE
    assert set(KEYS) < {each.name for each in fields(Labels)}


def test_a_report_shows_labels_as_text():
    publish(out="a.csv")
    made = irisdp.report("a.csv", labels="labels.toml")
    assert "<script" not in made and "<i>" not in made and "<b " not in made
    page = ReadPage(made)
    assert page.problems == []
    for label in ("Place & <i>town</i>", "Readers", EVIL, "York", "People over 64"):
        assert label in page.text
    assert "Readers of the library" not in page.text  # the query has a label of its own
    assert ReadPage(irisdp.report("a.csv", labels="labels.toml", title=EVIL)).text.count(EVIL) >= 2
    assert ReadPage(irisdp.report("a.csv", labels={"title": "T <u>"})).text.count("T <u>") >= 1


def test_a_chart_shows_labels_as_text():
    publish(out="a.csv")
    drawn = irisdp.plot("a.csv", labels="labels.toml", title='T "<script>" \'')
    assert drawn.title == 'T "<script>" \''
    assert drawn.columns[:2] == ("Place & <i>town</i>", "answer (Readers)")
    assert drawn.rows[0][0] == EVIL
    for made in (drawn.to_svg(), drawn.to_html()):
        assert "<script>alert" not in made and "<i>" not in made and "<b " not in made
        assert "&lt;script&gt;" in made


def test_labels_change_no_answer_no_release_and_no_line_of_the_ledger():
    publish(out="a.csv", report="a.html")
    lines = [line.query for line in irisdp.Ledger("t.ledger").releases()]
    release = json.loads(Path("a.csv.release.json").read_text())
    again = publish(out="b.csv", report="b.html", title="T", labels="labels.toml")
    assert again.repeated
    assert [line.query for line in irisdp.Ledger("t.ledger").releases()] == lines == ["count age > 64 by town"]
    with sqlite3.connect("t.ledger") as ledger:
        assert "Readers" not in "".join(ledger.iterdump())
    assert Path("b.csv").read_bytes() == Path("a.csv").read_bytes()
    assert json.loads(Path("b.csv.release.json").read_text()) == release
    assert Path("b.html").read_text(encoding="utf-8") != Path("a.html").read_text(encoding="utf-8")


def test_a_project_labels_its_reports_and_can_be_named_again():
    Path("t.iris.toml").write_text('relation = "add-remove"\n' + LABELS, encoding="utf-8")
    irisdp.publish("t.csv", "count", by="town", groups="Ely,York", epsilon=1, out="a.csv", report="a.html")
    made = Path("a.html").read_text(encoding="utf-8")
    assert "Readers of the library" in ReadPage(made).text and EVIL in ReadPage(made).text
    assert irisdp.report("a.csv", labels="t.iris.toml") == made
    irisdp.publish(
        "t.csv", "count", by="town", groups="Ely,York", epsilon=1, report="b.html", labels={"columns": {"TOWN": "City"}}
    )
    text = ReadPage(Path("b.html").read_text(encoding="utf-8")).text
    assert "City" in text and "Readers of the library" in text and "Place &" not in text


def test_a_plan_labels_its_page_and_its_questions():
    Path("plan.toml").write_text('report = "all.html"\n' + LABELS + PLAN, encoding="utf-8")
    first = irisdp.run("plan.toml")
    page = ReadPage(Path("all.html").read_text(encoding="utf-8"))
    for label in ("Readers of the library", "People over 64", "Everybody <b>", EVIL):
        assert label in page.text
    Path("plan.toml").write_text('report = "all.html"\n' + PLAN.replace("title =", "#"), encoding="utf-8")
    again = irisdp.run("plan.toml", title="Another", labels={"queries": {"old": "The old ones"}})
    assert again.repeated and [one.answers.values for one in again] == [one.answers.values for one in first]
    page = ReadPage(Path("all.html").read_text(encoding="utf-8"))
    assert "Another" in page.text and "The old ones" in page.text and EVIL not in page.text


def test_a_batch_labels_its_page():
    plan = {
        "data": "t.csv",
        "budget": {"epsilon": 1},
        "title": "Both <b>",
        "labels": {"queries": {"count age > 64": "People over 64", "count": "All people"}},
        "questions": [{"query": "count", "expression": "age > 64"}, {"query": "count"}],
    }
    irisdp.batch(plan, report="a.html")
    page = ReadPage(Path("a.html").read_text(encoding="utf-8"))
    for label in ("Both <b>", "People over 64", "All people"):
        assert label in page.text
    irisdp.batch(plan, report="a.html", title="Better", force=True)
    assert "Better" in ReadPage(Path("a.html").read_text(encoding="utf-8")).text


def test_commands_take_titles_and_labels(capsys):
    given = ["--title", EVIL, "--labels", "labels.toml"]
    asked = ["t.csv", "count", "age > 64", "--by", "town", "--groups", "Ely,York", "--epsilon", "1"]
    assert run(["publish", *asked, "--out", "a.csv", "--report", "a.html", *given]) == 0
    assert run(["report", "a.csv", "-o", "b.html", *given]) == 0
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()
    assert run(["plot", "a.csv", "-o", "a.svg", *given]) == 0
    Path("plan.toml").write_text('report = "all.html"\n' + PLAN)
    assert run(["run", "plan.toml", *given]) == 0
    Path("p.json").write_text('{"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}')
    assert run(["batch", "p.json", "--report", "c.html", *given]) == 0
    for name in ("a.html", "a.svg", "all.html", "c.html"):
        text = Path(name).read_text(encoding="utf-8")
        assert "<script>alert" not in text and "alert(1)" in text
    capsys.readouterr()
    assert run(["publish", *asked, *given]) == 2
    assert capsys.readouterr().err.startswith(
        "irisdp: --title: is shown on a report, and none is written; add --report"
    )


@pytest.mark.parametrize(("labels", "said"), [
    (7, "must be a table, not a number"),
    ({"colums": {}}, "have the key 'colums', which is not known; choose from title, columns, groups, queries"),
    ({"title": 7}, "have a label for 'title' that is a number, not text"),
    ({"title": " "}, "have a label for 'title' that is empty"),
    ({"title": "a\x07b"}, "have a label for 'title' that is text with line breaks or hidden letters"),
    ({"columns": {"town": "a\nb"}}, "have a label for 'town' that is text with line breaks or hidden letters"),
    ({"columns": {"town": "\u202eb"}}, "have a label for 'town' that is text with line breaks or hidden letters"),
    ({"groups": {"town": "Ely"}}, "have groups that are text, not a table"),
    ({"queries": {"count": "x" * 301}}, "have a label for 'count' that is longer than 300 letters"),
])  # fmt: skip
def test_what_is_no_label_is_refused_in_one_sentence(labels, said):
    with pytest.raises(BadInput) as refused:
        read_labels(labels)
    assert str(refused.value).startswith(f"labels: {said}") and "\n" not in str(refused.value)


@pytest.mark.parametrize(("text", "said"), [
    ('title = "x"', "has no [labels] table"),
    ('title = "x"\n[labels]', "has the key 'title', which is not for labels; move it below [labels]"),
    ('x = "x"\n[labels]', "has the key 'x', which is not for labels"),
    ('labels = "x"', "gives labels text"),
    ("[labels]\nlable = 1", "in l.toml, labels have the key 'lable', which is not known"),
])  # fmt: skip
def test_so_is_a_file_of_labels(text, said):
    Path("l.toml").write_text(text)
    with pytest.raises(BadInput) as refused:
        read_labels("l.toml")
    assert said in str(refused.value) and str(refused.value).startswith("labels: ")


def test_a_title_is_text_on_one_line():
    with pytest.raises(BadInput, match=r"^title: is text with line breaks or hidden letters; write it on one line"):
        irisdp.report("a.csv", title="a\nb")
    with pytest.raises(BadInput, match=r"^labels: are for published answers"):
        irisdp.plot(irisdp.Privacy(epsilon=1), labels={"title": "x"})
    assert irisdp.plot(irisdp.Privacy(epsilon=1), title="x").title == "x"
