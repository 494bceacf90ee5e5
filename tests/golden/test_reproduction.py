"""Everything that is printed and recomputed: each item runs, verdicts hold, and a misprint is shown to fail."""

import importlib.util
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import BadInput, reproduce
from irisdp._cli import run
from irisdp.design import turning_points
from irisdp.reproduction import ITEMS, WORKS, Reproduction, find_items
from irisdp.reproduction._gu2024 import CAPTION_ROW, figure_privacy, true_row
from irisdp.reproduction._items import Fault, Holds, all_equal, holds_at
from irisdp.reproduction._verdicts import result_of, verdict_of

ROOT = Path(__file__).parents[2]
KEYS = {"paper", "item", "printed", "ours", "verdict", "note", "control", "proof", "command"}
NUMBERS = re.compile(r"[-\d./, ∞]+")
R_1 = next(item for item in ITEMS if item.name == "Example 3, R_1")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.work}: {item.name}")
def test_every_item_is_what_its_entry_says(item):
    """A misprint is one by computation: ours differs, and what is printed breaks a bound."""
    found = result_of(item)
    assert found.verdict == "misprint" if item.misprint else found.verdict in ("agrees", "rounded")
    assert bool(found.control) == bool(item.misprint)
    assert (ROOT / item.proof).is_file()
    assert item.work in WORKS
    assert '"' not in item.name


def test_names_are_different_within_a_work():
    assert len({(item.work, item.name.casefold()) for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert find_items(item.work, item.name) == (item,), "the command recomputes it alone"


@pytest.mark.parametrize(
    "item", [item for item in ITEMS if NUMBERS.fullmatch(item.printed)], ids=lambda item: f"{item.work}: {item.name}"
)
def test_a_planted_wrong_value_is_reported(item):
    """Negative control: with any of its numbers moved by a tenth nothing agrees, rounds or is explained."""
    for place in range(len(item.printed.split(","))):
        parts = item.printed.split(",")
        parts[place] = "77" if parts[place].strip() == "∞" else str(float(Fraction(0.1) + _number(parts[place])))
        planted = replace(item, printed=",".join(parts), misprint=None, fault=None)
        found = result_of(planted)
        assert found.verdict == "unexplained"
        assert not Reproduction((found,)).holds


def _number(text):
    above, _, below = text.strip().partition("/")
    return Fraction(above) / Fraction(below or 1)


def test_a_wrong_statement_is_reported():
    """Negative control: our own side broken instead, a statement that fails, a reason that explains nothing."""
    assert result_of(replace(ITEMS[1], compute=lambda: Holds(False, ""))).verdict == "unexplained"
    assert result_of(replace(R_1, compute=lambda: Fraction("0.2553"))).verdict == "unexplained"
    assert result_of(replace(R_1, fault=None)).verdict == "unexplained"
    assert result_of(replace(R_1, fault=lambda: Fault("", Fraction(1), Fraction(1)))).verdict == "unexplained"
    assert not all_equal([(Fraction(1), Fraction(2))], "numbers").holds
    assert holds_at(3, 1, "points") == Holds(False, "fails at 1 of 3 points")


@pytest.mark.parametrize(("printed", "ours", "verdict"), [
    ("0.25", Fraction(1, 4), "agrees"),
    ("1/13", Fraction(1, 13), "agrees"),
    ("-0.75/9", Fraction(-1, 12), "agrees"),
    ("0.2554", Fraction(83, 325), "rounded"),
    ("0.2553", Fraction(83, 325), "unexplained"),
    ("9/11", Fraction(68, 83), "unexplained"),  # a quotient is never rounded
    ("3", Fraction(301, 100), "unexplained"),  # nor a whole number
    ("0.3, 0.7", [Fraction(3, 10), Fraction(7, 10)], "agrees"),
    ("0.3, 0.67", [Fraction(3, 10), Fraction(2, 3)], "rounded"),
    ("0.3", [Fraction(3, 10), Fraction(7, 10)], "unexplained"),
    ("∞, 1", [None, 1], "agrees"),
    ("5, 1", [None, 1], "unexplained"),
    ("∞, 1", [0, 1], "unexplained"),
])  # fmt: skip
def test_verdicts(printed, ours, verdict):
    assert verdict_of(printed, ours, explained=False) == verdict


def test_what_the_notes_say_is_so():
    """The row of the figures before it was rounded; what is at hand where the text of a work alone is."""
    assert turning_points(true_row(), figure_privacy("0"))[0] == 37
    assert sum(true_row()[:4]) + Fraction("0.5822") != 1 == sum(CAPTION_ROW)


def test_the_page_in_the_docs_is_of_today():
    """`python docs/reproduced.py` writes it anew."""
    spec = importlib.util.spec_from_file_location("reproduced", ROOT / "docs" / "reproduced.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    assert program.page(reproduce()) == (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")


def test_at_least_sixty_items_over_five_works():
    assert len(ITEMS) >= 60
    assert {item.work for item in ITEMS} == set(WORKS)
    assert len(WORKS) == 5


def test_files_are_written_once_and_replaced_on_request(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "--out", "made/here", "--paper", "doliveira2021", "--only", "Example 3"]) == 0
    shown = capsys.readouterr().out
    assert "6 items of 1 of 5 works: 5 agrees, 1 misprint" in shown
    listed = json.loads(Path("made/here/reproduce.json").read_text(encoding="utf-8"))
    assert all(set(one) == KEYS and all(isinstance(text, str) for text in one.values()) for one in listed)
    assert {one["verdict"] for one in listed} == {"agrees", "misprint"}
    page = Path("made/here/index.html").read_text(encoding="utf-8")
    assert "83/325" in page and "<svg" in page and "cut off" in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "<script" not in page
    assert run(["reproduce", "--out", "made/here", "--only", "Example 3, R_1"]) == 2
    assert "--out: made/here/reproduce.json is there already" in capsys.readouterr().err
    assert run(["reproduce", "--out", "made/here", "--only", "Example 3, R_1", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["command"] == R_1.command
    assert run(["reproduce", "--out", "made/here/index.html", "--only", "Example 3, R_1"]) == 2


def test_a_difference_without_a_reason_is_status_1(capsys, monkeypatch):
    monkeypatch.setattr("irisdp.reproduction._reproduce.ITEMS", (replace(R_1, misprint=None),))
    assert run(["reproduce"]) == 1
    assert "unexplained" in capsys.readouterr().out


def test_what_nobody_printed_is_refused():
    with pytest.raises(
        BadInput, match=r"^work: is not a work that Iris reproduces, Nobody; choose from DOliveira2021, "
    ):
        reproduce(work="Nobody")
    with pytest.raises(BadInput, match=r"^only: is in the name of no item, Exampel 2; did you mean Example 2"):
        reproduce(only="Exampel 2")
