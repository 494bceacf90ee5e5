"""Bounds on long paths against linear programs and against mechanisms written out here, in floats and fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from irisdp import Privacy, design
from irisdp.design import (
    _path_bounds,
    best_path_bound,
    exponential_ratio,
    exponential_ratio_limit,
    middle_distance,
    middle_distance_bound,
    middle_distance_limit,
    one_answer,
    path_bound,
    path_bound_limit,
)
from irisdp.graphs import Path
from support.programs import Program

FLOATS = 1e-12
"""Closed forms of size 100 at most, worked out in doubles by a few operations."""


AGREEMENT = 1e-9
RATIOS = [Fraction(11, 10), Fraction(2), Fraction(5), Fraction(50)]


def exponential_cost(nodes, gamma):
    """Mean distance of weights γ^d on a path, in floats."""
    distances = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    weights = float(gamma) ** distances
    return float(((weights * distances).sum(axis=1) / weights.sum(axis=1)).mean())


def middle_by_scipy(length, ratio):
    """Solve LP[5] around the middle node of a path of 2·length + 1."""
    program = Program()
    first = program.table(1, 2 * length + 1)
    middle = first + length
    for away in range(length):
        for side in (-1, 1):
            program.at_most({middle + side * away: 1, middle + side * (away + 1): -ratio})
    program.charge(first, [abs(place - length) for place in range(2 * length + 1)])
    return program.minimum()


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_the_middle_distance_is_lp_5_and_lemma_6_holds(ratio):
    privacy = Privacy(ratio=ratio)
    limit = middle_distance_limit(privacy)
    values = [middle_distance(length, privacy) for length in range(12)]
    for length, value in enumerate(values):
        assert abs(float(value) - middle_by_scipy(length, float(ratio))) < AGREEMENT
        assert one_answer(Path(2 * length + 1), length, privacy, layered=True).value == value
        bound = middle_distance_bound(privacy, length=length)
        assert bound < value if length else bound == value == 0
        for slack in (Fraction(1, 3), 1, 2, 5):
            if length >= slack / (1 - 1 / ratio):
                assert middle_distance_bound(privacy, slack=slack) <= bound
    assert all(a < b < limit for a, b in pairwise(values))
    assert abs(float(limit) - 2 / float(ratio - 1 / ratio)) < FLOATS
    assert limit - middle_distance(1200, privacy) < limit / 10**9


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_slack_bounds_are_rounded_down(ratio):
    privacy = Privacy(ratio=ratio)
    for slack in (0, Fraction(1, 2), 1, 3, 20, 500):
        exact = float(middle_distance_limit(privacy)) * (1 - (float(slack) + 1) * math.exp(-slack))
        assert abs(float(middle_distance_bound(privacy, slack=slack)) - exact) < FLOATS
    assert middle_distance_bound(privacy, slack=0) <= 0


@pytest.mark.parametrize("nodes", [8, 20, 40, 150])
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_bound_optimum_mechanism(nodes, ratio):
    """Theorem 2 ≤ LP[1] ≤ exponential mechanism, safe exponent ≤ the one at ε/2; Lemma 7 beside it [Alda2017]."""
    privacy = Privacy(ratio=ratio)
    optimum = design.distance(Path(nodes), privacy).objective
    assert optimum.value - optimum.lower_bound < Fraction(1, 10**15)
    bound = best_path_bound(nodes, privacy)
    assert bound.value <= optimum.lower_bound
    assert optimum.value < middle_distance_limit(privacy)
    half = exponential_cost(nodes, float(ratio) ** -0.5)
    assert float(optimum.value) <= half + AGREEMENT
    if nodes <= 40:
        safe = design.exponential(Path(nodes), privacy).objective.value
        assert optimum.value <= safe
        assert float(safe) <= half + AGREEMENT
    assert exponential_cost(nodes, 1 / ratio) < middle_distance_limit(privacy)  # Lemma 7
    for slack in (Fraction(k, 32) for k in range(32, 320)):
        if nodes >= 4 * math.ceil(slack / (1 - 1 / ratio)):
            assert path_bound(nodes, privacy, slack).value <= bound.value * Fraction(101, 100)


@pytest.mark.parametrize("ratio", [Fraction(2), Fraction(5), Fraction(50)], ids=str)
def test_theorem_2_by_its_formula(ratio):
    gamma, nodes, s = 1 / float(ratio), 4000, 3.0
    least = math.ceil(s / (1 - gamma) - FLOATS)
    for length in (least, least + 5):
        found = path_bound(nodes, Privacy(ratio=ratio), 3, length)
        centre = 2 * gamma / (1 + gamma) * (1 - 1 / s) * (1 - (s + 1) * math.exp(-s))
        assert found.length == length
        assert abs(float(found.value) - min(1 - 4 * s * length / nodes, centre) / (1 - gamma)) < FLOATS


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_corollaries_follow_from_theorem_2(ratio):
    """Where Corollaries 3 and 4 are granted, Theorem 2 itself gives as much, and mechanisms agree."""
    privacy = Privacy(ratio=ratio)
    gamma = 1 / ratio
    for slack in (2, 3, 8):
        nodes = math.ceil(slack**2 * math.ceil(slack / (1 - gamma)) * max(4, (1 + gamma) / gamma))
        bound = path_bound_limit(nodes, privacy, slack)
        assert bound == path_bound(nodes, privacy, slack).value
        assert bound < middle_distance_limit(privacy)
        share = exponential_ratio(nodes, privacy, slack)
        assert 0 < share < exponential_ratio_limit(privacy) <= Fraction(1, 2)
        if nodes <= 3000:
            cost = exponential_cost(nodes, float(ratio) ** -0.5)
            assert float(bound) / cost >= float(share)
    assert abs(float(exponential_ratio_limit(privacy)) - math.sqrt(gamma) / (1 + gamma)) < FLOATS


def test_the_printed_hypothesis_of_corollary_3_is_too_weak():
    """At γ = 10/11 and the printed length the first term of Theorem 2 is the smaller one by far."""
    privacy, slack = Privacy(ratio="11/10"), 2
    gamma = Fraction(10, 11)
    printed = math.ceil(slack**2 * math.ceil(slack / (1 - gamma)) * (1 + gamma) / gamma)
    product = middle_distance_limit(privacy) * Fraction(1, 2) * (1 - 3 / Fraction(math.exp(2)))
    assert path_bound(printed, privacy, slack).value < product / 2


def test_a_bound_read_as_printed_would_be_noticed(monkeypatch):
    """Negative control: without its factor (1 − (s + 1)e^−s), or with a larger one, the bound passes the optimum."""
    privacy = Privacy(ratio=2)
    optimum = design.distance(Path(150), privacy).objective.value
    assert best_path_bound(150, privacy).value <= optimum
    monkeypatch.setattr(_path_bounds, "_escape_below", lambda slack: Fraction(2))
    assert best_path_bound(150, privacy).value > optimum
