"""What every JSON document says of its command, at every status; the log of a command; lines that agree."""

import json
import logging
import re
import sqlite3
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp as library
from irisdp import _events
from irisdp._cli import command_facts
from irisdp._exact import rational, told_above, told_below
from irisdp._release import running
from support.commands import irisdp

PLAN = """[datasets.survey]
data = "survey.csv"
ledger = "run.ledger"

[[questions]]
query = "count"
epsilon = 1

[[questions]]
query = "count"
expression = "age > 64"
epsilon = "1/2"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("age,town\n70,Ely\n30,Ely\n81,Zyx\n")
    Path("plan.toml").write_text(PLAN)
    Path("batch.json").write_text(
        json.dumps(
            {"data": "survey.csv", "budget": {"epsilon": 1}, "ledger": "b.ledger", "questions": [{"query": "count"}]}
        )
    )
    Path("spec.json").write_text('{"kind": "geometric", "n": 2, "privacy": {"epsilon": 1}}')


COUNT = "publish survey.csv count --epsilon 1/3 --ledger l.ledger --json"


def spent(place):
    """Return the sum of ε in a ledger, with nothing of Iris."""
    with sqlite3.connect(place) as connection:
        return sum((Fraction(text) for (text,) in connection.execute("SELECT epsilon FROM release")), Fraction(0))


def charged(ended):
    """Return by ledger what a document says was charged."""
    return {Path(one["ledger"]).name: rational(one["epsilon"], "epsilon") for one in ended.command["charged"]}


def test_a_document_says_what_was_charged_when_and_by_which_version():
    first, again = irisdp(COUNT), irisdp(COUNT)
    assert charged(first) == {"l.ledger": spent("l.ledger")} == {"l.ledger": Fraction(1, 3)}
    assert (again.command["charged"], again.command["status"], again.command["name"]) == ([], 0, "publish")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", first.command["date"])
    assert first.command["version"] == library.__version__
    assert 0 <= first.command["seconds"] < 600


def test_questions_of_a_plan_are_summed_by_ledger():
    assert (
        charged(irisdp("run plan.toml --json")) == {"run.ledger": spent("run.ledger")} == {"run.ledger": Fraction(3, 2)}
    )
    assert charged(irisdp("batch batch.json --json --another-ledger")) == {"b.ledger": 1}


STATUSES = {
    "publish survey.csv count --epsilon 5 --ledger full.ledger --json": 1,
    "publish survey.csv count --epsilon 5 --ledger full.ledger --json --dry-run": 1,
    "publish survey.csv count --epsilon x --json": 2,
    "publish missing.csv count --epsilon 1 --json": 2,
    "publish survey.csv count --epsilon 1 --out missing/o.csv --json": 2,
    "publish survey.csv count --epsilon 1 --ledger postgresql://u@127.0.0.1:1/d --json": 4,
    "publish survey.csv count --json --epsilom 1": 2,
    "run missing.toml --json": 2,
    "batch missing.json --json": 2,
    "check missing.csv --json": 2,
    "ledger missing.ledger --json": 2,
    "ledger full.ledger --json": 0,
    "ledger full.ledger --verify --json": 0,
    "audit missing.json --json": 2,
    "audit m.json --epsilon 1/2 --json": 1,
    "audit m.json --json": 0,
    "compare count --epsilon 1 --json": 0,
    "check survey.csv --json": 0,
    "publsh --json": 2,
}


@pytest.mark.parametrize("command", STATUSES)
def test_every_status_has_one_document_with_the_same_keys(command):
    irisdp("ledger full.ledger --limit 1")
    irisdp("design spec.json -o m.json")
    ended = irisdp(command)
    assert ended.status == STATUSES[command] == ended.command["status"]
    assert ended.command["charged"] == []
    assert set(ended.command) == {"name", "status", "charged", "date", "seconds", "version"}
    assert (ended.status in (0, 1)) or set(ended.document) >= {"error"}


def test_what_stopped_a_run_after_a_charge_says_what_was_charged():
    publish, asked = running.publish_checked, []

    def second_fails(*arguments, **options):
        asked.append(arguments)
        if len(asked) == 2:
            raise RuntimeError("81")
        return publish(*arguments, **options)

    with patch.object(running, "publish_checked", second_fails):
        ended = irisdp("run plan.toml --json")
    assert (ended.status, charged(ended)) == (3, {"run.ledger": 1})
    assert spent("run.ledger") == 1


def test_an_interrupt_prints_its_document():
    with patch.object(running, "publish_checked", side_effect=KeyboardInterrupt):
        ended = irisdp("run plan.toml --json")
    assert (ended.status, ended.command["status"]) == (130, 130)
    assert ended.document["error"].startswith("stopped; what was charged by then is kept")


def test_a_restore_that_is_accepted_says_what_it_charged():
    irisdp(COUNT)
    kept = Path("l.ledger").read_bytes()
    irisdp("publish survey.csv count --epsilon 1/5 --ledger l.ledger --where age>64")
    Path("l.ledger").write_bytes(kept)
    ended = irisdp("ledger l.ledger --accept-restore --beside survey.csv --json")
    assert charged(ended) == {"l.ledger": Fraction(1, 5)}


def test_files_of_formats_of_their_own_are_printed_as_they_are_written():
    printed = json.loads(irisdp("design spec.json --json -o m.json").out)
    assert printed == json.loads(Path("m.json").read_text())
    assert irisdp("audit m.json").status == 0


# Logs.

EVENTS = ["began", "reading", "looked up", "charging", "charged", "written", "done"]


def lines(path="n.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_a_log_in_json_has_the_events_in_order_with_ids_and_durations():
    assert irisdp(f"{COUNT} --log-file n.jsonl --out o.csv").status == 0
    told = lines()
    assert [line["event"] for line in told] == EVENTS
    (charge,) = (line for line in told if line["event"] == "charged")
    assert (charge["ids"], charge["repeated"], charge["charge"]) == ([1], False, {"epsilon": "1/3", "delta": "0"})
    assert charge["logger"] == "irisdp.release"
    assert charge["seconds"] >= 0
    (written,) = (line for line in told if line["event"] == "written")
    assert Path(written["files"][0]).name == "o.csv"
    irisdp(f"{COUNT} --log-file n.jsonl")  # appended
    assert len(lines()) == len(EVENTS) * 2 - 1
    assert [line["repeated"] for line in lines() if line["event"] == "charged"] == [False, True]


def test_a_log_in_text_has_one_line_an_event():
    irisdp(f"{COUNT} --log-file n.log --out o.csv")
    told = Path("n.log").read_text().splitlines()
    assert len(told) == len(EVENTS)
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00 INFO irisdp\.", line) for line in told)
    assert "charge='ε = 1/3, δ = 0'" in told[EVENTS.index("charged")]


def test_a_refusal_is_an_event():
    irisdp("ledger full.ledger --limit 1")
    irisdp("publish survey.csv count --epsilon 5 --ledger full.ledger --log-file n.jsonl")
    last = lines()[-1]
    assert (last["event"], last["level"], last["status"]) == ("refused", "ERROR", 1)
    assert "not enough budget" in last["error"]


@pytest.mark.parametrize("name", ["n.jsonl", "n.log"])
def test_no_answer_and_no_value_reaches_a_log(name):
    Path("towns.csv").write_text("town\n" + "Qwertz\nQwertz\nAsdfgh\n" * 50)
    ask = (
        "publish towns.csv count --by town --select-groups --epsilon 5 --delta 1e-2 --ledger t.ledger --json --log-file"
    )
    ended = irisdp(f"{ask} {name}")
    answers = [str(row["answer"]) for row in ended.document["answers"]]
    assert answers  # there is something to hide
    text = Path(name).read_text()
    assert "Qwertz" not in text
    assert "Asdfgh" not in text
    told = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+|seconds\W+[\d.]+|[0-9a-f]{12}", "", text)
    assert not any(re.search(rf"\b{answer}\b", told) for answer in answers if len(answer) > 1)


def test_an_internal_error_is_named_by_its_place_alone():
    with (
        patch.object(running, "publish_checked", side_effect=RuntimeError("secret 81")),
        pytest.raises(RuntimeError),
    ):
        library.run("plan.toml")
    with patch.object(running, "publish_checked", side_effect=RuntimeError("secret 81")):
        irisdp("run plan.toml --log-file n.jsonl")
    assert [line["event"] for line in lines()] == ["began", "question", "failed"]
    assert "secret" not in Path("n.jsonl").read_text()


def test_a_log_is_appended_to_no_other_file():
    before = Path("survey.csv").read_bytes()
    for name in ("survey.csv", "plan.toml", "spec.json"):
        ended = irisdp(f"{COUNT} --log-file {name}")
        assert (ended.status, ended.document["field"]) == (2, "--log-file")
    assert Path("survey.csv").read_bytes() == before
    assert not Path("l.ledger").exists()
    assert irisdp(f"{COUNT} --log-file .").status == 2
    assert irisdp(f"{COUNT} --log-file missing/n.log").status == 4


def test_a_log_that_cannot_be_written_stops_nothing():
    with patch.object(command_facts.os, "write", side_effect=OSError(28, "No space left on device")):
        ended = irisdp(f"{COUNT} --log-file n.log")
    assert (ended.status, charged(ended)) == (0, {"l.ledger": Fraction(1, 3)})
    assert "log-file: could not be written (No space left on device)" in ended.err


def test_the_library_logs_to_nobody_unless_asked(caplog, capfd):
    library.run("plan.toml")
    assert capfd.readouterr().err == ""
    with caplog.at_level(logging.INFO, "irisdp"):
        library.run("plan.toml")
    told = [(record.name, record.event) for record in caplog.records]
    assert told[0] == ("irisdp.run", "began")
    assert told[-1] == ("irisdp.run", "done")
    assert [event for _, event in told].count("charged") == 2


def test_a_handler_that_fails_stops_nothing():
    class Failing(logging.Handler):
        def emit(self, record):
            raise RuntimeError

    handler, logger = Failing(), logging.getLogger(_events.ROOT)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        assert len(library.run("plan.toml")) == 2
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


# Lines that agree with themselves.


@given(
    limit=st.integers(1, 5000).map(lambda number: Fraction(number, 1000)),
    parts=st.tuples(st.integers(0, 10**9), st.integers(10**9, 10**9 + 99)),
)
def test_what_is_spent_and_what_is_left_add_up_to_the_limit_as_they_are_shown(limit, parts):
    spent = limit * Fraction(*parts)
    left = limit - spent
    shown = [told_above("ε", spent).split()[-1], told_below("ε", left).split()[-1]]
    if min(spent, left) >= Fraction(1, 1000) and not any("/" in text for text in shown):
        rounded = [len(text.partition(".")[2]) for text in shown]
        if max(rounded) <= 6:
            assert Fraction(shown[0]) + Fraction(shown[1]) == limit
    assert Fraction(shown[0]) >= spent
    assert Fraction(shown[1]) <= left


def test_lines_of_a_release_agree_to_the_digit():
    irisdp("ledger l.ledger --limit 2")
    out = irisdp("publish survey.csv count --ratio 2 --ledger l.ledger").out
    irisdp("publish survey.csv count --where age>64 --epsilon 1 --ledger l.ledger")
    later = irisdp("ledger l.ledger").out
    assert "cost      ε ≤ 0.693148" in out
    assert "spent ε ≤ 0.693148, δ = 0 of ε = 2, δ = 0; left ε ≥ 1.306852, δ = 0" in " ".join(out.split())
    assert "spent    ε ≤ 1.693148" in later
    assert "left     ε ≥ 0.306852" in later
