"""The proof by exhaustion: for every tiny table, and every neighbour, what `publish` would print.

`make test` tries tables of at most three records, `make reliability` those of four as well.
Each table goes the whole way, through the engine, to the nodes that `publish` draws from; the exact joint law of all
that would be shown (which groups are named, and every answer) is multiplied out and compared with every neighbour's, as
fractions, at the cost that the ledger would be charged. This test outranks the rest.

`support/exhaustion.py` builds the tables and the laws; `test_end_to_end_planted.py` plants bugs, which the same
comparison has to catch.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from irisdp import BadInput, plan
from irisdp._queries.reading import QUERIES
from irisdp._queries.statistics import Statistics
from support.exhaustion import (
    ASKED,
    DELTA,
    ELSEWHERE,
    LOTS,
    MODES,
    PERSONAL,
    RECORDS,
    assert_private,
    engine_once,
    frame,
    modes_of,
    neighbours,
    personal_neighbours,
    planned_for,
    tables,
)
from support.sweeps import by_turns, tried

__all__ = ["engine_once"]


RELATIONS = ("add-remove", "exchange")
# Both relations and every δ look at the same tables, which the engine counts once for a test: so they are one test.


@pytest.fixture(scope="module")
def pairs():
    return {
        (relation, kind): neighbours(relation, kind)
        for relation, kind in (("add-remove", "any"), ("exchange", "any"), ("exchange", "public"))
    }


def test_every_query_is_in_the_proof():
    # Mechanism files and columns have proofs of their own: `test_end_to_end_apply.py`, `test_end_to_end_column.py`.
    assert {words[0] for words in ASKED.values()} | ELSEWHERE == set(QUERIES)


@pytest.mark.parametrize(
    ("mode", "relation"),
    [(mode, relation) for mode in MODES for relation in RELATIONS if (mode, relation) != ("public", "add-remove")],
)
@pytest.mark.usefixtures("engine_once")
def test_a_plan_is_the_same_for_every_table(mode, relation):
    """So the tests below plan once, and let every table be read for that plan."""
    persons = (
        []
        if mode == "public"
        else [(query, PERSONAL, {"unit": "u", "at_most": 1}) for query in ("majority", "plurality")]
    )
    for query, records, more in (("count-where", RECORDS, {}), ("plurality", RECORDS, {}), *persons):
        options = {**MODES[mode], "relation": relation, "delta": DELTA, **more}
        plans = [planned_for(table, query, options) for table in [*tables(records, tried(1, 2)), records]]
        assert len({(plan.question(), plan.cost, str(plan.price), str(plan.audiences)) for plan in plans}) == 1


@pytest.mark.parametrize(("query", "mode"), [(query, mode) for query in ASKED for mode in modes_of(query)])
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart(query, mode, pairs):
    public = mode == "public"
    deltas = (Fraction(0), DELTA) if mode in ("whole", "declared", "public") else tried((DELTA,), (Fraction(0), DELTA))
    for relation in RELATIONS[public:]:
        for delta in deltas:
            options = {**MODES[mode], "relation": relation, "delta": delta}
            assert_private(query, options, pairs[relation, "public" if public else "any"], more_than=100)


OTHERS = {
    "two pairs": ({"privacy": {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/10"}]}}, (0, "1/18", "1/10")),
    "two pairs in cells": ({"privacy": {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/50"}]}}, (0, "1/90", "1/50")),
    "one pair in cells": ({"ratio": 2, "delta": "1/7"}, ("1/7",)),
    "with an end": (
        {"privacy": {"all": [{"ratio": 3, "delta": "1/100"}, {"ratio": 2, "delta": "1/20"}]}},
        (0, "1/30", "1/20"),
    ),
    "gaussian": ({"mu": 3, "delta": "1/20"}, ("1e-6", "1/20")),
}


@pytest.mark.parametrize(("query", "guarantee", "mode"), [
    *(("count-where", "two pairs", mode) for mode in MODES if mode != "expression"),
    *(("count-where", "gaussian", mode) for mode in ("whole", "declared", "public")),
    *(("count-where", "one pair in cells", mode) for mode in ("whole", "declared", "public")),
    *(("count", "two pairs in cells", mode) for mode in ("whole", "one-declared")),
    *(("count", "with an end", mode) for mode in ("whole", "one-declared")),
    *(("majority", "two pairs", mode) for mode in ("whole", "declared")),
    *(("band-1-3", guarantee, "declared") for guarantee in ("two pairs", "with an end", "gaussian")),
])  # fmt: skip
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart_under_other_guarantees(query, guarantee, mode, pairs):
    """Charged at several points of the curve: at each pair, and between them."""
    public, (asked, charged_at) = mode == "public", OTHERS[guarantee]
    selection = {"selection_epsilon": 1, "selection_delta": DELTA} if mode == "selected" else {}
    for relation in RELATIONS[public:]:
        options = {**MODES[mode], **selection, **asked, "relation": relation}
        found = pairs[relation, "public" if public else "any"]
        assert_private(query, options, found, charged_at=charged_at, more_than=100)


@pytest.mark.parametrize("key", range(tried(1, 2)))
@pytest.mark.parametrize(("query", "mode"), [
    *product(("count-where", "plurality"), ("whole", "declared", "one-declared", "selected")),
    *product(
        ("at-least-2-all", "band-1-3", "majority", "median", "quantiles", "top-2", "sizes-1"),
        tried(("declared", "selected"), ("whole", "declared", "one-declared", "selected")),
    ),
    ("count-where", "expression"),
    ("majority", "expression"),
    ("histogram", "whole"),
    ("histogram", "one-declared"),
])  # fmt: skip
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart(query, mode, key):
    for relation in RELATIONS:
        options = {**MODES[mode], "relation": relation, "unit": "u", "at_most": 1, "delta": DELTA}
        options |= {"delta": 0} if query.startswith(("count", "histogram")) else {}
        assert_private(query, options, personal_neighbours(relation), LOTS[key], more_than=100)


@pytest.mark.parametrize("per_unit", ["any", "all"])
@pytest.mark.parametrize(
    ("mode", "query"), by_turns(["whole", "declared", "selected"], ["count-where", "at-least-1", "majority"])
)
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart_by_any_or_all_of_its_records(query, mode, per_unit):
    delta = 0 if query.startswith("count") else DELTA
    for relation in RELATIONS:
        options = {**MODES[mode], "relation": relation, "unit": "u", "per_unit": per_unit, "delta": delta}
        assert_private(query, options, personal_neighbours(relation), LOTS[1], more_than=100)


def test_a_person_in_several_groups_has_no_public_membership():
    with pytest.raises(BadInput, match="public_membership"):
        plan(
            frame(()), "count", "v = 1", by="g", groups="a,b", epsilon=1, unit="u", relation="exchange",
            public_membership=True,
        )  # fmt: skip


def test_statistics_show_nothing():
    assert "7" not in repr(Statistics(*(np.array([7]),) * 3))
