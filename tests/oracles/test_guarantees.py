"""What guarantees come to: Gaussian curves against another program's, halves, and pairs that follow from others."""

import math
import re
from fractions import Fraction
from fractions import Fraction as F
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from irisdp import BadInput, Privacy
from irisdp.privacy import (
    Gaussian,
    Pair,
    _shape,
    are_close,
    as_pairs,
    enclose_steps,
    gaussian_delta,
    gaussian_errors,
    gaussian_mean,
    gaussian_mean_for,
    halved,
    hockey_stick,
    right_guess,
    step,
    step_down,
    steps,
    tightened,
    turning_point,
    workable,
)
from irisdp.privacy._gaussian import _normal, gaussian_pairs
from irisdp.privacy._parameters import LONGEST, changed, even_odds
from irisdp.privacy._shape import Line, follows
from support.gaussian import gaussian_step, normal

FLOATS = 1e-13
"""How far SciPy's normal distribution may be off."""
NEXT = 1 + F(1, 1 << 60)
"""What is rounded to 64 binary digits is right up to this."""

means = st.fractions(min_value=F(1, 100), max_value=6, max_denominator=100)
levels = st.fractions(min_value=0, max_value=5, max_denominator=100)


@given(means, levels)
def test_delta_of_gaussian_privacy_is_the_largest_difference_of_tails(mu, epsilon):
    """By definition: the most by which a tail of N(μ, 1) exceeds e^ε times that of N(0, 1), sought on a grid."""
    found = gaussian_delta(mu, epsilon)
    at = float(epsilon / mu + mu / 2)

    def exceeds(threshold):
        return ndtr(float(mu) - threshold) - math.exp(epsilon) * ndtr(-threshold)

    assert float(found) == pytest.approx(exceeds(at), abs=FLOATS)
    assert all(exceeds(at + away) <= float(found) + FLOATS for away in (-3, -0.5, -0.01, 0.01, 0.5, 3))


@given(means)
def test_delta_is_rounded_up_and_at_no_epsilon_the_distance_in_total_variation(mu):
    found = gaussian_delta(mu, F(0))
    held = normal(mu / 2)
    assert 2 * held.lower - 1 <= found <= 2 * held.upper - 1 + F(1, 1 << 190)
    assert 2 * normal(mu / 2).upper - 1 <= found + F(1, 1 << 190)


def test_delta_is_never_negative_however_small():
    assert 0 <= gaussian_delta(F(1, 100), F(900)) <= F(1, 1 << 199)


@given(means, st.fractions(min_value=-5, max_value=5, max_denominator=100))
def test_errors_of_a_test_lie_on_the_trade_off_curve_and_not_above(mu, threshold):
    first, second = gaussian_errors(mu, threshold)
    assert float(first) == pytest.approx(ndtr(-float(threshold)), abs=FLOATS)
    assert float(second) == pytest.approx(ndtr(float(threshold - mu)), abs=FLOATS)
    assert first <= normal(-threshold).upper
    assert 1 - second >= gaussian_step(first, mu, width=F(1, 1 << 150)).lower - F(1, 1 << 150)


def test_errors_are_not_negative_where_a_tail_is_nothing():
    first, second = gaussian_errors(F(1), F(10**7))
    assert 0 <= first < F(1, 1 << 200)
    assert 1 - F(1, 1 << 199) < second <= 1
    assert 0 <= gaussian_errors(F(1), F(-(10**7)))[1] < F(1, 1 << 200)


