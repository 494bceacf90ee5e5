"""Draws at many depths, and what else few words decide, beside iteration in fractions and every word there is."""

from fractions import Fraction as F

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpq

from irisdp import BadInput, Privacy, noise
from irisdp._sampling import Digit, depth_rows, draw, draw_brackets, draw_ranks, draw_uniform, integers, refine, resolve
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp._sampling.depth_rows import LARGEST_DEPTH, open_cells, orbit_of, saturation_depth
from irisdp._sampling.geometric_noise import DigitLaw, digits_of, draw_together, one_sided_geometric

WORD = 1 << 64
TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio="3/2", delta="1/50")])
GUARANTEES = [
    Privacy(ratio=2),
    Privacy(ratio="6/5", delta="1/1000"),
    Privacy(ratio=1, delta="1/100"),
    Privacy(ratio=1),
    Privacy(ratio=150, delta="9/10"),
    Privacy(ratio=1 + F(1, 10**9), delta="1/7"),
    TWO,
    Privacy.all([Privacy(ratio=9), Privacy(ratio=4, delta="1/100"), Privacy(ratio=1, delta="1/4")]),
]
STARTS = [F(0), F(1, 1 << 80), F(1, 11), F(1, 3), F(1, 2), F(9, 10), 1 - F(1, 1 << 80), F(1)]


def iterated(s, privacy, depth):
    """u applied so often, each pair written out."""
    for _ in range(depth):
        s = min(min(F(1), pair.ratio * s + pair.delta, 1 - (1 - s - pair.delta) / pair.ratio) for pair in privacy.pairs)
    return s


@pytest.mark.parametrize("privacy", GUARANTEES, ids=str)
def test_a_cell_holds_the_word_in_which_its_threshold_lies_and_hardly_another(privacy):
    which, depths = np.repeat(np.arange(len(STARTS)), 12), np.tile(np.arange(12), len(STARTS))
    cells = open_cells(STARTS, which, depths, privacy).tolist()
    for number, depth, (first, last) in zip(which.tolist(), depths.tolist(), cells, strict=True):
        threshold = iterated(STARTS[number], privacy, depth) * WORD
        assert first <= threshold <= last + 1
        near = abs(threshold - round(threshold)) < F(1, 1 << 30)
        assert last - first == (1 if near and 0 < threshold < WORD - 1 else 0) or (near and first == last)


def test_no_boundary_is_the_last_word():
    cells = open_cells([F(1, 2)], np.array([0, 0]), np.array([-1, 0]), Privacy(ratio=2))
    assert cells[0].tolist() == [WORD - 1, WORD - 1]
    assert cells[1, 0] <= WORD // 2 <= cells[1, 1]


def test_no_boundary_is_the_first_choice_in_a_tie_too():
    source = ScriptedBits([WORD - 1, WORD - 1], word_bits=64)
    assert draw_ranks([[F(1, 2)]], [0], [-1], Privacy(ratio=2), source=source).tolist() == [0]
    assert source.read == 1


def one_of(digit, source):
    drawn, exact = digit.draw(1, source)
    return exact.get(0, int(drawn[0]))


@pytest.mark.parametrize("ratio", [F(2), F(10, 9), F(40)])
@pytest.mark.parametrize("span", [1, 3])
@pytest.mark.parametrize("base", [2, 5, None])
def test_a_digit_has_its_law_by_every_script(ratio, span, base):
    """One-sided: m has weight α^(span·m), cut off at the base where there is one."""
    digit = Digit.of(DigitLaw(ratio, span, base, False))
    found = law_of(lambda source: one_of(digit, source), word_bits=3, words=2)
    alpha = 1 / ratio**span
    whole = 1 if base is None else 1 - alpha**base
    for value in range(base or 4):
        mass = found.outcomes.get(value, F(0))
        assert mass <= (1 - alpha) * alpha**value / whole <= mass + found.undecided


@pytest.mark.parametrize("span", [1, 2])
def test_a_signed_digit_has_its_law_by_every_script(span):
    """The highest digit g of z = g·span + l from below: P(g < k) = P(z < k·span), summed term by term."""
    digit = Digit.of(DigitLaw(F(2), span, None, True))
    found = law_of(lambda source: one_of(digit, source), word_bits=3, words=2)
    for value in range(-3, 4):
        exact = sum((F(1, 3) / 2 ** abs(z) for z in range(value * span, (value + 1) * span)), F(0))
        mass = found.outcomes.get(value, F(0))
        assert mass <= exact <= mass + found.undecided


@pytest.mark.parametrize("privacy", GUARANTEES, ids=str)
@pytest.mark.parametrize("start", STARTS, ids=str)
def test_from_its_saturation_on_a_cell_stays_as_it_is(start, privacy):
    depth = saturation_depth(start, privacy)
    farther = np.array([depth, min(depth + 1, LARGEST_DEPTH), min(2 * depth + 9, LARGEST_DEPTH), LARGEST_DEPTH])
    cells = open_cells([start], np.zeros(4, dtype=np.int64), farther, privacy)
    assert len({tuple(cell) for cell in cells.tolist()}) == 1
    if depth < 300:
        limit = iterated(start, privacy, depth + 40) * WORD
        assert cells[0, 0] <= limit <= int(cells[0, 1]) + 1


