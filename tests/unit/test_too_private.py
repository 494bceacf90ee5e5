"""An ε at which answers say nothing is refused the first time: no remedy leads to a number that is refused too."""

import json

import pytest

import irisdp
from irisdp import BadInput
from irisdp.privacy import informative
from support.commands import irisdp as irisdp_command

ABOVE_0 = "must be above 0: at 0 an answer says nothing; give for example 1"
ABOVE_1 = "must be above 1: at 1 an answer says nothing; give for example 2"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes\nheard,3\nlost,12\n")
    for number in ("0", "-1"):
        budget = {"epsilon": float(number), "delta": "1e-6"}
        (tmp_path / f"plan{number}.json").write_text(
            json.dumps({"data": "calls.csv", "budget": budget, "questions": [{"query": "count"}]})
        )
        (tmp_path / f"plan{number}.toml").write_text(
            f'[datasets.c]\ndata = "calls.csv"\n[[questions]]\nquery = "count"\nepsilon = {number}\n'
        )
    return tmp_path


@pytest.mark.parametrize("number", ["0", "-1", "-1/3"])
@pytest.mark.parametrize(
    "command",
    [
        "publish calls.csv count --epsilon {}",
        "publish calls.csv count --audience board=2 --audience press={}",
        "publish calls.csv plurality outcome --categories heard,lost --epsilon {} --dry-run",
    ],
)
def test_epsilon_is_above_0(here, command, number):
    option = "--audience" if "audience" in command else "--epsilon"
    ended = irisdp_command(command.format(number))
    assert (ended.status, ended.line) == (2, f"{option}: {ABOVE_0}")


@pytest.mark.parametrize("number", ["1", "1/2", "0", "-1"])
def test_a_ratio_is_above_1_and_blamed_by_its_own_name(here, number):
    assert irisdp_command(f"publish calls.csv count --ratio {number}").line == f"--ratio: {ABOVE_1}"
    line = irisdp_command(f"compare plurality --categories 3 --ratio {number}").line
    assert line == "--ratio: must be e^ε of an ε from 0.000001 to 20 to compare mechanisms; give for example 2"


@pytest.mark.parametrize("number", ["0", "-1", "21"])
def test_what_is_compared_is_told_its_range_at_either_end(number):
    line = irisdp_command(f"compare plurality --categories 3 --epsilon {number}").line
    assert line == "--epsilon: must lie between 0.000001 and 20 to compare mechanisms; give for example 1"


@pytest.mark.parametrize("number", ["0", "-1"])
def test_plans_say_the_same(here, number):
    assert irisdp_command(f"batch plan{number}.json").line == f"budget: epsilon: {ABOVE_0}"
    assert irisdp_command(f"run plan{number}.toml").line == f"question 1: epsilon: {ABOVE_0}"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"epsilon": 0}, f"epsilon {ABOVE_0}"),
        ({"epsilon": -1}, f"epsilon {ABOVE_0}"),
        ({"ratio": "1/2"}, f"ratio {ABOVE_1}"),
    ],
)
def test_a_document_of_privacy_says_the_same(here, document, said):
    with pytest.raises(BadInput) as refused:
        irisdp.plan("calls.csv", "count", privacy=document)
    assert str(refused.value) == f"privacy: {said}"


@pytest.mark.parametrize(
    "query",
    [
        "count",  # noise for so small a δ would have no end in sight
        "plurality outcome --categories heard,lost",
        "top 1 outcome --categories heard,lost",
        "ranking outcome --categories heard,lost",
        "median minutes --bins 0,10,20",
        "sizes outcome --categories heard,lost",
    ],
)
def test_a_delta_that_is_not_used_makes_no_answer(here, query):
    """The first four of them ended in internal errors, or published pure noise."""
    for option, least in (("epsilon", 0), ("ratio", 1)):
        line = irisdp_command(f"publish calls.csv {query} --{option} {least} --delta 1e-7 --dry-run").line
        rule = f"must be above {least}: at {least} and this --delta an answer says nothing"
        assert line == f"--{option}: {rule}; give for example {least + 1}"


def test_a_delta_that_is_used_may_stand_alone(here):
    for query in ("count", "column outcome --categories heard,lost --relation exchange"):
        assert irisdp_command(f"publish calls.csv {query} --epsilon 0 --delta 0.1 --dry-run").status == 0
    assert informative(epsilon=0, delta="0.1").ratio == 1


def test_sizes_are_not_charged_a_delta_that_their_noise_has_no_use_for(here):
    planned = irisdp.plan("calls.csv", "sizes", "outcome", categories="heard,lost", epsilon=1, delta="0.01")
    assert planned.describe_cost() == "ε = 1, δ = 0 for adding or removing one record"


@pytest.mark.parametrize("option", ["--selection-epsilon", "--selection-delta"])
def test_a_selection_is_blamed_by_its_own_name(here, option):
    asked = "publish calls.csv count --by outcome --select-groups --epsilon 1 --delta 1e-6"
    assert irisdp_command(f"{asked} {option} -1").line.startswith(f"{option}: must ")


def test_limits_may_be_0(here):
    assert irisdp_command("ledger calls.ledger --limit 0").status == 0
    assert irisdp_command("ledger calls.ledger --limit -1").line.startswith("--limit: must not be negative")
