"""Rainbow curves: the probability of each answer by the distance of the nearest other ranking."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .._exact import integer, numbers
from ..design import curves, turning_points
from ..errors import BadInput
from ..mechanisms import check_distribution
from ..privacy import Privacy, step
from ._layout import INK, altair, apart, finished, visible
from ._picture import Picture, brief

_MOST_DRAWN = 12
"""Answers with a curve of their own; the others share one."""
_FARTHEST = 200
_NEARLY = 0.99
_MOST_POINTS = 40
"""Distances up to which every whole one has a point."""
_BETWEEN = 400

_COLUMNS = ("answer", "distance (steps)", "probability")


def rainbow_curves(
    row: Sequence[Any],
    privacy: Privacy,
    *,
    answers: Sequence[Any] | None = None,
    farthest: int | None = None,
) -> Picture:
    """Draw the probability of each answer over the distance to the boundary, where a row stands at distance 0.

    Parameters
    ----------
    row : sequence of q numbers
        The row at the boundary along its ranking, best first, with sum exactly 1.
    privacy : Privacy
        One pair, for which lines are drawn between whole distances and τ is shown, or several.
    answers : sequence of q names, optional
        Labels along the ranking. [default: numbers from 1]
    farthest : int, optional
        The last distance, at most 200. [default: where all growing probabilities are close to 1]

    Returns
    -------
    Picture
        At whole distances the rows of the optimal mechanism with this boundary, to about 1e-12.

    Raises
    ------
    BadInput
        For a row that is no law, names of another number, or a distance out of range.

    Examples
    --------
    >>> rainbow_curves(["1/4", "3/4"], Privacy(ratio=2), farthest=1).rows
    (('1', 0, 0.25), ('2', 0, 0.75), ('1', 1, 0.5), ('2', 1, 0.5))

    References
    ----------
    [Gu2024], Figures 3–5, with the corrected operator; docs/theory.md#rainbows.
    """
    start = numbers(row, "row")
    check_distribution(start, len(start), "row")
    names = [visible(str(name)) for name in (range(1, len(start) + 1) if answers is None else answers)]
    if len(names) != len(start) or len(set(names)) != len(names):
        raise BadInput("answers", "must be as many different names as the row has entries", "name each answer once")
    last = _farthest(start, privacy) if farthest is None else integer(farthest, "farthest", at_least=1, at_most=200)
    sums = _prefix_sums(start, privacy, last)
    drawn, kept = _joined(names, sums)
    rows = [(name, depth, p) for depth, line in enumerate(drawn) for name, p in zip(kept, line, strict=True)]
    turns = [*turning_points(start, privacy)] if privacy.single else []
    return Picture(
        title="Probability of each answer over the distance to the boundary",
        description=_described(kept, drawn, privacy, turns),
        columns=_COLUMNS,
        rows=tuple(rows),
        spec=finished(_chart(start, privacy, rows, kept, turns, last), legend=kept),
    )


def _stepped(sums: list[float], privacy: Privacy) -> list[float]:
    """Apply u to floats, each rounded once: an error of 1e-16 of the value or of what it lacks of 1."""
    return [float(step(Fraction(s), privacy)) for s in sums]


def _farthest(row: Sequence[Fraction], privacy: Privacy) -> int:
    """Return where every sum of best answers that grows has nearly come to 1."""
    sums, depth = np.cumsum([float(p) for p in row]).clip(0, 1).tolist(), 0
    while depth < _FARTHEST:
        after = _stepped(sums, privacy)
        if all(s >= _NEARLY or s == before for s, before in zip(after, sums, strict=True)):
            break
        sums, depth = after, depth + 1
    return max(depth, 1)


def _prefix_sums(row: Sequence[Fraction], privacy: Privacy, last: int) -> list[list[float]]:
    """Return the probability of the best 1, 2, … answers together at distances 0 to the last."""
    total, exact = Fraction(0), []
    for entry in row:
        total += entry
        exact.append(total)
    lines = [[float(s) for s in exact]]
    for _ in range(last):
        lines.append(_stepped(lines[-1], privacy))
    return lines


def _joined(names: Sequence[str], sums: Sequence[Sequence[float]]) -> tuple[list[list[float]], list[str]]:
    """Return probabilities and names, of the least preferred of many answers together."""
    kept = list(names)
    if len(names) > _MOST_DRAWN:
        kept = [*names[: _MOST_DRAWN - 1], f"the other {len(names) - _MOST_DRAWN + 1} answers"]
    ends = [*range(len(kept) - 1), len(names) - 1]
    return [np.diff([0.0, *(line[end] for end in ends)]).tolist() for line in sums], kept


def _described(names: Sequence[str], lines: Sequence[Sequence[float]], privacy: Privacy, turns: Sequence[Any]) -> str:
    last = len(lines) - 1
    said = [
        f"A curve for each of {len(names)} answers, in the order of preference, over distances 0 to {last} from the"
        f" nearest input that ranks them otherwise, at {brief(privacy)}."
    ]
    ends = (f"{name} from {lines[0][k]:.4g} to {lines[-1][k]:.4g}" for k, name in enumerate(names))
    said.append(f"Probabilities at the boundary and at distance {last}: {', '.join(ends)}.")
    if turns:
        listed = ", ".join("never" if turn is None else str(turn) for turn in turns[:_MOST_DRAWN])
        said.append(
            "τ is the first distance at which the best answers together have at least (1 − δ)/(e^ε + 1) ="
            f" {float((1 - privacy.delta) / (privacy.ratio + 1)):.4g}, from where they grow more and more slowly; for"
            f" the best 1, 2, … of them: {listed}{', …' if len(turns) > _MOST_DRAWN else ''}."
        )
    else:
        said.append("Of several pairs of ε and δ no τ is defined; points are joined by straight lines.")
    return " ".join(said)


def _chart(
    row: Sequence[Fraction],
    privacy: Privacy,
    rows: Sequence[tuple[str, int, float]],
    names: Sequence[str],
    turns: Sequence[int | None],
    last: int,
) -> Any:
    alt: Any = altair()
    points = [{"line": name, "distance": depth, "probability": p} for name, depth, p in rows]
    between = points if not privacy.single else _between(row, privacy, names, last)
    ways = apart("answer", names, points=last <= _MOST_POINTS)
    x = alt.X(
        "distance:Q",
        title="distance to the boundary (steps between neighbours)",
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", labelFlush=False),
    )
    y = alt.Y("probability:Q", title="probability of the answer", scale=alt.Scale(domain=[0, 1]))
    colour, dash, shape = ways["color"], ways["strokeDash"], ways["shape"]
    layers = [
        alt.Chart(alt.InlineData(values=between))
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    ]
    if last <= _MOST_POINTS:
        dots = alt.Chart(alt.InlineData(values=points)).mark_point(filled=True, size=45, opacity=1)
        layers.append(dots.encode(x=x, y=y, color=colour, shape=shape))
    curve = alt.layer(*layers).properties(width=460, height=300)
    marked: list[dict[str, Any]] = [
        {"τ": turn, "of": f"the best {k + 1}", "said": f"τ = {turn}"}
        for k, turn in enumerate(turns[: min(len(names), len(turns) - 1)])
        if turn is not None and turn <= last
    ]
    heading = alt.TitleParams("Probability of each answer", subtitle=brief(privacy))
    if not marked:
        return curve.properties(title=heading)
    along = alt.X(
        "τ:Q", title=None, scale=alt.Scale(domain=[0, last], nice=False), axis=alt.Axis(labels=False, ticks=False)
    )
    of = alt.Y("of:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(values=marked)).encode(x=along, y=of)
    ticks = base.mark_point(shape="triangle-up", filled=True, color=INK, size=60, opacity=1)
    near = [one for one in marked if one["τ"] <= last / 2]
    words = [
        alt.Chart(alt.InlineData(values=part))
        .mark_text(align=align, dx=dx, color=INK)
        .encode(x=along, y=of, text="said:N")
        for part, align, dx in ((near, "left", 8), ([one for one in marked if one not in near], "right", -8))
        if part
    ]
    strip = alt.layer(ticks, *words).properties(
        width=460, height={"step": 18}, title=alt.TitleParams("From τ on, growth slows down", fontSize=13)
    )
    return alt.vconcat(curve, strip, title=heading)


def _between(row: Sequence[Fraction], privacy: Privacy, names: Sequence[str], last: int) -> list[dict[str, Any]]:
    """Return the curves at distances that are whole or not, for one pair."""
    times = np.linspace(0, last, min(_BETWEEN, 8 * last) + 1)
    sums = np.cumsum(curves(row, times, privacy), axis=1)
    lines, _ = _joined([str(k) for k in range(len(row))], sums.tolist())
    return [
        {"line": name, "distance": round(float(t), 6), "probability": round(p, 9)}
        for t, line in zip(times, lines, strict=True)
        for name, p in zip(names, line, strict=True)
    ]
