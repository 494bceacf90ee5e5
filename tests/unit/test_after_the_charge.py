"""What goes wrong after a charge says so: status 3, and asking again is free. Status 2 means that nothing was spent."""

import contextlib
import errno
import json
import os
import sqlite3
from pathlib import Path

import pytest

from irisdp import BadInput
from irisdp._cli import batch, publish, run_plan
from irisdp._ledger import file_store
from irisdp._release import batching, pipeline
from irisdp._views.reports import writing
from support.commands import irisdp

COUNT = "publish t.csv count --epsilon 1"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("v\n1\n2\n")
    plan = {"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))


def broken(*_, **__):
    raise TypeError("the answer was 41")


def refused(*_, **__):
    raise BadInput("answers", "the answer was 41", "ask otherwise")


@pytest.mark.parametrize("command", [COUNT, "batch plan.json"], ids=["publish", "batch"])
@pytest.mark.parametrize("step", ["decode_answers", "release_document", "write_files"])
@pytest.mark.parametrize("fails", [broken, refused])
def test_an_error_that_nobody_foresaw_tells_that_the_charge_stands(command, step, fails, monkeypatch):
    home = batching if (command, step) == ("batch plan.json", "write_files") else pipeline
    with monkeypatch.context() as patched:
        patched.setattr(home, step, fails)
        failed = irisdp(command)
    assert failed.status == 3
    assert "asking the same question again costs nothing" in failed.line
    assert f"{'TypeError' if fails is broken else 'BadInput'} at test_after_the_charge.py" in failed.line
    assert "41" not in failed.line
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "1"
    again = irisdp(f"{command} --json")
    assert again.status == 0
    assert again.document["repeated"] is True


@pytest.mark.parametrize("fails", [broken, refused])
def test_a_page_that_cannot_be_made_is_no_bad_input(fails, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(writing, "release_page", fails)
        failed = irisdp(f"{COUNT} --report page.html")
    assert failed.status == 3
    assert "asking the same question again costs nothing" in failed.line
    assert "41" not in failed.line
    again = irisdp(f"{COUNT} --report page.html --json")
    assert again.document["repeated"] is True
    assert Path("page.html").exists()


def test_a_disk_that_refuses_after_the_charge_is_no_bad_input(monkeypatch):
    assert irisdp("publish t.csv count --epsilon 1/2").status == 0  # the secret is made
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", full)
        failed = irisdp(f"{COUNT} --out o.csv")
    assert failed.status == 3
    assert failed.line.startswith("out: o.csv could not be written (No space left on device), but the answer is in")
    assert irisdp(f"{COUNT} --out o.csv --json").document["repeated"] is True


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_before_the_charge_it_is_status_2_and_nothing_is_spent(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "draw_answers", broken)
        assert irisdp(COUNT).status == 2
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "0"


@pytest.mark.parametrize("command", [COUNT, "batch plan.json", "run plan.toml"])
@pytest.mark.parametrize("fails", [broken, refused])
def test_what_cannot_be_shown_is_charged_all_the_same(command, fails, monkeypatch):
    Path("plan.toml").write_text('[datasets.t]\ndata = "t.csv"\n[[questions]]\nquery = "count"\nepsilon = 1\n')
    with monkeypatch.context() as patched:
        for place in (publish, batch, run_plan):
            patched.setattr(place, "print_json", fails)
        failed = irisdp(f"{command} --json")
    assert failed.status == 3
    assert "costs nothing" in failed.line
    assert "41" not in failed.line
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "1"


@pytest.mark.parametrize("step", ["folding", "closing"])
def test_what_tidies_up_after_the_charge_takes_it_back_from_nobody(step, monkeypatch):
    assert irisdp("publish t.csv count --epsilon 1/2").status == 0
    connected = file_store._connected

    @contextlib.contextmanager
    def closing_badly(place):
        with connected(place) as connection:
            yield connection
            if connection.total_changes:
                raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        if step == "folding":
            patched.setattr(file_store, "fold_log", broken)
        else:
            patched.setattr(file_store, "_connected", closing_badly)
        asked = irisdp(f"{COUNT} --json")
    assert asked.status == 0
    assert asked.document["repeated"] is False
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "1", "as refined"
