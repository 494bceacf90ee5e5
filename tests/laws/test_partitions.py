"""The partition mechanism's law and draws, against brute force over every sorted list that may be released.

Those are all y_1 ≥ y_2 ≥ … > 0 with i·y_i ≤ N for every i, and at most `parts` entries if that is given; with a window,
only those whose rows and columns through the largest square that fits are within the window of the true list's. The
brute force lists them, measures them entry by entry, and knows neither squares nor tail sums where it can do without.

What is proved of `draw`: it inverts the exact cumulative laws of the square, then of the rows from the square's last to
the first, then of the columns likewise, one word each. Ties are resolved rightly, as all scripts of narrow words
show. That floats decide rightly is tested in the last part of this file.
"""

import dataclasses
import math
from fractions import Fraction as F
from functools import cache
from itertools import accumulate, pairwise, product, repeat

import flint
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from irisdp import BadInput, Privacy, plan
from irisdp._exact import ball, working_precision
from irisdp._measurements import SizesShape
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.mechanisms import PartitionMechanism, _partition_sums, fall_together, sizes_of
from irisdp.mechanisms._partitions import Cut
from irisdp.mechanisms._sorted_counts import nearest_falling
from irisdp.privacy import Gaussian, halved
from support.closeness import hockey_stick, over_one_denominator
from support.sweeps import tried

REFUSED = 1e-9
"""A wrong law must be refused far below the level at which a right one is."""


HALF = F(1, 2)


