"""Reading published counts: bounds for unbounded counts, releases with and without ends, and what is drawn."""

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Privacy, consumers, design, interpret
from irisdp.consumers import (
    Loss,
    Tail,
    absolute,
    best_shift,
    excess,
    loss_of_shift,
    pinball,
    squared,
    threshold,
    zero_one,
)
from irisdp.interpretation import NoisyCount
from irisdp.mechanisms import FactoredMechanism

FLOATS = 1e-9
"""Relative: sums of some tens of products in doubles, and tails that are cut off below 2^-60."""

NEARLY = 1e-3
"""Relative: how near 400 counts come to unboundedly many at ratio 3/2; 5 counts are more than 5 % away."""

ENCLOSED = Fraction(1, 10**20)
"""Relative gap between loss and bound where both are enclosed from 128-bit ratios."""


LOSSES = {
    "absolute": absolute(),
    "squared": squared(),
    "zero-one": zero_one(),
    "9:1": pinball(too_low=9, too_high=1),
    "1:3": pinball(too_low=1, too_high=3),
    "beyond 2": threshold(2),
    "excess 3": excess(3),
}


def mean_loss(loss, alpha, shift):
    """Sum the loss of the noise moved by a shift, far out."""
    noise = range(-500, 501)
    return sum(float((1 - alpha) / (1 + alpha) * alpha ** abs(z)) * float(loss.at(0, z + shift)) for z in noise)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("ratio", ["11/10", "2", "50"])
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
