"""Reading one declared value as the kind of its column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from .columns import Kind

__all__ = ["any_empty", "is_empty", "read_value", "read_values"]

_LONGEST_INTEGER = 10**1000
_SURE_DIGITS = {Kind.INTEGER: 18, Kind.NUMBER: 15}
"""So many digits fit a kind exactly, whatever they are."""
_AT_ONCE: dict[Kind, Callable[[str], Any]] = {Kind.INTEGER: int, Kind.NUMBER: float}
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read_value(value: Any, kind: Kind) -> Any:
    """Return a declared value as its kind, in the form that Arrow takes; None if it cannot be read so."""
    return _READERS[kind](value)


def read_values(values: Sequence[Any], kind: Kind) -> list[Any]:
    """Return declared values as a kind, each as `read_value` does; of a million that are written alike, all at once."""
    if set(map(type, values)) == {str}:
        together = "".join(values)
        longest = max(map(len, values)) if together.isascii() and together.isdigit() and "" not in values else None
        if longest is not None and kind in _AT_ONCE and longest <= _SURE_DIGITS[kind]:
            return list(map(_AT_ONCE[kind], values))
    return [_READERS[kind](value) for value in values]


def any_empty(values: Sequence[Any]) -> bool:
    """Return whether any declared value is missing."""
    return "" in values if set(map(type, values)) == {str} else any(map(is_empty, values))


def is_empty(value: Any) -> bool:
    """Return whether a declared value is missing: null, NaN, NaT, NA or empty text."""
    try:
        return value is None or bool(value == "" or value != value)  # noqa: PLR0124 (so NaN and NaT are told)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True


def _is_number(value: Any) -> bool:
    """Tell whether a declared value is written as a number, whether or not a float can hold it."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LONGEST_INTEGER:
        return str(value)
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate is no text that an engine could compare
        return None
    return str(value)


def _number(value: Any) -> float | None:
    """Read a number that a double holds: exactly, or as the shortest way of writing that double."""
    if not _is_number(value):
        return None
    try:
        number = float(value)
        if not math.isfinite(number):
            return None
        if isinstance(value, float):
            return number + 0.0  # so that there is one zero
        exact = Decimal(value.strip() if isinstance(value, str) else value)
        return number + 0.0 if exact in (Decimal(number), Decimal(repr(number))) else None
    except (OverflowError, ValueError, InvalidOperation):  # also text of more digits than Python converts
        return None


def _integer(value: Any) -> int | None:
    """Read an integer within 64 bits, also one that is written 1.0."""
    if not _is_number(value):
        return None
    try:
        exact = Decimal(value.strip() if isinstance(value, str) else value)
        if not -(2**63) <= exact < 2**63 or exact != exact.to_integral_value():
            return None
        return int(exact)
    except (ValueError, InvalidOperation):  # NaN is neither
        return None


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _date(value: Any) -> datetime | None:
    if isinstance(value, str):
        # Python silently drops what follows the microseconds.
        if _BELOW_MICROSECONDS.search(value):
            return None
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or getattr(value, "nanosecond", False):
        return None
    try:
        plain = datetime.combine(value.date(), value.timetz())  # pandas' kind of datetime has a mind of its own
        return plain.astimezone(UTC).replace(tzinfo=None) if plain.tzinfo else plain
    except (OverflowError, ValueError):  # within a day of the first or last date
        return None


_READERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: _text,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.DATE: _date,
}
