"""Open cells hold their thresholds, tables count what exact comparisons count, ties resolve as exact numbers would."""

import math
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Privacy, design
from irisdp._exact import Enclosure
from irisdp._measurements import (
    BinNodes,
    GapNodes,
    Grid,
    LargestCategory,
    MeanFromCentre,
    MeanFromEnds,
    MeanNodes,
    MeanOfAll,
    QuantileBin,
    StaircaseNoise,
)
from irisdp._measurements.means import Rated, distance_for
from irisdp._measurements.plurality import flip_chances, pull_chances
from irisdp._sampling import LAST_WORD, ThresholdTable, bracket_enclosed, bracket_rational, open_cell, resolve
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp._sampling.depth_rows import LARGEST_DEPTH, open_cells, saturation_depth
from irisdp.graphs import NeighbouringRelation
from irisdp.mechanisms import PermuteAndFlip, Pull
from irisdp.noise import law
from irisdp.privacy import enclose_steps, steps
from support.seeds import fresh_generator
from support.sweeps import by_turns, tried

fractions = st.fractions(min_value=0, max_value=1, max_denominator=300)
ratios = st.one_of(
    st.just(F(1)),
    st.fractions(min_value=1, max_value=30, max_denominator=60),
    st.sampled_from([1 + F(1, 10**9), 1 + F(1, 10**30), F(10**22), F(10**300)]),
)
deltas = st.one_of(st.just(F(0)), st.fractions(min_value=0, max_value=F(9, 10), max_denominator=100))
privacies = st.builds(lambda r, d: Privacy(ratio=r, delta=d), ratios, deltas)
one_pair = np.zeros(1, dtype=np.int64)


def cell_of(probability, depth, privacy):
    return open_cells([probability], one_pair, np.array([depth]), privacy)[0].tolist()


def leaves_open(cell, exact):
    """Tell whether words outside the cell decide on the right side of an exact threshold."""
    first, last = cell
    below = first == 0 or F(first, 1 << 64) <= exact
    above = last == LAST_WORD or exact <= F(last + 1, 1 << 64)
    return below and above


@given(fractions, st.integers(0, 30), privacies)
@settings(max_examples=tried(64, 400), deadline=None)
def test_cells_hold_exact_iteration(probability, depth, privacy):
    cell = cell_of(probability, depth, privacy)
    assert leaves_open(cell, steps(probability, depth, privacy))
    assert cell[1] - cell[0] <= 1


@given(fractions, st.integers(0, 10**12), privacies)
@settings(max_examples=tried(64, 400), deadline=None)
def test_cells_hold_enclosures_at_any_depth(probability, depth, privacy):
    exact = enclose_steps(probability, depth, privacy, width=F(1, 1 << 90))
    cell = cell_of(probability, depth, privacy)
    assert leaves_open(cell, exact.lower) or leaves_open(cell, exact.upper)
    assert cell[1] - cell[0] <= 1


@given(st.integers(0, 6), st.integers(0, 12), st.integers(-1, 1), st.sampled_from([60, 130, 400]), privacies)
@settings(max_examples=tried(64, 400), deadline=None)
def test_cells_hold_next_to_a_tie_between_the_branches(before, depth, side, closeness, privacy):
    start = (1 - privacy.delta) / (privacy.ratio + 1)
    for _ in range(before):
        start = (start - privacy.delta) / privacy.ratio
    start += side * F(1, 1 << closeness)
    if 0 <= start <= 1:
        assert leaves_open(cell_of(start, depth, privacy), steps(start, depth, privacy))


@given(fractions, privacies, st.integers(0, 1 << 62))
@settings(max_examples=tried(48, 300), deadline=None)
def test_cells_no_longer_change_beyond_the_saturation_depth(probability, privacy, further):
    depth = saturation_depth(probability, privacy)
    cell = cell_of(probability, depth, privacy)
    assert cell_of(probability, min(depth + further, LARGEST_DEPTH), privacy) == cell
    assert cell == [LAST_WORD, LAST_WORD] or depth in (0, LARGEST_DEPTH)


def test_no_boundary_means_certainty():
    assert cell_of(F(0), -1, Privacy(ratio=2)) == [LAST_WORD, LAST_WORD]


