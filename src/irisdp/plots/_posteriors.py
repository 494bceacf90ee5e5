"""Pictures of a reading: what the truth may be given a published answer, and how the answer is best read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from .._exact import integer
from ..errors import BadInput
from ..interpretation import BASES, ChoiceInterpretation, Estimates, Interpretation, Posterior, float_below
from ._interval_chart import ChartInterval, interval_chart, label_axis
from ._layout import COLOURS, INK, MOST_ROWS, altair, count_of, finished, heading, labels, shortened
from ._picture import Picture, chance_text

_NEGLIGIBLE = 1e-4
"""Of the largest probability: counts that are less likely are left out."""
_MOST_BARS = 120
_MOST_POINTS = 1_000
_MOST_SAID = 20


def readings(found: Interpretation, number: int | None = None) -> Picture:
    """Draw counts as they are read: one as its posterior, several as rows between the ends of theirs.

    Parameters
    ----------
    found : Interpretation
    number : int, optional
        Which of several answers to draw alone.

    Raises
    ------
    BadInput
        For a reading without answers, or a number of none.
    """
    if not found.answers:
        raise BadInput("interpretation", "holds no answers", "there is nothing to draw")
    if number is None and len(found.answers) > 1:
        return _rows(found)
    place = 0 if number is None else integer(number, "number", at_least=0, at_most=len(found.answers) - 1)
    answer = found.answers[place]
    group = f" for {', '.join(map(str, answer.key))}" if answer.key else ""
    return posterior_picture(
        found.posterior(place),
        published=int(cast(Any, answer.published)),
        reading=answer.reading,
        title=f"What {answer.published} published{shortened(group)} says of the truth",
        read_for=found.loss.name,
    )


def posterior_picture(
    found: Posterior,
    *,
    published: int | None = None,
    reading: int | None = None,
    title: str = "What the truth may be",
    read_for: str = "",
) -> Picture:
    """Draw the probability of every true count, and where the answer and its reading lie.

    Parameters
    ----------
    found : Posterior
    published, reading : int, optional
        What was published, and what it is best read as.
    title, read_for : str
        What is drawn, and the loss that the reading is best for.
    """
    low, high = found.interval()
    rows = _likely(found)
    alt = altair()
    values = [
        {"count": count, "probability": p, "inside": "inside 95 %" if low <= count <= high else "outside"}
        for count, p in rows
    ]
    base = alt.Chart(alt.InlineData(values=values))
    told = ((published, "published"), (reading, "best reading"))
    marks = [(count, words) for count, words in told if count is not None]
    counts = [count for count, _ in rows] + [count for count, _ in marks]
    scale = alt.Scale(domain=[min(counts) - 0.7, max(counts) + 0.7], nice=False, zero=False)
    x = alt.X("count:Q", title="true count (records)", scale=scale, axis=alt.Axis(tickMinStep=1, format="d"))
    highest = max(p for _, p in rows) * (1.25 if marks else 1.05)  # space for words above the bars
    y = alt.Y("probability:Q", title="probability", scale=alt.Scale(domain=[0, highest], nice=False))
    if len(rows) <= _MOST_BARS:
        size = max(2, min(26, 440 / (max(counts) - min(counts) + 1) * 0.8))
        drawn = base.mark_bar(size=size, stroke=INK, strokeWidth=0.5).encode(
            x=x,
            y=y,
            color=alt.Color(
                "inside:N",
                legend=None,
                scale=alt.Scale(domain=["inside 95 %", "outside"], range=[COLOURS[0], "#dddddd"]),
            ),
        )
    else:
        drawn = base.mark_area(line={"color": COLOURS[0]}, color=COLOURS[3], opacity=0.6).encode(x=x, y=y)
    layers = [drawn]
    for height, (count, words) in enumerate(marks):
        at = alt.Chart(alt.InlineData(values=[{"count": count, "words": f"{words}: {count}"}]))
        dash = [5, 3] if words == "published" else [1, 0]
        layers.append(at.mark_rule(color=INK, strokeWidth=1.5, strokeDash=dash).encode(x=x))
        left = words != "published" and published is not None and count < published  # away from the other words
        layers.append(
            at.mark_text(
                align="right" if left else "left", dx=-4 if left else 4, fontSize=13, color=INK, fontWeight="bold"
            ).encode(x=x, y=alt.value(8 + 14 * height), text="words:N")
        )
    dark = " (dark bars)" if len(rows) <= _MOST_BARS else ""
    subtitle = f"{low} to {high} with probability 95 % or more{dark}; before: {found.prior}"
    spec = alt.layer(*layers).properties(width=360, height=240, title=alt.TitleParams(**heading(title, subtitle, 360)))
    best = f" Best read for {read_for} loss as {reading}." if reading is not None else ""
    likely = int(found.probabilities.argmax())
    return Picture(
        title=shortened(title, 120),
        description=(
            f"Probabilities of the true counts {rows[0][0]} to {rows[-1][0]}, given what was published and, before it,"
            f" {found.prior}: most likely {found.first + likely}, with probability"
            f" {chance_text(Fraction(float(found.probabilities[likely])))}; between {low} and {high} with"
            f" probability 95 % or more.{best} Counts less likely than a ten-thousandth of that are left out. Floats."
        ),
        columns=("true count (records)", "probability"),
        rows=tuple(rows),
        spec=finished(spec),
    )


def _likely(posterior: Posterior) -> list[tuple[int, float]]:
    """List the counts worth drawing; of very many, some at equal distances."""
    likely = np.flatnonzero(posterior.probabilities >= posterior.probabilities.max() * _NEGLIGIBLE)
    places = np.arange(likely[0], likely[-1] + 1)
    places = places[:: -(-len(places) // _MOST_POINTS)]
    return [(posterior.first + int(place), float(posterior.probabilities[place])) for place in places]


def _rows(interpretation: Interpretation) -> Picture:
    shown = interpretation.answers[:MOST_ROWS]
    names = labels(one.key for one in shown)
    ends = [interpretation.posterior(number).interval() for number in range(len(shown))]
    intervals = [
        ChartInterval(label=name, series="", value=one.reading, low=low, high=high)
        for name, one, (low, high) in zip(names, shown, ends, strict=True)
    ]
    before = interpretation.posterior(0).prior
    told = [
        f"{name}: {one.published} published, read as {one.reading}, truth {low} to {high}"
        for name, one, (low, high) in zip(names, shown, ends, strict=True)
    ]
    number, loss = (
        count_of(len(interpretation.answers), "published count", "published counts"),
        interpretation.loss.name,
    )
    title = f"{number}, read for {loss} loss"
    return Picture(
        title=title,
        description=_listing(
            f"For each group a dot at the best reading for {loss} loss, and a line between which ends the"
            f" truth lies with probability 95 % or more; before: {before}. Where a reading is drawn by lot, the dot is"
            " what was drawn.",
            told,
        ),
        columns=(*interpretation.by, "published (records)", "reading (records)", "low (records)", "high (records)"),
        rows=tuple(
            (*map(str, one.key), one.published, one.reading, *end) for one, end in zip(shown, ends, strict=True)
        ),
        spec=interval_chart(
            title,
            intervals,
            rows=" · ".join(interpretation.by),
            values="true count (records)",
            subtitle=f"dots: best readings; lines: truth with probability 95 %; before: {before}",
        ),
    )


def names_read(found: ChoiceInterpretation) -> Picture:
    """Draw how likely each published name is true, or where one was read under a prior, how likely every name is.

    Parameters
    ----------
    found : ChoiceInterpretation
        As `irisdp.interpret` returns it for published names.

    Raises
    ------
    BadInput
        For a reading without answers.
    """
    if not found.answers:
        raise BadInput("interpretation", "holds no answers", "there is nothing to draw")
    first = found.answers[0]
    if len(found.answers) == 1 and first.judgement.posterior is not None:
        told = [(str(name), float(chance)) for name, chance in first.judgement.posterior.items()]
        title = f"How likely each name is true, where {shortened(str(first.published))} was published"
        rows = [(name, name == str(first.published), chance) for name, chance in told]
        columns: tuple[str, ...] = ("name", "published", "probability")
        least = [one.lower for one in first.judgement.posterior.values()]
        names = labels((row[0],) for row in rows)
        table: list[tuple[Any, ...]] = [(name, "yes" if is_it else "no", chance) for name, is_it, chance in rows]
    else:
        shown = found.answers[:MOST_ROWS]
        title = f"How likely {count_of(len(found.answers), 'published name is', 'published names are')} true"
        columns = (*found.by, "published", "probability")
        table = [(*map(str, one.key), str(one.published), float_below(one.probability.lower)) for one in shown]
        least = [one.probability.lower for one in shown]
        names = labels((*one.key, one.published) for one in shown)
    bars = [
        {"label": label, "chance": row[-1], "words": chance_text(chance)}
        for label, row, chance in zip(names, table, least, strict=True)
    ]
    note = first.judgement.note
    basis = BASES[first.judgement.basis] + ("" if note is None else f" ({note})")
    return Picture(
        title=title,
        description=_listing(
            f"Bars of probabilities, {basis}.",
            [f"{bar['label']}: {bar['words']}" for bar in bars],
        ),
        columns=columns,
        rows=tuple(table),
        spec=_bars(title, basis, bars),
    )


def _bars(title: str, basis: str, bars: Sequence[dict[str, Any]]) -> dict[str, Any]:
    alt = altair()
    base = alt.Chart(alt.InlineData(values=list(bars))).encode(
        x=alt.X(
            "chance:Q",
            title="probability",
            scale=alt.Scale(domain=[0, 1.08]),
            axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f"),
        ),
        y=alt.Y("label:N", sort=None, title=None, axis=label_axis(alt, [bar["label"] for bar in bars])),
    )
    text = base.mark_text(align="left", dx=4, fontSize=13, color=INK).encode(text="words:N")
    drawn = alt.layer(base.mark_bar(color=COLOURS[0], height=12), text)
    said = alt.TitleParams(**heading(title, basis, 330))
    return finished(drawn.properties(width=330, height=alt.Step(22), title=said))


def estimates_picture(found: Estimates) -> Picture:
    """Draw published lists as they are read: every size, or every category's count, between its ends.

    Parameters
    ----------
    found : Estimates
        As `irisdp.interpret` returns them for lists and columns.

    Raises
    ------
    BadInput
        For a reading without answers.
    """
    if not found.rows:
        raise BadInput("interpretation", "holds no answers", "there is nothing to draw")
    shown = found.rows[:MOST_ROWS]
    beside = len(found.columns) - (3 if found.kind == "sizes" else 4)
    names = labels(row[:beside] for row in shown)
    # Of sizes the published one is drawn, of categories the estimate without bias.
    intervals = [
        ChartInterval(label=name, series="", value=float(row[-3]), low=row[-2], high=row[-1])
        for name, row in zip(names, shown, strict=True)
    ]
    title = "Sizes, largest first" if found.kind == "sizes" else "How many records are in each category"
    dots = "published sizes" if found.kind == "sizes" else "estimates"
    ends = ["no end" if end is None else str(end) for row in shown for end in row[-2:]]
    told = [
        f"{interval.label}: {interval.value:.6g}, from {low} to {high}"
        for interval, low, high in zip(intervals, ends[::2], ends[1::2], strict=True)
    ]
    return Picture(
        title=title,
        description=_listing(f"Dots at {dots}, each with a line between its ends: {found.describe()}.", told),
        columns=found.columns,
        rows=tuple(
            tuple(float(part) if hasattr(part, "denominator") and not isinstance(part, int) else part for part in row)
            for row in shown
        ),
        spec=interval_chart(
            title,
            intervals,
            rows=" · ".join(found.columns[:beside]),
            values="records",
            subtitle=f"dots: {dots}; lines: {found.describe()}",
        ),
    )


def _listing(said: str, told: Sequence[str]) -> str:
    more = f", and {len(told) - _MOST_SAID} more" if len(told) > _MOST_SAID else ""
    return f"{said} {'; '.join(told[:_MOST_SAID])}{more}."
