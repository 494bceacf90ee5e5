"""Which groups are named, by what and at what cost: public facts decide, and the plan says so."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import irisdp
from irisdp import BadInput, Privacy, plan, plan_batch
from irisdp._cli import run
from irisdp._measurements import GroupCountNodes, NoisyCountSelection, PartitionSelection
from irisdp.interpretation import read_release

pytestmark = pytest.mark.usefixtures("one_engine")

SURVEY = pa.table({"town": ["Ely"] * 60 + ["York"] * 30 + ["Bath"], "age": [70, 30, 40] * 30 + [1]})
ASKED = {"by": "town", "select_groups": True}
TWO = {"all": [{"epsilon": 2, "delta": "1e-6"}, {"epsilon": 1, "delta": "1e-3"}]}


@pytest.mark.parametrize("words", [("count",), ("count", "age > 64")])
@pytest.mark.parametrize(
    ("given", "cost"),
    [
        ({"epsilon": 1, "delta": "1e-6"}, "ε = 1, δ = 0.000001"),
        ({"epsilon": 1, "delta": "1e-6", "relation": "exchange"}, "ε = 2, δ = 0.000002"),
        ({"epsilon": 0, "delta": "1e-3"}, "ε = 0, δ = 0.001"),
        ({"privacy": TWO}, "ε = 2, δ = 0.000001"),
    ],
)
def test_a_count_names_its_groups_at_its_own_cost(words, given, cost):
    planned = plan(SURVEY, *words, **ASKED, **given)
    assert isinstance(planned.naming, NoisyCountSelection)
    assert planned.selector is None
    assert planned.apart is None
    assert str(planned.cost) == cost
    assert planned.facts(planned.audiences[0])["groups"]["by"] == "count"
    assert "one noise pays for name and count" in planned.describe_naming()[1]


@pytest.mark.parametrize(
    ("words", "given", "reason", "cost"),
    [
        (("count",), {"epsilon": 1, "delta": "1e-6", "selection_epsilon": 1}, "of its own", "ε = 2, δ = 0.000001"),
        (("count",), {"epsilon": 1, "selection_delta": "1e-6"}, "of its own", "ε = 2, δ = 0.000001"),
        (("count",), {"audience": {"a": 1, "b": 2}, "delta": "1e-6"}, "audiences form a chain", "ε = 4, δ = 0.000001"),
        (("at-least", 2), {"epsilon": 1, "delta": "1e-6"}, "only noisy counts", "ε = 2, δ = 0.000001"),
        (("count",), {"epsilon": "1e-4", "delta": "1e-9"}, "reach too far", "ε = 0.0002, δ = 0.000000001"),
    ],
)  # fmt: skip
def test_elsewhere_they_are_selected_apart_and_the_plan_says_why(words, given, reason, cost):
    planned = plan(SURVEY, *words, **ASKED, **given)
    assert isinstance(planned.naming, PartitionSelection)
    assert str(planned.cost) == cost
    assert reason in planned.describe_naming()[1]


def test_declared_groups_and_no_groups_are_named_by_nothing():
    for given in ({}, {"by": "town", "groups": ["Ely"]}):
        planned = plan(SURVEY, "count", **given, epsilon=1)
        assert planned.naming is None
        assert planned.describe_naming() == []
        assert "named_from" not in planned.to_document()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 1}, "delta: must be above 0 to select groups privately"),
        ({"mu": 1, "delta": "1e-6"}, "delta: must be above 0 to select groups privately"),
        (
            {"epsilon": 1, "delta": "1e-6", "relation": "exchange", "public_membership": True},
            "select_groups: chooses among private groups",
        ),
    ],
)
def test_what_names_nobody_is_refused(given, message):
    with pytest.raises(BadInput, match=message):
        plan(SURVEY, "count", **ASKED, **given)


def test_how_large_a_group_must_be_is_said():
    planned = plan(SURVEY, "count", **ASKED, epsilon=1, delta="1e-6")
    assert planned.to_document()["named_from"] == {"50": 14, "95": 16, "99": 18}
    assert planned.describe_naming()[0] == (
        "a group is named with probability 50 % from 14 records on, 95 % from 16, 99 % from 18"
    )
    split = plan(SURVEY, "count", "age > 64", **ASKED, epsilon=1, delta="1e-6")
    assert split.describe_naming()[0] == (
        "a group is named with probability 50 % from 27 records on, 95 % from 29, 99 % from 31, "
        "for however many of them the condition holds"
    )


@pytest.mark.parametrize("given", [{}, {"selection_epsilon": 1}])
def test_several_records_of_a_person_share_what_the_person_may_reveal(given):
    people = SURVEY.append_column("pid", pa.array(range(len(SURVEY))))
    options = {**ASKED, "unit": "pid", "epsilon": 1, "delta": "1e-6", **given}
    one, three = (plan(people, "count", **options, at_most=most) for most in (1, 3))
    assert one.cost == three.cost
    assert three.naming.share.epsilon == Fraction(1, 3)
    assert three.naming.share.ratio**3 <= one.naming.privacy.ratio
    assert Fraction(10**-6) / 5 < three.naming.share.delta < Fraction(10**-6) / 3
    assert three.naming.named_from()["95"] > 2 * one.naming.named_from()["95"]
    assert "ε/3, as one pid can change the" in three.describe_error()[0]


def test_readers_know_that_noise_is_made_for_a_share(tmp_path):
    people = SURVEY.append_column("pid", pa.array(range(len(SURVEY))))
    given = {"unit": "pid", "at_most": 3, "epsilon": 9, "delta": "1e-6", "ledger": tmp_path / "l"}
    found = irisdp.publish(people, "count", **ASKED, **given)
    told = read_release(found.sidecars[None])
    assert told.guarantee == found.plan.naming.share
    assert told.guarantee.epsilon == 3
    assert not any(one["universal"] for one in irisdp.interpret(found).to_documents())


def test_a_batch_selects_apart():
    questions = [{"query": "count", **ASKED, "delta": "5e-7"}]
    planned = plan_batch({"budget": {"epsilon": 2, "delta": "1e-6"}, "questions": questions}, data=SURVEY)
    assert isinstance(planned.plans[0].naming, PartitionSelection)
    assert "weights share out a privacy for each" in planned.plans[0].describe_naming()[1]


@pytest.mark.parametrize("words", [("count",), ("count", "age > 64")])
def test_what_is_published_is_what_was_named(tmp_path, words):
    out = tmp_path / "out.csv"
    found = irisdp.publish(SURVEY, *words, **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l", out=out)
    assert found.answers.keys == [("Ely",), ("York",)]
    truth = {1: [60, 30], 2: [20, 10]}[len(words)]
    assert all(abs(answer - true) < 15 for answer, true in zip(found.answers.values, truth, strict=True))
    sidecar = json.loads((tmp_path / "out.csv.release.json").read_text())
    assert sidecar["mechanism"]["kind"] == "named-counts"
    again = irisdp.publish(SURVEY, *words, **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert again.repeated
    assert again.answers.values == found.answers.values
    assert sidecar["mechanism"] == found.sidecars[None]["mechanism"]
    assert all(
        cell // 3 == answer for cell, answer in zip(sidecar["mechanism"]["cells"], found.answers.values, strict=True)
    )
    read = irisdp.interpret(f"{out}.release.json")
    assert len(read.answers) == 2
    assert read.named
    assert all(one["universal"] for one in read.to_documents())


def test_a_group_whose_records_satisfy_nothing_is_named_by_them(tmp_path):
    found = irisdp.publish(SURVEY, "count", "age > 99", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert found.answers.keys == [("Ely",), ("York",)]
    assert all(abs(answer) < 15 for answer in found.answers.values)


def test_nothing_is_named_where_nobody_is(tmp_path):
    empty = SURVEY.slice(0, 0)
    found = irisdp.publish(empty, "count", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert found.answers.keys == []


def test_readers_are_told_what_naming_means_for_them(tmp_path, capsys):
    out = tmp_path / "out.csv"
    irisdp.publish(SURVEY, "count", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l", out=out)
    assert run(["interpret", str(out)]) == 0
    assert "groups were named by these counts" in capsys.readouterr().out


def test_what_naming_says_of_a_count_is_what_its_noisy_count_says():
    """Claim 7: the probabilities of being named with an answer are those of the noisy count, up to one factor."""
    for split, others in ((False, 0), (True, 4)):
        mechanism = NoisyCountSelection(Privacy(ratio=2, delta="1/7"), split=split)
        none = np.zeros(1, dtype=np.int64)
        noise, size = mechanism.noise, mechanism.noise.atoms_per_unit
        laws = [
            mechanism.law(GroupCountNodes(none + count, none, None, none + others), 0, count) for count in range(1, 9)
        ]
        for cell in set().union(*laws) - {None}:
            ratios = {
                law.get(cell, 0) / noise.probability(cell - size * count)
                for count, law in enumerate(laws, 1)
                if noise.probability(cell - size * count)
            }
            assert len(ratios) == 1


def test_a_dry_run_shows_it(tmp_path, capsys):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(SURVEY, path)
    command = ["publish", str(path), "count", "--by", "town", "--select-groups", "--epsilon", "1", "--delta", "1e-6"]
    assert run([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "named     a group is named with probability 50 % from 14 records on, 95 % from 16, 99 % from 18" in shown
    assert "one noise pays for name and count" in shown
    assert run([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["named_from"] == {"50": 14, "95": 16, "99": 18}
