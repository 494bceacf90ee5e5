"""What stands before every page: who may ask, how much may be sent, and what pages may do.

The explorer listens on the loopback only, and still any web page that somebody has open can send it requests. So each
request is checked. The requested name must be the loopback's own (or a foreign name could be pointed at it, by DNS
rebinding). An origin, if sent, must be the explorer's. Requests that a browser marks as coming from another site are
refused, except for links that a person follows. Bodies are counted as they arrive. Pages may load nothing but what the
explorer serves, and run no script but its one file.

An explorer that shows a table is for one person, and other users of the machine can reach the loopback too. So its
address has a token that works once, and the browser that opens it gets a cookie that every other request must bring.
Browsers send a cookie to every port of a host, where another user may listen. So all pages stand under a secret path,
and the cookie is sent to that path only.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import urllib.parse
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

LARGEST_BODY = 1 << 20
_HELD_IN_ALL = 32 << 20
"""Bytes of bodies in memory at once, of all requests together."""
_SECONDS_TO_SEND = 10.0
_SECONDS_TO_TAKE = 60.0
_SECONDS_TO_DISCARD = 3.0
_METHODS = ("GET", "HEAD", "POST")

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    # Not no-referrer: browsers then call the origin of the explorer's own forms null.
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[Scope, int, str, str], tuple[bytes, str]]
"""From a request, a status, a rule and a remedy to a page and its media type."""


class _TooLong(Exception):
    """A body has more bytes than any may have."""


class _TooMuch(Exception):
    """All bodies together have more bytes than are held."""


class Guard:
    """ASGI middleware that lets through what its module says.

    Parameters
    ----------
    application : ASGI application
    refuse : callable
        Writes the page that says no.
    access : Access, optional
        Lets one browser in, and no other; all pages then stand under its path, which reaches the application as
        ``root_path``.
    public : frozenset of str
        The paths that every browser may ask for.
    """

    def __init__(
        self,
        application: Application,
        refuse: Refuse,
        access: Access | None = None,
        public: frozenset[str] = frozenset(),
    ) -> None:
        self._application = application
        self._refuse = refuse
        self._access, self._public = access, public
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        with suppress(TimeoutError):  # a client that reads too slowly loses the end of the page
            async with asyncio.timeout(_SECONDS_TO_TAKE):
                await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = _stranger(scope)
        if refused is not None:
            await self._say_no(scope, send, *refused)
            return
        if self._access is not None:
            if self._access.admits(scope):
                scope = {**scope, "root_path": self._access.root}
            elif scope["path"] not in self._public or scope["method"] == "POST":
                await self._let_in(self._access, scope, send)
                return
        length = _header(scope, b"content-length")
        held = 0

        def hold(size: int) -> None:
            nonlocal held
            if held + size > LARGEST_BODY:
                raise _TooLong
            if self._held + size > _HELD_IN_ALL:
                raise _TooMuch
            held += size
            self._held += size

        try:
            if length is not None and int(length) > LARGEST_BODY:
                raise _TooLong
            async with asyncio.timeout(_SECONDS_TO_SEND):
                body = await _read(receive, hold)
            if body is None:
                return
            # A page has said where it failed. The server would write the message too, which may hold a value.
            with suppress(Exception):
                await self._application(scope, _replay(body, receive), _with_headers(send))
        except _TooLong:
            await _discard(receive)
            rule = f"a body has at most {LARGEST_BODY >> 20} MiB"
            await self._say_no(scope, send, 413, rule, "use the command line for larger files")
        except _TooMuch:
            await _discard(receive)
            await self._say_no(scope, send, 503, "too much is being sent at once", "try again in a moment")
        except TimeoutError:
            await self._say_no(scope, send, 408, "the request did not arrive in time", "send it again")
        finally:
            self._held -= held

    async def _let_in(self, access: Access, scope: Scope, send: Send) -> None:
        cookie = access.exchange(scope)
        if cookie is None:
            await self._say_no(scope, send, 403, _NOT_ADMITTED, "open the address that the terminal shows")
            return
        base = access.root.encode()
        await _say(scope, send, 200, _ENTERED % (base, base), {"content-type": "text/html", "set-cookie": cookie})

    async def _say_no(self, scope: Scope, send: Send, status: int, rule: str, remedy: str) -> None:
        page, media_type = self._refuse(scope, status, rule, remedy)
        await _say(scope, send, status, page, {"content-type": media_type})


async def _say(scope: Scope, send: Send, status: int, page: bytes, headers: dict[str, str]) -> None:
    more = {**headers, "content-length": str(len(page)), "connection": "close"}
    guarded = _with_headers(send)
    await guarded({"type": "http.response.start", "status": status, "headers": _encoded(more)})
    await guarded({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else page})


_NOT_ADMITTED = "this explorer shows a private table, and this browser was not opened with its one-time address"
# A page and no redirect: the browser counts what follows a redirect as part of the visit from elsewhere, and a visit
# from elsewhere does not bring the cookie.
_ENTERED = (
    b'<!doctype html><html lang="en"><title>Iris</title><meta http-equiv="refresh" content="0;url=%s/">'
    b'<p><a href="%s/">Open the explorer</a></p></html>'
)


class Access:
    """A one-time token, exchanged for a secret path and a cookie that all other requests must bring.

    Parameters
    ----------
    used : callable
        Called once, when the token was used.
    """

    def __init__(self, used: Callable[[], None] = lambda: None) -> None:
        self.token = secrets.token_urlsafe(32)
        self.root = f"/{secrets.token_urlsafe(32)}"
        self._cookie = secrets.token_urlsafe(32)
        self._used, self._spent = used, False

    def admits(self, scope: Scope) -> bool:
        """Tell whether a request knows the secret path and brings the cookie."""
        place = scope["path"].encode("utf-8", "surrogatepass")[: len(self.root) + 1]
        under = hmac.compare_digest(place, f"{self.root}/".encode())
        sent = (value for name, value in scope["headers"] if name == b"cookie")
        pairs = (pair.strip().partition(b"=") for value in sent for pair in value.split(b";"))
        right = self._cookie.encode()
        # A request that knows one of the two is answered as one that knows none.
        return any([key == b"iris" and hmac.compare_digest(value, right) for key, _, value in pairs]) and under

    def exchange(self, scope: Scope) -> str | None:
        """Return the cookie to set for a request with the token; None for any other, and after the first."""
        if scope["method"] != "GET" or scope["path"] != "/" or self._spent:
            return None
        given = urllib.parse.parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), self.token.encode()):
            return None
        self._spent = True
        self._used()
        return f"iris={self._cookie}; Path={self.root}/; HttpOnly; SameSite=Strict"


def _stranger(scope: Scope) -> tuple[int, str, str] | None:
    """Say why a request is refused by who sends it; None where it is not."""
    port = (scope.get("server") or ("", 0))[1]
    own = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if port == 80:
        own |= {"127.0.0.1", "localhost", "[::1]"}
    names = [value for name, value in scope["headers"] if name == b"host"]
    if len(names) != 1 or names[0].decode("latin-1").lower() not in own:
        rule = "the explorer answers to the loopback's own names only"
        return 421, rule, f"open http://127.0.0.1:{port}/"
    if scope["method"] not in _METHODS:
        return 405, "only GET, HEAD and POST are answered", "use the forms"
    for origin in (value for name, value in scope["headers"] if name == b"origin"):
        if origin.decode("latin-1").lower() not in {f"http://{name}" for name in own}:
            return 403, "the request comes from a page of somebody else", "use the explorer's own pages"
    site, mode = _header(scope, b"sec-fetch-site"), _header(scope, b"sec-fetch-mode")
    followed = mode == "navigate" and scope["method"] == "GET" and _header(scope, b"sec-fetch-dest") == "document"
    if site in ("cross-site", "same-site") and not followed:
        return 403, "the request comes from a page of somebody else", "use the explorer's own pages"
    return None


def _header(scope: Scope, wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


async def _read(receive: Receive, hold: Callable[[int], None]) -> bytes | None:
    """Read a body while it is no longer than it may be; None where the sender went away."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        hold(len(part))
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _discard(receive: Receive) -> None:
    """Let the rest of a body pass by for a moment: who is still sending reads no answer. Nothing of it is kept."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS_TO_DISCARD):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand a body on that was read."""
    pending = [body]

    async def again() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return again


def _with_headers(send: Send) -> Send:
    """Add to every response what pages may do; a header that a page sets itself stands."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = {name for name, _ in message["headers"]}
            more = [pair for pair in _encoded(HEADERS) if pair[0] not in said]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return guarded


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
