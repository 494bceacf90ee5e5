"""Reading published counts: bounds for unbounded counts, releases with and without ends, and what is drawn."""

import json
import math
from collections import Counter
from fractions import Fraction
from fractions import Fraction as F

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, Privacy, consumers, design, interpret, publish
from irisdp._exact import Enclosure
from irisdp._measurements import CountNodes, GaussianNoise, ShapeNoise
from irisdp.consumers import (
    Loss,
    Tail,
    absolute,
    best_shift,
    excess,
    loss_of_shift,
    pinball,
    read_loss,
    squared,
    threshold,
    zero_one,
)
from irisdp.interpretation import NoisyCount
from irisdp.mechanisms import FactoredMechanism, privacy_to_document
from irisdp.privacy import Gaussian
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import by_turns, tried

FLOATS = 1e-9
"""Relative: sums of some tens of products in doubles, and tails that are cut off below 2^-60."""

NEARLY = 1e-3
"""Relative: how near 400 counts come to unboundedly many at ratio 3/2; 5 counts are more than 5 % away."""

ENCLOSED = Fraction(1, 10**20)
"""Relative gap between loss and bound where both are enclosed from 128-bit ratios."""


LOSSES = {
    "absolute": absolute(), "squared": squared(), "zero-one": zero_one(), "9:1": pinball(too_low=9, too_high=1),
    "1:3": pinball(too_low=1, too_high=3), "beyond 2": threshold(2), "excess 3": excess(3),
}  # fmt: skip


def mean_loss(loss, alpha, shift):
    """Sum the loss of the noise moved by a shift, far out."""
    noise = range(-500, 501)
    return sum(float((1 - alpha) / (1 + alpha) * alpha ** abs(z)) * float(loss.at(0, z + shift)) for z in noise)


@pytest.mark.parametrize(("name", "ratio"), by_turns(LOSSES, ["11/10", "2", "50"]))
def test_the_best_shift_is_the_best_of_all_shifts(name, ratio):
    loss, privacy = LOSSES[name], Privacy.from_ratio(ratio)
    alpha = float(1 / privacy.ratio)
    found = best_shift(loss, privacy)
    costs = {shift: mean_loss(loss, alpha, shift) for shift in range(-30, 31)}
    assert float(found.value) == pytest.approx(min(costs.values()), rel=FLOATS)
    assert float(found.value) == pytest.approx(costs[found.shift], rel=FLOATS)
    assert found.lower_bound <= found.value <= found.lower_bound * (1 + ENCLOSED)
    # A control: another shift is dearer, or as dear.
    assert loss_of_shift(loss, privacy, found.shift + 7) > found.value


@pytest.mark.parametrize("name", ["absolute", "squared", "1:3", "beyond 2"])
def test_games_with_more_and_more_counts_tend_to_the_unbounded_one_from_below(name):
    privacy, loss = Privacy.from_ratio("3/2"), LOSSES[name]
    limit = best_shift(loss, privacy).value
    values = [
        consumers.optimal_reading(FactoredMechanism(privacy=privacy, n=n), consumers.Consumer(n, loss)).value
        for n in (5, 40, 400)
    ]
    assert values == sorted(values)
    assert values[-1] <= limit * (1 + Fraction(1, 10**9))
    assert float(values[-1]) == pytest.approx(float(limit), rel=NEARLY)
    assert float(values[0]) < 0.95 * float(limit)


@pytest.mark.parametrize("loss", ["absolute", "squared", {"name": "pinball", "too_low": 1, "too_high": 4}])
def test_noise_without_ends_is_read_as_noise_clamped_to_what_is_possible(loss):
    """A reader of the unclamped value 1000 and one of the clamped value 40 both know only that it is at least 40."""
    privacy = Privacy.from_ratio("3/2")
    free = NoisyCount(privacy=privacy, ends=(None,))
    for value, same in ((1000, 40), (-7, 30), (33, 33)):
        open_, closed = (
            interpret(NoisyCount(privacy=privacy, ends=ends), shown, loss=loss, at_least=30, at_most=40).answers[0]
            for ends, shown in (((None,), value), (((30, 40),), same))
        )
        assert open_.chances == closed.chances
        assert open_.rule.value == closed.rule.value
    # And the numbering of counts does not matter: the game on 0..10 is the same.
    moved = interpret(free, 3, loss=loss, at_most=10).answers[0]
    assert [(v + 30, p) for v, p in moved.chances] == list(open_.chances)


