"""What the explorer says no with: one line, about a field that is on the page, in words that are on the page."""

import json
import re

import pytest

from support.sweeps import tried

pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")
pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")

import html
import time

import pytest
from starlette.testclient import TestClient

from irisdp import BadInput, Privacy, Refusal, design
from irisdp._explorer import ask, check, interpret
from irisdp._explorer import design as designing
from irisdp._explorer.app import ROOMS, create_app
from irisdp._explorer.common_fields import LOSSES
from irisdp._explorer.design_form import FAMILIES, KINDS
from irisdp._explorer.form_errors import check_form, field_meant, in_words, not_used
from irisdp._explorer.forms import Field, read_values, stands

WORK = {"ask": ask.ask, "design": designing.design, "check": check.check, "read": interpret.read}
BAD = {
    "number": ("", "x", "nan", "-1", "0", "2.5", "1e999", "1/0", "1,000", "0,5", "95 %", "9" * 12, "9" * 30, "1e400"),
    "choice": ("", "x"),
    "text": ("", "x", "-1", "{", '{"a": 1}', "1,000", "nan"),
    "area": ("", "x", "{", "{}", "[]", "[1, 2]", "[[1]]", '{"a": 1}', "null", "-1", "a b c", "a: b: c", "0.3,0.3"),
}
RELEASE = json.dumps(design.geometric(10, Privacy(epsilon=1)).to_document())
QUESTIONS = ("count", "histogram", "at-least", "majority", "plurality", "median", "sum", "mean")
NAMES = re.compile(r"(?<![\w.])(?:\w+_\w+|[a-z_]{2,}=|--[a-z]|epsilon|delta|dict|mapping|sequence|function's)(?!\w)")
"""Words of Python and of command lines."""


def started():
    """Yield rooms with what stands in their forms, every choice that brings fields of its own."""
    for query in QUESTIONS:
        for by in ("within", "epsilon"):
            yield "ask", {"query": query, "by": by, "relation": "exchange", "within": "3"}
    for on in ("own", "path", "complete", "pasted"):
        yield "check", {"mechanism": "3/4,1/4\n1/4,3/4", "on": on, "epsilon": "2", "graph": "0 1"}
    for loss in (*LOSSES, "table"):
        table = json.dumps([[0] * 11] * 11)
        yield "read", {"release": RELEASE, "value": "7", "loss": loss, "loss_table": table}
        yield "design", {"kind": "consumer", "n": "3", "loss": loss, "loss_table": json.dumps([[0] * 4] * 4)}
    graph = {"graph": "a b\nb c", "colors": "a: no\n*: yes", "rankings": "a: x > y\n*: y > x"}
    for kind in (*KINDS, "spec"):
        yield "design", {**graph, "kind": kind, "n": "3", "categories": "2", "k": "1", "largest": "1", "choices": "3"}
    for family in FAMILIES:
        sizes = {"family_n": "3", "family_length": "2", "family_total": "2", "family_largest": "1"}
        yield "design", {"kind": "binary", "family": family, "colors": "*: x", "family_categories": "2", **sizes}
    yield "design", {**graph, "kind": "binary", "scale": "ratio"}


STARTED = [pytest.param(name, values, id=f"{name} {' '.join(values.values())[:24]!r}") for name, values in started()]


def refusal(name, values):
    """Return the field that is wrong, what stands beside it and the line; None where there is an answer."""
    room = next(room for room in ROOMS if room.name == name)
    try:
        check_form(room.fields, values)
        WORK[name](values, lambda words: None)
    except BadInput as error:
        return in_words(room.fields, values, error)
    except Refusal as refused:
        return None, "", str(refused)
    return None


@pytest.mark.parametrize(("name", "given"), STARTED)
def test_whatever_is_wrong_is_said_of_a_field_on_the_page_in_words_on_the_page(name, given):
    room = next(room for room in ROOMS if room.name == name)
    start = read_values(room.fields, given)
    every = tried(3, 1)  # one in so many bad values of a field; each is tried in some fields
    for place, one in enumerate(room.fields):
        if one.kind == "file" or not stands(one, start):
            continue
        for bad in BAD[one.kind][place % every :: every]:
            values = {**start, one.name: bad}
            if (said := refusal(name, values)) is None:
                continue
            field, _, line = said
            context = (one.name, bad, line)
            assert len(line.splitlines()) == 1, context
            if field is not None:
                assert line.startswith(f"{field.label}: "), context
                assert stands(field, values), context
            else:
                assert re.match(r"the answers|there is|no ", line), context
            unquoted = re.sub(r'"[^"]*"|“[^”]*”', "", line)
            assert not NAMES.search(unquoted), context


@pytest.mark.parametrize(("name", "given", "line"), [
    ("design", {"kind": "consumer", "at_least": "8", "at_most": "3"}, "Known: at least: leaves no count possible"),
    ("read", {"value": "7", "at_least": "8", "at_most": "3"}, "Known: at most: leaves no count possible"),
    ("read", {"value": "seven"}, "One published answer: is not an answer that this can publish"),
    ("read", {"value": "7", "prior": "0.5, 0.5"}, "Prior: must be a list in JSON; write for example [0.5, 0.3, 0.2]"),
    ("ask", {"query": "sum", "lower": "5", "upper": "1"}, "Values are at least: must be below “Values are at most”"),
])  # fmt: skip
def test_what_does_not_fit_together_is_said_of_a_field_on_the_page(name, given, line):
    room = next(room for room in ROOMS if room.name == name)
    _, _, said = refusal(name, read_values(room.fields, {"release": RELEASE, **given}))
    assert said.startswith(line)


