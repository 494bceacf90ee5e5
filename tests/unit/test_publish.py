"""Publishing: what is printed, written, charged and repeated."""

import csv
import inspect
import json
import pydoc
import re
import typing
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, Ledger, Privacy, ScopeRefused, Session, plan, publish
from irisdp._cli import run
from irisdp._queries import FORMS
from irisdp._release.options import CountArguments, PlanArguments, QuestionOptions, RecordArguments
from irisdp.accounting import delta
from irisdp.privacy import Gaussian
from support.commands import answered

ANES = Path(__file__).parents[2] / "examples" / "anes96.csv"
EDUCATION = "1,2,3,4,5,6,7"


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "anes96.csv"
    file.write_bytes(ANES.read_bytes())
    return file


def call(capsys, *arguments):
    status = run([*map(str, arguments), "--json"])
    return status, answered(capsys.readouterr().out)


def test_the_main_job(table, capsys):
    status, document = call(
        capsys, "publish", table, "majority", "vote = 1", "--by", "educ", "--groups", EDUCATION, "--epsilon", 1
    )
    assert status == 0
    assert document["cost"] == {"epsilon": "1", "delta": "0"}
    assert document["repeated"] is False
    assert [row["educ"] for row in document["answers"]] == EDUCATION.split(",")
    assert {row["answer"] for row in document["answers"]} <= {"yes", "no"}
    # 95 of 248 high-school graduates said yes: 58 records from the boundary, wrong with probability below e^-58.
    assert document["answers"][2]["answer"] == "no"
    _, ledger = call(capsys, "ledger", table.with_suffix(".ledger"))
    assert ledger["limit"] is None
    assert ledger["spent"] == {"epsilon": "1", "delta": "0"}
    (release,) = ledger["releases"]
    said = {"id": 1, "query": "majority vote = 1 by educ", "epsilon": "1", "delta": "0", "audience": None}
    assert release.items() >= said.items()


def test_asking_again_is_free_and_gives_the_same(table, capsys):
    command = ("publish", table, "count", "--by", "PID", "--groups", "0,1,2,3,4,5,6", "--epsilon", 0.1)
    _, first = call(capsys, *command)
    _, again = call(capsys, *command)
    assert again["answers"] == first["answers"]
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert again["cost"] == {"epsilon": "0", "delta": "0"}
    _, other = call(capsys, *command[:-1], 0.2)
    assert other["repeated"] is False
    # A more accurate count refines the first one: together they cost what the second costs.
    assert other["cost"] == {"epsilon": "0.1", "delta": "0"}
    assert irisdp.Ledger(table.with_suffix(".ledger")).spent.epsilon == Fraction(1, 5)


def test_new_data_is_a_new_question(table, capsys):
    call(capsys, "publish", table, "count", "--epsilon", 1)
    with table.open("a") as file:
        file.write("1,1,1,1,1,1,1,1,1,1\n")
    _, second = call(capsys, "publish", table, "count", "--epsilon", 1)
    assert second["repeated"] is False


def test_ten_times_a_tenth_fit_in_one_and_an_eleventh_does_not(table, capsys):
    ledger = table.with_suffix(".ledger")
    assert run(["ledger", str(ledger), "--limit", "1"]) == 0
    capsys.readouterr()
    for age in range(10):
        status, _ = call(capsys, "publish", table, "count", f"age > {age}", "--epsilon", 0.1)
        assert status == 0
    status, document = call(capsys, "publish", table, "count", "age > 10", "--epsilon", 0.1)
    assert status == 1
    assert document["left"] == {"epsilon": "0", "delta": "0"}
    status, again = call(capsys, "publish", table, "count", "age > 9", "--epsilon", 0.1)
    assert (status, again["repeated"]) == (0, True)


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_answers_are_written_with_a_sidecar(table, ending, capsys):
    out = table.with_name(f"out.{ending}")
    command = ("publish", table, "at-least", 100, "income > 20", "--by", "educ", "--groups", EDUCATION, "--epsilon", 1)
    _, document = call(capsys, *command, "--out", out)
    if ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        rows = [{**row, "answer_probability": float(row["answer_probability"])} for row in rows]
    elif ending == "json":
        rows = json.loads(out.read_text())
    else:
        rows = pyarrow.parquet.read_table(out).to_pylist()
    assert rows == document["answers"]
    sidecar = Path(f"{out}.release.json")
    assert document["out"] == [str(out), str(sidecar), f"{out}.datapackage.json"]
    facts = json.loads(sidecar.read_text())
    assert facts["query"] == {"query": "at-least", "threshold": "100", "expression": "income > 20"}
    assert facts["privacy"] == {"epsilon": "1"}
    assert facts["columns"] == ["educ", "answer", "answer_probability"]
    assert facts["ledger"] == {"id": 1}
    assert facts["audience"] is None


