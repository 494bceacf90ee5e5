"""Rows of a picture that each stand for a group: labels that differ, and many rows in several columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from .theme import visible

__all__ = [
    "LETTER",
    "MOST_ROWS",
    "count_of",
    "cut_apart",
    "in_columns",
    "labels",
    "room_for",
    "shortened",
    "step_of",
    "width_of",
]

Row = TypeVar("Row")

MOST_ROWS = 800
"""Most groups that are drawn."""

LETTER = 8.0
"""Width of a letter at 13 points in a wide font: what is drawn is measured in one font and shown in another."""

_LONGEST = 60
_GAP = " … "
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
    for name in cut_apart([" · ".join(map(str, key)) if key else "all records" for key in keys]):
        tried, number = name, 1
        while tried in taken:
            number += 1
            tried = f"{name} ({number})"
        taken.add(tried)
        found.append(tried)
    return found


def cut_apart(texts: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Cut long texts in the middle; those that would then be alike where they begin to differ.

    Examples
    --------
    >>> cut_apart(["count of men by age and region", "count of women by age and region", "count"], 24)
    ['count of … men by age a…', 'count of … women by age…', 'count']
    >>> cut_apart(["count income > 20000 AND age < 65 AND sex = 'm'"], 24)
    ["count … sex = 'm'"]
    """
    whole = [visible(text) for text in texts]
    cut = [_cut(text, longest) for text in whole]
    alike: dict[str, set[str]] = {}
    for text, short in zip(whole, cut, strict=True):
        alike.setdefault(short, set()).add(text)
    return [
        short if len(alike[short]) == 1 else _around(text, _first_difference(alike[short]), longest)
        for text, short in zip(whole, cut, strict=True)
    ]


def _first_difference(texts: Iterable[str]) -> int:
    return next(place for place, letters in enumerate(zip_longest(*texts)) if len(set(letters)) > 1)


def _around(text: str, place: int, longest: int) -> str:
    """Show how a text begins, and from the word that holds a place on what there is room for."""
    start = max(text.rfind(" ", 0, place + 1) + 1, place - longest // 4)
    head = _head(text, min(longest // 2 - len(_GAP), start))
    return shortened(f"{head}{_GAP}{text[start:]}", longest)


def _cut(text: str, longest: int) -> str:
    """Leave out what is between the beginning and the end of a text that is too long."""
    if len(text) <= longest:
        return text
    room = longest - len(_GAP)
    return f"{_head(text, room // 2)}{_GAP}{_head(text[::-1], room - room // 2)[::-1]}"


def _head(text: str, letters: int) -> str:
    """Return how a text begins: whole words, so that no number looks like a smaller one, where they are short."""
    space = text.rfind(" ", 0, letters + 1)
    return text[: space if space >= letters // 3 else letters].rstrip()


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
    return 22 if rows <= _HIGHEST else 13


def room_for(names: Iterable[str], most: float = 320) -> float:
    """Return how wide the longest of some labels is at most, whatever the font."""
    return min(most, LETTER * max(map(len, names), default=0) + 8)


def width_of(panels: Iterable[Sequence[str]], width: float) -> float:
    """Return how wide panels of rows with these names are, each of some width, with their names."""
    return sum(width + room_for(names) for names in panels)
