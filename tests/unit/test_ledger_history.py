"""The history of a ledger: what was tampered with is shown, whatever it was, in a file and on a server."""

import contextlib
import csv
import hashlib
import json
import sqlite3
from fractions import Fraction

import pytest

from irisdp import BadInput, BudgetRefused, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
from irisdp._ledger.history import digests, record
from irisdp.accounting import ConcentratedCost
from support.commands import irisdp

PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
TENTH = Cost(Fraction(1, 10))


def ask(book, question, **options):
    return book.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE,
        cost=TENTH * 2,
        draw=lambda earlier, price: [
            LedgerEntry(audience="press", cost=TENTH, answers=f"press {question}".encode()),
            LedgerEntry(
                audience="board", cost=TENTH, answers=f"board {question}".encode(), details='{"table": "t.csv"}'
            ),
        ],
        **options,
    )


@pytest.fixture
def book(ledger):
    """A ledger with a limit, a promise, six releases and some files."""
    ledger.set_limit(1)
    for number in range(3):
        ask(ledger, number, outputs={"press": [f"/out/{number}.csv", "/out/all.csv"]})
    ledger.set_limit("3/2")
    return ledger


def tamper(book, *statements):
    """Do as whoever can write the ledger with another program can."""
    if book.path is None:
        import psycopg

        with psycopg.connect(book.store.address.told) as connection:
            connection.execute(f'SET search_path = "{book.store.address.schema}"')
            connection.execute("SET session_replication_role = replica")  # no references are looked after
            for statement in statements:
                connection.execute(statement)
        return
    connection = sqlite3.connect(book.path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


CHANGES = {
    "a cost": "UPDATE release SET epsilon = '1/100' WHERE id = 3",
    "a cost spelt otherwise": "UPDATE release SET epsilon = '1/10' WHERE id = 3",
    "costs exchanged for others of the same sum": "UPDATE release SET epsilon = CASE id WHEN 1 THEN '0.2' ELSE '0' END"
    " WHERE id IN (1, 2)",
    "a delta": "UPDATE release SET delta = '0.001' WHERE id = 1",
    "an audience": "UPDATE release SET audience = 'board' WHERE id = 1",
    "details": "UPDATE release SET details = '{}' WHERE id = 2",
    "answers": "UPDATE release SET answers = (SELECT answers FROM release WHERE id = 2) WHERE id = 1",
    "which question a release is of": "UPDATE release SET settlement = 1 WHERE id = 3",
    "a question": "UPDATE settlement SET question = '7' WHERE id = 2",
    "a question's hash": "UPDATE settlement SET question_hash = 'x' WHERE id = 2",
    "a question's line": "UPDATE settlement SET query = 'nothing' WHERE id = 2",
    "a date": "UPDATE settlement SET settled = '2020-01-01T00:00:00+00:00' WHERE id = 2",
    "a fingerprint": "UPDATE settlement SET fingerprint = 'other' WHERE id = 2",
    "the limit": "UPDATE budget SET epsilon = '9'",
    "the limit taken away": "DELETE FROM budget",
    "the promise": """UPDATE promise SET facts = '{"relation": "exchange"}'""",
    "the promise taken away": "DELETE FROM promise",
    "a release removed": "DELETE FROM release WHERE id = 6",
    "the first release removed": "DELETE FROM release WHERE id = 1",
    "a file removed": "DELETE FROM output WHERE release = 1",
    "a file's name": "UPDATE output SET path = path || '.other' WHERE release = 1",
    "a file added": "INSERT INTO output (release, path) VALUES (2, '/more')",
    "a release added": "INSERT INTO release (id, settlement, audience, epsilon, delta, details, answers)"
    " SELECT 7, settlement, audience, '0', '0', details, answers FROM release WHERE id = 1",
    "a line's text": 'UPDATE history SET event = \'{"event": "limit", "limit": null}\' WHERE id = 1',
    "a line's hash": "UPDATE history SET hash = 'x' WHERE id = 4",
    "the last line's hash": "UPDATE history SET hash = 'x' WHERE id = (SELECT max(id) FROM history)",
    "a line removed": "DELETE FROM history WHERE id = 4",
    "the first line removed": "DELETE FROM history WHERE id = 1",
    "the last line removed": "DELETE FROM history WHERE id = (SELECT max(id) FROM history)",
    "all lines removed": "DELETE FROM history",
    "a line added": "INSERT INTO history (id, event, hash) SELECT max(id) + 1, '{}', 'x' FROM history",
}


class TestHistory:
    def test_of_a_ledger_that_nobody_touched_holds(self, book):
        first = book.verify()
        assert (first.problems, len(first.head)) == ((), 64)
        # A limit, a promise, three releases with their files, a limit.
        assert first.lines == 1 + 1 + 3 * 2 + 1
        ask(book, 3)
        second = book.verify(first.head)
        assert (second.problems, second.lines) == ((), first.lines + 1)
        assert second.head != first.head

    def test_grows_by_nothing_where_nothing_is_done(self, book):
        before = book.verify()
        ask(book, 1)
        book.set_limit("3/2")
        with pytest.raises(BudgetRefused):
            book.settle(query="q", question="{}", fingerprint="d", promise=PROMISE, cost=Cost(9), draw=lambda *_: [])
        assert book.verify() == before

    @pytest.mark.parametrize("change", CHANGES)
    def test_shows_what_was_changed(self, book, change):
        tamper(book, CHANGES[change])
        found = book.verify()
        assert found.problems
        assert all("\n" not in problem for problem in found.problems)

    def test_shows_lines_that_changed_places(self, book):
        tamper(
            book,
            "UPDATE history SET id = 100 WHERE id = 4",
            "UPDATE history SET id = 4 WHERE id = 6",
            "UPDATE history SET id = 6 WHERE id = 100",
        )
        assert "line 4 of the history was changed, or does not follow" in book.verify().problems[0]

    def test_that_was_cut_off_with_its_rows_is_shown_by_the_head_that_was_kept(self, book):
        before, kept = book.verify(), Ledger(book.place)
        ask(book, "the last")
        head = book.verify().head
        tamper(book, f"DELETE FROM history WHERE id > {before.lines}", "DELETE FROM release WHERE id > 6",
               "DELETE FROM settlement WHERE id > 3")  # fmt: skip
        assert kept.verify() == before, "control: nothing in the ledger says that there was more"
        assert "the head that was kept is in no line" in kept.verify(head).problems[0]

    def test_of_a_ledger_that_is_not_there_is_empty(self, ledger):
        assert (ledger.verify().lines, ledger.verify().problems) == (0, ())
        assert ledger.verify("x").problems

    def test_damaged_beyond_reading_is_named(self, book):
        tamper(
            book,
            "UPDATE history SET event = '[]' WHERE id = 2",
            'UPDATE history SET event = \'{"event": "release"}\' WHERE id = 3',
        )
        assert sum("says nothing that is known" in problem for problem in book.verify().problems) == 2

    def test_is_told_by_the_command_line(self, book, capsys):
        place = str(book.place)
        assert run(["ledger", place, "--verify"]) == 0
        found = book.verify()
        assert f"history  {found.lines} lines, each of which holds" in (shown := capsys.readouterr().out)
        assert f"head     {found.head}" in shown
        assert run(["ledger", place, "--verify", "--head", found.head, "--json"]) == 0
        assert found.to_document().items() <= json.loads(capsys.readouterr().out).items()
        assert run(["ledger", place, "--head", found.head]) == 2
        tamper(book, CHANGES["a cost"])
        assert run(["ledger", place, "--verify", "--json"]) == 1
        said = capsys.readouterr()
        assert "was tampered with: release #3 was changed" in said.err
        assert json.loads(said.out)["problems"] == ["release #3 was changed"]


def test_releases_are_printed_as_csv_with_exact_numbers(ledger, capsys):
    ledger.set_limit(3, "1/2")
    ask(ledger, 1, outputs={"press": ["/out/a, b.csv", "/out/c.csv"]})
    ledger.settle(query="=1+1", question="{}", fingerprint="d", promise=PROMISE, cost=Cost("1/3", "1/7"),
                  draw=lambda *_: [LedgerEntry(cost=Cost("1/3", "1/7"), answers=b"")])  # fmt: skip
    assert run(["ledger", str(ledger.place), "--csv"]) == 0
    lines = list(csv.reader(capsys.readouterr().out.splitlines()))
    date = ledger.releases()[0].settled
    assert lines == [
        ["id", "date", "table", "query", "groups", "audience", "epsilon", "delta", "refines", "coarsens", "outputs"],
        ["1", date, "", "count", "", "press", "0.1", "0", "", "", "/out/a, b.csv /out/c.csv"],
        ["2", date, "t.csv", "count", "", "board", "0.1", "0", "", "", ""],
        ["3", ledger.releases()[2].settled, "", "'=1+1", "", "", "1/3", "1/7", "", "", ""],
    ]
    for wrong in ("--json", "--verify"):
        assert run(["ledger", str(ledger.place), "--csv", wrong]) == 2


class TestEarlierFormats:
    """Formats 2 and 3 held no history; what they hold is taken as it is, once, and not to be changed afterwards."""

    def old(self, tmp_path, version, **limit):
        book = Ledger(tmp_path / "old.ledger")
        book.set_limit(**limit)
        for number in range(2 if version == 2 else 0):
            ask(book, number, outputs={"press": ["/out/x.csv"]})
        tamper(book, "DROP TABLE history", f"PRAGMA user_version = {version}")
        return book

    @pytest.mark.parametrize(("version", "limit"), [(2, {"epsilon": 1}), (3, {"mu": 3})])
    def test_are_read_as_they_are_and_begin_a_history_when_written(self, tmp_path, version, limit):
        book = self.old(tmp_path, version, **limit)
        before = book.path.read_bytes()
        assert (book.verify().lines, book.to_document()["limit"] is None) == (0, False)
        assert book.path.read_bytes() == before
        book.set_limit(**{name: number + 1 for name, number in limit.items()})
        assert (book.verify().lines, book.verify().problems) == (2, ())

    @pytest.mark.parametrize(
        "change", ["a cost", "a question", "the first release removed", "a file's name", "the limit", "the promise"]
    )
    def test_are_watched_from_then_on(self, tmp_path, change):
        book = self.old(tmp_path, 2, epsilon=1)
        ask(book, "new")
        assert (book.verify().lines, book.verify().problems, book.spent) == (2, (), TENTH * 6)
        tamper(book, CHANGES[change])
        assert book.verify().problems


def test_a_head_that_is_none_is_a_slip_and_no_accusation(tmp_path):
    Ledger(tmp_path / "a.ledger").set_limit(1)
    for head in ("abc", "0" * 63, "A" * 64):
        ended = irisdp(["ledger", str(tmp_path / "a.ledger"), "--verify", "--head", head])
        assert ended.status == 2
        assert ended.line.startswith("--head: must be the 64 letters and digits"), ended.line
    other = irisdp(["ledger", str(tmp_path / "a.ledger"), "--verify", "--head", "0" * 64])
    assert (other.status, "tampered" in other.err) == (1, True)


@pytest.mark.parametrize("limit", ["1,2", "1,1"])
def test_a_limit_that_promises_nothing_is_refused(tmp_path, limit):
    ended = irisdp(["ledger", str(tmp_path / "a.ledger"), "--limit", limit])
    assert (ended.status, ended.line[:9]) == (2, "--limit: "), ended
    assert not list(tmp_path.iterdir())


# A ledger that was changed by somebody who knows how lines are chained: every hash fits, and the check shows it.

PROMISE_FORGED = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit="who")
HALF = Cost(Fraction(1, 2))


