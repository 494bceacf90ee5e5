"""A process of its own for work that may take long, or more memory than there is: it is ended, and the rest goes on.

The process starts afresh (spawn), ignores the keyboard's interrupt (whoever started it ends it), and ends when whoever
started it is gone. Where the system knows limits of resources, its memory is bounded before anything is read.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from ..errors import BadInput, Refusal, place_of

__all__ = [
    "BAD_INPUT",
    "DONE",
    "LOST",
    "OUT_OF_MEMORY",
    "READY",
    "REFUSED",
    "SAID",
    "TOO_LARGE",
    "Phase",
    "Work",
    "Worker",
]

Phase = Callable[[str], None]
"""What a piece of work calls to say in a few words what it does now."""

Work = Callable[[Mapping[str, str], Phase], Any]
"""A function of a module, from what a form says to what a page shows."""

MOST_RESULT = 16 << 20
"""Bytes of one result, between processes."""

READY, SAID, DONE, REFUSED, BAD_INPUT = "ready", "said", "done", "refused", "bad input"
TOO_LARGE, OUT_OF_MEMORY, LOST = "too large", "out of memory", "lost"
"""What messages begin with."""

_POLITE = 5


class Worker:
    """One process that does one thing after the other.

    Parameters
    ----------
    memory : int
        Bytes of address space that it may have.
    modules : tuple of str
        What it imports before it says that it is ready.
    polite : bool
        Whether it stands back behind other processes.
    """

    def __init__(self, memory: int, modules: tuple[str, ...] = (), *, polite: bool = True) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, memory, modules, polite), daemon=True)
        self._process.start()
        other.close()

    def ask(self, work: Work, values: Mapping[str, str]) -> None:
        """Hand over a piece of work."""
        with contextlib.suppress(OSError):  # a process that is gone is noticed when it is listened to
            self._connection.send((work, dict(values)))

    def hear(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next message, None if there is none within some time."""
        try:
            if not self._connection.poll(max(seconds, 0)):
                return None
            kind, told = pickle.loads(self._connection.recv_bytes(MOST_RESULT + 4096))
            return kind, told
        except (OSError, EOFError):
            self._process.join(5)
            return LOST, self._process.exitcode

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join(5)
        self._connection.close()


def _serve(connection: Connection, memory: int, modules: tuple[str, ...], polite: bool) -> None:
    """Do what is asked for until nobody asks any more; runs in the process."""
    with contextlib.suppress(OSError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if polite:
        with contextlib.suppress(OSError, AttributeError):
            os.nice(_POLITE)
    _bound(memory)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for module in modules:
        with contextlib.suppress(ImportError):  # whoever needs it says that it is not installed
            importlib.import_module(module)
    _answer(connection, (READY, None))
    while True:
        try:
            work, values = connection.recv()
        except (OSError, EOFError):
            return
        _answer(connection, _done(work, values, lambda phase: _answer(connection, (SAID, phase))))


def _done(work: Work, values: Mapping[str, str], say: Phase) -> tuple[str, Any]:
    try:
        return DONE, work(values, say)
    except BadInput as error:
        return BAD_INPUT, (error.field, error.rule, error.remedy)
    except Refusal as error:
        return REFUSED, (str(error), error.document)
    except MemoryError:
        return OUT_OF_MEMORY, None
    except Exception as error:  # the place is public, its message need not be
        return LOST, place_of(error)


def _answer(connection: Connection, message: tuple[str, Any]) -> None:
    try:
        content = pickle.dumps(message)
    except MemoryError:
        content = pickle.dumps((OUT_OF_MEMORY, None))
    if len(content) > MOST_RESULT:
        content = pickle.dumps((TOO_LARGE, len(content)))
    with contextlib.suppress(OSError):
        connection.send_bytes(content)


def _bound(memory: int) -> None:
    """Bound what the process may take; no system but Unix has these limits, and not each all of them."""
    try:
        import resource
    except ImportError:
        return
    for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