def test_a_threshold_of_another_depth_is_noticed():
    """Negative control for the two tests above."""
    privacy = Privacy(epsilon="1e-9")
    cell = cell_of(F(1, 3), 10**6, privacy)
    for depth in (10**6 - 1, 10**6 + 1):
        assert not leaves_open(cell, enclose_steps(F(1, 3), depth, privacy, width=F(1, 1 << 90)).lower)


@given(
    st.lists(st.lists(fractions, min_size=5, max_size=5).map(sorted), min_size=1, max_size=4),
    st.sampled_from([1, 3, 7, 33, 64]),
    st.data(),
)
@settings(max_examples=tried(32, 200), deadline=None)
def test_tables_count_as_exact_comparisons_do(rows, word_bits, data):
    cells = [[open_cell(*bracket_rational(c, 64)) for c in row] for row in rows]
    table = ThresholdTable.from_cells(np.array(cells, dtype=np.uint64)).at(word_bits)
    edges = sorted({min(math.floor(c * 2**word_bits), 2**word_bits - 1) for row in rows for c in row})
    words = [*edges, *(e - 1 for e in edges if e), *(e + 1 for e in edges if e + 1 < 1 << word_bits)]
    words += data.draw(st.lists(st.integers(0, (1 << word_bits) - 1), max_size=5))
    for number, row in enumerate(rows):
        index = np.full(len(words), number, dtype=np.int64)
        counts, opened = table.count_reached(np.array(words, dtype=np.uint64), index)
        for place, word in enumerate(words):
            surely = sum(c * 2**word_bits <= word for c in row)
            perhaps = sum(c * 2**word_bits < word + 1 for c in row)
            if place not in opened:
                assert counts[place] == surely == perhaps
            else:  # conservative, but only next to a threshold or the padding, which is 1
                assert any(word <= c * 2**word_bits <= word + 1 for c in (*row, 1))


def guided(law):
    """Return a table that has a guide, and words on both sides of every threshold and of every first bits."""
    cells = [open_cell(*law(k)) for k in range(1, 100)]
    table = ThresholdTable.from_cells(np.array([cells], dtype=np.uint64))
    ends = [cell[0] for cell in cells] + [k << 56 for k in range(1, 256)] + [0, 2**64 - 1]
    return table, sorted({min(max(end + more, 0), 2**64 - 1) for end in ends for more in (-1, 0, 1)})


def disagreements(table, words, word_bits):
    """Count the words that a guided table counts otherwise than bisection does."""
    narrow, shifted = table.at(word_bits), np.array(words, dtype=np.uint64) >> np.uint64(64 - word_bits)
    plain = narrow.count_reached(shifted, np.zeros(len(words), dtype=np.int64))
    return sum(
        int((one != other).sum()) if len(one) == len(other) else 1
        for one, other in zip(narrow.count_reached(shifted), plain, strict=True)
    )


@pytest.mark.parametrize("word_bits", [3, 7, 8, 9, 33, 64])
@pytest.mark.parametrize("bend", [F(0), F(1, 1000), F(1, 300)])
def test_a_guide_leads_to_where_bisection_ends(word_bits, bend):
    table, words = guided(lambda k: bracket_rational(F(k, 100) + bend * F(k * (100 - k), 100), 64))
    assert table.guide is not None
    assert table.moves < table.steps == 7
    assert disagreements(table, words, word_bits) == 0


@pytest.mark.parametrize("slip", [-1, 1])
def test_a_guide_that_leads_one_threshold_off_is_noticed(slip):
    """Negative control."""
    table, words = guided(lambda k: bracket_rational(F(k, 100), 64))
    moved = np.clip(table.guide + slip, 0, 99)
    assert disagreements(replace(table, guide=moved), words, 64) > 0


def test_thresholds_that_lie_unevenly_have_no_guide():
    table, _ = guided(lambda k: bracket_rational(1 - F(1, 2**k), 64))
    assert table.guide is None


