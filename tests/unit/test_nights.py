"""What runs every night: files with the day in their names, and plans that are checked without data."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import irisdp as library
from irisdp import BadInput
from irisdp._release import dated_names
from irisdp._release.dated_names import dated
from support.commands import irisdp

FIRST = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
COUNT = "publish visits.csv count --epsilon 1/4 --ledger l.ledger --json"
TABLE = "person,town,age,pay,seen\n" + "".join(
    f"p{row // 2},{'Ely' if row % 3 else 'York'},{20 + row},{row}.5,2026-0{1 + row % 9}-11\n" for row in range(30)
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(TABLE)


@pytest.fixture(autouse=True)
def today(monkeypatch):
    """Let the clock stand, and return what moves it."""
    now = [FIRST]

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return now[0].astimezone(zone)

    monkeypatch.setattr(dated_names, "datetime", Clock)
    return lambda *when: now.__setitem__(0, datetime(*when, tzinfo=UTC))


def spent(place="l.ledger"):
    """Return how many releases a ledger holds, with nothing of Iris."""
    with sqlite3.connect(place) as connection:
        return connection.execute("SELECT count(*) FROM release").fetchone()[0]


def states(pattern):
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path().glob(pattern)}


# Names with the day in them.


def test_a_name_has_the_day_the_month_and_the_year_in_utc():
    assert dated("{year}/v-{month}-{date}.csv", "out") == "2026/v-2026-03-2026-03-31.csv"
    assert dated(Path("v-{date}.csv"), "out") == Path("v-2026-03-31.csv")
    assert dated("v.csv", "out") == "v.csv"
    assert dated("v{1}{}.csv", "out") == "v{1}{}.csv"
    assert dated(None, "out") is None


@pytest.mark.parametrize("name", ["v-{dat}.csv", "v-{Date}.csv", "{date}-{x}.csv"])
def test_another_word_in_braces_is_refused_before_anything_is_spent(name):
    ended = irisdp(f"{COUNT} --out {name}")
    assert (ended.status, ended.document["field"]) == (2, "--out")
    assert "write one of {date}, {month}, {year}" in ended.document["remedy"]
    assert not Path("l.ledger").exists()


def test_a_second_run_of_the_day_keeps_its_files_untouched_and_is_free():
    first = irisdp(f"{COUNT} --out v-{{date}}.csv")
    assert Path(first.document["out"][0]).name == "v-2026-03-31.csv"
    before = states("v-*")
    assert len(before) == 3
    again = irisdp(f"{COUNT} --out v-{{date}}.csv")
    assert (again.status, again.document["repeated"], again.document["out"]) == (0, True, first.document["out"])
    assert states("v-*") == before
    assert spent() == 1


def test_the_next_day_writes_files_of_its_own_and_leaves_the_others(today):
    irisdp(f"{COUNT} --out v-{{date}}.csv")
    before = states("v-*")
    today(2026, 4, 1, 0, 0)
    assert irisdp(f"{COUNT} --out v-{{date}}.csv").document["repeated"]
    assert before.items() < states("v-*").items()
    assert Path("v-2026-04-01.csv").read_bytes() == Path("v-2026-03-31.csv").read_bytes()
    Path("visits.csv").write_text(TABLE + "p99,Ely,40,1,2026-01-01\n")
    today(2026, 4, 2)
    assert not irisdp(f"{COUNT} --out v-{{date}}.csv").document["repeated"]
    assert spent() == 2


def test_new_answers_for_a_file_of_the_day_are_refused_before_they_are_charged():
    irisdp(f"{COUNT} --out v-{{date}}.csv")
    before = states("v-*")
    Path("visits.csv").write_text(TABLE + "p99,Ely,40,1,2026-01-01\n")
    for more in ("", " --dry-run"):
        ended = irisdp(f"{COUNT} --out v-{{date}}.csv{more}")
        assert (ended.status, ended.command["charged"]) == (2, [])
        assert "v-2026-03-31.csv is there already" in ended.document["rule"]
    assert (states("v-*"), spent()) == (before, 1)
    assert irisdp(f"{COUNT} --out v-{{date}}.csv --force").status == 0
    assert spent() == 2


def test_a_file_of_the_day_that_somebody_changed_is_not_overwritten():
    irisdp(f"{COUNT} --out v-{{date}}.csv")
    Path("v-2026-03-31.csv").write_text("mine\n")
    ended = irisdp(f"{COUNT} --out v-{{date}}.csv")
    assert (ended.status, ended.command["charged"]) == (3, [])
    assert "it appeared meanwhile, or was changed" in ended.document["error"]
    assert Path("v-2026-03-31.csv").read_text() == "mine\n"


def test_a_name_without_the_day_is_refused_as_ever():
    irisdp(f"{COUNT} --out v.csv")
    assert irisdp(f"{COUNT} --out v.csv").status == 2


def test_each_audience_has_files_of_the_day():
    asked = (
        "publish visits.csv count --audience board=1 --audience press=1/2 --ledger a.ledger --out v-{date}.csv --json"
    )
    assert {Path(name).name for name in irisdp(asked).document["out"]} >= {
        "v-2026-03-31.board.csv",
        "v-2026-03-31.press.csv",
    }
    before = states("v-*")
    assert irisdp(asked).document["repeated"]
    assert states("v-*") == before


def test_batches_and_their_pages_have_the_day():
    document = {
        "data": "visits.csv",
        "ledger": "b.ledger",
        "budget": {"epsilon": 1},
        "out": "b-{date}.csv",
        "report": "b-{date}.html",
        "questions": [{"query": "count"}, {"query": "count", "expression": "age > 30"}],
    }
    Path("batch.json").write_text(json.dumps(document))
    assert irisdp("batch batch.json --json").status == 0
    assert {"b-2026-03-31.1.csv", "b-2026-03-31.2.csv", "b-2026-03-31.html"} <= set(states("b-*"))
    before = states("b-*.csv")
    again = irisdp("batch batch.json --json")
    assert (again.status, again.document["repeated"]) == (0, True)
    assert states("b-*.csv") == before


PLAN = """[datasets.visits]
data = "visits.csv"
ledger = "r.ledger"

