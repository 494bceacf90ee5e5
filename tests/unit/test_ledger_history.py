"""The history of a ledger: what was tampered with is shown, whatever it was, in a file and on a server."""

from __future__ import annotations

import csv
import json
import sqlite3
from fractions import Fraction

import pytest

from irisdp import BudgetRefused, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
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
        assert json.loads(capsys.readouterr().out) == found.to_document()
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
        "change",
        ["a cost", "a question", "the first release removed", "a file's name", "the limit", "the promise"],
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
