"""Title and subtitle above a picture, broken into lines that stay above it in whatever font they are shown.

What is drawn is measured in one font and shown in another, so letters are taken to be as wide as in a wide one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from .rows import shortened

__all__ = ["heading"]

_TITLE, _SUBTITLE = 15, 13
"""Points of a letter's height."""

_WIDTHS = (
    ("ijlI,.·:;/|\\' ", (0.35, 0.4)),
    ("()[]tfrJ-!", (0.42, 0.5)),
    ("mMwWÆæ@%—…", (1.0, 1.11)),
    ("#+<=>^~≤≥×−&σ", (0.84, 0.88)),
)
"""Of letters, and of bold ones, by their height, as DejaVu Sans has them, which is wider than most fonts."""

_CAPITAL, _SMALL, _OTHER = (0.79, 0.86), (0.65, 0.74), (1.1, 1.23)
"""Of the other letters: capital ones, small ones with digits, and those of other scripts."""

_UNBROKEN = "\0"
"""Stands for a space where no line may end; no text that is shown holds it."""


def heading(title: str, subtitle: str, width: float) -> dict[str, list[str]]:
    """Break title and subtitle into lines that stay above a picture of some width."""
    room = max(width, 280)
    return {
        "text": _lines(shortened(title, 120), room / _TITLE, bold=True),
        "subtitle": _lines(shortened(subtitle, 400), room / _SUBTITLE, bold=False),
    }


def _lines(words: str, room: float, *, bold: bool) -> list[str]:
    """Break words into lines, but for "ε = 1" and "95 %", which stay whole; room is told by the height of letters."""
    whole = re.sub(r" (=|%) ?", lambda found: found.group().replace(" ", _UNBROKEN), words)
    parts = (_cut(part.replace(_UNBROKEN, " "), room, bold=bold) for part in whole.split())
    lines: list[str] = []
    for part in chain.from_iterable(parts):
        if lines and _width(f"{lines[-1]} {part}", bold=bold) <= room:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _cut(part: str, room: float, *, bold: bool) -> Iterator[str]:
    """Cut what is wider than a line."""
    piece = ""
    for letter in part:
        if piece and _width(piece + letter, bold=bold) > room:
            yield piece
            piece = ""
        piece += letter
    yield piece


def _width(words: str, *, bold: bool) -> float:
    return sum(_widths(letter)[bold] for letter in words)


def _widths(letter: str) -> tuple[float, float]:
    known = next((widths for letters, widths in _WIDTHS if letter in letters), None)
    if known is not None:
        return known
    if letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "GREEK")):
        return _CAPITAL if letter.isupper() else _SMALL
    return _OTHER