def test_a_table_one_word_off_is_noticed():
    """Negative control: a threshold moved by one word decides a word wrongly."""
    first, last = open_cell(*bracket_rational(F(1, 3), 64))
    table = ThresholdTable.from_cells(np.array([[[first + 1, last + 1]]], dtype=np.uint64))
    counts, opened = table.count_reached(np.array([last + 1], dtype=np.uint64))
    assert opened.tolist() == [0]
    counts, opened = table.count_reached(np.array([first], dtype=np.uint64))
    assert opened.tolist() == []
    assert counts.tolist() == [0]  # decided, though U may lie on either side of 1/3


@given(
    st.lists(fractions, min_size=1, max_size=6).map(sorted),
    st.integers(1, 9),
    st.lists(st.integers(0, 511), min_size=40, max_size=40),
)
@settings(max_examples=tried(40, 250), deadline=None)
def test_ties_resolve_as_exact_numbers_do(sums, word_bits, script):
    script = [word % (1 << word_bits) for word in script]
    source = ScriptedBits(script, word_bits=word_bits)
    first_word = int(source.words(1)[0])
    outcome = resolve(first_word, lambda v, bits: bracket_rational(sums[v - 1], bits), source, first=0, last=len(sums))
    digits = sum(F(word, 1 << word_bits * (place + 1)) for place, word in enumerate(script[: source.read]))
    resolution = F(1, 1 << word_bits * source.read)
    assert sum(c <= digits for c in sums) == outcome == sum(c < digits + resolution for c in sums)


@pytest.mark.parametrize("slack", [F(0), F(1)])
def test_an_enclosure_that_never_leaves_a_binary_fraction_is_resolved_by_more_digits(slack):
    def bracket(outcome, bits):
        return bracket_enclosed(lambda *, width: Enclosure(F(3, 4) - slack * width, F(3, 4) + slack * width), bits)

    below = ScriptedBits([1, 1, 1, 0, 1, 0], word_bits=1)
    above = ScriptedBits([0, 0, 0, 0, 1, 0], word_bits=1)
    assert resolve(0b10, bracket, shifted(below), first=0, last=1) == 0
    assert resolve(0b11, bracket, shifted(above), first=0, last=1) == 1


def shifted(source):
    """A source of two-bit words made of one-bit ones, so that a first word of two bits fits."""
    pairs = [2 * int(source.words(1)[0]) + int(source.words(1)[0]) for _ in range(3)]
    return ScriptedBits(pairs, word_bits=2)


# Cells that name the bin of a quantile: what is drawn has the exact law, for tables and for weights by score.


def cells(bins, ratio, share=F(1, 2), relation="add-remove"):
    names = tuple("abcdefghijkl"[:bins])
    return QuantileBin(design.quantile(bins, Privacy(ratio=ratio), share, relation), names)


MADE = {"table": cells(3, 2), "scores": cells(9, 2), "exchanged": cells(4, 3, F(3, 4), "exchange")}
COUNTS = {"table": (2, 0, 1), "scores": (0, 3, 0, 0, 1, 1, 0, 0, 5), "exchanged": (1, 1, 0, 2)}


@pytest.mark.parametrize("kind", MADE)
def test_what_is_drawn_from_all_first_words_has_the_exact_law(kind):
    """Words of 8 bits, every one of them: what they leave open is resolved as the exact chances say."""
    made, counts = MADE[kind], COUNTS[kind]
    nodes = BinNodes(made.names, np.array([counts]))
    found = law_of(lambda bits: str(made.draw(nodes, source=bits)[0]), word_bits=8, words=2)
    assert found.undecided < F(1, 50)
    law = made.law(nodes, 0, 4)
    assert sum(law.values()) == 1
    for name, chance in law.items():
        drawn = found.outcomes.get(name, F(0))
        assert drawn <= chance <= drawn + found.undecided


@pytest.mark.parametrize("kind", MADE)
def test_many_cells_are_drawn_as_each_alone(kind):
    made, counts = MADE[kind], COUNTS[kind]
    times = 40_000
    nodes = BinNodes(made.names, np.repeat([counts], times, axis=0))
    drawn = Counter(made.draw(nodes).tolist())
    for name, chance in made.law(nodes, 0, 4).items():
        spread = (times * float(chance * (1 - chance))) ** 0.5
        assert abs(drawn[name] - times * float(chance)) < 6 * spread


