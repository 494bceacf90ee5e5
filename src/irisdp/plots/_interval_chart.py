"""Numbers with the ends between which the truth lies, a row for each; or bars side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from ._layout import COLOURS, INK, LETTER, altair, finished, heading, in_columns, room_for, step_of, width_of

_WIDTH = {2: 240, 3: 200, 4: 170}
"""Of a panel, by how many there are."""
_ALONE = (180, 330)
"""How wide a panel that stands alone is at least, and with the names of its rows at most: a phone shows it whole."""

_TURNED = 40
"""How far apart bars stand whose names are turned."""
_AXIS = 35
"""How wide numbers beside a picture are at least, with what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartInterval:
    """A number and its ends, in the row `label`; `series` says which of several numbers of the row it is."""

    label: str
    series: str
    value: float
    low: float | None
    high: float | None


def interval_chart(
    title: str,
    intervals: Sequence[ChartInterval],
    *,
    rows: str,
    values: str,
    upright: bool = False,
    from_nothing: bool = True,
    subtitle: str = "dots: what was published; lines: between which ends the truth lies",
) -> dict[str, Any]:
    """Return the specification of rows of dots on lines, or of bars with lines where `upright`.

    Parameters
    ----------
    title, subtitle : str
    intervals : sequence of ChartInterval
    rows, values : str
        Titles of the axes.
    upright : bool
        Whether rows stand side by side, as of a histogram.
    from_nothing : bool
        Whether bars begin at 0 however far away the numbers are. Axes of dots begin where the numbers do.
    """
    alt = altair()
    series = list(dict.fromkeys(interval.series for interval in intervals))
    known = [end for interval in intervals for end in (interval.value, interval.low, interval.high) if end is not None]
    known += [0] * (from_nothing and upright)
    low, high = min(known), max(known)
    room = (high - low) * 0.03 or 1
    least = low if low == 0 or (from_nothing and 0 <= low < room) else low - room
    scale = alt.Scale(domain=[least, high + room], nice=False, zero=False)
    if upright:
        drawn = _upright(alt, intervals, rows, values, scale)
        words = subtitle.replace("dots", "bars")
        width = _bar_step(intervals) * len(intervals) + _AXIS
    else:
        names = list(dict.fromkeys(interval.label for interval in intervals))
        panels = in_columns(names)
        wide = _WIDTH.get(len(panels), max(_ALONE[0], _ALONE[1] - room_for(names)))
        drawn = [
            _panel(
                alt, [interval for interval in intervals if interval.label in inside], rows, values, scale, series
            ).properties(
                width=wide,
                height={"step": step_of(len(names)) + 9 * (len(series) - 1), "for": "position"},
            )
            for inside in map(set, panels)
        ]
        drawn = drawn[0] if len(drawn) == 1 else alt.hconcat(*drawn)
        words, width = subtitle, width_of(panels, wide)
    above = {} if upright or not rows else {"offset": 24}
    return finished(drawn.properties(title=alt.TitleParams(**heading(title, words, width), **above)), legend=series)


def _panel(alt: Any, shown: Sequence[ChartInterval], rows: str, values: str, scale: Any, series: list[str]) -> Any:
    y = alt.Y("label:N", sort=None, title=rows or None, axis=label_axis(alt, [one.label for one in shown], above=True))
    several: dict[str, Any] = {}
    if len(series) > 1:
        several = {
            "yOffset": alt.YOffset("series:N", sort=series),
            "color": alt.Color("series:N", sort=series, legend=None, scale=alt.Scale(range=list(COLOURS))),
        }
    lines = wrap(values, 34)
    x = alt.X("value:Q", title=lines, scale=scale, axis=alt.Axis(tickCount=5))
    ends = alt.Chart(alt.InlineData(values=_with_ends(shown, scale)))
    line = ends.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(
        x=alt.X("low:Q", scale=scale, title=lines), x2="high:Q", y=y, **several
    )
    ticks = [
        ends.mark_tick(thickness=2, size=8, color=COLOURS[0], orient="vertical").encode(
            x=alt.X(f"{end}:Q", scale=scale, title=lines), y=y, **several
        )
        for end in ("low", "high")
    ]
    shape = {"shape": alt.Shape("series:N", sort=series, title=None)} if len(series) > 1 else {}
    dots = (
        alt.Chart(alt.InlineData(values=[_plain(one) for one in shown]))
        .mark_point(filled=True, size=46, opacity=1, color=INK)
        .encode(x=x, y=y, **several, **shape)
    )
    return alt.layer(line, *ticks, dots)


def _upright(alt: Any, shown: Sequence[ChartInterval], rows: str, values: str, scale: Any) -> Any:
    x = alt.X(
        "label:N",
        sort=None,
        title=rows or None,
        axis=alt.Axis(labelAngle=0 if _bar_step(shown) > _TURNED else -40, labelOverlap=False),
    )
    bars = (
        alt.Chart(alt.InlineData(values=[_plain(one) for one in shown]))
        .mark_bar(color=COLOURS[3], stroke=INK, strokeWidth=0.5)
        .encode(x=x, y=alt.Y("value:Q", title=values, scale=scale))
    )
    ends = alt.Chart(alt.InlineData(values=_with_ends(shown, scale)))
    y = alt.Y("low:Q", scale=scale, title=values)
    line = ends.mark_rule(strokeWidth=2, color=INK).encode(x=x, y=y, y2="high:Q")
    ticks = [
        ends.mark_tick(thickness=2, size=12, color=INK, orient="horizontal").encode(
            x=x, y=alt.Y(f"{end}:Q", scale=scale, title=values)
        )
        for end in ("low", "high")
    ]
    return alt.layer(bars, line, *ticks).properties(width=alt.Step(_bar_step(shown)), height=300)


def label_axis(alt: Any, names: Sequence[str], *, above: bool = False) -> Any:
    """Return an axis of names, with space for all of them in any font; `above` puts its title there."""
    room = room_for(names)
    title: dict[str, Any] = {}
    if above:
        title = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": -room, "titleY": -6}
    return alt.Axis(labelLimit=320, labelOverlap=False, minExtent=room, ticks=False, labelPadding=8, **title)


def _bar_step(shown: Sequence[ChartInterval]) -> float:
    upright = max(46, LETTER * max(len(one.label) for one in shown) + 10)
    return upright if upright * len(shown) <= _ALONE[1] else _TURNED if len(shown) <= 8 else 28


def _plain(one: ChartInterval) -> dict[str, Any]:
    return {"label": one.label, "series": one.series, "value": one.value}


def _with_ends(shown: Sequence[ChartInterval], scale: Any) -> list[dict[str, Any]]:
    """Return the lines; where there is no end, one goes as far as the picture."""
    least, most = scale.domain
    return [
        {
            "label": one.label,
            "series": one.series,
            "low": least if one.low is None else one.low,
            "high": most if one.high is None else one.high,
        }
        for one in shown
        if one.low is not None or one.high is not None
    ]
