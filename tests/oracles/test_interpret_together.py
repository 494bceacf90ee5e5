"""Cells read together: every table that fits is tried, and laws of sums are added up term by term."""

import math
from fractions import Fraction
from fractions import Fraction as F
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from irisdp import BadInput, NeighbouringRelation, Privacy, interpret, noise
from irisdp._measurements import DecisionMeasurement, LargestCategory
from irisdp._queries import Band
from irisdp._queries.majority import Majority
from irisdp._queries.statistics import Statistics
from irisdp._queries.threshold import AtLeast, AtMost
from irisdp.interpretation import _name_rules, _winner_rule
from irisdp.interpretation._joint import nearest_table
from irisdp.interpretation._published_counts import sum_distance
from irisdp.mechanisms import PermuteAndFlip, Pull, balanced_line, privacy_to_document
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


# How likely a published name is true, against Bayes' rule over every table there is, in fractions.
#
# Nothing here knows gaps, depths or weights in a formula: tables are listed one by one, each is handed to the
# query, and the mechanism that publishes says with what chance it answers what.

NARROW = F(1, 10**12)
PAIRS = [Privacy(ratio=2), Privacy(ratio="6/5", delta="1/10"), Privacy(ratio=1, delta="1/8"), Privacy(epsilon=1)]


def sidecar(query, privacy, relation, mechanism):
    return {
        "format": "irisdp/release/1", "query": query, "by": [], "relation": str(relation),
        "privacy": privacy_to_document(privacy), "mechanism": mechanism,
    }  # fmt: skip


def answers_of(query, relation, privacy, tables):
    """Return the exact law of the answer to each table (yes, no, abstaining), and the true answer."""
    total, yes, no = (np.array(column) for column in zip(*((sum(table), *table[:2]) for table in tables), strict=True))
    nodes = query.nodes(Statistics(total, yes, no), relation)
    cells = DecisionMeasurement(balanced_line(privacy), privacy)
    truths = [nodes.classes[place] for place in nodes.true_class.tolist()]
    return [(cells.law(nodes, cell, 0), truth) for cell, truth in enumerate(truths)]


def bayes(laws, weights, name):
    """Return the chance that a name is true, given that it was published."""
    right = sum((w * law[name] for (law, truth), w in zip(laws, weights, strict=True) if name == truth), F(0))
    wrong = sum((w * law[name] for (law, truth), w in zip(laws, weights, strict=True) if name != truth), F(0))
    return right / (right + wrong)


def is_read_as(found, expected, worst):
    (answer,) = found.answers
    judged = answer.judgement
    assert expected in answer.probability and answer.probability.width < NARROW
    assert worst - NARROW <= judged.right_at_worst <= worst
    (row,) = found.to_documents()
    assert F(row["answer_probability"]) <= expected <= F(row["answer_probability_upper"])
    assert F(row["right_at_worst"]) <= worst


def checked_threshold(query, relation, privacy, first, last, weights=None, **known):
    # So many records that there is always a table on either side: the number is public and the same for all.
    size = last + query.threshold + 2
    counts = range(first, last + 1)
    tables = [(count, size - count, 0) for count in counts]
    laws = answers_of(query, relation, privacy, tables)
    weights = [F(1)] * len(laws) if weights is None else weights[first : last + 1]
    cells = DecisionMeasurement(balanced_line(privacy), privacy).to_document()
    release = sidecar({**query.describe(), "expression": "v"}, privacy, relation, cells)
    worst = min(law[truth] for (law, truth), w in zip(laws, weights, strict=True) if w)
    for name in ("yes", "no"):
        is_read_as(interpret(release, name, **known), bayes(laws, weights, name), worst)


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
@pytest.mark.parametrize("relation", NeighbouringRelation)
@pytest.mark.parametrize("query", [AtLeast(4, "v"), AtMost(2, "v"), AtLeast(1, "v")], ids=lambda query: query.name)
def test_a_yes_or_no_is_as_likely_true_as_bayes_says(privacy, relation, query):
    for first, last in ((0, 5), (0, 13), (2, 4), (1, 9)):
        checked_threshold(query, relation, privacy, first, last, at_least=first, at_most=last)
    prior = [F(n + 1, 55) for n in range(10)]
    checked_threshold(query, relation, privacy, 0, 9, prior, prior=[str(p) for p in prior])
    listed = [F(count in (0, 3, 4, 7)) for count in range(8)]
    checked_threshold(query, relation, privacy, 0, 7, listed, side_information=[7, 0, 4, 3])


