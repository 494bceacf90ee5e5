"""Totals of releases fixed in advance, against all products of losses written out in decimals and fractions."""

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, Mechanism, Privacy, certify, design
from irisdp.accounting import delta, total
from irisdp.graphs import Complete, Path, graph_from_document
from irisdp.mechanisms import geometric, randomized_response
from irisdp.noise import gaussian_law, law
from irisdp.privacy import Gaussian
from support.closeness import hockey_stick
from support.sweeps import tried

DIGITS = 80
ROUNDING = Fraction(1, 10**60)
"""What 80 digits leave uncertain in sums of a few thousand terms."""

NARROW = Fraction(1, 10**30)
"""How far apart the bounds may be for guarantees that one grid holds, as a share of their size."""

CHARGED = Fraction(1, 10**26)
"""What the bounds of mechanisms on a grid that nearly holds them differ by: ratios are rounded, or their logarithms."""

MILLIONTH = Fraction(1, 10**6)


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def true_delta(guarantees, epsilon):
    """δ of randomised responses after coins that tell all, over all combinations of answers ([Kairouz2017])."""
    with localcontext() as context:
        context.prec = DIGITS
        finite, found = Decimal(1), Decimal(0)
        for one in guarantees:
            finite *= decimal(1 - one.delta)
        for signs in product((1, -1), repeat=len(guarantees)):
            loss = sum((sign * decimal(one.epsilon) for sign, one in zip(signs, guarantees, strict=True)), Decimal(0))
            mass = finite
            for sign, one in zip(signs, guarantees, strict=True):
                mass /= 1 + (-sign * decimal(one.epsilon)).exp()
            found += mass * max(Decimal(0), 1 - (decimal(epsilon) - loss).exp())
        return Fraction(found + 1 - finite)


def binomial_delta(epsilon, times, together):
    """δ of equal guarantees with δ = 0 by the closed form, [Kairouz2017], Theorem 3.3."""
    with localcontext() as context:
        context.prec = DIGITS
        e, found = decimal(epsilon).exp(), Decimal(0)
        for ups in range(times + 1):
            loss = (2 * ups - times) * decimal(epsilon)
            if loss > decimal(together):
                chance = math.comb(times, ups) * e**ups / (1 + e) ** times
                found += chance * (1 - (decimal(together) - loss).exp())
        return Fraction(found)


def encloses_delta(bounds, true):
    return bounds[0] <= true * (1 + ROUNDING) + ROUNDING and true * (1 - ROUNDING) - ROUNDING <= bounds[1]


def encloses_epsilon(bounds, curve, at):
    """Whether the least ε at which a falling curve is at most δ lies between the bounds."""
    lower, upper = bounds
    if lower > upper:
        return False
    reached = curve(upper) <= at * (1 + ROUNDING) + ROUNDING
    return reached and (lower == 0 or curve(lower) >= at * (1 - ROUNDING) - ROUNDING)


epsilons = st.sampled_from([10, 12, 100, 37]).flatmap(lambda d: st.integers(0, 2 * d).map(lambda n: Fraction(n, d)))
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 50)])
guarantees = st.builds(lambda e, d: Privacy(epsilon=e, delta=d), epsilons, deltas)
lists = st.lists(guarantees, min_size=1, max_size=6)
grids = st.sampled_from([None, Fraction(1, 10), Fraction(1, 1000), Fraction(3, 7)])


@given(lists, st.fractions(min_value=0, max_value=5, max_denominator=30), grids)
@settings(max_examples=tried(30, 300), deadline=None)
def test_delta_of_guarantees_is_enclosed(items, epsilon, grid):
    assert encloses_delta(delta(items, epsilon=epsilon, grid=grid), true_delta(items, epsilon))


@given(lists, st.fractions(min_value=Fraction(3, 20), max_value=Fraction(1, 2), max_denominator=50), grids)
@settings(max_examples=tried(30, 300), deadline=None)
def test_epsilon_of_guarantees_is_enclosed(items, at, grid):
    assert encloses_epsilon(total(items, delta=at, grid=grid), lambda e: true_delta(items, e), at)


def swapped(patch):
    """Round each way where the other is meant."""
    up, down = certify._loss_grids.spread_up, certify._loss_grids.drawn_down
    patch.setattr(certify._loss_grids, "spread_up", down)
    patch.setattr(certify._loss_grids, "drawn_down", up)


