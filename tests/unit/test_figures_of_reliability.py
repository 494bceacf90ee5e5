"""Figures in docs/reliability.md that can be counted without running anything: each is what the code holds today."""

import importlib.util
import re
import runpy
import sys
from functools import cache
from pathlib import Path

import pytest
from scipy import stats

from irisdp._measurements import confidence as assured
from support.commands import irisdp as irisdp_command
from support.every_form import QUESTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")
UNWRITTEN = {"common", "benchmark"}
"""Schemas of parts, and of what `make bench` writes, which `test_benchmarks.py` reads."""


@cache
def of(name):
    """Run what a file of tests says at its top."""
    return runpy.run_path(str(Path(__file__).with_name(f"test_{name}.py")))


def undescribed():
    """Count the documents that a test of schemas lists."""
    test = of("formats")["test_what_the_library_would_refuse_is_not_described"]
    (listed,) = (mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")
    return len(listed)


FIGURES = {
    r"against (\d+) schemas": lambda: len(of("formats")["SCHEMAS"].keys() - UNWRITTEN),
    r"every required key and (\d+) wrong values": lambda: len(of("formats")["WRONG"]) + undescribed(),
    r"(\d+) hostile names": lambda: len(of("names_of_groups")["HOSTILE"]),
    r"(\d+) statements of another program": lambda: len(of("ledger_roles")["WRITES"]),
    r"(\d+) questions of \d+ kinds, true": lambda: len(QUESTIONS),
    r"\d+ questions of (\d+) kinds, true": lambda: len({question.words[0] for question in QUESTIONS}),
    r"(\d+) kinds at the command line": lambda: len(of("bad_input")["CASES"]),
}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_what_is_tried(figure):
    assert [int(found) for found in re.findall(figure, PAGE)] == [FIGURES[figure]()]


def test_the_time_of_everything_stands_in_one_place():
    assert re.search(r"A whole `make reliability` took \d+ minutes", PAGE)
    assert "hours" not in (ROOT / "Makefile").read_text("utf-8")


# The page of the election study says what the library says: its chances are worked out anew for two questions.

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


# The page on coverage says what the library does today: ends hold as often as promised, and narrower ones do not.

RUNS = 60
"""Some hundreds of ends for most questions: a promise that is missed by a tenth is found."""
UNLIKELY = 1e-7


def kept(found):
    """Whether so many ends that hold are no evidence against the promise."""
    return stats.binom.cdf(found.held, found.total, float(found.promised)) > UNLIKELY


@pytest.fixture
def program_coverage(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    found = {}
    for name in ("elections", "coverage"):
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        found[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found[name])  # which dataclasses look up
        spec.loader.exec_module(found[name])
    return found["coverage"]


@pytest.fixture
def study(program_coverage):
    return program_coverage.elections.read_study()


def test_every_question_keeps_its_promise_on_the_page_and_today(program_coverage, study):
    page = (DOCS / "coverage.md").read_text(encoding="utf-8")
    for question in program_coverage.NUMBERS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {question.about} |")]
        shares = [float(cell.split()[0]) for cell in row.strip("| ").split("|")[1:]]
        assert len(shares) == len(program_coverage.EPSILONS)
        assert min(shares) >= 0.94
        assert kept(question.coverage(study, "1", "0.95", RUNS))
    assert (DOCS / "figures" / "coverage.svg").read_text(encoding="utf-8").startswith("<svg")


def test_ends_that_are_too_narrow_are_found(program_coverage, study, monkeypatch):
    """Negative control: the ends of half the distance."""
    real = assured.assured_distance
    monkeypatch.setattr(assured, "assured_distance", lambda mechanism, confidence: real(mechanism, confidence) // 2)
    counts, *_ = program_coverage.NUMBERS
    assert not kept(counts.coverage(study, "0.5", "0.95", RUNS))


@pytest.mark.parametrize("place", [0, 3])
def test_the_stated_probability_is_not_above_what_is_measured(place, program_coverage, study):
    stated, worst, mean = program_coverage.stated_and_measured(
        study, program_coverage.elections.QUESTIONS[place], "1", RUNS
    )
    assert stated <= worst + 4 * 0.5 / RUNS**0.5
    assert worst <= mean


# Figures of a plan are in one form, true, and rounded to the safe side, also where an ε is large.


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes\nheard,3\nlost,12\n")
    return tmp_path


def said(query, epsilon):
    return irisdp_command(f"publish calls.csv {query} --epsilon {epsilon} --dry-run").out


def test_a_whole_number_has_no_point(here):
    shown = said("sum minutes --lower 0 --upper 60 --step 0.5", 50)
    assert "by at most 0 in 95 % of cases" in shown
    (row,) = (line.split()[5:] for line in shown.splitlines() if "in 95 % at most" in line)
    assert row == ["0"] * 5


def test_a_chance_beside_one_is_told_in_one_way(here):
    shown = said("plurality outcome --categories heard,lost", 25)
    (row,) = (line.split()[3:] for line in shown.splitlines() if "right, at worst" in line)
    assert row[-4:] == [">0.999"] * 4
    assert "0.999 " not in shown.replace(">0.999", "")


@pytest.mark.parametrize(("query", "words"), [
    ("plurality outcome --categories heard,lost,open", "below 1 % whatever the lead"),
    ("majority minutes>3", "below 1 % wherever the truth is"),
    ("at-least 5", "below 1 % wherever the truth is"),
    ("band 5,10", "below 1 % wherever the truth is"),
    ("top 1 outcome --categories heard,lost,open", "right in 99 % however close they are"),
    ("ranking outcome --categories heard,lost,open", "right in 99 % however close they are"),
])  # fmt: skip
def test_no_record_is_no_distance(here, query, words):
    assert words in said(query, 25)
    assert "0 records" not in said(query, 25)
    assert words not in said(query, 1)