def checked_band(relation, privacy, starts, first, last, weights=None, **known):
    counts, size = range(first, last + 1), max(*starts, last) + 3
    query = Band(starts, "v")
    total, none = np.full(len(counts), size), np.zeros(len(counts), dtype=np.int64)
    nodes = query.nodes(Statistics(total, np.array(counts), none), relation)
    mechanism = query.mechanism(privacy, relation)
    truths = [mechanism.names[int(np.searchsorted(starts, count, side="right"))] for count in counts]
    laws = [(mechanism.law(nodes, cell, size), truth) for cell, truth in enumerate(truths)]
    weights = [F(1)] * len(laws) if weights is None else weights[first : last + 1]
    release = sidecar({**query.describe(), "expression": "v"}, privacy, relation, mechanism.to_document())
    worst = min(law[truth] for (law, truth), w in zip(laws, weights, strict=True) if w)
    said = {name: sum(w * law[name] for (law, _), w in zip(laws, weights, strict=True)) for name in mechanism.names}
    for name in mechanism.names:
        if not said[name]:  # with δ bands far from all possible counts are never said
            with pytest.raises(BadInput, match=r"^value: cannot have been published, by what you know"):
                interpret(release, name, **known)
            continue
        found = interpret(release, name, **known)
        expected = bayes(laws, weights, name)
        if relation == "add-remove" or last >= starts[-1]:
            is_read_as(found, expected, worst)
        assert expected in found.answers[0].probability
        for one, chance in found.answers[0].judgement.posterior.items():
            pairs = zip(laws, weights, strict=True)
            assert sum(w * law[name] for (law, truth), w in pairs if truth == one) / said[name] in chance


