"""A release as one page that can be handed over: what was published, of whom, at what cost, and how it is read.

The page is a function of the sidecar, of the answers, and of the names of their files. It fetches nothing and runs
nothing, and whatever was written by others stands in it as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import chain

from ..accounting import Charge
from ..markup import Html, element, joined
from ..release.datapackage import counted
from .commands import commands
from .drawn import drawn
from .facts import Facts, facts_of
from .given import Given
from .odds import odds_of
from .reading import assumed, cost_of_release, how_to_read, not_to_conclude, proofs
from .words import asked, expected, protected

__all__ = ["page"]

_MOST_ROWS = 1_000
"""Rows of the table of answers; the file has all."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(given: Given) -> str:
    """Write a release as one page of HTML.

    Raises
    ------
    BadInput
        For a sidecar that does not say what a release says.
    """
    facts = facts_of(given.sidecar)
    unit = _unit(facts)
    title = f"Published: {facts.question}"
    sections = [
        _section("What was published", _published(facts)),
        _section("Answers", _answers(facts, given)),
        _section("How to read them", [_list(how_to_read(facts, unit))]),
        _section("What not to conclude", [_list(not_to_conclude(facts))]),
        _section("What it cost", _cost(facts)),
        _section("How far off answers are expected to be", _errors(facts, unit)),
        _section("What was taken for granted", [_pairs(assumed(facts))]),
        _section("How to check it", _checks(facts, given)),
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        Html(f"<style>{_style()}</style>"),
    )
    body = element(
        "body",
        element(
            "header",
            element("p", "Differentially private release", class_="kind"),
            element("h1", facts.question),
            element("p", f"{asked(facts)}.", class_="lead"),
        ),
        element("main", *sections),
        element("footer", element("p", _made(facts))),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _unit(facts: Facts) -> str:
    """Say what numbers count, and errors are measured in."""
    if facts.name in ("sum", "mean"):
        return "in the unit of the values"
    return counted({"query": {"column": "a column", **facts.query}, "unit": facts.unit, "at_most": facts.at_most})


def _style() -> str:
    """Return how a report looks, a file of this room."""
    return files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def _section(heading: str, content: Iterable[Html]) -> Html:
    return element("section", element("h2", heading), *content)


def _published(facts: Facts) -> Iterator[Html]:
    told = [
        ("Table", facts.said.get("table", "not said")),
        ("Protected", protected(facts)),
        ("For", "everybody" if facts.audience is None else f"{facts.audience}, one of several audiences"),
        ("Mechanism", f"{facts.kind}, keeping {facts.privacy} for each answer"),
    ]
    if facts.unit is not None and facts.at_most > 1:
        told.insert(3, ("Counted", f"at most {facts.at_most} records of each {facts.unit}"))
    if facts.groups is not None and "declared" in facts.groups:
        told.append(("Groups", f"{facts.groups['declared']} declared, by {', '.join(facts.by)}"))
    elif facts.by:
        told.append(("Groups", f"selected privately, by {', '.join(facts.by)}"))
    if facts.categories is not None and "declared" in facts.categories:
        told.append(("Categories", f"{facts.categories['declared']} declared"))
    if facts.batch is not None:
        told.append(("Batch", f"question {facts.batch.question} of {facts.batch.questions}, charged as one"))
    yield _pairs(told)


def _answers(facts: Facts, given: Given) -> Iterator[Html]:
    picture = drawn(given)
    if picture is not None:
        yield picture
    numeric = {"answer_low", "answer_high", "answer_probability"} | (
        {"answer"} if "answer_low" in given.columns else set()
    )
    classes = [_class(name, name in numeric) for name in given.columns]
    head = [element("th", name, scope="col", class_=kind) for name, kind in zip(given.columns, classes, strict=True)]
    groups = given.columns.index("answer")
    rows = [_row(row, classes, groups) for row in given.rows[:_MOST_ROWS]]
    said = f"{len(given.rows):,} published answer{'' if len(given.rows) == 1 else 's'} to: {facts.question}"
    if len(given.rows) > _MOST_ROWS:
        said += f". The first {_MOST_ROWS:,} are shown; the others are in the file"
    yield _table(said, head, rows)


def _class(name: str, number: bool) -> str | None:
    return " ".join(part for part, there in (("number", number), ("answer", name == "answer")) if there) or None


def _row(row: tuple[str, ...], classes: list[str | None], groups: int) -> Html:
    cells = (
        element("th", text, scope="row") if place < groups else element("td", text, class_=kind)
        for place, (text, kind) in enumerate(zip(row, classes, strict=True))
    )
    return element("tr", *cells)


def _cost(facts: Facts) -> Iterator[Html]:
    yield element("p", cost_of_release(facts), ".")
    if facts.audience is not None:
        yield element(
            "p",
            "Several audiences got answers of different accuracy. Readers who put their copies together learn no more "
            f"than the most accurate one says, and that is the cost above; the answers on this page keep "
            f"{facts.privacy} each.",
        )
    yield from _in_odds(facts, facts.cost, "this release")
    if facts.batch is not None:
        yield element(
            "p",
            f"It is one of {facts.batch.questions} questions that were charged together: {facts.batch.cost} for all.",
        )
        yield from _in_odds(facts, facts.batch.cost, "the whole batch")


def _in_odds(facts: Facts, cost: Charge, whose: str) -> Iterator[Html]:
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
    yield _table(f"How likely somebody may think {odds.asks}, before and after {whose}", head, rows)


def _errors(facts: Facts, unit: str) -> Iterator[Html]:
    yield element("p", "Known before any record was read, and the same whatever the records say. An answer is:")
    yield _list(expected(facts, unit))


def _checks(facts: Facts, given: Given) -> Iterator[Html]:
    if given.files:
        head = [element("th", name, scope="col") for name in ("file", "SHA-256 of its bytes")]
        rows = [
            element(
                "tr",
                element("th", file.name, scope="row"),
                element("td", element("code", file.digest, class_="digest")),
            )
            for file in given.files
        ]
        yield _table("Files that belong to this page: the answers, and how they were made", head, rows)
    else:
        yield element(
            "p",
            "These answers were written to no file but this page. The steward can ask the same question again and name "
            "a file: the same answers come back, and nothing is charged.",
        )
    for what, line in commands(facts, given):
        yield element("p", f"{what[0].upper()}{what[1:]}", class_="before")
        yield element("pre", element("code", line))
    rows_digest = facts.mechanism.get("sha256")
    if isinstance(rows_digest, str):
        yield element("p", "Digest of the mechanism's rows: ", element("code", rows_digest, class_="digest"))
    pages = proofs(facts)
    if pages:
        said = ", ".join(pages)
        yield element("p", f"Why it is private, and how far off it is, is proven in the source of Iris: {said}.")
    yield element(
        "p",
        f"The steward's ledger holds this release in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing.",
    )


def _made(facts: Facts) -> str:
    version = f" by Iris {facts.said['version']}" if "version" in facts.said else ""
    date = f" on {facts.said['date']}" if "date" in facts.said else ""
    return (
        f"Answers drawn{version}{date}. This page is made of the published answers and of what is public about them; "
        "it holds nothing else of the data, loads nothing, and runs nothing."
    )


def _table(caption: str, head: list[Html], rows: list[Html]) -> Html:
    table = element(
        "table", element("caption", caption), element("thead", element("tr", *head)), element("tbody", *rows)
    )
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _list(lines: Iterable[str]) -> Html:
    return element("ul", *(element("li", *_marked(line)) for line in lines))


def _pairs(told: Iterable[tuple[str, str]]) -> Html:
    return element("dl", *chain.from_iterable((element("dt", name), element("dd", said)) for name, said in told))


def _marked(line: str) -> Iterator[Html]:
    """Set what stands between backticks as code."""
    for place, part in enumerate(line.split("`")):
        yield element("code", part) if place % 2 else joined(part)
