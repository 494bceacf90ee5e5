"""A table is bound to the ledger of its first release: another one must be asked for."""

import json
import shutil

import pyarrow
import pytest

from irisdp import Ledger, Session, batch, run
from irisdp._release import dry_run_batch, dry_run_plan, dry_run_question
from irisdp.accounting import Cost
from irisdp.errors import BadInput, ScopeRefused
from support.survey import ask, data

__all__ = ["data"]

SECOND = (
    r"survey.csv is bound to .*, which has spent ε = 1, δ = 0.*; you asked for .*other\.ledger.*another_ledger=True"
)


@pytest.fixture
def bound(data, ledger):
    """The table's ledger, in a file and on a server, with one release."""
    ask(data, 0, ledger.place)
    return ledger


def plan_of(folder, *ledgers, more=""):
    datasets = [f'[datasets.d{i}]\ndata = "survey.csv"\nledger = "{each}"\n{more}\n' for i, each in enumerate(ledgers)]
    questions = [
        f'[[questions]]\ndataset = "d{i}"\nquery = "count"\nexpression = "age > 5{i}"\nepsilon = 1\n'
        for i, _ in enumerate(ledgers)
    ]
    path = folder / "plan.toml"
    path.write_text("".join(datasets + questions))
    return path


BATCH = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}]}


def test_leaving_out_the_ledger_charges_the_one_the_table_is_bound_to(data, bound, tmp_path):
    assert ask(data, 1).ledger == bound.place
    assert bound.spent == Cost(2)
    assert dry_run_question(data, "count", epsilon=1).ledger == bound
    assert Session(data).ledger == bound
    assert batch(BATCH, data=data).ledger == bound.place
    assert not (tmp_path / "survey.ledger").exists()


@pytest.mark.parametrize(
    "way", ["publish", "dry run", "batch", "dry run of a batch", "session", "run", "dry run of a plan"]
)
def test_a_release_to_another_ledger_is_refused_everywhere(data, bound, tmp_path, way):
    other = tmp_path / "other.ledger"
    asked = {
        "publish": lambda: ask(data, 1, other),
        "dry run": lambda: dry_run_question(data, "count", epsilon=1, ledger=other),
        "batch": lambda: batch(BATCH, data=data, ledger=other),
        "dry run of a batch": lambda: dry_run_batch(BATCH, data=data, ledger=other),
        "session": lambda: Session(data, ledger=other, limit=3),
        "run": lambda: run(plan_of(tmp_path, "other.ledger")),
        "dry run of a plan": lambda: dry_run_plan(plan_of(tmp_path, "other.ledger")),
    }
    with pytest.raises(ScopeRefused, match=SECOND.replace("=True", ".*")) as refused:
        asked[way]()
    assert refused.value.document["pinned"] == {"ledger": str(bound.place), "spent": {"epsilon": "1", "delta": "0"}}
    assert bound.spent == Cost(1) and not other.exists()


def test_another_ledger_is_a_second_budget_and_does_not_bind(data, bound, tmp_path):
    other = tmp_path / "other.ledger"
    assert ask(data, 1, other, another_ledger=True).ledger == other
    assert Session(data, ledger=other, another_ledger=True).count("age > 2", epsilon=1).ledger == other
    batch(BATCH, data=data, ledger=other, another_ledger=True)
    run(plan_of(tmp_path, "other.ledger"), another_ledger=True)
    run(plan_of(tmp_path, "other.ledger", more="another-ledger = true"))
    with pytest.raises(ScopeRefused, match="is bound to"):
        ask(data, 1, other)
    assert ask(data, 1).ledger == bound.place


def test_another_ledger_must_be_named(data, bound):
    with pytest.raises(BadInput, match="another_ledger: does not say which ledger"):
        ask(data, 1, another_ledger=True)
    with pytest.raises(BadInput, match="another_ledger"):
        batch({**BATCH, "another_ledger": "no"}, data=data, ledger="other.ledger")


def test_the_ledger_of_the_project_file_is_used_and_kept(data, tmp_path):
    (tmp_path / "survey.iris.toml").write_text('ledger = "team.ledger"\n')
    team, other = tmp_path / "team.ledger", tmp_path / "other.ledger"
    assert ask(data).ledger == team
    with pytest.raises(ScopeRefused, match=r"survey\.iris\.toml sets the ledger .*team\.ledger; you asked for"):
        ask(data, 1, other)
    assert ask(data, 1, other, another_ledger=True).ledger == other
    assert ask(data, 2).ledger == team
    assert Session(data).ledger == Ledger(team)
    with pytest.raises(ScopeRefused, match="sets the ledger"):
        Session(data, ledger=other)


def test_a_project_file_that_names_another_ledger_binds_the_table_only_if_that_is_wanted(data, tmp_path):
    ask(data)
    (tmp_path / "survey.iris.toml").write_text('ledger = "other.ledger"\n')
    with pytest.raises(ScopeRefused, match=r"Name that ledger in survey\.iris\.toml, or add another_ledger=True"):
        ask(data, 1)
    assert ask(data, 1, another_ledger=True).ledger == tmp_path / "other.ledger"
    assert ask(data, 2).ledger == tmp_path / "other.ledger"
    (tmp_path / "survey.iris.toml").unlink()
    assert ask(data, 3).ledger == tmp_path / "other.ledger"


@pytest.mark.parametrize("text", ["7", '"postgresql://ann:secret@db/iris"', '""'])
def test_a_project_file_with_a_ledger_that_is_none_is_refused(data, tmp_path, text):
    (tmp_path / "survey.iris.toml").write_text(f"ledger = {text}\n")
    with pytest.raises(BadInput, match="ledger") as refused:
        ask(data)
    assert "secret@" not in str(refused.value)


