"""What several commands share: the `--json` switch, and printing one document or one table."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .lines import WIDTH, Lines

__all__ = ["AsJson", "Force", "console", "print_json", "say", "short_path"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that are there already; what is read is never replaced.")
]


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
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=WIDTH)


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


def short_path(path: Path | str) -> str:
    """Return a path as people would type it: without the folder they are in; an address as it is."""
    if isinstance(path, str):
        return path
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