@given(st.fractions(min_value=F(1, 1000), max_value=F(999, 1000), max_denominator=1000))
def test_the_mean_at_a_distance_is_the_largest(apart):
    mean = gaussian_mean(apart)
    assert gaussian_delta(mean, F(0)) <= apart + F(1, 1 << 190) < gaussian_delta(mean * NEXT, F(0))
    assert float(mean) == pytest.approx(2 * ndtri((1 + float(apart)) / 2), rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "4"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-3", "0.2", "0.9"])
def test_the_mean_that_keeps_a_pair_is_the_largest(epsilon, delta):
    mean = gaussian_mean_for(F(epsilon), F(delta))
    assert gaussian_delta(mean, F(epsilon)) <= F(delta) < gaussian_delta(mean * NEXT, F(epsilon))


@pytest.mark.parametrize("mu", ["0.0001", "0.5", "5"])
def test_corners_of_the_polygon_are_no_higher_than_the_curve_at_the_ends_of_the_range(mu):
    pairs = gaussian_pairs(mu, "1e-3")
    assert all(before.ratio > after.ratio >= 1 and before.delta < after.delta for before, after in pairwise(pairs))
    assert pairs[0].delta == 0
    assert not any(follows(pairs, place) for place in range(len(pairs)))
    for pair in pairs:  # the δ of a line at its slope is what the curve has there, or more
        assert pair.delta <= gaussian_delta(F(mu), pair.epsilon) + F(1, 10**25)
    last = pairs[-1]
    meeting = turning_point(last)
    assert 1 - meeting == last.ratio * meeting + last.delta
    assert float(meeting) == pytest.approx(ndtr(-float(F(mu)) / 2), abs=FLOATS)


@pytest.mark.parametrize(("mu", "gap", "said"), [
    ("0.00009999", "1e-3", "mu: must lie between 0.0001 and 5 for Gaussian DP; give for example 1"),
    ("5.0001", "1e-3", "mu: must lie between 0.0001 and 5 for Gaussian DP; give for example 1"),
    (1, "9.99e-10", "gap: must lie between 1e-9 and 0.1; leave it out for 1e-6"),
    (1, "0.1001", "gap: must lie between 1e-9 and 0.1; leave it out for 1e-6"),
    (1, "1e-9", "gap: makes more than 10,000 pairs; give a wider one"),
])  # fmt: skip
def test_polygons_have_ends(mu, gap, said):
    with pytest.raises(BadInput) as refused:
        gaussian_pairs(mu, gap)
    assert str(refused.value) == said


@pytest.mark.parametrize("rho", ["5e-9", "0.3", "0.5", "12.5", "0.4" + "9" * 70])  # the last root is nearly 1
def test_zcdp_is_the_root_of_twice_rho_rounded_down(rho):
    mu = Gaussian.zcdp(rho).mu
    assert mu**2 <= 2 * F(rho) < (mu * NEXT) ** 2
    with pytest.raises(BadInput, match=r"^rho: must lie between 5e-9 and 12\.5; give for example 0\.5$"):
        Gaussian.zcdp("4.9e-9" if F(rho) < 1 else "12.6")


def test_gaussian_privacy_says_what_it_is_and_what_pairs_imply_it():
    one = Gaussian("3/2")
    assert (repr(one), str(one)) == ("Gaussian('1.5')", "μ = 1.5")
    assert one.polygon_document() == {"gaussian": "1.5", "gap": "0.000001"}
    assert as_pairs(Gaussian(5)) == Privacy.gaussian(5)
    assert as_pairs(Privacy(epsilon=1)) == Privacy(epsilon=1)
    assert [Gaussian(mu).mu for mu in ("1e-6", 100)] == [F(1, 10**6), 100]
    for beyond in ("9.9e-7", "100.1", -1, 0):
        with pytest.raises(BadInput, match=r"^mu: must lie between 1e-6 and 100; give for example 1$"):
            Gaussian(beyond)


@pytest.mark.parametrize("mu", ["1e-6", "0.1", "2", "100"])
def test_what_a_notebook_shows_of_gaussian_privacy_is_so(mu):
    page = Gaussian(mu)._repr_html_()
    rows = re.findall(r"<td[^>]*>([^<]*)</td>\s*<td[^>]*>([^<]*)</td>", page)
    assert [float(epsilon) for epsilon, _ in rows] == pytest.approx(
        [float(F(mu) ** 2 / 2 + many * F(mu)) for many in (0, 2, 4, 6)], rel=1e-3
    )
    for epsilon, delta in rows:
        real = gaussian_delta(F(mu), F(epsilon))
        assert real <= F(delta) <= real * F(1002, 1000) or F(delta) == F(1, 1000) > real
    assert right_guess(gaussian_delta(F(mu), F(0))) in page


@pytest.mark.parametrize(
    ("apart", "right"),
    [(F(0), "50 %"), (F(1, 3), "66.67 %"), (F(1, 10**9), "50.01 %"), (F(1), "100 %"), (F(3, 2), "100 %")],
)
def test_a_guess_is_right_at_most_so_often(apart, right):
    assert right_guess(apart) == right
    assert even_odds(apart).endswith(f"50:50 before, is right with probability {right} at most")


ratios = st.fractions(min_value=1, max_value=9, max_denominator=30)
deltas = st.fractions(min_value=0, max_value=F(4, 5), max_denominator=60)
pairs_of_any_kind = st.lists(
    st.tuples(ratios, deltas), min_size=1, max_size=4, unique_by=(lambda p: p[0], lambda p: p[1])
)


def least(pairs, s):
    """The least of the operators of pairs, each written out."""
    return min(min(F(1), r * s + d, 1 - (1 - s - d) / r) for r, d in pairs)


def without_what_follows(pairs):
    """Try every pair: it follows if leaving it out changes no kink of any two lines, which are all there are."""
    kept = sorted(pairs, key=lambda pair: -pair[0])
    kept = [pair for place, pair in enumerate(kept) if all(pair[1] > earlier[1] for earlier in kept[:place])]
    for pair in list(kept):
        others = [other for other in kept if other != pair]
        lines = [line for r, d in kept for line in ((r, d), (1 / r, 1 - (1 - d) / r), (F(0), F(1)))]
        places = {(e - c) / (m - n) for m, c in lines for n, e in lines if m != n} | {F(0), F(1)}
        if others and all(least(others, s) == least(kept, s) for s in places if 0 <= s <= 1):
            kept = others
    return kept


@given(pairs_of_any_kind)
def test_none_follows_exactly_where_leaving_out_any_would_allow_more(given_pairs):
    falling = sorted(given_pairs, key=lambda pair: -pair[0])
    if any(before[1] >= after[1] for before, after in pairwise(falling)):
        return
    listed = [Pair(r, d, F(0)) for r, d in falling]
    redundant = any(follows(listed, place) for place in range(len(listed)))
    assert redundant == (len(without_what_follows(falling)) < len(falling))


@given(
    st.lists(
        st.tuples(st.integers(16, 99).map(lambda whole: F(whole, 16)), deltas),
        min_size=1,
        max_size=4,
        unique_by=(lambda pair: pair[0], lambda pair: pair[1]),
    )
)
def test_halves_of_several_pairs_are_halves_of_each_that_says_something(given_pairs):
    """Squares of short binary fractions, whose roots are exact; a half may follow where the whole does not."""
    pairs = without_what_follows([(r * r, d) for r, d in given_pairs])
    whole = Privacy.all([Privacy(ratio=r, delta=d) for r, d in pairs])
    halves = [(next(root for root, _ in given_pairs if root * root == r), d / 2) for r, d in pairs]
    assert [(pair.ratio, pair.delta) for pair in halved(whole).pairs] == without_what_follows(halves)
    for s in (F(0), F(1, 7), F(1, 2), F(9, 10)):
        assert step(s, halved(whole)) == least(halves, s)
        assert all(pair.epsilon >= 0 for pair in halved(whole).pairs)


def test_a_root_just_below_a_short_number_is_not_that_number():
    square = F(9, 4) - F(1, 10**80)
    assert halved(Privacy(ratio=square)).ratio ** 2 <= square


@given(st.fractions(min_value=1, max_value=9), st.fractions(min_value=0, max_value=1), st.integers(2, 30))
def test_what_one_piece_makes_of_a_start_is_bracketed(slope, constant, count):
    line, start, exact = Line(slope, constant), F(1, 97), F(1, 97)
    for _ in range(count):
        exact = line.at(exact)
    down, up = (_shape._run(start, count, line, 10, up=side) for side in (False, True))
    assert down <= exact <= up <= down + F(1, 1 << 10)


@given(st.fractions(min_value=0, max_value=1, max_denominator=50), st.sampled_from([1, 2]))
def test_one_step_down_is_the_least_that_a_neighbour_may_give(s, many):
    """By closeness of two coins: what is said is close, and a hair less is not."""
    privacy = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/20")][:many])
    down = step_down(s, privacy)
    assert down == 1 - least([(pair.ratio, pair.delta) for pair in privacy.pairs], 1 - s)
    assert are_close((s, 1 - s), (down, 1 - down), privacy)
    if down > 0:
        less = down - min(down, F(1, 10**20))
        assert not are_close((s, 1 - s), (less, 1 - less), privacy)


@pytest.mark.parametrize("privacy", [Privacy(ratio=2), Privacy(ratio=2, delta="1/9"), Privacy(ratio=1, delta="1/9")])
def test_ends_that_do_not_move_are_exact(privacy):
    assert enclose_steps(F(1), 5, privacy, width=F(1, 2)).lower == 1
    assert enclose_steps(F(1, 3), 0, privacy, width=F(1, 2)).width == 0
    if privacy.delta == 0:
        assert enclose_steps(F(0), 5, privacy, width=F(1, 2)).upper == 0


def test_a_half_that_follows_is_left_out_and_is_charged_what_it_is():
    asked = Privacy.all([Privacy(ratio=4), Privacy(ratio="3.61", delta="0.075")])
    assert halved(asked) == Privacy(ratio=2)
    assert halved(Privacy(ratio=9)).epsilon == Privacy(ratio=3).epsilon


@pytest.mark.parametrize(
    ("ratio", "root"), [(1, 1), ("9/4", "3/2"), ("25/16", "5/4"), (1 << 400, 1 << 200), (3**100, 3**50)]
)
def test_roots_that_are_short_are_exact(ratio, root):
    assert halved(Privacy(ratio=ratio, delta="1/4")) == Privacy(ratio=root, delta="1/8")


@given(st.fractions(min_value=1, max_value=10**6))
def test_other_roots_are_below_by_less_than_their_last_digit(ratio):
    root = halved(Privacy(ratio=ratio)).ratio
    assert root**2 <= ratio < (root * (1 + F(1, 1 << 126))) ** 2


@given(pairs_of_any_kind, st.fractions(min_value=0, max_value=F(9, 10), max_denominator=50))
def test_tightened_pairs_are_stricter_by_the_margin(given_pairs, margin):
    pairs = without_what_follows(given_pairs)
    whole = Privacy.all([Privacy(ratio=r, delta=d) for r, d in pairs])
    less = [(max(F(1), r - (r - 1) * margin / r), d * (1 - margin)) for r, d in pairs]
    found = tightened(whole, margin)
    for s in (F(0), F(1, 9), F(1, 3), F(2, 3), F(1)):
        assert step(s, found) == least(less, s) <= step(s, whole)
    assert (found is whole) == (margin == 0 or all(r == 1 and d == 0 for r, d in pairs))


def test_pairs_that_fall_together_become_one():
    """Ratios apart by less than what rounding takes: the larger δ then says nothing."""
    long = 3 + F(1, 10**30)
    asked = Privacy.all([Privacy(ratio=long), Privacy(ratio=long - F(1, 10**32), delta=F(1, 10**40))])
    assert [(pair.ratio, pair.delta) for pair in workable(asked).pairs] == [(3, 0)]
    swapped = changed(asked, lambda pair: Pair(6 - pair.ratio, pair.delta, pair.epsilon))
    assert len(swapped.pairs) == 1
    three = Privacy.all([Privacy(ratio=r, delta=d) for r, d in ((9, 0), (4, "1/10"), (2, "1/5"))])
    assert [(pair.ratio, pair.delta) for pair in three.pairs] == [(9, 0), (4, F(1, 10)), (2, F(1, 5))]
    level = changed(three, lambda pair: Pair(F(2), pair.delta, pair.epsilon))
    assert [(pair.ratio, pair.delta) for pair in level.pairs] == [(2, 0)]


def test_leaving_out_one_may_let_the_one_before_it_follow():
    """The second lies below where its neighbours meet; the third follows; without it the second does too."""
    pairs = [Pair(F(r), F(d), F(0)) for r, d in ((9, 0), (4, "1/10"), ("3.9", "0.12"), (2, "0.13"))]
    assert [follows(pairs, place) for place in range(4)] == [False, False, True, False]
    found = changed(Privacy.of(tuple(pairs)), lambda pair: pair)
    assert [(pair.ratio, pair.delta) for pair in found.pairs] == [(9, 0), (2, F(13, 100))]


@given(pairs_of_any_kind, st.fractions(min_value=0, max_value=9, max_denominator=20), deltas)
def test_a_profile_is_what_the_operator_leaves(given_pairs, ratio, delta):
    pairs = without_what_follows(given_pairs)
    whole = Privacy.all([Privacy(ratio=r, delta=d) for r, d in pairs])
    kinks = whole.shape.starts
    assert whole.shape.delta_at(ratio) == max(least(pairs, s) - ratio * s for s in (*kinks, F(1)))
    found = whole.ratio_at(delta)
    if delta < pairs[0][1]:
        assert found is None
        assert whole.epsilon_at(delta) is None
        return
    assert all(least(pairs, s) <= found * s + delta for s in kinks)
    assert found == 1 or any(least(pairs, s) > (found - F(1, 10**20)) * s + delta for s in kinks)
    assert whole.epsilon_at(delta) == Privacy(ratio=found).epsilon


def test_a_profile_is_read_at_an_epsilon_too():
    assert Privacy(ratio=2, delta="1/10").delta_at(epsilon=0) == Privacy(ratio=2, delta="1/10").delta_at(ratio=1)
    assert Privacy(ratio=3).delta_at(ratio=1) == F(1, 2)  # (r − 1)/(r + 1)
    assert Privacy(ratio=3, delta="1/5").implies(Privacy(ratio=3, delta="1/5"))
    assert not Privacy(ratio=3, delta="1/5").implies(Privacy(ratio=3, delta="0.19"))


def test_ends_of_pieces_and_kinks_to_the_right():
    shape = Privacy(ratio=2, delta="1/10").shape
    assert shape.starts == (0, F(3, 10), F(9, 10))
    assert [shape.place(s) for s in (F(0), F(29, 100), F(3, 10), F(9, 10), F(1))] == [0, 0, 1, 2, 2]
    assert [shape.end(place) for place in range(3)] == [F(3, 10), F(9, 10), 1]
    assert shape.lines == (Line(F(2), F(1, 10)), Line(F(1, 2), F(11, 20)), Line(F(0), F(1)))


@given(pairs_of_any_kind, st.fractions(min_value=0, max_value=1, max_denominator=50), st.integers(0, 5))
def test_so_many_steps_are_the_operator_so_often(given_pairs, start, count):
    pairs = without_what_follows(given_pairs)
    whole, s = Privacy.all([Privacy(ratio=r, delta=d) for r, d in pairs]), start
    for _ in range(count):
        s = least(pairs, s)
    assert steps(start, count, whole) == s


@pytest.mark.parametrize("count", [1, 40, 101, 130, 250])
@pytest.mark.parametrize("start", [F(1, 1 << 300), F(0), F(1, 1 << 201)])
def test_steps_are_enclosed_where_pieces_are_far_narrower_than_the_width(start, count):
    """A kink at about 2^-200: what rounding takes before it, the pieces after it multiply."""
    both = Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta=F(1, 1 << 200))])
    width = F(1, 1 << 90)
    found = enclose_steps(start, count, both, width=width)
    assert steps(start, count, both) in found
    assert found.width <= width


