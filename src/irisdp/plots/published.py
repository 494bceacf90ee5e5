"""A picture of what was published: numbers with the ends between which the truth lies, or names group by group."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import BadInput
from ..exact import percent_below, rational, shown_below
from ..release.labels import Labels
from .answers import PublishedAnswer, PublishedAnswers, read_published
from .headings import heading
from .intervals import Interval, interval_chart, label_axis
from .picture import Picture
from .rows import LETTER, MOST_ROWS, count_of, in_columns, labels, shortened, step_of, width_of
from .theme import COLOURS, INK, altair, finished

__all__ = ["published"]

_MOST_SAID = 20
_MOST_NAMES = 24
_LONGEST_NAME = 24
_NARROWEST = (380, 160)
"""Of a grid that stands alone, so that there is room for what is said above it, and of several, in points."""
_TURNED = 34
"""How far apart the columns stand whose names are turned, in points."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^,>"]+')
"""An answer of several names, as `publish` writes them, taken apart."""


def published(release: Any, labels: Labels | None = None) -> Picture:
    """Draw published answers: numbers as dots on the line between their ends, names where they stand in a grid.

    Parameters
    ----------
    release : Publication, PublishedAnswers, or path
        Name of the answers or of their release file. Nothing else is read: no record, no ledger.
    labels : Labels, optional
        What readers see instead of names.

    Returns
    -------
    Picture
        Its table holds every answer that is drawn, at most 800; the description says how many there are.

    Raises
    ------
    BadInput
        For files that cannot be read, or a release that named no group.
    """
    found = read_published(release)
    if labels is not None:
        found = replace(found, labels=labels)
    if not found.answers:
        raise BadInput("release", "holds no answers: no group was named", "there is nothing to draw")
    return _numbers(found) if found.numbers else _names(found)


def _numbers(found: PublishedAnswers) -> Picture:
    shown = found.answers[:MOST_ROWS]
    names = _labels(found, shown)
    intervals = [
        Interval(label=name, series=one.audience or "", value=one.answer, low=one.low, high=one.high)
        for name, one in zip(names, shown, strict=True)
    ]
    bars = found.ordered_bins and len({one.audience for one in shown}) == 1
    spec = interval_chart(
        found.heading,
        intervals,
        rows=" · ".join(found.shown_by),
        values=found.axis,
        upright=bars,
        subtitle=f"dots: published; lines: hold the truth{_surely(found)}",
        from_nothing=not found.unit.startswith("mean of "),
    )
    drawn = "bars" if bars else "dots"
    ends = ", each with a line from answer_low to answer_high" if any(one.low is not None for one in shown) else ""
    told = [f"{name}{_for(one)}: {_number(one)}" for name, one in zip(names, shown, strict=True)]
    return Picture(
        title=_title(found),
        description=_described(found, f"{drawn}{ends}", told),
        columns=_columns(found, shown, ("answer_low", "answer_high")),
        rows=tuple((*_head(found, shown, one), one.answer, one.low, one.high) for one in shown),
        spec=spec,
    )


def _names(found: PublishedAnswers) -> Picture:
    shown = found.answers[:MOST_ROWS]
    names = _labels(found, shown)
    chances = [one.probability for one in shown if one.probability is not None]
    sure = f"each is right with probability {shown_below(min(chances))} or more, whatever the data" if chances else ""
    told = [f"{name}{_for(one)}: {one.answer}" for name, one in zip(names, shown, strict=True)]
    return Picture(
        title=_title(found),
        description=_described(found, "names, a row for each group" + (f"; {sure}" if sure else ""), told),
        columns=_columns(found, shown, ("answer_probability",)),
        rows=tuple((*_head(found, shown, one), str(one.answer), one.probability) for one in shown),
        spec=_grid(found, shown, names, sure),
    )


