"""Calendar periods in UTC, how their values are written, and the days that they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from .errors import BadInput


@dataclass(frozen=True, slots=True)
class PeriodKind:
    """A calendar period, and how its values are written.

    Attributes
    ----------
    example : str
    pattern : re.Pattern
        Of a value.
    start : callable
        Returns the first day of a value's period; ValueError if there is no such period.
    of : callable
        Returns the value of the period that a day lies in.
    """

    example: str
    pattern: re.Pattern[str]
    start: Callable[[Sequence[int]], date]
    of: Callable[[date], str]


PERIOD_KINDS = {
    "year": PeriodKind("2024", re.compile(r"(\d{4})"), lambda n: date(n[0], 1, 1), lambda day: f"{day.year:04}"),
    "quarter": PeriodKind(
        "2024-Q1",
        re.compile(r"(\d{4})-Q([1-4])"),
        lambda n: date(n[0], 3 * n[1] - 2, 1),
        lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    ),
    "month": PeriodKind(
        "2024-01",
        re.compile(r"(\d{4})-(\d{2})"),
        lambda n: date(n[0], n[1], 1),
        lambda day: f"{day.year:04}-{day.month:02}",
    ),
    "week": PeriodKind(
        "2024-W01",
        re.compile(r"(\d{4})-W(\d{2})"),
        lambda n: date.fromisocalendar(n[0], n[1], 1),
        lambda day: "{:04}-W{:02}".format(*day.isocalendar()[:2]),
    ),
    "day": PeriodKind(
        "2024-01-31",
        re.compile(r"(\d{4})-(\d{2})-(\d{2})"),
        lambda n: date(n[0], n[1], n[2]),
        lambda day: day.isoformat(),
    ),
}
"""By their names: ISO 8601's own way to write each, with quarters as everybody does."""


def days_of(period: str, value: str, field: str) -> tuple[date, date]:
    """Return the first day of a period and the first day after it.

    Parameters
    ----------
    period, value : str
        Such as "month" and "2024-01".
    field : str
        What messages are about.

    Raises
    ------
    BadInput
        For a period that there is not, and a value that is written otherwise.

    Examples
    --------
    >>> [str(day) for day in days_of("quarter", "2024-Q4", "period")]
    ['2024-10-01', '2025-01-01']
    """
    kind = PERIOD_KINDS.get(period)
    if kind is None:
        raise BadInput(field, f"has the period {period!r}", f"choose from {', '.join(PERIOD_KINDS)}")
    found = kind.pattern.fullmatch(value)
    try:
        if found is None:
            raise ValueError
        first = kind.start([int(part) for part in found.groups()])
        return first, _next(period, first)
    except (ValueError, OverflowError):
        rule = f"has the {period} {value!r}, which is none"
        raise BadInput(field, rule, f"write it as {kind.example}") from None


def days_around(period: str, day: date) -> tuple[date, date]:
    """Return the first day of the period that a day lies in, and the first day after it.

    Examples
    --------
    >>> [str(end) for end in days_around("week", date(2027, 1, 1))]
    ['2026-12-28', '2027-01-04']
    """
    return days_of(period, PERIOD_KINDS[period].of(day), period)


def _next(period: str, first: date) -> date:
    kind, day = PERIOD_KINDS[period], first
    while kind.of(day) == kind.of(first):
        day += timedelta(days=1)
    return day


def periods_between(period: str, first: str, last: str, most: int, field: str) -> list[str]:
    """List the periods from one to another, both included.

    Raises
    ------
    BadInput
        Where the last one comes before the first, or there are more than `most`.
    """
    (day, _), (_, end) = days_of(period, first, field), days_of(period, last, field)
    if day >= end:
        raise BadInput(field, f"goes from {first} to {last}, which comes before it", "exchange the two")
    values: list[str] = []
    while day < end:
        if len(values) == most:
            raise BadInput(field, f"has more than {most:,} periods", "begin later, or choose longer periods")
        values.append(PERIOD_KINDS[period].of(day))
        day = _next(period, day)
    return values


def period_before(period: str, day: date) -> str:
    """Return the last period that is over on a day.

    Examples
    --------
    >>> period_before("quarter", date(2024, 1, 5))
    '2023-Q4'
    """
    first, _ = days_around(period, day)
    return PERIOD_KINDS[period].of(first - timedelta(days=1))
