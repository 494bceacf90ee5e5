"""The proof by exhaustion for batches: the joint law of all answers, for all tiny tables and their neighbours.

Every question of a batch goes the whole way, through the engine, to the nodes that `batch` draws from. The exact joint
law of all answers together is compared with every neighbour's, as fractions, at the one cost that is charged.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from irisdp import Cost, Ledger, Privacy, plan, plan_batch, publish
from irisdp._exact import exp_below
from irisdp._measurements import GaussianNoise
from irisdp._release import batch_noise, batch_plan
from irisdp._release.batch_noise import GaussianCounts, OwnNoise, compose_questions
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import Table
from irisdp.accounting import as_pair, gaussian_dp_mu
from support import exhaustion
from support.closeness import hockey_stick, over_one_denominator
from support.exhaustion import engine_once
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

BUDGET = {"epsilon": "7/10", "delta": "1/10"}
DECLARED = {"by": "g", "groups": "a,b"}
COUNTS = [{"query": "count", "expression": "v = 1"}, {"query": "count"}, {"query": "count", "expression": "v = 0"}]
BATCHES = {
    "counts": COUNTS[:2],  # three would get Gaussian noise, which is multiplied out below
    "weighted counts": [{**COUNTS[0], "weight": 3}, COUNTS[1]],
    "counts by group": [{**COUNTS[0], **DECLARED}, {**COUNTS[1], "by": "g", "groups": "b", "weight": "1/2"}],
    "a count, and yes or no": [
        {**COUNTS[0], **DECLARED},
        {"query": "at-least 1", "expression": "v = 1", "delta": "1/50"},
        {"query": "majority", "expression": "v = 1", "delta": "1/50", "weight": 2},
    ],
    "majority by group": [{"query": "majority", "expression": "v = 1", "delta": "1/100", **DECLARED}, COUNTS[0]],
    "selected groups": [
        {**COUNTS[0], "by": "g", "select_groups": True, "delta": "1/50"},
        {"query": "at-most 1", "expression": "v = 1", "weight": 3},
    ],
    "two histograms": [{"query": "histogram v", "bins": "1"}, {"query": "histogram v", "bins": "0", "weight": 2}],
    "one name for two expressions": [
        {**COUNTS[0], "by": "h = COALESCE(g, 'none')", "groups": "a,none"},
        {"query": "at-least 1", "delta": "1/50", "by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": "low"},
    ],
    "expressions after a count": [COUNTS[0], {**COUNTS[1], "by": "h = COALESCE(g, 'none')", "groups": "none,a"}],
}
PUBLIC = {
    "public membership": [
        {**COUNTS[0], **DECLARED, "public_membership": True},
        {"query": "at-least 1", "expression": "v = 1", "delta": "1/50", **DECLARED, "public_membership": True},
    ],
    "of one of two expressions": [
        {**COUNTS[0], "by": "h = CASE WHEN v < 1 THEN 'low' ELSE 'high' END", "groups": "low,high"},
        {**COUNTS[0], "by": "h = COALESCE(g, 'high')", "groups": "a,high", "public_membership": True},
    ],
}


def with_relations(names):
    """Return each name with both relations, or where a part is tried with one of them, by turns."""
    every = list(product(names, ("add-remove", "exchange")))
    return tried([pair for place, pair in enumerate(every) if place % 4 in (0, 3)], every)


def planned(questions, **options):
    return plan_batch({"budget": BUDGET, "questions": questions, **options}, data=exhaustion.frame(()))


def least(chance):
    return getattr(chance, "lower", chance)


def most(chance):
    return getattr(chance, "upper", chance)


def joint(batch, table, key=exhaustion.LOTS[0]):
    """The law of everything that a batch prints about a table: its plan was made without a record of it.

    Twice the exact law, as integers over one denominator; or where counts have Gaussian noise, both ends of each
    enclosed probability.
    """
    enclosed = "gaussian" in batch.composition.noise
    # In one source, of which each question derives its own columns: as the plan of the batch has them.
    own = [replace(one, table=exhaustion.opened(table).deriving(one.table.derived)) for one in batch.plans]
    read = [(one, read_statistics(one, key)) for one in own]
    laws = []
    for end in (least, most) if enclosed else (most,):
        law, whole = {(): 1}, 1
        for one, cells in read:  # over one denominator, as products of integers are fast
            found, denominator = over_one_denominator(exhaustion.joint_law(one, cells, end))
            law = {(*seen, shown): p * q for seen, p in law.items() for shown, q in found.items()}
            whole *= denominator
        total = Fraction(sum(law.values()), whole)
        assert total == 1 or (abs(total - 1) < Fraction(1, 10**20) and enclosed)
        laws.append((law, whole))
    return laws[0], laws[-1]


def excesses(batch, pairs, key=exhaustion.LOTS[0]):
    """Yield how far beyond the charge the laws of neighbours are apart, never less than they are."""
    laws, worst, numbers, ratio = {}, {}, {}, exp_below(batch.cost.epsilon)  # tables of one law have one number
    for pair in pairs:
        for table in pair:
            if table not in laws:
                found = joint(batch, table, key)
                told = tuple((frozenset(law.items()), whole) for law, whole in found)
                laws[table] = numbers.setdefault(told, len(numbers)), found
        (one, (first, first_most)), (other, (second, second_most)) = (laws[table] for table in pair)
        if (one, other) not in worst:
            apart = hockey_stick(first_most, second, ratio), hockey_stick(second_most, first, ratio)
            worst[one, other] = max(apart) - batch.cost.delta
        yield worst[one, other]


def small_first(pairs):
    return sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair)))


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("name", BATCHES)
def test_no_neighbours_can_be_told_apart_by_a_batch(name, relation):
    batch = planned(BATCHES[name], relation=relation)
    found = list(excesses(batch, exhaustion.neighbours(relation, "any")))
    assert len(found) > 100
    assert max(found) <= 0


@pytest.mark.parametrize("name", PUBLIC)
def test_no_neighbours_can_be_told_apart_where_membership_is_public(name):
    batch = planned(PUBLIC[name], relation="exchange")
    found = list(excesses(batch, exhaustion.neighbours("exchange", "public")))
    assert len(found) > 100
    assert max(found) <= 0


@pytest.mark.parametrize(
    ("name", "relation"),
    with_relations(["counts by group", "a count, and yes or no", "selected groups", "two histograms"]),
)
def test_no_person_can_be_told_apart_by_a_batch(name, relation):
    questions = [{**question, "at_most": 1} for question in BATCHES[name]]
    batch = planned(questions, relation=relation, unit="u")
    found = list(excesses(batch, exhaustion.personal_neighbours(relation), exhaustion.LOTS[1]))
    assert len(found) > 100
    assert max(found) <= 0


def test_counts_use_up_what_they_are_charged():
    """Otherwise the comparison could pass because noise is wasted."""
    batch = planned([COUNTS[0], COUNTS[1]])
    assert batch.composition.exact
    assert batch.cost.delta == Fraction(1, 10)
    assert -Fraction(1, 1000) < max(excesses(batch, exhaustion.neighbours("add-remove", "any"))) <= 0


# Gaussian noise, whose probabilities are enclosed: the ends are taken such that laws are never less apart.

LARGE = Cost(4, "1/10")
GAUSSIAN = {
    "all counts": ([COUNTS[0], COUNTS[1]], (GaussianCounts(), GaussianCounts())),
    "by group": ([{**COUNTS[1], **DECLARED}], (GaussianCounts(),)),
    "beside geometric noise": ([{**COUNTS[0], **DECLARED}, {**COUNTS[1], "weight": 2}], (GaussianCounts(), OwnNoise())),
    "beside yes or no": (
        [{**COUNTS[0], "by": "g", "select_groups": True, "delta": "1/50"}, {"query": "at-most 1", "weight": 2}],
        (GaussianCounts(), OwnNoise()),
    ),
}


def with_gaussian_noise(name, relation):
    """Plan a batch with noise of these kinds alone."""
    questions, kinds = GAUSSIAN[name]
    asked = {"budget": {"epsilon": 4, "delta": "1/10"}, "questions": questions, "relation": relation}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_plan, "compose_questions", lambda *given: compose_questions(*given, [kinds]))
        batch = plan_batch(asked, data=exhaustion.frame(()))
    assert batch.composition.kinds == kinds
    return batch


planned_once = cache(with_gaussian_noise)


@pytest.fixture
def each_law_once(monkeypatch):
    """Let the law of a Gaussian count be enclosed once for each value and what is public about it."""
    real, known = GaussianNoise.law, {}

    def once(mechanism, nodes, cell, largest):
        key = mechanism, int(nodes.values[cell]), str(mechanism.ends(nodes.alone(cell))), largest
        if key not in known:
            known[key] = real(mechanism, nodes, cell, largest)
        return known[key]

    monkeypatch.setattr(GaussianNoise, "law", once)


def of_two_records(relation):
    """Neighbours of at most two records: what lies beyond is the same but for where counts are cut."""
    return [pair for pair in small_first(exhaustion.neighbours(relation, "any")) if max(map(len, pair)) <= 2]


@pytest.mark.usefixtures("each_law_once")
@pytest.mark.parametrize(("name", "relation"), with_relations(GAUSSIAN))
def test_no_neighbours_can_be_told_apart_by_gaussian_counts(name, relation):
    batch = planned_once(name, relation)
    assert "gaussian" in batch.composition.noise
    assert batch.cost == LARGE
    found = list(excesses(batch, of_two_records(relation)))
    assert len(found) > 40
    assert max(found) <= 0
    if (name, relation) == ("all counts", "add-remove"):  # else the comparison could pass because noise is wasted
        assert max(found) > -Fraction(1, 20)


@pytest.mark.usefixtures("each_law_once")
@pytest.mark.parametrize("name", ["all counts", "beside geometric noise"])
def test_gaussian_noise_that_is_too_small_is_caught(name):
    batch = at_a_scale(planned_once(name, "add-remove"), Fraction(3, 2))
    assert any(excess > 0 for excess in excesses(batch, of_two_records("add-remove")))


@pytest.mark.usefixtures("each_law_once")
def test_a_gaussian_cell_that_is_left_out_is_caught(monkeypatch):
    real = batch_noise.independent_parts
    monkeypatch.setattr(batch_noise, "independent_parts", lambda *given, **more: real(*given, **more)[:1])
    batch = with_gaussian_noise("by group", "exchange")
    assert any(excess > 0 for excess in excesses(batch, of_two_records("exchange")))


# Planted bugs, which the same comparison has to catch.


def at_a_scale(batch, times):
    """The same batch, charged the same, with a scale so many times as large."""
    found = batch.composition
    shares = [question.weight * found.scale * times for question in batch.asked.questions]
    kept = zip(found.kinds, found.plans, shares, strict=True)
    plans = tuple(kind.at(one, share) for kind, one, share in kept)
    return replace(batch, composition=replace(found, plans=plans))


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("name", BATCHES)
def test_a_scale_twice_too_large_is_caught(name, relation):
    batch = at_a_scale(planned(BATCHES[name], relation=relation), 2)
    assert any(excess > 0 for excess in excesses(batch, small_first(exhaustion.neighbours(relation, "any"))))


def test_a_scale_a_little_too_large_is_caught():
    batch = at_a_scale(planned([COUNTS[0], COUNTS[1]]), Fraction(101, 100))
    assert any(excess > 0 for excess in excesses(batch, small_first(exhaustion.neighbours("add-remove", "any"))))


def statistics_of(questions, **options):
    """What each question of a batch is drawn from, and what it is drawn from when it is asked alone."""
    alone = [planned([question], **options).plans[0] for question in questions]
    for pair, table in product(
        zip(planned(questions, **options).plans, alone, strict=True), exhaustion.tables(exhaustion.RECORDS, 3)
    ):
        own = [replace(one, table=exhaustion.opened(table).deriving(one.table.derived)) for one in pair]
        yield tuple(exhaustion.cells_read(read_statistics(one, exhaustion.LOTS[0])) for one in own)


@pytest.mark.parametrize("name", [*BATCHES, *PUBLIC])
def test_a_question_is_drawn_from_what_it_is_drawn_from_alone(name):
    options = {"relation": "exchange"} if name in PUBLIC else {}
    found = list(statistics_of({**BATCHES, **PUBLIC}[name], **options))
    assert len(found) > 100
    assert all(together == alone for together, alone in found)


@pytest.fixture
def groups_of_the_first(monkeypatch):
    """Planted, and once true: every question of a batch reads the table of the first, with the groups that it names."""
    monkeypatch.setattr(Table, "read_with", lambda table, other: other)


@pytest.mark.usefixtures("groups_of_the_first")
@pytest.mark.parametrize("name", ["two histograms", "one name for two expressions"])
def test_groups_of_another_question_are_caught(name):
    assert any(together != alone for together, alone in statistics_of(BATCHES[name]))


@pytest.mark.usefixtures("groups_of_the_first")
def test_groups_that_another_question_makes_public_are_caught():
    batch = planned(PUBLIC["of one of two expressions"], relation="exchange")
    assert any(excess > 0 for excess in excesses(batch, small_first(exhaustion.neighbours("exchange", "public"))))


def test_a_cell_that_is_left_out_of_the_total_is_caught(monkeypatch):
    real = batch_noise.independent_parts
    monkeypatch.setattr(
        batch_noise, "independent_parts", lambda *given, **more: [(part, 1) for part, _ in real(*given, **more)]
    )
    batch = planned([{**COUNTS[0], **DECLARED}, {**COUNTS[1], **DECLARED}], relation="exchange")
    assert any(excess > 0 for excess in excesses(batch, small_first(exhaustion.neighbours("exchange", "any"))))


def test_two_steps_taken_for_one_are_caught(monkeypatch):
    real = batch_noise.independent_parts

    def one_step(privacy, relation, *, exchange_steps, **more):
        return real(Privacy(epsilon=privacy.epsilon), relation, exchange_steps=1, **more)[:1]

    monkeypatch.setattr(batch_noise, "independent_parts", one_step)
    monkeypatch.setattr("irisdp._queries.majority.Majority.exchange_steps", 1)
    majority = {"query": "majority", "expression": "v = 1", "by": "g", "groups": "b"}
    batch = planned([majority, {**COUNTS[0], "by": "g", "groups": "b"}], relation="exchange")
    ends = small_first(exhaustion.neighbours("exchange", "any"))
    assert any(excess > 0 for excess in excesses(at_a_scale(batch, Fraction(3, 2)), ends))


def test_a_selection_left_out_of_the_total_is_caught(monkeypatch):
    real = batch_noise.independent_parts
    monkeypatch.setattr(
        batch_noise, "independent_parts", lambda *given, selection, **more: real(*given, selection=None, **more)
    )
    monkeypatch.setattr("irisdp._release.plans.total_cost", without_selection)
    selected = {**COUNTS[0], "by": "g", "select_groups": True, "delta": "9/100", "weight": "1/10"}
    batch = planned([selected, COUNTS[1]], relation="add-remove")
    assert any(excess > 0 for excess in excesses(batch, small_first(exhaustion.neighbours("add-remove", "any"))))


def without_selection(*given, selection, **more):
    from irisdp._queries import total_cost

    return total_cost(*given, selection=None, **more)


# The proof by exhaustion for ledgers in μ and ρ: what all releases show together, against what the ledger says.
#
# Several questions are published into one ledger, under Gaussian privacy, several pairs and a single ε. Every tiny
# table then goes the whole way to the laws that they were drawn from; the joint law of all answers is compared with
# every neighbour's at several points of the curve that the ledger states at its end.

TWO_PAIRS = {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/50"}]}
RELEASES = {
    "counts": [
        (("count", "v = 1"), {"mu": 3}),
        (("count",), {"mu": "5/2"}),
        (("at-least", 1, "v = 1"), {"epsilon": "1/2"}),
    ],
    "two pairs": [(("count", "v = 1"), {"privacy": TWO_PAIRS}), (("majority", "v = 1"), {"mu": 1})],
    "by group": [(("count", "v = 1"), {"mu": 3, "by": "g", "groups": ["a", "b"]})],
    "asked twice": [(("count", "v = 1"), {"epsilon": 1}), (("count", "v = 1"), {"epsilon": 2})],
}
POINTS = ("1e-3", "1/20", "1/3")


def spent(releases, relation, currency, folder):
    """What a ledger says after it was charged for all of them, about a table that nobody is compared with."""
    ledger = Ledger(folder / f"{currency}.ledger")
    ledger.set_limit(**{currency: 100})
    for query, options in releases:
        publish(exhaustion.frame((("a", 1),)), *query, **options, relation=relation, ledger=ledger)
    return ledger.spent


def together(plans, table):
    """The joint law of all answers about a table: in such ledgers each release is drawn afresh."""
    law, whole = {(): 1}, 1
    for planned in plans:  # over one denominator, as products of integers are fast
        cells = read_statistics(replace(planned, table=exhaustion.opened(table)), exhaustion.LOTS[0])
        found, denominator = over_one_denominator(exhaustion.joint_law(planned, cells))
        law = {(*seen, shown): p * q for seen, p in law.items() for shown, q in found.items()}
        whole *= denominator
    return law, whole


def excesses_of_ledgers(releases, relation, *statements):
    """Yield how far beyond a statement, a cost in ε and δ at each point, the laws of neighbours are apart."""
    points = [
        (exp_below(as_pair(statement, delta).epsilon), Fraction(delta)) for statement in statements for delta in POINTS
    ]
    # Plans are the same for every table, as a test of `test_end_to_end_privacy.py` compares.
    plans = [plan(exhaustion.frame(()), *query, **options, relation=relation) for query, options in releases]
    laws, numbers, seen = {}, {}, set()  # tables of one law have one number
    for pair in sorted(
        exhaustion.neighbours(relation, "any"), key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair))
    ):
        for table in pair:
            if table not in laws:
                law, whole = together(plans, table)
                laws[table] = numbers.setdefault((frozenset(law.items()), whole), len(numbers)), (law, whole)
        (one, first), (other, second) = (laws[table] for table in pair)
        if (one, other) not in seen:
            seen.add((one, other))
            yield max(exhaustion.worst_delta(first, second, ratio) - delta for ratio, delta in points)


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        (name, relation)
        for place, name in enumerate(RELEASES)
        for relation in tried([("add-remove", "exchange")[place % 2]], ["add-remove", "exchange"])
    ],
)
def test_no_neighbours_can_be_told_apart_beyond_what_a_ledger_states(name, relation, tmp_path):
    statements = [spent(RELEASES[name], relation, currency, tmp_path) for currency in ("mu", "rho")]
    found = list(excesses_of_ledgers(RELEASES[name], relation, *statements))
    assert len(found) >= tried(6, 8)
    assert max(found) <= exhaustion.NEAR


# Planted bugs, which the same comparison has to catch.


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("name", RELEASES)
def test_a_statement_of_half_of_what_was_spent_is_caught(name, relation, tmp_path):
    statement = spent(RELEASES[name], relation, "mu", tmp_path)
    halved = type(statement)(statement.mu_squared / 4)
    assert any(excess > 0 for excess in excesses_of_ledgers(RELEASES[name], relation, halved))


def test_a_second_cell_that_is_left_out_is_caught(tmp_path, monkeypatch):
    real = gaussian_dp_mu
    monkeypatch.setattr("irisdp.accounting._currencies.gaussian_dp_mu", lambda kept: real(kept) * Fraction(5, 8))
    statement = spent(RELEASES["by group"], "exchange", "mu", tmp_path)
    assert any(excess > 0 for excess in excesses_of_ledgers(RELEASES["by group"], "exchange", statement))