def nearest(patch):
    """Round every loss to the place above, for both bounds."""
    patch.setattr(certify._loss_grids, "drawn_down", certify._loss_grids.spread_up)


def left_out(patch):
    """Forget what rounding took, where it should count at the largest loss."""
    patch.setattr(certify._loss_grids.RoundedLosses, "at_top", property(lambda _: 0))
    patch.setattr(certify._loss_grids, "_SPARE_BITS", 190)


@pytest.mark.parametrize("wrong", [swapped, nearest, left_out])
def test_rounding_the_wrong_way_is_caught(wrong):
    """Negative control: the comparison above would see it."""
    cases = [([Privacy(epsilon=e) for e in ("1/3", "2/7", "4/11")], "1/9"), ([Privacy(epsilon="0.3")] * 4, None)]
    held = []
    with pytest.MonkeyPatch.context() as patch:
        wrong(patch)
        for items, grid in cases:
            for epsilon in (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)):
                bounds = delta(items, epsilon=epsilon, grid=grid)
                held.append(encloses_delta(bounds, true_delta(items, epsilon)))
    assert not all(held)


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 60), ("1/3", 7), ("1", 40), ("0.01", 500)])
def test_equal_guarantees_follow_the_binomial_formula(epsilon, times):
    item = (Privacy(epsilon=epsilon), times)
    for share in (Fraction(1, 10), Fraction(3, 10), Fraction(7, 10)):
        together = Fraction(epsilon) * times * share
        lower, upper = delta([item], epsilon=together)
        true = binomial_delta(Fraction(epsilon), times, together)
        assert lower * (1 - ROUNDING) <= true <= upper * (1 + ROUNDING)
        assert upper - lower <= NARROW * upper
    lower, upper = total([item], delta=MILLIONTH)
    assert upper - lower <= NARROW * upper
    assert binomial_delta(Fraction(epsilon), times, upper) <= MILLIONTH * (1 + ROUNDING)
    assert binomial_delta(Fraction(epsilon), times, lower) >= MILLIONTH * (1 - ROUNDING)


def test_many_different_guarantees_are_enclosed_narrowly():
    """A thousand, all multiples of the grid: apart by less than 10^-30 of the total, far below the sum."""
    items = [Privacy(epsilon=Fraction(1 + k % 50, 1000), delta=Fraction(k, 10**13)) for k in range(1000)]
    lower, upper = total(items, delta=MILLIONTH, grid="1/1000")
    assert 0 < upper - lower <= NARROW * upper
    assert upper < sum(one.epsilon for one in items) / 4
    below, above = delta(items, epsilon=upper, grid="1/1000")
    assert below <= MILLIONTH <= above * (1 + NARROW)
    assert above - below <= NARROW * above


@given(guarantees)
@settings(deadline=None)
def test_one_release_is_its_own_total(item):
    assert total([item], delta=item.delta) == (item.epsilon, item.epsilon)
    assert delta([item], epsilon=item.epsilon) == (item.delta, item.delta)


@given(lists, st.randoms())
@settings(max_examples=tried(10, 60), deadline=None)
def test_order_does_not_matter_and_times_is_short_for_repeating(items, shuffler):
    shuffled = list(items)
    shuffler.shuffle(shuffled)
    at = min(Fraction(9, 10), sum(one.delta for one in (items[0], *items)) + Fraction(1, 1000))
    assert total(items, delta=at) == total(shuffled, delta=at)
    assert total([items[0], *items], delta=at) == total([(items[0], 2), *items[1:]], delta=at)


@given(lists, guarantees)
@settings(max_examples=tried(12, 100), deadline=None)
def test_a_total_grows_with_each_release_and_never_exceeds_the_sum(items, more):
    at = sum(one.delta for one in (*items, more)) + Fraction(1, 10**4)
    lower, upper = total(items, delta=at)
    assert lower <= upper <= sum(one.epsilon for one in items)
    assert lower <= total([*items, more], delta=at)[1]
    assert total(items, delta=at + Fraction(1, 100))[0] <= upper
    exact = sum(one.delta for one in items)
    assert total(items, delta=exact)[1] <= sum(one.epsilon for one in items)


