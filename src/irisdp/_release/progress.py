"""Progress events of a release: its steps and their number, which follow from the question alone.

How long a step will take is not said: that would follow from how much data there is. Code above this layer estimates
the remaining time of several questions from those already answered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from ..accounting import Charge
from ..errors import NotShown, place_of

# What goes wrong after a charge is no bad input: something was spent, and the answers are kept.


@contextlib.contextmanager
def errors_after_charge() -> Iterator[None]:
    """Hand over answers that are charged by now.

    Raises
    ------
    NotShown
        For any other error. At this point no exception is the caller's mistake, whatever its class. Its cause is
        suppressed, because it can hold private values.
    """
    try:
        yield
    except NotShown:
        raise
    except Exception as error:
        raise NotShown(
            f"internal error ({place_of(error)}) after the charge: the answers are in the ledger, and asking the same "
            "question again costs nothing; please report it"
        ) from None


STEPS = ("looking whether this data is known", "counting", "drawing and charging", "writing down")

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listen_to_progress(listener: Callable[[str], None]) -> Iterator[None]:
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
    with listen_to_progress(lambda step: outer(f"{words}: {step}")):
        yield


_notices: ContextVar[Callable[[str], None] | None] = ContextVar("notices", default=None)


@contextlib.contextmanager
def listen_to_notices(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass on what people should know before they are charged."""
    token = _notices.set(listener)
    try:
        yield
    finally:
        _notices.reset(token)


def report_notice(text: str) -> None:
    """Say something before a charge."""
    listener = _notices.get()
    if listener is not None:
        listener(text)


ANEW = {
    "data": "the data has changed since",
    "secret": "the secret by which the ledger knows the data was lost or replaced: restore .tables.irisdp-secret",
    "unknown": "the data has changed, or this machine has another secret: let all who ask share .tables.irisdp-secret",
}
"""Why a question that was answered before is charged again."""


def say_anew(reason: str, cost: Charge) -> str:
    """Say in a sentence that a question is charged again, and why."""
    return f"this question was answered before and is charged {cost.as_charged()} again: {ANEW[reason]}"


def report_step(step: int) -> None:
    """Say that a step has begun, one of `STEPS`.

    Examples
    --------
    >>> with listen_to_progress(print), part_of("question 3 of 40"):
    ...     report_step(1)
    question 3 of 40: step 2 of 4, counting
    """
    listener = _listener.get()
    if listener is not None:
        listener(f"step {step + 1} of {len(STEPS)}, {STEPS[step]}")
