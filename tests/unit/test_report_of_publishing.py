"""`publish --report`: a page beside the answers, or alone, planned before anything is spent."""

import os
from pathlib import Path

import pytest

import irisdp
from irisdp._cli import run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,age\n" + "Ely,70\nYork,30\n" * 20)
    return tmp_path


GROUPS = ["--by", "town", "--groups", "Ely,York"]


def test_the_page_is_that_of_the_files(here):
    assert run(["publish", "t.csv", "count", *GROUPS, "--epsilon", "1", "--out", "a.csv", "--report", "a.html"]) == 0
    assert Path("a.html").read_text(encoding="utf-8") == irisdp.report("a.csv")


def test_answers_may_go_to_a_page_alone(here):
    found = irisdp.publish("t.csv", "count", epsilon=1, report="a.html")
    assert found.out == (Path("a.html"),)
    made = Path("a.html").read_text(encoding="utf-8")
    assert made == irisdp.report(found)
    assert "written to no file but this page" in made


def test_each_audience_has_a_page_of_its_own(here):
    wanted = {"audience": {"board": 2, "press": "0.2"}, "out": "a.csv", "report": "p.html"}
    found = irisdp.publish("t.csv", "count", **wanted)
    assert [path.name for path in found.out[-2:]] == ["p.board.html", "p.press.html"]
    for name in ("board", "press"):
        made = Path(f"p.{name}.html").read_text(encoding="utf-8")
        assert made == irisdp.report(found, audience=name) == irisdp.report(f"a.{name}.csv")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("a.csv", "must end in .html"),
        ("no/a.html", "cannot write to the folder"),
        ("there.html", "is there already"),
        ("link.html", "is the data, which is never written over"),
        (".", "must end in .html"),
    ],
)
def test_a_page_that_cannot_be_written_spends_nothing(here, capsys, page, said):
    Path("there.html").write_text("mine")
    Path("link.html").symlink_to("t.csv")
    before = sorted(os.listdir())
    for dry in ([], ["--dry-run"]):
        typed = ["publish", "t.csv", "count", "--epsilon", "1", "--out", "out.csv", "--report", page, *dry]
        assert run(typed) == 2
        told = capsys.readouterr().err
        assert told.startswith("irisdp: --report: ") and said in told and len(told.splitlines()) == 1
        assert sorted(os.listdir()) == before
    assert Path("there.html").read_text() == "mine"


def test_a_page_may_replace_one_that_is_there_with_force(here):
    Path("a.html").write_text("old")
    irisdp.publish("t.csv", "count", epsilon=1, report="a.html", force=True)
    assert Path("a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
