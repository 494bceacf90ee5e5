"""Lists and tables of numbers, read from lists, arrays and JSON: one function for every shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from .rationals import integer, rational

__all__ = ["Table", "counts", "entries", "entry_reader", "json_list", "numbers", "table"]

_MOST_BITS = 1 << 33
"""Of all the numbers of one table: a gigabyte. A number in text asks for up to 250 times the room of its letters."""

Table = tuple[tuple[Fraction, ...], ...]
"""Exact numbers, one row per input and one column per answer."""


def entries(value: Any) -> list[Any] | None:
    """List what an iterable holds; None for text, bytes and mappings, and for sets, which have no order."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        return None
    try:
        return list(value)
    except TypeError:  # an array without a dimension
        return None


def entry_reader(field: str, read: Callable[[Any], Fraction] | None = None) -> Callable[[Any], Fraction]:
    """Return what reads the entries of one table, and refuses to go on where they get too long for memory.

    Parameters
    ----------
    field : str
        How the caller names the table.
    read : callable, optional
        How an entry is read; as `rational` does unless given.
    """
    bits = 0

    def entry(value: Any) -> Fraction:
        nonlocal bits
        found = rational(value, field) if read is None else read(value)
        bits += found.numerator.bit_length() + found.denominator.bit_length()
        if bits > _MOST_BITS:
            raise BadInput(field, "holds more than a gigabyte of numbers", "round them to fewer digits")
        return found

    return entry


def numbers(value: Any, field: str, count: int | None = None) -> tuple[Fraction, ...]:
    """Read a list or one-dimensional array of exact numbers, `count` of them if given.

    Raises
    ------
    BadInput
        For anything else.
    """
    listed = entries(value)
    if listed is None or (count is not None and len(listed) != count):
        size = "numbers" if count is None else f"{count} numbers"
        raise BadInput(field, f"must be a list of {size}", f"give {size} in every list")
    return tuple(rational(entry, field) for entry in listed)


def table(value: Any, field: str, *, rows: int, columns: int | None = None) -> Table:
    """Read a table of exact numbers with so many rows, all of one length.

    Raises
    ------
    BadInput
        For another shape.
    """
    lines = entries(value)
    if lines is None or len(lines) != rows:
        raise BadInput(field, f"must be a table of {rows} rows", "give one row for every input")
    found = tuple(numbers(line, field, columns) for line in lines)
    if len({len(row) for row in found}) != 1 or not found[0]:
        raise BadInput(field, "must have rows of one length", "give as many numbers in every row")
    return found


def counts(value: Any, field: str, *, at_most: int | None = None) -> tuple[int, ...]:
    """Read a list or one-dimensional array of whole numbers from 0 up, in the order given.

    Raises
    ------
    BadInput
        For anything else, and for a number above `at_most`.
    """
    listed = entries(value)
    if listed is None or getattr(value, "ndim", 1) != 1:
        raise BadInput(field, "must be a list of counts", "write [0, 1]")
    return tuple(integer(entry, field, at_least=0, at_most=at_most) for entry in listed)


def json_list(value: Any, field: str, length: int | None = None) -> list[Any]:
    """Insist on a list as JSON has them, of a length if one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        size = "" if length is None else f" of {length} entries"
        raise BadInput(field, f"must be a list{size}", "write it in square brackets")
    return value
