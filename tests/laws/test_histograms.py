"""The histogram mechanism's law and draws, against brute force over every histogram.

The brute force lists all histograms and weighs each by its distance; it knows no convolutions. `draw` shall invert
the exact cumulative laws of one count after another; its floats are tried at the very borders of every decision.
"""

from fractions import Fraction
from fractions import Fraction as F
from functools import cache
from itertools import accumulate, combinations, product
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, Mechanism, Privacy, graphs, interop
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.mechanisms import HistogramMechanism, _histogram_release
from irisdp.privacy import hockey_stick
from support.seeds import fresh_generator

SIZES = [(0, 1), (0, 3), (5, 1), (1, 2), (7, 2), (4, 3), (6, 3), (4, 4), (3, 5)]
STEPS = [F(1, 2), F(9, 10), F(1, 50)]


@cache
def every(total, types):
    """All histograms, by where the bars between the types stand."""
    bars = combinations(range(total + types - 1), types - 1)
    return [tuple(b - a - 1 for a, b in zip((-1, *c), (*c, total + types - 1), strict=True)) for c in bars]


def distance(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def brute_force(x, step):
    lists = every(sum(x), len(x))
    weights = [step ** distance(x, y) for y in lists]
    whole = sum(weights)
    return {y: weight / whole for y, weight in zip(lists, weights, strict=True)}


def mechanism(total, types, *, step=None, epsilon="1"):
    made = HistogramMechanism(total=total, types=types, privacy=Privacy(epsilon=epsilon))
    if step is not None:
        object.__setattr__(made, "step", step)
    return made


@pytest.mark.parametrize(("total", "types"), SIZES)
def test_law_is_brute_force_for_every_histogram(total, types):
    for step in (F(1, 2), mechanism(total, types).step):
        made = mechanism(total, types, step=step)
        for x in every(total, types):
            assert made.law(x) == brute_force(x, step)


def test_step_is_half_of_epsilon_for_one_exchange():
    made = mechanism(5, 3, epsilon="2")
    assert 1 / made.privacy.ratio <= made.step**4 <= (1 + F(1, 2**90)) / made.privacy.ratio


def by_inversion(x, step, words, word_bits):
    """Draw count after count from brute force, or None where a word leaves a choice open."""
    law, begun = brute_force(x, step), ()
    for word in words:
        if len(begun) == len(x) - 1:
            break
        whole, below, place = sum(law.values()), F(0), len(begun)
        for value in range(sum(x) + 1):
            share = sum(p for y, p in law.items() if y[place] == value) / whole
            if below <= F(word, 1 << word_bits) and F(word + 1, 1 << word_bits) <= below + share:
                break
            below += share
        else:
            return None
        begun = (*begun, value)
        law = {y: p for y, p in law.items() if y[: len(begun)] == begun}
    return next(iter(law))


@given(st.sampled_from(SIZES), st.sampled_from(STEPS), st.data())
def test_draw_inverts_the_exact_cumulative_laws(size, step, data):
    x = data.draw(st.sampled_from(every(*size)))
    words = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=12))
    stated = by_inversion(x, step, words, 64)
    drawn = tuple(mechanism(*size, step=step).draw(x, source=ScriptedBits(words, word_bits=64)).tolist())
    assert stated is None or drawn == stated


@pytest.mark.parametrize(("x", "word_bits", "words"), [((1, 2), 4, 3), ((2, 0), 3, 4), ((1, 0, 1), 4, 3)])
def test_every_script_of_narrow_words_leads_to_the_law(x, word_bits, words):
    made = mechanism(sum(x), len(x), step=F(1, 3))
    law = law_of(lambda bits: tuple(made.draw(x, source=bits).tolist()), word_bits=word_bits, words=words)
    decided = law.outcomes
    assert law.undecided < F(1, 2)

    def holds(stated):
        return all(decided.get(y, 0) <= p <= decided.get(y, 0) + law.undecided for y, p in stated.items())

    assert holds(brute_force(x, F(1, 3)))
    assert not holds(brute_force(x, F(1, 40)))  # negative control


