"""Serves the explorer on the loopback, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Any

from ..errors import BadInput
from .app import create_app
from .security import Access
from .workspace import ServedTable, Workspace

DEFAULT_PORT = 8715
_LOOPBACK = "127.0.0.1"
_MOST_CONNECTIONS = 2000
"""When another comes, the oldest that waits for its sender or reader is closed."""
_SPARE = 200
"""Connections and other open files above that; a request beyond that gets the status "try again"."""
_SECONDS_FOR_HEADERS = 10.0
_SECONDS_TO_TAKE_THE_REST = 50.0
_MOST_FILES = 4096
"""A connection is an open file; many systems allow 1,024 unless more are asked for."""


def serve(*, port: int = DEFAULT_PORT, browser: bool = True, table: ServedTable | None = None) -> None:
    """Serve the explorer until it is stopped.

    Parameters
    ----------
    table : ServedTable, optional
        Adds the pages about a table. The address then has a token that works once, for one browser.
    port : int
        On 127.0.0.1; 0 takes any that is free.
    browser : bool
        Whether it is opened in the browser.

    Raises
    ------
    BadInput
        Where the extra `explorer` is not installed, for a port that is taken, and for a plan file about other tables.
    """
    door = _BrowserFile()
    access = None if table is None else Access(door.remove)
    application = create_app(None if table is None else Workspace(table), access)
    import uvicorn

    most = max(min(_MOST_CONNECTIONS, _allow_files() - _SPARE), _SPARE)
    listening = _listen(port)
    address = f"http://{_LOOPBACK}:{listening.getsockname()[1]}/"
    server = uvicorn.Server(uvicorn.Config(application, **_settings(most)))
    scope = "this machine only" if access is None else "this machine only; the address works once"
    address += "" if access is None else f"?token={access.token}"
    print(f"Iris explorer at {address} ({scope}); stop it with Ctrl-C", flush=True)
    if browser:
        webbrowser.open(address if access is None else door.write(address))
    try:
        _run(server, listening)
    except KeyboardInterrupt:  # how it is stopped
        return
    finally:
        listening.close()
        door.remove()


def _run(server: Any, listening: socket.socket) -> None:
    """Run the server, in a thread of its own where a notebook's loop runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        server.run(sockets=[listening])
        return
    over = threading.Event()  # a thread that was waited for in vain until Ctrl-C counts as ended, in Python before 3.13

    def run() -> None:
        try:
            server.run(sockets=[listening])
        finally:
            over.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        while not over.wait(1):  # seconds: on Windows a wait without end cannot be interrupted
            pass
    finally:
        server.should_exit = True
        over.wait()


class _BrowserFile:
    """A file of this user that leads the browser to an address: other users can read the browser's command line."""

    def __init__(self) -> None:
        self._path: Path | None = None

    def write(self, address: str) -> str:
        """Write the file, and return its own address."""
        descriptor, name = tempfile.mkstemp(prefix="irisdp-", suffix=".html")
        self._path = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f'<!doctype html><title>Iris</title><meta http-equiv="refresh" content="0;url={address}">')
        return self._path.as_uri()

    def remove(self) -> None:
        """Remove the file if it is there."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _settings(most: int) -> dict[str, Any]:
    return {
        "loop": "asyncio",
        "http": _bounded_connections(most, _SECONDS_FOR_HEADERS),
        "ws": "none",
        "lifespan": "on",
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # nothing stands before it, and what says so lies
        "limit_concurrency": most + _SPARE // 2,
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": 2,
    }


def _bounded_connections(most: int, seconds: float) -> Any:
    """Return uvicorn's protocol, with a time for the headers of each request and a bound on connections.

    Whoever holds connections that say nothing, or half of a request, or read no answer, keeps nobody else out.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    kept: dict[Any, None] = {}  # the oldest first

    class Bounded(H11Protocol):  # type: ignore[misc]  # uvicorn is not read by the type checker
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            kept[self] = None
            self._await_headers()
            if len(kept) > most:
                oldest = next((one for one in kept if one is not self and one.waits_for_peer()), None)
                if oldest is not None:
                    kept.pop(oldest)
                    oldest.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            kept.pop(self, None)
            self._stop_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_waiting()

        def on_response_complete(self) -> None:
            self._await_headers()
            super().on_response_complete()  # which may begin the next request, if it has arrived
            if not self.cycle.response_complete:
                self._stop_waiting()

        def waits_for_peer(self) -> bool:
            """Tell whether the next step is the sender's or the reader's, and not the explorer's."""
            asked = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
            return not asked or self.flow.write_paused

        def _await_headers(self) -> None:
            self._stop_waiting()
            more = _SECONDS_TO_TAKE_THE_REST if self.transport.get_write_buffer_size() else 0
            self._deadline = self.loop.call_later(seconds + more, self.transport.abort)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Bounded


def _allow_files() -> int:
    """Ask for as many open files as connections may take, where the system asks to be asked; return how many may be."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows counts otherwise
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise BadInput("port", "must be from 0 to 65535", f"give for example {DEFAULT_PORT}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, port))
        listening.listen()  # before its address is shown, so that an early request waits and is not refused
    except OSError as error:
        listening.close()
        reason = error.strerror or "the system refused"
        raise BadInput("port", f"{port} cannot be listened on ({reason})", "give another, or 0 for any") from None
    return listening
