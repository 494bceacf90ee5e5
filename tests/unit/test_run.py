"""A plan in a file: read strictly, checked before anything is spent, published in order, and run again for nothing."""

import contextlib
import errno
import inspect
import json
import os
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import irisdp as iris
from irisdp import BadInput, Cost, Ledger
from irisdp._cli.publish import publish_command
from irisdp._release import pipeline, running
from irisdp._release.plan_file import DATASET_KEYS, QUESTION_KEYS
from irisdp._release.run_checks import RECORD
from irisdp.errors import NotShown
from support.commands import irisdp

pytestmark = pytest.mark.usefixtures("one_engine")

DATASET = '[datasets.survey]\ndata = "t.csv"\n'
COUNT = '[[questions]]\nquery = "count"\nexpression = "v = 1"\nepsilon = 0.25\n'
TWICE = COUNT + 'out = "a.csv"\n' + COUNT.replace("0.25", "0.5") + 'name = "finer"\nout = "b.csv"\nreport = "b.html"\n'
MANY = "".join(f'[[questions]]\nquery = "at-least {k}"\nepsilon = 0.1\nout = "{k}.json"\n' for k in range(1, 5))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, and the plan elsewhere than where commands are typed."""
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "t.csv").write_text("g,v\na,1\nb,0\na,1\nb,1\n")
    monkeypatch.chdir(tmp_path)
    return folder


def written(folder, text, name="plan.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_questions_are_published_in_order_and_again_for_nothing(here):
    plan = written(here, DATASET + TWICE)
    first = irisdp(f"run {plan} --json")
    assert first.status == 0, first.err
    told = first.document
    assert [one["cost"]["epsilon"] for one in told["questions"]] == ["0.25", "0.25"]  # the second refines the first
    assert told["ledgers"] == [
        {
            "file": str(here / "t.ledger"), "charged": {"epsilon": "0.5", "delta": "0"}, "limit": None,
            "spent": {"epsilon": "0.5", "delta": "0"}, "left": None,
        }
    ]  # fmt: skip
    kept = files(here)
    places = {path: path.stat().st_ino for path in here.iterdir()}
    again = irisdp(f"run {plan} --json")
    assert again.status == 0
    assert again.document["repeated"]
    assert [one["answers"] for one in again.document["questions"]] == [one["answers"] for one in told["questions"]]
    assert again.document["ledgers"][0]["charged"] == {"epsilon": "0", "delta": "0"}
    memory = (".ledger", ".irisdp-state")
    same = {path: content for path, content in kept.items() if not path.name.endswith(memory)}
    assert {path: content for path, content in files(here).items() if path in same} == same
    assert {path: path.stat().st_ino for path in here.iterdir()} == places, "files that were right are left alone"


def test_a_question_is_the_one_that_publish_asks(here):
    assert irisdp(f"run {written(here, DATASET + TWICE)}").status == 0
    asked = irisdp(["publish", str(here / "t.csv"), "count", "v = 1", "--epsilon", "0.5", "--json"])
    assert asked.document["repeated"]
    assert asked.document["answers"] == json.loads(
        irisdp(f"run {here / 'plan.toml'} --json").out
    )["questions"][1]["answers"]  # fmt: skip


def test_what_is_shown_names_questions_charges_and_files(here):
    plan = written(here, DATASET + TWICE)
    shown = irisdp(f"run {plan}").out
    for words in ("count v = 1", "finer", "b.csv, b.html", "t.ledger: charged ε = 0.5, δ = 0 now; spent ε = 0.5"):
        assert words in shown
    assert "2 of 2: answered before" in irisdp(f"run {plan}").out


def test_a_coarser_answer_costs_nothing_and_is_said_to_be_new(here):
    coarser = COUNT.replace("0.25", "0.125")
    paid = "new answers made from earlier ones, which were charged before"
    foretold = irisdp(f"run {written(here, DATASET + COUNT + coarser)} --dry-run").out
    assert "charge    nothing: that is what is new after the questions before" in foretold
    shown = irisdp(f"run {written(here, DATASET + COUNT + coarser)}").out
    assert f"free      1 of 2: {paid}" in shown and "answered before" not in shown
    assert "charged ε = 0.25, δ = 0 now" in shown and "ε = 0, δ = 0" not in shown
    again = irisdp(f"run {written(here, DATASET + COUNT + coarser)}").out
    assert "free      2 of 2: answered before" in again and paid not in again and "charged nothing now" in again
    least = ["publish", str(here / "t.csv"), "count", "v = 1", "--epsilon", "0.0625"]
    assert "new       nothing is new since the file has not changed" in irisdp([*least, "--dry-run"]).out
    assert f"of which nothing is new: these are {paid.removeprefix('new ')}" in irisdp(least).out


def test_every_option_of_the_command_line_is_a_key(here):
    """Options are named once: what `publish` learns, plans know."""
    options = set(inspect.signature(publish_command).parameters) - {
        "data", "query", "force", "max_charge", "dry_run", "verbose", "as_json", "where", "log_file",
    }  # fmt: skip
    assert {*DATASET_KEYS, *QUESTION_KEYS} == options - {"labels"} | {"data", "query", "expression", "name", "dataset"}


def test_keys_may_be_spelt_as_on_the_command_line(here):
    text = '[[questions]]\nquery = "count"\nby = "g"\nselect-groups = true\nepsilon = 1\ndelta = "1e-6"\n'
    assert irisdp(f"run {written(here, DATASET + text)} --dry-run").status == 0
    ended = irisdp(f"run {written(here, DATASET + text + 'select_groups = true')} --dry-run")
    assert ended.line.startswith("question 1: select_groups: is written twice")


def test_relative_paths_count_from_the_plan(here):
    for name in ("results", "private"):
        (here / name).mkdir()
    (here / "groups.csv").write_text("g\na\nb\n")
    (here / "types.json").write_text('{"v": "integer"}')
    (here / "named.toml").write_text("limit = 9\n")
    spec = here / "spec.json"
    spec.write_text('{"kind": "geometric", "n": 4, "privacy": {"epsilon": "1/2"}}')
    assert irisdp(f"design {spec} -o {here / 'mechanism.json'}").status == 0
    plan = written(
        here,
        """
        [datasets.survey]
        data = "t.csv"
        ledger = "private/budget"
        secret = "private/key"
        types = "types.json"
        project = "named.toml"
        [[questions]]
        query = "plurality g"
        categories = "groups.csv"
        epsilon = 1
        out = "results/winner.csv"
        [[questions]]
        query = "apply mechanism.json"
        expression = "v = 1"
        by = "g"
        groups = "groups.csv"
        report = "results/page.html"
        [[questions]]
        query = "apply mechanism.json v = 0"
        """,
    )
    assert irisdp(f"run {plan} --dry-run").status == 0
    assert files(here).keys() & {Path("private/budget"), Path("private/.tables.irisdp-secret")} == set()
    ended = irisdp(f"run {plan}")
    assert ended.status == 0, ended.err
    assert {Path("results/winner.csv"), Path("results/page.html"), Path("private/budget")} <= files(here).keys()
    assert Ledger(here / "private" / "budget").limit == Cost(Fraction(9))
    assert not list(here.parent.glob("*.*"))


def test_tables_in_a_database_are_asked_like_files(here):
    with contextlib.closing(sqlite3.connect(here / "my data.db")) as database:
        database.execute("CREATE TABLE t (g TEXT, v INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [("a", 1), ("b", 0), ("a", 1)])
        database.commit()
    for address in ("sqlite:///my data.db#t", "sqlite:///../team/my%20data.db#T", f"sqlite:///{here}/my data.db#t"):
        plan = written(here, f'[datasets.survey]\ndata = "{address}"\n' + TWICE)
        dry = irisdp(f"run {plan} --dry-run --json")
        assert dry.status == 0, dry.err
        assert [one["file"] for one in dry.document["ledgers"]] == [str(here / "my data.t.ledger")], dry.out
        ended = irisdp(f"run {plan} --json")  # what it wrote is brought up to date without --force
        assert ended.status == 0, ended.err
        (ledger,) = ended.document["ledgers"]
        assert ledger["spent"]["epsilon"] == "0.5"
    asked = irisdp(["publish", "sqlite:///team/my data.db#t", "count", "v = 1", "--epsilon", "0.25", "--json"])
    assert asked.document["answers"] == irisdp(f"run {plan} --json").document["questions"][0]["answers"]


WRONG = {
    "no file": (None, "plan.toml: there is no such file"),
    "no TOML": ("[datasets", "plan.toml: is no valid TOML at end of document"),
    "empty": ("", "datasets: are missing from the plan; write [datasets.survey]"),
    "an address": (
        '[datasets.a]\ndata = "postgresql://me:key@host/db.x?password=key"\n' + COUNT,
        "dataset a: data: holds a password, which lists of processes",
    ),
    "an address of none": (
        '[datasets.a]\ndata = "mysql://h/d#t"\n' + COUNT, "dataset a: data: is no address of a table"
    ),
    "an address of no table": (
        '[datasets.a]\ndata = "sqlite:///none.db#t"\n' + COUNT, "dataset a: data: finds no file at"
    ),
    "output is the database": (
        '[datasets.a]\ndata = "sqlite:///d.sqlite#t"\n' + COUNT + 'out = "d.sqlite"\n', "question 1: out: must end in"
    ),
    "no questions": (DATASET, "questions: are missing from the plan; write [[questions]]"),
    "datasets as text": ('datasets = "t.csv"\n' + COUNT, "datasets: are text, not tables with names"),
    "dataset as text": ('datasets.a = "t.csv"\n' + COUNT, "dataset a: is text, not a table"),
    "datasets as a list": ("[[datasets]]\n" + COUNT, "datasets: are a list, not tables"),
    "one question": (DATASET + COUNT.replace("[[questions]]", "[questions]"), "questions: are a table, not a list"),
    "question as text": ('questions = ["count"]\n' + DATASET, "question 1: is text, not a table"),
    "key of a plan": ("epsilom = 1\n" + DATASET + COUNT, "epsilom: is no key of a plan; choose from datasets"),
    "key of a question in a plan": ("epsilon = 1\n" + DATASET + COUNT, "epsilon: belongs to a question; move it below"),
    "key of a dataset in a plan": ('data = "t.csv"\n' + COUNT, "data: belongs to a dataset; move it"),
    "key of a dataset": (
        DATASET + 'delimeter = ";"\n' + COUNT,
        "dataset survey: delimeter: is no key of a dataset; did you mean delimiter?",
    ),
    "key of a question in a dataset": (DATASET + "epsilon = 1\n" + COUNT, "dataset survey: epsilon: belongs to a"),
    "key of a question": (
        DATASET + COUNT + COUNT + "epsilom = 1\n",
        "question 2: epsilom: is no key of a question; did you mean epsilon?",
    ),
    "key of a named question": (
        DATASET + COUNT + 'name = "x"\nBy = "g"\n', "question 1 (x): By: is no key of a question; did you mean by?"
    ),
    "key of a dataset in a question": (DATASET + COUNT + 'unit = "g"\n', "question 1: unit: belongs to the dataset"),
    "force": (DATASET + COUNT + "force = true\n", "question 1: force: belongs to the command"),
    "limit": (DATASET + "limit = 3\n" + COUNT, "dataset survey: limit: belongs to the project file or the ledger"),
    "budget": ("budget = {epsilon = 1}\n" + DATASET + COUNT, "budget: belongs to a batch"),
    "no data": ('[datasets.a]\nunit = "g"\n' + COUNT, "dataset a: data: is missing"),
    "data as a number": ("[datasets.a]\ndata = 1\n" + COUNT, "dataset a: data: must be text, not a number"),
    "data that is not there": (DATASET.replace("t.csv", "u.csv") + COUNT, "dataset survey: data: "),
    "no query": (DATASET + "[[questions]]\nepsilon = 1\n", "question 1: query: is missing"),
    "unknown query": (DATASET + COUNT.replace('"count"', '"cuont"'), "question 1: query: 'cuont' is no query of Iris"),
    "query as a list": (DATASET + COUNT.replace('"count"', '["count"]'), "question 1: query: must be text, not a list"),
    "no K": (DATASET + COUNT.replace("count", "band"), 'question 1: K: is missing from the query'),
    "two conditions": (DATASET + COUNT.replace('"count"', '"count v = 0"'), "question 1: expression: is given twice"),
    "condition": (DATASET + COUNT.replace("v = 1", "w = 1"), "question 1: expression: names the column 'w'"),
    "no epsilon": (DATASET + COUNT.replace("epsilon = 0.25", ""), "question 1: epsilon: is missing"),
    "epsilon as text": (DATASET + COUNT.replace("0.25", '"much"'), "question 1: epsilon: "),
    "epsilon as truth": (DATASET + COUNT.replace("0.25", "true"), "question 1: epsilon: "),
    "epsilon as a list": (DATASET + COUNT.replace("0.25", "[1]"), "question 1: epsilon: "),
    "epsilon as a date": (DATASET + COUNT.replace("0.25", "2020-01-01"), "question 1: epsilon: "),
    "not finite": (DATASET + COUNT.replace("0.25", "inf"), "plan.toml: holds a number that"),
    "a huge number": (DATASET + COUNT.replace("0.25", "1" * 30), "plan.toml: holds a whole"),
    "no groups": (DATASET + COUNT + 'by = "g"\n', "question 1: groups: "),
    "groups as a table": (DATASET + COUNT + 'by = "g"\ngroups = {g = ["a"]}\n', "question 1: groups: must be text or"),
    "by as a number": (DATASET + COUNT + "by = 3\n", "question 1: by: "),
    "relation": (DATASET + 'relation = "swap"\n' + COUNT, "dataset survey: relation: "),
    "unit": (DATASET + 'unit = "w"\n' + COUNT, "dataset survey: unit: "),
    "types": (DATASET + "types = 3\n" + COUNT, "dataset survey: types: must be a table or the path"),
    "types of no column": (DATASET + 'types = {w = "integer"}\n' + COUNT, "dataset survey: types: "),
    "project": (DATASET + 'project = "p.toml"\n' + COUNT, "dataset survey: project: there is no file"),
    "ledger": (DATASET + "ledger = 3\n" + COUNT, "dataset survey: ledger: must be text, not a number"),
    "ledger with a password": (
        DATASET + 'ledger = "postgresql://a:secret@h/d"\n' + COUNT, "dataset survey: ledger: holds a password"
    ),
    "ledger is the data": (DATASET + 'ledger = "t.csv"\n' + COUNT, "dataset survey: ledger: "),
    "ledger is the plan": (DATASET + 'ledger = "plan.toml"\n' + COUNT, "dataset survey: ledger: "),
    "licence": (DATASET + 'licence = "all rights"\n' + COUNT + 'out = "a.csv"\n', "dataset survey: licence: must be"),
    "dataset of none": (DATASET + COUNT + 'dataset = "survye"\n', "question 1: dataset: survye is not a dataset"),
    "dataset of several": (DATASET + '[datasets.b]\ndata = "t.csv"\n' + COUNT, "question 1: dataset: is missing, and"),
    "name": (DATASET + COUNT + "name = 3\n", "question 1: name: must be a short text"),
    "two names": (DATASET + 2 * (COUNT + 'name = "a"\n'), "question 2: name: is that of question 1 as well"),
    "ending": (DATASET + COUNT + 'out = "a.txt"\n', "question 1: out: must end in .csv"),
    "ending of a page": (DATASET + COUNT + 'report = "a.csv"\n', "question 1: report: must end in .html"),
    "no folder": (DATASET + COUNT + 'out = "no/a.csv"\n', "question 1: out: the folder "),
    "two outputs": (DATASET + 2 * (COUNT + 'out = "a.csv"\n'), "question 2: out: "),
    "outputs in other cases": (DATASET + COUNT + 'out = "a.csv"\n' + COUNT + 'out = "A.CSV"\n', "question 2: out: "),
    "two pages": (DATASET + 2 * (COUNT + 'report = "a.html"\n'), "question 2: report: "),
    "output is the data": (DATASET + COUNT + 'out = "t.csv"\n', "question 1: out: "),
    "output is there": (DATASET + COUNT + 'out = "there.csv"\n', "question 1: out: "),
    "output is read by another": (
        DATASET + COUNT + 'out = "g.csv"\n' + COUNT + 'by = "g"\ngroups = "g.csv"\n', "question "
    ),
    "output is another's ledger": (
        DATASET + '[datasets.b]\ndata = "t.csv"\nledger = "b.csv"\n' + COUNT + 'dataset = "survey"\nout = "b.csv"\n'
        + COUNT + 'dataset = "b"\n', "question 1: out: "
    ),
    "last of many": (DATASET + MANY + COUNT.replace("v = 1", "v ="), "question 5: expression: "),
    "deep": (DATASET + COUNT + f"groups = {'[' * 30}{']' * 30}\n", "plan.toml: is nested more than 20 deep"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_plan_is_one_line_and_spends_nothing(name, here):
    text, begins = WRONG[name]
    (here / "there.csv").write_text("somebody's")
    plan = here / "plan.toml" if text is None else written(here, text)
    before = files(here)
    for more in ("", " --dry-run", " --json"):
        ended = irisdp(f"run {plan}{more}")
        assert ended.status == 2, ended.out
        assert ended.line.removeprefix(f"{here}/").startswith(begins), ended.line  # a file is named as it was typed
        assert bool(ended.out) == (more == " --json")
    assert files(here) == before


def test_remedies_are_in_the_words_of_the_plan(here):
    plan = written(here, DATASET + COUNT + 'by = "g"\n')
    ended = irisdp(f"run {plan}")
    assert "=" in ended.line
    assert "--" not in ended.line
    assert "groups=" not in ended.line
    assert 'groups = "v1,v2,…"' in ended.line


def test_a_plan_that_does_not_fit_is_refused_before_its_first_question(here):
    plan = written(here, DATASET + MANY)
    Ledger(here / "t.ledger").set_limit("0.35")
    before = files(here)
    for more in ("", " --dry-run"):
        ended = irisdp(f"run {plan} --json{more}")
        assert ended.status == 1
        assert files(here).keys() - {Path(".tables.irisdp-secret")} == before.keys()
    refused = irisdp(f"run {plan} --json")
    assert "The first that does not fit is question 4. Nothing was spent." in refused.document["error"]
    assert refused.document["cost"] == {"epsilon": "0.4", "delta": "0"}
    assert refused.document["left"] == {"epsilon": "0.35", "delta": "0"}
    assert "irisdp ledger FILE --limit" in refused.line
    assert Ledger(here / "t.ledger").spent == Cost()
    assert "would be refused" in irisdp(f"run {plan} --dry-run").out
    Ledger(here / "t.ledger").set_limit("0.4")
    assert irisdp(f"run {plan}").status == 0
    assert irisdp(f"run {plan}").status == 0, "what is answered is free, whatever is left"


def test_a_dry_run_says_what_a_run_then_charges(here):
    plan = written(here, DATASET + TWICE + MANY + COUNT)  # the last asks what the first asks
    Ledger(here / "t.ledger").set_limit(3)
    before = files(here)
    told = irisdp(f"run {plan} --dry-run --json").document
    assert files(here) == before
    assert told["refused"] is None
    (ledger,) = told["ledgers"]
    assert (ledger["left"]["epsilon"], ledger["if_changed"]["epsilon"]) == ("3", "0.9")
    assert told["questions"][-1]["if_changed"] == {"repeated": True, "cost": Cost().to_document(), "refused": None}
    run = irisdp(f"run {plan} --json").document
    assert [one["cost"] for one in run["questions"]] == [one["if_changed"]["cost"] for one in told["questions"]]
    assert run["ledgers"][0]["charged"] == ledger["if_changed"]
    again = irisdp(f"run {plan} --dry-run --json").document
    assert all(one["if_unchanged"]["repeated"] for one in again["questions"])
    assert again["ledgers"][0]["if_unchanged"] == Cost().to_document()
    assert again["ledgers"][0]["left"]["epsilon"] == "2.1"
    shown = irisdp(f"run {plan} --dry-run").out
    assert "7 questions, of which 7 answered and free" in shown


def test_promises_of_a_project_and_a_ledger_are_kept(here):
    (here / "t.iris.toml").write_text('relation = "exchange"\nlimit = 1\n')
    plan = written(here, DATASET + 'relation = "add-remove"\n' + COUNT)
    assert "t.iris.toml sets relation exchange" in irisdp(f"run {plan}").line
    assert irisdp(f"run {written(here, DATASET + COUNT)}").status == 0
    assert Ledger(here / "t.ledger").limit == Cost(Fraction(1))
    (here / "t.iris.toml").unlink()
    ended = irisdp(f"run {plan} --json")
    assert ended.status == 1
    assert ended.document["differs"] == ["relation"]


def test_a_promise_that_only_a_later_question_breaks_is_seen_before_the_first(here):
    """The first release pins what the ledger promises; here it would pin that no column is public."""
    told = 'relation = "exchange"\n' + COUNT + COUNT + 'by = "g"\ngroups = ["a", "b"]\npublic-membership = true\n'
    plan = written(here, DATASET + told)
    for more in ("", " --dry-run"):
        ended = irisdp(f"run {plan}{more} --json")
        assert ended.status == 1
        assert not (here / "t.ledger").exists()
    assert ended.document["refused"]["error"].startswith("question 2: t.ledger uses no public columns")


def test_limits_of_two_projects_of_one_ledger_are_seen_before_the_first_question(here):
    other = '[datasets.b]\ndata = "t.csv"\nproject = "b.toml"\nledger = "t.ledger"\n'
    (here / "t.iris.toml").write_text("limit = 1\n")
    (here / "b.toml").write_text("limit = 2\n")
    text = DATASET + other + "".join(COUNT + f'dataset = "{name}"\n' for name in ("survey", "b"))
    ended = irisdp(f"run {written(here, text)}")
    assert ended.status == 1
    assert "question 2: b.toml sets the limit" in ended.line
    assert not (here / "t.ledger").exists()


@pytest.mark.parametrize("victim", ["u.csv", "ledger.csv", "u.types.json"])
def test_files_of_a_dataset_that_no_question_is_about_are_no_outputs(victim, here):
    for name in ("u.csv", "ledger.csv", "u.types.json"):
        (here / name).write_text("a\n1\n")
    other = '[datasets.other]\ndata = "u.csv"\nledger = "ledger.csv"\ntypes = "u.types.json"\n'
    plan = written(here, DATASET + other + COUNT + f'dataset = "survey"\nout = "{victim}"\n')
    before = files(here)
    with pytest.raises(BadInput, match=r"out: .* dataset other"):
        iris.run(plan, force=True)
    assert files(here) == before


def test_several_datasets_and_ledgers(here):
    (here / "u.csv").write_text("g;v\na;1\n")
    other = '[datasets.other]\ndata = "u.csv"\ndelimiter = ";"\nledger = "private.ledger"\n'
    text = DATASET + other + COUNT + 'dataset = "other"\n' + COUNT + 'dataset = "survey"\n'
    found = iris.run(written(here, text))
    assert [one.dataset for one in found.questions] == ["other", "survey"]
    assert {path.name: cost for path, cost in found.charged.items()} == dict.fromkeys(
        ("private.ledger", "t.ledger"), Cost(Fraction(1, 4))
    )


ELSEWHERE = {
    "one limit for both": ("", "t", 1),
    "a ledger of its own that is unused": ("", "t copy", 2),
    "another relation": ('relation = "exchange"\n', "", 1),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_datasets_that_hold_the_same_data_are_seen_before_the_first_charge(case, here):
    """By the time that the second is asked about, the first one's ledger knows its data, and is charged for it."""
    more, limited, status = ELSEWHERE[case]
    (here / "copy.csv").write_bytes((here / "t.csv").read_bytes())
    for name in limited.split():
        Ledger(here / f"{name}.ledger").set_limit("2/5")
    other = f'[datasets.copy]\ndata = "copy.csv"\n{more}'
    finer = COUNT.replace("0.25", "0.3").replace("v = 1", "v = 0") + 'dataset = "copy"\n'
    text = DATASET + other + COUNT + 'dataset = "survey"\n' + finer
    ended = irisdp(f"run {written(here, text)}")
    assert (ended.status, Ledger(here / "t.ledger").spent) == (status, Cost(0)), ended.err
    assert ended.line.startswith(("irisdp: question 2", "question 2", "t.ledger has", "dataset copy")), ended.line