def decisions(made, x, left):
    """Yield (decided or None, word, c_value, c_(value + 1)) at and around every border of the first count."""
    floats = np.array([float(made.step**k) for k in range(made.total + 1)])
    sums = made._sums(list(x), floats, made._start(0.0, 1.0, bounds=2))[1]
    bounds = np.cumsum(_histogram_release._outward(_histogram_release._weights(x[0], left, sums, floats)), axis=1)
    exact = np.array([made.step**k for k in range(made.total + 1)], dtype=object)
    following = made._sums(list(x), exact, made._start(F(0), F(1)))[1]
    weights = _histogram_release._weights(x[0], left, following, exact)[0]
    borders = list(accumulate(weights / sum(weights), initial=F(0)))
    for border in borders:
        middle = border.numerator * 2**64 // border.denominator
        for word in {middle, *(middle + sign * 2**k for k in range(0, 64, 3) for sign in (1, -1))}:
            if 0 <= word < 2**64:
                found = made._decide(word, 64, bounds)
                yield found, word, *((0, 0) if found is None else borders[found : found + 2])


def all_right(tried):
    return all(below <= F(word, 2**64) and F(word + 1, 2**64) <= upto for _, word, below, upto in tried)


@pytest.mark.parametrize("x", [(12, 3, 5), (0, 0, 20), (20, 0, 0), (1,) * 20])
@pytest.mark.parametrize("step", STEPS)
def test_every_decision_in_floats_is_right_for_the_whole_word(x, step):
    made = mechanism(20, len(x), step=step)
    for left in (20, 13, 0):
        tried = list(decisions(made, x, left))
        decided = [one for one in tried if one[0] is not None]
        assert all_right(decided)
        assert len(decided) > 0.2 * len(tried)


def test_floats_a_little_off_are_noticed(monkeypatch):
    """Negative control: convolutions off by one part in 10^9 decide some words wrongly."""
    convolved = _histogram_release._convolved

    def careless(following, target, powers):
        found = convolved(following, target, powers)
        return found * (1 + 1e-9 * np.arange(found.shape[1])) if found.dtype == np.float64 else found

    monkeypatch.setattr(_histogram_release, "_convolved", careless)
    tried = decisions(mechanism(20, 3, step=F(1, 2)), (12, 3, 5), 20)
    assert not all_right([one for one in tried if one[0] is not None])


@pytest.mark.parametrize("target", [0, 1, 2, 5, 8, 11, 16])
def test_convolution_by_doubling_is_the_plain_sum(target):
    step, random = F(2, 3), fresh_generator(target)
    following = np.array([[F(int(v), 7) for v in random.integers(0, 20, 17)]], dtype=object)
    powers = np.array([step**k for k in range(17)], dtype=object)
    plain = [sum(step ** abs(y - target) * following[0, s - y] for y in range(s + 1)) for s in range(17)]
    assert _histogram_release._convolved(following, target, powers)[0].tolist() == plain


def test_drawn_histograms_keep_their_total_and_shape():
    made = mechanism(3000, 40, epsilon="0.1")
    counts = np.full(40, 75)
    for _ in range(3):
        drawn = made.draw(counts)
        assert drawn.shape == (40,)
        assert drawn.sum() == 3000
        assert drawn.min() >= 0


# Privacy


def delta_needed(made):
    """The largest hockey-stick divergence over all exchanges of one record, both ways, exactly."""
    laws = {x: list(made.law(x).values()) for x in every(made.total, made.types)}
    pairs = ((x, y) for x, y in product(laws, laws) if distance(x, y) == 2)
    return max(hockey_stick(laws[x], laws[y], made.privacy.ratio) for x, y in pairs)


@pytest.mark.parametrize(("total", "types"), [(1, 2), (6, 2), (4, 3), (3, 4)])
def test_neighbours_are_exactly_close(total, types):
    assert delta_needed(mechanism(total, types)) == 0


