"""Samplers on the operating system's bits against their laws: chi-square at a stated family-wise level.

What exhaustion cannot reach, 64-bit words in bulk, is tested here. A test of this kind must also reject: the same test
with a law a few per cent off, or a classic mistake planted, fails far beyond the level.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from irisdp import Privacy, noise
from irisdp._sampling import clamped_geometric, draw, draw_ranks
from irisdp._sampling.bits import OperatingSystemBits
from irisdp._sampling.geometric_noise import one_sided_geometric
from irisdp._sampling.tables import draw_events

FAMILY_LEVEL = 1e-6
"""Chance that any test of this file fails while every law is right."""
TESTS = 60
"""At least the number of chi-square tests below."""
LEVEL = FAMILY_LEVEL / TESTS
DRAWS = 400_000
CELLS = 200
LEAST_EXPECTED = 200
"""Draws expected in a cell; with fewer the chi-square tail is not trusted at this level."""
EPSILONS = ["50", "5", "1", "0.1", "0.03", "0.01", "1e-4", "1e-6", "1e-9"]


def p_value(observed, probabilities):
    """Chi-square p-value of counts against probabilities, cells with few expected draws put together."""
    observed, expected = np.asarray(observed, dtype=float), np.asarray(probabilities) * np.sum(observed)
    few = expected < LEAST_EXPECTED
    observed = np.append(observed[~few], observed[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    if expected[-1] < LEAST_EXPECTED:
        # Too rare for chi-square as a whole: judge the rest of the counts, and the rare ones by Poisson's tail.
        rare = stats.poisson.sf(observed[-1] - 1, expected[-1]) if observed[-1] else 1.0
        main = stats.chi2.sf(_statistic(observed[:-1], expected[:-1]), max(len(expected) - 2, 1))
        return min(1.0, 2 * min(rare, main))
    return stats.chi2.sf(_statistic(observed, expected), len(expected) - 1)


def _statistic(observed, expected):
    return float((((observed - expected) ** 2) / expected).sum())


def at_most(z, epsilon):
    """P(Z ≤ z) for two-sided geometric noise."""
    alpha = math.exp(-epsilon)
    tail = np.exp(-epsilon * np.where(z >= 0, z + 1.0, -z)) / (1 + alpha)
    return np.where(z >= 0, 1 - tail, tail)


def noise_p_value(drawn, epsilon):
    """Chi-square over cells of about equal probability."""
    grid = np.linspace(0, 1, CELLS + 1)[1:-1]
    quantiles = np.where(grid < 0.5, np.log(2 * grid), -np.log(2 * (1 - grid))) / epsilon
    edges = np.unique(np.floor(quantiles).astype(np.int64))
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    return p_value(counts, np.diff(at_most(edges, epsilon), prepend=0.0, append=1.0))


def remainder_p_value(drawn, epsilon, modulus):
    """Chi-square of Z mod a modulus, which sees mistakes in the lower digits that quantiles do not."""
    alpha, place = math.exp(-epsilon), np.arange(modulus, dtype=float)
    law = alpha**place + alpha ** (modulus - place)
    law[0] = 1 + alpha**modulus
    counts = np.bincount(drawn % modulus, minlength=modulus)
    return p_value(counts, law * math.tanh(epsilon / 2) / -math.expm1(-epsilon * modulus))


def draw_noise(epsilon):
    return noise.geometric(np.zeros(DRAWS, dtype=np.int64), Privacy(epsilon=epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise(epsilon):
    drawn = draw_noise(epsilon)
    assert noise_p_value(drawn, float(epsilon)) > LEVEL
    for modulus in (2, 7, 128):
        assert remainder_p_value(drawn, float(epsilon), modulus) > LEVEL


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
def test_noise_a_few_per_cent_off_is_rejected(epsilon):
    drawn = draw_noise(epsilon)
    assert noise_p_value(drawn, float(epsilon) * 1.04) < LEVEL
    assert noise_p_value(drawn, float(epsilon) / 1.04) < LEVEL


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_a_zero_counted_twice_is_rejected(epsilon):
    drawn = draw_noise(epsilon)
    assert noise_p_value(np.where(drawn < 0, drawn + 1, drawn), float(epsilon)) < LEVEL


def test_a_low_digit_that_is_stuck_is_rejected():
    drawn = draw_noise("1e-6")
    assert remainder_p_value(drawn & ~np.int64(1), 1e-6, 2) < LEVEL
    assert remainder_p_value(np.where(drawn % 128 == 5, drawn + 1, drawn), 1e-6, 128) < LEVEL


def test_noise_is_added_to_its_own_value():
    values = np.arange(-500, 500).repeat(400)
    drawn = noise.geometric(values, Privacy(epsilon=1))
    assert noise_p_value(drawn - values, 1.0) > LEVEL
    assert noise_p_value(drawn - np.roll(values, 1000), 1.0) < LEVEL


def test_draws_side_by_side_are_independent():
    drawn = np.sign(draw_noise("1")) + 1
    alpha = math.exp(-1)
    sign = np.array([alpha, 1 - alpha, alpha]) / (1 + alpha)
    pairs = np.bincount(3 * drawn[0::2] + drawn[1::2], minlength=9)
    assert p_value(pairs, np.outer(sign, sign).ravel()) > LEVEL
    repeated = np.bincount(4 * drawn[0::2], minlength=9)
    assert p_value(repeated, np.outer(sign, sign).ravel()) < LEVEL


@pytest.mark.parametrize("epsilon", ["1", "0.01", "1e-6"])
def test_one_sided_steps(epsilon):
    steps, rate = one_sided_geometric(DRAWS, Privacy(epsilon=epsilon)), float(epsilon)
    edges = np.unique(np.floor(-np.log1p(-np.linspace(0, 1, CELLS + 1)[1:-1]) / rate).astype(np.int64))
    counts = np.bincount(np.searchsorted(edges, steps), minlength=len(edges) + 1)
    law, off = (np.diff(-np.expm1(-rate * factor * (edges + 1.0)), prepend=0.0, append=1.0) for factor in (1, 1.04))
    assert p_value(counts, law) > LEVEL
    assert p_value(counts, off) < LEVEL


@pytest.mark.parametrize("value", [0, 3, 10])
def test_clamped_noise(value):
    counts = np.bincount(clamped_geometric(np.full(DRAWS, value), 10, Privacy(epsilon="0.3")), minlength=11)
    law = np.diff(at_most(np.arange(10) - value, 0.3), prepend=0.0, append=1.0)
    assert p_value(counts, law) > LEVEL
    assert p_value(np.roll(counts, 1), law) < LEVEL


def test_tables_and_events():
    rows = [[F(1, 3), F(1, 6), F(1, 2)], [F(1, 10**4), F(0), 1 - F(1, 10**4)], [F(0), F(1), F(0)]]
    index = np.tile([0, 1, 2], DRAWS // 3)
    drawn = draw(rows, index)
    for number, row in enumerate(rows):
        counts = np.bincount(drawn[index == number], minlength=3)
        assert not counts[[output for output in range(3) if row[output] == 0]].any()
        assert p_value(counts, [float(entry) for entry in row]) > LEVEL
    assert p_value(np.bincount(drawn[index == 0], minlength=3), [0.32, 0.18, 0.5]) < LEVEL
    happened = draw_events([F(1, 7), F(0), F(1)], index)
    assert not happened[index == 1].any()
    assert happened[index == 2].all()
    assert p_value(np.bincount(happened[index == 0], minlength=2), [6 / 7, 1 / 7]) > LEVEL


@pytest.mark.parametrize("spread", [1, 400_000])
def test_ranks(spread):
    """Nodes at one depth, or each at its own at an ε so small that the law hardly moves between them."""
    depths = 10**8 + np.arange(DRAWS) % spread
    drawn = draw_ranks([[F(1, 5), F(1, 3)]], np.zeros(DRAWS, dtype=np.int64), depths, Privacy(epsilon="1e-9"))
    grown = [math.exp(0.1) / 5, math.exp(0.1) / 3]
    assert p_value(np.bincount(drawn, minlength=3), np.diff(grown, prepend=0.0, append=1.0)) > LEVEL
    assert p_value(np.bincount(drawn, minlength=3), [1 / 5, 2 / 15, 2 / 3]) < LEVEL


class CountedBits(OperatingSystemBits):
    """The operating system's bits, counted."""

    __slots__ = ("taken",)

    def words(self, count):
        object.__setattr__(self, "taken", getattr(self, "taken", 0) + count)
        return super().words(count)


@pytest.mark.parametrize(("epsilon", "each"), [("50", 1), ("1", 1), ("0.1", 1), ("0.01", 2), ("1e-6", 3), ("1e-9", 4)])
@pytest.mark.parametrize("value", [0, -(2**62), 10**6])
def test_the_number_of_words_read_is_the_same_for_every_value(epsilon, each, value):
    """A tie, which reads one word more, has a probability below 2^-35 for all the draws of this test together."""
    for _ in range(3):
        source = CountedBits()
        noise.geometric(np.full(10_000, value), Privacy(epsilon=epsilon), source=source)
        assert source.taken == each * 10_000


def test_long_runs_share_words_and_read_on_as_many_whatever_is_drawn():
    """Runs of 2^15 take half a word a digit, and a few words with which to read on; what is left over is short."""
    for value in (0, 10**6):
        source = CountedBits()
        noise.geometric(np.full(40_000, value), Privacy(epsilon="1e-6"), source=source)
        assert source.taken == 3 * 2**15 // 2 + 3 * 16 + 3 * (40_000 - 2**15)