@pytest.mark.parametrize("loss", ["absolute", "zero-one", {"name": "excess", "beyond": 1}])
def test_a_release_with_wider_ends_is_read_as_well_as_the_whole_of_it_can_be(loss):
    privacy = Privacy.from_ratio(2)
    rule = interpret(NoisyCount(privacy=privacy, ends=((0, 20),)), 9, loss=loss, at_least=5, at_most=12).answers[0].rule
    consumer = consumers.Consumer(20, loss, side_information={"at_least": 5, "at_most": 12})
    whole = consumers.optimal_reading(FactoredMechanism(privacy=privacy, n=20), consumer)
    assert rule.value == whole.value
    assert rule.face_value >= rule.value
    # A control: knowing less costs more.
    assert interpret(NoisyCount(privacy=privacy, ends=((0, 20),)), 9, loss=loss).answers[0].rule.value > rule.value


def test_a_prior_is_read_by_bayes_rule():
    privacy, prior = Privacy.from_ratio(2), [Fraction(k, 55) for k in range(11)]
    found = interpret(NoisyCount(privacy=privacy, ends=(None,)), 6, loss="squared", prior=prior)
    weights = [float(p) * 0.5 ** abs(i - 6) for i, p in enumerate(prior)]
    expected = np.array(weights) / sum(weights)
    posterior = found.posterior()
    assert posterior.first == 1  # 0 has no weight
    np.testing.assert_allclose(posterior.probabilities, expected[1:], rtol=FLOATS)
    costs = [sum(w * (i - v) ** 2 for i, w in enumerate(weights)) for v in range(11)]
    assert found.answers[0].chances == ((int(np.argmin(costs)), 1),)
    assert found.to_documents()[0]["expected_loss"] == float(found.answers[0].rule.value)


def test_a_count_that_is_possible_but_has_no_weight_changes_nothing():
    release, prior = NoisyCount(privacy=Privacy.from_ratio(2), ends=(None,)), [0, 0, 0, 0, 0, "1/2", 0, 0, 0, "1/2"]
    wide, narrow = (
        interpret(release, 6, side_information=known, prior=prior).answers[0] for known in ([0, 5, 9], [5, 9])
    )
    assert wide.chances == narrow.chances == ((5, 1),)


def test_the_posterior_without_a_largest_count_is_the_noise_cut_off_at_the_least():
    found = interpret(NoisyCount(privacy=Privacy.from_ratio(2), ends=(None,)), 1, at_least=0).posterior()
    weights = np.array([0.5, *(0.5 ** np.arange(60))])
    np.testing.assert_allclose(found.probabilities[:40], (weights / weights.sum())[:40], rtol=FLOATS)
    assert found.interval() == (0, 5)


def test_coins_are_tossed_with_the_stated_chances():
    """docs/theory.md#counts: a released 0 is read as 0 with 68/83 and as 1 with 15/83; here in a whole file."""
    deployed = NoisyCount(privacy=Privacy.from_ratio(4), ends=((0, 3),))
    draws = Counter(interpret(deployed, 0).answers[0].reading for _ in range(400))
    assert set(draws) == {0, 1}
    assert abs(draws[0] - 400 * 68 / 83) < 6 * (400 * 68 * 15) ** 0.5 / 83


def test_whole_files_are_read_answer_by_answer_with_their_own_ends(tmp_path):
    sidecar = {
        "format": "irisdp/release/1",
        "privacy": {"ratio": "4"},
        "mechanism": {"kind": "geometric-noise", "lower": 0, "upper": [3, 0, 3]},
    }
    (tmp_path / "t.csv").write_text("g,answer\na,0\nb,0\nc,3\n")
    path = tmp_path / "t.csv.release.json"
    path.write_text(json.dumps(sidecar))
    found = interpret(path)
    assert [answer.key for answer in found.answers] == [("a",), ("b",), ("c",)]
    assert [answer.rule.value for answer in found.answers] == [Fraction(168, 415), 0, Fraction(168, 415)]
    assert found.answers[0].rule is found.answers[2].rule
    assert [document["group"] for document in found.to_documents()] == [{"g": "a"}, {"g": "b"}, {"g": "c"}]
    assert found.answers[2].chances == ((2, Fraction(15, 83)), (3, Fraction(68, 83)))
    (tmp_path / "t.csv").write_text("g,answer\na,0\n")
    with pytest.raises(BadInput, match="another number of answers"):
        interpret(path)