def _grid(found: PublishedAnswers, shown: Sequence[PublishedAnswer], names: Sequence[str], sure: str) -> dict[str, Any]:
    """Draw a column for each name that can be published, and a mark where it was; long or many names as text."""
    alt = altair()
    possible = found.names or tuple(dict.fromkeys(str(one.answer) for one in shown))
    parts = [_parts(str(one.answer), possible) for one in shown]
    as_grid = len(possible) <= _MOST_NAMES and max(map(len, possible)) <= _LONGEST_NAME and all(parts)
    several = len({one.audience for one in shown}) > 1
    turned = sum(map(len, possible)) >= 70
    ordered = any(" > " in str(one.answer) for one in shown) and as_grid
    values = [
        {
            "group": name if not several else f"{name}{_for(one)}",
            "name": part if as_grid else "",
            "shown": str(place) if ordered else shortened(part, 80),
        }
        for name, one, said in zip(names, shown, parts, strict=True)
        for place, part in enumerate(said if as_grid else [str(one.answer)], 1)
    ]
    rows = list(dict.fromkeys(value["group"] for value in values))
    columns, panels = in_columns(rows), []
    for panel in columns:
        inside = set(panel)
        base = alt.Chart(alt.InlineData(values=[value for value in values if value["group"] in inside])).encode(
            y=alt.Y(
                "group:N",
                sort=None,
                title=" · ".join(found.shown_by) or None,
                axis=label_axis(alt, panel, above=not as_grid),
            ),
        )
        if as_grid:
            x = alt.X(
                "name:N",
                sort=None,
                title="published answer" + (" (1 is first)" if ordered else ""),
                scale=alt.Scale(domain=list(possible)),
                axis=alt.Axis(labelAngle=-40 if turned else 0, grid=True, orient="top"),
            )
            mark = (
                base.mark_text(fontSize=13, fontWeight="bold", color=COLOURS[0])
                if ordered
                else base.mark_square(size=90, color=COLOURS[0], opacity=1)
            )
            drawn = mark.encode(x=x, **({"text": "shown:N"} if ordered else {}))
            room = _TURNED if turned else max(34, 10 + LETTER * max(map(len, possible)))
            width: float = max(_NARROWEST[len(columns) > 1], len(possible) * room)
        else:
            drawn = base.mark_text(align="left", baseline="middle", fontSize=13, color=INK, limit=520).encode(
                x=alt.value(6), text="shown:N"
            )
            width = 520 if len(rows) <= len(panel) else 260
        panels.append(drawn.properties(width=width, height=alt.Step(step_of(len(rows)))))
    title = alt.TitleParams(**heading(found.heading, sure or "published answers", width_of(columns, width)))
    return finished((panels[0] if len(panels) == 1 else alt.hconcat(*panels)).properties(title=title))


def _title(found: PublishedAnswers) -> str:
    label = found.labels.heading(found.question, found.by)
    return f"Published: {shortened(found.question, 120)}" if label is None else label


def _parts(answer: str, possible: Sequence[str]) -> list[str]:
    """Take an answer apart into names that can be published; empty where it is something else."""
    if answer in possible:
        return [answer]
    tokens = filter(None, map(str.strip, _TOKEN.findall(answer)))
    try:
        said = [json.loads(token) if token.startswith('"') else token for token in tokens]
    except ValueError:
        return []
    return said if set(said) <= set(possible) else []


def _labels(found: PublishedAnswers, shown: Sequence[PublishedAnswer]) -> list[str]:
    """Name the groups; every audience has the same ones."""
    names: list[str] = []
    for audience in dict.fromkeys(one.audience for one in shown):
        names += labels(found.shown_key(one.key) for one in shown if one.audience == audience)
    return names


def _described(found: PublishedAnswers, drawn: str, told: Sequence[str]) -> str:
    count = count_of(len(found.answers), "published answer", "published answers")
    more = f", and {len(found.answers) - _MOST_SAID} more" if len(found.answers) > _MOST_SAID else ""
    table = f" of {found.sidecar['table']}" if found.sidecar.get("table") else ""
    promise = f" Intervals: {found.promise}." if found.promise else ""
    cut = f" Drawn are the first {MOST_ROWS}." if len(found.answers) > MOST_ROWS else ""
    return (
        f"{count} to the question {found.question}{table}, drawn as {drawn}.{cut}"
        f" {'; '.join(told[:_MOST_SAID])}{more}.{promise} The noise that protects people is part of every answer."
    )


def _columns(found: PublishedAnswers, shown: Sequence[PublishedAnswer], beside: Sequence[str]) -> tuple[str, ...]:
    audience = ("audience",) if any(one.audience is not None for one in shown) else ()
    unit = f"answer ({found.unit})" if found.numbers else "answer"
    return (*found.shown_by, *audience, unit, *beside)


def _head(found: PublishedAnswers, shown: Sequence[PublishedAnswer], one: PublishedAnswer) -> tuple[Any, ...]:
    audience = (one.audience,) if any(other.audience is not None for other in shown[:1]) else ()
    return (*found.shown_key(one.key), *audience)


def _for(one: PublishedAnswer) -> str:
    return "" if one.audience is None else f" (for {one.audience})"


def _surely(found: PublishedAnswers) -> str:
    told = found.sidecar.get("assurance")
    stated = told.get("confidence") if isinstance(told, Mapping) else None
    return "" if stated is None else f" with probability {percent_below(rational(stated, 'confidence'))} % or more"


def _number(one: PublishedAnswer) -> str:
    if one.low is None and one.high is None:
        return f"{one.answer}"
    low, high = ("no end" if end is None else end for end in (one.low, one.high))
    return f"{one.answer}, from {low} to {high}"
