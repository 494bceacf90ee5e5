"""Pages: the frame around all of them, the way in, and what goes wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .._html import Content, Html, element, joined
from .._version import VERSION
from .dispatch import WorkDispatcher
from .form_errors import FormFault
from .forms import Field, Tool, show_field, stands
from .jobs import Job, Jobs
from .results import Fact, Result, ResultCache, ResultFigure, ResultSection, ResultTable
from .stateful_pages import Frame, StatefulPage

TOUCHES_NO_TABLE = (
    "The explorer touches no table. It runs on this machine alone, sends nothing anywhere, and forgets "
    "everything when it is stopped. To publish from a table, start irisdp explore DATA."
)


_SHOWS_A_TABLE = (
    "Two buttons read your table: “Check this table” of Table, which spends nothing, and “Publish” of Publish, which "
    "charges what it says. The explorer runs on this machine alone, sends nothing anywhere, and answers this browser "
    "only."
)


def _about_tables(rooms: Sequence[Tool | StatefulPage]) -> str:
    if not rooms:
        return "The explorer runs on this machine alone, and sends nothing anywhere."
    return _SHOWS_A_TABLE if any(room.private for room in rooms) else TOUCHES_NO_TABLE


def frame_of(scope: MutableMapping[str, Any], rooms: Sequence[Tool | StatefulPage]) -> Frame:
    """Return the frame for the answer to a request."""
    root, query = scope.get("root_path", ""), scope["query_string"].decode("latin-1")
    path = quote(scope["path"].removeprefix(root).lstrip("/"))
    return Frame(rooms, f"{root}/", f"{path}?{query}" if query else path)


def page(title: str, *content: Content, frame: Frame, at: str = "", refresh: int | None = None) -> bytes:
    """Write a whole page.

    Parameters
    ----------
    title : str
        Its heading, and the window's title.
    *content
        What stands under the heading.
    frame : Frame
    at : str
        The name of the page, as in its address.
    refresh : int, optional
        After how many seconds it is asked for again where no script does it.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("base", href=frame.base),
        _again(refresh),
        element("title", f"{title} · Iris"),
        element("link", rel="icon", href="static/iris.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href="static/explorer.css"),
        element("script", src="static/explorer.js", defer=True),
        element("script", src="static/draw.js", defer=True),
    )
    ways = [
        element(
            "li",
            element("a", room.title, href=room.name, aria_current="page" if room.name == at else None),
        )
        for room in frame.rooms
    ]
    top = element(
        "header",
        element("a", "Skip to the content", href=frame.part("content"), class_="skip"),
        element(
            "a", element("img", src="static/iris.svg", alt="", width=26, height=26), "Iris", href="./", class_="home"
        ),
        element("nav", element("ul", ways), aria_label="Rooms"),
    )
    main = element("main", element("h1", title), joined(*content), id="content", tabindex=-1)
    foot = element(
        "footer", element("p", _about_tables(frame.rooms)), element("p", f"Iris {VERSION}", class_="version")
    )
    body = element("body", top, main, foot)
    return ("<!doctype html>\n" + element("html", head, body, lang="en")).encode("utf-8", "replace")


def _again(seconds: int | None) -> Html | None:
    """Reload the page if no script does; a script keeps the reader's position."""
    if seconds is None:
        return None
    return element("noscript", element("meta", http_equiv="refresh", content=seconds))


def home(frame: Frame) -> bytes:
    """Write the start page, which lists all pages and their uses: first those about a table, in their order."""
    own = [room for room in frame.rooms if not isinstance(room, Tool)]
    tools = [room for room in frame.rooms if isinstance(room, Tool)]
    if not own:
        title, lead = "Explore private answers", _EXPLORE
    else:
        title, lead = "Publish from a table", _PUBLISH
    return page(
        title,
        element("p", lead, class_="lead"),
        joined(_doors(own), element("h2", "Tools that need no table")) if own else None,
        _doors(tools),
        element("p", _about_tables(frame.rooms), class_="promise"),
        frame=frame,
    )


_EXPLORE = (
    "See what a private answer costs and how far off it will be, before any record is read: design mechanisms, "
    "check them, and read what was published. Everything made here can be taken away as a file, a picture, Python or "
    "a command line that makes the same thing."
)
_PUBLISH = (
    "Check how the table is read, plan your questions, publish them with one press, and read the results. You see "
    "cost, error and risk before any record is read."
)


def _doors(rooms: Sequence[Tool | StatefulPage]) -> Html:
    return element(
        "ul",
        [
            element("li", element("a", element("h2", room.title), element("p", room.summary), href=room.name))
            for room in rooms
        ],
        class_="doors",
    )


