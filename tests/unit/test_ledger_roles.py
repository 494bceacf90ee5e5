"""Roles of a ledger on a server: the server itself holds them to what they may."""

import json
import secrets
from fractions import Fraction

import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
from irisdp._ledger.history import record
from irisdp._ledger.roles import grant

PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
TENTH = Cost(Fraction(1, 10))
WRITES = [
    "UPDATE budget SET epsilon = '99'",
    "DELETE FROM budget",
    "INSERT INTO budget (id, epsilon, delta) VALUES (1, '9', '0') ON CONFLICT (id) DO UPDATE SET epsilon = '9'",
    "UPDATE release SET epsilon = '0'",
    "DELETE FROM release",
    "UPDATE settlement SET fingerprint = 'x'",
    "DELETE FROM settlement",
    "UPDATE history SET hash = 'x'",
    "DELETE FROM history",
    "TRUNCATE history",
    "DELETE FROM output",
    "DROP TABLE release CASCADE",
    "ALTER TABLE budget ADD COLUMN x TEXT",
    "UPDATE ledger_format SET version = 9",
    "CREATE TABLE more (x TEXT)",
    "UPDATE promise SET facts = '{}'",
    "UPDATE promise SET facts = replace(facts, 'add-remove', 'exchange')",
    *(
        f"INSERT INTO history (id, event, hash) VALUES (1000, '{event}', 'x')"
        for event in (
            '{"event": "moved", "to": "elsewhere"}',
            '{"event": "release", "event": "awaits"}',
            '{"event": "limit", "limit": {"epsilon": "9", "delta": "0"}}',
            "{}",
            '["moved"]',
        )
    ),
    "ALTER TABLE history DISABLE TRIGGER ALL",
    "DROP FUNCTION keep_history() CASCADE",
]


def ask(book, question):
    return book.settle(
        query="count",
        question=f'"{question}"',
        fingerprint="data",
        promise=PROMISE,
        cost=TENTH,
        draw=lambda earlier, price: [LedgerEntry(cost=TENTH, answers=b"x")],
        outputs={None: ["/o.csv"]},
    )


@pytest.fixture
def team(server):
    """The owner's ledger with a limit, and what a publisher, a reader and a stranger see of it."""
    own = Ledger(server.address())
    own.set_limit("1/5")
    books = {}
    for may in ("publish", "read", "nothing"):
        role = f"r_{secrets.token_hex(4)}"
        server.execute(f"CREATE ROLE {role} LOGIN")
        if may != "nothing":
            assert run(["ledger", own.place, "--grant", f"{may}={role}"]) == 0
        books[may] = Ledger(own.place.replace("iris@", f"{role}@"))
    return own, books


