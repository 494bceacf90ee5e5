"""Malformed JSON in every field that reads some: one line on the page at that field, at once, and nothing else."""

import html
import json
import re
import time

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
from starlette.testclient import TestClient

from irisdp._explorer.app import create_app

MALFORMED = {
    "cut off": '{"nodes": ["a", "b"',
    "brackets alone": "[" * 100_000,
    "names in names": '{"a":' * 50_000,
    "no number": "[[NaN, 1], [Infinity, 0]]",
    "a number of half a million digits": "[" + "9" * 500_000 + "]",
    "a number whose exponent is one": "[[1e999999999, 0]]",
    "half a letter": '{"\\ud800": "\\udfff"}',
    "the same name twice": '{"kind": "geometric", "kind": "geometric", "n": 3}',
    "something after its end": "{} {}",
    "a comment": "{} // nothing",
    "a letter that nobody sees": '["\x00"]',
}
FIELDS = [
    ("design", {"kind": "spec"}, "spec"),
    ("design", {"colors": "*: yes"}, "graph"),
    ("design", {"graph": "a b\nb c"}, "colors"),
    ("design", {"kind": "consumer", "n": "3"}, "prior"),
    ("check", {"on": "path", "epsilon": "1"}, "mechanism"),
    ("read", {"value": "7"}, "release"),
]


@pytest.fixture(scope="module")
def client():
    return TestClient(create_app(), base_url="http://127.0.0.1:8080", raise_server_exceptions=False)


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize(("room", "given", "field"), FIELDS, ids=[field for _, _, field in FIELDS])
def test_malformed_json_gets_one_line_at_its_field(client, room, given, field, text):
    start = time.process_time()
    page = client.post(f"/{room}", data={**given, field: text})
    assert page.status_code == 400, page.text[:300]
    (note,) = re.findall(r'class="wrong-note"[^>]*>(.*?)</div>', page.text, flags=re.DOTALL)
    said = html.unescape(re.sub(r"<[^>]*>", "", note))
    assert said.strip() and "\n" not in said.strip() and len(said) < 500
    marked = re.findall(r'id="field-(\w+)-wrong"', page.text)
    assert marked == [field] or (field == "spec" and marked == ["kind"]), "a spec may be of a kind that is none"
    assert "Traceback" not in page.text and "Error" not in said
    assert time.process_time() - start < 5


def test_the_same_is_answered_where_nothing_is_wrong(client):
    """The other way round: what these fields hold when they are right is no malformed JSON."""
    spec = json.dumps({"kind": "geometric", "n": 3, "privacy": {"epsilon": 1}})
    assert "wrong-note" not in client.post("/design", data={"kind": "spec", "spec": spec}).text
    assert "wrong-note" not in client.post("/design", data={"graph": '[["a", "b"]]', "colors": '{"a": 1, "b": 2}'}).text