@pytest.mark.parametrize("kind", MADE)
def test_each_cell_has_its_own_row(kind):
    """At a large ratio each cell is told its own bin."""
    generator = fresh_generator((91, len(kind)))
    bins = len(MADE[kind].names)
    sure = cells(bins, 10**30)
    counts = generator.integers(0, 9, (200, bins))
    right = (np.cumsum(counts, axis=1) >= counts.sum(axis=1, keepdims=True) / 2).argmax(axis=1)
    assert sure.draw(BinNodes(sure.names, counts)).tolist() == [sure.names[place] for place in right]


def test_as_many_words_are_read_whatever_the_counts():
    made = MADE["scores"]

    class Counting:
        word_bits = 64

        def __init__(self):
            self.read = 0

        def words(self, count):
            self.read += count
            return np.full(count, 1 << 63, np.uint64)

    reads = set()
    for counts in ([0] * 9, [10**12, *[0] * 8], [5] * 9):
        source = Counting()
        made.draw(BinNodes(made.names, np.array([counts] * 7)), source=source)
        reads.add(source.read)
    assert reads == {7}


def test_nobody_is_in_cells_that_pad():
    nodes = BinNodes(("a", "b"), np.array([[3, 1]])).padded(4)
    assert len(nodes) == 4
    assert nodes.counts[1:].sum() == 0
    assert "3" not in repr(nodes)


def test_what_is_said_of_the_error_stands_in_the_sidecar():
    for made in MADE.values():
        assert made.to_document()["records_off"] == made.expected_error()
        assert f"{made.expected_error()['within_95_percent']} record" in made.describe_error()


# Cells that name the largest category: floats hold the exact chances, and what is drawn has them.

RATIOS = (F(3, 2), F(2), F(11, 3), F(50))


def gaps_of(generator, cells, categories, most):
    counts = generator.integers(0, most + 1, (cells, categories))
    return counts.max(axis=1, keepdims=True) - counts


def rules(categories, ratio):
    privacy = Privacy(ratio=ratio)
    rules = [PermuteAndFlip(categories, privacy, relation) for relation in NeighbouringRelation]
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


@pytest.mark.parametrize(
    ("gaps", "number"), by_turns([(0, 0, 0), (0, 1, 1), (0, 0, 2), (0, 3, 5), (2, 0, 1)], range(3)), ids=str
)
def test_what_is_drawn_from_all_first_words_has_the_exact_law_of_winners(gaps, number):
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
def test_many_cells_are_drawn_as_each_alone_of_winners(number):
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
    privacy = Privacy(epsilon=1)
    mechanism = LargestCategory(PermuteAndFlip(3, privacy, NeighbouringRelation.ADD_REMOVE), privacy)
    error = mechanism.expected_error()
    assert error["wrong_at_worst"] == pytest.approx(0.322768, abs=1e-6)
    lead = error["lead_for_99_percent"]
    assert mechanism.rule.enclose((0, lead, lead))[0].lower >= F(99, 100)
    assert mechanism.rule.enclose((0, lead - 1, lead - 1))[0].upper < F(99, 100)


def test_nodes_show_nothing():
    assert "7" not in repr(GapNodes(("a", "b"), np.array([[0, 7]])))


def test_flip_and_pull_agree_on_what_two_categories_are():
    gaps = np.array([[0, 3], [0, 0]])
    for found in (flip_chances(gaps, F(2), NeighbouringRelation.EXCHANGE), pull_chances(gaps, F(2))):
        assert ((found.low.sum(axis=1) <= 1) & (found.high.sum(axis=1) >= 1)).all()


# Means: that no larger rates are private, and that intervals hold as often as they say.

SIDE = 400
"""Geometric masses beyond are below 1e-17 here."""


def geometric(ratio):
    z = np.arange(-SIDE, SIDE + 1)
    masses = float(ratio) ** -np.abs(z)
    return z, masses / masses.sum()


def tail(distance, first, second):
    """Return P(|w·Z + v·Y| > distance) by adding up all masses."""
    (w, one), (v, other) = first, second
    z, p = geometric(one)
    y, q = geometric(other)
    return float((np.outer(p, q) * (np.abs(w * z[:, None] + v * y[None, :]) > distance)).sum())


