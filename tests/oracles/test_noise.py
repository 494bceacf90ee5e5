"""Laws of noise: exactly private, universal for every reader, and the best that can be added; programs as oracles."""

from fractions import Fraction as F
from itertools import accumulate, pairwise, product
from math import exp, sinh

import flint
import numpy as np
import pytest

from irisdp import BadInput, Privacy, design, noise
from irisdp._exact import Enclosure, ball, enclosure_of
from irisdp.consumers import Consumer, optimal_reading
from irisdp.privacy import are_close
from support.closeness import hockey_stick
from support.gaussian import gaussian_step
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREE = 1e-7
"""Programs with a few hundred columns, whose numbers lie between 1e-4 and 10, agree with tables to this."""


def random_shape(source, most=4, *, ended=False):
    """Draw a guarantee of one to `most` pairs whose noise is short."""
    while True:
        count = source.randint(1, most)
        ratios = sorted((1 + F(source.randint(1, 40), 10) for _ in range(count)), reverse=True)
        deltas = sorted(F(source.randint(1 if ended else 0, 60), 200) for _ in range(count))
        try:
            return Privacy.all([Privacy(ratio=r, delta=d) for r, d in zip(ratios, deltas, strict=True)])
        except BadInput:
            continue


def lumped(law, reach):
    """The law on atoms −reach … reach with both tails put into the ends, exactly."""
    size = law.atoms_per_unit
    masses = {z: law.probability(z) for z in range(-reach, reach + size)}
    rest = 1 - sum(masses.values())
    masses[-reach] += rest / 2
    masses[reach + size - 1] += rest / 2
    return masses


def far_enough(law):
    """A number of atoms beyond which all ratios of the masses stay as they are."""
    return law.atoms_per_unit * (1 + law.cells.reach)


def shifted(masses, by):
    return {z + by: mass for z, mass in masses.items()}


def both_ends(masses, by):
    """Two neighbours' laws: tails are lumped where both have them."""
    low, high = min(masses) + by, max(masses)
    here, there = dict.fromkeys(range(low, high + 1), F(0)), dict.fromkeys(range(low, high + 1), F(0))
    for law, moved in ((here, masses), (there, shifted(masses, by))):
        for z, mass in moved.items():
            law[min(max(z, low), high)] += mass
    return here, there


@pytest.mark.parametrize("case", range(40))
def test_universal_noise_keeps_every_pair_and_uses_it_up(case):
    privacy = random_shape(fresh_random(f"shape noise {case}"))
    law = noise.law("universal", privacy)
    size, reach = law.atoms_per_unit, far_enough(law) + 2 * law.atoms_per_unit
    masses = lumped(law, reach)
    assert sum(masses.values()) == 1
    assert all(mass == masses[size - 1 - z] for z, mass in masses.items())
    if law.support is not None:
        assert [z for z, mass in masses.items() if mass] == list(range(law.support[0], law.support[1] + 1))
    here, there = both_ends(masses, size)
    for pair in privacy.pairs:
        assert hockey_stick(here, there, pair.ratio) == pair.delta == hockey_stick(there, here, pair.ratio)


def never_falling(source, n):
    """A random loss for each count, that never falls on either side of it."""
    table = []
    for i in range(n + 1):
        row = [0] * (n + 1)
        for v in range(i - 1, -1, -1):
            row[v] = row[v + 1] + source.choice([0, 1, 1, 2, 5])
        for v in range(i + 1, n + 1):
            row[v] = row[v - 1] + source.choice([0, 1, 1, 2, 5])
        table.append(row)
    return table


def charge(program, first, columns, losses, prior):
    """Charge a table with rows for counts: the mean under a prior, or the worst count."""
    n = len(losses)
    rows = [{first + i * columns + v: losses[i][v] for v in range(columns)} for i in range(n)]
    if prior is None:
        program.worst(rows)
    else:
        for weight, row in zip(prior, rows, strict=True):
            program.cost |= {column: weight * x for column, x in row.items()}


def tailored(privacy, losses, prior):
    """The least loss of any mechanism on 0..n that keeps all pairs."""
    n, program = len(losses), Program()
    first = program.table(n, n)
    for pair in privacy.pairs:
        program.private(first, n, [(i, i + 1) for i in range(n - 1)], float(pair.ratio), float(pair.delta))
    charge(program, first, n, losses, prior)
    return program.minimum()


