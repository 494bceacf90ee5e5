"""What goes wrong after a charge says so: status 3, and asking again is free. Status 2 means that nothing was spent."""

import json

import pytest

from irisdp.release import batches, publishing
from support.commands import irisdp

COUNT = "publish t.csv count --epsilon 1"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("v\n1\n2\n")
    plan = {"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))


def broken(*_, **__):
    raise TypeError("the answer was 41")


@pytest.mark.parametrize(
    ("command", "place"), [(COUNT, publishing), ("batch plan.json", batches.publishing)], ids=["publish", "batch"]
)
@pytest.mark.parametrize("step", ["shown_answers", "sidecar", "write_files"])
def test_an_error_that_nobody_foresaw_tells_that_the_charge_stands(command, place, step, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(place, step, broken)
        failed = irisdp(command)
    assert failed.status == 3
    assert "asking the same question again costs nothing" in failed.line
    assert "TypeError at test_after_the_charge.py" in failed.line
    assert "41" not in failed.line
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "1"
    again = irisdp(f"{command} --json")
    assert again.status == 0
    assert again.document["repeated"] is True


def test_before_the_charge_it_is_status_2_and_nothing_is_spent(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "draw_entries", broken)
        assert irisdp(COUNT).status == 2
    assert irisdp("ledger t.ledger --json").document["spent"]["epsilon"] == "0"
