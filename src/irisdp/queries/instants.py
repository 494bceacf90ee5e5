"""Dates written as text: an instant in UTC, in records, conditions and declared groups alike.

Engines drop an offset (`…T00:30:00+01:00`) where text is read as a time without zone, so that one instant would fall on
two days. Text without an offset is taken as it stands.
"""

from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from ..errors import BadInput
from .columns import Kind, read_as, try_cast
from .values import read_value

__all__ = ["as_instant", "date_literal", "date_sql", "instant_for_spark", "read_date", "spell_date"]

_DAY, _CLOCK = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", "[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]*)?)?"
_SPARK = (
    (f"^[ ]*({_DAY})[ ]*$", "$1 00:00:00Z"),
    (f"^[ ]*({_DAY}[T ][0-9]{{1,2}}:[0-9]{{1,2}})([A-Za-z+-].*|[ ]*)$", "$1:00$2"),
    (f"^[ ]*({_DAY}[T ]{_CLOCK})[ ]*$", "$1Z"),
    ("(:[0-9.]+[+-][0-9]{2})([0-9]{2})$", "$1:$2"),
)
"""How text is written out for Spark: an offset for text without one, so that no session's zone decides; seconds; +01:00
for +0100."""
_WITH_OFFSET = f"^{_DAY}[T ]{_CLOCK}[A-Za-z+-].*$"


def read_date(text: str) -> datetime:
    """Return the UTC time of a date in a condition.

    Raises
    ------
    BadInput
        For what is no date, by the rule for declared groups.
    """
    value = read_value(text, Kind.DATE)
    if not isinstance(value, datetime):
        remedy = "write dates as '2024-12-31', '2024-12-31 23:59:59' or '2024-12-31T23:59:59+01:00'"
        raise BadInput("expression", f"takes {text[:60]!r} for a date, which it is not", remedy)
    return value


def date_literal(node: exp.Cast) -> str | None:
    """Return the one spelling of a date that a condition states, as in DATE '2024-12-31'; None for other casts.

    Raises
    ------
    BadInput
        For a date that there is not, as 2023-02-30: it would be unknown for everybody, without a word.
    """
    text, target = node.this.unnest(), node.args["to"]
    dated = target.this.name in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ")
    if not dated or not (isinstance(text, exp.Literal) and text.is_string) or target.expressions:
        return None
    value = read_date(text.name)
    return str(value.date() if target.this.name == "DATE" else value)


def spell_date(text: str) -> exp.Expr:
    """Write a date as every condition spells it."""
    day, _, clock = str(read_date(text)).partition(" ")
    if clock == "00:00:00":
        return exp.cast(exp.Literal.string(day), "DATE")
    return exp.cast(exp.Literal.string(f"{day} {clock}"), "TIMESTAMP")


def date_sql(text: str) -> exp.Expr:
    """Return SQL for a date that a condition states."""
    return read_as(exp.Literal.string(str(read_date(text))), Kind.DATE)


def as_instant(text: exp.Expr) -> exp.Expr:
    """Return SQL that reads text as a UTC time, in an engine whose zone is UTC; `instant_for_spark` rewrites it."""
    trimmed = exp.Trim(this=text)
    return read_as(try_cast(trimmed, exp.DataType.build("TIMESTAMPTZ", dialect="duckdb")), Kind.DATE)


def instant_for_spark(text: exp.Expr) -> exp.Expr:
    """Return Spark's SQL for `as_instant`: the session's zone has no say, and time alone is not today's."""
    for pattern, offset in _SPARK:
        text = _call("REGEXP_REPLACE", text, exp.Literal.string(pattern), exp.Literal.string(offset))
    text = _call("REGEXP_EXTRACT", text, exp.Literal.string(_WITH_OFFSET), exp.Literal.number(0))
    since = _call("UNIX_MICROS", try_cast(text, exp.DataType.build("TIMESTAMPLTZ")))
    epoch = exp.cast(exp.Literal.string("1970-01-01 00:00:00"), "TIMESTAMPNTZ")
    return _call("TIMESTAMPADD", exp.var("MICROSECOND"), since, epoch)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    # Built without copies: the statement's other casts are rewritten where they stand.
    return exp.Anonymous(this=name, expressions=list(arguments))
