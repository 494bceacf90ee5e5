"""The command line as people meet it: help one can read, mistakes that say what to do, options that mean one thing."""

import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.main

import irisdp
from irisdp import Privacy, audit, design
from irisdp._cli import run
from irisdp._cli.main import app
from irisdp._cli.mechanism_files import _REPAIRED
from irisdp._release import SIDECAR_FORMAT
from irisdp.design._repair import _SLIP
from irisdp.mechanisms import FactoredMechanism
from irisdp.mechanisms._mechanism_file import _RELEASE_FORMAT

ANES = Path(__file__).parents[2] / "examples" / "anes96.csv"
COMMANDS = typer.main.get_command(app).commands
OPTIONS = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option"
]
named = {"argvalues": OPTIONS, "ids": lambda part: part if isinstance(part, str) else part.name}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ANES, "anes96.csv")
    return tmp_path


def said(capsys, *arguments):
    """Return the one line that a wrong command ends with."""
    assert run([*arguments]) == 2
    printed = capsys.readouterr()
    assert bool(printed.out) == ("--json" in arguments)
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("irisdp: ").strip()


def written(spelling, value, *, joined):
    if value is None:
        return [spelling]
    if not joined:
        return [spelling, value]
    return [f"{spelling}={value}" if spelling.startswith("--") else f"{spelling}{value}"]


@pytest.mark.parametrize(("command", "option"), **named)
def test_an_option_given_twice_adds_up_or_is_refused(command, option, here, capsys):
    arguments = ["x"] * sum(part.param_type_name == "argument" for part in COMMANDS[command].params)
    for first, second in itertools.product(option.opts, repeat=2):
        for one, other in itertools.product([False, True], repeat=2):
            value = None if option.is_flag else "1"
            twice = [*written(first, value, joined=one), *arguments, *written(second, "1" and value, joined=other)]
            line = said(capsys, command, *twice)  # there is no file x, so lists end with status 2 as well
            assert ("is given 2 times" in line) == (not option.multiple), line
            assert option.multiple or line.startswith(f"{max(option.opts, key=len)}: ")


def test_the_lists_are_these():
    assert {(name, option.name) for name, option in OPTIONS if option.multiple} >= {
        ("publish", "by"), ("publish", "groups"), ("publish", "audience"),
    }  # fmt: skip


def test_lists_add_up(here, capsys):
    asked = ["publish", "anes96.csv", "count", "--epsilon", "1", "--json"]
    assert run([*asked, "--by", "educ", "--groups", "1,2", "--groups", "3"]) == 0
    first = capsys.readouterr().out
    assert run([*asked, "--by", "educ", "--groups", "1,2,3"]) == 0
    again = capsys.readouterr().out
    assert '"repeated": true' in again
    assert first.replace('"repeated": false', '"repeated": true').split('"answers"')[1].split("]")[0] in again
    Path("g.csv").write_text("educ,vote\n1,0\n1,1\n")
    for by in (["--by", "educ,vote"], ["--by", "educ", "--by", "vote"], ["--by=educ", "--by= vote"]):
        assert run([*asked, *by, "--groups", "g.csv", "--dry-run"]) == 0
    capsys.readouterr()
    line = said(capsys, *asked, "--by", "educ", "--groups", "g.csv", "--groups", "3")
    assert line == "--groups: is repeated, and one is a file; give one file, or values"