@pytest.mark.parametrize("ratio", [Fraction(6, 5), Fraction(2), Fraction(9)])
def test_distances_are_exceeded_no_more_often_than_said(ratio):
    for other, share, wrong in product((ratio, Fraction(3, 2)), (0.5, 0.6, 0.9, 1.0), (0.2, 0.05, 0.01)):
        first, second = (share, ratio), (1 - share, other)
        distance = distance_for(wrong, (share, Rated(ratio)), (1 - share, Rated(other)))
        assert tail(distance, first, second) <= wrong


def test_distances_are_not_much_too_large():
    """With noise that is wide beside the steps, a distance is exceeded nearly as often as it may be."""
    ratio = Fraction(21, 20)
    for share in (0.5, 0.7, 1.0):
        distance = distance_for(0.05, (share, Rated(ratio)), (share - 1, Rated(ratio)))
        assert tail(distance, (share, ratio), (share - 1, ratio)) > 0.046


def test_distances_grow_from_the_middle_to_the_bounds():
    for ratio, wrong in product((Fraction(6, 5), Fraction(4)), (0.3, 0.05, 1e-6)):
        rated = Rated(ratio)
        ends = [distance_for(wrong, (0.5 + s, rated), (0.5 - s, rated)) for s in np.linspace(0, 0.5, 26)]
        centre = [distance_for(wrong, (0.5, rated), (t, Rated(Fraction(2)))) for t in np.linspace(0, 3, 26)]
        assert np.all(np.diff(ends) > -1e-9)
        assert np.all(np.diff(centre) > -1e-9)


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre])
@pytest.mark.parametrize("steps", [Grid(0, 1, Fraction(1)), Grid(-2, 2, Fraction(1, 2))])
def test_rates_are_as_large_as_they_may_be(kind, steps):
    """The farthest move costs ε, as the product of the ratios of both noises far out."""
    privacy = Privacy(ratio=4 ** (2 * steps.span))  # whose roots are fractions
    mechanism = kind(privacy, steps)
    rates = [noise.cells.privacy.ratio for noise in mechanism.noises]
    held = [None, *range(steps.span + 1)]

    def numbers(values):
        known = [value for value in values if value is not None]
        nodes = MeanNodes(np.array([len(known)]), np.array([sum(known)]), None)
        return mechanism.numbers(nodes)[0].tolist()

    if kind is MeanFromEnds:
        moves = [((value,), ()) for value in held]
    else:
        moves = [((one,), (other,)) for one, other in product(held, held)]
    costs = []
    for one, other in moves:
        shifts = [abs(a - b) for a, b in zip(numbers(one), numbers(other), strict=True)]
        costs.append(rates[0] ** shifts[0] * rates[1] ** shifts[1])
    assert max(costs) == privacy.ratio


def test_roots_that_are_fractions_are_exact():
    assert law("geometric", Privacy(ratio="81/16"), 4).cells.privacy.ratio == Fraction(3, 2)
    near = law("geometric", Privacy(ratio=5), 4).cells.privacy.ratio
    assert near**4 < 5 < (near + Fraction(1, 1 << 126)) ** 4