def error_page(status: int, rule: str, remedy: str, *, frame: Frame) -> bytes:
    """Say on a page of its own what went wrong, and what to do."""
    return page(
        _HEADINGS.get(status, "This cannot be shown"),
        element("p", _sentence(rule), class_="lead"),
        element("p", _sentence(remedy)),
        element("p", f"Status {status}.", class_="help"),
        frame=frame,
    )


def filled_in(text: str) -> Html:
    """Say that a form is filled in, and waits for a button to be pressed."""
    return element("p", text, class_="waiting", role="status")


def moved_to(request: Request, address: str) -> Response:
    """Lead on to an address of the explorer, relative to the base, after a form was sent."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/{address}", status_code=303)


def wrong_note(text: str) -> Html:
    """Say on a page what is wrong with what was asked."""
    return element("div", element("p", text), class_="wrong-note", role="alert")


def faults_note(faults: Sequence[FormFault], frame: Frame) -> Html:
    """List all that is wrong with the form of a page, with links to its fields."""
    lines = [
        element("a", fault.line, href=frame.part(f"field-{fault.field.name}")) if fault.field else fault.line
        for fault in faults
    ]
    listed = (
        element("p", lines[0])
        if len(lines) == 1
        else joined(
            element("p", f"{len(lines)} things to correct:"), element("ul", [element("li", line) for line in lines])
        )
    )
    return element("div", listed, class_="wrong-note", role="alert")


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


# Pages of jobs: progress, a button to stop, and the result.

_HTML = "text/html; charset=utf-8"
_SECONDS = 3
"""After which a page without a script asks again."""
_PATIENCE = 5.0
_GONE = "this was worked on a while ago and is no longer kept"

Finished = Callable[[Tool | StatefulPage, Job, Request], Awaitable[Response]]
"""Shows a page with the result of a job, or with its error."""


class JobPages:
    """The pages of the jobs of one explorer.

    Parameters
    ----------
    rooms : tuple of Tool or StatefulPage
    lanes : callable
        Returns where jobs are.
    finished : callable
    """

    def __init__(
        self, rooms: tuple[Tool | StatefulPage, ...], lanes: Callable[[], WorkDispatcher], finished: Finished
    ) -> None:
        self._rooms, self._lanes, self._finished = rooms, lanes, finished

    def routes(self) -> list[Route]:
        """Return the addresses of jobs."""
        return [
            Route("/jobs/{key}", self._job),
            Route("/jobs/{key}/state", self._state),
            Route("/jobs/{key}/cancel", self._cancel, methods=["POST"]),
        ]

    async def _job(self, request: Request) -> Response:
        job, room, lane = self._found(request)
        if job.ended is not None:
            return await self._finished(room, job, request)
        frame = frame_of(request.scope, self._rooms)
        return Response(self._progress(job, room, lane, frame), media_type=_HTML)

    async def _state(self, request: Request) -> Response:
        job, _, lane = self._found(request)
        return Response(self._said(job, lane), media_type=_HTML)

    async def _cancel(self, request: Request) -> Response:
        job, _, lane = self._found(request)
        lane.cancel(job)
        await anyio.to_thread.run_sync(job.over.wait, _PATIENCE)
        return moved_to(request, f"jobs/{job.key}")

    def _found(self, request: Request) -> tuple[Job, Tool | StatefulPage, Jobs]:
        key = request.path_params["key"]
        lane = self._lanes().lane_of(key)
        job = None if lane is None else lane.find(key)
        room = None if job is None else next((one for one in self._rooms if one.name == job.room), None)
        if lane is None or job is None or room is None:
            raise HTTPException(404, _GONE)
        return job, room, lane

    def _progress(self, job: Job, room: Tool | StatefulPage, lane: Jobs, frame: Frame) -> bytes:
        """Write the page of a job that is not over."""
        minutes = lane.seconds / 60
        return page(
            f"{room.title}: at work",
            element(
                "p",
                f"This takes more than a moment. It is stopped if it takes more than {minutes:g} minutes. The result "
                "appears here as soon as it is there; the page may be left meanwhile.",
                class_="lead",
            ),
            element("div", self._said(job, lane), data_job=f"jobs/{job.key}/state", class_="job"),
            element(
                "form",
                element("button", "Cancel", type="submit"),
                method="post",
                action=f"jobs/{job.key}/cancel",
                class_="cancel",
                aria_label="Cancel this work",
            ),
            frame=frame,
            at=room.name,
            refresh=_SECONDS,
        )

    def _said(self, job: Job, lane: Jobs) -> Html:
        """Say how far a job is; a script looks for what says that it is over."""
        if job.ended is not None:
            return element("p", "Done.", data_over=True, role="status")
        before = lane.ahead_of(job)
        waits = f" ({before} before it)" if before else ""
        return element(
            "div",
            element("p", f"Now: {job.phase}{waits}.", role="status"),
            element("p", f"{job.elapsed:.0f} seconds so far", class_="elapsed"),
        )


# Write a page: its form next to its result, and everything that can be downloaded.

EXAMPLE = "example"
"""The query of the link that fills in a page's example."""
_LONGEST_LINK = 6000
"""Letters; browsers and servers take more, people's mail does not."""
_MOST_ROWS = 200
_LONGEST_CELL, _LONGEST_WORDS = 400, 20_000
_LONG_TABLE = 30
"""Rows beyond which a table scrolls by itself."""


