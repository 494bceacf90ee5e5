"""Several pairs at once: u is the least of theirs, iterates are enclosed, and the polygon of a Gaussian is below it."""

import re
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from irisdp import BadInput, Privacy, Refusal, audit
from irisdp._exact import ball, working_precision
from irisdp._measurements import PartitionSelection
from irisdp._sampling.depth_rows import orbit_of
from irisdp.certify import privacy_profile
from irisdp.design import binary, consumer
from irisdp.graphs import Path
from irisdp.mechanisms import privacy_from_document, privacy_to_document
from irisdp.privacy import are_close, enclose_steps, step, step_down, steps, tightened, workable
from support.gaussian import gaussian_step
from support.sweeps import tried

WIDTH = Fraction(1, 1 << 90)
HARDLY = Fraction(1, 10**4)
"""More than the second pair below costs in 10^6 steps, of which it shortens some by at most 5e-6 of each."""

HALF, TINY = Fraction(1, 2), Fraction(1, 10**12)

BITS = 200
"""Working precision of the tests' own enclosures of the Gaussian's curve."""

probabilities = st.fractions(min_value=0, max_value=1, max_denominator=200)
lists = st.lists(
    st.tuples(
        st.fractions(min_value=1, max_value=9, max_denominator=30),
        st.fractions(min_value=0, max_value=Fraction(4, 5), max_denominator=60),
    ),
    min_size=1,
    max_size=4,
    unique_by=(lambda pair: pair[0], lambda pair: pair[1]),
).map(lambda pairs: list(zip(sorted((r for r, _ in pairs), reverse=True), sorted(d for _, d in pairs), strict=True)))


def shape(pairs):
    """The shape of some pairs, without those that follow from the others."""
    pairs = list(pairs)
    while True:
        try:
            return Privacy.all([Privacy(ratio=r, delta=d) for r, d in pairs])
        except BadInput as refusal:
            del pairs[int(re.search(r"pair (\d+) follows", str(refusal)).group(1)) - 1]


shapes = lists.map(shape)


@given(lists, probabilities)
@settings(max_examples=tried(80, 1000))
def test_u_is_the_least_of_all_pairs_and_leaving_out_what_follows_changes_nothing(pairs, s):
    assert step(s, shape(pairs)) == min(step(s, Privacy(ratio=r, delta=d)) for r, d in pairs)


@given(shapes, probabilities, st.integers(0, 40))
@settings(max_examples=tried(60, 1000), deadline=None)
def test_runs_enclose_exact_iteration(privacy, s, count):
    found = enclose_steps(s, count, privacy, width=WIDTH)
    assert steps(s, count, privacy) in found
    assert found.width <= WIDTH


@pytest.mark.parametrize("count", [10**6, 10**12])
@pytest.mark.parametrize("start", [Fraction(1, 10**300), Fraction(1, 3)])
def test_long_runs_agree_with_one_pair_that_is_hardly_wider(count, start):
    """Where the second pair forbids next to nothing, a shape climbs no faster, and hardly slower."""
    one = Privacy(ratio=Fraction(1_000_001, 1_000_000))
    two = Privacy.all([one, Privacy(ratio=1, delta=Fraction(1, 2_000_010))])
    single = enclose_steps(start, count, one, width=WIDTH)
    several = enclose_steps(start, count, two, width=WIDTH)
    assert several.width <= WIDTH
    assert single.lower - HARDLY < several.lower <= single.upper


@given(shapes, st.fractions(min_value=1, max_value=12, max_denominator=30))
def test_the_profile_is_what_u_needs_at_every_ratio(privacy, ratio):
    delta = privacy.delta_at(ratio=ratio)
    kinks = privacy.shape.starts
    assert delta == max(0, *(step(s, privacy) - ratio * s for s in kinks))
    assert all(step(s, privacy) <= step(s, Privacy(ratio=ratio, delta=delta)) for s in kinks)
    smallest = privacy.ratio_at(delta)
    assert smallest <= ratio
    assert privacy.delta_at(ratio=smallest) <= delta


@given(shapes, shapes, probabilities)
def test_implication_is_lying_below(first, second, s):
    assert all(first.implies(Privacy.of((pair,))) for pair in first.pairs)
    if first.implies(second):
        assert step(s, first) <= step(s, second)
    else:
        kinks = (*first.shape.starts, *second.shape.starts)
        assert any(step(t, first) > step(t, second) for t in kinks)


