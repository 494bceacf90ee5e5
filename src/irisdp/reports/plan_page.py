"""What a plan published as one page that can be handed over: each question with its cost, and what all cost together.

As the page of one release it is a function of the release files, of the answers, and of the names of their files.
Running a plan again writes the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..accounting import Charge
from ..markup import Html, element, joined
from .batch_facts import Question
from .blocks import bullets, document, folded, pairs, section, table
from .checks import checks
from .facts import Batch, Facts, facts_of
from .given import Given
from .parts import in_odds, made_by, subject
from .reading import cost_of_release, moved_by
from .several import IN_SHORT, anchor, assumed_of, each, in_short, lines_once, warnings_of, ways_of
from .words import protected

__all__ = ["plan_page"]

_MOST_NAMED = 3
"""Tables named in the heading; each question names its own."""
_AGAIN = "name files in the plan and run it again"
_KEPT = (
    "Each answer is a line of the steward's ledger. Run again about the same data, the plan comes to the same answers "
    "and costs nothing."
)


def plan_page(given: Sequence[Given], names: Sequence[str | None], plan: str, *, title: str | None = None) -> str:
    """Write what a plan published as one page of HTML.

    Parameters
    ----------
    given : sequence of Given
        Its questions, each charged by itself and answered for everybody.
    names : sequence
        What the plan calls them; None where it does not.
    plan : str
        What the plan is called.
    title : str, optional
        The heading of the page.
    """
    questions: list[Question] = []
    for number, one in enumerate(given, start=1):
        facts = facts_of(one.sidecar)
        questions.append((Batch(facts.cost, len(given), number), facts, one))
    titles = [
        one.labels.own_title
        or one.labels.query(facts.question, facts.by)
        or (facts.question if name is None else f"{name}: {facts.question}")
        for name, (_, facts, one) in zip(names, questions, strict=True)
    ]
    sections = [
        element("div", *_published(questions, titles), class_="first"),
        section("Questions and answers", each(questions, titles, _told)),
        folded("What it cost", _cost(questions)),
        folded("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        folded("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        folded("What was taken for granted", [pairs(assumed_of(questions, "plan"))]),
        folded("How to check it", checks([one[1:] for one in questions], again=_AGAIN, kept=_KEPT, whole=False)),
    ]
    asked_in_all = f"{len(questions):,} question{'' if len(questions) == 1 else 's'}"
    named = list(dict.fromkeys(facts.said.get("table", "a table") for _, facts, _ in questions))
    about = ", ".join(named) if len(named) <= _MOST_NAMED else f"{len(named):,} tables"
    lead = f"The plan “{plan}”: {asked_in_all}, each answered and charged by itself."
    return document(
        title or f"{asked_in_all} about {about}", lead, sections, made_by([facts for _, facts, _ in questions])
    )


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
            element("td", *_unbroken(facts.cost)),
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
            "Nothing above is about all questions. About somebody whom more than one of these costs is about, as of "
            "several tables, the answers together may tell more than any of them says: costs add up across them too.",
        )


def _told(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "Cost", cost_of_release(facts)
    if "date" in facts.said:
        yield "Drawn", facts.said["date"]
    yield "Protected", protected(facts)
    yield from subject(facts)


def _unbroken(cost: Charge) -> Iterator[Html]:
    """Write a cost that is broken into lines between its numbers, and within none."""
    *before, last = str(cost).split(", ")
    for part in before:
        yield joined(element("span", f"{part},", class_="whole"), " ")
    yield element("span", last, class_="whole")
