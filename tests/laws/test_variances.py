"""Variances: three noises at the largest rate that keeps ε, the tail of their sum, and where they weigh most."""

from fractions import Fraction
from functools import cache
from itertools import accumulate, product

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import Grid, StaircaseNoise, VarianceFromEnds, VarianceNodes, VarianceOfAll, variances
from irisdp._measurements.means import Rated, _tail, distance_for


def exceeded(distance, weighted, far=40):
    """Return how probably a weighted sum of geometric noises exceeds a distance, from its law."""
    law_of_sum = {0.0: 1.0}
    for weight, ratio in weighted:
        alpha = 1 / float(ratio)
        masses = {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-far, far + 1)}
        sums = {}
        for at, mass in law_of_sum.items():
            for z, p in masses.items():
                place = round(at + weight * z, 9)
                sums[place] = sums.get(place, 0) + mass * p
        law_of_sum = sums
    return sum(mass for at, mass in law_of_sum.items() if abs(at) > distance + 1e-9)


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 0.5, 0.5), (1, 0.5, 0.25), (1, 1, 0)])
def test_distances_of_three_noises_are_exceeded_no_more_often_than_said(ratio, weights):
    for wrong in (0.5, 0.05, 0.001):
        distance = distance_for(wrong, *((weight, Rated(ratio)) for weight in weights))
        found = exceeded(distance, [(weight, ratio) for weight in weights])
        assert found <= wrong
    assert found > 0.2 * wrong or ratio == 4, "and not much more seldom"


def test_a_tail_of_three_scales_is_near_that_of_a_convolution():
    """By numerical integration of the Laplace distributions, for scales that are apart, equal and nearly equal."""
    x = np.linspace(-40, 40, 2**11 + 1)
    step = x[1] - x[0]
    for small, least in ((0.7, 0.3), (1, 1), (0.9999, 0.5), (0.5, 0.4999), (0.3, 1e-3)):
        density = np.exp(-abs(x)) / 2
        for scale in (small, least):
            if scale > 3 * step:
                density = np.convolve(density, np.exp(-abs(x) / scale) / (2 * scale) * step, "same")
        for distance in (0.5, 3.0, 12.0):
            true = density[abs(x) > distance].sum() * step
            assert true * 0.98 - 1e-6 <= _tail(distance, small, least) <= true * 1.03 + 1e-6


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("steps", [Grid(0, 1, Fraction(1)), Grid(-2, 2, Fraction(1, 2))])
def test_rates_of_three_numbers_are_as_large_as_they_may_be(steps, exchanged):
    """The farthest move costs ε, as the product of the ratios of all three noises far out."""
    privacy = Privacy(ratio=4 ** (2 * steps.span**2))
    mechanism = VarianceFromEnds(privacy, steps, exchanged=exchanged)
    rate = mechanism.noise.cells.privacy.ratio

    def numbers(value):
        known = [] if value is None else [value]
        arrays = (np.array([part]) for part in (len(known), sum(known), sum(a * a for a in known)))
        return mechanism.numbers(VarianceNodes(*arrays, None))[0].tolist()

    held = [None, *range(steps.span + 1)]
    moves = product(held, held if exchanged else [None])
    costs = [rate ** sum(abs(a - b) for a, b in zip(numbers(x), numbers(y), strict=True)) for x, y in moves]
    assert max(costs) == privacy.ratio


def moments(span, most):
    """Return every (number, sum, sum of squares) of at most so many values from 0 to `span`."""
    found = {(0, 0, 0)}
    for _ in range(most):
        found |= {(n + 1, above + a, squares + a * a) for n, above, squares in found for a in range(span + 1)}
    return sorted(found)


