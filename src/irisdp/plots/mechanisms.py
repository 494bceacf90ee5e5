"""Pictures of a mechanism: how probable each answer is, for each input."""

from __future__ import annotations

from typing import Any

from ..mechanisms import Mechanism
from .picture import Picture
from .theme import SHADES, altair, finished

__all__ = ["heat_map"]


def heat_map(mechanism: Mechanism) -> Picture:
    """Draw the matrix: a row for each input, a column for each answer, darker where the answer is more probable.

    Examples
    --------
    >>> from irisdp import design
    >>> from irisdp.privacy import Privacy
    >>> heat_map(design.geometric(2, Privacy(ratio=2))).columns
    ('input', 'answer', 'probability')
    """
    rows = [
        (str(node), str(output), float(probability))
        for node in mechanism.inputs
        for output, probability in zip(mechanism.outputs, mechanism.row(node), strict=True)
    ]
    values = [dict(zip(("input", "answer", "probability"), row, strict=True)) for row in rows]
    alt: Any = altair()
    chart = (
        alt.Chart(alt.InlineData(values=values), title="Probability of each answer")
        .mark_rect()
        .encode(
            x=alt.X("answer:N", sort=None, title="answer", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("input:N", sort=None, title="input"),
            color=alt.Color("probability:Q", scale=alt.Scale(domain=[0, 1], range=list(SHADES))),
        )
    )
    return Picture(
        title="Probability of each answer, for each input",
        description=f"A heat map, darker where an answer is more probable, of a mechanism with {mechanism.describe()}.",
        columns=("input", "answer", "probability"),
        rows=tuple(rows),
        spec=finished(chart),
    )