def test_datasets_that_hold_the_same_data_are_charged_to_one_ledger(here):
    (here / "copy.csv").write_bytes((here / "t.csv").read_bytes())
    Ledger(here / "t.ledger").set_limit("1/4")
    other = '[datasets.copy]\ndata = "copy.csv"\n'
    text = DATASET + other + COUNT + 'dataset = "survey"\n' + COUNT + 'dataset = "copy"\n'
    found = iris.run(written(here, text))
    assert [one.repeated for one in found] == [False, True]
    assert not (here / "copy.ledger").exists()


@pytest.mark.parametrize("elsewhere", ["another", "another/deeper", "team/inner"])
def test_a_plan_of_the_same_name_elsewhere_replaces_nothing(here, elsewhere):
    text = DATASET + COUNT + 'out = "a.csv"\n'
    assert irisdp(f"run {written(here, text)}").status == 0
    folder = here.parent / elsewhere
    folder.mkdir(parents=True)
    spent, before = Ledger(here / "t.ledger").spent, (here / "a.csv").read_bytes()
    named = text.replace('"t.csv"', json.dumps(str(here / "t.csv"))).replace('"a.csv"', json.dumps(str(here / "a.csv")))
    other = written(folder, named.replace("0.25", "0.5"))
    ended = irisdp(f"run {other}")
    assert (ended.status, "a.csv is there already; add --force" in ended.line) == (2, True), ended.err
    assert (Ledger(here / "t.ledger").spent, (here / "a.csv").read_bytes()) == (spent, before)
    assert irisdp(f"run {other} --force").status == 0
    assert irisdp(f"run {here / 'plan.toml'}").status == 2, "the file is the other plan's by now"


