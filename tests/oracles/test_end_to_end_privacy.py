"""The proof by exhaustion: for every table of at most four records, and every neighbour, what `publish` would print.

Each table goes the whole way, through the engine, to the nodes that `publish` draws from; the exact joint law of all
that would be shown (which groups are named, and every answer) is multiplied out and compared with every neighbour's, as
fractions, at the cost that the ledger would be charged. This test outranks the rest.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

from irisdp.cells import ClassNodes, CountNodes, GeometricNoise, PartitionSelection
from irisdp.errors import BadInput
from irisdp.exact import exp_below
from irisdp.queries import QUERIES, AtLeast, Count, Statistics, frames, groups, statistics
from irisdp.queries import query as queries_query
from irisdp.queries.engine import locked_connection
from irisdp.release import plan, publishing, read_cells

MOST = 4
GROUPS = ("a", "b")
RECORDS = [(None, 1), ("a", None), ("a", 0), ("a", 1), ("b", 0), ("b", 1)]
PERSONAL = [(None, "a", 1), *product((1, 2), GROUPS, (0, 1))]
RATIO, DELTA = Fraction(2), Fraction(1, 10)
LOTS = [bytes([number]) * 32 for number in range(3)]
"""Keys by which a person's record is chosen: privacy holds for each."""

ASKED = {
    "count": ("count",),
    "count-where": ("count", "v = 1"),
    "at-least-0": ("at-least", 0, "v = 1"),
    "at-least-1": ("at-least", 1, "v = 1"),
    "at-least-2-all": ("at-least", 2),
    "at-least-3": ("at-least", 3, "v = 1"),
    "at-most-0": ("at-most", 0, "v = 1"),
    "at-most-1": ("at-most", 1, "v = 1"),
    "at-most-2-all": ("at-most", 2),
    "majority": ("majority", "v = 1"),
}
MODES = {
    "whole": {},
    "declared": {"by": "g", "groups": ["a", "b"]},
    "one-declared": {"by": "g", "groups": ["b"]},
    "selected": {"by": "g", "select_groups": True, "selection_delta": DELTA},
    "public": {"by": "g", "groups": ["a", "b"], "public_membership": True},
}


def tables(records, most=MOST):
    """Every multiset of at most `most` records, smallest first."""
    return [table for size in range(most + 1) for table in combinations_with_replacement(records, size)]


def canonical(records, domain):
    return tuple(sorted(records, key=domain.index))


def neighbours(relation, mode):
    """Pairs of tables that one record tells apart."""
    found = set()
    for table in tables(RECORDS):
        if relation == "add-remove":
            if len(table) < MOST:
                found |= {(table, canonical((*table, record), RECORDS)) for record in RECORDS}
            continue
        for place, old in enumerate(table):
            rest = table[:place] + table[place + 1 :]
            for new in RECORDS:
                if new != old and (mode != "public" or new[0] == old[0]):
                    found.add((table, canonical((*rest, new), RECORDS)))
    return found


def personal_neighbours(relation):
    """Pairs of tables that one person tells apart, whatever that person's records."""
    without = defaultdict(list)
    for table in tables(PERSONAL, 3):
        for person in (1, 2):
            rest = tuple(record for record in table if record[0] != person)
            without[person, rest].append(table)
    found = set()
    for (_, rest), group in without.items():
        full = [table for table in group if table != rest]
        found |= {(rest, table) for table in full} if relation == "add-remove" else set(product(full, full))
    return found


def frame(table):
    if table and len(table[0]) == 3:
        people, groups, values = zip(*table, strict=True)
    else:
        groups, values = zip(*table, strict=True) if table else ((), ())
        people = [None] * len(table)
    return pa.table(
        {"u": pa.array(people, pa.int64()), "g": pa.array(groups, pa.string()), "v": pa.array(values, pa.int64())}
    )


_counted = {}


class SharedEngine:
    """One engine, as the library opens and locks it, kept for many tables: opening it takes longer than they do."""

    def __init__(self):
        self._connection = None

    def __call__(self, *arguments):
        assert not arguments  # no file is read here
        self._connection = self._connection or locked_connection()
        return self

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def close(self):
        pass


_engine = SharedEngine()


@pytest.fixture
def engine_once(monkeypatch):
    """Let the engine count each table once per condition, groups and unit; everything else runs every time."""
    monkeypatch.setattr(frames, "locked_connection", _engine)
    monkeypatch.setattr(groups, "locked_connection", _engine)

    def remember(room, name):
        real = getattr(room, name)

        def once(table, *arguments, **options):
            texts = {key: told(value) for key, value in options.items()}
            key = (name, frozen(table), str(arguments), str(texts))
            if key not in _counted:
                _counted[key] = real(table, *arguments, **options)
            return _counted[key]

        monkeypatch.setattr(room, name, once)

    def told(value):
        if hasattr(value, "per_unit"):
            return value.column, value.key, value.per_unit
        if hasattr(value, "arrow"):
            return value.arrow().to_pylist()
        return getattr(value, "text", value)

    def frozen(table):
        return str(table._source.table.to_pylist())

    remember(queries_query, "count_records")
    remember(publishing, "enumerate_keys")


