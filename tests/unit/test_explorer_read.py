"""The room Read: what a release says to a reader, the same as `irisdp interpret` on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")


from irisdp import BadInput, Privacy, design
from irisdp._explorer.common_fields import LOSSES
from irisdp._explorer.forms import read_values
from irisdp._explorer.interpret import READ, read
from support.commands import irisdp

HOSTILE = "</script><script>alert(1)</script>"
TABLE = [[abs(i - j) for j in range(11)] for i in range(11)]


def made(release, **said):
    text = release if isinstance(release, str) else json.dumps(release)
    return read(read_values(READ.fields, {"release": text, **said}), lambda phase: None)


def file_of(result, name):
    return next(file.content for file in result.files if file.name == name)


def fact(result, name):
    return next(one for one in result.facts if one.name == name)


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Sidecars as `publish` writes them: of a count, a majority and a winner."""
    folder = tmp_path_factory.mktemp("releases")
    (folder / "t.csv").write_text("vote,party\n" + "yes,a\nno,b\nyes,a\n" * 5)
    found = {}
    for name, arguments in (
        ("count", ["count", "vote = 'yes'"]),
        ("majority", ["majority", "vote = 'yes'"]),
        ("plurality", ["plurality", "party", "--categories", f"a,b,{HOSTILE}"]),
        ("delta", ["count", "--delta", "1/1000"]),
        ("sum", ["sum", "vote", "--lower", "0", "--upper", "1", "--step", "1"]),
        ("sizes", ["sizes", "party"]),
    ):
        out = folder / f"{name}.csv"
        done = irisdp(["publish", str(folder / "t.csv"), *arguments, "--epsilon", "1", "--out", str(out)])
        assert done.status == 0, done.err
        found[name] = (folder / f"{name}.csv.release.json").read_text("utf-8")
    return found


CASES = [
    ("count", {"value": "7", "at_most": "10"}),
    ("count", {"value": "-3", "at_least": "2"}),
    ("count", {"value": "7"}),
    ("count", {"value": "7", "at_most": "10", "loss": "table", "loss_table": json.dumps(TABLE)}),
    ("count", {"value": "2", "prior": "[0.5, 0.25, 0.25]", "loss": "squared"}),
    *(("count", {"value": "7", "at_most": "9", "loss": loss, "too_high": "3", "beyond": "2"}) for loss in LOSSES),
    ("delta", {"value": "7", "at_most": "20"}),
    ("majority", {"value": "yes", "at_most": "20"}),
    ("majority", {"value": "no", "lead": "3"}),
    ("plurality", {"value": "a", "at_most": "6"}),
    ("plurality", {"value": HOSTILE}),
]


@pytest.mark.parametrize(("name", "said"), CASES, ids=lambda part: part if isinstance(part, str) else None)
def test_a_reading_is_that_of_the_command_line(releases, name, said, tmp_path, monkeypatch):
    result = made(releases[name], **said)
    monkeypatch.chdir(tmp_path)
    for file in result.files:
        if file.name != "reading.json":
            Path(file.name).write_bytes(file.content)
    import shlex

    done = irisdp([*shlex.split(result.command)[1:], "--json"])
    assert done.status == 0, done.err
    mine, theirs = json.loads(file_of(result, "reading.json")), json.loads(Path("reading.json").read_text("utf-8"))
    if len(mine.get("chances", [])) > 1:  # a coin is tossed each time
        assert mine.pop("reading") in [value for value, _ in theirs["chances"]]
        theirs.pop("reading")
    assert mine == theirs


def test_seven_of_at_most_ten(releases):
    result = made(releases["count"], value="7", at_most="10")
    assert result.headline == "Published 7; the truth is probably 4 to 10 (95 %)."
    guess = fact(result, "For analysts: best guess").value
    assert guess == "6 (with probability 0.09971) or 7 (with probability 0.9003)"
    assert fact(result, "Posterior").value == "4 to 9"
    assert fact(result, "Loss").value == "0.803028 at worst"
    assert fact(result, "Saved").value == "5.6 %"
    assert result.pictures


def test_the_python_reads_the_same(releases, tmp_path):
    result = made(releases["count"], value="7", at_most="10", loss="squared", prior=json.dumps([0] * 10 + [1]))
    for file in result.files:
        (tmp_path / file.name).write_bytes(file.content)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(
        [sys.executable, "-c", result.python],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=300,
        capture_output=True,
        text=True,
    )
    assert "'reading': 10" in done.stdout


def test_a_mechanism_file_is_read_too():
    result = made(design.consumer(3, "absolute", Privacy(ratio=4)).to_document(), value="0")
    assert fact(result, "Loss").value == "0.40482 at worst"


@pytest.mark.parametrize(("release", "said", "field"), [
    ("", {"value": "7"}, "release"),
    ("{", {"value": "7"}, "release"),
    ('"/etc/passwd"', {"value": "7"}, "release"),
    ("[]", {"value": "7"}, "release"),
    ("{}", {"value": "7"}, "release"),
    ("[" * 100_000, {"value": "7"}, "release"),
    ('{"a": NaN}', {"value": "7"}, "release"),
    ("count", {"value": ""}, "value"),
    ("count", {"value": "x.csv"}, "value"),
    ("count", {"value": "nan"}, "value"),
    ("count", {"value": "7", "at_most": "nan"}, "at_most"),
    ("count", {"value": "7", "at_most": "3", "at_least": "5"}, "at_most"),
    ("count", {"value": "7", "at_most": "1e30"}, "at_most"),
    ("count", {"value": "7", "loss": "/etc/passwd.json"}, "loss"),
    ("count", {"value": "7", "loss": "table", "loss_table": "7"}, "loss_table"),
    ("count", {"value": "7", "prior": "7"}, "prior"),
    ("count", {"value": "7", "prior": "[2]"}, "prior"),
    ("count", {"value": "7", "lead": "3"}, "lead"),
    ("majority", {"value": "maybe"}, "value"),
    ("majority", {"value": "yes", "loss": "squared"}, "loss"),
    ("sum", {"value": "7"}, "release"),
    ("sizes", {"value": "7"}, "value"),
])  # fmt: skip
def test_what_cannot_be_read_gets_one_line(releases, release, said, field):
    with pytest.raises(BadInput) as caught:
        made(releases.get(release, release), **said)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)
    assert "/etc" not in str(caught.value)


def test_no_file_is_opened(releases, monkeypatch):
    """Whatever a field says, it is never the name of a file."""
    opened = []
    monkeypatch.setattr(Path, "read_text", lambda self, *_, **__: opened.append(self))
    for said in ({"loss": "loss.json"}, {"value": "t.csv"}, {"prior": '"prior.json"'}, {"loss": "table"}):
        with pytest.raises(BadInput):
            made(releases["count"], **{"value": "7", **said})
    with pytest.raises(BadInput):
        made('"t.csv.release.json"', value="7")
    assert opened == []


def test_nothing_is_answered_before_something_is_asked():
    assert "what was published" in READ.answer(read_values(READ.fields, {})).text
    assert READ.answer(read_values(READ.fields, {"release": "{}"})).text == "Now write the published answer."
    assert READ.answer(read_values(READ.fields, {"value": "7"})).text == "Now paste what was published."
