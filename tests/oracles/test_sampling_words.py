"""The 64-bit path against brute force in a second arithmetic: GMP rationals and MPFR floats of 400 bits."""

from fractions import Fraction as F

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpq

from irisdp import Privacy, noise
from irisdp._sampling import draw, draw_ranks
from irisdp._sampling.bits import ScriptedBits
from irisdp._sampling.geometric_noise import digits_of, draw_together, one_sided_geometric

LAST = 2**64 - 1
MIDDLE = 1 << 63
ORACLE_BITS = 400
ORACLE_ERROR = gmpy2.mpfr("1e-50")
"""MPFR at 400 bits is right to about 10^-110 here; a 64-bit cell that excludes its threshold by 10^-50 is wrong."""


def interval(word, second=None):
    """Return the ends of the interval that U is in after one word or two."""
    if second is None:
        return mpq(word, 2**64), mpq(word + 1, 2**64)
    return mpq(word * 2**64 + second, 2**128), mpq(word * 2**64 + second + 1, 2**128)


def brute_force(word, thresholds):
    """Count thresholds reached; return also whether a second word of `MIDDLE` is read."""
    low, high = interval(word)
    surely, perhaps = sum(c <= low for c in thresholds), sum(c < high for c in thresholds)
    if surely == perhaps:
        return surely, False
    low, high = interval(word, MIDDLE)
    surely, perhaps = sum(c <= low for c in thresholds), sum(c < high for c in thresholds)
    assert surely == perhaps, "choose other probabilities: 128 bits do not decide"
    return surely, True


def words_around(thresholds, generator, count=40):
    """Return words at random and words on and beside every threshold."""
    edges = [int(gmpy2.floor(c * 2**64)) for c in thresholds]
    beside = {min(max(edge + offset, 0), LAST) for edge in edges for offset in (-2, -1, 0, 1, 2)}
    return sorted(beside | {int(word) for word in generator.integers(0, 2**64, count, dtype=np.uint64)})


def same(drawn_by, word, thresholds):
    """Compare one draw with brute force, in outcome and in words read."""
    expected, tied = brute_force(word, thresholds)
    source = ScriptedBits([word, MIDDLE], word_bits=64)
    return drawn_by(source) == expected and source.read == 1 + tied


@pytest.fixture
def generator():
    return np.random.default_rng(20240607)


def test_tables(generator):
    rows = [[F(1, 3), F(1, 7), F(0), F(11, 21)], [F(1, 10**12), F(1, 2), F(3, 10), F(2, 10) - F(1, 10**12)]]
    rows.append([F(0), F(0), F(1), F(0)])
    for number, row in enumerate(rows):
        thresholds = [mpq(sum(row[:k])) for k in range(1, len(row))]
        for word in words_around(thresholds, generator):
            assert same(lambda bits, n=number: int(draw(rows, [n], source=bits)[0]), word, thresholds)


def test_a_long_table(generator):
    weights = [int(weight) for weight in generator.integers(0, 50, 3000)]
    row = [F(weight, sum(weights)) for weight in weights]
    cumulative = np.cumsum(weights)
    words = generator.integers(0, 2**64, 50_000, dtype=np.uint64)
    drawn = draw([row], np.zeros(len(words), dtype=np.int64), source=ScriptedBits(words.tolist(), word_bits=64))
    for word, output in zip(words.tolist(), drawn.tolist(), strict=True):
        reached = word * sum(weights) >> 64  # U · Σ weights, rounded down
        assert (cumulative[output - 1] if output else 0) <= reached < cumulative[output]


def u(s, r, delta):
    """One step, written out anew."""
    up, down = r * s + delta, (r - 1 + s + delta) / r
    return min(mpq(1), up, down)


@pytest.mark.parametrize(("ratio", "delta"), [("2", "0"), ("6/5", "1/1000"), ("1", "1/100"), ("7", "1/10")])
def test_ranks(ratio, delta, generator):
    privacy, boundary = Privacy(ratio=ratio, delta=delta), [[F(1, 11), F(1, 3)], [F(2, 7), F(2, 7)]]
    for number, row in enumerate(boundary):
        thresholds = [mpq(s) for s in row]
        for depth in range(9):
            for word in words_around(thresholds, generator, count=10):
                assert same(
                    lambda bits, n=number, d=depth: int(draw_ranks(boundary, [n], [d], privacy, source=bits)[0]),
                    word,
                    thresholds,
                ) or near_cell_end(word, thresholds)
            thresholds = [u(s, mpq(ratio), mpq(delta)) for s in thresholds]


