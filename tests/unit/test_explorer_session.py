"""`Session.explore()`: the explorer of a session's table asks what the session asks, and is stopped as a command is."""

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pyarrow
import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")

import irisdp
from irisdp import BadInput
from irisdp._explorer.draft import new_draft, plan_document, plan_text
from irisdp._explorer.question_form import values_of
from irisdp._explorer.session_table import served_table
from irisdp._release.plan_file import read_run

TEXT = "# a survey\nward;born;person;vote\nn;01.02.1971;1;1\ns;-9;2;0\n"
WRITTEN = {"delimiter": ";", "comment": "#", "missing_codes": ["-9", "99"], "date_format": "%d.%m.%Y"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a table and what belongs to it; the working folder is another."""
    (tmp_path / "survey.csv").write_text(TEXT)
    (tmp_path / "types.json").write_text(json.dumps({"vote": "integer"}))
    (tmp_path / "wards.csv").write_text("ward,region\nn,1\ns,2\n")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    return tmp_path


def from_plan(served, **more):
    """Return the question of a plan that the explorer would write about the table: its words and options."""
    question = {"query": "count", "expression": "vote = 1", "epsilon": 1, **more}
    draft = new_draft(served.seen_from_plan, served.name, served.dataset).with_question(values_of(question))
    served.plan_path.write_text(plan_text(plan_document(draft, {1: question}), served.plan_path.name))
    (asked,) = read_run(served.plan_path).questions
    return asked.dataset.data, asked.words, asked.options


@pytest.mark.parametrize("options", [
    {},
    {"unit": "person"},
    {"relation": "exchange"},
    {"types": "../types.json"},
    {"lookup": "../wards.csv", "on": "ward"},
    {"skip_rows": 0, "ledger": "../some.ledger"},
    {"secret": "../kept/data", "table": "voters"},
    {"partition": "ward=n"},
], ids=str)  # fmt: skip
def test_a_plan_of_the_explorer_asks_what_the_session_asks(options, folder):
    (folder / "kept").mkdir()
    session = irisdp.Session("../survey.csv", **WRITTEN, **options)
    served = served_table(session.data, {**session._asked, **session._kept}, project=None)
    more = {"per_unit": "any"} if "unit" in options else {}
    data, words, asked = from_plan(served, **more)
    hidden = ("labels", "out", "report", "licence", "ledger", "another_ledger", "secret", "table", "title")
    planned = irisdp.plan(data, *words, **{name: value for name, value in asked.items() if name not in hidden})
    assert planned.question() == session.plan("count", "vote = 1", epsilon=1, **more).question()
    for name in ("ledger", "secret"):
        if name in options:
            assert asked[name] == (folder / "other" / options[name]).resolve()
    assert asked.get("table") == options.get("table")


def test_a_ledger_is_named_by_its_place(folder):
    session = irisdp.Session("../survey.csv", **WRITTEN, ledger=irisdp.Ledger(folder / "own.ledger"))
    served = served_table(session.data, {**session._asked, **session._kept}, project=None)
    assert from_plan(served)[2]["ledger"] == folder / "own.ledger"


@pytest.mark.parametrize(("options", "field"), [
    ({"types": {"vote": "integer"}}, "types"),
    ({"missing_codes": ["a,b"]}, "missing_codes"),
    ({"lookup": pyarrow.table({"ward": ["n", "s"], "region": [1, 2]}), "on": "ward"}, "lookup"),
])  # fmt: skip
def test_what_no_plan_can_say_is_refused(options, field, folder):
    session = irisdp.Session("../survey.csv", **{**WRITTEN, **options})
    with pytest.raises(BadInput, match=f"^{field}: "):
        session.explore(port=0, browser=False)


@pytest.mark.parametrize(
    ("options", "field"), [({"port": 70_000}, "port"), ({"port": "x"}, "port"), ({"browser": 1}, "browser")]
)
def test_where_it_is_served_is_checked(options, field, folder):
    with pytest.raises(BadInput, match=f"^{field}: "):
        irisdp.Session("../survey.csv", **WRITTEN).explore(**{"port": 0, "browser": False, **options})


def test_a_frame_is_refused(tmp_path):
    session = irisdp.Session(pyarrow.table({"a": [1]}), ledger=tmp_path / "a.ledger")
    with pytest.raises(BadInput, match=r"^data: is a frame, and the explorer works on a file"):
        session.explore(port=0, browser=False)


PLAINLY = "irisdp.Session('survey.csv').explore(port=0, browser=False)"
IN_A_LOOP = f"""
import asyncio
async def cell():
    {PLAINLY}
asyncio.new_event_loop().run_until_complete(cell())
"""
"""As cells of a notebook are run, whose Ctrl-C interrupts what they call."""


@pytest.mark.parametrize("code", [PLAINLY, IN_A_LOOP], ids=["in a program", "in a notebook"])
def test_it_serves_until_it_is_interrupted(code, tmp_path):
    (tmp_path / "survey.csv").write_text("vote\n1\n0\n")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", f"import irisdp\n{code}\nprint('over')"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
        assert address, line
        with urllib.request.urlopen(address[0], timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out.strip().splitlines()[-1:], errors) == (0, ["over"], "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.csv"], "nothing was written"