@pytest.mark.parametrize(
    "privacy", [PAIRS[0], PAIRS[1], Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-2")])], ids=str
)
@pytest.mark.parametrize("relation", NeighbouringRelation)
def test_a_band_is_as_likely_true_as_bayes_says(privacy, relation):
    for starts, first, last in (((3,), 0, 6), ((2, 5, 6), 0, 9), ((2, 5), 1, 7), ((1, 4, 9), 0, 6), ((4, 30), 2, 12)):
        checked_band(relation, privacy, starts, first, last, at_least=first, at_most=last)
    prior = [F(n + 1, 55) for n in range(10)]
    checked_band(relation, privacy, (2, 5, 6), 0, 9, prior, prior=[str(p) for p in prior])
    listed = [F(count in (0, 3, 4, 7)) for count in range(8)]
    checked_band(relation, privacy, (2, 4), 0, 7, listed, side_information=[7, 0, 4, 3])
    with pytest.raises(AssertionError):
        checked_band(relation, privacy, (2, 5, 6), 0, 9, prior, at_most=9)


def checked_majority(relation, privacy, first, last, lead):
    kinds = [
        (yes, no)
        for yes, no in product(range(last + 1), repeat=2)
        if first <= yes + no <= last and abs(yes - no) >= lead
    ]
    # One who abstains keeps the table from being of nobody, where nothing could change.
    laws = answers_of(Majority("v"), relation, privacy, [(yes, no, last + 1 - yes - no) for yes, no in kinds])
    cells = DecisionMeasurement(balanced_line(privacy), privacy).to_document()
    release = sidecar({"query": "majority", "expression": "v"}, privacy, relation, cells)
    worst = min(law[truth] for law, truth in laws)
    for name in ("yes", "no"):
        found = interpret(release, name, at_least=first, at_most=last, lead=lead)
        is_read_as(found, bayes(laws, [F(1)] * len(laws), name), worst)


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
@pytest.mark.parametrize("relation", NeighbouringRelation)
def test_a_majority_is_as_likely_true_as_bayes_says(privacy, relation):
    for first, last, lead in ((0, 6, 0), (0, 7, 1), (5, 5, 0), (6, 6, 0), (3, 8, 2), (7, 7, 2), (6, 6, 3), (4, 9, 4)):
        checked_majority(relation, privacy, first, last, lead)


@pytest.mark.parametrize(
    ("privacy", "last"), [(Privacy(epsilon="0.0005"), 30_000), (Privacy(ratio=1, delta="1/9999"), 30_000)], ids=str
)
def test_many_tables_are_taken_together_and_enclosed(privacy, last):
    start = 10_000
    cells = DecisionMeasurement(balanced_line(privacy), privacy).to_document()
    release = sidecar({"query": "at-least", "threshold": str(start), "expression": "v"}, privacy, "add-remove", cells)
    found = interpret(release, "yes", at_most=last).answers[0].probability
    first, ratio = float(balanced_line(privacy).boundary[0][0]), float(privacy.ratio)
    depths = np.arange(last + 1)
    truth = np.minimum(1, first + depths * float(privacy.delta)) if ratio == 1 else 1 - (1 - first) * ratio**-depths
    right, wrong = truth[: last - start + 1].sum(), (1 - truth[:start]).sum()
    assert float(found.lower) <= right / (right + wrong) <= float(found.upper)
    assert found.width < 1e-4
    if ratio > 1:
        wide = interpret(release, "yes", at_most=10**18).answers[0].probability
        assert F(99, 100) < wide.lower < 1


WINNERS = [
    (Pull, NeighbouringRelation.EXCHANGE, "pull-from-the-top"),
    (PermuteAndFlip, NeighbouringRelation.EXCHANGE, "permute-and-flip"),
    (PermuteAndFlip, NeighbouringRelation.ADD_REMOVE, "permute-and-flip"),
]


def winner_rule(kind, relation, categories, privacy):
    return kind(categories, privacy) if kind is Pull else kind(categories, privacy, NeighbouringRelation(relation))


def winner_sidecar(name, relation, categories, privacy):
    mechanism = {"kind": name, "categories": categories, "outputs": [f"c{place}" for place in range(categories)]}
    return sidecar({"query": "plurality", "column": "v"}, privacy, relation, mechanism)


def checked_winner(kind, relation, name, categories, privacy, first, last, lead):
    rule = winner_rule(kind, relation, categories, privacy)
    total, published, true_too, worst = F(0), F(0), [F(0)] * categories, F(1)
    for table in product(range(last + 1), repeat=categories):
        ranked = sorted(table)
        if not first <= sum(table) <= last or ranked[-1] - ranked[-2] < lead:
            continue
        chances = rule.row([max(table) - count for count in table])
        largest = [count == max(table) for count in table]
        total += 1
        published += chances[0]
        worst = min(worst, sum(chance for chance, true in zip(chances, largest, strict=True) if true))
        for place, true in enumerate(largest):
            true_too[place] += chances[0] * true
    release = winner_sidecar(name, relation, categories, privacy)
    found = interpret(release, "c0", at_least=first, at_most=last, lead=lead)
    is_read_as(found, true_too[0] / published, worst)
    posterior = found.answers[0].judgement.posterior
    for place in range(categories):
        assert true_too[place] / published in posterior[f"c{place}"]


@pytest.mark.parametrize(("kind", "relation", "name"), WINNERS)
@pytest.mark.parametrize("ratio", ["3/2", "2", "5"])
def test_a_winner_is_as_likely_true_as_bayes_says(kind, relation, name, ratio):
    privacy = Privacy(ratio=ratio)
    for categories, first, last, lead in (
        (2, 0, 7, 0),
        (2, 5, 5, 2),
        (3, 0, 6, 0),
        (3, 6, 6, 0),
        (3, 4, 7, 2),
        (4, 0, 5, 0),
        (4, 5, 5, 1),
        (5, 2, 4, 0),
    ):
        checked_winner(kind, relation, name, categories, privacy, first, last, lead)


@pytest.mark.parametrize(("kind", "relation", "name"), WINNERS)
def test_the_worst_lead_is_that_over_all_others_alike(kind, relation, name):
    for categories, largest in ((2, 12), (3, 8), (4, 6), (5, 5), (6, 4)):
        for ratio in ("3/2", "4", "30"):
            privacy = Privacy(ratio=ratio)
            rule = winner_rule(kind, relation, categories, privacy)
            release = winner_sidecar(name, relation, categories, privacy)
            gaps = [
                others for others in product(range(largest + 1), repeat=categories - 1) if sorted(others) == [*others]
            ]
            rows = {others: rule.row((0, *others)) for others in gaps}
            for lead in (0, 1, 2, 3, 4):
                worst = min(
                    sum(chance for chance, gap in zip(row, (0, *others), strict=True) if gap == 0)
                    for others, row in rows.items()
                    if others[0] >= lead
                )
                (answer,) = interpret(release, "c1", lead=lead).answers
                assert worst in answer.probability and answer.judgement.basis == "worst"
                assert answer.judgement.posterior is None


def test_a_wrong_weight_or_depth_would_be_seen(monkeypatch):
    checked_winner(*WINNERS[0], 3, Privacy(ratio=2), 0, 6, 0)
    with monkeypatch.context() as planted, pytest.raises(AssertionError):
        planted.setattr(_winner_rule, "_in_any_order", lambda rows, copies: copies.tolist())
        checked_winner(*WINNERS[0], 3, Privacy(ratio=2), 0, 6, 0)
    with monkeypatch.context() as planted, pytest.raises(AssertionError):
        planted.setattr(
            LargestCategory, "chances", lambda self, gaps, whole=LargestCategory.chances: whole(self, 2 * gaps)
        )
        checked_winner(*WINNERS[0], 3, Privacy(ratio=2), 0, 6, 0)
    checked_majority(NeighbouringRelation.EXCHANGE, Privacy(ratio=2), 0, 6, 0)
    with monkeypatch.context() as planted, pytest.raises(AssertionError):
        whole = _name_rules.side_of_leads
        planted.setattr(
            _name_rules,
            "side_of_leads",
            lambda *told, furthest: whole(*told, furthest=lambda depth: furthest(depth) + 1),
        )
        checked_majority(NeighbouringRelation.EXCHANGE, Privacy(ratio=2), 0, 6, 0)
    checked_threshold(AtLeast(4, "v"), NeighbouringRelation.EXCHANGE, Privacy(ratio=2), 0, 9, at_most=9)
    with monkeypatch.context() as planted, pytest.raises(AssertionError):
        checked_threshold(AtLeast(5, "v"), NeighbouringRelation.EXCHANGE, Privacy(ratio=2), 0, 9, at_most=8)


def test_what_the_reader_knows_may_decide_it():
    privacy = Privacy(ratio=2)
    cells = DecisionMeasurement(balanced_line(privacy), privacy).to_document()
    release = sidecar({"query": "at-least", "threshold": "4", "expression": "v"}, privacy, "add-remove", cells)
    for name, known, probability in (
        ("yes", {"at_least": 4}, 1),
        ("no", {"at_least": 6}, 0),
        ("no", {"at_most": 3}, 1),
    ):
        (answer,) = interpret(release, name, **known).answers
        assert (answer.probability.lower, answer.probability.upper) == (probability, probability)
        assert answer.judgement.basis == "known"
        assert answer.reading == ("yes" if "at_least" in known else "no")
    # A prior can make what was not said the likelier one.
    (answer,) = interpret(release, "yes", prior=[0, 0, 0, "9/10", "1/10"]).answers
    assert answer.reading == "no" and F(2, 11) in answer.probability and answer.probability.width < NARROW


def test_an_answer_that_cannot_be_wrong_is_true():
    privacy = Privacy(ratio=2)
    cells = DecisionMeasurement(balanced_line(privacy), privacy).to_document()
    alone = sidecar({"query": "at-least", "threshold": "4"}, privacy, "exchange", cells)
    never = sidecar({"query": "at-least", "threshold": "0", "expression": "v"}, privacy, "add-remove", cells)
    for release in (alone, never):
        (answer,) = interpret(release, "yes").answers
        assert answer.probability.lower == 1 and answer.judgement.basis == "certain"
    for release, known in ((alone, {"at_most": 3}), (never, {})):
        with pytest.raises(BadInput, match=r"leaves possible only what this release, which is never wrong"):
            interpret(release, "yes" if known else "no", **known)
    # Groups that records may leave are of records that come and go: nothing is certain there.
    (answer,) = interpret({**alone, "by": ["g"]}, "yes").answers
    assert answer.probability.lower == F(2, 3)
    (answer,) = interpret(winner_sidecar("pull-from-the-top", "exchange", 3, privacy), "c1", at_most=0).answers
    assert answer.probability.lower == 1 and answer.judgement.basis == "certain"
