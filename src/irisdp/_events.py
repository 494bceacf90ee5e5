"""Events of a release for the standard `logging`: readings, charges, files, refusals.

Loggers are called irisdp and an area (publish, run, batch, ledger and so on), with a full stop between. Each record
carries `record.event` and `record.facts`, a mapping of JSON-ready public facts: ids, costs, durations, the ledger and
files of answers. Never an answer, a value of the data, or a name of a file within it. Without a handler nothing is
written.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import Any

from .errors import IrisError, place_of

ROOT = "irisdp"

logging.getLogger(ROOT).addHandler(logging.NullHandler())  # else warnings of a library go to standard error


def report_event(area: str, event: str, /, *, level: int = logging.INFO, **facts: Any) -> None:
    """Hand an event to the logger of an area; whatever a handler does, no release fails on it.

    Examples
    --------
    >>> report_event("publish", "charged", ids=[1])  # to nobody
    """
    logger = logging.getLogger(f"{ROOT}.{area}")
    if not logger.isEnabledFor(level):
        return
    said = "".join(f" {name}={_said(value)}" for name, value in facts.items())
    with contextlib.suppress(Exception):  # a handler of somebody else's
        logger.log(level, "%s%s", event, said, extra={"event": event, "facts": facts})


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}:{part}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    text = str(value)
    return text if text and " " not in text and text.isprintable() else repr(text)


class Stopwatch:
    """Measures how long something takes. The duration is for those who run Iris, not for readers of answers."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since it was made, to the millisecond."""
        return round(time.monotonic() - self._began, 3)


@contextlib.contextmanager
def events_of(area: str, **facts: Any) -> Iterator[None]:
    """Report that some work began, and that it is done, was refused or failed, with its duration.

    Of an error that is not Iris's own only the kind and the place are named: its words can hold private data.
    """
    clock = Stopwatch()
    report_event(area, "began", **facts)
    try:
        yield
    except IrisError as error:
        refused = {1: "refused", 3: "not shown", 4: "unavailable"}.get(error.exit_status, "bad input")
        report_event(
            area, refused, level=logging.ERROR, status=error.exit_status, seconds=clock.seconds, error=str(error)
        )
        raise
    except Exception as error:
        report_event(area, "failed", level=logging.ERROR, seconds=clock.seconds, error=place_of(error))
        raise
    report_event(area, "done", seconds=clock.seconds)
