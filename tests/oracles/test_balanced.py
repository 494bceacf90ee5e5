"""The balanced boundary against programs over all rows that every ranking shares, which share no code with it."""

import random
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, permutations

import pytest

from irisdp import Privacy, audit
from irisdp.design import rainbow
from irisdp.graphs import Path
from support.programs import Program
from support.sweeps import tried

SOLVED = 1e-8
"""HiGHS is asked for 1e-10 in each of some ten rows; the prefix sums are loosened by 1e-12."""


ROUNDED = 1e-12
"""How much a prefix sum may fall short, so that the row itself is possible in floats."""

RATIOS, DELTAS = ("6/5", "2", "4"), ("0", "1/50", "1/10")


def balanced_along(rankings, privacy):
    """The boundary row of a path whose neighbours have these rankings in turn, along the ranking, for every node."""
    made = rainbow(Path(len(rankings)), rankings, privacy)
    assert audit(made).holds
    rows = [dict(zip(made.outputs, made.row(i), strict=True)) for i in range(len(rankings))]
    touching = [
        i for i, c in enumerate(rankings) if any(rankings[j] != c for j in (i - 1, i + 1) if 0 <= j < len(rankings))
    ]
    return [tuple(rows[i][v] for v in rankings[i]) for i in touching]


def gain_of_the_best(row, rankings, ratio, delta):
    """The largest sum of prefix sums of a valid common row that dominates `row`, less that of `row`."""
    q, program = len(row), Program()
    first = program.table(1, q)
    for one, other in {pair for a, b in pairwise(rankings) if a != b for pair in ((a, b), (b, a))}:
        excess = program.variables(q)
        for place, v in enumerate(one):
            line = Counter({first + place: 1})
            line[first + other.index(v)] -= ratio
            program.at_most({**line, excess + place: -1})
        program.at_most(dict.fromkeys(range(excess, excess + q), 1), delta)
    sums = list(accumulate(row))
    for k in range(q - 1):
        program.at_most(dict.fromkeys(range(first, first + k + 1), -1), ROUNDED - sums[k])
    program.charge(first, [v + 1 - q for v in range(q)])
    return -program.minimum() - float(sum(sums[: q - 1]))


@pytest.mark.parametrize("seed", range(tried(50, 120)))
def test_no_common_row_dominates_the_balanced_one(seed):
    pick = random.Random(seed)
    q = pick.choice((2, 3, 3, 4, 5))
    ratio, delta = Fraction(pick.choice(RATIOS)), Fraction(pick.choice(DELTAS))
    classes = [tuple(pick.sample("abcde"[:q], q)) for _ in range(pick.randrange(2, 5))]
    if pick.random() < 0.5:  # touching rankings that begin alike
        classes = [(classes[0][0], *pick.sample(classes[0][1:], q - 1)) for _ in classes]
    rankings = [c for c in classes for _ in range(pick.choice((1, 1, 2)))]
    rows = balanced_along(rankings, Privacy.from_ratio(ratio, delta=delta))
    if rows:
        assert len(set(rows)) == 1
        assert gain_of_the_best(rows[0], rankings, float(ratio), float(delta)) < SOLVED
        symmetric = [(ratio + delta * (q - 1)) / (ratio + q - 1)]
        symmetric += [(1 - symmetric[0]) / (q - 1)] * (q - 1)
        assert all(x >= y for x, y in zip(accumulate(rows[0]), accumulate(symmetric), strict=True))


def test_the_control_sees_a_dominated_row():
    rankings = [tuple("abc"), tuple("acb")]
    half = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert gain_of_the_best(half, rankings, 2.0, 0.0) > 0.7


def test_published_values_stay():
    for ratio, delta in ((Fraction(2), Fraction(0)), (Fraction(13, 10), Fraction(1, 10))):
        privacy = Privacy.from_ratio(ratio, delta=delta)
        assert balanced_along([("a", "b"), ("b", "a")], privacy)[0][0] == (ratio + delta) / (ratio + 1)
        for q in (3, 4, 5):
            letters = "abcde"[:q]
            turns = [tuple(letters[k:] + letters[:k]) for k in range(q)]
            everyone = [c for one in turns for other in turns if one != other for c in (one, other)]
            truth = (ratio + delta * (q - 1)) / (ratio + q - 1)
            for row in balanced_along(everyone, privacy):
                assert row == (truth, *[(1 - truth) / (q - 1)] * (q - 1))


@pytest.mark.parametrize(
    ("rankings", "row"),
    [
        (["abc", "acb"], ("1", "0", "0")),
        (["abc", "bac"], ("2/3", "1/3", "0")),
        (["abc", "cba"], ("1/2", "1/4", "1/4")),
        (["abc", "bca"], ("1/2", "1/4", "1/4")),
        (["abcd", "bacd"], ("2/3", "1/3", "0", "0")),
        (["".join(p) for p in permutations("abc")], ("1/2", "1/4", "1/4")),
    ],
)
def test_values_by_hand(rankings, row):
    everyone = [tuple(c) for one in rankings for other in rankings if one != other for c in (one, other)]
    assert set(balanced_along(everyone, Privacy.from_ratio(2))) == {tuple(map(Fraction, row))}
    assert set(balanced_along(everyone, Privacy(epsilon="1/3", delta="1e-6"))) != set()
