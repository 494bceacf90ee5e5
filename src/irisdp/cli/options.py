"""What several commands share: the `--json` switch, and printing one document or one table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

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
    """Return a rich console; wide enough for whole tables when the output is no terminal."""
    from rich.console import Console

    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=120)


def say(view: Any, line: str) -> None:
    """Print one line whose words may come from a file: none of them steers the terminal, breaks the line or is markup.

    Parameters
    ----------
    view : rich console
    line : str
    """
    from ..release.group_names import printable

    view.print(printable(line), markup=False, soft_wrap=True)


def short_path(path: Path | str) -> str:
    """Return a path as people would type it: without the folder they are in; an address as it is."""
    if isinstance(path, str):
        return path
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
