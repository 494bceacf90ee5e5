"""The page of a plan over several tables says nothing of one that could be taken for all."""

from dataclasses import replace
from pathlib import Path

import pytest

import irisdp
from irisdp._views.reports.batch_pages import plan_page
from irisdp._views.reports.inputs import given_of
from support.read_pages import ReadPage


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, times in (("loans", 5), ("lake", 6)):
        (tmp_path / f"{name}.csv").write_text("member,kind\n" + "1,a\n1,b\n2,a\n" * times)


def planned(*questions):
    given = []
    for place, (table, question, options) in enumerate(questions):
        out = f"{place}.csv"
        irisdp.publish(f"{table}.csv", *question, out=out, **({"epsilon": 1} | options))
        given.append(given_of(Path(out)))
    return given


def test_what_is_said_of_one_table_is_not_said_of_all():
    given = planned(
        ("loans", ("count",), {"epsilon": "1.5", "delta": "1e-6"}),
        ("lake", ("count",), {"epsilon": "0.35", "unit": "member", "at_most": 1}),
        ("lake", ("count", "kind = 'a'"), {"epsilon": "0.25", "unit": "member", "at_most": 1}),
    )
    page = ReadPage(plan_page(given, [None, "second", None], "week"))
    assert page.problems == []
    assert "before and after these questions about lake.csv" in page.text
    assert "all of this" not in page.text
    assert "costs add up across them too" in page.text
    assert "3 questions about loans.csv, lake.csv" in page.text and "The plan “week”: 3 questions, each" in page.text
    assert "2. second: count per member" in page.text
    alone = ReadPage(plan_page(given[1:2], [None], "week")).text
    assert "before and after this question about lake.csv" in alone and "across tables" not in alone


def test_dates_are_those_of_all_answers():
    given = planned(("loans", ("count",), {}), ("loans", ("count", "kind = 'a'"), {}))
    dates = ("2026-11-24T00:40:39", "2027-02-01T10:00:00")
    given = [replace(one, sidecar={**one.sidecar, "date": date}) for one, date in zip(given, dates, strict=True)]
    page = ReadPage(plan_page(given, [None, None], "week")).text
    assert "between 2026-11-24T00:40:39 and 2027-02-01T10:00:00." in page
    assert "Drawn2026-11-24T00:40:39" in page and "Drawn2027-02-01T10:00:00" in page
    assert "on 2026-11-24T00:40:39." in ReadPage(plan_page(given[:1], [None], "week")).text


def test_an_answer_outside_its_ends_is_not_said_to_be_between_them():
    given = planned(("loans", ("count-distinct", "kind"), {"epsilon": "0.05"}))
    for page in (plan_page(given, [None], "week"), irisdp.report(Path("0.csv"))):
        text = ReadPage(page).text
        assert "and so lie outside its interval. Quote the interval;" in text
        assert "between them" not in text
