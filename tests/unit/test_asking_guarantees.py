"""Publishing under several pairs and under Gaussian privacy: what is charged, kept, shown, repeated and refused."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from irisdp import BadInput, BudgetRefused, Cost, Ledger, Privacy, Session, plan, publish
from irisdp._cli import run
from irisdp.accounting import delta
from irisdp.privacy import Gaussian

SURVEY = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", None]})
TWO = {"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}
MANY = {"all": [{"epsilon": 2, "delta": "1e-6"}, {"epsilon": 1, "delta": "1e-3"}]}
LITTLE = {"all": [{"epsilon": "0.02"}, {"epsilon": "0.01", "delta": "1e-3"}]}
POINT = plan(SURVEY, "count", mu=1, delta="1e-6").cost
GROUPED = {"by": "town", "groups": ["York", "Ely"]}


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "l.ledger"


@pytest.mark.parametrize(
    ("asked", "kept", "charged"),
    [
        ({"mu": 1, "delta": "1e-6"}, {"gaussian": "1"}, POINT),
        ({"privacy": Gaussian(1), "delta": "1e-6"}, {"gaussian": "1"}, POINT),
        ({"privacy": {"zcdp": "1/2"}, "delta": "1e-6"}, {"gaussian": "1"}, POINT),
        ({"privacy": TWO}, {"all": [{"epsilon": "1"}, {"epsilon": "0.5", "delta": "0.001"}]}, Privacy(epsilon=1)),
        ({"privacy": json.dumps(TWO), "delta": "1e-3"}, None, Privacy(epsilon="1/2", delta="1e-3")),
        ({"privacy": MANY}, None, Privacy(epsilon=2, delta="1e-6")),
        ({"privacy": Privacy(epsilon="0.3")}, {"epsilon": "0.3"}, Privacy(epsilon="0.3")),
        ({"privacy": {"ratio": 2}}, {"ratio": "2"}, Privacy(ratio=2)),
    ],
)
def test_a_guarantee_is_kept_charged_and_written_down(asked, kept, charged, ledger):
    planned = plan(SURVEY, "count", "age > 64", **GROUPED, **asked)
    assert (planned.cost.epsilon, planned.cost.delta) == (charged.epsilon, charged.delta)
    found = publish(SURVEY, "count", "age > 64", **GROUPED, **asked, ledger=ledger)
    assert found.cost == planned.cost == Ledger(ledger).spent
    assert found.answers.keys == [("York",), ("Ely",)]
    assert kept is None or found.sidecars[None]["privacy"] == kept
    again = publish(SURVEY, "count", "age > 64", **GROUPED, **asked, ledger=ledger)
    assert again.repeated
    assert again.answers.values == found.answers.values
    assert Ledger(ledger).spent == planned.cost


def test_gaussian_counts_are_charged_a_point_of_their_curve():
    assert delta([Gaussian(1)], epsilon=POINT.epsilon)[1] <= POINT.delta
    assert delta([Gaussian(1)], epsilon=POINT.epsilon - Cost("1e-9").epsilon)[0] > POINT.delta
    both = plan(
        SURVEY, "count", **GROUPED, relation="exchange", mu=1, delta="1e-6"
    ).cost  # a record leaves one for another
    assert delta([(Gaussian(1), 2)], epsilon=both.epsilon)[1] <= both.delta == POINT.delta


def test_the_point_that_is_charged_is_no_part_of_the_question(ledger):
    """The answers are the same whatever δ they were charged at, so they are given again."""
    first = publish(SURVEY, "count", mu=1, delta="1e-6", ledger=ledger)
    again = publish(SURVEY, "count", mu=1, delta="1e-9", ledger=ledger)
    assert again.repeated
    assert again.answers.values == first.answers.values
    assert not publish(SURVEY, "count", mu=2, delta="1e-6", ledger=ledger).repeated


def test_such_counts_neither_refine_nor_are_refined(ledger):
    """They form no chain: each is drawn afresh and charged in full."""
    options = {"ledger": ledger}
    publish(SURVEY, "count", epsilon=1, **options)
    assert (
        publish(SURVEY, "count", mu=1, delta="1e-6", **options).cost == plan(SURVEY, "count", mu=1, delta="1e-6").cost
    )
    assert publish(SURVEY, "count", privacy=TWO, **options).cost.epsilon == 1
    assert publish(SURVEY, "count", epsilon=2, **options).cost.epsilon == 1
    assert ["refines" in json.loads(line.details) for line in Ledger(ledger).releases()] == [False] * 3 + [True]


@pytest.mark.parametrize("asked", [{"privacy": LITTLE}, {"mu": "0.01", "delta": "1e-3"}])
def test_answers_end_where_counts_do(asked, tmp_path):
    for number in range(5):
        found = publish(
            SURVEY,
            "count",
            "age > 64",
            relation="exchange",
            public_membership=True,
            **GROUPED,
            **asked,
            ledger=tmp_path / f"{number}.ledger",
        )
        mechanism = found.sidecars[None]["mechanism"]
        assert (mechanism["lower"], mechanism["upper"]) == (0, [3, 2])
        assert all(0 <= value <= most for value, most in zip(found.answers.values, [3, 2], strict=True))


def test_yes_or_no_is_answered_by_pairs_below_the_curve_and_charged_as_asked(ledger):
    planned = plan(SURVEY, "majority", "age > 64", mu=1, delta="1e-6")
    assert planned.describe_cost() == (f"{planned.cost} for adding or removing one record; each answer keeps μ = 1")
    found = publish(SURVEY, "majority", "age > 64", mu=1, delta="1e-6", ledger=ledger)
    assert found.cost == planned.cost
    assert found.sidecars[None]["privacy"] == {"gaussian": "1"}
    assert found.sidecars[None]["mechanism"]["pairs"] == {"gaussian": "1", "gap": "0.000001"}


def test_a_selection_has_a_pair_of_its_own_beside_gaussian_privacy(ledger):
    asked = {"by": "town", "select_groups": True, "mu": 1, "delta": "1e-6"}
    with pytest.raises(BadInput, match="under Gaussian privacy"):
        publish(SURVEY, "count", **asked, ledger=ledger)
    own = {"selection_epsilon": 1, "selection_delta": "1e-3"}
    found = publish(SURVEY, "count", **asked, **own, ledger=ledger)
    assert found.cost == POINT + Cost(1, "1e-3")


def test_several_pairs_select_groups_where_no_delta_is_0():
    planned = plan(SURVEY, "count", by="town", select_groups=True, privacy=MANY)
    assert str(planned.cost) == "ε = 2, δ = 0.000001"
    apart = plan(SURVEY, "at-least", 2, by="town", select_groups=True, privacy=MANY)
    assert str(apart.cost) == "ε = 4, δ = 0.000002"
    with pytest.raises(BadInput, match="must be above 0 to select groups"):
        plan(SURVEY, "count", by="town", select_groups=True, privacy=TWO)


def test_a_limit_refuses_what_a_gaussian_count_is_charged(ledger):
    session = Session(SURVEY, ledger=ledger, limit=("4.8", "1e-6"))
    with pytest.raises(BudgetRefused):
        session.count(mu=1, delta="1e-6")
    assert session.releases() == []
    session.count(mu="0.9", delta="1e-6")
    assert len(session.releases()) == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"mu": 1},
            "delta: is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised;"
            " add delta=1e-6, or charge a ledger that has a limit in mu",
        ),
        ({"mu": 1, "epsilon": 1, "delta": "1e-6"}, "epsilon: cannot be given with mu=; leave one of the two out"),
        ({"mu": 1, "audience": {"a": 1}}, "audience: states epsilon already; leave out mu="),
        ({"privacy": TWO, "audience": {"a": 1}}, "audience: states epsilon already; leave out privacy="),
        ({"privacy": Privacy(epsilon=1), "delta": "0.1"}, "delta: is said by privacy= already; leave it out"),
        ({}, "epsilon: is missing; add epsilon=1"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_anything_is_spent(asked, said, ledger):
    with pytest.raises(BadInput) as refused:
        publish(SURVEY, "count", **asked, ledger=ledger)
    assert str(refused.value) == said
    assert not ledger.exists()


def test_the_command_line_asks_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age,town\n70,Ely\n30,York\n")
    assert run(["publish", "t.csv", "count", "--mu", "1", "--delta", "1e-6", "--out", "a.csv"]) == 0
    assert "each answer keeps μ = 1" in capsys.readouterr().out
    assert json.loads(Path("a.csv.release.json").read_text())["privacy"] == {"gaussian": "1"}
    assert run(["publish", "t.csv", "count", "--privacy", '{"gaussian": 1}', "--delta", "1e-6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is True
    assert run(["publish", "t.csv", "count", "--privacy", json.dumps(TWO), "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cost"] == {"epsilon": "1", "delta": "0"}
    assert document["expected_error"] == {"mean_absolute": pytest.approx(1.88, abs=0.01), "within_95_percent": 6}
    assert run(["publish", "t.csv", "count", "--mu", "2"]) == 2
    assert capsys.readouterr().err.endswith("add --delta 1e-6, or charge a ledger that has a limit in mu\n")
