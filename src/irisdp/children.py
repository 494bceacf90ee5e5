"""Child processes for work that may take long, need much memory, or abort: a child is ended, and its parent goes on.

A child starts a fresh interpreter that imports nothing from the folder in which the user works, and runs no script of
the user's again. It leaves the keyboard's interrupt to its parent, and ends when its parent is gone. Where the system
has limits of resources, its memory is bounded before anything is read.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from .errors import BadInput, Refusal, place_of

__all__ = [
    "BAD_INPUT",
    "DONE",
    "LOST",
    "OUT_OF_MEMORY",
    "READY",
    "REFUSED",
    "SAID",
    "TOO_LARGE",
    "Child",
    "ChildFailed",
    "Kept",
    "Phase",
    "Work",
    "serve",
]

Phase = Callable[[str], None]
"""What a piece of work calls to say in a few words what it does now."""

Work = Callable[[Any, Phase], Any]
"""A function of a module, from values to a result; both are pickled."""

MOST_RESULT = 16 << 20
"""Bytes of one result, between processes, unless more are allowed."""

READY, SAID, DONE, REFUSED, BAD_INPUT = "ready", "said", "done", "refused", "bad input"
TOO_LARGE, OUT_OF_MEMORY, LOST = "too large", "out of memory", "lost"
"""What messages begin with."""

_POLITE = 5
_LENGTH = 8
_START = """import sys
own = set(sys.path)
sys.path[:] = [folder for folder in sys.argv[2:] if folder != sys.argv[1] or folder in own]
from irisdp.children import serve
serve()"""
"""Until the path is set, only the standard library is found (-I). Afterwards it is the parent's, but for its folder."""


class ChildFailed(Refusal):
    """A child process ended, or took too long, before it had a result."""


class Kept:
    """A child that is started when it is first asked, serves one after the other, and ends with this process.

    Parameters
    ----------
    task : str
        What messages say could not be done.
    module : str
        What the child imports before it is ready.
    seconds : float
        That one thing may take, and that the start may take.
    most : int
        Bytes that one result may have.
    """

    def __init__(self, task: str, module: str, *, seconds: float = 120, most: int = 256 << 20) -> None:
        self._task, self._module, self._seconds, self._most = task, module, seconds, most
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._owner = 0

    def result(self, work: Work, values: Any) -> Any:
        """Return what work makes of values.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        ChildFailed
            Where the child ends or takes too long.
        """
        with self._lock:
            try:
                child, ready = self._child_here()
                child.ask(work, values)
                kind, content = self._heard(child, ready)
            except BaseException as error:  # an interrupt too: the child may still be at it
                self.close()
                if isinstance(error, OSError):
                    raise ChildFailed(f"{self._task}: no process could be started for it") from None
                raise
            if kind not in (DONE, BAD_INPUT, REFUSED):
                self.close()
        if kind == DONE:
            return content
        if kind == BAD_INPUT:
            raise BadInput(*content)
        if kind == REFUSED:
            raise Refusal(content[0])
        reason = {OUT_OF_MEMORY: "too little memory", TOO_LARGE: "too large"}.get(kind, f"the process ended: {content}")
        if kind == SAID:
            reason = f"stopped after {self._seconds:g} seconds"
        raise ChildFailed(f"{self._task} ({reason})")

    def close(self) -> None:
        """End the child, if it is this process's."""
        if self._child is not None and self._owner == os.getpid():
            self._child.kill()
        self._child = None

    def _child_here(self) -> tuple[Child, bool]:
        if self._child is not None and self._owner == os.getpid():  # after a fork there are two parents
            return self._child, True
        if self._owner != os.getpid():
            atexit.register(self.close)
        self._owner = os.getpid()
        self._child = Child(None, (self._module,), polite=False, most=self._most)
        return self._child, False

    def _heard(self, child: Child, ready: bool) -> tuple[str, Any]:
        message = (READY, None) if ready else child.hear(self._seconds)
        if message is not None and message[0] == READY:
            message = child.hear(self._seconds)
        return (SAID, None) if message is None else message


