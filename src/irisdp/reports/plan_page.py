"""What a plan published as one page that can be handed over: each question with its cost, and what all cost together.

As the page of one release it is a function of the sidecars, of the answers, and of the names of their files: a plan
that is run again writes the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..accounting import Charge
from ..markup import Html, element
from .batch_facts import Question
from .blocks import bullets, document, pairs, section, table
from .commands import commands
from .facts import Batch, facts_of
from .given import Given
from .parts import MOST_ROWS, answered, digests, error_lines, in_odds, made_by, subject
from .reading import cost_of_release, moved_by, proofs
from .several import IN_SHORT, anchor, assumed_of, in_short, lines_once, warnings_of, ways_of
from .words import asked, protected

__all__ = ["plan_page"]

_ROWS, _FEWEST_ROWS = 20_000, 10
"""Rows of answers in all, and of a question in any case."""
_MOST_PICTURES = 40
_MOST_NAMED = 3
"""Tables named in the heading; each question names its own."""


def plan_page(given: Sequence[Given], names: Sequence[str | None], plan: str) -> str:
    """Write what a plan published as one page of HTML.

    Parameters
    ----------
    given : sequence of Given
        Its questions, each charged by itself and answered for everybody.
    names : sequence
        What the plan calls them; None where it does not.
    plan : str
        What the plan is called.
    """
    questions: list[Question] = []
    for number, one in enumerate(given, start=1):
        facts = facts_of(one.sidecar)
        questions.append((Batch(facts.cost, len(given), number), facts, one))
    titles = [
        facts.question if name is None else f"{name}: {facts.question}"
        for name, (_, facts, _) in zip(names, questions, strict=True)
    ]
    sections = [
        section("What was published", _published(questions, titles)),
        section("What it cost", _cost(questions)),
        section("Questions and answers", _each(questions, titles)),
        section("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        section("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        section("What was taken for granted", [pairs(assumed_of(questions, "plan"))]),
        section("How to check it", _checks(questions)),
    ]
    asked_in_all = f"{len(questions):,} question{'' if len(questions) == 1 else 's'}"
    named = list(dict.fromkeys(facts.said.get("table", "a table") for _, facts, _ in questions))
    about = ", ".join(named) if len(named) <= _MOST_NAMED else f"{len(named):,} tables"
    lead = f"The plan {plan}: {asked_in_all}, each answered and charged by itself."
    return document(f"{asked_in_all} about {about}", lead, sections, made_by([facts for _, facts, _ in questions]))


def _published(questions: Sequence[Question], titles: Sequence[str]) -> Iterator[Html]:
    head = [
        element("th", "", scope="col"),
        *(element("th", name, scope="col") for name in ("question", "table", IN_SHORT, "cost")),
    ]
    rows = [
        element(
            "tr",
            element("th", element("a", batch.question, href=f"#{anchor(batch.question)}"), scope="row"),
            element("td", title),
            element("td", facts.said.get("table", "not said")),
            element("td", in_short(given), class_="answer"),
            element("td", str(facts.cost)),
        )
        for (batch, facts, given), title in zip(questions, titles, strict=True)
    ]
    yield table("The questions; each number leads to the answers", head, rows)


def _cost(questions: Sequence[Question]) -> Iterator[Html]:
    """Add up what was charged of each table, for each kind of neighbours and in each currency by itself."""
    together: dict[tuple[object, ...], list[Question]] = {}
    for one in questions:
        facts = one[1]
        key = facts.said.get("table"), facts.relation, facts.unit, type(facts.cost)
        together.setdefault(key, []).append(one)
    for asked_of in together.values():
        first = asked_of[0][1]
        costs: list[Charge] = [facts.cost for _, facts, _ in asked_of]
        total = sum(costs[1:], costs[0])
        named = first.said.get("table")
        about = "" if named is None else f" about {named}"
        yield element(
            "p",
            f"{total} for {moved_by(first)}, for {len(asked_of):,} question{'' if len(asked_of) == 1 else 's'}{about}: "
            "charges add up. A count that refines another is charged only the difference, so the ledger may hold less.",
        )
        yield from in_odds(first, total, f"{'this question' if len(asked_of) == 1 else 'these questions'}{about}")
    if len(together) > 1:
        yield element(
            "p",
            "Nothing above is about all questions. About somebody who is in more than one of these tables the answers "
            "together may tell more than any of these costs says: costs add up across tables too.",
        )


def _each(questions: Sequence[Question], titles: Sequence[str]) -> Iterator[Html]:
    most = max(_FEWEST_ROWS, min(MOST_ROWS, _ROWS // len(questions)))
    for place, ((batch, facts, given), title) in enumerate(zip(questions, titles, strict=True)):
        drawn = [("Drawn", facts.said["date"])] if "date" in facts.said else []
        told = [("Cost", cost_of_release(facts)), *drawn, ("Protected", protected(facts)), *subject(facts)]
        content = [
            element("p", f"{asked(facts)}."),
            *answered(facts, given, most=most, picture=place < _MOST_PICTURES),
            element("p", "Whatever the records say, an answer is expected to be:", class_="before"),
            error_lines(facts),
            pairs(told),
        ]
        yield section(f"{batch.question}. {title}", content, name=anchor(batch.question), level=3)


def _checks(questions: Sequence[Question]) -> Iterator[Html]:
    files = [file for _, _, given in questions for file in given.files]
    if files:
        yield digests(files)
    for what, line in commands([(facts, given) for _, facts, given in questions]):
        if not line.startswith("irisdp report"):  # that makes pages of releases and batches
            yield element("p", f"{what[0].upper()}{what[1:]}", class_="before")
            yield element("pre", element("code", line))
    pages = dict.fromkeys(page for _, facts, _ in questions for page in proofs(facts))
    if pages:
        said = ", ".join(pages)
        yield element("p", f"Why it is private, and how far off it is, is proven in the source of Iris: {said}.")
    yield element(
        "p",
        "Each answer is a line of the steward's ledger. Run again about the same data, the plan comes to the same "
        "answers and costs nothing.",
    )
