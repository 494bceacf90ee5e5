"""What guarantees cost in μ and ρ: the least μ implies the shape and hardly less does; totals as (ε, δ) hold."""

import math
import random
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, Cost, NeighbouringRelation, Privacy
from irisdp._exact import ball, told_below, told_exactly, working_precision
from irisdp._queries import total_cost
from irisdp.accounting import (
    CURRENCIES,
    EPSILON_DELTA,
    MU,
    RHO,
    ConcentratedCost,
    GaussianCost,
    as_pair,
    gaussian_dp_mu,
    total,
    zcdp_rho,
)
from irisdp.privacy import Gaussian
from support.gaussian import gaussian_step
from support.sweeps import tried

WIDTH = Fraction(1, 1 << 90)
HARDLY = Fraction(1, 10**20)
"""By how much a μ that fails is smaller."""
FLOATS = 1e-12

PLACES = [Fraction(1, 10**9), *(Fraction(place, 40) for place in range(1, 40)), 1 - Fraction(1, 10**9)]


def shapes():
    """Draw guarantees whose first pair has no δ, of one to three pairs."""
    first = st.fractions(min_value=Fraction(11, 10), max_value=30, max_denominator=20)
    shrink = st.tuples(st.integers(2, 9), st.integers(1, 9))

    def made(drawn):
        ratio, further = drawn
        pairs = [Privacy(ratio=ratio)]
        for part, delta in further:
            ratio = 1 + (ratio - 1) * Fraction(part, 10)
            try:
                pairs = [*pairs, Privacy(ratio=ratio, delta=Fraction(delta, 200))]
                Privacy.all(pairs)
            except BadInput:
                pairs.pop()
        return Privacy.all(pairs)

    return st.tuples(first, st.lists(shrink, max_size=2)).map(made)


def kinks(privacy):
    return [s for s in privacy.shape.starts if s > 0]


@settings(max_examples=tried(20, 40))
@given(shapes())
def test_the_mean_of_a_shape_implies_it_and_hardly_less_does_not(privacy):
    mu = gaussian_dp_mu(privacy)
    fails = []
    for s in {*PLACES, *kinks(privacy)}:
        u = privacy.shape.step(s)
        assert u <= gaussian_step(s, mu, width=WIDTH).upper
        fails.append(u > gaussian_step(s, mu * (1 - HARDLY) - HARDLY, width=WIDTH).upper)
    assert any(fails)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "5", "10", "40"])
def test_the_mean_of_epsilon_is_its_closed_form(epsilon):
    mu = gaussian_dp_mu(Privacy(epsilon=epsilon))
    with working_precision(400):
        share = ball(Fraction(epsilon)).exp() / (1 + ball(Fraction(epsilon)).exp())
        exact = 2 * flint.arb(2).sqrt() * (2 * share - 1).erfinv()
        assert float(abs(exact - ball(mu))) < 1e-29
    if epsilon == "1":
        assert float(mu) == pytest.approx(2 * NormalDist().inv_cdf(math.e / (1 + math.e)), rel=FLOATS)


@pytest.mark.parametrize("mu", ["1/100", "1", "3"])
def test_the_polygon_of_a_gaussian_has_its_mean_or_less(mu):
    found = gaussian_dp_mu(Privacy.gaussian(mu, gap="1e-3"))
    assert Fraction(mu) * Fraction(99, 100) < found <= Fraction(mu) + HARDLY
    assert gaussian_dp_mu(Gaussian(mu)) == Fraction(mu)


def test_more_pairs_never_need_a_larger_mean():
    alone, both = Privacy(epsilon=2), Privacy.all([Privacy(epsilon=2), Privacy(epsilon=1, delta="1/100")])
    assert gaussian_dp_mu(both) < gaussian_dp_mu(alone)


@pytest.mark.parametrize("privacy", [Privacy(epsilon=1, delta="1e-9"), Privacy(epsilon=0, delta="1/2")])
@pytest.mark.parametrize("convert", [gaussian_dp_mu, zcdp_rho])
def test_a_delta_that_no_epsilon_avoids_has_no_mean_and_no_rho(privacy, convert):
    with pytest.raises(
        BadInput, match=r"^delta: is above 0 at every epsilon, and then no mu or rho is enough; declare"
    ):
        convert(privacy)