def test_a_dry_run_reads_and_spends_nothing(table, capsys):
    content = table.read_text().splitlines()[0] + "\n"
    empty = table.with_name("empty.csv")
    empty.write_text(content)
    command = ("majority", "vote = 1", "--epsilon", 1, "--dry-run")
    _, full = call(capsys, "publish", table, *command)
    _, none = call(capsys, "publish", empty, *command)
    assert full == none
    assert full["cost"]["epsilon"] == "1"
    assert full["expected_error"]["wrong_at_boundary"] == pytest.approx(1 / (1 + 2.718281828459045))
    assert [path.name for path in table.parent.iterdir() if path.suffix == ".ledger"] == []


def test_a_table_without_records_is_a_table(table, capsys):
    empty = table.with_name("empty.csv")
    empty.write_text(table.read_text().splitlines()[0] + "\n")
    status, document = call(capsys, "publish", empty, "count", "--epsilon", 1)
    assert status == 0
    assert isinstance(document["answers"][0]["answer"], int)


@pytest.mark.parametrize(("options", "epsilon", "delta"), [
    (["--relation", "exchange"], "1", "0"),
    (["--by", "educ", "--groups", "1,2", "--relation", "exchange"], "2", "0"),
    (["--by", "educ", "--groups", "1,2", "--relation", "exchange", "--public-membership"], "1", "0"),
    (["--by", "educ", "--select-groups", "--delta", "1e-6"], "1", "0.000001"),
    (["--by", "educ", "--select-groups", "--delta", "1e-6", "--relation", "exchange"], "2", "0.000002"),
    (["--by", "educ", "--select-groups", "--selection-delta", "1e-6"], "2", "0.000001"),
    (["--by", "educ", "--select-groups", "--selection-epsilon", "1/2", "--delta", "1e-6"], "1.5", "0.000001"),
    (["--unit", "age", "--at-most", "1"], "1", "0"),
    (["--delta", "1e-6"], "1", "0.000001"),
])  # fmt: skip
def test_the_whole_cost_is_stated(table, options, epsilon, delta, capsys):
    _, document = call(capsys, "publish", table, "count", "vote = 1", "--epsilon", 1, "--dry-run", *options)
    assert document["cost"] == {"epsilon": epsilon, "delta": delta}


def test_selected_groups_come_from_the_data_and_only_large_ones(table, capsys):
    command = ("publish", table, "count", "--by", "educ", "--select-groups", "--epsilon", 2, "--delta", "1e-9")
    _, document = call(capsys, *command)
    # 13 records of group 1 may go unnamed; 248 of group 3 cannot: u^248(0) = 1 at ε = 2, δ = 1e-9.
    named = [row["educ"] for row in document["answers"]]
    assert "3" in named
    assert named == sorted(named)


@pytest.mark.parametrize("frame", [pd.read_csv, pl.read_csv, pl.scan_csv], ids=["pandas", "polars", "lazy"])
def test_frames(table, frame, tmp_path):
    published = irisdp.publish(
        frame(table), "count", "vote = 1", by="educ", groups=[3, 6], epsilon=20, ledger=tmp_path / "l.ledger"
    )
    # ε = 20 is wrong with probability below 5e-9; 95 and 108 are the true counts.
    assert [row["answer"] for row in published.answers.to_documents()] == [95, 108]
    with pytest.raises(BadInput, match="ledger"):
        irisdp.publish(frame(table), "count", epsilon=1)


def test_python_says_no_in_its_own_way(table):
    irisdp.Ledger(table.with_suffix(".ledger")).set_limit("1/2")
    with pytest.raises(BudgetRefused) as caught:
        irisdp.publish(table, "count", epsilon=1)
    assert caught.value.document["limit"]["epsilon"] == "0.5"
    assert irisdp.Ledger(table.with_suffix(".ledger")).releases() == []


