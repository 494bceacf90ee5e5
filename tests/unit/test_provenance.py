"""Sidecars say of which table answers are, when they were drawn and by which version: the same whenever one asks."""

import contextlib
import datetime
import json
import sqlite3
from types import SimpleNamespace

import pytest

import irisdp
from irisdp._ledger import entries
from irisdp._release import release_file

pytestmark = pytest.mark.usefixtures("one_engine")


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.csv").write_text("town,age\nEly,70\nYork,30\nEly,81\n")
    return tmp_path / "survey.csv"


def published(survey, name="o.csv", **options):
    out = survey.with_name(name)
    irisdp.publish(survey, "count", "age > 64", epsilon=1, out=out, force=True, **options)
    return out.with_name(f"{name}.release.json")


def clock(year):
    return SimpleNamespace(now=lambda zone: datetime.datetime(year, 1, 2, 3, 4, 5, tzinfo=zone))


def test_a_sidecar_says_table_date_version_and_expected_error(survey, monkeypatch):
    monkeypatch.setattr(entries, "datetime", clock(2030))
    told = json.loads(published(survey).read_text(encoding="utf-8"))
    assert told["table"] == "survey.csv"
    assert told["date"] == "2030-01-02T03:04:05+00:00"
    assert told["version"] == irisdp.__version__
    assert told["expected_error"] == irisdp.plan(survey, "count", "age > 64", epsilon=1).to_document()["expected_error"]


def test_whoever_asks_again_later_with_another_version_gets_the_same_bytes(survey, monkeypatch):
    monkeypatch.setattr(entries, "datetime", clock(2030))
    first = published(survey).read_bytes()
    monkeypatch.setattr(entries, "datetime", clock(2031))
    monkeypatch.setattr(release_file, "VERSION", "9.9")
    assert published(survey).read_bytes() == first
    again = json.loads(published(survey, "p.csv", by="town", groups=["Ely"]).read_text(encoding="utf-8"))
    assert (again["version"], again["date"][:4]) == ("9.9", "2031")


def test_the_name_that_was_given_and_the_rule_of_the_unit_are_said(survey):
    told = json.loads(published(survey, table="survey of 2024", unit="town", at_most=1).read_text(encoding="utf-8"))
    assert told["table"] == "survey of 2024"
    assert told["unit_rule"].startswith("one record kept per town")


def test_a_ledger_that_does_not_say_is_no_error(survey):
    before = json.loads(published(survey).read_text(encoding="utf-8"))
    for details in ("{}", "no JSON", "[]"):
        with contextlib.closing(sqlite3.connect(survey.with_suffix(".ledger"))) as database, database:
            database.execute("UPDATE release SET details = ?", (details,))
        told = json.loads(published(survey).read_text(encoding="utf-8"))
        assert told == {**before, "table": None, "version": None}


def test_questions_of_a_batch_say_it_too(survey):
    asked = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}, {"query": "count", "expression": "age > 1"}]}
    for found in irisdp.batch(asked, data=survey):
        told = found.sidecars[None]
        assert (told["table"], told["version"]) == ("survey.csv", irisdp.__version__)
        assert told["expected_error"]["within_95_percent"] > 0