def room_page(
    room: Tool,
    values: Mapping[str, str],
    result: Html,
    *,
    wrong: Sequence[FormFault] = (),
    frame: Frame,
) -> bytes:
    """Write a page; see `room_content`."""
    return page(room.title, room_content(room, values, result, wrong=wrong, frame=frame), frame=frame, at=room.name)


def room_content(
    room: Tool, values: Mapping[str, str], result: Html, *, wrong: Sequence[FormFault] = (), frame: Frame
) -> Html:
    """Show a form and its result.

    Parameters
    ----------
    room, values
        The page, and the values of its fields.
    result : Html
        What `show_result` made, or nothing.
    wrong : sequence of FormFault
        What is wrong with the form: listed above it, and said beside each field.
    frame : Frame
    """
    form = element(
        "form",
        element("p", element("a", "Fill in an example", href=f"{room.name}?{EXAMPLE}")) if room.example else None,
        [_fields(part, list(fields), values, wrong) for part, fields in groupby(room.fields, lambda field: field.part)],
        element("div", element("button", room.submit, type="submit"), class_="submit"),
        method="post" if room.posts else "get",
        action=room.name,
        enctype="multipart/form-data" if room.posts else None,
        data_live=f"{room.name}/result" if room.live else None,
        id="form",
        aria_label=room.title,
        novalidate=True,
    )
    return joined(
        element("p", room.introduction, class_="lead"),
        faults_note(wrong, frame) if wrong else None,
        element("div", form, element("section", result, id="result", aria_label="Result"), class_="room"),
    )


def _fields(part: str, fields: Sequence[Field], values: Mapping[str, str], wrong: Sequence[FormFault]) -> Html:
    """Show neighbouring fields of one part: folded where it has a name, and nothing in it was filled in or is wrong."""
    faults = [[fault.beside for fault in wrong if fault.field is field] for field in fields]
    shown = joined(
        [show_field(field, values, "; ".join(said) or None) for field, said in zip(fields, faults, strict=True)]
    )
    if not part:
        return shown
    filled = any(values.get(field.name, field.default) != field.default for field in fields)
    return element("details", element("summary", part), shown, open=filled or any(faults), class_="part")


def link_to(room: Tool, values: Mapping[str, str]) -> str | None:
    """Return the link, relative to the base, that carries what a form says; None where it would be too long."""
    said = {
        field.name: values[field.name]
        for field in room.fields
        if field.kind != "file" and field.linked and stands(field, values) and values[field.name] != field.default
    }
    link = room.name + (f"?{urlencode(said)}" if said else "")
    return link if len(link) <= _LONGEST_LINK else None


def show_result(room: Tool, values: Mapping[str, str], result: Result, store: ResultCache) -> Html:
    """Show an answer, and offer all that makes it."""
    return show_parts(result, store, _link(room, values))


def show_parts(result: Result, store: ResultCache, link: Content = None) -> Html:
    """Show an answer that no form has asked for, or that a link carries."""
    kind = f"headline {result.verdict}" if result.verdict else "headline"
    of_sections = [picture for section in result.sections for picture in section.pictures]
    pictures = [(picture, store.keep_picture(picture)) for picture in (*result.pictures, *of_sections)]
    return joined(
        element("h2", "Result", class_="unseen"),
        element("p", result.headline, class_=kind, role="status"),
        fact_list(result.facts) if result.facts else None,
        [_figure(picture, address) for picture, address in pictures[: len(result.pictures)]],
        [text_table(table) for table in result.tables],
        [_section(section, store) for section in result.sections],
        [element("p", note, class_="note") for note in result.notes],
        take_away(result, store, pictures, link),
    )


def _link(room: Tool, values: Mapping[str, str]) -> Content:
    link = link_to(room, values)
    if link is None:
        return "what was pasted is too long for a link; keep it as a file"
    return element("a", _words_for_link(room, values), href=link)


