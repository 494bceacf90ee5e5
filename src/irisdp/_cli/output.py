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
import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import NotShown, place_of
from .command_facts import with_command

if TYPE_CHECKING:
    from .._release import Publication


# Print lines and small tables without `rich` if the output is not a terminal.
#
# Loading `rich` takes 0.1 to 0.2 s, about a fifth of a small release (docs/decisions/dependencies.md). Lines that rich
# would change (wide letters, markup, long lines, an unusual encoding) are left to rich, so that the output is the same.

_LEAST_ROOM = 20
"""Columns that a text gets at least, however narrow the terminal is."""

_MARK = re.compile(r"\[|\\")
_EMOJI = re.compile(r":\S+:")
_ODD = ("Mn", "Me", "Cf", "Lo")
"""Kinds of letters of which some take no column, or are drawn into another one's."""


def terminal_width() -> int:
    """Return the columns of the terminal, or of COLUMNS; 80 if neither is known."""
    return shutil.get_terminal_size((80, 24)).columns


def wrapped(text: str, *, room: int) -> list[str]:
    """Break a text between words into lines of at most `room` columns; a longer word, such as a path, stays whole.

    A text in which two blanks follow each other is a row of columns, and stays whole too.

    Examples
    --------
    >>> wrapped("written to a file with a name", room=20)
    ['written to a file', 'with a name']
    """
    if len(text) <= room or "  " in text:
        return [text]
    return textwrap.wrap(text, max(room, _LEAST_ROOM), break_long_words=False, break_on_hyphens=False) or [""]


class Lines:
    """Prints to what is no terminal.

    Parameters
    ----------
    stderr : bool
        Whether it prints complaints, not results.
    """

    is_terminal = False

    def __init__(self, *, stderr: bool = False) -> None:
        self._stderr = stderr

    @cached_property
    def _rich(self) -> Any:
        from rich.console import Console

        return Console(stderr=self._stderr, highlight=False, width=terminal_width())

    def print(self, shown: Any, *, markup: bool = True, soft_wrap: bool = False, style: str | None = None) -> None:
        """Print as a console of rich would that is no terminal, and has so many columns.

        Parameters
        ----------
        shown : str or what rich can draw
        markup : bool
            Whether words in brackets are marks.
        soft_wrap : bool
            Whether long lines stay whole.
        style : str, optional
            What a terminal would show.
        """
        plain = isinstance(shown, str) and _plain(shown) and not (markup and _MARK.search(shown))
        if plain and (soft_wrap or _fits(shown)):
            print(shown, file=sys.stderr if self._stderr else sys.stdout)
            return
        self._rich.print(shown, markup=markup, soft_wrap=soft_wrap, style=style)

    def print_table(self, names: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> bool:
        """Print a table in a frame and return True; print nothing and return False where only rich can lay it out."""
        cells = [tuple(names), *map(tuple, rows)]
        words = [cell for row in cells for cell in row]
        encoding = (sys.stdout.encoding or "").lower()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = terminal_width() - 3 * len(widths) - 1
        if (
            len(cells) < 2
            or sum(widths) > room
            or not all(_plain(word) and _fits(word) and word == word.rstrip() for word in words)
            or sys.platform == "win32"
            or not encoding.startswith("utf")
        ):
            return False

        def line(left: str, fill: str, between: str, right: str) -> str:
            return left + between.join(fill * (width + 2) for width in widths) + right

        def padded(cell: str, width: int, is_number: bool) -> str:
            return f" {cell:>{width}} " if is_number else f" {cell:<{width}} "

        def row(bar: str, found: Sequence[str]) -> str:
            return bar + bar.join(map(padded, found, widths, right)) + bar

        head, *body = cells
        drawn = [line("┏", "━", "┳", "┓"), row("┃", head), line("┡", "━", "╇", "┩")]
        drawn += [*(row("│", found) for found in body), line("└", "─", "┴", "┘")]
        print("\n".join(drawn), file=sys.stderr if self._stderr else sys.stdout)
        return True


def _plain(text: str) -> bool:
    """Tell whether rich prints every letter unchanged."""
    return text.isprintable() and not _EMOJI.search(text)


def _fits(text: str) -> bool:
    """Tell whether each letter takes one column and all fit."""
    one_each = text.isascii() or all(_is_narrow(letter) for letter in text)
    return one_each and len(text) <= terminal_width()


def _is_narrow(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) not in "WF" and unicodedata.category(letter) not in _ODD


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
    except BrokenPipeError:  # the reader of the pipe has left
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


# Parts that several commands share: the `--json` switch, and printing one document or one table.

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite existing output files. Input files are never overwritten.")
]