def test_a_moved_ledger_goes_on_and_a_copy_does_not(data, bound, tmp_path):
    there = tmp_path / "there.ledger"
    bound.copy_to(there)
    with pytest.raises(ScopeRefused, match="was moved"):
        ask(data, 1)
    assert ask(data, 1, there).ledger == there
    assert ask(data, 2).ledger == there  # bound to the new place from now on
    shutil.copy(there, tmp_path / "copy.ledger")
    with pytest.raises(ScopeRefused, match="is bound to"):
        ask(data, 3, tmp_path / "copy.ledger")


def test_a_renamed_ledger_goes_on_and_a_new_one_in_its_place_does_not(data, tmp_path):
    ask(data, 0, tmp_path / "a.ledger")
    (tmp_path / "a.ledger").rename(tmp_path / "b.ledger")
    with pytest.raises(ScopeRefused, match=r"is bound to .* and cannot be read now"):
        ask(data, 1, tmp_path / "c.ledger")
    assert ask(data, 1, tmp_path / "b.ledger").ledger == tmp_path / "b.ledger"
    assert ask(data, 2).ledger == tmp_path / "b.ledger"


def test_a_folder_may_be_renamed_with_all_that_is_in_it(tmp_path, server_ledger):
    for number, ledger in enumerate(("team.ledger", server_ledger)):
        folder = tmp_path / f"before{number}"
        folder.mkdir()
        (folder / "survey.csv").write_text("age\n70\n30\n")
        place = folder / ledger if ledger == "team.ledger" else ledger
        ask(folder / "survey.csv", 0, place)
        folder = folder.rename(tmp_path / f"after{number}")
        found = ask(folder / "survey.csv", 1).ledger
        assert found == (folder / ledger if ledger == "team.ledger" else ledger)


@pytest.fixture
def server_ledger(server):
    place = server.address()
    yield place
    server.execute(f'DROP SCHEMA IF EXISTS "{Ledger(place).store.address.schema}" CASCADE')


def test_users_and_spellings_of_one_server_ledger_are_one(data, server_ledger):
    ask(data, 0, server_ledger)
    assert not ask(data, 1, server_ledger.replace("?", "?connect_timeout=9&")).repeated


def test_the_marker_lies_beside_the_data_even_if_the_secret_does_not(data, tmp_path):
    (tmp_path / "keys").mkdir()
    ask(data, 0, tmp_path / "team.ledger", secret=tmp_path / "keys" / "key")
    with pytest.raises(ScopeRefused, match="is bound to"):
        ask(data, 0, tmp_path / "other.ledger")
    assert ask(data, 1).ledger == tmp_path / "team.ledger"


def test_frames_are_not_bound(tmp_path):
    frame = pyarrow.table({"age": [70, 30, 81]})
    ask(frame, 0, tmp_path / "a.ledger")
    ask(frame, 0, tmp_path / "b.ledger")


def test_a_plan_with_two_ledgers_for_one_table_is_refused_before_its_first_question(data, tmp_path):
    for asked in (run, dry_run_plan):
        with pytest.raises(ScopeRefused, match=r"question 2: survey\.csv has the ledger .*b\.ledger here, and .*a\.l"):
            asked(plan_of(tmp_path, "a.ledger", "b.ledger"))
    assert not (tmp_path / "a.ledger").exists()
    assert len(run(plan_of(tmp_path, "a.ledger", "b.ledger"), another_ledger=True)) == 2
    assert len(run(plan_of(tmp_path, "a.ledger", "b.ledger", more="another_ledger = true"))) == 2


def test_a_table_that_another_ledger_of_the_folder_knows_by_its_content_is_bound_to_that(data, tmp_path):
    ask(data)
    data.rename(tmp_path / "renamed.csv")
    assert ask(tmp_path / "renamed.csv", 1, table="survey.csv").ledger == tmp_path / "survey.ledger"
    with pytest.raises(ScopeRefused, match=r"is bound to .*survey\.ledger"):
        ask(tmp_path / "renamed.csv", 2, tmp_path / "renamed.ledger")


def test_the_command_says_it_in_its_own_words(data, tmp_path, monkeypatch, capfd):
    from irisdp._cli.main import run as main

    monkeypatch.chdir(tmp_path)
    ask(data, 0, "team.ledger")
    asked = ["publish", "survey.csv", "count", "--epsilon", "1"]
    assert main([*asked, "--ledger", "other.ledger", "--json"]) == 1
    printed = capfd.readouterr()
    assert "Leave out --ledger, or add --another-ledger to" in printed.err
    assert json.loads(printed.out)["pinned"]["spent"] == {"epsilon": "1", "delta": "0"}
    assert main(asked) == 0
    assert "is bound to" in capfd.readouterr().err
    assert main([*asked, "--ledger", "other.ledger", "--another-ledger"]) == 0
    assert "other.ledger is a second budget" in capfd.readouterr().err


def test_a_check_that_is_left_out_is_caught(data, tmp_path, monkeypatch):
    """The planted bug: without the check the same people get a second budget."""
    ask(data, 0, tmp_path / "a.ledger")
    monkeypatch.setattr("irisdp._ledger.bindings.LedgerChoice.check", lambda *_: None)
    ask(data, 0, tmp_path / "b.ledger")
    assert Ledger(tmp_path / "b.ledger").spent == Cost(1)