def read(rows, losses, prior):
    """The least loss of any reading of what has these rows."""
    n, atoms = len(losses), len(rows[0])
    if prior is not None:
        costs = np.array(prior)[:, None, None] * np.array(rows)[:, :, None] * np.array(losses)[:, None, :]
        return float(costs.sum(axis=0).min(axis=1).sum())
    program = Program()
    first = program.table(atoms, n)
    program.worst(
        {first + z * n + v: rows[i][z] * losses[i][v] for z in range(atoms) for v in range(n) if losses[i][v]}
        for i in range(n)
    )
    return program.minimum()


def rows_of(law, n, *, whole=False):
    """Floats: the noisy count's law at 0..n, cells or whole numbers; ratios are constant where tails are lumped."""
    size = law.atoms_per_unit
    units = far_enough(law) // size + n + 2
    masses = {z: float(mass) for z, mass in lumped(law, units * size).items()}
    rows = []
    for i in range(n + 1):
        row = dict.fromkeys(
            range(-units + n, units + 1) if whole else range((n - units) * size, (units + 1) * size), 0.0
        )
        low, high = min(row), max(row)
        for z, mass in masses.items():
            place = (z + i * size) // (size if whole else 1)
            row[min(max(place, low), high)] += mass
        rows.append([row[z] for z in sorted(row)])
    used = [z for z in range(len(rows[0])) if any(row[z] for row in rows)]
    return [[row[z] for z in used] for row in rows]


def consumer(source):
    n = source.randint(1, 5)
    prior = None
    if source.random() < 0.5:
        weights = [source.randint(0, 5) for _ in range(n)] + [1]
        prior = [w / sum(weights) for w in weights]
    return n, never_falling(source, n), prior


@pytest.mark.parametrize("case", range(tried(50, 120)))
def test_universal_noise_read_well_is_as_good_as_any_private_mechanism(case):
    source = fresh_random(f"universal noise {case}")
    privacy = random_shape(source)
    n, losses, prior = consumer(source)
    best = tailored(privacy, losses, prior)
    assert read(rows_of(noise.law("universal", privacy), n), losses, prior) == pytest.approx(best, abs=AGREE)


@pytest.mark.parametrize("case", range(20))
def test_the_noisy_count_as_a_mechanism_is_private_and_read(case):
    source = fresh_random(f"noisy count {case}")
    privacy, (n, losses, prior) = random_shape(source), consumer(source)
    made = noise.law("universal", privacy).mechanism(n)
    assert all(are_close(a, b, privacy) for a, b in pairwise(made.matrix()))
    assert all(worst_delta(pair.ratio, *pairwise(made.matrix())) == pair.delta for pair in privacy.pairs)
    reader = Consumer(n, losses, prior=None if prior is None else [F(p).limit_denominator(100) for p in prior])
    assert float(optimal_reading(made, reader).value) == pytest.approx(tailored(privacy, losses, prior), abs=AGREE)


@pytest.mark.parametrize("delta", [F(1, 10), F(1, 22), F(1, 46)])
def test_no_kink_is_lumped_where_several_lie_on_one_orbit(delta):
    """Pairs whose kinks fall together in the middle unit, and lie units apart: cells between them must stay apart."""
    privacy = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta=delta)])
    law = noise.law("universal", privacy)
    assert law.atoms_per_unit == 1
    made, far = law.mechanism(2), law.mechanism(2).outputs
    for beyond in range(1, 4):
        ratios = {law.probability(z - beyond) / law.probability(z) for z in (far[0], 2 - far[-1])}
        assert ratios == {F(1, 3**beyond)}
    assert all(worst_delta(pair.ratio, *pairwise(made.matrix())) == pair.delta for pair in privacy.pairs)
    for case in range(12):
        n, losses, prior = consumer(fresh_random(f"one orbit {case}"))
        reader = Consumer(n, losses, prior=None if prior is None else [F(p).limit_denominator(100) for p in prior])
        found = optimal_reading(law.mechanism(n), reader).value
        assert float(found) == pytest.approx(tailored(privacy, losses, prior), abs=AGREE)


def worst_delta(ratio, *edges):
    return max((max(hockey_stick(a, b, ratio), hockey_stick(b, a, ratio)) for a, b in edges), default=0)


