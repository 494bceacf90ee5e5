"""Teams change: a role loses its rights, the secret is replaced, and the doctor says what is wrong with a ledger."""

import json
import os
import secrets
import shutil
import stat

import pytest

from irisdp import Ledger, publish, run
from irisdp._cli import run as command
from irisdp._ledger import examine
from irisdp._ledger.fingerprints import rotate_secret
from irisdp._ledger.roles import grant, revoke
from irisdp._release import dry_run_question
from irisdp.accounting import Cost
from irisdp.errors import BadInput, Refusal
from support.survey import ask, data

__all__ = ["data"]


@pytest.fixture
def role(server):
    names = []

    def make(options=""):
        names.append(f"r_{secrets.token_hex(4)}")
        server.execute(f"CREATE ROLE {names[-1]} LOGIN {options}")
        return names[-1]

    yield make
    for name in reversed(names):
        server.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


@pytest.fixture
def team(server, data):
    book = Ledger(server.address())
    ask(data, 0, book)
    yield book
    server.execute(f'DROP SCHEMA "{book.store.address.schema}" CASCADE')


def as_role(book, role):
    return Ledger(book.place.replace("iris@", f"{role}@"))


# Rights.


@pytest.mark.parametrize("may", ["publish", "read"])
def test_a_role_that_is_revoked_can_neither_publish_nor_read(team, data, role, may):
    name = role()
    grant(team, name, may)
    assert as_role(team, name).spent == Cost(1)
    before = team.verify().lines
    assert command(["ledger", team.place, "--revoke", name]) == 0
    for asked in (lambda: as_role(team, name).spent, lambda: ask(data, 1, as_role(team, name))):
        with pytest.raises(BadInput, match=r"does not allow this role to do that \(42501\)"):
            asked()
    with team.store.reading() as rows:
        assert rows.find(
            "SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE pg_get_userbyid(grantee) = ?", (name,)
        ) == [(0,)]
        ((line,),) = rows.find("SELECT event FROM history ORDER BY id DESC LIMIT 1")
    told = json.loads(line)
    assert (told["event"], told["role"]) == ("revoked", name)
    assert team.verify().lines == before + 1 and team.verify().problems == ()
    grant(team, name, "publish")
    assert not ask(data, 1, as_role(team, name)).repeated


def test_rights_that_a_role_has_through_another_one_are_said(team, role, server):
    group = role()
    member = role(f"IN ROLE {group}")
    for name in (group, member):
        grant(team, name, "read")
    with pytest.raises(Refusal, match=f"has lost its own rights .* as a member of {group}"):
        revoke(team, member)
    assert as_role(team, member).spent == Cost(1)
    revoke(team, group)
    with pytest.raises(BadInput, match="does not allow"):
        _ = as_role(team, member).spent


def test_rights_on_single_columns_are_taken_away_as_well(team, role, server):
    name = role()
    schema = team.store.address.schema
    server.execute(f'GRANT UPDATE (epsilon) ON "{schema}".budget TO {name}')
    assert next(one for one in examine(team, "x") if one.name == "roles").ok is False
    revoke(team, name)
    assert next(one for one in examine(team, "x") if one.name == "roles").ok is True


def test_who_may_not_be_revoked(team, role, tmp_path):
    name = role()
    grant(team, name, "publish")
    with pytest.raises(BadInput, match="revoke: names iris, who owns the ledger"):
        revoke(team, "iris")
    with pytest.raises(BadInput, match="names a role that the server does not know"):
        revoke(team, "nobody_of_that_name")
    with pytest.raises(BadInput, match="is for ledgers on a server"):
        revoke(Ledger(tmp_path / "file.ledger"), name)
    other = role()
    grant(team, other, "read")
    with pytest.raises(BadInput, match="does not allow this role"):
        revoke(as_role(team, name), other)
    assert as_role(team, other).spent == Cost(1) and team.verify().problems == ()


# The secret.