@pytest.mark.parametrize(
    ("command", "line"),
    {
        "publsh": "publsh: is no command; did you mean publish?",
        "zzz": "zzz: is no command; choose from publish, ",
        "publish": "DATA: is missing; write for example: irisdp publish survey.csv count ",
        "publish anes96.csv": "QUERY [EXPR]: is missing; write for example: irisdp publish survey.csv count ",
        "ledger": "FILE: is missing; write for example: irisdp ledger survey.ledger",
        "sample m.json": "--input: is missing; write for example: irisdp sample ",
        "publish anes96.csv count": "--epsilon: is missing; add --epsilon 1",
        "publish anes96.csv count --dry-run": "--epsilon: is missing; add --epsilon 1",
        "publish anes96.csv count --epsilon 1 --ratio 2": "--epsilon: says the same as --ratio; ",
        "publish anes96.csv count --epsilon": "--epsilon: needs a value; write for example --epsilon 1",
        "publish anes96.csv count --unit": "--unit: needs a value; write for example --unit COL",
        "publish anes96.csv count --epsilon 1 --json=1": "--json: takes no value; write --json alone",
        "publish anes96.csv count --epsilom 1": "--epsilom: is no option of irisdp publish; did you mean --epsilon? ",
        "publish anes96.csv count --dry_run": "--dry_run: is no option of irisdp publish; did you mean --dry-run? ",
        "publish anes96.csv count --EPSILON 1": "--EPSILON: is no option of irisdp publish; did you mean --epsilon? ",
        "publish anes96.csv count --aud a=1": "--aud: is no option of irisdp publish; did you mean --audience? ",
        "publish anes96.csv count -e 1": "-e: is no option of irisdp publish; did you mean --epsilon or --encoding or ",
        "publish anes96.csv count --zzz": "--zzz: is no option of irisdp publish; irisdp publish -h lists them",
        "--verbose": "--verbose: is no option of irisdp; did you mean --version? irisdp -h lists them",
        "publish anes96.csv count vote = 1 --epsilon 1": "QUERY: count takes one condition, and it is in several",
        "publish anes96.ods count --epsilon 1": "DATA: cannot read a file that ends in '.ods'; give a .csv, .tsv",
        "publish none.csv count --epsilon 1": "DATA: finds no file at 'none.csv'; ",
        "publish anes96.csv count --epsilon x": "--epsilon: must be a finite number; ",
        "publish anes96.csv at-least age>3 --epsilon 1": "QUERY: at-least needs a number K; write for example irisdp "
        'publish DATA at-least 100 "age > 64"',
        "publish anes96.csv count --by vote,educ --groups 1,2 --epsilon 1": "--groups: lists values, but there are "
        "several group columns; list the values of each of them: --groups COL=V1,V2 --groups COL2=V3,V4; or name a"
        " file: --groups FILE.csv",
        "explore --port abc": "--port: must be a whole number; write one from 0 to 65535",
        "publish anes96.csv count --audience a=x": "--audience: must be a finite number; ",
        "publish anes96.csv count --by edu --groups 1 --epsilon 1": "--by: names the column 'edu', ",
        "publish anes96.csv count --unit edu --epsilon 1": "--unit: names the column 'edu', ",
        "ledger a b": "irisdp ledger: Got unexpected extra argument(s) (b); put what has spaces in quotes, or see",
        "--show-completion csh": "--show-completion: knows no shell csh; choose from bash, zsh, fish, ",
    }.items(),
)  # fmt: skip
def test_a_mistake_says_what_to_write_instead(command, line, here, capsys):
    assert said(capsys, *command.split()).startswith(line)
    assert [path.name for path in here.iterdir()] == ["anes96.csv"]


def test_no_escape_sequence_comes_back(here, capsys):
    line = said(capsys, "publish", "a\x1b[31m\u202e.csv", "count", "--epsilon", "1")
    assert "\x1b" not in line and "\u202e" not in line
    for wrong in ("\x1b[31m", "--\x1b[31m"):
        assert "\x1b" not in said(capsys, wrong)