def test_without_delta_epsilons_add_up():
    items = [Privacy(epsilon="0.1"), (Privacy(epsilon="1/3"), 5)]
    assert total(items, delta=0) == (Fraction(1, 10) + Fraction(5, 3),) * 2
    assert delta(items, epsilon=2) == (0, 0)


# Mechanisms: above by dominating pairs, below by one pair of neighbours.


@st.composite
def mechanisms(draw):
    """A random mechanism on a path of 2 or 3 inputs with 2 or 3 outputs, zeros included."""
    outputs, inputs = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    rows = [draw(weights) for _ in range(inputs)]
    return Mechanism.from_matrix(
        [[Fraction(w, sum(row)) for w in row] for row in rows], privacy=Privacy(ratio=1), graph=Path(inputs)
    )


def worst(everyone, ratio):
    """Hockey-stick sums of all draws together, over neighbours and both ways."""
    rows = [
        [math.prod(masses) for masses in product(*rows)]
        for rows in zip(*(one.matrix() for one in everyone), strict=True)
    ]
    return max(hockey_stick(a, b, ratio) for here in pairwise(rows) for a, b in (here, here[::-1]))


def ratio_between(epsilon):
    """Return rationals around e^ε."""
    with localcontext() as context:
        context.prec = DIGITS
        near = Fraction(decimal(epsilon).exp())
    return near * (1 - ROUNDING), near * (1 + ROUNDING)


@given(mechanisms(), st.integers(1, 4), st.fractions(min_value=0, max_value=3, max_denominator=10), grids)
@settings(max_examples=tried(20, 150), deadline=None)
def test_delta_of_one_mechanism_several_times_is_enclosed(mechanism, times, epsilon, grid):
    lower, upper = delta([(mechanism, times)], epsilon=epsilon, grid=grid)
    below, above = ratio_between(epsilon)
    assert lower <= worst([mechanism] * times, below)
    assert upper >= worst([mechanism] * times, above)


@given(mechanisms(), mechanisms(), st.fractions(min_value=0, max_value=3, max_denominator=10))
@settings(max_examples=tried(20, 150), deadline=None)
def test_delta_of_mechanisms_asked_alike_is_enclosed(first, second, epsilon):
    lower, upper = delta([first, second], epsilon=epsilon)
    below, above = ratio_between(epsilon)
    if len(first.inputs) == len(second.inputs):
        assert lower <= worst([first, second], below)
        assert upper >= worst([first, second], above)
    assert lower <= upper


def test_only_common_neighbours_bound_mechanisms_of_the_same_inputs_from_below():
    """One tells of the first step only, the other of the second: no single record moves both."""
    row = [[Fraction(1, 4), Fraction(3, 4)], [Fraction(3, 4), Fraction(1, 4)]]
    first = Mechanism.from_matrix([row[0], row[1], row[1]], privacy=Privacy(ratio=3), graph=Path(3))
    second = Mechanism.from_matrix([row[0], row[0], row[1]], privacy=Privacy(ratio=3), graph=Path(3))
    lower, upper = total([first, second], delta=0)
    assert lower <= Fraction(1099, 1000)  # log 3
    assert upper >= 2 * Fraction(1098, 1000)


@pytest.mark.parametrize("privacy", [Privacy(epsilon="0.1"), Privacy(ratio=2)])
def test_geometric_noise_totals_as_randomised_response_does(privacy):
    """Its losses are ±ε with the same chances, so its total is that of the guarantee."""
    bounds = total([(privacy, 30)], delta=MILLIONTH)
    for mechanism in (geometric(4, privacy), randomized_response(2, privacy)):
        lower, upper = total([(mechanism, 30)], delta=MILLIONTH)
        assert lower <= bounds[1]
        assert bounds[0] <= upper + CHARGED
        assert upper - lower <= CHARGED


def test_unbounded_geometric_noise_has_the_losses_of_randomised_response():
    """P(Z = z) = (1 − α)/(1 + α)·α^|z| against the same moved by one: the two tails are geometric series."""
    ratio = Fraction(7, 3)
    a = 1 / ratio
    mass = (1 - a) / (1 + a)
    # Z ≥ 1 is r times as likely as after a move by −1, and Z ≤ 0 is 1/r times as likely.
    closer, farther = mass * a / (1 - a), mass / (1 - a)
    assert (closer, farther) == (1 / (1 + ratio), ratio / (1 + ratio))


