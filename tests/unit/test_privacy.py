"""Privacy as a pair: construction, rounding and refusal."""

from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy
from irisdp.privacy import hockey_stick, informative
from support.refusals import refused


def test_epsilon_rounds_the_ratio_down_and_charges_what_was_asked():
    privacy = Privacy(epsilon=0.1, delta="1e-6")
    assert privacy.epsilon == Fraction(1, 10)
    assert privacy.delta == Fraction(1, 10**6)
    assert Fraction("1.10517091807564762481170782649") < privacy.ratio < Fraction("1.10517091807564762481170782650")


def test_a_ratio_is_exact_and_charged_above():
    privacy = Privacy.from_ratio("6/5")
    assert privacy.ratio == Fraction(6, 5)
    assert Fraction("0.182321556793954") < privacy.epsilon < Fraction("0.182321556793956")
    assert Privacy(epsilon=privacy.epsilon).ratio >= privacy.ratio * (1 - Fraction(1, 1 << 90))


def test_zero_epsilon_is_a_ratio_of_one():
    assert Privacy(epsilon=0).ratio == 1
    assert Privacy(ratio=1).epsilon == 0


def test_delta_changes_alone():
    privacy = Privacy(epsilon=1, delta="1/10")
    assert privacy.pure.delta == 0
    assert privacy.pure.ratio == privacy.ratio
    assert privacy.pure.with_delta("1/10") == privacy
    assert hash(privacy.pure.with_delta("1/10")) == hash(privacy)


@pytest.mark.parametrize("wrong", [
    {},
    {"epsilon": 1, "ratio": 2},
    {"epsilon": -1},
    {"epsilon": "nan"},
    {"epsilon": float("inf")},
    {"epsilon": True},
    {"epsilon": 2000},
    {"ratio": "0.99"},
    {"ratio": 0},
    {"epsilon": 1, "delta": 1},
    {"epsilon": 1, "delta": -0.1},
    {"epsilon": 1, "delta": "a"},
])  # fmt: skip
def test_bad_privacy_is_refused(wrong):
    with pytest.raises(BadInput):
        Privacy(**wrong)


def test_hockey_stick_is_the_least_delta():
    first, second = (Fraction(1, 2), Fraction(1, 2)), (Fraction(17, 20), Fraction(3, 20))
    # docs/theory.md#corrections, 1: as printed, the operator needs δ = r·0.1.
    assert hockey_stick(first, second, Fraction(2)) == Fraction(1, 5)


def test_answers_that_would_say_nothing_are_refused():
    assert (
        refused(informative, epsilon=0) == "epsilon: must be above 0: at 0 an answer says nothing; give for example 1"
    )
    assert (
        refused(informative, ratio=1, field="r")
        == "r: must be above 1: at 1 an answer says nothing; give for example 2"
    )
    assert (
        refused(informative, epsilon=-1) == "epsilon: must be above 0: at 0 an answer says nothing; give for example 1"
    )
    assert informative(epsilon=0, delta="0.1").delta == Fraction(1, 10)
    assert refused(informative, epsilon="ten", field="spent").startswith("spent: must be a finite number")
    assert (
        refused(informative, epsilon=10**9, field="spent")
        == "spent: must lie between 0 and 1000; choose a smaller epsilon"
    )
    assert refused(informative, epsilon=1, delta=2).startswith("delta: ")
    assert refused(informative).startswith("privacy: needs exactly one of epsilon and ratio")
