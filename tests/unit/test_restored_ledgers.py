"""A ledger that was restored from a backup is refused until what it lost is charged."""

import shutil
from pathlib import Path

import pytest

from irisdp import Ledger, batch
from irisdp._ledger import known_heads
from irisdp.accounting import Cost
from irisdp.errors import BadInput, NotShown, ScopeRefused
from support.survey import ask, data

__all__ = ["data"]


def restored(ledger: Path, data, releases: int) -> Path:
    """One release, a backup, some releases more, and the backup in the ledger's place."""
    ask(data, 0, ledger)
    backup = ledger.with_name("backup")
    shutil.copy(ledger, backup)
    for age in range(1, releases + 1):
        ask(data, age, ledger)
    shutil.copy(backup, ledger)
    return ledger


@pytest.mark.parametrize("releases", [1, 3])
def test_a_restored_ledger_is_refused_before_anything_is_read(data, tmp_path, releases):
    ledger = restored(tmp_path / "team.ledger", data, releases)
    with pytest.raises(ScopeRefused, match=r"lacks line .* restored from a backup") as refused:
        ask(data, 1, ledger)
    assert refused.value.document["pinned"]["spent"] == Cost(releases + 1).to_document()
    with pytest.raises(ScopeRefused, match="lacks line"):
        batch({"budget": {"epsilon": 1}, "questions": [{"query": "count"}]}, data=data, ledger=ledger)
    assert Ledger(ledger).spent == Cost(1)


def test_what_others_drew_after_the_restore_is_not_taken_off(data, tmp_path):
    """Another machine does not know the head: its draws are further draws, and the loss is charged whole."""
    ledger = restored(tmp_path / "team.ledger", data, 3)
    (tmp_path / "other").mkdir()
    ask(data, 50, ledger, secret=tmp_path / "other" / "key")
    assert Ledger(ledger).spent == Cost(2)
    assert Ledger(ledger).accept_restore() == Cost(3)
    assert Ledger(ledger).spent == Cost(5)


def test_a_ledger_restored_twice_is_charged_for_both_losses(data, tmp_path):
    ledger = restored(tmp_path / "team.ledger", data, 2)
    Ledger(ledger).accept_restore()
    backup = ledger.with_name("backup")
    shutil.copy(ledger, backup)
    ask(data, 60, ledger)
    shutil.copy(backup, ledger)
    with pytest.raises(ScopeRefused, match="lacks line"):
        ask(data, 61, ledger)
    assert Ledger(ledger).accept_restore() == Cost(1)
    assert Ledger(ledger).spent == Cost(4) and Ledger(ledger).verify().problems == ()


@pytest.mark.parametrize("releases", [1, 3])
def test_accepting_the_loss_charges_what_was_spent_at_most(data, tmp_path, releases):
    ledger = restored(tmp_path / "team.ledger", data, releases)
    assert Ledger(ledger).accept_restore() == Cost(releases)
    assert Ledger(ledger).spent == Cost(releases + 1)
    assert Ledger(ledger).verify().problems == ()
    assert ask(data, 0, ledger).repeated  # the backup has its answer
    again = ask(data, 1, ledger)
    assert not again.repeated and again.cost == Cost(1)  # drawn again, and charged again
    assert Ledger(ledger).spent == Cost(releases + 2)
    with pytest.raises(BadInput, match="finds nothing"):
        Ledger(ledger).accept_restore()


def test_a_ledger_that_is_gone_is_missed(data, tmp_path):
    ledger = tmp_path / "survey.ledger"
    ask(data, 0)
    ledger.unlink()
    with pytest.raises(ScopeRefused, match="lacks line"):
        ask(data, 0)
    assert Ledger(ledger).accept_restore() == Cost(1)
    assert ask(data, 0).cost == Cost(1)
    assert Ledger(ledger).spent == Cost(2)


def test_a_moved_ledger_goes_on_and_is_known_at_its_new_place(data, tmp_path):
    first, there = tmp_path / "a.ledger", tmp_path / "b.ledger"
    ask(data, 0, first)
    Ledger(first).copy_to(there)
    assert ask(data, 0, there).repeated
    shutil.copy(there, tmp_path / "backup")
    ask(data, 1, there)
    assert ask(data, 1, there).repeated
    shutil.copy(tmp_path / "backup", there)
    with pytest.raises(ScopeRefused, match="lacks line"):
        ask(data, 1, there)


def test_ledgers_that_began_alike_are_not_mistaken_for_each_other(data, tmp_path):
    """Two with one limit, made in the same second, have one first line."""
    for name in ("one", "two", "three"):
        Ledger(tmp_path / f"{name}.ledger").set_limit(9)
    for age in range(3):
        for name in ("one", "two", "three"):
            ask(data, age, tmp_path / f"{name}.ledger", another_ledger=True)
    assert {Ledger(tmp_path / f"{name}.ledger").spent for name in ("one", "two", "three")} == {Cost(3)}


