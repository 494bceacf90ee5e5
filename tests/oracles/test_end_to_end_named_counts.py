"""Counts that name their own groups: the proof by exhaustion, of names and answers jointly, and planted bugs.

As in `test_end_to_end_privacy.py` every table of at most four records goes the whole way, and so does every neighbour.
"""

from fractions import Fraction

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import NoisyCountSelection
from irisdp._queries import Count
from support import exhaustion
from support.exhaustion import engine_once, forget
from support.sweeps import tried

__all__ = ["engine_once", "forget"]

pytestmark = pytest.mark.usefixtures("engine_once")

COUNTS = ("count", "count-where")
SELECTED = {"by": "g", "select_groups": True}
DELTAS = (Fraction(1, 10), Fraction(1, 7))
"""At r = 2 the noise has one cell to a unit, and three."""

SEVERAL = {"privacy": {"all": [{"ratio": 3, "delta": "1/100"}, {"ratio": 2, "delta": "1/20"}]}}


@pytest.fixture(scope="module")
def pairs():
    return {relation: exhaustion.neighbours(relation, "any") for relation in ("add-remove", "exchange")}


@pytest.mark.parametrize("query", COUNTS)
def test_no_neighbours_can_be_told_apart(query, pairs):
    for relation, found in pairs.items():
        for delta in DELTAS[: tried(1, 2)] if relation == "exchange" else DELTAS:
            options = {**SELECTED, "relation": relation, "delta": delta}
            assert isinstance(exhaustion.planned_for((), query, options).naming, NoisyCountSelection)
            exhaustion.assert_private(query, options, found, more_than=100)


@pytest.mark.parametrize("query", COUNTS)
def test_noise_for_a_little_more_than_is_charged_is_caught(query, pairs, monkeypatch):
    """A hundredth more: what is charged is used up."""
    noise = NoisyCountSelection(Privacy(ratio=exhaustion.RATIO, delta=DELTAS[0] * Fraction(101, 100))).noise
    monkeypatch.setattr(NoisyCountSelection, "noise", noise)
    assert exhaustion.caught(query, {**SELECTED, "delta": DELTAS[0]}, pairs["add-remove"])


def test_no_neighbours_can_be_told_apart_under_several_pairs(pairs):
    options = {**SELECTED, **SEVERAL}
    assert isinstance(exhaustion.planned_for((), "count-where", options).naming, NoisyCountSelection)
    exhaustion.assert_private(
        "count-where", options, pairs["add-remove"], charged_at=(0, "1/30", "1/20"), more_than=100
    )


@pytest.mark.parametrize("key", range(tried(1, 2)))
@pytest.mark.parametrize("query", COUNTS)
def test_no_persons_can_be_told_apart(query, key):
    options = {**SELECTED, "unit": "u", "at_most": 1, "delta": DELTAS[0]}
    found = exhaustion.personal_neighbours("add-remove")
    few = tried(2, 3)  # records in a table
    exhaustion.assert_private(
        query, options, [pair for pair in found if max(map(len, pair)) <= few], key=exhaustion.LOTS[key], more_than=60
    )


def all_pass(self, cells):
    return np.ones(len(cells), dtype=bool)


def one_too_low(self, cells):
    return cells >= self.last


def on_whole_numbers(self, cells):
    """Rounded down before they are compared, with the end as it is after rounding."""
    return self.noise.whole(cells) >= self.noise.whole(self.last)


def within_what_there_is(self, cells):
    """Clamped to 0 before they are compared, as if the noise had been cut off there."""
    return np.maximum(cells, 0) > 0


RULES = {
    "every group": all_pass,
    "the threshold a cell too low": one_too_low,
    "on whole numbers": on_whole_numbers,
    "after clamping": within_what_there_is,
}


@pytest.mark.parametrize("query", COUNTS)
@pytest.mark.parametrize("rule", RULES)
def test_other_thresholds_are_caught(query, rule, pairs, monkeypatch):
    monkeypatch.setattr(NoisyCountSelection, "_passes", RULES[rule])
    assert exhaustion.caught(query, {**SELECTED, "delta": DELTAS[0]}, pairs["add-remove"])


@pytest.mark.parametrize("delta", DELTAS)
def test_groups_named_although_the_condition_holds_for_nobody_are_caught(delta, pairs, monkeypatch):
    """As if a key alone were enough, which tells that the records are there that it was read from."""
    real = NoisyCountSelection._cells
    monkeypatch.setattr(
        NoisyCountSelection,
        "_cells",
        lambda self, count: real(self, count) if count else (real(self, 0)[0] + 99, real(self, 0)[1]),
    )
    assert exhaustion.caught("count-where", {**SELECTED, "delta": delta}, pairs["add-remove"])


def test_other_records_without_noise_are_caught(pairs, monkeypatch):
    def law(self, nodes, cell, largest):
        named = int(nodes.others[cell]) > 1
        found = real(self, nodes, cell, largest)
        missing = found.pop(None)
        return found | ({"others": missing} if named else {None: missing})

    real = NoisyCountSelection.law
    monkeypatch.setattr(NoisyCountSelection, "law", law)
    monkeypatch.setattr(NoisyCountSelection, "show", lambda self, drawn, nodes: drawn)
    assert exhaustion.caught("count-where", {**SELECTED, "delta": DELTAS[0]}, pairs["add-remove"])


def test_records_in_both_counts_are_caught(pairs, monkeypatch):
    """A group's size beside the count of some of its records: a record would be in both."""
    real = Count.nodes

    def nodes(self, statistics, relation):
        found = real(self, statistics, relation)
        return type(found)(found.values, found.lower, None, statistics.total)

    monkeypatch.setattr(Count, "nodes", nodes)
    assert exhaustion.caught("count-where", {**SELECTED, "delta": DELTAS[0]}, pairs["add-remove"])


def test_names_and_answers_from_two_draws_at_the_cost_of_one_are_caught(pairs, monkeypatch):
    def law(self, nodes, cell, largest):
        first, chances = self._cells(int(nodes.values[cell]))
        passing = sum(chance for chance, passes in zip(chances, self._passes(first), strict=True) if passes)
        drawn = dict(zip(first.tolist(), chances, strict=True))
        return {None: 1 - passing} | {z: chance * passing for z, chance in drawn.items()}

    monkeypatch.setattr(NoisyCountSelection, "law", law)
    assert exhaustion.caught("count", {**SELECTED, "delta": DELTAS[0]}, pairs["add-remove"])


@pytest.mark.usefixtures("forget")
def test_two_records_of_a_person_are_caught(monkeypatch):
    real = Count.nodes

    def twice(self, statistics, relation):
        found = real(self, statistics, relation)
        return type(found)(2 * found.values, found.lower, None, 2 * found.others)

    monkeypatch.setattr(Count, "nodes", twice)
    options = {**SELECTED, "unit": "u", "at_most": 1, "delta": DELTAS[0]}
    assert exhaustion.caught("count", options, exhaustion.personal_neighbours("add-remove"))
