"""When a ledger's limit is reached if spending goes on as in the last weeks; and its numbers for Prometheus.

Both follow from the lines of the ledger alone. A forecast is arithmetic, not a guarantee: the limit holds whatever
is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from .._exact import rational, so_many
from ..accounting import CURRENCIES, Charge
from ..errors import BadInput
from .entries import read_cost
from .partitions import Spending

_WINDOW = timedelta(days=30)
"""What is the present rate of spending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """When a limit is reached at the present rate.

    Attributes
    ----------
    days : int
        How many days the rate is taken from.
    charged : Charge
        By how much the total has grown in these days.
    reached_in : int or None
        In how many whole days a charge will no longer fit; None where nothing was charged in these days.
    reached_on : str or None
        On which day, in UTC; None also for a day after the year 9999.
    """

    days: int
    charged: Charge
    reached_in: int | None
    reached_on: str | None

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "days": self.days,
            "charged": self.charged.to_document(),
            "reached_in_days": self.reached_in,
            "reached_on": self.reached_on,
        }

    def __str__(self) -> str:
        """Say it in a line."""
        days = f"the last {self.days} days" if self.days > 1 else "the last day"
        if self.reached_in is None:
            return f"nothing was charged in {days}"
        on = "" if self.reached_on is None else f", on {self.reached_on}"
        when = f"in {so_many(self.reached_in, 'day')}{on}" if self.reached_in else "today"
        return f"at the rate of {days} ({self.charged}) the limit is reached {when}"


def forecast(document: Mapping[str, Any], *, now: datetime | None = None) -> Forecast | None:
    """Return when a ledger's limit is reached; None without a limit, and for less than a day of charges.

    Parameters
    ----------
    document : mapping
        What `Ledger.to_document` returns.
    now : datetime, optional
        [default: now, or the last charge if that is later]
    """
    if document["limit"] is None or "moved_to" in document or "awaits" in document:
        return None
    limit, spent = _cost(document["limit"]), _cost(document["spent"])
    charged = [line for line in _lines(document, spent) if not line[-1].is_nothing]
    if not charged or not spent.fits_in(limit):
        return None
    end = max(datetime.now(UTC) if now is None else now, *(when for when, _, _ in charged))
    first = min(when for when, _, _ in charged)
    start = max(first, end - _WINDOW)
    age = (end - start).days  # whole days, and so a rate that is rather too high
    if age < 1:
        return None
    before = Spending(spent * 0, parallel=document.get("partitions", {}).get("composition") == "maximum")
    for when, partition, cost in charged:
        before = before.after(partition, cost) if when < start else before
    grown = spent.beyond(before.total)
    days = _days(limit.left_after(spent), grown, Fraction(age))
    return Forecast(days=age, charged=grown, reached_in=days, reached_on=_day(end, days))


def _lines(document: Mapping[str, Any], spent: Charge) -> Iterator[tuple[datetime, str | None, Charge]]:
    """Yield of each release when it was charged, the partition that it is about, and its cost."""
    for release in document["releases"]:
        partition = release["partition"]["value"] if "partition" in release else None
        cost = _cost({name: release[name] for name in spent.to_document()})
        yield datetime.fromisoformat(release["date"]), partition, cost


def _cost(document: Mapping[str, str]) -> Charge:
    kind = next(currency.cost for currency in CURRENCIES if currency.cost.__slots__ == tuple(document))
    return read_cost(kind, *document.values())


def _days(left: Charge, grown: Charge, window: Fraction) -> int | None:
    """Return after how many whole days the first number is used up."""
    rates = [(rest, growth / window) for rest, growth in zip(left.numbers, grown.numbers, strict=True) if growth > 0]
    return min((math.floor(rest / rate) for rest, rate in rates), default=None)