def test_a_plan_that_is_moved_with_its_files_knows_them_and_so_does_one_of_an_earlier_version(here):
    (here / "out").mkdir()
    text = DATASET + COUNT + 'out = "out/a.csv"\n'
    plan = written(here, text)
    assert irisdp(f"run {plan}").status == 0
    os.rename(here, here.parent / "moved")
    moved = here.parent / "moved"
    (moved / "t.csv").write_text("g,v\na,1\n")
    assert irisdp(f"run {moved / 'plan.toml'}").status == 0
    record = moved / "out" / RECORD
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["path"] for line in lines} == {"../plan.toml"}
    earlier = [{"plan": "plan.toml", "file": line["file"], "digest": line["digest"]} for line in lines]
    record.write_text("".join(json.dumps(line) + "\n" for line in earlier))
    (moved / "t.csv").write_text("g,v\nb,1\n")
    assert irisdp(f"run {moved / 'plan.toml'}").status == 0


def test_only_what_the_plan_wrote_is_replaced(here):
    plan = written(here, DATASET + TWICE)
    assert irisdp(f"run {plan}").status == 0
    old = (here / "a.csv.release.json").read_bytes()
    (here / "t.csv").write_text("g,v\na,1\n")  # other data, other answers: the files are replaced
    assert irisdp(f"run {plan}").status == 0
    assert (here / "a.csv.release.json").read_bytes() != old
    (here / "b.html").write_text("changed by hand")
    spent = Ledger(here / "t.ledger").spent
    (here / "t.csv").write_text("g,v\nb,1\n")
    ended = irisdp(f"run {plan}")
    assert ended.status == 2
    assert ended.line.startswith("question 2 (finer): report: ")
    assert "b.html is there already; add --force" in ended.line
    assert Ledger(here / "t.ledger").spent == spent
    assert irisdp(f"run {plan} --force").status == 0
    assert irisdp(f"run {plan}").status == 0
    other = written(here, DATASET + COUNT + 'out = "a.csv"\n', "other.toml")
    assert "a.csv is there already" in irisdp(f"run {other}").line