def test_people_see_cost_error_and_ledger(table, capsys):
    assert run(["publish", str(table), "count", "--by", "PID", "--groups", "0,6", "--epsilon", "1", "--verbose"]) == 0
    printed = capsys.readouterr().out
    for said in ("count by PID", "ε = 1", "off by", "95 %", str(table.with_suffix(".ledger")), "no limit"):
        assert said in printed.replace("\n", " ")


def test_samples_come_from_the_file(tmp_path, capsys):
    file = tmp_path / "mechanism.json"
    file.write_text(json.dumps({"privacy": {"ratio": 1}, "inputs": ["x", 1], "outputs": ["a", [1, 2]],
                                "matrix": [[1, 0], [0, 1]]}))  # fmt: skip
    assert run(["sample", str(file), "--input", "1", "-n", "3"]) == 0
    assert capsys.readouterr().out == "[1, 2]\n" * 3
    factors = {"privacy": {"ratio": 3}, "factors": [{"kind": "geometric", "n": 2},
               {"reading": [[0, 1, 1], [1, 1, 1], [2, 1, 1]]}]}  # fmt: skip
    file.write_text(json.dumps(factors))
    assert call(capsys, "sample", file, "--input", 0, "-n", 2)[1] == {"input": 0, "answers": [1, 1]}


class TestDryRunsKnowTheLedger:
    def dry(self, capsys, *arguments, status=0):
        before = sorted(Path().iterdir())
        assert run([*map(str, arguments), "--dry-run"]) == status
        said = " ".join(capsys.readouterr().out.split())
        ended, document = call(capsys, *arguments, "--dry-run")
        assert (ended, sorted(Path().iterdir())) == (status, before), "nothing is made"
        return said, document["ledger"]

    @pytest.fixture(autouse=True)
    def there(self, table, monkeypatch):
        monkeypatch.chdir(table.parent)

    def test_no_ledger_yet(self, capsys):
        said, ledger = self.dry(capsys, "publish", "anes96.csv", "count", "--epsilon", 1)
        assert "will be created" in said
        assert ledger is None

    def test_what_is_new_and_what_is_left(self, table, capsys):
        irisdp.Ledger("anes96.ledger").set_limit(1)
        count = ("publish", "anes96.csv", "count", "age > 40", "--epsilon")
        call(capsys, *count, "0.5")
        spent = irisdp.Ledger("anes96.ledger").spent
        said, ledger = self.dry(capsys, *count, "0.9")
        assert "left ε = 0.5, δ = 0" in said
        assert "only ε = 0.4, δ = 0 is new since the file has not changed" in said
        assert "would be refused" not in said
        assert ledger["expected"] == ledger["if_unchanged"]
        assert (ledger["refused"], ledger["left"]) == (False, {"epsilon": "0.5", "delta": "0"})
        assert ledger["if_unchanged"] == {"repeated": False, "cost": {"epsilon": "0.4", "delta": "0"}, "refused": None}
        assert ledger["if_changed"]["refused"]["left"] == {"epsilon": "0.5", "delta": "0"}
        said, ledger = self.dry(capsys, *count, "0.5")
        assert "nothing since the file has not changed: this was answered before, and is free" in said
        assert ledger["if_unchanged"] == {"repeated": True, "cost": {"epsilon": "0", "delta": "0"}, "refused": None}
        said, ledger = self.dry(capsys, *count, "1.6", status=1)
        assert "would be refused: " in said
        assert ledger["refused"] is True
        assert irisdp.Ledger("anes96.ledger").spent == spent
        call(capsys, *count, "0.9")
        assert irisdp.Ledger("anes96.ledger").spent.epsilon == Fraction(9, 10), "the dry run was right"

    def test_which_pin_would_refuse(self, capsys):
        call(capsys, "publish", "anes96.csv", "count", "--epsilon", 1)
        said, ledger = self.dry(
            capsys, "publish", "anes96.csv", "count", "--epsilon", 1, "--relation", "exchange", status=1
        )
        assert "would be refused: anes96.ledger uses relation add-remove; you asked for relation exchange" in said
        assert ledger["if_unchanged"]["refused"]["pinned"] == {"relation": "add-remove"}
        other = ("publish", "anes96.csv", "count", "--epsilon", 1, "--table", "other")
        said, ledger = self.dry(capsys, *other)
        assert "nothing since the file has not changed: this was answered before, and is free" in said
        assert ledger["if_unchanged"]["repeated"] is True
        Path(".tables.irisdp-state").unlink()
        said, ledger = self.dry(capsys, *other)
        assert "would be refused unless the data is what was answered about under another name" in said
        assert ledger["if_unchanged"]["repeated"] is True and ledger["expected"] is None

    def test_the_same_whatever_the_records(self, table, capsys):
        call(capsys, "publish", "anes96.csv", "count", "--epsilon", 1)
        command = ("publish", "anes96.csv", "count", "--epsilon", 1)
        text = table.read_text()
        shown = []
        for content in (text.replace("1", "2"), text.splitlines()[0] + "\n"):
            table.write_text(content)
            shown.append(self.dry(capsys, *command))
        assert shown[0] == shown[1]
        assert shown[0][1]["expected"] == shown[0][1]["if_changed"], "that the file is another one is said"


