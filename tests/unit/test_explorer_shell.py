"""The shell of the explorer: addresses, who may ask, how much may be sent, and errors in words."""

import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

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
    ("read", {"value": "7", "release": "{"}, "What was published: "),
])  # fmt: skip
def test_a_form_half_filled_in_is_wrong_only_when_it_is_sent(client, room, said, wrong):
    """The script asks as people type: what is missing is said in the part, and browsers log no failed request."""
    part = client.post(f"/{room}/result", data=said)
    assert part.status_code == 200
    assert f'role="alert"><p>{wrong}' in part.text
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
