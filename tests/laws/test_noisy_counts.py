"""Counts with noise under several pairs, or Gaussian privacy: draws have the stated law, which keeps the promise."""

from fractions import Fraction
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from irisdp import BadInput, NeighbouringRelation, Privacy, noise
from irisdp._exact import Enclosure
from irisdp._measurements import (
    CountNodes,
    DecisionMeasurement,
    GaussianNoise,
    GeometricNoise,
    HasAuxiliaryOutput,
    ShapeNoise,
    SpreadNoise,
    StaircaseNoise,
    UniversalNoiseMeasurement,
)
from irisdp._queries import Count
from irisdp._queries.majority import Majority
from irisdp._sampling import draw_uniform
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.noise import _staircase, bounded_delta
from irisdp.noise._universal import digits_of_cells
from irisdp.privacy import Gaussian
from support.closeness import hockey_stick
from support.gaussian import gaussian_step
from support.seeds import fresh_random
from support.sweeps import tried

TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
ENDED = Privacy.all([Privacy(ratio=2, delta="1/50"), Privacy(ratio="3/2", delta="1/10")])
MANY = Privacy.gaussian(2, gap="1e-2")
MOST = 3
NOISE = {
    "two pairs": ShapeNoise(TWO), "with an end": ShapeNoise(ENDED), "many pairs": ShapeNoise(MANY),
    "gaussian": GaussianNoise(Gaussian(1)), "little": GaussianNoise(Gaussian(3)),
}  # fmt: skip
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


@pytest.mark.parametrize(("word_bits", "words"), tried([(3, 3)], [(1, 9), (3, 3), (9, 1)]))
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
    for mechanism in (*NOISE.values(), *map(UniversalNoiseMeasurement, (ALIGNED[1], UNALIGNED[4], TWO))):
        read = set()
        for value in (0, 3, 10**6):
            bits = ScriptedBits([7 << 50] * 8, word_bits=64)
            mechanism.draw(node(value), source=bits)
            read.add(bits.read)
        assert len(read) == 1


# Counts under a δ: the cells that are published have the stated law, which spends every δ; people see units.

ALIGNED = [Privacy(ratio=r).with_delta(bounded_delta(Privacy(ratio=r), k)) for r in ("3/2", 2, 4) for k in (1, 2, 3, 5)]
UNALIGNED = [Privacy(ratio=r, delta=d) for r in ("3/2", 2, 4) for d in ("1/7", "1/11", "1/40", "1e-3")]
GUARANTEES = [*ALIGNED, *UNALIGNED, Privacy(ratio=1, delta="1/9"), TWO]


@pytest.mark.parametrize("privacy", GUARANTEES, ids=str)
def test_neighbouring_counts_are_apart_by_every_delta_and_no_more(privacy):
    """Over the published cells, in fractions, whatever ends the shown numbers have."""
    mechanism = UniversalNoiseMeasurement(privacy)
    for value in range(MOST):
        here, there = (mechanism.law(node(count, 0, MOST), 0, MOST) for count in (value, value + 1))
        assert sum(here.values()) == sum(there.values()) == 1
        for pair in privacy.pairs:
            assert hockey_stick(here, there, pair.ratio) == pair.delta == hockey_stick(there, here, pair.ratio)


def test_there_is_one_cell_to_a_unit_exactly_where_noise_can_end_at_a_whole_number():
    assert [UniversalNoiseMeasurement(privacy).noise.atoms_per_unit for privacy in ALIGNED] == [1] * len(ALIGNED)
    assert {UniversalNoiseMeasurement(privacy).noise.atoms_per_unit for privacy in UNALIGNED} == {3}


@pytest.mark.parametrize(
    ("privacy", "word_bits", "words"),
    [(ALIGNED[1], 1, 9), (UNALIGNED[4], 1, 8), *((privacy, 9, 1) for privacy in (ALIGNED[1], UNALIGNED[4], TWO))],
    ids=str,
)
def test_draws_have_the_stated_law_under_delta(privacy, word_bits, words):
    """Every script of words: what is decided for a cell is at most its probability, and short of it by the rest."""
    mechanism, nodes = UniversalNoiseMeasurement(privacy), node(2)
    law, size = mechanism.law(nodes, 0, 5), mechanism.noise.atoms_per_unit
    found = law_of(lambda bits: mechanism.draw(nodes, source=bits).tolist()[0], word_bits=word_bits, words=words)
    assert found.undecided < F(1, 4)
    low, high = min(law), max(law)
    for cell, chance in law.items():
        lumped = {z for z in found.outcomes if z == cell or (cell == low and z < low) or (cell == high and z > high)}
        decided = sum((found.outcomes[z] for z in lumped), F(0))
        assert decided <= chance <= decided + found.undecided
    assert size * 2 in law


