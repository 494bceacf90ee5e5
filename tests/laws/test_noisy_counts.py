"""Counts with noise under several pairs, or Gaussian privacy: draws have the stated law, which keeps the promise."""

from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import BadInput, NeighbouringRelation, Privacy
from irisdp._exact import Enclosure
from irisdp._measurements import (
    CountNodes,
    DecisionMeasurement,
    GaussianNoise,
    GeometricNoise,
    ShapeNoise,
    UniversalNoiseMeasurement,
)
from irisdp._queries import Count
from irisdp._queries.majority import Majority
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.privacy import Gaussian
from support.closeness import hockey_stick
from support.gaussian import gaussian_step
from support.sweeps import tried

TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
ENDED = Privacy.all([Privacy(ratio=2, delta="1/50"), Privacy(ratio="3/2", delta="1/10")])
MANY = Privacy.gaussian(2, gap="1e-2")
MOST = 3
NOISE = {
    "two pairs": ShapeNoise(TWO),
    "with an end": ShapeNoise(ENDED),
    "many pairs": ShapeNoise(MANY),
    "gaussian": GaussianNoise(Gaussian(1)),
    "little": GaussianNoise(Gaussian(3)),
}
SHAPES = ["two pairs", "with an end", "many pairs"]


def node(value, lower=0, upper=None):
    ends = None if upper is None else np.array([upper])
    return CountNodes(np.array([value]), np.array([lower]), ends)


def bounds(law):
    """The law from below and from above."""
    least = {z: p.lower if isinstance(p, Enclosure) else p for z, p in law.items()}
    return least, {z: p.upper if isinstance(p, Enclosure) else p for z, p in law.items()}


@pytest.mark.parametrize("ends", [(0, None), (0, 4), (2, 2)])
@pytest.mark.parametrize("name", NOISE)
def test_laws_add_up_and_end_where_counts_do(name, ends):
    for value in range(ends[0], MOST + 1 if ends[1] is None else ends[1] + 1):
        least, most = bounds(NOISE[name].law(node(value, *ends), 0, ends[1] or MOST))
        assert sum(least.values()) <= 1 <= sum(most.values()) <= 1 + F(1, 10**29)
        assert sum(least.values()) == 1 or isinstance(NOISE[name], GaussianNoise)
        if ends[1] is not None:
            assert min(least) >= ends[0]
            assert max(least) <= ends[1]


@pytest.mark.parametrize(("word_bits", "words"), tried([(1, 9), (9, 1)], [(1, 9), (3, 3), (9, 1)]))
@pytest.mark.parametrize("name", NOISE)
def test_draws_have_the_stated_law(name, word_bits, words):
    """Every script of words: what is decided for an answer is at most its probability, and short of it by the rest."""
    mechanism, nodes = NOISE[name], node(2, 0, 5)

    def shown(bits):
        return mechanism.show(mechanism.draw(nodes, source=bits).tolist(), nodes)[0]

    found = law_of(shown, word_bits=word_bits, words=words)
    least, most = bounds(mechanism.law(nodes, 0, 5))
    assert set(found.outcomes) <= set(least)
    assert found.undecided < F(1, 4)
    for answer in least:
        decided = found.outcomes.get(answer, F(0))
        assert decided <= most[answer]
        assert decided + found.undecided >= least[answer]


def test_another_law_is_noticed():
    """Negative control."""
    nodes = node(2, 0, 5)
    other = NOISE["two pairs"]
    found = law_of(lambda bits: other.show(other.draw(nodes, source=bits).tolist(), nodes)[0], word_bits=9, words=1)
    law = NOISE["with an end"].law(nodes, 0, 5)
    assert any(found.outcomes.get(z, F(0)) > p for z, p in law.items())


@pytest.mark.parametrize("ends", [(0, None), (0, MOST)])
@pytest.mark.parametrize("name", SHAPES)
def test_neighbouring_counts_are_close_under_every_pair(name, ends):
    mechanism, tight = NOISE[name], 0
    for value in range(MOST):
        here, there = (mechanism.law(node(count, *ends), 0, MOST) for count in (value, value + 1))
        for pair in mechanism.privacy.pairs:
            worst = max(hockey_stick(here, there, pair.ratio), hockey_stick(there, here, pair.ratio))
            assert worst <= pair.delta
            tight += worst == pair.delta > 0
    assert tight or ends[1] is not None or name == "many pairs"