@pytest.mark.parametrize("start", [F(0), F(1, 9), F(2, 5), F(9, 10)])
@pytest.mark.parametrize("count", [1, 7, 30])
def test_steps_are_enclosed_where_a_piece_climbs_by_its_delta_alone(start, count):
    both = Privacy.all([Privacy(ratio=3), Privacy(ratio=1, delta="1/50")])
    found = enclose_steps(start, count, both, width=F(1, 1 << 90))
    assert steps(start, count, both) in found
    assert found.width <= F(1, 1 << 90)


def test_steps_that_were_rounded_too_much_are_taken_again(monkeypatch):
    real, tried = _shape._track, []

    def coarser(s, count, shape, bits, *, up):
        tried.append(bits)
        return real(s, count, shape, bits // 8, up=up)

    monkeypatch.setattr(_shape, "_track", coarser)
    both = Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta="1/100")])
    found = enclose_steps(F(1, 77), 9, both, width=F(1, 1 << 90))
    assert steps(F(1, 77), 9, both) in found
    assert found.width <= F(1, 1 << 90)
    assert len(set(tried)) > 1


@pytest.mark.parametrize("mu", ["0.01", "1", "70"])
def test_half_of_gaussian_privacy_adds_up_as_squares(mu):
    mean = halved(Gaussian(mu)).mu
    assert 2 * mean**2 <= F(mu) ** 2 < 2 * (mean * (1 + F(1, 1 << 126))) ** 2


