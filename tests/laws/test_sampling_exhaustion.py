"""Samplers = stated probabilities, by trying every script of random words.

Narrow words make nearly every draw a tie, so what is proved here is the tie path with everything around it; the path
without ties, at 64 bits, is checked against brute force in `tests/oracles/test_drawn_steps.py`.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from irisdp import Privacy, noise
from irisdp._exact import ball
from irisdp._sampling import clamped_geometric, draw, draw_ranks, geometric_noise, tables, thresholds
from irisdp._sampling import thresholds as ties
from irisdp._sampling.bits import law_of
from irisdp._sampling.geometric_noise import one_sided_geometric
from irisdp._sampling.tables import draw_events
from irisdp.privacy import steps

TWO, THREE, TINY = Privacy(ratio=2), Privacy(ratio=3), Privacy(epsilon="1e-9")
BALANCED = Privacy(ratio=2, delta="1/10")


def holds(law, stated):
    """Tell whether every stated probability lies between the mass decided and that plus the mass undecided."""
    decided = law.outcomes
    return set(decided) <= set(stated) and all(
        decided.get(outcome, F(0)) <= mass <= decided.get(outcome, F(0)) + law.undecided
        for outcome, mass in stated.items()
    )


def limit(draw_one, outcome, *, word_bits, words, period=1):
    """Return the probability of an outcome whose decided mass becomes a geometric series, and check that it does.

    After its first words a draw with rational thresholds is in one of finitely many states (the remainders of c · 2^k),
    so that the mass decided grows by a fixed factor from one period to the next.
    """
    before, now, after = (
        law_of(draw_one, word_bits=word_bits, words=words + period * more).outcomes.get(outcome, F(0))
        for more in (0, 1, 2)
    )
    shrink = F(1, 1 << word_bits * period)
    assert after - now == shrink * (now - before)
    return now + (after - now) / (1 - shrink)


# Finite tables

DYADIC = [[F(1, 4), F(0), F(5, 8), F(1, 8)], [F(0), F(1), F(0), F(0)], [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]]
THIRDS = [[F(1, 3), F(1, 3), F(1, 3)], [F(0), F(1, 3), F(2, 3)], [F(1, 6), F(2, 3), F(1, 6)]]


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("word_bits", [1, 2, 3, 4, 8])
def test_dyadic_rows_are_drawn_exactly(row, word_bits):
    words = -(-3 // word_bits)
    law = law_of(lambda bits: int(draw(DYADIC, [row], source=bits)[0]), word_bits=word_bits, words=words)
    assert law.undecided == 0
    assert law.outcomes == {output: mass for output, mass in enumerate(DYADIC[row]) if mass}


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize(("word_bits", "words", "period"), [(1, 2, 2), (2, 2, 1), (4, 1, 1)])
def test_thirds_are_drawn_exactly_in_the_limit(row, word_bits, words, period):
    for output in range(3):
        found = limit(
            lambda bits: int(draw(THIRDS, [row], source=bits)[0]),
            output,
            word_bits=word_bits,
            words=words,
            period=period,
        )
        assert found == THIRDS[row][output]


@pytest.mark.parametrize(("word_bits", "words"), [(1, 9), (2, 4), (3, 3), (5, 2), (9, 1)])
def test_awkward_rows_are_bracketed(word_bits, words):
    rows = [[F(1, 7), F(0), F(2, 7), F(1, 700), F(399, 700)], [F(1, 10**6), F(1, 3), F(1, 3), F(1, 3) - F(1, 10**6), 0]]
    for row, stated in enumerate(rows):
        law = law_of(lambda bits, row=row: int(draw(rows, [row], source=bits)[0]), word_bits=word_bits, words=words)
        assert holds(law, dict(enumerate(stated)))
        assert law.undecided <= F(len(stated) - 1, 1 << word_bits * words)


def test_two_draws_at_once_are_independent():
    law = law_of(lambda bits: tuple(draw(THIRDS, [0, 2], source=bits).tolist()), word_bits=2, words=5)
    assert holds(law, {(a, b): THIRDS[0][a] * THIRDS[2][b] for a in range(3) for b in range(3)})
    assert law.undecided < F(1, 16)


@pytest.mark.parametrize("probability", [F(0), F(1), F(1, 2), F(1, 3), F(3, 8)])
def test_events_happen_with_their_probability(probability):
    law = law_of(lambda bits: bool(draw_events([probability], [0], source=bits)[0]), word_bits=2, words=4)
    assert holds(law, {True: probability, False: 1 - probability})
    assert law.undecided <= (0 if probability.denominator != 3 else F(1, 256))


# Rows known step by step

BOUNDARY = [[F(1, 5), F(1, 3)], [F(0), F(1, 2)], [F(1, 9), F(1)]]


@pytest.mark.parametrize("privacy", [TWO, BALANCED, Privacy(ratio=1, delta="1/10"), Privacy(ratio="6/5"), TINY])
@pytest.mark.parametrize("depth", [-1, 0, 1, 2, 5])
def test_stepped_rows_are_bracketed(privacy, depth):
    for number, row in enumerate(BOUNDARY):
        law = law_of(
            lambda bits, number=number: int(draw_ranks(BOUNDARY, [number], [depth], privacy, source=bits)[0]),
            word_bits=3,
            words=2,
        )
        sums = [F(0), *(F(1) if depth < 0 else steps(s, depth, privacy) for s in row), F(1)]
        assert holds(law, {rank: sums[rank + 1] - sums[rank] for rank in range(3)})
        assert law.undecided <= F(2 * 2, 64)


def test_an_enclosed_threshold_on_a_binary_fraction_does_not_stall():
    """r = 3, s_0 = 1/4: one step gives 3/4 exactly, which a ball with 1/3 in it encloses but never equals."""

    def one(bits):
        return int(draw_ranks([[F(1, 4)]], [0], [1], THREE, source=bits)[0])

    masses = [law_of(one, word_bits=2, words=words) for words in (1, 2, 3, 4)]
    assert all(holds(law, {0: F(3, 4), 1: F(1, 4)}) for law in masses)
    assert [law.undecided for law in masses] == [F(2, 4**words) for words in (1, 2, 3, 4)]


# Geometric noise


SPLITS = [(4, F(2), 3, 5), (3, F(2), 3, 4), (3, F(8), 3, 5), (2, F(8), 2, 8)]


def two_sided(ratio, reach):
    alpha = 1 / ratio
    return {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-reach, reach + 1)}


def one_noise(privacy):
    return lambda bits: int(noise.geometric([0], privacy, source=bits)[0])


@pytest.mark.parametrize("outcome", range(-3, 4))
def test_noise_at_ratio_two_is_thirds_in_the_limit(outcome):
    assert limit(one_noise(TWO), outcome, word_bits=2, words=2) == F(1, 3) / 2 ** abs(outcome)


@pytest.mark.parametrize(("ratio", "word_bits", "words"), [(F(3), 1, 8), (F(3), 4, 2), (F(6, 5), 3, 3), (F(100), 7, 1)])
def test_noise_is_bracketed(ratio, word_bits, words):
    law = law_of(one_noise(Privacy(ratio=ratio)), word_bits=word_bits, words=words)
    assert holds(law, two_sided(ratio, 60))
    assert law.undecided < F(1, 4)


def test_noise_of_every_size_is_reached():
    """No cut tail: the outermost word leads on, and each further word reaches further out."""
    reached = [law_of(one_noise(TWO), word_bits=4, words=words).outcomes for words in (1, 2, 3)]
    assert [(min(law), max(law)) for law in reached] == [(-1, 1), (-5, 5), (-9, 9)]


def drawn_digit(digit):
    def one(bits):
        outcomes, exact = digit.draw(1, bits)
        return exact.get(0, int(outcomes[0]))

    return one


@pytest.mark.parametrize("signed", [True, False])
def test_every_digit_is_exact_in_the_limit(signed):
    """Ratio 2 to the base 2: digits of span 1, 2, 4 have thresholds in thirds, fifths and 17ths, periodic in 8 bits."""
    highest, *lower = geometric_noise.digits_of(F(2), signed=signed, table_bits=1)
    assert [digit.law.span for digit in lower] == [1 << place for place in reversed(range(len(lower)))]
    for digit in lower[-3:]:
        one = F(1, 1 + 2**digit.law.span)
        assert [limit(drawn_digit(digit), outcome, word_bits=8, words=0) for outcome in (0, 1)] == [1 - one, one]
    for digit in (highest, *lower):
        scale = F(1, 2**digit.law.span)
        stated = {outcome: (1 - scale) * scale**outcome for outcome in range(70)}
        if digit.law.base is not None:
            stated = {outcome: stated[outcome] / (1 - scale**2) for outcome in (0, 1)}
        elif signed:
            stated = {
                sign: mass * part for h, mass in stated.items() for sign, part in ((h, F(2, 3)), (-h - 1, F(1, 3)))
            }
        law = law_of(drawn_digit(digit), word_bits=5, words=6)
        assert holds(law, stated)
        assert law.undecided < F(1, 1 << 24)


@pytest.fixture
def small_tables(monkeypatch, request):
    """Make the sampler split noise into several digits where the test can still try every script."""
    real = geometric_noise.digits_of
    small = lambda ratio, *, signed: real(ratio, signed=signed, table_bits=request.param)  # noqa: E731
    monkeypatch.setattr(geometric_noise, "digits_of", small)


@pytest.mark.parametrize(("small_tables", "ratio", "word_bits", "words"), SPLITS, indirect=["small_tables"])
def test_noise_from_several_digits_is_bracketed(small_tables, ratio, word_bits, words):
    privacy, alpha = Privacy(ratio=ratio), 1 / ratio
    law = law_of(one_noise(privacy), word_bits=word_bits, words=words)
    assert holds(law, two_sided(ratio, 400))
    assert law.undecided < F(3, 10)
    law = law_of(lambda bits: int(one_sided_geometric(1, privacy, source=bits)[0]), word_bits=word_bits, words=words)
    assert holds(law, {step: (1 - alpha) * alpha**step for step in range(400)})
    assert law.undecided < F(3, 10)


@pytest.fixture
def half_words(monkeypatch):
    """Let digits share words even of one draw, and read on no more words than are needed."""
    monkeypatch.setattr(geometric_noise, "_SHARING", 1)
    monkeypatch.setattr(geometric_noise, "_READ_ON", 0)


@pytest.mark.parametrize(("small_tables", "ratio"), [(4, F(2)), (3, F(8)), (2, F(8))], indirect=["small_tables"])
@pytest.mark.usefixtures("half_words", "small_tables")
def test_noise_from_half_words_is_bracketed(ratio):
    privacy, alpha = Privacy(ratio=ratio), 1 / ratio
    law = law_of(one_noise(privacy), word_bits=4, words=3)
    assert holds(law, two_sided(ratio, 400))
    assert law.undecided < F(1, 2)
    law = law_of(lambda bits: int(one_sided_geometric(1, privacy, source=bits)[0]), word_bits=4, words=3)
    assert holds(law, {step: (1 - alpha) * alpha**step for step in range(400)})
    assert law.undecided < F(1, 2)


def halves_hold():
    """Two digits at ratio 8 from the halves of one word: the law of the pair, so that no half may tell of the other."""
    pair = geometric_noise.digits_of(F(8), signed=True, table_bits=3)
    assert [digit.law.base for digit in pair] == [None, 8]

    def one(bits):
        found = geometric_noise.draw_together(pair, 1, bits)
        return tuple(exact.get(0, int(outcomes[0])) for outcomes, exact in found)

    law = law_of(one, word_bits=4, words=3)
    signs = {sign: F(8 if sign >= 0 else 1, 9) / 8 ** (8 * max(sign, -sign - 1)) for sign in range(-20, 20)}
    masses = {(sign, lower): mass * F(7, 8) / 8**lower for sign, mass in signs.items() for lower in range(8)}
    return holds(law, masses) and law.undecided < F(1, 5)


@pytest.mark.usefixtures("half_words")
def test_digits_that_share_a_word_are_independent():
    assert halves_hold()


@pytest.mark.parametrize("bug", ["one half for both", "not read on", "a bit dropped"])
@pytest.mark.usefixtures("half_words")
def test_halves_taken_wrongly_are_refuted(monkeypatch, bug):
    honest, first = geometric_noise.Digit.begun, []

    def planted(digit, begins, bits, source):
        if bug == "one half for both":
            first[:] = [begins] if digit.law.base is None else first
            return honest(digit, first[0], bits, source)
        if bug == "a bit dropped":
            return honest(digit, begins & np.uint64(2), bits, source)
        return digit.table.at(bits).count_reached(begins)[0] + digit.lowest, {}

    monkeypatch.setattr(geometric_noise.Digit, "begun", planted)
    assert not halves_hold()


@dataclass(frozen=True)
class ListedDigit:
    """A digit whose draws are written down, all of them decided by ties or none."""

    law: geometric_noise.DigitLaw
    outcomes: list[int]
    tied: bool

    def draw(self, count, source):
        drawn = np.array(self.outcomes)
        return drawn, dict(enumerate(self.outcomes)) if self.tied else {}


def composed(table_bits, tied):
    """Return the exact law of two-sided noise at ratio 2 from the digits' exact laws, near 0."""
    highest, *lower = (digit.law for digit in geometric_noise.digits_of(F(2), signed=True, table_bits=table_bits))
    choices = list(product(range(-3, 3), *(range(law.base) for law in lower)))
    listed = [
        ListedDigit(law, [choice[place] for choice in choices], tied) for place, law in enumerate((highest, *lower))
    ]
    masses = defaultdict(F)
    for _, values, exact in geometric_noise.draw_digits(len(choices), tuple(listed), None):
        for place, choice in enumerate(choices):
            scale = F(1, 2**highest.span)
            mass = (1 - scale) * scale ** max(choice[0], -choice[0] - 1) * (F(2, 3) if choice[0] >= 0 else F(1, 3))
            for law, outcome in zip(lower, choice[1:], strict=True):
                mass *= (
                    (1 - F(1, 2**law.span)) * F(1, 2 ** (law.span * outcome)) / (1 - F(1, 2 ** (law.span * law.base)))
                )
            masses[exact[place] if tied else int(values[place])] += mass
    return masses


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("table_bits", [2, 3, 4, 5])
def test_digits_put_together_are_the_noise_exactly(table_bits, tied):
    masses = composed(table_bits, tied)
    assert len(masses) >= 96
    assert all(mass == F(1, 3) / 2 ** abs(z) for z, mass in masses.items())


