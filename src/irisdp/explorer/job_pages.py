"""Pages of jobs: how far one is, how to stop it, and what came out of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .html import Html, element
from .jobs import Job
from .lanes import Lanes
from .pages import page
from .room import Room

__all__ = ["JobPages"]

_HTML = "text/html; charset=utf-8"
_SECONDS = 3
"""After which a page without a script asks again."""
_PATIENCE = 5.0
_GONE = "this was worked on a while ago and is no longer kept"

Finished = Callable[[Room, Job], Awaitable[Response]]
"""Shows a room's page with what a job made, or why it made nothing."""


class JobPages:
    """The pages of the jobs of one explorer.

    Parameters
    ----------
    rooms : tuple of Room
    lanes : callable
        Returns where jobs are.
    finished : callable
    """

    def __init__(self, rooms: tuple[Room, ...], lanes: Callable[[], Lanes], finished: Finished) -> None:
        self._rooms, self._lanes, self._finished = rooms, lanes, finished

    def routes(self) -> list[Route]:
        """Return the addresses of jobs."""
        return [
            Route("/jobs/{key}", self._job),
            Route("/jobs/{key}/state", self._state),
            Route("/jobs/{key}/cancel", self._cancel, methods=["POST"]),
        ]

    async def _job(self, request: Request) -> Response:
        job, room = self._found(request)
        if job.ended is not None:
            return await self._finished(room, job)
        return Response(self._progress(job, room), media_type=_HTML)

    async def _state(self, request: Request) -> Response:
        job, _ = self._found(request)
        return Response(self._said(job), media_type=_HTML)

    async def _cancel(self, request: Request) -> Response:
        job, _ = self._found(request)
        self._lanes().long.cancel(job)
        await anyio.to_thread.run_sync(job.over.wait, _PATIENCE)
        return RedirectResponse(f"/jobs/{job.key}", status_code=303)

    def _found(self, request: Request) -> tuple[Job, Room]:
        job = self._lanes().long.find(request.path_params["key"])
        room = None if job is None else next((one for one in self._rooms if one.name == job.room), None)
        if job is None or room is None:
            raise HTTPException(404, _GONE)
        return job, room

    def _progress(self, job: Job, room: Room) -> bytes:
        """Write the page of a job that is not over."""
        minutes = self._lanes().long.seconds / 60
        return page(
            f"{room.title}: at work",
            element(
                "p",
                f"This takes more than a moment. It may take up to {minutes:g} minutes and is then stopped. The result "
                "appears here as soon as it is there; the page may be left meanwhile.",
                class_="lead",
            ),
            element("div", self._said(job), data_job=f"/jobs/{job.key}/state", class_="job"),
            element(
                "form",
                element("button", "Cancel", type="submit"),
                method="post",
                action=f"/jobs/{job.key}/cancel",
                class_="cancel",
                aria_label="Cancel this work",
            ),
            rooms=self._rooms,
            at=room.name,
            refresh=_SECONDS,
        )

    def _said(self, job: Job) -> Html:
        """Say how far a job is; a script looks for what says that it is over."""
        if job.ended is not None:
            return element("p", "Done.", data_over=True, role="status")
        before = self._lanes().long.ahead_of(job)
        waits = f" ({before} before it)" if before else ""
        return element(
            "div",
            element("p", f"Now: {job.phase}{waits}.", role="status"),
            element("p", f"{job.elapsed:.0f} seconds so far", class_="elapsed"),
        )
