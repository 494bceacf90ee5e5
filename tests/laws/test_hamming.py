"""A column released record by record = the exponential mechanism on the Hamming graph, exactly.

The graph is walked, not computed: distances are those of a breadth-first search over tables that differ in one record.
"""

from collections import deque
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy import stats

from irisdp import Privacy
from irisdp._sampling.bits import law_of
from irisdp.mechanisms import expected_changes, release_column
from irisdp.privacy import hockey_stick

LEVEL = 1e-6
"""How often a right sampler may fail this test."""


COLUMNS = [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (1, 4), (1, 5)]


def exponential(x, q, ratio):
    """p(y|x) ∝ r^−(steps from x to y)."""
    steps, waiting = {x: 0}, deque([x])
    while waiting:
        table = waiting.popleft()
        for place, value in product(range(len(x)), range(q)):
            near = (*table[:place], value, *table[place + 1 :])
            if near not in steps:
                steps[near] = steps[table] + 1
                waiting.append(near)
    weights = {y: ratio**-distance for y, distance in steps.items()}
    whole = sum(weights.values())
    return {y: weight / whole for y, weight in weights.items()}


def released(x, q, privacy, *, word_bits, words):
    def one(bits):
        return tuple(release_column(x, q, privacy, source=bits).tolist())

    return law_of(one, word_bits=word_bits, words=words)


def holds(law, stated):
    decided = law.outcomes
    return decided.keys() <= stated.keys() and all(
        decided.get(y, F(0)) <= p <= decided.get(y, F(0)) + law.undecided for y, p in stated.items()
    )


@pytest.mark.parametrize(("records", "q", "ratio"), [(1, 2, 3), (2, 2, 3), (3, 2, 3), (1, 3, 2), (2, 3, 2), (1, 4, 5)])
def test_every_small_column_is_drawn_exactly_from_the_exponential_mechanism(records, q, ratio):
    """Ratios that make every cumulative probability a binary fraction, so that no word is left open."""
    for x in product(range(q), repeat=records):
        law = released(x, q, Privacy(ratio=ratio), word_bits=3, words=records)
        assert law.undecided == 0
        assert law.outcomes == exponential(x, q, F(ratio))


@pytest.mark.parametrize(("records", "q"), COLUMNS)
@pytest.mark.parametrize("ratio", [F(6, 5), F(7, 3), F(10)])
def test_every_small_column_is_bracketed_by_the_exponential_mechanism(records, q, ratio):
    for x in list(product(range(q), repeat=records))[:: max(1, q**records // 3)]:
        law = released(x, q, Privacy(ratio=ratio), word_bits=4, words=records)
        assert holds(law, exponential(x, q, ratio))
        assert not holds(law, exponential(x, q, ratio * 3))  # negative control


def test_with_delta_a_record_is_the_best_randomised_response():
    privacy = Privacy(ratio=2, delta="1/10")
    law = released((1,), 3, privacy, word_bits=6, words=2)
    truth = (2 + F(1, 10) * 2) / 4
    assert holds(law, {(1,): truth, (0,): (1 - truth) / 2, (2,): (1 - truth) / 2})


@pytest.mark.parametrize(("records", "q"), [(2, 2), (3, 2), (2, 3)])
def test_neighbouring_columns_are_exactly_close_and_no_closer(records, q):
    ratio, columns = F(3), list(product(range(q), repeat=records))
    laws = {x: exponential(x, q, ratio) for x in columns}
    rows = {x: [laws[x][y] for y in columns] for x in columns}
    near = [(x, y) for x, y in product(columns, columns) if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
    assert max(hockey_stick(rows[x], rows[y], ratio) for x, y in near) == 0
    assert min(hockey_stick(rows[x], rows[y], ratio - F(1, 1000)) for x, y in near) > 0


@pytest.mark.parametrize(("records", "q"), COLUMNS)
def test_expected_changes_is_the_mean_distance(records, q):
    x = (0,) * records
    mean = sum(p * sum(a != b for a, b in zip(x, y, strict=True)) for y, p in exponential(x, q, F(7, 3)).items())
    assert expected_changes(records, q, Privacy(ratio=F(7, 3))) == mean


def test_released_columns_keep_their_shape_and_range():
    values = np.arange(60).reshape(3, 20) % 7
    drawn = release_column(values, 7, Privacy(epsilon="0.5"))
    assert drawn.shape == values.shape
    assert drawn.min() >= 0
    assert drawn.max() < 7


def test_categories_in_bulk_follow_their_law():
    """One chi-square over (true, released) pairs at 1e-6, which a ratio 3 % off fails."""
    q, each = 4, 250_000
    values = np.repeat(np.arange(q), each)
    drawn = release_column(values, q, Privacy(ratio=3))
    counts = np.bincount(values * q + drawn, minlength=q * q).reshape(q, q)

    def p_value(ratio):
        expected = np.where(np.eye(q, dtype=bool), ratio, 1) / (ratio + q - 1) * each
        return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), q * (q - 1))

    assert p_value(3) > LEVEL > p_value(3 * 1.03)
