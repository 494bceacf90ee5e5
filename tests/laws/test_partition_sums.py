"""The floats behind the partition mechanism: their sums are within their slack, and what they decide is right.

The sums are compared with fractions and with balls of 300 bits; decisions are tried on words at, next to and further
from every border, and must hold for all U that begin with the word.
"""

from fractions import Fraction as F
from itertools import accumulate

import flint
import numpy as np
import pytest

from irisdp import Privacy
from irisdp._exact import ball, working_precision
from irisdp.mechanisms import PartitionMechanism, _partition_sums
from irisdp.mechanisms._partitions import Cut


def mechanism(total, *, step=None, window=None, parts=None, epsilon="1", delta=0):
    """A mechanism, with another step or window than its privacy leads to if asked."""
    made = PartitionMechanism(total=total, privacy=Privacy(epsilon=epsilon, delta=delta), parts=parts)
    for name, value in (("step", step), ("window", window)):
        if value is not None:
            object.__setattr__(made, name, value)
    return made


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