def test_a_four_by_four_mechanism_a_thousand_times():
    """Both bounds, in seconds; at few draws they are around what all products say."""
    source = random.Random(7)
    rows = [[source.randrange(1, 50) for _ in range(4)] for _ in range(4)]
    matrix = [[Fraction(w, sum(row)) for w in row] for row in rows]
    mechanism = Mechanism.from_matrix(matrix, privacy=Privacy(ratio=1), graph=Complete(4))
    exact = certify.compose(mechanism, times=4)
    lower, upper = total([(mechanism, 4)], delta=MILLIONTH)
    assert lower <= exact.epsilon_at(MILLIONTH)
    assert exact.epsilon_at(MILLIONTH) <= upper + Fraction(1, 10**28)
    lower, upper = total([(mechanism, 1000)], delta=MILLIONTH)
    assert 0 < lower <= upper


def test_a_mechanism_that_tells_all_has_no_total():
    told = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=Privacy(ratio=1), graph=Path(2))
    assert delta([told, Privacy(epsilon=1)], epsilon=5) == (1, 1)
    with pytest.raises(BadInput, match="delta: must be at least 1"):
        total([told], delta="1/2")


def test_a_law_of_losses_is_an_item():
    assert total([certify.TwoPointLaw(Fraction(1, 3))], delta="1/50") == total([Privacy(epsilon="1/3")], delta="1/50")


@given(mechanisms(), st.lists(st.fractions(min_value=1, max_value=6, max_denominator=5), min_size=1, max_size=4))
@settings(max_examples=tried(20, 150), deadline=None)
def test_several_guarantees_allow_no_more_than_their_worst_profile(mechanism, ratios):
    """Every mechanism lies below the profile of what it keeps, which keeps that too and is its own mirror image."""
    kept = [(ratio, worst([mechanism], ratio)) for ratio in ratios]
    if any(bound == 1 for _, bound in kept):
        return
    allowed = certify.worst_profile(kept)
    assert allowed.dominates(certify.privacy_profile(mechanism))
    assert all(allowed.delta_at(ratio=ratio) == bound for ratio, bound in kept)
    for r in (*allowed.ratios[1:], Fraction(7, 5)):
        assert allowed.delta_at(ratio=r) == 1 - r + r * allowed.delta_at(ratio=1 / r)
    pair = certify.dominating_pair(allowed)
    assert sum(pair.upper) == sum(pair.lower) == 1


def test_one_guarantee_allows_the_four_point_pair():
    lower, upper = total(
        [(certify.finite_law(certify.dominating_pair(certify.worst_profile([(Fraction(3), MILLIONTH)])).losses()), 5)],
        delta="1e-3",
    )
    bounds = total([(Privacy(ratio=3, delta=MILLIONTH), 5)], delta="1e-3", grid="1/1000")
    assert lower <= bounds[1]
    assert bounds[0] <= upper


@pytest.mark.parametrize(("arguments", "message"), [
    (([], {"delta": 0}), "items: must be a list"),
    ((Privacy(epsilon=1), {"delta": 0}), "items: must be a list"),
    ((None, {"delta": 0}), "items: must be a list"),
    (([1], {"delta": 0}), "items: hold something"),
    (([Privacy], {"delta": 0}), "items: hold something"),
    (([(Privacy(epsilon=1), 0)], {"delta": 0}), "times: "),
    (([(Privacy(epsilon=1), 10**7)], {"delta": 0}), "times: "),
    (([(Privacy(epsilon=1), 10**6)] * 2, {"delta": 0}), "items: are more than"),
    (([(Privacy(epsilon=1), 1, 1)], {"delta": 0}), "items: hold a tuple"),
    (([Privacy(epsilon=1)], {"delta": 1}), "delta: must be at least 0 and below 1"),
    (([Privacy(epsilon=1)], {"delta": -1}), "delta: must be at least 0 and below 1"),
    (([Privacy(epsilon=1)], {"delta": "much"}), "delta: "),
    (([Privacy(epsilon=1, delta="1e-5")], {"delta": "1e-6"}), "delta: must be at least 0.00001:"),
    (([Privacy(epsilon=1)], {"delta": 0, "grid": 0}), "grid: must be more than 0"),
    (([Privacy(epsilon=1)], {"delta": 0, "grid": "1e-9"}), "grid: has more than"),
    (([Mechanism.from_matrix([[1], [1]], privacy=Privacy(ratio=1))], {"delta": 0}), "graph: is missing"),
])  # fmt: skip
def test_bad_input_is_refused_in_one_line(arguments, message):
    items, options = arguments
    with pytest.raises(BadInput, match=message) as refused:
        total(items, **options)
    assert "\n" not in str(refused.value)


