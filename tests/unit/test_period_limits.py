"""Limits of calendar periods: a pace within the ledger's limit, which no clock that is set back refreshes."""

import json
import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import BadInput, BudgetRefused, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._ledger import Partition, entries, period_limits
from irisdp._ledger.history import record
from irisdp._ledger.simulation import simulated
from support.commands import irisdp

SCOPE = {"table": "t.csv", "columns": {"a": "untyped"}, "relation": "add-remove", "unit": None}


@pytest.fixture
def clock(monkeypatch):
    """Let the clock of ledgers stand, and return what sets it."""
    now = [datetime(2026, 11, 28, 12, tzinfo=UTC)]

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return now[0].astimezone(zone)

    for module in (entries, period_limits):
        monkeypatch.setattr(module, "datetime", Clock)
    return lambda *when: now.__setitem__(0, datetime(*when, tzinfo=UTC))


def ask(book, question, cost, part=None):
    """Charge a question that costs so much, about a partition if one is named."""
    partition = None if part is None else Partition("month", part)
    return book.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=LedgerScope(**SCOPE, partition=partition),
        cost=Cost(cost) if isinstance(cost, int | str | Fraction) else cost,
        draw=lambda earlier, price: [LedgerEntry(audience=None, cost=price, answers=b"x", details="{}")],
    )


def test_a_period_has_its_allowance_and_the_next_one_its_own(ledger, clock):
    ledger.set_limit(9, "1e-3")
    ledger.limit_period("month", [1, "1e-6"])
    ask(ledger, 1, "3/4")
    with pytest.raises(BudgetRefused, match="The next month begins on 2026-12-01") as refusal:
        ask(ledger, 2, "1/2")
    document = refusal.value.document
    assert (document["period"], document["next"]) == ("month", "2026-12-01")
    assert document["left"] == {"epsilon": "0.25", "delta": "0.000001"}
    assert document["cost"]["epsilon"] == "0.5"
    ask(ledger, 3, "1/4")
    assert ask(ledger, 1, "3/4").repeated, "what was answered is free"
    ask(ledger, 4, 0)
    clock(2026, 11, 30, 23, 59, 59)
    with pytest.raises(BudgetRefused):
        ask(ledger, 2, "1/1000")
    clock(2026, 12, 1)
    ask(ledger, 2, 1)
    with pytest.raises(BudgetRefused):
        ask(ledger, 5, Cost(0, "1e-4"))
    assert (ledger.spent, ledger.verify().problems) == (Cost(2), ())


def test_the_whole_limit_holds_whatever_a_period_allows(ledger, clock):
    ledger.set_limit(1)
    ledger.limit_period("day", 1)
    ask(ledger, 1, 1)
    clock(2027, 1, 1)
    with pytest.raises(BudgetRefused, match=r"^not enough budget: ") as refusal:
        ask(ledger, 2, "1/100")
    assert "period" not in refusal.value.document


def test_a_clock_set_back_refreshes_no_allowance(ledger, clock):
    ledger.set_limit(9)
    ledger.limit_period("month", 1)
    clock(2026, 12, 5)
    ask(ledger, 1, "1/2")
    for when in ((2026, 11, 28), (2025, 1, 1), (2026, 12, 1)):
        clock(*when)
        with pytest.raises(BudgetRefused, match="The next month begins on 2027-01-01"):
            ask(ledger, f"more {when}", "3/4")
    clock(2026, 11, 28)
    ask(ledger, 2, "1/4")  # dated in November, and charged to December
    clock(2026, 12, 6)
    with pytest.raises(BudgetRefused):
        ask(ledger, 3, "1/2")
    ask(ledger, 4, "1/4")
    assert ledger.to_document()["periods"]["month"]["spent"]["epsilon"] == "1"


def test_a_clock_set_forward_by_mistake_leaves_its_period_open_until_then(ledger, clock):
    ledger.set_limit(9)
    ledger.limit_period("year", 1)
    clock(2030, 6, 1)
    ask(ledger, 1, "1/2")
    clock(2026, 12, 1)
    with pytest.raises(BudgetRefused, match="2031-01-01"):
        ask(ledger, 2, 1)


