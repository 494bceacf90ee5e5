"""The page Table: columns and the project file in forms that need no script, and nothing of a record."""

import html
import re
import time

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

from starlette.testclient import TestClient

from irisdp import publish
from irisdp._explorer.app import create_app
from irisdp._explorer.security import Access
from irisdp._explorer.workspace import ServedTable, Workspace
from irisdp._release.project import read_project

HERE = "http://127.0.0.1:8080"
RECORDS = "4711,71,Ludlow,1971-02-03\n4712,72,Wells,1972-02-03\n4713,73,Ludlow,1973-02-03\n"
PRIVATE = ("4711", "Ludlow", "1971-02-03")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(f"person_id,age,town,born\n{RECORDS}")
    return path


@pytest.fixture
def opened(data):
    """A function that opens the explorer of a table, as its one browser."""
    opened = []

    def open_explorer(path=data, **served):
        access = Access()
        app = create_app(Workspace(ServedTable(data=str(path), **served)), access)
        client = TestClient(app, base_url=HERE, raise_server_exceptions=False)
        opened.append(client)
        client.__enter__()
        assert client.get("/", params={"token": access.token}).status_code == 200
        client.base_url = HERE + access.root
        return client

    yield open_explorer
    for client in opened:
        client.__exit__(None, None, None)


def project(data):
    return data.with_name(data.stem + ".iris.toml")


def fields(page):
    """The fields of the one form that saves, as a browser without scripts would send them."""
    form = re.search(r'<form[^>]*action="table/(?:types|column[^"]*|settings)".*?</form>', page, re.DOTALL)[0]
    form = re.sub(r'<div class="field[^>]*hidden.*?</div>', "", form, flags=re.DOTALL)
    found = {}
    for tag in re.findall(r"<input[^>]*>", form):
        if 'name="' in tag:
            found[attribute(tag, "name")] = attribute(tag, "value")
    for tag, content in re.findall(r"(<select[^>]*>)(.*?)</select>", form, re.DOTALL):
        chosen = re.search(r"<option[^>]*selected[^>]*>", content) or re.search(r"<option[^>]*>", content)
        found[attribute(tag, "name")] = attribute(chosen[0], "value")
    for tag, content in re.findall(r"(<textarea[^>]*>)\n?(.*?)</textarea>", form, re.DOTALL):
        found[attribute(tag, "name")] = html.unescape(content).replace("\n", "\r\n")
    return found


def attribute(tag, name):
    found = re.search(rf'{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else ""


def send(client, address, **given):
    page = client.get(address)
    assert page.status_code == 200
    return client.post(address, data={**fields(page.text), **given})


def seen(text):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text)))


def test_the_first_page_has_names_and_no_value(opened, data):
    client = opened()
    page = client.get("table")
    assert page.status_code == 200 and not project(data).exists()
    for name in ("person_id", "age", "town", "born"):
        assert f"Type of {name}" in page.text and f'href="table/column?name={name}"' in page.text
    for address in (
        "table",
        "table/settings",
        "table/check",
        *(f"table/column?name={name}" for name in ("age", "town")),
    ):
        text = client.get(address).text
        assert not [value for value in PRIVATE if value in text]
    assert "visits.iris.toml" in page.text and "no record" in page.text


def test_a_form_that_is_sent_as_it_is_shown_writes_no_file(opened, data):
    client = opened()
    for address in ("table/settings", "table/column?name=town"):
        assert "Saved in" in send(client, address).text
    assert client.post("table/types", data=fields(client.get("table").text)).status_code == 200
    assert not project(data).exists()


def test_a_wrong_type_is_corrected_in_three_steps(opened, data):
    project(data).write_text('# ours\n[types]\nage = "date"  # as the codebook says\n')
    client = opened()
    page = client.get("table")
    given = {**fields(page.text), "type:age": "integer"}
    saved = client.post("table/types", data=given)
    assert saved.status_code == 200 and "Saved in visits.iris.toml." in seen(saved.text)
    assert project(data).read_text() == '# ours\n[types]\nage = "integer"  # as the codebook says\n'
    assert re.search(r'<option value="integer" selected', saved.text)


def test_a_column_gets_a_type_a_label_groups_and_their_labels(opened, data):
    client = opened()
    saved = send(
        client,
        "table/column?name=town",
        type="text",
        missing="n/a, -9",
        label="Town <b>of birth</b>",
        groups='Ludlow\r\n"Wells, St Cuthbert Out"',
        group_labels="Ludlow = The town of Ludlow",
        categories="Ludlow,Wells",
    )
    assert "Saved in" in saved.text and "label “Town &lt;b&gt;of birth&lt;/b&gt;”" in saved.text
    said = read_project(project(data))
    assert said.types == {"town": {"type": "text", "missing": ["n/a", "-9"]}}
    assert said.groups == {"town": ("Ludlow", "Wells, St Cuthbert Out")} and said.categories["town"] == (
        "Ludlow",
        "Wells",
    )
    assert said.labels.columns == {"town": "Town <b>of birth</b>"}
    assert said.labels.groups == {"town": {"Ludlow": "The town of Ludlow"}}
    again = fields(client.get("table/column?name=town").text)
    assert again["groups"] == 'Ludlow\r\n"Wells, St Cuthbert Out"' and again["missing"] == "n/a,-9"


