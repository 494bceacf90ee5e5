"""A picture of a ledger: the spent budget after each release, against the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._exact import rational
from .._ledger import Ledger
from ._interval_chart import label_axis
from ._layout import COLOURS, INK, altair, count_of, cut_apart, finished, heading, room_for, shortened
from ._picture import Picture

_MOST_BARS = 40
_LETTERS = 32
"""Of a question beside its bar."""
_MOST_POINTS = 1_000
_MOST_SAID = 20


@dataclass(frozen=True, slots=True)
class _Unit:
    """One number that a ledger counts: how it is written, what it adds up, and how the sum is shown."""

    name: str
    words: str
    is_squared: bool = False

    def shown(self, number: Any) -> float:
        """Return the label of a sum."""
        exact = float(rational(number, "cost"))
        return math.sqrt(exact) if self.is_squared else exact


_UNITS = {
    "epsilon": _Unit("ε", "ε spent"),
    "delta": _Unit("δ", "δ spent"),
    "mu_squared": _Unit("μ", "μ of all of it together", is_squared=True),
    "rho": _Unit("ρ", "ρ spent"),
}


def ledger_picture(ledger: Ledger) -> Picture:
    """Draw the spent budget after each release: up to 40 releases as bars that begin where the last one ended.

    No δ is drawn where none is spent. It shows what `irisdp ledger` shows, and nothing else of the file: questions,
    dates, charges, limit.
    """
    document = ledger.to_document()
    limit, releases = document["limit"], document["releases"]
    numbers = [
        name
        for name in document["spent"]
        if name != "delta"
        or any(rational(one["delta"], "cost") for one in (document["spent"], limit or document["spent"]))
    ]
    after = {name: _running(name, releases) for name in numbers}
    drawn_numbers = [name for name in numbers if name != "delta" or after[name][-1] > 0]
    panels = [_panel(name, after[name], releases, limit) for name in drawn_numbers]
    alt = altair()
    spent = ", ".join(_said(name, document["spent"][name]) for name in numbers)
    most = "no limit is set" if limit is None else f"of {', '.join(_said(name, limit[name]) for name in numbers)}"
    closed = "; closed, nothing is left" if "moved_to" in document or "awaits" in document else ""
    title = f"Spent in {shortened(ledger.store.name)}: {spent}, {most}{closed}"
    subtitle = "releases, oldest first" + ("; the dashed line is the limit" if limit else "")
    drawn = panels[0] if len(panels) == 1 else alt.vconcat(*panels)
    step = max(1, -(-len(releases) // _MOST_POINTS))
    kept = [place for place in range(len(releases)) if place % step == 0 or place == len(releases) - 1]
    rows = [
        (
            releases[place]["id"],
            releases[place]["date"][:10],
            releases[place]["query"],
            releases[place]["audience"] or "",
            *(after[name][place + 1] for name in numbers),
        )
        for place in kept
    ]
    told = [f"#{row[0]} on {row[1]}, {row[2]}: {', '.join(f'{one:.6g}' for one in row[4:])}" for row in rows]
    said = "; ".join(told[:_MOST_SAID]) or "nothing was released"
    more = f"; and {len(releases) - _MOST_SAID} more" if len(releases) > _MOST_SAID else ""
    return Picture(
        title=title,
        description=(
            f"{count_of(len(releases), 'release', 'releases')}, oldest first, and what is spent after each"
            f" ({', '.join(_UNITS[name].name for name in numbers)}); {most}. {said}{more}."
            " Floats of the exact sums, which `irisdp ledger` prints."
        ),
        columns=("id", "date", "question", "audience", *(f"{_UNITS[name].name} spent after it" for name in numbers)),
        rows=tuple(rows),
        spec=finished(drawn.properties(title=alt.TitleParams(**heading(title, subtitle, 400)))),
    )


def _running(name: str, releases: Sequence[dict[str, Any]]) -> list[float]:
    """Return what is spent before the first release, and after each; sums are exact, and then made floats."""
    total, unit = rational(0, "cost"), _UNITS[name]
    result = [0.0]
    for release in releases:
        total += rational(release[name], "cost")
        result.append(unit.shown(total))
    return result


def _said(name: str, number: str) -> str:
    return f"{_UNITS[name].name} = {_UNITS[name].shown(number):.6g}"


def _panel(name: str, after: Sequence[float], releases: Sequence[dict[str, Any]], limit: dict[str, str] | None) -> Any:
    alt = altair()
    unit = _UNITS[name]
    most = None if limit is None else unit.shown(limit[name])
    end = max(after[-1], most or 0) * 1.06 or 1
    scale = alt.Scale(domain=[0, end], nice=False)
    if len(releases) <= _MOST_BARS:
        drawn = _bars(alt, unit, after, releases, scale)
        place = {"x": alt.X("limit:Q", scale=scale, title=unit.words)}
    else:
        drawn = _steps(alt, unit, after, scale)
        place = {"y": alt.Y("limit:Q", scale=scale, title=unit.words)}
    layers = [drawn]
    if most is not None:
        bound = alt.Chart(alt.InlineData(values=[{"limit": most, "words": f"limit {unit.name} = {most:.6g}"}]))
        upright = "x" in place
        layers.append(bound.mark_rule(color=COLOURS[4], strokeWidth=2, strokeDash=[6, 3]).encode(**place))
        text = bound.mark_text(
            color=INK, fontSize=13, baseline="middle",
            align="right" if upright else "left", dx=-4 if upright else 4, dy=0 if upright else -7,
        )  # fmt: skip
        layers.append(text.encode(**place, text="words:N", **({"y": alt.value(8)} if upright else {"x": alt.value(4)})))
    return alt.layer(*layers)


def _bars(alt: Any, unit: _Unit, after: Sequence[float], releases: Sequence[dict[str, Any]], scale: Any) -> Any:
    """Draw a bar for each release, from what was spent before it to what is spent after it."""
    said = cut_apart([f"{release['query']}{_for(release['audience'])}" for release in releases], _LETTERS)
    values = [
        {
            "release": f"#{release['id']} {words}",
            "before": before,
            "after": now,
            "words": f"{now:.6g}" if now > before else "" if unit.name == "δ" else f"{now:.6g} (nothing more)",
        }
        for release, words, before, now in zip(releases, said, after, after[1:], strict=False)
    ]
    rows = [str(value["release"]) for value in values]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("release:N", sort=None, title=None, scale=alt.Scale(domain=[" ", *rows]),
                axis=label_axis(alt, rows)),
    )  # fmt: skip
    bars = base.mark_bar(color=COLOURS[0], height=11).encode(
        x=alt.X("before:Q", scale=scale, title=unit.words, axis=alt.Axis(tickCount=6, format="~g")), x2="after:Q"
    )
    text = base.mark_text(align="left", dx=4, fontSize=13, color=INK).encode(
        x=alt.X("after:Q", scale=scale, title=unit.words), text="words:N"
    )
    return alt.layer(bars, text).properties(width=max(180, 400 - room_for(rows)), height=alt.Step(22))


def _steps(alt: Any, unit: _Unit, after: Sequence[float], scale: Any) -> Any:
    """Draw a line that climbs at each release; of very many, some at equal distances and the last."""
    step = max(1, -(-len(after) // _MOST_POINTS))
    values = [
        {"release": index, "spent": now}
        for index, now in enumerate(after)
        if index % step == 0 or index == len(after) - 1
    ]
    x = alt.X("release:Q", title="releases so far", axis=alt.Axis(format="d"))
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(interpolate="step-after", color=COLOURS[0], strokeWidth=2)
        .encode(x=x, y=alt.Y("spent:Q", scale=scale, title=unit.words))
        .properties(width=360, height=220)
    )


def _for(audience: str | None) -> str:
    return "" if audience is None else f" for {audience}"
