"""The explorer under attack, over real sockets: clear answers, bounded memory, and nobody waits for anybody else."""

import asyncio
import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: `make test` installs it")

import uvicorn

from irisdp._explorer import security
from irisdp._explorer import server as server_module
from irisdp._explorer.server import _allow_files, _listen

pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

import pytest
from starlette.testclient import TestClient

import irisdp._explorer.app
from irisdp import BadInput
from irisdp._cli import run
from irisdp._explorer.app import ROOMS, create_app
from irisdp._explorer.common_fields import as_bytes, as_text
from irisdp._explorer.forms import Field, read_values, show_field
from irisdp._explorer.pages import TOUCHES_NO_TABLE
from irisdp._explorer.security import HEADERS
from irisdp._html import Html, element, joined

MEBIBYTE = 1 << 20
MOST_GROWTH = 64 * MEBIBYTE
"""That a server may grow by under attack, page caches and threads included."""
PROCESS = Path("/proc/self/status")


@contextlib.contextmanager
def serving():
    command = [sys.executable, "-m", "irisdp", "explore", "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])
        _wait(lambda: _get(port, "/health")[0] == 200)
        yield process, port
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="module")
def server():
    with serving() as found:
        _get(found[1], "/ask")
        _wait_for_engines(found[0])
        yield found


