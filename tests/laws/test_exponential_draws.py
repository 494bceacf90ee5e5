"""Draws from the exponential mechanism: its exact row, however small its probabilities are, and nothing cut off."""

from fractions import Fraction as F
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput
from irisdp._exact import ball, working_precision
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.mechanisms import Exponential

LAST = 2**64 - 1
SCORES = [[0, 1, 2], [3, 3, 0], [F(1, 2), 0, F(-3, 2)]]
PRIOR = [1, F(1, 2), 3]


def row(scores, rate, prior):
    """p(v) ∝ prior(v)·β^(best − score), from the definition."""
    unit = F(1, 2) if any(F(score).denominator == 2 for line in SCORES for score in line) else F(1)
    weights = [F(w) * F(rate) ** int((max(scores) - score) / unit) for score, w in zip(scores, prior, strict=True)]
    return [weight / sum(weights) for weight in weights]


def one(mechanism, position):
    return lambda bits: int(mechanism.draw_positions(position, 1, source=bits)[0])


def holds(law, stated):
    return all(
        law.outcomes.get(v, F(0)) <= p <= law.outcomes.get(v, F(0)) + law.undecided for v, p in enumerate(stated)
    )


@pytest.mark.parametrize("rate", ["1/3", "0.9", "1"])
@pytest.mark.parametrize("position", range(3))
def test_every_script_of_narrow_words_leads_to_the_row(position, rate):
    mechanism = Exponential.of(SCORES, rate, prior=PRIOR)
    law = law_of(one(mechanism, position), word_bits=4, words=3)
    assert law.undecided < F(1, 500)
    assert holds(law, row(SCORES[position], rate, PRIOR))
    assert mechanism.row(position) == tuple(row(SCORES[position], rate, PRIOR))
    assert not holds(law, row(SCORES[position], F(rate) / 2, PRIOR))  # negative control


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=6), st.sampled_from(["1/2", "0.7", "0.99"]), st.integers(0, LAST)
)
def test_a_word_is_decided_as_the_exact_row_says(scores, rate, word):
    mechanism = Exponential.of([scores], rate)
    sums = list(accumulate(mechanism.row(0), initial=F(0)))
    near = {int(border * 2**64) + shift for border in sums for shift in (-2, -1, 0, 1)} | {word}
    for first in sorted(w for w in near if 0 <= w <= LAST):
        drawn = one(mechanism, 0)(ScriptedBits([first, word, 7, 7], word_bits=64))
        u = F(first << 64 | word, 1 << 128)
        if any(abs(u - border) < F(1, 1 << 128) for border in sums[1:-1]):
            continue
        assert sums[drawn] <= u < sums[drawn + 1]


def test_nothing_is_cut_off():
    """An answer of probability about 2^-100 is drawn by the words that belong to it: there is no hidden δ."""
    mechanism = Exponential.of([[100, 99, 0]], "1/2")
    least = mechanism.row(0)[2]
    assert F(1, 1 << 102) < least < F(1, 1 << 100)
    border = int((1 - least) * 2**128)
    for shift, drawn in ((-1, 1), (1, 2)):
        words = [border >> 64, (border & LAST) + shift]
        assert one(mechanism, 0)(ScriptedBits(words, word_bits=64)) == drawn


def test_levels_of_a_million_neither_underflow_nor_lose_their_ratio():
    """β = 1 − 10^-6: a million levels cost a factor of 1/e, next to answers that cost e^-1000000."""
    rate = 1 - F(1, 10**6)
    mechanism = Exponential.of([[10**6, 0, 10**6 - 1, -(10**12)]], rate)
    assert mechanism.levels[0] == (0, 10**6, 1, 10**12 + 10**6)
    with working_precision(300):
        weights = [ball(rate) ** level for level in mechanism.levels[0]]
        sums = list(accumulate(weights))
        borders = [int((total / sums[-1] * 2**64).mid().floor().unique_fmpz()) for total in sums[:2]]
    for v, border in enumerate(borders):
        assert one(mechanism, 0)(ScriptedBits([border - 1], word_bits=64)) == v
        assert one(mechanism, 0)(ScriptedBits([border + 1], word_bits=64)) == v + 1


@pytest.mark.parametrize(("scores", "words", "drawn"), [
    ([0, 10**6, 10**6 - 1], [0, 1], 1),
    ([0, 10**6, 10**6 - 1], [LAST, LAST], 2),
    ([10**6, 10**6 - 1, 0], [LAST, 0], 1),
    ([10**6, 10**6 - 1, 0], [0, 0], 0),
])  # fmt: skip
def test_a_tie_with_e_to_the_minus_a_million_is_soon_decided(scores, words, drawn):
    assert one(Exponential.of([scores], "0.36787944"), 0)(ScriptedBits(words, word_bits=64)) == drawn


def test_many_draws_are_counted_in_order():
    mechanism = Exponential.of([[0, 0]], 1)
    words = [0, LAST, 2**62, 2**63 + 9]
    assert mechanism.draw_positions(0, 4, source=ScriptedBits(words, word_bits=64)).tolist()[2:] == [0, 1]
    assert mechanism.draw_positions(0, 0).shape == (0,)
    share = Exponential.of([[1, 0]], "1/3").draw_positions(0, 200_000).mean()
    assert abs(share - 0.25) < 6 * np.sqrt(0.25 * 0.75 / 200_000)


@pytest.mark.parametrize(("position", "count"), [(-1, 1), (1, 1), (0, -1), (0.5, 1), (True, 1)])
def test_positions_and_counts_must_exist(position, count):
    with pytest.raises(BadInput):
        Exponential.of([[0, 1]], "1/2").draw_positions(position, count)
