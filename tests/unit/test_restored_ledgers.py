"""A ledger that was restored from a backup is refused until what it lost is charged."""

import shutil
from pathlib import Path

import pytest

from irisdp import Ledger, batch, publish
from irisdp._ledger import known_heads
from irisdp.accounting import Cost
from irisdp.errors import BadInput, NotShown, ScopeRefused


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("age,town\n70,Ely\n30,Ely\n81,York\n")
    return path


def ask(data, age, ledger=None, **options):
    return publish(data, "count", f"age > {age}", epsilon=1, ledger=ledger, **options)


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
