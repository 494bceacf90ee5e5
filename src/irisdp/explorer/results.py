"""The result of a page: words, numbers, pictures and files, apart from how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Answer", "Fact", "File", "Hint", "Later", "Moved", "Picture", "Result", "Table", "Values"]


class Picture(Protocol):
    """What a page needs of a picture; `irisdp.plots` makes them."""

    @property
    def title(self) -> str:
        """One line."""
        ...

    @property
    def description(self) -> str:
        """In words all that it shows."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the data behind it."""
        ...

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The data behind it."""
        ...

    def to_svg(self) -> str:
        """Draw it."""
        ...

    def to_png(self) -> bytes:
        """Draw it."""
        ...

    def to_html(self) -> str:
        """Write it as a page."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Write it as data."""
        ...


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was found: its name, what it is, and a remark in small letters."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A small table: a caption, names of its columns, its rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class File:
    """A file to take away.

    Parameters
    ----------
    name : str
    content : bytes or callable
        What is in it, or what works that out when somebody takes it.
    media_type : str
    told : str
        What the content follows from, where it is yet to be worked out.
    """

    name: str
    content: bytes | Callable[[], bytes]
    media_type: str = "application/json"
    told: str = ""

    def read(self) -> bytes:
        """Return the content."""
        return self.content if isinstance(self.content, bytes) else self.content()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of a page to a form.

    Parameters
    ----------
    headline : str
        The answer in one sentence; read aloud when it changes.
    verdict : "good", "bad" or None
        Where the answer is a verdict.
    facts : tuple of Fact
    pictures : tuple of Picture
        Drawn by the server when the page asks for them.
    tables : tuple of Table
    files : tuple of File
        The result, and the remaining facts for the command line.
    python, command : str
        What makes the same thing without the explorer; nothing is offered where empty.
    notes : tuple of str
        What is claimed among what, and what was assumed.
    """

    headline: str
    verdict: str | None = None
    facts: tuple[Fact, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    files: tuple[File, ...] = ()
    python: str = ""
    command: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """The answer is at another address of the explorer, such as a job's page: ``design/jobs/17``."""

    to: str


@dataclass(frozen=True, slots=True)
class Hint:
    """What to fill in before there is anything to answer, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes longer than a page waits.

    Parameters
    ----------
    start : callable
        Makes a job of it and returns the address where it can be watched; called only if the user pressed the button.
    """

    start: Callable[[], Moved]


Answer = Result | Moved | Later | Hint

Values = Mapping[str, str]
"""What a form says: every field of the room by its name, with what was written or its default."""
