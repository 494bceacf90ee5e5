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

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")

import contextlib
import io
import re
import shlex

import numpy as np
import pytest

from irisdp._cli import run
from irisdp._exact import json_bytes
from irisdp._explorer.check import CHECK, check
from irisdp._explorer.common_fields import as_text
from irisdp._explorer.design import DESIGN
from irisdp._explorer.design import design as working
from irisdp._explorer.pages import show_result
from irisdp._explorer.results import ResultCache

HOSTILE = "</script><script>alert(1)</script>"
TABLE = [[abs(i - j) for j in range(11)] for i in range(11)]


def made(release, **said):
    text = release if isinstance(release, str) else json.dumps(release)
    return read(read_values(READ.fields, {"release": text, **said}), lambda phase: None)


def file_of(result, name):
    return next(file.content for file in result.files if file.name == name)


def fact(result, name):
    facts = [*result.facts, *(one for section in result.sections for one in section.facts)]
    return next(one for one in facts if one.name == name)


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
    guess = fact(result, "Best guess").value
    assert guess == "6 (with probability 0.09971) or 7 (with probability 0.9003)"
    assert fact(result, "Posterior").value == "4 to 9"
    assert fact(result, "Loss").value == "0.803028 at worst"
    assert fact(result, "Saved").value == "5.6 %"
    assert result.sections[0].heading == "For analysts"
    assert result.sections[0].pictures
    assert not {"Best guess", "Loss"} & {one.name for one in result.facts}


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
    ("sum", {"value": "7"}, "answers"),
    ("sizes", {"value": "7"}, "answers"),
    ("count", {"value": "7", "row": "1"}, "row"),
    ("count", {"value": "7", "answers": "answer\n7\n"}, "value"),
    ("count", {"answers": "answer\n7\n"}, "answers"),
    ("{}", {"answers": "answer\n7\n"}, "release"),
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
    def hint(**said):
        return READ.answer(read_values(READ.fields, said)).text

    assert hint().startswith("Drop the published files")
    assert hint(release="{}").startswith("Now add the answers file")
    assert hint(value="7").startswith("Now add the release file")
    assert hint(answers="answer\n7\n").startswith("Now add the release file")


@pytest.mark.parametrize("tool", [DESIGN, CHECK], ids=lambda tool: tool.name)
def test_the_example_of_a_page_is_answered(tool):
    work = {"design": working, "check": check}[tool.name]
    result = work(read_values(tool.fields, tool.example()), lambda phase: None)
    assert result.headline.startswith(("Proved best", "This keeps"))


# The room Check: what is pasted is audited as the command line audits it, and shown without believing any of it.

RESPONSE = "3/4, 1/4\n1/4, 3/4\n"
HOSTILE_CHECK = '</script><script>alert(1)</script>"\u202e\n'


def judged(**values):
    return check(read_values(CHECK.fields, values), lambda words: None)


def designed(spec=None):
    made = design.from_spec(spec or {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}})
    return json_bytes(made.to_document()).decode()


def numpy_file(rows):
    file = io.BytesIO()
    np.save(file, np.array(rows))
    return as_text(file.getvalue())


def test_of_a_delta_that_is_not_kept_nothing_is_promised():
    asked = {"mechanism": RESPONSE, "on": "path", "epsilon": "1"}
    assert "up to 10 % an answer tells neighbours apart" in fact(judged(**asked, delta="0.1"), "δ means").value
    assert "δ means" not in [one.name for one in judged(**asked, delta="0.01").facts]


def test_a_foreign_matrix_is_judged_exactly():
    found = judged(mechanism=RESPONSE, on="path", epsilon="1")
    assert found.verdict == "bad" and "does not keep" in found.headline
    assert fact(found, "ε needed").value.startswith("1.0986")
    assert fact(found, "Tightest edge").value == "0 and 1"
    kept = judged(mechanism=RESPONSE, on="complete", epsilon="1.0987")
    assert kept.verdict == "good" and "of optimality nothing is proved" in kept.headline
    assert kept.pictures[0].rows[0] == ("0", "0", 0.75)


def test_a_designed_mechanism_holds_and_its_scope_is_said():
    found = judged(mechanism=designed())
    assert found.verdict == "good" and "certificate holds" in found.headline
    assert "among" in fact(found, "Bound").remark
    assert fact(found, "Gap").value == "0"


