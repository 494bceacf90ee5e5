"""Long pieces of work, one line of them: bounded in time, memory, number and size, with progress, and stopped at will.

A job runs in a process of its own (`irisdp._child_processes`). The same request twice is one job. Every end has its
own words.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._child_processes import CANCELLED, LOST, OUT_OF_MEMORY, TIME, TOO_LARGE, ChildFailed, Kept, Work
from ..errors import IrisError, Refusal

_MOST_FAILED_STARTS = 3
"""Processes in a row that may end before they are ready; then no more are started."""
_NO_MORE = (
    f"{_MOST_FAILED_STARTS} processes in a row ended before they were ready, and no more are started; "
    "check that `python -m pip check` passes, and start the explorer again"
)


class Busy(IrisError):
    """There is as much to do already as is done at once and kept waiting."""


class Stopped(Refusal):
    """A job ended without an answer.

    Parameters
    ----------
    reason : {"time", "memory", "size", "cancelled", "lost"}
    message : str
    seconds : float
        That it might have run, where they were too few.
    """

    def __init__(self, reason: str, message: str, *, seconds: float = 0) -> None:
        self.reason, self.seconds = reason, seconds
        super().__init__(message)


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work.

    Parameters
    ----------
    key : str
        Its name in addresses: the digest of what is to be done.
    room : str
        Where it was asked for.
    work, values
        What to do, and of what.
    """

    key: str
    room: str
    work: Work = field(repr=False)
    values: Mapping[str, str] = field(repr=False)
    phase: str = "waiting"
    started: float | None = None
    ended: float | None = None
    cancelled: bool = False
    outcome: Any = field(default=None, repr=False)
    error: IrisError | None = None
    over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def elapsed(self) -> float:
        """Seconds that it has run, or ran."""
        if self.started is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.started

    def result(self) -> Any:
        """Return what came out of it.

        Raises
        ------
        BadInput, Refusal
            As the work did.
        Stopped
            Where it ended without an answer.
        """
        if self.error is not None:
            raise self.error.with_traceback(None)
        return self.outcome


