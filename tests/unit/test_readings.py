"""Consumers and their readings: examples, corner cases and bad input."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from irisdp import BadInput, Mechanism, Privacy, design, interpret
from irisdp._cli import run
from irisdp.consumers import (
    Consumer,
    Loss,
    Tail,
    _minimax,
    excess,
    loss_of_reading,
    optimal_reading,
    pinball,
    posterior,
    read_loss,
    squared,
    threshold,
)
from irisdp.consumers._linear_programs import CumulativeProgram
from irisdp.consumers._loss_functions import SPELLINGS
from irisdp.design import from_spec
from irisdp.mechanisms import FactoredMechanism, geometric
from support.seeds import fresh_generator

FLOATS = 1e-14
"""Probabilities in doubles, each within a few roundings of 2^-53."""


def noise(n, ratio):
    return FactoredMechanism(privacy=Privacy.from_ratio(ratio), n=n)


LOSSES = [
    "absolute",
    "squared",
    "zero-one",
    {"name": "pinball", "too_low": 1, "too_high": 3},
    {"name": "threshold", "beyond": 2},
    {"name": "excess", "beyond": 2},
]


@pytest.mark.parametrize(("loss", "field"), [
    ("cubic", "loss"),
    (7, "loss"),
    ({"name": "absolute", "beyond": 1}, "loss"),
    ({"name": "threshold"}, "loss"),
    ({"beyond": 1}, "loss"),
    ({"name": "threshold", "beyond": -1}, "beyond"),
    ({"name": "excess", "beyond": 1.5}, "beyond"),
    ({"name": "pinball", "too_low": 0, "too_high": 1}, "too_low"),
    ({"name": "pinball", "too_low": 1, "too_high": float("nan")}, "too_high"),
    ({"name": "pinball", "too_low": 1, "too_high": 10**40}, "slope"),
    ([[0, 1], [1, 0]], "loss"),
    ([[0, 1, 2], [1, 0], [1, 1, 1]], "loss"),
    ([[0, 1, 2], [1, 0, "x"], [1, 1, 1]], "loss"),
    ([[0, 1, 2], [1, 0, 10**31], [1, 1, 1]], "loss"),
    (Loss(name="mine", entries=((Fraction(0),),)), "loss"),
], ids=str)  # fmt: skip
def test_losses_that_are_none_are_refused_in_one_line(loss, field):
    with pytest.raises(BadInput, match=field) as refused:
        Consumer(2, loss)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["jump", "slope", "curvature"])
def test_a_tail_that_falls_is_refused(name):
    with pytest.raises(BadInput, match=name):
        Tail(**{name: Fraction(-1)})


@pytest.mark.parametrize(
    "side_information",
    [[], [3], [-1], [0.5], [True], "012", 2, {"at_least": 2, "at_most": 1}, {"from": 1}, {"at_most": 3}],
    ids=str,
)
def test_side_information_that_leaves_nothing_or_is_none_is_refused(side_information):
    with pytest.raises(BadInput, match="side_information") as refused:
        Consumer(2, "absolute", side_information=side_information)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("prior", [
    [1, 0],
    ["1/2", "1/2", "1/2"],
    ["3/2", "-1/2", 0],
    np.array([np.nan, 0.5, 0.5]),
    np.array([0.5, 0.5]),
    [0.5, 0, 0.5],
    "uniform",
    stats.binom(2, 0.5),
    stats.randint(5, 7),
], ids=range(9))  # fmt: skip
def test_priors_that_are_none_or_contradict_the_side_information_are_refused(prior):
    with pytest.raises(BadInput, match="prior") as refused:
        Consumer(2, "absolute", side_information=[0, 1], prior=prior)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("n", [-1, 2.5, True, 10**8])
def test_counts_that_are_none_are_refused(n):
    with pytest.raises(BadInput, match="n"):
        Consumer(n, "absolute")


def test_a_mechanism_for_other_counts_is_refused():
    consumer = Consumer(2, "absolute")
    for use in (optimal_reading, loss_of_reading, lambda deployed, reader: posterior(deployed, 0, reader)):
        with pytest.raises(BadInput, match="deployed"):
            use(noise(3, 2), consumer)


def test_what_is_too_large_for_a_matrix_is_refused_before_it_is_built():
    n = 10**6
    with pytest.raises(BadInput, match="deployed"):
        optimal_reading(noise(n, 2), Consumer(n, Loss(name="cubic", low=Tail(curvature=1), high=Tail(curvature=1))))


def test_losses_are_what_they_say():
    assert [squared().at(3, v) for v in range(5)] == [9, 4, 1, 0, 1]
    assert [pinball(too_low=1, too_high="5/2").at(2, v) for v in range(4)] == [2, 1, 0, Fraction(5, 2)]
    assert [threshold(1).at(0, v) for v in range(4)] == [0, 0, 1, 1]
    assert [excess(1).at(0, v) for v in range(4)] == [0, 0, 1, 2]
    assert Consumer(2, [[0, 1, 2], [1, 0, 1], [1, 2, 0]]).universal is False
    assert Consumer(2, [[0, 1, 2], [1, 0, 1], [2, 2, 0]]).universal is True
    # Only what is possible has to behave.
    assert Consumer(2, [[0, 1, 2], [1, 0, 1], [1, 2, 0]], side_information=[0, 1]).universal is True


def test_a_bayesian_reading_tosses_no_coin():
    for loss in LOSSES:
        for n in (6, 40):
            weights = [Fraction(2 * i + 1, (n + 1) ** 2) for i in range(n + 1)]
            found = optimal_reading(noise(n, Fraction(3, 2)), Consumer(n, loss, prior=weights))
            assert len(found.answers) == n + 1
            assert all(p == 1 for p in found.chances)
            assert found.at(3) == ((int(found.answers[3]), Fraction(1)),)


@pytest.mark.parametrize("distribution", [stats.binom(40, 0.3), stats.poisson(12), stats.randint(0, 41)])
def test_a_scipy_distribution_is_its_values_on_the_counts(distribution):
    values = distribution.pmf(np.arange(41))
    given = Consumer(40, "absolute", prior=distribution)
    assert sum(given.exact_prior()) == 1
    # The same numbers as a list of exact ones, normalised.
    total = sum(map(Fraction, values.tolist()))
    exact = Consumer(40, "absolute", prior=[Fraction(x) / total for x in values.tolist()])
    found, again = (optimal_reading(noise(40, 2), consumer) for consumer in (given, exact))
    assert found.answers.tolist() == again.answers.tolist()
    assert abs(found.value - again.value) < Fraction(1, 10**12)


@pytest.mark.parametrize("n", [3, 30])
def test_a_posterior_is_the_rule_of_bayes(n):
    deployed = noise(n, Fraction(3, 2))
    read = FactoredMechanism(
        privacy=deployed.privacy, n=n, reading={z: ((min(z + 1, n), Fraction(1)),) for z in range(n + 1)}
    )
    weights = [Fraction(i + 1) for i in range(n + 1)]
    prior = [w / sum(weights) for w in weights]
    for mechanism in (deployed, deployed.expand(), read):
        for consumer in (Consumer(n, "absolute", prior=prior), Consumer(n, "absolute", side_information=[1, 3])):
            believed = prior if consumer.prior is not None else [Fraction(i in (1, 3)) for i in range(n + 1)]
            joint = [p * mechanism.row(i)[2] for i, p in enumerate(believed)]
            found = posterior(mechanism, 2, consumer)
            assert abs(found.sum() - 1) < FLOATS
            assert all(abs(x - float(p / sum(joint))) < FLOATS for x, p in zip(found, joint, strict=True))


def test_a_posterior_of_nothing_is_refused():
    consumer = Consumer(1, "absolute", side_information=[0])
    sure = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=Privacy.from_ratio(2))
    with pytest.raises(BadInput, match="value"):
        posterior(sure, 1, consumer)
    with pytest.raises(BadInput, match="value"):
        posterior(sure, 2, consumer)


def test_face_value_needs_counts_and_a_reading_every_value():
    named = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=Privacy.from_ratio(2), outputs=("no", "yes"))
    with pytest.raises(BadInput, match="deployed"):
        loss_of_reading(named, Consumer(1, "absolute"))
    with pytest.raises(BadInput, match="reading"):
        loss_of_reading(named, Consumer(1, "absolute"), {0: ((0, Fraction(1)),)})
    # E|i − z| at the worst count, i = 1 or 2: (1/4 + 4/4 ... )/5 as fractions.
    n, ratio = 3, Fraction(4)
    rows = [geometric(n, Privacy.from_ratio(ratio)).row(i) for i in range(n + 1)]
    exact = max(sum(p * abs(i - z) for z, p in enumerate(row)) for i, row in enumerate(rows))
    found = loss_of_reading(noise(n, ratio), Consumer(n, "absolute"))
    assert exact <= found <= exact * (1 + Fraction(1, 10**12))


def test_a_composed_reading_of_many_counts_needs_no_matrix():
    n = 10_000
    shifted = {z: ((min(z + 1, n), Fraction(1, 2)), (z, Fraction(1, 2))) for z in range(n + 1)}
    deployed = FactoredMechanism(privacy=Privacy.from_ratio(3), n=n, reading=shifted)
    found = loss_of_reading(deployed, Consumer(n, "absolute"))
    # Far from the ends: half E|Z| = 3/4 and half E|Z + 1| = 3/4 + P(Z = 0) = 5/4.
    assert abs(found - 1) < Fraction(1, 10**9)


@pytest.mark.parametrize("n", [2, 50])
def test_an_answer_that_never_hurts_costs_nothing(n):
    for loss, side in (
        ({"name": "threshold", "beyond": 1}, [0, 1, 2]),
        ("squared", [1]),
        ([[5] * n + [0]] * (n + 1), None),
    ):
        consumer = Consumer(n, loss, side_information=side)
        found = optimal_reading(noise(n, 2), consumer)
        assert found.value == found.lower_bound == found.gap == 0
        assert len(set(found.answers.tolist())) == 1
        assert loss_of_reading(noise(n, 2), consumer, found.reading()) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    "ratio", [1, Fraction(10**30), Fraction(10**400), Fraction(2)], ids=["1", "1e30", "1e400", "2"]
)
@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_no_privacy_and_nothing_but_privacy_are_read_well(n, ratio):
    for loss in LOSSES:
        for prior in (None, [Fraction(1, n + 1)] * (n + 1)):
            consumer = Consumer(n, loss, prior=prior)
            found = optimal_reading(noise(n, ratio), consumer)
            assert 0 <= found.lower_bound <= found.value
            assert found.value - found.lower_bound <= Fraction(1, 10**9) * found.value + Fraction(n**2, 10**15)
            if ratio > 10**20:
                assert found.value < Fraction(1, 10**11)
    if ratio == 1 and n:
        # Noise that tells nothing: half of the largest error, whatever is answered.
        assert abs(optimal_reading(noise(n, 1), Consumer(n, "absolute")).value - Fraction(n, 2)) < Fraction(1, 10**9)


def test_numbers_below_nothing_are_read_too():
    table = [[-1, -1], [-1, -1]]
    found = optimal_reading(noise(1, 2), Consumer(1, table))
    assert found.value == found.lower_bound == -1
    assert sum(found.weights) == 1
    found = optimal_reading(noise(1, 2), Consumer(1, [[-3, 1], [1, -3]]))
    assert found.value == found.lower_bound == 1 - 4 * Fraction(2, 3)


def test_a_reading_names_what_it_does_not_know():
    found = optimal_reading(noise(3, 4), Consumer(3, "absolute"))
    assert found.at(0) == ((0, Fraction(68, 83)), (1, Fraction(15, 83)))
    with pytest.raises(BadInput, match="value"):
        found.at(4)


HARD = [
    (50, "4", "squared", "scattered"),
    (200, "2", {"name": "threshold", "beyond": 2}, "scattered"),
    (200, "0.05", "zero-one", "scattered"),
    (200, "2", {"name": "pinball", "too_low": 1, "too_high": 10}, None),
    (1000, "1", {"name": "pinball", "too_low": 1, "too_high": 3}, None),
    (1000, "0.1", "absolute", None),
    (1000, "1", "squared", None),
    (600, "0.05", {"name": "excess", "beyond": 2}, {"at_least": 200}),
]


@pytest.mark.parametrize(("n", "epsilon", "loss", "side"), HARD, ids=str)
def test_hard_games_end_with_a_small_certified_gap(n, epsilon, loss, side):
    possible = fresh_generator(n).choice(n + 1, max(3, n // 10), replace=False) if side == "scattered" else side
    deployed = FactoredMechanism(privacy=Privacy(epsilon=epsilon), n=n)
    assert optimal_reading(deployed, Consumer(n, loss, side_information=possible)).gap <= Fraction(1, 10**9)


@pytest.mark.parametrize("n", [600, 601])
def test_where_the_program_begins_decides_how_long_it_takes_and_nothing_else(n, monkeypatch):
    """Half as many counts tell where to begin."""
    pivots = []
    solve = CumulativeProgram.solve

    def counted(program):
        found = solve(program)
        pivots.append(program.solver._highs.getInfo().simplex_iteration_count if program.game.n == n else 0)
        return found

    monkeypatch.setattr(CumulativeProgram, "solve", counted)

    def read():
        del pivots[:]
        return optimal_reading(FactoredMechanism(privacy=Privacy(epsilon="0.2"), n=n), Consumer(n, "squared")), max(
            pivots
        )

    near, few = read()
    monkeypatch.setattr(_minimax, "_layer", lambda *_: None)
    afresh, many = read()
    assert 2 * few < many
    mixed, everywhere = np.arange(n // 2 + 1) % 3 == 0, np.ones(n // 2 + 1, bool)
    monkeypatch.setattr(_minimax, "_layer", lambda *_: (np.arange(n // 2 + 1), mixed, everywhere))
    astray, _ = read()
    for found in (near, afresh, astray):
        assert found.gap <= 1e-9
        assert found.lower_bound <= min(near.value, afresh.value, astray.value)


# A reader's loss is read in one place: the command line, Python and specs take the same spellings and refuse alike.

MECHANISM = design.geometric(3, Privacy.from_ratio(4))
SAME = [
    ("absolute", {"name": "absolute"}),
    ("squared", {"name": "squared"}),
    ("zero-one", {"name": "zero-one"}),
    ("pinball:1:2", {"name": "pinball", "too_low": 1, "too_high": 2}),
    ("asymmetric:1:2", {"name": "pinball", "too_low": 1, "too_high": 2}),
    ("pinball:1:2", {"name": "asymmetric", "too_low": 1, "too_high": 2}),
    ("pinball:1/3:0.5", {"name": "pinball", "too_low": "1/3", "too_high": "1/2"}),
    ("threshold:1", {"name": "threshold", "beyond": 1}),
    ("excess:1", {"name": "excess", "beyond": 1}),
]
FORMS = f"write {', '.join(SPELLINGS)}, or give a table"


@pytest.mark.parametrize(("text", "fields"), SAME)
def test_every_spelling_is_read_alike_everywhere(text, fields, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 4}}')
    assert run(["design", "spec.json", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert run(["interpret", "m.json", "--value", "0", "--loss", text, "--json"]) == 0
    typed = json.loads(capsys.readouterr().out)
    Path("loss.json").write_text(json.dumps(fields))
    ways = [interpret(MECHANISM, 0, loss=loss) for loss in (text, fields, "loss.json", Path("loss.json"))]
    assert {way.answers[0].rule.value for way in ways} == {ways[0].answers[0].rule.value}
    assert typed["worst_loss"] == float(ways[0].answers[0].rule.value)
    made = [from_spec({"kind": "consumer", "n": 3, "loss": loss, "privacy": {"ratio": 4}}) for loss in (text, fields)]
    assert made[0].objective == made[1].objective
    assert made[0].objective.value == ways[0].answers[0].rule.value  # noise serves these readers best


@pytest.mark.parametrize(("loss", "words"), [
    ("3/lambda", FORMS),
    ("", FORMS),
    ("median", FORMS),
    ("absolute:1", "absolute takes no parameters; write absolute"),
    ("pinball", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
    ("asymmetric:1", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
    ("pinball:1", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
    ("pinball:1:2:3", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
    ("threshold", "threshold takes beyond; write threshold:K"),
    ("excess:1:2", "excess takes beyond; write excess:K"),
    ("pinball:x:1", "too_low: must be a finite number"),
    ("threshold:0.5", "beyond: must be a whole number"),
])  # fmt: skip
def test_every_bad_spelling_is_refused_alike_everywhere(loss, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 4}}')
    assert run(["design", "spec.json", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert run(["interpret", "m.json", "--value", "0", "--loss", loss]) == 2
    assert words in capsys.readouterr().err
    with pytest.raises(BadInput) as found:
        interpret(MECHANISM, 0, loss=loss)
    assert words in str(found.value)
    with pytest.raises(BadInput) as found:
        from_spec({"kind": "consumer", "n": 3, "loss": loss, "privacy": {"ratio": 4}})
    assert words in str(found.value)


def test_a_spec_names_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loss.json").write_text('"absolute"')
    with pytest.raises(BadInput, match=r"^loss: is not a loss with a name"):
        from_spec({"kind": "consumer", "n": 3, "loss": "loss.json", "privacy": {"ratio": 4}})


@pytest.mark.parametrize("loss", SPELLINGS)
def test_each_loss_with_a_name_is_named_wherever_they_are_listed(loss, capsys):
    assert run(["interpret", "-h"]) == 0
    shown = "".join(re.findall(r"[\w:-]+", capsys.readouterr().out))
    assert loss in shown
    assert f'"{loss}"' in interpret.__doc__
    assert f'"{loss}"' in read_loss.__doc__
    assert any(text.split(":")[0] == loss.split(":")[0] for text, _ in SAME), "no case above says how it is read"