def test_clamped_noise_is_the_range_restricted_mechanism():
    alpha, largest = F(1, 2), 3
    for value in range(largest + 1):
        law = law_of(
            lambda bits, value=value: int(clamped_geometric([value], largest, TWO, source=bits)[0]),
            word_bits=2,
            words=8,
        )
        inside = {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z - value) for z in (1, 2)}
        ends = {0: alpha**value / (1 + alpha), largest: alpha ** (largest - value) / (1 + alpha)}
        assert holds(law, inside | ends)
        assert law.undecided < F(1, 1 << 10)


# Planted bugs: each must be refuted by the checks above


def noise_holds():
    return holds(law_of(one_noise(TWO), word_bits=3, words=4), two_sided(F(2), 60))


def table_holds():
    law = law_of(lambda bits: int(draw(DYADIC, [0], source=bits)[0]), word_bits=3, words=2)
    return law.undecided == 0 and holds(law, dict(enumerate(DYADIC[0])))


def test_the_checks_pass_without_a_bug():
    assert noise_holds()
    assert table_holds()


def test_a_dropped_tie_is_refuted(monkeypatch):
    honest = thresholds.ThresholdTable.count_reached
    monkeypatch.setattr(
        thresholds.ThresholdTable, "count_reached", lambda *given: (honest(*given)[0], np.array([], dtype=np.intp))
    )
    assert not noise_holds()
    assert not table_holds()


