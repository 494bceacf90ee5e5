"""What a plan published as one page that can be handed over: each question with its cost, and what all cost together.

As the page of one release it is a function of the release files, of the answers, and of the names of their files.
Running a plan again writes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from ..._html import Html, element, joined
from ..._release import Batch, ReleaseFile
from ...accounting import Charge
from ...errors import BadInput
from .blocks import bullets, document, folded, pairs, section, sentences, table
from .checks import checks
from .headline import meant
from .inputs import Given
from .page import MOST_ROWS, answered, error_lines, for_whom, in_odds, made_by, subject, unit_of
from .sentences import asked, assumed, cost_of_release, how_to_read, moved_by, not_to_conclude, numbered, protected

# Check that the given questions are all questions of one batch, before a page states their joint cost.

Question = tuple[Batch, ReleaseFile, Given]
"""Which question of its batch it is, what is public of its answers, and these."""

_SAID = ("table", "date", "version")


def questions_of(given: Sequence[Given]) -> list[Question]:
    """Read releases that were charged as one, and put them in the order in which they were asked.

    Raises
    ------
    BadInput
        For a release that belongs to no batch, or to another, for one that is given twice, and where one is missing:
        what all cost together is said of all.
    """
    found: dict[int, Question] = {}
    common = None
    for one in given:
        facts = one.facts.require()
        batch = facts.batch
        if batch is None or facts.audience is not None:
            raise BadInput("release", "is no question of a batch, and others are beside it", "report it alone")
        common = common or _common(batch, facts)
        if _common(batch, facts) != common:
            raise BadInput("release", "was not charged together with the others", "give the questions of one batch")
        if batch.question in found:
            raise BadInput("release", f"question {batch.question} is given twice", "give each question once")
        found[batch.question] = batch, facts, one
    questions = next(iter(found.values()))[0].questions
    if len(found) < questions:
        missing = next(number for number in range(1, questions + 1) if number not in found)
        rule = f"question {missing} is missing, of {questions:,} that were charged together"
        raise BadInput("release", rule, "give all of them, or one alone")
    return [found[number] for number in sorted(found)]


def _common(batch: Batch, facts: ReleaseFile) -> Hashable:
    """Return what all questions of a batch have in common."""
    said = tuple(facts.said.get(name) for name in _SAID)
    return batch.cost, batch.questions, facts.ledger, facts.relation, facts.unit, said


# What pages of several questions say alike: what holds of all once, what holds of some with their numbers.

Said = TypeVar("Said")

_ROWS, _FEWEST_ROWS = 20_000, 10
"""Rows of answers in all, and of a question in any case."""
_MOST_PICTURES = 40
"""Questions whose answers are drawn: each takes time, and room."""


def anchor(number: int) -> str:
    """Name the place of a question on its page."""
    return f"question-{number}"


IN_SHORT = "answer (truth between)"
"""What `in_short` shows, for the head of a column; an answer beyond what can be lies outside its ends."""


def in_short(given: Given) -> str:
    """Show an answer that is one, and how many there are else."""
    if len(given.rows) != 1 or given.columns[0] != "answer":
        return f"{len(given.rows):,} answer{'' if len(given.rows) == 1 else 's'}, below"
    (row,) = given.rows
    told = dict(zip(given.columns, row, strict=True))
    ends = [told[name] or "no end" for name in ("answer_low", "answer_high") if name in told]
    return told["answer"] + (f" ({' to '.join(ends)})" if ends else "")


def each(
    questions: Sequence[Question], titles: Sequence[str], told: Callable[[ReleaseFile], Iterable[tuple[str, str]]]
) -> Iterator[Html]:
    """Show each question: its answers, their expected errors, and further facts."""
    most = max(_FEWEST_ROWS, min(MOST_ROWS, _ROWS // len(questions)))
    for index, ((batch, facts, given), title) in enumerate(zip(questions, titles, strict=True)):
        more = [
            element("p", "Whatever the records say, an answer is expected to be:", class_="before"),
            error_lines(facts),
            pairs(told(facts)),
        ]
        content = [
            element("p", f"{asked(facts, given.labels)}."),
            *answered(facts, given, most=most, picture=index < _MOST_PICTURES),
            sentences(meant(facts, given)),
            element("details", element("summary", "Errors and mechanism"), *more),
        ]
        yield section(f"{batch.question}. {title}", content, name=anchor(batch.question), level=3)
    if len(questions) > _MOST_PICTURES:
        yield element(
            "p", f"The answers of the first {_MOST_PICTURES} questions are drawn; those of all stand in tables."
        )


def ways_of(questions: Sequence[Question]) -> list[Iterator[str]]:
    """Say of each question how its answers are read."""
    return [how_to_read(facts, unit_of(facts)) for _, facts, _ in questions]


def warnings_of(questions: Sequence[Question]) -> list[Iterator[str]]:
    """Say of each question what its answers do not mean."""
    return [not_to_conclude(facts) for _, facts, _ in questions]


def lines_once(questions: Sequence[Question], said: Sequence[Iterable[str]]) -> Iterator[str]:
    """Yield each line that is said of some question, once, with their numbers unless it is said of all."""
    for line, whose in _once(questions, said):
        yield joined(whose, ": ", line) if whose else line


def assumed_of(questions: Sequence[Question], whole: str) -> Iterator[tuple[str, str]]:
    """Say in the same way what was taken for granted, on the page of a whole batch or plan."""
    facts_assumed = list(_once(questions, [assumed(facts, whole=whole) for _, facts, _ in questions]))
    names = list(dict.fromkeys(name for (name, _), _ in facts_assumed))
    for (name, line), whose in sorted(facts_assumed, key=lambda said: names.index(said[0][0])):
        yield name, joined(whose, ": ", line) if whose else line


def _once(questions: Sequence[Question], said: Sequence[Iterable[Said]]) -> Iterator[tuple[Said, str]]:
    """Yield each thing that is said of some question, once; after it of which, or nothing if it is said of all."""
    whose: dict[Said, list[int]] = {}
    for (batch, _, _), lines in zip(questions, said, strict=True):
        for line in lines:
            whose.setdefault(line, []).append(batch.question)
    for line, numbers in whose.items():
        yield line, "" if len(numbers) == len(questions) else numbered(numbers)


# A batch as one page that can be handed over: what all its questions cost together, and each with its answers.
#
# As the page of one release it is a function of the release files, of the answers, and of the names of their files.
# What holds of every question is said once; what holds of some names them.

_PUBLISH_AGAIN = "ask the same batch again and name files"


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
        element("div", *_batch_answers(questions, titles), class_="first"),
        section("Questions and answers", each(questions, titles, subject)),
        folded("What it cost", _batch_cost(questions)),
        folded("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        folded("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        folded("What was taken for granted", [pairs(assumed_of(questions, "batch"))]),
        folded(
            "How to check it", checks([question[1:] for question in questions], again=_PUBLISH_AGAIN, kept=_kept(facts))
        ),
    ]
    lead = f"They were answered together and charged as one: {batch.cost} for all."
    return document(words.own_title or words.title or about, lead, sections, made_by([facts]))


def _batch_answers(questions: Sequence[Question], titles: Sequence[str]) -> Iterator[Html]:
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


def _batch_cost(questions: Sequence[Question]) -> Iterator[Html]:
    batch, facts, _ = questions[0]
    yield element("p", f"{batch.cost} for {moved_by(facts)}, for all {len(questions):,} questions together.")
    yield from in_odds(facts, batch.cost, "the whole batch")
    yield element(
        "p",
        "Each question has a share of that; what its answers keep by themselves stands beside them. All together may "
        "tell less than these shares added up.",
    )


def _kept(facts: ReleaseFile) -> str:
    return (
        f"The steward's ledger holds this batch in line {facts.ledger}; asked again about the same data, the same "
        "answers come back and cost nothing."
    )


_MOST_NAMED = 3
"""Tables named in the heading; each question names its own."""
_RUN_AGAIN = "name files in the plan and run it again"
_KEPT = (
    "Each answer is a line of the steward's ledger. Run again about the same data, the plan comes to the same answers "
    "and costs nothing."
)


def plan_page(given: Sequence[Given], names: Sequence[str | None], plan: str, *, title: str | None = None) -> str:
    """Write what a plan published as one page of HTML.

    Parameters
    ----------
    given : sequence of Given
        Its questions, each charged by itself and answered for everybody, or for the one audience of the page.
    names : sequence
        What the plan calls them; None where it does not.
    plan : str
        What the plan is called.
    title : str, optional
        The heading of the page.
    """
    questions: list[Question] = []
    for number, one in enumerate(given, start=1):
        facts = one.facts.require()
        questions.append((Batch(facts.cost, len(given), number), facts, one))
    titles = [
        one.labels.own_title
        or one.labels.query(facts.question, facts.by)
        or (facts.question if name is None else f"{name}: {facts.question}")
        for name, (_, facts, one) in zip(names, questions, strict=True)
    ]
    sections = [
        element("div", *_plan_answers(questions, titles), class_="first"),
        section("Questions and answers", each(questions, titles, _told)),
        folded("What it cost", _plan_cost(questions)),
        folded("How to read them", [bullets(lines_once(questions, ways_of(questions)))]),
        folded("What not to conclude", [bullets(lines_once(questions, warnings_of(questions)))]),
        folded("What was taken for granted", [pairs(assumed_of(questions, "plan"))]),
        folded("How to check it", checks([one[1:] for one in questions], again=_RUN_AGAIN, kept=_KEPT, whole=False)),
    ]
    asked_in_all = f"{len(questions):,} question{'' if len(questions) == 1 else 's'}"
    named = list(dict.fromkeys(facts.said.get("table", "a table") for _, facts, _ in questions))
    about = ", ".join(named) if len(named) <= _MOST_NAMED else f"{len(named):,} tables"
    reader = next((facts.audience for _, facts, _ in questions if facts.audience is not None), None)
    lead = f"The plan “{plan}”: {asked_in_all}, each answered and charged by itself."
    lead += "" if reader is None else f" This page is for {reader}."
    return document(
        title or f"{asked_in_all} about {about}", lead, sections, made_by([facts for _, facts, _ in questions])
    )


def _plan_answers(questions: Sequence[Question], titles: Sequence[str]) -> Iterator[Html]:
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


def _plan_cost(questions: Sequence[Question]) -> Iterator[Html]:
    """Add up what was charged of each table, for each kind of neighbours and in each currency by itself."""
    together: dict[tuple[object, ...], list[Question]] = {}
    for question in questions:
        facts = question[1]
        key = facts.said.get("table"), facts.relation, facts.unit, type(facts.cost)
        together.setdefault(key, []).append(question)
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


def _told(facts: ReleaseFile) -> Iterator[tuple[str, str]]:
    yield "Cost", cost_of_release(facts)
    yield "For", for_whom(facts)
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