def test_a_lost_or_foreign_record_means_that_files_are_somebody_elses(here):
    plan = written(here, DATASET + TWICE)
    assert irisdp(f"run {plan}").status == 0
    record = (here / RECORD).read_text()
    assert str(here) not in record
    (here / RECORD).write_text(record + '{"plan": "plan.toml", "fi')  # cut off by a power loss
    assert irisdp(f"run {plan}").status == 0
    (here / RECORD).write_text("[]\n7\n\n" + "[" * 200_000 + "\n" + record.replace('"digest": "', '"digest": "0'))
    assert irisdp(f"run {plan}").status == 2
    (here / RECORD).unlink()
    assert irisdp(f"run {plan}").status == 2
    assert irisdp(f"run {plan} --force").status == 0
    os.rename(here / "a.csv", here / "moved")
    (here / "a.csv").symlink_to(here / "moved")
    assert "is a link" in irisdp(f"run {plan}").line


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_a_record_keeps_nobody_waiting(here):
    plan = written(here, DATASET + TWICE)
    assert irisdp(f"run {plan}").status == 0
    spent = Ledger(here / "t.ledger").spent
    (here / RECORD).unlink()
    os.mkfifo(here / RECORD)
    program = [sys.executable, "-m", "irisdp", "run", str(plan)]
    for more, says in (
        ([], "is there already"),
        (["--dry-run"], "is there already"),
        (["--force"], "no record can be"),
    ):
        ended = subprocess.run([*program, *more], check=False, capture_output=True, text=True, timeout=60)
        assert says in ended.stderr, ended
    assert Ledger(here / "t.ledger").spent == spent


