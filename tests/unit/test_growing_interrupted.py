"""A growing table whose publication is killed at every step, or whose ledger is restored: nothing is left uncharged."""

import os
import shutil
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import Cost, Ledger, run
from irisdp._release import pipeline
from irisdp.errors import ScopeRefused
from support.killed import KILLED, in_child
from support.sweeps import tried

PLAN = """
[datasets.visits]
data = "visits"
partition = "month"
[[questions]]
query = "count"
epsilon = 0.5
out = "count.csv"
[[questions]]
query = "at-least 2"
epsilon = 0.25
out = "some.json"
[[questions]]
query = "count"
expression = "age > 1"
epsilon = 0.25
"""
ALL = Fraction(1)
"""What the questions about one month cost in one version."""


def month(folder, value, ages):
    place = folder / "visits" / f"month={value}"
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"age": pa.array(ages, pa.int64())}), place / "part.parquet")


def two_months(folder):
    folder.mkdir()
    (folder / "plan.toml").write_text(PLAN)
    month(folder, "2024-01", [1, 2, 3])
    month(folder, "2024-02", [2])
    run(folder / "plan.toml")
    month(folder, "2024-01", [1, 2])  # a correction
    month(folder, "2024-03", [4, 4])  # and a new month
    return folder / "plan.toml"


def lines(folder):
    return Counter((line.query, line.cost) for line in Ledger(folder / "visits.ledger").releases())


def check_files(folder):
    """Every answer that lies in a file is in the ledger, and charged."""
    known = {output: line for line in Ledger(folder / "visits.ledger").releases() for output in line.outputs}
    for file in [*folder.glob("*.csv"), *folder.glob("some*.json")]:
        if not file.name.endswith((".release.json", ".datapackage.json")):
            assert str(file) in known


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kills_at_every_step_leave_nothing_uncharged(tmp_path):
    plan = two_months(tmp_path / "whole")
    status, changes = in_child(lambda: run(plan), 0)
    assert status == 0
    assert changes > 50
    whole = lines(plan.parent)
    assert Ledger(plan.parent / "visits.ledger").spent == Cost(2 * ALL)
    assert sum(whole.values()) == 12
    for number in range(1, changes + 1, tried(changes // 3, 1)):
        plan = two_months(tmp_path / f"killed {number}")
        ended, _ = in_child(lambda plan=plan: run(plan), number)
        assert ended == KILLED or (ended == 0 and number > changes - 20)  # another run may need a few changes less
        check_files(plan.parent)
        done = run(plan)
        check_files(plan.parent)
        assert lines(plan.parent) == whole
        assert run(plan).repeated
        book = Ledger(plan.parent / "visits.ledger")
        assert book.spent == Cost(2 * ALL)
        assert not book.verify().problems
        assert len(done) == 9
        shutil.rmtree(plan.parent)


@pytest.mark.parametrize("back", [1, 2, 3, 6])
def test_restores_charge_all_that_was_drawn(tmp_path, monkeypatch, back):
    """A backup from before the last releases: they were drawn, and may be drawn again; all draws are charged."""
    drawn, backups, folder = [], [], tmp_path / "work"
    ledger, real, remember = folder / "visits.ledger", pipeline.draw_answers, pipeline.remember_head

    def draw(planned, *given):
        drawn.append((planned.table.part.value, planned.cost.epsilon))
        return real(planned, *given)

    def backed_up(*given):
        remember(*given)
        copy = tmp_path / f"backup {len(backups)}"
        shutil.copy(ledger, copy)
        backups.append(copy)

    monkeypatch.setattr(pipeline, "draw_answers", draw)
    monkeypatch.setattr(pipeline, "remember_head", backed_up)
    plan = two_months(folder)
    run(plan)
    before = Ledger(ledger).spent
    shutil.copy(backups[-1 - back], ledger)
    with pytest.raises(ScopeRefused, match="restored from a backup"):
        run(plan)
    Ledger(ledger).accept_restore(beside=folder / "visits")
    again = run(plan)
    assert sum(not one.repeated for one in again) <= back
    worst = max(sum(cost for other, cost in drawn if other == part) for part, _ in drawn)
    assert Ledger(ledger).spent.epsilon >= worst
    assert Ledger(ledger).spent.epsilon >= before.epsilon
    assert not Ledger(ledger).verify().problems
