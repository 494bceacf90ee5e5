"""What a ledger in (ε, δ) charges for several pairs, or for Gaussian privacy: a point of the curve, never below it."""

from fractions import Fraction as F

import pytest

from irisdp import BadInput, Privacy
from irisdp.accounting import charged_pair, delta
from irisdp.privacy import Gaussian

TWO = Privacy.all([Privacy(ratio=3, delta="1/1000"), Privacy(ratio=2, delta="1/50")])


def test_a_pair_is_charged_as_it_is_and_of_several_the_one_with_the_smallest_delta():
    one = Privacy(epsilon="0.7", delta="1/9")
    assert charged_pair(one) == charged_pair(one, "1/8") == one
    assert charged_pair(TWO) == charged_pair(TWO, "1/1000") == Privacy(ratio=3, delta="1/1000")
    assert charged_pair(TWO, "1/50") == Privacy(ratio=2, delta="1/50")


@pytest.mark.parametrize("chosen", ["1/999", "1/100", "1/49", "0.3"])
def test_any_other_point_follows_from_several_pairs(chosen):
    point = charged_pair(TWO, chosen)
    assert TWO.implies(point)
    assert TWO.implies(Privacy(epsilon=point.epsilon, delta=point.delta))
    assert not TWO.implies(Privacy(epsilon=point.epsilon - F(1, 10**11), delta=point.delta)) or point.ratio == 1


@pytest.mark.parametrize("mu", ["0.01", "1", "4"])
@pytest.mark.parametrize("chosen", ["1e-12", "1e-6", "1/100"])
def test_gaussian_privacy_is_charged_a_point_of_its_curve_rounded_up(mu, chosen):
    point = charged_pair(Gaussian(mu), chosen)
    assert point.delta == F(chosen)
    assert delta([Gaussian(mu)], epsilon=point.epsilon)[1] <= point.delta
    less = point.epsilon - F(1, 10**11)
    assert less < 0 or delta([Gaussian(mu)], epsilon=less)[0] > point.delta


@pytest.mark.parametrize(
    ("guarantee", "chosen", "said"),
    [
        (
            Gaussian(1),
            0,
            "delta: is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised; add delta=1e-6",
        ),
        (TWO, "1e-4", "delta: is below 0.001, the smallest of the pairs; give 0.001 or more, or leave it out"),
        (TWO, 1, "delta: must be at least 0 and below 1; give a small probability such as 1e-6"),
        (Gaussian(1), "x", "delta: "),
    ],
)
def test_what_has_no_charge_is_refused_in_one_line(guarantee, chosen, said):
    with pytest.raises(BadInput) as refused:
        charged_pair(guarantee, chosen)
    assert str(refused.value).startswith(said)