@pytest.mark.parametrize(
    ("options", "columns", "exact"),
    [
        (["--relation", "exchange"], [], "number of records in the table"),
        (["--relation", "exchange", "--unit", "age", "--at-most", "1"], [], "number of different age in the table"),
        (["--relation", "exchange", "--public-membership", "--by", "PID", "--groups", "0,1"], ["PID"],
         "number of records in each group"),
        (["--relation", "exchange", "--by", "PID", "--groups", "0,1"], None, None),
        (["--by", "PID", "--groups", "0,1"], None, None),
    ],
)  # fmt: skip
def test_what_is_taken_as_public_is_said(table, options, columns, exact, capsys):
    command = ["publish", str(table), "count", "--epsilon", "1", *options]
    _, document = call(capsys, *command, "--dry-run")
    assert document.get("public") == (exact and {"columns": columns, "exact": exact})
    for shown in (["--dry-run"], ["--verbose"]):
        assert run([*command, *shown]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert (f"the exact {exact} is taken as public and may be shown" in said) == (exact is not None)


def test_the_ledger_shows_what_people_look_for(table, capsys, monkeypatch):
    monkeypatch.chdir(table.parent)
    count = ("publish", "anes96.csv", "count", "--by", "PID", "--groups", "0,1,2,3,4", "--epsilon")
    call(capsys, *count, "0.2", "--out", "a.csv")
    call(capsys, *count, "1")
    call(capsys, *count, "0.5")
    call(capsys, *count, "1", "--out", "b.csv")
    _, document = call(capsys, "ledger", "anes96.ledger", "--limit", "1/2")
    first, second, third = document["releases"]
    assert [release["refines"] for release in document["releases"]] == [None, 1, None]
    assert third["coarsens"] == 2
    assert first["groups"] == {"by": ["PID"], "count": 5, "first": [["0"], ["1"], ["2"]]}
    assert [Path(path).name for release in (first, second) for path in release["outputs"]] == ["a.csv", "b.csv"]
    assert run(["ledger", "anes96.ledger"]) == 0
    said = capsys.readouterr().out
    shown = ("anes96.csv", "0, 1, 2, … (5)", "refines #1", "coarsens #2", "a.csv", "b.csv")
    told = ("less than what is spent, so nothing more can be spent", "adding or removing one record")
    for words in (first["date"][:10], *shown, *told):
        assert words in said


def test_of_an_overspent_limit_nothing_is_left_and_the_least_that_would_do_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n")
    assert run(["publish", "t.csv", "count", "--epsilon", "2", "--delta", "1e-6"]) == 0
    capsys.readouterr()
    _, document = call(capsys, "ledger", "t.ledger", "--limit", "100")
    assert document["left"] == {"epsilon": "0", "delta": "0"}
    assert irisdp.Session("t.csv").remaining == irisdp.Cost(0)
    assert run(["ledger", "t.ledger"]) == 0
    said = capsys.readouterr().out
    assert "nothing more can be spent: to spend more, write above --limit 100,0.000001\nleft     ε = 0, δ = 0\n" in said
    assert run(["publish", "t.csv", "count", "--epsilon", "1", "--dry-run"]) == 1
    assert "left ε = 0, δ = 0" in capsys.readouterr().out


def test_named_groups_cannot_steer_the_terminal(tmp_path, capsys):
    frame = pl.DataFrame({"g": ["\x1b[31m=1+1\n"] * 1000})
    irisdp.publish(frame, "count", by="g", select_groups=True, epsilon=20, delta="1e-6", ledger=tmp_path / "l.ledger")
    assert run(["ledger", str(tmp_path / "l.ledger")]) == 0
    said = capsys.readouterr().out
    assert "\x1b[31m" not in said


# A session asks of one table and one budget, and is as `publish` in everything else.

VISITS = pa.table({"age": [70, 30, 81, 81], "town": ["Ely", "Ely", "York", "York"], "who": [1, 2, 3, 3]})


@pytest.fixture
def session(tmp_path):
    return Session(VISITS, ledger=tmp_path / "v.ledger", limit=(50, "1e-6"))


def test_every_query_has_a_method_of_its_name():
    for form in FORMS:
        assert callable(getattr(Session, form.name.replace("-", "_")))


def test_every_option_is_the_table_s_or_the_question_s():
    published = inspect.signature(irisdp.publish).parameters
    options = {name: part for name, part in published.items() if part.kind is part.KEYWORD_ONLY}
    of_table = set(inspect.signature(Session).parameters) - {"data", "limit"}
    asked = typing.get_type_hints(PlanArguments)
    assert of_table | set(asked) == set(options)
    assert not of_table & set(asked)
    assert set(asked) - set(typing.get_type_hints(QuestionOptions)) == {
        "out", "report", "title", "labels", "licence", "force", "max_charge",
    }  # fmt: skip


def test_questions_are_those_of_publish(session, tmp_path):
    asked = [
        (session.count("age > 64", epsilon=1), ("count", "age > 64")),
        (session.count(epsilon=1), ("count",)),
        (session.at_least(2, "age > 64", epsilon=1), ("at-least", 2, "age > 64")),
        (session.at_most(2, epsilon=1), ("at-most", 2)),
        (session.majority("age > 64", epsilon=1), ("majority", "age > 64")),
        (session.band("1,3", "age > 64", epsilon=1), ("band", "1,3", "age > 64")),
    ]
    for found, words in asked:
        assert found.cost == Cost(1)
        again = irisdp.publish(VISITS, *words, epsilon=1, ledger=tmp_path / "v.ledger")
        assert again.repeated
        assert again.answers.values == found.answers.values
    assert session.plan("count", by="town", groups="Ely,York", epsilon=2).cost == Cost(2)
    assert session.spent == Cost(6)
    assert session.remaining == Cost(44, "1e-6")
    assert len(session.releases()) == 6


def test_a_session_says_what_is_left(session, tmp_path):
    assert repr(session) == "<Session: v.ledger; left ε = 50, δ = 0.000001>"
    unlimited = Session(VISITS, ledger=tmp_path / "w.ledger")
    assert unlimited.remaining is unlimited.limit is None
    assert repr(unlimited) == "<Session: w.ledger; no limit is set>"


def test_what_a_session_names_holds_for_all_its_questions(tmp_path):
    session = Session(VISITS, unit="WHO", relation="exchange", ledger=tmp_path / "v.ledger", table="visits")
    found = session.count("age > 64", epsilon=30, per_unit="any")
    assert (found.plan.unit, str(found.plan.relation)) == ("who", "exchange")
    assert session.ledger.to_document()["table"] == "visits"
    with pytest.raises(ScopeRefused):
        Session(VISITS, ledger=tmp_path / "v.ledger", table="visits").count(epsilon=1)


def test_a_session_keeps_the_limit(tmp_path):
    session = Session(VISITS, ledger=tmp_path / "v.ledger", limit="0.5")
    with pytest.raises(BudgetRefused):
        session.count(epsilon=1)
    assert session.remaining == Cost("0.5")


def test_a_file_s_ledger_lies_beside_it(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    session = Session(tmp_path / "t.csv", delimiter=";")
    session.count("b > 1", epsilon=1)
    assert session.ledger.path == (tmp_path / "t.ledger").resolve()
    assert session.spent == Cost(1)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "ledger: is missing"),
    ({"ledger": "x.ledger", "unit": "nobody"}, "unit: names the column 'nobody'"),
    ({"ledger": "x.ledger", "relatio": "exchange"}, "relatio: is no option; did you mean relation?"),
    ({"ledger": "x.ledger", "relation": "swap"}, "relation: must be add-remove or exchange"),
    ({"ledger": "x.ledger", "limit": -1}, "limit: must not be negative"),
    ({"ledger": "x.ledger", "limit": (1, 2, 3)}, "limit: must be ε, or ε and δ"),
])  # fmt: skip
def test_what_is_wrong_is_said_at_once(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=message):
        Session(VISITS, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_option_of_a_question_is_named(session):
    with pytest.raises(BadInput, match=r"epsilonn: is no option; did you mean epsilon\?"):
        session.count("age > 64", epsilonn=1)
    assert session.spent == Cost()


def test_what_a_session_names_no_question_names_anew(session):
    for options in ({"unit": "who"}, {"ledger": "other.ledger"}, {"encoding": "latin-1"}):
        (name,) = options
        with pytest.raises(BadInput, match=f"^{name}: is named by the session"):
            session.count(epsilon=1, **options)
    with pytest.raises(BadInput, match=r"^relation: is named by the session"):
        session.plan("count", epsilon=1, relation="exchange")
    assert session.spent == Cost()


@pytest.mark.parametrize("method", ["count", "at_least", "at_most", "majority", "publish", "plan"])
def test_help_shows_and_explains_every_option(method):
    told = pydoc.render_doc(getattr(Session, method), renderer=pydoc.plaintext)
    assert "Unpack" not in told
    published = inspect.signature(irisdp.publish).parameters
    own = {"plan": QuestionOptions, "publish": PlanArguments, "count": CountArguments}.get(method, RecordArguments)
    for name in typing.get_type_hints(own):
        assert inspect.signature(getattr(Session, method)).parameters[name] == published[name]
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* : .*\n        ", told, re.MULTILINE), name
    assert "Unpack" not in pydoc.render_doc(Session, renderer=pydoc.plaintext)


def test_arguments_of_a_question_are_checked(session):
    for asked, message in (
        (lambda: session.count(condition=3, epsilon=1), "condition: must be text, not int; a condition is a text"),
        (lambda: session.at_least(epsilon=1), "k: is missing; give k=…"),
        (lambda: session.count("age > 64", 1), "arguments: are too many: 1 may stand without a name; name the others"),
        (lambda: session.count(per_unit="some", epsilon=1), "per_unit: must be any or all; choose one of the two"),
        (lambda: session.plan("count", epsilon=1, out="o.csv"), "out: is no option"),
    ):
        with pytest.raises(BadInput) as refusal:
            asked()
        assert str(refusal.value).startswith(message)
    assert session.spent == Cost()


def test_a_batch_is_asked_of_the_sessions_table_and_charged_to_its_ledger(tmp_path):
    data = pa.table({"age": [70, 30, 81], "person": ["a", "a", "b"]})
    session = Session(data=data, unit="person", ledger=tmp_path / "s.ledger", limit=2, table="survey")
    asked = {"expression": "age > 64", "at_most": 1}
    questions = [{"query": "count", **asked}, {"query": "majority", **asked}]
    found = session.batch(questions, budget={"epsilon": 1}, out=tmp_path / "o.csv")
    assert (len(found), found.cost, session.spent) == (2, Cost(1), Cost(1))
    assert all(one.plan.unit == "person" for one in found)
    assert (tmp_path / "o.1.csv").exists()
    again = session.batch(questions, budget={"epsilon": 1}, out=tmp_path / "o.csv", force=True)
    assert again.repeated
    with pytest.raises(BudgetRefused):
        session.batch(questions, budget={"epsilon": "3/2"})
    with pytest.raises(BadInput, match="budget: has no epsilon"):
        session.batch(questions, budget={})
    assert session.spent == Cost(1)


# Publishing under several pairs and under Gaussian privacy: what is charged, kept, shown, repeated and refused.

SURVEY = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", None]})
TWO = {"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}
MANY = {"all": [{"epsilon": 2, "delta": "1e-6"}, {"epsilon": 1, "delta": "1e-3"}]}
LITTLE = {"all": [{"epsilon": "0.02"}, {"epsilon": "0.01", "delta": "1e-3"}]}
POINT = plan(SURVEY, "count", mu=1, delta="1e-6").cost
GROUPED = {"by": "town", "groups": ["York", "Ely"]}


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "l.ledger"


@pytest.mark.parametrize(("asked", "kept", "charged"), [
    ({"mu": 1, "delta": "1e-6"}, {"gaussian": "1"}, POINT),
    ({"privacy": Gaussian(1), "delta": "1e-6"}, {"gaussian": "1"}, POINT),
    ({"privacy": {"zcdp": "1/2"}, "delta": "1e-6"}, {"gaussian": "1"}, POINT),
    ({"privacy": TWO}, {"all": [{"epsilon": "1"}, {"epsilon": "0.5", "delta": "0.001"}]}, Privacy(epsilon=1)),
    ({"privacy": json.dumps(TWO), "delta": "1e-3"}, None, Privacy(epsilon="1/2", delta="1e-3")),
    ({"privacy": MANY}, None, Privacy(epsilon=2, delta="1e-6")),
    ({"privacy": Privacy(epsilon="0.3")}, {"epsilon": "0.3"}, Privacy(epsilon="0.3")),
    ({"privacy": {"ratio": 2}}, {"ratio": "2"}, Privacy(ratio=2)),
])  # fmt: skip
def test_a_guarantee_is_kept_charged_and_written_down(asked, kept, charged, ledger):
    planned = plan(SURVEY, "count", "age > 64", **GROUPED, **asked)
    assert (planned.cost.epsilon, planned.cost.delta) == (charged.epsilon, charged.delta)
    found = publish(SURVEY, "count", "age > 64", **GROUPED, **asked, ledger=ledger)
    assert found.cost == planned.cost == Ledger(ledger).spent
    assert found.answers.keys == [("York",), ("Ely",)]
    assert kept is None or found.sidecars[None]["privacy"] == kept
    again = publish(SURVEY, "count", "age > 64", **GROUPED, **asked, ledger=ledger)
    assert again.repeated
    assert again.answers.values == found.answers.values
    assert Ledger(ledger).spent == planned.cost


def test_gaussian_counts_are_charged_a_point_of_their_curve():
    assert delta([Gaussian(1)], epsilon=POINT.epsilon)[1] <= POINT.delta
    assert delta([Gaussian(1)], epsilon=POINT.epsilon - Cost("1e-9").epsilon)[0] > POINT.delta
    both = plan(
        SURVEY, "count", **GROUPED, relation="exchange", mu=1, delta="1e-6"
    ).cost  # a record leaves one for another
    assert delta([(Gaussian(1), 2)], epsilon=both.epsilon)[1] <= both.delta == POINT.delta


def test_the_point_that_is_charged_is_no_part_of_the_question(ledger):
    """The answers are the same whatever δ they were charged at, so they are given again."""
    first = publish(SURVEY, "count", mu=1, delta="1e-6", ledger=ledger)
    again = publish(SURVEY, "count", mu=1, delta="1e-9", ledger=ledger)
    assert again.repeated
    assert again.answers.values == first.answers.values
    assert not publish(SURVEY, "count", mu=2, delta="1e-6", ledger=ledger).repeated


def test_such_counts_neither_refine_nor_are_refined(ledger):
    """They form no chain: each is drawn afresh and charged in full."""
    options = {"ledger": ledger}
    publish(SURVEY, "count", epsilon=1, **options)
    assert (
        publish(SURVEY, "count", mu=1, delta="1e-6", **options).cost == plan(SURVEY, "count", mu=1, delta="1e-6").cost
    )
    assert publish(SURVEY, "count", privacy=TWO, **options).cost.epsilon == 1
    assert publish(SURVEY, "count", epsilon=2, **options).cost.epsilon == 1
    assert ["refines" in json.loads(line.details) for line in Ledger(ledger).releases()] == [False] * 3 + [True]


@pytest.mark.parametrize("asked", [{"privacy": LITTLE}, {"mu": "0.01", "delta": "1e-3"}])
def test_answers_end_where_counts_do(asked, tmp_path):
    for number in range(5):
        found = publish(
            SURVEY,
            "count",
            "age > 64",
            relation="exchange",
            public_membership=True,
            **GROUPED,
            **asked,
            ledger=tmp_path / f"{number}.ledger",
        )
        mechanism = found.sidecars[None]["mechanism"]
        assert (mechanism["lower"], mechanism["upper"]) == (0, [3, 2])
        assert all(0 <= value <= most for value, most in zip(found.answers.values, [3, 2], strict=True))


def test_yes_or_no_is_answered_by_pairs_below_the_curve_and_charged_as_asked(ledger):
    planned = plan(SURVEY, "majority", "age > 64", mu=1, delta="1e-6")
    assert planned.describe_cost() == (f"{planned.cost} for adding or removing one record; each answer keeps μ = 1")
    found = publish(SURVEY, "majority", "age > 64", mu=1, delta="1e-6", ledger=ledger)
    assert found.cost == planned.cost
    assert found.sidecars[None]["privacy"] == {"gaussian": "1"}
    assert found.sidecars[None]["mechanism"]["pairs"] == {"gaussian": "1", "gap": "0.000001"}


def test_a_selection_has_a_pair_of_its_own_beside_gaussian_privacy(ledger):
    asked = {"by": "town", "select_groups": True, "mu": 1, "delta": "1e-6"}
    with pytest.raises(BadInput, match="under Gaussian privacy"):
        publish(SURVEY, "count", **asked, ledger=ledger)
    own = {"selection_epsilon": 1, "selection_delta": "1e-3"}
    found = publish(SURVEY, "count", **asked, **own, ledger=ledger)
    assert found.cost == POINT + Cost(1, "1e-3")


def test_several_pairs_select_groups_where_no_delta_is_0():
    planned = plan(SURVEY, "count", by="town", select_groups=True, privacy=MANY)
    assert str(planned.cost) == "ε = 2, δ = 0.000001"
    apart = plan(SURVEY, "at-least", 2, by="town", select_groups=True, privacy=MANY)
    assert str(apart.cost) == "ε = 4, δ = 0.000002"
    with pytest.raises(BadInput, match="must be above 0 to select groups"):
        plan(SURVEY, "count", by="town", select_groups=True, privacy=TWO)


def test_a_limit_refuses_what_a_gaussian_count_is_charged(ledger):
    session = Session(SURVEY, ledger=ledger, limit=("4.8", "1e-6"))
    with pytest.raises(BudgetRefused):
        session.count(mu=1, delta="1e-6")
    assert session.releases() == []
    session.count(mu="0.9", delta="1e-6")
    assert len(session.releases()) == 1


@pytest.mark.parametrize(("asked", "said"), [
    (
        {"mu": 1},
        "delta: is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised;"
        " add delta=1e-6, or charge a ledger that has a limit in mu",
    ),
    ({"mu": 1, "epsilon": 1, "delta": "1e-6"}, "epsilon: cannot be given with mu=; leave one of the two out"),
    ({"mu": 1, "audience": {"a": 1}}, "audience: states epsilon already; leave out mu="),
    ({"privacy": TWO, "audience": {"a": 1}}, "audience: states epsilon already; leave out privacy="),
    ({"privacy": Privacy(epsilon=1), "delta": "0.1"}, "delta: is said by privacy= already; leave it out"),
    ({}, "epsilon: is missing; add epsilon=1"),
])  # fmt: skip
def test_what_does_not_fit_together_is_refused_before_anything_is_spent(asked, said, ledger):
    with pytest.raises(BadInput) as refused:
        publish(SURVEY, "count", **asked, ledger=ledger)
    assert str(refused.value) == said
    assert not ledger.exists()


def test_the_command_line_asks_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age,town\n70,Ely\n30,York\n")
    assert run(["publish", "t.csv", "count", "--mu", "1", "--delta", "1e-6", "--out", "a.csv"]) == 0
    assert "each answer keeps μ = 1" in capsys.readouterr().out
    assert json.loads(Path("a.csv.release.json").read_text())["privacy"] == {"gaussian": "1"}
    assert run(["publish", "t.csv", "count", "--privacy", '{"gaussian": 1}', "--delta", "1e-6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is True
    assert run(["publish", "t.csv", "count", "--privacy", json.dumps(TWO), "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cost"] == {"epsilon": "1", "delta": "0"}
    assert document["expected_error"] == {"mean_absolute": pytest.approx(1.88, abs=0.01), "within_95_percent": 6}
    assert run(["publish", "t.csv", "count", "--mu", "2"]) == 2
    assert capsys.readouterr().err.endswith("add --delta 1e-6, or charge a ledger that has a limit in mu\n")