def near_cell_end(word, thresholds):
    """Tell whether a threshold is a multiple of 2^-64 next to the word: there a cell is allowed to be two words."""
    return any(c * 2**64 in (word, word + 1) for c in thresholds)


@pytest.mark.parametrize("count", [50, 40_000])
def test_many_nodes_at_once_are_ranked_as_one_by_one(count, generator):
    """Few nodes take their distinct rows, many take every row up to saturation: the same draws."""
    privacy = Privacy(ratio="3/2", delta="1/1000")
    boundary = [[F(1, 11), F(1, 3)], [F(0), F(2, 7)], [F(1, 5), F(1)]]
    classes, depths = generator.integers(0, 3, count), generator.integers(-1, 30, count)
    depths[::7] = 10**12
    words = generator.integers(0, 2**64, count, dtype=np.uint64)
    drawn = draw_ranks(boundary, classes, depths, privacy, source=ScriptedBits(words.tolist(), word_bits=64))
    thresholds = {}
    for number, row in enumerate(boundary):
        sums = [mpq(s) for s in row]
        for depth in range(30):
            thresholds[number, depth] = sums
            sums = [u(s, mpq(3, 2), mpq(1, 1000)) for s in sums]
    for number, depth, word, rank in zip(
        classes.tolist(), depths.tolist(), words.tolist(), drawn.tolist(), strict=True
    ):
        sums = [mpq(1)] * 2 if depth in (-1, 10**12) else thresholds[number, depth]
        assert rank == sum(c * 2**64 <= word for c in sums)


@pytest.mark.parametrize("ratio", ["2", "3/2", "150"])
def test_noise_from_one_table(ratio, generator):
    """At one table's size Z is the count of thresholds P(Z < z) reached, from far below up."""
    alpha, reach = 1 / mpq(ratio), 120
    masses = [(1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-reach, reach)]
    below = alpha**reach * alpha / (1 + alpha)  # P(Z < −reach)
    thresholds = []
    for mass in masses:
        thresholds.append(below)
        below += mass
    privacy = Privacy(ratio=ratio)
    for word in words_around([c for c in thresholds if 2**-63 < c < 1 - mpq(1, 2**63)], generator):
        if word not in (0, LAST):
            assert same(lambda bits: int(noise.geometric([0], privacy, source=bits)[0]) + reach + 1, word, thresholds)


def test_steps_from_one_table(generator):
    thresholds = [1 - mpq(2, 3) ** step for step in range(1, 200)]
    privacy = Privacy(ratio="3/2")
    for word in words_around([c for c in thresholds if c < 1 - mpq(1, 2**63)], generator):
        if word != LAST:
            assert same(lambda bits: int(one_sided_geometric(1, privacy, source=bits)[0]), word, thresholds)


