"""The proof by exhaustion where persons have several records that count: all tables of two persons, and their laws.

One person has any of up to three records, and the other has one or none. Each table goes the whole way, through the
engine, to the nodes that `publish` draws from; the exact joint law of all answers is compared with that of every table
in which either person has other records, or none, at the cost that a ledger would be charged.
"""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest

from irisdp._measurements import partition_selection, share_of, sums
from irisdp._measurements import partition_selection as named_counts
from irisdp._queries import Count, statistics
from irisdp._queries.count_distinct import CountDistinct
from support.exhaustion import GROUPS, LOTS, MODES, assert_private, caught, engine_once, forget_counts, planned_for
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

RELATIONS = ("add-remove", "exchange")
SAID = [*product(GROUPS, (1,)), ("a", 0), ("b", 0)][: tried(3, 4)]
"""What a record may hold."""


def owned(person, most):
    """Every multiset of at most so many records, as one person's."""
    sizes = range(most + 1)
    return [tuple((person, *said) for said in kept) for n in sizes for kept in combinations_with_replacement(SAID, n)]


FIRST, SECOND = owned(1, 3), owned(2, 1)[: tried(2, 5)]


def pairs_of(relation):
    """Tables that one person tells apart, whatever that person's records."""
    found = set()
    for whole, others in ((FIRST, SECOND), (SECOND, FIRST)):
        for other, one, two in product(others, whole, whole):
            if one != two and (relation == "exchange") == bool(one and two) and (one <= two or relation == "exchange"):
                found.add(tuple(tuple(sorted(kept + other)) for kept in (one, two)))
    return found


PAIRS = {relation: pairs_of(relation) for relation in RELATIONS}
DECLARED = MODES["declared"]
SELECTED = {"by": "g", "select_groups": True, "ratio": 4, "delta": "3/10"}
SEVERAL = {
    "staircase": ("count-where", {"at_most": 2}),
    "all records": ("count", {"at_most": 3}),
    "spread": ("count-where", {**DECLARED, "at_most": 2}),
    "one group only": ("count", {"by": "g", "groups": ["b"], "at_most": 2}),
    "one group each": ("count-where", {**DECLARED, "at_most": 2, "groups_per_unit": 1}),
    "staircase in each": ("count", {**DECLARED, "at_most": 3, "groups_per_unit": 2, "ratio": 10**5}),
    "histogram": ("histogram", {"at_most": 2}),
    "named by counts": ("count-where", {**SELECTED, "at_most": 2}),
    "named by counts of all": ("count", {**SELECTED, "at_most": 3, "groups_per_unit": 2, "ratio": 8}),
    "selected apart": ("count-where", {**SELECTED, "at_most": 2, "selection_epsilon": "1/2"}),
    "people": ("count-people", {"at_most": 2}),
    "people by group": ("count-people", {**DECLARED, "at_most": 3}),
    "people in one group": ("count-people", {**DECLARED, "at_most": 2, "groups_per_unit": 1}),
    "values": ("count-values", {"at_most": 2}),
    "values by group": ("count-values", {**DECLARED, "at_most": 2}),
    "gaussian people": ("count-people", {**DECLARED, "at_most": 2, "mu": 2, "delta": "1/20"}),
    "gaussian": ("count-where", {**DECLARED, "at_most": 2, "mu": 2, "delta": "1/20"}),
}
"""Questions that count several records of a person."""


def asked(options, relation):
    return {**options, "relation": relation, "unit": "u"}


@pytest.mark.parametrize("name", SEVERAL)
def test_no_person_with_several_records_can_be_told_apart(name):
    query, options = SEVERAL[name]
    for relation, key in product(RELATIONS, LOTS[: tried(1, 3)]):
        assert_private(
            query,
            asked(options, relation),
            PAIRS[relation],
            key,
            charged_at=("1/20",) if "mu" in options else (),
            more_than=30,
        )


@pytest.mark.parametrize("name", ["staircase", "spread", "one group each"])
def test_one_record_of_several_is_as_it_was(name):
    query, options = SEVERAL[name]
    options = {key: value for key, value in options.items() if key != "groups_per_unit"} | {"at_most": 1}
    assert_private(query, asked(options, "add-remove"), PAIRS["add-remove"], more_than=30)


def test_each_kind_of_noise_is_among_them():
    kinds = {
        name: planned_for((), query, asked(options, "add-remove")).audiences[0].mechanism.to_document()
        for name, (query, options) in SEVERAL.items()
    }
    assert {name: found["kind"].removesuffix("-noise") for name, found in kinds.items()} == {
        "staircase": "staircase", "all records": "staircase", "spread": "spread", "one group only": "staircase",
        "people": "geometric", "people by group": "spread", "people in one group": "geometric", "values": "staircase",
        "values by group": "spread", "one group each": "staircase", "staircase in each": "staircase",
        "histogram": "spread", "named by counts": "named-counts", "named by counts of all": "named-counts",
        "selected apart": "spread", "gaussian": "gaussian", "gaussian people": "gaussian",
    }  # fmt: skip
    assert kinds["staircase in each"]["cells"] == 2