class Jobs:
    """Jobs, of which a few run at once and some wait.

    Parameters
    ----------
    at_once : int
        Processes.
    waiting : int
        Jobs that wait at most.
    seconds : float
        That one may run.
    memory : int, optional
        Bytes of address space that one may have; as many as the system gives if None.
    reused : int
        Jobs after which a process is replaced by a new one. If more than 1, the new one is started ahead, and does not
        stand back behind other processes: somebody waits for it.
    modules : tuple of str
        What processes import before they are ready: time counts from then on.
    kept : int
        Jobs remembered after their end, the last ones.
    remembered : float
        Seconds that they are remembered at most.
    """

    def __init__(
        self,
        *,
        at_once: int = 2,
        waiting: int = 16,
        seconds: float = 600,
        memory: int | None = 2 << 30,
        reused: int = 1,
        modules: tuple[str, ...] = (),
        kept: int = 24,
        remembered: float = 900,
    ) -> None:
        self.seconds, self.memory = seconds, memory
        self._at_once, self._waiting, self._ahead = at_once, waiting, reused > 1
        self._kept, self._remembered = kept, remembered
        self._change = threading.Condition()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._line: list[Job] = []
        options: dict[str, Any] = {"reused": reused, "memory": memory, "polite": not self._ahead}
        self._free = [Kept("job", *modules, **options) for _ in range(at_once)]
        self._closed = False

    def submit(self, room: str, work: Work, values: Mapping[str, str]) -> Job:
        """Ask for a piece of work; what is done or remembered already is not done again.

        Raises
        ------
        Busy
            Where too many wait.
        """
        key = _key(room, work, values)
        with self._change:
            self._forget()
            known = self._jobs.get(key)
            if known is not None and _counts(known):
                return known
            if self._closed or len(self._line) >= self._waiting:
                raise Busy(f"jobs: {len(self._line)} are waiting already; try again in a while, or cancel one")
            job = self._jobs[key] = Job(key, room, work, dict(values))
            self._jobs.move_to_end(key)
            self._line.append(job)
            threading.Thread(target=self._run, args=(job,), name="irisdp-job", daemon=True).start()
            return job

    def known(self, room: str, work: Work, values: Mapping[str, str]) -> Job | None:
        """Return the job for a piece of work, if it was asked for and not stopped."""
        job = self.find(_key(room, work, values))
        return job if job is not None and _counts(job) else None

    def took_too_long(self, room: str, work: Work, values: Mapping[str, str]) -> bool:
        """Tell whether a piece of work was tried here, and not done in its time."""
        job = self.find(_key(room, work, values))
        return job is not None and isinstance(job.error, Stopped) and job.error.reason == "time"

    def find(self, key: str) -> Job | None:
        """Return a job that is still remembered."""
        with self._change:
            self._forget()
            return self._jobs.get(key)

    def ahead_of(self, job: Job) -> int:
        """Say how many jobs wait before one."""
        with self._change:
            return self._line.index(job) if job in self._line else 0

    def warm(self) -> None:
        """Start the first process before anything is asked."""
        with self._change, contextlib.suppress(OSError):
            if len(self._free) == self._at_once and not self._closed:
                self._free[-1].start()

    def cancel(self, job: Job) -> None:
        """Stop a job: one that runs is killed, one that waits never starts."""
        with self._change:
            job.cancelled = True
            if job in self._line:
                self._line.remove(job)
                _end(job, error=_cancelled())
            self._change.notify_all()

    def close(self) -> None:
        """Stop everything."""
        with self._change:
            self._closed = True
            for job in list(self._jobs.values()):
                self.cancel(job)
            self._change.wait_for(lambda: len(self._free) == self._at_once, 10)
            for child in self._free:
                child.close()

    def _run(self, job: Job) -> None:
        """Wait for a free process, and run a job to its end there."""
        with self._change:
            self._change.wait_for(lambda: job.cancelled or (self._free and self._line[0] is job))
            if job.cancelled:
                return
            self._line.remove(job)
            child = self._free.pop()  # the one that served last, whose modules are loaded
            self._change.notify_all()
        job.phase, job.started = "starting", time.monotonic()
        outcome: Any = None
        error: IrisError | None = None
        try:
            if child.failed_starts >= _MOST_FAILED_STARTS:
                raise ChildFailed("job", LOST, _NO_MORE)
            outcome = child.result(
                job.work,
                job.values,
                seconds=self.seconds,
                phase=partial(setattr, job, "phase"),
                cancelled=lambda: job.cancelled,
            )
        except ChildFailed as failed:
            error = self._why(failed)
        except IrisError as refused:
            error = refused
        with self._change:
            _end(job, outcome=outcome, error=error)
        if self._ahead and not self._closed and child.failed_starts < _MOST_FAILED_STARTS:
            with contextlib.suppress(OSError):  # the next request tries again
                child.start()
        with self._change:
            self._free.append(child)
            self._change.notify_all()

    def _why(self, failed: ChildFailed) -> Stopped:
        """Say in words why a job has no answer."""
        if failed.reason == CANCELLED:
            return _cancelled()
        if failed.reason == TIME:
            rule = f"stopped after {_words(self.seconds)}, which is as long as the explorer works on one thing"
            remedy = "ask for less, or run the command line, which takes its time"
            return Stopped("time", f"{rule}; {remedy}", seconds=self.seconds)
        if failed.reason == TOO_LARGE:
            rule = f"the answer has {int(failed.detail) >> 20} MiB, too many for a page"
            return Stopped("size", f"{rule}; run the command line instead")
        # Libraries below Python abort where memory ends, and the system kills.
        if failed.reason == OUT_OF_MEMORY or failed.detail in (-6, -9):
            rule = "needs more memory than there is"
            if self.memory is not None:
                rule = f"needs more than the {self.memory / (1 << 30):g} GiB of memory that the explorer allows"
            return Stopped("memory", f"{rule}; ask for less, or run the command line")
        return Stopped("lost", f"ended without an answer ({failed.detail}); please report it")

    def _forget(self) -> None:
        """Drop what ended long ago, and of many the oldest."""
        over = [job for job in self._jobs.values() if job.ended is not None]
        now = time.monotonic()
        for index, job in enumerate(over):
            assert job.ended is not None
            if now - job.ended > self._remembered or index < len(over) - self._kept:
                del self._jobs[job.key]


def _counts(job: Job) -> bool:
    """Tell whether a job has an answer, or is on the way to one."""
    return not job.cancelled and not isinstance(job.error, Stopped)


def _end(job: Job, *, outcome: Any = None, error: IrisError | None = None) -> None:
    job.outcome, job.error, job.phase = outcome, error, "over"
    job.ended = time.monotonic()
    job.over.set()


def _cancelled() -> Stopped:
    return Stopped("cancelled", "cancelled; press the button again to start it anew")


def _key(room: str, work: Work, values: Mapping[str, str]) -> str:
    told = json.dumps([room, work.__module__, work.__qualname__, sorted(values.items())])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _words(seconds: float) -> str:
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