[[questions]]
query = "count"
epsilon = "1/4"
out = "r-{date}.csv"
report = "r-{month}.html"
"""


def test_a_run_that_passes_midnight_keeps_its_first_day(today, monkeypatch):
    from irisdp._release import running

    Path("plan.toml").write_text(PLAN)
    publish = running.publish_checked

    def slowly(*arguments):
        today(2026, 4, 1)
        return publish(*arguments)

    monkeypatch.setattr(running, "publish_checked", slowly)
    asked = running.planned_again

    def midnight(*arguments, **options):
        today(2026, 4, 1)
        return asked(*arguments, **options)

    monkeypatch.setattr(running, "planned_again", midnight)
    assert irisdp("run plan.toml --json").status == 0
    assert set(states("r-*.csv")) == {"r-2026-03-31.csv"}
    assert set(states("r-*.html")) == {"r-2026-03.html"}
    monkeypatch.undo()


def test_a_plan_runs_twice_a_day_and_every_day(today):
    Path("plan.toml").write_text(PLAN)
    assert irisdp("run plan.toml").status == 0
    before = states("r-*.csv*")
    assert irisdp("run plan.toml --json").document["repeated"]
    assert states("r-*.csv*") == before
    today(2026, 4, 1)
    assert irisdp("run plan.toml --json").document["repeated"]
    assert len(states("r-*.csv")) == 2


# Plans without data.

SCHEMA = {"person": "text", "town": "text", "age": "integer", "pay": "number", "seen": "date"}
QUESTIONS = [
    'query = "count"',
    'query = "count"\nexpression = "age > 30"\nby = "town"\ngroups = ["Ely", "York"]',
    'query = "count"\nunit = "person"\nat_most = 2',
    'query = "count"\ngroups = ["2026"]\nby = "y = YEAR(seen)"',
    'query = "sum pay"\nlower = 0\nupper = 10\nstep = "1/2"',
    'query = "mean age"\nlower = 0\nupper = 99',
    'query = "median age"\nbins = "18,40,65"',
    'query = "plurality town"\ncategories = ["Ely", "York"]',
    'query = "majority"\nexpression = "pay > 3"',
    'query = "count-distinct town"',
    'query = "count"\nby = "town"\nselect_groups = true\ndelta = "1e-3"',
    'query = "bounds pay"',
]


def plan_of(data, *, more="", epsilon="1/8"):
    text = f'[datasets.visits]\ndata = "{data}"\nledger = "s.ledger"\n{more}'
    unit = [question for question in QUESTIONS if "unit" not in question]
    text += "".join(f'\n[[questions]]\n{question}\nepsilon = "{epsilon}"\n' for question in unit)
    Path("plan.toml").write_text(text)


def costs(document):
    return [(one["question"], one["cost"], one["expected_error"]) for one in document["questions"]]


@pytest.mark.parametrize("data", ["visits.csv", "visits.parquet"])
def test_without_data_a_plan_costs_what_it_costs_with_it(data):
    columns = {
        "person": [f"p{row}" for row in range(9)],
        "town": ["Ely"] * 9,
        "age": list(range(9)),
        "pay": [0.5] * 9,
        "seen": [datetime(2026, 1, 1).date()] * 9,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), "visits.parquet")
    types = "" if data.endswith("parquet") else "types = {age = 'integer', pay = 'number', seen = 'date'}\n"
    plan_of(data, more=types)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    told = irisdp("run plan.toml --dry-run --json").document
    Path(data).unlink()
    alone = irisdp("run plan.toml --dry-run --json --schema schema.json").document
    assert (alone["without_data"], "without_data" in told) == (True, False)
    assert costs(alone) == costs(told)
    assert [one["if_changed"] for one in alone["ledgers"]] == [one["if_changed"] for one in told["ledgers"]]
    assert alone["ledgers"][0]["file"] == str(Path("s.ledger").absolute())
    assert sorted(path.name for path in Path().iterdir() if path.name != "visits.csv") == sorted(
        {"plan.toml", "schema.json", *({"visits.parquet"} - {data})}
    )


def test_a_schema_finds_what_is_wrong_with_a_plan():
    plan_of("nowhere.parquet")
    Path("schema.json").write_text(json.dumps({**SCHEMA, "age": "text"}))
    ended = irisdp("run plan.toml --dry-run --json --schema schema.json")
    assert ended.status == 2
    assert ended.document["error"].startswith("question 2: expression: ")
    del SCHEMA_WITHOUT["town"]
    Path("schema.json").write_text(json.dumps(SCHEMA_WITHOUT))
    assert "'town'" in irisdp("run plan.toml --dry-run --json --schema schema.json").document["error"]


SCHEMA_WITHOUT = dict(SCHEMA)


def test_limits_of_the_project_and_of_the_caller_hold_without_data():
    plan_of("nowhere.csv")
    Path("schema.json").write_text(json.dumps(SCHEMA))
    assert irisdp("run plan.toml --dry-run --schema schema.json").status == 0
    assert irisdp("run plan.toml --dry-run --schema schema.json --max-charge 1").status == 1
    Path("nowhere.iris.toml").write_text('limit = "1,1e-2"\nskip_rows = 3\ndelimiter = ";"\n')
    ended = irisdp("run plan.toml --dry-run --schema schema.json --json")
    assert ended.status == 1
    assert "left of ε = 1" in ended.document["refused"]["error"]


def test_neither_a_table_nor_a_ledger_is_opened(monkeypatch):
    def opened(*_, **__):
        raise AssertionError

    monkeypatch.setattr("irisdp._ledger.server_store.LedgerServer.reading", opened)
    monkeypatch.setattr("irisdp._ledger.server_store.LedgerServer.exists", opened)
    text = '[datasets.a]\ndata = "postgresql://u@127.0.0.1:1/d#visits"\nledger = "postgresql://u@127.0.0.1:1/d"\n'
    Path("plan.toml").write_text(text + '[[questions]]\nquery = "count"\nepsilon = 1\n')
    Path("schema.json").write_text('{"age": "integer"}')
    ended = irisdp("run plan.toml --dry-run --schema schema.json")
    assert ended.status == 0
    assert "dry run: no table was opened, nothing was spent" in ended.out
    assert "postgresql://u@127.0.0.1:1/d: no limit is set, not opened" in " ".join(ended.out.split())


def test_datasets_of_one_ledger_are_summed_and_each_is_listed():
    text = "".join(f'[datasets.{name}]\ndata = "visits.csv"\nledger = "one.ledger"\n' for name in "ab")
    text += "".join(
        f'[[questions]]\nquery = "count"\nexpression = "age > {age}"\ndataset = "{name}"\nepsilon = 1\n'
        for name, age in (("a", 1), ("b", 2), ("b", 1))
    )
    Path("plan.toml").write_text(text)
    Path("schema.json").write_text('{"a": {"age": "integer"}, "b": {"age": "integer"}}')
    told = irisdp("run plan.toml --dry-run --json").document
    alone = irisdp("run plan.toml --dry-run --json --schema schema.json").document
    assert [one["if_changed"] for one in alone["ledgers"]] == [{"epsilon": "2", "delta": "0"}]
    assert [one["if_changed"] for one in told["ledgers"]] == [{"epsilon": "2", "delta": "0"}]
    Path("schema.json").write_text('{"a": {"age": "integer"}}')
    ended = irisdp("run plan.toml --dry-run --json --schema schema.json")
    assert (ended.status, ended.document["rule"]) == (2, "does not list the dataset b")


@pytest.mark.parametrize("schema", ["[]", "{}", "3", '{"age": "whole"}', '{"age": 3}', "{"])
def test_what_is_no_schema_is_refused(schema):
    plan_of("nowhere.csv")
    Path("schema.json").write_text(schema)
    ended = irisdp("run plan.toml --dry-run --json --schema schema.json")
    assert ended.status == 2
    assert irisdp("run plan.toml --json --schema missing.json --dry-run").status == 2
    assert irisdp("run plan.toml --json --schema schema.json").document["field"] == "--schema"


@pytest.mark.parametrize("partition", ['"month"', '{column = "seen", period = "month", from = "2026-01"}'])
def test_a_question_about_partitions_is_checked_as_one(partition):
    plan_of("nowhere", more=f"partition = {partition}\n")
    Path("schema.json").write_text(json.dumps({**SCHEMA, "month": "text"}))
    alone = irisdp("run plan.toml --dry-run --json --schema schema.json")
    assert (alone.status, len(alone.document["questions"])) == (0, len(QUESTIONS) - 1)
    Path("nowhere.iris.toml").write_text('partition = "month"\n')
    plan_of("nowhere")
    assert irisdp("run plan.toml --dry-run --json --schema schema.json").status == 0


def test_untyped_columns_are_read_as_a_question_needs():
    plan_of("nowhere.csv")
    Path("schema.json").write_text(json.dumps(dict.fromkeys(SCHEMA) | {"age": "integer"}))
    assert irisdp("run plan.toml --dry-run --schema schema.json").status == 0


def test_in_python_a_dated_file_is_written_and_refused_alike():
    options = {"epsilon": 1, "ledger": "p.ledger", "out": "p-{date}.csv"}
    assert library.publish("visits.csv", "count", **options).out[0].name == "p-2026-03-31.csv"
    assert library.publish("visits.csv", "count", **options).repeated
    with pytest.raises(BadInput, match=r"^out: knows no \{day\}; write one of"):
        library.publish("visits.csv", "count", **{**options, "out": "p-{day}.csv"})
