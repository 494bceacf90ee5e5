"""Pictures of sweeps: values along ε or another parameter, one line for each design, loss or size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from .._exact import checked, nearest_float
from ..design import Sweep
from ..errors import BadInput
from ._layout import MOST_LINES, altair, apart, finished, heading
from ._picture import Picture

_SYMBOLS = {"epsilon": "ε", "delta": "δ"}

_WIDE, _HIGH = 340, 280
_FAR = 20
"""A scale is logarithmic where the largest number is so many times the smallest."""

_SEEN = 1e-9
"""A smaller gap than this is not said."""

Point = tuple[str, float, Any, Any]
"""A line, where on it, the value there, and its lower bound, which may be None."""


@checked
def sweep_curves(sweeps: Sweep | Mapping[str, Sweep], *, along: str | None = None) -> Picture:
    """Draw the values of sweeps, such as loss against ε, with one line for each combination of what else varies.

    Parameters
    ----------
    sweeps : Sweep or mapping
        One sweep, or several with the names that the legend shows, such as one for each designer.
    along : str, optional
        The column of numbers that is drawn from left to right; ε where it varies, else the first that does.

    Returns
    -------
    Picture
        At most 35 lines, which differ in hue, in dash and in the shape of their points.

    Raises
    ------
    BadInput
        For another column, one that does not vary, designs without an objective, and too many lines.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> privacies = [Privacy(ratio=ratio) for ratio in (2, 3, 4)]
    >>> found = design.sweep(design.consumer, {"n": [2, 3], "privacy": privacies}, loss="absolute")
    >>> found.plot().columns
    ('n', 'ε', 'worst expected absolute loss', 'lower bound')
    """
    named = dict(sweeps) if isinstance(sweeps, Mapping) else {"": sweeps}
    if not named:
        raise BadInput("sweeps", "holds none", "give at least one")
    chosen = _along(list(named.values()), along)
    others = _others(list(named.values()), chosen)
    points = _points(named, chosen, others)
    lines = list(dict.fromkeys(line for line, *_ in points))
    if len(lines) > MOST_LINES:
        raise BadInput("sweeps", f"make {len(lines)} lines, more than {MOST_LINES}", "draw fewer at once")
    goals = {
        mechanism.objective.name
        for found in named.values()
        for mechanism in found.mechanisms
        if mechanism.objective is not None
    }
    words = goals.pop() if len(goals) == 1 else "value"
    across = _SYMBOLS.get(chosen, chosen)
    title = f"{words[0].upper()}{words[1:]} against {across}"
    field = ", ".join(_SYMBOLS.get(name, name) for name in others) or "design"
    if len(named) > 1 and others:
        field = f"design, {field}"
    return Picture(
        title=title,
        description=_described(points, lines, words, across),
        columns=(field, across, words, "lower bound"),
        rows=tuple(points),
        spec=finished(_chart(points, lines, field, across, words, title), legend=lines),
    )


def _along(sweeps: Sequence[Sweep], along: str | None) -> str:
    """Return the column from left to right."""
    numeric = [
        name
        for name in sweeps[0].points[0]
        if all(isinstance(point.get(name), int | float) for found in sweeps for point in found.points)
    ]
    varying = [name for name in numeric if len({point[name] for found in sweeps for point in found.points}) > 1]
    if along is not None and along not in varying:
        rule = "does not vary" if along in numeric else "is no column of numbers of every sweep"
        remedy = f"choose from {', '.join(varying)}" if varying else "sweep over two numbers or more"
        raise BadInput("along", rule, remedy)
    if not varying:
        raise BadInput("sweeps", "have no number that varies, such as ε", "sweep over two privacies or more")
    return along or ("epsilon" if "epsilon" in varying else varying[0])


def _others(sweeps: Sequence[Sweep], along: str) -> list[str]:
    """List the other columns that vary."""
    names = dict.fromkeys(name for found in sweeps for point in found.points for name in point if name != along)
    return [name for name in names if len({str(point.get(name)) for found in sweeps for point in found.points}) > 1]


def _points(named: Mapping[str, Sweep], along: str, others: Sequence[str]) -> list[Point]:
    points: list[Point] = []
    for name, found in named.items():
        for point, value, bound in zip(found.points, found.values, found.lower_bounds, strict=True):
            if value is None:
                raise BadInput("sweeps", "hold designs without an objective, which have no value", "leave them out")
            parts = [_part(other, point[other]) for other in others if other in point]
            line = ", ".join(part for part in (str(name), *parts) if part) or found.design
            points.append((line, point[along], nearest_float(value), None if bound is None else nearest_float(bound)))
    order = {line: number for number, line in enumerate(dict.fromkeys(line for line, *_ in points))}
    return sorted(points, key=lambda point: (order[point[0]], point[1]))


def _part(name: str, value: Any) -> str:
    """Return a parameter in words for a line: text alone, a number with the parameter's name."""
    return value if isinstance(value, str) else f"{_SYMBOLS.get(name, name)} = {value:g}"


def _described(points: Sequence[Point], lines: Sequence[str], words: str, across: str) -> str:
    told = []
    for line in lines:
        here = [point for point in points if point[0] == line]
        first, last = here[0], here[-1]
        told.append(f"For {line}: from {first[2]:.4g} at {across} = {first[1]:g} to {last[2]:.4g} at {last[1]:g}.")
    said = f"A line for each design: {words} against {across}"
    if all(bound is not None for *_, bound in points):
        gap = max(value - bound for *_, value, bound in points)
        said += ", proven optimal at every point" if gap <= _SEEN else f", at most {gap:.2g} above its lower bound"
    return f"{said}. {' '.join(told)}"


def _chart(points: Sequence[Point], lines: Sequence[str], field: str, across: str, words: str, title: str) -> Any:
    alt: Any = altair()
    values = [{"line": line, "x": x, "value": value} for line, x, value, _ in points]
    ways = apart(field, lines)
    x, y = (
        (alt.Scale(type="log", nice=False), "(log scale)") if _far(numbers) else (alt.Scale(zero=False), "")
        for numbers in ([point[1] for point in points], [point[2] for point in points])
    )
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("x:Q", title=" ".join(part for part in (across, x[1]) if part), scale=x[0], axis=alt.Axis(tickCount=6)),
        y=alt.Y(
            "value:Q",
            title=[part for part in (*wrap(words, 42), y[1]) if part],
            scale=y[0],
            axis=alt.Axis(tickCount=6, format="~g"),
        ),
        color=ways["color"],
    )
    return alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=ways["strokeDash"]),
        base.mark_point(filled=True, size=45, opacity=1).encode(shape=ways["shape"]),
    ).properties(width=_WIDE, height=_HIGH, title=heading(title, "", _WIDE)["text"])


def _far(numbers: Sequence[float]) -> bool:
    return min(numbers) > 0 and max(numbers) >= _FAR * min(numbers)
