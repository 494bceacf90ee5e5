"""Who works on what a room asks: a quick process first, and for what takes longer a job that can be watched.

Nothing is worked out in the process that answers requests: a hard question takes that of nobody else.
"""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from .jobs import Job, Jobs, Stopped
from .results import Moved, Result, Values
from .workers import Work

__all__ = ["Lanes", "answer", "lanes"]

_AT_ONCE = 3.0
"""Seconds that an answer may take without becoming a job."""

_MODULES = (
    "irisdp.explorer.checking",
    "irisdp.explorer.designing",
    "irisdp.explorer.reading",
    "irisdp.plots",
    "altair",
)


class Lanes:
    """A lane for what is done at once, and one for what takes long.

    Parameters
    ----------
    at_once, seconds : float
        How long one thing may take in each.
    """

    def __init__(self, *, at_once: float = _AT_ONCE, seconds: float = 600, **options: Any) -> None:
        self.quick = Jobs(at_once=2, waiting=64, seconds=at_once, reused=500, kept=64, modules=_MODULES, **options)
        self.long = Jobs(at_once=2, waiting=16, seconds=seconds, modules=_MODULES, **options)

    def answer(self, room: str, work: Work, values: Values) -> Result | Moved:
        """Return what work makes of values, or where a job is watched that will.

        Raises
        ------
        BadInput, Refusal
            As the work does.
        Busy
            Where too much waits already.
        """
        job = self.long.known(room, work, values)
        if job is None:
            first = self.quick.submit(room, work, values)
            first.over.wait()
            if not isinstance(first.error, Stopped) or first.error.reason != "time":
                return _result(first)
            job = self.long.submit(room, work, values)
        return _result(job) if job.ended is not None else Moved(f"jobs/{job.key}")

    def close(self) -> None:
        """Stop all processes."""
        self.quick.close()
        self.long.close()


@cache
def lanes() -> Lanes:
    """Return the lanes of this process, which end with it."""
    made = Lanes()
    atexit.register(made.close)
    return made


def answer(room: str, work: Work, values: Values) -> Result | Moved:
    """Answer in the lanes of this process; see `Lanes.answer`."""
    return lanes().answer(room, work, values)


def _result(job: Job) -> Result:
    found: Result = job.result()
    return found