def test_the_full_exponent_is_noticed():
    """Negative control: all of ε in the exponent costs 1.299 on (4, 3)-histograms."""
    made = mechanism(4, 3)
    object.__setattr__(made, "step", made.step**2)
    assert delta_needed(made) > 0
    object.__setattr__(made, "privacy", Privacy(epsilon="1.2991"))
    assert delta_needed(made) == 0
    object.__setattr__(made, "privacy", Privacy(epsilon="1.2989"))
    assert delta_needed(made) > 0


# Frames that were sorted, shuffled or renumbered give each input the row it had, or are refused.

NAMES = {
    "counts": lambda n: list(range(n)),
    "integers": lambda n: [3 * k - 2 for k in range(n)],
    "words": lambda n: [f"{k:02}" for k in range(n)],
    "digits": lambda n: [str(k) for k in range(n)],
    "pairs": lambda n: [(k // 2, "ab"[k % 2]) for k in range(n)],
    "mixed": lambda n: [(k, str(k), (k,))[k % 3] for k in range(n)],
}
MOVES = {
    "as it was": lambda frame, order: frame,
    "shuffled": lambda frame, order: frame.iloc[order],
    "sorted": lambda frame, order: frame.iloc[sorted(range(len(frame)), key=lambda k: repr(frame.index[k]))],
    "sorted by pandas": lambda frame, order: frame.iloc[order].sort_index(),
    "sorted by an answer": lambda frame, order: frame.sort_values(frame.columns[0]),
    "backwards": lambda frame, order: frame[::-1],
    "without the name of the index": lambda frame, order: frame.iloc[order].rename_axis(None),
    "through a column": lambda frame, order: frame.iloc[order].reset_index().set_index("input"),
    "its index counted": lambda frame, order: frame.reindex(range(len(frame))),
    "columns shuffled": lambda frame, order: frame[frame.columns[::-1]],
}


@given(data=st.data(), names=st.sampled_from(sorted(NAMES)), move=st.sampled_from(sorted(MOVES)))
def test_a_frame_that_was_moved_gives_each_input_its_row_or_is_refused(data, names, move):
    nodes = data.draw(st.permutations(NAMES[names](data.draw(st.integers(1, 6)))))
    pairs = [[one, other] for one in nodes for other in nodes]
    graph = graphs.graph_from_edges(data.draw(st.lists(st.sampled_from(pairs), max_size=8)), nodes=nodes)
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(nodes), max_size=len(nodes)))
    before = Mechanism.from_matrix(
        [[Fraction(1 + w, 7), Fraction(6 - w, 7)] for w in weights],
        privacy=Privacy(ratio=9),
        graph=graph,
        outputs=("yes", "no"),
    )
    order = data.draw(st.permutations(range(len(nodes))))
    try:
        frame = MOVES[move](interop.to_frame(before, exact=True), order)
    except TypeError:  # pandas puts names of several kinds in no order
        assert names == "mixed"
        return
    try:
        after = interop.matrix_from_frame(frame, graph=graph, privacy=before.privacy)
    except BadInput:
        assert move == "its index counted"  # where other names than counts have lost their rows
        assert names != "counts"
        return
    assert {name: named_row(after, name) for name in nodes} == {name: named_row(before, name) for name in nodes}


@given(st.permutations(range(4)))
def test_counts_in_another_order_are_no_default(nodes):
    """The control: rows that pandas numbers itself are read where that has one meaning, and else not at all."""
    graph = graphs.graph_from_edges([], nodes=nodes)
    frame = pd.DataFrame({"yes": [Fraction(k, 4) for k in range(4)], "no": [Fraction(4 - k, 4) for k in range(4)]})
    try:
        found = interop.matrix_from_frame(frame, graph=graph)
    except BadInput:
        assert nodes != [0, 1, 2, 3]
        return
    assert nodes == [0, 1, 2, 3]
    assert [named_row(found, k) for k in range(4)] == [
        {"yes": Fraction(k, 4), "no": Fraction(4 - k, 4)} for k in range(4)
    ]


def named_row(mechanism, name):
    """Return the chances of an input's answers by their names."""
    row = mechanism.rows[mechanism.row_of[list(mechanism.inputs).index(name)]]
    return dict(sorted(zip(mechanism.outputs, row, strict=True), key=itemgetter(0)))
