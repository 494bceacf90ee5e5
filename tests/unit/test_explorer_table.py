"""The page Table of `irisdp explore DATA`: the same as `irisdp check`, for one browser, and only when asked."""

import json
import shlex
import stat
from pathlib import Path

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
from irisdp._explorer.table import ServedTable, check, table_page
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
    with TestClient(create_app(table, access), base_url=HERE, raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def admitted(client, access):
    assert client.get("/", params={"token": access.token}).status_code == 200
    return client


def finished(client, **fields):
    found = client.post("/table", data=fields)
    for _ in range(200):
        if 'class="job"' not in found.text:
            return found
        found = client.get(found.url)
    pytest.fail("the check does not end")


@pytest.mark.parametrize("address", ["/", *(f"/{room.name}" for room in ROOMS), "/table", "/table/result", "/jobs/0"])
def test_another_user_of_the_machine_sees_no_page(client, address):
    for headers in ({}, {"cookie": "iris-8080="}, {"cookie": "iris-8080=x; iris-80=y"}):
        found = client.get(address, headers=headers)
        assert found.status_code == 403 and "visits" not in found.text and "set-cookie" not in found.headers
    assert client.post("/table", data={}).status_code == 403


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
    assert first.status_code == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and 'url=/"' in first.text
    assert access.token not in cookie
    client.cookies.clear()
    assert client.get("/", params={"token": access.token}).status_code == 403


def test_no_record_is_read_before_the_button_is_pressed(admitted, monkeypatch):
    monkeypatch.setattr("irisdp._explorer.table.read_table", lambda *_: pytest.fail("the table was read"))
    for address in ("/", "/table", "/table?decimal=,", "/table/result?decimal=,"):
        found = admitted.get(address)
        assert found.status_code == 200
    assert "No record was read yet" in found.text
    assert TOUCHES_NO_TABLE not in admitted.get("/").text


def test_it_shows_what_check_says(admitted, table):
    shown = finished(admitted, delimiter=";", decimal=",", thousands=".").text
    assert "3 records" in shown and "not for publication" in shown and SECRET in shown
    assert SECRET not in admitted.get("/table").text, "a page that was not asked shows nothing of the records"


def test_a_changed_file_is_read_again(admitted, table):
    assert "3 records" in finished(admitted, delimiter=";").text
    Path(table.data).write_text(MESSY + "4;south;05.02.1974\n")
    assert "4 records" in finished(admitted, delimiter=";").text


def test_faults_of_the_header_are_shown_on_the_page(admitted):
    found = finished(admitted, delimiter="")
    assert found.status_code == 400 and "semicolons" in found.text


def test_pages_of_other_sites_start_nothing(admitted):
    assert admitted.post("/table", data={}, headers={"origin": "http://evil.example"}).status_code == 403
    assert admitted.post("/table", data={}, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_command_and_python_of_the_page_say_the_same(table, capsys):
    tool = table_page(table)
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