def sorted_lists(total, parts=None):
    """Yield every list that may be released."""

    def grow(begun):
        yield begun
        place = len(begun) + 1
        if parts is None or place <= parts:
            for value in range(1, min(begun[-1] if begun else total, total // place) + 1):
                yield from grow((*begun, value))

    return grow(())


@cache
def releasable(total, parts=None):
    return list(sorted_lists(total, parts))


def true_lists(total):
    return [x for x in releasable(total) if sum(x) <= total]


def distance(x, y):
    longest = max(len(x), len(y))
    return sum(abs(a - b) for a, b in zip(padded(x, longest), padded(y, longest), strict=True))


def padded(x, length):
    return (*x, *(0,) * (length - len(x)))


def conjugate(x):
    return tuple(sum(a >= j for a in x) for j in range(1, max(x, default=0) + 1))


def square_of(y):
    return sum(value >= place for place, value in enumerate(y, 1))


def within(x, y, window):
    side = square_of(y)
    return all(
        abs(a - b) <= window
        for one, other in ((x, y), (conjugate(x), conjugate(y)))
        for a, b in zip(padded(one, side)[:side], other[:side], strict=True)
    )


def brute_force(x, total, step, parts=None, window=None):
    x = x[:parts]
    lists = [y for y in releasable(total, parts) if window is None or within(x, y, window)]
    weights = [step ** distance(x, y) for y in lists]
    whole = sum(weights)
    return {y: weight / whole for y, weight in zip(lists, weights, strict=True)}


def mechanism(total, *, step=None, window=None, parts=None, relation="exchange", epsilon="1", delta=0):
    """A mechanism, with another step or window than its privacy leads to if asked."""
    made = PartitionMechanism(
        total=total, privacy=Privacy(epsilon=epsilon, delta=delta), parts=parts, relation=relation
    )
    for name, value in (("step", step), ("window", window)):
        if value is not None:
            object.__setattr__(made, name, value)
    return made


# The law


FEW = range(tried(11, 13))
"""Numbers of records of which every list is tried."""


@pytest.mark.parametrize("total", FEW)
def test_law_is_brute_force_for_every_list_of_few_records(total):
    made, lists = mechanism(total, step=HALF), releasable(total)
    table = np.array([padded(y, total + 1) for y in lists])
    for x in true_lists(total):
        law = made.law(x)
        distances = np.abs(table - np.array(padded(x, total + 1))).sum(axis=1).tolist()
        whole = sum(HALF**d * distances.count(d) for d in set(distances))
        shares = [HALF**d / whole for d in range(max(distances) + 1)]
        assert law == {y: shares[d] for y, d in zip(lists, distances, strict=True)}


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("total", FEW)
def test_law_of_the_largest_parts_is_brute_force(total, parts):
    made = mechanism(total, step=F(2, 3), parts=parts)
    for x in {x[:parts] for x in true_lists(total)}:
        assert made.law(x) == brute_force(x, total, F(2, 3), parts)


@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("window", range(5))
@pytest.mark.parametrize("total", range(8))
def test_law_in_a_window_is_brute_force(total, window, parts):
    made = mechanism(total, step=HALF, window=window, parts=parts)
    for x in true_lists(total):
        assert made.law(x) == brute_force(x, total, HALF, parts, window)


@pytest.mark.parametrize("window", [1, 3, 6])
@pytest.mark.parametrize("x", [(12,), (6, 3, 2, 1), (3, 3, 3, 3), (1,) * 12, ()])
def test_law_in_a_window_of_twelve_records_is_brute_force(x, window):
    assert mechanism(12, step=HALF, window=window).law(x) == brute_force(x, 12, HALF, None, window)


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_law_at_its_own_step_is_brute_force(relation):
    for settings in ({"epsilon": "1"}, {"epsilon": "3", "delta": "0.9"}):
        made = mechanism(9, relation=relation, **settings)
        assert (made.window is None) == (made.privacy.delta == 0)
        for x in [(), (9,), (4, 3, 1), (3, 3, 3), (1,) * 9]:
            assert made.law(x) == brute_force(x, 9, made.step, None, made.window)


def test_counts_may_come_in_any_order_and_with_zeros():
    made = mechanism(8, step=HALF)
    assert made.law([1, 0, 4, 2, 0]) == made.law([4, 2, 1])


# Draws


def by_inversion(x, total, step, parts, window, words, word_bits):
    """Draw as documented, from brute force: U in [word, word + 1)/2^bits, or None where that leaves a choice open."""
    law = brute_force(x, total, step, parts, window)
    words = iter(words)
    side = pick({y: square_of(y) for y in law}, law, next(words), word_bits)
    law = {y: p for y, p in law.items() if square_of(y) == side}
    for rows in (lambda y: y, conjugate):
        for place in reversed(range(side or 0)):
            if law:
                value = pick({y: rows(y)[place] for y in law}, law, next(words), word_bits)
                law = {y: p for y, p in law.items() if rows(y)[place] == value}
    return next(iter(law), None)


def pick(values, law, word, word_bits):
    whole, below = sum(law.values()), F(0)
    for value in sorted(set(values.values())):
        share = sum(p for y, p in law.items() if values[y] == value) / whole
        if below <= F(word, 1 << word_bits) and F(word + 1, 1 << word_bits) <= below + share:
            return value
        below += share
    return None


@given(st.data())
def test_draw_inverts_the_exact_cumulative_laws(data):
    total = data.draw(st.integers(0, 8))
    x = data.draw(st.sampled_from(true_lists(total)))
    parts, window = data.draw(st.sampled_from([None, 1, 2, 3])), data.draw(st.sampled_from([None, 0, 1, 2, 4]))
    made = mechanism(total, step=data.draw(st.sampled_from([HALF, F(9, 10), F(1, 100)])), window=window, parts=parts)
    words = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=20, max_size=20))
    stated = by_inversion(x, total, made.step, parts, window, words, 64)
    drawn = tuple(made.draw(x, source=ScriptedBits(words, word_bits=64)).tolist())
    assert stated is None or drawn == stated


def test_another_order_of_words_is_noticed():
    """Negative control: the inversion with words exchanged disagrees with the draw."""
    made, words = mechanism(6, step=HALF), [2**63, 2**62, 2**64 - 5]
    words = [*words, *[0] * 9]
    drawn = tuple(made.draw((3, 2, 1), source=ScriptedBits(words, word_bits=64)).tolist())
    assert drawn == by_inversion((3, 2, 1), 6, HALF, None, None, words, 64)
    assert drawn != by_inversion((3, 2, 1), 6, HALF, None, None, [words[0], words[2], words[1], *words[3:]], 64)


