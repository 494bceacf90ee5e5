"""What dp-accounting is told of a mechanism is nowhere below its exact privacy loss, and no further above than said."""

import math
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, design, interop, mechanisms, noise
from irisdp.certify import compose, dominating_pair, privacy_profile
from irisdp.certify._loss_distributions import losses_above
from irisdp.graphs import Complete, Path

pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")

INTERVAL = 1e-3
FLOATS = 1e-12
"""What the floats of dp-accounting add and lose."""

LOPSIDED = Mechanism.from_matrix([["9/10", "1/10"], ["1/2", "1/2"]], privacy=Privacy(ratio=5, delta=0), graph=Path(2))
"""A rise by one is told otherwise than a fall."""

MECHANISMS = {
    "geometric": design.geometric(6, Privacy(epsilon=1)),
    "response": mechanisms.randomized_response(4, Privacy(ratio="3/2", delta="1/20")),
    "line": mechanisms.line_mechanism(3, 4, mechanisms.balanced_line(Privacy(epsilon="1/2", delta="1/50"))),
    "lopsided": LOPSIDED,
    "noise": noise.law("universal", Privacy(ratio=2, delta="1/7")).mechanism(1),
    "factored": mechanisms.FactoredMechanism(privacy=Privacy(epsilon="1/3"), n=5),
}
EPSILONS = np.linspace(0, 2, 20).tolist()


def exact_delta(profile, epsilon):
    """Return δ at ε, at a ratio that is surely not above e^ε; below ε = 0 at e^ε rounded down by a float."""
    ratio = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 10**14))
    return profile.delta_at(ratio=ratio)


