"""The interface of a page: a form, and a pure function from its fields to an answer, without HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .forms import Field
from .results import Answer, Values

__all__ = ["Room"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A page of the explorer, as `rooms.ROOMS` lists it.

    Parameters
    ----------
    name : str
        Its address, such as ``ask``.
    title, summary, introduction : str
        Its heading, a sentence for the way there, and one or two at its top.
    fields : tuple of Field
    answer : callable
        From values to a `Result`, to another address (`Moved`), or to what is to be filled in first (`Hint`). Raises
        `BadInput` and `Refusal` in words. May depend on nothing but the values: answers are kept for who asks again.
    submit : str
        What the button says.
    live : bool
        Whether it answers as fields move: only where that takes no longer than a blink.
    posts : bool
        Whether the form is posted, since it may hold a file; links carry what is short enough all the same.
    bounded : bool
        Whether every result is quick and small. Results are then kept for repeated requests, and links from other sites
        may open them.
    """

    name: str
    title: str
    summary: str
    introduction: str
    fields: tuple[Field, ...]
    answer: Callable[[Values], Answer]
    submit: str = "Show"
    live: bool = False
    posts: bool = False
    bounded: bool = False
