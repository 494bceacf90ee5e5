"""A ledger moves from a file to a server and back: nothing is lost, and there is never a second budget."""

import json
import sqlite3
from fractions import Fraction

import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, LedgerEntry, LedgerScope, ScopeRefused
from irisdp._cli import run
from irisdp._ledger import migration
from irisdp._ledger.file_store import LedgerFile
from irisdp._ledger.server_store import LedgerServer
from irisdp.accounting import GaussianCost
from support.sweeps import tried

PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
ODD = Fraction(3**200, 7**190)
"""A cost that no decimal says."""


def ask(book, question, cost):
    return book.settle(
        query=f"count {question}",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE,
        cost=cost,
        draw=lambda earlier, price: [
            LedgerEntry(audience="prèss", cost=cost, answers=bytes(range(256)), details='{"table": "t.csv"}'),
            LedgerEntry(cost=cost * 0, answers=b"board"),
        ],
        outputs={"prèss": [f"/out/{question}.csv", "/a/b.csv"]},
    )


def filled(book):
    book.set_limit(ODD * 5, "1/7")
    for number in range(4):
        ask(book, number, Cost(ODD, Fraction(1, 3**50)))
    return book


def all_of(book):
    found = {name: said for name, said in book.to_document().items() if name not in ("left", "moved_to")}
    return found, [(one.question, one.answers, one.details, one.outputs) for one in book.releases()]


@pytest.fixture
def places(server, tmp_path):
    """A file, a server, a file."""
    return [tmp_path / "first.ledger", server.address(), tmp_path / "second.ledger"]


def test_there_and_back_loses_nothing(places):
    first = filled(Ledger(places[0]))
    before, head = all_of(first), first.verify().head
    second = first.copy_to(places[1])
    assert all_of(second) == before
    third = second.copy_to(places[2])
    assert all_of(third) == all_of(first) == before
    for book in (second, third):
        assert book.verify(head).problems == ()
    assert third.spent == Cost(ODD * 4, Fraction(4, 3**50))
    assert ask(third, 2, Cost(1)).repeated
    assert not ask(third, "new", Cost(ODD)).repeated
    assert (third.verify(head).problems, third.verify(second.verify().head).problems) == ((), ())


def test_it_comes_back_to_the_place_that_it_left(places):
    first = filled(Ledger(places[0]))
    head = first.verify().head
    second = first.copy_to(places[1])
    ask(second, "there", Cost(ODD))
    gone_on = all_of(second)
    back = second.copy_to(places[0])
    assert (back.place, all_of(back)) == (first.place, gone_on)
    assert open_places(places[0], places[1]) == [places[0]]
    again = back.copy_to(places[1])
    assert ask(again, "there", Cost(1)).repeated
    third = again.copy_to(places[2])
    last = third.copy_to(places[0])
    assert last.spent == Cost(ODD * 5, Fraction(4, 3**50))
    assert last.verify(head).problems == ()
    assert open_places(*places) == [places[0]]


def test_a_ledger_that_is_no_continuation_of_what_lies_there_is_refused(places):
    """Else an older budget would be opened, or what was charged would be removed."""
    first = filled(Ledger(places[0]))
    second = first.copy_to(places[2])
    backup = places[2].read_bytes()
    ask(second, "later", Cost(ODD))
    second.copy_to(places[0]).copy_to(places[2])
    other = filled(Ledger(places[1]))
    with pytest.raises(BadInput, match="is a ledger already, and two budgets cannot become one; name a place where"):
        other.copy_to(places[0])
    elsewhere = places[2].with_name("restored.ledger")
    elsewhere.write_bytes(backup)
    with pytest.raises(BadInput, match="is a ledger already"):
        Ledger(elsewhere).copy_to(places[0])
    with sqlite3.connect(places[0]) as connection:  # what was tampered with is evidence
        connection.execute("UPDATE release SET epsilon = '0' WHERE id = 1")
    with pytest.raises(BadInput, match="is a ledger already"):
        second.copy_to(places[0])
    assert open_places(places[0], places[2]) == [places[2]]


def test_a_stale_reservation_opens_nothing_older(places, monkeypatch):
    """The place waits for one ledger; a copy of it from before its last journey is another."""
    first = filled(Ledger(places[0]))
    second = first.copy_to(places[2])
    backup = places[2].read_bytes()
    second.copy_to(places[0]).copy_to(places[2])
    with monkeypatch.context() as killed:
        kill_at(killed, 2, after=True)
        with pytest.raises(KeyboardInterrupt):
            second.copy_to(places[0])
    places[2].write_bytes(backup)
    with pytest.raises(BadInput, match="is a ledger already"):
        Ledger(places[2]).copy_to(places[0])


KILLS = [
    pytest.param(number, after, to_server, id=f"{number} {'after' if after else 'before'}, {where}")
    for number in (1, 2, 3, 4)
    for after in (False, True)
    for to_server, where in ((True, "to a server"), (False, "to a file"))
    if tried((number + after + to_server) % 2, True)  # before and after each change, once to a server or to a file
]
"""Before or after which change this process is killed."""


