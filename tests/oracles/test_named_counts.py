"""Counts that name their groups: privacy in fractions for one group, and programs over every other way to do both."""

from fractions import Fraction as F
from itertools import combinations_with_replacement, pairwise, product
from math import prod

import numpy as np
import pytest

from irisdp import BadInput, Privacy
from irisdp._measurements import GroupCountNodes, NoisyCountSelection, PartitionSelection, share_of
from irisdp._measurements.partition_selection import UNNAMED
from irisdp.privacy import step, steps
from support.closeness import hockey_stick
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREE = 1e-7

PAIRS = [
    Privacy(ratio=2, delta="1/10"),
    Privacy(ratio=2, delta="1/7"),
    Privacy(ratio="3/2", delta="1/50"),
    Privacy(ratio=4, delta="1/1000"),
    Privacy(ratio=1, delta="1/6"),
    Privacy.all([Privacy(ratio=3, delta="1/100"), Privacy(ratio=2, delta="1/20")]),
]


def groups(counted, others):
    none = np.zeros(len(counted), dtype=np.int64)
    return GroupCountNodes(np.array(counted), none, None, np.array(others))


def law_of(mechanism, counted, others=0):
    return mechanism.law(groups([counted], [others]), 0, counted)


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
def test_one_record_uses_up_every_pair_and_no_more(privacy):
    mechanism = NoisyCountSelection(privacy)
    laws = [law_of(mechanism, count) for count in range(41)]
    assert laws[0] == {None: 1}
    for pair in privacy.pairs:
        spent = [
            (hockey_stick(more, fewer, pair.ratio), hockey_stick(fewer, more, pair.ratio))
            for fewer, more in pairwise(laws)
        ]
        assert max(max(both) for both in spent) <= pair.delta
        if privacy.single:
            assert spent[0][0] == pair.delta


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
def test_a_group_is_named_as_often_as_by_the_best_selection_alone(privacy):
    """The count comes on top, at no further cost."""
    mechanism, alone = NoisyCountSelection(privacy), PartitionSelection(privacy)
    assert [1 - law_of(mechanism, count)[None] for count in range(30)] == [alone.law(count) for count in range(30)]
    assert mechanism.named_from() == alone.named_from()


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
def test_a_record_of_either_kind_uses_up_no_more(privacy):
    mechanism, most = NoisyCountSelection(privacy, split=True), tried(6, 15)
    laws = {pair: law_of(mechanism, *pair) for pair in product(range(most + 1), repeat=2)}
    assert laws[0, 0] == {None: 1}
    for (counted, others), one in laws.items():
        for neighbour in ((counted + 1, others), (counted, others + 1)):
            other = laws.get(neighbour, one)
            for pair in privacy.pairs:
                assert hockey_stick(one, other, pair.ratio) <= pair.delta
                assert hockey_stick(other, one, pair.ratio) <= pair.delta


