"""Publish a real survey thousands of times and count how often what stands beside the answers holds: docs/coverage.md.

    python docs/coverage.py

Needs the `plots` extra. The study is public, so the truth is known; answers are drawn as `publish` draws them, from the
operating system's randomness, so every run measures anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pyarrow as pa

from irisdp import plan
from irisdp._measurements import HIGH, LOW, PROBABILITY
from irisdp._measurements import NoisyCountSelection as NamedCounts
from irisdp._release.pipeline import read_statistics as read_cells

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import elections  # noqa: E402  the questions about the same study, with which answers are right

EPSILONS = ("0.1", "0.5", "1", "2")
CONFIDENCES = ("0.5", "0.8", "0.95", "0.99")
RUNS = 1000
"""How often each question is asked."""
BY = {"by": "educ", "groups": list(elections.EDUCATION)}
UNLIKELY = 4
"""Standard deviations that a share is below what is promised only by a defect, or once in 30,000 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and what is true about each of its cells.

    Parameters
    ----------
    about : str
        In words.
    query : tuple
        The query and its arguments.
    options : mapping
    truth : callable
        From the private nodes and the mechanism to the true numbers of each cell, in order.
    """

    about: str
    query: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    truth: Callable[[Any, Any], Sequence[Any]] = lambda nodes, _: nodes.values.tolist()

    def coverage(self, study: pa.Table, epsilon: str, confidence: str, runs: int) -> Coverage:
        """Publish so often, and count the cells whose ends hold; of lists, those of which all ends do."""
        privacy = {"mu": epsilon, "delta": "1e-6"} if "Gaussian" in self.about else {"epsilon": epsilon}
        planned = plan(study, *self.query, **self.options, **privacy, confidence=confidence)
        nodes, mechanism = read_cells(planned, bytes(32)).nodes, planned.audiences[0].mechanism
        truths = self.truth(nodes, mechanism)
        held = total = 0
        for _ in range(runs):
            drawn, true = mechanism.draw(nodes), truths
            if isinstance(mechanism, NamedCounts):  # of the groups that are named
                named = mechanism.named(drawn)
                drawn, true = drawn[named], [truth for truth, shown in zip(truths, named, strict=True) if shown]
            drawn = drawn.tolist()
            columns = mechanism.assurance(drawn, mechanism.show(drawn, nodes), nodes, planned.confidence).columns
            for truth, low, high in zip(true, columns[LOW], columns[HIGH], strict=True):
                held += _between(truth, low, high)
                total += 1
        return Coverage(held, total, Fraction(confidence), _exact(mechanism, planned.confidence))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of so many ends held, what was promised, and how often the noise's law says they do, if it says so."""

    held: int
    total: int
    promised: Fraction
    exact: float | None

    @property
    def share(self) -> float:
        """How often they held."""
        return self.held / self.total

    @property
    def deviation(self) -> float:
        """How far off a share may be by chance, of one at the promise: its standard deviation."""
        return sqrt(float(self.promised * (1 - self.promised)) / self.total)

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against the promise."""
        return self.share >= float(self.promised) - UNLIKELY * self.deviation


def _between(truth: Any, low: Any, high: Any) -> bool:
    if isinstance(low, list | tuple):  # where fewer categories have a size above 0 than are shown, the others have 0
        ends = enumerate(zip(low, high, strict=True))
        return all(a <= (truth[place] if place < len(truth) else 0) <= b for place, (a, b) in ends)
    return bool(low <= truth <= high)


def _exact(mechanism: Any, confidence: Fraction) -> float | None:
    """Return how often unclamped ends hold, by the noise's law."""
    from irisdp._measurements import least_distance

    if isinstance(mechanism, NamedCounts):
        return None  # the law given that a group is named differs from group to group
    noise = getattr(mechanism, "noise", None)
    told = noise if mechanism.to_document()["kind"] == "noisy-sum" else mechanism
    distance = least_distance(told, confidence)
    if distance is None:
        return None
    chance = told.chance_within(distance)
    return None if chance is None else float(chance.lower)


def _sums(nodes: Any, mechanism: Any) -> list[float]:
    return [value * mechanism.steps.size for value in nodes.values.tolist()]


