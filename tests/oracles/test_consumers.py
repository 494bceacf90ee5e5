"""Consumers of a count, against programs over all mechanisms and all readings (SciPy, nothing of the library)."""

import importlib
import itertools
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, certify, design
from irisdp._exact import as_fraction, json_bytes
from irisdp.certify import _theorems, verify_mechanism
from irisdp.certify._audited_mechanism import audited_mechanism
from irisdp.certify._matrix_files import as_document
from irisdp.certify._objectives import read_goal
from irisdp.certify._theorems import prove
from irisdp.consumers import Consumer, optimal_reading
from irisdp.design import broken_adjacency, derivation, dominating_reading, nearest_reading, side_by_side
from irisdp.mechanisms import FactoredMechanism
from support.closeness import private
from support.programs import Program, restricted
from support.seeds import fresh_random

AGREES = 1e-9
"""HiGHS is asked for 1e-10 in both feasibilities, and losses are of size 10 at most."""

NOTHING = 1e-6
"""A loss below this is 0 but for the solver, and is no measure of others."""

RATIOS = [Fraction(x) for x in ("101/100", "6/5", "3/2", "2", "7/3", "4", "11")]


def best_mechanism(loss, ratio, possible, prior=None):
    """The smallest loss of any private mechanism on 0..n: variables x_iv, and for a worst case the worst."""
    size, program = len(loss), Program()
    first = program.table(size, size)
    program.private(first, size, itertools.pairwise(range(size)), ratio)
    if prior is not None:
        program.charge(first, [w * x for w, line in zip(prior, loss, strict=True) for x in line])
    else:
        program.worst({first + i * size + v: x for v, x in enumerate(loss[i])} for i in possible)
    return program.minimum()


def best_reading(rows, loss, possible, prior=None):
    """The smallest loss of any reading of a mechanism: variables T_zv, and for a worst case the worst."""
    released, size, program = len(rows[0]), len(loss), Program()
    first = program.table(released, size)
    costs = [[rows[i][z] * x for z in range(released) for x in loss[i]] for i in range(size)]
    if prior is not None:
        program.charge(
            first, [sum(w * x for w, x in zip(prior, column, strict=True)) for column in zip(*costs, strict=True)]
        )
    else:
        program.worst({first + k: x for k, x in enumerate(costs[i])} for i in possible)
    return program.minimum()


def climbs(pick, length):
    """Losses of the errors 1, 2, …: they never fall, from 0 or above."""
    return list(
        itertools.accumulate(Fraction(pick.choice([0, 0, 1, 2, 3]), pick.choice([1, 2])) for _ in range(length))
    )


def table_that_grows(pick, n):
    """Losses that never fall on either side, with nothing in common between sides or counts."""
    table = []
    for i in range(n + 1):
        least = Fraction(pick.randrange(-2, 3))
        left, right = climbs(pick, i)[::-1], climbs(pick, n - i)
        table.append([least + x for x in (*left, 0, *right)])
    return table


def named_loss(pick):
    return pick.choice(
        [
            "absolute",
            "squared",
            "zero-one",
            {"name": "pinball", "too_low": pick.randrange(1, 6), "too_high": "3/2"},
            {"name": "threshold", "beyond": pick.randrange(4)},
            {"name": "excess", "beyond": pick.randrange(4)},
        ]
    )


def written(loss, n):
    """A loss as a table, from what its name says."""
    if not isinstance(loss, str | dict):
        return loss
    fields = {"name": loss} if isinstance(loss, str) else loss
    k = fields.get("beyond", 0)
    below, above = Fraction(fields.get("too_low", 1)), Fraction(fields.get("too_high", 1))
    of = {
        "absolute": abs,
        "squared": lambda e: e * e,
        "zero-one": lambda e: int(e != 0),
        "pinball": lambda e: above * e if e > 0 else -below * e,
        "threshold": lambda e: int(abs(e) > k),
        "excess": lambda e: max(0, abs(e) - k),
    }[fields["name"]]
    return [[of(v - i) for v in range(n + 1)] for i in range(n + 1)]


def random_prior(pick, n, support):
    weights = [pick.randrange(6) if i in support else 0 for i in range(n + 1)]
    weights[support[0]] += 1
    return [Fraction(w, sum(weights)) for w in weights]


def random_reader(pick, loss_for):
    n = pick.randrange(1, 11)
    possible = sorted(pick.sample(range(n + 1), pick.randrange(1, n + 2))) if pick.random() < 0.6 else range(n + 1)
    prior = random_prior(pick, n, possible) if pick.random() < 0.4 else None
    loss = loss_for(pick, n)
    return Consumer(n, loss, side_information=list(possible), prior=prior), written(loss, n), pick.choice(RATIOS)


