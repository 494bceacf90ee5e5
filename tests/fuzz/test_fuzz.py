"""Changed inputs end in an answer or in one line: a part of what `make reliability` feeds, and planted mistakes."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz import commands, run
from fuzz.changes import changed_text
from fuzz.corpus import CORPUS, LARGEST, corpus_of, fewest, stored
from fuzz.judging import judged
from fuzz.target import MARK, Target, as_bytes, slug
from fuzz.targets import TARGETS
from fuzz.texts import COLUMNS
from irisdp import BadInput
from support.commands import Ended, irisdp

A_PART = 1 / 5000
CHARGES = {"command lines", "plans, run", "batches, published", "projects, published", "ledger files", "CSV", "Parquet"}
"""Targets that charge, or may."""
CHARGED = ("command lines", "plans, run", "batches, published", "CSV", "ledger files")
"""One target of each way to a charge."""


def fuzz(*told):
    # In a process of its own: what forks from one that ran other tests may be without their threads.
    command = [sys.executable, run.__file__, *map(str, told)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows(printed):
    """Return of each target that a table is about how many inputs were fed, taken and refused."""
    cells = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("| ")][1:]
    return {cell[0]: [int(number.replace(",", "")) for number in cell[1:4]] for cell in cells}


def test_changed_inputs_end_in_an_answer_or_in_one_line(tmp_path):
    done = fuzz("--share", A_PART, "--jobs", 2, "--blind", "--out", tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    found = rows(done.stdout)
    assert list(found) == list(TARGETS)
    for inputs, taken, refused in found.values():
        assert taken + refused == inputs >= run.FEWEST


def test_whole_runs_feed_half_a_million():
    assert sum(target.whole for target in TARGETS.values()) >= 500_000


def test_whole_commands_and_files_that_are_charged_are_fed_many_times():
    assert (
        sum(target.whole for target in (commands.TARGETS | {"ledger files": TARGETS["ledger files"]}).values()) > 60_000
    )
    assert set(commands.TARGETS) | CHARGES <= set(TARGETS)


@pytest.mark.parametrize("name", sorted(CHARGES))
def test_a_seed_is_answered(name, tmp_path, monkeypatch):
    # A target whose seeds are refused tries nothing that lies behind.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "drawn_once", lambda folder: None)
    target = TARGETS[name]
    told = [judged(target, one, tmp_path) for one in target.seeds(tmp_path)[:4]]
    assert any(not said or said.startswith("irisdp: note: ") for said, _ in told)
    assert all(wrong == "" for _, wrong in told)


def test_the_corpus_is_small_and_every_target_has_one():
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == {slug(name) for name in TARGETS}
    assert max(path.stat().st_size for path in files) <= LARGEST
    assert sum(path.stat().st_size for path in files) <= 200_000
    assert len({slug(name) for name in TARGETS}) == len(TARGETS)


def test_files_of_the_corpus_are_what_they_are_named_after():
    for name in TARGETS:
        files = {path.name: path.read_bytes() for path in (CORPUS / slug(name)).iterdir()}
        assert dict(map(stored, corpus_of(name))) == files


def test_what_reaches_nothing_new_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `fewest` changes folders
    target = replace(TARGETS["numbers"], seeds=lambda _: ["1"])
    several = [*(str(number).encode() for number in range(2, 20)), b"1/0"]
    kept = fewest(target, several, 1000)
    assert b"1/0" in kept
    assert len(kept) < len(several) / 2
    assert fewest(target, several, 0) == []


@pytest.mark.parametrize("name", TARGETS)
def test_every_bytes_mean_an_input(name):
    target = TARGETS[name]
    for data in (b"", b"\xff\x00", b"\xed\xa0\x80", b"1", b'["a", 1]', b'{"a": NaN}', b"[" * 5000):
        given = target.of(data)
        assert target.of(as_bytes(given)) == given


def breaks(text, _):
    raise KeyError(text)


def tells(text, _):
    raise BadInput("x", f"holds {MARK}", "look away")


def says(text, _):
    return ["nothing", f"x: holds {MARK}; look away"]


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
        (says, "the mark of a record"), (hangs, "no end after"), (dies, "ended the process (-9)"),
        (grabs, "MemoryError"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(take, kind, monkeypatch):
    monkeypatch.setattr(run, "HANG", 0.2)
    planted = Target(
        1, lambda _: ["banana"], lambda one, other, chance: changed_text(one, other, ("an",), chance), take
    )
    if take in (hangs, dies, grabs):  # seeds are taken first, unwatched
        planted = Target(1, lambda _: [], lambda one, other, chance: "a", take)
        monkeypatch.setattr("fuzz.changes.Pool.pick", lambda self, chance: "")
    books = run.watch("planted", planted, 3, 1)
    assert len(books.findings) == 3
    assert all(kind in finding.kind for finding in books.findings), books.findings


def charges(words):
    """Answer, charge that, and call it an error."""
    irisdp(words)
    ended = irisdp("publish t.csv count --epsilon 1/7 --ledger exchanged.ledger --relation exchange")
    return Ended(2, "", "irisdp: x: y; z\n") if ended.status == 0 else ended


def leaves(words):
    Path("left.csv").write_text("answer\n1\n")
    return Ended(1, "", "irisdp: x: y; z\n")


def breaks_inside(words):
    return Ended(2, "", "irisdp: internal error (x.py:1); please report it\n")


def quotes(words):
    return Ended(0, f"{MARK}\n", "")


@pytest.mark.parametrize(("name", "wrong", "kind", "words"), [
    *((name, charges, "Charged", "spent") for name in CHARGED),
    *((name, leaves, "Charged", "left") for name in ("plans, run", "CSV")),
    ("CSV", breaks_inside, "AssertionError", "internal error"),
    ("CSV", quotes, "AssertionError", "the mark of a record"),
])  # fmt: skip
def test_what_is_spent_on_an_error_is_found(name, wrong, kind, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = replace(TARGETS[name], public=lambda _: False)
    monkeypatch.setattr(commands, "drawn_once", lambda folder: None)
    seeds = target.seeds(tmp_path)
    if name == "ledger files":
        seeds = [seeds[0] + bytes([number]) for number in range(8)]  # half of all are given to commands
    elif name not in commands.TARGETS:
        seeds = [seeds[0] + b"\n" * number for number in range(8)]
    monkeypatch.setattr(commands, "irisdp", wrong)
    found = [judged(target, one, tmp_path) for one in seeds[:8]]
    assert any(at.startswith(kind) and words in said for said, at in found), found


def test_a_seed_of_its_own_is_printed_and_repeats_a_run(tmp_path, capsys):
    def printed(*told):
        assert run.main(["--only", "numbers", "--share", "0.002", "--blind", "--out", str(tmp_path), *told]) == 0
        return capsys.readouterr().out

    one, other = printed(), printed()
    seed = one.split("seed ")[1].split(",")[0]
    assert f"seed {seed}," not in other
    assert rows(printed("--seed", seed)) == rows(one)


def test_guidance_finds_what_blind_changes_do_not(tmp_path):
    pytest.importorskip("atheris", reason="Atheris has no wheel here")
    told = ("--planted", "--seed", 5)
    blind = fuzz(*told, "--blind", "--out", tmp_path / "blind")
    assert blind.returncode == 0, blind.stdout
    assert not (tmp_path / "blind").exists()
    found = fuzz(*told, "--out", tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "KeyError at planted.py" in found.stdout
    assert rows(found.stdout)["behind conditions"][0] <= rows(blind.stdout)["behind conditions"][0]
    kept = found.stdout.split("--replay ")[1].split()[0]
    again = fuzz("--planted", "--replay", kept)
    assert again.returncode == 1
    assert f"{kept}: KeyError at planted.py" in again.stdout


def test_columns_have_every_kind_that_conditions_are_about():
    assert {column.kind.name for column in COLUMNS} >= {"INTEGER", "NUMBER", "TEXT", "BOOLEAN", "DATE", "UNTYPED"}
