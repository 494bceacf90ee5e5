"""When a limit is reached at the present rate; alerts by exit status; numbers for Prometheus."""

import math
import random
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import Ledger
from irisdp._ledger.forecasts import forecast, is_below, metrics
from irisdp.accounting import Cost
from irisdp.errors import BadInput
from support.commands import irisdp

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("age\n70\n30\n81\n")


def document(limit, charges, composition=None):
    """Return a ledger's document: charges are days ago, ε, δ and perhaps a partition."""
    lines = []
    for days, epsilon, delta, *partition in charges:
        line = {"date": (NOW - timedelta(days=days)).isoformat(), "epsilon": str(epsilon), "delta": str(delta)}
        lines.append({**line, **({"partition": {"value": partition[0]}} if partition else {})})
    spent = totals(charges, composition)
    left = [max(Fraction(0), Fraction(most) - was) for most, was in zip(limit, spent, strict=True)]
    told = {"limit": limit, "spent": spent, "left": left}
    named = {name: {"epsilon": str(one[0]), "delta": str(one[1])} for name, one in told.items()}
    return {**named, "releases": lines, **({"partitions": {"composition": composition}} if composition else {})}


def totals(charges, composition):
    """Add charges up by hand: the whole table's, and of partitions the largest or the sum, number by number."""
    result = []
    for place in (1, 2):
        whole = sum((Fraction(one[place]) for one in charges if len(one) == 3), Fraction(0))
        parts = {}
        for one in charges:
            if len(one) == 4:
                parts[one[3]] = parts.get(one[3], Fraction(0)) + Fraction(one[place])
        whole += (max if composition == "maximum" else sum)(
            parts.values(), **({"default": 0} if composition == "maximum" else {})
        )
        result.append(whole)
    return result


def test_ten_nights_of_a_tenth_leave_twenty_more():
    found = forecast(document((3, "1e-5"), [(days, "1/10", 0) for days in range(10, 0, -1)]), now=NOW)
    assert (found.days, found.charged, found.reached_in, found.reached_on) == (10, Cost(1), 20, "2026-07-21")
    assert str(found) == "at the rate of the last 10 days (ε = 1, δ = 0) the limit is reached in 20 days, on 2026-07-21"


def test_only_the_last_thirty_days_are_the_rate():
    found = forecast(document((3, 0), [(300, 1, 0), (29, "1/2", 0)]), now=NOW)
    assert (found.days, found.charged.epsilon, found.reached_in) == (30, Fraction(1, 2), 90)
    quiet = forecast(document((3, 0), [(300, 1, 0)]), now=NOW)
    assert (quiet.reached_in, quiet.reached_on) == (None, None)
    assert str(quiet) == "nothing was charged in the last 30 days"


def test_the_number_that_is_used_up_first_counts():
    found = forecast(document((100, "1e-5"), [(10, "1/10", "5e-6")]), now=NOW)
    assert found.reached_in == 10


@pytest.mark.parametrize("composition", ["maximum", "sum"])
def test_forecasts_are_those_of_a_day_by_day_simulation(composition):
    chance = random.Random(7)
    for _ in range(200):
        charges = [
            (chance.randint(1, 60), Fraction(chance.randint(0, 4), 8), Fraction(chance.randint(0, 2), 10**6))
            + ((chance.choice("abc"),) if chance.random() < 0.7 else ())
            for _ in range(chance.randint(1, 12))
        ]
        charges.sort(key=lambda one: -one[0])
        spent = totals(charges, composition)
        limit = tuple(
            number + Fraction(chance.randint(0, 9), 7) * (1 if place == 0 else Fraction(1, 10**6))
            for place, number in enumerate(spent)
        )
        found = forecast(document(limit, charges, composition), now=NOW)
        counted = [one for one in charges if one[1] or one[2]]
        if not counted:
            assert found is None
            continue
        days = min(30, counted[0][0])
        before = totals([one for one in charges if one[0] > days], composition)
        growth = [(now - then) / days for now, then in zip(spent, before, strict=True)]
        if not any(growth):
            assert found.reached_in is None
            continue
        day, total = 0, list(spent)
        while day < 10**4 and all(
            one + more <= most for one, more, most in zip(total, growth, limit, strict=True) if more
        ):
            day, total = day + 1, [one + more for one, more in zip(total, growth, strict=True)]
        assert found.reached_in == day