def test_a_tampered_file_does_not_hold():
    document = json.loads(designed())
    document["objective"]["value"] = "1/1000"
    found = judged(mechanism=json.dumps(document))
    assert found.verdict == "bad"
    assert fact(found, "Optimality").value == "Does not hold"


def test_rows_that_are_no_probabilities_are_said_and_not_drawn():
    found = judged(mechanism="0.5, 0.6\n0.5, 0.5", on="path", epsilon="1")
    assert found.verdict == "bad" and "no mechanism" in found.headline
    assert not found.pictures and "no picture" in found.notes[0]
    assert fact(judged(mechanism="1.5, -0.5\n0.5, 0.5", on="path", epsilon="1"), "Entries").value == "Some are negative"


UNEQUAL = [["8/9", "1/9"], ["2/3", "1/3"], ["1/3", "2/3"]]
NAMED = json.dumps({"inputs": [1, 0, 2], "matrix": UNEQUAL})
"""Private at a ratio of 3 where 0 stands between 1 and 2, and not where the second row stands for 1."""
UNNAMED = json.dumps({"matrix": UNEQUAL})


def test_a_file_that_names_its_inputs_keeps_its_names_on_a_pasted_graph():
    pasted = {"on": "pasted", "graph": "0 1\n0 2", "epsilon": "1.0987"}
    assert judged(mechanism=NAMED, **pasted).verdict == "good"
    assert judged(mechanism=UNNAMED, **pasted).verdict == "bad"