def try_sql(book, statement):
    import psycopg

    with psycopg.connect(book.store.address.told, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{book.store.address.schema}"')
        connection.execute(statement)


def test_who_publishes_charges_within_the_limit_and_raises_it_never(team):
    own, books = team
    ask(books["publish"], 1)
    ask(books["publish"], 2)
    assert ask(books["publish"], 1).repeated
    with pytest.raises(irisdp.BudgetRefused):
        ask(books["publish"], 3)
    with pytest.raises(BadInput, match=r"does not allow this role to do that \(42501\)"):
        books["publish"].set_limit(9)
    assert (own.spent, own.limit, own.verify().problems) == (TENTH * 2, TENTH * 2, ())


def test_who_publishes_keeps_the_pace_that_the_owner_alone_sets(team):
    own, books = team
    own.limit_period("month", "1/10")
    ask(books["publish"], 1)
    with pytest.raises(irisdp.BudgetRefused, match="in this month"):
        ask(books["publish"], 2)
    for limit in (9, None):
        with pytest.raises(BadInput, match=r"does not allow this role to do that \(42501\)"):
            books["publish"].limit_period("month", limit)
    assert own.to_document()["periods"]["month"]["left"]["epsilon"] == "0"
    own.limit_period("month", None)
    ask(books["publish"], 2)
    assert (own.spent, own.verify().problems) == (TENTH * 2, ())


def test_who_reads_reads_and_no_more(team):
    own, books = team
    ask(books["publish"], 1)
    assert books["read"].to_document() == own.to_document()
    assert books["read"].releases()[0].answers == b"x"
    assert books["read"].verify() == own.verify()
    for use in (lambda book: ask(book, 1), lambda book: ask(book, 2), lambda book: book.set_limit(1)):
        with pytest.raises(BadInput, match="does not allow this role"):
            use(books["read"])
    assert own.spent == TENTH


def test_who_may_make_no_schema_is_told_what_is_missing(server, team):
    _, books = team
    elsewhere = Ledger(books["nothing"].place.replace("schema=", "schema=none_"))
    with pytest.raises(BadInput, match=r"may make no schema in that database \(42501\); .* GRANT CREATE ON DATABASE"):
        elsewhere.set_limit(1)
    assert not elsewhere.store.exists()


def test_a_stranger_sees_nothing(team):
    _, books = team
    for use in (ask, lambda book, _: book.spent, lambda book, _: book.to_document()):
        with pytest.raises(BadInput, match="ledger: "):
            use(books["nothing"], 1)


@pytest.mark.parametrize("may", ["publish", "read"])
@pytest.mark.parametrize("statement", WRITES)
def test_another_program_changes_and_removes_nothing_either(team, may, statement):
    import psycopg

    own, books = team
    ask(books["publish"], 1)
    before = own.to_document()
    for first in ("", "CREATE FUNCTION pg_temp.pg_has_role(name, oid, text) RETURNS bool RETURN true; "):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            try_sql(books[may], first + statement)
    assert (own.to_document(), own.verify().problems) == (before, ())


def test_what_a_publisher_may_change_behind_iris_is_shown(team):
    own, books = team
    ask(books["publish"], 1)
    columns = "audience, epsilon, delta, details, answers"
    try_sql(books["publish"], f"INSERT INTO release (id, settlement, {columns}) SELECT 2, 1, {columns} FROM release")
    assert own.verify().problems == ("release #2 is in no line of the history",)


def test_who_publishes_pins_what_is_open(team):
    own, books = team
    own.pin({"relation": "add-remove", "unit": None, "public_columns": []})
    ask(books["publish"], 1)
    assert own.to_document()["table"] == "t.csv"
    assert own.verify().problems == ()


def test_the_owner_alone_takes_a_ledger_elsewhere(team, tmp_path):
    own, books = team
    ask(books["publish"], 1)
    for may in ("publish", "read"):
        with pytest.raises(BadInput, match=r"does not allow this role to do that \(42501\)"):
            books[may].copy_to(tmp_path / "mine.ledger")
    assert not list(tmp_path.iterdir())
    ask(books["publish"], 2)
    assert own.copy_to(tmp_path / "ours.ledger").spent == TENTH * 2


def test_a_promise_that_was_narrowed_with_a_line_of_its_own_is_shown(team):
    own, _ = team
    own.pin({"relation": "add-remove", "unit": "who", "public_columns": []})

    def forge(rows):
        facts = {"relation": "add-remove", "unit": None, "public_columns": []}
        rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),))
        record(rows, "promise", {"facts": facts})

    own.store.write(forge)
    assert own.verify().problems == ("what was pinned (unit) was changed later",)


@pytest.mark.parametrize("allowed", ["alice", "own=alice", "publish=", "read=no_such_role", "publish=a\nb"])
def test_what_cannot_be_granted_is_refused(server, allowed, capsys):
    own = Ledger(server.address())
    own.set_limit(1)
    assert run(["ledger", own.place, "--grant", allowed]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --grant: ")


def test_only_the_owner_grants_and_only_on_a_server(team, tmp_path):
    _, books = team
    with pytest.raises(BadInput, match="does not allow this role"):
        grant(books["read"], "iris", "read")
    with pytest.raises(BadInput, match="is for ledgers on a server"):
        grant(Ledger(tmp_path / "a.ledger"), "iris", "read")
