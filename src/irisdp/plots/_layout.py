"""How every picture looks: white ground, ink of one colour, hues that differ in lightness as well."""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from math import ceil
from typing import Any, TypeVar

from .._child_processes import Kept, Phase
from ..errors import BadInput

INK = "#1a1a1a"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#cc79a7", "#595959", "#f0e442")
"""After Okabe and Ito: told apart by people who see no red or no green. A picture never says by colour alone."""

SHADES = ("#ffffff", "#08306b")
"""From 0 to 1, light to dark; also readable when printed in black and white."""

_IN_THE_DARK = {
    "white": "#16191c",
    INK: "#e8e8e8",
    "#e6e6e6": "#30363c",
    "#d9d9d9": "#41474d",
    "#0072b2": "#4aa3e0",
    "#595959": "#a8a8a8",
}
"""Colours that are hard to see on a dark ground, and what they become there."""
DARK = "@media (prefers-color-scheme: dark) {%s}" % "".join(  # noqa: UP031
    f'.marks [{part}="{light}"]{{{part}:{dark}}}' for light, dark in _IN_THE_DARK.items() for part in ("fill", "stroke")
)
"""The style with which a picture is shown where readers ask for dark pages."""

_FONT = "Helvetica, Arial, sans-serif"
_WIDER = 0.9
"""By how much a letter of a legend is wider in DejaVu Sans than in Arial, in points."""
_GENERATED = re.compile(r"\b(view|param|concat|layer)_(\d+)\b")


def altair() -> Any:
    """Return the library that charts are built with.

    Raises
    ------
    BadInput
        Where it is not installed.
    """
    return _extra("altair")


_RENDERER = Kept("the picture could not be drawn", "vl_convert", polite=False, most=256 << 20)
"""The renderer is native and may abort: it runs in a process that holds no answers, one for all pictures."""


def rendered(form: str, *arguments: Any, **options: Any) -> Any:
    """Return what the renderer makes of a specification: SVG, PNG, PDF, or the script that needs no network.

    Parameters
    ----------
    form : {"vegalite_to_svg", "vegalite_to_png", "vegalite_to_pdf", "javascript_bundle"}
        A function of vl-convert.
    *arguments, **options
        What it takes.

    Raises
    ------
    BadInput
        Where it is not installed.
    ChildFailed
        Where the renderer ends or takes too long.
    """
    return _RENDERER.result(_render, (form, arguments, options))


def _render(values: tuple[str, tuple[Any, ...], dict[str, Any]], _: Phase) -> Any:
    form, arguments, options = values
    return getattr(_extra("vl_convert"), form)(*arguments, **options)


