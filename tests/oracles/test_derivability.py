"""How near a reading of one mechanism comes to another, against SciPy; what derives from noise, against elimination."""

import itertools
from fractions import Fraction

from irisdp import Mechanism, Privacy
from irisdp.design import derivation, nearest_reading
from support.programs import Program
from support.seeds import fresh_random

AGREES = 1e-9
"""HiGHS is asked for 1e-10 in both feasibilities; distances are at most 1."""


def noise(n, ratio):
    a = 1 / ratio
    return [
        [a**k / (1 + a), *((1 - a) / (1 + a) * a ** abs(z - k) for z in range(1, n)), a ** (n - k) / (1 + a)]
        for k in range(n + 1)
    ]


def least_distance(source, target):
    """min over stochastic T of max_i ½ Σ_v |(source·T − target)_iv|."""
    inputs, released, outputs = len(source), len(source[0]), len(target[0])
    program = Program()
    reading, excess = program.table(released, outputs), program.variables(inputs * outputs)
    for i, v in itertools.product(range(inputs), range(outputs)):
        for sign in (1, -1):
            row = {reading + z * outputs + v: sign * source[i][z] for z in range(released)}
            program.at_most(row | {excess + i * outputs + v: -1}, sign * target[i][v])
    program.worst(dict.fromkeys(range(excess + i * outputs, excess + (i + 1) * outputs), 0.5) for i in range(inputs))
    return program.minimum()


def random_rows(pick, inputs, outputs):
    rows = [[pick.choice([0, 1, 1, 2, 5]) for _ in range(outputs)] for _ in range(inputs)]
    return [[Fraction(x, sum(row)) if sum(row) else Fraction(1, outputs) for x in row] for row in rows]


def product(left, right):
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*right, strict=True)] for row in left
    ]


def test_the_nearest_reading_is_as_near_as_any():
    """Random pairs of mechanisms; every other target is made from the source, and then nothing is left."""
    pick, apart = fresh_random("nearest"), 0
    for k in range(40):
        inputs, released, outputs = (pick.randrange(1, 6) for _ in range(3))
        source = random_rows(pick, inputs, released)
        target = product(source, random_rows(pick, released, outputs)) if k % 2 else random_rows(pick, inputs, outputs)
        given, wanted = (Mechanism.from_matrix(rows, privacy=Privacy(ratio=2)) for rows in (source, target))
        found = nearest_reading(given, wanted)
        read = product(source, found.reading)
        left = max(sum(abs(x - y) for x, y in zip(*pair, strict=True)) / 2 for pair in zip(read, target, strict=True))
        assert found.exact and found.distance == left
        assert abs(float(left) - least_distance(source, target)) < AGREES
        assert k % 2 == 0 or left == 0
        apart += left > 0
    assert apart > 5


def inverse_times(left, right):
    """left⁻¹·right by elimination on fractions."""
    rows = [list(a) + list(b) for a, b in zip(left, right, strict=True)]
    for pivot in range(len(rows)):
        swap = next(k for k in range(pivot, len(rows)) if rows[k][pivot])
        rows[pivot], rows[swap] = rows[swap], rows[pivot]
        rows[pivot] = [x / rows[pivot][pivot] for x in rows[pivot]]
        for other in range(len(rows)):
            if other != pivot:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[len(rows) :] for row in rows]


def test_a_mechanism_derives_from_noise_iff_the_inverse_says_so():
    """The verdict is that of G⁻¹·M by elimination; an obstacle is where the condition on columns fails first."""
    pick, verdicts = fresh_random("derivable"), {True: 0, False: 0}
    for _ in range(200):
        n, ratio = pick.randrange(1, 6), pick.choice([Fraction(2), Fraction(7, 3), Fraction(5)])
        matrix = noise(n, ratio)
        shares = random_rows(pick, n + 1, pick.randrange(1, 4))
        made = product(matrix, shares)
        if pick.random() < 0.8:
            i, v = pick.randrange(n + 1), pick.randrange(len(made[0]))
            by = min(1 - made[i][v], Fraction(pick.randrange(1, 9), 40))
            made[i] = [(x + by * (k == v)) / (1 + by) for k, x in enumerate(made[i])]
        inverse = inverse_times(matrix, made)
        found = derivation(Mechanism.from_matrix(made, privacy=Privacy(ratio=ratio)))
        verdicts[found.holds] += 1
        assert found.holds == all(x >= 0 for row in inverse for x in row)
        if found.holds:
            assert [list(row) for row in found.reading] == inverse
            continue
        wrong, a = found.obstacle, 1 / ratio
        x = wrong.entries
        assert x == tuple(made[i][wrong.output] for i in wrong.inputs)
        if len(x) == 3:
            assert wrong.shortfall == a * (x[0] + x[2]) - (1 + a**2) * x[1] > 0
        else:
            assert wrong.shortfall == a * x[1] - x[0] > 0
        assert min(row[wrong.output] for row in inverse) < 0
        assert all(row[v] >= 0 for row in inverse for v in range(wrong.output))
    assert min(verdicts.values()) > 30