def test_saturation_is_no_later_than_what_each_bound_says():
    assert saturation_depth(F(0), Privacy(ratio=2)) == 0
    assert saturation_depth(F(1, 2), Privacy(ratio=1)) == 0
    assert saturation_depth(F(0), Privacy(ratio=1, delta="3/10")) == 4
    assert saturation_depth(F(1, 2), Privacy(ratio=2)) == 92
    assert saturation_depth(F(1, 5), Privacy(ratio=2, delta=F(1, 10**6))) == 93
    assert saturation_depth(F(1, 3), Privacy(ratio=1 + F(1, 10**30))) == LARGEST_DEPTH


@pytest.mark.parametrize("start", [F(1, 1 << 300), F(1, 1 << 97), F(1, 3)])
def test_several_pairs_are_followed_from_as_little_as_there_is(start):
    """From 2^-300 tracks of 192 bits part: they must be taken again with more."""
    both = Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta=F(1, 1 << 250))])
    orbit, value = orbit_of(start, both), start
    for depth in range(len(orbit.numerators)):
        assert -1 < value * (1 << 96) - orbit.at(depth) < 2
        value = iterated(value, both, 1)
    assert orbit.settled
    assert orbit.at(10**9) == orbit.numerators[-1] >= (1 << 96) - (1 << 30)


def test_where_tracks_lie_on_both_sides_of_a_kink_the_lower_one_keeps_its_own_line():
    """The line beyond the kink lies above u there: by it, u(s) would be rounded to a number that it does not reach."""
    unit = F(1, 1 << 192)
    down, reached = (1 << 192) // 10 * unit, F(1, 2)
    start, kink, there = down + unit / 100, down + unit * 51 / 100, reached + unit * 3 / 2
    both = Privacy.all([Privacy(ratio=4, delta=there - 4 * kink), Privacy(ratio=2, delta=there - 2 * kink)])
    assert 2 * (kink - down) < there - reached < 4 * (kink - start)
    assert iterated(start, both, 1) < reached
    assert orbit_of(start, both).at(1) == (1 << 95) - 1


def test_words_are_read_on_at_an_end_only_where_outcomes_have_none_there():
    """Halves and halves again, from 0 up and from 0 down."""

    def up(outcome, bits):
        return (1 << bits) - (1 << bits >> outcome), (1 << bits) - (1 << bits >> outcome)

    def down(outcome, bits):
        return (1 << bits >> 1 - outcome,) * 2

    nothing = ScriptedBits([], word_bits=4)
    assert resolve(0, up, nothing, first=0, last=None) == resolve(15, down, nothing, first=None, last=0) == 0
    assert resolve(15, up, ScriptedBits([7], word_bits=4), first=0, last=None) == 4
    assert resolve(0, down, ScriptedBits([8], word_bits=4), first=None, last=0) == -4


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(depth_rows, "_MOST_STEPS", 5)
    orbit_of.cache_clear()
    yield
    orbit_of.cache_clear()


def test_beyond_what_was_followed_steps_are_enclosed(few_steps):
    start = F(1, 1000)
    orbit = orbit_of(start, TWO)
    assert (len(orbit.numerators), orbit.settled) == (5, False)
    for depth in range(12):
        assert -1 < iterated(start, TWO, depth) * (1 << 96) - orbit.at(depth) < 2
    assert saturation_depth(start, TWO) == LARGEST_DEPTH
    assert orbit_of(F(1), TWO).settled  # at once
    word = [1 << 63]
    drawn = draw_ranks([[start]], [0], [9], TWO, source=ScriptedBits(word, word_bits=64))
    assert drawn.tolist() == [int(iterated(start, TWO, 9) <= F(1, 2))]


def test_powers_are_tables_of_digits_to_the_base_4096():
    bits = 130
    exponents = np.array([0, 1, 4095, 4096, 4097, 10**6, 10**9, LARGEST_DEPTH])
    ratio = 1 + F(1, 10**6)
    found = depth_rows._powers(exponents, ratio, bits)
    assert found[-1] == 0
    for exponent, power in zip(exponents.tolist()[:5], found, strict=False):
        assert abs(power - (1 << bits) / ratio**exponent) <= 1 << 17
    assert found[5] / 2**bits == pytest.approx(np.exp(-(10**6) * np.log1p(1e-6)), rel=1e-9)