def _day(end: datetime, days: int | None) -> str | None:
    try:
        return None if days is None else (end + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return None


def is_below(document: Mapping[str, Any], least: Charge, name: str) -> bool:
    """Tell whether less is left of a limit than a given amount.

    Raises
    ------
    BadInput
        Where no limit is set, so that nothing would ever be found, or for another currency.
    """
    left = document["left"] and _cost(document["left"])
    if left is None:
        raise BadInput("fail_below", f"needs a limit, and {name} has none", "set one: Ledger(path).set_limit(E)")
    if type(left) is not type(least):
        raise BadInput("fail_below", f"is not in what {name} counts", "write it as the ledger's limit is written")
    return any(rest < number for rest, number in zip(left.numbers, least.numbers, strict=True))


# Numbers of a ledger in the text format of Prometheus.

_HELP = {
    "limit": "The most that may be spent.",
    "spent": "What was spent, rounded up.",
    "left": "What may still be spent, rounded down.",
    "audience_limit": "The most that an audience may be told.",
    "audience_told": "What an audience was told, rounded up.",
    "audience_left": "What an audience may still be told, rounded down.",
    "period_limit": "The most that may be spent in one calendar period.",
    "period_spent": "What was spent in the present period, rounded up.",
    "period_left": "What may still be spent in the present period, rounded down.",
    "closed": "Whether nothing can be spent from it, because it was moved.",
    "releases": "How many answers it holds.",
    "last_release_timestamp_seconds": "When the last answer was charged.",
    "limit_reached_days": "In how many days the limit is reached at the present rate.",
}


def metrics(document: Mapping[str, Any], name: str, *, now: datetime | None = None) -> str:
    """Return the numbers of a ledger in the text format of Prometheus, one sample for each number of its currency.

    Parameters
    ----------
    document : mapping
        What `Ledger.to_document` returns.
    name : str
        What the samples call the ledger.
    now : datetime, optional
        As for `forecast`.
    """
    samples: dict[str, list[tuple[dict[str, str], str]]] = {}

    def add(metric: str, value: str, **labels: str) -> None:
        samples.setdefault(metric, []).append(({"ledger": name, **labels}, value))

    def add_numbers(metric: str, numbers: Mapping[str, str] | None, *, up: bool, **labels: str) -> None:
        for number, text in (numbers or {}).items():
            add(metric, _rounded(rational(text, number), up=up), number=number, **labels)

    for metric, up in (("limit", False), ("spent", True), ("left", False)):
        add_numbers(metric, document[metric], up=up)
    for audience, stands in document.get("audiences", {}).items():
        for metric, up in (("limit", False), ("told", True), ("left", False)):
            add_numbers(f"audience_{metric}", stands[metric], up=up, audience=audience)
    for period, stands in document.get("periods", {}).items():
        for metric, up in (("limit", False), ("spent", True), ("left", False)):
            add_numbers(f"period_{metric}", stands[metric], up=up, period=period)
    add("closed", str(int("moved_to" in document or "awaits" in document)))
    add("releases", str(len(document["releases"])))
    if document["releases"]:
        last = max(datetime.fromisoformat(release["date"]) for release in document["releases"])
        add("last_release_timestamp_seconds", str(int(last.timestamp())))
    expected = forecast(document, now=now)
    if expected is not None and expected.reached_in is not None:
        add("limit_reached_days", str(expected.reached_in))
    lines = []
    for metric in (metric for metric in _HELP if metric in samples):
        lines += [f"# HELP irisdp_ledger_{metric} {_HELP[metric]}", f"# TYPE irisdp_ledger_{metric} gauge"]
        for labels, value in samples[metric]:
            said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            lines.append(f"irisdp_ledger_{metric}{{{said}}} {value}")
    return "\n".join(lines) + "\n"


def _rounded(value: Fraction, *, up: bool) -> str:
    """Write a number as the nearest float that is not better than it is."""
    number = float(value)
    if up and Fraction(number) < value:
        number = math.nextafter(number, math.inf)
    elif not up and Fraction(number) > value:
        number = math.nextafter(number, -math.inf)
    return repr(number)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