def test_whole_numbers_of_an_unaligned_delta_are_not_universal():
    """Negative control: the same noise, with one atom per unit."""
    worse = 0
    for case in range(40):
        source = fresh_random(f"whole numbers {case}")
        privacy = random_shape(source, most=1, ended=True)
        while noise.law("universal", privacy).atoms_per_unit == 1:
            privacy = random_shape(source, most=1, ended=True)
        n, losses, prior = consumer(source)
        found = read(rows_of(noise.law("universal", privacy), n, whole=True), losses, prior)
        best = tailored(privacy, losses, prior)
        assert found > best - AGREE
        worse += found > best + 10 * AGREE
    assert worse >= 10


@pytest.mark.parametrize("bound", [1, 2, 3, 6])
@pytest.mark.parametrize("ratio", [F(1), F(3, 2), F(2), F(5)])
def test_bounded_noise_is_geometric_noise_cut_off(ratio, bound):
    privacy = Privacy(ratio=ratio)
    law = noise.law("bounded", privacy.with_delta(noise.bounded_delta(privacy, bound)))
    weights = {z: 1 / ratio ** abs(z) for z in range(-bound, bound + 1)}
    assert {z: law.probability(z) for z in range(-bound - 1, bound + 2)} == {-bound - 1: 0, bound + 1: 0} | {
        z: weight / sum(weights.values()) for z, weight in weights.items()
    }
    assert (law.atoms_per_unit, law.support) == (1, (-bound, bound))


def least_added(privacy, sensitivity, power, reach):
    """The least mean of |z|^power of noise on −reach … reach that is added to every integer alike.

    With δ = 0 what is beyond is left out of the demands, and with it a part of the law too small to matter.
    """
    program, size = Program(), 2 * reach + 1
    first = program.variables(size)
    program.equal(dict.fromkeys(range(first, first + size), 1), 1)
    program.charge(first, [abs(z - reach) ** power for z in range(size)])
    for pair in privacy.pairs:
        r, d = float(pair.ratio), float(pair.delta)
        for shift in range(1, sensitivity + 1):
            for way in (-shift, shift):
                excess = program.variables(size) if d else None
                for z in range(size):
                    row = {first + z: 1} | ({first + z + way: -r} if 0 <= z + way < size else {})
                    if d:
                        program.at_most(row | {excess + z: -1})
                    elif 0 <= z + way < size:
                        program.at_most(row)
                if d:
                    program.at_most(dict.fromkeys(range(excess, excess + size), 1), d)
    return program.minimum()