@pytest.mark.parametrize("kind", ["named", "table"])
def test_reading_noise_well_is_as_good_as_the_mechanism_tailored_to_the_reader(kind):
    """Universality for every loss that never falls with distance on either side: 240 random consumers."""
    pick = fresh_random(f"universal {kind}")
    for _ in range(120):
        make = table_that_grows if kind == "table" else lambda pick, _: named_loss(pick)
        reader, loss, ratio = random_reader(pick, make)
        assert reader.universal
        read = optimal_reading(FactoredMechanism(privacy=Privacy(ratio=ratio), n=reader.n), reader)
        tailored = best_mechanism(loss, ratio, reader.possible, reader.prior)
        near = AGREES * max(1, *map(max, loss))  # a program's floats are as exact as its losses are large
        assert abs(float(read.value) - tailored) < near
        assert abs(float(read.lower_bound) - tailored) < near


def table_of_any_shape(pick, n):
    return [[Fraction(pick.randrange(4)) for _ in range(n + 1)] for _ in range(n + 1)]


def test_where_a_loss_falls_the_whole_program_is_solved_and_beats_reading_noise():
    """Side by side with programs over all mechanisms and over all readings; reading is strictly worse at times."""
    pick, worse = fresh_random("falls"), 0.0
    some = (random_reader(pick, table_of_any_shape) for _ in itertools.count())
    falling = (case for case in some if case[0].n <= 6 and not case[0].universal)
    for reader, loss, ratio in itertools.islice(falling, 40):
        both = side_by_side(reader, Privacy(ratio=ratio))
        tailored = best_mechanism(loss, ratio, reader.possible, reader.prior)
        read = best_reading(restricted(reader.n, ratio), loss, reader.possible, reader.prior)
        made = design.consumer(
            reader.n, loss, Privacy(ratio=ratio), side_information=list(reader.possible), prior=reader.prior
        )
        assert "universality is not guaranteed" in made.objective.name
        for value in (made.objective.value, made.objective.lower_bound, both.tailored.objective.value):
            assert abs(float(value) - tailored) < AGREES
        assert abs(float(both.read.value) - read) < AGREES
        assert abs(float(both.excess) - (read - tailored)) < AGREES
        worse = max(worse, read / tailored - 1 if tailored > NOTHING else 0)
    # Negative control: the claim of universality would be noticed where it is false.
    assert worse > 0.01


def test_side_by_side_leaves_nothing_between_them_where_losses_grow():
    for loss in ("absolute", {"name": "threshold", "beyond": 1}):
        both = side_by_side(Consumer(5, loss, side_information=[0, 2, 5]), Privacy(ratio=3))
        assert both.excess == 0 and both.read.value == both.tailored.objective.value


def test_optimal_readings_of_any_mechanism_are_optimal():
    """Not only of geometric noise, and not only with as many answers as counts."""
    pick = fresh_random("any mechanism")
    for _ in range(40):
        reader, loss, _ = random_reader(pick, pick.choice([table_that_grows, table_of_any_shape]))
        outputs = pick.randrange(1, 7)
        rows = []
        for _ in range(reader.n + 1):
            shares = [pick.choice([0, 1, 1, 2, 5]) for _ in range(outputs)]
            shares[0] += not sum(shares)
            rows.append([Fraction(share, sum(shares)) for share in shares])
        deployed = Mechanism.from_matrix(rows, privacy=Privacy(ratio=2), outputs=[f"o{v}" for v in range(outputs)])
        found = optimal_reading(deployed, reader)
        assert abs(float(found.value) - best_reading(rows, loss, reader.possible, reader.prior)) < AGREES
        assert found.value == found.lower_bound


# The structure of Lemma 5 of [Gupte2010], and the reading that dominates.


def random_private(pick, n, ratio):
    """A mixture of mechanisms of two kinds: extreme points, and random weights."""
    shares = [pick.randrange(1, 5) for _ in range(pick.randrange(1, 5))]
    mixed = [[Fraction(0)] * (n + 1) for _ in range(n + 1)]
    for share in shares:
        part = pick.choice([random_vertex, random_by_answers])(pick, n, ratio)
        for i, v in itertools.product(range(n + 1), repeat=2):
            mixed[i][v] += Fraction(share, sum(shares)) * part[i][v]
    return mixed


def random_by_answers(pick, n, ratio):
    """Weights for each answer that change by the square root of the ratio at most, each row divided by its sum."""
    root = Fraction(int(float(ratio) ** 0.5 * 1000), 1000)
    columns = []
    for _ in range(n + 1):
        column = [Fraction(pick.randrange(1, 9))]
        for _ in range(n):
            column.append(column[-1] * pick.choice([root, 1, 1 / root]))
        columns.append(column)
    rows = list(zip(*columns, strict=True))
    return [[x / sum(row) for x in row] for row in rows]