@pytest.mark.parametrize(
    ("total", "x", "word_bits", "words"), [(1, (1,), 3, 4), (3, (2, 1), 4, 3), (2, (1, 1), 4, 3)][: tried(2, 3)]
)
def test_every_script_of_narrow_words_leads_to_the_law(total, x, word_bits, words):
    made = mechanism(total, step=F(1, 3))
    law = law_of(lambda bits: tuple(made.draw(x, source=bits).tolist()), word_bits=word_bits, words=words)
    stated = made.law(x)
    decided = law.outcomes
    assert law.undecided < F(2, 3)
    assert set(decided) <= set(stated)
    assert all(decided.get(y, 0) <= p <= decided.get(y, 0) + law.undecided for y, p in stated.items())
    wrong = mechanism(total, step=F(1, 30)).law(x)
    assert any(not decided.get(y, 0) <= p <= decided.get(y, 0) + law.undecided for y, p in wrong.items())


# Draws in bulk

DRAWS, FAMILY_LEVEL, TESTS = 1200, 1e-6, 6


def entry_laws(x, total, step, places):
    """P(y_place = v) from sums over rows alone, in floats: all lists, row after row, no squares and no columns."""
    values = np.arange(total + 1)

    def weight(place):
        target = x[place] if place < len(x) else 0
        return np.where(values <= total // (place + 1), step ** np.abs(values - target).astype(float), 0.0)

    suffix = lambda a: np.cumsum(a[::-1])[::-1]  # noqa: E731
    forward, backward = [np.ones(total + 1)], [np.ones(total + 1)]
    for place in range(total):
        forward.append(suffix(forward[-1] * weight(place)))
        forward[-1] /= forward[-1][0]
    for place in reversed(range(total)):
        backward.append(np.cumsum(backward[-1] * weight(place)))
        backward[-1] /= backward[-1][-1]
    laws = []
    for place in places:
        law = forward[place] * weight(place) * backward[total - 1 - place]
        laws.append(law / law.sum())
    return laws


def p_value(observed, law):
    """Chi-square over cells joined to at least 20 expected draws."""
    counts = np.bincount(observed, minlength=len(law))
    cells, got, expected = [], 0, 0.0
    for count, share in zip(counts.tolist(), law.tolist(), strict=True):
        got, expected = got + count, expected + share * len(observed)
        if expected >= 20:
            cells.append((got, expected))
            got, expected = 0, 0.0
    cells[-1] = (cells[-1][0] + got, cells[-1][1] + expected)
    return stats.chi2.sf(sum((g - e) ** 2 / e for g, e in cells), len(cells) - 1)


def test_entries_of_draws_in_bulk_follow_their_laws():
    x, total = (40, 21, 20, 14, 9, *[2] * 20, *[1] * 6), 150
    made = mechanism(total, epsilon="1")
    drawn = [made.draw(x) for _ in range(DRAWS)]
    places = (0, 2, 5, 24)
    observed = [np.array([y[place] if place < len(y) else 0 for y in drawn]) for place in places]
    laws = entry_laws(x, total, float(made.step), places)
    assert min(p_value(o, law) for o, law in zip(observed, laws, strict=True)) > FAMILY_LEVEL / TESTS
    wrong = entry_laws(x, total, float(made.step) ** 1.4, places)
    assert min(p_value(o, law) for o, law in zip(observed, wrong, strict=True)) < REFUSED


def test_number_of_words_is_one_for_the_square_and_one_for_each_row_and_column():
    made = mechanism(2000, epsilon="1")
    for _ in range(20):
        source = Counted()
        y = made.draw([300, 100, *[3] * 40], source=source)
        assert source.taken == 1 + 2 * square_of(y.tolist())


class Counted:
    """The operating system's words, counted."""

    word_bits = 64

    def __init__(self):
        self.taken = 0

    def words(self, count):
        self.taken += count
        return np.frombuffer(np.random.default_rng().bytes(8 * count), dtype=np.uint64)


# Privacy


def neighbours(x, relation, total):
    """Yield the sorted lists one record away; a record may be of a type that nobody had."""
    counts = (*x, 0)
    for i in range(len(counts)):
        moved = [changed(counts, i, 1), changed(counts, i, -1)] if relation == "add-remove" else []
        if relation == "exchange":
            moved = [changed(changed((*counts, 0), i, -1), j, 1) for j in range(len(counts) + 1) if j != i]
        for y in moved:
            if min(y) >= 0 and sum(y) <= total:
                yield tuple(sorted((v for v in y if v), reverse=True))


def changed(counts, place, by):
    return (*counts[:place], counts[place] + by, *counts[place + 1 :])


def delta_needed(made, ratio):
    """The largest hockey-stick divergence over all pairs of neighbours, both ways, exactly."""
    laws = {x: over_one_denominator(made.law(x)) for x in true_lists(made.total)}
    pairs = {frozenset((x, other)) for x in laws for other in neighbours(x, made.relation, made.total) if other != x}
    both_ways = [laws[end] for pair in pairs for x, other in [tuple(pair)] for end in (x, other, other, x)]
    return max(map(hockey_stick, both_ways[::2], both_ways[1::2], repeat(ratio)), default=0)


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("total", [1, 4, 6])
def test_neighbours_are_exactly_close(total, relation, parts):
    made = mechanism(total, relation=relation, parts=parts, epsilon="1")
    assert delta_needed(made, made.privacy.ratio) == 0


def test_too_small_a_step_is_noticed():
    for relation, times in (("exchange", 2), ("add-remove", 2)):
        made = mechanism(6, relation=relation, epsilon="1")
        object.__setattr__(made, "step", made.step**times)
        assert delta_needed(made, made.privacy.ratio) > 0


@pytest.mark.parametrize(("relation", "epsilon"), [("exchange", "9.2"), ("add-remove", "4.6")])
def test_windows_cost_something_and_no_more_than_their_delta(relation, epsilon):
    """At β = 1/10 the bound is below 1 from a window of 4 or 5 on."""
    for window in tried((2, 5), (2, 4, 5)):
        made = mechanism(7, relation=relation, epsilon=epsilon, delta="0.5", window=window)
        assert 0 < delta_needed(made, made.privacy.ratio) <= made.window_delta
    assert made.window_delta < F(1, 10)


def test_mass_outside_a_window_is_at_most_its_bound():
    """η of the proof, for every list."""
    total, step = 8, F(1, 5)
    for x in true_lists(total):
        law = brute_force(x, total, step)
        for window in range(1, 5):
            outside = sum(p for y, p in law.items() if not within(x, y, window))
            assert outside <= 4 * math.isqrt(total) * step ** (window + 1) / (1 - step)


def test_one_entry_is_off_by_k_with_probability_at_most_beta_to_the_k():
    """The lemma behind η, not far from tight."""
    step = F(1, 2)
    worst = F(0)
    for x in true_lists(8):
        law = brute_force(x, 8, step)
        for place in range(len(x) + 2):
            for k in range(-8, 9):
                value = padded(x, place + 1)[place] + k
                share = sum(p for y, p in law.items() if padded(y, place + 1)[place] == value)
                assert share <= step ** abs(k)
                worst = max(worst, share / step ** abs(k))
    assert worst > F(3, 10)


def test_the_window_is_the_smallest_that_delta_allows():
    for delta in ("1e-3", "1e-9", "0.4"):
        made = mechanism(10**6, epsilon="1", delta=delta)
        smaller = dataclasses.replace(made)
        object.__setattr__(smaller, "window", made.window - 1)
        assert made.window_delta <= made.privacy.delta < smaller.window_delta


# The floats behind the partition mechanism: their sums are within their slack, and what they decide is right.
#
# The sums are compared with fractions and with balls of 300 bits; decisions are tried on words at, next to and
# further from every border, and must hold for all U that begin with the word.


def border_words(cumulative, word_bits):
    """Words at, next to, and ever further from the border."""
    middle = cumulative.numerator * (1 << word_bits) // cumulative.denominator
    near = {middle + sign * (1 << k) for k in range(word_bits) for sign in (1, -1)} | {middle}
    return [word for word in near if 0 <= word < 1 << word_bits]


def right(value, word, word_bits, below, upto):
    return below <= F(word, 1 << word_bits) and F(word + 1, 1 << word_bits) <= upto


CASES = [(12, (5, 3, 2, 1, 1), None, None), (12, (12,), None, 3), (40, (9, 9, 9, 9), None, None), (30, (1,) * 30, 4, 2)]


def decisions(made, x, word_bits):
    """Yield (decided value or None, word, c_value, c_(value + 1)) at the borders of every square and row, exactly."""
    cut = Cut.of(made, np.array(x[: made.parts]))
    weights = cut.weights(made.step.__pow__)
    sums = [s / sum(weights) for s in accumulate(weights, initial=F(0))]
    for border in sums:
        for word in border_words(border, word_bits):
            found = cut._decide(word, word_bits)
            yield found, word, *((0, 0) if found is None else (sums[found], sums[found + 1]))
    for side in cut.sides:
        for row in range(len(cut.costs) - 1):
            start = side.strip.first[row]
            _, tail = list(_partition_sums.exact_rows(side.strip, row + 1, start, made.step.__pow__))[-1]
            for extra in (0, (len(tail) - 1) // 2):
                cells = [*tail[extra:], F(0)]
                for border in {1 - cell / cells[0] for cell in cells}:
                    for word in border_words(border, word_bits):
                        found = side._decide(row, start + extra, word, word_bits)
                        if found is None:
                            yield None, word, 0, 0
                        else:
                            at = found - start - extra
                            yield found, word, 1 - cells[at] / cells[0], 1 - cells[at + 1] / cells[0]


@pytest.mark.parametrize("word_bits", [8, 64])
@pytest.mark.parametrize(("total", "x", "parts", "window"), CASES)
def test_every_decision_in_floats_is_right_for_the_whole_word(total, x, parts, window, word_bits):
    made = mechanism(total, step=F(7, 10), parts=parts, window=window)
    tried = list(decisions(made, x, word_bits))
    assert all(right(*one[:2], word_bits, *one[2:]) for one in tried if one[0] is not None)
    if word_bits == 64:
        assert sum(one[0] is None for one in tried) < 0.7 * len(tried)  # borders leave a word open, others do not


def test_floats_without_their_slack_are_noticed(monkeypatch):
    """Negative control: sums a little off, and no slack that says so, decide some words wrongly."""
    rows = _partition_sums.float_rows

    def careless(strip, step, reach):
        found, _ = rows(strip, step + F(1, 10**9), reach)
        return found, F(0)

    monkeypatch.setattr("irisdp.mechanisms._partitions.float_rows", careless)
    made = mechanism(12, step=F(7, 10))
    tried = [one for one in decisions(made, (5, 3, 2, 1, 1), 64) if one[0] is not None]
    assert not all(right(*one[:2], 64, *one[2:]) for one in tried)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "40", "1000"])
