"""The operator u: closed form = iteration, symmetry, monotonicity, and the printed form fails."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Privacy
from irisdp.privacy import are_close, enclose_steps, step, step_down, steps
from support.sweeps import tried

SHOWN = 1e-18
"""The value is written with 16 digits, of which the first is the fifth decimal."""


fractions = st.fractions(min_value=0, max_value=1, max_denominator=200)
ratios = st.one_of(
    st.just(Fraction(1)), st.fractions(min_value=1, max_value=20, max_denominator=60), st.just(1 + Fraction(1, 10**9))
)
deltas = st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=100))
privacies = st.builds(lambda r, d: Privacy(ratio=r, delta=d), ratios, deltas)
WIDTH = Fraction(1, 1 << 90)


@given(fractions, st.integers(0, 40), privacies)
@settings(max_examples=tried(600, 3000), deadline=None)
def test_closed_form_encloses_exact_iteration(probability, count, privacy):
    found = enclose_steps(probability, count, privacy, width=WIDTH)
    assert steps(probability, count, privacy) in found
    assert found.width <= 2 * WIDTH


@given(st.integers(0, 6), st.integers(0, 12), privacies)
@settings(max_examples=tried(200, 500), deadline=None)
def test_closed_form_holds_where_the_crossing_is_an_exact_tie(before, count, privacy):
    start = (1 - privacy.delta) / (privacy.ratio + 1)
    for _ in range(before):
        start = (start - privacy.delta) / privacy.ratio
    if start >= 0:
        assert steps(start, count, privacy) in enclose_steps(start, count, privacy, width=WIDTH)


@given(fractions, privacies)
def test_a_neighbour_one_step_up_is_close_and_nothing_beyond_is(probability, privacy):
    up = step(probability, privacy)
    here, there = (probability, 1 - probability), (up, 1 - up)
    assert are_close(here, there, privacy)
    if up < 1:
        beyond = up + min(1 - up, Fraction(1, 10**30))
        assert not are_close(here, (beyond, 1 - beyond), privacy)


@given(fractions, fractions, privacies)
def test_concave(first, second, privacy):
    """proofs/boundary-choice.md leans on it: the mean of two is stepped at least as far as the mean of their steps."""
    assert 2 * step((first + second) / 2, privacy) >= step(first, privacy) + step(second, privacy)


@given(fractions, fractions, privacies)
def test_monotone_and_never_below_the_diagonal(first, second, privacy):
    low, high = sorted((first, second))
    assert step(low, privacy) <= step(high, privacy)
    assert step(low, privacy) >= low
    assert step_down(low, privacy) <= low


@pytest.mark.parametrize("off", [Fraction(0), Fraction(1, 1 << 100), -Fraction(1, 1 << 100), Fraction(1, 1 << 280)])
def test_the_width_is_kept_beside_a_crossing(off):
    """A start so close to θ·r^-k that both branches look alike must not leave it wide: ties would not end."""
    privacy, width = Privacy(ratio=2), Fraction(1, 1 << 300)
    start = Fraction(1, 24) * (1 + off)
    found = enclose_steps(start, 5, privacy, width=width)
    assert steps(start, 5, privacy) in found
    assert found.width <= 2 * width


def test_far_away_nodes_cost_nothing():
    found = enclose_steps(Fraction(1, 10**9), 10**12, Privacy(epsilon="1e-11"), width=Fraction(1, 1 << 200))
    assert found.width <= Fraction(1, 1 << 200)
    # e^10 · 1e-9 up to the 2^-126 of the ratio, raised to the 10^12.
    assert abs(float(found.lower) - 2.202646579480672e-05) < SHOWN


def test_the_branch_as_printed_is_not_private():
    """Negative control (docs/theory.md#corrections, 1): (.5, .5) goes to (.85, .15), and .5 > 2·.15 + .1."""
    privacy = Privacy(ratio=2, delta="1/10")
    printed = 1 - (1 - Fraction(1, 2)) / 2 + privacy.delta
    assert printed == Fraction(17, 20)
    assert not are_close((Fraction(1, 2), Fraction(1, 2)), (printed, 1 - printed), privacy)
    assert step(Fraction(1, 2), privacy) == Fraction(4, 5)


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_no_delta_and_nothing_to_start_from_stays_at_zero(count):
    privacy = Privacy(ratio=3)
    assert steps(Fraction(0), count, privacy) == 0
    assert enclose_steps(Fraction(0), count, privacy, width=WIDTH).upper == 0