@pytest.mark.parametrize("period", ["day", "week", "month", "year"])
def test_no_run_of_clocks_spends_more_than_an_allowance_for_each_period_that_has_begun(period, tmp_path, clock):
    """An oracle that shares nothing with the ledger: by calendar arithmetic, along the latest moment so far."""
    chance = random.Random(period)
    book = Ledger(tmp_path / "l.ledger")
    book.set_limit(10**6)
    book.limit_period(period, 1)
    latest, spent, name = datetime(2026, 1, 1, tzinfo=UTC), Fraction(0), None
    moment = latest
    for number in range(120):
        moment += timedelta(hours=chance.choice([1, 5, 30, 24 * 9, 24 * 40, -1000, -7, 0]))
        clock(*moment.timetuple()[:6])
        cost = Fraction(chance.randint(1, 6), 8)
        shown = max(latest, moment)
        called = {
            "day": shown.date(),
            "week": shown.isocalendar()[:2],
            "month": (shown.year, shown.month),
            "year": shown.year,
        }[period]
        if called != name:
            name, spent = called, Fraction(0)
        try:
            ask(book, number, cost)
        except BudgetRefused:
            assert spent + cost > 1
        else:
            spent, latest = spent + cost, shown
            assert spent <= 1
        name = called if latest == shown else None
        if name is None:  # nothing was charged at that moment, so it leaves no trace
            last = latest
            name = {
                "day": last.date(),
                "week": last.isocalendar()[:2],
                "month": (last.year, last.month),
                "year": last.year,
            }[period]
            spent = in_period(tmp_path / "l.ledger", period, last)
    assert book.verify().problems == ()


def in_period(place, period, moment):
    """Sum a ledger's charges of the period of a moment, read from the file, by the running maximum of their dates."""
    import sqlite3

    start = {
        "day": moment.replace(hour=0, minute=0, second=0),
        "week": (moment - timedelta(days=moment.weekday())).replace(hour=0, minute=0, second=0),
        "month": moment.replace(day=1, hour=0, minute=0, second=0),
        "year": moment.replace(month=1, day=1, hour=0, minute=0, second=0),
    }[period]
    total, latest = Fraction(0), datetime.min.replace(tzinfo=UTC)
    with sqlite3.connect(place) as connection:
        asked = (
            "SELECT settled, epsilon FROM settlement JOIN release ON settlement = settlement.id ORDER BY settlement.id"
        )
        for settled, epsilon in connection.execute(asked):
            latest = max(latest, datetime.fromisoformat(settled))
            total += Fraction(epsilon) if latest >= start else 0
    return total


def test_several_periods_hold_together_and_in_each_currency(ledger, clock):
    ledger.set_limit(rho=5)
    with pytest.raises(BadInput, match="period: has a limit in what the ledger counts in, which is rho"):
        ledger.limit_period("day", 1)
    ledger.limit_period("day", "rho=1/2")
    ledger.limit_period("week", "rho=3/4")
    rho = next(kind for kind in (type(ledger.limit),))
    ask(ledger, 1, rho("1/2"))
    with pytest.raises(BudgetRefused, match="in this day"):
        ask(ledger, 2, rho("1/4"))
    clock(2026, 11, 29)
    ask(ledger, 2, rho("1/4"))
    with pytest.raises(BudgetRefused, match=r"in this week.*2026-11-30"):
        ask(ledger, 3, rho("1/8"))
    clock(2026, 11, 30)
    ask(ledger, 3, rho("1/2"))


def test_partitions_of_a_period_compose_as_those_of_the_ledger(ledger):
    ledger.set_limit(9)
    ledger.limit_period("month", 1)
    for part in ("01", "02", "03"):
        ask(ledger, part, 1, part)
    with pytest.raises(BudgetRefused, match="in this month"):
        ask(ledger, "more", "1/8", "02")
    with pytest.raises(BudgetRefused, match="in this month"):
        ask(ledger, "whole", "1/8")
    assert ledger.to_document()["periods"]["month"]["spent"]["epsilon"] == "1"


def test_limits_are_set_changed_and_removed_in_the_history(ledger):
    with pytest.raises(BadInput, match="a pace is no guarantee by itself"):
        ledger.limit_period("month", 1)
    ledger.set_limit(9)
    with pytest.raises(BadInput, match="choose from day, week, month, year"):
        ledger.limit_period("fortnight", 1)
    assert ledger.limit_period("month", 2) == Cost(0)
    lines = ledger.verify().lines
    ledger.limit_period("month", 2)
    assert ledger.verify().lines == lines, "nothing changed"
    ask(ledger, 1, 2)
    ledger.limit_period("month", 1)
    with pytest.raises(BudgetRefused, match="epsilon 0, delta 0 is"):
        ask(ledger, 2, "1/2")
    ledger.limit_period("month", None)
    assert "periods" not in ledger.to_document()
    ask(ledger, 2, "1/2")
    assert ledger.verify().problems == ()