@pytest.mark.parametrize("stopped", range(5))
def test_a_run_that_was_stopped_goes_on(stopped, here, monkeypatch):
    plan = written(here, DATASET + MANY)
    carry_out, done = running.publish_checked, []

    def stopping(*given):
        if len(done) == stopped:
            raise KeyboardInterrupt
        done.append(carry_out(*given))
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(running, "publish_checked", stopping)
        ended = irisdp(f"run {plan}")
        assert ended.status == (130 if stopped < 4 else 0)
        if stopped < 4:
            assert ended.line == "stopped; what was charged by then is kept, and free when the plan is run again"
    book = Ledger(here / "t.ledger")
    assert len(book.releases()) == stopped
    found = iris.run(plan)
    assert [one.repeated for one in found] == [place < stopped for place in range(4)]
    assert [one.answers.values for one in found][:stopped] == [one.answers.values for one in done]
    assert [release.query for release in book.releases()] == [f"at-least {k}" for k in range(1, 5)]
    assert book.spent == Cost(Fraction(4, 10))


def test_a_run_that_was_stopped_between_charge_and_files_writes_them(here, monkeypatch):
    plan = written(here, DATASET + TWICE)
    write_files = pipeline.write_files

    def stopping(files, *given):
        for three in files:  # as many as were there by then
            write_files((three,), *given)
            three[2].path.unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "write_files", stopping)
        assert irisdp(f"run {plan}").status == 130
    kept = (here / "a.csv").read_bytes()
    assert iris.run(plan)[0].repeated
    assert (here / "a.csv").read_bytes() == kept
    assert (here / "a.csv.datapackage.json").exists()


