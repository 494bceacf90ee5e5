"""How much worse reading geometric noise can be than a mechanism made for the loss: proofs/other-losses.md.

Risks are computed here from definitions, in fractions; tailored optima are programs over all mechanisms.
"""

import itertools
import random
from fractions import Fraction as F

import pytest

from support.closeness import private
from support.programs import Program

RATIOS = [F(101, 100), F(6, 5), F(2), F(7, 2), F(20)]
AGREES = 1e-9


def noise(n, a):
    """G_{n,α}, row by row."""
    return [[a ** abs(z - i) * (F(1) if z in (0, n) else 1 - a) / (1 + a) for z in range(n + 1)] for i in range(n + 1)]


def read_well(n, a, weighted):
    """The Bayes risk of noise; `weighted[i][v]` is the prior's weight times the loss."""
    rows, answers = noise(n, a), range(len(weighted[0]))
    return sum(min(sum(rows[i][z] * weighted[i][v] for i in range(n + 1)) for v in answers) for z in range(n + 1))


def risk(rows, weighted):
    return sum(p * x for row, line in zip(rows, weighted, strict=True) for p, x in zip(row, line, strict=True))


def made_for(weighted, ratio):
    """The smallest Bayes risk of a private mechanism, by a program over all of them."""
    program, q = Program(), len(weighted[0])
    first = program.table(len(weighted), q)
    program.private(first, q, itertools.pairwise(range(len(weighted))), ratio)
    program.charge(first, [x for row in weighted for x in row])
    return program.minimum()


def random_column(pick, n, a):
    """A column as privacy allows: neighbours differ by a factor 1/α at most; often exactly that."""
    column = [F(pick.randrange(1, 20))]
    for _ in range(n):
        share = pick.choice([F(0), F(0), F(1), F(1), F(pick.randrange(5), 4)])
        column.append(column[-1] * (a + min(share, F(1)) * (1 / a - a)))
    return column


def random_private(pick, n, a):
    """Columns that change by the root of the ratio at most, rows divided by their sums; the root is a fraction."""
    columns = [random_column(pick, n, a) for _ in range(pick.randrange(2, 6))]
    return [[x / sum(row) for x in row] for row in zip(*columns, strict=True)]


def some_private(pick):
    """A ratio and a mechanism that is private at it, with one to seven steps of the count."""
    while True:
        n, ratio = pick.randrange(1, 8), pick.choice(RATIOS)
        root = F(round(float(ratio) ** 0.5 * 1000) - 1, 1000)
        given = random_private(pick, n, 1 / max(root, F(1001, 1000)))
        if private(given, ratio):
            return ratio, given


def prior_and_table(pick, n, q):
    weights = [F(pick.randrange(5)) for _ in range(n + 1)]
    weights[pick.randrange(n + 1)] += 1
    return [[w * pick.choice([0, 0, 1, 1, pick.randrange(5)]) for _ in range(q)] for w in weights]


def majorant(x, a):
    """The least superharmonic majorant: the best combination of α^j and α^−j through two places, or the value."""

    def through(left, i, right):
        wide = a ** (left - right) - a ** (right - left)
        ends = x[left] * (a ** (i - right) - a ** (right - i)), x[right] * (a ** (left - i) - a ** (i - left))
        return sum(ends) / wide

    return [max([x[i], *(through(j, i, k) for j in range(i) for k in range(i + 1, len(x)))]) for i in range(len(x))]


def superharmonic(y, a):
    padded = [None, *y, None]
    for before, here, after in zip(padded, padded[1:], padded[2:], strict=False):
        if None in (before, after):
            other = before if after is None else after
            if other is not None and here < a * other:
                return False
        elif (1 + a * a) * here < a * (before + after):
            return False
    return True


def most(n, a):
    return 2 / (1 + a**n)


def test_a_column_has_a_superharmonic_majorant_that_is_less_than_twice_it():
    pick, largest = random.Random("majorants"), F(0)
    for _ in range(400):
        n, a = pick.randrange(1, 9), 1 / pick.choice(RATIOS)
        x = random_column(pick, n, a)
        s = majorant(x, a)
        assert superharmonic(s, a)
        assert all(below <= here <= most(n, a) * below for below, here in zip(x, s, strict=True))
        assert n > 1 or s == x
        # Least: whatever is superharmonic and above the column is above s.
        for lower in range(n + 1):
            if s[lower] > x[lower]:
                less = [*s[:lower], (s[lower] + x[lower]) / 2, *s[lower + 1 :]]
                assert not superharmonic(less, a)
        largest = max(largest, *(here / below for below, here in zip(x, s, strict=True)))
    assert largest > F(3, 2)


def test_a_column_that_is_not_private_may_need_more():
    """Negative control."""
    a = F(1, 2)
    assert max(s / x for x, s in zip([F(4), F(1, 10), F(4)], majorant([F(4), F(1, 10), F(4)], a), strict=True)) > 2


def test_noise_read_well_loses_at_most_the_factor_in_fractions():
    """Random private mechanisms, priors and tables; for n = 1 nothing at all, for n = 2 less than for more counts."""
    pick = random.Random("factor")
    for _ in range(400):
        ratio, given = some_private(pick)
        n, a = len(given) - 1, 1 / ratio
        weighted = prior_and_table(pick, n, len(given[0]))
        factor = {1: F(1), 2: 2 / (1 + a)}.get(n, most(n, a))
        assert read_well(n, a, weighted) <= factor * risk(given, weighted)


