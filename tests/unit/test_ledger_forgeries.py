"""A ledger that was changed by somebody who knows how lines are chained: every hash fits, and the check shows it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from fractions import Fraction

import pytest

from irisdp import BadInput, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
from irisdp._ledger.history import digests, record
from irisdp.accounting import ConcentratedCost

PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit="who")
HALF = Cost(Fraction(1, 2))


def ask(book, question, cost=HALF):
    return book.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE,
        cost=cost,
        draw=lambda earlier, price: [LedgerEntry(cost=cost, answers=b"x")],
    )


@pytest.fixture
def book(ledger):
    ledger.set_limit(1)
    ask(ledger, 1)
    ask(ledger, 2)
    return ledger


def forged(book, work):
    """Change rows and add well-chained lines; return what a check says that knows the head from before."""
    head = book.verify().head
    assert not book.verify(head).problems, "control"
    book.store.write(work)
    return " / ".join(book.verify(head).problems)


def told_anew(rows):
    rows.change("UPDATE release SET epsilon = '0' WHERE id = 1")
    record(rows, "release", digests(rows, 1, [1]))


def asked_anew(rows):
    rows.change("UPDATE settlement SET fingerprint = 'other' WHERE id = 1")
    record(rows, "release", {**digests(rows, 1, [1]), "releases": []})


def adopted(rows):
    facts = {"table": "t.csv", "columns": {"a": "untyped"}, "relation": "add-remove", "unit": None}
    rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),))
    none = [0, "x"]
    told = {"limit": {"epsilon": "1", "delta": "0"}, "facts": facts}
    record(rows, "adopted", {**told, "releases": none, "settlements": none, "outputs": none})


def counted_in_others(rows):
    record(rows, "limit", {"limit": {"rho": "1"}})


def added_after(event, **told):
    def work(rows):
        record(rows, event, told)
        record(rows, "outputs", {"outputs": []})

    return work


def arrived_from_nowhere(rows):
    record(rows, "arrived", {"from": "x"})


FORGERIES = {
    "a release is told anew": (told_anew, "tells of release #1 anew"),
    "a question is told anew": (asked_anew, "tells of question 1 anew"),
    "rows are taken for what they are": (adopted, "as only the first can"),
    "another currency": (counted_in_others, "counts in rho, and the tables do not"),
    "a line after the ledger was moved": (added_after("moved", to="x", token="y"), "after the ledger had been moved"),
    "a line where one is awaited": (added_after("awaits", **{"from": "x"}), "added where a ledger is awaited"),
    "a ledger that arrives from nowhere": (arrived_from_nowhere, "opens a ledger that was not moved"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_is_shown_whoever_kept_the_head(book, forgery):
    work, said = FORGERIES[forgery]
    assert said in forged(book, work)


@pytest.mark.parametrize("with_a_line", [True, False])
def test_columns_that_get_another_name_are_shown(ledger, with_a_line):
    """μ² is twice ρ, so charges under the other name count half."""
    ledger.set_limit(rho=2)
    ask(ledger, 1, ConcentratedCost("1/2"))

    def renamed(rows):
        for table in ("budget", "release"):
            rows.change(f"ALTER TABLE {table} RENAME COLUMN rho TO mu_squared")
        if with_a_line:
            record(rows, "limit", {"limit": {"mu_squared": "2"}})

    assert "counts in rho, and the tables do not" in forged(ledger, renamed)


LINES = [
    {"event": "limit", "limit": [1]},
    {"event": "limit", "limit": {"epsilon": 5, "delta": "0"}},
    {"event": "limit", "limit": {"epsilon": "\x1b[2J", "delta": "0"}},
    {"event": "limit", "limit": {}},
    {"event": "promise", "facts": [1]},
    {"event": "promise", "facts": None},
    {"event": "release", "settlement": ["a", "b"], "releases": [["q", "z"]]},
    {"event": "release", "settlement": [True, "b"], "releases": []},
    {"event": "release", "settlement": [9, "b"], "releases": 7},
    {"event": "release", "settlement": [9, "b"], "releases": [], "counts": 3},
    {"event": "release", "settlement": [9, "b"], "releases": [], "counts": [3]},
    {"event": "outputs", "outputs": [[1]]},
    {"event": "adopted", "limit": 3, "facts": 3, "settlements": [1, "x"], "releases": [1, "x"], "outputs": [1, "x"]},
    {"event": "adopted", "limit": None, "facts": None, "settlements": [-1, "x"], "releases": [], "outputs": []},
    {"event": "moved", "to": ["x"]},
    {"event": ["moved"]},
    {"event": "elsewhere"},
    {"no": "event"},
    [],
    3,
]


@pytest.mark.parametrize("line", LINES, ids=json.dumps)
def test_a_line_that_says_nothing_is_named_and_no_fault_of_ours(book, line, capsys):
    def work(rows):
        record(rows, "promise", {})
        rows.change("DELETE FROM history WHERE id = (SELECT max(id) FROM history)")
        last = rows.find("SELECT hash FROM history ORDER BY id DESC LIMIT 1")[0][0]
        text = json.dumps(line)
        rows.insert("history", {"event": text, "hash": hashlib.sha256(f"{last}\n{text}".encode()).hexdigest()})

    assert "says nothing that is known" in forged(book, work)
    capsys.readouterr()
    assert run(["ledger", str(book.place), "--verify"]) == 1
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("cell", ["x'00ff'", "5", "5.5"])
@pytest.mark.parametrize(
    "place", ["settlement.question", "settlement.settled", "history.event", "history.hash", "release.details"]
)
def test_a_cell_of_another_type_is_shown(tmp_path, place, cell):
    book = Ledger(tmp_path / "a.ledger")
    book.set_limit(1)
    ask(book, 1)
    table, column = place.split(".")
    with sqlite3.connect(book.path) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {cell} WHERE id = 1")
    connection.close()
    assert book.verify().problems


def test_an_index_that_leaves_charges_out_is_shown(tmp_path):
    """What is spent is read by an index; one that was made anew, under the old one's text, left all charges out."""
    book = Ledger(tmp_path / "a.ledger")
    book.set_limit(1)
    ask(book, 1)
    ask(book, 2)
    head = book.verify().head
    connection = sqlite3.connect(book.path, isolation_level=None)
    ((text,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'release_cost'")
    connection.execute("DROP INDEX release_cost")
    connection.execute(f"{text} WHERE id > 1000")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'release_cost'", (text,))
    connection.close()
    assert Ledger(book.path).spent == Cost(0), "control: the charges are out of sight"
    assert "an index, say, holds other rows than its table" in Ledger(book.path).verify(head).problems[0]


RELEASE = (
    "CREATE TABLE release (id INTEGER PRIMARY KEY, settlement INTEGER NOT NULL REFERENCES settlement,"
    " audience TEXT, epsilon TEXT NOT NULL, delta TEXT NOT NULL, details TEXT NOT NULL, answers BLOB NOT NULL"
)
INDEXES = (
    "CREATE INDEX release_settlement ON release (settlement); CREATE INDEX release_cost ON release (epsilon, delta)"
)
REBUILT = {
    "charges replace equal ones": f"{RELEASE}, UNIQUE (epsilon, delta) ON CONFLICT REPLACE)",
    "equal charges are left out": f"{RELEASE}); CREATE UNIQUE INDEX one ON release (abs(epsilon))",
    "a trigger leaves charges out": f"{RELEASE});"
    " CREATE TRIGGER t BEFORE INSERT ON release BEGIN SELECT RAISE(IGNORE); END",
    "a trigger empties charges": f"{RELEASE});"
    " CREATE TRIGGER t AFTER INSERT ON release BEGIN UPDATE release SET epsilon = '0'; END",
    "a charge that is computed": RELEASE.replace("delta TEXT", "delta TEXT AS ('0')") + ")",
    "a view of no charges": RELEASE.replace("TABLE release", "TABLE kept")
    + "); CREATE VIEW release AS SELECT * FROM kept WHERE 0",
    "names that are equal in any case": RELEASE.replace("audience TEXT", "audience TEXT COLLATE NOCASE") + ")",
    "a default": RELEASE.replace("audience TEXT", "audience TEXT DEFAULT 'press'") + ")",
    "a condition": f"{RELEASE}, CHECK (id > 0))",
    "a strict table": f"{RELEASE}) STRICT",
    "no row ids": f"{RELEASE}) WITHOUT ROWID",
    "numbers instead of text": RELEASE.replace("epsilon TEXT", "epsilon REAL") + ")",
    "a blank that is none": RELEASE.replace("epsilon TEXT", "epsilon\u00a0TEXT") + ", epsilon TEXT)",
    "a table more": f"{RELEASE}); CREATE TABLE more (x)",
}


@pytest.mark.parametrize("rebuilt", REBUILT)
def test_a_file_with_another_schema_is_refused(tmp_path, rebuilt):
    book = Ledger(tmp_path / "b.ledger")
    book.set_limit(1)
    head = book.verify().head
    with contextlib.closing(sqlite3.connect(book.path)) as connection:
        connection.executescript(f"DROP TABLE release; {REBUILT[rebuilt]}")
        with contextlib.suppress(sqlite3.Error):
            connection.executescript(INDEXES)
    for use in (lambda: ask(book, 1), lambda: book.verify(head), lambda: book.spent, lambda: book.copy_to(tmp_path)):
        with pytest.raises(BadInput, match="another schema than Iris writes"):
            use()


def test_a_file_whose_text_of_its_schema_has_other_blanks_opens(tmp_path):
    book = Ledger(tmp_path / "b.ledger")
    book.set_limit(1)
    spread = RELEASE.replace(", ", ",\n\t ")
    with contextlib.closing(sqlite3.connect(book.path)) as connection:
        connection.executescript(f"DROP TABLE release; {spread}\n); {INDEXES}")
        connection.execute("CREATE TEMP TRIGGER t BEFORE INSERT ON release BEGIN SELECT RAISE(IGNORE); END")
    ask(book, 1)
    assert book.spent == HALF


SWALLOWS = {
    "a charge": ("release", lambda row: {**row, "epsilon": "0"}),
    "an answer": ("release", lambda row: {**row, "answers": b""}),
    "a question": ("settlement", lambda row: {**row, "question": "2"}),
    "a line of the history": ("history", lambda row: {**row, "event": "{}"}),
}


@pytest.mark.parametrize("swallowed", SWALLOWS)
def test_a_place_that_keeps_another_row_than_it_was_given_is_refused(ledger, swallowed, monkeypatch):
    """Whatever changed it; a limit and a promise are read back likewise."""
    table, changed = SWALLOWS[swallowed]
    ledger.set_limit(1)
    with ledger.store.reading() as rows:
        kind = type(rows)
    honest = kind.insert
    monkeypatch.setattr(
        kind, "insert", lambda rows, name, row: honest(rows, name, changed(row) if name == table else row)
    )
    with pytest.raises(BadInput, match="is damaged or not a ledger"):
        ask(ledger, 1)
    monkeypatch.undo()
    assert (ledger.spent, ledger.verify().problems) == (Cost(0), ())


@pytest.mark.parametrize("lost", ["an earlier charge", "the limit"])
def test_a_charge_that_changes_others_or_the_limit_is_refused(ledger, lost, monkeypatch):
    ledger.set_limit(2)
    ask(ledger, 1)
    with ledger.store.reading() as rows:
        kind = type(rows)
    honest = kind.insert
    statement = {"an earlier charge": "UPDATE release SET epsilon = '0' WHERE id = 1",
                 "the limit": "UPDATE budget SET epsilon = '9'"}[lost]  # fmt: skip

    def insert(rows, table, row):
        if table == "release":
            rows.change(statement)
        return honest(rows, table, row)

    monkeypatch.setattr(kind, "insert", insert)
    with pytest.raises(BadInput, match="is damaged or not a ledger"):
        ask(ledger, 2)
    monkeypatch.undo()
    assert (ledger.spent, ledger.limit, ledger.verify().problems) == (HALF, Cost(2), ())


def kinds_changed(path, *statements):
    connection = sqlite3.connect(path)
    connection.create_function("sha256", 1, lambda cell: hashlib.sha256(cell).hexdigest())
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_answers_that_became_the_text_of_their_hash_are_shown_and_not_moved(tmp_path):
    """The digest of a row is the same then."""
    book = Ledger(tmp_path / "b.ledger")
    ask(book, 1)
    head = book.verify().head
    kinds_changed(book.path, "UPDATE release SET answers = sha256(answers)")
    assert "release #1 holds something of another kind than its column" in book.verify(head).problems
    with pytest.raises(BadInput, match="of another kind"):
        book.copy_to(tmp_path / "c.ledger")
    assert not book.closed


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE release SET answers = sha256(answers)",
        "UPDATE release SET details = '[1]'",
        "UPDATE release SET details = x'00'",
        "UPDATE release SET audience = x'07'",
        "UPDATE settlement SET settled = x'00'",
        "UPDATE output SET path = x'00'",
        "DELETE FROM release",
    ],
)
def test_cells_of_other_kinds_are_damage_and_no_internal_error(tmp_path, statement, capsys):
    book = Ledger(tmp_path / "b.ledger")
    book.settle(
        query="count",
        question='"1"',
        fingerprint="data",
        promise=PROMISE,
        cost=HALF,
        draw=lambda earlier, price: [LedgerEntry(cost=HALF, answers=b"x")],
        outputs={None: ["/o.csv"]},
    )
    kinds_changed(book.path, statement)
    assert book.verify().problems
    found = 0
    for use in (book.to_document, lambda: [one.answers for one in book.releases()], lambda: ask(book, "1")):
        try:
            use()
        except BadInput as error:
            assert "is damaged or not a ledger" in str(error)
            found += 1
    assert found
    for more in ([], ["--csv"], ["--json"]):
        assert run(["ledger", str(book.path), *more]) in (0, 2)
        assert "internal error" not in capsys.readouterr().err
