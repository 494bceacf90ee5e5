"""Floats leave out of an audit only what cannot matter: every verdict is that of looking at all pairs in fractions."""

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from irisdp._exact import as_fraction, convert, flint_rational
from irisdp.certify import _hockey_stick
from irisdp.certify._audited_mechanism import RowPairs
from irisdp.certify._hockey_stick import INFINITE, smallest_ratio, tight_places, worst_delta
from support.seeds import fresh_random

HAIR = Fraction(1, 1 << 70)
"""No float tells two entries apart that differ by this."""


def all_pairs(count):
    first, second = map(np.array, zip(*combinations(range(count), 2), strict=True))
    return RowPairs(first, second, first, second, np.ones(len(first), np.int64))


def rows_of(chance, count, outputs):
    """Rows with many ties, some of which a hair breaks, and entries that are 0."""
    found = []
    while len(found) < count:
        weights = [chance.choice([0, 1, 1, 2, 3, 6]) for _ in range(outputs)]
        if sum(weights):
            row = [Fraction(weight, sum(weights)) for weight in weights]
            if chance.random() < 0.5 and (there := [v for v, p in enumerate(row) if p]) and len(there) > 1:
                row[there[0]] += HAIR
                row[there[1]] -= HAIR
            found.append(tuple(row))
    return found


def verdicts(rows, ratio, delta, number):
    """Return all that is found out about rows, as fractions."""
    numbers, pairs = convert(rows, number), all_pairs(len(rows))
    ratio, delta = number(ratio), number(delta)
    worst, least = worst_delta(numbers, pairs, ratio), smallest_ratio(numbers, pairs, delta)
    value = INFINITE if least.value is INFINITE else as_fraction(least.value)
    tight = list(tight_places(numbers, pairs, least.value, delta))
    also = list(tight_places(numbers, pairs, ratio, as_fraction_of(number, as_fraction(worst.value))))
    return (as_fraction(worst.value), worst.place, worst.forward), (value, least.place, least.forward), tight, also


def as_fraction_of(number, value):
    return number(min(value, Fraction(1)))


def cases():
    chance = fresh_random("screening")
    for _ in range(25):
        rows = rows_of(chance, 20, chance.choice([2, 3, 5]))
        yield rows, Fraction(chance.choice(["1", "3/2", "2", "6"])), Fraction(chance.choice(["0", "1/10", "1/3"]))


def test_verdicts_are_those_of_every_pair():
    for rows, ratio, delta in cases():
        assert verdicts(rows, ratio, delta, flint_rational) == verdicts(rows, ratio, delta, Fraction)


@pytest.mark.parametrize("error", [-(2.0**-50), -(2.0**-60)])
def test_a_bound_that_is_too_small_is_seen(monkeypatch, error):
    """Negative control: pairs that are tight but for a hair are then left out."""
    monkeypatch.setattr(_hockey_stick, "_ERROR", error)
    found = []
    for rows, ratio, delta in cases():
        try:
            found.append(verdicts(rows, ratio, delta, flint_rational) == verdicts(rows, ratio, delta, Fraction))
        except AttributeError:  # no pair was left at all
            found.append(False)
    assert not all(found)


def test_few_pairs_are_looked_at(monkeypatch):
    chance = fresh_random("screening")
    rows = [[Fraction(chance.randrange(500, 1000)) for _ in range(4)] for _ in range(60)]
    rows = [tuple(p / sum(row) for p in row) for row in rows]
    asked, whole = [], _hockey_stick.hockey_stick
    monkeypatch.setattr(_hockey_stick, "hockey_stick", lambda *two: asked.append(two) or whole(*two))
    verdicts(rows, Fraction(2), Fraction(1, 20), flint_rational)
    assert len(asked) < 100 < 2 * len(all_pairs(60))


@pytest.mark.parametrize("smallest", [Fraction(1, 10**300), Fraction(1, 10**400)])
def test_entries_beyond_the_range_of_floats_are_looked_at_exactly(smallest):
    rows = [(smallest * k, 1 - smallest * k) for k in range(1, 25)]
    assert _hockey_stick.screen_of(convert(rows, flint_rational), 10**6) is None
    assert verdicts(rows, Fraction(23), Fraction(0), flint_rational) == verdicts(
        rows, Fraction(23), Fraction(0), Fraction
    )


def test_ratios_beyond_what_the_bound_is_for_leave_nothing_out():
    screen = _hockey_stick.screen_of(convert(rows_of(random.Random(1), 20, 3), flint_rational), 10**6)
    ends = np.zeros(3, np.int64)
    for ratio in (Fraction(10**12), Fraction(1, 2), Fraction(10) ** 400):
        assert screen.may_exceed(ends, ends, flint_rational(ratio), flint_rational(Fraction(0))).all()
        assert screen.may_be_worst(ends, ends, flint_rational(ratio)).all()
        assert screen.may_spend(ends, ends, flint_rational(ratio), flint_rational(Fraction(0))).all()
    for delta in (Fraction(2), Fraction(10) ** 400):
        assert screen.may_exceed(ends, ends, flint_rational(Fraction(2)), flint_rational(delta)).all()


@pytest.mark.parametrize(("size", "ratio", "outputs"), [(1, 1, 3), (1000, 9, 40), (Fraction(1, 10**6), 10**6, 200)])
def test_the_bound_is_that_of_the_errors_added_up_and_not_far_more(size, ratio, outputs):
    """Two rows alike have no divergence: whatever is less than what floats may be wrong by has to be looked at."""
    row = (Fraction(size, outputs),) * outputs
    screen = _hockey_stick.screen_of(convert([row, row], flint_rational), 10**6)
    bound = Fraction(1, 1 << 53) * size * (1 + ratio) * (Fraction("4.02") + Fraction("1.05") * outputs)
    ends = np.zeros(1, np.int64), np.ones(1, np.int64)
    for times, marked in ((1, True), (20, False)):
        delta = flint_rational(times * bound)
        assert screen.may_exceed(*ends, flint_rational(Fraction(ratio)), delta).all() == marked
        assert screen.may_spend(*ends, flint_rational(Fraction(ratio)), delta).all() == marked
