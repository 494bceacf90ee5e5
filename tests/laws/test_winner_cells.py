"""Cells that name the largest category: floats hold the exact chances, and what is drawn has them."""

import time
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import GapNodes, LargestCategory
from irisdp._measurements.plurality import flip_chances, pull_chances
from irisdp._sampling.bits import law_of
from irisdp.mechanisms import PermuteAndFlip, Pull
from support.seeds import fresh_generator

RATIOS = (F(3, 2), F(2), F(11, 3), F(50))


def gaps_of(generator, cells, categories, most):
    counts = generator.integers(0, most + 1, (cells, categories))
    return counts.max(axis=1, keepdims=True) - counts


def rules(categories, ratio):
    privacy = Privacy(ratio=ratio)
    rules = [PermuteAndFlip(categories, privacy, exchange) for exchange in (False, True)]
    return [*rules, Pull(categories, privacy)] if categories <= 4 else rules


@pytest.mark.parametrize("ratio", [*RATIOS, 1 + F(1, 10**9)])  # of the last, powers that are asked are worked out alone
@pytest.mark.parametrize("categories", [2, 3, 4, 7])
def test_floats_hold_the_exact_chances(categories, ratio):
    gaps = gaps_of(fresh_generator((71, categories, ratio.numerator)), 30, categories, 9)
    for rule in rules(categories, ratio):
        found = LargestCategory(rule, rule.privacy).chances(gaps)
        for cell, node in enumerate(gaps.tolist()):
            for place, chance in enumerate(rule.row(node)):
                low, high = float(found.low[cell, place]), float(found.high[cell, place])
                assert F(low) <= chance <= F(high)
                assert high - low < 1e-12


def test_gaps_beyond_all_powers():
    gaps = np.array([[0, 10**18, 10**18], [0, 0, 1 << 40], [0, 1, 10**6]])
    for rule in rules(3, F(2)):
        found = LargestCategory(rule, rule.privacy).chances(gaps)
        for cell, node in enumerate(gaps.tolist()):
            for place, chance in enumerate(rule.enclose(node)):
                assert F(float(found.low[cell, place])) <= chance.upper
                assert chance.lower <= F(float(found.high[cell, place]))


@pytest.mark.parametrize("epsilon", ["0.02", "1e-3", "1e-5", "1e-9", "1e-17", "1e-300"])
def test_however_small_the_rate_chances_are_found_at_once(epsilon):
    """A power for each of 100/ε steps was listed before: at ε = 1e-5 it took minutes."""
    ratio, generator = Privacy(epsilon=epsilon).ratio, fresh_generator((73, int(float(epsilon) * 1e9)))
    sizes = [1, 3, 1023, 1024, 1025, 4095, 4096, 4097, 10**6, 2**30 - 1, 2**30, 2**53 + 1, 10**18]
    gaps = np.sort(generator.choice(sizes, (40, 3)) - generator.integers(0, 2, (40, 3)), axis=1)
    gaps[:, 0] = 0
    started = time.process_time()
    found = [(rule, LargestCategory(rule, rule.privacy).chances(gaps)) for rule in rules(3, ratio)]
    assert time.process_time() - started < 10
    for rule, chances in found:
        for cell, node in enumerate(gaps.tolist()):
            for place, chance in enumerate(rule.enclose(node)):
                low, high = float(chances.low[cell, place]), float(chances.high[cell, place])
                assert F(low) <= chance.upper and chance.lower <= F(high), (rule, node)
                assert high - low < 1e-12


@pytest.mark.parametrize("gaps", [(0, 0, 0), (0, 1, 1), (0, 0, 2), (0, 3, 5), (2, 0, 1)])
@pytest.mark.parametrize("number", range(3))
def test_what_is_drawn_from_all_first_words_has_the_exact_law(gaps, number):
    """Words of 8 bits, every one of them: what they leave open is resolved as the exact chances say."""
    rule = rules(3, F(2))[number]
    mechanism, nodes = LargestCategory(rule, rule.privacy), GapNodes(("a", "b", "c"), np.array([gaps]))

    def draw(bits):
        return int(mechanism.draw(nodes, source=bits)[0])

    found = law_of(draw, word_bits=8, words=2)
    assert found.undecided < F(1, 100)
    for place, chance in enumerate(rule.row(gaps)):
        drawn = found.outcomes.get(place, F(0))
        assert drawn <= chance <= drawn + found.undecided


@pytest.mark.parametrize("number", range(3))
def test_many_cells_are_drawn_as_each_alone(number):
    generator = fresh_generator((72, number))
    rule = rules(4, F(2))[number]
    nodes = GapNodes(tuple("abcd"), np.repeat([[0, 1, 3, 3]], 40_000, axis=0))
    drawn = Counter(LargestCategory(rule, rule.privacy).draw(nodes).tolist())
    for place, chance in enumerate(rule.row((0, 1, 3, 3))):
        spread = (40_000 * float(chance * (1 - chance))) ** 0.5
        assert abs(drawn[place] - 40_000 * float(chance)) < 6 * spread
    gaps = gaps_of(generator, 500, 4, 6)
    assert set(LargestCategory(rule, rule.privacy).draw(GapNodes(tuple("abcd"), gaps)).tolist()) <= {0, 1, 2, 3}


def test_the_stated_error_is_the_exact_one():
    mechanism = LargestCategory(PermuteAndFlip(3, Privacy(epsilon=1), False), Privacy(epsilon=1))
    error = mechanism.expected_error()
    assert error["wrong_at_worst"] == pytest.approx(0.322768, abs=1e-6)
    lead = error["lead_for_99_percent"]
    assert mechanism.rule.enclose((0, lead, lead))[0].lower >= F(99, 100)
    assert mechanism.rule.enclose((0, lead - 1, lead - 1))[0].upper < F(99, 100)


def test_nodes_show_nothing():
    assert "7" not in repr(GapNodes(("a", "b"), np.array([[0, 7]])))


def test_flip_and_pull_agree_on_what_two_categories_are():
    gaps = np.array([[0, 3], [0, 0]])
    for found in (flip_chances(gaps, F(2), exchange=True), pull_chances(gaps, F(2))):
        assert ((found.low.sum(axis=1) <= 1) & (found.high.sum(axis=1) >= 1)).all()