def ask_forged(book, question, cost=HALF):
    return book.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE_FORGED,
        cost=cost,
        draw=lambda earlier, price: [LedgerEntry(cost=cost, answers=b"x")],
    )


@pytest.fixture
def book_forged(ledger):
    ledger.set_limit(1)
    ask_forged(ledger, 1)
    ask_forged(ledger, 2)
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
def test_is_shown_whoever_kept_the_head(book_forged, forgery):
    work, said = FORGERIES[forgery]
    assert said in forged(book_forged, work)


@pytest.mark.parametrize("with_a_line", [True, False])
def test_columns_that_get_another_name_are_shown(ledger, with_a_line):
    """μ² is twice ρ, so charges under the other name count half."""
    ledger.set_limit(rho=2)
    ask_forged(ledger, 1, ConcentratedCost("1/2"))

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
def test_a_line_that_says_nothing_is_named_and_no_fault_of_ours(book_forged, line, capsys):
    def work(rows):
        record(rows, "promise", {})
        rows.change("DELETE FROM history WHERE id = (SELECT max(id) FROM history)")
        last = rows.find("SELECT hash FROM history ORDER BY id DESC LIMIT 1")[0][0]
        text = json.dumps(line)
        rows.insert("history", {"event": text, "hash": hashlib.sha256(f"{last}\n{text}".encode()).hexdigest()})

    assert "says nothing that is known" in forged(book_forged, work)
    capsys.readouterr()
    assert run(["ledger", str(book_forged.place), "--verify"]) == 1
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("cell", ["x'00ff'", "5", "5.5"])
@pytest.mark.parametrize(
    "place", ["settlement.question", "settlement.settled", "history.event", "history.hash", "release.details"]
)
def test_a_cell_of_another_type_is_shown(tmp_path, place, cell):
    book = Ledger(tmp_path / "a.ledger")
    book.set_limit(1)
    ask_forged(book, 1)
    table, column = place.split(".")
    with sqlite3.connect(book.path) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {cell} WHERE id = 1")
    connection.close()
    assert book.verify().problems