def test_a_strict_comparison_is_refuted(monkeypatch):
    """`U > c` on the words at hand in place of `U ≥ c` on all of U."""

    def strictly_above(word, bracket, source, *, first, last):
        return sum(bracket(outcome, source.word_bits)[0] < word for outcome in range(1, last + 1))

    monkeypatch.setattr(tables, "resolve", strictly_above)
    assert not table_holds()


def test_a_tie_given_up_after_two_words_is_refuted(monkeypatch):
    honest = ties._decide

    def impatient(word, bits, *rest):
        outcome = honest(word, bits, *rest)
        return 0 if outcome is None and bits >= 6 else outcome

    monkeypatch.setattr(ties, "_decide", impatient)
    assert not noise_holds()


def test_a_low_digit_without_its_normaliser_is_refuted(monkeypatch):
    monkeypatch.setattr(geometric_noise.DigitLaw, "_cumulative", lambda law, outcome: 1 - ball(law.ratio) ** -outcome)
    digit = geometric_noise.Digit.of(geometric_noise.DigitLaw(F(2), 1, 2, signed=False))
    assert not holds(law_of(drawn_digit(digit), word_bits=3, words=3), {0: F(2, 3), 1: F(1, 3)})


def test_low_digits_not_mirrored_below_zero_are_refuted(monkeypatch):
    monkeypatch.setattr(geometric_noise, "_append", lambda value, base, lower: value * base + lower)
    masses = composed(3, tied=True)
    assert any(mass != F(1, 3) / 2 ** abs(z) for z, mass in masses.items())


