"""`make reliability` runs every long check, whatever the others find."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import parts, reliability
from support.mutations import mutants_of
from support.reliability import Stage
from support.rooms import ROOMS, TESTS


@pytest.fixture
def three(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def known(jobs):
        ends = {"good": 0, "bad": 3, "last": 0}
        return [Stage(name, f"ends with {end}", (sys.executable, "-c", f"exit({end})")) for name, end in ends.items()]

    monkeypatch.setattr(reliability, "stages", known)


def test_a_stage_that_fails_keeps_no_other_from_running(three, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reliability.py"])
    assert reliability.main() == 1
    rows = [row for row in reliability.OUT.read_text().splitlines() if "ends with" in row]
    assert [row.split("|")[4].strip() for row in rows] == ["nothing found", "**failed**, status 3", "nothing found"]
    assert capsys.readouterr().out.endswith(reliability.OUT.read_text())


def test_a_stage_that_lacks_something_is_skipped_by_name(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    failing = (sys.executable, "-c", "exit(1)")
    monkeypatch.setattr(
        reliability, "stages", lambda jobs: [Stage("spark", "a cluster", failing, lambda: "needs Java")]
    )
    monkeypatch.setattr(sys, "argv", ["reliability.py"])
    assert reliability.main() == 0
    assert "| spark | a cluster | 0 | not tried: needs Java |" in capsys.readouterr().out


def test_some_stages_alone(three, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reliability.py", "--only", "last,good"])
    assert reliability.main() == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("==")] == [
        "good:",
        "last:",
    ]
    monkeypatch.setattr(sys, "argv", ["reliability.py", "--only", "worst"])
    with pytest.raises(SystemExit):
        reliability.main()


def test_what_is_not_run_yet_is_said():
    assert "2 stages not run yet" in reliability.table([], 2)


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_cluster_fails_where_an_answer_differs_or_its_driver_takes_too_much(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    cluster = importlib.import_module("spark_cluster")
    assert cluster.wrong([1, 2], [1, 2], 0.9) == []
    assert cluster.wrong([1, 2], [1, 3], 0.9) == ["1 answers differ"]
    assert cluster.wrong([1, 2], [1], 1.01) == ["1 answers differ", "the driver took 1.01 GiB, above 1"]


def test_a_large_table_fails_where_it_takes_too_much_memory(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    count = importlib.import_module("publish_count")
    monkeypatch.setattr(sys, "argv", ["publish_count.py"])
    for memory, status in ((7.9, 0), (8.1, 1)):
        monkeypatch.setattr(count, "compared", lambda *given, memory=memory: count.Medians(1.0, 9.0, memory))
        assert count.main() == status


def test_every_program_of_a_stage_is_there():
    programs = [word for stage in reliability.stages("2") for word in stage.command if word.endswith(".py")]
    assert len(programs) == 8
    assert all((Path(__file__).parents[2] / word).is_file() for word in programs)


# `pytest --repeat N` finds tests that fail once in a million, and no others.

DRAWN = """
import pytest
from irisdp._sampling.bits import OperatingSystemBits

@pytest.mark.parametrize("bits", [40, 45])
def test_fails_with_probability_2_to_the_power_of(bits):
    assert OperatingSystemBits().words(1)[0] >= 2**bits

def test_draws_nothing():
    with open("runs", "a") as runs:
        runs.write("x")
"""


def test_a_test_that_depends_on_luck_fails(tmp_path):
    (tmp_path / "test_drawn.py").write_text(DRAWN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.repeat", "--repeat", "60", "test_drawn.py"]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "test_fails_with_probability_2_to_the_power_of[45]" in done.stdout
    assert (tmp_path / "runs").read_text() == "x"


# Mistakes are planted where they would be made, one at a time, and what is already wrong is found.

SOURCE = Path(__file__).parents[2] / "src" / "irisdp"


def written(source):
    return [ast.unparse(mutant.tree) for mutant in mutants_of(source)]


@pytest.mark.parametrize(("source", "mistakes"), [
    ("a < b", ["a <= b", "a >= b"]),
    ("a <= b < c", ["a < b < c", "a > b < c", "a <= b <= c", "a <= b >= c"]),
    ("a + b", ["a - b"]),
    ("a ** -b", ["a * -b", "a ** b"]),
    ("not a", ["a"]),
    ("a and b", ["a or b"]),
    ("f(True)", ["pass", "f(False)"]),
    ("x = 2", ["x = 3", "x = 1"]),
    ("x = min(a)", ["x = max(a)"]),
    ("x = a.lower", ["x = a.upper"]),
    ("x = a if b else c", ["x = a", "x = c"]),
    ("if a:\n    raise E(1)", ["if not a:\n    raise E(1)", "if a:\n    pass"]),
    ("while a:\n    break", ["while not a:\n    break", "while a:\n    pass"]),
    ("a += 1", ["a -= 1", "pass", "a += 2", "a += 0"]),
])  # fmt: skip
def test_mistakes_of_each_kind(source, mistakes):
    assert sorted(written(source)) == sorted(mistakes)


@pytest.mark.parametrize("source", [
    "x: int | None = None",
    '"text"',
    "__all__ = ['a', 'b']",
    "from a import b",
    "x = f'{a + 1}'",
    "def f(a: 1) -> 2: ...",
])  # fmt: skip
def test_what_says_nothing_when_it_runs_is_left_alone(source):
    assert written(source) == []


def test_the_text_itself_stays_as_it_is():
    source = (SOURCE / "privacy" / "_operator.py").read_text(encoding="utf-8")
    found = mutants_of(source)
    assert len(found) > 60
    assert all(ast.unparse(mutant.tree) != ast.unparse(ast.parse(source)) for mutant in found)
    assert all(1 <= mutant.line <= source.count("\n") for mutant in found)


def test_rooms_name_tests_that_are_there():
    assert all((TESTS / name).is_file() for tests in ROOMS.values() for name in tests)
    assert all((SOURCE / room).is_dir() for room in ROOMS)


def test_a_part_runs_what_fits_into_its_share_and_whatever_is_important():
    costs = parts.known_costs()
    part = parts.Part(1, 2, 0, {"::.*caught$": parts.WHOLE, "^room/": 3})
    assert [part.number("a::b", 10, cost) for cost in (0, 0.1, 0.2, 1.5, 2.5)] == [10, 10, 5, 1, 0]
    assert [part.number(name, 10, 2.5) for name in ("a::b_is_caught", "room/a::b", "a::caught_b")] == [10, 1, 0]
    functions = {"f::a": [0, 1], "f::b": [2], "g::a": [3], "h::a": [4, 5]}
    assert parts.chosen(functions, {"f::a": 2.5, "f::b": 3, "g::a": 11}, part) == [4, 5, 0]  # g takes far too long
    for part in parts.PARTS.values():
        for pattern in part.important:
            assert any(re.search(pattern, name) for name in costs), f"nothing is called {pattern}"
