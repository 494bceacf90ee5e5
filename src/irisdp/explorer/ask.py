"""The page Ask: the cost of a question and the error of its answer, before there is a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ask_fields import FIELDS, read_asked
from .jobs import Stopped
from .lanes import at_once
from .results import Answer, Values
from .room import Room

if TYPE_CHECKING:
    from ..children import Phase
    from .results import Result

__all__ = ["ASK", "ask_work"]


def ask_work(values: Values, say: Phase) -> Result:
    """Compute the result of this page, in the worker process."""
    from .asking import ask

    return ask(values, say)


def _answer(values: Values) -> Answer:
    read_asked(values)  # what makes no sense is said without asking anybody
    try:
        found: Result = at_once("ask", ask_work, values)
        return found
    except Stopped as stopped:
        if stopped.reason != "time":
            raise
        from .asking import too_hard

        return too_hard(values, stopped.seconds)


ASK = Room(
    name="ask",
    title="Ask",
    summary="What a question costs: which mechanism answers it, how far off it will be, and what it tells about one "
    "person. Say the error, and find the least ε; or say ε, and see the error.",
    introduction="Say what is asked, and how accurate or how private the answer must be. The rest follows from that, "
    "whatever the data.",
    fields=FIELDS,
    answer=_answer,
    live=True,
    bounded=True,
)