@pytest.mark.parametrize("width", ["80", "200"])
def test_the_overview_fits_a_terminal_and_nothing_is_cut(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    shown = []
    for asked in ([], ["-h"], ["--help"]):
        assert run(asked) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
    assert max(map(len, shown[0].splitlines())) <= 80
    assert "..." not in shown[0].partition("Commands:")[2]
    for name, command in COMMANDS.items():
        assert f"  {name} " in shown[0]
        assert command.short_help in shown[0]
    assert "Examples:\n    irisdp publish " in shown[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_parse(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert run([name, "-h"]) == 0
    short = capsys.readouterr().out
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out == short
    assert "<str>" not in short and "<path>" not in short
    for option in COMMANDS[name].params:
        assert option.help
        assert all(spelling in short for spelling in option.opts) or option.param_type_name == "argument"
    examples = [line.strip() for line in short.partition("Examples:")[2].splitlines() if line.strip()]
    assert examples
    for line in examples:
        program, command, *arguments = shlex.split(line)
        assert (program, command) == ("irisdp", name)
        COMMANDS[name].make_context(name, arguments)  # every option is one, every argument is there
    assert max(map(len, short.splitlines())) <= 88


def test_the_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"irisdp {irisdp.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell", "pwsh"])
def test_completion_scripts(shell, capsys):
    assert run(["--show-completion", shell]) == 0
    assert "_IRISDP_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [("irisdp pub", "1", ["publish"]), ("irisdp publish --sel", "2", ["--select-groups", "--selection-epsilon"])],
)
def test_completion_completes(words, place, expected):
    environment = os.environ | {"_IRISDP_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
    done = subprocess.run(
        [sys.executable, "-m", "irisdp"], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split()[: len(expected)] == expected


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from irisdp._cli.main import run; run(['publish', '-h']);"
        "heavy = {'numpy', 'duckdb', 'pyarrow', 'highspy', 'narwhals', 'sqlglot', 'rich', 'flint', 'altair'};"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_refusal_is_a_document_with_json_alone(tmp_path, monkeypatch, capsys, terminal):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n")
    assert run(["ledger", "t.ledger", "--limit", "1"]) == 0
    capsys.readouterr()
    command = ["publish", "t.csv", "count", "--epsilon", "2"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert run(command) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("irisdp: not enough budget:")
    assert run([*command, "--json"]) == 1
    assert capsys.readouterr().out.startswith('{"error": ')


def test_what_was_asked_for_within_stands_below_the_title(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n")
    assert run(["publish", "t.csv", "count", "--within", "5"]) == 0
    headings = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert headings[:2] == ["count", "within"] and headings.count("count") == headings.count("within") == 1


# `design` and `audit` at the command line: files, verdicts, statuses.

SPECS = {
    "consumer": {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}},
    "bayes": {"kind": "consumer", "n": 3, "loss": "zero-one", "prior": [1, 1, 1, 1], "privacy": {"epsilon": 1}},
    "distance": {"kind": "distance", "graph": {"family": "cycle", "n": 7}, "privacy": {"epsilon": 1}},
    "geometric": {"kind": "geometric", "n": 9, "privacy": {"epsilon": "0.1"}},
}


def write(path, document):
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_what_is_designed_passes_the_audit(spec, tmp_path, capsys):
    if "prior" in spec:
        spec = spec | {"prior": ["1/4"] * 4}
    made = str(tmp_path / "m.json")
    assert run(["design", write(tmp_path / "s.json", spec), "-o", made]) == 0
    assert run(["audit", made]) == 0
    printed = capsys.readouterr()
    assert "holds" in printed.out
    assert run(["audit", made, "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["private"] is True
    assert verdict["rows_sum_to_one"] is True
    assert verdict["tightest"]["edge"]


def test_without_a_file_the_mechanism_is_printed(tmp_path, capsys):
    assert run(["design", write(tmp_path / "s.json", SPECS["consumer"]), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "irisdp/mechanism/1"
    assert document["objective"]["value"] == document["objective"]["lower_bound"] == "168/415"


def test_a_stricter_promise_does_not_hold(tmp_path, capsys):
    made = str(tmp_path / "m.json")
    run(["design", write(tmp_path / "s.json", SPECS["geometric"]), "-o", made])
    assert run(["audit", made, "--epsilon", "0.09", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert verdict["private"] is False
    assert run(["audit", made, "--epsilon", "0.09", "--delta", "1/2"]) == 0


def test_foreign_matrices_are_judged_as_given_and_can_be_repaired(tmp_path, capsys):
    matrix = np.array([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2]])
    np.save(tmp_path / "m.npy", matrix)
    graph = write(tmp_path / "g.json", {"family": "complete", "n": 2})
    fixed = str(tmp_path / "fixed.json")
    command = ["audit", str(tmp_path / "m.npy"), "--graph", graph, "--epsilon", "1.9", "--repair", fixed, "--json"]
    assert run(command) == 1
    verdict = json.loads(capsys.readouterr().out)
    # 0.7 + 0.1 + 0.2 as doubles is no 1, and log 7 is above 1.9.
    assert (verdict["private"], verdict["rows_sum_to_one"]) == (False, False)
    assert run(["audit", fixed]) == 0
    (tmp_path / "m.csv").write_text("2/3,1/3\n1/3,2/3\n")
    assert run(["audit", str(tmp_path / "m.csv"), "--graph", graph, "--ratio", "2"]) == 0
    assert run(["audit", str(tmp_path / "m.csv"), "--graph", graph, "--ratio", "1.9"]) == 1


@pytest.mark.parametrize("wrong", [
    {"kind": "unheard of", "privacy": {"ratio": 2}},
    {"kind": "geometric", "privacy": {"ratio": 2}},
    {"kind": "geometric", "n": -1, "privacy": {"ratio": 2}},
    {"kind": "geometric", "n": 3},
    {"kind": "geometric", "n": 3, "privacy": {"ratio": 2}, "extra": 1},
    {"kind": "consumer", "n": 3, "loss": "cubic", "privacy": {"ratio": 2}},
    {"kind": "consumer", "n": 3, "loss": "absolute", "prior": [1], "privacy": {"ratio": 2}},
    {"kind": "distance", "graph": {"family": "torus", "n": 3}, "privacy": {"ratio": 2}},
    {"kind": "distance", "graph": {"nodes": ["a"], "edges": [["a", "b"]]}, "privacy": {"ratio": 2}},
    [],
])  # fmt: skip
def test_bad_specs_end_with_status_2(wrong, tmp_path, capsys):
    assert run(["design", write(tmp_path / "s.json", wrong)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1


def test_audit_needs_a_graph_and_a_promise(tmp_path, capsys):
    bare = write(tmp_path / "m.json", {"matrix": [[1, 0], [0, 1]]})
    assert run(["audit", bare]) == 2
    assert run(["audit", bare, "--epsilon", "1"]) == 2
    assert "graph" in capsys.readouterr().err


def test_an_audit_names_the_row_that_does_not_sum_to_1_the_entry_below_0_and_what_it_wrote(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    graph = write(tmp_path / "g.json", {"family": "complete", "n": 3})
    (tmp_path / "m.csv").write_text("1/3,1/3,1/3\n0.3333,0.3333,0.3333\n0.4,0.4,0.3\n")
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2"]) == 1
    said = capsys.readouterr().out
    assert "do NOT sum to exactly 1: that of input 1 is the first, 0.0001 too little; give more digits, or" in said
    assert "negative" not in said and "written" not in said and "--repair" not in said
    (tmp_path / "m.csv").write_text("1/3,1/3,1/3\n0.33333333,0.33333333,0.33333333\n1/3,1/3,1/3\n")
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2"]) == 1
    assert "input 1 is the first, 1e-08 too little; --repair OUT.json writes" in capsys.readouterr().out
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2", "--repair", "f.json"]) == 1
    said = capsys.readouterr().out
    assert "the first, 1e-08 too little\n" in said and "  written    f.json\n" in said
    assert run(["audit", "f.json"]) == 0 and "rows       sum to exactly 1\n" in capsys.readouterr().out
    (tmp_path / "n.csv").write_text("1/2,1/2,0\n0.6,0.6,-0.2\n0.5,0.5,0.5\n")
    assert run(["audit", "n.csv", "--graph", graph, "--ratio", "2"]) == 1
    said = capsys.readouterr().out
    assert "negative   the first entry below 0 is that of input 1, output 2: -0.2" in said
    assert "that of input 2 is the first, 0.5 too much" in said
    assert _REPAIRED == _SLIP


# A certificate speaks of the file's own graph and privacy: what options replace is not judged, and said not to be.

TWO = Privacy.from_ratio(2)


def tampered():
    document = design.randomized_response(3, TWO).to_document()
    document["objective"]["lower_bound"] = document["objective"]["value"] = "0"
    return document


@pytest.mark.parametrize(("options", "judged"), [
    ([], True),
    (["--ratio", "2"], True),
    (["--ratio", "2.0", "--delta", "0"], True),
    (["--delta", "0"], True),
    (["--ratio", "3"], False),
    (["--epsilon", "1"], False),
    (["--delta", "0.1"], False),
    (["--graph", "g.json"], False),
])  # fmt: skip
def test_a_tampered_file_is_never_said_to_claim_nothing(options, judged, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.json").write_text(json.dumps(tampered()))
    (tmp_path / "g.json").write_text('{"family": "path", "n": 3}')
    status = run(["audit", "m.json", *options])
    text = capsys.readouterr().out
    assert "nothing is claimed" not in text
    assert run(["audit", "m.json", *options, "--json"]) == status == (1 if judged else 0)
    found = json.loads(capsys.readouterr().out)
    assert found["certificate_not_judged"] is not judged
    assert ("not judged" in text) is not judged
    assert found["optimality"] is None if not judged else not found["optimality"]["holds"]


def test_without_a_certificate_nothing_is_left_unjudged(tmp_path, capsys):
    document = tampered()
    del document["certificate"], document["objective"]
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert run(["audit", str(tmp_path / "m.json"), "--ratio", "3"]) == 0
    assert "nothing is claimed" in capsys.readouterr().out


def test_factors_are_treated_alike():
    factored = FactoredMechanism(privacy=TWO, n=3, certificate={"kind": "theorem", "theorem": "geometric"})
    assert audit(factored, privacy=Privacy(ratio=3)).not_judged
    assert not audit(factored, privacy=TWO).optimality.holds  # it was never sealed


def test_a_release_is_said_to_be_one_and_never_to_be_given_another_format(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert _RELEASE_FORMAT == SIDECAR_FORMAT
    Path("r.release.json").write_text(json.dumps({"format": SIDECAR_FORMAT, "mechanism": {}}))
    assert run(["audit", "r.release.json"]) == 2
    said = capsys.readouterr().err
    assert "is a release, which says how answers were made" in said and "give it to interpret, or to report" in said
    assert "irisdp/mechanism/1" not in said
