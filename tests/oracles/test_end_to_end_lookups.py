"""The proof by exhaustion for questions about columns that a lookup joins, and what they are by a join in Python."""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from irisdp import plan
from irisdp._queries import PerUnitRule
from irisdp._release.pipeline import read_statistics
from irisdp._tables import lookups
from support import exhaustion
from support.exhaustion import (
    ASKED,
    CHOSEN,
    DELTA,
    LOTS,
    assert_private,
    caught,
    engine_once,
    forget_counts,
    frame,
    neighbours,
    personal_neighbours,
)
from support.sweeps import tried

__all__ = ["engine_once"]

RELATIONS = ("add-remove", "exchange")
AREAS = {"a": ("north", 1), "c": ("south", 0)}
"""The group b has no match, and no record is in c."""
LOOKUP = pa.table(
    {"g": list(AREAS), "area": [area for area, _ in AREAS.values()], "w": [number for _, number in AREAS.values()]}
)
JOINED = {"lookup": LOOKUP, "on": "g"}
BOUNDS = {"lower": 0, "upper": 1}
QUESTIONS = {
    "count-area": (("count", "area = 'north'"), {}),
    "count-unmatched": (("count", "area IS NULL AND v = 1"), {}),
    "majority-of-both": (("majority", "w = v"), {}),
    "plurality-area": (("plurality", "area"), {"categories": ["north", "south"]}),
    "histogram-w": (("histogram", "w"), {"bins": "1"}),
    "median-of-both": (("median", "x = COALESCE(w, 2) - v"), {"bins": "0,1"}),
    "sum-w": (("sum", "w"), BOUNDS),
    "mean-w": (("mean", "w", "v = 1"), BOUNDS),
    "distinct-area": (("count-distinct", "area"), {}),
    "sizes-area": (("sizes", 1, "area"), {}),
}
GROUPED = {
    "by-area": {"by": "area", "groups": ["south", "north"]},
    "by-expression": {"by": "known = COALESCE(area, g)", "groups": ["north", "b"]},
    "selected": {"by": "area", "select_groups": True, "selection_delta": DELTA, "delta": DELTA},
}
COUNTED = ("count-area", "count-unmatched")


@pytest.fixture(autouse=True)
def fresh(engine_once, monkeypatch):
    for name, (words, chosen) in QUESTIONS.items():
        monkeypatch.setitem(ASKED, name, words)
        monkeypatch.setitem(CHOSEN, name, chosen)
    yield
    forget_counts()


def options_of(name, relation):
    bounded = name.startswith(("sum", "mean"))
    options = {**JOINED, "relation": relation, "ratio": 4 if bounded else 2}
    return options if bounded or name.startswith("histogram") else {**options, "delta": DELTA}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_neighbours_can_be_told_apart(name, relation):
    assert_private(name, options_of(name, relation), neighbours(relation, "any"), more_than=100)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("mode", GROUPED)
def test_no_neighbours_can_be_told_apart_by_groups_of_a_lookup(mode, relation):
    options = {**JOINED, **GROUPED[mode], "relation": relation}
    assert_private("count-where", options, neighbours(relation, "any"), more_than=100)


def test_no_neighbours_can_be_told_apart_where_membership_is_public():
    """Who keeps the key keeps the group that follows from it."""
    options = {**JOINED, **GROUPED["by-area"], "relation": "exchange", "public_membership": True}
    assert_private("count-where", options, neighbours("exchange", "public"), more_than=15)


@pytest.mark.parametrize("rule", ["kept", "any", "derived"])
def test_no_person_can_be_told_apart(rule, monkeypatch):
    options = {**JOINED, "unit": "u", **({"at_most": 1} if rule == "kept" else {"per_unit": rule})}
    if rule == "derived":
        monkeypatch.setitem(ASKED, "count-area", ("count", "most > 0"))
        options = {**JOINED, "unit": "u", "person": "most = SUM(w) FILTER (WHERE area IS NOT NULL)"}
    for relation in RELATIONS:
        few = {pair for pair in personal_neighbours(relation) if max(map(len, pair)) <= tried(2, 3)}
        assert_private("count-area", {**options, "relation": relation}, few, LOTS[1], more_than=30)


def test_no_exchange_of_one_record_in_order_can_be_told_apart():
    tables = list(product(exhaustion.RECORDS, repeat=2))
    asked = {**JOINED, "categories": ["north", "south"], "relation": "exchange", "ratio": 2}
    laws = {}
    for table in tables:
        planned = plan(frame(table), "column", "area", **asked)
        laws[table] = exhaustion.joint_law(planned, read_statistics(planned, LOTS[0]))
    for one, other in product(tables, tables):
        if (one[0] == other[0]) + (one[1] == other[1]) == 1:
            assert exhaustion.worst_delta(laws[one], laws[other], Fraction(2)) <= 0


