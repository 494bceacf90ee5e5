"""A picture that is drawn when somebody looks: its words and numbers are there at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .results import Picture

__all__ = ["Sketch"]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A picture to be.

    Parameters
    ----------
    title, description, columns, rows
        As of the picture that `draw` makes.
    draw : callable
        Makes the picture, of nothing but these.
    """

    title: str
    description: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    draw: Callable[[], Picture] = field(repr=False, compare=False)

    def to_svg(self) -> str:
        """Draw it."""
        return self.draw().to_svg()

    def to_png(self) -> bytes:
        """Draw it."""
        return self.draw().to_png()

    def to_html(self) -> str:
        """Draw it on a page."""
        return self.draw().to_html()

    def to_document(self) -> dict[str, Any]:
        """Write its words and numbers as data, from which the rest follows."""
        rows = [list(row) for row in self.rows]
        return {"title": self.title, "description": self.description, "columns": list(self.columns), "rows": rows}