@pytest.mark.parametrize("case", range(16))
def test_whole_numbers_that_climb_by_u_are_the_best_that_can_be_added(case):
    privacy = random_shape(fresh_random(f"added {case}"), ended=True)
    law = noise.law("universal", privacy)
    reach = 2 + max(-(law.support[0] // law.atoms_per_unit), law.support[1] // law.atoms_per_unit)
    for loss, power in (("absolute", 1), ("squared", 2)):
        best = least_added(privacy, 1, power, reach)
        assert float(law.expected(loss).upper) == pytest.approx(best, abs=AGREE)


@pytest.mark.parametrize("case", range(12))
def test_stated_errors_are_those_of_the_law(case):
    privacy = random_shape(fresh_random(f"stated {case}"), ended=True)
    law = noise.law("universal", privacy)
    low, high = law.support
    for loss, power in (("absolute", 1), ("squared", 2)):
        mean = sum(law.probability(z) * abs(z // law.atoms_per_unit) ** power for z in range(low, high + 1))
        assert mean in law.expected(loss)
        assert law.expected(loss).width < F(1, 1 << 400)
    for z in (low - 1, low, 0, 1, high, high + 3):
        assert law.probability(z) in law.enclose(z)


def test_stated_errors_of_unended_noise():
    geometric, staircase = noise.law("geometric", Privacy(ratio=2)), noise.law("staircase", Privacy(ratio=2), 3)
    assert geometric.expected().lower == geometric.expected().upper == F(4, 3)
    assert geometric.expected("squared").lower == 4
    for loss, power in (("absolute", 1), ("squared", 2)):
        mean = sum(float(staircase.probability(z)) * abs(z) ** power for z in range(-400, 401))
        assert float(staircase.expected(loss).lower) == pytest.approx(mean, rel=1e-12)
        gaussian = noise.gaussian_law(1, resolution="1/2")
        mean = sum(float(gaussian.enclose(z).lower) * abs(z / 2) ** power for z in range(-60, 61))
        assert float(gaussian.expected(loss).lower) == pytest.approx(mean, rel=1e-12)
        assert gaussian.expected(loss).width < F(1, 10**40)


def normal(x):
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def gaussian_delta(ratio, mu):
    """Enclose the least δ of N(0,1) against N(μ,1) at a ratio."""

    def delta():
        at, mean = ball(ratio).log() / ball(mu), ball(mu)
        return normal(mean / 2 - at) - ball(ratio) * normal(-at - mean / 2)

    return enclosure_of(delta, width=F(1, 10**35))


def rounded_delta(law, ratio):
    """Enclose the least δ of the law against itself moved by one unit, with tails lumped (which can only lower it)."""
    unit = law.atoms_per_unit
    reach = int(14 / law.mu) * unit
    masses = [law.enclose(z, width="1e-40") for z in range(-reach, reach + 1)]
    here, there = masses[unit:], masses[:-unit]
    sure = sum(max(F(0), p.lower - ratio * q.upper) for p, q in zip(there, here, strict=True))
    most = sum(max(F(0), p.upper - ratio * q.lower) for p, q in zip(there, here, strict=True))
    return sure, most


def cumulative(law, atom):
    low, high = law.bracket(atom, 120)
    return Enclosure(F(low, 1 << 120), F(high, 1 << 120))


RATIOS = [F(11, 10), F(3, 2), F(2), F(4), F(9), F(40)]
"""None is where a cut of the rounding lies."""


@pytest.mark.parametrize("resolution", ["1", "1/2", "1/4"])
@pytest.mark.parametrize("mu", ["1/4", "1/2", "1", "2"])
def test_the_rounded_gaussian_lies_below_the_gaussian_curve(mu, resolution):
    law = noise.gaussian_law(mu, resolution=resolution)
    for ratio in RATIOS:
        assert rounded_delta(law, ratio)[1] < gaussian_delta(ratio, F(mu)).lower
    # Cumulative probabilities themselves lie on it.
    here, there = (cumulative(law, z) for z in (0, law.atoms_per_unit))
    assert there.lower <= gaussian_step(here.upper, F(mu), width=F(1, 10**25)).upper
    assert there.upper >= gaussian_step(here.lower, F(mu), width=F(1, 10**25)).lower


def test_too_little_gaussian_noise_is_seen():
    """Negative control: noise for μ = 1 judged by the curve of 0.9."""
    assert all(
        rounded_delta(noise.gaussian_law(1), ratio)[0] > gaussian_delta(ratio, F(9, 10)).upper for ratio in (1, 2)
    )


def private_table(source, privacy, n):
    """A random mechanism on 0..n in fractions: an optimum for a reader with random losses."""
    losses = [[source.randint(0, 6) for _ in range(n + 1)] for _ in range(n + 1)]
    prior = [source.randint(1, 5) for _ in range(n + 1)]
    made = design.consumer(n, losses, privacy, prior=[F(w, sum(prior)) for w in prior])
    table = [[dict(zip(made.outputs, row, strict=True)).get(v, F(0)) for v in range(n + 1)] for row in made.matrix()]
    assert all(are_close(a, b, privacy) for a, b in pairwise(table))
    return table


def reached(law, threshold, count):
    """P(below a threshold at count), for a threshold that is a cell and a share of it."""
    cell, share = threshold
    cell -= count * law.atoms_per_unit
    cells = law.cells
    low, high = (F(int(x.p), int(x.q)) for x in (cells.exactly(cell), cells.exactly(cell + 1)))
    return low + share * (high - low)


def threshold(law, count, mass):
    """The threshold within the noise's own range at a count that has this mass below."""
    first, last = law.support
    for cell in range(first, last + 1):
        low, high = (reached(law, (cell + end, F(0)), 0) for end in (0, 1))
        if mass <= high:
            share = (mass - low) / (high - low)
            return (cell + count * law.atoms_per_unit + (share == 1), F(0) if share == 1 else share)
    raise AssertionError


@pytest.mark.parametrize("case", range(tried(60, 1000)))
def test_one_reading_is_as_good_as_any_mechanism_at_every_count(case):
    """The proof's own thresholds, in fractions: in order, and no further from the truth than the mechanism."""
    source = fresh_random(f"one reading {case}")
    privacy, n = random_shape(source, ended=True), source.randint(1, 3)
    law, table = noise.law("universal", privacy), private_table(source, privacy, n)
    below = [list(accumulate(row)) for row in table]
    thresholds = [threshold(law, v, below[v][v]) for v in range(n)]
    assert thresholds == sorted(thresholds)
    for v, limit in enumerate(thresholds):
        for i in range(n + 1):
            ours = reached(law, limit, i)
            assert ours >= below[i][v] if i <= v else ours <= below[i][v]


# Staircase noise: the least error of all noise that is added to every number alike, to nine places, and its gains.
#
# The linear program is that of the definition: probabilities of noise on −R … R such that no shift by at most m
# changes one by more than a factor r. A law and its reflection do equally well, and so does their mean, so that it
# is enough to look at one side; and each unknown is a multiple of r^(−z/m), so that solvers meet numbers of one
# size.

AGREE_STAIRCASE = 1e-9
LOSSES = {"absolute": 1, "squared": 2}
CASES = [
    *product((1, 2, 3, 5), ("1/2", "1", "3/2", "2", "3")),
    *product((4, 7), ("1", "2", "3")),
    (10, "2"),
    (12, "3"),
    (20, "3"),
]
"""Sensitivities and ε."""


def least_added_staircase(ratio, sensitivity, power):
    """The least mean of |z|^power; the part of any law beyond R = 36·m/ε is far below what is compared."""
    rate = ratio ** (-1 / sensitivity)
    reach = 1
    while rate**reach > 1e-15:
        reach += 1
    weights = [(1 if z == 0 else 2) * rate**z for z in range(reach + 1)]
    program = Program()
    first = program.variables(reach + 1)
    program.equal({first + z: weight for z, weight in enumerate(weights)}, 1)
    program.charge(first, [z**power * weight for z, weight in enumerate(weights)])
    for z, shift in product(range(reach + 1), range(1, sensitivity + 1)):
        for other in {abs(z - shift), z + shift} - {z}:
            if other <= reach:
                program.at_most({first + z: 1, first + other: -ratio * rate ** (other - z)})
    return program.minimum()


def test_cases_are_enough():
    assert 2 * len(CASES) >= 50


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), CASES)
def test_a_staircase_is_the_best_that_can_be_added(sensitivity, epsilon, loss):
    privacy = Privacy(epsilon=epsilon)
    law = noise.law("staircase", privacy, sensitivity, loss)
    best = least_added_staircase(float(privacy.ratio), sensitivity, LOSSES[loss])
    assert float(law.expected(loss).upper) == pytest.approx(best, rel=AGREE_STAIRCASE)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(5, "1"), (5, "2"), (2, "3"), (7, "3")])
