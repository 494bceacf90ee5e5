"""Privacy from trade-off functions: the pairs are those whose tests have these errors, and no other curve is taken."""

from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from irisdp import BadInput, Privacy, audit, design
from irisdp.certify import check_optimality
from irisdp.graphs import Cycle

SHAPES = [
    Privacy(ratio=1),
    Privacy(ratio=1, delta="1/4"),
    Privacy(ratio=2, delta="1/10"),
    Privacy(epsilon=1),
    Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")]),
    Privacy.gaussian(1, gap="1e-3"),
]


def least_error(pairs, alpha):
    """The definition of each pair, turned into a bound on the type II error of a test with this type I error."""
    return max(F(0), *(b for r, d in pairs for b in (1 - d - r * alpha, (1 - d - alpha) / r)))


def curve(privacy):
    """Points of the trade-off function: where any two of the lines that bound it meet, and the ends."""
    pairs = [(pair.ratio, pair.delta) for pair in privacy.pairs]
    lines = [line for r, d in pairs for line in ((1 - d, r), ((1 - d) / r, 1 / r))] + [(F(0), F(0))]
    meetings = {(c - e) / (r - s) for c, r in lines for e, s in lines if r != s}
    diagonal = ((1 - d) / (r + 1) for r, d in pairs)
    places = sorted({F(0), F(1), *diagonal, *(a for a in meetings if 0 <= a <= 1)})
    return [(a, least_error(pairs, a)) for a in places]


@pytest.mark.parametrize("privacy", SHAPES[:5])
def test_a_curve_is_read_back_as_the_pairs_it_came_from(privacy):
    points = curve(privacy)
    found = Privacy.from_tradeoff(points)
    assert [(p.ratio, p.delta) for p in found.pairs] == [(p.ratio, p.delta) for p in privacy.pairs]
    half = [(a, b) for a, b in points if b >= a]
    assert Privacy.from_tradeoff(half) == found == Privacy.from_tradeoff(points[::-1])


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=6), st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_any_convex_half_is_a_guarantee_with_exactly_these_errors(steps, lost):
    """Steps to the right and down, steepest first, scaled so that they end on the diagonal."""
    slopes = sorted({F(down, right) for right, down in steps if down >= right}, reverse=True)
    if not slopes:
        return
    points = [(F(0), F(1))]
    for slope in slopes:
        a, b = points[-1]
        points.append((a + 1, b + 1 - slope - 1))
    end, bottom = points[-1]
    # The line from (0, 1) down to the last point is stretched until it meets the diagonal at its end.
    scale = 1 / (end - (bottom - 1))
    points = [(a * scale, 1 + (b - 1) * scale) for a, b in points]
    top = 1 - F(lost, 10)
    points = [(a * top, b * top) for a, b in points]
    found = Privacy.from_tradeoff(points)
    pairs = [(pair.ratio, pair.delta) for pair in found.pairs]
    for (a, b), (c, d) in pairwise(points):
        for share in (F(0), F(1, 3), F(1)):
            alpha, beta = a + (c - a) * share, b + (d - b) * share
            assert least_error(pairs, alpha) == beta == 1 - found.shape.step(alpha)
            assert least_error(pairs, beta) == alpha


def test_a_gaussian_curve_from_scipy_is_a_guarantee_to_design_for():
    alphas = np.linspace(0.02, norm.cdf(-0.5), 6)
    half = [(0, 1), *zip(alphas, norm.cdf(-norm.ppf(alphas) - 1), strict=True)]
    half[-1] = (half[-1][0], half[-1][0])
    found = Privacy.from_tradeoff(half)
    made = design.consumer(3, "absolute", found)
    assert made.privacy == found
    assert len(found.pairs) == 6
    assert audit(made).private


@pytest.mark.parametrize(
    ("points", "rule"),
    [
        ([(0, 1), (0.2, 0.4), (0.6, 0)], "are not symmetric"),
        ([(0, 0.5), (0.4, 0.4)], "end on the diagonal with a slope above −1"),
        ([(0, 0.5), (0.1, 0.45), (0.2, 0.1), (0.5, 0)], "bend the wrong way at α = 0.1"),
        ([(0, 1), (0.5, 0.3), (1, 0)], "are not symmetric"),
        ([(0, 1), (0.6, 0.6)], r"must have errors from 0 up with α \+ β at most 1"),
        ([(-0.1, 1), (0.5, 0.5)], r"must have errors from 0 up"),
        ([(0, 0), (1, 0)], "must begin at α = 0 with β above 0"),
        ([(0.1, 0.9), (0.5, 0.5)], "must begin at α = 0"),
        ([(0, 1)], "must end at β = 0, or on the diagonal"),
        ([(0, 1), (0.3, 0.5)], "must end at β = 0, or on the diagonal"),
        ([(0, 1), (0, 0.5), (0.3, 0.3)], "give one type I error two"),
        ([], "must be a list of pairs"),
        ("abc", "must be a list of pairs"),
        ([1, 2], "must be a list of 2 numbers"),
        ([(0, 1, 2)], "must be a list of 2 numbers"),
        ([(0, float("nan")), (1, 0)], "must be a finite number"),
    ],
)
def test_other_curves_are_refused(points, rule):
    with pytest.raises(BadInput, match=rf"^points: {rule}"):
        Privacy.from_tradeoff(points)


# Fewer pairs that imply many


@pytest.mark.parametrize("privacy", [*SHAPES, Privacy.gaussian("1/2", gap="1e-5"), Privacy.zcdp("1/4", gap="1e-4")])
@pytest.mark.parametrize("most", [1, 2, 5, 16, 10_000])
def test_fewer_pairs_imply_the_given_ones(privacy, most):
    few = privacy.coarsened(most)
    assert len(few.pairs) <= most
    assert few.implies(privacy)
    assert (few == privacy) == (len(privacy.pairs) <= most)
    if few == privacy:
        return
    pairs = [(pair.ratio, pair.delta) for pair in few.pairs]
    given = [(pair.ratio, pair.delta) for pair in privacy.pairs]
    for alpha, _ in curve(few):
        assert least_error(pairs, alpha) >= least_error(given, alpha)


def test_what_fewer_pairs_lose_falls_with_their_square():
    many = Privacy.gaussian(1, gap="1e-7")
    lost = []
    for most in (8, 16, 32, 64):
        few = many.coarsened(most).shape
        lost.append(max(many.shape.step(s) - few.step(s) for s in many.shape.starts))
    assert all(F(3) < before / after < F(5) for before, after in pairwise(lost))


def test_a_design_takes_as_many_pairs_of_a_curve_as_it_can_use():
    curve_itself = Privacy.gaussian(1)
    values = []
    for made in (
        design.consumer(4, "absolute", curve_itself),
        design.consumer(4, "absolute", Privacy.gaussian(1, gap="1e-3")),
        design.consumer(4, "absolute", Privacy.gaussian(1, gap="1e-2")),
    ):
        assert audit(made).private
        assert check_optimality(made).holds
        values.append(made.objective.value)
    assert values == sorted(values)  # more pairs ask for less
    taken = design.consumer(4, "absolute", curve_itself)
    assert len(taken.privacy.pairs) == 64
    assert taken.privacy.implies(curve_itself)
    assert taken.objective.name.endswith(f"(under 64 pairs that imply the {len(curve_itself.pairs)} asked for)")
    larger = design.distance(Cycle(12), curve_itself)
    assert 4 <= len(larger.privacy.pairs) < 64
    assert audit(larger).private
    few = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    assert design.consumer(4, "absolute", few).privacy == few
