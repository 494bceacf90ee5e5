"""Output that cannot be shown: letters without a code, a full disk, a reader who has gone."""

import io
import json
import os
import subprocess
import sys
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from irisdp import BadInput, Ledger
from irisdp._cli import output
from irisdp._cli.output import Lines, terminal_width
from irisdp._exact import parse_json

FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="there is no device that is always full")


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "d.csv").write_text("age,town\n70,Ely\n30,Äly\n", encoding="utf-8")
    return tmp_path


def run(folder, *words, out=subprocess.PIPE, **variables):
    """Run the command in a process of its own, whose standard output is what the test says."""
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", "irisdp", *words]
    return subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.PIPE, env=environment, check=False)


PUBLISH = ("publish", "d.csv", "count", "age > 64", "--epsilon", "1")


def test_letters_that_an_encoding_lacks_are_spelled(survey):
    found = run(survey, *PUBLISH, PYTHONUTF8="0", PYTHONIOENCODING="cp1252")
    assert (found.returncode, found.stderr) == (0, b"")
    assert b"epsilon = 1, delta = 0" in found.stdout


def test_json_loses_no_letter_to_an_encoding(survey):
    words = ("publish", "d.csv", "count", "--by", "town", "--groups", "Ely,Äly", "--epsilon", "1", "--json")
    found = run(survey, *words, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert found.returncode == 0
    assert [row["town"] for row in json.loads(found.stdout.decode("ascii"))["answers"]] == ["Ely", "Äly"]


def test_names_that_lose_letters_to_an_encoding_are_told_once(survey):
    words = ("publish", "d.csv", "count", "--by", "town", "--groups", "Ely,Äly,Üly", "--epsilon", "1")
    told = b"irisdp: output: is in ascii, which lacks letters that are shown as ?; set PYTHONUTF8=1 or LC_ALL=C.UTF-8, "
    for more in ((), ("--dry-run",)):
        found = run(survey, *words, *more, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
        assert (found.returncode, found.stderr.count(b"\n")) == (0, 1)
        assert b"?ly" in found.stdout and found.stderr.startswith(told)
    for quiet in ((*words, "--json"), PUBLISH):  # in JSON letters are escaped, and these words have all theirs
        found = run(survey, *quiet, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
        assert (found.returncode, found.stderr) == (0, b"")
    refused = run(survey, *words[:-2], PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (refused.returncode, refused.stderr.count(b"\n")) == (2, 1)


@needs_full
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_what_is_charged_and_not_shown_has_a_status_of_its_own(survey, more):
    with open(FULL, "wb") as full:
        found = run(survey, *PUBLISH, *more, out=full)
    assert found.returncode == 3
    assert b"charged and in the ledger; ask the same question again, which costs nothing" in found.stderr
    assert b"internal error" not in found.stderr
    assert Ledger(survey / "d.ledger").spent.epsilon == 1
    again = run(survey, *PUBLISH)
    assert (again.returncode, Ledger(survey / "d.ledger").spent.epsilon) == (0, 1)


@needs_full
@pytest.mark.parametrize("words", [(*PUBLISH, "--dry-run"), (*PUBLISH, "--dry-run", "--json")])
def test_what_is_not_charged_and_not_shown_is_bad_input(survey, words):
    with open(FULL, "wb") as full:
        found = run(survey, *words, out=full)
    assert found.returncode == 2
    assert found.stderr.startswith(b"irisdp: output: cannot be written")
    assert not (survey / "d.ledger").exists()


def test_a_reader_who_has_gone_is_no_error(survey):
    reader, writer = os.pipe()
    os.close(reader)
    found = run(survey, *PUBLISH, out=writer)
    os.close(writer)
    assert (found.returncode, found.stderr) == (0, b"")
    assert Ledger(survey / "d.ledger").spent.epsilon == 1


@pytest.mark.parametrize(("text", "says"), [
    ('{"a": 1,\n "b": 2,}', "is not valid JSON at line 2, column [89];"),  # where the comma, or what follows it, is
    ('{"a": 1, "a": 2}', 'holds the key "a" twice'),
    ('{"' + "a" * 100 + '": 1, "' + "a" * 100 + '": 2}', "holds a key twice"),
    ("\ufeff\ufeff{}", "is not valid JSON at line 1, column 1;"),
])  # fmt: skip
def test_json_that_is_none_says_where(text, says):
    with pytest.raises(BadInput, match=says):
        parse_json(text, "spec")


# Lines and tables for no terminal are those that rich would print, which is asked where it would change anything.

ODD = [
    "ε", "…", "\u0301", "字", "가", "\u1160", "\U0001f600", ":cat:", "[b]", "\\", "\n", "\t", "\x1b", "\u200d",
    " " * 40, "a" * 50,
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=3)), max_size=6).map("".join)


def printed(action):
    """Return what an action prints on a standard output that takes UTF-8."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")
    with mock.patch.object(sys, "stdout", stream):
        action()
        stream.flush()
    return raw.getvalue()


@given(text=TEXTS, markup=st.booleans(), soft_wrap=st.booleans())
@example(text="word " * 30, markup=False, soft_wrap=False)
@example(text="  cost      ε = 1, δ = 0 for adding or removing one record", markup=True, soft_wrap=False)
def test_lines_are_those_of_rich(text, markup, soft_wrap):
    text = escape(text) if markup else text
    wanted = printed(
        lambda: Console(width=terminal_width(), highlight=False).print(text, markup=markup, soft_wrap=soft_wrap)
    )
    assert printed(lambda: Lines().print(text, markup=markup, soft_wrap=soft_wrap)) == wanted


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[TEXTS] * width), min_size=1, max_size=4)))
@example([("educ", "answer"), ("1", "3"), ("…", "…")])
@example([("", "\\"), ("", "")])
@example([("a" * 60, "b" * 60), ("1", "3")])
@example([("ε" + " " * 40,), ("",)])
def test_tables_are_those_of_rich(rows):
    right = [len(column) % 2 == 1 for column in rows[0]]
    table = Table()
    for head, is_right in zip(rows[0], right, strict=True):
        table.add_column(Text(head), justify="right" if is_right else "left")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    console = Console(width=terminal_width(), highlight=False)
    wanted, found = (
        printed(lambda: console.print(table)),
        printed(lambda: Lines().print_table(rows[0], rows[1:], right)),
    )
    assert found in (wanted, b"")


def test_what_is_usual_asks_nobody():
    view = Lines()
    with mock.patch.object(Lines, "_rich", None):
        printed(lambda: view.print("  error     off by 0.851 on average, by at most 3 in 95 % of cases – ε ≤ 1 …"))
        assert printed(lambda: view.print_table(["educ", "answer"], [["north", "3"], ["…", "…"]], [False, True]))


def test_a_name_is_shown_as_it_is_on_a_terminal(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(output, "console", lambda: Console(file=shown, width=40, force_terminal=True))
    output.show_table(["town\\"], [["[b]\\"]])
    assert shown.getvalue().count("\\") == 2 and "[b]" in shown.getvalue()


@pytest.mark.parametrize("width", [72, None])
def test_lines_of_every_kind_fit_the_width(survey, width):
    spec = {"kind": "consumer", "n": 12, "loss": "absolute", "privacy": {"epsilon": 1}}
    (survey / "spec.json").write_text(json.dumps(spec))
    question = "age > 64 AND town <> 'a town with a long name' AND town <> 'another town' AND age < 1000000"
    environment = {"COLUMNS": "" if width is None else str(width)}
    for words in (
        ["design", "spec.json", "-o", "a-mechanism.json"],
        ["audit", "a-mechanism.json"],
        ["check", "d.csv", "--unit", "town"],
        ["publish", "d.csv", "count", question, "--epsilon", "1", "--dry-run"],
    ):
        shown = run(survey, *words, **environment)
        assert shown.returncode == 0
        lines = shown.stdout.decode().splitlines()
        assert max(map(len, lines)) <= (width or 80), (words, max(lines, key=len))
