"""A question is the same with each release of an engine that reads alike, and another one with any other release."""

import json

import pyarrow as pa
import pytest

import irisdp
from irisdp._release import dry_run_question
from irisdp._release.planning import plan
from irisdp._tables import engine
from support import engine_readings

TABLE = pa.table({"g": ["a", "b", "a", "c"], "v": [1, 2, 3, 4]})


def with_release(monkeypatch, release):
    """Let the engine be called a release, which only names it in questions."""
    monkeypatch.setattr(engine, "release_of", lambda version: release)


def charged(ledger):
    return [str(release.cost) for release in ledger.releases()]


@pytest.mark.parametrize(("first", "second"), [("1.5", "2.0"), ("2.0", "1.5")])
def test_an_answer_stays_free_with_a_release_that_reads_alike(monkeypatch, tmp_path, first, second):
    ledger = irisdp.Ledger(tmp_path / "t.ledger")
    ask = {"by": "g", "groups": ["a", "b"], "epsilon": 1, "ledger": ledger}
    with_release(monkeypatch, first)
    before = irisdp.publish(TABLE, "count", "v > 1", **ask)
    with_release(monkeypatch, second)
    assert dry_run_question(TABLE, "count", "v > 1", **ask).outlook.unchanged.repeated
    again = irisdp.publish(TABLE, "count", "v > 1", max_charge=0, **ask)
    assert again.repeated
    assert again.anew is None
    assert again.answers.values == before.answers.values
    assert charged(ledger) == [str(before.cost)]
    assert irisdp.publish(TABLE, "count", "v > 1", **ask).repeated
    assert len(ledger.releases()) == 1


def test_a_batch_stays_free_with_a_release_that_reads_alike(monkeypatch, tmp_path):
    asked = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}, {"query": "count", "expression": "v > 1"}]}
    with_release(monkeypatch, "1.5")
    irisdp.batch(asked, data=TABLE, ledger=tmp_path / "t.ledger")
    with_release(monkeypatch, "2.0")
    assert irisdp.batch(asked, data=TABLE, ledger=tmp_path / "t.ledger").repeated
    with_release(monkeypatch, "2.1")
    assert not irisdp.batch(asked, data=TABLE, ledger=tmp_path / "t.ledger").repeated


@pytest.mark.parametrize("release", ["1.4", "2.1", "99.0"])
def test_a_release_that_nobody_compared_asks_another_question(monkeypatch, tmp_path, release):
    ledger = irisdp.Ledger(tmp_path / "t.ledger")
    for name in ("2.0", release):
        with_release(monkeypatch, name)
        found = irisdp.publish(TABLE, "count", epsilon=1, ledger=ledger)
        assert not found.repeated
    assert charged(ledger) == ["ε = 1, δ = 0"] * 2


def test_both_answers_of_a_ledger_that_was_charged_for_both_are_kept(monkeypatch, tmp_path):
    """A ledger of an earlier version may hold a question twice; each release finds its own answer."""
    ledger, drawn = irisdp.Ledger(tmp_path / "t.ledger"), {}
    for name in ("1.5", "2.0"):
        with_release(monkeypatch, name)
        with monkeypatch.context() as earlier:
            earlier.setattr("irisdp._release.plans.Plan.questions_alike", lambda self: ())
            drawn[name] = irisdp.publish(TABLE, "count", epsilon="1/1000", ledger=ledger).answers.values
    for name in ("1.5", "2.0"):
        with_release(monkeypatch, name)
        assert irisdp.publish(TABLE, "count", epsilon="1/1000", ledger=ledger).answers.values == drawn[name]
    assert len(ledger.releases()) == 2


@pytest.mark.parametrize(
    ("words", "options", "alike"),
    [
        (("count", "v > 3"), {}, True),
        (("count",), {"by": "v", "groups": ["1", "2"]}, True),
        (("mean", "v"), {"lower": 0, "upper": 9, "step": 1}, True),
        (("count", "CAST(v AS INT) > 3"), {}, False),
        (("count",), {"by": "x = CAST(v AS INT)", "groups": [1, 2]}, False),
        (("count",), {"by": "v", "groups": [1, 2], "types": {"v": "integer"}}, False),
        (("count",), {"unit": "v", "person": "n = SUM(w)"}, False),
    ],
)
def test_text_that_is_read_as_whole_numbers_is_another_question(tmp_path, words, options, alike):
    (tmp_path / "t.csv").write_text("v,w\n1,2\n")
    planned = plan(tmp_path / "t.csv", *words, epsilon=1, **options)
    assert bool(planned.asked.readers) == (alike and planned.table.reader.endswith(("duckdb 1.5", "duckdb 2.0")))


def test_the_release_here_reads_as_the_record_says():
    """`_tables/engine_versions.py` lists the releases that do; another one stands alone until it is compared."""
    record = json.loads(engine_readings.RECORD.read_text())
    if not plan(TABLE, "count", epsilon=1).asked.readers:
        pytest.skip("this release of DuckDB is in no class")
    found = engine_readings.readings()
    differing = {name for name, said in record["readings"].items() if found.get(name) != said}
    assert differing <= set(record["apart"])
    assert found.keys() == record["readings"].keys()


def test_the_record_would_notice_another_reading(monkeypatch):
    record = json.loads(engine_readings.RECORD.read_text())["readings"]
    real = engine_readings.statements
    monkeypatch.setattr(engine_readings, "expressions", dict)
    monkeypatch.setattr(engine_readings, "questions", dict)
    planted = {"doubles +": "v - w", "letters: UPPER(v)": "LOWER(v)", "doubles <": "v < w"}  # the last is right
    monkeypatch.setattr(
        engine_readings,
        "statements",
        lambda: ((name, table, planted[name]) for name, table, _ in real() if name in planted),
    )
    found = engine_readings.readings()
    assert {name for name in planted if found[name] != record[name]} == {"doubles +", "letters: UPPER(v)"}