@pytest.mark.parametrize("privacy", PAIRS, ids=str)
def test_a_group_in_two_equal_parts_is_named_least_often(privacy):
    mechanism = NoisyCountSelection(privacy, split=True)
    for size in range(tried(9, 20)):
        chances = [1 - law_of(mechanism, part, size - part)[None] for part in range(size + 1)]
        assert min(chances) == chances[size // 2]
        assert mechanism._chance(size) <= chances[size // 2] <= mechanism._chance(size) + F(1, 1 << 38)
    for percent, size in mechanism.named_from().items():
        chances = [1 - law_of(mechanism, n // 2, n - n // 2)[None] for n in (size - 1, size)]
        assert chances[0] <= F(int(percent), 100) <= chances[1]


def losses_of(source, most):
    """A random loss for each count: never falling on either side of it; the first answer says that nothing is named."""
    table = []
    for i in range(most + 1):
        row = [0] * (most + 1)
        for v in range(i - 1, -1, -1):
            row[v] = row[v + 1] + source.choice([0, 1, 1, 2, 5])
        for v in range(i + 1, most + 1):
            row[v] = row[v - 1] + source.choice([0, 1, 1, 2, 5])
        table.append(row)
    return table


def charged(program, first, losses, prior, rows):
    """Charge a table of answers, through the rows of what is read: the mean under a prior, or the worst count."""
    wide = len(losses)
    costs = [
        {first + z * wide + v: row[z] * losses[i][v] for z in range(len(row)) for v in range(wide) if row[z]}
        for i, row in enumerate(rows)
    ]
    if prior is None:
        program.worst(costs)
        return
    for weight, cost in zip(prior, costs, strict=True):
        for column, x in cost.items():
            program.cost[column] = program.cost.get(column, 0.0) + weight * x


def tailored(privacy, losses, prior):
    """The least loss of any private mechanism that never names an empty group."""
    wide, program = len(losses), Program()
    first = program.table(wide, wide)
    program.equal({first: 1}, 1)
    for pair in privacy.pairs:
        program.private(first, wide, [(i, i + 1) for i in range(wide - 1)], float(pair.ratio), float(pair.delta))
    charged(program, first, losses, prior, np.eye(wide))
    return program.minimum()


def read(laws, losses, prior):
    """The least loss of a reading of names and answers that says nothing of what was not named."""
    shown = sorted({answer for law in laws for answer in law if answer is not None})
    rows = [[float(law.get(answer, 0)) for answer in (None, *shown)] for law in laws]
    wide, program = len(losses), Program()
    first = program.table(len(shown) + 1, wide)
    program.equal({first: 1}, 1)
    charged(program, first, losses, prior, rows)
    return program.minimum()


@pytest.mark.parametrize("case", range(tried(24, 300)))
def test_no_other_way_to_name_and_count_serves_any_reader_better(case):
    source = fresh_random(f"named counts {case}")
    privacy = source.choice(PAIRS) if case % 2 else Privacy(ratio=1 + F(source.randint(1, 30), 10), delta=F(1, 12))
    most = source.randint(1, 6)
    losses = losses_of(source, most)
    weights = [source.randint(0, 5) for _ in range(most + 1)]
    prior = None if case % 3 == 0 or not sum(weights) else [weight / sum(weights) for weight in weights]
    best = tailored(privacy, losses, prior)
    laws = [law_of(NoisyCountSelection(privacy), count) for count in range(most + 1)]
    assert read(laws, losses, prior) == pytest.approx(best, abs=AGREE)


def test_rounded_to_whole_numbers_it_would_lose_something():
    """The control: cells matter where δ is not aligned."""
    privacy, worse = PAIRS[1], 0
    mechanism = NoisyCountSelection(privacy)
    for case in range(12):
        source = fresh_random(f"named counts {case}")
        losses, prior = losses_of(source, 4), [1 / 5] * 5
        laws = []
        for count in range(5):
            whole = {}
            for cell, chance in law_of(mechanism, count).items():
                shown = None if cell is None or cell // 3 <= mechanism.last // 3 else cell // 3
                whole[shown] = whole.get(shown, 0) + chance
            laws.append(whole)
        worse += read(laws, losses, prior) > tailored(privacy, losses, prior) + 1e-4
    assert worse > 3


@pytest.mark.parametrize("split", [False, True])
def test_draws_follow_the_law(split):
    mechanism = NoisyCountSelection(Privacy(ratio=2, delta="1/7"), split=split)
    for counted, others in ((0, 0), (1, 0), (3, 1), (0, 4), (7, 2)):
        number = 1 << 16
        drawn = mechanism.draw(groups([counted] * number, [others] * number))
        values, times = np.unique(drawn, return_counts=True)
        found = dict(zip(values.tolist(), (times / number).tolist(), strict=True))
        law = law_of(mechanism, counted, others)
        expected = {UNNAMED if cell is None else cell: float(chance) for cell, chance in law.items()}
        assert found.keys() <= expected.keys()
        for cell, chance in expected.items():
            assert abs(found.get(cell, 0) - chance) < 7 * (chance * (1 - chance) / number) ** 0.5 + 1e-12


def test_what_is_not_named_says_nothing():
    mechanism = NoisyCountSelection(Privacy(epsilon=1, delta="1e-6"))
    drawn = mechanism.draw(groups([0, 1000], [0, 0]))
    assert mechanism.named(drawn).tolist() == [False, True]
    assert drawn[0] == UNNAMED


def test_noise_without_an_end_names_nothing():
    with pytest.raises(BadInput, match="delta: must be above 0"):
        NoisyCountSelection(Privacy(epsilon=1))


@pytest.mark.parametrize("records", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "privacy", [Privacy(ratio=2, delta="1/10"), Privacy(ratio=4, delta="3/10"), Privacy(ratio=1, delta="1/6")], ids=str
)
def test_the_shares_of_several_records_come_to_no_more_than_the_whole(privacy, records):
    share = share_of(privacy, records)
    for start in (F(0), F(1, 20), F(1, 3), F(9, 10)):
        whole = step(start, privacy)
        assert steps(start, records, share) <= whole
        if start == 0 and steps(start, records, share) * (share.ratio + 1) < 1 - share.delta:
            assert steps(start, records, share) > whole * (1 - F(1, 1 << 60))  # nothing is left over in one group


@pytest.mark.parametrize("split", [False, True])
def test_a_person_with_two_records_anywhere_uses_up_no_more(split):
    """Two in one count, one in each of a group's two, and two of two groups: the joint laws as fractions."""
    privacy = Privacy(ratio=4, delta="3/10")
    mechanism = NoisyCountSelection(privacy, split=split, records=2)

    def joint(*pairs):
        laws = [law_of(mechanism, *pair) for pair in pairs]
        return {
            tuple(answers): prod((law[answer] for law, answer in zip(laws, answers, strict=True)), start=F(1))
            for answers in product(*laws)
        }

    kinds = [(1, 0), (0, 1)] if split else [(1, 0)]
    sizes = [(0, 0), (2, 0)] if split else [(0, 0), (1, 0), (2, 0)]
    for base in [((0, 0), (0, 0)), ((2, 0), (0, 1 if split else 0)), *product(sizes, repeat=2)][: tried(2, 9)]:
        before = joint(*base)
        for first, second in combinations_with_replacement([*product(range(2), kinds)], 2):
            after = [list(pair) for pair in base]
            for place, (counted, others) in (first, second):
                after[place][0] += counted
                after[place][1] += others
            law = joint(*after)
            assert hockey_stick(law, before, privacy.ratio) <= privacy.delta
            assert hockey_stick(before, law, privacy.ratio) <= privacy.delta


def test_several_pairs_have_no_share():
    with pytest.raises(BadInput, match="at_most: is above 1"):
        share_of(PAIRS[-1], 2)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("confidence", [F(1, 2), F(19, 20), F(99, 100)], ids=str)
@pytest.mark.parametrize("privacy", PAIRS[1:4], ids=str)
def test_ends_hold_as_often_as_promised_given_that_a_group_is_named(privacy, confidence, split):
    """Whatever its count and, with a condition, however many other records it has: as fractions."""
    mechanism = NoisyCountSelection(privacy, split=split)
    for counted, others in product(range(tried(12, 40)), (0, 1, 3, 9, 40) if split else (0,)):
        law = law_of(mechanism, counted, others)
        law.pop(None)
        cells = list(law)
        columns = mechanism.assurance(cells, [], groups([0], [0]), confidence).columns
        held = sum(
            chance
            for low, high, chance in zip(columns["answer_low"], columns["answer_high"], law.values(), strict=True)
            if low <= counted <= high
        )
        assert held >= confidence * sum(law.values())


def test_ends_that_forget_the_naming_fail_small_groups():
    """The control: as wide as the noise asks for on either side, and no wider."""
    privacy = PAIRS[3]
    mechanism, distance = NoisyCountSelection(privacy), 3
    law = law_of(mechanism, 1)
    law.pop(None)
    assert mechanism.chance_within(distance).lower > F(99, 100)
    shown = mechanism.show(list(law), groups([0], [0]))
    assert sum(p for value, p in zip(shown, law.values(), strict=True) if abs(value - 1) <= distance) == 0


def test_far_above_the_threshold_ends_are_those_of_the_noise():
    mechanism = NoisyCountSelection(Privacy(epsilon=1, delta="1e-6"))
    between = mechanism.assurance([3 * 1000 + 1, 3 * 14 + 1], [], groups([0], [0]), F(19, 20)).columns
    assert (between["answer_low"], between["answer_high"]) == ([997, 1], [1003, 17])
