"""What is printed where nobody looks at a terminal: lines and small tables, without a library to lay them out.

To load `rich` takes a twentieth of a small release. What it would change (wide letters, marks of its own, long
lines, an odd encoding) is left to it, so that the same stands there whoever printed it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

__all__ = ["WIDTH", "Lines"]

WIDTH = 120
"""Columns that a line or a table has room in."""

_MARK = re.compile(r"\[|\\")
_EMOJI = re.compile(r":\S+:")
_ODD = ("Mn", "Me", "Cf", "Lo")
"""Kinds of letters of which some take no column, or are drawn into another one's."""


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

        return Console(stderr=self._stderr, highlight=False, width=WIDTH)

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

    def print_table(self, names: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
        """Print a table with a line around, or nothing and tell so: it takes more than that."""
        cells = [tuple(names), *map(tuple, rows)]
        words = [cell for row in cells for cell in row]
        encoding = (sys.stdout.encoding or "").lower()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = WIDTH - 3 * len(widths) - 1
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

        def row(bar: str, found: Sequence[str]) -> str:
            return bar + bar.join(f" {cell:<{width}} " for cell, width in zip(found, widths, strict=True)) + bar

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
    return one_each and len(text) <= WIDTH


def _is_narrow(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) not in "WF" and unicodedata.category(letter) not in _ODD