@pytest.fixture
def rewritten(monkeypatch):
    """Plant bugs in the statement that chooses records."""
    real = statistics.records_statement

    def plant(old, new):
        def planted(*arguments):
            statement = real(*arguments)
            assert old in statement
            return statement.replace(old, new)

        monkeypatch.setattr(statistics, "records_statement", planted)
        forget_counts()

    yield plant
    forget_counts()


def test_an_order_that_depends_on_others_is_caught(rewritten):
    rewritten("SHA256(CONCAT(", "SHA256(CONCAT(CAST((SELECT COUNT(*) FROM data) AS VARCHAR), ")
    query, options = SEVERAL["spread"]
    # The order decides where the first person has three records; then the second one comes.
    pairs = [pair for pair in PAIRS["add-remove"] if {*map(len, pair)} == {3, 4}]
    assert any(caught(query, asked(options, "add-remove"), pairs, key) for key in LOTS)


@pytest.mark.parametrize("name", ["staircase", "spread"])
def test_a_record_too_many_is_caught(rewritten, name):
    rewritten("WHERE place <= 2", "WHERE place <= 3")
    query, options = SEVERAL[name]
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


def test_equal_records_in_one_place_are_caught(rewritten):
    alone = "OVER (PARTITION BY person ORDER BY"
    rewritten(f"ROW_NUMBER() {alone} lot, hashed, copy)", f"DENSE_RANK() {alone} hashed)")
    query, options = SEVERAL["staircase"]
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


@pytest.mark.parametrize(("old", "new"), [
    ("FROM ranked WHERE place <= 1", "FROM ranked WHERE place <= 2"),
    ("DENSE_RANK() OVER (PARTITION BY person ORDER BY earliest)", "1"),
])  # fmt: skip
def test_groups_without_limit_are_caught(rewritten, old, new):
    rewritten(old, new)
    query, options = SEVERAL["one group each"]
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


@pytest.mark.parametrize("name", ["staircase", "spread", "one group each", "histogram", "all records", "values"])
def test_a_sensitivity_of_one_record_less_is_caught(monkeypatch, name):
    real = sums.noise_for
    monkeypatch.setattr(
        "irisdp._measurements.noise_for",
        lambda privacy, *, each, total, cells: real(privacy, each=each - 1, total=total - 1, cells=cells),
    )
    query, options = SEVERAL[name]
    # Whoever is exchanged has a record, and without a condition that one counts: a total moves by M - 1.
    for relation in RELATIONS[: 1 if name in ("all records", "values") else 2]:
        assert caught(query, asked(options, relation), PAIRS[relation]), relation


@pytest.mark.parametrize("name", ["named by counts", "named by counts of all", "selected apart"])
def test_a_share_for_one_record_less_is_caught(monkeypatch, name):
    for room in (named_counts, partition_selection):
        monkeypatch.setattr(room, "share_of", lambda privacy, records: share_of(privacy, records - 1))
    query, options = SEVERAL[name]
    for relation in RELATIONS:
        assert caught(query, asked(options, relation), PAIRS[relation]), relation


def test_people_that_count_once_for_each_record_are_caught(rewritten, monkeypatch):
    real = statistics.counted
    monkeypatch.setattr(
        statistics,
        "counted",
        lambda counts, groups: real({name: text.replace("DISTINCT ", "") for name, text in counts.items()}, groups),
    )
    forget_counts()
    query, options = SEVERAL["people"]
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


@pytest.mark.parametrize("name", ["values", "values by group"])
def test_values_taken_for_people_are_caught(monkeypatch, name):
    real = CountDistinct.over

    def planted(self, table, choices):
        return replace(real(self, table, choices), of_people=True)

    monkeypatch.setattr(CountDistinct, "over", planted)
    query, options = SEVERAL[name]
    options = {**options, "groups": ["a", "b"], "groups_per_unit": 1} if "by" in options else options
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


@pytest.mark.parametrize(("name", "where", "less"), [
    ("people by group", "irisdp._queries.count_distinct.noise_for", {"total": 1, "cells": 1}),
    ("staircase in each", "irisdp._measurements.noise_for", {"cells": 1}),
])  # fmt: skip
def test_noise_that_pays_for_one_of_two_groups_is_caught(monkeypatch, name, where, less):
    real = sums.noise_for
    monkeypatch.setattr(where, lambda privacy, **moved: real(privacy, **(moved | less)))
    query, options = SEVERAL[name]
    assert caught(query, asked(options, "add-remove"), PAIRS["add-remove"])


def test_ends_that_are_not_public_are_caught(monkeypatch):
    """Planted: how many records count is taken as public under exchange, as the number of persons is."""
    real = Count.nodes

    def planted(self, found, relation):
        nodes = real(self, found, relation)
        return type(nodes)(nodes.values, nodes.lower, found.total)

    monkeypatch.setattr(Count, "nodes", planted)
    query, options = SEVERAL["staircase"]
    assert caught(query, asked(options, "exchange"), PAIRS["exchange"])
