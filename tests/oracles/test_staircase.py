"""Staircase noise: the least error of all noise that is added to every number alike, to nine places, and its gains.

The linear program is that of the definition: probabilities of noise on −R … R such that no shift by at most m changes
one by more than a factor r. A law and its reflection do equally well, and so does their mean, so that it is enough to
look at one side; and each unknown is a multiple of r^(−z/m), so that solvers meet numbers of one size.
"""

from itertools import product
from math import exp, sinh

import pytest

from irisdp import Privacy, noise
from support.programs import Program

AGREE = 1e-9
LOSSES = {"absolute": 1, "squared": 2}
CASES = [
    *product((1, 2, 3, 5), ("1/2", "1", "3/2", "2", "3")),
    *product((4, 7), ("1", "2", "3")),
    (10, "2"),
    (12, "3"),
    (20, "3"),
]
"""Sensitivities and ε."""


def least_added(ratio, sensitivity, power):
    """The least mean of |z|^power; the part of any law beyond R = 36·m/ε is far below what is compared."""
    rate = ratio ** (-1 / sensitivity)
    reach = 1
    while rate**reach > 1e-15:
        reach += 1
    weights = [(1 if z == 0 else 2) * rate**z for z in range(reach + 1)]
    program = Program()
    first = program.variables(reach + 1)
    program.equal({first + z: weight for z, weight in enumerate(weights)}, 1)
    program.charge(first, [z**power * weight for z, weight in enumerate(weights)])
    for z, shift in product(range(reach + 1), range(1, sensitivity + 1)):
        for other in {abs(z - shift), z + shift} - {z}:
            if other <= reach:
                program.at_most({first + z: 1, first + other: -ratio * rate ** (other - z)})
    return program.minimum()


def test_cases_are_enough():
    assert 2 * len(CASES) >= 50


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), CASES)
def test_a_staircase_is_the_best_that_can_be_added(sensitivity, epsilon, loss):
    privacy = Privacy(epsilon=epsilon)
    law = noise.law("staircase", privacy, sensitivity, loss)
    best = least_added(float(privacy.ratio), sensitivity, LOSSES[loss])
    assert float(law.expected(loss).upper) == pytest.approx(best, rel=AGREE)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(5, "1"), (5, "2"), (2, "3"), (7, "3")])
def test_another_step_is_worse(sensitivity, epsilon, loss):
    """Negative control: the program tells steps apart."""
    privacy = Privacy(epsilon=epsilon)
    best = noise.law("staircase", privacy, sensitivity, loss)
    least = least_added(float(privacy.ratio), sensitivity, LOSSES[loss])
    for step in {*range(1, sensitivity + 1)} - {best.step}:
        other = float(noise.StaircaseLaw(privacy, sensitivity, step).expected(loss).upper)
        assert other > least * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "sensitivity", "gain"), [(1, 5, 0.04), (2, 5, 0.15), (3, 2, 0.41)])
def test_it_gains_on_geometric_noise_what_is_said(epsilon, sensitivity, gain):
    staircase = noise.law("staircase", Privacy(epsilon=epsilon), sensitivity)
    geometric = 1 / sinh(epsilon / sensitivity)  # 2α/(1 − α²) at α = e^(−ε/m)
    assert 1 - float(staircase.expected().upper) / geometric == pytest.approx(gain, abs=0.005)
    written = noise.law("geometric", Privacy(epsilon=epsilon), sensitivity)
    assert float(written.expected().upper) == pytest.approx(geometric)
    assert exp(epsilon) == pytest.approx(float(staircase.privacy.ratio))
