"""The explorer as an application for any ASGI server; what it needs beyond Iris is asked for here."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any, Literal
from urllib.parse import quote

import anyio
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from .._child_processes import Work
from .._html import Content, Html, joined
from ..errors import BadInput, IrisError, place_of
from .ask import ASK
from .check import CHECK
from .common_fields import as_text
from .design import DESIGN
from .dispatch import RequestQueue, lanes
from .form_errors import FormFault, all_in_words, check_form, not_used
from .forms import Field, Tool, read_values
from .interpret import READ
from .jobs import Busy, Job, Stopped
from .ledger_page import LedgerPage
from .pages import (
    EXAMPLE,
    JobPages,
    error_page,
    faults_note,
    filled_in,
    frame_of,
    home,
    link_to,
    moved_to,
    page,
    room_page,
    show_result,
    wrong_note,
)
from .plan_page import PlanPage
from .publish_page import PublishPage
from .results import Answer, Hint, Later, Moved, Result, ResultCache
from .results_page import ResultsPage
from .security import LARGEST_BODY, Access, Guard, Scope
from .stateful_pages import Frame, Handler, StatefulPage
from .table import TablePage
from .workspace import Workspace

_NEEDED = ("starlette", "uvicorn", "python_multipart", "tomlkit")
"""Packages of the extra; Starlette would miss the last only when a form is sent."""


def create_app(workspace: Workspace | None = None, access: Access | None = None) -> Any:
    """Return the explorer as an ASGI application, guarded; serve it on the loopback only.

    Parameters
    ----------
    workspace : Workspace, optional
        The table that its pages are about, and the plan; then `access` is needed too.
    access : Access, optional
        Lets one browser in, and no other.

    Raises
    ------
    BadInput
        Where the extra `explorer` is not installed.

    Examples
    --------
    >>> create_app()  # doctest: +SKIP
    <irisdp._explorer.security.Guard object at ...>
    """
    for package in _NEEDED:
        try:
            importlib.import_module(package)
        except ImportError:
            raise BadInput(package, "is not installed", 'pip install "irisdp[explorer]"') from None

    if workspace is not None and access is None:
        raise BadInput(
            "access", "is missing: a page about a private table must be shown to one browser only", "give one"
        )
    return guarded(ROOMS if workspace is None else (*pages_of(workspace), *ROOMS), access)


# The list of pages: to add one, write its file and a row here.

ROOMS: tuple[Tool, ...] = (ASK, DESIGN, CHECK, READ)


def pages_of(workspace: Workspace) -> tuple[Tool | StatefulPage, ...]:
    """Return the pages about a table, in the order in which they are gone through."""
    plan = PlanPage(workspace)
    publish, results = PublishPage(workspace, plan), ResultsPage(workspace)
    return TablePage(workspace.served), plan, publish, results, LedgerPage(workspace.served)


# Addresses of the explorer and their handlers.

_MOST_FIELDS = 64
_MOST_OF_A_PLAN = 1100
"""Fields of a form about a whole plan: a share of each question."""
_STATIC = {
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "draw.js": "text/javascript; charset=utf-8",
    "iris.svg": "image/svg+xml",
}
_DRAWN = {"svg": "image/svg+xml", "png": "image/png", "html": "text/html; charset=utf-8"}
_HTML = "text/html; charset=utf-8"
_GONE = "this was made a while ago and is no longer kept"


def guarded(rooms: tuple[Tool | StatefulPage, ...] = ROOMS, access: Access | None = None) -> Guard:
    """Return the application behind its guard."""

    def refuse(scope: Scope, status: int, rule: str, remedy: str) -> tuple[bytes, str]:
        # A browser that is not let in is told neither what the pages are nor where.
        admitted = access is None or scope.get("root_path") == access.root
        return error_page(status, rule, remedy, frame=frame_of(scope, rooms if admitted else ())), _HTML

    return Guard(
        _Shell(rooms).application(),
        refuse,
        access,
        frozenset(("/health", *(f"/static/{name}" for name in _STATIC))),
    )


class _Shell:
    """The pages of one explorer, and what it keeps for a while."""

    def __init__(self, rooms: tuple[Tool | StatefulPage, ...]) -> None:
        self._rooms = rooms
        self._queue, self.store = RequestQueue(), ResultCache()
        folder = resources.files(__package__) / "static"
        # Read once, by names that are written here: a request never names a path.
        self._static = {name: (folder / name).read_bytes() for name in _STATIC}

    def application(self) -> Starlette:
        """Return the application."""
        rooms: list[Route] = []
        for room in self._rooms:
            if not isinstance(room, Tool):
                rooms += [
                    Route(address, partial(self._visited, handler), methods=[method])
                    for (method, address), handler in room.handlers().items()
                ]
                continue
            rooms += [
                Route(f"/{room.name}", partial(self._room, room), methods=["GET", "POST"]),
                Route(f"/{room.name}/result", partial(self._part, room), methods=["GET", "POST"]),
            ]
        return Starlette(
            lifespan=self._open,
            routes=[
                Route("/", self._home),
                Route("/health", _health),
                Route("/static/{name}", self._file_of_ours),
                Route("/files/{key}/{name}", self._file),
                Route("/pictures/{name}", self._picture),
                *JobPages(self._rooms, lanes, self._finished).routes(),
                *rooms,
            ],
            exception_handlers=dict.fromkeys((HTTPException, 404, 405, 500), self._wrong),
        )

    @asynccontextmanager
    async def _open(self, application: Starlette) -> AsyncIterator[None]:
        """While the server runs; first answers load engines, so they are asked for before anybody waits for them."""
        lanes().asked.warm()
        lanes().quick.warm()
        async with anyio.create_task_group() as group:
            group.start_soon(self._warm)
            yield
            group.cancel_scope.cancel()

    async def _warm(self) -> None:
        for room in (room for room in self._rooms if isinstance(room, Tool)):
            choices = next((field for field in room.fields if field.kind == "choice"), None)
            for choice, _ in choices.choices if choices is not None and room.live else ():
                assert choices is not None
                with contextlib.suppress(HTTPException):  # others ask for more than is done at once, already
                    await self._answered(room, read_values(room.fields, {choices.name: choice}))

    async def _home(self, request: Request) -> Response:
        return Response(home(frame_of(request.scope, self._rooms)), media_type=_HTML)

    async def _file_of_ours(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404)
        headers = {"cache-control": "max-age=300"}
        return Response(self._static[name], media_type=_STATIC[name], headers=headers)

    async def _file(self, request: Request) -> Response:
        file = self.store.file(request.path_params["key"], request.path_params["name"])
        if file is None:
            raise HTTPException(404, _GONE)
        try:
            content = file.content if isinstance(file.content, bytes) else await self._queue.work(file.content)
        except (Busy, Stopped):
            raise HTTPException(503) from None
        return Response(content, media_type=file.media_type, headers=_saved(file.name))

    async def _picture(self, request: Request) -> Response:
        key, _, ending = request.path_params["name"].partition(".")
        if ending not in _DRAWN:
            raise HTTPException(404)
        try:
            content = await self._queue.draw(lambda: self.store.drawn(key, ending))
        except Busy:
            raise HTTPException(503) from None
        if content is None:
            raise HTTPException(404, _GONE)
        # A page of its own has its script in itself, which no page of ours may run: it is only saved.
        saved = "save" in request.query_params or ending == "html"
        headers = _saved(f"iris-{key[:8]}.{ending}") if saved else {"cache-control": "max-age=3600"}
        return Response(content, media_type=_DRAWN[ending], headers=headers)

    async def _room(self, room: Tool, request: Request) -> Response:
        given, refused = await _given(room.fields, request)
        if room.example is not None and request.method == "GET" and EXAMPLE in request.query_params:
            given = dict(room.example())
        values = read_values(room.fields, given)
        unused = not_used(room.fields, given)
        frame = frame_of(request.scope, self._rooms)
        if not room.bounded and values != read_values(room.fields, {}) and _from_elsewhere(request):
            note = filled_in(f"A link from elsewhere has filled in this form. Press {room.submit} if you want that.")
            return Response(room_page(room, values, note, frame=frame), media_type=_HTML)
        status, result, wrong = await self._answered(room, values, refused, starts=request.method == "POST")
        if isinstance(result, Moved):
            return moved_to(request, result.to)
        shown = joined(filled_in(unused) if unused else None, result)
        return Response(room_page(room, values, shown, wrong=wrong, frame=frame), status, media_type=_HTML)

    async def _visited(self, handler: Handler, request: Request) -> Response:
        """Let a page with addresses of its own answer."""
        return await handler(_Visit(request, self._rooms, self._queue, self.store))

    async def _finished(self, room: Tool | StatefulPage, job: Job, request: Request) -> Response:
        """Show the result of a job on the page that started it."""
        if not isinstance(room, Tool):
            return await room.finished(job, _Visit(request, self._rooms, self._queue, self.store))
        frame = frame_of(request.scope, self._rooms)
        values = read_values(room.fields, job.values)
        status, result, wrong = await self._answered(room, values, job.result)
        assert isinstance(result, Html)
        return Response(room_page(room, values, result, wrong=wrong, frame=frame), status, media_type=_HTML)

    async def _part(self, room: Tool, request: Request) -> Response:
        """Answer with the result alone, for the script that puts it into the page."""
        given, refused = await _given(room.fields, request)
        values = read_values(room.fields, given)
        status, result, wrong = await self._answered(room, values, refused, starts=request.method == "POST")
        if isinstance(result, Moved):
            return moved_to(request, result.to)
        if wrong:
            result = faults_note(wrong, Frame(self._rooms, here=link_to(room, values) or room.name))
        # A form half filled in is no request that failed, of which browsers would tell their console at every letter:
        # what is missing stands in the part.
        return Response(result, 200 if status in (400, 422) else status, media_type=_HTML)

    async def _answered(
        self, room: Tool, values: dict[str, str], made: Callable[[], Answer] | None = None, *, starts: bool = False
    ) -> tuple[int, Html | Moved, tuple[FormFault, ...]]:
        """Return a status, what is shown, and all that is wrong with the form.

        Long work starts only where `starts` says that a button was pressed: a link fills in a form, and no more.
        """
        try:
            if made is None:
                check_form(room.fields, values)
                if room.private and not starts:
                    return 200, filled_in(f"No record was read yet. Press “{room.submit}” to read them."), ()
            outcome = await self._queue.answer(room, values) if made is None else made()
            if isinstance(outcome, Later):
                if not starts:
                    return 200, filled_in(f"This takes longer than a moment. Press {room.submit} to start it."), ()
                outcome = outcome.start()
            shown = await self._queue.draw(lambda: self._shown(room, values, outcome))
            return 200, shown, ()
        except Busy:
            raise HTTPException(503) from None
        except BadInput as error:
            return 400, joined(), all_in_words(room.fields, values, error)
        except Stopped as ended:  # work that was cancelled, or took too long, is no fault of the request
            return 200, wrong_note(str(ended)), ()
        except IrisError as error:
            return 422, wrong_note(str(error)), ()
        except MemoryError:
            said = "memory: there is not enough for a problem of this size; ask for less"
            return 503, wrong_note(said), ()
        except Exception as error:
            # Neither message nor values: what was pasted comes back only where it is known to be harmless.
            return 500, wrong_note(f"internal error ({place_of(error)}); please report it"), ()

    def _shown(self, room: Tool, values: dict[str, str], outcome: Result | Moved | Hint) -> Html | Moved:
        if isinstance(outcome, Hint):
            return filled_in(outcome.text)
        if isinstance(outcome, Moved):
            return outcome
        return show_result(room, values, outcome, self.store)

    async def _wrong(self, request: Request, error: Exception) -> Response:
        """Describe any error in words."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        own = error.detail if isinstance(error, HTTPException) and status in (400, 404) else ""
        rule, remedy = _WRONG.get(status, ("this could not be done", "go back and try otherwise"))
        if own and own != "Not Found":
            rule, remedy = own, "ask again in the room that made it" if status == 404 else remedy
        if status == 500:
            rule = f"internal error ({place_of(error)})"
        return Response(
            error_page(status, rule, remedy, frame=frame_of(request.scope, self._rooms)), status, media_type=_HTML
        )


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request to a page with addresses of its own; see `stateful_pages.Visit`."""

    request: Request
    rooms: tuple[Tool | StatefulPage, ...]
    queue: RequestQueue
    store: ResultCache

    @property
    def frame(self) -> Frame:
        """What stands around a page."""
        return frame_of(self.request.scope, self.rooms)

    def page(self, title: str, *content: Content, at: str, status: int = 200) -> Response:
        """Return a page."""
        return Response(page(title, *content, frame=self.frame, at=at), status, media_type=_HTML)

    def part(self, content: Html) -> Response:
        """Return a part of a page."""
        return Response(content, media_type=_HTML)

    def go(self, address: str) -> Response:
        """Send the browser to an address."""
        return moved_to(self.request, address)

    async def form(self) -> dict[str, str]:
        """Return the fields that were sent."""
        given, _ = await _given((), self.request, most=_MOST_OF_A_PLAN)
        return given

    async def planned(self, work: Work, values: Mapping[str, str]) -> Any:
        """Work something out in another process."""
        return await self._worked("plans", work, values)

    async def shown(self, work: Work, values: Mapping[str, str]) -> Any:
        """Read published files in another process."""
        return await self._worked("results", work, values)

    async def _worked(self, lane: Literal["plans", "results"], work: Work, values: Mapping[str, str]) -> Any:
        try:
            return await self.queue.work(lambda: lanes().in_lane(lane, work, values))
        except Busy:
            raise HTTPException(503) from None

    def start(self, page: str, work: Work, values: Mapping[str, str]) -> str:
        """Start work on the private table."""
        try:
            return f"jobs/{lanes().tables.submit(page, work, values).key}"
        except Busy:
            raise HTTPException(503) from None

    def is_kept(self, address: str) -> bool:
        """Tell whether a job can still be looked at."""
        return lanes().tables.find(address.removeprefix("jobs/")) is not None

    def has_published(self, address: str) -> bool | None:
        """Tell whether a job may have published something."""
        job = lanes().tables.find(address.removeprefix("jobs/"))
        if job is None:  # it ended a while ago
            return True
        if job.ended is None:
            return None
        return job.error is None


async def _health(request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _from_elsewhere(request: Request) -> bool:
    """Tell whether a page of somebody else led here: the guard lets such links through, and nothing else."""
    return request.headers.get("sec-fetch-site") in ("cross-site", "same-site")


async def _given(
    fields: tuple[Field, ...], request: Request, *, most: int = _MOST_FIELDS
) -> tuple[dict[str, str], Callable[[], Answer] | None]:
    """Return what a form says, and what refuses its files, if they do not belong together.

    Files that were sent stand in for the fields that they fill.
    """
    if request.method != "POST":
        return dict(request.query_params), None
    given: dict[str, str] = {}
    sent: dict[str, list[tuple[str, bytes]]] = {}
    async with request.form(max_files=most, max_fields=most, max_part_size=LARGEST_BODY) as form:
        for name, part in form.multi_items():
            if isinstance(part, UploadFile):
                content = await part.read()
                if content:
                    sent.setdefault(name, []).append((part.filename or "", content))
            else:
                given[name] = part  # the last one, as in an address: a button says more than the field of its name
    for field in fields:
        if field.kind != "file" or field.name not in sent:
            continue
        if field.takes is None:
            given[field.fills] = as_text(sent[field.name][0][1])
            continue
        try:
            given |= field.takes(sent[field.name])
        except BadInput as error:
            return given, partial(_refuse, error)
    return given, None


def _refuse(error: BadInput) -> Answer:
    raise error


def _saved(name: str) -> dict[str, str]:
    plain = re.sub(r"[^\w .()-]", "_", name, flags=re.ASCII)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}


_WRONG = {
    400: ("the request cannot be read", "send the form again"),
    404: ("nothing is at this address", "go on from one of the rooms above"),
    405: ("this address is not asked in this way", "use the form of the room"),
    500: ("internal error", "please report it"),
    503: ("more is being asked at once than can be answered", "try again in a moment"),
}
