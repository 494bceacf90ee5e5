"""One noise for every reader of a count under (ε,δ): the published cells, read as `interpret` reads them, against
linear programs made for each reader, at δ where noise ends at a whole number and at others; and what goes wrong else.

Random private mechanisms, in fractions and at every count, are in `test_noise.py`, whose thresholds are those of the
proof.
"""

from fractions import Fraction as F
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from irisdp import Privacy, interpret, publish
from irisdp._measurements import CountNodes, UniversalNoiseMeasurement
from irisdp.consumers import Consumer, read_loss
from irisdp.interpretation import _remap_other_noise
from irisdp.interpretation._published_counts import OtherNoisyCount
from irisdp.interpretation._remap_other_noise import rule_with_ends, rule_without_end
from irisdp.noise import bounded_delta
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREE = 1e-8
ALIGNED = [Privacy(ratio=r).with_delta(bounded_delta(Privacy(ratio=r), k)) for r in ("3/2", 2, 4) for k in (1, 2, 3, 5)]
UNALIGNED = [Privacy(ratio=r, delta=d) for r in ("3/2", 2, 4) for d in ("1/7", "1/11", "1/40", "1e-3")]
UNDER = {f"{privacy}": privacy for privacy in [*ALIGNED, *UNALIGNED]}


def consumer(source):
    """A random reader: a table of losses that never fall, what is possible, and perhaps a prior."""
    n, weights = source.randint(1, 5), None
    table = [[0] * (n + 1) for _ in range(n + 1)]
    for i, row in enumerate(table):
        for v in range(i - 1, -1, -1):
            row[v] = row[v + 1] + source.choice([0, 1, 1, 2, 5])
        for v in range(i + 1, n + 1):
            row[v] = row[v - 1] + source.choice([0, 1, 1, 2, 5])
    if source.random() < 0.5:
        weights = [source.randint(0, 5) for _ in range(n)] + [1]
        return n, table, list(range(n + 1)), [F(w, sum(weights)) for w in weights]
    return n, table, sorted({0, n, *(i for i in range(n + 1) if source.random() < 0.7)}), None


def charged(program, rows, possible, prior):
    """Let the worst of the possible counts, or the mean under the prior, be the cost."""
    if prior is None:
        program.worst([rows[i] for i in possible])
        return
    for weight, row in zip(prior, rows, strict=True):
        for column, cost in row.items():
            program.cost[column] = program.cost.get(column, 0.0) + float(weight) * cost


def tailored(privacy, n, table, possible, prior):
    """The least loss of any mechanism on 0..n under the guarantee."""
    program = Program()
    first, width = program.table(n + 1, n + 1), n + 1
    program.private(first, width, [(i, i + 1) for i in range(n)], float(privacy.ratio), delta=float(privacy.delta))
    rows = [{first + i * width + v: float(table[i][v]) for v in range(width)} for i in range(width)]
    charged(program, rows, possible, prior)
    return program.minimum()


def read_best(laws, n, table, possible, prior):
    """The least loss of any reading of what has these laws at 0..n."""
    seen, program, width = sorted(set().union(*laws)), Program(), n + 1
    first = program.table(len(seen), width)
    rows = [
        {
            first + place * width + v: float(laws[i].get(z, 0)) * table[i][v]
            for place, z in enumerate(seen)
            for v in range(width)
        }
        for i in range(width)
    ]
    charged(program, rows, possible, prior)
    return program.minimum()


def laws_of(privacy, n):
    mechanism = UniversalNoiseMeasurement(privacy)
    return [mechanism.law(CountNodes(np.array([i]), np.array([0]), None), 0, n) for i in range(n + 1)]


def pooled(laws, shown):
    """The laws of what is shown of a cell."""
    found = []
    for law in laws:
        found.append({})
        for cell, chance in law.items():
            found[-1][shown(cell)] = found[-1].get(shown(cell), 0) + chance
    return found


def rule_for(privacy, reader, cells=(0,), ends=None):
    n, table, possible, prior = reader
    deployed = OtherNoisyCount(guarantee=privacy, ends=(ends,), cells=cells)
    return rule_with_ends(deployed, ends, Consumer(n, table, side_information=possible, prior=prior))