def test_an_interrupted_acceptance_is_charged_once(data, tmp_path, monkeypatch):
    ledger = restored(tmp_path / "team.ledger", data, 2)
    with monkeypatch.context() as patched, pytest.raises(NotShown, match="cannot be written"):
        patched.setattr("irisdp._ledger.table_state.TableState.accept_loss", _fail)
        Ledger(ledger).accept_restore()
    assert Ledger(ledger).accept_restore() == Cost(0)
    assert Ledger(ledger).spent == Cost(3)


def _fail(*_):
    raise OSError


def test_heads_only_move_forward_and_an_older_one_is_fine(data, tmp_path, monkeypatch):
    ledger = tmp_path / "team.ledger"
    ask(data, 0, ledger)
    with monkeypatch.context() as patched:  # killed between the charge and the note
        patched.setattr("irisdp._release.pipeline.remember_head", lambda *_: None)
        ask(data, 1, ledger)
    ask(data, 2, ledger)
    state = known_heads.TableState.beside(data)
    with Ledger(ledger).store.reading() as rows:
        head = known_heads.read_head(rows, Ledger(ledger).store, ledger)
    (known,) = state.find_heads(head.ledger)
    assert known.line == head.line
    older = known_heads.KnownHead(head.ledger, head.name, head.first, 1, head.first, head.spent, head.noted)
    state.note_head(older)
    assert [one.line for one in state.find_heads(head.ledger)] == [head.line]


def test_a_check_that_is_left_out_is_caught(data, tmp_path, monkeypatch):
    """The planted bug: without the check the same question is drawn twice for one charge."""
    ledger = restored(tmp_path / "team.ledger", data, 1)
    monkeypatch.setattr("irisdp._ledger.discovery.lost_heads", lambda *_: [])
    ask(data, 1, ledger)
    assert Ledger(ledger).spent == Cost(2)  # and three answers were drawn


def test_a_backup_from_before_a_move_opens_no_second_budget(data, tmp_path):
    first, there = tmp_path / "a.ledger", tmp_path / "b.ledger"
    ask(data, 0, first)
    shutil.copy(first, tmp_path / "backup")
    Ledger(first).copy_to(there)
    shutil.copy(tmp_path / "backup", first)
    with pytest.raises(ScopeRefused, match=r"a\.ledger lacks line"):
        ask(data, 1, first)
    shutil.copy(tmp_path / "backup", there)
    with pytest.raises(ScopeRefused, match=r"b\.ledger lacks line|is bound to"):
        ask(data, 1, there)


def test_the_refusal_names_what_lies_beside_the_ledger_or_elsewhere(data, tmp_path):
    (tmp_path / "far").mkdir()
    for folder, remedy in ((tmp_path, r"accept_restore\(\) charges"), (tmp_path / "far", r"accept_restore\(data\) ch")):
        ledger = restored(folder / "team.ledger", data, 1)
        with pytest.raises(ScopeRefused, match=remedy):
            ask(data, 1, ledger, another_ledger=True)
        Ledger(ledger).accept_restore(data)
        data.with_name(".tables.irisdp-state").unlink()


def test_on_a_server_a_restored_ledger_is_refused_and_charged(data, server):
    """A dump of the schema is loaded again: the same refusal, the same charge, with the data as the place beside."""
    book = Ledger(server.address())
    schema = book.store.address.schema
    ask(data, 0, book)
    kept = {table: rows_of(book, table) for table in ("settlement", "release", "output", "history")}
    ask(data, 1, book)
    ask(data, 2, book)
    for table in ("output", "release", "settlement", "history"):
        server.execute(f'DELETE FROM "{schema}".{table} WHERE {within(table, kept[table])}')
    assert book.spent == Cost(1) and book.verify().problems == ()
    with pytest.raises(ScopeRefused, match=r"lacks line .*accept_restore\(data\)") as refused:
        ask(data, 1, book)
    assert refused.value.document["pinned"]["spent"] == Cost(3).to_document()
    assert book.accept_restore(data) == Cost(2)
    assert ask(data, 0, book).repeated and not ask(data, 1, book).repeated
    assert book.spent == Cost(4) and book.verify().problems == ()
    server.execute(f'DROP SCHEMA "{schema}" CASCADE')


def rows_of(book, table):
    column = "release" if table == "output" else "id"
    with book.store.reading() as rows:
        return [number for (number,) in rows.find(f"SELECT {column} FROM {table}")]


def within(table, numbers):
    column = "release" if table == "output" else "id"
    return f"NOT {column} = ANY (ARRAY{numbers or [0]})"


def test_a_plan_looks_at_each_ledger_once(data, tmp_path, monkeypatch):
    from irisdp import run
    from irisdp._release import pipeline

    questions = "".join(f'[[questions]]\nquery = "count"\nexpression = "age > {n}"\nepsilon = 1\n' for n in range(5))
    (tmp_path / "plan.toml").write_text(f'[datasets.a]\ndata = "survey.csv"\n{questions}')
    looked, check = [], pipeline.check_known
    monkeypatch.setattr(pipeline, "check_known", lambda *a, **b: (looked.append(b["default"]), check(*a, **b)))
    run(tmp_path / "plan.toml")
    assert looked.count(True) == 1
