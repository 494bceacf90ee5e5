"""Changed inputs end in an answer or in one line: a part of what `make reliability` feeds, and planted mistakes."""

import os
import signal
import subprocess
import sys

import pytest

from fuzz import run
from fuzz.changes import changed_text
from fuzz.targets import COLUMNS, MARK, TARGETS, Target
from irisdp.errors import BadInput

A_PART = 1 / 2000


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_end_in_an_answer_or_in_one_line(name):
    # In a process of its own: what forks from one that ran other tests may be without their threads.
    command = [sys.executable, run.__file__, "--only", name, "--share", str(A_PART), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (fed,) = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith(f"| {name} |")]
    inputs, taken, refused = (int(number.replace(",", "")) for number in fed[1:4])
    assert done.returncode == 0, done.stderr + done.stdout
    assert taken + refused == inputs >= 20


def test_whole_runs_feed_half_a_million():
    assert sum(target.whole for target in TARGETS.values()) >= 500_000


def breaks(text, _):
    raise KeyError(text)


def tells(text, _):
    raise BadInput("x", f"holds {MARK}", "look away")


def says_much(text, _):
    error = BadInput("x", "y", "z")
    error.args = ("one line\nand another",)
    raise error


def hangs(text, _):
    while True:
        pass


def dies(text, _):
    if "a" in text:
        os.kill(os.getpid(), signal.SIGKILL)


def grabs(text, _):
    return bytearray(1 << 34) and None


@pytest.mark.parametrize(
    ("take", "kind"),
    [
        (breaks, "KeyError at test_fuzz.py"), (tells, "the mark of a record"), (says_much, "more than one line"),
        (hangs, "no end after"), (dies, "ended the process (-9)"), (grabs, "MemoryError"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(take, kind, monkeypatch):
    monkeypatch.setattr(run, "HANG", 0.2)
    planted = Target(
        1, lambda _: ["banana"], lambda one, other, chance: changed_text(one, other, ("an",), chance), take
    )
    if take in (hangs, dies, grabs):  # seeds are taken first, unwatched
        planted = Target(1, lambda _: [], lambda one, other, chance: "a", take)
        monkeypatch.setattr(run.Pool, "pick", lambda self, chance: "")
    monkeypatch.setitem(run.TARGETS, "planted", planted)
    books = run.watch("planted", 3, seed=1)
    assert len(books.findings) == 3
    assert all(kind in found for found, _ in books.findings), books.findings


def test_columns_have_every_kind_that_conditions_are_about():
    assert {column.kind.name for column in COLUMNS} >= {"INTEGER", "NUMBER", "TEXT", "BOOLEAN", "DATE", "UNTYPED"}