@pytest.mark.parametrize(
    "values",
    [
        {"mechanism": RESPONSE, "on": "path", "epsilon": "1"},
        {"mechanism": "[[0.75, 0.25], [0.25, 0.75]]", "on": "complete", "epsilon": "1.1", "delta": "1/100"},
        {"mechanism": RESPONSE + "1/2, 1/2\n", "on": "pasted", "graph": "0 1\n1 2", "epsilon": "2"},
        {"mechanism": numpy_file([[0.75, 0.25], [0.25, 0.75]]), "on": "path", "epsilon": "1.0987"},
        {"mechanism": "no\tyes\n3/4\t1/4\n1/4\t3/4", "on": "path", "epsilon": "2"},
        {"mechanism": designed()},
        {"mechanism": designed(), "epsilon": "1"},
        {"mechanism": designed(), "delta": "1/10"},
        {"mechanism": designed(), "on": "complete", "epsilon": "5"},
        {"mechanism": NAMED, "on": "pasted", "graph": "0 1\n0 2", "epsilon": "1.0987"},
        {"mechanism": NAMED, "on": "path", "epsilon": "1.0987"},
        {"mechanism": UNNAMED, "on": "path", "epsilon": "1.0987"},
    ],
    ids=[
        "csv",
        "json",
        "pasted graph",
        "numpy",
        "tabs and names",
        "designed",
        "other ε",
        "other δ",
        "other graph",
        "its own names",
        "a path of its own names",
        "no names and no graph",
    ],
)
def test_the_command_line_and_the_python_come_to_the_same(values, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = judged(**values)
    files = {file.name: file.read() for file in found.files}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    shown, saved = found.command.splitlines()
    command, _, target = saved.partition(" > ")
    status = run(shlex.split(command)[1:])
    assert status == (0 if found.verdict == "good" else 1)
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("command")["status"] == status
    assert printed == json.loads(files[target])
    run(shlex.split(shown)[1:])
    assert ("DOES NOT HOLD" in capsys.readouterr().out) == (found.verdict == "bad")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        names = {}
        exec(compile(found.python, "exported", "exec"), names)
    assert f"{json.dumps(names['verdict'].to_document(), ensure_ascii=False)}\n".encode() == files[target]


@pytest.mark.parametrize(("values", "field"), [
    ({"mechanism": RESPONSE}, "on"),
    ({"mechanism": RESPONSE, "on": "path"}, "epsilon"),
    ({"mechanism": RESPONSE, "on": "elsewhere", "epsilon": "1"}, "on"),
    ({"mechanism": "no, numbers", "on": "path", "epsilon": "1"}, "matrix"),
    ({"mechanism": "{", "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": '{"kind": "consumer", "n": 3}'}, "mechanism"),
    ({"mechanism": "[[NaN, 1]]", "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": "[" * 100_000, "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": "[[1e999999999, 1]]", "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": "base64:AAAA", "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": numpy_file([[0.5, 0.5]])[:40], "on": "path", "epsilon": "1"}, "mechanism"),
    ({"mechanism": RESPONSE, "on": "pasted", "graph": "0 1 2 3 -", "epsilon": "1"}, "graph"),
    ({"mechanism": RESPONSE, "on": "pasted", "graph": "x", "epsilon": "1"}, "graph"),
    ({"mechanism": RESPONSE, "on": "pasted", "graph": "0 1\n1 2", "epsilon": "1"}, "graph"),
    ({"mechanism": designed(), "on": "pasted", "graph": "0 1", "epsilon": "1"}, "graph"),
    ({"mechanism": "1\n" * 3000, "on": "complete", "epsilon": "1"}, "on"),
], ids=lambda part: str(part)[:40])  # fmt: skip
def test_what_is_no_mechanism_is_said_at_a_field(values, field):
    with pytest.raises(BadInput) as refused:
        judged(**values)
    assert refused.value.field == field
    assert "irisdp-explorer-" not in str(refused.value), "whoever pasted it knows no path"


def test_the_rows_that_do_not_sum_to_one_are_named_with_their_sums():
    found = judged(mechanism="0.5, 0.6\n0.5, 0.5\n0.2, 0.7999", on="path", epsilon="1")
    assert fact(found, "Rows").remark == "row 1 to 1.1 (0.1 too much), row 3 to 0.9999 (0.0001 too little)"
    floats = judged(mechanism=numpy_file([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]), on="path", epsilon="5")
    assert re.match(r"row 1 to (more|less) than 1 \(\d.\de-17 too (much|little)\)", fact(floats, "Rows").remark)
    many = judged(mechanism="1, 1\n" * 9, on="path", epsilon="1")
    assert fact(many, "Rows").remark.endswith("row 3 to 2 (1 too much), and 6 other rows")
    assert fact(judged(mechanism=RESPONSE, on="path", epsilon="2"), "Rows").remark == ""


def test_what_other_tools_write_is_read_and_handed_out_as_it_came():
    found = judged(mechanism="no;yes\n3/4;1/4\n1/4;3/4\n", on="path", epsilon="2")
    assert "keeps" in found.headline and "the answers that tell most: no" in fact(found, "Tightest edge").remark
    assert next(file for file in found.files if file.name == "matrix.csv").content.startswith(b"no;yes")


def test_one_input_is_one():
    found = judged(mechanism="1/2, 1/2", on="path", epsilon="1")
    assert fact(found, "Graph").value == "1 input, 0 edges: nothing is compared"
    found = judged(mechanism="1/2,1/2\n" * 3, on="pasted", graph="a b\nc", epsilon="1")
    assert (fact(found, "Graph").value, fact(found, "Graph").remark) == ("3 inputs, 1 edge", "1 input has no neighbour")


def test_a_pickled_array_is_never_opened():
    file = io.BytesIO()
    np.save(file, np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    with pytest.raises(BadInput):
        judged(mechanism=as_text(file.getvalue()), on="path", epsilon="1")


def test_names_from_a_file_are_never_markup():
    document = json.loads(designed({"kind": "consumer", "n": 1, "loss": "absolute", "privacy": {"ratio": 4}}))
    plain = {"format": document["format"], "privacy": {"ratio": "3"}, "outputs": [HOSTILE_CHECK, "b"]}
    plain |= {
        "inputs": [HOSTILE_CHECK, "other"],
        "graph": {"nodes": [HOSTILE_CHECK, "other"], "edges": [[HOSTILE_CHECK, "other"]]},
    }
    values = {"mechanism": json.dumps({**plain, "matrix": [["3/4", "1/4"], ["1/4", "3/4"]]})}
    found = judged(**values)
    page = show_result(CHECK, read_values(CHECK.fields, values), found, ResultCache())
    assert "<script>" not in page and "\u202e" not in page
    assert "&lt;/script&gt;" in page and "\\u202e" in page
    drawn = found.pictures[0].to_svg()
    assert "<script>" not in drawn and "\u202e" not in drawn
    assert "<script>alert" not in found.pictures[0].to_html()


def test_nothing_is_checked_before_anything_is_pasted():
    assert "then press Check" in CHECK.answer(read_values(CHECK.fields, {})).text


def test_a_promise_with_delta_is_read():
    assert "keeps" in judged(mechanism=RESPONSE, on="path", epsilon="1", delta="1/2").headline