def test_a_zero_counted_twice_is_refuted(monkeypatch):
    """The classic sign mistake: −m in place of −(m + 1)."""
    honest = geometric_noise.Digit.draw

    def doubled(digit, count, source):
        outcomes, exact = honest(digit, count, source)
        return np.where(outcomes < 0, outcomes + 1, outcomes), {k: v + (v < 0) for k, v in exact.items()}

    monkeypatch.setattr(geometric_noise.Digit, "draw", doubled)
    assert not noise_holds()


# What the number of words says


CLOSE = [[F(1, 3), F(1, 3), F(1, 3)], [F(1, 6), F(1, 6), F(2, 3)]]  # ratio 2 apart


def joint_excess(draw_one, rows, ratio, *, word_bits, words):
    """Return Σ max(0, P − ratio·Q) over (output, words read), in the worse direction."""
    first, second = (
        law_of(lambda bits, row=row: draw_one(row, bits), word_bits=word_bits, words=words) for row in rows
    )
    keys = set(first.joint) | set(second.joint)
    return max(
        sum(max(F(0), p.joint.get(key, F(0)) - ratio * q.joint.get(key, F(0))) for key in keys)
        for p, q in ((first, second), (second, first))
    )


@pytest.mark.parametrize("word_bits", [2, 4, 6, 8])
def test_output_and_words_read_say_no_more_than_the_output_but_for_ties(word_bits):
    excess = joint_excess(
        lambda row, bits: int(draw(CLOSE, [row], source=bits)[0]), (0, 1), 2, word_bits=word_bits, words=2
    )
    assert excess <= F(2, 1 << word_bits)  # (q − 1) ties of one word each, out of 2^word_bits


def test_reading_bit_by_bit_says_more():
    """Negative control: a sampler that stops at the first bit that decides betrays the row by where it stops."""

    def frugal(row, bits):
        digits_of_u, reads = 0, 0
        scaled = [sum(CLOSE[row][:k]) for k in (1, 2)]
        while True:
            digits_of_u, reads = 2 * digits_of_u + int(bits.words(1)[0]), reads + 1
            scaled = [2 * c for c in scaled]
            if not any(digits_of_u < c < digits_of_u + 1 for c in scaled):
                return sum(c <= digits_of_u for c in scaled)

    assert joint_excess(frugal, (0, 1), 2, word_bits=1, words=12) > F(1, 20)
    assert holds(law_of(lambda bits: frugal(0, bits), word_bits=1, words=8), dict(enumerate(CLOSE[0])))
