"""Run a page's computation: first in a quick process, and if it takes longer as a job that can be watched.

Nothing is worked out in the process that answers requests: a hard question takes that of nobody else.
"""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar

import anyio

from .._child_processes import Work
from .forms import Tool
from .jobs import Busy, Job, Jobs, Stopped
from .results import Answer, Later, Moved, Result, Values

# Wait for results: pages compute in child processes, and threads of this process wait for them.
#
# The server thread never waits, few requests wait at once, and small answers are cached.

_MOST_WAITING = 64
_MOST_KEPT = 128
_LONGEST_KEPT = 4096
"""Letters of a form; longer ones are not kept."""

ResultT = TypeVar("ResultT")


class RequestQueue:
    """Answers forms and draws pictures, each in threads of its own."""

    def __init__(self) -> None:
        self._askers, self._waiters, self._pictures = (anyio.CapacityLimiter(threads) for threads in (8, 8, 2))
        self._kept: OrderedDict[tuple[str, ...], Answer] = OrderedDict()

    async def answer(self, room: Tool, values: Values) -> Answer:
        """Compute the answer of a page, or take it from the cache; raises what the page raises."""
        if not room.bounded:
            return await _run(self._waiters, lambda: room.answer(values))
        key = (room.name, *(part for name in sorted(values) for part in (name, values[name])))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        result = await _run(self._askers, lambda: room.answer(values))
        if sum(map(len, key)) <= _LONGEST_KEPT:
            self._kept[key] = result
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return result

    async def work(self, work: Callable[[], ResultT]) -> ResultT:
        """Work something out that an answer left for later."""
        return await _run(self._askers, work)

    async def draw(self, work: Callable[[], ResultT]) -> ResultT:
        """Draw a picture."""
        return await _run(self._pictures, work)


async def _run(threads: anyio.CapacityLimiter, work: Callable[[], ResultT]) -> ResultT:
    """Do a piece of work in a thread, unless too many wait already."""
    known = threads.statistics()
    if known.borrowed_tokens + known.tasks_waiting >= _MOST_WAITING:
        raise Busy
    result: ResultT = await anyio.to_thread.run_sync(work, limiter=threads)
    return result


_AT_ONCE = 3.0
"""Seconds that an answer may take without becoming a job."""

_MODULES = (
    "irisdp._explorer.check",
    "irisdp._explorer.design",
    "irisdp._explorer.interpret",
    "irisdp.plots",
    "altair",
)
_MODULES_ASKED = ("irisdp._explorer.ask", "irisdp._release")
_MODULES_WEIGHED = ("irisdp._explorer.outlook", "irisdp._release")
_MODULES_SHOWN = ("irisdp._explorer.published", "irisdp._explorer.results_page")
_SECONDS_WEIGHED = 60
"""That the costs of a whole plan may take."""


class WorkDispatcher:
    """Lanes for questions that fields ask as they move, for other quick work, for long work, and for private tables.

    Parameters
    ----------
    at_once, seconds : float
        How long one thing may take in each.
    """

    def __init__(self, *, at_once: float = _AT_ONCE, seconds: float = 600, **options: Any) -> None:
        self.asked = Jobs(
            at_once=2, waiting=64, seconds=at_once, reused=500, kept=64, modules=_MODULES_ASKED, **options
        )
        self.quick = Jobs(at_once=2, waiting=64, seconds=at_once, reused=500, kept=64, modules=_MODULES, **options)
        self.long = Jobs(at_once=2, waiting=16, seconds=seconds, modules=_MODULES, **options)
        # An engine asks for much address space, and uses little of it.
        unbounded = {**options, "memory": None}
        self.plans = Jobs(
            at_once=1, waiting=64, seconds=_SECONDS_WEIGHED, reused=500, kept=8, modules=_MODULES_WEIGHED, **unbounded
        )
        self.results = Jobs(
            at_once=1, waiting=64, seconds=_SECONDS_WEIGHED, reused=200, kept=8, modules=_MODULES_SHOWN, **options
        )
        self.tables = Jobs(at_once=1, waiting=4, seconds=6 * seconds, **unbounded)

    def answer(self, room: str, work: Work, values: Values) -> Result | Moved | Later:
        """Return what work makes of values, where a job is watched that will, or how to start one.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        Busy
            Where too much waits already.
        """
        job = self.long.known(room, work, values)
        if job is not None:
            return _result(job) if job.ended is not None else Moved(f"jobs/{job.key}")
        if not self.quick.took_too_long(room, work, values):
            first = self.quick.submit(room, work, values)
            first.over.wait()
            if not isinstance(first.error, Stopped) or first.error.reason != "time":
                return _result(first)
        return Later(lambda: Moved(f"jobs/{self.long.submit(room, work, values).key}"))

    def at_once(self, room: str, work: Work, values: Values) -> Any:
        """Return what work makes of values, or nothing: it becomes no job that is watched.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        Stopped
            Where it takes too long.
        Busy
            Where too much waits already.
        """
        job = self.asked.submit(room, work, values)
        job.over.wait()
        return job.result()

    def in_lane(self, lane: Literal["plans", "results"], work: Work, values: Values) -> Any:
        """Return what work makes of a plan, or of published files; it becomes no job that is watched.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        Stopped
            Where it takes too long, or too much memory.
        Busy
            Where too much waits already.
        """
        job = {"plans": self.plans, "results": self.results}[lane].submit(lane, work, values)
        job.over.wait()
        return job.result()

    def read(self, room: str, work: Work, values: Values) -> Result | Moved:
        """Start work on a private table; return its result if it is quick, else where the job is watched.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        Busy
            Where too much waits already.
        """
        job = self.tables.submit(room, work, values)
        return _result(job) if job.over.wait(_AT_ONCE) else Moved(f"jobs/{job.key}")

    def lane_of(self, key: str) -> Jobs | None:
        """Return the lane of a job that is watched."""
        return next((lane for lane in (self.long, self.tables) if lane.find(key) is not None), None)

    def close(self) -> None:
        """Stop all processes."""
        self.tables.close()
        self.plans.close()
        self.results.close()
        self.asked.close()
        self.quick.close()
        self.long.close()


@cache
def lanes() -> WorkDispatcher:
    """Return the lanes of this process, which end with it."""
    made = WorkDispatcher()
    atexit.register(made.close)
    return made


def answer(room: str, work: Work, values: Values) -> Result | Moved | Later:
    """Answer in the lanes of this process; see `WorkDispatcher.answer`."""
    return lanes().answer(room, work, values)


def at_once(room: str, work: Work, values: Values) -> Any:
    """Answer in the lanes of this process, or not at all; see `WorkDispatcher.at_once`."""
    return lanes().at_once(room, work, values)


def read_table(room: str, work: Work, values: Values) -> Result | Moved:
    """Work on a private table in the lanes of this process; see `WorkDispatcher.read`."""
    return lanes().read(room, work, values)


def _result(job: Job) -> Result:
    result: Result = job.result()
    return result