def test_a_negative_epsilon_is_refused():
    with pytest.raises(BadInput, match="epsilon: must not be negative"):
        delta([Privacy(epsilon=1)], epsilon=-1)


@pytest.mark.parametrize("wrong", [[], None, [1], [(2, 0, 0)], [("1/2", 0)], [(2, 1)], [(2, "x")]])
def test_what_is_no_guarantee_has_no_worst_profile(wrong):
    with pytest.raises(BadInput, match="guarantees"):
        certify.worst_profile(wrong)


def test_a_shape_alone_costs_what_it_promises_and_several_times_no_more_than_its_pairs():
    shape = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-2")])
    lower, upper = total([shape], delta="1e-2")
    assert lower <= shape.epsilon_at("1e-2") <= upper + Fraction(1, 10**20)
    for pair in shape.pairs:
        assert total([(shape, 5)], delta="1/20")[0] <= total([(Privacy.of((pair,)), 5)], delta="1/20")[1]


@pytest.mark.parametrize(("items", "epsilon", "expected"), [
    # Φ(1/2 − ε) − e^ε·Φ(−1/2 − ε) at μ = 1, which is also √(4 · 1/4) and √(9/25 + 16/25).
    ([Gaussian(1)], 1, "0.1269367375066439"),
    ([(Gaussian("1/2"), 4)], 1, "0.1269367375066439"),
    ([Gaussian("3/5"), Gaussian("4/5")], 1, "0.1269367375066439"),
])  # fmt: skip
def test_gaussian_releases_add_up_in_closed_form(items, epsilon, expected):
    lower, upper = delta(items, epsilon=epsilon)
    assert lower <= upper <= lower * (1 + Fraction(1, 10**40))
    assert abs(lower - Fraction(expected)) < Fraction(1, 10**15)
    least, most = total(items, delta=upper)
    assert least <= epsilon <= most + Fraction(1, 10**40)
    assert most - least < Fraction(1, 10**30)


def test_gaussian_releases_beside_others_lie_between_what_they_are_worth():
    """More than each part alone, no more than the parts' sum; and the two bounds are close."""
    noise, guarantee = [(Gaussian("0.1"), 4)], [(Privacy(epsilon="0.1"), 10)]
    lower, upper = total(noise + guarantee, delta="1e-6")
    parts = [total(part, delta="5e-7") for part in (noise, guarantee)]
    assert max(total(part, delta="1e-6")[0] for part in (noise, guarantee)) <= upper
    assert lower <= sum(part[1] for part in parts)
    assert lower <= upper <= lower * Fraction(101, 100)
    # A guarantee of next to nothing changes next to nothing.
    assert abs(
        total([Gaussian("0.1"), Privacy(epsilon="1e-9")], delta="1e-4")[1] - total([Gaussian("0.1")], delta="1e-4")[1]
    ) < Fraction(1, 1000)


def test_gaussian_privacy_is_never_free_of_delta():
    with pytest.raises(BadInput, match="delta: must be above 0"):
        total([Gaussian(1)], delta=0)
    for bad in (0, -1, 101, "x", None, float("nan")):
        with pytest.raises(BadInput, match="mu: "):
            Gaussian(bad)


def test_gaussian_totals_end_however_far_out():
    for mean, epsilon in ((1, 10**6), (100, 10**9), ("1e-6", 1)):
        lower, upper = delta([Gaussian(mean)], epsilon=epsilon)
        assert 0 <= lower <= upper < Fraction(1, 1 << 2000)
    lower, upper = total([Gaussian(100), Privacy(epsilon=1)], delta="1e-6")
    assert lower <= total([Gaussian(100)], delta="1e-6")[1] <= upper


