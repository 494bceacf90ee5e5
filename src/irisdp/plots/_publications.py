"""A picture of what was published: numbers with the ends between which the truth lies, or names group by group."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._exact import nearest_float, percent_below, rational, shown_below
from .._measurements import HIGH, LOW, PROBABILITY, band_names
from .._queries import AnswerType, Measured
from .._release import Labels, Publication, ReleaseFile, rows_of
from ..errors import BadInput
from ..interpretation import answers_beside, sidecar_beside
from ._interval_chart import ChartInterval, interval_chart, label_axis
from ._layout import (
    COLOURS,
    INK,
    LETTER,
    MOST_ROWS,
    altair,
    count_of,
    finished,
    heading,
    in_columns,
    labels,
    shortened,
    step_of,
    width_of,
)
from ._picture import Picture

# Read published answers for pictures from a publication, or from the file of answers and its release file.

_BINS = "BINS("


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAnswer:
    """One published answer, and its auxiliary output; None if it has none.

    Parameters
    ----------
    key : tuple
        Its group; empty where there are no groups.
    audience : str or None
        For whom.
    answer : int, float or str
        As it was published.
    low, high : float or None
        The interval of the truth, with the confidence in the release file.
    probability : float or None
        The least probability of the right answer.
    """

    key: tuple[Any, ...]
    audience: str | None
    answer: Any
    low: float | None
    high: float | None
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAnswers:
    """A release: its release file, the group columns, and the answers of every audience one after another.

    `numbers` says whether the answers are numbers and no names, and `labels` what readers see instead of names.
    """

    facts: ReleaseFile
    by: tuple[str, ...]
    numbers: bool
    answers: tuple[PublishedAnswer, ...]
    labels: Labels = field(default_factory=Labels)

    @property
    def question(self) -> str:
        """The question in one line."""
        return str(self.facts.stored.get("question") or "published answers")

    @property
    def heading(self) -> str:
        """The label or the question as it stands above a picture, without edges between bins: those are at an axis."""
        label = self.labels.heading(self.question, self.by)
        if label is not None:
            return label
        words = self.question
        for name, how in self.facts.part("derived").items():
            if str(how).startswith(_BINS):
                words = words.replace(f"{name} = {how}", str(name))
        return words

    @property
    def promise(self) -> str:
        """The guarantee of the auxiliary columns; empty if nothing is guaranteed."""
        return str(self.facts.part("assurance").get("promise", ""))

    @property
    def unit(self) -> str:
        """What numbers count, for an axis."""
        if "answer" in self.labels.columns:
            return self.labels.column("answer")
        query = self.facts.part("query")
        if self.facts.measured is Measured.VALUES:
            return f"{query['query']} of {query.get('column')}"
        return self.facts.counted

    @property
    def axis(self) -> str:
        """The title of the axis of answers."""
        return self.unit if "answer" in self.labels.columns else f"published answer ({shortened(self.unit)})"

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The labels of the group columns."""
        return tuple(map(self.labels.column, self.by))

    def shown_key(self, key: Sequence[Any]) -> tuple[str, ...]:
        """Return the labels of a group's values."""
        return tuple(self.labels.group(column, value) for column, value in zip(self.by, key, strict=True))

    @property
    def names(self) -> tuple[str, ...] | None:
        """All names that can be published, in their order; None if the release file does not list them."""
        mechanism = self.facts.part("mechanism")
        for listed in (mechanism.get("outputs"), mechanism.get("names"), mechanism.get("bins")):
            if isinstance(listed, list | tuple):
                return tuple(map(str, listed))
        thresholds = mechanism.get("thresholds")
        if isinstance(thresholds, list | tuple) and thresholds and all(type(start) is int for start in thresholds):
            return band_names(thresholds)
        return ("yes", "no") if self.facts.answer_type is AnswerType.YES_OR_NO else None

    @property
    def ordered_bins(self) -> bool:
        """Whether the one group column holds bins in their order, as of a histogram."""
        return len(self.by) == 1 and str(self.facts.part("derived").get(self.by[0])).startswith(_BINS)


