"""What is printed where nobody looks at a terminal: lines and small tables, without a library to lay them out.

To load `rich` takes 0.1 to 0.2 s of the processor, about a fifth of a small release (decision 65). Lines that rich
would change (wide letters, its own markup, long lines, an odd encoding) are left to rich, so that the output is the
same either way.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

__all__ = ["Lines", "terminal_width", "wrapped"]

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
            or not all(_plain(word) and _fits(word) for word in words)
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
    """Tell whether rich prints every letter as it is."""
    return text.isprintable() and not _EMOJI.search(text)


def _fits(text: str) -> bool:
    """Tell whether each letter takes one column, and there is room for all."""
    one_each = text.isascii() or all(_is_narrow(letter) for letter in text)
    return one_each and len(text) <= terminal_width()


def _is_narrow(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) not in "WF" and unicodedata.category(letter) not in _ODD
