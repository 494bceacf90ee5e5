"""Publishing: what is printed, written, charged and repeated."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.parquet
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused
from irisdp._cli import run

ANES = Path(__file__).parents[2] / "examples" / "anes96.csv"
EDUCATION = "1,2,3,4,5,6,7"


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "anes96.csv"
    file.write_bytes(ANES.read_bytes())
    return file


def call(capsys, *arguments):
    status = run([*map(str, arguments), "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out)


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


@pytest.mark.parametrize(
    ("options", "epsilon", "delta"),
    [
        (["--relation", "exchange"], "1", "0"),
        (["--by", "educ", "--groups", "1,2", "--relation", "exchange"], "2", "0"),
        (["--by", "educ", "--groups", "1,2", "--relation", "exchange", "--public-membership"], "1", "0"),
        (["--by", "educ", "--select-groups", "--delta", "1e-6"], "1", "0.000001"),
        (["--by", "educ", "--select-groups", "--delta", "1e-6", "--relation", "exchange"], "2", "0.000002"),
        (["--by", "educ", "--select-groups", "--selection-delta", "1e-6"], "2", "0.000001"),
        (["--by", "educ", "--select-groups", "--selection-epsilon", "1/2", "--delta", "1e-6"], "1.5", "0.000001"),
        (["--unit", "age", "--at-most", "1"], "1", "0"),
        (["--delta", "1e-6"], "1", "0.000001"),
    ],
)
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
        assert "only ε = 0.4, δ = 0 is new if the data is what it was at the last release" in said
        assert "would be refused if the data has changed" in said
        assert (ledger["refused"], ledger["left"]) == (False, {"epsilon": "0.5", "delta": "0"})
        assert ledger["if_unchanged"] == {"repeated": False, "cost": {"epsilon": "0.4", "delta": "0"}, "refused": None}
        assert ledger["if_changed"]["refused"]["left"] == {"epsilon": "0.5", "delta": "0"}
        said, ledger = self.dry(capsys, *count, "0.5")
        assert "nothing if the data is what it was at the last release: this was answered before, and is free" in said
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
        assert "would be refused unless the data is what was answered about under another name" in said
        assert ledger["if_unchanged"]["repeated"] is True

    def test_the_same_whatever_the_records(self, table, capsys):
        call(capsys, "publish", "anes96.csv", "count", "--epsilon", 1)
        command = ("publish", "anes96.csv", "count", "--epsilon", 1)
        full = self.dry(capsys, *command)
        table.write_text(table.read_text().splitlines()[0] + "\n")
        assert self.dry(capsys, *command) == full


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
