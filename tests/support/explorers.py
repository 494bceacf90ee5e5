"""An explorer of a table in a process of its own, and a browser without scripts that it lets in."""

import contextlib
import html
import http.client
import re
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

_START = "import sys; from irisdp.__main__ import run; sys.argv[0] = 'irisdp'; run()"


class Explorer:
    """One explorer. Addresses of `get` and `post` are relative to the secret path, as on its pages."""

    def __init__(self, process, address):
        self.process = process
        parts = urllib.parse.urlsplit(address)
        self.port, self.token = parts.port, urllib.parse.parse_qs(parts.query)["token"][0]
        status, headers, text = self.ask("GET", f"/?token={self.token}")
        assert status == 200, text
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.root = re.search(r'url=(/[^/"]+)/"', text)[1]
        self.secrets = (self.token, self.root[1:], self.cookie.partition("=")[2])

    def ask(self, method, path, body=None, seconds=120, **headers):
        """Send one request as it is; return status, headers and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            if isinstance(body, dict):
                body = urllib.parse.urlencode(body)
                named.setdefault("Content-Type", "application/x-www-form-urlencoded")
            connection.request(method, path, body=body, headers=named)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def get(self, address, **headers):
        """Ask for a page as the browser that was let in."""
        return self.ask("GET", f"{self.root}/{address}", cookie=self.cookie, **headers)

    def post(self, address, **fields):
        """Send a form as the browser that was let in."""
        return self.ask("POST", f"{self.root}/{address}", fields, cookie=self.cookie)

    def offer(self):
        """Return the name that the form of Publish carries now."""
        status, _, text = self.get("publish")
        found = re.search(r'name="offer" value="([^"]+)"', text)
        assert status == 200 and found is not None, text
        return html.unescape(found[1])

    def press(self, offer):
        """Press the button of Publish; return where the browser is sent, relative to the secret path."""
        status, headers, text = self.post("publish", offer=offer)
        assert status == 303, text
        assert headers["location"].startswith(f"{self.root}/")
        return headers["location"].removeprefix(f"{self.root}/")

    def wait(self, job):
        """Wait for the end of a job, and return its page."""
        for _ in range(1200):
            if "data-over" in self.get(f"{job}/state")[2]:
                return self.get(job)[2]
            time.sleep(0.05)
        raise AssertionError("the job does not end")


@contextlib.contextmanager
def exploring(data, *words, planted=""):
    """Serve a table in the folder of its file; `planted` is Python that runs first, such as a step to be killed at."""
    with (data.parent / "stderr.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", f"{planted}\n{_START}", "explore", data.name, *words, "--port", "0", "--no-browser"],
            cwd=data.parent,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
        assert address, line + (data.parent / "stderr.log").read_text()
        yield Explorer(process, address[0])
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


def children(process):
    """Return the ids of all processes that a process has started, and of theirs."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {process.pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process.pid}