def test_an_index_that_leaves_charges_out_is_shown(tmp_path):
    """What is spent is read by an index; one that was made anew, under the old one's text, left all charges out."""
    book = Ledger(tmp_path / "a.ledger")
    book.set_limit(1)
    ask_forged(book, 1)
    ask_forged(book, 2)
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
    for use in (
        lambda: ask_forged(book, 1),
        lambda: book.verify(head),
        lambda: book.spent,
        lambda: book.copy_to(tmp_path),
    ):
        with pytest.raises(BadInput, match="another schema than Iris writes"):
            use()


def test_a_file_whose_text_of_its_schema_has_other_blanks_opens(tmp_path):
    book = Ledger(tmp_path / "b.ledger")
    book.set_limit(1)
    spread = RELEASE.replace(", ", ",\n\t ")
    with contextlib.closing(sqlite3.connect(book.path)) as connection:
        connection.executescript(f"DROP TABLE release; {spread}\n); {INDEXES}")
        connection.execute("CREATE TEMP TRIGGER t BEFORE INSERT ON release BEGIN SELECT RAISE(IGNORE); END")
    ask_forged(book, 1)
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
        ask_forged(ledger, 1)
    monkeypatch.undo()
    assert (ledger.spent, ledger.verify().problems) == (Cost(0), ())


