"""Rows of a picture that each stand for a group: labels that differ, and many rows in several columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .theme import visible

__all__ = ["LETTER", "MOST_ROWS", "count_of", "heading", "in_columns", "labels", "room_for", "shortened", "step_of"]

Row = TypeVar("Row")

MOST_ROWS = 800
"""Most groups that are drawn."""

LETTER = 7.0
"""Width of a letter at 11 or 12 points in a wide font: what is drawn is measured in one font and shown in another."""

_BOLD = 9.6
"""The same of a title."""

_LONGEST = 60
_HIGHEST = 50
"""Rows of a column, as long as there are few columns."""
_MOST_COLUMNS = 4


def labels(keys: Iterable[Sequence[Any]]) -> list[str]:
    """Write groups' names so that no two are the same: what would be gets a number.

    Examples
    --------
    >>> labels([("Ely", 1), ("York", 2), ("Ely · 1",)])
    ['Ely · 1', 'York · 2', 'Ely · 1 (2)']
    """
    found: list[str] = []
    taken: set[str] = set()
    for key in keys:
        name = shortened(" · ".join(map(str, key)) if key else "all records")
        tried, number = name, 1
        while tried in taken:
            number += 1
            tried = f"{name} ({number})"
        taken.add(tried)
        found.append(tried)
    return found


def shortened(words: str, longest: int = _LONGEST) -> str:
    """Cut a long text, where it can be seen that it goes on."""
    shown = visible(words)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def count_of(number: int, one: str, many: str) -> str:
    """Say how many there are of something."""
    return f"{number} {one if number == 1 else many}"


def in_columns(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """Lay rows out in columns of about equal height: one for fifty rows, four for two hundred and more."""
    columns = min(_MOST_COLUMNS, -(-len(rows) // _HIGHEST)) or 1
    height = -(-len(rows) // columns)
    return [rows[start : start + height] for start in range(0, len(rows), height or 1)] or [rows]


def step_of(rows: int) -> int:
    """Return how high a row is drawn, in points."""
    return 20 if rows <= _HIGHEST else 13


def room_for(names: Iterable[str], most: float = 320) -> float:
    """Return how wide the longest of some labels is at most, whatever the font."""
    return min(most, LETTER * max(map(len, names), default=0) + 8)


def heading(title: str, subtitle: str, width: float) -> dict[str, list[str]]:
    """Break title and subtitle into lines that stay above a picture of some width."""
    room = max(width, 280)
    return {
        "text": textwrap.wrap(shortened(title, 120), int(room / _BOLD)),
        "subtitle": textwrap.wrap(shortened(subtitle, 400), int(room / LETTER)),
    }
