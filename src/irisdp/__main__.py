"""The `irisdp` command, and `python -m irisdp`: nothing of the library is loaded before Ctrl-C is understood."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn


def run() -> None:
    """Load the command line and run it; Ctrl-C while it is loaded, when nothing is asked yet, ends it as stopped."""
    try:
        # A library that is being loaded may make another error of an interrupt. Who ignores them goes on to.
        ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if ours:
            signal.signal(signal.SIGINT, _stopped)
        from ._cli import take_standard_output

        take_standard_output()
        from ._cli import run as run_command

        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run_command()
    except KeyboardInterrupt:  # while it ended: what was to be said is said
        _stopped()


def _stopped(*_: object) -> NoReturn:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # standard error may be closed, or missing
        sys.stderr.write("irisdp: stopped\n")
        sys.stderr.flush()
    os._exit(130)


if __name__ == "__main__":
    run()