@given(shapes, probabilities, st.fractions(min_value=0, max_value=Fraction(1, 100), max_denominator=10**6))
def test_what_is_worked_with_is_stricter(privacy, s, margin):
    assert step(s, tightened(privacy, margin)) <= step(s, privacy)
    assert step(s, workable(privacy)) <= step(s, privacy)


@given(shapes)
def test_documents_keep_every_number(privacy):
    assert privacy_from_document(privacy_to_document(privacy)) == privacy


@given(shapes, probabilities)
@settings(max_examples=tried(20, 50), deadline=None)
def test_orbits_for_drawing_hold_exact_iteration(privacy, s):
    orbit, value = orbit_of(s, privacy), s
    for depth in range(30):
        if depth < len(orbit.numerators):
            assert -1 < value * (1 << 96) - orbit.at(depth) < 2
        elif orbit.settled:  # at its last place the open cell of a 64-bit word stays the same
            assert step(value, privacy) == value or 1 - value < Fraction(1, 1 << 65)
        value = step(value, privacy)


def normal(x):
    return (-x / flint.arb(2).sqrt()).erfc() / 2


@pytest.mark.parametrize(
    ("mu", "gap"), [("0.25", "1e-6"), ("0.5", "1e-6"), ("1", "1e-6"), ("2", "1e-6"), ("5", "1e-4")]
)
def test_the_polygon_is_below_the_gaussian_and_no_farther_than_the_gap(mu, gap):
    privacy, mean = Privacy.gaussian(mu, gap=gap), Fraction(mu)
    shape = privacy.shape
    for place in range(len(privacy.pairs)):
        # On one side the curve is farthest away where its slope is the side's.
        with working_precision(BITS):
            slope, constant = ball(shape.lines[place].slope), ball(shape.lines[place].constant)
            x = -slope.log() / ball(mean) - ball(mean) / 2
            assert normal(x + ball(mean)) - (slope * normal(x) + constant) < ball(Fraction(gap))
    # Corners that are below the curve keep the sides there; the mirror image has the others.
    chosen = range(1, len(privacy.pairs) + 1, max(1, len(privacy.pairs) // 12))
    for place in chosen:
        s = shape.starts[place]
        assert shape.step(s) <= gaussian_step(s, mean, width=Fraction(1, 10**40)).lower


@pytest.mark.parametrize("mu", ["0.25", "0.5", "1", "2"])
def test_every_ratio_needs_hardly_less_delta_than_the_gaussian_and_never_more(mu):
    """δ(r) = Φ(−x/μ + μ/2) − r·Φ(−x/μ − μ/2) with x = log r is what μ-GDP promises ([Dong2022], Corollary 1)."""
    privacy, mean = Privacy.gaussian(mu), Fraction(mu)
    made = binary(Path(12), [0] * 5 + [1] * 7, privacy)
    profile = privacy_profile(made)
    for exponent in range(0, 41):
        ratio = 1 + Fraction(exponent**3, 800)
        with working_precision(BITS):
            x = ball(ratio).log() / ball(mean)
            curve = normal(ball(mean) / 2 - x) - ball(ratio) * normal(-ball(mean) / 2 - x)
            promised = ball(privacy.delta_at(ratio=ratio))
            assert promised < curve
            assert curve - promised < ball(Fraction(1, 10**6))
        assert profile.delta_at(ratio=ratio) <= privacy.delta_at(ratio=ratio)
    # Rows that meet at the boundary are as far apart as they may be: at ratio 1 nothing is left.
    assert privacy.delta_at(ratio=1) - profile.delta_at(ratio=1) < Fraction(1, 10**3)


def test_zcdp_is_gaussian_with_the_root_rounded_down():
    assert Privacy.zcdp("0.5").pairs == Privacy.gaussian(1).pairs
    below, above = Fraction("0.77459666924148337"), Fraction("0.77459666924148338")  # √0.6
    found = Privacy.zcdp("0.3", gap="1e-3").pairs[0].delta, Privacy.zcdp("0.3", gap="1e-3")
    assert found[0] == 0
    assert step(HALF, Privacy.gaussian(below, gap="1e-3")) <= step(HALF, found[1]) + TINY
    assert step(HALF, found[1]) <= step(HALF, Privacy.gaussian(above, gap="1e-3")) + TINY


def test_no_group_is_ever_named_under_gaussian_privacy():
    with pytest.raises(BadInput, match=r"delta: must be above 0.*none may ever be named"):
        PartitionSelection(Privacy.gaussian(1))
    assert steps(Fraction(0), 1000, Privacy.gaussian(1, gap="1e-3")) == 0


@given(lists)
@settings(max_examples=tried(12, 30), deadline=None)
def test_groups_are_named_with_the_law_of_the_shape(pairs):
    privacy = shape(pairs)
    assume(privacy.pairs[0].delta > 0)
    selection = PartitionSelection(privacy)
    assert [selection.law(n) for n in range(4)] == [steps(Fraction(0), n, privacy) for n in range(4)]
    named = selection.draw(np.array([0, 10**9]))
    assert named.tolist() == [False, steps(Fraction(0), 10**3, privacy) > 0]


@pytest.mark.parametrize(("document", "said"), [
    ({"all": []}, "all: must be a list of guarantees, at least one"),
    ({"all": 3}, "all: must be a list"),
    ({"all": [{"epsilon": 1}, {"epsilon": 2}]}, "all: pair 2 has no smaller epsilon than pair 1"),
    ({"all": [{"epsilon": 2}, {"epsilon": 1}]}, "all: pair 1 says nothing that pair 2 does not"),
    ({"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "9/10"}]}, "all: pair 2 follows from the others"),
    ({"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": 1}]}, "delta: must be at least 0 and below 1"),
    ({"all": [{"epsilon": 1}], "delta": 0}, "privacy: must hold nothing beside all"),
    ({"all": [{"gaussian": 1}]}, "privacy: must hold epsilon or ratio, and delta"),
    ({"gaussian": 0}, "mu: must lie between 0.0001 and 5"),
    ({"gaussian": -1}, "mu: must lie between 0.0001 and 5"),
    ({"gaussian": "1", "gap": 1}, "gap: must lie between 1e-9 and 0.1"),
    ({"gaussian": "1", "delta": 0}, "privacy: must hold gaussian, and gap or nothing"),
    ({"gaussian": "1", "gap": "1e-9"}, "gap: makes more than 10,000 pairs"),
    ({"zcdp": 0}, "rho: must lie between 5e-9 and 12.5"),
])  # fmt: skip
def test_bad_shapes_get_one_line(document, said):
    with pytest.raises(BadInput, match=re.escape(said)) as refusal:
        privacy_from_document(document)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("privacy", [Privacy.gaussian(5, gap="0.1")])
def test_a_program_that_floats_cannot_solve_is_refused_and_no_bad_design_delivered(privacy):
    """Whether floats solve it depends on the release of HiGHS; what comes out is certified or refused."""
    try:
        made = consumer(6, "absolute", privacy)
    except Refusal as refusal:
        assert "no optimum was found: the linear program under these pairs" in str(refusal)
    else:
        verdict = audit(made)
        assert verdict.private and verdict.optimality is not None and verdict.optimality.holds


def test_pairs_may_come_from_any_iterable():
    assert Privacy.all(pair for pair in (Privacy(ratio=3), Privacy(ratio=2, delta="1/20"))).pairs[1].ratio == 2


def test_what_needs_one_pair_says_so():
    privacy = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    for read in ("ratio", "delta", "epsilon", "pure"):
        with pytest.raises(BadInput, match="privacy: holds 2 pairs, and this needs one"):
            getattr(privacy, read)


# The operator u: closed form = iteration, symmetry, monotonicity, and the printed form fails.

SHOWN = 1e-18
"""The value is written with 16 digits, of which the first is the fifth decimal."""


fractions = st.fractions(min_value=0, max_value=1, max_denominator=200)
ratios = st.one_of(
    st.just(Fraction(1)), st.fractions(min_value=1, max_value=20, max_denominator=60), st.just(1 + Fraction(1, 10**9))
)
deltas = st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=100))
privacies = st.builds(lambda r, d: Privacy(ratio=r, delta=d), ratios, deltas)


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


@given(st.one_of(st.tuples(fractions, privacies), st.tuples(probabilities, shapes)))
def test_a_neighbour_one_step_up_is_close_and_nothing_beyond_is(case):
    probability, privacy = case
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