def test_the_line_names_what_python_names_otherwise():
    """Control: an error of the library, unheard, would fail the test above."""
    raw = "lower: must be below upper=; give less than --upper, or ask with epsilon="
    assert len(NAMES.findall(raw)) == 2 and NAMES.search("at_least: leave it out")


@pytest.mark.parametrize(("text", "told"), [
    ("1,000", "has thousands set apart; write 1000, or 1.000 if that is meant"),
    ("1 000 000", "has thousands set apart; write 1000000"),
    ("1’000.5", "has thousands set apart; write 1000.5"),
    ("0,5", "has a comma; write 0.5"),
    ("95%", "has a percent sign; write 95 % as 0.95"),
    ("", "is empty; write a number, such as 5"),
    ("five", "is no number; write a number, such as 5"),
    ("1/0", "is no number; write a number, such as 5"),
    ("9999999999999", "must be at most 1,000,000,000,000 here; use the command line for more"),
])  # fmt: skip
def test_how_a_number_is_written(text, told):
    with pytest.raises(BadInput, match=re.escape(told)):
        check_form((Field(name="size", label="Size", kind="number", default="5"),), {"size": text})


def test_a_whole_number_is_asked_for_by_a_whole_number():
    one = Field(name="size", label="Size", kind="number", default="", whole=True)
    with pytest.raises(BadInput, match="write a whole number, such as 3"):
        check_form((one,), {"size": "x"})
    with pytest.raises(BadInput, match="must be a whole number; write 2"):
        check_form((one,), {"size": "2.5"})
    check_form((one,), {"size": ""})
    check_form((one,), {"size": "3"})


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_page_lists_all_that_is_wrong_above_its_form_with_links_to_the_fields(method):
    said = {"query": "sum", "size": "many", "lower": "0,5", "upper": "", "step": "1", "by": "within", "within": "5"}
    with TestClient(create_app(), base_url="http://127.0.0.1") as client:
        headers = {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1"}
        page = client.get("/ask", params=said) if method == "get" else client.post("/ask", data=said, headers=headers)
    assert page.status_code == 400
    before, note, after = page.text.partition('<div class="wrong-note" role="alert">')
    listed = note and re.findall(r'<li><a href="([^"]*)#([^"]*)">([^<]*)</a></li>', after)
    assert "3 things to correct:" in after and "<form" not in before
    assert [field for _, field, _ in listed] == ["field-size", "field-lower", "field-upper"]
    for address, field, line in listed:
        label, _, beside = html.unescape(line).partition(": ")
        assert re.match(r"ask($|\?)", address)
        assert f'id="{field}"' in after and label
        assert f'id="{field}-wrong">{html.escape(beside, quote=False)}</p>' in after
    assert page.text.count('aria-invalid="true"') == 3


def test_the_field_is_found_behind_the_question_that_a_plan_names():
    fields = (Field(name="epsilon", label="ε"), Field(name="by", label="Groups"))
    assert field_meant(fields, {}, "question 2 (who: by ward): by").label == "Groups"


def test_an_error_is_of_the_field_that_stands():
    fields = (
        Field(name="loss", label="Loss", kind="choice", choices=(("a", "a"), ("table", "t"))),
        Field(name="loss_table", label="Table", kind="area", also=("loss",), when={"loss": ("table",)}),
        Field(name="spec", label="Spec", kind="area", also=("*",), when={"loss": ("spec",)}),
    )
    assert field_meant(fields, {"loss": "a"}, "loss").label == "Loss"
    assert field_meant(fields, {"loss": "table"}, "loss[3][1]").label == "Table"
    assert field_meant(fields, {"loss": "a"}, "privacy") is None
    assert field_meant(fields, {"loss": "spec"}, "privacy").label == "Spec"


def test_what_a_link_fills_in_for_nothing_is_said():
    fields = next(room for room in ROOMS if room.name == "ask").fields
    assert not_used(fields, {"query": "count", "within": "5", "by": "within"}) == ""
    assert not_used(fields, {"query": "count", "epsilon": "-5"}) == "Not used, by what else is chosen: ε (-5)."
    said = not_used(fields, {"query": "mean", "by": "within", "within": "3"})
    assert "Say (the error: find the least ε)" in said and "Off by at most (3)" in said
    assert not_used(fields, {"query": "mean", "by": "epsilon", "epsilon": "2"}) == "", "that is how it is answered"


@pytest.mark.parametrize(("written", "rule"), [("0." + "1" * 30, "24 letters"), ("1e-0000", "6 with a power of ten")])
def test_what_is_too_long_is_told_by_how_much_it_is(written, rule):
    fields = next(room.fields for room in ROOMS if room.name == "ask")
    values = read_values(fields, {"by": "epsilon", "epsilon": written})
    for refuses in (lambda: check_form(fields, values), lambda: ask.ask(values, lambda phase: None)):
        with pytest.raises(BadInput, match=rule):
            refuses()


# Malformed JSON in every field that reads some: one line on the page at that field, at once, and nothing else.

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
