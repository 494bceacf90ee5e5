"""Several lines in one picture, distinguished by hue, by dash and by the shape of their points at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .theme import COLOURS, altair

__all__ = ["MOST_LINES", "apart"]

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
            scale=alt.Scale(domain=list(names), range=[values[place % len(values)] for place in range(len(names))]),
            legend=legend if kind in shown else None,
        )
        for kind, values in ranges.items()
    }
