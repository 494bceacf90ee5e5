"""Write a page: its form next to its result, and everything that can be downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from .forms import Field, show_field, stands
from .html import Html, element, joined
from .pages import page
from .results import Fact, Picture, Result, Table
from .room import Room
from .store import Store

__all__ = ["link_to", "room_page", "show_result"]

_LONGEST_LINK = 6000
"""Letters; browsers and servers take more, people's mail does not."""
_MOST_ROWS = 200


def room_page(
    room: Room,
    values: Mapping[str, str],
    result: Html,
    *,
    wrong: tuple[Field, str] | None = None,
    rooms: Sequence[Room],
) -> bytes:
    """Write a page.

    Parameters
    ----------
    room, values
        The page, and the values of its fields.
    result : Html
        What `show_result` made, or nothing.
    wrong : (Field, str), optional
        The field that is wrong, and what is wrong with it.
    rooms : sequence of Room
    """
    fields = [show_field(each, values, wrong[1] if wrong and each is wrong[0] else None) for each in room.fields]
    form = element(
        "form",
        fields,
        element("div", element("button", room.submit, type="submit"), class_="submit"),
        method="post" if room.posts else "get",
        action=f"/{room.name}",
        enctype="multipart/form-data" if room.posts else None,
        data_live=f"/{room.name}/result" if room.live else None,
        aria_label=room.title,
        novalidate=True,
    )
    return page(
        room.title,
        element("p", room.introduction, class_="lead"),
        element("div", form, element("section", result, id="result", aria_label="Result"), class_="room"),
        rooms=rooms,
        at=room.name,
    )


def link_to(room: Room, values: Mapping[str, str]) -> str | None:
    """Return the link that carries what a form says; None where it would be too long."""
    said = {
        one.name: values[one.name]
        for one in room.fields
        if one.kind != "file" and one.linked and stands(one, values) and values[one.name] != one.default
    }
    link = f"/{room.name}" + (f"?{urlencode(said)}" if said else "")
    return link if len(link) <= _LONGEST_LINK else None


def show_result(room: Room, values: Mapping[str, str], result: Result, store: Store) -> Html:
    """Show an answer, and offer all that makes it."""
    kind = f"headline {result.verdict}" if result.verdict else "headline"
    pictures = [(picture, store.keep_picture(picture)) for picture in result.pictures]
    return joined(
        element("h2", "Result", class_="unseen"),
        element("p", result.headline, class_=kind, role="status"),
        _facts(result.facts) if result.facts else None,
        [_figure(picture, address) for picture, address in pictures],
        [_table(table) for table in result.tables],
        [element("p", note, class_="note") for note in result.notes],
        _take_away(room, values, result, pictures, store),
    )


def _facts(facts: Sequence[Fact]) -> Html:
    lines = [
        element(
            "div",
            element("dt", fact.name),
            element("dd", fact.value, element("span", fact.remark, class_="remark") if fact.remark else None),
        )
        for fact in facts
    ]
    return element("dl", lines, class_="facts")


def _figure(picture: Picture, address: str) -> Html:
    rows = [tuple(_shown(cell) for cell in row) for row in picture.rows[:_MOST_ROWS]]
    more = len(picture.rows) - len(rows)
    caption = f"The numbers behind: {picture.title}" + (f" (the first {_MOST_ROWS}; {more} more)" if more > 0 else "")
    return element(
        "figure",
        # On a phone a picture keeps its size, so that its letters can be read, and scrolls by itself.
        element(
            "div",
            element("img", src=f"/{address}.svg", alt=f"{picture.title}. {picture.description}"),
            class_="drawn",
            tabindex=0,
            role="group",
            aria_label=picture.title,
        ),
        element("figcaption", picture.title),
        element(
            "details",
            element("summary", "In words and numbers"),
            element("p", picture.description),
            _table(Table(caption, tuple(picture.columns), tuple(rows))),
        ),
    )


def _table(table: Table) -> Html:
    head = element("thead", element("tr", [element("th", name, scope="col") for name in table.columns]))
    body = element("tbody", [element("tr", [element("td", cell) for cell in row]) for row in table.rows])
    whole = element("table", element("caption", table.caption), head, body)
    # What scrolls must be reached by the keyboard too.
    return element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=table.caption)


def _take_away(
    room: Room,
    values: Mapping[str, str],
    result: Result,
    pictures: Sequence[tuple[Picture, str]],
    store: Store,
) -> Html:
    files = [
        element("li", element("a", file.name, href=f"/{store.keep_file(file)}", download=file.name))
        for file in result.files
    ]
    drawn = [element("li", picture.title, ": ", _endings(picture, address)) for picture, address in pictures]
    link = link_to(room, values)
    said = (
        element("a", _words_for_link(room, values), href=link)
        if link is not None
        else "what was pasted is too long for a link; keep it as a file"
    )
    return element(
        "section",
        element("h3", "Take it away"),
        element("ul", files, drawn, element("li", said), class_="files"),
        _code("Command line", result.command) if result.command else None,
        _code("Python", result.python) if result.python else None,
        class_="away",
        aria_label="Take it away",
    )


def _words_for_link(room: Room, values: Mapping[str, str]) -> str:
    """Say what a link carries: never what a file holds."""
    left_out = [one.label.lower() for one in room.fields if not one.linked and values[one.name]]
    return "a link that carries all of this" + (f", but for: {', '.join(left_out)}" if left_out else "")


def _endings(picture: Picture, address: str) -> Html:
    links = [
        element(
            "a",
            ending.upper(),
            href=f"/{address}.{ending}?save",
            aria_label=f"{picture.title} as {ending.upper()}",
            download=True,
        )
        for ending in ("svg", "png", "html")
    ]
    return joined(links[0], ", ", links[1], ", ", links[2])


def _code(heading: str, text: str) -> Html:
    return element(
        "div",
        element("h4", heading),
        element("pre", element("code", text), tabindex=0, role="region", aria_label=heading),
        class_="code",
    )


def _shown(cell: Any) -> str:
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return repr(cell) if text == "1" and cell != 1 and isinstance(cell, float) else text  # no certainty that is none