def test_pairs_are_written_for_people():
    def many(count):
        return Privacy.all([Privacy(ratio=20 - k, delta=F(k * k, 1000)) for k in range(count)])

    assert str(Privacy(epsilon=1)) == "ε = 1"
    assert repr(Privacy(epsilon=1)) == "<Privacy: ε = 1>"
    assert str(Privacy(epsilon=1, delta="1/8")) == "ε = 1, δ = 0.125"
    assert str(Privacy.all([Privacy(epsilon=2), Privacy(epsilon=1, delta="0.2")])) == "(ε = 2) and (ε = 1, δ = 0.2)"
    assert str(many(3)).count(" and ") == 2
    assert str(many(4)) == "4 pairs, from (ε = 2.99573, δ = 0) to (ε = 2.83321, δ = 0.009)"
    for count, rows in ((1, 1), (5, 5), (6, 6), (7, 7), (9, 7)):
        page = many(count)._repr_html_()
        assert page.count("<tr>") == rows + 1
        assert ("…" in page) == (count > 6)
        assert f">{20 - count + 1}</td>" in page
        assert count <= 6 or page[page.rfind("…") :].count("<tr>") == 1
    assert "66.67 % at most" in Privacy(ratio=2)._repr_html_()


def test_what_is_no_list_of_guarantees_is_refused():
    one, two = Privacy(ratio=3), Privacy(ratio=2, delta="1/10")
    with pytest.raises(
        BadInput, match=r"^all: must be a list of guarantees, at least one; list pairs \(epsilon, delta\)"
    ):
        Privacy.all([])
    with pytest.raises(BadInput, match=r"^all: must be a list of guarantees, at least one"):
        Privacy.all(x for x in (one, 2))  # into which nobody looks at the door
    for listed, said in (
        ([two, one], "all: pair 2 has no smaller epsilon than pair 1; list pairs by falling epsilon and rising delta"),
        ([one, one], "all: pair 2 has no smaller epsilon than pair 1; list pairs by falling epsilon and rising delta"),
        ([one, two.pure], "all: pair 1 says nothing that pair 2 does not: its delta is no smaller; leave out pair 1"),
        ([one, Privacy(ratio=2, delta="1/4")], "all: pair 2 follows from the others; leave out pair 2"),
    ):
        with pytest.raises(BadInput) as refused:
            Privacy.all(listed)
        assert str(refused.value) == said
    many = Privacy.of(tuple(Pair(F(20_000 - k), F(k, 10**9), F(0)) for k in range(10_001)))
    with pytest.raises(BadInput, match=r"^all: must hold at most 10000 pairs; leave out those that matter least$"):
        Privacy.all([many])


