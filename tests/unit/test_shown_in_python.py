"""What `print` shows of a plan and of an interpretation is what the command line shows."""

from pathlib import Path

import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run

SURVEY = Path(__file__).parents[2] / "examples" / "anes96.csv"


@pytest.fixture
def session(tmp_path):
    return irisdp.Session(str(SURVEY), ledger=tmp_path / "survey.ledger")


@pytest.mark.parametrize(
    ("query", "options", "words"),
    [
        (("count", "age > 64"), {}, ["count", "age > 64"]),
        (("count",), {"by": "vote", "groups": "0,1"}, ["count", "--by", "vote", "--groups", "0,1"]),
        (("plurality", "PID"), {"categories": "0,1,2,3,4,5,6"}, ["plurality", "PID", "--categories", "0,1,2,3,4,5,6"]),
        (("median", "age"), {"bins": "30,50"}, ["median", "age", "--bins", "30,50"]),
    ],
    ids=["count", "groups", "winner", "median"],
)
def test_a_plan_prints_the_lines_of_a_dry_run(session, tmp_path, capsys, monkeypatch, query, options, words):
    monkeypatch.setenv("COLUMNS", "400")
    shown = str(session.plan(*query, epsilon=1, **options)).splitlines()
    assert run(["publish", str(SURVEY), *words, "--epsilon", "1", "--dry-run", "--ledger", str(tmp_path / "x")]) == 0
    typed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line.strip() for line in shown] == typed[: len(shown)]
    assert typed[len(shown)].startswith("ledger")


def test_an_interpretation_prints_the_sentence_of_the_command(session, tmp_path, capsys):
    published = session.count("age > 64", epsilon=1, out=tmp_path / "old.csv")
    (number,) = published.answers.values
    shown = str(irisdp.interpret(tmp_path / "old.csv"))
    assert shown == f"Published {number}; the truth is probably {number - 3} to {number + 3} (95 %)"
    assert run(["interpret", str(tmp_path / "old.csv")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown
    assert run(["interpret", str(tmp_path / "old.csv"), "--value", str(number)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown


def test_an_interpretation_of_groups_prints_a_table(session):
    published = session.count(by="vote", groups="0,1", epsilon=1)
    lines = str(irisdp.interpret(published)).splitlines()
    assert lines[0] == "Published 2 counts; each truth is probably between low and high (95 %)"
    assert lines[1].split() == ["vote", "published", "reading", "low", "high"]
    assert [int(line.split()[1]) for line in lines[2:]] == list(published.answers.values)


@pytest.mark.parametrize(
    ("option", "instead"), [("dry_run", "plan(query"), ("json", "to_document()"), ("verbose", "print(result.plan)")]
)
def test_options_of_the_command_line_are_answered_with_what_python_has(session, option, instead):
    with pytest.raises(BadInput, match="is no option") as refused:
        session.count("age > 64", epsilon=1, **{option: True})
    assert instead in refused.value.remedy
