"""Run a page's computation: first in a quick process, and if it takes longer as a job that can be watched.

Nothing is worked out in the process that answers requests: a hard question takes that of nobody else.
"""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from ..children import Work
from .jobs import Job, Jobs, Stopped
from .results import Later, Moved, Result, Values

__all__ = ["Lanes", "answer", "at_once", "lanes"]

_AT_ONCE = 3.0
"""Seconds that an answer may take without becoming a job."""

_MODULES = (
    "irisdp.explorer.checking",
    "irisdp.explorer.designing",
    "irisdp.explorer.reading",
    "irisdp.plots",
    "altair",
)
_MODULES_ASKED = ("irisdp.explorer.asking", "irisdp.release")


class Lanes:
    """A lane for questions that fields ask as they move, one for what else is done at once, one for what takes long.

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

    def close(self) -> None:
        """Stop all processes."""
        self.asked.close()
        self.quick.close()
        self.long.close()


@cache
def lanes() -> Lanes:
    """Return the lanes of this process, which end with it."""
    made = Lanes()
    atexit.register(made.close)
    return made


def answer(room: str, work: Work, values: Values) -> Result | Moved | Later:
    """Answer in the lanes of this process; see `Lanes.answer`."""
    return lanes().answer(room, work, values)


def at_once(room: str, work: Work, values: Values) -> Any:
    """Answer in the lanes of this process, or not at all; see `Lanes.at_once`."""
    return lanes().at_once(room, work, values)


def _result(job: Job) -> Result:
    found: Result = job.result()
    return found