def _means(nodes: Any, mechanism: Any) -> list[Any]:
    steps = mechanism.steps
    return [
        steps.lower + steps.size * Fraction(above, known)
        for above, known in zip(nodes.above.tolist(), nodes.known.tolist(), strict=True)
    ]


def _sizes(nodes: Any, mechanism: Any) -> list[Any]:
    return [mechanism.shape.fit(told, None) for told in nodes.told.tolist()]


NUMBERS = (
    Asked(about="counts by education", query=("count",), options=BY),
    Asked(about="votes by education", query=("count", "vote = 1"), options=BY),
    Asked(
        about="counts between public ends",
        query=("count", "vote = 1"),
        options={**BY, "relation": "exchange", "public_membership": True},
    ),
    Asked(about="counts with Gaussian noise, ε as μ", query=("count", "vote = 1"), options=BY),
    Asked(about="counts at δ = 1e-6", query=("count", "vote = 1"), options={**BY, "delta": "1e-6"}),
    Asked(
        about="groups named by their counts",
        query=("count",),
        options={"by": "educ", "select_groups": True, "delta": "1e-6"},
    ),
    Asked(about="a histogram of ages", query=("histogram", "age"), options={"bins": list(elections.EDGES)}),
    Asked(about="people, three records each", query=("count",), options={**BY, "unit": "popul", "at_most": 3}),
    Asked(
        about="sums of ages",
        query=("sum", "age"),
        options={**BY, "lower": 18, "upper": 90},
        truth=_sums,
    ),
    Asked(about="means of ages", query=("mean", "age"), options={**BY, "lower": 18, "upper": 90}, truth=_means),
    Asked(
        about="means, records exchanged",
        query=("mean", "age"),
        options={"lower": 18, "upper": 90, "relation": "exchange"},
        truth=_means,
    ),
    Asked(
        about="means of all, records exchanged",
        query=("mean", "age"),
        options={**BY, "lower": 18, "upper": 90, "missing": 40, "relation": "exchange", "public_membership": True},
        truth=_means,
    ),
    Asked(about="sizes of income brackets (together)", query=("sizes", 24, "income"), truth=_sizes),
)


def stated_and_measured(study: pa.Table, question: Any, epsilon: str, runs: int) -> tuple[float | None, float, float]:
    """Return the stated least probability, and how often answers were right: in the worst group, and in all."""
    planned = plan(study, *question.query, **question.options, **BY, epsilon=epsilon)
    nodes, mechanism = read_cells(planned, bytes(32)).nodes, planned.audiences[0].mechanism
    truths = [question.right(question.counts(study, level)) for (level,) in planned.groups.labels]
    right = [0] * len(truths)
    drawn = mechanism.draw(nodes).tolist()
    columns = mechanism.assurance(drawn, mechanism.show(drawn, nodes), nodes, planned.confidence).columns
    stated = columns.get(PROBABILITY, [None])[0]
    for _ in range(runs):
        shown = mechanism.show(mechanism.draw(nodes).tolist(), nodes)
        for place, (answer, truth) in enumerate(zip(shown, truths, strict=True)):
            right[place] += answer in truth
    return stated, min(right) / runs, sum(right) / runs / len(right)


def main() -> None:
    """Measure, and write the page and its picture."""
    study = elections.read_study()
    found = {
        (one.about, epsilon): one.coverage(study, epsilon, "0.95", RUNS) for one in NUMBERS for epsilon in EPSILONS
    }
    first = NUMBERS[0]
    levels = {confidence: first.coverage(study, "0.5", confidence, RUNS) for confidence in CONFIDENCES}
    assert all(one.kept for one in (*found.values(), *levels.values())), "a promise is not kept"
    (HERE / "coverage.md").write_text("\n".join(page(study, found, levels)) + "\n", encoding="utf-8")


