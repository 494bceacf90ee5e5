"""Many draws: rounded products lie above the exact ones and close to them, and end in seconds."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Mechanism, Privacy, design
from irisdp.certify import _loss_distributions, compose, dominating_pair, privacy_profile
from irisdp.graphs import graph_from_document
from irisdp.mechanisms import randomized_response
from support.sweeps import tried

FLOATS = 1e-12
"""Roundings of some hundred sums of probabilities in doubles."""


@st.composite
def mechanisms(draw):
    outputs = draw(st.integers(1, 3))
    rows = []
    for _ in range(draw(st.integers(2, 3))):
        weights = draw(st.lists(st.integers(0, 9), min_size=outputs, max_size=outputs).filter(any))
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    graph = {"nodes": list(range(len(rows))), "edges": [[i, i + 1] for i in range(len(rows) - 1)]}
    return Mechanism.from_matrix(rows, privacy=Privacy(ratio=1), graph=graph_from_document(graph))


def composed(mechanism, times, *, work):
    """Compose with as much exact work as is allowed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_loss_distributions, "_MOST_WORK", work)
        return compose(mechanism, times=times)


@given(mechanisms(), st.integers(1, 5), st.fractions(min_value=0, max_value=9, max_denominator=9))
@settings(max_examples=tried(60, 150), deadline=None)
def test_a_rounded_profile_is_nowhere_below_the_exact_one(mechanism, times, ratio):
    exact, rounded = composed(mechanism, times, work=10**9), composed(mechanism, times, work=0)
    assert exact.exact
    assert not rounded.exact or len(set(mechanism.matrix())) == 1
    assert rounded.deltas[0] == 1
    assert rounded.delta_at(ratio) >= exact.delta_at(ratio)
    assert rounded.dominates(exact)


@pytest.mark.parametrize("times", [1, 7, 60])
@pytest.mark.parametrize("ratio", ["2", "11/10"])
def test_rounding_overstates_little(times, ratio):
    for mechanism in (randomized_response(2, Privacy(ratio=ratio)), randomized_response(3, Privacy(ratio=ratio))):
        exact, rounded = composed(mechanism, times, work=10**9), composed(mechanism, times, work=0)
        span = 2 * math.log(Fraction(ratio))
        most = times * span * min(times, 12 * (math.isqrt(times) + 1)) / 2**15 * 1.01 + FLOATS
        for delta in (Fraction(0), Fraction(1, 10**6), Fraction(1, 10)):
            assert 0 <= rounded.epsilon_at(delta) - exact.epsilon_at(delta) <= most


def test_a_rounded_profile_has_a_dominating_pair():
    rounded = composed(randomized_response(3, Privacy(ratio=2)), 10, work=0)
    pair = dominating_pair(rounded)
    assert sum(pair.upper) == sum(pair.lower) == 1
    assert privacy_profile(randomized_response(3, Privacy(ratio=2))).exact


MANY = [
    randomized_response(3, Privacy(ratio=2)),
    randomized_response(3, Privacy(ratio=2, delta="1/10")),
    randomized_response(2, Privacy(epsilon=1)),
    design.geometric(5, Privacy(ratio=2)),
    design.geometric(5, Privacy(epsilon=1)),
    design.geometric(40, Privacy(epsilon="1/10")),
    [design.geometric(5, Privacy(epsilon=1)), design.geometric(5, Privacy(epsilon="1/3"))],
]


@pytest.mark.parametrize(
    ("mechanisms_", "times"), [*product(MANY[:: tried(2, 1)], [10**6]), *product(MANY[:: tried(4, 1)], [100])]
)
def test_many_draws_end(mechanisms_, times):
    """Without powers the suite would not end: a hundred draws took more than ten minutes."""
    profile = compose(mechanisms_, times=times)
    assert profile.deltas[0] == 1
    first = mechanisms_[0] if isinstance(mechanisms_, list) else mechanisms_
    assert profile.dominates(privacy_profile(first))
