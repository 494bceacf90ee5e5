"""A release as one page that can be handed over: what was published, of whom, at what cost, and how it is read.

The page is a function of the sidecar, of the answers, and of the names of their files. It fetches nothing and runs
nothing, and whatever was written by others stands in it as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..markup import Html, element
from .blocks import bullets, document, pairs, section
from .commands import commands
from .facts import Facts, facts_of
from .given import Given
from .parts import answered, digests, error_lines, in_odds, made_by, subject, unit_of
from .reading import assumed, cost_of_release, how_to_read, not_to_conclude, proofs
from .words import asked, protected

__all__ = ["page"]


def page(given: Given) -> str:
    """Write a release as one page of HTML.

    Raises
    ------
    BadInput
        For a sidecar that does not say what a release says.
    """
    facts = facts_of(given.sidecar)
    sections = [
        section("What was published", [pairs(_published(facts))]),
        section("Answers", answered(facts, given)),
        section("How to read them", [bullets(how_to_read(facts, unit_of(facts)))]),
        section("What not to conclude", [bullets(not_to_conclude(facts))]),
        section("What it cost", _cost(facts)),
        section("How far off answers are expected to be", _errors(facts)),
        section("What was taken for granted", [pairs(assumed(facts))]),
        section("How to check it", _checks(facts, given)),
    ]
    return document(facts.question, f"{asked(facts)}.", sections, made_by([facts]))


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


def _checks(facts: Facts, given: Given) -> Iterator[Html]:
    if given.files:
        yield digests(given.files)
    else:
        yield element(
            "p",
            "These answers were written to no file but this page. The steward can ask the same question again and name "
            "a file: the same answers come back, and nothing is charged.",
        )
    for what, line in commands([(facts, given)]):
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