# The same by a join in Python, record by record.

RECORDS = (*exhaustion.RECORDS, ("a", 2), ("c", 1), ("a", 1))


def by_hand(records):
    """Return the table with the columns of the lookup as columns of its own."""
    joined = [AREAS.get(group, (None, None)) for group, _ in records]
    table = frame(tuple(records))
    table = table.append_column("area", pa.array([area for area, _ in joined], pa.string()))
    return table.append_column("w", pa.array([number for _, number in joined], pa.int64()))


def nodes_of(data, words, options):
    nodes = read_statistics(plan(data, *words, epsilon=1, **options), LOTS[0]).nodes
    return {name: np.array(getattr(nodes, name)).tolist() for name in type(nodes).__dataclass_fields__}


@pytest.mark.parametrize("grouped", [{}, *(GROUPED[mode] for mode in ("by-area", "by-expression"))], ids=str)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_lookup_is_a_join_by_hand(name, grouped):
    words, chosen = QUESTIONS[name]
    if words[0] == "count-distinct":
        grouped = {}
    for records in (RECORDS, RECORDS[:3], RECORDS[::-1], ()):
        joined = nodes_of(frame(tuple(records)), words, {**chosen, **grouped, **JOINED})
        assert joined == nodes_of(by_hand(records), words, {**chosen, **grouped})


def test_places_of_records_are_those_of_a_join_by_hand():
    many = [RECORDS[number * 7 % len(RECORDS)] for number in range(5000)]
    chosen = {"categories": ["north", "south"], "relation": "exchange"}
    joined = nodes_of(frame(tuple(many)), ("column", "area"), {**chosen, **JOINED})
    assert joined == nodes_of(by_hand(many), ("column", "area"), chosen)


@pytest.mark.parametrize("rule", PerUnitRule)
def test_a_persons_records_are_those_of_a_join_by_hand(rule):
    rows = [(1, "a"), (1, "b"), (2, "a"), (2, "a"), (3, "b"), (None, "a"), (4, "c")]
    table = pa.table({"u": [person for person, _ in rows], "g": [group for _, group in rows]})
    joined = table.append_column("area", pa.array([AREAS.get(group, (None,))[0] for _, group in rows], pa.string()))
    words = ("count", "area = 'north'")
    options = {"unit": "u", "per_unit": str(rule)}
    assert nodes_of(table, words, {**options, **JOINED}) == nodes_of(joined, words, options)
    rows_of_persons = {"unit": "u", "person": "areas = COUNT(DISTINCT area)"}
    assert nodes_of(table, ("count", "areas > 0"), {**rows_of_persons, **JOINED}) == nodes_of(
        joined, ("count", "areas > 0"), rows_of_persons
    )


# Bugs that the comparison must catch.


def planted(monkeypatch, change):
    """Let the relation that is joined be another one than the lookup that was read."""
    real = lookups.relations
    monkeypatch.setattr(lookups, "relations", lambda used: {name: change(each) for name, each in real(used).items()})
    forget_counts()


@pytest.mark.parametrize("grouped", [{}, GROUPED["by-area"]], ids=["whole", "by"])
def test_a_key_that_stands_twice_is_caught(grouped, monkeypatch):
    """As if duplicates had not been refused: a record would count twice."""
    options = {**options_of("count-area", "add-remove"), **grouped}
    pairs = neighbours("add-remove", "any")
    assert not caught("count-area", options, pairs)
    planted(monkeypatch, lambda table: pa.concat_tables([table, table.slice(0, 1)]))
    assert caught("count-area", options, pairs)


def rewritten(monkeypatch, old, new):
    written = lookups.join

    def changed(*arguments, **options):
        statement = written(*arguments, **options)
        assert old in statement
        return statement.replace(old, new)

    monkeypatch.setattr(lookups, "join", changed)
    forget_counts()


def test_a_key_that_other_records_decide_is_caught(monkeypatch):
    others = "CASE WHEN (SELECT COUNT(*) FROM data) > 1 THEN 'a' END"
    rewritten(monkeypatch, 'TRY_CAST(data."g" AS TEXT)', others)
    assert caught("count-area", options_of("count-area", "add-remove"), neighbours("add-remove", "any"))


def test_records_that_an_inner_join_drops_are_missed(monkeypatch):
    words = ("count", "v = 1 AND area IS NULL")
    assert [2] in nodes_of(frame(RECORDS), words, JOINED).values()
    rewritten(monkeypatch, "LEFT JOIN", "JOIN")
    assert [0] in nodes_of(frame(RECORDS), words, JOINED).values()
