"""A batch as one page that can be handed over: what all its questions cost together, and each with its answers.

As the page of one release it is a function of the release files, of the answers, and of the names of their files. What
holds of every question is said once; what holds of some names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..markup import Html, element
from .batch_facts import Question, questions_of
from .blocks import bullets, document, folded, pairs, section, sentences, table
from .checks import checks
from .facts import Facts
from .given import Given
from .parts import in_odds, made_by, subject
from .reading import moved_by
from .several import IN_SHORT, anchor, assumed_of, each, in_short, lines_once, warnings_of, ways_of
from .words import protected

__all__ = ["batch_page"]

_AGAIN = "ask the same batch again and name files"


def batch_page(given: Sequence[Given]) -> str:
    """Write the questions of a batch as one page of HTML.

    Raises
    ------
    BadInput
        For invalid release files, and for files that are not the whole of one batch.
    """
    questions = questions_of(given)
    batch, facts, _ = questions[0]
    words = questions[0][2].labels
    titles = [words.query(facts.question, facts.by) or facts.question for _, facts, _ in questions]
    named = facts.said.get("table")
    about = f"{len(questions):,} questions" + ("" if named is None else f" about {named}")
    sections = [
        element("div", *_published(questions, titles), class_="first"),
        section("Questions and answers", each(questions, titles, subject)),
        folded("What it cost", _cost(questions)),
        folded("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        folded("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        folded("What was taken for granted", [pairs(assumed_of(questions, "batch"))]),
        folded("How to check it", checks([one[1:] for one in questions], again=_AGAIN, kept=_kept(facts))),
    ]
    lead = f"They were answered together and charged as one: {batch.cost} for all."
    return document(words.own_title or words.title or about, lead, sections, made_by([facts]))


def _published(questions: Sequence[Question], titles: Sequence[str]) -> Iterator[Html]:
    _, facts, _ = questions[0]
    whole = questions[0][0]
    told = [
        ("Table", facts.said.get("table", "not said")),
        ("Protected", protected(facts)),
        ("For", "everybody"),
        ("Batch", f"{len(questions):,} questions, charged as one"),
    ]
    head = [element("th", "", scope="col"), *(element("th", name, scope="col") for name in ("question", IN_SHORT))]
    rows = [
        element(
            "tr",
            element("th", element("a", batch.question, href=f"#{anchor(batch.question)}"), scope="row"),
            element("td", title),
            element("td", in_short(given), class_="answer"),
        )
        for (batch, _, given), title in zip(questions, titles, strict=True)
    ]
    yield table("The questions; each number leads to the answers", head, rows)
    cost = f"Privacy cost: {whole.cost} for {moved_by(facts)}, for all {len(questions):,} questions together."
    yield sentences([cost])
    yield folded("What was published", [pairs(told)])


def _cost(questions: Sequence[Question]) -> Iterator[Html]:
    batch, facts, _ = questions[0]
    yield element("p", f"{batch.cost} for {moved_by(facts)}, for all {len(questions):,} questions together.")
    yield from in_odds(facts, batch.cost, "the whole batch")
    yield element(
        "p",
        "Each question has a share of that; what its answers keep by themselves stands beside them. All together may "
        "tell less than these shares added up.",
    )


def _kept(facts: Facts) -> str:
    return (
        f"The steward's ledger holds this batch in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing."
    )