def test_answers_stay_free_after_the_secret_was_rotated_and_new_data_gets_the_new_one(data, ledger):
    ask(data, 0, ledger)
    secret = data.with_name(".tables.irisdp-secret")
    old = secret.read_bytes()
    for turn in range(3):
        kept = ledger.rotate_secret(data)
        assert secret.read_bytes() != old and kept.is_file()
        assert stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(secret.stat().st_mode) == 0o600
        assert ask(data, 0, ledger).repeated
        outlook = dry_run_question(data, "count", "age > 0", epsilon=1).outlook
        assert outlook.expected is not None and outlook.expected.repeated
        new = ask(data, turn + 1, ledger)
        assert not new.repeated and new.anew is None
    assert ledger.spent == Cost(4) and ledger.verify().problems == ()
    data.write_text(data.read_text() + "5,York\n")
    again = ask(data, 0, ledger)
    assert not again.repeated and again.anew == "data"  # and not: the secret was lost
    with ledger.store.reading() as rows:
        first, last = (rows.find(f"SELECT fingerprint FROM settlement ORDER BY id {way}")[0][0] for way in ("", "DESC"))
    assert first != last
    for file in data.parent.glob(".old-*"):
        file.unlink()
    assert ask(data, 0, ledger).repeated  # known by the new secret alone


def test_a_person_keeps_the_same_records_after_the_secret_was_rotated(tmp_path):
    """Which records of a person count follows from the secret: it must not change for data that was answered about."""
    data = tmp_path / "visits.csv"
    data.write_text("who,ward\n" + "".join(f"p{i % 7},{i}\n" for i in range(70)))
    asked = {"by": "ward", "groups": list(range(70)), "unit": "who", "at_most": 1}
    shown = publish(data, "count", epsilon=50, **asked).answers.values
    Ledger(tmp_path / "visits.ledger").rotate_secret()
    assert publish(data, "count", epsilon=51, **asked).answers.values == shown  # noise is 0 but once in e^50


def test_a_machine_that_keeps_the_old_secret_is_told(data, tmp_path):
    ledger = tmp_path / "survey.ledger"
    ask(data)
    shutil.copy(tmp_path / ".tables.irisdp-secret", tmp_path / "kept")
    Ledger(ledger).rotate_secret()
    data.write_text(data.read_text() + "5,York\n")
    assert ask(data).anew == "data"
    for file in tmp_path.glob(".*secret"):
        file.unlink()
    shutil.copy(tmp_path / "kept", tmp_path / ".tables.irisdp-secret")
    assert ask(data).anew == "secret"
    (wrong,) = [one for one in examine(Ledger(ledger)) if not one.ok]
    assert wrong.name == "secret" and "is not the one that the ledger's owner rotated to" in wrong.says


