"""The command line as people meet it: help one can read, mistakes that say what to do, options that mean one thing."""

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import irisdp
from irisdp._cli import run
from irisdp._cli.main import app

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
        "publish anes96.xlsx count --epsilon 1": "DATA: cannot read a file that ends in '.xlsx'; give a .csv, .tsv",
        "publish none.csv count --epsilon 1": "DATA: finds no file at 'none.csv'; ",
        "publish anes96.csv count --epsilon x": "--epsilon: must be a finite number; ",
        "publish anes96.csv at-least age>3 --epsilon 1": "QUERY: at-least needs a number K; write for example irisdp "
        'publish DATA at-least 100 "age > 64"',
        "publish anes96.csv count --by vote,educ --groups 1,2 --epsilon 1": "--groups: lists values, but there are "
        "several group columns; name a file with a column for each of them: --groups FILE.csv",
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
