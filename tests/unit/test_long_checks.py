"""`make reliability` runs every long check, whatever the others find."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from support import reliability
from support.reliability import Stage


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
