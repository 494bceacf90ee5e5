"""The page Table of `irisdp explore DATA`: the same as `irisdp check`, for one browser, and only when asked."""

import json
import shlex
import stat
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

from starlette.testclient import TestClient

from irisdp import BadInput
from irisdp._cli import run
from irisdp._explorer.app import ROOMS, create_app
from irisdp._explorer.forms import read_values
from irisdp._explorer.pages import TOUCHES_NO_TABLE
from irisdp._explorer.security import Access
from irisdp._explorer.server import _BrowserFile
from irisdp._explorer.table import check, check_tool
from irisdp._explorer.workspace import ServedTable, Workspace
from support.commands import irisdp

HERE = "http://127.0.0.1:8080"
MESSY = "id;ward;born\n1;north;01.02.1971\n2;south;03.02.1972\n3;north;04.02.1973\n"
SECRET = "03.02.1972"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(MESSY)
    return ServedTable(data=str(path), options={"delimiter": ";"})


@pytest.fixture
def access():
    return Access()


@pytest.fixture
def client(table, access):
    with TestClient(create_app(Workspace(table), access), base_url=HERE, raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def admitted(client, access):
    """Return a browser that was let in, whose addresses are below the secret path."""
    assert client.get("/", params={"token": access.token}).status_code == 200
    client.base_url = f"{HERE}{access.root}/"
    return client


def finished(client, **fields):
    found = client.post("table/check", data=fields)
    for _ in range(400):
        if 'class="job"' not in found.text:
            return found
        time.sleep(0.05)
        found = client.get(found.url)
    pytest.fail("the check does not end")


@pytest.mark.parametrize("address", ["/", *(f"/{room.name}" for room in ROOMS), "/table", "/table/check", "/jobs/0"])
def test_another_user_of_the_machine_sees_no_page(client, access, address):
    right = {"cookie": f"iris={access._cookie}"}
    for root, headers in (
        *(("", headers) for headers in ({}, {"cookie": "iris="}, {"cookie": "iris=x; iris-80=y"}, right)),
        *((access.root, headers) for headers in ({}, {"cookie": "iris="}, {"cookie": "iris=x"})),
        *((f"/{access.root[1:-1]}{letter}", right) for letter in "x-"),
        (access.root + "x", right),
        (access.root.swapcase(), right),
        (f"/x{access.root}", right),
        (f"/{access.root}", right),
    ):
        found = client.get(root + address, headers=headers)
        assert found.status_code == 403 and "visits" not in found.text and "set-cookie" not in found.headers
        assert access.root in root or access.root[1:] not in found.text, "a page says no more than was asked"
        assert client.post(root + address, data={}, headers=headers).status_code == 403
    assert client.get(access.root + "/table", headers=right).status_code == 200, "both together are right"


def test_what_shows_nothing_is_open_to_all(client):
    assert client.get("/health").status_code == 200
    assert client.get("/static/explorer.css").status_code == 200
    for answer in (client.get("/static/x"), client.get("/static/../table"), client.post("/static/explorer.css")):
        assert answer.status_code == 403 and "Table" not in answer.text


def test_the_token_works_once_and_only_as_it_is(client, access):
    for token in ("", access.token[:-1], access.token + "x", access.token.swapcase()):
        assert client.get("/", params={"token": token}).status_code == 403
    assert client.get("/table", params={"token": access.token}).status_code == 403
    assert client.get("/", params=[("token", access.token), ("token", "x")]).status_code == 403
    assert client.post("/", params={"token": access.token}).status_code == 403
    assert client.head("/", params={"token": access.token}).status_code == 403
    first = client.get("/", params={"token": access.token})
    cookie = first.headers["set-cookie"]
    assert first.status_code == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert f"; Path={access.root}/;" in cookie and "Domain" not in cookie, "no other port, no other name gets it"
    assert f'url={access.root}/"' in first.text and access.token not in cookie and access.token not in access.root
    client.cookies.clear()
    assert client.get("/", params={"token": access.token}).status_code == 403


def test_no_record_is_read_before_the_button_is_pressed(admitted, monkeypatch):
    monkeypatch.setattr("irisdp._explorer.app._Visit.start", lambda *_: pytest.fail("the table was read"))
    for address in ("", "table", "table/settings", "table/column?name=born", "table/check?decimal=,"):
        found = admitted.get(address)
        assert found.status_code == 200 and SECRET not in found.text
    assert "No record was read yet" in found.text
    assert TOUCHES_NO_TABLE not in admitted.get("").text


def test_it_shows_what_check_says(admitted, table):
    shown = finished(admitted, delimiter=";", decimal=",", thousands=".").text
    assert "3 records" in shown and "not for publication" in shown and SECRET in shown
    assert SECRET not in admitted.get("table/check").text, "a page that was not asked shows nothing of the records"


def test_a_changed_file_is_read_again(admitted, table):
    assert "3 records" in finished(admitted, delimiter=";").text
    Path(table.data).write_text(MESSY + "4;south;05.02.1974\n")
    assert "4 records" in finished(admitted, delimiter=";").text


def test_faults_of_the_header_are_shown_on_the_page(admitted):
    found = finished(admitted, delimiter="")
    assert found.status_code == 400 and "semicolons" in found.text


def test_pages_of_other_sites_start_nothing(admitted):
    assert admitted.post("table/check", data={}, headers={"origin": "http://evil.example"}).status_code == 403
    assert admitted.post("table/check", data={}, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_command_and_python_of_the_page_say_the_same(table, capsys):
    tool = check_tool(table)
    options = {"decimal": ",", "thousands": "."}
    told = {"served:data": table.data, "served:project": "", "served:pressed": "0"}
    result = check({**read_values(tool.fields, options), **told}, lambda _: None)
    words = shlex.split(result.command)
    assert run([*words[1:], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    columns = [tuple(row.values())[:2] for row in document["columns"]]
    assert [row[:2] for row in result.tables[-1].rows] == columns
    scope = {}
    exec(result.python, scope)
    assert str(document["records"]) in capsys.readouterr().out


class Links(HTMLParser):
    """The base of a page, and every address in it."""

    def __init__(self, text):
        super().__init__()
        self.base, self.all = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if tag == "base":
                self.base.append(value)
            elif name in ("href", "src", "action", "data-live", "data-job"):
                self.all.add(value)


def test_every_address_of_every_page_stays_below_the_secret_path(admitted, access):
    """As a browser joins them: by the base of the page, from whatever address it was asked for."""
    seen, ahead = {}, ["", "nothing/at/all", *(f"{room.name}?x=1" for room in ROOMS), "table"]
    finished(admitted, delimiter=";")
    while ahead:
        address = ahead.pop()
        seen[address] = found = admitted.get(address)
        if not found.headers["content-type"].startswith("text/html") or "attachment" in str(found.headers):
            continue
        links = Links(found.text)
        assert links.base == ([f"{access.root}/"] if found.text.startswith("<!doctype") else [])
        for link in links.all:
            assert not link.startswith(("/", "http")), (address, link)
            joined = urlsplit(urljoin(f"{HERE}{access.root}/", link))
            if joined.fragment:
                assert joined.path + (f"?{joined.query}" if joined.query else "") == f"{access.root}/{address}"
            assert joined.path.startswith(f"{access.root}/")
            plain = link.split("#")[0].removeprefix("./")
            if plain not in seen and plain not in ahead:
                ahead.append(plain)
    wrong = {address: found.status_code for address, found in seen.items() if found.status_code not in (200, 503)}
    posted = {address: 405 for address in seen if address.endswith("/outlook")}  # where a script sends a form
    assert wrong == {"nothing/at/all": 404} | posted and posted
    assert len(seen) > 12 and {"static/explorer.css", "static/explorer.js"} < set(seen)


def test_redirects_keep_the_secret_path(admitted, access, monkeypatch):
    monkeypatch.setattr("irisdp._explorer.dispatch._AT_ONCE", 0)
    started = admitted.post("table/check", data={"delimiter": ";"}, follow_redirects=False)
    assert started.status_code == 303 and started.headers["location"].startswith(f"{access.root}/jobs/")
    job = HERE + started.headers["location"]
    stopped = admitted.post(f"{job}/cancel", follow_redirects=False)
    assert stopped.status_code == 303 and stopped.headers["location"] == started.headers["location"]
    assert admitted.get(job).status_code == 200


def test_pages_that_refuse_do_not_say_where_the_others_are(client, admitted, access):
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        found = client.get(f"{HERE}/table", headers=headers)
        assert found.status_code in (403, 421) and access.root not in found.text and "Table" not in found.text
    too_long = admitted.post("table/check", data={"delimiter": "x" * (1 << 20)})
    assert too_long.status_code == 413 and Links(too_long.text).base == [f"{access.root}/"]


def test_a_private_page_needs_access(table):
    with pytest.raises(BadInput, match="access"):
        create_app(table)


def test_options_of_a_table_need_a_table():
    done = irisdp(["explore", "--decimal", ","])
    assert done.status == 2 and "irisdp explore DATA" in done.err
    missing = irisdp(["explore", "nosuch.csv"])
    assert missing.status == 2 and "finds no file at 'nosuch.csv'" in missing.err


def test_other_users_cannot_read_the_file_that_opens_the_browser():
    file = _BrowserFile()
    path = Path(file.write(f"{HERE}/?token=x").removeprefix("file://"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and "token=x" in path.read_text()
    file.remove()
    assert not path.exists()