def test_nothing_costs_nothing():
    assert gaussian_dp_mu(Privacy(ratio=1)) == zcdp_rho(Privacy(ratio=1)) == 0


@pytest.mark.parametrize("epsilon", ["0.1", "1", "7", "12"])
def test_rho_bounds_the_divergences_of_randomised_response(epsilon):
    """The worst of (ε, 0), at many orders, in floats."""
    rho, e = float(zcdp_rho(Privacy(epsilon=epsilon))), float(epsilon)
    p = 1 / (1 + math.exp(-e))
    assert rho <= e**2 / 2
    for order in (1.001, 1.5, 2, 5, 20, 50):
        divergence = math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)
        assert divergence <= order * rho + FLOATS


def test_rho_of_a_gaussian_is_half_the_square_and_pure_privacy_has_the_smaller():
    assert zcdp_rho(Gaussian("1/3")) == Fraction(1, 18)
    assert zcdp_rho(Privacy(epsilon=1)) == Fraction(1, 2)
    assert 0 <= zcdp_rho(Privacy(epsilon=10)) - gaussian_dp_mu(Privacy(epsilon=10)) ** 2 / 2 < Fraction(1, 10**17)


class TestStatements:
    @pytest.mark.parametrize("mu", ["1/10", "1", "5/2"])
    @pytest.mark.parametrize("delta", ["1e-9", "1e-6", "1/10"])
    def test_of_a_mean_are_the_total_of_one_gaussian_release(self, mu, delta):
        lower, upper = total([Gaussian(mu)], delta=delta)
        found = as_pair(GaussianCost(Fraction(mu) ** 2), delta)
        assert lower <= found.epsilon and upper <= found.epsilon < upper + Fraction(1, 10**29)
        assert found.delta == Fraction(delta)

    @pytest.mark.parametrize("rho", ["1e-6", "1/100", "1/2", "8", "1e5"])
    @pytest.mark.parametrize("delta", ["1e-30", "1e-6", "1/10"])
    def test_of_rho_are_no_worse_than_the_simple_bound_and_hardly_above_other_orders(self, rho, delta):
        found = as_pair(ConcentratedCost(rho), delta).epsilon
        r, small = float(Fraction(rho)), float(Fraction(delta))
        assert 0 <= found <= r + 2 * math.sqrt(r * -math.log(small)) + FLOATS
        by_order = (
            (1 + beyond) * r + math.log(beyond / (1 + beyond)) - math.log(small * (1 + beyond)) / beyond
            for beyond in (1.02**power for power in range(-600, 600))
        )
        assert float(found) <= max(0.0, min(by_order)) * (1 + 1e-9) + FLOATS

    @pytest.mark.parametrize("mu", ["1/10", "1", "3"])
    def test_of_rho_are_never_below_those_of_a_gaussian_that_has_it(self, mu):
        mean = Fraction(mu)
        assert as_pair(ConcentratedCost(mean**2 / 2), "1e-6").epsilon > as_pair(GaussianCost(mean**2), "1e-6").epsilon

    @pytest.mark.parametrize("size", [Fraction(1, 10**600), Fraction(1, 10**12), Fraction(1), Fraction(10**6)])
    @pytest.mark.parametrize("cost", [GaussianCost, ConcentratedCost])
    @pytest.mark.parametrize("delta", [Fraction(1, 10**600), Fraction(1, 2), 1 - Fraction(1, 10**600)])
    def test_hold_for_numbers_of_any_size(self, cost, size, delta):
        found = as_pair(cost(size), delta).epsilon
        spread = 2 * math.sqrt(float(size) * -(math.log(delta.numerator) - math.log(delta.denominator)))
        assert 0 <= found <= float(size) + spread + FLOATS

    @pytest.mark.parametrize("mu", ["1e-6", "1", "100"])
    @pytest.mark.parametrize("delta", [Fraction(1, 10**90), Fraction(1, 10**1200)])
    def test_enclose_totals_of_gaussian_releases_at_a_tiny_delta_too(self, mu, delta):
        lower, upper = total([Gaussian(mu)], delta=delta)
        assert 0 < lower <= upper <= as_pair(ConcentratedCost(Fraction(mu) ** 2 / 2), delta).epsilon * 2

    def test_of_nothing_and_of_pairs_are_what_they_are(self):
        assert as_pair(GaussianCost(), "1e-6") == Cost(0, Fraction(1, 10**6))
        assert as_pair(Cost(1, "1e-3"), "1e-6") == Cost(1, "1e-3")

    @pytest.mark.parametrize("delta", [0, 1, -1, "x"])
    def test_need_a_delta(self, delta):
        with pytest.raises(BadInput, match=r"^delta: "):
            as_pair(GaussianCost(1), delta)