@pytest.mark.parametrize(("epsilon", "signed"), [("0.01", True), ("1e-6", True), ("1e-6", False), ("1e-9", True)])
def test_digits_from_half_words(epsilon, signed, generator):
    """What a half word says, with the word that it is read on with where it says too little, is where U lies."""
    privacy = Privacy(epsilon=epsilon)
    digits = digits_of(privacy.ratio, signed=signed)
    count, read_on = 1 << 14, 0
    halves = generator.integers(0, 2**32, count * len(digits) + count * len(digits) % 2, dtype=np.uint64)
    for place, digit in enumerate(digits):  # halves on thresholds and beside them, among those at random
        edges = digit.table.first[:: max(1, len(digit.table.first) // 50)] >> np.uint64(32)
        beside = np.concatenate([np.clip(edges.astype(np.int64) + step, 0, 2**32 - 1) for step in (-1, 0, 1)])
        halves[place * count + 5 : place * count + 5 + len(beside)] = beside
    upper, lower = halves.reshape(2, -1)
    further = generator.integers(0, 2**64, 1000, dtype=np.uint64)
    script = [int(high) << 32 | int(low) for high, low in zip(upper, lower, strict=True)] + further.tolist()
    source = ScriptedBits(script, word_bits=64)
    found = draw_together(digits, count, source)
    assert source.read > len(upper) + 16 * len(digits)
    with gmpy2.context(precision=ORACLE_BITS):
        rate = gmpy2.log(gmpy2.mpfr(mpq(privacy.ratio)))
        for place, (digit, (outcomes, exact)) in enumerate(zip(digits, found, strict=True)):
            assert len(outcomes) == count
            begins, open_here = halves[place * count : (place + 1) * count], 0
            for half, outcome in zip(begins[:400].tolist(), outcomes[:400].tolist(), strict=True):
                ends = below(outcome, digit.law, rate), below(outcome + 1, digit.law, rate)
                if not ends[0] * 2**32 <= half <= half + 1 <= ends[1] * 2**32:
                    word = (half << 32) + int(further[read_on + open_here] >> np.uint64(32))
                    assert ends[0] * 2**64 <= word <= word + 1 <= ends[1] * 2**64
                    open_here += 1
            assert open_here
            assert not exact
            read_on += max(open_here, 16)


def test_sixteen_half_words_of_each_digit_are_read_on_though_none_needs_it():
    """No threshold lies as near to 1/3, so that the first half of every word tells."""
    digits, count = digits_of(Privacy(epsilon="1e-6").ratio, signed=True), 1 << 14
    script = [0x5555555555555555] * (count * len(digits) // 2 + 16 * len(digits))
    source = ScriptedBits(script, word_bits=64)
    assert [set(outcomes.tolist()) for outcomes, _ in draw_together(digits, count, source)] == [
        {digit.draw(1, ScriptedBits(script[:1], word_bits=64))[0][0]} for digit in digits
    ]
    assert source.read == len(script)


@pytest.mark.parametrize("epsilon", ["50", "1", "0.01", "0.005", "1e-6", "1e-9", "1e-15"])
@pytest.mark.parametrize("signed", [True, False])
def test_every_threshold_of_every_digit(epsilon, signed):
    assert worst_miss(Privacy(epsilon=epsilon), signed) <= ORACLE_ERROR


def test_a_wrong_ratio_is_noticed():
    """Negative control: the thresholds of an ε that is 10^-9 of itself too large."""
    digits = digits_of(Privacy(epsilon="1.000000001").ratio, signed=True)
    assert worst_miss(Privacy(epsilon=1), True, digits) > ORACLE_ERROR


def worst_miss(privacy, signed, digits=None):
    """Return how far a threshold lies outside its open cell, at worst, over the tables of all digits."""
    miss = gmpy2.mpfr(0)
    with gmpy2.context(precision=ORACLE_BITS):
        rate = gmpy2.log(gmpy2.mpfr(mpq(privacy.ratio)))
        for digit in digits or digits_of(privacy.ratio, signed=signed):
            first, last = digit.table.first.tolist(), digit.table.last.tolist()
            for place, (begin, end) in enumerate(zip(first, last, strict=True)):
                threshold = below(digit.lowest + place + 1, digit.law, rate)
                if begin > 0:
                    miss = max(miss, gmpy2.mpfr(begin) / 2**64 - threshold)
                if end < LAST:
                    miss = max(miss, threshold - gmpy2.mpfr(end + 1) / 2**64)
    return miss


def below(outcome, law, rate):
    """P(digit < outcome) in floats: α^m with m = span · outcome, from log α."""
    if law.signed and outcome <= 0:
        return gmpy2.exp(rate * (law.span * outcome - 1)) / (1 + gmpy2.exp(-rate))
    if law.signed:
        return 1 - gmpy2.exp(-rate * law.span * outcome) / (1 + gmpy2.exp(-rate))
    whole = 1 if law.base is None else -gmpy2.expm1(-rate * law.span * law.base)
    return min(gmpy2.mpfr(1), -gmpy2.expm1(-rate * law.span * outcome) / whole)