def test_settings_of_the_table_are_saved_and_used(opened, data):
    client = opened()
    assert "Saved in" in send(client, "table/settings", unit="person_id", at_most="2", limit="1,1e-6", title="T").text
    said = read_project(project(data))
    assert (said.unit, said.at_most, said.labels.title) == ("person_id", 2, "T")
    assert str(said.limit) and publish(data, "count", "age > 71", epsilon=0.5).cost.epsilon == 0.5


@pytest.mark.parametrize(
    ("address", "given", "field", "words"),
    [
        ("table/settings", {"at_most": "a few"}, "at_most", "must be a whole number, not 'a few'"),
        ("table/settings", {"limit": "all"}, "limit", "must be"),
        ("table/settings", {"encoding": "utf-99"}, "encoding", "is no text encoding"),
        ("table/settings", {"unit": "nobody"}, "unit", "names the column 'nobody'"),
        ("table/settings", {"title": "x" * 301}, "title", "longer than 300 letters"),
        ("table/column?name=age", {"type": "whole"}, "type", "unknown type|one of the choices"),
        ("table/column?name=age", {"type": "number", "decimal": ";"}, "decimal", "must be a full stop or a comma"),
        ("table/column?name=age", {"label": "x" * 301}, "label", "longer than 300 letters"),
        ("table/column?name=age", {"group_labels": "1"}, "group_labels", "an equals sign and a label"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_saved(opened, data, address, given, field, words):
    project(data).write_text("# ours\n")
    found = send(opened(), address, **given)
    assert found.status_code == 400
    assert re.search(words, seen(found.text)) and f'id="field-{field}-wrong"' in found.text
    assert fields(found.text)[field] == given[field], "what was typed is still there"
    assert project(data).read_text() == "# ours\n"


def test_what_the_ledger_contradicts_is_said_in_the_words_of_the_form(opened, data):
    publish(data, "count", "age > 71", epsilon=0.5)
    found = send(opened(), "table/settings", relation="exchange")
    assert found.status_code == 422 and "uses relation add-remove" in seen(found.text)
    assert not project(data).exists()


def test_a_contradiction_of_the_file_is_shown(opened, data):
    publish(data, "count", "age > 71", epsilon=0.5)
    project(data).write_text("relation = 'exchange'\n")
    assert "uses relation add-remove" in seen(opened().get("table").text)


def test_two_windows_do_not_overwrite_each_other(opened, data):
    client = opened()
    first, second = (fields(client.get("table/settings").text) for _ in range(2))
    assert "Saved in" in client.post("table/settings", data={**first, "at_most": "1"}).text
    found = client.post("table/settings", data={**second, "at_most": "2"})
    assert found.status_code == 400 and "changed meanwhile" in found.text
    assert read_project(project(data)).at_most == 1
    # The form that is shown then is about the file as it is now.
    assert "Saved in" in client.post("table/settings", data={**fields(found.text), "at_most": "2"}).text


def test_a_project_file_that_is_none_is_said_and_stays(opened, data):
    client = opened()
    shown = fields(client.get("table/settings").text)
    project(data).write_text("unit = [\n")
    for address in ("table", "table/settings", "table/column?name=age"):
        assert "is no valid TOML" in client.get(address).text
    assert "is no valid TOML" in client.post("table/settings", data={**shown, "at_most": "1"}).text
    assert project(data).read_text() == "unit = [\n"


@pytest.mark.parametrize("first", ["4711,71,Ludlow,1971-02-03\n", "4711,ann@example.com,Ludlow,Ann Example\n"])
def test_a_table_without_a_header_shows_no_value_and_can_be_mended(opened, data, first):
    publish(data, "count", "age > 71", epsilon=0.5)
    data.write_text(first + RECORDS)
    client = opened()
    for address in ("table", "table/settings", "table/check"):
        page = client.get(address).text
        assert not [value for value in (*PRIVATE, "ann@", "Ann Example") if value in page]
    assert "may be a record" in client.get("table").text
    assert client.get("table/column?name=4711").status_code == 404
    saved = send(client, "table/settings", no_header="true", columns="person_id,age,town,born")
    assert saved.status_code == 200 and "Type of born" in saved.text


def test_a_table_of_many_columns_is_shown_in_parts(opened, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"q{number}x" for number in range(120)) + "\n" + ",".join(["1"] * 120) + "\n")
    client = opened(path)
    page = client.get("table?from=50")
    assert "Type of q50x" in page.text and "Type of q49x" not in page.text and 'href="table?from=100"' in page.text
    saved = client.post("table/types", data={**fields(page.text), "type:q99x": "integer"})
    assert saved.status_code == 200 and "Type of q99x" in saved.text
    assert read_project(project(path)).types == {"q99x": "integer"}


def test_json_lines_get_their_columns_one_by_one(opened, tmp_path):
    path = tmp_path / "visits.jsonl"
    path.write_text('{"age": 71, "town": "Ludlow"}\n')
    client = opened(path)
    for name, kind in (("age", "integer"), ("town", "text")):
        saved = client.post("table/types", data={**fields(client.get("table").text), "new": name, "new_type": kind})
        assert f"Type of {name}" in saved.text and "Ludlow" not in saved.text
    assert read_project(project(path)).types == {"age": "integer", "town": "text"}
    again = client.post("table/types", data={**fields(client.get("table").text), "new": "AGE"})
    assert again.status_code == 400 and "is a column already" in seen(again.text)


def test_names_that_are_markup_are_shown_as_text(opened, tmp_path):
    name = "a\"<b>&'x"
    path = tmp_path / "odd.csv"
    path.write_text('"a""<b>&\'x",b\n1,2\n')
    client = opened(path)
    page = client.get("table").text
    assert "<b>" not in page and html.escape(name) in page
    link = html.unescape(re.search(r'href="(table/column[^"]*)"', page)[1])
    saved = send(client, link, label="Odd")
    assert saved.status_code == 200 and read_project(project(path)).labels.columns == {name.casefold(): "Odd"}


def test_options_of_the_command_line_are_shown_and_go_first(opened, tmp_path):
    path = tmp_path / "semi.csv"
    path.write_text("a;b\n1;2\n")
    page = opened(path, options={"delimiter": ";"}).get("table").text
    assert "Type of b" in page and "delimiter ;" in seen(page)


def test_settings_of_a_session_count_as_on_the_command_line(opened, data, tmp_path):
    publish(data, "count", "age > 71", epsilon=0.5, relation="exchange")
    assert "uses relation" not in seen(opened().get("table").text)
    assert "uses relation exchange" in seen(opened(told={"relation": "add-remove"}).get("table").text)
    other = tmp_path / "other.ledger"
    page = opened(ledger=str(other), told={"another_ledger": True, "relation": "add-remove"}).get("table").text
    assert "other.ledger" in page and "uses relation" not in page


def check(client):
    found = client.post("table/check", data={})
    for _ in range(400):
        if 'class="job"' not in found.text:
            return found.text
        time.sleep(0.05)
        found = client.get(found.url)
    pytest.fail("the check does not end")


def test_one_press_takes_what_the_check_suggests_into_the_form(opened, tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text("id;age;spent\n" + "".join(f"0{n};{20 + n};1.{n:03},5\n" for n in range(20)) + "99;-99;2.500,5\n")
    client = opened(path)
    project(path).write_text("delimiter = ';'\nmissing_codes = ['n/a']\n")
    text = check(client)
    assert "not for publication" in text
    offered = re.findall(r'<form[^>]*action="table/suggested".*?</form>', text, re.DOTALL)
    given = [
        dict((attribute(tag, "name"), attribute(tag, "value")) for tag in re.findall("<input[^>]*>", form))
        for form in offered
    ]
    assert {"decimal": ",", "thousands": "."} in given
    filled = client.post("table/suggested", data={"decimal": ",", "thousands": ".", "missing_codes": "-99"})
    assert filled.status_code == 200 and "The check suggests" in filled.text
    assert read_project(project(path)).written == {"delimiter": ";", "missing_codes": ["n/a"]}, "nothing is saved yet"
    saved = client.post("table/settings", data=fields(filled.text))
    assert "Saved in" in saved.text
    assert read_project(project(path)).written == {
        "delimiter": ";", "decimal": ",", "thousands": ".", "missing_codes": ["n/a", "-99"],
    }  # fmt: skip
    assert {"decimal": ",", "thousands": "."} not in [
        dict((attribute(tag, "name"), attribute(tag, "value")) for tag in re.findall("<input[^>]*>", form))
        for form in re.findall(r'<form[^>]*action="table/suggested".*?</form>', check(client), re.DOTALL)
    ]


def test_a_suggested_type_is_taken_into_the_form_of_its_column(opened, data):
    filled = opened().post("table/suggested", data={"column": "age", "type": "text"})
    assert "The check suggests" in filled.text and fields(filled.text)["type"] == "text"
    assert not project(data).exists()
