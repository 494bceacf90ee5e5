"""What was shown is in the ledger's own file, and not in its log alone, also where somebody else has it open."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

import irisdp
from irisdp import Ledger
from irisdp._ledger import file_store
from irisdp._ledger.file_store import fold_log

pytestmark = pytest.mark.usefixtures("one_engine")

HOLD = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute(sys.argv[2]) if sys.argv[2] else None
    connection.execute("SELECT count(*) FROM release").fetchall()
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "a.csv").write_text("v\n1\n0\n")
    book = Ledger(tmp_path / "a.ledger")
    book.set_limit(epsilon=2)
    return book


@contextlib.contextmanager
def held(book, statement=""):
    """Another process has the ledger open, and is killed at the end."""
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(book.path), statement]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "open\n"
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def spent_by_file_alone(book, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir(exist_ok=True)
    shutil.copy(book.path, place / "a.ledger")
    return Ledger(place / "a.ledger").spent.epsilon


@pytest.mark.parametrize("folded", [True, False], ids=["folded", "control"])
def test_a_killed_process_keeps_no_charge_in_the_log(book, tmp_path, monkeypatch, folded):
    if not folded:
        monkeypatch.setattr(file_store, "fold_log", lambda *_: None)
    with held(book):
        irisdp.publish(tmp_path / "a.csv", "count", epsilon=2, ledger=book.path)
    assert os.path.exists(f"{book.path}-wal")
    assert spent_by_file_alone(book, tmp_path) == (2 if folded else 0)
    assert book.spent.epsilon == 2
    assert not os.path.exists(f"{book.path}-wal")


def test_who_looks_at_an_earlier_moment_hinders_nobody(book, tmp_path):
    with held(book, "BEGIN"):
        irisdp.publish(tmp_path / "a.csv", "count", epsilon=1, ledger=book.path)
        assert spent_by_file_alone(book, tmp_path) == 0, "still in the log, which belongs to the ledger"
    with held(book):
        irisdp.publish(tmp_path / "a.csv", "count", "v = 1", epsilon=1, ledger=book.path)
        assert spent_by_file_alone(book, tmp_path) == 2
    book.verify()


def test_nothing_is_copied_while_somebody_writes(book, tmp_path):
    with sqlite3.connect(book.path, isolation_level=None) as other:
        other.execute("PRAGMA wal_autocheckpoint = 0")
        other.execute("CREATE TABLE more (x)")
        before = book.path.read_bytes()
        other.execute("BEGIN IMMEDIATE")
        fold_log(book.path, file_store._connected)
        assert book.path.read_bytes() == before
        other.execute("ROLLBACK")
        fold_log(book.path, file_store._connected)
        assert book.path.read_bytes() != before
    other.close()


def test_nobody_can_write_while_the_log_is_copied(book, tmp_path):
    tried = []

    class Watched(sqlite3.Connection):
        def execute(self, statement, *values):
            if "checkpoint(" in statement:
                third = sqlite3.connect(book.path, timeout=0, isolation_level=None)
                with contextlib.closing(third), pytest.raises(sqlite3.OperationalError, match="locked"):
                    third.execute("BEGIN IMMEDIATE")
                tried.append(statement)
            return super().execute(statement, *values)

    @contextlib.contextmanager
    def connected(place):
        with contextlib.closing(sqlite3.connect(place, uri=True, isolation_level=None, factory=Watched)) as connection:
            yield connection

    with held(book):
        book.set_limit(epsilon=3)
        fold_log(book.path, connected)
    assert tried == ["PRAGMA wal_checkpoint(PASSIVE)"]


def test_a_log_that_cannot_be_copied_back_is_kept(book, tmp_path):
    with held(book):
        for error in (sqlite3.OperationalError("disk I/O error"), OSError()):

            def refuse(place, error=error):
                raise error

            fold_log(book.path, refuse)
        irisdp.publish(tmp_path / "a.csv", "count", epsilon=2, ledger=book.path)
    assert book.spent.epsilon == 2