@pytest.mark.parametrize("window", [None, 3])
def test_float_sums_are_within_their_slack(epsilon, window):
    """Steep and flat steps, targets that jump, and rows that underflow as a whole."""
    for targets in ([30, 30, 3, 3, 0, 0, 0], [20, 11, 2, 1, 0, 0, 0], [6, 5, 5, 4, 3, 2, 1], [0] * 7, [12] * 7):
        caps = 24 // np.arange(1, 8) + 8
        strip = _partition_sums.strip_of(np.minimum(targets, caps), caps, window)
        step = mechanism(1, epsilon=epsilon).step
        rows, slack = _partition_sums.float_rows(strip, step, 40)
        exact = _partition_sums.exact_rows(strip, len(strip), 0, step.__pow__)
        for row, (first, sums) in zip(rows, exact, strict=True):
            scale = F(2) ** row.exponent
            assert row.first == first
            assert slack < F(1, 10**12)
            for cell, true in zip(row.sums.tolist(), sums, strict=False):
                assert (1 - slack) * F(cell) * scale <= true <= (1 + slack) * F(cell) * scale
            low, high = (F(bound) * scale for bound in row.whole)
            assert (1 - slack) * low <= sums[0] <= (1 + slack) * high


@pytest.mark.parametrize(
    ("x", "epsilon", "delta"), [((1,) * 3000, "40", 0), ((15,) * 200, "0.05", 0), ((900, 800, 10, 9), "0.5", "1e-3")]
)
def test_float_sums_of_thousands_of_records_are_within_their_slack(x, epsilon, delta):
    """Against balls of 300 bits: rows that are lost as a whole, a flat list under much noise, a window that jumps."""
    made = mechanism(3000, epsilon=epsilon, delta=delta)
    cut = Cut.of(made, np.array(x))
    lost = 0
    with working_precision(300):
        powers = list(accumulate([ball(made.step)] * 3000, lambda a, b: a * b, initial=ball(F(1))))
        for side in cut.sides:
            slack = ball(side.slack)
            exact = _partition_sums.exact_rows(side.strip, len(side.strip), 0, powers.__getitem__)
            for row, (_, sums) in zip(side.rows, exact, strict=True):
                scale, kept = flint.arb(2) ** row.exponent, len(row.sums)
                low, high = (flint.arb(bound) * scale for bound in row.whole)
                assert low * (1 - slack) <= sums[0] <= high * (1 + slack)
                for place in range(0, kept, max(1, kept // 20)):
                    cell = flint.arb(float(row.sums[place])) * scale
                    assert cell * (1 - slack) <= sums[place] <= cell * (1 + slack)
                if 0 < kept < len(sums):
                    assert sums[kept] <= flint.arb(row.beyond) * scale * (1 + slack)
                lost += row.whole[0] == 0
    assert (lost > 0) == (epsilon == "40")


# The nearest falling list, and the nearest list of sizes, against all lists there are.


def falling(longest, largest):
    """All falling lists of a length with entries from 0 to `largest`."""
    return [y for y in product(range(largest + 1), repeat=longest) if all(a >= b for a, b in pairwise(y))]


def off(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_nearest_falling_list_is_the_largest_of_the_nearest(length):
    lists = falling(length, 3)
    for values in product(range(4), repeat=length):
        least = min(off(y, values) for y in lists)
        nearest = [y for y in lists if off(y, values) == least]
        assert tuple(nearest_falling(values)) == tuple(max(column) for column in zip(*nearest, strict=True))


def test_nearest_falling_list_is_no_further_off_than_the_furthest_entry():
    for truth in falling(4, 2):
        for noise in product((-1, 0, 1), repeat=4):
            fitted = nearest_falling([x + z for x, z in zip(truth, noise, strict=True)])
            most = max(map(abs, noise))
            assert all(abs(y - x) <= most for x, y in zip(truth, fitted, strict=True))


def test_nearest_falling_list_can_be_cut_before_or_after():
    for values in product(range(-1, 4), repeat=4):
        cut = [min(max(value, 0), 2) for value in values]
        assert nearest_falling(cut) == [min(max(y, 0), 2) for y in nearest_falling(values)]


@pytest.mark.parametrize(("head", "below"), [(1, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3)])
def test_head_and_counts_are_nearest_of_all_that_are_one_list(head, below):
    most = 3
    pairs = [
        (sizes, counts)
        for sizes in falling(head, most)
        for counts in falling(below, most)
        if sum(count > 0 for count in counts) <= sizes[-1]
    ]
    for values in product(range(-1, most + 1), repeat=head + below):
        kept = [max(value, 0) for value in values]
        sizes, counts = fall_together(values[:head], values[head:])
        padded = [*counts, *[0] * (below - len(counts))]
        assert (tuple(sizes), tuple(padded)) in pairs
        least = min(off(y, kept[:head]) + off(c, kept[head:]) for y, c in pairs)
        assert off(sizes, kept[:head]) + off(padded, kept[head:]) == least


def test_sizes_are_what_head_and_counts_tell():
    for sizes in falling(5, 4):
        head, rest = sizes[:2], sizes[2:]
        counts = [sum(size >= j for size in rest) for j in range(1, 5)]
        assert sizes_of(head, counts) == [size for size in sizes if size]


def test_a_fit_that_forgets_to_raise_the_head_would_be_seen():
    """A head alone is nearest here at 1, but forty sizes of 2 below it do not fit under that."""
    sizes, counts = fall_together([9, 7, 1], [40, 39])
    assert (sizes, counts) == ([9, 7, 2], [40, 39])
    assert nearest_falling([9, 7, 1]) == [9, 7, 1]


# The numbers that tell a list of sizes, what one record changes of them, and what the list shown is certain of.

SHAPES = [SizesShape(head=head, below=below) for head, below in [(1, 0), (2, 0), (1, 2), (2, 1), (2, 3), (3, 4)]]


def tables(categories, most):
    return list(product(range(most + 1), repeat=categories))


def moved(shape, one, other):
    """How far apart the numbers of two tables are, entry by entry, without zeros, in order."""
    told = shape.tell(np.array(one)) - shape.tell(np.array(other))
    return sorted(np.abs(told[told != 0]).tolist())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_record_moves_one_number_by_one(shape):
    for counts in tables(4, 3):
        for place in range(4):
            more = list(counts)
            more[place] += 1
            assert moved(shape, counts, more) in ([], [1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exchanging_a_record_moves_two_numbers_by_one(shape):
    seen = set()
    for counts in tables(4, 3):
        for source, target in product(range(4), repeat=2):
            if source != target and counts[source]:
                other = list(counts)
                other[source] -= 1
                other[target] += 1
                seen.add(tuple(moved(shape, counts, other)))
    assert seen <= {(), (1,), (1, 1)}
    assert shape.numbers == 1 or (1, 1) in seen  # and so the price of two is met


def test_running_totals_would_move_all_together():
    """The control: numbers that are not each one size, or one count."""

    class Totals(SizesShape):
        def tell(self, sizes):
            return np.sort(sizes)[::-1].cumsum()

    assert moved(Totals(head=4), (1, 1, 1, 1), (2, 1, 1, 1)) == [1, 1, 1, 1]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_without_noise_the_list_itself_is_shown(shape):
    for counts in tables(5, 3):
        falling = sorted(counts, reverse=True)
        capped = falling[: shape.head]
        capped += [min(size, shape.below) for size in falling[shape.head :]]
        shown = shape.fit(shape.tell(np.array(counts)).tolist(), sum(counts))
        assert shown == tuple(size for size in capped if size)


def test_as_many_sizes_are_shown_as_were_asked_for():
    shape = SizesShape(head=4, first=4)
    assert shape.fit([3, 1, 0, -2]) == (3, 1, 0, 0)
    assert SizesShape(head=2, below=3, first=3).fit([3, 1, 5, 0, 0]) == (3, 1, 1)


def test_public_records_bound_what_is_shown():
    assert SizesShape(head=3, first=3).fit([90, 80, 70], 10) == (10, 5, 3)


def test_heads_alone_are_off_by_no_more_than_the_furthest_number():
    shape = SizesShape(head=3, first=3)
    for counts in tables(3, 3):
        falling = sorted(counts, reverse=True)
        for noise in product((-2, 0, 1), repeat=3):
            shown = shape.fit([x + z for x, z in zip(falling, noise, strict=True)])
            assert max(abs(y - x) for x, y in zip(falling, shown, strict=True)) <= max(map(abs, noise))
            assert list(shown) == [
                max(y, 0) for y in nearest_falling([x + z for x, z in zip(falling, noise, strict=True)])
            ]


def test_half_of_a_guarantee_twice_is_no_more_than_all_of_it():
    pair = halved(Privacy(epsilon=1, delta="1/100"))
    assert pair.ratio**2 <= Privacy(epsilon=1).ratio < (pair.ratio * (1 + pair.ratio / 2**120)) ** 2
    assert 2 * pair.delta == Privacy(epsilon=1, delta="1/100").delta
    assert halved(Privacy.from_ratio(4)) == Privacy.from_ratio(2)
    several = Privacy.all([Privacy.from_ratio(4), Privacy.from_ratio("9/4", "1/10")])
    assert halved(several) == Privacy.all([Privacy.from_ratio(2), Privacy.from_ratio("3/2", "1/20")])
    mean = halved(Gaussian(1)).mu
    assert 2 * mean**2 <= 1 < 2 * (mean + mean / 2**120) ** 2


def test_more_sizes_than_there_are_categories_are_refused():
    table = pa.table({"town": ["Ely", "York"]})
    assert plan(table, "sizes", 2, "town", categories=["Ely", "York"], epsilon=1).query.shape.head == 2
    with pytest.raises(BadInput, match=r"^K: must be at most the 2 categories, not 3"):
        plan(table, "sizes", 3, "town", categories=["Ely", "York"], epsilon=1)
