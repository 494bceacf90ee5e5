"""A browser that is watched: nothing may leave this machine, be refused by a page's own rules, or complain.

Three things look at once. Every request of every page is asked for its host before it is made, and is not made
unless it stays here. All else that Chromium might ask for goes to a proxy that leads nowhere and keeps what it was
asked. And names other than this machine's have no address.
"""

import re
import socket
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

HERE = {"127.0.0.1", "localhost", "::1"}
CHROMIUM_ITSELF = {f"{name}.google.com" for name in ("accounts", "clients2", "content-autofill", "update")}
CHROMIUM_ITSELF |= {name.replace(".google.", ".googleapis.") for name in CHROMIUM_ITSELF}
"""Whom Chromium asks of its own accord for updates, the time and what fields may hold; the proxy refuses these, too."""
LIGHT, DARK = "light", "dark"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
PATIENCE = 120_000
"""Milliseconds that anything may take before it counts as missing; of what others do meanwhile tests say nothing."""

VIOLATIONS = """
document.addEventListener("securitypolicyviolation", event => {
  console.error(`content security policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
});
"""


class Nowhere:
    """A proxy that answers nobody, and keeps the first line of all that it is asked."""

    def __init__(self):
        self.asked = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:  # closed
                return
            with caller:
                caller.settimeout(5)
                try:
                    self.asked.append(caller.recv(4096).split(b"\r\n", 1)[0].decode("latin-1"))
                except OSError:
                    self.asked.append("a connection without a word")

    def of_pages(self):
        """Return what was asked for, but for what Chromium asks for itself."""
        return [line for line in self.asked if not CHROMIUM_ITSELF & set(re.split(r"[ /:]+", line))]

    def forget(self):
        """Keep nothing of what was asked so far."""
        self.asked.clear()

    def close(self):
        self._listener.close()


REBOUND = "rebound.example"
"""A name that an attacker points at this machine; the browser of these tests knows it."""


def stays_here(url):
    """Say whether a request for that address stays on this machine."""
    parts = urlsplit(url)
    here = parts.hostname in HERE or parts.hostname == REBOUND
    return parts.scheme in ("data", "blob", "about") or (parts.scheme in ("http", "ws") and here)


class Watch:
    """What pages of one context asked for and said. `files` are those that they may open; `expected` may be said."""

    def __init__(self, context, files=()):
        self.requests, self.strays, self.said, self.expected = [], [], [], []
        self._files = {path.resolve().as_uri() for path in files}
        context.add_init_script(VIOLATIONS)
        context.on("request", self._note)
        context.on("page", self._attend)
        context.route("**/*", self._gate)

    def _allowed(self, url):
        return stays_here(url) or url.split("#")[0].split("?")[0] in self._files

    def _note(self, request):
        self.requests.append(request.url)
        if not self._allowed(request.url):
            self.strays.append(request.url)

    def _gate(self, route):
        if self._allowed(route.request.url):
            route.continue_()
        else:
            route.abort()

    def _attend(self, page):
        page.on("console", lambda message: self._hear(f"{message.type}: {message.text}", message.type))
        page.on("pageerror", lambda error: self._hear(f"uncaught: {error}", "error"))
        page.on("websocket", lambda socket: None if stays_here(socket.url) else self.strays.append(socket.url))

    def _hear(self, words, kind):
        if kind in ("error", "warning") and not any(part in words for part in self.expected):
            self.said.append(words)

    def check(self):
        """Fail where something left this machine or complained."""
        assert self.strays == [], "a page asked for something beyond this machine"
        assert self.said == [], "a page complained"


@contextmanager
def watched(browser, *, files=(), dark=False, phone=False, **options):
    """Open a context that is watched, and check it in the end."""
    context = browser.new_context(
        viewport=PHONE if phone else DESKTOP,
        color_scheme=DARK if dark else LIGHT,
        has_touch=phone,
        device_scale_factor=2 if phone else 1,
        service_workers="block",
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(PATIENCE)
    watch = Watch(context, files)
    context.watch = watch
    try:
        yield context
        watch.check()
    finally:
        context.close()


def tab_to(page, selector):
    """Press Tab until a thing has the focus, which must then be seen."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", "the focus cannot be seen"
            return
    raise AssertionError(f"Tab does not lead to {selector}")
