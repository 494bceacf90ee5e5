"""Cells read together: every table that fits is tried, and laws of sums are added up term by term."""

import math
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

from irisdp import Privacy, interpret, noise
from irisdp.interpretation._joint import nearest_table
from irisdp.interpretation._published_counts import sum_distance
from support.seeds import fresh_random
from support.sweeps import tried

NAMES = ["a", "b", "c", "d"]
FAR = 60
SURE = [Fraction(1, 2), Fraction(19, 20), Fraction(9, 10), Fraction(99, 100)][: tried(2, 4)]


def released(**mechanism):
    return {
        "format": "irisdp/release/1",
        "privacy": {"ratio": "2"},
        "mechanism": {"kind": "geometric-noise", **mechanism},
    }


def read(answers, **options):
    frame = pa.table({"g": NAMES[: len(answers)], "answer": answers})
    return interpret(released(), frame, consistent=True, **options).to_arrow().to_pylist()


def fits(box, sums):
    """Yield every table in a box, with sums that are known."""
    for table in product(*(range(low, high + 1) for low, high in box)):
        if all(sum(table[place] for place in places) == number for places, number in sums):
            yield table


LIKELIHOODS = {
    "geometric": lambda z: abs(z) * math.log(2),
    "gaussian": lambda z: -math.log(math.erf((abs(z) + 0.5) / 3) - math.erf((abs(z) - 0.5) / 3)),
    "squares": lambda z: z * z,
}


def falls(name, table, answers):
    return sum(LIKELIHOODS[name](x - y) for x, y in zip(table, answers, strict=True))


def cases(number, words):
    random = fresh_random(words)
    for _ in range(number):
        cells = random.randint(2, 4)
        answers = [random.randint(-4, 9) for _ in range(cells)]
        low, high = random.randint(0, 2), random.randint(3, 6)
        yield answers, low, high, random.randint(low * cells, high * cells)


def test_no_table_that_fits_is_likelier():
    for answers, low, high, number in cases(60, "known sums"):
        rows = read(answers, at_least=low, at_most=high, total={"all": number})
        table = [row["reading"] for row in rows[:-1]]
        assert sum(table) == rows[-1]["reading"] == number == rows[-1]["low"] == rows[-1]["high"]
        assert all(low <= x <= high for x in table)
        found = list(fits([(low, high)] * len(answers), [(range(len(answers)), number)]))
        for name in LIKELIHOODS:
            least = min(falls(name, other, answers) for other in found)
            assert falls(name, table, answers) == pytest.approx(least, abs=1e-9), (name, answers, low, high, number)


