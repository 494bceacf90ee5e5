"""Error against ε: what this library's mechanism for a question loses, and what others lose, as privacy weakens."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, log10
from textwrap import wrap
from typing import Any

from .._exact import checked, entries, rational, short_text, shown_above
from ..baselines import Comparison, compare
from ..errors import BadInput
from ._layout import altair, apart, finished
from ._picture import Picture

EPSILONS = tuple(map(Fraction, ("1/10", "1/5", "3/10", "1/2", "7/10", "1", "3/2", "2", "3", "4")))
_MOST = 60
_LEAST = 1e-12
"""Errors below this are drawn here, on a scale that has no 0."""


@checked
def error_against_epsilon(
    query: str, *words: Any, epsilons: Sequence[Any] = EPSILONS, objective: str | None = None, **options: Any
) -> Picture:
    """Draw the exact error of this library's mechanism and of others over ε, for one question.

    No data is read and nothing is spent.

    Parameters
    ----------
    query, *words
        The question, as `irisdp.compare` takes it.
    epsilons : sequence of 2 to 60 numbers
        Where errors are worked out: the points that are drawn; lines only join them.
    objective : str, optional
        The name of one of the comparison's objectives. [default: the first]
    **options
        `categories`, `n`, `delta`, `relation`, `lead` and `gaps`, as `irisdp.compare` takes them.

    Returns
    -------
    Picture
        Every point the nearest float to the error, or to the middle of an interval that holds it.

    Raises
    ------
    BadInput
        For too few ε, an objective that the comparison does not have, and whatever `irisdp.compare` refuses.

    Examples
    --------
    >>> found = error_against_epsilon("count", epsilons=["1/2", 1])
    >>> found.columns
    ('mechanism', 'ε', 'mean size of the error (records)')
    """
    given = entries(epsilons) or []
    places = sorted({rational(one, "epsilons") for one in given})
    if not 2 <= len(places) <= _MOST:
        raise BadInput("epsilons", f"must be 2 to {_MOST} different numbers", "give for example [0.5, 1, 2]")
    for one in ("epsilon", "ratio"):
        if one in options:
            raise BadInput(one, "is drawn along the picture", "give epsilons=[…]")
    compared = [(epsilon, compare(query, *words, epsilon=epsilon, **options)) for epsilon in places]
    first = compared[0][1]
    names = [one.name for one in first.objectives]
    chosen = names[0] if objective is None else objective
    if chosen not in names:
        raise BadInput("objective", "is not one of this comparison's", f"choose from {', '.join(names)}")
    wanted = first.objectives[names.index(chosen)]
    unit = "" if wanted.unit == "probability" else f" ({wanted.unit})"
    rows = [
        (one.name, float(epsilon), float(one.errors[chosen]))
        for epsilon, comparison in compared
        for one in comparison.mechanisms
    ]
    categories = first.asked.get("categories")
    title = f"{first.query}, {categories} categories" if categories else first.query
    return Picture(
        title=f"Error against ε: {title}",
        description=_described(compared, wanted.words, unit, chosen),
        columns=("mechanism", "ε", wanted.words + unit),
        rows=tuple(rows),
        spec=finished(
            _chart(rows, [one.name for one in first.mechanisms], title, wanted.words + unit),
            legend=[row[0] for row in rows],
        ),
    )


def _described(compared: Sequence[tuple[Fraction, Comparison]], words: str, unit: str, chosen: str) -> str:
    (low, first), (high, last) = compared[0], compared[-1]
    relation = "one record exchanged" if first.relation == "exchange" else "one record added or removed"
    delta = first.privacy.delta
    ends = {mechanism.name: float(mechanism.errors[chosen]) for mechanism in last.mechanisms}
    falls = "; ".join(
        f"{mechanism.name} from {shown_above(float(mechanism.errors[chosen]), 4)}"
        f" to {shown_above(ends[mechanism.name], 4)}"
        for mechanism in first.mechanisms
        if mechanism.name in ends
    )
    return (
        f"A line for each mechanism, the first of them this library's: {words}{unit}, worked out and not sampled, at"
        f" {len(compared)} values of ε from {short_text(low)} to {short_text(high)}"
        f"{f' with δ = {short_text(delta)}' if delta else ''}, where neighbours have {relation}. Both scales are"
        f" logarithmic. From the smallest ε to the largest: {falls}."
        f" {first.mechanisms[0].name}: {first.mechanisms[0].scope}."
    )


def _chart(rows: Sequence[tuple[str, float, float]], names: Sequence[str], title: str, axis: str) -> Any:
    alt: Any = altair()
    known = list(dict.fromkeys((*names, *(row[0] for row in rows))))
    values = [{"line": name, "epsilon": epsilon, "error": max(error, _LEAST)} for name, epsilon, error in rows]
    ways = apart("mechanism", known)
    x = alt.X(
        "epsilon:Q",
        title="ε (log scale)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=sorted({row[1] for row in rows}), labelExpr="datum.value", labelFlush=False),
    )
    y = alt.Y(
        "error:Q",
        title=[*wrap(axis, 50), "(log scale)"],
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=_ticks([max(row[2], _LEAST) for row in rows]), format="~g"),
    )
    base = alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y, color=ways["color"])
    return alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=ways["strokeDash"]),
        base.mark_point(filled=True, size=45, opacity=1).encode(shape=ways["shape"]),
    ).properties(width=340, height=280, title=f"Error against ε: {title}")


def _ticks(errors: Sequence[float]) -> list[float]:
    """Return round numbers around errors: powers of ten, and where there are few also 2 and 5 times them."""
    low, high = floor(log10(min(errors))), floor(log10(max(errors))) + 1
    leading = (1,) if high - low > 3 else (1, 2, 5)
    return [float(f"{digit}e{power}") for power in range(low, high + 1) for digit in leading]
