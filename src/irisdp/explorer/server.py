"""Serves the explorer on the loopback, and nowhere else."""

from __future__ import annotations

import socket
import webbrowser
from typing import Any

from ..errors import BadInput
from .app import create_app

__all__ = ["DEFAULT_PORT", "serve"]

DEFAULT_PORT = 8715
_LOOPBACK = "127.0.0.1"
_MOST_CONNECTIONS = 2000
"""Whoever comes then is told that it is too busy, before a page is made."""
_MOST_FILES = 4096
"""A connection is an open file; many systems allow 1,024 unless more are asked for."""


def serve(*, port: int = DEFAULT_PORT, browser: bool = True) -> None:
    """Serve the explorer until it is stopped.

    Parameters
    ----------
    port : int
        On 127.0.0.1; 0 takes any that is free.
    browser : bool
        Whether it is opened in the browser.

    Raises
    ------
    BadInput
        Where the extra `explorer` is not installed, and for a port that is taken.
    """
    application = create_app()
    import uvicorn

    _allow_files()
    listening = _listen(port)
    address = f"http://{_LOOPBACK}:{listening.getsockname()[1]}/"
    server = uvicorn.Server(uvicorn.Config(application, **_settings()))
    print(f"Iris explorer at {address} (this machine only); stop it with Ctrl-C", flush=True)
    if browser:
        webbrowser.open(address)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:  # how it is stopped
        return
    finally:
        listening.close()


def _settings() -> dict[str, Any]:
    return {
        "loop": "asyncio",
        "http": "h11",
        "ws": "none",
        "lifespan": "on",
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # nothing stands before it, and what says so lies
        "limit_concurrency": _MOST_CONNECTIONS,
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": 2,
    }


def _allow_files() -> None:
    """Ask for as many open files as connections may take, where the system asks to be asked."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows counts otherwise
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise BadInput("port", "must be from 0 to 65535", f"give for example {DEFAULT_PORT}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, port))
        listening.listen()  # before its address is told: whoever comes at once waits, and is not refused
    except OSError as error:
        listening.close()
        reason = error.strerror or "the system refused"
        raise BadInput("port", f"{port} cannot be listened on ({reason})", "give another, or 0 for any") from None
    return listening