@pytest.mark.parametrize(("span", "most"), [(1, 12), (2, 10), (3, 20)])
def test_an_exchange_moves_the_sum_of_squares_around_the_mean_by_at_most_all_squares(span, most):
    """(6) of proofs/variances.md, for every table: it moves by K²(n − 1)/n at most, and rounded by K² at most."""
    mechanism = VarianceOfAll(StaircaseNoise(Privacy(ratio=2), span**2), Grid(0, span, Fraction(1)))
    farthest = {}
    for n, above, squares in moments(span, most - 1):
        about = []
        for a in range(span + 1):
            nodes = VarianceNodes(
                *(np.array([part]) for part in (n + 1, above + a, squares + a * a)), np.array([n + 1])
            )
            exact = squares + a * a - Fraction((above + a) ** 2, n + 1)
            (rounded,) = mechanism.sums(nodes).values.tolist()
            assert abs(rounded - exact) <= Fraction(1, 2)
            about.append((exact, rounded))
        moved = [max(one) - min(one) for one in zip(*about, strict=True)]
        farthest[n + 1] = [max(pair) for pair in zip(moved, farthest.get(n + 1, moved), strict=True)]
    for n, (exact, rounded) in farthest.items():
        assert exact == Fraction(span**2 * (n - 1), n)
        assert rounded <= span**2
        assert rounded == span**2 or n < 2 * span**2


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(50)])
def test_intervals_of_all_hold_the_truth_as_often_as_they_say_for_every_table_of_ten(ratio, confidence, root):
    """By the exact law of the noise, for every number, sum and sum of squares of up to ten values."""
    steps = Grid(-1, 2, Fraction(1, 2))
    mechanism = VarianceOfAll(StaircaseNoise(Privacy(ratio=ratio), steps.span**2), steps, root)
    noise = mechanism.noise.noise
    far = mechanism.noise.sensitivity * 12
    below = [Fraction(0), *accumulate(noise.probability(z) for z in range(-far, far + 1))]
    for n, around in sorted({(n, n * squares - above**2) for n, above, squares in moments(steps.span, 10)[1:]}):
        nodes = VarianceNodes(*(np.array([part]) for part in (n, 0, Fraction(around, n))), np.array([n]))
        (true,) = mechanism.sums(nodes).values.tolist()
        truth = float(Fraction(around, 4 * n * n)) ** (0.5 if root else 1)
        ends = [intervals_of(mechanism, true + z, n, confidence) for z in range(-far, far + 1)]
        holds = [place for place, (low, high) in enumerate(ends) if low - 1e-9 <= truth <= high + 1e-9]
        assert len(holds) == holds[-1] - holds[0] + 1
        assert below[holds[-1] + 1] - below[holds[0]] >= confidence, (n, around)


@cache
def intervals_of(mechanism, total, n, confidence):
    nothing = np.zeros(1, dtype=np.int64)
    return mechanism.intervals([total], VarianceNodes(nothing, nothing, nothing, np.array([n])), confidence)[0]


def test_three_noises_weigh_most_where_all_values_are_at_one_bound():
    """By the sums over records of what the noises weigh: (3) of proofs/variances.md."""
    for t, share in product(np.linspace(-1, 1, 41), np.linspace(0, 1, 21)):
        v = share * (1 - t * t)
        weights = variances._Region(t, t, v, v).weights_of_variance()
        assert sum(weights) <= 1 + 1e-12
        assert weights == pytest.approx([abs((1 - t) ** 2 - v) / 4, (1 - t * t + v) / 4, abs((1 + t) ** 2 - v) / 4])


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
def test_intervals_hold_the_truth_as_often_as_they_say(confidence, root):
    """Drawn for few and many values, near a bound and in the middle; three and a half deviations below fail."""
    rng = np.random.default_rng(3)
    times, mechanism = 150, VarianceFromEnds(Privacy(epsilon=1), Grid(-10, 10, Fraction(1, 2)), root=root)
    for count, values in ((1, (3, 4)), (40, (0, 3)), (300, (0, 21)), (300, (9, 12)), (2000, (0, 2))):
        above = rng.integers(*values, count)
        truth = above.std() / 2 if root else above.var() / 4
        nodes = VarianceNodes(*(np.full(times, part) for part in (count, above.sum(), (above**2).sum())), None)
        drawn = mechanism.draw(nodes).tolist()
        found, shown = mechanism.intervals(drawn, nodes, confidence), mechanism.show(drawn, nodes)
        held = sum(low <= truth <= high for low, high in found) / times
        assert held > float(confidence) - 3.5 * (float(confidence * (1 - confidence)) / times) ** 0.5, (count, values)
        assert all(
            0 <= low <= one <= high <= (5 if root else 25) for one, (low, high) in zip(shown, found, strict=True)
        )


def test_an_interval_covers_what_rounding_does():
    """Values that are all a quarter above a step count as that step: their deviation moves by a quarter at most."""
    known = VarianceFromEnds(Privacy(epsilon=900), Grid(0, 4, Fraction(1)), root=True)
    rounded = VarianceFromEnds(Privacy(epsilon=900), Grid(0, 4, Fraction(1)).rounds(), root=True)
    nodes = VarianceNodes(np.array([2]), np.array([4]), np.array([16]), None)
    drawn = known.draw(nodes).tolist()
    (low, high), (lower, higher) = (one.intervals(drawn, nodes)[0] for one in (known, rounded))
    assert (lower, higher) == pytest.approx((low - 0.5, min(high + 0.5, 2)), abs=2e-3)
    assert high == 2


@pytest.mark.parametrize("root", [False, True])
def test_an_interval_keeps_a_width_where_noise_leaves_no_mean(root):
    """Numbers that say a mean far beyond a bound leave the variance there, which is 0, and still have an interval."""
    mechanism = VarianceFromEnds(Privacy(epsilon=1), Grid(0, 3, Fraction(1)), root=root)
    nodes = VarianceNodes(*(np.array([0]),) * 3, None)
    for drawn in ([-20, -67, 350], [350, -67, -20], [900, 0, -500]):
        ((low, high),) = mechanism.intervals([drawn], nodes)
        (shown,) = mechanism.show([drawn], nodes)
        assert 0 <= low <= shown <= high
        assert low < high