def test_sums_inside_sums_are_kept():
    for answers, low, high, number in cases(80, "nested sums"):
        if len(answers) < 4:
            continue
        part = min(max(number // 2, 2 * low), 2 * high)
        if not 2 * low <= number - part <= 2 * high:
            continue
        rows = read(answers, at_least=low, at_most=high, total={"ab": f"a+b={part}", "all": f"*={number}", "ac": "a+c"})
        table = [row["reading"] for row in rows[:4]]
        found = list(fits([(low, high)] * 4, [((0, 1), part), (range(4), number)]))
        for name in LIKELIHOODS:
            least = min(falls(name, other, answers) for other in found)
            assert falls(name, table, answers) == pytest.approx(least, abs=1e-9)
        for row, places in zip(rows[4:], ((0, 1), range(4), (0, 2)), strict=True):
            assert row["reading"] == sum(table[place] for place in places)
            sums = {sum(other[place] for place in places) for other in found}
            assert min(sums) <= row["low"] <= row["high"] <= max(sums)
        for place, row in enumerate(rows[:4]):
            counts = {other[place] for other in found}
            assert min(counts) <= row["low"] <= row["high"] <= max(counts)


def test_a_planted_reader_is_found_out():
    """Put the whole gap on the first cell, or round shares: sums fit, and another table is nearer."""
    answers, number = [5, 5, 5], 18
    best = nearest_table(answers, [0] * 3, [None] * 3, [((0, 1, 2), number)])
    assert best == [6, 6, 6]
    for planted in ([8, 5, 5], [7, 6, 5]):
        assert sum(planted) == number
        assert falls("geometric", planted, answers) == pytest.approx(falls("geometric", best, answers))
        assert falls("squares", planted, answers) > falls("squares", best, answers)
    assert falls("geometric", [9, 4, 5], answers) > falls("geometric", best, answers)


def test_very_large_gaps_are_spread_at_once():
    found = nearest_table([0, 10, 3], [0] * 3, [None, 12, None], [((0, 1, 2), 3 * 10**15)])
    assert sum(found) == 3 * 10**15 and found[1] == 12 and 0 <= found[0] - (found[2] - 3) <= 1
    assert nearest_table([10**15, 7], [0, 0], [None, None], [((0, 1), 3)]) == [3, 0]


def geometric(ratio):
    alpha = Fraction(1) / ratio
    return {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-FAR, FAR + 1)}


def universal(privacy):
    law = noise.law("universal", privacy)
    first, last = law.support
    found = {}
    for cell in range(first, last + 1):
        found[cell // law.atoms_per_unit] = found.get(cell // law.atoms_per_unit, 0) + law.probability(cell)
    return found


def normal(mu):
    half = float(mu) / math.sqrt(8)
    return {z: (math.erf((2 * z + 1) * half) - math.erf((2 * z - 1) * half)) / 2 for z in range(-FAR, FAR + 1)}


LAWS = {
    "geometric 2": (noise.law("geometric", Privacy(ratio=2)), geometric(2)),
    "geometric 7/2": (noise.law("geometric", Privacy(ratio="7/2")), geometric(Fraction(7, 2))),
    "universal": (noise.law("universal", Privacy(ratio=2, delta="1/50")), universal(Privacy(ratio=2, delta="1/50"))),
    "gaussian 1/2": (noise.gaussian_law("1/2"), normal(Fraction(1, 2))),
}


@pytest.mark.parametrize("name", LAWS)
def test_sums_stay_as_near_as_is_said_and_no_nearer(name):
    law, masses = LAWS[name]
    masses = {z: float(p) for z, p in masses.items()}
    total = {0: 1.0}
    for number in range(1, 7):
        grown = {}
        for (one, p), (other, q) in product(total.items(), masses.items()):
            grown[one + other] = grown.get(one + other, 0.0) + p * q
        total = grown
        for confidence in SURE:
            distance = sum_distance(law, number, confidence)
            within = [sum(p for z, p in total.items() if abs(z) <= d) for d in (distance, distance - 1)]
            assert within[0] >= float(confidence) - 1e-9 > within[1] - 2e-9, (number, confidence)


@pytest.mark.parametrize("known", [(0, 6), (2, 4), (0, 1), (3, 3)])
@pytest.mark.parametrize("clamped", [False, True])
def test_intervals_hold_for_every_count_that_is_possible(known, clamped):
    """Whatever the truth: the chance, over the noise, that it lies between the ends that are read."""
    release = released(lower=0, upper=6) if clamped else released()
    for confidence in SURE:
        law, ends = geometric(2), {}
        for value in range(7) if clamped else range(-FAR, FAR + 7):
            answers = interpret(release, value, at_least=known[0], at_most=known[1], confidence=confidence).answers
            ends[value] = answers[0].interval
            assert answers[0].interval.basis == "noise"
            assert known[0] <= ends[value].low <= ends[value].high <= known[1]
        covered = []
        for truth in range(known[0], known[1] + 1):
            shown = {z: min(max(truth + z, 0), 6) if clamped else truth + z for z in law}
            held = sum(p for z, p in law.items() if ends[shown[z]].low <= truth <= ends[shown[z]].high)
            assert held >= confidence - Fraction(1, 2**50)
            covered.append(held)
        distance = sum_distance(LAWS["geometric 2"][0], 1, confidence)
        if known == (0, 6) and not clamped and distance <= 3:  # negative control: a unit narrower fails
            short = sum(p for z, p in law.items() if abs(z) <= distance - 1)
            assert short < confidence and min(covered) < 1


def test_totals_of_clamped_counts_hold_for_every_pair():
    """Two counts that were moved to public ends: noise is not simply added, and the ends hold all the same."""
    one, confidence = geometric(2), Fraction(4, 5)
    release = released(lower=0, upper=4)
    ends = {}
    for a, b in product(range(5), repeat=2):
        frame = pa.table({"g": ["a", "b"], "answer": [a, b]})
        row = interpret(release, frame, total="all=*", confidence=confidence).to_arrow().to_pylist()[-1]
        ends[a, b] = (row["low"], row["high"])
    for truth in product(range(5), repeat=2):
        shown = [{}, {}]
        for place in (0, 1):
            for z, p in one.items():
                value = min(max(truth[place] + z, 0), 4)
                shown[place][value] = shown[place].get(value, 0) + p
        held = sum(shown[0][a] * shown[1][b] for (a, b), (low, high) in ends.items() if low <= sum(truth) <= high)
        assert held >= confidence