class TestCosts:
    def test_add_up_and_compare_exactly(self):
        third = GaussianCost("1/3")
        assert third + third + third == GaussianCost(1)
        assert (third * 3).fits_in(GaussianCost(1)) and not (third * 4).fits_in(GaussianCost(1))
        assert GaussianCost(1).beyond(third) == GaussianCost("2/3") and third.beyond(GaussianCost(1)) == GaussianCost()
        assert third.to_document() == {"mu_squared": "1/3"} and ConcentratedCost("1/2").to_document() == {"rho": "0.5"}

    def test_are_told_with_the_mean_itself(self):
        assert str(GaussianCost("1/4")) == "μ² = 0.25 (μ = 0.5)"
        assert str(GaussianCost(2)) == "μ² = 2 (μ ≤ 1.41422)"
        assert GaussianCost(2).told(told_below) == "μ² = 2 (μ ≥ 1.41421)"
        assert GaussianCost(2).told(told_exactly) == "μ² = 2 (μ ≈ 1.41421)"
        assert str(GaussianCost(Fraction(1, 7**40))) == "μ² ≤ 1.57065e-34 (μ ≤ 1.25326e-17)"
        assert str(ConcentratedCost("1/2")) == "ρ = 0.5"

    def test_of_two_currencies_do_not_mix(self):
        for one, other in ((Cost(1), GaussianCost(1)), (GaussianCost(1), ConcentratedCost(1))):
            for mix in (one.__add__, one.fits_in, one.beyond, one.at_least):
                with pytest.raises(BadInput, match=r"^cost: is in another currency"):
                    mix(other)

    @pytest.mark.parametrize("cost", [GaussianCost, ConcentratedCost])
    def test_are_never_below_nothing(self, cost):
        with pytest.raises(BadInput, match="must not be negative"):
            cost(-1)


PURE = Privacy(epsilon=1)


class TestMoves:
    @pytest.mark.parametrize(("arguments", "squares"), [
        ({"relation": NeighbouringRelation.ADD_REMOVE, "grouped": True}, 1),
        ({"relation": NeighbouringRelation.EXCHANGE, "grouped": False, "exchange_steps": 2}, 1),
        ({"relation": NeighbouringRelation.EXCHANGE, "grouped": True}, 2),
        ({"relation": NeighbouringRelation.EXCHANGE, "grouped": True, "exchange_steps": 2}, 4),
    ])  # fmt: skip
    def test_add_squares_of_steps(self, arguments, squares):
        for guarantee in (PURE, Gaussian("1/2")):
            found = (
                total_cost(guarantee, **arguments, currency=MU).mu_squared - gaussian_dp_mu(guarantee) ** 2 * squares
            )
            assert 0 <= found < Fraction(1, 10**18) and (found == 0 or guarantee is PURE)
            assert total_cost(guarantee, **arguments, currency=RHO) == ConcentratedCost(zcdp_rho(guarantee) * squares)

    def test_cost_in_pairs_what_they_always_did(self):
        assert total_cost(PURE, NeighbouringRelation.EXCHANGE, grouped=True) == Cost(2, 0)

    def test_of_gaussian_answers_are_charged_as_one_at_the_delta_that_was_chosen(self):
        cost = total_cost(Gaussian(1), NeighbouringRelation.EXCHANGE, grouped=True, delta=Fraction(1, 10**6))
        exact = as_pair(GaussianCost(2), "1e-6")
        assert exact.fits_in(cost) and cost.epsilon < exact.epsilon + Fraction(1, 10**12)

    def test_of_gaussian_answers_need_one(self):
        with pytest.raises(BadInput, match=r"^delta: is needed to charge Gaussian privacy"):
            EPSILON_DELTA.price(Gaussian(1), (1,), Fraction(0))

    def test_of_several_pairs_are_charged_as_the_first_or_at_a_delta(self):
        both = Privacy.all([Privacy(epsilon=2, delta="1/1000"), Privacy(epsilon=1, delta="1/100")])
        assert EPSILON_DELTA.price(both, (1, 1), Fraction(0)) == Cost(4, "1/500")
        found = EPSILON_DELTA.price(both, (1,), Fraction(1, 100))
        assert found == Cost(1, "1/100")
        with pytest.raises(BadInput, match=r"^delta: is below"):
            EPSILON_DELTA.price(both, (1,), Fraction(1, 10**6))

    def test_refuse_a_selection_in_mu_and_rho(self):
        for currency in (MU, RHO):
            with pytest.raises(BadInput, match=r"^delta: is above 0"):
                total_cost(
                    PURE,
                    NeighbouringRelation.ADD_REMOVE,
                    grouped=True,
                    selection=Privacy(epsilon=1, delta="1e-6"),
                    currency=currency,
                )