@pytest.mark.parametrize("name", UNDER)
def test_cells_read_well_serve_every_reader_as_well_as_a_mechanism_made_for_it(name):
    privacy = UNDER[name]
    for case in range(tried(3, 24)):
        reader = consumer(fresh_random(f"reader {name} {case}"))
        best, rule = tailored(privacy, *reader), rule_for(privacy, reader)
        assert float(rule.value) == pytest.approx(best, abs=AGREE)
        assert rule.lower_bound <= rule.value <= rule.lower_bound + F(1, 10**9)
        assert rule.universal
        # What is said of the reading is what it costs under the law of the published cells.
        laws, (_, table, possible, prior) = laws_of(privacy, reader[0]), reader
        answers = {cell: rule.at(cell) for law in laws for cell in law}
        costs = [
            sum(p * chance * table[i][v] for cell, p in law.items() for v, chance in answers[cell])
            for i, law in enumerate(laws)
        ]
        cost = max(costs[i] for i in possible) if prior is None else sum(map(F.__mul__, prior, costs))
        assert float(cost) == pytest.approx(float(rule.value), abs=1e-9)


def worse_than_tailored(guarantees, shown, cases, chosen=fresh_random):
    """How many readers lose more than with a mechanism of their own, when they are shown this of each cell."""
    worse = 0
    for case in range(cases):
        source = chosen(f"worse {case}")
        privacy, reader = guarantees[case % len(guarantees)], consumer(source)
        told = partial(shown, UniversalNoiseMeasurement(privacy).noise.atoms_per_unit, reader[0])
        found = read_best(pooled(laws_of(privacy, reader[0]), told), *reader)
        best = tailored(privacy, *reader)
        assert found > best - AGREE
        worse += found > best + 100 * AGREE
    return worse