def test_data_that_changes_stops_the_run_and_says_what_is_kept(here, monkeypatch):
    plan = written(here, DATASET + MANY)
    carry_out = running.publish_checked

    def changing(ready, *given):
        if ready.files[0][0].path.name == "3.json":
            (here / "t.csv").write_text("g,v\nc,1\n")
        return carry_out(ready, *given)

    with monkeypatch.context() as patch, pytest.raises(NotShown) as stopped:
        patch.setattr(running, "publish_checked", changing)
        iris.run(plan)
    assert str(stopped.value).startswith("dataset survey: data: changed while it was read; publish again when")
    assert "what was asked before is charged and kept" in str(stopped.value)
    assert "nothing was spent" not in str(stopped.value)
    assert len(Ledger(here / "t.ledger").releases()) == 2
    assert irisdp(f"run {plan}").status == 0  # all four questions about the new data
    assert len(Ledger(here / "t.ledger").releases()) == 6


FAILS = {
    "memory": MemoryError(),
    "the disk": OSError(errno.EIO, os.strerror(errno.EIO)),
    "what nobody foresaw": TypeError("the answer was 41"),
}


@pytest.mark.parametrize("asked", range(2))
@pytest.mark.parametrize("error", FAILS.values(), ids=FAILS)
def test_whatever_ends_a_run_says_what_is_kept(error, asked, here, monkeypatch):
    plan = written(here, DATASET + MANY)
    carry_out, done = running.publish_checked, []

    def failing(*given):
        if len(done) == asked:
            raise error
        done.append(carry_out(*given))
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(running, "publish_checked", failing)
        ended = irisdp(f"run {plan}")
    assert ended.status == (3 if asked else 2), "control: where nothing was charged, nothing was spent"
    assert "41" not in ended.line
    if asked:
        assert ended.line.startswith(f"internal error ({type(error).__name__} at test_run.py:")
        assert "what was asked before is charged and kept, and free when the plan is run again" in ended.line
    assert [one.repeated for one in iris.run(plan)] == [place < asked for place in range(4)]


