"""The questions of one batch, checked to be these and all of them, before a page says what they cost together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..errors import BadInput
from .facts import Batch, Facts, facts_of
from .given import Given

__all__ = ["Question", "questions_of"]

Question = tuple[Batch, Facts, Given]
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
        facts = facts_of(one.sidecar)
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


def _common(batch: Batch, facts: Facts) -> Hashable:
    """Return what all questions of a batch have in common."""
    said = tuple(facts.said.get(name) for name in _SAID)
    return batch.cost, batch.questions, facts.ledger, facts.relation, facts.unit, said