def test_any_mechanism_is_read():
    """A randomised response on 0..2 read under squared loss: the middle is the safe answer where little is known."""
    made = design.randomized_response(3, Privacy.from_ratio("11/10"))
    found = interpret(made, 0, loss="squared")
    assert found.answers[0].rule.value == 1 and found.answers[0].chances == ((1, 1),)
    with pytest.raises(BadInput, match="needed to read a mechanism"):
        interpret(made)


def test_a_shift_may_be_as_long_as_the_noise_is_wide():
    """P(Z > c) = α^(c + 1)/(1 + α): least where the two sides weigh alike, α^c near 1/5, at c near 1.6·10^9."""
    found = best_shift(pinball(too_low=9, too_high=1), Privacy(epsilon="1e-9"))
    assert abs(found.shift - math.log(5) * 1e9) < 2
    assert 0 <= found.value - found.lower_bound < ENCLOSED * found.value


def test_tails_that_differ_and_are_not_convex_have_no_bound_without_a_largest_count():
    loss = Loss(name="odd", low=Tail(jump=5), high=Tail(slope=1))
    with pytest.raises(BadInput, match="not convex"):
        best_shift(loss, Privacy(epsilon=1))


def test_face_value_under_a_table_is_that_of_the_noise_as_it_is_clamped():
    """A table for 0..11 prices a release clamped to 0..10 as the absolute loss does; a smaller one cannot."""
    table = [[abs(i - v) for v in range(12)] for i in range(12)]
    release = NoisyCount(privacy=Privacy(epsilon=1), ends=((0, 10),))
    whole, written = (interpret(release, 4, loss=loss).answers[0].rule for loss in ("absolute", table))
    assert abs(written.face_value - whole.face_value) < Fraction(1, 10**9)
    small = [row[:4] for row in table[:4]]
    assert interpret(release, 4, loss=small).answers[0].rule.face_value is None


def test_a_release_with_more_counts_than_can_be_read_is_read_up_to_a_bound():
    release = NoisyCount(privacy=Privacy(epsilon=1), ends=((0, 10**9),))
    rule = interpret(release, 4, at_most=20).answers[0].rule
    assert rule.face_value is None
    assert rule.possible == (0, 20)
    with pytest.raises(BadInput, match="at_most"):
        interpret(release, 4)


@pytest.mark.parametrize(("release", "options"), [(5, {}), ([], {}), (None, {"side_information": 5})])
def test_what_is_no_release_and_no_list_is_refused(release, options):
    with pytest.raises(BadInput):
        interpret(NoisyCount(privacy=Privacy(epsilon=1), ends=(None,)) if release is None else release, 4, **options)


# The loss that `interpret` states is the reading's own, summed up here, within a release's ends and beyond.

NAMED = {
    "absolute": lambda i, v: Fraction(abs(i - v)),
    "squared": lambda i, v: Fraction((i - v) ** 2),
    "zero-one": lambda i, v: Fraction(i != v),
}


def released(low, high, ratio):
    mechanism = {"kind": "geometric-noise", "lower": low, "upper": high}
    return {"format": "irisdp/release/1", "privacy": {"ratio": str(ratio)}, "mechanism": mechanism}


def law(count, low, high, ratio):
    """Return what a release clamped to low..high says of a count between them."""
    alpha, found = 1 / ratio, {}
    for z in range(low, high + 1):
        end = z in (low, high)
        found[z] = alpha ** abs(z - count) * (1 / (1 + alpha) if end else (1 - alpha) / (1 + alpha))
    return {low: Fraction(1)} if low == high else found


def test_a_table_does_not_widen_what_is_possible():
    loss = [[abs(i - v) for v in range(5)] for i in range(5)]
    for options in ({"side_information": [0, 4]}, {"prior": ["1/2", 0, 0, 0, "1/2"]}, {"side_information": [2]}):
        with pytest.raises(BadInput, match=r"side_information|prior|at-most"):
            interpret(released(0, 1, 4), 1, loss=loss, **options)
        with pytest.raises(BadInput, match=r"side_information|prior|at-most"):
            interpret(released(0, 1, 4), 1, loss="absolute", **options)


