"""How every picture looks: white ground, ink of one colour, hues that differ in lightness as well."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from ..children import Kept, Phase
from ..errors import BadInput

__all__ = ["COLOURS", "DARK", "INK", "SHADES", "altair", "finished", "rendered", "visible"]

INK = "#1a1a1a"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#cc79a7", "#595959", "#f0e442")
"""After Okabe and Ito: told apart by people who see no red or no green. A picture never says by colour alone."""

SHADES = ("#ffffff", "#08306b")
"""From nothing to one, light to dark: prints in black and white as it is."""

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
    """Return what the renderer makes of a specification: SVG, PNG, or the script that needs no network.

    Parameters
    ----------
    form : {"vegalite_to_svg", "vegalite_to_png", "javascript_bundle"}
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
    """Return a chart's specification with the look of this house, whatever was drawn before it.

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
    """Number what Altair numbers through a whole process anew, in the order in which it appears."""
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
