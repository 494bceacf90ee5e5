"""A release as one page that can be handed over: what was published, of whom, at what cost, and how it is read.

The page is a function of the release file, of the answers, and of the names of their files. It fetches nothing and runs
nothing, and whatever was written by others stands in it as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..markup import Html, element
from .blocks import bullets, document, folded, pairs, sentences
from .checks import checks
from .facts import Facts, facts_of
from .given import Given
from .headline import headline, in_three, result
from .parts import answered, error_lines, in_odds, made_by, subject, unit_of
from .reading import assumed, cost_of_release, how_to_read, not_to_conclude
from .words import asked, protected

__all__ = ["page"]

_AGAIN = "ask the same question again and name a file"


def page(given: Given) -> str:
    """Write a release as one page of HTML.

    Raises
    ------
    BadInput
        For an invalid release file.
    """
    facts = facts_of(given.sidecar)
    heading = headline(facts, given)
    found = result(facts, given)
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
    lead = None if heading == found else f"{found}."
    return document(
        heading, lead, sections, made_by([facts]), title=f"Published: {facts.question}" if heading == found else heading
    )


def _published(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "Table", facts.said.get("table", "not said")
    yield "Protected", protected(facts)
    yield "For", "everybody" if facts.audience is None else f"{facts.audience}, one of several audiences"
    yield from subject(facts)
    if facts.batch is not None:
        yield "Batch", f"question {facts.batch.question} of {facts.batch.questions}, charged as one"


def _cost(facts: Facts) -> Iterator[Html]:
    yield element("p", cost_of_release(facts), ".")
    if facts.audience is not None:
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


def _errors(facts: Facts) -> Iterator[Html]:
    yield element("p", "Known before any record was read, and the same whatever the records say. An answer is:")
    yield error_lines(facts)


def _kept(facts: Facts) -> str:
    return (
        f"The steward's ledger holds this release in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing."
    )