@pytest.mark.parametrize("sizes", [(1, 2), (3, 1), (2, 7)])
def test_rows_whose_sums_are_enclosed_are_drawn_with_their_law(sizes):
    """From thirds and sevenths no word of three bits is without ties; every script is tried."""
    parts, whole = sizes
    law = [F(parts, parts + whole), F(0), F(whole, parts + whole)]
    sums = [F(0), law[0], law[0] + law[1], F(1)]

    def enclose(bits):
        scaled = [c * (1 << bits) for c in sums[:3]]
        return [(int(x // 1) - (x > 0), int(-(-x // 1)) + (0 < x < 1 << bits)) for x in scaled]

    found = law_of(lambda source: int(draw_brackets(enclose, 3, 1, source=source)[0]), word_bits=3, words=3)
    for answer, exact in enumerate(law):
        mass = found.outcomes.get(answer, F(0))
        assert mass <= exact <= mass + found.undecided
    assert found.undecided <= F(1, 50)


HALVES = [F(1, 2), F(1, 2)]
IN_RUNS = {
    "brackets": lambda count, source: draw_brackets(
        lambda bits: [(0, 0), (1 << bits - 1, 1 << bits - 1)], 2, count, source=source
    ),
    "rows": lambda count, source: draw([HALVES], np.zeros(count, np.int64), source=source),
    "ranks": lambda count, source: draw_ranks(
        [HALVES[:1]], np.zeros(count, np.int64), np.zeros(count, np.int64), Privacy(ratio=2), source=source
    ),
}


@pytest.mark.parametrize("kind", IN_RUNS)
def test_each_draw_of_several_runs_has_a_word_of_its_own(kind):
    """Beyond one run, which bounds the memory in use: the upper half of all words is 1, wherever it stands."""
    words = [(5 * k + k // 7) % 8 for k in range((1 << 16) + 3)]
    found = IN_RUNS[kind](len(words), ScriptedBits(words, word_bits=3))
    assert found.tolist() == [word // 4 for word in words]


def test_one_answer_needs_no_threshold():
    assert (
        draw_brackets(lambda bits: [(0, 0)], 1, 4, source=ScriptedBits([0, 1, 6, 7], word_bits=3)).tolist() == [0] * 4
    )
    assert draw_brackets(lambda bits: [(0, 0)], 1, 0).tolist() == []


@pytest.mark.parametrize("size", [1, 3, 6, 7])
def test_whole_numbers_are_uniform_by_every_script(size):
    for sizes in (size, np.array([size])):
        found = law_of(lambda source, s=sizes: int(draw_uniform(1, s, source)[0]), word_bits=3, words=3)
        for value in range(size):
            mass = found.outcomes.get(value, F(0))
            assert mass <= F(1, size) <= mass + found.undecided
        assert set(found.outcomes) == set(range(size))


@pytest.mark.parametrize("size", [1, 2, 3, 1000, 3**20, (1 << 32) - 1, 1 << 32])
def test_whole_numbers_of_one_word_are_floors_and_ties_take_another(size):
    edges = [F(k, size) * WORD for k in {0, 1, 2, size // 2, size - 1}]
    words = sorted(
        {int(edge) + off for edge in edges for off in (-1, 0, 1) if 0 <= int(edge) + off < WORD} | {WORD - 1}
    )
    for word in words:
        surely, perhaps = word * size // WORD, -(-(word + 1) * size // WORD) - 1
        source = ScriptedBits([word, WORD - 1], word_bits=64)
        assert draw_uniform(1, size, source)[0] == (word * WORD + WORD - 1) * size // WORD**2
        assert source.read == (2 if perhaps > surely else 1)


def test_links_at_an_end_of_their_interval_are_that_end():
    given = {"finer_privacy": Privacy(ratio=4), "coarser_privacy": Privacy(ratio=2)}
    none = ScriptedBits([], word_bits=3)
    assert refine([5, 6], [9, 1], Privacy(ratio=2), source=none, **given).tolist() == [9, 1]
    assert refine([5, 6], [9, 1], Privacy(ratio=4), source=none, **given).tolist() == [5, 6]


@pytest.mark.parametrize("far", [0, 3, -3])
def test_a_link_lies_on_the_side_of_its_part(far):
    """Words of 64 bits chosen in the middle of each part, and steps of 0 (the whole word) beside them."""
    given = {"finer_privacy": Privacy(ratio=5), "coarser_privacy": Privacy(ratio=2)}
    toward = 1 if far >= 0 else -1
    drawn = []
    for word in (*range(0, WORD, WORD // 64), WORD - WORD // 1000):
        source = ScriptedBits([word, 0, 0], word_bits=64)
        drawn.append(int(refine([10], [10 + far], Privacy(ratio=3), source=source, **given)[0]))
    places = [(value - 10) * toward for value in drawn]
    assert places == sorted(places)
    assert set(places) == {-1, 0, abs(far), abs(far) + 1}


@pytest.mark.parametrize(("values", "kind"), [
    (np.ma.array([1, 2], mask=[0, 1]), "one with masked entries"),
    ([1.5], "floats"),
    ([True], "booleans"),
    (["1"], "text"),
    ([1j], "complex numbers"),
    ([None], "Python objects"),
    (np.array([1], dtype="timedelta64[s]"), "this type"),
])  # fmt: skip
def test_arrays_of_anything_else_are_refused_by_kind(values, kind):
    with pytest.raises(BadInput) as refused:
        integers(values, "values", at_least=0, at_most=9)
    assert str(refused.value) == f"values: must be an array of integers, not {kind}; convert it to int64"


# The 64-bit path against brute force in a second arithmetic: GMP rationals and MPFR floats of 400 bits.

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