def mean_of_all(privacy, steps):
    return MeanOfAll(StaircaseNoise(privacy, steps.span), steps)


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre, mean_of_all])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
def test_intervals_hold_the_mean_as_often_as_they_say(kind, confidence):
    """Drawn for few and many values, near a bound and in the middle; three and a half deviations below fail."""
    for count, share in ((1, 0.0), (3, 0.5), (40, 0.1), (500, 0.5), (500, 0.98)):
        steps = Grid(-10, 10, Fraction(1, 2))
        mechanism = kind(Privacy(epsilon=1), steps)
        above = round(count * share * steps.span)
        times = tried(1000, 10_000)
        records = np.full(times, count) if kind is mean_of_all else None
        nodes = MeanNodes(np.full(times, count), np.full(times, above), records)
        drawn = mechanism.draw(nodes).tolist()
        mean = float(steps.lower) + above / count * float(steps.size)
        found = mechanism.intervals(drawn, nodes, confidence)
        held = sum(low - 1e-9 <= mean <= high + 1e-9 for low, high in found) / times
        assert held > float(confidence) - 3.5 * (float(confidence * (1 - confidence)) / times) ** 0.5, (count, share)
        shown = mechanism.show(drawn, nodes)
        assert all(low <= one <= high for one, (low, high) in zip(shown, found, strict=True))
        assert all(float(steps.lower) <= low <= high <= float(steps.upper) for low, high in found)


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre])
@pytest.mark.parametrize("ratio", [4, 64, 3000])
def test_planned_errors_are_kept_by_every_small_table(kind, ratio):
    """(11) of proofs/sums-and-means.md, by the exact law of both numbers, cut off where they are public."""
    steps = Grid(0, 2, Fraction(1))
    mechanism = kind(Privacy(ratio=ratio), steps)
    masses = [[(z, float(noise.probability(z))) for z in range(-16, 17)] for noise in mechanism.noises]
    tightest = 1.0
    for number, distance in product((1, 2, 4), (Fraction(1, 4), Fraction(1, 2), Fraction(1))):
        planned = mechanism.chance_with(distance, number)
        for known in (number, number + 1):
            for above, most in product(range(2 * known + 1), (None, known, known + 1)):
                nodes = MeanNodes(np.array([known]), np.array([above]), None)
                true = mechanism.numbers(nodes)[0].tolist()
                right = 0.0
                for (one, p), (other, q) in product(*masses):
                    total, noisy = mechanism.total_and_number([true[0] + one, true[1] + other])
                    if most is not None and kind is MeanFromCentre:
                        noisy = min(noisy, Fraction(most))
                    mean = min(max(1 + total / max(noisy, Fraction(1)), Fraction(0)), Fraction(2))
                    right += p * q * (abs(mean - Fraction(above, known)) <= distance)
                assert right >= planned - 1e-9, (known, above, most)
                tightest = min(tightest, right - planned)
    assert tightest < 0.2


def test_two_ends_are_nearer_than_a_sum_and_a_count_of_half_the_privacy():
    """By √2 in the middle, and at the bounds: deviations over many draws."""
    steps, count, rng = Grid(0, 40, Fraction(1)), 2000, np.random.default_rng(7)
    privacy = Privacy(epsilon=1)
    for share in (0.5, 1.0):
        nodes = MeanNodes(np.full(20_000, count), np.full(20_000, round(count * share * 40)), None)
        mechanism = MeanFromEnds(privacy, steps)
        total, number = np.array([mechanism.total_and_number(pair) for pair in mechanism.draw(nodes).tolist()]).T
        ours = np.std((total / number).astype(float))
        halves = rng.laplace(scale=2 * 20, size=(20_000,)), rng.laplace(scale=2, size=(20_000,))
        theirs = np.std((count * (share - 0.5) * 40 + halves[0]) / (count + halves[1]))
        assert 1.35 < theirs / ours < 1.48, share


@pytest.mark.parametrize("kind", [MeanFromEnds, MeanFromCentre])
def test_noise_beyond_a_bound_leaves_the_ends_as_near_as_noise_short_of_it(kind):
    """A mean at a bound, pushed beyond by rare noise, had all means between the bounds for its ends, whatever N."""
    mechanism = kind(Privacy(epsilon=1), Grid(18, 100, Fraction(1)))
    widths = []
    for beyond in (0, 100, 200, 300, 400, 800):
        drawn = [-beyond, 82_010] if kind is MeanFromEnds else [-82_010 - 2 * beyond, 1_000]
        ((low, high),) = mechanism.intervals([drawn], nodes(), Fraction(19, 20))
        assert low == 18
        widths.append(high - low)
    assert max(widths) < 1
    other = [82_010, -400] if kind is MeanFromEnds else [82_010 + 800, 1_000]
    ((low, high),) = mechanism.intervals([other], nodes(), Fraction(19, 20))
    assert high == 100
    assert high - low < 1


def nodes():
    nothing = np.zeros(1, dtype=np.int64)
    return MeanNodes(nothing, nothing, None)