@pytest.mark.parametrize(("number", "after", "to_server"), KILLS)
def test_killed_on_the_way_back_there_is_one_budget(places, monkeypatch, number, after, to_server):
    home, away = (places[1], places[0]) if to_server else (places[0], places[1])
    left = filled(Ledger(home))
    there = left.copy_to(away)
    ask(there, "there", Cost(ODD))
    before = all_of(there)
    with monkeypatch.context() as killed:
        kill_at(killed, number, after=after)
        with pytest.raises(KeyboardInterrupt):
            there.copy_to(home)
    closed, arrived = ((number, after) >= (step, True) for step in (3, 4))
    assert (Ledger(home).closed, there.closed) == (not arrived, closed)
    assert Ledger(home).verify().problems == there.verify().problems == ()
    if not closed:
        ask(there, "while it waits", Cost(0, "1/1000"))
        before = all_of(there)
    back = there.copy_to(home)
    assert all_of(back) == before
    assert all_of(there.copy_to(home)) == before, "asked for once more, nothing happens"
    assert open_places(home, away) == [home]


def test_ledgers_of_other_currencies_go_too(places):
    first = Ledger(places[0])
    first.set_limit(mu="1/3")
    assert first.copy_to(places[1]).limit == GaussianCost("1/9")


def test_what_was_left_is_closed(places):
    first = filled(Ledger(places[0]))
    second = first.copy_to(places[1])
    for use in (
        lambda: ask(first, "new", Cost(0)),
        lambda: ask(first, 2, Cost(1)),
        lambda: first.set_limit(99),
        lambda: first.pin(PROMISE.facts()),
        lambda: first.check(PROMISE),
        lambda: first.copy_to(places[2]),
    ):
        with pytest.raises(ScopeRefused, match="was moved, and its budget is spent elsewhere") as refusal:
            use()
        assert second.place in str(refusal.value)
    assert first.spent == second.spent, "what it was can still be read"


def test_of_what_was_closed_nothing_is_left_whatever_shows_it(places, capsys):
    table = places[0].with_name("t.csv")
    table.write_text("a\n1\n")
    for step in range(2):
        book, left = Ledger(places[step]), {"epsilon": "0", "delta": "0"}
        if not step:
            book.set_limit(3)
        assert not book.closed and "moved_to" not in book.to_document()
        moved = book.copy_to(places[step + 1])
        told = book.to_document()
        assert (told["left"], told["moved_to"], told["limit"]["epsilon"]) == (left, str(moved.place), "3")
        assert book.closed and moved.to_document()["left"]["epsilon"] == "3"
        assert "nothing is left: it was moved to" in book._repr_html_()
        capsys.readouterr()
        # The same move asked again, after the ledger went on from where it was moved to: that is said.
        for arguments in ([], ["--copy-to", str(places[1])]) if step else ([],):
            assert run(["ledger", str(places[0]), *arguments]) == 0
            shown = capsys.readouterr().out
            assert "left     ε = 0" in shown and f"closed   moved to {places[1 + bool(arguments)]}" in shown, shown
        assert closed_picture(book).title.endswith("; closed, nothing is left")
    assert irisdp.Session(table, ledger=places[0]).remaining == Cost(0)


def closed_picture(book):
    from irisdp import plot

    return plot(book)


def test_a_place_that_awaits_a_ledger_has_nothing_left(places, monkeypatch):
    book = filled(Ledger(places[0]))
    with monkeypatch.context() as killed:
        kill_at(killed, 2, after=True)
        with pytest.raises(KeyboardInterrupt):
            book.copy_to(places[2])
    there = Ledger(places[2])
    assert there.closed and there.to_document()["awaits"] == places[0].name
    assert not book.closed


def open_places(*places):
    """Return those that take a release."""
    found = []
    for place in places:
        try:
            ask(Ledger(place), "one more", Cost(0))
            found.append(place)
        except ScopeRefused:
            pass
    return found


@pytest.mark.parametrize(("number", "after", "to_server"), KILLS)
def test_killed_at_any_step_there_is_one_budget_and_the_same_call_goes_on(
    places, monkeypatch, number, after, to_server
):
    source, target = (places[0], places[1]) if to_server else (places[1], places[0])
    first = filled(Ledger(source))
    before, head = all_of(first), first.verify().head
    kill_at(monkeypatch, number, after=after)
    with pytest.raises(KeyboardInterrupt):
        first.copy_to(target)
    monkeypatch.undo()
    reserved, closed, arrived = ((number, after) >= (step, True) for step in (2, 3, 4))
    if reserved and not arrived:
        with pytest.raises(ScopeRefused, match=r"awaits the ledger .* which is being moved to it"):
            Ledger(target).set_limit(99)
    if closed:
        with pytest.raises(ScopeRefused, match="was moved"):
            first.set_limit(99)
    second = first.copy_to(target)
    assert all_of(second) == before
    assert second.verify(head).problems == ()
    assert all_of(first.copy_to(target)) == before, "asked for once more, nothing happens"
    assert open_places(source, target) == [target]


