"""A ledger keeps one promise: every pair of promises, ledgers of version 0.1, kills in between, and what is said."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, LedgerEntry, LedgerScope, ScopeRefused
from irisdp._cli import run
from irisdp._ledger import file_store
from irisdp._ledger.file_store import fold_log
from irisdp._release import pipeline
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

TABLES = {"t.csv": "g,h,u\na,x,1\nb,y,2\n", "more.csv": "g,h,u,z\na,x,1,0\n", "fewer.csv": "g,u\na,1\n"}
RELATIONS = {
    "add-remove": {"relation": "add-remove"},
    "exchange": {"relation": "exchange"},
    "keeps g": {"relation": "exchange", "public_membership": True, "by": "g", "groups": "a,b"},
    "keeps h": {"relation": "exchange", "public_membership": True, "by": "h", "groups": "x,y"},
    "keeps G": {"relation": "exchange", "public_membership": True, "by": "G", "groups": "a,b"},
}
UNITS = (None, "u", "U", "g")
ASKED = [
    (table, relation, unit)
    for table, relation, unit in itertools.product(TABLES, RELATIONS, UNITS)
    if not (relation.startswith("keeps") and unit) and not (table == "fewer.csv" and relation == "keeps h")
]


def implies(pinned, asked):
    """Written out anew: no code of the library."""
    (table, relation, unit), (other_table, other_relation, other_unit) = pinned, asked
    if table != other_table or (unit or "").lower() != (other_unit or "").lower():
        return False
    if (relation == "add-remove") != (other_relation == "add-remove"):
        return False
    kept = {"keeps g": {"g"}, "keeps G": {"g"}, "keeps h": {"h"}}
    return kept.get(other_relation, set()) <= kept.get(relation, set())


def ask(folder, asked, ledger, condition="u > 0"):
    table, relation, unit = asked
    return irisdp.publish(
        folder / table,
        "count",
        condition,
        epsilon=1,
        unit=unit,
        at_most=1 if unit else None,
        ledger=ledger,
        **RELATIONS[relation],
    )


@pytest.fixture
def folder(tmp_path):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("pinned", ASKED, ids=str)
def test_a_second_release_is_allowed_where_it_keeps_the_promise_and_nowhere_else(folder, pinned, monkeypatch):
    ledger = Ledger(folder / "one.ledger")
    ask(folder, pinned, ledger.path)
    before, spent = ledger.to_document(), ledger.spent
    real = pipeline.read_statistics
    every = tried(3, 1)
    for number, asked in list(enumerate(ASKED))[ASKED.index(pinned) % every :: every]:
        monkeypatch.setattr(pipeline, "read_statistics", real)
        if implies(pinned, asked):
            ask(folder, asked, ledger.path, f"u > {number}")
            spent, before = ledger.spent, ledger.to_document()
            continue
        monkeypatch.setattr(pipeline, "read_statistics", never)
        with pytest.raises(ScopeRefused) as refusal:
            ask(folder, asked, ledger.path, f"u > {number}")
        assert ledger.spent == spent
        assert ledger.to_document() == before
        document = refusal.value.document
        assert document["differs"] and set(document["differs"]) == set(document["pinned"]) == set(document["asked"])
        assert all(document["pinned"][fact] != document["asked"][fact] for fact in document["differs"])
        assert "\n" not in str(refusal.value)


def never(*arguments, **options):
    raise AssertionError("read what was not to be read")


def test_what_differs_is_said_and_nothing_is_read(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run(["publish", "t.csv", "count", "--epsilon", "1", "--unit", "u", "--at-most", "1"]) == 0
    monkeypatch.setattr("irisdp._tables.table.Table.digest", never)
    capsys.readouterr()
    assert run(["publish", "t.csv", "count", "--epsilon", "1", "--relation", "exchange", "--json"]) == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["differs"] == ["relation", "unit"]
    assert document["pinned"] == {"relation": "add-remove", "unit": "u"}
    assert document["asked"] == {"relation": "exchange", "unit": None}
    assert "uses relation add-remove and unit u; you asked for relation exchange and no unit" in printed.err


def test_a_later_version_of_the_table_adds_up(folder):
    irisdp.publish(folder / "t.csv", "count", epsilon=1)
    (folder / "t.csv").write_text("u,h,g\n1,x,a\n2,y,b\n3,y,c\n")  # the order of columns does not matter
    irisdp.publish(folder / "t.csv", "count", epsilon=1)
    assert Ledger(folder / "t.ledger").spent == Cost(2)


def test_frames_go_by_the_name_they_are_given(tmp_path):
    ledger = tmp_path / "l.ledger"
    first, later, other = pa.table({"v": [1, 2]}), pa.table({"v": [1, 2, 3]}), pa.table({"v": ["1"]})
    irisdp.publish(first, "count", epsilon=1, ledger=ledger, table="people")
    irisdp.publish(later, "count", epsilon=1, ledger=ledger, table="people")
    with pytest.raises(ScopeRefused, match="uses table people; you asked for no table"):
        irisdp.publish(pa.table({"v": [9]}), "count", epsilon=1, ledger=ledger)
    with pytest.raises(ScopeRefused, match=r"holds otherwise the column v \(integer before, text now\)"):
        irisdp.publish(other, "count", epsilon=1, ledger=ledger, table="people")
    assert irisdp.publish(later, "count", epsilon=1, ledger=ledger).repeated, "known content is the same table"
    for name in ("", " ", "two\nlines", 7):
        with pytest.raises(BadInput, match="table"):
            irisdp.publish(first, "count", epsilon=1, ledger=ledger, table=name)


def test_the_first_release_that_fails_pins_nothing(folder):
    ledger = Ledger(folder / "t.ledger")
    ledger.set_limit("1/2")
    with pytest.raises(irisdp.BudgetRefused):
        irisdp.publish(folder / "t.csv", "count", epsilon=1)
    assert ledger.to_document()["relation"] is None
    irisdp.publish(folder / "t.csv", "count", epsilon="1/4", relation="exchange")
    assert ledger.to_document()["relation"] == "exchange"


@pytest.mark.parametrize("facts", ["", "[]", "null", "{", '{"relation": 1}', '{"columns": []}', '{"more": 1}', None])
def test_damaged_facts_are_damage(folder, facts):
    irisdp.publish(folder / "t.csv", "count", epsilon=1)
    connection = sqlite3.connect(folder / "t.ledger")
    connection.execute("CREATE TABLE loose (id INTEGER PRIMARY KEY, facts TEXT)")
    connection.execute("DROP TABLE promise")
    connection.execute("ALTER TABLE loose RENAME TO promise")
    connection.execute("INSERT INTO promise VALUES (1, ?)", (facts,))
    connection.commit()
    connection.close()
    with pytest.raises(BadInput, match="damaged"):
        irisdp.publish(folder / "t.csv", "count", epsilon=2)
    with pytest.raises(BadInput, match="damaged"):
        Ledger(folder / "t.ledger").to_document()


class TestPinnedInAdvance:
    def test_public_columns_are_named_once(self, folder, monkeypatch, capsys):
        monkeypatch.chdir(folder)
        make = ["ledger", "t.ledger", "--table", "t.csv", "--relation", "exchange", "--public-columns", "g,h", "--json"]
        assert run(make) == 0
        document = json.loads(capsys.readouterr().out)
        facts = {"table": "t.csv", "columns": None, "relation": "exchange", "unit": None, "public_columns": ["g", "h"]}
        assert document.items() >= facts.items()
        public = ["--relation", "exchange", "--public-membership"]
        question = ["publish", "t.csv", "count", "u > 0", "--epsilon", "1", "--json", "--by"]
        assert run([*question, "g", "--groups", "a,b", *public]) == 0
        assert run([*question, "h", "--groups", "x,y", *public]) == 0
        assert run([*question, "u", "--groups", "1,2", *public]) == 1
        assert run([*question, "u", "--groups", "1,2", "--relation", "exchange"]) == 0
        assert Ledger("t.ledger").to_document()["columns"] == dict.fromkeys("ghu", "untyped")

    @pytest.mark.parametrize(
        "facts",
        [
            ["--relation", "add-remove"], ["--unit", "g"], ["--relation", "exchange"], ["--table", "other.csv"],
            ["--relation", "exchange", "--public-columns", "g"],
            ["--relation", "exchange", "--public-columns", "g,h,u"],
        ],
    )  # fmt: skip
    def test_what_is_pinned_stays(self, tmp_path, facts, capsys):
        path = str(tmp_path / "t.ledger")
        pinned = ["--table", "t.csv", "--relation", "exchange", "--public-columns", "g,h"]
        assert run(["ledger", path, *pinned]) == run(["ledger", path, *pinned]) == 0
        assert run(["ledger", path, *facts]) == 1
        assert Ledger(path).to_document()["public_columns"] == ["g", "h"]

    @pytest.mark.parametrize(
        "facts",
        [
            ["--relation", "replace"], ["--public-columns", "g"], ["--relation", "exchange", "--public-columns", "g,,"],
            ["--relation", "exchange", "--public-columns", "g", "--unit", "u"],
        ],
    )  # fmt: skip
    def test_what_no_release_could_keep_is_bad_input(self, tmp_path, facts, capsys):
        assert run(["ledger", str(tmp_path / "t.ledger"), *facts]) == 2
        assert list(tmp_path.iterdir()) == []


OLD_SCHEMA = """
    CREATE TABLE budget (id INTEGER PRIMARY KEY CHECK (id = 1), epsilon TEXT NOT NULL, delta TEXT NOT NULL);
    CREATE TABLE settlement (
        id INTEGER PRIMARY KEY, settled TEXT NOT NULL, query TEXT NOT NULL, question TEXT NOT NULL,
        question_hash TEXT NOT NULL, fingerprint TEXT NOT NULL, UNIQUE (fingerprint, question_hash)
    );
    CREATE TABLE release (
        id INTEGER PRIMARY KEY, settlement INTEGER NOT NULL REFERENCES settlement, audience TEXT,
        epsilon TEXT NOT NULL, delta TEXT NOT NULL, details TEXT NOT NULL, answers BLOB NOT NULL
    );
    CREATE INDEX release_settlement ON release (settlement);
    CREATE INDEX release_cost ON release (epsilon, delta);
    PRAGMA application_id = 1232234867;
    PRAGMA user_version = 1;
    PRAGMA journal_mode = WAL;