Title = Annotated[str | None, typer.Option("--title", help="Heading of the page or chart.", metavar="TEXT")]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="TOML file with [labels]: words for columns, groups and queries. A project file or plan will do.",
        metavar="FILE",
    ),
]
MaxCharge = Annotated[
    str | None,
    typer.Option(
        "--max-charge",
        help="Refuse a charge above this, written as a limit. 0: publish only what is free.",
        metavar="E[,D]",
    ),
]
AnotherLedger = Annotated[
    bool,
    typer.Option(
        "--another-ledger",
        help="Publish from a second budget: another ledger than the one that the data is bound to.",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also show errors, reading rules and what is protected.")]


def print_json(document: Any, *, status: int = 0) -> None:
    """Print one JSON document on standard output, with what it says of its command, which ends with `status`."""
    from .._exact import json_line

    document = with_command(document, status)
    line = json_line(document)
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # every letter of JSON can be escaped, and none may be lost
        line = json.dumps(document)
    print(line)


def console(*, stderr: bool = False) -> Any:
    """Return a rich console, or what prints as one would that is wide enough for whole tables, to no terminal."""
    stream = sys.stderr if stderr else sys.stdout
    asked = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"))
    if not asked and "IPython" not in sys.modules and not stream.isatty():
        return Lines(stderr=stderr)
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=terminal_width())


def say(view: Any, line: str, *, style: str | None = None) -> None:
    """Print a line, wrapped between words at the terminal's width; names from files cannot steer it or be markup.

    Parameters
    ----------
    view : rich console
    line : str
    style : str, optional
        How a terminal shows it: bold.
    """
    from .._frames import printable

    for part in wrapped(printable(line), room=terminal_width()):
        view.print(part, markup=False, soft_wrap=True, style=style)


def fact(heading: str, text: Any, *, width: int = 9, indent: int = 2) -> None:
    """Print a labelled line on standard output, wrapped between words at the terminal's width, with a hanging indent.

    Parameters
    ----------
    heading : str
        The label; empty where the line continues the one before.
    text : object
        Its text; names from files cannot steer the terminal.
    width : int
        Columns of the label.
    indent : int
        Columns before the label.
    """
    from .._frames import printable

    start = f"{' ' * indent}{heading:<{width}} "
    lines = wrapped(printable(str(text)), room=terminal_width() - len(start))
    print(start + f"\n{' ' * len(start)}".join(lines))


_NUMBER = re.compile(r"[≤≥≈]? ?[-−]?\d[\d,]*(\.\d+)?(e[-−+]?\d+)?( %)?|…|", re.IGNORECASE)


def show_table(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    sparse: bool = False,
    most: int | None = None,
) -> None:
    """Print a table on standard output, as wide as the terminal at most, with numbers right-aligned.

    Parameters
    ----------
    names : sequence of str
        Headings.
    rows : iterable of sequences
        Cells; names from files cannot steer the terminal.
    title : str
    sparse : bool
        Whether to leave out columns that are empty in every row.
    most : int, optional
        Rows that are shown; further ones become one row of dots.
    """
    from .._frames import printable

    cells = [[printable(cell) for cell in row] for row in rows]
    if most is not None and len(cells) > most:
        cells = [*cells[:most], ["…"] * len(names)]
    kept = [place for place in range(len(names)) if not sparse or any(row[place] for row in cells)]
    heads, cells = [printable(names[place]) for place in kept], [[row[place] for place in kept] for row in cells]
    right = [bool(cells) and all(_NUMBER.fullmatch(row[place]) for row in cells) for place in range(len(kept))]
    view = console()
    if title:
        say(view, printable(title), style="bold")
    if isinstance(view, Lines) and view.print_table(heads, cells, right):
        return
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for head, is_right in zip(heads, right, strict=True):
        table.add_column(Text(head), justify="right" if is_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    view.print(table)


def short_path(path: Path | str) -> str:
    """Return a path as people would type it: relative to the current folder; an address unchanged."""
    if isinstance(path, str):
        return path
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


# Show the answers of `publish` and `batch`.

KNOWN_ELSEWHERE = "unless another ledger in its folder knows this data"
"""What a dry run cannot tell, as it reads no record."""

PAID_BEFORE = "made from earlier ones, which were charged before"
"""Why answers may be new and cost nothing: such as a count that was asked before with less noise."""

_MOST_SHOWN = 40


def show_answers(published: Publication) -> None:
    """Print the answers of all audiences as one table, which ends where it gets long.

    Numbers have their ends beside them, as in the files; of several audiences each has its own, and they are there.
    """
    from .._measurements import BELOW, FIRST, FROM, LOW
    from .._measurements import ConfidenceStatement as Assurance

    columns: dict[str, Sequence[Any]] = {name or "answer": found.values for name, found in published.answers_of.items()}
    ends = published.answers.assured
    if len(columns) > 1 or not {LOW, FIRST} & set(ends.columns):
        ends = Assurance()
    columns |= {name: column for name, column in ends.columns.items() if name not in (FROM, BELOW)}
    names = [*published.answers.by, *columns]
    found = islice(zip(published.answers.keys, *columns.values(), strict=True), _MOST_SHOWN + 1)
    show_table(names, ([*key, *values] for key, *values in found), most=_MOST_SHOWN)
    promised = ends.promise or "; ".join(published.plan.leaves_out())
    sure = ("interval" if {LOW, FIRST} & set(ends.columns) else "accuracy", promised)
    for heading, said in [sure, *(("doubt", line) for line in published.describe_doubt())]:
        if said:
            fact(heading, said)
