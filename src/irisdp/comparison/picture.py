"""A comparison as a picture: a panel for each objective, a bar for each mechanism, its value beside it."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

from .results import Compared, Objective

__all__ = ["draw"]

_OURS, _OTHERS, _INK, _LINE = "#0072b2", "#b3b3b3", "#1a1a1a", "#d9d9d9"
"""Blue and grey differ in lightness as well, so that nobody needs to tell hues apart; ours is in bold type too."""

_WIDTH, _MARGIN, _ROW, _BAR, _GAP = 860, 20, 22, 15, 14
_LETTER = 6.6
"""Width of a letter at 12 pixels, on the wide side."""
_VALUE = 90
"""Room for a value at the end of a bar."""
_TITLE = 100
"""Letters of a line of a title."""


def draw(title: str, objectives: Sequence[Objective], mechanisms: Sequence[Compared]) -> str:
    """Draw the bars as SVG.

    Parameters
    ----------
    title : str
    objectives : sequence of Objective
    mechanisms : sequence of Compared

    Returns
    -------
    str
        With a title, units, and a text alternative that describes everything shown.
    """
    lines = textwrap.wrap(title, _TITLE - 20)
    top = _MARGIN + 22 * len(lines) + 34
    parts = [_text(_MARGIN, _MARGIN + 12 + 22 * number, line, size=17) for number, line in enumerate(lines)]
    parts += _legend(_MARGIN, top - 16)
    for objective in objectives:
        drawn, height = _panel(objective, mechanisms, top)
        parts += drawn
        top += height
    top += _MARGIN
    described = html.escape(_description(objectives, mechanisms))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc"'
        f' width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}" font-family="Helvetica, Arial, sans-serif">'
    )
    return "\n".join(
        [
            head,
            f'<title id="title">{html.escape(title)}</title>',
            f'<desc id="desc">{described}</desc>',
            f'<rect width="{_WIDTH}" height="{top}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _legend(left: float, top: float) -> list[str]:
    entries = ((_OURS, "this library", True, 0), (_OTHERS, "other mechanisms", False, 120))
    return [
        part
        for colour, words, bold, shift in entries
        for part in (
            f'<rect x="{left + shift}" y="{top - 11}" width="12" height="12" fill="{colour}"/>',
            _text(left + shift + 18, top, words, bold=bold),
        )
    ] + [_text(left + 270, top, "bars begin at 0; each panel has a scale of its own")]


def _panel(objective: Objective, mechanisms: Sequence[Compared], top: int) -> tuple[list[str], int]:
    """Draw one objective; return what was drawn and how high it is."""
    names = [one.name for one in mechanisms]
    left = _MARGIN + _LETTER * max(map(len, names)) + 12
    room = _WIDTH - left - _VALUE - _MARGIN
    values = [float(one.errors[objective.name]) for one in mechanisms]
    most = max(values) or 1.0
    unit = "" if objective.unit == "probability" else f" ({objective.unit})"
    heading = textwrap.wrap(objective.words[:1].upper() + objective.words[1:] + unit, _TITLE)
    parts = [_text(_MARGIN, top + 16 + 16 * number, line, size=13) for number, line in enumerate(heading)]
    start = top + 16 * len(heading) + 10
    for number, (one, value) in enumerate(zip(mechanisms, values, strict=True)):
        y = start + _ROW * number
        base, long = y + _BAR - 3, room * value / most
        parts += [
            _text(left - 8, base, one.name, bold=one.ours, anchor="end"),
            f'<rect x="{left:.1f}" y="{y}" width="{long:.1f}" height="{_BAR}"'
            f' fill="{_OURS if one.ours else _OTHERS}"/>',
            _text(left + long + 6, base, one.shown(objective), bold=one.ours),
        ]
    end = start + _ROW * len(values)
    axis = f'<line x1="{left:.1f}" y1="{start - 3}" x2="{left:.1f}" y2="{end - 3}" stroke="{_INK}"/>'
    rule = f'<line x1="{_MARGIN}" y1="{top}" x2="{_WIDTH - _MARGIN}" y2="{top}" stroke="{_LINE}"/>'
    return [rule, *parts, axis], end - top + _GAP


def _text(x: float, y: float, words: str, *, size: int = 12, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="bold"' if bold or size > 12 else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{_INK}"{weight}{place}>{html.escape(words)}</text>'


def _description(objectives: Sequence[Objective], mechanisms: Sequence[Compared]) -> str:
    """Say in words all that the bars show."""
    sentences = []
    for objective in objectives:
        values = ", ".join(f"{one.name} {one.shown(objective)}" for one in mechanisms)
        sentences.append(f"{objective.words[:1].upper()}{objective.words[1:]}, in {objective.unit}: {values}.")
    return " ".join(["Horizontal bars from 0; the first mechanism is this library's.", *sentences])
