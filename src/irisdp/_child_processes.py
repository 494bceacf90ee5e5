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
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from .errors import BadInput, Refusal, place_of

Phase = Callable[[str], None]
"""What a piece of work calls to say in a few words what it does now."""

Work = Callable[[Any, Phase], Any]
"""A function of a module, from values to a result; both are pickled."""

_MOST_RESULT = 16 << 20
"""Bytes of one result, between processes, unless more are allowed."""

READY, SAID, DONE, REFUSED, BAD_INPUT = "ready", "said", "done", "refused", "bad input"
TOO_LARGE, OUT_OF_MEMORY, LOST = "too large", "out of memory", "lost"
"""What messages begin with."""
TIME, CANCELLED = "time", "cancelled"
"""Why the parent ends a child; with the three above, the reasons for which there is no result."""

_POLITE = 5
_TICK = 0.05
"""Seconds between two looks at whether the work was cancelled, or its time is over."""
_START = """import sys
own = set(sys.path)
sys.path[:] = [folder for folder in sys.argv[2:] if folder != sys.argv[1] or folder in own]
from irisdp._child_processes import serve
serve()"""
"""Until the path is set, only the standard library is found (-I). Afterwards it is the parent's, but for its folder."""


class ChildFailed(Refusal):
    """A child process has no result of a piece of work.

    Parameters
    ----------
    message : str
    reason : {TIME, CANCELLED, TOO_LARGE, OUT_OF_MEMORY, LOST}
    detail : object
        The bytes of the result, the exit status of the process, or the place of an unexpected error.
    """

    def __init__(self, message: str, reason: str, detail: Any = None) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(message)


class Kept:
    """A child that is started when it is first asked, serves one after the other, and ends with this process.

    Parameters
    ----------
    task : str
        What messages say could not be done.
    *modules : str
        What the child imports before it is ready: the time of the work counts from then on.
    seconds : float
        That one thing may take unless `result` says otherwise, and that the start may take.
    reused : int, optional
        Pieces of work after which the next one gets a new child.
    **options
        As `Child` takes them.
    """

    def __init__(
        self, task: str, *modules: str, seconds: float = 120, reused: int | None = None, **options: Any
    ) -> None:
        self._task, self._modules, self._seconds, self._reused = task, modules, seconds, reused
        self._options = options
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._owner = self._served = 0
        self._ready = False
        self.failed_starts = 0
        """Children in a row that ended before they were ready."""

    def start(self) -> Child:
        """Start the child unless it is there; OSError where the system starts no more processes."""
        if self._child is None or self._owner != os.getpid():  # after a fork there are two parents
            if self._owner != os.getpid():
                atexit.register(self.close)
            self._owner, self._served, self._ready = os.getpid(), 0, False
            self._child = Child(modules=self._modules, **self._options)
        return self._child

    def result(
        self,
        work: Work,
        values: Any,
        *,
        seconds: float | None = None,
        phase: Phase = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Any:
        """Return what work makes of values, and end a child that cannot serve again.

        Parameters
        ----------
        work, values
            What to do, and of what.
        seconds : float, optional
            That it may take.
        phase : callable
            Called with what the work says it does now.
        cancelled : callable
            Whether to stop.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        ChildFailed
            Where the child ends, takes too long or is stopped.
        """
        seconds = self._seconds if seconds is None else seconds
        with self._lock:
            try:
                kind, content = self._heard(self.start(), work, values, seconds, phase, cancelled)
            except BaseException as error:  # an interrupt too: the child may still be at it
                self.close()
                if isinstance(error, OSError):
                    rule = "no process could be started"
                    raise ChildFailed(f"{self._task}: {rule} for it", LOST, rule) from None
                raise
            self._served += 1
            if kind == LOST and not self._ready:
                self.failed_starts += 1
            if kind not in (DONE, BAD_INPUT, REFUSED, TOO_LARGE) or self._served == self._reused:
                self.close()
        if kind == DONE:
            return content
        if kind == BAD_INPUT:
            raise BadInput(*content)
        if kind == REFUSED:
            message, document = content
            raise Refusal(message, **{key: value for key, value in document.items() if key != "error"})
        rules = {OUT_OF_MEMORY: "too little memory", TIME: f"stopped after {seconds:g} seconds"}
        rule = rules.get(kind, kind if kind in (TOO_LARGE, CANCELLED) else f"the process ended: {content}")
        raise ChildFailed(f"{self._task} ({rule})", kind, content)

    def close(self) -> None:
        """End the child, if it is this process's."""
        if self._child is not None and self._owner == os.getpid():
            self._child.kill()
        self._child = None

    def _heard(
        self, child: Child, work: Work, values: Any, seconds: float, phase: Phase, cancelled: Callable[[], bool]
    ) -> tuple[str, Any]:
        """Return the last message about a piece of work, or why there is none."""
        child.ask(work, values)
        deadline = time.monotonic() + (seconds if self._ready else self._seconds)
        while True:
            kind, content = child.hear(_TICK) or (None, None)
            if kind == READY:
                self._ready, self.failed_starts, deadline = True, 0, time.monotonic() + seconds
            elif kind == SAID:
                phase(str(content))
            elif kind is not None:
                return kind, content
            if cancelled():
                return CANCELLED, None
            if time.monotonic() >= deadline:
                return TIME, None


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
        self, memory: int | None = None, modules: tuple[str, ...] = (), *, polite: bool = True, most: int = _MOST_RESULT
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, *_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # native libraries write there, and so would a traceback with private values
            start_new_session=True,  # Ctrl-C at the terminal reaches the parent only
        )
        self._messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="irisdp-child", daemon=True).start()
        self._send((memory, modules, polite, most))

    def ask(self, work: Work, values: Any) -> None:
        """Hand over a piece of work."""
        content = pickle.dumps((work, values))
        # A child that does not read blocks a writer of more than a pipe holds.
        threading.Thread(target=self._send, args=(content,), daemon=True).start()

    def hear(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next message; None if no message arrives in time."""
        try:
            kind, content = self._messages.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if kind == LOST:
            self._messages.put((kind, content))  # it stays lost for later requests too
        return kind, content

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _send(self, content: Any) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a process that is gone is noticed when it is listened to
            _write(self._process.stdin, pickle.dumps(content))

    def _listen(self) -> None:
        """Queue the messages of the process until its end."""
        assert self._process.stdout is not None
        with self._process.stdout as source, contextlib.suppress(Exception):  # its end, or what is no message
            while True:
                self._messages.put(pickle.load(source))
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
    memory, modules, polite, most = pickle.load(source)
    if polite:
        with contextlib.suppress(OSError, AttributeError):
            os.nice(_POLITE)
    _bound(memory)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(source, tasks), daemon=True).start()
    for module in modules:
        with contextlib.suppress(ImportError):  # the caller that needs it reports that it is not installed
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
            tasks.put(pickle.load(source))
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


def _write(sink: IO[bytes], content: bytes) -> None:
    sink.write(content)
    sink.flush()


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
