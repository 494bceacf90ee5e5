"""What pages of several questions say alike: what holds of all once, what holds of some with their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from ..markup import Html, element, joined
from .batch_facts import Question
from .blocks import pairs, section, sentences
from .facts import Facts
from .given import Given
from .headline import meant
from .parts import MOST_ROWS, answered, error_lines, unit_of
from .reading import assumed, how_to_read, not_to_conclude
from .words import asked, numbered

__all__ = ["IN_SHORT", "anchor", "assumed_of", "each", "in_short", "lines_once", "warnings_of", "ways_of"]

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
    questions: Sequence[Question], titles: Sequence[str], told: Callable[[Facts], Iterable[tuple[str, str]]]
) -> Iterator[Html]:
    """Show each question: its answers, their expected errors, and further facts."""
    most = max(_FEWEST_ROWS, min(MOST_ROWS, _ROWS // len(questions)))
    for place, ((batch, facts, given), title) in enumerate(zip(questions, titles, strict=True)):
        more = [
            element("p", "Whatever the records say, an answer is expected to be:", class_="before"),
            error_lines(facts),
            pairs(told(facts)),
        ]
        content = [
            element("p", f"{asked(facts, given.labels)}."),
            *answered(facts, given, most=most, picture=place < _MOST_PICTURES),
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
    found = list(_once(questions, [assumed(facts, whole=whole) for _, facts, _ in questions]))
    names = list(dict.fromkeys(name for (name, _), _ in found))
    for (name, line), whose in sorted(found, key=lambda said: names.index(said[0][0])):
        yield name, joined(whose, ": ", line) if whose else line


def _once(questions: Sequence[Question], said: Sequence[Iterable[Said]]) -> Iterator[tuple[Said, str]]:
    """Yield each thing that is said of some question, once; after it of which, or nothing if it is said of all."""
    whose: dict[Said, list[int]] = {}
    for (batch, _, _), lines in zip(questions, said, strict=True):
        for line in lines:
            whose.setdefault(line, []).append(batch.question)
    for line, numbers in whose.items():
        yield line, "" if len(numbers) == len(questions) else numbered(numbers)
