"""Rebuild published figures [Gu2024] [DOliveira2021] from the public interface, and docs/figures.md around them.

    python docs/figures.py

Needs the `plots` extra. Every figure stands in docs/figures/ as a vector picture.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import irisdp
from irisdp import Privacy
from irisdp.design import binary, curves, rainbow, turning_points
from irisdp.privacy import hockey_stick

HERE = Path(__file__).parent
ROW = tuple(map(Fraction, ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")))
DEEPEST = 60

FIGURES = {3: Fraction(0), 4: Fraction("0.001"), 5: Fraction("0.01")}
"""Figure of [Gu2024] → δ."""


def printed_step(s: Fraction, privacy: Privacy) -> Fraction:
    """Apply the operator as eq. (9) of [Gu2024] prints it: for comparison, it is not private as claimed."""
    ratio, delta = privacy.ratio, privacy.delta
    return min(Fraction(1), ratio * s + delta, 1 - (1 - s) / ratio + delta)


def iterated(row: tuple[Fraction, ...], privacy: Privacy, step: Callable[[Fraction, Privacy], Fraction]) -> list[Any]:
    """Return the rows at depths 0..DEEPEST, exactly."""
    sums = [sum(row[: k + 1], Fraction(0)) for k in range(len(row))]
    rows = []
    for _ in range(DEEPEST + 1):
        rows.append(tuple(b - a for a, b in zip([Fraction(0), *sums[:-1]], sums, strict=True)))
        sums = [step(s, privacy) for s in sums]
    return rows


def true_delta(rows: list[Any], privacy: Privacy) -> Fraction:
    """Return the δ that a chain of rows really needs at this ratio."""
    return max(
        max(hockey_stick(one, other, privacy.ratio), hockey_stick(other, one, privacy.ratio))
        for one, other in pairwise(rows)
    )


def curve_chart(figure: int, delta: Fraction) -> tuple[alt.LayerChart | alt.HConcatChart, str]:
    """Draw one of Figures 3–5 and describe it; with δ > 0 the printed operator stands beside the corrected one."""
    privacy = Privacy(ratio="1.2", delta=delta)
    times = np.linspace(0, DEEPEST, 10 * DEEPEST + 1)
    lines = curves(ROW, times, privacy)
    corrected = iterated(ROW, privacy, irisdp.privacy._operator)
    chart = panel(times, lines, [[float(p) for p in row] for row in corrected], "corrected operator")
    turns = ", ".join(map(str, turning_points(ROW, privacy)))
    needed = true_delta(corrected, privacy)
    text = f"τ = ({turns}). On every edge the corrected mechanism needs δ = {text_of(needed)}, as asked."
    if delta:
        printed = iterated(ROW, privacy, printed_step)
        points = [[float(p) for p in row] for row in printed]
        beside = panel(np.arange(DEEPEST + 1), np.array(points), points, "operator as printed")
        worst = true_delta(printed, privacy)
        text += f" As printed, the chain needs δ = {text_of(worst)}: {text_of(worst / delta)} times what it claims."
        return (chart | beside), text
    return chart, text


def panel(times: Any, lines: Any, points: list[list[float]], title: str) -> alt.LayerChart:
    """Draw the probabilities of the answers over depth: a line at all depths, a point at whole ones."""
    answers = range(1, len(points[0]) + 1)
    drawn = [
        {"depth": float(t), "probability": float(p), "answer": str(k)}
        for t, row in zip(times, lines, strict=True)
        for k, p in zip(answers, row, strict=True)
    ]
    marked = [
        {"depth": t, "probability": p, "answer": str(k)}
        for t, row in enumerate(points)
        for k, p in zip(answers, row, strict=True)
    ]
    encoding = {
        "x": alt.X("depth:Q", title="depth t"),
        "y": alt.Y("probability:Q", scale=alt.Scale(domain=[0, 1])),
        "color": alt.Color("answer:N", title="answer"),
    }
    line = alt.Chart(alt.Data(values=drawn)).mark_line(strokeWidth=1.2).encode(**encoding)
    dots = alt.Chart(alt.Data(values=marked)).mark_point(size=9, filled=True).encode(**encoding)
    return (line + dots).properties(width=330, height=230, title=title)


def line_chart() -> tuple[alt.LayerChart, str]:
    """Draw the (4,3)-line of [DOliveira2021], Figure and Example 3, with R_4 = 0.8."""
    privacy = Privacy(ratio="1.3", delta="0.1")
    colours = ["blue"] * 4 + ["red"] * 3
    mechanism = binary(irisdp.graphs.Path(7), colours, privacy, boundary={3: "0.2"})
    rows = [
        {"node": node + 1, "probability": float(mechanism.row(node)[k]), "answer": mechanism.outputs[k]}
        for node in range(7)
        for k in range(2)
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("node:O", title="node of the line (1–4 are blue)"),
            y=alt.Y("probability:Q", title="probability of the answer"),
            color=alt.Color("answer:N", scale=alt.Scale(domain=["blue", "red"], range=["#4c78a8", "#e45756"])),
        )
        .properties(width=330, height=200)
    )
    values = ", ".join(f"R_{node + 1} = {text_of(mechanism.row(node)[1])}" for node in (2, 1, 0))
    blues = ", ".join(f"B_{node + 1} = {mechanism.row(node)[0]}" for node in (4, 5, 6))
    return chart, f"ε = log 1.3, δ = 0.1. From R_4 = 0.8 follow {values}, and on the other side {blues}."


def cycle_text() -> str:
    """Describe Example 1 of [Gu2024]: no optimum, two witnesses, and one choice by weights."""
    rankings = [(1, 2, 3)] * 4 + [(1, 3, 2)]
    given = {0: {1: ".2", 2: ".1", 3: ".7"}, 3: {1: ".4", 2: ".1", 3: ".5"}}
    graph, privacy = irisdp.graphs.Cycle(5), Privacy(ratio=2)
    lines = []
    try:
        rainbow(graph, rankings, privacy, boundary=given)
    except irisdp.Infeasible as refusal:
        for name, witness in zip(("one", "other"), refusal.document["witnesses"], strict=True):
            rows = "; ".join(f"d{i} = ({', '.join(witness['matrix'][i - 1])})" for i in (2, 3, 5))
            lines.append(f"- {name} witness: {rows}")
    chosen = rainbow(graph, rankings, privacy, boundary=given, weights={2: 1})
    row = ", ".join(map(text_of, chosen.row(2)))
    lines.append(f"- best for the first choice at d3 alone: d3 = ({row})")
    return "\n".join(lines)


def text_of(number: Fraction) -> str:
    """Write a number to six significant digits."""
    return f"{float(number):.6g}"


def save(chart: Any, name: str) -> str:
    """Write a chart as a vector picture and return the link to it."""
    folder = HERE / "figures"
    folder.mkdir(exist_ok=True)
    chart.save(str(folder / f"{name}.svg"))
    return f"![{name}](figures/{name}.svg)"


def main() -> None:
    """Draw all figures and write the page."""
    page = [
        "# Published figures, rebuilt",
        "",
        "Written by `docs/figures.py` from the public interface; do not edit by hand.",
        "",
        "## [Gu2024], Figures 3–5",
        "",
        f"ε = log 1.2, boundary row ({', '.join(text_of(p) for p in ROW)}). Points are the mechanism at whole depths,",
        "lines the closed form between them. Where δ > 0 the operator as [Gu2024] prints it, eq. (9), stands beside",
        "the corrected one: it is not private with the δ it claims.",
    ]
    for figure, delta in FIGURES.items():
        chart, text = curve_chart(figure, delta)
        link = save(chart, f"rainbow-{figure}")
        page += ["", f"### Figure {figure}: δ = {text_of(delta)}", "", link, "", text]
    chart, text = line_chart()
    page += ["", "## [DOliveira2021], Example 3: the (4,3)-line", "", save(chart, "binary-line"), "", text]
    page += ["", "## [Gu2024], Example 1: a boundary without an optimum", "", cycle_text(), ""]
    page += ["[DOliveira2021]: references.md#doliveira2021", "[Gu2024]: references.md#gu2024", ""]
    (HERE / "figures.md").write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