def page(study: pa.Table, found: Mapping[Any, Coverage], levels: Mapping[str, Coverage]) -> list[str]:
    """Return the page."""
    rows = []
    for one in NUMBERS:
        cells = []
        for epsilon in EPSILONS:
            seen = found[one.about, epsilon]
            exact = "" if seen.exact is None else f" ({seen.exact:.3f})"
            cells.append(f"{seen.share:.3f}{exact}")
        rows.append(f"| {one.about} | {' | '.join(cells)} |")
    names = []
    for question in elections.QUESTIONS:
        cells = []
        for epsilon in elections.EPSILONS:
            stated, worst, mean = stated_and_measured(study, question, epsilon, RUNS)
            cells.append(f"{'none' if stated is None else f'{stated:.3f}'}; {worst:.3f}; {mean:.3f}")
        names.append(f"| {question.about} | {' | '.join(cells)} |")
    worst = min((seen.share - float(seen.promised)) / seen.deviation for seen in (*found.values(), *levels.values()))
    return [
        "# Coverage of intervals",
        "",
        "Written by `docs/coverage.py`; do not edit by hand. The election study (`examples/anes96.csv`, 944",
        f"respondents) is published {RUNS:,} times for every question and every ε, with the draws `publish` makes,",
        "and each interval is compared with the truth, which is public here. What the columns mean is",
        "said in [formats](formats/README.md#columns-of-answers).",
        "",
        "## Numbers: `answer_low` to `answer_high`",
        "",
        "How often the true number lies in the interval: 95 % of the time or more is stated. In brackets: how often",
        "the distribution of the noise says so, where it does. Noise is whole numbers, so an interval that is wide",
        "enough holds more often than it must, above all where the noise is small. Public bounds (a count is at least",
        "0) make it hold more often still. Intervals of means are bounds, and hold more often too.",
        "",
        f"| question | {' | '.join(f'ε = {epsilon}' for epsilon in EPSILONS)} |",
        "|---|" + "--:|" * len(EPSILONS),
        *rows,
        "",
        picture(found),
        "",
        "Counts by education at ε = 0.5 and other confidences (`--confidence`):",
        "",
        f"| promised | {' | '.join(levels)} |",
        "|---|" + "--:|" * len(levels),
        f"| held | {' | '.join(f'{seen.share:.4f}' for seen in levels.values())} |",
        f"| by the law | {' | '.join(f'{seen.exact:.4f}' for seen in levels.values())} |",
        "",
        f"Of all shares here the lowest, relative to its level, is {worst:+.1f} standard deviations from it.",
        "",
        "## Names: `answer_probability`",
        "",
        "Stated for every table; then how often answers about the seven levels of education were right: at the",
        "level where they were right least often, and over all levels. The nearer the largest are to each other, the",
        "nearer is the second number to the first.",
        "",
        f"| question | {' | '.join(f'ε = {epsilon}' for epsilon in elections.EPSILONS)} |",
        "|---|" + "---|" * len(elections.EPSILONS),
        *names,
    ]


def picture(found: Mapping[Any, Coverage]) -> str:
    """Draw the shares as points, with the promise as a line, and return the link."""
    import altair as alt

    values = [
        {"question": about, "ε": epsilon, "held": seen.share, "promised": float(seen.promised)}
        for (about, epsilon), seen in found.items()
    ]
    shades = ["#c6dbef", "#6baed6", "#2171b5", "#08306b"]
    data = alt.Data(values=values)
    names = [one.about for one in NUMBERS]
    points = (
        alt.Chart(data)
        .mark_circle(size=70, stroke="#333333", strokeWidth=0.4, opacity=1)
        .encode(
            x=alt.X("held:Q", title="share of ends that held", scale=alt.Scale(domain=[0.94, 1])),
            y=alt.Y("question:N", sort=names, title=None),
            color=alt.Color("ε:N", sort=list(EPSILONS), scale=alt.Scale(domain=list(EPSILONS), range=shades)),
        )
    )
    line = alt.Chart(data).mark_rule(color="#b30000", strokeDash=[4, 3]).encode(x=alt.X("promised:Q"))
    chart = (line + points).properties(
        title="How often ends at 95 % hold",
        width=420,
        height=240,
        description="Points of the table above: for each question and ε the share of ends that held; a line at 0.95.",
    )
    told = "For each question and ε, the share of ends that held, next to the stated 0.95"
    return elections.save(chart, "coverage", told)


if __name__ == "__main__":
    main()
