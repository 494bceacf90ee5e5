"""Pages: the frame around all of them, the way in, and what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence

from ..version import VERSION
from .html import Content, Html, element, joined
from .room import Room

__all__ = ["TOUCHES_NO_TABLE", "error_page", "filled_in", "home", "page", "wrong_note"]

TOUCHES_NO_TABLE = (
    "The explorer touches no table. It runs on this machine alone, sends nothing anywhere, and forgets "
    "everything when it is stopped. Real data stays with the command line."
)


def page(title: str, *content: Content, rooms: Sequence[Room], at: str = "", refresh: int | None = None) -> bytes:
    """Write a whole page.

    Parameters
    ----------
    title : str
        Its heading, and the window's title.
    *content
        What stands under the heading.
    rooms : sequence of Room
        Where one can go from here.
    at : str
        The address of the page.
    refresh : int, optional
        After how many seconds it is asked for again where no script does it.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        _again(refresh),
        element("title", f"{title} · Iris"),
        element("link", rel="icon", href="/static/iris.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href="/static/explorer.css"),
        element("script", src="/static/explorer.js", defer=True),
        element("script", src="/static/draw.js", defer=True),
    )
    ways = [
        element(
            "li",
            element("a", room.title, href=f"/{room.name}", aria_current="page" if room.name == at else None),
        )
        for room in rooms
    ]
    top = element(
        "header",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "a", element("img", src="/static/iris.svg", alt="", width=26, height=26), "Iris", href="/", class_="home"
        ),
        element("nav", element("ul", ways), aria_label="Rooms"),
    )
    main = element("main", element("h1", title), joined(*content), id="content", tabindex=-1)
    foot = element("footer", element("p", TOUCHES_NO_TABLE), element("p", f"Iris {VERSION}", class_="version"))
    body = element("body", top, main, foot)
    return ("<!doctype html>\n" + element("html", head, body, lang="en")).encode("utf-8", "replace")


def _again(seconds: int | None) -> Html | None:
    """Ask for the page again where no script does, which keeps the place of whoever reads it."""
    if seconds is None:
        return None
    return element("noscript", element("meta", http_equiv="refresh", content=seconds))


def home(rooms: Sequence[Room]) -> bytes:
    """Write the start page, which lists all pages and their uses."""
    doors = [
        element("li", element("a", element("h2", room.title), element("p", room.summary), href=f"/{room.name}"))
        for room in rooms
    ]
    return page(
        "Explore private answers",
        element(
            "p",
            "See what a private answer costs and how far off it will be, before any record is read: design mechanisms, "
            "check them, and read what was published. Everything made here can be taken away as a file, a picture, "
            "Python or a command line that makes the same thing.",
            class_="lead",
        ),
        element("ul", doors, class_="doors"),
        element("p", TOUCHES_NO_TABLE, class_="promise"),
        rooms=rooms,
    )


def error_page(status: int, rule: str, remedy: str, *, rooms: Sequence[Room]) -> bytes:
    """Say on a page of its own what went wrong, and what to do."""
    return page(
        _HEADINGS.get(status, "This cannot be shown"),
        element("p", _sentence(rule), class_="lead"),
        element("p", _sentence(remedy)),
        element("p", f"Status {status}.", class_="help"),
        rooms=rooms,
    )


def filled_in(text: str) -> Html:
    """Say that a form is filled in, and waits for a button to be pressed."""
    return element("p", text, class_="waiting", role="status")


def wrong_note(text: str) -> Html:
    """Say on a page what is wrong with what was asked."""
    return element("div", element("p", text), class_="wrong-note", role="alert")


_HEADINGS = {
    403: "Not from here",
    404: "There is no such page",
    405: "Not in this way",
    408: "Too slow",
    413: "Too large",
    421: "Not under this name",
    500: "Something went wrong here",
    503: "Too busy",
}


def _sentence(words: str) -> str:
    said = words[:1].upper() + words[1:]
    return said if said.endswith((".", "?", "/")) else f"{said}."
