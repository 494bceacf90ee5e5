"""Limits for each calendar period within a ledger's own limit: how fast its budget may be spent.

They are a pace and no guarantee of their own: what is private is bounded by the ledger's limit, whatever the calendar
says. A period limit keeps one busy week from using up the year.

Periods begin at midnight in UTC; weeks on Monday. The present moment is the clock's, or the latest moment in the ledger
if that is later, and a charge belongs to the latest moment before or at it. So a clock that is set back refreshes no
allowance; one that is set forward and back leaves its period open until the calendar comes there.

Limits of periods are pinned with the ledger's scope, as those of audiences are: the history has a line for each, and on
a server only the ledger's owner can add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from .._calendar import days_around
from .._exact import told_above, told_below
from ..accounting import CURRENCIES, Charge
from ..errors import BadInput, BudgetRefused
from .entries import keep_facts, pin, pinned_facts, read_cost, read_limit, read_spending
from .history import record
from .limits import spelt
from .partitions import Spending
from .store import Damaged, LedgerTransaction, currency_of, is_current

PERIODS = ("day", "week", "month", "year")


def begins(period: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return when the period of a moment began, and when the next one does.

    Examples
    --------
    >>> [str(when.date()) for when in begins("month", datetime(2026, 12, 31, 23, tzinfo=UTC))]
    ['2026-12-01', '2027-01-01']
    >>> [str(when.date()) for when in begins("week", datetime(2027, 1, 1, tzinfo=UTC))]
    ['2026-12-28', '2027-01-04']
    """
    first, after = days_around(period, moment.astimezone(UTC).date())
    since, until = (datetime.combine(day, time(), UTC) for day in (first, after))
    return since, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The present period of a ledger.

    Attributes
    ----------
    name : {"day", "week", "month", "year"}
    limit : Charge
        The most that may be spent in one.
    spending : Spending
        What was charged in this one.
    since, until : datetime
        When it began, and when the next one does.
    """

    name: str
    limit: Charge
    spending: Spending
    since: datetime
    until: datetime

    def check(self, price: Charge, partition: str | None) -> None:
        """Refuse a charge that does not fit in this period.

        Raises
        ------
        BudgetRefused
            It says when the next period begins.
        """
        if price.is_nothing or self.spending.after(partition, price).total.fits_in(self.limit):
            return
        left = self.left
        said = {"limit": spelt(self.limit, told_below), "left": spelt(left, told_below)}
        parts = {"limit": self.limit, "left": left, "cost": price}
        begins_on = self.until.date().isoformat()
        raise BudgetRefused(
            f"not enough budget in this {self.name}: the answer costs {spelt(price, told_above)}; {said['left']} is"
            f" left of the limit for each {self.name}, {said['limit']}. The next {self.name} begins on {begins_on}"
            f" (UTC). Ask then, ask with less, or change the limit (Ledger(path).limit_period(PERIOD, LIMIT))",
            period=self.name,
            next=begins_on,
            **{name: part.to_document() for name, part in parts.items()},
        )

    @property
    def left(self) -> Charge:
        """What may still be spent in it; the ledger's limit may leave less."""
        return self.limit.left_after(self.spending.total)

    def to_document(self, *, closed: bool = False) -> dict[str, Any]:
        """Return it as JSON-ready data; nothing is left in a closed ledger."""
        return {
            "limit": self.limit.to_document(),
            "spent": self.spending.total.to_document(),
            "left": (self.limit * 0 if closed else self.left).to_document(),
            "since": self.since.date().isoformat(),
            "next": self.until.date().isoformat(),
        }


def read_periods(rows: LedgerTransaction, name: str, *, now: datetime | None = None) -> list[Period]:
    """Return the present periods of a ledger that has limits for some, the shortest first."""
    limits = _read_limits(rows, name)
    if not limits:
        return []
    moment = datetime.now(UTC) if now is None else now
    latest = rows.find("SELECT max(settled) FROM settlement")[0][0]
    if latest is not None:
        moment = max(moment, _moment(latest))
    periods = []
    for period in (period for period in PERIODS if period in limits):
        since, until = begins(period, moment)
        # By the order of charges: one that a clock set back has dated before others belongs to their period.
        asked = "SELECT min(id) FROM settlement WHERE settled >= ?"
        first = rows.find(asked, (since.isoformat(timespec="seconds"),))[0][0]
        spending = read_spending(rows, name, since=_BEYOND if first is None else first)
        periods.append(Period(name=period, limit=limits[period], spending=spending, since=since, until=until))
    return periods


_BEYOND = 1 << 31
"""More than the number of any charge."""


def check_periods(rows: LedgerTransaction, name: str, price: Charge, partition: str | None) -> None:
    """Refuse a charge that does not fit in the present period of some length; see `Period.check`."""
    for period in read_periods(rows, name):
        period.check(price, partition)


def limit_period(rows: LedgerTransaction, name: str, period: str, limit: Charge | None) -> None:
    """Record the limit of each period of a length, in place of an earlier one; None removes it.

    Raises
    ------
    BadInput
        For another length; where the ledger has no limit of its own, or counts in something else.
    """
    if period not in PERIODS:
        raise BadInput("period", f"is no {period!r}", f"choose from {', '.join(PERIODS)}")
    whole = read_limit(rows)
    if whole is None:
        rule = "has a limit within the ledger's, which has none: a pace is no guarantee by itself"
        raise BadInput("period", rule, "set the ledger's limit first")
    if limit is not None and type(whole) is not type(limit):
        counts = next(currency.name for currency in CURRENCIES if currency.cost is type(whole))
        raise BadInput("period", f"has a limit in what the ledger counts in, which is {counts}", "give it in that")
    pin(rows, name, {})  # brings a ledger of version 0.1 to today's format
    limits: dict[str, Charge] = _read_limits(rows, name)
    before = dict(limits)
    if limit is None:
        limits.pop(period, None)
    else:
        limits[period] = limit
    if limits == before:
        return
    written = {one: most.to_document() for one, most in sorted(limits.items())}
    keep_facts(rows, {**pinned_facts(rows, name), "periods": written})
    record(rows, "periods", {"periods": written})


def _read_limits(rows: LedgerTransaction, name: str) -> dict[str, Charge]:
    if not is_current(rows):
        return {}
    kind = currency_of(rows).cost
    found = pinned_facts(rows, name).get("periods", {})
    return {period: _cost(kind, period, numbers) for period, numbers in found.items()}


def _cost(kind: type[Charge], period: str, numbers: Any) -> Charge:
    if period not in PERIODS or not isinstance(numbers, Mapping) or sorted(numbers) != sorted(kind.__slots__):
        raise Damaged
    return read_cost(kind, *(numbers[name] for name in kind.__slots__))


def _moment(text: Any) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError):
        raise Damaged from None