def test_nothing_is_forecast_where_nothing_can_be():
    assert forecast(document((3, 0), []), now=NOW) is None
    assert forecast(document((3, 0), [(0.9, 1, 0)]), now=NOW) is None, "less than a day"
    assert forecast(document((1, 0), [(5, 2, 0)]), now=NOW) is None, "more is spent than the limit"
    assert forecast({**document((3, 0), [(5, 1, 0)]), "limit": None}, now=NOW) is None
    assert forecast({**document((3, 0), [(5, 1, 0)]), "moved_to": "x"}, now=NOW) is None
    assert forecast(document((10**9, 0), [(5, "1e-9", 0)]), now=NOW).reached_on is None, "after the year 9999"
    assert str(forecast(document((1, 0), [(2, 1, 0)]), now=NOW)).endswith("the limit is reached today")


def test_a_clock_set_back_does_not_lower_the_rate():
    charges = [(10, "1/2", 0), (0, "1/2", 0)]
    back = forecast(document((3, 0), charges), now=NOW - timedelta(days=400))
    assert back == forecast(document((3, 0), charges), now=NOW)


# On the command line.


def test_an_alert_ends_with_status_1_and_shows_the_ledger_all_the_same():
    irisdp("ledger l.ledger --limit 1,1e-6")
    irisdp("publish survey.csv count --epsilon 3/4 --ledger l.ledger")
    enough = irisdp("ledger l.ledger --fail-below 1/4")
    assert (enough.status, enough.err) == (0, "")
    alert = irisdp("ledger l.ledger --fail-below 0.2501")
    assert (alert.status, alert.line) == (
        1,
        "l.ledger has ε = 0.25, δ = 0.000001 left, and --fail-below asks for ε = 0.2501, δ = 0",
    )
    assert "spent    ε = 0.75" in alert.out
    printed = irisdp("ledger l.ledger --fail-below 1/4,2e-6 --json")
    assert (printed.status, printed.command["status"], printed.document["left"]["epsilon"]) == (1, 1, "0.25")
    assert irisdp("ledger l.ledger --fail-below 1/4,1e-6 --metrics").status == 0
    assert irisdp("ledger l.ledger --fail-below 1/2 --csv").status == 1


def test_an_alert_that_could_never_come_is_refused():
    irisdp("publish survey.csv count --epsilon 3/4 --ledger l.ledger")
    assert irisdp("ledger l.ledger --fail-below 1 --json").document["field"] == "--fail-below"
    irisdp("ledger m.ledger --limit mu=1")
    for wrong in ("1", "x", "1,2,3", ""):
        ended = irisdp(["ledger", "m.ledger", "--fail-below", wrong, "--json"])
        assert (ended.status, ended.document["field"]) == (2, "--fail-below"), wrong
    assert irisdp("ledger m.ledger --fail-below mu=1").status == 0
    assert irisdp("ledger m.ledger --fail-below mu=1.01").status == 1
    assert irisdp("ledger m.ledger --fail-below mu=1 --verify").status == 2
    with pytest.raises(BadInput, match=r"^fail_below: needs a limit"):
        is_below({"left": None}, Cost(1), "x")


SAMPLE = re.compile(r'(irisdp_ledger_[a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)')


def samples(text):
    """Read the text format of Prometheus, line by line, as its specification has it."""
    found, typed = {}, set()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP ") or line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed or line.startswith("# TYPE "), "one block for each name"
            typed.add(name)
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        assert name in typed
        found[name, *re.findall(r'[a-z]+="((?:[^"\\]|\\.)*)"', labels)] = float(value)
    return found


