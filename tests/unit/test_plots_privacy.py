"""Trade-off curves and profiles: every value against events listed one by one, or a formula that shares no code."""

import math
from fractions import Fraction
from itertools import chain, combinations, pairwise
from statistics import NormalDist

import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, design, graphs
from irisdp.certify import privacy_profile
from irisdp.plots._privacy_curves import PEERS, privacy_profiles, trade_off_curves
from irisdp.privacy import Gaussian

ROWS = [["1/2", "1/3", "1/6", "0"], ["2/5", "2/5", "1/10", "1/10"], ["1/8", "1/4", "1/8", "1/2"]]
FAR = 400
"""Noise is cut here: what is left out is below 1e-40 at ε = 1/4."""


def uneven():
    """A mechanism that is not symmetric, whose promise is far below what it keeps."""
    privacy = Privacy(ratio=4, delta="1/10")
    return Mechanism.from_matrix(ROWS, privacy=privacy, graph=graphs.Path(3))


def normal_below(x):
    """Return the normal distribution function, to all digits in its lower tail."""
    return math.erfc(-x / math.sqrt(2)) / 2


def curve(picture, name):
    return [row[1:] for row in picture.rows if row[0] == name]


def height(points, at):
    """Return a polygon's height, in floats."""
    for (left, above), (right, below) in pairwise(points):
        if left <= at <= right:
            return above if left == right else above + (below - above) * (at - left) / (right - left)
    raise AssertionError(at)


def events(row, other):
    """Return the errors of every test without a coin: the set of outputs that it takes for the other row."""
    for chosen in chain.from_iterable(combinations(range(len(row)), size) for size in range(len(row) + 1)):
        yield sum((row[k] for k in chosen), Fraction(0)), 1 - sum((other[k] for k in chosen), Fraction(0))


def test_no_event_lies_below_a_mechanisms_curve_and_each_corner_is_one():
    rows = [[Fraction(p) for p in row] for row in ROWS]
    edges = [(0, 1), (1, 0), (1, 2), (2, 1)]
    tests = {(float(a), float(b)) for i, j in edges for a, b in events(rows[i], rows[j])}
    corners = curve(trade_off_curves(uneven()), "this mechanism")
    for alarm, missed in tests:
        assert missed >= height(corners, alarm) - 1e-15
    for alarm, missed in corners:
        assert min(abs(alarm - a) + abs(missed - b) for a, b in tests) < 1e-15
    slopes = [(b - a) / (y - x) for (x, a), (y, b) in pairwise(corners)]
    assert slopes == sorted(slopes)


def test_a_mechanism_stands_beside_its_promise_where_that_is_less():
    picture = trade_off_curves(uneven(), beside=[])
    assert list(dict.fromkeys(row[0] for row in picture.rows)) == ["this mechanism", "promised: ε = 1.38629, δ = 0.1"]
    own, promised = curve(picture, "this mechanism"), curve(picture, "promised: ε = 1.38629, δ = 0.1")
    assert promised == curve(trade_off_curves(Privacy(ratio=4, delta="1/10")), "ε = 1.38629, δ = 0.1")
    assert all(missed >= height(promised, alarm) - 1e-12 for alarm, missed in own)
    tight = trade_off_curves(design.geometric(3, Privacy(ratio=2)), beside=[])
    assert {row[0] for row in tight.rows} == {"this mechanism"}
    assert curve(tight, "this mechanism") == [(0, 1), (1 / 3, 1 / 3), (1, 0)]


def test_a_profile_is_the_sum_of_what_is_left():
    picture = privacy_profiles(uneven(), beside=[])
    rows = [[float(Fraction(p)) for p in row] for row in ROWS]
    for epsilon, delta in curve(picture, "this mechanism"):
        left = max(
            sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(rows[i], rows[j], strict=True))
            for i, j in [(0, 1), (1, 0), (1, 2), (2, 1)]
        )
        assert delta == pytest.approx(left, abs=1e-14)
    # what is drawn of a profile is the same
    alone = privacy_profiles(privacy_profile(uneven()), beside=[])
    assert {"this profile"} == {row[0] for row in alone.rows}
    assert curve(alone, "this profile")[0] == curve(picture, "this mechanism")[0]


