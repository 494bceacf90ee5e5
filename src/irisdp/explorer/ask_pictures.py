"""Pictures of answers that nobody has asked for yet: where they will fall, and what other ε would buy.

What draws them are functions of this module with what they draw: so they go from one process to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ..exact import rational_text, shown_above
from ..plots import Picture
from ..plots.theme import COLOURS, INK, altair, finished
from ..plots.words import chance_text
from ..reading.choices import float_below
from .sketch import Sketch

__all__ = ["answers_around", "chance_by_distance", "epsilon_text", "error_by_epsilon"]

_WIDTH, _HEIGHT = 520, 230
_SHORT = 8
"""Letters of an ε that is written as it is."""


def answers_around(
    truth: int,
    chances: Sequence[tuple[int, Fraction]],
    *,
    within: int,
    promised: str = "",
    noted: str = "",
    noun: str = "records",
) -> Sketch:
    """Draw the probability of each answer about a count: a bar for each, dark where it is close enough.

    Parameters
    ----------
    truth : int
        The true count.
    chances : sequence of (int, Fraction)
        Answers in their order, and lower bounds of their probabilities.
    within : int
        Up to which distance bars are dark; no farther than bars are drawn.
    promised : str
        A note on answers farther off than the drawn bars, if any exist.
    noted : str
        Of what these are the answers, where that has to be said.
    noun : str
        What is counted.
    """
    rows = tuple((answer, float_below(chance)) for answer, chance in chances)
    first, last = rows[0][0], rows[-1][0]
    share = sum((chance for answer, chance in chances if abs(answer - truth) <= within), Fraction(0))
    inside = f"at most {within:,} from the truth"
    values = [
        {
            "answer": answer,
            "probability": chance,
            "distance": inside if abs(answer - truth) <= within else "further off",
        }
        for answer, chance in rows
    ]
    words: dict[str, Any] = dict(
        title=f"Answers where the truth is {truth:,}",
        description=(
            f"Bars, one for each answer from {first:,} to {last:,}, highest at the truth, which is answered with "
            f"probability {chance_text(dict(chances)[truth])}. Dark ones, {inside}, have {chance_text(share)} together."
            f"{promised}{noted}"
        ),
        columns=(f"answer ({noun})", "probability"),
        rows=rows,
    )
    axis = f"answer where the truth is {truth:,} ({noun})"
    return Sketch(**words, draw=partial(_draw_answers, words, values, axis=axis, inside=inside))


def _draw_answers(words: Mapping[str, Any], values: Sequence[Mapping[str, Any]], *, axis: str, inside: str) -> Picture:
    alt: Any = altair()
    chart = (
        alt.Chart(alt.InlineData(values=values), width=_WIDTH, height=_HEIGHT)
        .mark_bar(stroke=INK, strokeWidth=0.6, size=max(1, min(14, 0.8 * _WIDTH / len(values))))
        .encode(
            x=alt.X(
                "answer:Q",
                title=axis,
                scale=alt.Scale(domain=[values[0]["answer"] - 0.5, values[-1]["answer"] + 0.5], nice=False, zero=False),
                axis=alt.Axis(format=",d", tickMinStep=1, grid=False),
            ),
            y=alt.Y("probability:Q", title="probability"),
            color=alt.Color(
                "distance:N",
                title=None,
                scale=alt.Scale(domain=[inside, "further off"], range=[COLOURS[0], "#ffffff"]),
                legend=alt.Legend(orient="top", columnPadding=45, labelLimit=400),
            ),
        )
    )
    return Picture(**words, spec=finished(chart))


def chance_by_distance(
    points: Sequence[tuple[int, Fraction]], *, title: str, axis: str, told: str, marked: int | None = None
) -> Sketch:
    """Draw the probability of a good answer over the distance of the truth from changing, or over the allowed error.

    Parameters
    ----------
    points : sequence of (int, Fraction)
        Distance, and a probability that is surely reached.
    title, axis : str
        What is drawn, and what a distance is.
    told : str
        The whole in words, before its two ends are said.
    marked : int, optional
        A distance that was asked about.
    """
    chosen = next((point for point in points if point[0] == marked), None)
    (first, low), (last, high) = points[0], points[-1]
    said = f"{told} At {first:,} it is {chance_text(low)}, at {last:,} {chance_text(high)}."
    if chosen is not None:
        said += f" Marked: {chosen[0]:,}, where it is {chance_text(chosen[1])}."
    words: dict[str, Any] = dict(
        title=title,
        description=said,
        columns=(axis, "probability"),
        rows=tuple((distance, float_below(chance)) for distance, chance in points),
    )
    return Sketch(**words, draw=partial(_draw_chances, words, points, axis=axis, chosen=chosen))


def _draw_chances(
    words: Mapping[str, Any], points: Sequence[tuple[int, Fraction]], *, axis: str, chosen: tuple[int, Fraction] | None
) -> Picture:
    alt: Any = altair()
    data = alt.InlineData(values=[{"distance": distance, "probability": float(chance)} for distance, chance in points])
    x = alt.X("distance:Q", title=axis, axis=alt.Axis(format=",d", tickMinStep=1))
    y = alt.Y("probability:Q", title="probability", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(data, width=_WIDTH, height=_HEIGHT)
    layers = [
        base.mark_line(color=COLOURS[0], strokeWidth=2.5, point={"color": COLOURS[0], "size": 22}).encode(x=x, y=y)
    ]
    if chosen is not None:
        told = {"distance": chosen[0], "probability": float(chosen[1]), "said": chance_text(chosen[1])}
        at = alt.InlineData(values=[told])
        layers += [
            alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x),
            alt.Chart(at).mark_point(color=COLOURS[4], filled=True, size=90, opacity=1).encode(x=x, y=y),
            alt.Chart(at).mark_text(color=INK, align="left", dx=9, dy=13, fontSize=12).encode(x=x, y=y, text="said:N"),
        ]
    return Picture(**words, spec=finished(alt.layer(*layers)))


def error_by_epsilon(points: Sequence[tuple[Fraction, float]], *, axis: str, told: str, marked: Fraction) -> Sketch:
    """Draw what other ε would buy: an error over ε, on scales where halving either is one step.

    Parameters
    ----------
    points : sequence of (Fraction, float)
        ε, and the error; both above 0. A statement for ε rounded up is still true, because errors fall with ε.
    axis, told : str
        What the error is, with its unit, and in words.
    marked : Fraction
        The ε that is planned with.
    """
    listed = "; ".join(f"at ε = {epsilon_text(epsilon)} it is {shown_above(error)}" for epsilon, error in points)
    words: dict[str, Any] = dict(
        title="What another ε would buy",
        description=f"{told} It falls as ε grows: {listed}. The larger dot is the ε planned with, "
        f"{epsilon_text(marked)}.",
        columns=("ε", axis),
        rows=tuple((float(epsilon), error) for epsilon, error in points),
    )
    return Sketch(**words, draw=partial(_draw_errors, words, words["rows"], axis=axis, marked=float(marked)))


def _draw_errors(
    words: Mapping[str, Any], points: Sequence[tuple[float, float]], *, axis: str, marked: float
) -> Picture:
    alt: Any = altair()
    values = [
        {
            "epsilon": epsilon,
            "error": error,
            "said": shown_above(error),
            "planned": "planned" if epsilon == marked else "other",
        }
        for epsilon, error in points
    ]
    x = alt.X(
        "epsilon:Q",
        title="ε (privacy loss, in nats)",
        scale=alt.Scale(type="log", nice=False, padding=26),
        axis=alt.Axis(values=[epsilon for epsilon, _ in points], format=".3~g", grid=True),
    )
    y = alt.Y(
        "error:Q",
        title=axis,
        scale=alt.Scale(type="log", nice=False, padding=20),
        # g alone writes 1000 as 1e+3, and r alone the many zeros of 1e-40; some places are left without a label.
        axis=alt.Axis(
            labelExpr="datum.label && format(datum.value, datum.value < 0.001 ? '.3~g' : ',.3~r')",
            tickCount=4,
        ),
    )
    base = alt.Chart(alt.InlineData(values=values), width=_WIDTH, height=_HEIGHT).encode(x=x, y=y)
    chart = alt.layer(
        base.mark_line(color=COLOURS[0], strokeWidth=2.5),
        base.mark_point(filled=True, opacity=1, stroke=INK).encode(
            size=alt.condition("datum.planned == 'planned'", alt.value(130), alt.value(45)),
            color=alt.condition("datum.planned == 'planned'", alt.value(COLOURS[4]), alt.value(COLOURS[0])),
        ),
        base.mark_text(color=INK, align="left", dx=9, dy=-9, fontSize=12).encode(text="said:N"),
    )
    return Picture(**words, spec=finished(chart))


def epsilon_text(epsilon: Fraction) -> str:
    """Write a short ε unchanged, and any other with four digits, rounded up: the cost is never understated.

    Examples
    --------
    >>> epsilon_text(Fraction(1, 2)), epsilon_text(Fraction("0.538174003452"))
    ('0.5', '0.5382')
    """
    exact = rational_text(epsilon)
    return exact if "/" not in exact and len(exact) <= _SHORT else shown_above(epsilon, 4)