@pytest.mark.parametrize("step", ["create_once", "os.replace", "sync_folder"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_rotation_that_is_cut_off_loses_no_secret(data, monkeypatch, step, call):
    ask(data)
    name, calls = f"irisdp._ledger.fingerprints.{step}", []
    module, _, function = name.rpartition(".")
    real = os.replace if step == "os.replace" else __import__(module, fromlist=[function]).__dict__[function]

    def cut_off(*arguments):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(name, cut_off)
        try:
            Ledger(data.with_name("survey.ledger")).rotate_secret()
        except KeyboardInterrupt:
            assert ask(data).repeated
    Ledger(data.with_name("survey.ledger")).rotate_secret()
    assert ask(data).repeated
    assert not data.with_name(".tables.irisdp-secret-next").exists()
    assert Ledger(data.with_name("survey.ledger")).spent == Cost(1)


def test_a_plan_still_knows_what_it_wrote(data, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('[datasets.a]\ndata = "survey.csv"\n[[questions]]\nquery = "count"\nepsilon = 1\nout = "n.csv"\n')
    run(plan)
    Ledger(tmp_path / "survey.ledger").rotate_secret()
    assert run(plan).repeated
    run(plan)
    (tmp_path / "n.csv").write_text("answer\n7\n")
    with pytest.raises(BadInput, match="is there already"):
        run(plan)


def test_without_a_secret_there_is_nothing_to_rotate(data, team, role):
    with pytest.raises(BadInput, match="rotate_secret: finds no secret"):
        rotate_secret(data.parent / "elsewhere" / "x.csv")
    with pytest.raises(BadInput, match="there is no ledger"):
        Ledger(data.with_name("none.ledger")).rotate_secret(data)
    name = role()
    grant(team, name, "publish")
    before = data.with_name(".tables.irisdp-secret").read_bytes()
    with pytest.raises(BadInput, match="does not allow this role"):
        as_role(team, name).rotate_secret(data)
    assert data.with_name(".tables.irisdp-secret").read_bytes() == before


def test_a_planted_rotation_that_forgets_the_old_secret_is_caught(data, monkeypatch):
    ask(data)
    ledger = Ledger(data.with_name("survey.ledger"))
    kept = ledger.rotate_secret()
    kept.unlink()
    assert not ask(data).repeated
    assert ledger.spent == Cost(2)


# The doctor.


def wrong(book, beside=None):
    return {one.name: one for one in examine(book, beside) if not one.ok}


def test_a_ledger_that_is_well(data, ledger, capsys):
    ask(data, 0, ledger)
    assert wrong(ledger, data) == {}
    names = [one.name for one in examine(ledger, data)]
    assert names[:4] == ["version", "history", "place", "head"] and {"roles", "secret"} <= set(names)
    assert command(["ledger", str(ledger.place), "--doctor", "--beside", str(data)]) == 0
    assert capsys.readouterr().out.count("OK: ") == len(names)
    assert command(["ledger", str(ledger.place), "--doctor", "--json", "--beside", str(data)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True and [one["name"] for one in document["checks"]] == names


def test_each_thing_that_is_wrong_is_said_with_its_remedy(data, tmp_path, capsys):
    ask(data)
    book = Ledger(tmp_path / "survey.ledger")
    shutil.copy(book.path, tmp_path / "backup")
    ask(data, 1)
    shutil.copy(tmp_path / "backup", book.path)
    assert "accept_restore" in wrong(book)["head"].remedy
    assert command(["ledger", str(book.path), "--doctor"]) == 1
    assert "irisdp ledger FILE --accept-restore" in " ".join(capsys.readouterr().out.split())
    book.accept_restore()
    book.path.chmod(0o666)
    (tmp_path / ".tables.irisdp-secret").chmod(0o644)
    assert {"roles", "secret"} == wrong(book).keys()
    book.path.chmod(0o600)
    (tmp_path / ".tables.irisdp-secret").chmod(0o600)
    (tmp_path / ".tables.irisdp-secret").write_bytes(b"short")
    assert "5 bytes" in wrong(book)["secret"].says
    (tmp_path / ".tables.irisdp-secret").unlink()
    assert "is missing" in wrong(book)["secret"].says
    book.copy_to(tmp_path / "there.ledger")
    assert "there.ledger" in wrong(book)["place"].says


def test_a_history_that_was_changed_is_said(data, tmp_path):
    import sqlite3

    ask(data)
    with sqlite3.connect(tmp_path / "survey.ledger") as connection:
        connection.execute("UPDATE release SET epsilon = '1/2'")
    connection.close()
    assert "release #1 was changed" in wrong(Ledger(tmp_path / "survey.ledger"))["history"].says


def test_rights_and_guards_of_a_server_are_looked_at(team, data, role, server):
    schema, name = team.store.address.schema, role()
    found = {one.name: one.says for one in examine(team, data)}
    assert found["roles"] == "iris owns it" and "not needed" in found["guards"]
    grant(team, name, "publish")
    found = {one.name: one.says for one in examine(team, data)}
    assert found["roles"] == f"iris owns it; {name} may publish" and found["guards"] == "all are there"
    for right in (
        f'DELETE ON "{schema}".release TO {name}',
        f'SELECT ON "{schema}".release TO PUBLIC',
        f'CREATE ON SCHEMA "{schema}" TO {name}',
        f'SELECT ON "{schema}".release TO {name} WITH GRANT OPTION',
    ):
        server.execute(f"GRANT {right}")
        assert "roles" in wrong(team, data), right
        undone = right.replace(" WITH GRANT OPTION", "").replace(" TO ", " FROM ")
        server.execute(f"REVOKE {undone}")
        if "GRANT OPTION" not in right:
            assert wrong(team, data) == {}, right
    grant(team, name, "publish")
    server.execute(f'DROP TRIGGER keep_release ON "{schema}".release')
    assert "grant" in wrong(team, data)["guards"].remedy
    grant(team, name, "publish")
    assert wrong(team, data) == {}


def test_a_ledger_that_is_not_there_or_damaged(tmp_path, capsys):
    with pytest.raises(BadInput, match="there is no ledger"):
        examine(Ledger(tmp_path / "none.ledger"))
    (tmp_path / "odd.ledger").write_bytes(b"SQLite format 3\0" + b"x" * 500)
    assert command(["ledger", str(tmp_path / "odd.ledger"), "--doctor"]) == 1
    assert "WRONG" in capsys.readouterr().out
