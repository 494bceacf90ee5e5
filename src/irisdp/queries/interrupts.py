"""Ctrl-C while an engine reads: whatever the engine makes of it, it is an interrupt, and no fault of the table's.

Python tells a program of Ctrl-C by an exception in its main thread, wherever that happens to be. Inside an engine the
interrupt is caught. DuckDB has an error of its own for it, Arrow reports it as a broken stream, and Spark cancels its
tasks and then complains that they failed. So code that runs an engine also listens for interrupts.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

__all__ = ["interruptible", "stopped_by_interrupts"]

_T = TypeVar("_T")

_STOPPED = "InterruptException"
"""What DuckDB raises where it was told to stop."""


class _Ear:
    """Hears whether a handler of interrupts raised one, and tells engines to stop."""

    def __init__(self) -> None:
        self.heard = False
        self.stops: list[Callable[[], object]] = []

    def hear(self) -> None:
        self.heard = True
        for stop in self.stops:
            with contextlib.suppress(Exception):  # it may have ended by itself
                stop()


_EARS: list[_Ear] = []
"""Those of the main thread, which alone hears; the last one listens to what runs now."""


def stopped_by_interrupts(stop: Callable[[], object]) -> None:
    """Stop an engine when an interrupt arrives, until the code under `interruptible` ends.

    DuckDB's main thread notices one by itself, and then waits for what its other threads have begun.
    """
    if _EARS and threading.current_thread() is threading.main_thread():
        _EARS[-1].stops.append(stop)


def interruptible(action: Callable[[], _T]) -> _T:
    """Run something of an engine's, which other errors pass through as they are.

    Raises
    ------
    KeyboardInterrupt
        Where one came meanwhile, even if the engine went on. Nothing that the engine had to say is in its context.
    """
    ear = _Ear()
    try:
        with _listening(ear):
            found = action()
        if not ear.heard:
            return found
    except KeyboardInterrupt:
        pass
    except Exception as error:
        if not ear.heard and not _is_interrupt(error):
            raise
    raise KeyboardInterrupt


@contextlib.contextmanager
def _listening(ear: _Ear) -> Iterator[None]:
    """Let an ear hear interrupts, which are raised as before; handlers are the main thread's, and so are interrupts."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def raised(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            ear.hear()
            raise

    signal.signal(signal.SIGINT, raised)
    _EARS.append(ear)
    try:
        yield
    finally:
        _EARS.remove(ear)
        if signal.getsignal(signal.SIGINT) is raised:  # Spark's first session sets a handler that stays
            signal.signal(signal.SIGINT, before)


def _is_interrupt(error: BaseException) -> bool:
    """Tell whether an error is an interrupt's, or was raised on the way out of one."""
    seen: BaseException | None = error
    for _ in range(100):  # a context may lead in a circle
        if seen is None:
            return False
        if isinstance(seen, KeyboardInterrupt) or type(seen).__name__ == _STOPPED:
            return True
        seen = seen.__cause__ or seen.__context__
    return False
