"""What several commands share: the `--json` switch, and printing one document or one table."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .lines import Lines, terminal_width, wrapped

__all__ = [
    "AsJson",
    "Force",
    "LabelsFile",
    "Title",
    "Verbose",
    "console",
    "fact",
    "print_json",
    "say",
    "short_path",
    "show_table",
]

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
Verbose = Annotated[bool, typer.Option("--verbose", help="Also show errors, reading rules and what is protected.")]


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    from ..exact import json_line

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

    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=terminal_width())


def say(view: Any, line: str, *, style: str | None = None) -> None:
    """Print one line whose words may come from a file: none of them steers the terminal, breaks the line or is markup.

    Parameters
    ----------
    view : rich console
    line : str
    style : str, optional
        How a terminal shows it: bold.
    """
    from ..release.group_names import printable

    view.print(printable(line), markup=False, soft_wrap=True, style=style)


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
    from ..release.group_names import printable

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
    from ..release.group_names import printable

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