def random_vertex(pick, n, ratio):
    """A best mechanism for random losses of any shape, found in exact arithmetic: an extreme point, hardly ever G·T."""
    loss = table_of_any_shape(pick, n)
    prior = random_prior(pick, n, range(n + 1))
    return design.consumer(n, loss, Privacy(ratio=ratio), prior=prior).matrix()


def read_by(reading, rows):
    n = len(rows) - 1
    return [
        [sum(row[z] * p for z in range(n + 1) for answer, p in reading[z] if answer == v) for v in range(n + 1)]
        for row in rows
    ]


def at_most(row):
    return [Fraction(0), *itertools.accumulate(row)]


def loses_no_more(better, worse):
    """At every count i, answers up to v < i are no more likely and answers up to v ≥ i no less: any such loss."""
    return all(
        (x <= y if v < i else x >= y)
        for i, (one, other) in enumerate(zip(better, worse, strict=True))
        for v, (x, y) in enumerate(zip(at_most(one)[1:], at_most(other)[1:], strict=True))
    )


def test_one_reading_loses_no_more_than_a_given_mechanism_at_any_count():
    """Exactly, for random private mechanisms; the criterion is that of all losses that never fall, tried on 20."""
    pick, strictly = fresh_random("dominating"), 0
    for _ in range(60):
        n, ratio = pick.randrange(7), pick.choice([Fraction(1), *RATIOS])
        given = random_private(pick, n, ratio) if ratio > 1 else [random_by_answers(pick, n, Fraction(2))[0]] * (n + 1)
        assert private(given, ratio)
        mechanism = Mechanism.from_matrix(given, privacy=Privacy(ratio=ratio))
        reading = dominating_reading(mechanism)
        noisy = restricted(n, ratio) if n else [[Fraction(1)]]
        read = read_by(reading, noisy)
        assert all(sum(p for _, p in line) == 1 and min(p for _, p in line) >= 0 for line in reading.values())
        assert loses_no_more(read, given)
        strictly += read != given
        for _ in range(20):
            loss = table_that_grows(pick, n)
            for line, one, other in zip(loss, read, given, strict=True):
                assert sum(map(Fraction.__mul__, line, one)) <= sum(map(Fraction.__mul__, line, other))
        # Threshold readings have the structure of Lemma 5, whatever they were made from.
        assert broken_adjacency(Mechanism.from_matrix(read, privacy=Privacy(ratio=ratio))) is None
    assert strictly > 20


def test_taking_noise_at_face_value_dominates_hardly_anything():
    """Negative control: the criterion sees that one tailored mechanism beats plain noise at the ends, as it must."""
    made = design.consumer(3, "absolute", Privacy(ratio=4))
    assert not loses_no_more(restricted(3, Fraction(4)), made.matrix())
    assert loses_no_more(read_by(dominating_reading(made), restricted(3, Fraction(4))), made.matrix())


def test_only_private_mechanisms_on_counts_have_a_dominating_reading():
    truth = [[Fraction(i == v) for v in range(4)] for i in range(4)]
    for rows, privacy, says in (
        (truth, Privacy(ratio=2), "not private"),
        (truth, Privacy(ratio=2, delta="1/2"), "delta"),
        ([["1/3", "2/3"]] * 4, Privacy(ratio=2), "counts"),
    ):
        with pytest.raises(BadInput, match=says):
            dominating_reading(Mechanism.from_matrix(rows, privacy=privacy))


def test_optimal_readings_of_noise_have_the_structure_of_optimal_mechanisms():
    for n, ratio in itertools.product((3, 5, 8), (Fraction(3, 2), Fraction(4))):
        for loss in ("absolute", "squared"):
            deployed = FactoredMechanism(privacy=Privacy(ratio=ratio), n=n)
            found = optimal_reading(deployed, Consumer(n, loss))
            read = Mechanism.from_matrix(read_by(found.reading(), restricted(n, ratio)), privacy=deployed.privacy)
            assert broken_adjacency(read) is None


def test_the_structure_is_missed_where_it_is_broken():
    """Negative control: two undecided answers between one pair of counts, and a mixture of noise with a constant."""
    privacy = Privacy(ratio=4)
    rows = [["4/9", "1/9", "2/9", "2/9"], ["4/9", "1/9", "2/9", "2/9"], ["1/9", "4/9", "2/9", "2/9"]]
    assert broken_adjacency(Mechanism.from_matrix(rows, privacy=privacy)) == (0, 1)
    tail = [*restricted(3, Fraction(4))[:2], *[[Fraction(1, 4)] * 4] * 2]
    assert broken_adjacency(Mechanism.from_matrix(tail, privacy=privacy)) == (1, 2)


# How near a reading of one mechanism comes to another, against SciPy; what derives from noise, against elimination.

"""HiGHS is asked for 1e-10 in both feasibilities; distances are at most 1."""


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
        matrix = restricted(n, ratio)
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