@pytest.mark.parametrize("lost", ["an earlier charge", "the limit"])
def test_a_charge_that_changes_others_or_the_limit_is_refused(ledger, lost, monkeypatch):
    ledger.set_limit(2)
    ask_forged(ledger, 1)
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
        ask_forged(ledger, 2)
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
    ask_forged(book, 1)
    head = book.verify().head
    kinds_changed(book.path, "UPDATE release SET answers = sha256(answers)")
    assert "release #1 holds something of another kind than its column" in book.verify(head).problems
    with pytest.raises(BadInput, match="of another kind"):
        book.copy_to(tmp_path / "c.ledger")
    assert not book.closed


@pytest.mark.parametrize("statement", [
    "UPDATE release SET answers = sha256(answers)",
    "UPDATE release SET details = '[1]'",
    "UPDATE release SET details = x'00'",
    "UPDATE release SET audience = x'07'",
    "UPDATE settlement SET settled = x'00'",
    "UPDATE output SET path = x'00'",
    "DELETE FROM release",
])  # fmt: skip
def test_cells_of_other_kinds_are_damage_and_no_internal_error(tmp_path, statement, capsys):
    book = Ledger(tmp_path / "b.ledger")
    book.settle(
        query="count",
        question='"1"',
        fingerprint="data",
        promise=PROMISE_FORGED,
        cost=HALF,
        draw=lambda earlier, price: [LedgerEntry(cost=HALF, answers=b"x")],
        outputs={None: ["/o.csv"]},
    )
    kinds_changed(book.path, statement)
    assert book.verify().problems
    found = 0
    for use in (book.to_document, lambda: [one.answers for one in book.releases()], lambda: ask_forged(book, "1")):
        try:
            use()
        except BadInput as error:
            assert "is damaged or not a ledger" in str(error)
            found += 1
    assert found
    for more in ([], ["--csv"], ["--json"]):
        assert run(["ledger", str(book.path), *more]) in (0, 2)
        assert "internal error" not in capsys.readouterr().err
