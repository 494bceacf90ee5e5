"""Open cells hold their thresholds, tables count what exact comparisons count, ties resolve as exact numbers would."""

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Privacy
from irisdp._exact import Enclosure
from irisdp._sampling import LAST_WORD, ThresholdTable, bracket_enclosed, bracket_rational, open_cell, resolve
from irisdp._sampling.bits import ScriptedBits
from irisdp._sampling.depth_rows import LARGEST_DEPTH, open_cells, saturation_depth
from irisdp.privacy import enclose_steps, steps
from support.sweeps import tried

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
@settings(max_examples=tried(160, 400), deadline=None)
def test_cells_hold_exact_iteration(probability, depth, privacy):
    cell = cell_of(probability, depth, privacy)
    assert leaves_open(cell, steps(probability, depth, privacy))
    assert cell[1] - cell[0] <= 1


@given(fractions, st.integers(0, 10**12), privacies)
@settings(max_examples=tried(160, 400), deadline=None)
def test_cells_hold_enclosures_at_any_depth(probability, depth, privacy):
    exact = enclose_steps(probability, depth, privacy, width=F(1, 1 << 90))
    cell = cell_of(probability, depth, privacy)
    assert leaves_open(cell, exact.lower) or leaves_open(cell, exact.upper)
    assert cell[1] - cell[0] <= 1


@given(st.integers(0, 6), st.integers(0, 12), st.integers(-1, 1), st.sampled_from([60, 130, 400]), privacies)
@settings(max_examples=tried(160, 400), deadline=None)
def test_cells_hold_next_to_a_tie_between_the_branches(before, depth, side, closeness, privacy):
    start = (1 - privacy.delta) / (privacy.ratio + 1)
    for _ in range(before):
        start = (start - privacy.delta) / privacy.ratio
    start += side * F(1, 1 << closeness)
    if 0 <= start <= 1:
        assert leaves_open(cell_of(start, depth, privacy), steps(start, depth, privacy))


@given(fractions, privacies, st.integers(0, 1 << 62))
@settings(max_examples=tried(120, 300), deadline=None)
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
@settings(max_examples=tried(80, 200), deadline=None)
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
@settings(max_examples=tried(100, 250), deadline=None)
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
