"""Long designs: what they do is said, Ctrl-C ends them, and floats that end early leave a certified gap."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from irisdp import Privacy, design
from irisdp._cli import progress_display
from irisdp._cli.progress_display import waiting
from irisdp._exact.linprog import highs

COUNT = {"kind": "consumer", "n": 150, "loss": "absolute", "privacy": {"epsilon": "1", "delta": "1/1000"}}
"""Half a minute of HiGHS."""


def test_a_design_says_what_it_does():
    heard = []
    with design.progress_to(heard.append):
        design.consumer(6, "absolute", Privacy(epsilon="0.7", delta="1/100"))
    assert heard[0].startswith("writing a program of ") and heard[-1] == "rounding the mechanism and its certificate"
    assert "solving it in floats" in heard
    silent = list(heard)
    design.consumer(6, "absolute", Privacy(epsilon="0.7", delta="1/100"))
    assert heard == silent


def test_what_a_listener_raises_ends_the_design():
    def stop(words):
        raise InterruptedError(words)

    with pytest.raises(InterruptedError), design.progress_to(stop):
        design.consumer(6, "absolute", Privacy(ratio=2))


class Slow:
    """A solver that ends when it is told to."""

    def __init__(self):
        self.told, self.ended = threading.Event(), threading.Event()

    def allow_interrupts(self):
        self.allowed = True

    def run(self):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        self.told.wait(60)
        self.ended.set()

    def cancelSolve(self):
        self.told.set()


def test_an_interrupt_ends_the_solver_at_once():
    solver, begun = Slow(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        highs._run(solver, highs._FEW_ROWS)
    assert solver.allowed and solver.ended.is_set() and time.monotonic() - begun < 30


def test_a_solver_that_does_not_listen_is_left_alone(monkeypatch):
    monkeypatch.setattr(highs, "_PATIENCE", 0.1)
    solver = Slow()
    solver.cancelSolve = lambda: None
    with pytest.raises(KeyboardInterrupt):
        highs._run(solver, highs._FEW_ROWS)
    assert not solver.ended.is_set()
    solver.told.set()


def test_ctrl_c_ends_a_design_with_one_line_and_no_file(tmp_path):
    (tmp_path / "spec.json").write_text(json.dumps(COUNT))
    command = [sys.executable, "-m", "irisdp", "design", "spec.json", "-o", "made.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "in floats" in line:
            break
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and rest.splitlines()[-1] == "irisdp: stopped"
    assert all(line.startswith("designing") for line in lines) and "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["spec.json"]


@pytest.mark.parametrize("lines", [True, False])
def test_where_no_terminal_is_there_lines_say_which_step_takes_long(monkeypatch, lines):
    monkeypatch.setattr(progress_display, "_PATIENCE", 0.02)
    monkeypatch.setattr("sys.stderr", seen := io.StringIO())
    end = time.monotonic() + 60
    with waiting("designing", lines=lines) as step:
        for words in ("first", "second"):
            step(words)
            while lines and words not in seen.getvalue() and time.monotonic() < end:
                time.sleep(0.01)
    said = [line.split(" … ")[0] for line in seen.getvalue().splitlines()]
    assert said[-2:] == (["designing: first", "designing: second"] if lines else [])