def kill_at(monkeypatch, number, *, after):
    """Kill this process before or after the change that has this number, wherever it is made."""
    done = [0]
    for kind in (LedgerFile, LedgerServer):

        def write(store, work, kept=kind.write):
            done[0] += 1
            if done[0] == number and not after:
                raise KeyboardInterrupt
            found = kept(store, work)
            if done[0] == number:
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(kind, "write", write)


def test_a_place_that_was_taken_away_is_no_new_budget(places, monkeypatch):
    """After the move, or in the middle of it, the file is somewhere else: the same call must not open another."""
    first, target, elsewhere = filled(Ledger(places[0])), places[2], places[2].with_name("elsewhere.ledger")
    kill_at(monkeypatch, 3, after=True)
    with pytest.raises(KeyboardInterrupt):
        first.copy_to(target)
    monkeypatch.undo()
    for _ in ("it only awaits the ledger", "it is the ledger"):
        target.rename(elsewhere)
        with pytest.raises(BadInput, match="is not the place that this move began with"):
            first.copy_to(target)
        assert not target.exists()
        Ledger(target).set_limit(1)
        with pytest.raises(BadInput, match="is not the place that this move began with"):
            first.copy_to(target)
        elsewhere.rename(target)
        first.copy_to(target)
    assert open_places(places[0], target) == [target]


def test_a_place_awaits_one_ledger(places, monkeypatch):
    first, target = filled(Ledger(places[0])), places[1]
    kill_at(monkeypatch, 2, after=True)
    with pytest.raises(KeyboardInterrupt):
        first.copy_to(target)
    monkeypatch.undo()
    other = filled(Ledger(places[2]))
    with pytest.raises(BadInput, match="is a ledger already"):
        other.copy_to(target)
    places[0].unlink()
    again = Ledger(places[0])
    again.set_limit(1)
    with pytest.raises(BadInput, match="is a ledger already"):
        again.copy_to(target)
    assert open_places(*places) == [places[0], places[2]]


def test_where_a_ledger_is_none_goes(places):
    filled(Ledger(places[0])), Ledger(places[1]).set_limit(1)
    with pytest.raises(BadInput, match="is a ledger already, and two budgets cannot become one"):
        Ledger(places[0]).copy_to(places[1])
    assert ask(Ledger(places[0]), 1, Cost(0)).repeated, "and nothing was closed"
    for target in (places[0], places[2].with_name("no-folder") / "x.ledger"):
        with pytest.raises(BadInput):
            Ledger(places[0]).copy_to(target)
    assert ask(Ledger(places[0]), 1, Cost(0)).repeated
    with pytest.raises(BadInput, match="there is no ledger"):
        Ledger(places[2]).copy_to(places[2].with_name("other"))


def test_one_that_was_tampered_with_stays(places):
    import sqlite3

    book = filled(Ledger(places[0]))
    connection = sqlite3.connect(places[0])
    connection.execute("UPDATE release SET epsilon = '0'")
    connection.commit()
    connection.close()
    with pytest.raises(BadInput, match="has a history that does not hold"):
        book.copy_to(places[1])


def test_one_that_is_tampered_with_on_the_way_stays_open(places, monkeypatch):
    """Others may write between the first look and the closing, which looks again."""
    first, reserve = filled(Ledger(places[0])), migration._reserve

    def meanwhile(rows, *others):
        with sqlite3.connect(places[0]) as connection:
            connection.execute("UPDATE release SET epsilon = '0' WHERE id = 1")
        return reserve(rows, *others)

    monkeypatch.setattr(migration, "_reserve", meanwhile)
    with pytest.raises(BadInput, match=r"ledger: .* has a history that does not hold"):
        first.copy_to(places[2])
    with sqlite3.connect(places[0]) as connection:
        assert connection.execute("SELECT event FROM history WHERE event LIKE '%moved%'").fetchall() == []


def test_on_the_command_line(places, capsys):
    filled(Ledger(places[0]))
    before = Ledger(places[0]).to_document()
    assert run(["ledger", str(places[0]), "--copy-to", places[1], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed.pop("command")["name"], printed) == ("ledger", before)
    assert run(["ledger", places[1], "--copy-to", str(places[2])]) == 0
    assert run(["ledger", str(places[2]), "--verify"]) == 0
    assert run(["ledger", str(places[0]), "--limit", "1"]) == 1
    shown = []
    for source, target in ((places[2], places[0]), (places[0], places[1]), (places[1], places[2])):
        capsys.readouterr()
        assert run(["ledger", str(source), "--copy-to", str(target)]) == 0
        shown += [line for line in capsys.readouterr().out.splitlines() if line.startswith("roles")]
    assert [line.split(":")[0] for line in shown] == [
        "roles    grants do not move",
        "roles    grants stay on the server",
    ]
