"""Tables of exact numbers, one row per input and one column per answer, read from lists or arrays."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ...errors import BadInput
from ...exact import rational

__all__ = ["Table", "numbers", "table"]

Table = tuple[tuple[Fraction, ...], ...]


def numbers(value: Any, field: str, count: int | None = None) -> tuple[Fraction, ...]:
    """Read a list or one-dimensional array of numbers, `count` of them if given.

    Raises
    ------
    BadInput
        For anything else.
    """
    entries = _entries(value)
    if entries is None or (count is not None and len(entries) != count):
        size = "numbers" if count is None else f"{count} numbers"
        raise BadInput(field, f"must be a list of {size}", f"give {size} in every list")
    return tuple(rational(entry, field) for entry in entries)


def table(value: Any, field: str, *, rows: int, columns: int | None = None) -> Table:
    """Read a table with so many rows, all of one length.

    Raises
    ------
    BadInput
        For another shape.
    """
    lines = _entries(value)
    if lines is None or len(lines) != rows:
        raise BadInput(field, f"must be a table of {rows} rows", "give one row for every input")
    found = tuple(numbers(line, field, columns) for line in lines)
    if len({len(row) for row in found}) != 1 or not found[0]:
        raise BadInput(field, "must have rows of one length", "give as many numbers in every row")
    return found


def _entries(value: Any) -> list[Any] | None:
    """List what an iterable holds; text, bytes and mappings are no lists."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        return None
    try:
        return list(value)
    except TypeError:  # an array without a dimension
        return None