def test_distributions_over_different_outputs_are_not_compared():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        hockey_stick((F(1),), (F(1, 2), F(1, 2)), F(1))


def test_what_needs_one_pair_says_how_many_there_are():
    both = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/10")])
    for asked in ("ratio", "delta", "epsilon", "pure"):
        with pytest.raises(BadInput, match=r"^privacy: holds 2 pairs, and this needs one; give epsilon and delta"):
            getattr(both, asked)


def test_numbers_as_long_as_this_are_read_and_no_longer():
    fits, long = F((1 << LONGEST) - 1, 1 << LONGEST - 1), F(1 << LONGEST, (1 << LONGEST) - 1)
    assert Privacy(ratio=str(fits)).ratio == fits
    assert Privacy(ratio=long).ratio == long  # what was computed may be longer
    for field, value in (("ratio", str(long)), ("delta", str(1 / long)), ("epsilon", str(long))):
        with pytest.raises(BadInput) as refused:
            Privacy(**({"ratio": 2} | {field: value} if field == "delta" else {field: value}))
        rule = f"has more than {LONGEST} bits above or below the line"
        assert str(refused.value) == f"{field}: {rule}; write a shorter number"


@pytest.mark.parametrize(("options", "said"), [
    ({"epsilon": "-1e-9"}, "epsilon: must not be negative; give a number that is at least 0"),
    ({"epsilon": "1000.001"}, "epsilon: must lie between 0 and 1000; choose a smaller epsilon"),
    ({"ratio": "0.999"}, "ratio: must be at least 1 (it is e^epsilon); give a number from 1 up"),
    ({"ratio": 2, "epsilon": 1}, "privacy: needs exactly one of epsilon and ratio; give one of them"),
    ({"delta": 0}, "privacy: needs exactly one of epsilon and ratio; give one of them"),
    ({"ratio": 2, "delta": 1}, "delta: must be at least 0 and below 1; give a small probability such as 1e-6"),
    ({"ratio": 2, "delta": "-1e-9"}, "delta: must be at least 0 and below 1; give a small probability such as 1e-6"),
])  # fmt: skip
def test_what_is_no_guarantee_is_refused_in_these_words(options, said):
    with pytest.raises(BadInput) as refused:
        Privacy(**options)
    assert str(refused.value) == said


def test_the_number_types_are_exact():
    assert isinstance(Privacy(ratio=2).shape.delta_at(Fraction(1)), Fraction)


@given(st.floats(-37, 8))
def test_corners_stand_where_the_normal_distribution_says(x):
    assert _normal(x) == pytest.approx(ndtr(x), rel=1e-12)