def test_a_forged_allowance_is_found(tmp_path):
    book = Ledger(tmp_path / "l.ledger")
    book.set_limit(9)
    book.limit_period("month", 1)

    def forge(rows):
        facts = entries.pinned_facts(rows, "l.ledger")
        entries.keep_facts(rows, {**facts, "periods": {"month": {"epsilon": "8", "delta": "0"}}})

    book.store.write(forge)
    assert book.verify().problems
    other = Ledger(tmp_path / "m.ledger")
    other.set_limit(9)
    other.store.write(
        lambda rows: record(rows, "promise", {"facts": {"periods": {"month": {"epsilon": "8", "delta": "0"}}}})
    )
    assert any("limits of periods" in problem for problem in other.verify().problems)


def test_a_moved_ledger_keeps_its_pace_and_what_was_charged(ledger, tmp_path, clock):
    ledger.set_limit(9)
    ledger.limit_period("month", 1)
    ask(ledger, 1, "3/4")
    there = ledger.copy_to(tmp_path / "moved.ledger")
    assert there.to_document()["periods"]["month"]["left"]["epsilon"] == "0.25"
    assert ledger.to_document()["periods"]["month"]["left"]["epsilon"] == "0"
    with pytest.raises(BudgetRefused, match="in this month"):
        ask(there, 2, "1/2")
    assert there.verify().problems == ()


def test_a_copy_in_memory_refuses_what_the_ledger_does(ledger, monkeypatch):
    ledger.set_limit(9)
    ledger.limit_period("month", 1)
    ask(ledger, 1, "3/4")
    for largest in (1 << 28, 0):
        monkeypatch.setattr("irisdp._ledger.simulation._LARGEST_WHOLE", largest)
        with simulated(ledger.store) as copy:
            with pytest.raises(BudgetRefused, match="in this month"):
                ask(copy.ledger, 2, "1/2")
            with copy.without_limits():
                ask(copy.ledger, 2, "1/2")
            with pytest.raises(BudgetRefused, match="in this month"):
                ask(copy.ledger, 3, "1/8")


# On the command line.

PLAN = """[datasets.survey]
data = "survey.csv"
ledger = "l.ledger"
[[questions]]
query = "count"
epsilon = "1/2"
[[questions]]
query = "count"
expression = "age > 30"
epsilon = "3/4"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("age\n70\n30\n81\n")
    Path("plan.toml").write_text(PLAN)
    irisdp("ledger l.ledger --limit 9 --limit-per month=1")


def test_dry_runs_and_runs_are_refused_alike(folder):
    text = irisdp("run plan.toml --dry-run --json")
    run = irisdp("run plan.toml --json")
    assert (text.status, run.status, run.command["charged"]) == (1, 1, [])
    assert text.document["refused"]["period"] == run.document["period"] == "month"
    assert run.document["error"].startswith("question 2: not enough budget in this month")
    assert "irisdp ledger FILE --limit-per PERIOD=E,D" in run.err
    question = "publish survey.csv count --epsilon 2 --ledger l.ledger --json"
    assert (irisdp(question).status, irisdp(f"{question} --dry-run").status) == (1, 1)
    assert irisdp("publish survey.csv count --epsilon 1 --ledger l.ledger").status == 0


def test_the_ledger_shows_its_periods(folder):
    irisdp("publish survey.csv count --epsilon 1/4 --ledger l.ledger")
    shown = " ".join(irisdp("ledger l.ledger").out.split())
    assert (
        "month spent ε = 0.25, δ = 0 of ε = 1, δ = 0 for each month; left ε = 0.75, δ = 0; the next begins on" in shown
    )
    assert (
        'irisdp_ledger_period_left{ledger="l.ledger",number="epsilon",period="month"} 0.75'
        in irisdp("ledger l.ledger --metrics").out
    )
    assert irisdp("ledger l.ledger --limit-per month=none --json").document.get("periods") is None
    assert irisdp("ledger l.ledger --verify").status == 0


@pytest.mark.parametrize("wrong", ["month", "month=", "1", "=1", "fortnight=1", "month=x", "month=1,2,3", "month=mu=1"])
def test_what_is_no_pace_is_refused_and_changes_nothing(folder, wrong):
    before = irisdp("ledger l.ledger --json").document
    ended = irisdp(["ledger", "l.ledger", "--limit", "3", "--limit-per", wrong, "--json"])
    assert ended.status == 2
    assert irisdp("ledger l.ledger --json").document["periods"] == before["periods"]
