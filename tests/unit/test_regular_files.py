"""A pipe or a folder where a file is expected keeps nobody waiting; what a shell hands over open is read as ever."""

import json
import os
import subprocess
import sys

import pytest

from irisdp._files import NoRegularFile, is_there, open_regular

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")

ASKED = ["publish", "t.csv", "count", "--epsilon", "1"]
COMMANDS = {
    "--types": [*ASKED, "--types", "pipe"],
    "--project": [*ASKED, "--project", "pipe"],
    "--groups": [*ASKED, "--by", "v", "--groups", "pipe.csv"],
    "apply": ["publish", "t.csv", "apply", "pipe"],
    "DATA": ["publish", "pipe.csv", "count", "--epsilon", "1"],
    "the secret": ASKED,
    "batch": ["batch", "pipe"],
    "run": ["run", "pipe"],
    "interpret": ["interpret", "pipe"],
    "interpret answers": ["interpret", "pipe.csv"],
    "report": ["report", "pipe"],
    "plot": ["plot", "pipe", "-o", "o.html"],
    "plot answers": ["plot", "pipe.csv", "-o", "o.html"],
    "design": ["design", "pipe"],
    "audit": ["audit", "pipe"],
    "audit a matrix": ["audit", "pipe.csv"],
    "audit an array": ["audit", "pipe.npy"],
    "audit a graph": ["audit", "matrix.json", "--graph", "pipe", "--epsilon", "1"],
    "sample": ["sample", "pipe", "--input", "0"],
}
SPEC = {"kind": "geometric", "n": 3, "privacy": {"ratio": 2}}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("v\n1\n2\n")
    (tmp_path / "matrix.json").write_text("[[1, 0], [0, 1]]")
    return tmp_path


def started(typed, **options):
    line = [sys.executable, "-m", "irisdp", *typed]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_waits_for_a_pipe(name, here):
    for pipe in (".tables.irisdp-secret",) if name == "the secret" else ("pipe", "pipe.csv", "pipe.npy"):
        os.mkfifo(here / pipe)
    ended = started(COMMANDS[name])
    assert ended.returncode == 2, ended
    assert ended.stderr.count("\n") == 1, ended
    assert not (here / "t.ledger").exists()


def test_a_folder_a_pipe_and_a_device_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/null"):
        with pytest.raises(NoRegularFile):
            open_regular(path)
    (tmp_path / "link").symlink_to("nowhere")
    assert is_there(tmp_path / "link")
    assert not is_there(tmp_path / ("long" * 100))
    assert not is_there(tmp_path / "pipe" / "in no folder")


@pytest.mark.parametrize(
    "typed", [["design", "/dev/stdin"], ["batch", "/dev/stdin", "--dry-run"]], ids=lambda typed: typed[0]
)
def test_standard_input_is_read(typed, here):
    batch = {"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    ended = started(typed, input=json.dumps(SPEC if typed[0] == "design" else batch))
    assert ended.returncode == 0, ended


def test_what_a_shell_substitutes_is_read(here):
    (here / "spec.json").write_text(json.dumps(SPEC))
    line = f'"{sys.executable}" -m irisdp design <(cat spec.json)'
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended
