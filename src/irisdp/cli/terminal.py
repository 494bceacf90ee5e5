"""The standard streams of a command: who may write to them, letters they lack, and output that cannot be written.

Standard output belongs to Iris. `take_standard_output` keeps the real one on a private descriptor and points descriptor
1, which native libraries and child processes write to, at standard error. Streams may be closed, full or missing: what
Iris prints is then lost, the command goes on, and `finish_output` reports the loss, so that each status stays true.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import NotShown, place_of

__all__ = [
    "discard",
    "finish_output",
    "give_up_output",
    "open_missing_streams",
    "reason_of",
    "say_what_is_lost",
    "show_what_is_charged",
    "take_standard_output",
    "write_error",
    "write_plain_letters",
]

_PLAIN = {
    "α": "alpha",
    "δ": "delta",
    "ε": "epsilon",
    "λ": "lambda",
    "μ": "mu",
    "ρ": "rho",
    "Σ": "sum",
    "√": "sqrt",
    "²": "^2",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "·": "*",
    "−": "-",
    "–": "-",
    "…": "...",
}
_HANDLER = "plain-letters"
_lost: list[str] = []
"""The encoding of what was printed, for each time that letters of a name became question marks."""


class _RawOutput(io.RawIOBase):
    """Standard output that never raises: it keeps the first error for the end of the command.

    A reader that closed its pipe has read enough, which is no error. Either way the command goes on to its own status.
    """

    def __init__(self, descriptor: int) -> None:
        self._file: Any = open(descriptor, "wb", buffering=0)  # noqa: SIM115 (it stays open as long as the process)
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._file.fileno())

    def isatty(self) -> bool:
        return bool(self._file.isatty())

    def write(self, data: Any) -> int | None:
        try:
            written: int | None = self._file.write(data)
        except BrokenPipeError:
            return len(data)
        except OSError as error:
            self.error = self.error or error
            return len(data)
        return written


def take_standard_output() -> None:
    """Keep standard output for what Iris prints; what else is written to descriptor 1 goes to standard error.

    Call it once, at the start of the process and before a library is loaded. Descriptors 0 to 2 are open afterwards, so
    that no file that is opened later, such as a ledger, can get the number of a standard stream.
    """
    missing = [number for number in (0, 1, 2) if not _is_open(number)]
    for number in missing:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)
    shown = sys.stdout
    open_missing_streams()
    if shown is not None:
        try:
            if shown.fileno() != 1:
                return
        except (OSError, ValueError):  # another program's stream, which no native library writes to
            return
        own = os.dup(1)
    else:
        own = _open_closed()
    if shown is not None or 1 in missing:
        os.dup2(2, 1)
    is_terminal = os.isatty(own)
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(  # type: ignore[misc]  # rich and shutil ask the latter for its width
        io.BufferedWriter(_RawOutput(own)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        newline=None if sys.platform == "win32" else "\n",
        line_buffering=is_terminal,
        write_through=bool(getattr(shown, "write_through", False)),
    )


def open_missing_streams() -> None:
    """Replace standard streams that are None or closed, as in a Python without a console.

    Writing to the new standard output fails, as on one that the shell closed. The new standard error discards.
    """
    if sys.stdout is None or sys.stdout.closed:
        sys.stdout = open(_open_closed(), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None or sys.stderr.closed:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _open_closed() -> int:
    """Return a descriptor that refuses what is written to it, as a closed one does."""
    return os.open(os.devnull, os.O_RDONLY)


def finish_output() -> None:
    """Write the rest of what was printed.

    Raises
    ------
    OSError
        If some of it could not be written.
    """
    sys.stdout.flush()
    error = getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "error", None)
    if error is not None:
        raise error


def write_error(line: str) -> None:
    """Write a line to standard error, if it can be written."""
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def reason_of(error: Exception) -> str:
    """Say in words why output could not be written."""
    if getattr(error, "errno", None) == errno.EBADF:
        return "it is closed"
    return getattr(error, "strerror", None) or type(error).__name__


def write_plain_letters() -> None:
    """Let standard output spell letters that its encoding lacks: a charge must not fail on an ε."""
    codecs.register_error(_HANDLER, _spelled)
    _lost.clear()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


def say_what_is_lost() -> None:
    """Say on standard error, once, that names were printed with question marks for letters: two may look alike."""
    if _lost:
        write_error(
            f"irisdp: output: is in {_lost[0]}, which lacks letters that are shown as ?; set PYTHONUTF8=1 or "
            "LC_ALL=C.UTF-8, or read the answers of a file or of --json, which have every letter"
        )


@contextlib.contextmanager
def show_what_is_charged(files: Sequence[Path] = ()) -> Iterator[None]:
    """Print all charges so far, to the end; `files` are those that were written.

    Raises
    ------
    NotShown
        Where it cannot be written: asking again gives the same answers and costs nothing.
    """
    try:
        yield
        finish_output()
    except BrokenPipeError:  # whoever reads it has read enough
        give_up_output()
    except (OSError, UnicodeError) as error:
        give_up_output()
        raise NotShown(f"output: cannot be written ({reason_of(error)}), but {_kept(files)}") from None
    except Exception as error:  # neither its words nor its values may be shown: they can hold private data
        give_up_output()
        place = place_of(error)
        raise NotShown(
            f"internal error ({place}) while it was shown, but {_kept(files)}, and please report it"
        ) from None


def _kept(files: Sequence[Path]) -> str:
    """Say where answers are that could not be shown."""
    answers = [str(file) for file in files if not file.name.endswith((".release.json", ".datapackage.json"))]
    also = f", and written to {', '.join(answers)}" if answers else ""
    return f"the answers are charged and in the ledger{also}; ask the same question again, which costs nothing"


def give_up_output() -> None:
    """Leave what could not be written where it is, so that Python does not try again at its end."""
    discard(sys.stdout)


def discard(stream: Any) -> None:
    """Let a stream's descriptor take, and discard, what its buffer still holds."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    if any(letter not in _PLAIN for letter in letters):
        _lost.append(error.encoding)
    return "".join(_PLAIN.get(letter, "?") for letter in letters), error.end
