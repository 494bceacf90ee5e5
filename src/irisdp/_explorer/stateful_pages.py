"""Pages that keep something: what each of them is given, and what it gives.

A page that is a form and a pure function is a `Tool`. The pages of an explorer with a table also edit a plan, publish
it, and show a ledger; each answers its own addresses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from .._child_processes import Work
from .._html import Content, Html
from .forms import Tool
from .jobs import Job
from .results import ResultCache


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a page, and where the page stands.

    Every link, form, picture and script of a page is relative to `base`: it begins with no slash.

    Parameters
    ----------
    rooms : sequence of Tool or StatefulPage
        Where one can go from here.
    base : str
        The path under which all pages stand, with a slash at its end.
    here : str
        The address of this page after `base`, with its query.
    """

    rooms: Sequence[Tool | StatefulPage]
    base: str = "/"
    here: str = ""

    def part(self, name: str) -> str:
        """Return the link to an element of this page by its id; ``#name`` alone leads to the start page."""
        return f"{self.here}#{name}"


class Visit(Protocol):
    """One request to such a page, and what the explorer does for it."""

    @property
    def request(self) -> Request:
        """What was asked."""
        ...

    @property
    def frame(self) -> Frame:
        """What stands around a page."""
        ...

    @property
    def store(self) -> ResultCache:
        """The files and pictures that pages offer."""
        ...

    def page(self, title: str, *content: Content, at: str, status: int = 200) -> Response:
        """Return a page of the explorer."""
        ...

    def part(self, content: Html) -> Response:
        """Return what a script puts into a page."""
        ...

    def go(self, address: str) -> Response:
        """Send the browser to an address of the explorer, such as ``plan``, with a GET."""
        ...

    async def form(self) -> dict[str, str]:
        """Return the fields of the form that was sent."""
        ...

    async def planned(self, work: Work, values: Mapping[str, str]) -> Any:
        """Return what work makes of values, in another process; raises as the work does, and `Stopped`."""
        ...

    async def shown(self, work: Work, values: Mapping[str, str]) -> Any:
        """Return what work makes of published files, in another process of bounded memory; raises as `planned`."""
        ...

    def start(self, page: str, work: Work, values: Mapping[str, str]) -> str:
        """Start work on the private table, and return the address where it can be watched; may raise `Busy`."""
        ...

    def is_kept(self, address: str) -> bool:
        """Tell whether a job can still be looked at."""
        ...

    def has_published(self, address: str) -> bool | None:
        """Tell whether a job may have published something; None while it runs."""
        ...


Handler = Callable[[Visit], Awaitable[Response]]


class StatefulPage(Protocol):
    """A page with addresses of its own."""

    name: str
    title: str
    summary: str
    private: bool

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return what answers each method and address, such as ``("GET", "/plan")``."""
        ...

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show what became of a job that it started."""
        ...