def test_noise_rounded_to_no_whole_unit_is_caught(monkeypatch):
    """Planted: as many cells again to a unit as there are, so that a count moves the law twice as far."""
    mechanism = NOISE["two pairs"]
    here, there = (mechanism.law(node(count), 0, MOST) for count in (0, 1))
    real = type(mechanism.noise).below_exactly
    monkeypatch.setattr(type(mechanism.noise), "below_exactly", lambda law, z: real(law, 2 * z))
    wrong = [mechanism.law(node(count), 0, MOST) for count in (0, 1)]
    for pair in mechanism.privacy.pairs:
        assert hockey_stick(here, there, pair.ratio) <= pair.delta
    assert any(hockey_stick(*wrong, pair.ratio) > pair.delta for pair in mechanism.privacy.pairs)


@pytest.mark.parametrize("ends", [(0, None), (0, MOST)])
@pytest.mark.parametrize("name", ["gaussian", "little"])
def test_neighbouring_counts_lie_below_the_gaussian_curve(name, ends):
    """Rows are monotone in the likelihood ratio, so that events "at most z" and "at least z" are all that matter."""
    mechanism = NOISE[name]
    slack = F(1, 10**25)
    for value in range(MOST):
        laws = [mechanism.law(node(count, *ends), 0, MOST) for count in (value, value + 1)]
        for here, there in (laws, laws[::-1]):
            for up in (False, True):
                p = q = F(0)
                for z in sorted(here, reverse=up):
                    p, q = p + here[z].upper, q + there[z].lower
                    if not F(1, 10**12) < p < 1 - F(1, 10**12):
                        continue
                    assert q <= gaussian_step(p, mechanism.privacy.mu, width=F(1, 10**30)).upper + slack


def test_a_little_less_noise_is_above_the_gaussian_curve():
    """Negative control: at 1.2 times the μ, some event is told apart better than the curve allows."""
    here, there = (GaussianNoise(Gaussian("1.2")).law(node(count), 0, 1) for count in (0, 1))
    above, p, q = 0, F(0), F(0)
    for z in sorted(here, reverse=True):
        p, q = p + here[z].upper, q + there[z].lower
        if F(1, 10**12) < p < 1 - F(1, 10**12):
            above += q > gaussian_step(p, F(1), width=F(1, 10**30)).upper
    assert above


@pytest.mark.parametrize("name", NOISE)
def test_stated_errors_are_those_of_the_law(name):
    error = NOISE[name].expected_error()
    least, _ = bounds(NOISE[name].law(node(40), 0, 80))
    chances = {abs(z - 40): p for z, p in least.items()} | {0: least[40] / 2}
    mean = 2 * sum(far * p for far, p in chances.items())
    assert error["mean_absolute"] == pytest.approx(float(mean), rel=1e-9)
    within = error["within_95_percent"]
    assert 2 * sum(p for far, p in chances.items() if far <= within) >= F(19, 20) - F(1, 10**25)
    assert 2 * sum(p for far, p in chances.items() if far < within) < F(19, 20)


def test_queries_choose_the_noise_of_the_guarantee():
    assert Count().mechanism(TWO, NeighbouringRelation.ADD_REMOVE) == UniversalNoiseMeasurement(TWO)
    assert Count().mechanism(Gaussian(1), NeighbouringRelation.ADD_REMOVE) == GaussianNoise(Gaussian(1))
    ended, far = Privacy(ratio=2, delta="1/9"), Privacy(epsilon="1e-5", delta="1e-6")
    assert Count().mechanism(ended, NeighbouringRelation.EXCHANGE) == UniversalNoiseMeasurement(ended)
    assert Count().mechanism(Privacy(ratio=2), NeighbouringRelation.EXCHANGE) == GeometricNoise(Privacy(ratio=2))
    assert Count().mechanism(far, NeighbouringRelation.EXCHANGE) == GeometricNoise(
        far.pure
    )  # no table would be long enough
    asked = Majority("a = 1").mechanism(Gaussian(1), NeighbouringRelation.ADD_REMOVE)
    assert isinstance(asked, DecisionMeasurement)
    assert asked.privacy == Gaussian(1)
    assert asked.mechanism.privacy == Privacy.gaussian(1)
    assert asked.to_document()["pairs"] == {"gaussian": "1", "gap": "0.000001"}
    assert "pairs" not in Majority("a = 1").mechanism(TWO, NeighbouringRelation.EXCHANGE).to_document()


@pytest.mark.parametrize("mu", ["1/9000", 25])
def test_a_gaussian_without_a_table_is_refused_before_anything_is_drawn(mu):
    with pytest.raises(BadInput, match="mu"):
        GaussianNoise(Gaussian(mu))


def test_as_many_words_are_read_for_every_count():
    for mechanism in NOISE.values():
        read = set()
        for value in (0, 3, 10**6):
            bits = ScriptedBits([7 << 50] * 8, word_bits=64)
            mechanism.draw(node(value), source=bits)
            read.add(bits.read)
        assert len(read) == 1