def _section(section: ResultSection, store: ResultCache) -> Html:
    return element(
        "details",
        element("summary", section.heading),
        fact_list(section.facts) if section.facts else None,
        [_figure(picture, store.keep_picture(picture)) for picture in section.pictures],
        [text_table(table) for table in section.tables],
        element("ul", [element("li", line) for line in section.lines]) if section.lines else None,
        class_="more",
    )


def fact_list(facts: Sequence[Fact]) -> Html:
    """Show facts by their names."""
    lines = [
        element(
            "div",
            element("dt", fact.name),
            element("dd", fact.value, element("span", fact.remark, class_="remark") if fact.remark else None),
        )
        for fact in facts
    ]
    return element("dl", lines, class_="facts")


def _figure(picture: ResultFigure, address: str) -> Html:
    rows = [tuple(_shown(cell) for cell in row) for row in picture.rows[:_MOST_ROWS]]
    more = len(picture.rows) - len(rows)
    caption = f"The numbers behind: {picture.title}" + (f" (the first {_MOST_ROWS}; {more} more)" if more > 0 else "")
    return element(
        "figure",
        # On a phone a picture keeps its size, so that its letters can be read, and scrolls by itself.
        element(
            "div",
            element("img", src=f"{address}.svg", alt=_short(f"{picture.title}. {picture.description}", _LONGEST_WORDS)),
            class_="drawn",
            tabindex=0,
            role="group",
            aria_label=picture.title,
        ),
        element("figcaption", picture.title),
        element(
            "details",
            element("summary", "In words and numbers"),
            element("p", _short(picture.description, _LONGEST_WORDS)),
            text_table(ResultTable(caption, tuple(picture.columns), tuple(rows))),
        ),
    )


def text_table(table: ResultTable) -> Html:
    """Show a table."""
    head = element("thead", element("tr", [element("th", name, scope="col") for name in table.columns]))
    body = element("tbody", [_row(table, number, row) for number, row in enumerate(table.rows, 1)])
    whole = element("table", element("caption", table.caption), head, body)
    # What scrolls must be reached by the keyboard too.
    kind = "scroll long" if len(table.rows) > _LONG_TABLE else "scroll"
    return element("div", whole, class_=kind, tabindex=0, role="region", aria_label=table.caption)


def _row(table: ResultTable, number: int, row: Sequence[str]) -> Html:
    if not table.choose:
        return element("tr", [element("td", _short(cell)) for cell in row])
    first, *others = row
    chosen = "true" if number == table.chosen else None
    words = {"aria_label": f"{_short(first) or 'Row'}, read row {number}", "aria_current": chosen}
    button = element(
        "button",
        _short(first) or "(empty)",
        type="submit",
        form="form",
        name=table.choose,
        value=number,
        class_="row",
        **words,
    )
    return element(
        "tr", element("td", button), [element("td", _short(cell)) for cell in others], class_=chosen and "chosen"
    )


def take_away(
    result: Result,
    store: ResultCache,
    pictures: Sequence[tuple[ResultFigure, str]] = (),
    link: Content = None,
) -> Html:
    """Offer the files of a result, its pictures, a link that carries it, and the code that makes the same."""
    files = [
        element("li", element("a", file.name, href=store.keep_file(file), download=file.name)) for file in result.files
    ]
    drawn = [element("li", picture.title, ": ", _endings(picture, address)) for picture, address in pictures]
    return element(
        "section",
        element("h3", "Take it away"),
        element("ul", files, drawn, element("li", link) if link is not None else None, class_="files"),
        _code("Command line", result.command) if result.command else None,
        _code("Python", result.python) if result.python else None,
        class_="away",
        aria_label="Take it away",
    )


def _words_for_link(room: Tool, values: Mapping[str, str]) -> str:
    """Say what a link carries: never what a file holds."""
    left_out = [field.label.lower() for field in room.fields if not field.linked and values[field.name]]
    return "a link that carries all of this" + (f", but for: {', '.join(left_out)}" if left_out else "")


def _endings(picture: ResultFigure, address: str) -> Html:
    links = [
        element(
            "a",
            ending.upper(),
            href=f"{address}.{ending}?save",
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


def _short(text: str, most: int = _LONGEST_CELL) -> str:
    """Return a text, or its beginning: files can hold names that fill the memory."""
    return text if len(text) <= most else f"{text[:most]}…"


def _shown(cell: Any) -> str:
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return (
        repr(cell) if text == "1" and cell != 1 and isinstance(cell, float) else text
    )  # do not claim a certainty that does not exist
