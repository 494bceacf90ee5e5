"""What one command tells in some words, another tells in the same; a folder is named in full."""

import json
import re

import pytest

from support.commands import irisdp as irisdp_command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("priority\n1\n2\n9\n")
    plan = {"data": "calls.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return tmp_path


def test_a_batch_tells_of_its_page_as_publish_does(here):
    assert "  written   page.html\n" in irisdp_command("batch plan.json --report page.html").out
    assert re.search(r"  written   .*page2.html\n", irisdp_command(
        "publish calls.csv count --epsilon 1 --report page2.html").out)  # fmt: skip


def test_a_repeated_batch_costs_nothing_and_names_no_other_cost(here):
    assert "  cost      ε = 1" in irisdp_command("batch plan.json").out
    again = irisdp_command("batch plan.json").out
    assert [line for line in again.splitlines() if line.startswith(("  cost", "  charged"))] == [
        "  cost      nothing: all this was answered before, and these are the same answers"
    ]
    assert "  before    ε = 1, δ = 0: what line 1 of the ledger was charged\n" in again


def test_a_folder_that_cannot_be_written_is_named_in_full(here, monkeypatch):
    def refusing(*given, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("irisdp._files.tempfile.TemporaryFile", refusing)
    line = irisdp_command("publish calls.csv count --epsilon 1 --out out.csv").line
    assert line == f"--out: cannot write to the folder {here}; choose a folder that exists and can be written"


def test_a_column_of_answers_says_that_they_may_be_none_of_those_declared(here):
    asked = "publish calls.csv column priority --relation exchange --epsilon 1 --dry-run --categories"
    told = '2 declared: "1" · "2"; and "other", for any other value or none: it may be the answer about any\n'
    assert f"  among     {told}" in irisdp_command(f"{asked} 1,2").out
    assert "any other value" not in irisdp_command(f"{asked} 1,other").out
    answers = irisdp_command(asked.replace("--dry-run --categories", "--categories 1,2 --json")).out
    assert {row["answer"] for row in json.loads(answers)["answers"]} <= {"1", "2", "other"}