"""


def old_ledger(path, *questions):
    """Write a ledger as version 0.1 did."""
    connection = sqlite3.connect(path)
    connection.executescript(OLD_SCHEMA)
    for number, question in enumerate(questions):
        connection.execute(
            "INSERT INTO settlement VALUES (?, '2026-11-20T00:00:00+00:00', 'count', ?, ?, 'data')",
            (number, json.dumps(question), str(number)),
        )
        connection.execute("INSERT INTO release VALUES (NULL, ?, NULL, '1', '0', '{}', x'')", (number,))
    connection.commit()
    connection.close()
    return Ledger(path)


PLAIN = {"relation": "add-remove", "unit": None, "by": []}
PUBLIC = {"relation": "exchange", "unit": None, "by": ["g"], "public_membership": True}
SWAPS = {"relation": "exchange", "unit": None, "by": ["h"]}


class TestVersion01:
    def test_counts_in_epsilon_and_delta_for_good(self, folder):
        ledger = old_ledger(folder / "t.ledger", PLAIN)
        before = ledger.path.read_bytes()
        assert (ledger.currency.name, ledger.spent) == ("epsilon and delta", Cost(1))
        with pytest.raises(ScopeRefused, match="counts in epsilon and delta"):
            ledger.set_limit(mu=1)
        assert ledger.path.read_bytes() == before

    def test_without_limit_or_release_may_still_count_in_another(self, folder):
        ledger = old_ledger(folder / "t.ledger")
        ledger.set_limit(mu=1)
        assert ledger.currency.name == "mu"

    def test_its_questions_say_what_it_promises(self, folder):
        ledger = old_ledger(folder / "t.ledger", PUBLIC, SWAPS)
        before = ledger.path.read_bytes()
        document = ledger.to_document()
        assert (document["relation"], document["public_columns"], document["table"]) == ("exchange", ["g"], None)
        assert [release["outputs"] for release in document["releases"]] == [[], []]
        assert ledger.path.read_bytes() == before, "looking changes nothing"
        with pytest.raises(ScopeRefused):
            irisdp.publish(folder / "t.csv", "count", epsilon=1)
        with pytest.raises(ScopeRefused):
            irisdp.publish(folder / "t.csv", "count", epsilon=1, **RELATIONS["keeps h"])
        irisdp.publish(folder / "t.csv", "count", epsilon=1, **RELATIONS["keeps g"])
        document = ledger.to_document()
        assert (document["table"], document["public_columns"]) == ("t.csv", ["g"])
        assert ledger.spent == Cost(3)

    @pytest.mark.parametrize("questions", [(), (PLAIN, PLAIN)])
    def test_a_limit_alone_and_equal_questions_go_on(self, folder, questions):
        ledger = old_ledger(folder / "t.ledger", *questions)
        ledger.set_limit(5)
        irisdp.publish(folder / "t.csv", "count", epsilon=1, out=folder / "o.csv")
        assert ledger.to_document()["relation"] == "add-remove"
        assert ledger.limit == Cost(5)

    @pytest.mark.parametrize("other", [SWAPS, PUBLIC, PLAIN | {"unit": "u"}])
    def test_a_mixed_one_is_shown_and_adds_nothing_more(self, folder, other, capsys):
        ledger = old_ledger(folder / "t.ledger", PLAIN, other)
        for relation in RELATIONS:
            with pytest.raises(ScopeRefused, match="guarantees nothing"):
                ask(folder, ("t.csv", relation, None), ledger.path)
        assert ledger.spent == Cost(2)
        assert "guarantees nothing" in ledger.to_document()["note"]
        assert run(["ledger", str(ledger.path)]) == 0
        assert capsys.readouterr().out.count("guarantees nothing") == 1

    def test_a_failure_at_any_statement_leaves_the_old_or_the_new(self, folder, monkeypatch):
        """Format, pin and charge come together or not at all."""
        old = old_ledger(folder / "t.ledger", PLAIN)
        before = rows_of(old)
        promise = LedgerScope(table="t.csv", columns={"g": "untyped"}, relation="add-remove", unit=None)
        left = 0

        class Failing(sqlite3.Connection):
            def execute(self, statement, *parameters):
                nonlocal left
                left -= self.in_transaction
                if left < 0:
                    raise sqlite3.OperationalError("the disk is gone")
                return super().execute(statement, *parameters)

        def settle():
            old.settle(
                query="q", question="{}", fingerprint="new", promise=promise, cost=Cost(1),
                draw=lambda earlier, price: [LedgerEntry(cost=Cost(1), answers=b"a")], outputs={None: "o.csv"},
            )  # fmt: skip

        real, failures = sqlite3.connect, 0
        while failures < 100:
            left = failures
            with monkeypatch.context() as patched:
                patched.setattr(sqlite3, "connect", lambda *a, **o: real(*a, **o, factory=Failing))
                try:
                    settle()
                    break
                except BadInput:
                    failures += 1
            assert rows_of(old) == before
        assert 10 < failures < 100
        assert old.spent == Cost(2)
        assert old.to_document().items() >= promise.facts().items()


def rows_of(ledger):
    connection = sqlite3.connect(ledger.path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    version = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return version, found


# What was shown is in the ledger's own file, and not in its log alone, also where somebody else has it open.

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