def test_a_file_that_appears_during_the_run_is_kept(here, monkeypatch):
    plan = written(here, DATASET + MANY)
    carry_out = running.publish_checked

    def disturbed(ready, *given):
        (here / "3.json").write_text("somebody's")
        return carry_out(ready, *given)

    monkeypatch.setattr(running, "publish_checked", disturbed)
    with pytest.raises(NotShown, match=r"question 3: out: .*3\.json is there already"):
        iris.run(plan)
    assert (here / "3.json").read_text() == "somebody's"


def test_python_gets_publications(here):
    plan = written(here, DATASET + TWICE)
    with pytest.raises(BadInput, match="plan"):
        iris.run(here / "no.toml")
    found = iris.run(plan)
    assert len(found) == 2
    assert found["finer"] is found[1]
    assert found.out == tuple(path for one in found for path in one.out)
    assert "2 questions, 2 new; charged ε = 0.5, δ = 0" in repr(found)
    assert "finer" in found._repr_html_()
    assert {"a.csv", "b.csv", "b.html"} <= {path.name for path in found.out}


def test_the_example_can_be_run(here):
    examples = Path(__file__).parents[2] / "examples"
    for name in ("anes96.csv", "plan.toml"):
        (here / name).write_bytes((examples / name).read_bytes())
    found = iris.run(here / "plan.toml")
    assert sum((one.cost for one in found), Cost()) == Cost(Fraction(1))
    assert {"voters.csv", "party.csv"} <= {path.name for path in found.out}