def test_people_see_the_whole_number_between_public_ends_and_readers_the_cell():
    mechanism = UniversalNoiseMeasurement(UNALIGNED[4])
    assert isinstance(mechanism, HasAuxiliaryOutput)
    assert not isinstance(GeometricNoise(Privacy(ratio=2)), HasAuxiliaryOutput)
    drawn = [-4, -3, 0, 2, 3, 16]
    free = CountNodes(np.zeros(6), np.zeros(6), None)
    ended = CountNodes(np.zeros(6), np.zeros(6), np.full(6, 4))
    assert mechanism.show(drawn, free) == [-2, -1, 0, 0, 1, 5]
    assert mechanism.show(drawn, ended) == [0, 0, 0, 0, 1, 4]
    assert mechanism.beside(drawn) == {"cells": drawn}
    assert mechanism.to_document() == {"kind": "universal-noise", "cells_per_unit": 3}


@pytest.mark.parametrize("privacy", [ALIGNED[1], UNALIGNED[4], UNALIGNED[7], TWO], ids=str)
def test_stated_errors_are_those_of_the_law_under_delta(privacy):
    mechanism = UniversalNoiseMeasurement(privacy)
    size, error = mechanism.noise.atoms_per_unit, mechanism.expected_error()
    law = mechanism.law(node(60), 0, 120)
    far = {abs(cell // size - 60) for cell in law}
    chances = {d: sum(p for cell, p in law.items() if abs(cell // size - 60) == d) for d in far}
    assert error["mean_absolute"] == pytest.approx(float(sum(d * p for d, p in chances.items())), rel=1e-9)
    within = error["within_95_percent"]
    assert sum(p for d, p in chances.items() if d <= within) >= F(19, 20)
    assert sum(p for d, p in chances.items() if d < within) < F(19, 20)
    assert sum(p for d, p in chances.items() if d <= within) in mechanism.chance_within(within)


@pytest.mark.parametrize(("privacy", "said"), [
    (Privacy(epsilon=1, delta="1e-6"), "δ buys next to nothing on a single count"),
    (Privacy(epsilon="0.1", delta="1e-6"), "δ buys next to nothing on a single count"),
    (Privacy(epsilon=1, delta="1/10"), "δ saves 30.8% of the error"),
    (TWO, "one noise serves every reader"),
], ids=str)  # fmt: skip
def test_a_plan_says_what_a_delta_is_worth(privacy, said):
    mechanism = UniversalNoiseMeasurement(privacy)
    assert "one noise serves every reader" in mechanism.describe_error()
    assert said in mechanism.describe_error()
    if privacy.single:
        without = GeometricNoise(privacy.pure).expected_error()["mean_absolute"]
        assert 1 - mechanism.expected_error()["mean_absolute"] / without == pytest.approx(mechanism.saved, abs=1e-12)
        assert mechanism.saved <= 2.1e-4 or privacy.delta > F(1, 10**6)


def test_noise_for_less_than_was_asked_is_noticed(monkeypatch):
    """Planted: cells twice as far apart, so that a count moves the law by half as many as it should."""
    mechanism = UniversalNoiseMeasurement(UNALIGNED[4])
    real = type(mechanism.noise).below_exactly
    monkeypatch.setattr(type(mechanism.noise), "below_exactly", lambda law, z: real(law, 2 * z))
    here, there = (mechanism.law(node(count), 0, MOST) for count in (0, 1))
    assert hockey_stick(here, there, mechanism.privacy.ratio) > mechanism.privacy.delta


# Noise for numbers that one person moves by more than one: private at every shift, and told as it is drawn.

RATIOS = (Fraction(3, 2), Fraction(2), Fraction(9, 2), Fraction(20))
LARGEST = 4


def law(mechanism, value):
    node = CountNodes(np.array([value]), np.array([0]), None)
    found = mechanism.law(node, 0, LARGEST)
    assert sum(found.values()) == 1
    return found


def worst(one, other):
    assert one.keys() == other.keys()
    return max(max(one[z] / other[z], other[z] / one[z]) for z in one)


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_staircase_is_private_at_every_shift_up_to_its_sensitivity_and_no_further(ratio, sensitivity):
    mechanism = StaircaseNoise(Privacy(ratio=ratio), sensitivity)
    laws = {value: law(mechanism, value) for value in range(-LARGEST, LARGEST + 1)}
    for value, other in product(laws, repeat=2):
        shift = abs(value - other)
        found = worst(laws[value], laws[other])
        assert found <= ratio if shift <= sensitivity else found > ratio


@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_spread_noise_is_private_whatever_cells_a_person_moves(ratio, sensitivity):
    mechanism = SpreadNoise(Privacy(ratio=ratio), sensitivity)
    laws = {value: law(mechanism, value) for value in range(LARGEST + 1)}
    for shifts in product(range(sensitivity + 1), repeat=3):
        spent = Fraction(1)
        for shift in shifts:
            spent *= worst(laws[0], laws[shift])
        if sum(shifts) <= sensitivity:
            assert spent <= ratio
        if sum(shifts) == sensitivity:
            assert spent > ratio * (1 - Fraction(1, 1 << 100))


@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("ratio", RATIOS)
def test_tails_of_a_staircase_are_sums_of_its_probabilities(ratio, sensitivity):
    noise = StaircaseNoise(Privacy(ratio=ratio), sensitivity).noise
    assert noise.below_exactly(0) * 2 + noise.probability(0) == 1
    for z in range(-20, 20):
        assert noise.below_exactly(z + 1) - noise.below_exactly(z) == noise.probability(z)
        enclosed, exact = noise.below(z, width="1e-40"), noise.below_exactly(z)
        assert enclosed.lower <= exact <= enclosed.upper <= enclosed.lower + Fraction(1, 10**40)


def test_errors_are_those_of_the_laws():
    error = StaircaseNoise(Privacy(epsilon=1), 5).expected_error()
    noise = StaircaseNoise(Privacy(epsilon=1), 5).noise
    within = error["within_95_percent"]
    assert 2 * noise.below_exactly(-within) <= Fraction(1, 20) < 2 * noise.below_exactly(1 - within)
    assert error["mean_absolute"] == pytest.approx(float(noise.expected().upper))
    spread = SpreadNoise(Privacy(epsilon=1), 5).expected_error()
    assert spread["mean_absolute"] > error["mean_absolute"]


# Draws from laws of noise = stated probabilities, by trying every script of words; and tables against the laws.

TWO_OF_NOISE = Privacy.all([Privacy(ratio=2, delta="1/50"), Privacy(ratio="3/2", delta="1/10")])
LAWS = {
    "geometric": noise.law("geometric", Privacy(ratio=3)),
    "bounded": noise.law("bounded", Privacy(ratio=2, delta="1/10")),
    "three atoms": noise.law("universal", Privacy(ratio=2, delta="1/7")),
    "two pairs": noise.law("universal", TWO_OF_NOISE),
    "without an end": noise.law("universal", Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])),
    "gaussian": noise.gaussian_law(1),
    "quarters": noise.gaussian_law(2, resolution="1/4"),
}


def drawn(law, value=0):
    return lambda bits: int(law.draw([value], source=bits)[0])


def holds(found, law, value=0, reach=120):
    """Tell whether each outcome's mass decided is at most its probability, and short of it by what is undecided."""
    least = {}
    for z in range(-reach, reach + 1):
        mass = law.enclose(z, width="1e-20")
        outcome = z + value * law.atoms_per_unit
        decided = found.outcomes.get(outcome, F(0))
        if decided > mass.upper or decided + found.undecided < mass.lower:
            return False
        least[outcome] = decided
    return set(found.outcomes) <= set(least)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("word_bits", "words"), tried([(1, 9), (9, 1)], [(1, 9), (3, 3), (9, 1)]))
def test_draws_have_the_stated_law_of_noise(name, word_bits, words):
    law = LAWS[name]
    found = law_of(drawn(law, 5), word_bits=word_bits, words=words)
    assert holds(found, law, 5)
    assert found.undecided < F(1, 4)


@pytest.mark.parametrize("step_for", ["absolute", "squared"])
@pytest.mark.parametrize("sensitivity", [1, 3, 2, 4][: tried(2, 4)])
@pytest.mark.parametrize(
    ("most", "word_bits", "words", "undecided"),
    [(1 << 11, 9, 1, F(1, 4)), (1 << 11, 3, 3, F(1, 4)), (70, 5, 2, F(1, 2)), (1, 2, 6, F(9, 10))],
)
def test_staircases_have_the_stated_law(sensitivity, step_for, most, word_bits, words, undecided, monkeypatch):
    """From one table; from two words, for the stretch and the place; or from four numbers, whatever their size."""
    monkeypatch.setattr(_staircase, "_MOST_THRESHOLDS", most)
    law = noise.law("staircase", Privacy(ratio=4), sensitivity, step_for)
    found = law_of(drawn(law, 2), word_bits=word_bits, words=words)
    assert holds(found, law, 2)
    assert found.undecided < undecided


@pytest.mark.parametrize("most", [1 << 11, 70, 1])
def test_many_draws_of_staircases_are_alike_in_each_way(most, monkeypatch):
    """Bulk draws take the paths that single draws by enumeration take: shares within 6 standard errors."""
    monkeypatch.setattr(_staircase, "_MOST_THRESHOLDS", most)
    law, number = noise.law("staircase", Privacy(ratio=4), 3), 60_000
    found = law.draw(np.full(number, 7)) - 7
    for z in range(-9, 10):
        chance = float(law.probability(z))
        assert abs(np.mean(found == z) - chance) < 6 * np.sqrt(chance / number), z


def test_a_law_that_is_not_drawn_is_noticed():
    """Negative control."""
    found = law_of(drawn(LAWS["three atoms"]), word_bits=9, words=1)
    assert not holds(found, noise.law("universal", Privacy(ratio=2, delta="1/8")))
    assert not holds(law_of(drawn(LAWS["gaussian"]), word_bits=9, words=1), noise.gaussian_law("1.1"))


@pytest.mark.parametrize("name", ["bounded", "three atoms", "two pairs", "without an end"])
def test_the_table_holds_every_cumulative_probability(name):
    """The path without ties: every threshold lies in its open cell, and the cells are a word or two."""
    cells = LAWS[name].cells
    (digit,) = digits_of_cells(cells)
    table, size = digit.table, int(np.count_nonzero(digit.table.last < (1 << 64) - 1))
    for number in range(size):
        held = cells.cumulative(digit.lowest + 1 + number, width=F(1, 1 << 80))
        first, last = int(table.first[number]), int(table.last[number])
        assert Enclosure(F(first, 1 << 64), F(last + 1, 1 << 64)).hull(held).width <= F(3, 1 << 64)
        assert last - first <= 1


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000, (1 << 31) + 1, (1 << 32) - 1, 1 << 32])
def test_uniform_integers_are_the_product_rounded_down(size):
    source = fresh_random(f"uniform {size}")
    words = [0, 1, (1 << 64) - 1, *(source.getrandbits(64) for _ in range(200))]
    words += [min(-(-(k << 64) // size), (1 << 64) - 1) for k in (source.randrange(size) for _ in range(50))]
    ties = sum((word * size >> 64) != ((word + 1) * size - 1 >> 64) for word in words)
    found = draw_uniform(len(words), size, ScriptedBits([*words, *[0] * ties], word_bits=64))
    assert found.tolist() == [word * size >> 64 for word in words]


@pytest.mark.parametrize("size", [1, 3, 5, 8])
def test_uniform_integers_are_uniform(size):
    found = law_of(lambda bits: int(draw_uniform(1, size, bits)[0]), word_bits=3, words=3)
    assert all(mass <= F(1, size) <= mass + found.undecided for mass in found.outcomes.values())
    assert set(found.outcomes) == set(range(size))


def test_draws_spread_as_stated():
    """Chi-square on the operating system's bits; each limit is passed by chance once in 10^9."""
    for law in (*LAWS.values(), noise.law("staircase", Privacy(epsilon=2), 7)):
        count = 60_000
        values = law.draw(np.zeros(count, dtype=np.int64))
        numbers, found = np.unique(values, return_counts=True)
        seen = dict(zip(numbers.tolist(), found.tolist(), strict=True))
        wanted = {z: float(law.enclose(z).upper) * count for z in range(-60, 61)}
        common = {z: mean for z, mean in wanted.items() if mean > 20}
        square = sum((seen.get(z, 0) - mean) ** 2 / mean for z, mean in common.items())
        assert square < len(common) + 7 * (2 * len(common)) ** 0.5 + 30


def test_shapes_and_sums_are_kept():
    law = noise.law("universal", Privacy(ratio=2, delta="1/7"))
    assert law.draw(np.zeros((2, 3), dtype=np.int64)).shape == (2, 3)
    assert law.draw([]).shape == (0,)
    assert noise.law("staircase", Privacy(ratio=2), 4).draw([]).tolist() == []
    largest = (1 << 62) // 3
    assert abs(int(law.draw([largest])[0]) - 3 * largest) <= 7
    assert law.whole([-4, -1, 0, 2, 3]).tolist() == [-2, -1, 0, 0, 1]