def law(name, epsilon):
    """Return noise on the whole numbers −FAR … FAR + 1, by its distribution function."""
    if name == "geometric noise, randomised response (yes/no)":
        part = (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
        return [part * math.exp(-epsilon * abs(z)) for z in range(-FAR, FAR + 2)]
    if name == "Laplace noise, rounded":

        def upto(x):
            return math.exp(epsilon * x) / 2 if x < 0 else 1 - math.exp(-epsilon * x) / 2

    else:
        step = 1 / (1 + math.exp(epsilon / 2))
        high = (1 - math.exp(-epsilon)) / (2 * (step + math.exp(-epsilon) * (1 - step)))

        def density_up_to(x):  # of x >= 0
            whole, rest = divmod(x, 1)
            full = sum(high * math.exp(-epsilon * k) for k in range(int(whole)))
            full *= step + math.exp(-epsilon) * (1 - step)
            level = high * math.exp(-epsilon * whole)
            return full + level * (min(rest, step) + math.exp(-epsilon) * max(0, rest - step))

        def upto(x):
            return 0.5 + math.copysign(density_up_to(abs(x)), x)

    return [max(0.0, upto(z + 0.5) - upto(z - 0.5)) for z in range(-FAR, FAR + 2)]


@pytest.mark.parametrize(
    "name", ["geometric noise, randomised response (yes/no)", "Laplace noise, rounded", "staircase noise, rounded"]
)
@pytest.mark.parametrize("epsilon", ["1/4", "1", "3"])
def test_noise_beside_it_is_the_noise_that_it_says(name, epsilon):
    masses = law(name, float(Fraction(epsilon)))
    moved = [0.0, *masses[:-1]]
    picture = trade_off_curves(Privacy(epsilon=epsilon), beside=PEERS)
    corners = curve(picture, name)
    tests = [(sum(masses[k:]), 1 - sum(moved[k:])) for k in range(FAR - 20, FAR + 22)]
    for alarm, missed in tests:
        assert missed == pytest.approx(height(corners, min(alarm, 1.0)), abs=1e-11)
    profile = privacy_profiles(Privacy(epsilon=epsilon), beside=PEERS)
    for at, delta in curve(profile, name)[::9]:
        left = sum(max(0.0, p - math.exp(at) * q) for p, q in zip(moved, masses, strict=True))
        assert delta == pytest.approx(left, abs=1e-11)


@pytest.mark.parametrize("mu", ["1/10", "1", "3"])
def test_gaussian_privacy_is_the_normal_law(mu):
    mean = float(Fraction(mu))
    for alarm, missed in [row[1:] for row in trade_off_curves(Gaussian(mu), beside=[]).rows[1:-1]]:
        assert missed == pytest.approx(normal_below(-NormalDist().inv_cdf(alarm) - mean), abs=1e-9)
    found = [row[1:] for row in privacy_profiles(Gaussian(mu), beside=[]).rows]
    for epsilon, delta in found:
        exact = normal_below(mean / 2 - epsilon / mean) - math.exp(epsilon) * normal_below(-mean / 2 - epsilon / mean)
        assert delta == pytest.approx(exact, abs=1e-9)
    assert found[-1][1] < 1e-6 < found[len(found) // 2][1]


def test_the_gaussian_beside_it_is_seen_through_as_often_or_keeps_the_same_pair():
    picture = trade_off_curves(Privacy(ratio=3))
    assert picture.description.endswith("Gaussian noise has that deviation for which this guess is as good.")
    name = picture.rows[-1][0]
    mean = float(name.removeprefix("Gaussian noise, μ = "))
    assert 2 * normal_below(mean / 2) - 1 == pytest.approx(0.5, abs=1e-5)
    picture = trade_off_curves(Privacy(epsilon=1, delta="1e-5"))
    assert picture.description.endswith("Gaussian noise has the least deviation that keeps this δ as well.")
    name = picture.rows[-1][0]
    mean = float(name.removeprefix("Gaussian noise, μ = "))
    delta = normal_below(mean / 2 - 1 / mean) - math.e * normal_below(-mean / 2 - 1 / mean)
    assert delta == pytest.approx(1e-5, rel=1e-3)
    assert "gaussian" not in {row[0] for row in trade_off_curves(Gaussian(1)).rows}


@pytest.mark.parametrize(
    "privacy",
    [
        Privacy(ratio=3),
        Privacy(epsilon="1/3", delta="1e-7"),
        Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")]),
        Privacy.gaussian("1/2", gap="1e-3"),
    ],
)
def test_rounding_is_toward_less_privacy(privacy):
    name = trade_off_curves(privacy).rows[0][0]
    for alarm, missed in curve(trade_off_curves(privacy, beside=[]), name):
        least = 1 - privacy.shape.step(Fraction(alarm))
        assert least - Fraction(1, 10**12) <= Fraction(missed) <= least
    for epsilon, delta in curve(privacy_profiles(privacy, beside=[]), name):
        most = privacy.delta_at(epsilon=Fraction(epsilon))
        assert Fraction(delta) <= most + Fraction(1, 10**12)
        assert Fraction(delta) >= most - Fraction(1, 10**15)


@pytest.mark.parametrize(
    "privacy",
    [Privacy(ratio=1), Privacy(epsilon=0, delta="1/10"), Privacy(epsilon=60), Privacy(epsilon=600, delta="1e-9")],
)
def test_the_ends_of_the_scale_are_drawn(privacy):
    for draw in (trade_off_curves, privacy_profiles):
        assert draw(privacy).to_svg().startswith("<svg")


def layers(spec, mark):
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]


def test_every_curve_has_its_dash_and_its_hue_and_axes_say_what_they_are():
    picture = trade_off_curves(uneven(), beside=PEERS)
    names = list(dict.fromkeys(row[0] for row in picture.rows))
    *_, lines = layers(picture.spec, "line")
    for way in ("color", "strokeDash"):
        scale = lines["encoding"][way]["scale"]
        assert scale["domain"] == names
        assert len({str(one) for one in scale["range"]}) == (len(names) if way == "color" else 5)
    drawn = picture.spec["datasets"][lines["data"]["name"]]
    assert [tuple(one.values()) for one in drawn] == list(picture.rows)
    assert lines["encoding"]["x"]["title"] == "type I error: probability of a false alarm"
    assert lines["encoding"]["y"]["title"] == "type II error: probability of a miss"
    assert all(name in picture.description for name in names)


def test_a_profile_draws_what_its_scale_has_room_for():
    picture = privacy_profiles(Privacy(epsilon=1))
    *_, lines = layers(picture.spec, "line")
    drawn = {tuple(one.values()) for one in picture.spec["datasets"][lines["data"]["name"]]}
    assert drawn == {row for row in picture.rows if row[2] >= 1e-6}
    assert lines["encoding"]["y"]["scale"]["domain"] == [1e-6, 1]
    nearest = max(at for name, at, delta in drawn if name == "ε = 1")
    assert 0.9999 < nearest < 1
    wider = privacy_profiles(Privacy(epsilon=1, delta="1e-8"))
    assert layers(wider.spec, "line")[-1]["encoding"]["y"]["scale"]["domain"][0] == pytest.approx(1e-9)


def test_the_same_bytes_twice():
    for draw in (trade_off_curves, privacy_profiles):
        for ending in (".svg", ".png"):
            assert draw(uneven()).to_bytes(ending) == draw(uneven()).to_bytes(ending)


def test_forms_of_mechanisms_and_of_privacy():
    mechanism, privacy = design.geometric(2, Privacy(ratio=2)), Privacy(ratio=2)
    assert irisdp.plot(mechanism, form="trade-off") == trade_off_curves(mechanism)
    assert irisdp.plot(mechanism, form="profile") == privacy_profiles(mechanism)
    assert irisdp.plot(privacy) == trade_off_curves(privacy)
    assert irisdp.plot(Gaussian(1), form="profile") == privacy_profiles(Gaussian(1))
    with pytest.raises(BadInput, match=r"^form: is for mechanisms, and this is not one; choose trade-off or profile"):
        irisdp.plot(privacy, form="bars")


@pytest.mark.parametrize(
    ("subject", "beside", "said"),
    [
        (3, (), "subject: must be a Mechanism or "),
        (
            design.geometric(600, Privacy(ratio=2)),
            (),
            "subject: has 601 inputs and 601 answers, and pictures of privacy",
        ),
        (
            Mechanism.from_matrix([["1/2", "1/2"]] * 2, privacy=Privacy(ratio=2)),
            (),
            "subject: has no graph that says which inputs are neighbours; add one",
        ),
        (
            Privacy(ratio=2),
            ["uniform"],
            "beside: must be a list of different mechanisms to compare with; choose from geometric, laplace",
        ),
        (Privacy(ratio=2), "laplace", "beside: must be a list of different mechanisms to compare with"),
        (Privacy(ratio=2), ["laplace", "laplace"], "beside: must be a list of different mechanisms to compare with"),
    ],
)
def test_what_has_no_curve_is_refused(subject, beside, said):
    for draw in (trade_off_curves, privacy_profiles):
        with pytest.raises(BadInput) as refused:
            draw(subject, beside=beside)
        assert str(refused.value).startswith(said)