class Child:
    """One process that does one thing after the other.

    Parameters
    ----------
    memory : int, optional
        Bytes of address space that it may have; unbounded if left out.
    modules : tuple of str
        What it imports before it says that it is ready.
    polite : bool
        Whether it stands back behind other processes.
    most : int
        Bytes that one result may have.

    Raises
    ------
    OSError
        Where the system starts no more processes.
    """

    def __init__(
        self, memory: int | None, modules: tuple[str, ...] = (), *, polite: bool = True, most: int = MOST_RESULT
    ) -> None:
        self._most = most
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, *_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # native libraries write there, and so would a traceback with private values
            start_new_session=True,  # Ctrl-C at the terminal reaches the parent only
        )
        self._messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="irisdp-child", daemon=True).start()
        self._send(pickle.dumps((memory, modules, polite, most)))

    def ask(self, work: Work, values: Any) -> None:
        """Hand over a piece of work."""
        content = pickle.dumps((work, values))
        # A child that does not read keeps whoever writes more than a pipe holds waiting.
        threading.Thread(target=self._send, args=(content,), daemon=True).start()

    def hear(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next message; None if no message arrives in time."""
        try:
            kind, content = self._messages.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if kind == LOST:
            self._messages.put((kind, content))  # it stays lost, whoever asks next
        return kind, content

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _send(self, content: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a process that is gone is noticed when it is listened to
            _write(self._process.stdin, content)

    def _listen(self) -> None:
        """Queue the messages of the process until its end."""
        assert self._process.stdout is not None
        with self._process.stdout as source, contextlib.suppress(Exception):  # its end, or what is no message
            while True:
                self._messages.put(pickle.loads(_read(source, self._most + 4096)))
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:  # it closed its end, or sent what is no message, and lives on
            self._process.kill()
            self._process.wait()
        self._messages.put((LOST, self._process.returncode))


def _path() -> list[str]:
    """Return the folder in which the user works, and the folders to import from, ours among them."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    folders = [folder for folder in sys.path if isinstance(folder, str) and folder]
    folders = [here if os.path.realpath(folder) == here else os.path.abspath(folder) for folder in folders]
    own = str(Path(__file__).resolve().parents[1])
    if own not in folders or own == here:
        folders.append(own + os.sep)  # last, so that nothing beside the package comes before the standard library
    return [here, *folders]


def serve() -> None:
    """Do what the parent asks for until it is gone; runs in the child."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries print is no message
    with contextlib.suppress(OSError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, modules, polite, most = pickle.loads(_read(source))
    if polite:
        with contextlib.suppress(OSError, AttributeError):
            os.nice(_POLITE)
    _bound(memory)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(source, tasks), daemon=True).start()
    for module in modules:
        with contextlib.suppress(ImportError):  # whoever needs it says that it is not installed
            importlib.import_module(module)

    def answer(message: tuple[str, Any]) -> None:
        try:
            content = pickle.dumps(message)
        except MemoryError:
            content = pickle.dumps((OUT_OF_MEMORY, None))
        if len(content) > most:
            content = pickle.dumps((TOO_LARGE, len(content)))
        with contextlib.suppress(OSError):
            _write(sink, content)

    answer((READY, None))
    while True:
        answer(_done(tasks.get(), lambda phase: answer((SAID, phase))))


def _take(source: BinaryIO, tasks: queue.SimpleQueue[bytes]) -> None:
    """Queue what is to be done, and end the process when the parent is gone."""
    with contextlib.suppress(OSError, EOFError, MemoryError):
        while True:
            tasks.put(_read(source))
    os._exit(1)


def _done(task: bytes, say: Phase) -> tuple[str, Any]:
    try:
        work, values = pickle.loads(task)
        return DONE, work(values, say)
    except BadInput as error:
        return BAD_INPUT, (error.field, error.rule, error.remedy)
    except Refusal as error:
        return REFUSED, (str(error), error.document)
    except MemoryError:
        return OUT_OF_MEMORY, None
    except Exception as error:  # the place is public, its message need not be
        return LOST, place_of(error)


def _write(sink: Any, content: bytes) -> None:
    sink.write(len(content).to_bytes(_LENGTH, "big"))
    sink.write(content)
    sink.flush()


def _read(source: Any, most: int | None = None) -> bytes:
    length = int.from_bytes(_exactly(source, _LENGTH), "big")
    if most is not None and length > most:
        raise EOFError
    return _exactly(source, length)


def _exactly(source: Any, length: int) -> bytes:
    content: bytes = source.read(length)
    if len(content) < length:
        raise EOFError
    return content


def _bound(memory: int | None) -> None:
    """Bound what the process may take; no system but Unix has these limits, and not each all of them."""
    try:
        import resource
    except ImportError:
        return
    for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        if value is not None:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(limit, (value, value))