# Losses of any sign: what is added to a row of the table is added to value and bound, and certificates hold.

PRIVACY = Privacy(ratio=2)


def table(n, shifts):
    return [[(2 if v < i else 3) * abs(i - v) + shifts[i] for v in range(n + 1)] for i in range(n + 1)]


def bound_of(mechanism):
    """Return what the theorem proves, whatever the file states."""
    subject = audited_mechanism(as_document(mechanism))
    goal = read_goal(subject, mechanism.certificate)
    return as_fraction(prove(subject, mechanism.certificate, goal).bound)


def verified(mechanism, folder):
    file = folder / "m.json"
    file.write_bytes(json_bytes(mechanism.to_document()))
    done = subprocess.run(
        [sys.executable, verify_mechanism.__file__, str(file)], check=False, capture_output=True, text=True
    )
    return done.returncode == 0, done.stdout


@pytest.mark.parametrize("n", [5, 33, 60])
@pytest.mark.parametrize("shift", [-100, -1, Fraction(1, 3)])
def test_a_shifted_table_is_worth_the_shift_more(n, shift, tmp_path):
    plain = design.consumer(n, table(n, [0] * (n + 1)), PRIVACY)
    shifted = design.consumer(n, table(n, [shift] * (n + 1)), PRIVACY)
    assert shifted.certificate is not None
    assert audit(shifted).optimality.holds
    assert verified(shifted, tmp_path)[0]
    for found, expected in (
        (shifted.objective.value, plain.objective.value + shift),
        (shifted.objective.lower_bound, plain.objective.lower_bound + shift),
    ):
        assert abs(found - expected) < Fraction(1, 10**7) * (1 + abs(shift))


@pytest.mark.parametrize("n", [5, 40])
def test_under_a_prior_each_row_may_be_shifted_by_itself(n, tmp_path):
    shifts = [(-1) ** i * i for i in range(n + 1)]
    prior = [Fraction(2 * i + 1, (n + 1) ** 2) for i in range(n + 1)]
    plain = design.consumer(n, table(n, [0] * (n + 1)), PRIVACY, prior=prior)
    shifted = design.consumer(n, table(n, shifts), PRIVACY, prior=prior)
    moved = sum(w * s for w, s in zip(prior, shifts, strict=True))
    assert audit(shifted).optimality.holds
    assert verified(shifted, tmp_path)[0]
    assert abs(shifted.objective.value - plain.objective.value - moved) < Fraction(1, 10**6)


def test_rows_shifted_apart_are_another_game_for_the_worst_case(tmp_path):
    """A row moved by itself moves who is worst off; the certificate is of the table as it is."""
    shifts = [-3 * i for i in range(41)]
    made = design.consumer(40, table(40, shifts), PRIVACY)
    assert audit(made).optimality.holds
    assert verified(made, tmp_path)[0]
    rows = made.matrix()
    worst = max(
        sum(p * x for p, x in zip(row, line, strict=True)) for row, line in zip(rows, table(40, shifts), strict=True)
    )
    assert made.objective.value == worst


def test_a_bound_that_is_stated_too_high_is_rejected(tmp_path):
    made = design.consumer(40, table(40, [-100] * 41), PRIVACY)
    document = json.loads(json_bytes(made.to_document()))
    document["objective"]["lower_bound"] = str(made.objective.value + 1)
    document = certify.add_digest({key: value for key, value in document.items() if key != "seal"})
    path = Path(tmp_path / "m.json")
    path.write_bytes(json_bytes(document))
    assert not audit(path).holds


def test_a_factored_mechanism_may_have_losses_below_0_too(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("irisdp.design._consumer_optimal"), "LARGEST_MATRIX", 10)
    made = design.consumer(40, table(40, [-100] * 41), PRIVACY)
    assert isinstance(made, FactoredMechanism)
    assert audit(made).optimality.holds
    assert verified(made, tmp_path)[0]


@pytest.mark.parametrize("prior", [None, [Fraction(1, 41)] * 41])
def test_rounding_does_not_turn_with_the_sign(prior, tmp_path, monkeypatch):
    """Where powers are rounded, by choice here, the proven bound is no higher than with exact ones."""
    privacy = Privacy(epsilon=1)
    for shift in (0, -(10**6), 10**6):
        made = design.consumer(40, table(40, [shift] * 41), privacy, prior=prior)
        exact = audit(made).optimality
        assert exact.holds
        with monkeypatch.context() as patch:
            patch.setattr(_theorems, "LONGEST", 1)
            patch.setattr(_theorems, "FIXED_POINT", 150)
            proven = bound_of(made)
        assert exact.lower_bound - Fraction(1, 10**30) <= proven <= bound_of(made)
        assert verified(made, tmp_path)[0]