def test_a_law_of_noise_counts_as_what_it_promises():
    shape = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-2")])
    for noise, promise in (
        (gaussian_law("1/2"), Gaussian("1/2")),
        (law("geometric", Privacy(epsilon=1)), Privacy(epsilon=1)),
        (law("staircase", Privacy(epsilon=1), sensitivity=5), Privacy(epsilon=1)),
        (law("universal", shape), shape),
    ):
        assert total([(noise, 3)], delta="1e-3") == total([(promise, 3)], delta="1e-3")
    for nothing in (object(), Privacy, gaussian_law):
        with pytest.raises(BadInput, match="items: hold something that states no privacy"):
            total([nothing], delta="1e-3")


# Many draws: rounded products lie above the exact ones and close to them, and end in seconds.

FLOATS = 1e-12
"""Roundings of some hundred sums of probabilities in doubles."""


@st.composite
def mechanisms_many_draws(draw):
    outputs = draw(st.integers(1, 3))
    rows = []
    for _ in range(draw(st.integers(2, 3))):
        weights = draw(st.lists(st.integers(0, 9), min_size=outputs, max_size=outputs).filter(any))
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    graph = {"nodes": list(range(len(rows))), "edges": [[i, i + 1] for i in range(len(rows) - 1)]}
    return Mechanism.from_matrix(rows, privacy=Privacy(ratio=1), graph=graph_from_document(graph))


def composed(mechanism, times, *, work):
    """Compose with as much exact work as is allowed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certify._loss_distributions, "_MOST_WORK", work)
        return certify.compose(mechanism, times=times)


@given(mechanisms_many_draws(), st.integers(1, 5), st.fractions(min_value=0, max_value=9, max_denominator=9))
@settings(max_examples=tried(24, 150), deadline=None)
def test_a_rounded_profile_is_nowhere_below_the_exact_one(mechanism, times, ratio):
    exact, rounded = composed(mechanism, times, work=10**9), composed(mechanism, times, work=0)
    assert exact.exact
    assert not rounded.exact or len(set(mechanism.matrix())) == 1
    assert rounded.deltas[0] == 1
    assert rounded.delta_at(ratio=ratio) >= exact.delta_at(ratio=ratio)
    assert rounded.dominates(exact)


@pytest.mark.parametrize("times", [1, 7, 60])
@pytest.mark.parametrize("ratio", ["2", "11/10"])
def test_rounding_overstates_little(times, ratio):
    for mechanism in (randomized_response(2, Privacy(ratio=ratio)), randomized_response(3, Privacy(ratio=ratio))):
        exact, rounded = composed(mechanism, times, work=10**9), composed(mechanism, times, work=0)
        span = 2 * math.log(Fraction(ratio))
        most = times * span * min(times, 12 * (math.isqrt(times) + 1)) / 2**15 * 1.01 + FLOATS
        for value in (Fraction(0), Fraction(1, 10**6), Fraction(1, 10)):
            assert 0 <= rounded.epsilon_at(value) - exact.epsilon_at(value) <= most


def test_a_rounded_profile_has_a_dominating_pair():
    rounded = composed(randomized_response(3, Privacy(ratio=2)), 10, work=0)
    pair = certify.dominating_pair(rounded)
    assert sum(pair.upper) == sum(pair.lower) == 1
    assert certify.privacy_profile(randomized_response(3, Privacy(ratio=2))).exact


MANY = [
    randomized_response(3, Privacy(ratio=2)),
    randomized_response(3, Privacy(ratio=2, delta="1/10")),
    randomized_response(2, Privacy(epsilon=1)),
    design.geometric(5, Privacy(ratio=2)),
    design.geometric(5, Privacy(epsilon=1)),
    design.geometric(40, Privacy(epsilon="1/10")),
    [design.geometric(5, Privacy(epsilon=1)), design.geometric(5, Privacy(epsilon="1/3"))],
]


@pytest.mark.parametrize(
    ("mechanisms_", "times"), [*product(MANY[:: tried(2, 1)], [10**6]), *product(MANY[:: tried(4, 1)], [100])]
)
def test_many_draws_end(mechanisms_, times):
    """Without powers the suite would not end: a hundred draws took more than ten minutes."""
    profile = certify.compose(mechanisms_, times=times)
    assert profile.deltas[0] == 1
    first = mechanisms_[0] if isinstance(mechanisms_, list) else mechanisms_
    assert profile.dominates(certify.privacy_profile(first))