@pytest.mark.parametrize("seed", range(3))
def test_stated_losses_are_the_losses_summed_up(seed):
    pick, seen = fresh_random(seed), Counter()
    for _ in range(120):
        ratio = pick.choice([Fraction(3, 2), Fraction(2), Fraction(4)])
        low = pick.choice([0, 0, 1, 2])
        high = low + pick.randrange(6)
        loss = pick.choice(["absolute", "squared", "zero-one", "table", "table"])
        cost, most = NAMED.get(loss), high
        if loss == "table":
            most = pick.randrange(max(low, 1), 9)
            table = [
                [Fraction(pick.randrange(-3, 7), pick.choice([1, 2])) for _ in range(most + 1)] for _ in range(most + 1)
            ]
            loss, cost = [[str(x) for x in line] for line in table], lambda i, v, table=table: table[i][v]
        possible, options = list(range(low, min(high, most) + 1)), {}
        how = pick.randrange(4)
        if how == 1:
            possible = sorted(pick.sample(range(9), pick.randrange(1, 4)))
            options["side_information"] = possible
        elif how == 2:
            length = pick.randrange(1, 9)
            weights = [pick.randrange(3) for _ in range(length)]
            if not sum(weights):
                continue
            prior = [Fraction(w, sum(weights)) for w in weights]
            options["prior"], possible = [str(p) for p in prior], [i for i, p in enumerate(prior) if p]
        elif how == 3:
            options["at_least"], options["at_most"] = pick.randrange(4), pick.randrange(9)
            possible = list(range(max(low, options["at_least"]), min(high, most, options["at_most"]) + 1))
        inside = bool(possible) and low <= possible[0] and possible[-1] <= min(high, most)
        if how == 3 and most < min(high, options["at_most"]):  # the table contradicts what the reader says
            inside = False
        try:
            rule = (
                interpret(released(low, high, ratio), pick.randrange(low, high + 1), loss=loss, **options)
                .answers[0]
                .rule
            )
        except BadInput:
            assert not inside, (low, high, loss, options)
            seen["refused"] += 1
            continue
        assert inside, (low, high, loss, options)
        expected = {
            i: sum(p * q * cost(i, v) for z, p in law(i, low, high, ratio).items() for v, q in rule.at(z))
            for i in possible
        }
        true = sum(prior[i] * expected[i] for i in possible) if "prior" in options else max(expected.values())
        assert true <= rule.value <= true + Fraction(1, 10**6), (low, high, loss, options)
        assert rule.lower_bound <= rule.value
        seen["read"] += 1
    assert min(seen.values()) > 15, seen


# Readings of counts with shape or Gaussian noise, against the law that the cell mechanism states, and a program.

TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
ENDED = Privacy.all([Privacy(ratio=3, delta="1/100"), Privacy(ratio=2, delta="1/20")])
NOISE = {"two pairs": ShapeNoise(TWO), "with an end": ShapeNoise(ENDED), "gaussian": GaussianNoise(Gaussian(1))}
SURVEY = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", "Ely"]})


def sidecar(mechanism, ends):
    """What publish writes about counts with this noise."""
    limits = {} if ends is None else {"lower": ends[0], "upper": ends[1]}
    return {
        "format": "irisdp/release/1",
        "privacy": privacy_to_document(mechanism.privacy),
        "mechanism": {**mechanism.to_document(), **limits},
    }


def rows_of(mechanism, counts, ends):
    """The stated law of what is shown about each count, as floats."""
    upper = None if ends is None else np.array([ends[1]])
    found = []
    for count in counts:
        law = mechanism.law(CountNodes(np.array([count]), np.array([ends[0] if ends else 0]), upper), 0, counts[-1])
        found.append({z: float(p.upper if isinstance(p, Enclosure) else p) for z, p in law.items()})
    return found


