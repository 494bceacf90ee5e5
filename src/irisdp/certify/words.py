"""What a goal is, in words that come from the goal itself and never from the name a file gives it.

A bound is worth what its goal is: one that is the same for all mechanisms, or that a constant answer reaches, is true
and says next to nothing. So beside the words stand two values anyone can compare with: what the goal would be if
privacy were no concern, and what always giving the same answer reaches.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from ..exact import rational_text, short_text
from ..graphs.names import json_node
from ..mechanisms import MechanismDocument
from .arithmetic import Number, as_fraction
from .goals import Goal

__all__ = ["PULLBACK", "GoalInWords", "in_words", "said_of_sums", "without_a_goal", "wrong_row_of"]

PULLBACK = "pullback"
"""The theorem that rests on the certificate of another mechanism."""

_FIRST_CHOICES = "at every input, and for every k, the first k choices together are as probable as in any of"

_FIRST_CHOICES_BELOW = (
    "averaged over the inputs of any one value of the query, and for every k, the first k choices together are as"
    " probable as in any of"
)

_WITHOUT_A_GOAL = {
    "geometric": (
        "whoever reads it well, for a loss that never falls as the answer moves away from the count, has an expected"
        " and a worst expected loss no larger than with any of",
        "whoever reads it well, for a loss that never falls as the answer moves away from the value of the query, has a"
        " worst expected loss no larger, and for a prior alike on inputs of one value an expected loss no larger, than"
        " with any of",
    ),
    "randomized-response": (
        "the mean probability of the true answer, over all inputs alike, is as large as in any of",
        "the mean probability of the true value of the query, over its values alike, is as large as in any of",
    ),
    "balanced-line": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
    "homogeneous-rainbow": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
    "rainbow": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
}
"""What each theorem proves of rows where no goal is stated; and of their pullback, whose proof is an average over the
inputs of one value (proofs/pullback.md)."""


def wrong_row_of(document: MechanismDocument) -> tuple[Any, Fraction] | None:
    """Return the first input whose row does not sum to exactly 1, and what it sums to beyond 1; None if all rows do."""
    beyond = [sum(row, Fraction(0)) - 1 for row in document.rows]
    return next(((document.inputs[i], beyond[row]) for i, row in enumerate(document.row_of) if beyond[row]), None)


def said_of_sums(wrong: tuple[Any, Fraction] | None) -> str:
    """Say whether rows sum to 1, and of the first that does not by how much."""
    if wrong is None:
        return "sum to exactly 1"
    name, beyond = wrong
    by = f"{short_text(abs(beyond), 3)} too {'little' if beyond < 0 else 'much'}"
    return f"do NOT sum to exactly 1: that of input {name} is the first, {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalInWords:
    """A goal that was read from a certificate.

    Parameters
    ----------
    words : str
        What is made small.
    without_privacy, at_most : Fraction
        The smallest and the largest value that any mechanism at all has, private or not.
    constant, constant_answer : Fraction and a name
        The smallest value of a mechanism that always gives one answer, and that answer.
    """

    words: str
    without_privacy: Fraction
    at_most: Fraction
    constant: Fraction
    constant_answer: Hashable

    @property
    def compares_nothing(self) -> bool:
        """Whether all mechanisms have the same value."""
        return self.without_privacy == self.at_most

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data."""
        return {
            "words": self.words,
            "without_privacy": rational_text(self.without_privacy),
            "constant_answer": json_node(self.constant_answer),
            "constant": rational_text(self.constant),
            "compares_nothing": self.compares_nothing,
        }


def without_a_goal(theorem: str, *, pulled_back: bool) -> str:
    """Say what a theorem proves where no goal is stated, up to the words that name the mechanisms compared."""
    return _WITHOUT_A_GOAL[theorem][pulled_back]


def in_words(goal: Goal, inputs: int, outputs: Sequence[Hashable]) -> GoalInWords:
    """Describe a goal, and compute what bounds it for every mechanism and for constant ones."""
    worst = goal.aggregate == "worst"
    considered = goal.considered if worst else [i for i, weight in enumerate(goal.weights) if weight]
    least, most = [], []
    constant: list[Number] = [flint.fmpq(0)] * len(outputs)
    for place, i in enumerate(considered):
        losses = goal.loss_row(i)
        weight = flint.fmpq(1) if worst else goal.weights[i]
        least.append(weight * min(losses))
        most.append(weight * max(losses))
        if worst:
            constant = list(losses) if place == 0 else [max(x, y) for x, y in zip(constant, losses, strict=True)]
        else:
            constant = [x + weight * y for x, y in zip(constant, losses, strict=True)]
    together = max if worst else _total
    answer = min(range(len(outputs)), key=constant.__getitem__)
    return GoalInWords(
        words=_words(goal, inputs, len(considered)),
        without_privacy=as_fraction(together(least)),
        at_most=as_fraction(together(most)),
        constant=as_fraction(constant[answer]),
        constant_answer=outputs[answer],
    )


def _words(goal: Goal, inputs: int, counted: int) -> str:
    loss = "loss by the table in the file" if goal.name == "table" else f"{goal.name} loss"
    if goal.aggregate == "worst":
        return f"largest expected {loss} over {counted} of {inputs} inputs"
    total = as_fraction(_total(goal.weights))
    if len(set(goal.weights)) == 1 and total == 1:
        return f"mean expected {loss} over all {inputs} inputs"
    silent = f"; {inputs - counted} of {inputs} inputs weigh nothing" if counted < inputs else ""
    return f"expected {loss}, weighted and added up over {counted} inputs (weights sum to {short_text(total)}{silent})"


def _total(numbers: Sequence[Number]) -> Number:
    return sum(numbers, start=flint.fmpq(0))
