"""A release as one page that can be handed over: what was published, of whom, at what cost, and how it is read.

The page is a function of the release file, of the answers, and of the names of their files. It fetches nothing and runs
nothing, and whatever was written by others stands in it as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..._html import Html, element
from ..._queries import Measured
from ..._release import ReleaseFile
from ...accounting import Charge
from .blocks import bullets, document, drawn, folded, pairs, sentences, table
from .checks import checks
from .headline import headline, in_three, result, same_probability
from .inputs import Given
from .sentences import asked, assumed, cost_of_release, expected, how_to_read, kept, not_to_conclude, odds_of, protected

# The parts of a page about one release; pages of releases and of batches are made of these.

MOST_ROWS = 1_000
"""Rows of the table of answers; the file has all."""


def unit_of(facts: ReleaseFile) -> str:
    """Say what numbers count, and errors are measured in."""
    if facts.measured is Measured.VALUES:
        return "in the unit of the values"
    return facts.counted


def subject(facts: ReleaseFile) -> Iterator[tuple[str, str]]:
    """Say what counts of each person, how answers are made, and what was declared for them."""
    if facts.unit is not None:
        yield "Counted", kept(facts)
    made = facts.measurement
    yield (
        "Mechanism",
        f"{facts.kind}{'' if made is None else f' ({made.sentence})'}, keeping {facts.privacy} for each answer",
    )
    if facts.groups is not None and "declared" in facts.groups:
        yield "Groups", f"{facts.groups['declared']} declared, by {', '.join(facts.by)}"
    elif facts.by:
        yield "Groups", f"selected privately, by {', '.join(facts.by)}"
    if facts.categories is not None and "declared" in facts.categories:
        yield "Categories", f"{facts.categories['declared']} declared"


def answered(facts: ReleaseFile, given: Given, *, most: int = MOST_ROWS, picture: bool = True) -> Iterator[Html]:
    """Show the answers: a picture where there can be one, and a table."""
    figure = drawn(given) if picture else None
    if figure is not None:
        yield figure
    shown = answers_table(facts, given, most)
    head = [element("th", name, scope="col", class_=kind) for name, kind in zip(shown.head, shown.classes, strict=True)]
    yield table(shown.caption, head, [_row(row, shown.classes, shown.groups) for row in shown.rows])


@dataclass(frozen=True, slots=True)
class AnswersTable:
    """The table of answers as readers see it: labels instead of names, and nothing that is the same in every row."""

    caption: str
    head: tuple[str, ...]
    classes: tuple[str | None, ...]
    rows: tuple[tuple[str, ...], ...]
    groups: int
    """How many columns come first that name a group."""


def answers_table(facts: ReleaseFile, given: Given, most: int = MOST_ROWS) -> AnswersTable:
    """Return the table of the first answers."""
    given = _without_same(given)
    numeric = {"answer_low", "answer_high", "answer_probability", "answer_from", "answer_below"} | (
        {"answer"} if "answer_low" in given.columns else set()
    )
    words = given.labels
    groups = given.columns.index("answer")
    said = f"{len(given.rows):,} published answer{'' if len(given.rows) == 1 else 's'} to: {facts.question}"
    if len(given.rows) > most:
        rest = "are in the file" if given.files else "come when the same is asked again, at no cost"
        said += f". The first {most:,} are shown; the others {rest}"
    return AnswersTable(
        said,
        tuple(words.column(name) if name not in _HEADS else _HEADS[name] for name in given.columns),
        tuple(_class(name, name in numeric) for name in given.columns),
        tuple((*map(words.group, given.columns[:groups], row[:groups]), *row[groups:]) for row in given.rows[:most]),
        groups,
    )


_HEADS = {
    "answer_low": "interval from",
    "answer_high": "to",
    "answer_probability": "probability",
    "answer_from": "bin from",
    "answer_below": "to under",
    "answer_first": "first possible bin",
    "answer_last": "last possible bin",
}
"""What stands above the columns beside the answers."""


def _without_same(given: Given) -> Given:
    """Leave out a probability that is the same for all rows: it is said once, below the table."""
    if same_probability(given) is None:
        return given
    place = given.columns.index("answer_probability")
    columns = (*given.columns[:place], *given.columns[place + 1 :])
    return replace(given, columns=columns, rows=tuple((*row[:place], *row[place + 1 :]) for row in given.rows))


def _class(name: str, number: bool) -> str | None:
    return " ".join(part for part, there in (("number", number), ("answer", name == "answer")) if there) or None


def _row(row: tuple[str, ...], classes: Sequence[str | None], groups: int) -> Html:
    cells = (
        element("th", text, scope="row") if index < groups else element("td", text, class_=kind)
        for index, (text, kind) in enumerate(zip(row, classes, strict=True))
    )
    return element("tr", *cells)


def in_odds(facts: ReleaseFile, cost: Charge, whose: str) -> Iterator[Html]:
    """Say what a cost means for one person."""
    odds = odds_of(cost, facts.relation, facts.unit)
    yield element("div", *(element("p", said) for said in odds.sentences), class_="box")
    if not odds.moved:
        return
    head = [
        element("th", name, scope="col", class_="number")
        for name in ("thought before", "after, at least", "after, at most")
    ]
    rows = [
        element(
            "tr",
            element("th", before, scope="row", class_="number"),
            element("td", least, class_="number"),
            element("td", most, class_="number"),
        )
        for before, least, most in odds.moved
    ]
    yield table(f"How likely somebody may think {odds.asks}, before and after {whose}", head, rows)


def error_lines(facts: ReleaseFile) -> Html:
    """Say how far off answers are expected to be, measure by measure."""
    return bullets(expected(facts))


def made_by(asked: Sequence[ReleaseFile]) -> str:
    """Say what the page is made of: answers of one moment, or of several, and then from the first to the last."""
    versions, dates = (sorted({one.said[name] for one in asked if name in one.said}) for name in ("version", "date"))
    version = f" by Iris {' and '.join(versions)}" if versions else ""
    date = f" between {dates[0]} and {dates[-1]}" if len(dates) > 1 else f" on {dates[0]}" if dates else ""
    return (
        f"Answers drawn{version}{date}. This page is made of the published answers and of what is public about them; "
        "it holds nothing else of the data, loads nothing, and runs nothing."
    )


_AGAIN = "ask the same question again and name a file"


def release_page(given: Given) -> str:
    """Write a release as one page of HTML.

    Raises
    ------
    BadInput
        For an invalid release file.
    """
    facts = given.facts.require()
    heading = headline(facts, given)
    shown = result(facts, given)
    sections = [
        element("div", *answered(facts, given), sentences(in_three(facts, given)), class_="first"),
        folded("What was published", [element("p", f"{asked(facts)}."), pairs(_published(facts))]),
        folded("How to read the answers", [bullets(how_to_read(facts, unit_of(facts)))]),
        folded("What not to conclude", [bullets(not_to_conclude(facts))]),
        folded("What it cost", _cost(facts)),
        folded("How far off answers are expected to be", _errors(facts)),
        folded("What was taken for granted", [pairs(assumed(facts))]),
        folded("How to check it", checks([(facts, given)], again=_AGAIN, kept=_kept(facts))),
    ]
    lead = None if heading == shown else f"{shown}."
    return document(
        heading, lead, sections, made_by([facts]), title=f"Published: {facts.question}" if heading == shown else heading
    )


def for_whom(facts: ReleaseFile) -> str:
    """Say who gets the answers; of other audiences only where the cost is that of theirs as well."""
    if facts.audience is None:
        return "everybody"
    return facts.audience if facts.costs_alone else f"{facts.audience}, one of several audiences"


def _published(facts: ReleaseFile) -> Iterator[tuple[str, str]]:
    yield "Table", facts.said.get("table", "not said")
    yield "Protected", protected(facts)
    yield "For", for_whom(facts)
    yield from subject(facts)
    if facts.batch is not None:
        yield "Batch", f"question {facts.batch.question} of {facts.batch.questions}, charged as one"


def _cost(facts: ReleaseFile) -> Iterator[Html]:
    yield element("p", cost_of_release(facts), ".")
    if facts.audience is not None and not facts.costs_alone:
        yield element(
            "p",
            "Several audiences got answers of different accuracy. Readers who put their copies together learn no more "
            f"than the most accurate one says, and that is the cost above; the answers on this page keep "
            f"{facts.privacy} each.",
        )
    yield from in_odds(facts, facts.cost, "this release")
    if facts.batch is not None:
        yield element(
            "p",
            f"It is one of {facts.batch.questions} questions that were charged together: {facts.batch.cost} for all.",
        )
        yield from in_odds(facts, facts.batch.cost, "the whole batch")


def _errors(facts: ReleaseFile) -> Iterator[Html]:
    yield element("p", "Known before any record was read, and the same whatever the records say. An answer is:")
    yield error_lines(facts)


def _kept(facts: ReleaseFile) -> str:
    return (
        f"The steward's ledger holds this release in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing."
    )