def least_above(x, a):
    """The least superharmonic majorant of anything: through two places, falling from one of them, or 0."""
    falling = [max(F(0), *(a ** abs(i - j) * x[j] for j in range(len(x)))) for i in range(len(x))]
    return [max(pair) for pair in zip(majorant(x, a), falling, strict=True)]


def one_reading(given, a):
    """What a reading makes of the noise that is nowhere far above the given mechanism: claim (4), its proof."""
    columns = [majorant(column, a) for column in zip(*given, strict=True)]
    left, made = [F(1)] * len(given), []
    for place in range(len(columns)):
        others = [sum(line) for line in zip(*columns[place + 1 :], strict=True)] or [F(0)] * len(given)
        made.append(least_above([y - w for y, w in zip(left, others, strict=True)], a))
        left = [y - s for y, s in zip(left, made[-1], strict=True)]
    assert left == [0] * len(given)
    return made


def test_one_reading_is_near_a_private_mechanism_at_every_count_and_answer():
    pick, largest = random.Random("one reading"), F(0)
    for _ in range(200):
        ratio, given = some_private(pick)
        n, a = len(given) - 1, 1 / ratio
        factors = [(2 - a ** (2 * i) - a ** (2 * (n - i))) / (1 - a ** (2 * n)) for i in range(n + 1)]
        assert factors[0] == factors[n] == 1 and max(factors) <= most(n, a)
        for made, column in zip(one_reading(given, a), zip(*given, strict=True), strict=True):
            assert superharmonic(made, a) and min(made) >= 0
            assert all(y <= c * x for y, c, x in zip(made, factors, column, strict=True))
            largest = max(largest, *(y / x for y, x in zip(made, column, strict=True)))
    assert largest > 1


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_noise_read_well_loses_at_most_the_factor_against_programs(n):
    pick = random.Random(f"programs {n}")
    for _ in range(40):
        ratio = pick.choice(RATIOS)
        a, weighted = 1 / ratio, prior_and_table(pick, n, pick.randrange(2, 2 * n + 2))
        factor = {1: 1, 2: 2 / (1 + a)}.get(n, most(n, a))
        assert float(read_well(n, a, weighted)) <= float(factor) * made_for(weighted, ratio) + AGREES


def parity(n):
    """Whether i and v are of different parity, for the answers "even" and "odd"."""
    return [[F((i + v) % 2) for v in range(2)] for i in range(n + 1)]


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_parity_attains_the_factor_of_three_counts(ratio):
    a = 1 / ratio
    prior = [w / (1 + a) ** 2 for w in (a, 1 + a * a, a)]
    weighted = [[w * x for x in line] for w, line in zip(prior, parity(2), strict=True)]
    flipped = [[(1 if (i + v) % 2 == 0 else a) / (1 + a) for v in range(2)] for i in range(3)]
    assert sum(prior) == 1 and risk(flipped, weighted) == a / (1 + a)
    assert read_well(2, a, weighted) == 2 / (1 + a) * risk(flipped, weighted)
    assert abs(made_for(weighted, ratio) - float(a / (1 + a))) < AGREES


def test_parity_at_ratio_2_is_four_ninths_against_one_third():
    weighted = [[w * x for x in line] for w, line in zip((F(2, 9), F(5, 9), F(2, 9)), parity(2), strict=True)]
    assert read_well(2, F(1, 2), weighted) == F(4, 9)
    assert abs(made_for(weighted, F(2)) - 1 / 3) < AGREES


def test_five_counts_can_be_worse_than_three():
    """The worst that a search met at n = 4, r = 2: one answer is wrong at the ends, the other in the middle."""
    weighted = [
        [F(w, 25) * wrong for wrong in line]
        for w, line in [(4, (1, 0)), (0, (0, 0)), (17, (0, 1)), (0, (0, 0)), (4, (1, 0))]
    ]
    tailored = [[F(p, 6), F(6 - p, 6)] for p in (2, 4, 5, 4, 2)]
    assert private(tailored, F(2))
    assert (read_well(4, F(1, 2), weighted), risk(tailored, weighted)) == (F(8, 25), F(11, 50))
    assert abs(made_for(weighted, F(2)) - 11 / 50) < AGREES


def residues(n, k):
    return [[F((v - i) % (2 * k) == k) / (n + 1) for v in range(2 * k)] for i in range(n + 1)]


def by_residue(n, k, a):
    weights = [a ** min(d, 2 * k - d) for d in range(2 * k)]
    assert sum(weights) == (1 + a) * (1 - a**k) / (1 - a)
    return [[weights[(v - i) % (2 * k)] / sum(weights) for v in range(2 * k)] for i in range(n + 1)]


@pytest.mark.parametrize(("k", "ratio", "length"), [(1, 2, 60), (2, 2, 120), (3, 2, 120), (2, 4, 120)])
def test_answers_opposite_to_the_truth_come_near_twice(k, ratio, length):
    a = 1 / F(ratio)
    tailored, factors = by_residue(length, k, a), []
    assert private(tailored, ratio)
    for n in (length // 2, length):
        weighted = residues(n, k)
        factors.append(read_well(n, a, weighted) / risk(tailored[: n + 1], weighted))
    assert factors[0] < factors[1] < 2
    assert factors[1] > F(9, 10) * 2 / (1 + a**k)


def test_losses_below_nothing_know_no_factor():
    """Negative control: less a constant, parity makes the ratio as large as one likes."""
    shifted = [
        [w * (x - F(33, 100)) for x in line] for w, line in zip((F(2, 9), F(5, 9), F(2, 9)), parity(2), strict=True)
    ]
    assert float(read_well(2, F(1, 2), shifted)) > 30 * made_for(shifted, F(2)) > 0
