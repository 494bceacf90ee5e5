"""Ask questions of a real election study at three ε, with how often each answer is right: writes docs/elections.md.

    python docs/elections.py

Needs the `plots` extra. The study is public, so here one may look at the table: the chance that an answer is right is
multiplied out from the very laws that `publish` draws from, and no answer is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as text

from irisdp import plan
from irisdp._release.pipeline import read_statistics as read_cells

HERE = Path(__file__).parent
STUDY = HERE.parent / "examples" / "anes96.csv"
EPSILONS = ("0.5", "1", "2")
SHADES = {"0.5": "#bdd7e7", "1": "#6baed6", "2": "#08519c"}
"""From light to dark: they are told apart without hues."""

PARTIES = ("Democrat", "Independent", "Republican")
"""PID 0 and 1, 2 to 4, 5 and 6."""
EDUCATION = range(1, 8)
"""From the lowest level to the highest."""
EDGES = (30, 40, 50, 65)


def main() -> None:
    """Work out every finding and write the page."""
    study = read_study()
    page = [
        "# A real election study, published",
        "",
        "Written by `docs/elections.py` from the public interface; do not edit by hand.",
        "",
        f"{study.num_rows} respondents of the American National Election Study 1996 (`examples/anes96.csv`, public",
        "domain), by level of education, from 1, the lowest, to 7. Each question is asked of all seven levels at",
        "once, and is charged once, at the ε shown: a person is in one group. The table is public, so the chance of a",
        "right answer can be worked out, from the distributions that `publish` draws from. The owner of a secret",
        "table has the errors that `--dry-run` shows, which hold for every table. PID is how people see themselves,",
        "from 0, a strong Democrat, to 6, a strong Republican. `party` says the same in three words, and `study.csv`",
        "is the survey with that column.",
    ]
    for question in QUESTIONS:
        page += ["", *question.section(study)]
    page += ["", *histogram_section(study)]
    (HERE / "elections.md").write_text("\n".join(page) + "\n", encoding="utf-8")


def read_study() -> pa.Table:
    """Return the survey, with the party of each respondent in words."""
    table = text.read_csv(STUDY)
    party = [PARTIES[0 if seen <= 1 else 2 if seen >= 5 else 1] for seen in table.column("PID").to_pylist()]
    return table.append_column("party", pa.array(party))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A question of each level of education, and which answers are right.

    Parameters
    ----------
    name, about : str
        Of its picture, and in words.
    command : str
        As a steward types it, without ε.
    query : tuple
        The query and its arguments.
    options : mapping
    right : callable
        From a group's counts of `column`, in order, to the answers that are right.
    column : str
    of : callable
        From a value of the column to what is counted.
    """

    name: str
    about: str
    command: str
    query: tuple[Any, ...]
    options: Mapping[str, Any]
    right: Callable[[Mapping[Any, int]], set[Any]]
    column: str
    of: Callable[[Any], Any] = lambda value: value

    def section(self, study: pa.Table) -> list[str]:
        """Return the section of the page: the command, a picture, and the same as a table."""
        rows, chances = [], []
        truths = [self.right(self.counts(study, level)) for level in EDUCATION]
        found = {epsilon: self.chances(study, epsilon, truths) for epsilon in EPSILONS}
        for place, level in enumerate(EDUCATION):
            shown = " or ".join(sorted(map(str, truths[place])))
            rows.append(f"| {level} | {shown} | {' | '.join(f'{found[e][place]:.3f}' for e in EPSILONS)} |")
            chances += [{"level": level, "ε": epsilon, "right": found[epsilon][place]} for epsilon in EPSILONS]
        return [
            f"## {self.about}",
            "",
            f"    irisdp publish study.csv {self.command} --by educ --groups 1,2,3,4,5,6,7 --epsilon 1",
            "",
            picture(self.name, self.about, chances),
            "",
            f"| education | true | right at ε = {EPSILONS[0]} | ε = {EPSILONS[1]} | ε = {EPSILONS[2]} |",
            "|---|---|---|---|---|",
            *rows,
        ]

    def counts(self, study: pa.Table, level: int) -> Counter[Any]:
        """Count a group's values."""
        rows = zip(study.column("educ").to_pylist(), study.column(self.column).to_pylist(), strict=True)
        return Counter(self.of(value) for educ, value in rows if educ == level)

    def chances(self, study: pa.Table, epsilon: str, truths: Sequence[set[Any]]) -> list[float]:
        """Return the chance of a right answer in each group."""
        planned = plan(study, *self.query, **self.options, by="educ", groups=list(EDUCATION), epsilon=epsilon)
        cells = read_cells(planned, bytes(32))
        mechanism = planned.audiences[0].mechanism
        found = []
        for place, truth in enumerate(truths):
            law = mechanism.law(cells.nodes, place, study.num_rows)
            assert truth <= law.keys(), (truth, list(law))
            found.append(float(sum(lower(law[answer]) for answer in truth)))
        return found


def lower(chance: Any) -> Fraction:
    """Return a probability, or the lower end where it is enclosed."""
    return chance if isinstance(chance, Fraction) else chance.lower


def most_frequent(counts: Mapping[Any, int]) -> set[Any]:
    """Return whatever is at least as frequent as all else."""
    return {value for value, count in counts.items() if count == max(counts.values())}


def rankings(counts: Mapping[Any, int]) -> set[str]:
    """Return all orders of the parties in which no count grows."""
    orders = (order for order in permutations(PARTIES) if all(counts[a] >= counts[b] for a, b in pairwise(order)))
    return {" > ".join(order) for order in orders}


