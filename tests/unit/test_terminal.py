"""Output that cannot be shown: letters without a code, a full disk, a reader who has gone."""

import json
import os
import subprocess
import sys

import pytest

from irisdp import BadInput, Ledger
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1,\n "b": 2,}', "is not valid JSON at line 2, column [89];"),  # where the comma, or what follows it, is
        ('{"a": 1, "a": 2}', 'holds the key "a" twice'),
        ('{"' + "a" * 100 + '": 1, "' + "a" * 100 + '": 2}', "holds a key twice"),
        ("\ufeff{}", "begins with a byte order mark; save it as UTF-8 without one"),
    ],
)
def test_json_that_is_none_says_where(text, says):
    with pytest.raises(BadInput, match=says):
        parse_json(text, "spec")
