"""What `interpret` says a reading costs, against the cost summed out over every published value, in fractions.

The oracle knows the law of clamped two-sided geometric noise and the loss, and asks the rule what it answers; it shares
no code with the solver. The best reading possible is found by another linear program, in floats.
"""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, Privacy, interpret
from irisdp.interpretation import NoisyCount
from support.programs import Program

SOLVED, SEARCHED = 1e-7, 1e-6
"""Relative: what HiGHS may be off by in programs of some hundred columns; and what a search for a bound leaves open."""


NAMED = {
    "absolute": lambda i, v: abs(i - v),
    "squared": lambda i, v: (i - v) ** 2,
    "zero-one": lambda i, v: int(i != v),
}


def cumulative(value, count, alpha):
    """Return the probability that count + noise is at most a value."""
    error = value - count
    if error >= 0:
        return 1 - alpha ** (error + 1) / (1 + alpha)
    return alpha**-error / (1 + alpha)


def law(count, values, alpha):
    """Return the law of count + noise, clamped to the values, which are consecutive."""
    below = [cumulative(value, count, alpha) for value in values[:-1]] + [Fraction(1)]
    return [high - low for low, high in zip([Fraction(0), *below], below, strict=False)]


def judge(ratio, ends, loss, counts, prior=None, known=None):
    """Hold stated loss and bound of one reading to their oracles."""
    alpha, price = 1 / Fraction(ratio), NAMED[loss] if isinstance(loss, str) else lambda i, v: loss[i][v]
    # Without ends, values far out are read like the nearest that is listed here: 9 beyond what anybody knows of.
    values = list(range(ends[0], ends[1] + 1)) if ends else list(range(-9, 25))
    given_ = known if known is not None else {"side_information": counts}
    release = NoisyCount(privacy=Privacy.from_ratio(ratio), ends=(ends,))
    rule = interpret(release, values[0], loss=loss, prior=prior, **given_).answers[0].rule
    reading = [rule.at(rule.released(value)) for value in values]
    expected = {
        i: sum(
            p * sum(q * price(i, v) for v, q in line) for p, line in zip(law(i, values, alpha), reading, strict=True)
        )
        for i in counts
    }
    cost = max(expected.values()) if prior is None else sum(prior[i] * expected[i] for i in counts)
    tolerance = Fraction(1, 10**8) * (1 + abs(cost))
    assert cost <= rule.value <= cost + tolerance
    answers = range(len(loss)) if not isinstance(loss, str) else range(25)
    best = optimum(counts, values, alpha, price, answers, prior)
    assert float(rule.lower_bound) <= best + SOLVED * (1 + abs(best))
    assert float(rule.value) == pytest.approx(best, abs=SEARCHED * (1 + abs(best)))
    return rule


def optimum(counts, values, alpha, price, answers, prior):
    """Return the least worst (or mean) loss of any reading, by linear programming."""
    program = Program()
    first = program.table(len(values), len(answers))
    losses = {i: [p * price(i, v) for p in law(i, values, alpha) for v in answers] for i in counts}
    if prior is not None:
        program.charge(first, [sum(prior[i] * losses[i][k] for i in counts) for k in range(len(values) * len(answers))])
    else:
        program.worst({first + k: x for k, x in enumerate(losses[i])} for i in counts)
    return program.minimum()


@st.composite
def cases(draw):
    ends = draw(st.none() | st.tuples(st.integers(0, 4), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair))))
    named = draw(st.booleans())
    low, high = ends or (0, draw(st.integers(0, 7)))
    if named:
        loss, largest = draw(st.sampled_from(sorted(NAMED))), high
    else:
        largest = draw(st.integers(max(low, high - 3), high + 3))
        entry = st.integers(-3, 6)
        line = st.lists(entry, min_size=largest + 1, max_size=largest + 1)
        loss = draw(st.lists(line, min_size=largest + 1, max_size=largest + 1))
    top = min(high, largest)
    counts = sorted(draw(st.sets(st.integers(low, top), min_size=1)))
    return draw(st.sampled_from(["2", "4", "11/10", "7/3"])), ends, loss, counts


@settings(max_examples=120, deadline=None)
@given(cases())
def test_the_stated_loss_is_the_worst_there_is(case):
    judge(*case)


@settings(max_examples=60, deadline=None)
@given(cases(), st.lists(st.integers(1, 5), min_size=25, max_size=25))
def test_the_stated_loss_is_the_mean_under_a_prior(case, weights):
    ratio, ends, loss, counts = case
    total = sum(weights[i] for i in counts)
    prior = [Fraction(weights[i], total) if i in counts else Fraction(0) for i in range(counts[-1] + 1)]
    judge(ratio, ends, loss, counts, prior)


@pytest.mark.parametrize("ends", [None, (0, 2), (0, 5), (1, 4), (3, 3)])
@pytest.mark.parametrize("size", [4, 6, 9])
@pytest.mark.parametrize("known", [{}, {"at_least": 2}, {"at_most": 2}, {"at_least": 1, "at_most": 8}])
def test_windows_of_knowledge_inside_outside_and_across_the_ends(ends, size, known):
    low = max(known.get("at_least", 0), ends[0] if ends else 0)
    high = min(known.get("at_most", 99), ends[1] if ends else 99, size - 1)
    tables = [
        [[abs(i - v) for v in range(size)] for i in range(size)],
        [[(3 * i + 5 * v) % 7 - 2 for v in range(size)] for i in range(size)],
        [[int((v - i) % size not in (0, 2)) for v in range(size)] for i in range(size)],
    ]
    beyond = "at_most" in known and size - 1 < min(known["at_most"], ends[1] if ends else 99)
    for table in tables:
        if low > high or beyond:  # no count is possible, or the table contradicts what the reader says
            with pytest.raises(BadInput):
                interpret(NoisyCount(privacy=Privacy.from_ratio(2), ends=(ends,)), low, loss=table, **known)
        else:
            judge("2", ends, table, list(range(low, high + 1)), known=known)


def test_an_epsilon_with_a_long_ratio_is_read_as_well():
    privacy = Privacy(epsilon=1)
    table = [[(3 * i + 5 * v) % 7 for v in range(9)] for i in range(9)]
    judge(privacy.ratio, (1, 4), table, [1, 2, 3, 4])
    judge(privacy.ratio, None, table, [2, 5, 6])


def test_counts_that_the_release_rules_out_cannot_be_possible():
    release = NoisyCount(privacy=Privacy.from_ratio(2), ends=((3, 6),))
    for counts in ([0, 4], [4, 9]):
        with pytest.raises(BadInput, match="side_information"):
            interpret(release, 3, loss="absolute", side_information=counts)