def two_largest(counts: Mapping[Any, int]) -> set[str]:
    """Return all pairs of parties that no other is before."""
    pairs = [(a, b) for a in PARTIES for b in PARTIES if a < b]
    best = {
        pair for pair in pairs if min(counts[one] for one in pair) >= max(counts[o] for o in PARTIES if o not in pair)
    }
    return {", ".join(pair) for pair in best}


def band(age: int) -> str:
    """Name the bin of an age, as `--bins` does."""
    ends = [f"below {EDGES[0]}", *(f"{a} to under {b}" for a, b in pairwise(EDGES)), f"{EDGES[-1]} and over"]
    return ends[sum(age >= edge for edge in EDGES)]


def median_band(counts: Mapping[Any, int]) -> set[str]:
    """Return the first bin up to whose end half of the records are."""
    total, seen = sum(counts.values()), 0
    for name in dict.fromkeys(band(age) for age in range(120)):
        seen += counts.get(name, 0)
        if 2 * seen >= total:
            return {name}
    raise AssertionError


def of_parties(
    name: str, about: str, words: tuple[str | int, ...], right: Callable[[Mapping[Any, int]], set[Any]]
) -> Finding:
    """Return a question about the parties."""
    query = (*words, "party")
    return Finding(
        name=name,
        about=about,
        command=f"{' '.join(map(str, query))} --categories {','.join(PARTIES)}",
        query=query,
        options={"categories": list(PARTIES)},
        right=right,
        column="party",
    )


QUESTIONS = (
    Finding(
        name="winner",
        about="Which self-placement is the most frequent",
        command="plurality PID --categories 0,1,2,3,4,5,6",
        query=("plurality", "PID"),
        options={"categories": list(range(7))},
        right=most_frequent,
        column="PID",
    ),
    of_parties("party", "Which party is the largest", ("plurality",), most_frequent),
    of_parties("two", "Which two parties are the largest", ("top", 2), two_largest),
    of_parties("ranking", "How the parties rank", ("ranking",), rankings),
    Finding(
        name="median",
        about="Which band holds the median age",
        command="median age --bins 30,40,50,65",
        query=("median", "age"),
        options={"bins": list(EDGES)},
        right=median_band,
        column="age",
        of=band,
    ),
)


def picture(name: str, title: str, chances: list[dict[str, Any]]) -> str:
    """Draw the chances as bars, and return the link."""
    import altair as alt

    chart = (
        alt.Chart(alt.Data(values=chances), title=f"{title}: how often the answer is right", width=520, height=170)
        .mark_bar(stroke="#333333", strokeWidth=0.4)
        .encode(
            x=alt.X("level:O", title="level of education", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("ε:N", sort=list(EPSILONS)),
            y=alt.Y("right:Q", title="probability", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "ε:N", sort=list(EPSILONS), scale=alt.Scale(domain=list(SHADES), range=list(SHADES.values()))
            ),
        )
        .properties(
            description=f"Bars of the table below: {title.lower()}, the chance of a right answer, by education and ε."
        )
    )
    return save(
        chart, f"elections-{name}", f"{title}: how often the answer is right, by education, at ε = 0.5, 1 and 2"
    )


def save(chart: Any, name: str, told: str) -> str:
    """Write a picture and return its link."""
    chart.save(HERE / "figures" / f"{name}.svg")
    return f"![{told}](figures/{name}.svg)"


def histogram_section(study: pa.Table) -> list[str]:
    """Show a histogram of ages with the spread that its noise has."""
    import altair as alt

    ages = Counter(band(age) for age in study.column("age").to_pylist())
    names = list(dict.fromkeys(band(age) for age in range(120)))
    planned = {e: plan(study, "histogram", "age", bins=list(EDGES), epsilon=e) for e in EPSILONS}
    errors = {e: one.audiences[0].mechanism.expected_error() for e, one in planned.items()}
    bars = [{"age": name, "records": ages[name]} for name in names]
    spread = errors["0.5"]["within_95_percent"]
    ends = [{"age": n, "low": max(0, ages[n] - spread), "high": ages[n] + spread} for n in names]
    chart = (
        alt.Chart(
            alt.Data(values=bars),
            title="Ages, and where 95 % of published counts lie at ε = 0.5",
            width=520,
            height=170,
        )
        .mark_bar(color=SHADES["1"])
        .encode(x=alt.X("age:N", sort=names, axis=alt.Axis(labelAngle=0)), y=alt.Y("records:Q", title="respondents"))
        + alt.Chart(alt.Data(values=ends))
        .mark_errorbar(ticks=True, color="#1a1a1a")
        .encode(x=alt.X("age:N", sort=names), y=alt.Y("low:Q", title="respondents"), y2="high:Q")
    ).properties(description="Bars of respondents by age, with the ends between which 95 % of published counts lie.")
    link = save(chart, "elections-ages", "Respondents by age, with the spread of published counts at ε = 0.5")
    rows = [f"| {name} | {ages[name]} |" for name in names]
    return [
        "## How old they are",
        "",
        "    irisdp publish study.csv histogram age --bins 30,40,50,65 --epsilon 1",
        "",
        link,
        "",
        "Each count is off by "
        + ", ".join(f"{errors[e]['mean_absolute']:.2f} on average at ε = {e}" for e in EPSILONS)
        + "; all bins together are charged once.",
        "",
        "| age | respondents |",
        "|---|---|",
        *rows,
    ]


if __name__ == "__main__":
    main()