def joint_law(planned, cells):
    """The exact law of everything printed: a mapping from what is shown, sidecar first, to probabilities."""
    mechanism = planned.audiences[0].mechanism
    # A count is lumped beyond 0 and MOST, where ratios are constant.
    laws = [mechanism.law(cells.nodes, cell, MOST) for cell in range(len(cells.nodes))]
    if planned.selector is not None:
        named = [label[0] for label in cells.keys.select(np.ones(len(laws), dtype=bool)).labels]
        chances = [planned.selector.law(int(size)) for size in cells.keys.counts]
        laws = [
            {None: 1 - chance} | {(name, answer): chance * p for answer, p in law.items()}
            for name, chance, law in zip(named, chances, laws, strict=True)
        ]
    # The sidecar is printed too: what it says of the ends must be the same for all neighbours.
    joint = {(str(mechanism.ends(cells.nodes)),): Fraction(1)}
    for law in laws:
        joint = {(*seen, answer): p * q for seen, p in joint.items() for answer, q in law.items() if q}
    shown = Counter()
    for seen, probability in joint.items():
        shown[tuple(part for part in seen if part is not None)] += probability
    return shown


def worst_delta(first, second, ratio):
    """The larger of both hockey-stick sums, written out anew: no code of the library."""
    there = sum((max(Fraction(0), p - ratio * second.get(o, 0)) for o, p in first.items()), Fraction(0))
    back = sum((max(Fraction(0), q - ratio * first.get(o, 0)) for o, q in second.items()), Fraction(0))
    return max(there, back)


def violations(query, options, pairs, key=LOTS[0]):
    """Count neighbouring tables whose laws are not close at the cost charged; also return how many were compared."""
    laws, worst, compared = {}, {}, 0
    wrong = 0
    for pair in pairs:
        for table in pair:
            if table not in laws:
                planned = plan(frame(table), *ASKED[query], ratio=RATIO, **options)
                law = joint_law(planned, read_cells(planned, key))
                assert sum(law.values()) == 1
                laws[table] = frozenset(law.items())
        first, second = (laws[table] for table in pair)
        if (first, second) not in worst:
            ratio = exp_below(planned.cost.epsilon)
            worst[first, second] = worst_delta(dict(first), dict(second), ratio) - planned.cost.delta
        compared += 1
        wrong += worst[first, second] > 0
    return wrong, compared


def combinations():
    for query, mode, relation, delta in product(ASKED, MODES, ("add-remove", "exchange"), (Fraction(0), DELTA)):
        if mode == "public" and relation == "add-remove":
            continue
        if delta and query.startswith("count"):
            continue
        yield pytest.param(query, mode, relation, delta, id=f"{query}-{mode}-{relation}-{float(delta)}")


@pytest.fixture(scope="module")
def pairs():
    return {
        (relation, kind): neighbours(relation, kind)
        for relation, kind in (("add-remove", "any"), ("exchange", "any"), ("exchange", "public"))
    }


def test_every_query_is_in_the_proof():
    assert {words[0] for words in ASKED.values()} == set(QUERIES)


@pytest.mark.parametrize(("query", "mode", "relation", "delta"), list(combinations()))
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart(query, mode, relation, delta, pairs):
    options = {**MODES[mode], "relation": relation, "delta": delta}
    wrong, compared = violations(query, options, pairs[relation, "public" if mode == "public" else "any"])
    assert compared > 300
    assert wrong == 0


@pytest.mark.parametrize("key", range(2))
@pytest.mark.parametrize("mode", ["whole", "declared", "one-declared", "selected"])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("query", ["count-where", "at-least-2-all", "majority"])
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart(query, mode, relation, key):
    options = {**MODES[mode], "relation": relation, "unit": "u", "delta": 0 if query.startswith("count") else DELTA}
    wrong, compared = violations(query, options, personal_neighbours(relation), LOTS[key])
    assert compared > 100
    assert wrong == 0


@pytest.mark.parametrize("per_unit", ["any", "all"])
@pytest.mark.parametrize("mode", ["whole", "declared", "selected"])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("query", ["count-where", "at-least-1", "majority"])
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart_by_any_or_all_of_its_records(query, mode, relation, per_unit):
    delta = 0 if query.startswith("count") else DELTA
    options = {**MODES[mode], "relation": relation, "unit": "u", "per_unit": per_unit, "delta": delta}
    wrong, compared = violations(query, options, personal_neighbours(relation), LOTS[1])
    assert compared > 100
    assert wrong == 0


# Negative controls: each planted bug must be caught by the same comparison.


