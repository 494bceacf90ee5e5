"""Laws of noise: what they refuse, what they say, and that they add up at the edges of their ranges."""

import pickle
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import BadInput, Privacy, noise
from irisdp.noise import _universal

ONE, APPROXIMATE = Privacy(epsilon=1), Privacy(epsilon=1, delta="1e-6")
TWO = Privacy.all([ONE, Privacy(epsilon="1/2", delta="1e-3")])

REFUSED = [
    (lambda: noise.law("laplace", ONE), r"^kind: must be geometric or staircase or bounded or universal; "),
    (lambda: noise.law("geometric", APPROXIMATE), r"^privacy: must be one pair with delta 0 for geometric noise; "),
    (lambda: noise.law("staircase", TWO), r"^privacy: must be one pair with delta 0 for staircase noise; "),
    (lambda: noise.law("bounded", TWO), r"^privacy: must be one pair with delta above 0 for bounded noise; "),
    (lambda: noise.law("bounded", ONE), r"^privacy: must be one pair with delta above 0 for bounded noise; "),
    (lambda: noise.law("bounded", Privacy(ratio=2, delta="1/8")), r"^delta: .*whole number; 0.1 \(K = 2\) is the next"),
    (
        lambda: noise.law("universal", Privacy(ratio=1)),
        r"^privacy: with epsilon 0 and delta 0 allows no information at all; ",
    ),
    (lambda: noise.law("geometric", Privacy(ratio=1)), r"^epsilon: must be above 0 "),
    (lambda: noise.law("universal", Privacy(epsilon="1e-9", delta="1e-12")), r"^privacy: .*8,192 counts"),
    (lambda: noise.law("universal", ONE, 2), r"^sensitivity: must be 1 for universal noise; "),
    (lambda: noise.law("staircase", ONE, 0), r"^sensitivity: must be at least 1"),
    (lambda: noise.law("staircase", ONE, 2, "zero-one"), r"^loss: must be absolute or squared; "),
    (lambda: noise.law("staircase", Privacy(epsilon="1e-15"), 10), r"^epsilon: must be at least 1e-15 per unit"),
    (lambda: noise.law("geometric", Privacy(epsilon="1e-15"), 10).draw([0]), r"^epsilon: must be at least 1e-15 "),
    (lambda: noise.law("geometric", ONE).draw([0.5]), r"^values: must be an array of integers"),
    (lambda: noise.law("universal", APPROXIMATE).draw([1 << 62]), r"^values: must lie between"),
    (lambda: noise.law("geometric", ONE).probability(10**9), r"^z: lies so far out"),
    (lambda: noise.law("geometric", ONE).probability(0.5), r"^z: must be"),
    (lambda: noise.law("geometric", ONE).enclose(0, width=0), r"^width: must lie between"),
    (lambda: noise.law("geometric", ONE).expected("cubed"), r"^loss: must be absolute or squared; "),
    (lambda: noise.gaussian_law(0), r"^mu: must be above 0 and at most 20; "),
    (lambda: noise.gaussian_law(-1), r"^mu: must be above 0 and at most 20; "),
    (lambda: noise.gaussian_law("1e-9"), r"^mu: needs noise with a standard deviation"),
    (lambda: noise.gaussian_law(1, resolution="2/3"), r"^resolution: must be 1 or 1/q"),
    (lambda: noise.gaussian_law(1, resolution=0), r"^resolution: must be 1 or 1/q"),
    (lambda: noise.gaussian_law(1, sensitivity=0), r"^sensitivity: must be at least 1"),
    (lambda: noise.gaussian_law(1).probability(0), r"^z: has a probability that is no fraction"),
    (lambda: noise.law("universal", APPROXIMATE).mechanism(10_000), r"^n: makes more than 1,000,000 entries"),
    (lambda: noise.law("universal", APPROXIMATE).mechanism(-1), r"^n: must be at least 0|^n: must lie"),
    (lambda: noise.bounded_delta(ONE, 0), r"^bound: must"),
    (lambda: noise.bounded_delta(TWO, 3), r"^privacy: holds 2 pairs"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_bad_input_gets_one_line(number):
    ask, pattern = REFUSED[number]
    with pytest.raises(BadInput, match=pattern) as refused:
        ask()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("law", "line"),
    [
        (noise.law("geometric", ONE), "ShapeLaw(geometric, ε = 1, sensitivity 1)"),
        (
            noise.law("universal", APPROXIMATE),
            "ShapeLaw(universal, ε = 1, δ = 0.000001, sensitivity 1, 3 atoms per unit)",
        ),
        (noise.law("staircase", ONE, 5), "StaircaseLaw(ε = 1, sensitivity 5, step 2)"),
        (noise.gaussian_law("1/2", resolution="1/4"), "GaussianLaw(mu 0.5, sensitivity 1, multiples of 1/4)"),
    ],
)
def test_a_law_says_what_it_is_in_one_line(law, line):
    assert repr(law) == line
    assert pickle.loads(pickle.dumps(law)) == law
    with pytest.raises(AttributeError):
        law.sensitivity = 2


def test_without_delta_universal_noise_is_geometric():
    universal, geometric = noise.law("universal", ONE), noise.law("geometric", ONE)
    alpha = 1 / ONE.ratio
    for z in (-3, 0, 2, 40):
        assert universal.probability(z) == geometric.probability(z) == (1 - alpha) / (1 + alpha) * alpha ** abs(z)
    assert noise.law("staircase", ONE).probability(7) == geometric.probability(7)


def test_geometric_noise_of_tiny_epsilon_is_drawn_and_enclosed():
    law = noise.law("universal", Privacy(epsilon="1e-9"))
    assert law.draw(np.zeros(10, dtype=np.int64)).shape == (10,)
    assert law.enclose(10**9).lower > 0
    assert float(law.expected().lower) == pytest.approx(1e9, rel=1e-8)


@pytest.mark.parametrize("sensitivity", [2, 3, 10, 1000])
def test_geometric_noise_for_more_is_no_less_private(sensitivity):
    law = noise.law("geometric", ONE, sensitivity)
    ratio = law.cells.privacy.ratio
    assert 1 - F(1, 10**30) < ratio**sensitivity / ONE.ratio <= 1
    assert law.expected().lower > noise.law("staircase", ONE, sensitivity).expected().upper


def test_a_polygon_of_gaussian_dp_costs_hardly_more_than_the_gaussian():
    law, whole = noise.law("universal", Privacy.gaussian(1, gap="1e-3")), noise.gaussian_law(1)
    for loss in ("absolute", "squared"):
        assert 1 <= law.expected(loss).lower / whole.expected(loss).upper < F(102, 100)


def test_gaussian_noise_for_more_is_wider():
    assert noise.gaussian_law(3, sensitivity=3).enclose(2).lower in noise.gaussian_law(1).enclose(2)


def test_steps_of_staircases_depend_on_the_loss():
    steps = [noise.law("staircase", Privacy(epsilon=3), 10, loss).step for loss in ("absolute", "squared")]
    assert steps == [2, 3]
    law = noise.law("staircase", Privacy(epsilon=3), 10)
    for step in range(1, 11):
        other = type(law)(law.privacy, 10, step)
        assert law.expected().upper <= other.expected().upper
    assert noise.law("staircase", Privacy(epsilon=1), 1 << 30).step > 1 << 28


def test_noise_that_ends_thousands_of_counts_out_needs_no_long_fractions(monkeypatch):
    """Exact places of its kinks would have a million digits, and took a quarter of a minute."""
    monkeypatch.setattr(_universal._RationalOperator, "far", None)
    _universal.cells_of.cache_clear()
    found = _universal.cells_of(Privacy(epsilon="1e-3", delta="1e-6"))
    assert (found.first, found.last) == (-18650, 18652)
    assert len(found.phases) == 3


@pytest.mark.parametrize("bound", [1, 2, 9])
def test_kinks_that_come_to_one_place_are_one_phase(bound):
    """Where the noise ends at a whole number, all kinks do; a δ next to it has three phases."""
    ratio = Privacy(ratio="5/3")
    exact = noise.bounded_delta(ratio, bound)
    assert len(_universal.cells_of(ratio.with_delta(exact)).phases) == 1
    assert len(_universal.cells_of(ratio.with_delta(exact + F(1, 10**70))).phases) == 3