def best(rows, counts, loss, prior):
    """The least worst, or mean, loss of any reading; by a program in floats."""
    values, program = sorted(set().union(*rows)), Program()
    width = len(counts)
    first = program.table(len(values), width)
    lines = [
        {
            first + place * width + at: row.get(z, 0.0) * float(loss.at(count, answer))
            for place, z in enumerate(values)
            for at, answer in enumerate(counts)
        }
        for row, count in zip(rows, counts, strict=True)
    ]
    if prior is None:
        program.worst(lines)
    else:
        for weight, line in zip(prior, lines, strict=True):
            for column, cost in line.items():
                program.cost[column] = program.cost.get(column, 0.0) + weight * cost
    return program.minimum()


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.4, 0.2, 0.1]])
@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "pinball:1:3"])
@pytest.mark.parametrize("ends", [None, (0, 4), (0, 9)])
@pytest.mark.parametrize("name", NOISE)
def test_readings_are_the_best_there_are(name, ends, loss, prior):
    mechanism, counts = NOISE[name], range(5)
    found = interpret(sidecar(mechanism, ends), 2, loss=loss, at_most=4, prior=prior)
    rule = found.answers[0].rule
    rows = rows_of(mechanism, counts, ends)
    assert float(rule.value) == pytest.approx(best(rows, counts, read_loss(loss, 4), prior), rel=1e-6, abs=1e-9)
    assert rule.lower_bound <= rule.value <= rule.lower_bound * (1 + F(1, 10**6)) + F(1, 10**9)
    assert rule.universal is False
    # What is claimed of the reading is what it costs under the stated law.
    costs = [
        sum(
            p * float(chance) * float(read_loss(loss, 4).at(count, answer))
            for z, p in row.items()
            for answer, chance in rule.at(z)
        )
        for count, row in zip(counts, rows, strict=True)
    ]
    cost = max(costs) if prior is None else sum(w * c for w, c in zip(prior, costs, strict=True))
    assert cost == pytest.approx(float(rule.value), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", NOISE)
def test_counts_are_read_where_they_lie(name):
    """Bounds from below, values beyond all that tells counts apart, and tables of losses."""
    release = sidecar(NOISE[name], None)
    near = interpret(release, 103, at_least=100, at_most=106).answers[0]
    assert near.reading == 103
    far = interpret(release, 10**9, at_least=100, at_most=106).answers[0]
    assert far.reading >= interpret(release, 104, at_least=100, at_most=106).answers[0].reading
    assert far.rule.posterior(far.published).probabilities.argmax() >= 5
    table = [[abs(i - v) for v in range(4)] for i in range(4)]
    given = interpret(release, 1, loss=table).answers[0].rule
    assert given.value == pytest.approx(interpret(release, 1, at_most=3).answers[0].rule.value)


@pytest.mark.parametrize("asked", [{"mu": 1, "delta": "1e-6"}])
def test_publications_and_lines_of_ledgers_are_read(asked, tmp_path):
    ledger, grouped = tmp_path / "l.ledger", {"by": "town", "groups": ["York", "Ely"]}
    found = publish(SURVEY, "count", "age > 64", **grouped, **asked, ledger=ledger, out=tmp_path / "a.csv")
    for release in (found, tmp_path / "a.csv", tmp_path / "a.csv.release.json"):
        assert len(interpret(release, at_most=6).answers) == 2
    with pytest.raises(BadInput, match=r"^at_most: is needed: counts with this noise are read among finitely many"):
        interpret(found)
    other = tmp_path / "m.ledger"
    whole = publish(SURVEY, "count", "age > 64", relation="exchange", **asked, ledger=other)
    assert interpret(whole).answers[0].rule.possible == (0, 6)


@pytest.mark.parametrize(("changed", "said"), [
    ({"privacy": {"epsilon": 1}}, "release: "),
    ({"privacy": None}, "privacy: must be an object"),
    ({"mechanism": {"kind": "shape-noise"}}, "release: has noise of another guarantee than it states"),
])  # fmt: skip
def test_files_that_contradict_themselves_are_refused(changed, said):
    with pytest.raises(BadInput) as refused:
        interpret({**sidecar(NOISE["gaussian"], None), **changed}, 1, at_most=3)
    assert str(refused.value).startswith(said)


def test_too_many_counts_are_refused_in_one_line():
    with pytest.raises(BadInput) as refused:
        interpret(sidecar(NOISE["gaussian"], (0, 5000)), 1)
    assert str(refused.value).startswith("at_most: leaves 5,001 counts possible, too many to read with this noise; say")


def gaussian_sidecar(mu, stated=None):
    return {
        "format": "irisdp/release/1",
        "privacy": {"gaussian": mu},
        "mechanism": {"kind": "gaussian-noise", "mu": mu if stated is None else stated},
    }


@pytest.mark.parametrize("stated", ["3", None, [], "x"])
def test_a_sidecar_that_states_two_noises_is_refused(stated):
    document = gaussian_sidecar("1", stated) if stated is not None else gaussian_sidecar("1")
    if stated is None:
        del document["mechanism"]["mu"]
    with pytest.raises(BadInput):
        interpret(document, value=3, at_most=5)


def log_tail(x):
    """The logarithm of P(N(0, 1) > x) for x ≥ 2, by 400 levels of Laplace's continued fraction."""
    bottom = x
    for level in range(400, 0, -1):
        bottom = x + level / bottom
    return -x * x / 2 - math.log(2 * math.pi) / 2 - math.log(bottom)


@pytest.mark.parametrize(("mu", "value"), [("1/1000", 10**7), ("1", 40), ("1", -30), ("2", 8), ("1/10", 3)])
def test_a_value_far_out_says_what_the_gaussian_says_of_it(mu, value):
    """However far out: beyond twelve deviations values are lumped for the game only."""
    most = 1 if mu == "1/1000" else 9
    found = interpret(gaussian_sidecar(mu), value=value, at_most=most).posterior()
    assert len(found.probabilities) == most + 1
    sigma = 1 / float(F(mu))

    def log_mass(count):
        """By Laplace's continued fraction or, near, by the standard library."""
        near, far = ((abs(value - count) + step) / sigma for step in (-0.5, 0.5))
        if far < 5:
            return math.log((math.erfc(near / math.sqrt(2)) - math.erfc(far / math.sqrt(2))) / 2)
        return log_tail(near) + math.log1p(-math.exp(log_tail(far) - log_tail(near)))

    logs = np.array([log_mass(count) for count in range(most + 1)])
    weights = np.exp(logs - logs.max())
    assert found.probabilities == pytest.approx(weights / weights.sum(), rel=1e-6, abs=1e-300)


# What `interpret` says a reading costs, against the cost summed out over every published value, in fractions.
#
# The oracle knows the law of clamped two-sided geometric noise and the loss, and asks the rule what it answers; it
# shares no code with the solver. The best reading possible is found by another linear program, in floats.

SOLVED, SEARCHED = 1e-7, 1e-6
"""Relative: what HiGHS may be off by in programs of some hundred columns; and what a search for a bound leaves open."""


NAMED_STATED_LOSSES = {
    "absolute": lambda i, v: abs(i - v),
    "squared": lambda i, v: (i - v) ** 2,
    "zero-one": lambda i, v: int(i != v),
}


def cumulative(value, count, alpha):
    """Return the probability that count + noise is at most a value."""
    error = value - count
    if error >= 0:
        return 1 - alpha ** (error + 1) / (1 + alpha)
    return alpha**-error / (1 + alpha)


def law_stated_losses(count, values, alpha):
    """Return the law of count + noise, clamped to the values, which are consecutive."""
    below = [cumulative(value, count, alpha) for value in values[:-1]] + [Fraction(1)]
    return [high - low for low, high in zip([Fraction(0), *below], below, strict=False)]


def judge(ratio, ends, loss, counts, prior=None, known=None):
    """Hold stated loss and bound of one reading to their oracles."""
    alpha, price = 1 / Fraction(ratio), NAMED_STATED_LOSSES[loss] if isinstance(loss, str) else lambda i, v: loss[i][v]
    # Without ends, values far out are read like the nearest that is listed here: 9 beyond what anybody knows of.
    values = list(range(ends[0], ends[1] + 1)) if ends else list(range(-9, 25))
    given_ = known if known is not None else {"side_information": counts}
    release = NoisyCount(privacy=Privacy.from_ratio(ratio), ends=(ends,))
    rule = interpret(release, values[0], loss=loss, prior=prior, **given_).answers[0].rule
    reading = [rule.at(rule.released(value)) for value in values]
    expected = {
        i: sum(
            p * sum(q * price(i, v) for v, q in line)
            for p, line in zip(law_stated_losses(i, values, alpha), reading, strict=True)
        )
        for i in counts
    }
    cost = max(expected.values()) if prior is None else sum(prior[i] * expected[i] for i in counts)
    tolerance = Fraction(1, 10**8) * (1 + abs(cost))
    assert cost <= rule.value <= cost + tolerance
    answers = range(len(loss)) if not isinstance(loss, str) else range(25)
    best = optimum(counts, values, alpha, price, answers, prior)
    assert float(rule.lower_bound) <= best + SOLVED * (1 + abs(best))
    assert float(rule.value) == pytest.approx(best, abs=SEARCHED * (1 + abs(best)))
    return rule


def optimum(counts, values, alpha, price, answers, prior):
    """Return the least worst (or mean) loss of any reading, by linear programming."""
    program = Program()
    first = program.table(len(values), len(answers))
    losses = {i: [p * price(i, v) for p in law_stated_losses(i, values, alpha) for v in answers] for i in counts}
    if prior is not None:
        program.charge(first, [sum(prior[i] * losses[i][k] for i in counts) for k in range(len(values) * len(answers))])
    else:
        program.worst({first + k: x for k, x in enumerate(losses[i])} for i in counts)
    return program.minimum()


@st.composite
def cases(draw):
    ends = draw(st.none() | st.tuples(st.integers(0, 4), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair))))
    named = draw(st.booleans())
    low, high = ends or (0, draw(st.integers(0, 7)))
    if named:
        loss, largest = draw(st.sampled_from(sorted(NAMED_STATED_LOSSES))), high
    else:
        largest = draw(st.integers(max(low, high - 3), high + 3))
        entry = st.integers(-3, 6)
        line = st.lists(entry, min_size=largest + 1, max_size=largest + 1)
        loss = draw(st.lists(line, min_size=largest + 1, max_size=largest + 1))
    top = min(high, largest)
    counts = sorted(draw(st.sets(st.integers(low, top), min_size=1)))
    return draw(st.sampled_from(["2", "4", "11/10", "7/3"])), ends, loss, counts


