"""Progress events of a release: its steps and their number, which follow from the question alone.

How long a step will take is not said: that would follow from how much data there is. Code above this layer estimates
the remaining time of several questions from those already answered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

__all__ = ["STEPS", "begun", "part_of", "told_of_steps"]

STEPS = ("looking whether this data is known", "counting", "drawing and charging", "writing down")

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def told_of_steps(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell somebody, in a few words, of every step that begins."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def part_of(words: str) -> Iterator[None]:
    """Say of all steps within what they are a part of, such as `question 3 of 40`."""
    outer = _listener.get()
    if outer is None:
        yield
        return
    with told_of_steps(lambda step: outer(f"{words}: {step}")):
        yield


def begun(step: int) -> None:
    """Say that a step has begun, one of `STEPS`.

    Examples
    --------
    >>> with told_of_steps(print), part_of("question 3 of 40"):
    ...     begun(1)
    question 3 of 40: step 2 of 4, counting
    """
    listener = _listener.get()
    if listener is not None:
        listener(f"step {step + 1} of {len(STEPS)}, {STEPS[step]}")
