"""Means: that no larger rates are private, and that intervals hold as often as they say."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import Grid, MeanFromCentre, MeanFromEnds, MeanNodes, MeanOfAll, StaircaseNoise
from irisdp._measurements.means import Rated, distance_for
from irisdp.noise import law
from support.sweeps import tried

SIDE = 400
"""Geometric masses beyond are below 1e-17 here."""


def geometric(ratio):
    z = np.arange(-SIDE, SIDE + 1)
    masses = float(ratio) ** -np.abs(z)
    return z, masses / masses.sum()


def tail(distance, first, second):
    """Return P(|w·Z + v·Y| > distance) by adding up all masses."""
    (w, one), (v, other) = first, second
    z, p = geometric(one)
    y, q = geometric(other)
    return float((np.outer(p, q) * (np.abs(w * z[:, None] + v * y[None, :]) > distance)).sum())


@pytest.mark.parametrize("ratio", [Fraction(6, 5), Fraction(2), Fraction(9)])
def test_distances_are_exceeded_no_more_often_than_said(ratio):
    for other, share, wrong in product((ratio, Fraction(3, 2)), (0.5, 0.6, 0.9, 1.0), (0.2, 0.05, 0.01)):
        first, second = (share, ratio), (1 - share, other)
        distance = distance_for(wrong, (share, Rated(ratio)), (1 - share, Rated(other)))
        assert tail(distance, first, second) <= wrong


def test_distances_are_not_much_too_large():
    """With noise that is wide beside the steps, a distance is exceeded nearly as often as it may be."""
    ratio = Fraction(21, 20)
    for share in (0.5, 0.7, 1.0):
        distance = distance_for(0.05, (share, Rated(ratio)), (share - 1, Rated(ratio)))
        assert tail(distance, (share, ratio), (share - 1, ratio)) > 0.046


def test_distances_grow_from_the_middle_to_the_bounds():
    for ratio, wrong in product((Fraction(6, 5), Fraction(4)), (0.3, 0.05, 1e-6)):
        rated = Rated(ratio)
        ends = [distance_for(wrong, (0.5 + s, rated), (0.5 - s, rated)) for s in np.linspace(0, 0.5, 26)]
        centre = [distance_for(wrong, (0.5, rated), (t, Rated(Fraction(2)))) for t in np.linspace(0, 3, 26)]
        assert np.all(np.diff(ends) > -1e-9)
        assert np.all(np.diff(centre) > -1e-9)


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre])
@pytest.mark.parametrize("steps", [Grid(0, 1, Fraction(1)), Grid(-2, 2, Fraction(1, 2))])
def test_rates_are_as_large_as_they_may_be(kind, steps):
    """The farthest move costs ε, as the product of the ratios of both noises far out."""
    privacy = Privacy(ratio=4 ** (2 * steps.span))  # whose roots are fractions
    mechanism = kind(privacy, steps)
    rates = [noise.cells.privacy.ratio for noise in mechanism.noises]
    held = [None, *range(steps.span + 1)]

    def numbers(values):
        known = [value for value in values if value is not None]
        nodes = MeanNodes(np.array([len(known)]), np.array([sum(known)]), None)
        return mechanism.numbers(nodes)[0].tolist()

    if kind is MeanFromEnds:
        moves = [((value,), ()) for value in held]
    else:
        moves = [((one,), (other,)) for one, other in product(held, held)]
    costs = []
    for one, other in moves:
        shifts = [abs(a - b) for a, b in zip(numbers(one), numbers(other), strict=True)]
        costs.append(rates[0] ** shifts[0] * rates[1] ** shifts[1])
    assert max(costs) == privacy.ratio


def test_roots_that_are_fractions_are_exact():
    assert law("geometric", Privacy(ratio="81/16"), 4).cells.privacy.ratio == Fraction(3, 2)
    near = law("geometric", Privacy(ratio=5), 4).cells.privacy.ratio
    assert near**4 < 5 < (near + Fraction(1, 1 << 126)) ** 4


def mean_of_all(privacy, steps):
    return MeanOfAll(StaircaseNoise(privacy, steps.span), steps)


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre, mean_of_all])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
def test_intervals_hold_the_mean_as_often_as_they_say(kind, confidence):
    """Drawn for few and many values, near a bound and in the middle; three and a half deviations below fail."""
    for count, share in ((1, 0.0), (3, 0.5), (40, 0.1), (500, 0.5), (500, 0.98)):
        steps = Grid(-10, 10, Fraction(1, 2))
        mechanism = kind(Privacy(epsilon=1), steps)
        above = round(count * share * steps.span)
        times = tried(1000, 10_000)
        records = np.full(times, count) if kind is mean_of_all else None
        nodes = MeanNodes(np.full(times, count), np.full(times, above), records)
        drawn = mechanism.draw(nodes).tolist()
        mean = float(steps.lower) + above / count * float(steps.size)
        found = mechanism.intervals(drawn, nodes, confidence)
        held = sum(low - 1e-9 <= mean <= high + 1e-9 for low, high in found) / times
        assert held > float(confidence) - 3.5 * (float(confidence * (1 - confidence)) / times) ** 0.5, (count, share)
        shown = mechanism.show(drawn, nodes)
        assert all(low <= one <= high for one, (low, high) in zip(shown, found, strict=True))
        assert all(float(steps.lower) <= low <= high <= float(steps.upper) for low, high in found)


def test_two_ends_are_nearer_than_a_sum_and_a_count_of_half_the_privacy():
    """By √2 in the middle, and at the bounds: deviations over many draws."""
    steps, count, rng = Grid(0, 40, Fraction(1)), 2000, np.random.default_rng(7)
    privacy = Privacy(epsilon=1)
    for share in (0.5, 1.0):
        nodes = MeanNodes(np.full(20_000, count), np.full(20_000, round(count * share * 40)), None)
        mechanism = MeanFromEnds(privacy, steps)
        total, number = np.array([mechanism.total_and_number(pair) for pair in mechanism.draw(nodes).tolist()]).T
        ours = np.std((total / number).astype(float))
        halves = rng.laplace(scale=2 * 20, size=(20_000,)), rng.laplace(scale=2, size=(20_000,))
        theirs = np.std((count * (share - 0.5) * 40 + halves[0]) / (count + halves[1]))
        assert 1.35 < theirs / ours < 1.48, share


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre])
def test_noise_beyond_a_bound_leaves_the_ends_as_near_as_noise_short_of_it(kind):
    """A mean at a bound, pushed beyond by rare noise, had all means between the bounds for its ends, whatever N."""
    mechanism = kind(Privacy(epsilon=1), Grid(18, 100, Fraction(1)))
    widths = []
    for beyond in (0, 100, 200, 300, 400, 800):
        drawn = [-beyond, 82_010] if kind is MeanFromEnds else [-82_010 - 2 * beyond, 1_000]
        ((low, high),) = mechanism.intervals([drawn], nodes(), Fraction(19, 20))
        assert low == 18
        widths.append(high - low)
    assert max(widths) < 1
    other = [82_010, -400] if kind is MeanFromEnds else [82_010 + 800, 1_000]
    ((low, high),) = mechanism.intervals([other], nodes(), Fraction(19, 20))
    assert high == 100
    assert high - low < 1


def nodes():
    nothing = np.zeros(1, dtype=np.int64)
    return MeanNodes(nothing, nothing, None)