@settings(max_examples=tried(48, 120), deadline=None)
@given(cases())
def test_the_stated_loss_is_the_worst_there_is(case):
    judge(*case)


@settings(max_examples=tried(24, 60), deadline=None)
@given(cases(), st.lists(st.integers(1, 5), min_size=25, max_size=25))
def test_the_stated_loss_is_the_mean_under_a_prior(case, weights):
    ratio, ends, loss, counts = case
    total = sum(weights[i] for i in counts)
    prior = [Fraction(weights[i], total) if i in counts else Fraction(0) for i in range(counts[-1] + 1)]
    judge(ratio, ends, loss, counts, prior)


@pytest.mark.parametrize("ends", [None, (0, 2), (0, 5), (1, 4), (3, 3)])
@pytest.mark.parametrize("size", [4, 6, 9])
@pytest.mark.parametrize("known", [{}, {"at_least": 2}, {"at_most": 2}, {"at_least": 1, "at_most": 8}])
def test_windows_of_knowledge_inside_outside_and_across_the_ends(ends, size, known):
    low = max(known.get("at_least", 0), ends[0] if ends else 0)
    high = min(known.get("at_most", 99), ends[1] if ends else 99, size - 1)
    tables = [
        [[abs(i - v) for v in range(size)] for i in range(size)],
        [[(3 * i + 5 * v) % 7 - 2 for v in range(size)] for i in range(size)],
        [[int((v - i) % size not in (0, 2)) for v in range(size)] for i in range(size)],
    ]
    beyond = "at_most" in known and size - 1 < min(known["at_most"], ends[1] if ends else 99)
    for table in tables:
        if low > high or beyond:  # no count is possible, or the table contradicts what the reader says
            with pytest.raises(BadInput):
                interpret(NoisyCount(privacy=Privacy.from_ratio(2), ends=(ends,)), low, loss=table, **known)
        else:
            judge("2", ends, table, list(range(low, high + 1)), known=known)


def test_an_epsilon_with_a_long_ratio_is_read_as_well():
    privacy = Privacy(epsilon=1)
    table = [[(3 * i + 5 * v) % 7 for v in range(9)] for i in range(9)]
    judge(privacy.ratio, (1, 4), table, [1, 2, 3, 4])
    judge(privacy.ratio, None, table, [2, 5, 6])


def test_counts_that_the_release_rules_out_cannot_be_possible():
    release = NoisyCount(privacy=Privacy.from_ratio(2), ends=((3, 6),))
    for counts in ([0, 4], [4, 9]):
        with pytest.raises(BadInput, match="side_information"):
            interpret(release, 3, loss="absolute", side_information=counts)
