"""Figures in docs/reliability.md that can be counted without running anything: each is what the code holds today."""

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

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
