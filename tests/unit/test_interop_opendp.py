"""Mechanisms as OpenDP's measurements, which draw exactly and claim no less; and its measurements as exact tables."""

import inspect
import math
import sys
from collections import Counter
from fractions import Fraction

import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design, graphs, interop, mechanisms, noise
from irisdp.certify import privacy_profile
from irisdp.interop._opendp import group_above
from irisdp.interop._opendp_names import graph_space

dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")

COUNT = design.geometric(5, Privacy(epsilon="3/10"))
MAJORITY = mechanisms.line_mechanism(3, 4, mechanisms.balanced_line(Privacy(epsilon="1/2", delta="1/50")))
CHOICE = Mechanism.from_matrix(
    mechanisms.randomized_response(3, Privacy(ratio=4)).matrix(), privacy=Privacy(ratio=4), graph=graphs.Complete(3),
    outputs=("red", "green", "blue"),
)  # fmt: skip
STAR = Mechanism.from_matrix(
    [["1/2", "1/2"], ["1/3", "2/3"], ["2/3", "1/3"]],
    privacy=Privacy(ratio=2),
    graph=graphs.graph_from_edges([[(0, 0), "a"], [(0, 0), "b"]]),
    outputs=((1, 2), "no"),
)


@pytest.fixture(autouse=True)
def features():
    """Switch on what a caller must, and off again."""
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


def test_a_count_is_a_measurement_on_whole_numbers():
    made = interop.to_opendp(COUNT)
    assert "AtomDomain" in str(made.input_domain) and "i64" in str(made.input_domain)
    assert str(made.input_metric) == "AbsoluteDistance(i64)"
    assert str(made.output_measure) == "MaxDivergence"
    answers = {made(3) for _ in range(60)}
    assert answers <= set(range(6)) and len(answers) > 1
    assert all(type(answer) is int for answer in answers)


def test_the_map_of_a_pure_guarantee_is_its_epsilon_times_the_distance_rounded_up():
    made = interop.to_opendp(COUNT)
    for distance in (0, 1, 2, 3, 7, 1000):
        exact, told = distance * Fraction(3, 10), made.map(distance)
        assert Fraction(told) >= exact
        assert distance == 0 or Fraction(math.nextafter(told, 0)) < exact
    assert made.check(2, 0.7) and not made.check(2, 0.5)


@pytest.mark.parametrize("distance", [-1, 1.5, "1", True])
def test_a_distance_is_a_whole_number(distance):
    with pytest.raises((TypeError, dp.OpenDPException)):
        interop.to_opendp(COUNT).map(distance)


@pytest.mark.parametrize("value", [6, -1])
def test_an_input_outside_the_domain_is_an_error_that_does_not_repeat_it(value):
    with pytest.raises(dp.OpenDPException, match="value: is not an input of this mechanism") as refusal:
        interop.to_opendp(COUNT)(value)
    assert str(value) not in str(refusal.value).partition("BadInput")[2].replace("6 nodes", "")


def test_a_pair_at_a_distance_is_what_chains_of_neighbours_can_need():
    """The oracle chains the inequality by hand; and δ found so covers each pair of nodes of a real mechanism."""
    made = interop.to_opendp(MAJORITY)
    ratio, delta, reached = MAJORITY.privacy.ratio, MAJORITY.privacy.delta, Fraction(0)
    rows = MAJORITY.matrix()
    for distance in range(1, 7):
        reached = reached * ratio + delta
        epsilon, told = made.map(distance)
        assert Fraction(epsilon) >= distance * Fraction(1, 2)
        assert min(Fraction(1), reached) <= Fraction(told) <= min(Fraction(1), reached) * (1 + Fraction(1, 10**15))
        apart = [(a, b) for k, a in enumerate(rows) for j, b in enumerate(rows) if abs(k - j) == distance]
        worst = max(sum(max(0, p - ratio**distance * q) for p, q in zip(a, b, strict=True)) for a, b in apart)
        assert worst <= Fraction(told)
    assert made.map(0) == (0.0, 0.0)
    assert made.map(10**6) == (500000.0, 1.0)


def test_a_group_that_forgot_to_grow_would_be_seen():
    """Negative control: d·δ alone is too little for pairs at a distance; what is told is enough."""
    tight = Mechanism.from_matrix(
        [["1", "0"], ["9/10", "1/10"], ["7/10", "3/10"]], privacy=Privacy(ratio=2, delta="1/10"), graph=graphs.Path(3)
    )
    assert audit(tight).holds
    needed = sum(max(0, p - 4 * q) for p, q in zip(tight.row(2), tight.row(0), strict=True))
    assert needed > 2 * Fraction(1, 10)
    assert needed <= Fraction(group_above(tight.privacy, 2)[1])
    assert group_above(Privacy(ratio=1, delta="1/3"), 5) == (0.0, 1.0)
    assert group_above(Privacy(ratio=1, delta="1/3"), 2)[1] >= Fraction(2, 3)


