"""Every command with standard streams that are closed, missing, full or read in part: its status stays true."""

import json
import os
import shutil
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest

import irisdp
from irisdp import Ledger
from irisdp._cli.main import app
from support.commands import irisdp as command
from support.sweeps import tried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and fork")

COUNT = "[[questions]]\nquery = 'count'\nepsilon = 1\nout = 'o.csv'\n"
COMMANDS = {
    "publish": ["publish d.csv count --epsilon 1", "publish d.csv count --epsilon 1 --out o.csv"],
    "dry run": ["publish d.csv count --epsilon 1 --dry-run", "publish limited.csv count --epsilon 1 --dry-run"],
    "batch": ["batch plan.json"],
    "run": ["run plan.toml"],
    "check": ["check d.csv"],
    "init": ["init d.csv"],
    "interpret": ["interpret old.csv.release.json"],
    "report": ["report old.csv.release.json -o r.html"],
    "plot": ["plot old.csv -o r.html"],
    "design": ["design spec.json", "design infeasible.json", "design spec.json -o new.json"],
    "audit": ["audit mechanism.json", "audit mechanism.json --epsilon 1/9"],
    "sample": ["sample mechanism.json --input 0"],
    "compare": ["compare count --n 3 --epsilon 1"],
    "reproduce": ["reproduce --out . --paper Ghosh2012"],
    "explore": ["explore --no-browser --port 0"],
    "ledger": ["ledger old.ledger", "ledger old.ledger --limit 9"],
    "refused": ["publish limited.csv count --epsilon 1", "publish d.csv cuont --epsilon 1", "publish", "nothing"],
    "overview": ["--help", "--version", "publish --help", "--show-completion bash", ""],
}
WITHOUT_JSON = {"init", "explore", "overview"}
CHARGING = {"publish", "batch", "run"}
# Stands for `python -m irisdp …` many times over: libraries are loaded once, and each command finds the streams that
# Python makes of the shell's. The explorer is not left to serve.
PROGRAM = """
import json, os, sys
import uvicorn
from irisdp._cli.main import run
from irisdp._cli.output import take_standard_output
uvicorn.Server.run = lambda *_, **__: None
kept, streams = (os.dup(1), os.dup(2)), (sys.stdout, sys.__stdout__, sys.stderr)

def begin(kinds):
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))
    for number, name, file, kind in zip((1, 2), ("stdout", "stderr"), ("printed", "said"), kinds):
        if kind == "closed":
            os.close(number)
            setattr(sys, name, None)
            continue
        reader, writer = os.pipe()
        os.close(reader)
        if kind != "gone":
            os.close(writer)
            writer = os.open(file if kind == "file" else kind, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(writer, number)
        os.close(writer)

statuses = []
for case in json.load(sys.stdin):
    os.chdir(case["folder"])
    begin(case["streams"])
    take_standard_output()
    statuses.append(run(case["words"]))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number in (1, 2):
        os.dup2(kept[number - 1], number)
    sys.stdout, sys.__stdout__, sys.stderr = streams
print(json.dumps(statuses))
"""
KINDS = {
    "plain": ("file", "file"), "stdout closed": ("closed", "file"), "stderr closed": ("file", "closed"),
    "both closed": ("closed", "closed"), "stdout full": ("/dev/full", "file"), "both full": ("/dev/full", "/dev/full"),
    "reader gone": ("gone", "file"),
}  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("d", "old", "limited"):
        (folder / f"{name}.csv").write_text(f"v\n{name}\nx\n", encoding="utf-8")
    table = folder / "table.csv"
    table.write_text("v\n1\n2\n", encoding="utf-8")
    irisdp.publish(table, "count", epsilon=1, ledger=folder / "old.ledger", out=folder / "old.csv", force=True)
    Ledger(folder / "limited.ledger").set_limit("1/2")
    (folder / "spec.json").write_text('{"kind": "geometric", "n": 2, "privacy": {"ratio": 2}}')
    graph = {"nodes": ["a", "b"], "edges": [["a", "b"]]}
    infeasible = {"kind": "binary", "graph": graph, "colors": {"a": 0, "b": 1}, "boundary": {"a": 1, "b": 1}}
    (folder / "infeasible.json").write_text(json.dumps({**infeasible, "privacy": {"ratio": 2}}))
    assert command(f"design {folder}/spec.json -o {folder}/mechanism.json").status == 0
    plan = {"data": "d.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "plan.toml").write_text(f"[datasets.d]\ndata = 'd.csv'\n{COUNT}")
    return folder


@pytest.fixture(scope="module")
def ended(prepared, tmp_path_factory):
    """Run each line with each kind of streams in a folder of its own; return cases and statuses by name."""
    place, cases = tmp_path_factory.mktemp("ended"), []
    plain_streams, *others = KINDS.items()
    turn = cycle(others)
    for name, plain in COMMANDS.items():
        lines = plain if name in WITHOUT_JSON else [*plain, *(f"{line} --json" for line in plain)]
        for line in lines:
            for kind, streams in (plain_streams, *tried([next(turn)], others)):
                folder = str(place / f"{len(cases)} {kind}")
                cases.append({"name": name, "folder": folder, "streams": streams, "words": line.split()})
    for case in cases:
        shutil.copytree(prepared, case["folder"])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    by_name = {name: [] for name in COMMANDS}
    for case, status in zip(cases, json.loads(done.stdout), strict=True):
        by_name[case["name"]].append((case, status))
    return by_name


def read(folder, name):
    return Path(folder, name).read_text(encoding="utf-8")


def test_every_command_is_tried():
    assert {line.split()[0] for lines in COMMANDS.values() for line in lines if line} >= {
        found.name for found in app.registered_commands
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_statuses_are_true_whatever_the_streams_are(ended, name):
    plain = 0
    for case, status in ended[name]:
        folder, streams = case["folder"], tuple(case["streams"])
        line = " ".join(case["words"])
        spent = Ledger(f"{folder}/d.ledger").spent.epsilon if os.path.exists(f"{folder}/d.ledger") else 0
        if streams == ("file", "file"):
            plain = status
            printed, said = (read(folder, file) for file in ("printed", "said"))
            assert "internal" not in said and (said == "" if plain == 0 else plain == 1 or said.count("\n") == 1), line
            if "--json" in case["words"] and (plain < 2):
                json.loads(printed)
            elif plain == 1 and name in ("refused", "design"):
                assert printed == "" and said.count("\n") == 1
        lost = streams[0] in ("closed", "/dev/full")
        expected = plain or ((3 if name in CHARGING else 2) if lost else 0)
        assert status == expected, (line, streams)
        assert spent == (name in CHARGING and plain == 0), (line, streams)
        if streams[1] == "file" and lost and plain == 0:
            said = read(folder, "said")
            why = "it is closed" if streams[0] == "closed" else "No space left on device"
            assert said.startswith(f"irisdp: output: cannot be written ({why}), but "), line
            assert ("charged and in the ledger" in said) == (name in CHARGING), line
            assert ("o.csv;" in said) == (name in CHARGING and os.path.exists(f"{folder}/o.csv")), line


PUBLISH = "publish d.csv count --epsilon 1"


@pytest.mark.parametrize(("line", "status"), [
    (f"{PUBLISH} >&-", 3),
    (f"{PUBLISH} 2>&-", 0),
    (f"{PUBLISH} >&- 2>&- <&-", 3),
    (f"{PUBLISH} >/dev/full 2>/dev/full", 3),
    ("audit mechanism.json --epsilon 1/9 --json | true", 1),
    ("publish d.csv cuont 2>&-", 2),
    ("--version >&-", 2),
])  # fmt: skip
def test_a_process_ends_with_a_true_status(prepared, tmp_path, line, status):
    folder = shutil.copytree(prepared, tmp_path / "here")
    command, *rest = line.split(" | ")
    script = f"{sys.executable} -m irisdp {command} {' | '.join(['', *rest])}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert (folder / "d.ledger").exists() == line.startswith(PUBLISH)
    assert "2>" not in line or "irisdp:" not in done.stdout


def test_no_output_of_a_library_is_in_a_json_document(prepared):
    """A native library, and a program that Iris starts, write to descriptor 1."""
    code = (
        "import os, sys, irisdp.design as d; from irisdp import __main__; design = d.from_spec\n"
        "d.from_spec = lambda spec: (os.write(1, b'banner'), os.system('echo child'), design(spec))[2]\n"
        "sys.argv = ['irisdp', 'design', 'spec.json', '--json']; __main__.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=prepared, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["format"] == "irisdp/mechanism/1"
    assert done.stderr == "bannerchild\n"


def test_python_calls_print_nothing_and_need_no_streams(prepared):
    code = (
        "import sys, irisdp; sys.stdout = sys.stderr = None\n"
        "graph = {'family': 'cycle', 'n': 5}\n"
        "irisdp.design.from_spec({'kind': 'distance', 'graph': graph, 'privacy': {'epsilon': 1}})\n"
        "from irisdp._cli.main import run; assert run(['--version']) == 2\n"
        "assert irisdp.publish('old.csv', 'count', epsilon=1, ledger='none.ledger').cost.epsilon == 1"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=prepared, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