def finished(
    chart: Any, datasets: Mapping[str, list[dict[str, Any]]] | None = None, *, legend: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a chart's specification in the style of Iris, independent of earlier charts.

    A legend, whose labels are given here, gets extra space for fonts wider than the measured one.

    If it names its data, they are given here, so that Altair does not check every number against a schema. For 10,000
    cells that takes longer than drawing them.
    """
    configured = chart.configure(
        background="white",
        padding={"left": 5, "top": 5, "bottom": 5, "right": 5 + ceil(_WIDER * max(map(len, legend), default=0))},
        font=_FONT,
        axis={"labelColor": INK, "titleColor": INK, "gridColor": "#e6e6e6", "domainColor": INK, "tickColor": INK,
              "labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal"},
        legend={"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "labelFontSize": 13,
                "titleFontSize": 13, "orient": "bottom", "direction": "vertical", "labelLimit": 0},
        title={"color": INK, "fontSize": 15, "anchor": "start", "subtitleColor": INK, "subtitleFontSize": 13},
        view={"stroke": "#d9d9d9"},
    )  # fmt: skip
    spec: dict[str, Any] = _renamed(configured.to_dict() | ({"datasets": datasets} if datasets else {}), {})
    spec.pop("$schema", None)  # an address, which nothing here reads
    return spec


def visible(words: str) -> str:
    r"""Write characters that are not seen, or turn others around, by their numbers; the renderer dies of some.

    Examples
    --------
    >>> visible("a\0b\u202e")
    'a\\x00b\\u202e'
    """
    if words.isprintable():  # as nearly all are; asked at once, since a large picture has a million letters
        return words
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in words
    )


def _renamed(part: Any, names: dict[str, str]) -> Any:
    """Renumber names that Altair counts per process, in the order in which they appear."""
    if isinstance(part, dict):
        return {_renamed(name, names): _renamed(value, names) for name, value in part.items()}
    if isinstance(part, list):
        return [_renamed(value, names) for value in part]
    if not isinstance(part, str):
        return part
    if not _GENERATED.fullmatch(part):
        return visible(part)
    return names.setdefault(part, f"{part.rsplit('_', 1)[0]}_{len(names) + 1}")


def _extra(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise BadInput(library, "is not installed", 'pip install "irisdp[plots]"') from None


# Several lines in one picture, distinguished by hue, by dash and by the shape of their points at once.

MOST_LINES = 35
"""So many differ in hue, dash or shape; people tell far fewer apart."""

_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_INKS = COLOURS[:7]
"""All but yellow, of which a thin line is not seen on white."""


def apart(field: str, names: Sequence[str], *, points: bool = True) -> dict[str, Any]:
    """Return what lines and their points are encoded with, for the values of a nominal field in their order.

    Parameters
    ----------
    field : str
        The name of the field, which heads the legend.
    names : sequence of str
        At most `MOST_LINES`.
    points : bool
        Whether points are drawn on the lines: the legend then shows them, and else the dashes.

    Returns
    -------
    dict
        "color", "strokeDash" and "shape" of the field "line": the last for points, the one before it for lines.
    """
    alt: Any = altair()
    ranges = {"color": _INKS, "strokeDash": _DASHES, "shape": _SHAPES}
    kinds = {"color": alt.Color, "strokeDash": alt.StrokeDash, "shape": alt.Shape}
    shown = {"color", "shape" if points else "strokeDash"}
    legend = alt.Legend(
        symbolSize=90 if points else 400,
        labelLimit=0,
        **({"symbolDash": [1, 0], "symbolStrokeWidth": 0} if points else {"symbolStrokeWidth": 2}),
    )
    return {
        kind: kinds[kind](
            "line:N",
            title=field,
            sort=None,
            scale=alt.Scale(domain=list(names), range=[values[index % len(values)] for index in range(len(names))]),
            legend=legend if kind in shown else None,
        )
        for kind, values in ranges.items()
    }


# Rows of a picture, one for each group: distinct labels, and several columns for many rows.

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
    result: list[str] = []
    taken: set[str] = set()
    for name in cut_apart([" · ".join(map(str, key)) if key else "all records" for key in keys]):
        tried, number = name, 1
        while tried in taken:
            number += 1
            tried = f"{name} ({number})"
        taken.add(tried)
        result.append(tried)
    return result


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
    cut = [_cut_text(text, longest) for text in whole]
    alike: dict[str, set[str]] = {}
    for text, short in zip(whole, cut, strict=True):
        alike.setdefault(short, set()).add(text)
    return [
        short if len(alike[short]) == 1 else _around(text, _first_difference(alike[short]), longest)
        for text, short in zip(whole, cut, strict=True)
    ]


def _first_difference(texts: Iterable[str]) -> int:
    return next(index for index, letters in enumerate(zip_longest(*texts)) if len(set(letters)) > 1)


def _around(text: str, place: int, longest: int) -> str:
    """Shorten a text: its beginning, and what fits from the word at a given position on."""
    start = max(text.rfind(" ", 0, place + 1) + 1, place - longest // 4)
    head = _head(text, min(longest // 2 - len(_GAP), start))
    return shortened(f"{head}{_GAP}{text[start:]}", longest)


def _cut_text(text: str, longest: int) -> str:
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


# Break the title and subtitle above a picture into lines that fit in whatever font displays them.
#
# A picture is measured in one font and shown in another, so letters are assumed to be as wide as in a wide font.

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
"""A placeholder for a space where no line may end; it occurs in no text that is shown."""


def heading(title: str, subtitle: str, width: float) -> dict[str, list[str]]:
    """Break title and subtitle into lines that stay above a picture of some width."""
    room = max(width, 280)
    return {
        "text": _lines(shortened(title, 120), room / _TITLE, bold=True),
        "subtitle": _lines(shortened(subtitle, 400), room / _SUBTITLE, bold=False),
    }


def _lines(words: str, room: float, *, bold: bool) -> list[str]:
    """Break words into lines, except within "ε = 1" and "95 %"; the width is in heights of letters."""
    whole = re.sub(r" (=|%) ?", lambda match: match.group().replace(" ", _UNBROKEN), words)
    parts = (_cut_to_room(part.replace(_UNBROKEN, " "), room, bold=bold) for part in whole.split())
    lines: list[str] = []
    for part in chain.from_iterable(parts):
        if lines and _width(f"{lines[-1]} {part}", bold=bold) <= room:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _cut_to_room(part: str, room: float, *, bold: bool) -> Iterator[str]:
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