def _wait(done, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if done():
                return
        time.sleep(0.05)
    pytest.fail("the server does not answer")


def _wait_for_engines(process):
    """Wait until a server no longer grows by what it loads for itself while nobody asks."""
    before, last = -1, _most_memory(process) if PROCESS.exists() else -1
    while last > before:
        time.sleep(1)
        before, last = last, _most_memory(process)


def _get(port, path, seconds=30, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _raw(port, content, seconds=30):
    """Send bytes as they are, and return what comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as one:
        one.sendall(content)
        parts = []
        with contextlib.suppress(OSError):
            while part := one.recv(65536):
                parts.append(part)
                if b"\r\n\r\n" in b"".join(parts) and b"connection: close" not in parts[0].lower():
                    break
        return b"".join(parts)


def _most_memory(process):
    if not PROCESS.exists():
        pytest.skip("the memory of a process is read from /proc")
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024


def test_whoever_comes_before_it_answers_waits():
    """Its address is told before the server is up: a browser that is opened at once must not be refused."""
    with _listen(0) as listening:
        socket.create_connection(listening.getsockname(), timeout=5).close()


def test_it_listens_on_the_loopback_only(server):
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("who listens is read from /proc/net/tcp")
    _, port = server
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert [found.split(":")[0] for found in listening if int(found.split(":")[1], 16) == port] == ["0100007F"]


@pytest.mark.parametrize("way", ["length", "chunked", "lying"])
def test_a_hundred_megabytes_are_refused_as_they_arrive(server, way):
    process, port = server
    before = _most_memory(process)
    part = b"x" * 65536
    head = f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    if way == "length":
        head += f"Content-Length: {100 * MEBIBYTE}\r\n\r\n"
    elif way == "lying":
        head += "Content-Length: 10\r\n\r\n"
    else:
        head += "Transfer-Encoding: chunked\r\n\r\n"
        part = b"10000\r\n" + part + b"\r\n"
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        one.sendall(head.encode())
        with contextlib.suppress(OSError):
            for _ in range(1600):
                one.sendall(part)
            if way == "chunked":
                one.sendall(b"0\r\n\r\n")
        with contextlib.suppress(OSError):
            while more := one.recv(65536):
                answer += more
                if b"</html>" in answer:
                    break
    if way == "lying":  # what comes after is another request, and none
        assert b"200" in answer.split(b"\r\n")[0] or b"400" in answer or not answer
    else:
        assert answer.startswith(b"HTTP/1.1 413") and b"at most 1 MiB" in answer
    assert _most_memory(process) - before < MOST_GROWTH
    assert _get(port, "/health")[0] == 200


def test_a_thousand_requests_at_once_are_answered_in_words(server):
    process, port = server
    before = _most_memory(process)
    _allow_files()  # here too every connection is one

    async def one(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        path = f"/ask/result?query=count&by=epsilon&epsilon=1&size={200 + number}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        return answer

    async def all_of_them():
        return await asyncio.gather(*(one(number) for number in range(1000)), return_exceptions=True)

    answers = asyncio.run(all_of_them())
    said = [answer for answer in answers if isinstance(answer, bytes) and answer]
    assert len(said) == 1000
    kinds = {answer.split(b" ")[1] for answer in said}
    assert kinds <= {b"200", b"503"} and b"200" in kinds
    assert all(b"try again" in answer or b"Service Unavailable" in answer for answer in said if b" 503 " in answer[:20])
    assert _most_memory(process) - before < 2 * MOST_GROWTH
    assert _get(port, "/health")[0] == 200


def test_slow_readers_and_slow_senders_block_nobody(server):
    _, port = server
    slow = []
    try:
        for number in range(60):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", port))
            slow.append(one)
            head = f"Host: 127.0.0.1:{port}\r\n"
            if number % 3 == 0:
                one.sendall(f"GET /ask HTTP/1.1\r\n{head}\r\n".encode())  # and reads nothing
            elif number % 3 == 1:
                one.sendall(f"GET /ask HTTP/1.1\r\n{head}".encode())  # and never ends
            else:
                one.sendall(f"POST /ask HTTP/1.1\r\n{head}Content-Length: 1000\r\n\r\nsize".encode())
        start = time.monotonic()
        for _ in range(5):
            assert _get(port, "/health", seconds=5)[0] == 200
        assert _get(port, "/ask", seconds=20)[0] == 200
        assert time.monotonic() - start < 20
    finally:
        for one in slow:
            one.close()


@contextlib.contextmanager
def bounded(most, seconds):
    """Serve long pages with other bounds on connections than the explorer has."""

    async def application(scope, receive, send):
        if scope["type"] == "http":
            while (await receive()).get("more_body"):
                pass
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(64 if scope["path"] == "/long" else 1):
                await send({"type": "http.response.body", "body": bytes(MEBIBYTE), "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    settings = server_module._settings(most) | {"http": server_module._bounded_connections(most, seconds)}
    served = uvicorn.Server(uvicorn.Config(application, **settings | {"lifespan": "off"}))
    with _listen(0) as listening:
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        served.should_exit = True
        thread.join(20)


UNFINISHED = {
    "silent": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: 127.0",
    "no body": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n",
    "reads nothing": b"GET /long HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.mark.parametrize("kind", UNFINISHED)
def test_connections_that_wait_for_their_peer_give_way(kind):
    with bounded(20, 60) as port, contextlib.ExitStack() as held:
        for _ in range(3):
            for _ in range(30):
                one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
                one.sendall(UNFINISHED[kind])
            assert _get(port, "/", seconds=5)[0] == 200


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"], ids=["first", "second"])
def test_headers_that_come_slowly_are_cut_off(first):
    with contextlib.ExitStack() as held:
        port, start = held.enter_context(bounded(20, 0.4)), time.monotonic()
        one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        one.sendall(first)
        with contextlib.suppress(OSError):
            for letter in b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 400:
                one.sendall(bytes([letter]))
                time.sleep(0.02)
        assert 0.3 < time.monotonic() - start < 4


def test_two_thousand_silent_connections_that_are_renewed_keep_nobody_out(server):
    _, port = server
    if _allow_files() < 3000:
        pytest.skip("this system allows too few open files")
    rounds = 3 if os.environ.get("IRISDP_WHOLE") else 1
    with contextlib.ExitStack() as held:
        for _ in range(rounds):
            for _ in range(2050):
                held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            start = time.monotonic()
            assert _get(port, "/health")[0] == 200
            assert time.monotonic() - start < 12
            if rounds > 1:
                held.pop_all().close()


def _post(port, path, body="", seconds=60):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Location"), answer.read().decode()
    finally:
        connection.close()


ROWS = [",".join(f"{1 + (i * j) % 7919}e-6" for j in range(250)) for i in range(400)]
LONG = {
    "check": {"mechanism": "\n".join(ROWS), "on": "complete", "epsilon": "1/7"},
    "design": {"kind": "consumer", "n": "100", "delta": "1/1000", "epsilon": "1/10"},
}
"""Of any two of 400 inputs 250 answers are compared, 20 million exact numbers; a design with exact multipliers."""


@pytest.mark.parametrize("room", LONG)
def test_work_that_would_take_an_hour_is_watched_and_cancelled_and_holds_up_nobody(server, room):
    process, port = server
    before = _most_memory(process)
    status, job, _ = _post(port, f"/{room}", urllib.parse.urlencode(LONG[room]))
    assert status == 303 and job.startswith("/jobs/")
    assert _get(port, "/ask?size=777")[0] == 200
    assert _get(port, "/health")[0] == 200
    status, page = _get(port, job)
    assert status == 200 and "Cancel" in page, "others were answered while it was at work"
    status, back, _ = _post(port, f"{job}/cancel")
    assert (status, back) == (303, job)
    _wait(lambda: "cancelled" in _get(port, job)[1].lower())
    assert _most_memory(process) - before < MOST_GROWTH


@pytest.mark.parametrize(("request_line", "headers", "statuses"), [
    ("GET / HTTP/1.1", "Host: evil.example\r\n", (421,)),
    ("GET / HTTP/1.1", "Host: 127.0.0.1:{port}.evil.example\r\n", (421,)),
    ("GET / HTTP/1.1", "Host: evil.example:{port}\r\nX-Forwarded-Host: 127.0.0.1:{port}\r\n", (421,)),
    ("GET / HTTP/1.1", "Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n", (400, 421)),
    ("GET / HTTP/1.1", "", (400, 421)),
    ("GET http://evil.example/ HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (200, 400, 404, 421)),
    ("GET / HTTP/1.1", "Host: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n", (403,)),
    ("GET / HTTP/1.1", "Host: 127.0.0.1:{port}\r\nOrigin: null\r\n", (403,)),
    ("GET /static/../../../../etc/passwd HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (404,)),
    ("GET /static/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (404,)),
    ("GET /static/..%5c..%5capp.py HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (404,)),
    ("GET //etc/passwd HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (404,)),
    ("DELETE /ask HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (405,)),
    ("GET /ask?" + "a" * 100_000 + " HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (200, 400)),
    ("\x00\x01\x02 nonsense", "", (400,)),
    ("GET /ask?size=%ff%fe%00 HTTP/1.1", "Host: 127.0.0.1:{port}\r\n", (400,)),
])  # fmt: skip
def test_strange_requests_are_refused_and_served_nothing(server, request_line, headers, statuses):
    _, port = server
    answer = _raw(port, f"{request_line}\r\n{headers.format(port=port)}\r\n".encode("latin-1"))
    assert int(answer.split(b" ")[1]) in statuses
    assert b"root:" not in answer and b"Traceback" not in answer and b'File "' not in answer
    assert _get(port, "/health")[0] == 200


def test_a_client_that_goes_away_leaves_nothing_behind(server):
    _, port = server
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            one.sendall(f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 100\r\n\r\nab".encode())
    assert _get(port, "/ask")[0] == 200


def test_a_taken_port_is_said_in_one_line(server):
    _, port = server
    command = [sys.executable, "-m", "irisdp", "explore", "--no-browser", "--port", str(port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "give another, or 0 for any" in done.stderr


def test_the_keyboard_stops_it():
    with serving() as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0


def _asked(application, chunks, *, pause=0.0):
    """Send one request through the guard, and return what it sends back."""
    sent = []

    async def receive():
        await asyncio.sleep(pause)
        if not chunks:
            return {"type": "http.disconnect"}
        body = chunks.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(chunks)}

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:80")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "server": ("127.0.0.1", 80)}
    asyncio.run(application(scope, receive, send))
    return sent


def _guarded(inner=None):
    async def fine(scope, receive, send):
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return security.Guard(
        inner or fine, lambda scope, status, rule, remedy: (f"{rule}; {remedy}".encode(), "text/plain")
    )


def test_who_sends_too_slowly_is_told(monkeypatch):
    monkeypatch.setattr(security, "_SECONDS_TO_SEND", 0.05)
    assert _asked(_guarded(), [b"a"] * 100, pause=0.02)[0]["status"] == 408


def test_who_takes_too_slowly_is_cut_off(monkeypatch):
    monkeypatch.setattr(security, "_SECONDS_TO_TAKE", 0.05)

    async def slow(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(5)

    start = time.monotonic()
    assert len(_asked(_guarded(slow), [b""])) == 1
    assert time.monotonic() - start < 4


def test_all_bodies_together_are_bounded(monkeypatch):
    monkeypatch.setattr(security, "_HELD_IN_ALL", 1000)
    one = _guarded()
    assert _asked(one, [b"x" * 900])[1]["body"] == b"x" * 900
    assert _asked(one, [b"x" * 900])[0]["status"] == 200, "what was answered is let go"
    assert _asked(one, [b"x" * 1100])[0]["status"] == 503


def test_sockets_of_the_web_are_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(_guarded()({"type": "websocket", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_nothing_of_the_environment_is_shown(server):
    _, port = server
    text = _get(port, "/ask")[1] + _get(port, "/nothing")[1] + _get(port, "/ask?size=x")[1]
    assert str(Path.home()) not in text.replace("/", os.sep) or str(Path.home()) == "/"
    assert "irisdp-explorer-" not in text and str(Path.cwd()) not in text


# The shell of the explorer: addresses, who may ask, how much may be sent, and errors in words.

HERE = "http://127.0.0.1:8080"
LONGEST_LABEL = 30


@pytest.fixture(scope="module")
def client():
    return TestClient(create_app(), base_url=HERE, raise_server_exceptions=False)


def test_it_says_that_it_is_there(client):
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("address", ["/", *(f"/{room.name}" for room in ROOMS)])
def test_pages_say_that_no_table_is_touched_and_what_they_may_do(client, address):
    found = client.get(address)
    assert found.status_code == 200
    assert TOUCHES_NO_TABLE in found.text
    for name, value in HEADERS.items():
        assert found.headers[name] == value
    assert "set-cookie" not in found.headers
    assert "style=" not in found.text and "<script>" not in found.text, "the policy would not let it"
    assert 'lang="en"' in found.text and found.text.count("<h1>") == 1 and "<main" in found.text


def test_every_field_has_a_label(client):
    for room in ROOMS:
        text = client.get(f"/{room.name}").text
        for one in room.fields:
            assert f'for="field-{one.name}"' in text and f'id="field-{one.name}"' in text


def test_menus_can_be_read_on_a_phone():
    """360 points wide a closed menu shows about thirty letters."""
    for room in ROOMS:
        for one in room.fields:
            for _, label in one.choices:
                assert len(label) <= LONGEST_LABEL, (room.name, one.name, label)


@pytest.mark.parametrize("name", [
    "evil.example",
    "evil.example:8080",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:8080.evil.example",
    "0.0.0.0:8080",
    "",
])  # fmt: skip
def test_foreign_names_are_refused(client, name):
    found = client.get("/ask", headers={"host": name})
    assert found.status_code == 421
    assert "loopback" in found.text


@pytest.mark.parametrize("name", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
def test_own_names_are_answered(client, name):
    assert client.get("/", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://localhost", "file://"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_foreign_origins_are_refused(client, origin, method):
    assert client.request(method, "/ask", headers={"origin": origin}).status_code == 403


def test_own_origins_are_answered(client):
    for origin in ("http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"):
        assert client.post("/ask", headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_other_sites_load_is_refused_and_links_are_followed(client, site):
    followed = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/ask", headers=followed).status_code == 200
    assert client.post("/ask", headers=followed).status_code == 403
    assert client.get("/ask", headers={**followed, "sec-fetch-dest": "iframe"}).status_code == 403
    assert client.get("/ask", headers={**followed, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/ask", headers={"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"])
def test_other_methods_are_refused(client, method):
    assert client.request(method, "/ask").status_code == 405


@pytest.mark.parametrize("path", [
    "/static/../app.py",
    "/static/..%2fapp.py",
    "/static/%2e%2e/%2e%2e/errors.py",
    "/static//etc/passwd",
    "/static/explorer.css/../explorer.js%00",
    "/files/0/..%2f..%2fetc%2fpasswd",
    "/pictures/..%2f..%2fx.svg",
    "/pictures/0.exe",
    "/nothing",
])  # fmt: skip
def test_paths_lead_nowhere_else(client, path):
    found = client.get(path)
    assert found.status_code == 404
    assert "There is no such page" in found.text


def test_wrong_input_is_said_at_its_field(client):
    found = client.get("/ask", params={"by": "epsilon", "epsilon": "-1"})
    assert found.status_code == 400
    assert 'aria-invalid="true"' in found.text and 'id="field-epsilon-wrong"' in found.text


@pytest.mark.parametrize(("room", "said", "wrong"), [
    ("ask", {"within": "none"}, "Off by at most: "),
    ("ask", {"query": "at-least", "threshold": ""}, "K: "),
    ("read", {"value": "7", "release": "{"}, "Release file: "),
])  # fmt: skip
def test_a_form_half_filled_in_is_wrong_only_when_it_is_sent(client, room, said, wrong):
    """The script asks as people type: what is missing is said in the part, and browsers log no failed request."""
    part = client.post(f"/{room}/result", data=said)
    assert part.status_code == 200
    assert re.search(f'role="alert"><p><a [^>]*>{re.escape(wrong)}', part.text)
    assert client.post(f"/{room}", data=said).status_code == 400


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'\n\u202e\x00"]
)
def test_nothing_that_was_sent_is_markup(client, text):
    for room in ROOMS:
        for one in room.fields:
            found = client.get(f"/{room.name}", params={one.name: text})
            assert found.status_code in (200, 303, 400, 422)
            assert "<script>alert" not in found.text and "<img src=x" not in found.text


def test_malformed_bodies_are_answered_in_words(client):
    headers = {"content-type": "multipart/form-data; boundary=x"}
    found = client.post("/ask", content=b"--x\r\nno part\r\n", headers=headers)
    assert found.status_code in (200, 400)
    assert "<h1>" in found.text
    assert (
        client.post("/ask", content=b"\xff" * 100, headers={"content-type": "multipart/form-data"}).status_code == 400
    )
    many = "&".join(f"a{number}=1" for number in range(1000))
    urlencoded = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/ask", content=many, headers=urlencoded).status_code == 400


def test_a_body_is_at_most_a_mebibyte(client):
    urlencoded = {"content-type": "application/x-www-form-urlencoded"}
    found = client.post("/ask", content="size=" + "1" * (1 << 20), headers=urlencoded)
    assert found.status_code == 413 and "command line" in found.text
    assert client.post("/ask", content=(b"1" * 65536 for _ in range(20)), headers=urlencoded).status_code == 413


def test_hidden_letters_are_shown_by_number_and_markup_is_text():
    assert element("p", "\u202e<b>", title='"') == '<p title="&quot;">\\u202e&lt;b&gt;</p>'
    assert joined(["a", None, Html("<br>")]) == "a<br>"


def test_a_field_that_does_not_stand_is_not_sent():
    one = Field(name="k", label="K", when={"query": ("top",)})
    assert "disabled" in show_field(one, {"query": "count"}, None)
    assert "disabled" not in show_field(one, {"query": "top"}, None)
    assert read_values((one,), {"other": "1"}) == {"k": ""}


def test_files_go_through_a_field_unchanged():
    for content in (b"plain", bytes(range(256)), b""):
        assert as_bytes(as_text(content), "file") == content
    with pytest.raises(BadInput, match="file: "):
        as_bytes("base64:!", "file")


def test_a_missing_extra_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["explore", "--no-browser"]) == 2
    assert capsys.readouterr().err == 'irisdp: uvicorn: is not installed; pip install "irisdp[explorer]"\n'
    assert irisdp._explorer.app is not None


@pytest.mark.parametrize(("port", "said"), [("70000", "at least 0 and at most 65535"), ("x", ""), ("1.5", "whole")])
def test_a_port_that_is_none_is_said_in_our_own_words(port, said, capsys):
    assert run(["explore", "--no-browser", "--port", port]) == 2
    told = capsys.readouterr().err
    assert told.startswith("irisdp: --port: must be ") and said in told and told.count("\n") == 1


def test_starting_iris_loads_no_server():
    code = (
        "import sys, irisdp._cli.main;"
        "print([m for m in ('starlette', 'uvicorn', 'anyio', 'altair') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