def test_a_page_of_the_whole_plan(here):
    plan = written(here, 'report = "all.html"\n' + DATASET + TWICE + MANY)
    before = files(here)
    assert irisdp(f"run {plan} --dry-run").status == 0
    assert files(here) == before
    found = iris.run(plan)
    assert found.pages == (here / "all.html",)
    page = (here / "all.html").read_text(encoding="utf-8")
    for words in (
        "6 questions, each answered and charged by itself",
        "1. count v = 1",
        "2. finer: count v = 1",
        "6 questions about t.csv",
        "6. at-least 4",
    ):
        assert words in page
    assert "ε = 1.15, δ = 0 for adding or removing one record, for 6 questions about t.csv" in page
    assert "irisdp report" not in page
    again = iris.run(plan)
    assert (again.repeated, again.pages) == (True, found.pages)
    assert (here / "all.html").read_text(encoding="utf-8") == page
    (here / "all.html").write_text("changed by hand")
    assert irisdp(f"run {plan}").line.startswith("report: ")
    assert irisdp(f"run {plan} --force").status == 0


PAGES = {
    "ending": ('report = "all.csv"\n' + DATASET + COUNT, "report: must end in .html"),
    "two pages": ('report = "a.html"\n' + DATASET + COUNT + 'report = "a.html"\n', "report: "),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_wrong_page_is_one_line_and_spends_nothing(name, here):
    text, begins = PAGES[name]
    plan = written(here, text)
    before = files(here)
    for more in ("", " --dry-run"):
        assert irisdp(f"run {plan}{more}").line.startswith(begins)
    assert files(here) == before
