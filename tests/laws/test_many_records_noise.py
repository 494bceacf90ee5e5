"""Noise for numbers that one person moves by more than one: private at every shift, and told as it is drawn."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import CountNodes, SpreadNoise, StaircaseNoise

RATIOS = (Fraction(3, 2), Fraction(2), Fraction(9, 2), Fraction(20))
LARGEST = 4


def law(mechanism, value):
    node = CountNodes(np.array([value]), np.array([0]), None)
    found = mechanism.law(node, 0, LARGEST)
    assert sum(found.values()) == 1
    return found


def worst(one, other):
    assert one.keys() == other.keys()
    return max(max(one[z] / other[z], other[z] / one[z]) for z in one)


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_staircase_is_private_at_every_shift_up_to_its_sensitivity_and_no_further(ratio, sensitivity):
    mechanism = StaircaseNoise(Privacy(ratio=ratio), sensitivity)
    laws = {value: law(mechanism, value) for value in range(-LARGEST, LARGEST + 1)}
    for value, other in product(laws, repeat=2):
        shift = abs(value - other)
        found = worst(laws[value], laws[other])
        assert found <= ratio if shift <= sensitivity else found > ratio


@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_spread_noise_is_private_whatever_cells_a_person_moves(ratio, sensitivity):
    mechanism = SpreadNoise(Privacy(ratio=ratio), sensitivity)
    laws = {value: law(mechanism, value) for value in range(LARGEST + 1)}
    for shifts in product(range(sensitivity + 1), repeat=3):
        spent = Fraction(1)
        for shift in shifts:
            spent *= worst(laws[0], laws[shift])
        if sum(shifts) <= sensitivity:
            assert spent <= ratio
        if sum(shifts) == sensitivity:
            assert spent > ratio * (1 - Fraction(1, 1 << 100))


@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("ratio", RATIOS)
def test_tails_of_a_staircase_are_sums_of_its_probabilities(ratio, sensitivity):
    noise = StaircaseNoise(Privacy(ratio=ratio), sensitivity).noise
    assert noise.below_exactly(0) * 2 + noise.probability(0) == 1
    for z in range(-20, 20):
        assert noise.below_exactly(z + 1) - noise.below_exactly(z) == noise.probability(z)
        enclosed, exact = noise.below(z, width="1e-40"), noise.below_exactly(z)
        assert enclosed.lower <= exact <= enclosed.upper <= enclosed.lower + Fraction(1, 10**40)


def test_errors_are_those_of_the_laws():
    error = StaircaseNoise(Privacy(epsilon=1), 5).expected_error()
    noise = StaircaseNoise(Privacy(epsilon=1), 5).noise
    within = error["within_95_percent"]
    assert 2 * noise.below_exactly(-within) <= Fraction(1, 20) < 2 * noise.below_exactly(1 - within)
    assert error["mean_absolute"] == pytest.approx(float(noise.expected().upper))
    spread = SpreadNoise(Privacy(epsilon=1), 5).expected_error()
    assert spread["mean_absolute"] > error["mean_absolute"]