def test_metrics_are_those_of_the_ledger_rounded_against_oneself():
    irisdp("ledger l.ledger --limit 1/3,1e-6")
    irisdp("ledger l.ledger --limit 1/4 --audience press")
    irisdp("publish survey.csv count --epsilon 1/7 --ledger l.ledger")
    ended = irisdp("ledger l.ledger --metrics")
    found = samples(ended.out)
    assert ended.status == 0
    assert found["irisdp_ledger_releases", "l.ledger"] == 1
    assert found["irisdp_ledger_closed", "l.ledger"] == 0
    spent, left = (found[f"irisdp_ledger_{name}", "l.ledger", "epsilon"] for name in ("spent", "left"))
    assert Fraction(1, 7) <= Fraction(spent) < Fraction(1, 7) + Fraction(1, 10**15)
    assert Fraction(1, 3) - Fraction(1, 7) >= Fraction(left) > Fraction(4, 21) - Fraction(1, 10**15)
    assert found["irisdp_ledger_audience_told", "l.ledger", "epsilon", "press"] == spent
    assert found["irisdp_ledger_limit", "l.ledger", "delta"] <= 1e-6
    moment = found["irisdp_ledger_last_release_timestamp_seconds", "l.ledger"]
    assert abs(moment - datetime.now(UTC).timestamp()) < 600
    assert irisdp("ledger l.ledger --metrics --json").status == 2
    assert irisdp("ledger l.ledger --metrics --csv").status == 2


def test_floats_are_rounded_to_the_safe_side():
    charges = [(5, Fraction(chance, 999_983), 0) for chance in range(1, 40)]
    found = samples(metrics(document((40, 0), charges), "x", now=NOW))
    exact = sum(one[1] for one in charges)
    assert Fraction(found["irisdp_ledger_spent", "x", "epsilon"]) >= exact
    assert Fraction(found["irisdp_ledger_left", "x", "epsilon"]) <= 40 - exact
    assert found["irisdp_ledger_spent", "x", "epsilon"] <= math.nextafter(float(exact), 50)
    assert found["irisdp_ledger_limit_reached_days", "x"] > 0


def test_names_cannot_break_the_format():
    text = metrics(document((1, 0), [(5, "1/2", 0)]), 'a"b\\c\nd', now=NOW)
    assert r'ledger="a\"b\\c\nd"' in text
    assert samples(text)


def test_a_ledger_without_limit_and_a_moved_one():
    irisdp("publish survey.csv count --epsilon 1 --ledger l.ledger")
    found = samples(irisdp("ledger l.ledger --metrics").out)
    assert ("irisdp_ledger_left", "l.ledger", "epsilon") not in found
    irisdp("ledger l.ledger --limit 3")
    irisdp("ledger l.ledger --copy-to m.ledger")
    found = samples(irisdp("ledger l.ledger --metrics").out)
    assert found["irisdp_ledger_closed", "l.ledger"] == 1
    assert found["irisdp_ledger_left", "l.ledger", "epsilon"] == 0
    assert irisdp("ledger l.ledger --fail-below 1/100").status == 1


def test_the_ledger_shows_the_rate_in_text_and_json(monkeypatch):
    from irisdp._ledger import forecasts as module

    irisdp("ledger l.ledger --limit 2")
    irisdp("publish survey.csv count --epsilon 1/2 --ledger l.ledger")
    assert "rate" not in irisdp("ledger l.ledger").out

    class Later(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime.now(zone) + timedelta(days=5)

    monkeypatch.setattr(module, "datetime", Later)
    assert (
        "rate     at the rate of the last 5 days (ε = 0.5, δ = 0) the limit is reached in 15"
        in irisdp("ledger l.ledger").out
    )
    assert Ledger("l.ledger").to_document()["forecast"]["reached_in_days"] == 15
