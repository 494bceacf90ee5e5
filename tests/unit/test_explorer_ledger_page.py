"""The page Ledger: what `irisdp ledger` shows, limits as it sets them, and a check of the history."""

import html
import json
import re
import sqlite3

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

from starlette.testclient import TestClient

from irisdp import Ledger, publish
from irisdp._cli import run
from irisdp._explorer.app import create_app
from irisdp._explorer.security import Access
from irisdp._explorer.workspace import ServedTable, Workspace

HERE = "http://127.0.0.1:8080"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("age,town\n" + "4711,Ludlow\n" * 30)
    return path


@pytest.fixture
def client(data):
    access = Access()
    app = create_app(Workspace(ServedTable(data=str(data))), access)
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as made:
        assert made.get("/", params={"token": access.token}).status_code == 200
        made.base_url = HERE + access.root
        yield made


def seen(answer):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", answer.text)))


def book(data):
    return Ledger(data.with_suffix(".ledger"))


def test_a_ledger_that_is_not_there_is_said_to_be_so_and_not_made(client, data):
    assert "It is not there yet" in seen(client.get("ledger"))
    assert [path.name for path in data.parent.iterdir()] == ["visits.csv"]


def test_the_page_shows_what_the_command_shows(client, data, capsys):
    book(data).set_limit(5, "1e-6")
    book(data).set_limit(1, audience="press")
    for age, audience in ((3, None), (4, "press")):
        who = {"epsilon": 0.5} if audience is None else {"audience": "press=0.25"}
        publish(data, "count", f"age > {age}", **who)
    text = seen(client.get("ledger"))
    assert run(["ledger", str(book(data).path)]) == 0
    printed = re.sub(r"\s+", " ", capsys.readouterr().out.rpartition("┘")[2]) + " privacy "
    for name in ("spent", "limit", "left", "audience"):
        line = re.search(rf" {name} (\S+ .*?)(?= (?:spent|limit|left|rate|audience|privacy) )", printed)[1]
        assert line.strip() in text, name
    assert "count age > 3" in text and "count age > 4" in text and "press" in text and "4711" not in text


def test_limits_are_set_as_the_command_sets_them(client, data):
    saved = client.post("ledger/limit", data={"limit": "1.5,1e-6"})
    assert saved.status_code == 200 and str(saved.url).endswith("/ledger") and "The limit is now" in seen(saved)
    assert "The limit is now" not in seen(client.get("ledger")), "said once"
    assert book(data).limit.to_document() == {"epsilon": "1.5", "delta": "0.000001"}
    saved = client.post("ledger/audience", data={"audience": "press", "audience_limit": "1/2"})
    assert "The limit of press is now" in seen(saved)
    assert book(data).to_document()["audiences"]["press"]["limit"] == {"epsilon": "0.5", "delta": "0"}


@pytest.mark.parametrize(
    ("form", "given", "field", "words"),
    [
        ("limit", {"limit": ""}, "limit", "is missing"),
        ("limit", {"limit": "a lot"}, "limit", "write"),
        ("limit", {"limit": "-1"}, "limit", "must"),
        ("limit", {"limit": "epsilon=1"}, "limit", "neither mu nor rho"),
        ("audience", {"audience": "", "audience_limit": "1"}, "audience", "is missing"),
        ("audience", {"audience": "the press", "audience_limit": "1"}, "audience", "up to 64 letters"),
        ("audience", {"audience": "press", "audience_limit": "x"}, "audience_limit", "write"),
        ("audience", {"audience": "press", "audience_limit": "mu=1"}, "audience", "in what the ledger counts in"),
        ("verify", {"head": "abc"}, "head", "64 letters and digits"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_changes(client, data, form, given, field, words):
    book(data).set_limit(5)
    before = book(data).to_document()
    found = client.post(f"ledger/{form}", data=given)
    assert found.status_code == 400 and words in seen(found) and f'id="field-{field}-wrong"' in found.text
    for name, value in given.items():
        assert f'value="{value}"' in found.text or not value, name
    assert book(data).to_document() == before


def test_an_audience_has_no_limit_without_one_of_the_ledger(client, data):
    found = client.post("ledger/audience", data={"audience": "press", "audience_limit": "1"})
    assert found.status_code == 400 and "set the ledger's limit first" in seen(found)
    assert not book(data).store.exists()


def test_the_limit_of_the_project_file_is_kept(client, data):
    data.with_name("visits.iris.toml").write_text("limit = 2\n")
    assert "The project file sets the limit" in seen(client.get("ledger"))
    found = client.post("ledger/limit", data={"limit": "3"})
    assert found.status_code == 422 and "sets limit" in seen(found) and not book(data).store.exists()
    assert "The limit is now" in seen(client.post("ledger/limit", data={"limit": "2"}))


def test_a_limit_below_what_is_spent_is_set_and_said(client, data):
    publish(data, "count", "age > 3", epsilon=1)
    text = seen(client.post("ledger/limit", data={"limit": "1/2"}))
    assert "that is less than what is spent" in text and "--limit" not in text.partition("Take it away")[0]


def test_the_history_is_checked(client, data):
    publish(data, "count", "age > 3", epsilon=1)
    text = seen(client.post("ledger/verify", data={"head": ""}))
    head = book(data).verify().head
    assert "The history holds" in text and head in text
    publish(data, "count", "age > 4", epsilon=1)
    assert "The history holds" in seen(client.post("ledger/verify", data={"head": head}))
    assert client.post("ledger/verify", data={"head": "0" * 64}).status_code == 422
    with sqlite3.connect(book(data).path) as file:
        file.execute("UPDATE release SET epsilon = '1/2' WHERE id = 1")
    found = client.post("ledger/verify", data={"head": ""})
    assert found.status_code == 422 and "visits.ledger was tampered with" in seen(found)


def test_the_picture_and_the_document_are_offered(client, data):
    publish(data, "count", "age > 3", epsilon=1)
    page = client.get("ledger").text
    picture = re.search(r'src="(pictures/[^"]*\.svg)"', page)[1]
    assert client.get(picture).status_code == 200
    offered = client.get(re.search(r'href="(files/[^"]*/ledger\.json)"', page)[1])
    assert json.loads(offered.content) == json.loads(json.dumps(book(data).to_document()))


def test_a_ledger_that_cannot_be_read_is_said_to_be_so(client, data):
    book(data).path.write_bytes(b"no ledger at all" * 100)
    assert "ledger" in seen(client.get("ledger")) and client.get("ledger").status_code == 200
    assert client.post("ledger/limit", data={"limit": "1"}).status_code in (400, 422)
    assert book(data).path.read_bytes() == b"no ledger at all" * 100


@pytest.mark.parametrize("form", ["limit", "audience", "verify"])
def test_pages_of_other_sites_change_nothing(client, data, form):
    given = {"limit": "1", "audience": "press", "audience_limit": "1"}
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post(f"ledger/{form}", data=given, headers=headers).status_code == 403
    assert not book(data).store.exists()
    assert client.get(f"ledger/{form}").status_code == 200, "a reload of the address after a mistake"
    assert not book(data).store.exists()