def test_a_yes_no_question_says_yes_or_no():
    made = interop.to_opendp(MAJORITY)
    assert "distance in the graph" in str(made.input_metric)
    assert made(1) in ("yes", "no")
    with pytest.raises(dp.OpenDPException, match="value: is not an input"):
        made(0)


def test_any_two_nodes_of_a_complete_graph_are_at_the_discrete_distance():
    made = interop.to_opendp(CHOICE)
    assert str(made.input_metric) == "DiscreteDistance()"
    assert made(2) in ("red", "green", "blue")
    assert math.exp(made.map(1)) == pytest.approx(4)


def test_nodes_and_answers_may_have_any_names():
    made = interop.to_opendp(STAR)
    assert made((0, 0)) in ((1, 2), "no") and made("b") in ((1, 2), "no")
    assert made.map(2) == 2 * made.map(1) == pytest.approx(2 * math.log(2))
    assert (
        made.input_domain.member((0, 0)) and not made.input_domain.member((0, 1)) and not made.input_domain.member(2.5)
    )
    other = Mechanism.from_matrix(
        STAR.matrix(), privacy=STAR.privacy, graph=graphs.graph_from_edges([["b", "a"], ["a", "c"]])
    )
    assert str(interop.to_opendp(other).input_domain) != str(made.input_domain)


def test_it_draws_with_the_probabilities_of_the_row():
    made = interop.to_opendp(CHOICE)
    counted = Counter(made(1) for _ in range(900))
    assert abs(counted["green"] - 600) < 6 * math.sqrt(900 * 2 / 9)


def test_it_is_chained_and_composed_as_any_other():
    made = interop.to_opendp(COUNT)
    assert (made >> (lambda answer: answer // 10))(3) == 0
    clamp = dp.t.make_clamp(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance(), (0, 5))
    assert clamp([7]) == [5]
    together = (dp.c.make_composition if hasattr(dp.c, "make_composition") else dp.c.make_basic_composition)(
        [made, made]
    )
    assert together.map(1) >= 0.6 and len(together(2)) == 2


@pytest.mark.parametrize(("law", "distance", "exact"), [
    (noise.law("geometric", Privacy(epsilon="1/3")), 4, Fraction(4, 3)),
    (noise.law("geometric", Privacy(epsilon=1), sensitivity=3), 4, Fraction(4, 3)),
    (noise.law("staircase", Privacy(epsilon="1/3"), sensitivity=3), 4, Fraction(2, 3)),
    (noise.law("universal", Privacy(epsilon="1/3")), 4, Fraction(4, 3)),
    (noise.gaussian_law("1/3", sensitivity=2), 4, Fraction(2, 9)),
])  # fmt: skip
def test_noise_is_a_measurement_on_all_whole_numbers(law, distance, exact):
    made = interop.to_opendp(law)
    assert type(made(-(10**6))) is int
    told = made.map(distance)
    assert exact <= Fraction(told) and Fraction(math.nextafter(told, 0)) < exact
    assert made.map(0) == 0
    measure = "ZeroConcentratedDivergence" if isinstance(law, noise.GaussianLaw) else "MaxDivergence"
    assert str(made.output_measure) == measure
    with pytest.raises(dp.OpenDPException, match="value: must be a whole number"):
        made(2**62 + 1)


def test_noise_with_delta_claims_a_pair():
    law = noise.law("universal", Privacy(ratio=2, delta="1/7"))
    made = interop.to_opendp(law)
    epsilon, delta = made.map(1)
    assert epsilon >= math.log(2) and Fraction(delta) >= Fraction(1, 7)
    assert abs(made(10) - 30) < 10**3
    with pytest.raises(BadInput, match=r"^privacy: cannot be given for noise, which has its own; leave it out$"):
        interop.to_opendp(law, privacy=Privacy(epsilon=1))


def test_what_is_claimed_is_kept_or_refused():
    false = Mechanism.from_matrix([["1/2", "1/2"], ["1/9", "8/9"]], privacy=Privacy(ratio=2), graph=graphs.Path(2))
    with pytest.raises(BadInput) as refusal:
        interop.to_opendp(false)
    assert str(refusal.value) == (
        "privacy: is not what this mechanism keeps; ask irisdp.audit for the edge that breaks it"
    )
    assert interop.to_opendp(false, privacy=Privacy(ratio="9/2")).map(1) >= math.log(4.5)
    profile = privacy_profile(false)
    made = interop.to_opendp(false, privacy=Privacy(ratio=2, delta=profile.delta_at(ratio=2)))
    assert Fraction(made.map(1)[1]) >= profile.delta_at(ratio=2)


def test_several_pairs_and_no_graph_are_refused():
    several = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    with pytest.raises(BadInput, match=r"^privacy: holds 2 pairs, and this needs one; "):
        interop.to_opendp(Mechanism.from_matrix([[1], [1]], privacy=several, graph=graphs.Path(2)))
    with pytest.raises(BadInput, match=r"^graph: is missing; "):
        interop.to_opendp(Mechanism.from_matrix([[1], [1]], privacy=Privacy(epsilon=1)))


def test_features_are_the_caller_s_to_switch_on():
    dp.disable_features("contrib", "honest-but-curious")
    for ask in (lambda: interop.to_opendp(COUNT), lambda: graph_space("x", bool, complete=True)):
        with pytest.raises(BadInput) as refusal:
            ask()
        assert str(refusal.value) == (
            "opendp: has features off without which nobody may bring a measurement; "
            'call opendp.prelude.enable_features("contrib", "honest-but-curious") first, if you agree to what they mean'
        )


def test_where_it_is_missing_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(BadInput, match=r"^opendp: is not installed; pip install irisdp\[opendp\]$"):
        interop.to_opendp(COUNT)


# The other way: what OpenDP's own measurements are, and what they claim.

FINITE = {"nan": False} if "nan" in inspect.signature(dp.atom_domain).parameters else {}
"""Which numbers are floats without NaN: older versions of OpenDP do not ask."""

WHOLE = (dp.atom_domain(T=int), dp.absolute_distance(T=int))


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0, 3.0, 7.7])
def test_discrete_laplace_noise_is_what_opendp_claims(scale):
    made = dp.m.make_laplace(*WHOLE, scale=scale)
    table = interop.matrix_from_opendp(made, n=8)
    verdict = audit(table)
    assert verdict.holds and len(table.inputs) == 9
    assert verdict.epsilon_at_delta <= Fraction(made.map(1)) < verdict.epsilon_at_delta * (1 + Fraction(1, 10**12))
    mass = math.tanh(1 / scale / 2)
    assert float(table.rows[4][4]) == pytest.approx(mass)
    assert float(table.rows[4][6]) == pytest.approx(mass * math.exp(-2 / scale))
    below = Privacy(epsilon=Fraction(math.nextafter(math.nextafter(made.map(1), 0), 0)))
    assert not audit(table, privacy=below).holds  # negative control: two floats less