@pytest.mark.usefixtures("engine_once")
def test_a_depth_off_by_one_is_caught(pairs, monkeypatch):
    real = AtLeast.nodes

    def off_by_one(self, statistics, relation):
        nodes = real(self, statistics, relation)
        return ClassNodes(nodes.classes, nodes.true_class, np.where(nodes.depth >= 0, nodes.depth + 1, nodes.depth))

    monkeypatch.setattr(AtLeast, "nodes", off_by_one)
    wrong, _ = violations("at-least-1", {"relation": "add-remove"}, pairs["add-remove", "any"])
    assert wrong > 0


@pytest.mark.usefixtures("engine_once")
def test_groups_read_off_the_data_are_caught(pairs, monkeypatch):
    monkeypatch.setattr(PartitionSelection, "law", lambda self, size: Fraction(1))
    wrong, _ = violations("count", {**MODES["selected"], "relation": "add-remove"}, pairs["add-remove", "any"])
    assert wrong > 0


@pytest.mark.usefixtures("engine_once")
def test_a_count_that_moves_by_two_is_caught(pairs, monkeypatch):
    real = Count.nodes

    def doubled(self, statistics, relation):
        nodes = real(self, statistics, relation)
        return CountNodes(np.minimum(2 * nodes.values, MOST), nodes.lower, nodes.upper)

    monkeypatch.setattr(Count, "nodes", doubled)
    wrong, _ = violations("count-where", {"relation": "add-remove"}, pairs["add-remove", "any"])
    assert wrong > 0


@pytest.mark.usefixtures("engine_once")
def test_forgetting_the_unit_is_caught():
    wrong, _ = violations("count", {"relation": "add-remove"}, personal_neighbours("add-remove"))
    assert wrong > 0


@pytest.mark.usefixtures("engine_once")
def test_charging_an_exchange_once_is_caught():
    options = {**MODES["declared"], "relation": "exchange"}
    planned = plan(frame(()), *ASKED["count"], ratio=RATIO, **options)
    first, second = frame((("a", 1),)), frame((("b", 1),))
    laws = []
    for table in (first, second):
        asked = plan(table, *ASKED["count"], ratio=RATIO, **options)
        laws.append(joint_law(asked, read_cells(asked, LOTS[0])))
    assert worst_delta(*laws, exp_below(planned.cost.epsilon)) == 0
    assert worst_delta(*laws, exp_below(planned.cost.epsilon / 2)) > 0


def test_a_person_in_several_groups_has_no_public_membership():
    with pytest.raises(BadInput, match="public_membership"):
        plan(
            frame(()), "count", "v = 1", by="g", groups="a,b", epsilon=1, unit="u", relation="exchange",
            public_membership=True,
        )  # fmt: skip


def test_statistics_show_nothing():
    assert "7" not in repr(Statistics(*(np.array([7]),) * 3))


@pytest.mark.usefixtures("engine_once")
def test_a_sidecar_that_depends_on_the_data_is_caught(pairs, monkeypatch):
    monkeypatch.setattr(GeometricNoise, "ends", lambda self, nodes: {"upper": int(nodes.values.max())})
    wrong, _ = violations("count-where", {"relation": "exchange"}, pairs["exchange", "any"])
    assert wrong > 0


def rewritten(monkeypatch, old, new):
    """Plant a bug in the statement that chooses a person's record."""
    real = statistics.records_statement

    def planted(*arguments):
        statement = real(*arguments)
        assert old in statement
        return statement.replace(old, new)

    monkeypatch.setattr(statistics, "records_statement", planted)
    _counted.clear()


@pytest.fixture
def forget():
    yield
    _counted.clear()


@pytest.mark.usefixtures("engine_once", "forget")
def test_an_order_that_depends_on_other_peoples_records_is_caught(monkeypatch):
    rewritten(monkeypatch, "SHA256(CONCAT(", "SHA256(CONCAT(CAST((SELECT COUNT(*) FROM data) AS VARCHAR), ")
    options = {**MODES["declared"], "relation": "add-remove", "unit": "u"}
    wrong = sum(violations("count-where", options, personal_neighbours("add-remove"), key)[0] for key in LOTS)
    assert wrong > 0


@pytest.mark.usefixtures("engine_once", "forget")
@pytest.mark.parametrize("per_unit", [None, "any", "all"])
def test_a_person_who_counts_in_every_group_is_caught(monkeypatch, per_unit):
    rewritten(monkeypatch, "FROM different GROUP BY person)", "FROM different GROUP BY person, k0)")
    options = {**MODES["declared"], "relation": "add-remove", "unit": "u", "per_unit": per_unit}
    wrong, _ = violations("count-where", options, personal_neighbours("add-remove"))
    assert wrong > 0


@pytest.mark.usefixtures("engine_once", "forget")
def test_any_of_everybodys_records_is_caught(monkeypatch):
    everybody = "(SELECT BOOL_OR(answer) FROM different)"
    rewritten(monkeypatch, "kept.answer AS answer", f"{everybody} AS answer")
    options = {**MODES["declared"], "relation": "add-remove", "unit": "u", "per_unit": "any"}
    wrong, _ = violations("count-where", options, personal_neighbours("add-remove"))
    assert wrong > 0
