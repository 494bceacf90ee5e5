"""Paying again is said before it happens, with its reason, and `--max-charge` refuses it."""

import json
from fractions import Fraction

import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, Ledger
from support.commands import irisdp as irisdp_command

COUNT = "publish t.csv count --epsilon 0.5"
PLAN = """
[datasets.t]
data = "t.csv"
[[questions]]
query = "count"
epsilon = 0.5
[[questions]]
query = "count"
expression = "x > 1"
epsilon = 0.25
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "batch.json").write_text(
        json.dumps({"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]})
    )
    return tmp_path


def correct_a_row(here):
    (here / "t.csv").write_text("x\n1\n3\n")


def lose_the_secret(here):
    (here / ".tables.irisdp-secret").unlink()


def forget(here):
    correct_a_row(here)
    (here / ".tables.irisdp-state").unlink()


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        (correct_a_row, "data", "the data has changed since"),
        (lose_the_secret, "secret", "the secret by which the ledger knows the data was lost or replaced"),
        (forget, "unknown", "the data has changed, or this machine has another secret"),
    ],
)
def test_why_a_question_is_charged_again(here, change, reason, words):
    first = irisdp_command(f"{COUNT} --json")
    assert first.document["anew"] is None
    assert irisdp_command(f"{COUNT} --json").document["anew"] is None, "the same answer, for nothing"
    change(here)
    refused = irisdp_command(f"{COUNT} --max-charge 0")
    assert refused.status == 1 and "--max-charge allows nothing; nothing was spent" in refused.line
    assert Ledger("t.ledger").spent == Cost(Fraction(1, 2))
    done = irisdp_command(COUNT)
    assert "irisdp: note: this question was answered before and is charged ε = 0.5, δ = 0 again: " in done.err
    assert words in done.err and words in " ".join(done.out.split())
    change(here)
    assert irisdp_command(f"{COUNT} --json").document["anew"] in (reason, None)


def test_what_is_free_passes_with_nothing_allowed(here):
    assert irisdp_command(f"{COUNT} --max-charge 0").status == 1
    assert not (here / "t.ledger").exists() or not Ledger("t.ledger").releases()
    assert irisdp_command(f"{COUNT} --max-charge 1/2").status == 0
    assert irisdp_command(f"{COUNT} --max-charge 0").status == 0
    assert irisdp_command("publish t.csv count --epsilon 1/4 --max-charge 0").status == 0, "made from the one before"
    assert irisdp_command("publish t.csv count --epsilon 3/4 --max-charge 0.24").status == 1
    assert irisdp_command("publish t.csv count --epsilon 3/4 --max-charge 1/4").status == 0, "only what is new counts"


def test_a_plan_is_refused_as_a_whole(here):
    for options in ("--max-charge 0.74", "--max-charge 0.74 --dry-run", "--max-charge 0"):
        refused = irisdp_command(f"run plan.toml {options}")
        assert refused.status == 1
    assert not (here / "t.ledger").exists() or not Ledger("t.ledger").releases()
    assert irisdp_command("run plan.toml --max-charge 0.75 --dry-run").status == 0
    assert irisdp_command("run plan.toml --max-charge 0.75").status == 0
    assert irisdp_command("run plan.toml --max-charge 0").status == 0
    correct_a_row(here)
    assert irisdp_command("run plan.toml --max-charge 0 --dry-run").status == 1
    assert irisdp_command("run plan.toml --max-charge 0").status == 1


def test_a_batch_is_refused_as_a_whole(here):
    assert irisdp_command("batch batch.json --max-charge 0.99").status == 1
    assert irisdp_command("batch batch.json --max-charge 0.99 --dry-run").status in (0, 1)
    assert irisdp_command("batch batch.json --max-charge 1").status == 0
    assert irisdp_command("batch batch.json --max-charge 0").status == 0


def test_only_nothing_is_comparable_in_every_currency(here):
    Ledger("t.ledger").set_limit(rho="1/2")
    with pytest.raises(BadInput, match="max_charge: is in"):
        irisdp.publish("t.csv", "count", epsilon="1/4", max_charge=1)
    with pytest.raises(BudgetRefused):
        irisdp.publish("t.csv", "count", epsilon="1/4", max_charge=0)
    assert irisdp.publish("t.csv", "count", epsilon="1/4", max_charge="rho=1/2").cost.rho <= Fraction(1, 2)
    with pytest.raises(BadInput, match="max_charge"):
        irisdp.publish("t.csv", "count", epsilon="1/4", max_charge="many")


def test_a_plan_cannot_allow_itself(here):
    (here / "plan.toml").write_text(PLAN.replace('data = "t.csv"', 'data = "t.csv"\nmax-charge = 1'))
    refused = irisdp_command("run plan.toml")
    assert refused.status == 2 and "belongs to the command" in refused.line