@pytest.mark.parametrize("adding", ["either", "raises"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_one_draw_lies_between_the_profile_and_the_profile_an_interval_earlier(name, adding):
    mechanism = MECHANISMS[name]
    if adding == "raises" and name in ("response", "line"):  # a complete graph, and names from 1 up
        with pytest.raises(BadInput, match=r"^adding: can be raises for the counts 0\.\.n on a path alone; "):
            interop.privacy_loss_distribution(mechanism, adding=adding)
        return
    told = interop.privacy_loss_distribution(mechanism, interval=INTERVAL, adding=adding)
    profile = privacy_profile(mechanism)
    for epsilon in EPSILONS:
        delta = told.get_delta_for_epsilon(epsilon)
        assert float(profile.delta_at(ratio=Fraction(math.exp(epsilon)))) - FLOATS <= delta
        assert delta <= float(exact_delta(profile, epsilon - INTERVAL)) + FLOATS


@pytest.mark.parametrize("name", ["geometric", "response", "lopsided"])
def test_a_hundred_draws_lie_between_as_well(name):
    mechanism, interval = MECHANISMS[name], 1e-4
    told = interop.privacy_loss_distribution(mechanism, interval=interval).self_compose(100)
    below, above = compose(mechanism, times=100), dominating_pair(privacy_profile(mechanism)).composed(100)
    slack = 100 * interval + (0 if above.exact else 0.01)
    for epsilon in np.linspace(0, 60, 20).tolist():
        delta = told.get_delta_for_epsilon(epsilon)
        if below.exact:
            assert float(below.delta_at(ratio=Fraction(math.exp(epsilon)))) - 1e-9 <= delta
        assert delta <= float(exact_delta(above, epsilon - slack)) + 1e-9


def test_directions_that_are_told_apart_are_tighter():
    """δ of adding and of removing differ at once; the larger of the two products is below the product of the larger."""
    both = interop.privacy_loss_distribution(LOPSIDED).self_compose(3)
    apart = interop.privacy_loss_distribution(LOPSIDED, adding="raises").self_compose(3)
    exact = compose(LOPSIDED, times=3)
    for epsilon in (0.0, 0.3, 0.9, 1.5):
        least = float(exact.delta_at(ratio=Fraction(math.exp(epsilon)))) - FLOATS
        assert least <= apart.get_delta_for_epsilon(epsilon) <= both.get_delta_for_epsilon(epsilon) + FLOATS
    assert apart.get_delta_for_epsilon(0.3) < both.get_delta_for_epsilon(0.3) - 1e-3


def test_losses_go_up_and_masses_go_up():
    pair = dominating_pair(privacy_profile(LOPSIDED))
    losses = pair.losses()
    for interval in (1e-1, 1e-3, 0.3, 1.0):
        told, infinite = losses_above(losses, interval)
        for epsilon in EPSILONS:
            true = privacy_profile(LOPSIDED).delta_at(ratio=Fraction(math.exp(epsilon)))
            ours = Fraction(infinite) + sum(
                Fraction(mass) * max(0, 1 - Fraction(math.exp(epsilon - k * interval))) for k, mass in told.items()
            )
            assert ours >= true - Fraction(1, 10**15)
        assert sum(map(Fraction, told.values())) + Fraction(infinite) >= 1


def test_losses_rounded_down_would_be_seen():
    """Negative control: one place less for every loss is below the profile."""
    mechanism = MECHANISMS["geometric"]
    told, infinite = losses_above(dominating_pair(privacy_profile(mechanism)).losses(), INTERVAL)
    lower = {k - 1: mass for k, mass in told.items()}
    profile = privacy_profile(mechanism)

    def delta(masses, epsilon):
        return infinite + math.fsum(p * max(0.0, -math.expm1(epsilon - k * INTERVAL)) for k, p in masses.items())

    true = [float(profile.delta_at(ratio=Fraction(math.exp(epsilon)))) for epsilon in EPSILONS]
    assert all(delta(told, epsilon) >= d - FLOATS for epsilon, d in zip(EPSILONS, true, strict=True))
    assert any(delta(lower, epsilon) < d - FLOATS for epsilon, d in zip(EPSILONS, true, strict=True))


def test_a_mechanism_that_hides_nothing_and_one_that_hides_all():
    open_mechanism = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=Privacy(ratio=1, delta="1/2"), graph=Complete(2))
    told = interop.privacy_loss_distribution(open_mechanism)
    assert told.get_delta_for_epsilon(5.0) == 1
    assert told.self_compose(2).get_delta_for_epsilon(5.0) == pytest.approx(1)
    constant = Mechanism.from_matrix([[1], [1]], privacy=Privacy(ratio=1), graph=Complete(2))
    assert interop.privacy_loss_distribution(constant).get_delta_for_epsilon(0.0) == 0


@pytest.mark.parametrize(("interval", "message"), [
    (0, "interval: must lie between 1e-9 and 10; give for example 1e-4"),
    (float("nan"), "interval: must be"),
    ("x", "interval: must be"),
    (1e-9, "interval: is so fine that losses span more than 10,000,000 of it; give a larger one"),
])  # fmt: skip
def test_other_intervals_are_refused(interval, message):
    with pytest.raises(BadInput) as refusal:
        interop.privacy_loss_distribution(MECHANISMS["geometric"], interval=interval)
    assert str(refusal.value).startswith(message)


def test_a_mechanism_without_a_graph_is_refused():
    bare = Mechanism.from_matrix([[1], [1]], privacy=Privacy(ratio=1))
    with pytest.raises(BadInput, match=r"^graph: is missing; "):
        interop.privacy_loss_distribution(bare)
    assert interop.privacy_loss_distribution(bare, graph=Path(2)).get_delta_for_epsilon(0.0) == 0


def test_events_say_no_less_than_the_noise():
    from dp_accounting import pld

    law = noise.law("geometric", Privacy(epsilon="1/3"), sensitivity=2)
    event = interop.dp_event(law)
    assert Fraction(event.noise_parameter) >= Fraction(1, 6) > Fraction(math.nextafter(event.noise_parameter, 0))
    accountant = pld.PLDAccountant().compose(event)
    assert 1 / 3 <= accountant.get_epsilon(0) <= 1 / 3 + 1e-3
    assert interop.dp_event(noise.law("geometric", Privacy(epsilon=1))).sensitivity == 1

    gaussian = interop.dp_event(noise.gaussian_law("1/3", sensitivity=5, resolution="1/4"))
    assert Fraction(gaussian.noise_multiplier) <= 3
    assert interop.dp_event(noise.gaussian_law("3/10")).noise_multiplier == pytest.approx(10 / 3)
    assert Fraction(interop.dp_event(noise.gaussian_law("3/10")).noise_multiplier) <= Fraction(10, 3)


def test_noise_without_an_event_is_told_by_its_mechanism():
    law = noise.law("universal", Privacy(ratio=2, delta="1/7"))
    with pytest.raises(BadInput) as refusal:
        interop.dp_event(law)
    assert str(refusal.value) == (
        "law: is universal noise, and dp-accounting has no event for it; "
        "give law.mechanism(1) to privacy_loss_distribution"
    )
    delta = interop.privacy_loss_distribution(law.mechanism(1)).get_delta_for_epsilon(math.log(2))
    assert 1 / 7 - FLOATS <= delta <= 1 / 7 + 1e-4


def test_where_it_is_missing_the_extra_is_named(monkeypatch):
    import sys

    for name in ("dp_accounting", "dp_accounting.dp_event", "dp_accounting.pld.privacy_loss_distribution"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        BadInput, match=r"^accountant: dp-accounting is not installed; pip install irisdp\[accounting\]$"
    ):
        interop.privacy_loss_distribution(MECHANISMS["geometric"])
    with pytest.raises(BadInput, match=r"^dp-accounting: is not installed; pip install irisdp\[accounting\]$"):
        interop.dp_event(noise.law("geometric", Privacy(epsilon=1)))
