"""The page of the election study says what the library says: its chances are worked out anew for two questions."""

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def program(monkeypatch):
    spec = importlib.util.spec_from_file_location("elections", DOCS / "elections.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "elections", module)  # which dataclasses look up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["winner", "median"])
def test_the_page_shows_the_chances_of_today(name, program):
    page = (DOCS / "elections.md").read_text(encoding="utf-8")
    study = program.read_study()
    (question,) = [one for one in program.QUESTIONS if one.name == name]
    truths = [question.right(question.counts(study, level)) for level in program.EDUCATION]
    chances = question.chances(study, "1", truths)
    section = page[page.index(f"## {question.about}") :].split("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ") and "education" not in line]
    assert [row[4].strip() for row in rows] == [f"{chance:.3f}" for chance in chances]
    assert [set(row[2].strip().split(" or ")) for row in rows] == [set(map(str, truth)) for truth in truths]


def test_every_picture_is_there(program):
    for question in program.QUESTIONS:
        assert (DOCS / "figures" / f"elections-{question.name}.svg").read_text(encoding="utf-8").startswith("<svg")
