"""Privacy profiles, composition and dominating pairs against sums written out anew; foreign mechanisms as they are."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Mechanism, Privacy, audit
from irisdp.certify import (
    certify_depth_mechanism,
    compose,
    dominating_pair,
    matrix_document,
    privacy_profile,
    renyi_divergence,
)
from irisdp.graphs import Path
from irisdp.mechanisms import balanced_line, geometric, randomized_response
from support.closeness import hockey_stick
from support.sweeps import tried

FLOATS = 1e-9
"""Closed forms and accountants in doubles, of numbers of size 1."""

GRID = 2e-3
"""How much an accountant with a grid of 1e-4 may add in five rounds: twice 5 grid steps, and its cut tails."""


ONE = Privacy(ratio=1)
ratios = st.fractions(min_value=1, max_value=9, max_denominator=12)


@st.composite
def mechanisms(draw):
    """A random mechanism on a path of 2 or 3 inputs with 2 or 3 outputs, zeros included."""
    outputs, inputs = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    rows = [draw(weights) for _ in range(inputs)]
    matrix = [[Fraction(w, sum(row)) for w in row] for row in rows]
    return Mechanism.from_matrix(matrix, privacy=ONE, graph=Path(inputs))


def worst(rows, ratio):
    """Hockey-stick sums of all neighbours, both ways."""
    both = [pair for a, b in pairwise(rows) for pair in ((a, b), (b, a))]
    return max(hockey_stick(a, b, ratio) for a, b in both)


def repeated(row, times):
    """The law of several draws, one probability for every combination of answers."""
    return [math.prod(combination) for combination in product(row, repeat=times)]


@given(mechanisms(), ratios)
@settings(max_examples=tried(120, 300), deadline=None)
def test_the_profile_is_the_maximum_over_neighbours(mechanism, ratio):
    profile = privacy_profile(mechanism)
    assert profile.delta_at(ratio) == worst(mechanism.matrix(), ratio)


@given(mechanisms(), st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=20))
@settings(max_examples=tried(120, 300), deadline=None)
def test_the_inverse_is_the_smallest_ratio(mechanism, delta):
    ratio = privacy_profile(mechanism).ratio_at(delta)
    rows = mechanism.matrix()
    if ratio is None:
        assert worst(rows, Fraction(10**9)) > delta
        return
    assert worst(rows, ratio) <= delta
    if ratio > 1:
        assert worst(rows, ratio - (ratio - 1) / 10**9) > delta


@given(mechanisms(), st.integers(1, 3), ratios)
@settings(max_examples=tried(60, 150), deadline=None)
def test_composition_is_exact(mechanism, times, ratio):
    rows = [repeated(row, times) for row in mechanism.matrix()]
    assert compose(mechanism, times=times).delta_at(ratio) == worst(rows, ratio)


@given(mechanisms(), mechanisms(), ratios)
@settings(max_examples=tried(60, 150), deadline=None)
def test_different_mechanisms_compose(first, second, ratio):
    if len(first.inputs) != len(second.inputs):
        return
    rows = [[p * q for p, q in product(a, b)] for a, b in zip(first.matrix(), second.matrix(), strict=True)]
    assert compose([first, second]).delta_at(ratio) == worst(rows, ratio)


@given(mechanisms(), st.integers(1, 3), ratios)
@settings(max_examples=tried(60, 150), deadline=None)
def test_a_dominating_pair_dominates(mechanism, times, ratio):
    profile = privacy_profile(mechanism)
    pair = dominating_pair(profile)
    assert pair.composed(1).delta_at(ratio) == profile.delta_at(ratio)
    assert pair.composed(times).delta_at(ratio) >= compose(mechanism, times=times).delta_at(ratio)


def test_the_accountant_agrees_from_above():
    """dp-accounting's PLD of the pair is at least the exact composed δ, and close: its grid is 1e-4 wide."""
    mechanism = randomized_response(2, Privacy(ratio=2))
    pair = dominating_pair(privacy_profile(mechanism))
    exact = compose(mechanism, times=5)
    pld = pair.accountant(5)
    for epsilon in (0.5, 1.0, 2.0):
        upper = pld.get_delta_for_epsilon(epsilon)
        true = float(exact.delta_at(Fraction(math.exp(epsilon))))
        assert true - FLOATS <= upper <= true + GRID


def test_renyi_and_total_variation_of_randomised_response():
    mechanism = randomized_response(2, Privacy(ratio=3))
    p = 0.75
    order_two = math.log(p**2 / (1 - p) + (1 - p) ** 2 / p)
    assert renyi_divergence(mechanism, 2) == pytest.approx(order_two, rel=FLOATS)
    assert privacy_profile(mechanism).total_variation == Fraction(1, 2)


@pytest.mark.parametrize(("ratio", "delta"), [("2", "0"), ("11/10", "1/1000"), ("9", "1/3")])
def test_lazy_rows_are_certified_by_enclosures_and_theorem(ratio, delta):
    verdict = certify_depth_mechanism(balanced_line(Privacy(ratio=ratio, delta=delta)), depths=(0, 1, 5, 100, 10**12))
    assert verdict.holds
    assert verdict.boundary_delta <= Fraction(delta)
    assert verdict.refuted is None


# Foreign mechanisms: what is claimed, and what is.


def test_a_truncated_tail_is_an_infinite_loss():
    """diffprivlib's geometric noise at ε = 1 ends at ±36: a double's inverse CDF reaches no further.

    So neighbouring counts have outputs that the other never gives: no ε suffices at δ = 0, though a tiny δ does.
    """
    alpha, n, reach = math.exp(-1), 10, 36
    matrix = np.zeros((n + 1, n + 1 + 2 * reach))
    weights = np.array([alpha ** abs(z) for z in range(-reach, reach + 1)])
    for count in range(n + 1):
        matrix[count, count : count + 2 * reach + 1] = weights / weights.sum()
    verdict = audit(matrix_document(matrix, graph=Path(n + 1), privacy=Privacy(epsilon=1)))
    assert not verdict.private
    assert verdict.ratio_at_delta is None
    assert 0 < verdict.delta_at_epsilon < Fraction(1, 10**14)


def test_the_same_law_in_doubles_is_private_only_up_to_rounding():
    """OpenDP's discrete Laplace has the exact law; written as doubles it misses 1 and the ratio by 1e-16."""
    doubles = np.array([[float(p) for p in row] for row in geometric(12, Privacy(epsilon=1)).matrix()])
    verdict = audit(matrix_document(doubles, graph=Path(13), privacy=Privacy(epsilon=1)))
    assert not verdict.holds
    assert verdict.delta_at_epsilon < Fraction(1, 10**15)
    assert audit(geometric(12, Privacy(ratio=2))).holds
