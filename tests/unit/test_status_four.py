"""Exit status 4: what cannot be reached or written at present, apart from what was asked wrongly (2)."""

import json
import sqlite3

import pytest

import irisdp
from irisdp import BadInput, Unavailable
from support.commands import irisdp as irisdp_command

COUNT = "publish t.csv count --epsilon 1"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    return tmp_path


def failing(name):
    def connect(*_, **__):
        error = sqlite3.OperationalError("private words of the system")
        error.sqlite_errorname = name
        raise error

    return connect


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("SQLITE_FULL", 4),
        ("SQLITE_IOERR_WRITE", 4),
        ("SQLITE_CANTOPEN", 4),
        ("SQLITE_READONLY", 4),
        ("SQLITE_BUSY", 4),
        ("SQLITE_CORRUPT", 2),
        ("SQLITE_NOTADB", 2),
    ],
)
def test_a_ledger_that_fails_at_present_is_told_from_one_that_is_none(here, monkeypatch, name, status):
    assert irisdp_command(COUNT).status == 0
    spent = irisdp.Ledger("t.ledger").spent
    with monkeypatch.context() as broken:
        broken.setattr("irisdp._ledger.file_store.sqlite3.connect", failing(name))
        done = irisdp_command(f"{COUNT} --ledger t.ledger --json")
    assert done.status == status and "private words" not in done.err + done.out
    assert done.document["error"] == done.line
    assert irisdp.Ledger("t.ledger").spent == spent


def test_a_missing_folder_is_bad_input_and_is_called_missing(here):
    for option in ("--out no/a.csv", "--ledger no/t.ledger", "--report no/a.html"):
        done = irisdp_command(f"{COUNT} {option}")
        assert done.status == 2 and "does not exist" in done.line


def test_a_server_that_does_not_answer_is_unavailable(here):
    pytest.importorskip("psycopg")
    address = "postgresql://nobody@127.0.0.1:1/db"
    for command in (f"{COUNT} --ledger {address}?schema=s", f"publish {address}#t count --epsilon 1 --ledger t.ledger"):
        done = irisdp_command(f"{command} --json")
        assert done.status == 4, done.err
        assert json.loads(done.out)["error"] == done.line
    assert not (here / "t.ledger").exists()


def test_python_can_tell_the_two_apart():
    assert issubclass(Unavailable, BadInput) and (Unavailable.exit_status, BadInput.exit_status) == (4, 2)
