"""A batch as one page that can be handed over: what all its questions cost together, and each with its answers.

As the page of one release it is a function of the sidecars, of the answers, and of the names of their files. What
holds of every question is said once; what holds of some names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..markup import Html, element
from .batch_facts import Question, questions_of
from .blocks import bullets, document, pairs, section, table
from .commands import commands
from .given import Given
from .parts import MOST_ROWS, answered, digests, error_lines, in_odds, made_by, subject
from .reading import moved_by, proofs
from .several import IN_SHORT, anchor, assumed_of, in_short, lines_once, numbered, warnings_of, ways_of
from .words import asked, protected

__all__ = ["batch_page"]

_ROWS, _FEWEST_ROWS = 20_000, 10
"""Rows of answers in all, and of a question in any case."""
_MOST_PICTURES = 40
"""Questions whose answers are drawn: each takes time, and room."""


def batch_page(given: Sequence[Given]) -> str:
    """Write the questions of a batch as one page of HTML.

    Raises
    ------
    BadInput
        For sidecars that do not say what releases say, and for what is not the whole of one batch.
    """
    questions = questions_of(given)
    batch, facts, _ = questions[0]
    named = facts.said.get("table")
    about = f"{len(questions):,} questions" + ("" if named is None else f" about {named}")
    sections = [
        section("What was published", _published(questions)),
        section("What it cost", _cost(questions)),
        section("Questions and answers", _each(questions)),
        section("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        section("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        section("What was taken for granted", [pairs(assumed_of(questions, "batch"))]),
        section("How to check it", _checks(questions)),
    ]
    lead = f"They were answered together and charged as one: {batch.cost} for all."
    return document(about, lead, sections, made_by([facts]))


def _published(questions: Sequence[Question]) -> Iterator[Html]:
    _, facts, _ = questions[0]
    told = [
        ("Table", facts.said.get("table", "not said")),
        ("Protected", protected(facts)),
        ("For", "everybody"),
        ("Batch", f"{len(questions):,} questions, charged as one"),
    ]
    yield pairs(told)
    head = [element("th", "", scope="col"), *(element("th", name, scope="col") for name in ("question", IN_SHORT))]
    rows = [
        element(
            "tr",
            element("th", element("a", batch.question, href=f"#{anchor(batch.question)}"), scope="row"),
            element("td", of.question),
            element("td", in_short(given), class_="answer"),
        )
        for batch, of, given in questions
    ]
    yield table("The questions; each number leads to the answers", head, rows)


def _cost(questions: Sequence[Question]) -> Iterator[Html]:
    batch, facts, _ = questions[0]
    yield element("p", f"{batch.cost} for {moved_by(facts)}, for all {len(questions):,} questions together.")
    yield from in_odds(facts, batch.cost, "the whole batch")
    yield element(
        "p",
        "Each question has a share of that; what its answers keep by themselves stands beside them. All together may "
        "tell less than these shares added up.",
    )


def _each(questions: Sequence[Question]) -> Iterator[Html]:
    most = max(_FEWEST_ROWS, min(MOST_ROWS, _ROWS // len(questions)))
    for place, (batch, facts, given) in enumerate(questions):
        content = [
            element("p", f"{asked(facts)}."),
            *answered(facts, given, most=most, picture=place < _MOST_PICTURES),
            element("p", "Whatever the records say, an answer is expected to be:", class_="before"),
            error_lines(facts),
            pairs(subject(facts)),
        ]
        yield section(f"{batch.question}. {facts.question}", content, name=anchor(batch.question), level=3)
    if len(questions) > _MOST_PICTURES:
        yield element(
            "p", f"The answers of the first {_MOST_PICTURES} questions are drawn; those of all stand in tables."
        )


def _checks(questions: Sequence[Question]) -> Iterator[Html]:
    _, facts, _ = questions[0]
    files = [file for _, _, given in questions for file in given.files]
    if files:
        yield digests(files)
    bare = [batch.question for batch, _, given in questions if not given.files]
    if bare:
        whose = "These answers" if len(bare) == len(questions) else f"{numbered(bare)}: the answers"
        yield element(
            "p",
            f"{whose} were written to no file but this page. The steward can ask the same batch again and name files: "
            "the same answers come back, and nothing is charged.",
        )
    for what, line in commands([(facts, given) for _, facts, given in questions]):
        yield element("p", f"{what[0].upper()}{what[1:]}", class_="before")
        yield element("pre", element("code", line))
    pages = dict.fromkeys(page for _, facts, _ in questions for page in proofs(facts))
    yield element(
        "p", f"Why it is private, and how far off it is, is proven in the source of Iris: {', '.join(pages)}."
    )
    yield element(
        "p",
        f"The steward's ledger holds this batch in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing.",
    )
