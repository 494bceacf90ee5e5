"""The questions that can be compared: to add one, write what compares it and a row here."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import BadInput
from .asked import Asked
from .comparisons import Comparison
from .counts import compare_counts
from .decisions import compare_at_least, compare_majority
from .orders import compare_ranking, compare_top
from .quantiles import compare_median, compare_quantile
from .winners import compare_winners

__all__ = ["QUESTIONS", "Question", "find_question"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, how it is written, and what compares mechanisms for it.

    Attributes
    ----------
    usage : str
        Its name, and what follows it.
    compare : callable
    uses : tuple of str
        The options that it has a use for, of categories, n, lead and gaps.
    """

    usage: str
    compare: Callable[[Asked], Comparison]
    uses: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first word."""
        return self.usage.partition(" ")[0]


QUESTIONS = (
    Question("plurality", compare_winners, ("categories", "n", "lead", "gaps")),
    Question("top K", compare_top, ("categories", "n", "lead", "gaps")),
    Question("ranking", compare_ranking, ("categories", "n", "lead", "gaps")),
    Question("count", compare_counts, ("n",)),
    Question("at-least [K]", compare_at_least, ("n", "lead")),
    Question("majority", compare_majority, ("n", "lead")),
    Question("median", compare_median, ("categories", "n", "lead")),
    Question("quantile P", compare_quantile, ("categories", "n", "lead")),
)


def find_question(name: str) -> Question:
    """Return the question of a name."""
    names = [question.name for question in QUESTIONS]
    for question in QUESTIONS:
        if question.name == name:
            return question
    near = difflib.get_close_matches(name, names)
    remedy = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(names)}"
    raise BadInput("query", f"{name} cannot be compared", remedy)
