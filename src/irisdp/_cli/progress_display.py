"""Progress at a terminal: the current step, its time so far, and an estimate of the remaining time.

It does not reveal how much data there is. Steps and questions follow from the question alone, and the remaining time of
a plan is estimated from the number of its answered questions.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator

from .output import console, write_error

_PATIENCE = 2
"""Seconds for which nobody needs to be told that something goes on."""
_PLACE = re.compile(r"question (\d+) of (\d+):")


@contextlib.contextmanager
def progress(*, quiet: bool) -> Iterator[None]:
    """Show which step of a release is going on, to a terminal only, and what people should know before a charge."""
    from .._release import listen_to_notices

    def noted(text: str) -> None:
        if not quiet:  # a JSON document says it after the charge
            write_error(f"irisdp: note: {text}")

    with listen_to_notices(noted), _steps_shown(quiet=quiet):
        yield


@contextlib.contextmanager
def _steps_shown(*, quiet: bool) -> Iterator[None]:
    if quiet or not (view := console(stderr=True)).is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from .._release import listen_to_progress as told_of_steps

    words = TextColumn("{task.description} …", markup=False)
    begun = time.monotonic()
    shown = Progress(SpinnerColumn(), words, TimeElapsedColumn(), console=view, transient=True)
    task = shown.add_task("checking what is asked", total=None)

    def told(step: str) -> None:
        shown.update(task, description=step + rest_of(step, time.monotonic() - begun))

    shown.start()
    try:
        with told_of_steps(told):
            yield
    finally:
        with contextlib.suppress(Exception):  # by now something may be charged, and this is only for looking at
            shown.stop()


def rest_of(step: str, elapsed: float) -> str:
    """Say about how long the questions that are left will take, if those before are any guide; else nothing.

    Examples
    --------
    >>> rest_of("question 3 of 40: step 2 of 4, counting", 20.0)
    ', about 6 min 20 s left'
    >>> rest_of("question 1 of 40: step 2 of 4, counting", 20.0), rest_of("step 2 of 4, counting", 20.0)
    ('', '')
    """
    match = _PLACE.match(step)
    done = int(match[1]) - 1 if match else 0
    if not match or not done or elapsed < _PATIENCE:
        return ""
    minutes, seconds = divmod(round(elapsed / done * (int(match[2]) - done)), 60)
    return f", about {f'{minutes} min ' if minutes else ''}{seconds} s left"


@contextlib.contextmanager
def waiting(words: str, *, quiet: bool = False, lines: bool = False) -> Iterator[Callable[[str], None]]:
    """Say on a terminal, from the third second on, what is going on and for how long.

    Parameters
    ----------
    words : str
    quiet : bool
        Say nothing.
    lines : bool
        Where standard error is no terminal, write a line for every step that begins or lasts from then on.

    Yields
    ------
    callable
        Takes the step that begins, to be said after the words.
    """
    step = [""]
    terminal = sys.stderr.isatty()
    if quiet or not (terminal or lines):
        yield lambda _: None
        return
    done = threading.Event()
    teller = threading.Thread(target=_tell if terminal else _tell_in_lines, args=(words, step, done), daemon=True)
    teller.start()
    try:
        yield lambda now: step.__setitem__(0, f": {now}")
    finally:
        done.set()
        teller.join()


def _tell(words: str, step: list[str], done: threading.Event) -> None:
    begun, second = time.monotonic(), _PATIENCE
    if done.wait(second):
        return
    with contextlib.suppress(OSError, ValueError):  # who closes the terminal waits for nothing
        while not done.wait(max(0.0, begun + second - time.monotonic())):
            sys.stderr.write(f"\r{words}{step[0]} … {second} s\x1b[K")
            sys.stderr.flush()
            second += 1
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _tell_in_lines(words: str, step: list[str], done: threading.Event) -> None:
    begun, said = time.monotonic(), None
    with contextlib.suppress(OSError, ValueError):
        while not done.wait(_PATIENCE):
            if step[0] != said:
                said = step[0]
                sys.stderr.write(f"{words}{said} … {time.monotonic() - begun:.0f} s\n")
                sys.stderr.flush()
