"""What a terminal or a pipe can take: letters that it has no code for, and output that cannot be written."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from collections.abc import Iterator

from ..errors import NotShown, place_of

__all__ = ["give_up_output", "say_what_is_lost", "show_what_is_charged", "write_plain_letters"]

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
        with contextlib.suppress(OSError):
            print(
                f"irisdp: output: is in {_lost[0]}, which lacks letters that are shown as ?; set PYTHONUTF8=1 or "
                "LC_ALL=C.UTF-8, or read the answers of a file or of --json, which have every letter",
                file=sys.stderr,
            )


@contextlib.contextmanager
def show_what_is_charged() -> Iterator[None]:
    """Print what is charged by now, to the end.

    Raises
    ------
    NotShown
        Where it cannot be written: asking again gives the same answers and costs nothing.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads it has read enough
        give_up_output()
    except (OSError, UnicodeError) as error:
        give_up_output()
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise NotShown(
            f"output: cannot be written ({reason}), but the answers are charged and in the ledger; "
            "ask the same question again, which costs nothing"
        ) from None
    except Exception as error:  # neither its words nor its values may be shown: they can hold private data
        give_up_output()
        raise NotShown(
            f"internal error ({place_of(error)}) while it was shown, but the answers are charged and in the ledger; "
            "ask the same question again, which costs nothing, and please report it"
        ) from None


def give_up_output() -> None:
    """Leave what could not be written where it is, so that Python does not try again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    if any(letter not in _PLAIN for letter in letters):
        _lost.append(error.encoding)
    return "".join(_PLAIN.get(letter, "?") for letter in letters), error.end