def read_published(release: Any) -> PublishedAnswers:
    """Read what was published, with its ends.

    Parameters
    ----------
    release : Publication, PublishedAnswers, or path
        Name of the answers or of their release file.

    Raises
    ------
    BadInput
        For answers without a release file, a release file without answers, and other files.
    """
    if isinstance(release, PublishedAnswers):
        return release
    if isinstance(release, Publication):
        facts = ReleaseFile(next(iter(release.sidecars.values())))
        numbers = _are_numbers(facts, release.answers.columns)
        rows = [
            _answer(answer.columns, row, len(answer.by), audience, numbers)
            for audience, answer in release.answers_of.items()
            for row in answer.rows()
        ]
        return PublishedAnswers(facts=facts, by=release.answers.by, numbers=numbers, answers=tuple(rows))
    if not isinstance(release, str | os.PathLike):
        raise BadInput("release", "is no publication", "give a publication, or the file that publish wrote")
    path = sidecar_beside(release)
    facts = ReleaseFile.read(path, remedy="give the answers that publish wrote, or the .release.json beside")
    answers = answers_beside(path)
    if answers == path or not answers.is_file():
        rule = f"says how answers were made, and there is no {answers.name} beside it"
        raise BadInput("release", rule, "put the file of answers beside it, or give the publication")
    columns, lines = rows_of(answers)
    if "answer" not in columns:
        raise BadInput("release", f"{answers.name} has no column `answer`", "give a file that publish wrote")
    return published_answers(facts, columns, lines)