def test_another_step_is_worse(sensitivity, epsilon, loss):
    """Negative control: the program tells steps apart."""
    privacy = Privacy(epsilon=epsilon)
    best = noise.law("staircase", privacy, sensitivity, loss)
    least = least_added_staircase(float(privacy.ratio), sensitivity, LOSSES[loss])
    for step in {*range(1, sensitivity + 1)} - {best.step}:
        other = float(noise.StaircaseLaw(privacy, sensitivity, step).expected(loss).upper)
        assert other > least * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "sensitivity", "gain"), [(1, 5, 0.04), (2, 5, 0.15), (3, 2, 0.41)])
def test_it_gains_on_geometric_noise_what_is_said(epsilon, sensitivity, gain):
    staircase = noise.law("staircase", Privacy(epsilon=epsilon), sensitivity)
    geometric = 1 / sinh(epsilon / sensitivity)  # 2α/(1 − α²) at α = e^(−ε/m)
    assert 1 - float(staircase.expected().upper) / geometric == pytest.approx(gain, abs=0.005)
    written = noise.law("geometric", Privacy(epsilon=epsilon), sensitivity)
    assert float(written.expected().upper) == pytest.approx(geometric)
    assert exp(epsilon) == pytest.approx(float(staircase.privacy.ratio))