def test_chained_noise_is_read_as_well():
    assert audit(interop.matrix_from_opendp(WHOLE >> dp.m.then_laplace(scale=2.0), n=3)).holds


@pytest.mark.parametrize("probability", [0.5, 0.75, 0.9])
def test_randomised_response_is_what_opendp_claims(probability):
    made = dp.m.make_randomized_response_bool(probability)
    table = interop.matrix_from_opendp(made)
    assert table.rows[0] == (Fraction(probability), 1 - Fraction(probability))
    assert (list(table.inputs), table.outputs) == (["False", "True"], ("False", "True"))
    assert audit(table).holds
    among = dp.m.make_randomized_response(["a", "b", "c", "d"], probability)
    table = interop.matrix_from_opendp(among)
    assert table.rows[0] == (Fraction(probability), *[(1 - Fraction(probability)) / 3] * 3)
    assert audit(table).holds and audit(table).edges == 6
    if probability > 0.5:
        assert not audit(table, privacy=Privacy(epsilon=Fraction(among.map(1)) - Fraction(1, 10**9))).holds


@pytest.mark.parametrize(("make", "options", "message"), [
    (lambda: dp.m.make_gaussian(*WHOLE, scale=2.0), {}, "measurement: was made in no way whose table is known here; "),
    (lambda: interop.to_opendp(COUNT), {}, "measurement: was made in no way whose table is known here; "),
    (lambda: 3, {}, "measurement: must be a measurement of OpenDP; "),
    (lambda: dp.m.make_laplace(*WHOLE, scale=2.0), {}, "n: is missing: noise is clamped to the counts 0..n; give n=10"),
    (lambda: dp.m.make_laplace(*WHOLE, scale=2.0), {"n": 0}, "n: must be"),
    (lambda: dp.m.make_laplace(*WHOLE, scale=2.0), {"n": 10**6}, "n: must be"),
    (lambda: dp.m.make_laplace(*WHOLE, scale=0.0), {"n": 3}, "measurement: adds no noise; "),
    (lambda: dp.m.make_randomized_response_bool(0.75), {"n": 3}, "n: belongs to noise on counts; leave it out"),
    (
        lambda: dp.m.make_laplace(dp.atom_domain(T=float, **FINITE), dp.absolute_distance(T=float), scale=1.0),
        {"n": 3},
        "measurement: draws other noise than the discrete Laplace on single whole numbers; ",
    ),
    (
        lambda: dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0),
        {"n": 3},
        "measurement: draws other noise than the discrete Laplace on single whole numbers; ",
    ),
])  # fmt: skip
def test_other_measurements_are_refused_in_a_line(make, options, message):
    with pytest.raises(BadInput) as refusal:
        interop.matrix_from_opendp(make(), **options)
    assert str(refusal.value).startswith(message)
