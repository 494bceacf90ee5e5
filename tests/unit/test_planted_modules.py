"""Modules planted in the folder in which a user works are imported by no command and by no child process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vl_convert", reason="vl-convert is not installed: `make test` installs it")

from irisdp._child_processes import DONE, LOST, Child
from irisdp._explorer.jobs import _MOST_FAILED_STARTS, Jobs, Stopped
from irisdp.plots import _layout
from support import pieces_of_work as work
from support.commands import irisdp

MARK = "import os, pathlib\npathlib.Path(__file__).with_name('imported').touch()\nos._exit(7)\n"
NAMES = {*sys.stdlib_module_names, "numpy", "pandas", "duckdb", "altair", "vl_convert", "typer", "uvicorn", "irisdp"}
LEDGER = "ledger t.ledger --json"
COMMANDS = [
    "publish t.csv count --epsilon 1 --out a.csv --report a.html",
    "plot a.csv.release.json -o a.svg",
    "report a.csv.release.json -o b.html",
    LEDGER,
    "interpret a.csv.release.json --value 2",
]
EVERY = """import sys
from irisdp._cli.main import run
assert [run(command.split()) for command in sys.argv[1:]] == [0] * len(sys.argv[1:])
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(f"{name}.py").write_text(MARK)
    Path("t.csv").write_text("v\n1\n2\n")
    return Path("imported")


def answered(child):
    while (message := child.hear(60)) is None or message[0] not in (DONE, LOST):
        assert message is not None
    return message


@pytest.mark.parametrize("path", ["", None, "a link"])
def test_a_child_imports_nothing_from_the_folder_of_the_user(path, planted, tmp_path, monkeypatch):
    """However the parent has that folder on its own path."""
    os.symlink(tmp_path, "link")
    entry = {"": "", None: str(tmp_path), "a link": str(tmp_path / "link")}[path]
    monkeypatch.setattr(sys, "path", [entry, *sys.path])
    child = Child(None)
    try:
        child.ask(work.echo, {"text": "here"})
        assert answered(child)[1]["said"] == "here"
    finally:
        child.kill()
    assert not planted.exists()


def test_no_command_imports_what_is_planted(planted, tmp_path_factory):
    """Run all commands in one process, whose path is that of a script in another folder; then the console script."""
    console = Path(sys.executable).with_name("irisdp")
    if not console.exists():
        pytest.skip("the console script is not installed")
    every = tmp_path_factory.mktemp("scripts") / "every.py"
    every.write_text(EVERY)
    for command in ([sys.executable, every, *COMMANDS], [console, *LEDGER.split()]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not planted.exists(), command
    assert "<svg" in Path("a.svg").read_text() and "<html" in Path("b.html").read_text()


def test_processes_that_end_before_they_are_ready_are_not_started_for_ever(monkeypatch):
    started = []

    class Dying(Child):
        def __init__(self, *_, **__):
            started.append(self)
            super().__init__(None)
            self._process.kill()

    monkeypatch.setattr("irisdp._child_processes.Child", Dying)
    jobs = Jobs(at_once=1)
    try:
        for number in range(6):
            job = jobs.submit("room", work.echo, {"text": str(number)})
            assert job.over.wait(60)
            with pytest.raises(Stopped) as stopped:
                job.result()
        assert len(started) == _MOST_FAILED_STARTS
        assert "no more are started" in str(stopped.value)
    finally:
        jobs.close()


def test_what_a_child_prints_is_no_message():
    child = Child(None)
    try:
        child.ask(work.print_natively, None)
        assert answered(child) == (DONE, b"")
    finally:
        child.kill()


@pytest.mark.parametrize("fault", [work.abort, work.sleep_long])
def test_a_renderer_that_fails_after_the_charge_leaves_the_answers(fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("g\n1\n2\n")
    _layout._RENDERER.close()
    with monkeypatch.context() as broken:
        broken.setattr(_layout, "_render", fault)
        broken.setattr(_layout._RENDERER, "_seconds", 10 if fault is work.abort else 1.5)
        failed = irisdp("publish t.csv count --by g --groups 1,2 --epsilon 1 --out a.csv --report a.html")
    assert failed.status == 3
    assert "a.csv" in failed.line and "irisdp report" in failed.line and "drawn" in failed.line
    assert ("-6" if fault is work.abort else "stopped after 1.5 seconds") in failed.line
    assert Path("a.csv").exists() and not Path("a.html").exists()
    assert not [name for name in os.listdir() if name.startswith(".irisdp-")]
    assert irisdp("report a.csv.release.json -o a.html").status == 0
    assert "<svg" in Path("a.html").read_text()