def test_only_pairs_are_refined():
    assert [currency.refines for currency in CURRENCIES] == [True, False, False]


# Questions that depend on earlier answers, in a ledger of μ or ρ: the joint law of all answers keeps the limit.
#
# Trees of randomised responses, the worst that ε allows: each answer decides the next ratio, within what is left.

RATIOS = [Fraction(ratio, 20) for ratio in range(21, 120, 7)]
MEANS = {ratio: gaussian_dp_mu(Privacy(ratio=ratio)) ** 2 for ratio in RATIOS}
RHOS = {ratio: zcdp_rho(Privacy(ratio=ratio)) for ratio in RATIOS}


def answers(left, owed, rounds, choose, share=1):
    """Return the probabilities of every list of answers for two neighbours; `share` of what is owed is charged."""
    possible = [ratio for ratio in RATIOS if owed[ratio] * share <= left]
    if not possible or rounds == 0:
        return [(Fraction(1), Fraction(1))]
    ratio = choose(possible)
    truth, lie = ratio / (1 + ratio), 1 / (1 + ratio)
    found = []
    for p, q in ((truth, lie), (lie, truth)):
        after = answers(left - owed[ratio] * share, owed, rounds - 1, choose, share)
        found += [(p * one, q * other) for one, other in after]
    return found


def beyond(law, mu):
    """Tell whether some event shows more than μ-GDP allows; the likeliest ratios decide."""
    ordered = sorted(law, key=lambda pair: pair[0] / pair[1], reverse=True)
    events = accumulate(ordered, lambda one, other: (one[0] + other[0], one[1] + other[1]))
    return any(u > gaussian_step(s, mu, width=WIDTH).upper for u, s in events if s < 1)


@pytest.mark.parametrize("seed", range(tried(6, 12)))
def test_a_limit_in_mu_holds_for_all_answers_together(seed):
    choose = random.Random(seed).choice
    law = answers(Fraction(1), MEANS, 6, choose)
    assert sum(p for p, _ in law) == sum(q for _, q in law) == 1
    assert not beyond(law, Fraction(1)) and not beyond([(q, p) for p, q in law], Fraction(1))


def test_a_ledger_that_charges_less_than_the_least_mean_breaks_its_limit():
    """Negative control: the first question takes all there is."""
    assert not beyond(answers(Fraction(1), MEANS, 1, max), Fraction(1))
    assert beyond(answers(Fraction(1), MEANS, 4, max, share=Fraction(1, 2)), Fraction(1))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [1, Fraction(1, 3)])
def test_a_limit_in_rho_holds_for_all_answers_together(seed, share):
    law = answers(Fraction(1, 2), RHOS, 7, random.Random(seed).choice, share)
    divergences = [
        math.log(math.fsum(float(p) ** order * float(q) ** (1 - order) for p, q in law)) / (order - 1) / order
        for order in (1.01, 1.5, 2, 4, 9)
    ]
    assert (max(divergences) <= 0.5 + FLOATS) == (share == 1)