def test_whole_numbers_of_an_unaligned_delta_fail():
    """Control, the same readers each time: one atom per unit. Where noise ends at a whole number, nothing is lost."""
    cases = tried(24, 120)
    assert worse_than_tailored(UNALIGNED, lambda size, n, cell: cell // size, cases, Random) >= cases // 6
    assert worse_than_tailored(ALIGNED, lambda size, n, cell: cell // size, tried(12, 60)) == 0


def test_clamping_first_fails():
    """Control, the same readers each time: noisy counts put between 0 and n before they are read lose at any δ > 0."""
    cases = tried(24, 120)

    def clamped(size, n, cell):
        return min(max(cell, 0), (n + 1) * size - 1)

    for guarantees in (ALIGNED, UNALIGNED):
        assert worse_than_tailored(guarantees, clamped, cases, Random) >= cases // 6


@pytest.mark.parametrize("ends", [None, (0, 4), (0, 9)])
@pytest.mark.parametrize("privacy", [ALIGNED[1], UNALIGNED[4]], ids=str)
def test_a_number_alone_is_read_as_well_as_it_can_be(privacy, ends):
    """Whoever knows the shown number and no cell: the cells of its unit are pooled, and clamped as they were shown."""
    table = [[abs(i - v) + 2 * max(i - v, 0) for v in range(5)] for i in range(5)]
    size = UniversalNoiseMeasurement(privacy).noise.atoms_per_unit

    def shown(cell):
        unit = cell // size
        return unit if ends is None else min(max(unit, ends[0]), ends[1])

    for prior in (None, [F(w, 10) for w in (1, 2, 4, 2, 1)]):
        reader = (4, table, list(range(5)), prior)
        rule = rule_for(privacy, reader, cells=None, ends=ends)
        best = read_best(pooled(laws_of(privacy, 4), shown), *reader)
        assert float(rule.value) == pytest.approx(best, abs=AGREE)
        assert rule.value >= rule_for(privacy, reader, ends=ends).value
        assert not rule.universal


LOSSES = ["absolute", "squared", "zero-one", "pinball:1:3", "pinball:7:1", "threshold:1", "excess:1"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("privacy", [ALIGNED[6], UNALIGNED[4], UNALIGNED[1]], ids=str)
def test_counts_without_a_largest_are_read_by_shifts_of_cells(privacy, loss):
    """The mean loss far from 0, straight from the law, for every shift of every kind of cell."""
    deployed, known = OtherNoisyCount(guarantee=privacy, ends=(None,), cells=(0,)), read_loss(loss, 0)
    rule, whole = (rule_without_end(one, known, 0) for one in (deployed, deployed.whole()))
    size = UniversalNoiseMeasurement(privacy).noise.atoms_per_unit
    (law,) = laws_of(privacy, 0)

    def cost(cells, shift):
        return sum(p * known.at(0, cell // size + shift) for cell, p in law.items() if cell % size in cells)

    tried_shifts = range(-30, 31)
    least = sum(min(cost({kind}, shift) for shift in tried_shifts) for kind in range(size))
    assert rule.lower_bound <= least <= rule.value <= rule.lower_bound + F(1, 10**20)
    at_once = min(cost(range(size), shift) for shift in tried_shifts)
    assert whole.lower_bound <= at_once <= whole.value <= whole.lower_bound + F(1, 10**20)
    assert rule.face_value == whole.face_value >= cost(range(size), 0) >= rule.face_value - F(1, 10**20)
    assert (rule.universal, whole.universal) == (True, False)
    # The reading is those shifts, raised to the least count; and it costs what is said far from there.
    ((answer, _),) = rule.at(1000 * size)
    assert cost({0}, answer - 1000) == min(cost({0}, shift) for shift in tried_shifts)
    assert rule.at(-10 * size) == ((0, 1),)


@pytest.mark.parametrize("name", ["two pairs", "one pair without a delta and one with"])
def test_shifts_of_noise_without_an_end_are_priced_to_the_end(name):
    pairs = {"two pairs": (3, 2, "1/50"), "one pair without a delta and one with": ("3/2", "5/4", "1/200")}[name]
    privacy = Privacy.all([Privacy(ratio=pairs[0]), Privacy(ratio=pairs[1], delta=pairs[2])])
    law = UniversalNoiseMeasurement(privacy).noise
    size, deployed = law.atoms_per_unit, OtherNoisyCount(guarantee=privacy, ends=(None,), cells=(0,))
    near = 1 + law.cells.reach  # beyond, masses fall by the first ratio a unit
    masses = {cell: float(law.enclose(cell)) for cell in range(-near * size, near * size)}
    for cell in range(near * size, 301 * size):
        masses[cell] = masses[cell - size] / float(privacy.pairs[0].ratio)
        masses[size - 1 - cell] = masses[cell]
    for loss in ("absolute", "squared", "pinball:1:3"):
        known = read_loss(loss, 0)
        rule = rule_without_end(deployed, known, 0)
        least = sum(
            min(
                sum(masses[unit * size + kind] * float(known.at(0, unit + shift)) for unit in range(-300, 300))
                for shift in range(-8, 9)
            )
            for kind in range(size)
        )
        assert float(rule.value) == pytest.approx(least, rel=1e-9)
        assert float(rule.lower_bound) == pytest.approx(least, rel=1e-9)
        assert rule.value >= rule.lower_bound


@pytest.mark.parametrize("loss", ["absolute", "pinball:1:3", "threshold:1"])
def test_many_possible_counts_are_read_like_counts_without_ends(loss, monkeypatch):
    """A bound from a uniform prior holds, and is within a few percent; the matrix, where it fits, lies between."""
    privacy, n = UNALIGNED[4], 60
    deployed = OtherNoisyCount(guarantee=privacy, ends=((0, n),), cells=(0,))
    reader = Consumer(n, loss)
    exact = rule_with_ends(deployed, (0, n), reader)
    monkeypatch.setattr(_remap_other_noise, "outputs_of", lambda *_, **__: None)
    wide = rule_with_ends(deployed, (0, n), reader)
    assert isinstance(wide, _remap_other_noise.ShiftedRule)
    assert wide.lower_bound <= exact.lower_bound <= exact.value <= wide.value
    assert wide.lower_bound >= F(8, 10) * wide.value
    assert wide.possible == (0, n)


def test_what_is_published_is_read_from_its_cells(tmp_path):
    """Files, publications and lines of ledgers; the cells of an answer, and not the number that people see."""
    survey = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", "Ely"]})
    out, asked = tmp_path / "a.csv", {"by": "town", "groups": ["York", "Ely"], "ratio": 2, "delta": "1/7"}
    found = publish(survey, "count", "age > 64", **asked, ledger=tmp_path / "l.ledger", out=out)
    cells = found.sidecars[None]["mechanism"]["cells"]
    assert found.answers.values == [cell // 3 for cell in cells]
    for release in (found, out, tmp_path / "a.csv.release.json"):
        for known in ({}, {"at_most": 6}):
            read = interpret(release, loss="pinball:1:3", **known)
            assert [answer.cell for answer in read.answers] == cells
            assert [answer.published for answer in read.answers] == found.answers.values
            for answer in read.answers:
                assert answer.rule.universal
                assert answer.chances == answer.rule.at(answer.cell)
                weights = read.posterior().probabilities
                assert weights.sum() == pytest.approx(1)
    alone = interpret(found, found.answers.values[0], loss="pinball:1:3")
    assert alone.answers[0].cell is None
    assert alone.answers[0].rule.value > read.answers[0].rule.value