def published_answers(facts: ReleaseFile, columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> PublishedAnswers:
    """Return the answers of one audience, from the release file and the columns and lines of the file of answers."""
    place = columns.index("answer")
    numbers = _are_numbers(facts, columns)
    name = facts.stored.get("audience")
    answers = tuple(_answer(columns, line, place, None if name is None else str(name), numbers) for line in lines)
    return PublishedAnswers(facts=facts, by=tuple(columns[:place]), numbers=numbers, answers=answers)


def _are_numbers(facts: ReleaseFile, columns: Sequence[str]) -> bool:
    return LOW in columns or (PROBABILITY not in columns and facts.answer_type is AnswerType.NUMBER)


def _answer(
    columns: Sequence[str], row: Sequence[Any], place: int, audience: str | None, numbers: bool
) -> PublishedAnswer:
    beside = dict(zip(columns[place:], row[place:], strict=True))
    return PublishedAnswer(
        key=tuple(row[:place]),
        audience=audience,
        answer=_read_number(beside["answer"]) if numbers else beside["answer"],
        low=_read_number(beside.get(LOW)),
        high=_read_number(beside.get(HIGH)),
        probability=_read_number(beside.get(PROBABILITY)),
    )


def _read_number(value: Any) -> int | float | None:
    """Read a number, also from text: whole numbers become integers; an empty text becomes None."""
    if value is None or value == "":
        return None
    exact = rational(value, "answer")
    number = nearest_float(exact)
    if number is None:
        raise BadInput("answer", "is too large to be drawn", "read it in the file")
    return exact.numerator if exact.denominator == 1 else number


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
    answers = read_published(release)
    if labels is not None:
        answers = replace(answers, labels=labels)
    if not answers.answers:
        raise BadInput("release", "holds no answers: no group was named", "there is nothing to draw")
    return _numbers(answers) if answers.numbers else _names(answers)


def _numbers(published: PublishedAnswers) -> Picture:
    shown = published.answers[:MOST_ROWS]
    names = _labels(published, shown)
    intervals = [
        ChartInterval(label=name, series=one.audience or "", value=one.answer, low=one.low, high=one.high)
        for name, one in zip(names, shown, strict=True)
    ]
    bars = published.ordered_bins and len({one.audience for one in shown}) == 1
    spec = interval_chart(
        published.heading,
        intervals,
        rows=" · ".join(published.shown_by),
        values=published.axis,
        upright=bars,
        subtitle=f"dots: published; lines: hold the truth{_surely(published)}",
        from_nothing=not published.unit.startswith("mean of "),
    )
    drawn = "bars" if bars else "dots"
    ends = ", each with a line from answer_low to answer_high" if any(one.low is not None for one in shown) else ""
    told = [f"{name}{_for(one)}: {_shown_number(one)}" for name, one in zip(names, shown, strict=True)]
    return Picture(
        title=_title(published),
        description=_described(published, f"{drawn}{ends}", told),
        columns=_columns(published, shown, ("answer_low", "answer_high")),
        rows=tuple((*_head(published, shown, one), one.answer, one.low, one.high) for one in shown),
        spec=spec,
    )


def _names(published: PublishedAnswers) -> Picture:
    shown = published.answers[:MOST_ROWS]
    names = _labels(published, shown)
    chances = [one.probability for one in shown if one.probability is not None]
    sure = f"each is right with probability {shown_below(min(chances))} or more, whatever the data" if chances else ""
    told = [f"{name}{_for(one)}: {one.answer}" for name, one in zip(names, shown, strict=True)]
    return Picture(
        title=_title(published),
        description=_described(published, "names, a row for each group" + (f"; {sure}" if sure else ""), told),
        columns=_columns(published, shown, ("answer_probability",)),
        rows=tuple((*_head(published, shown, one), str(one.answer), one.probability) for one in shown),
        spec=_grid(published, shown, names, sure),
    )


def _grid(
    published: PublishedAnswers, shown: Sequence[PublishedAnswer], names: Sequence[str], sure: str
) -> dict[str, Any]:
    """Draw a column for each name that can be published, and a mark where it was; long or many names as text."""
    alt = altair()
    possible = published.names or tuple(dict.fromkeys(str(one.answer) for one in shown))
    parts = [_parts(str(one.answer), possible) for one in shown]
    as_grid = len(possible) <= _MOST_NAMES and max(map(len, possible)) <= _LONGEST_NAME and all(parts)
    several = len({one.audience for one in shown}) > 1
    turned = sum(map(len, possible)) >= 70
    ordered = any(" > " in str(one.answer) for one in shown) and as_grid
    values = [
        {
            "group": name if not several else f"{name}{_for(one)}",
            "name": part if as_grid else "",
            "shown": str(index) if ordered else shortened(part, 80),
        }
        for name, one, said in zip(names, shown, parts, strict=True)
        for index, part in enumerate(said if as_grid else [str(one.answer)], 1)
    ]
    rows = list(dict.fromkeys(value["group"] for value in values))
    columns, panels = in_columns(rows), []
    for panel in columns:
        inside = set(panel)
        base = alt.Chart(alt.InlineData(values=[value for value in values if value["group"] in inside])).encode(
            y=alt.Y(
                "group:N",
                sort=None,
                title=" · ".join(published.shown_by) or None,
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
    title = alt.TitleParams(**heading(published.heading, sure or "published answers", width_of(columns, width)))
    return finished((panels[0] if len(panels) == 1 else alt.hconcat(*panels)).properties(title=title))


def _title(published: PublishedAnswers) -> str:
    label = published.labels.heading(published.question, published.by)
    return f"Published: {shortened(published.question, 120)}" if label is None else label


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


def _labels(published: PublishedAnswers, shown: Sequence[PublishedAnswer]) -> list[str]:
    """Name the groups; every audience has the same ones."""
    names: list[str] = []
    for audience in dict.fromkeys(one.audience for one in shown):
        names += labels(published.shown_key(one.key) for one in shown if one.audience == audience)
    return names


def _described(published: PublishedAnswers, drawn: str, told: Sequence[str]) -> str:
    count = count_of(len(published.answers), "published answer", "published answers")
    more = f", and {len(published.answers) - _MOST_SAID} more" if len(published.answers) > _MOST_SAID else ""
    table = f" of {name}" if (name := published.facts.stored.get("table")) else ""
    promise = f" Intervals: {published.promise}." if published.promise else ""
    cut = f" Drawn are the first {MOST_ROWS}." if len(published.answers) > MOST_ROWS else ""
    return (
        f"{count} to the question {published.question}{table}, drawn as {drawn}.{cut}"
        f" {'; '.join(told[:_MOST_SAID])}{more}.{promise} The noise that protects people is part of every answer."
    )


def _columns(published: PublishedAnswers, shown: Sequence[PublishedAnswer], beside: Sequence[str]) -> tuple[str, ...]:
    audience = ("audience",) if any(one.audience is not None for one in shown) else ()
    unit = f"answer ({published.unit})" if published.numbers else "answer"
    return (*published.shown_by, *audience, unit, *beside)


def _head(published: PublishedAnswers, shown: Sequence[PublishedAnswer], one: PublishedAnswer) -> tuple[Any, ...]:
    audience = (one.audience,) if any(other.audience is not None for other in shown[:1]) else ()
    return (*published.shown_key(one.key), *audience)


def _for(one: PublishedAnswer) -> str:
    return "" if one.audience is None else f" (for {one.audience})"


def _surely(published: PublishedAnswers) -> str:
    stated = published.facts.part("assurance").get("confidence")
    return "" if stated is None else f" with probability {percent_below(rational(stated, 'confidence'))} % or more"


def _shown_number(one: PublishedAnswer) -> str:
    if one.low is None and one.high is None:
        return f"{one.answer}"
    low, high = ("no end" if end is None else end for end in (one.low, one.high))
    return f"{one.answer}, from {low} to {high}"
