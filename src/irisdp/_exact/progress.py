"""Progress events of long computations that see no data: what they do now, in a few words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from .validation import checked

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("designs", default=None)


@checked
@contextlib.contextmanager
def progress_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function with what a design does now, in a few words, whenever that changes.

    Parameters
    ----------
    listener : callable
        Takes one text. What it raises ends the design.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> with design.progress_to(print):
    ...     made = design.consumer(3, "absolute", Privacy(ratio=2))
    writing a program of 32 rows and 45 columns
    solving it in floats
    solving its best basis exactly
    rounding the mechanism and its certificate
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(words: str) -> None:
    """Say what is being done from now on."""
    listener = _listener.get()
    if listener is not None:
        listener(words)
