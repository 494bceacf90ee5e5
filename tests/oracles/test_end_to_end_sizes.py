"""The proof by exhaustion for whole lists of sizes: every number that tells them, and the list that is shown.

That whole lists are told by 100 sizes and 100,000 counts below is made small here: one or two, and one or two. What
the query is asked everywhere else, the K largest, is among the others in `test_end_to_end_privacy.py`.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from irisdp import NeighbouringRelation, plan
from irisdp._measurements import SizesShape, SortedSizes
from irisdp._queries import category_sizes, statistics
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support import exhaustion
from support.exhaustion import engine_once

__all__ = ["engine_once"]

RELATIONS = ("add-remove", "exchange")
WHOLE = "sizes-whole"
TOLD = [(1, 1), (1, 2), (2, 1)]


@pytest.fixture
def told(request, monkeypatch):
    """Let whole lists be told by few numbers, and each list be fitted once."""
    head, below = request.param
    monkeypatch.setitem(exhaustion.ASKED, WHOLE, ("sizes", "v"))
    monkeypatch.setitem(exhaustion.CHOSEN, WHOLE, {})
    monkeypatch.setattr(category_sizes, "HEAD", head)
    monkeypatch.setattr(category_sizes, "BELOW", below)
    fit = lru_cache(maxsize=None)(SizesShape.fit)
    monkeypatch.setattr(SizesShape, "fit", lambda self, noisy, records=None: fit(self, tuple(noisy), records))
    exhaustion.forget_counts()
    return head, below


@pytest.mark.parametrize("told", TOLD, indirect=True, ids=str)
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart(told):
    modes = ("whole", "declared", "public") if told == (1, 1) else ("whole",)
    for mode in modes:
        public = mode == "public"
        for relation in RELATIONS[public:]:
            options = {**exhaustion.MODES[mode], "relation": relation}
            exhaustion.assert_private(
                WHOLE, options, exhaustion.neighbours(relation, "public" if public else "any"), more_than=100
            )


@pytest.mark.parametrize("told", TOLD[:1], indirect=True, ids=str)
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart(told):
    for relation in RELATIONS:
        pairs = exhaustion.personal_neighbours(relation)
        for key in exhaustion.LOTS[:2]:
            exhaustion.assert_private(
                WHOLE, {"relation": relation, "unit": "u", "at_most": 1}, pairs, key, more_than=100
            )


@pytest.mark.parametrize(
    "guarantee", [{"mu": 1}, {"privacy": {"all": [{"ratio": 2}, {"ratio": "4/3", "delta": "1/9"}]}}]
)
@pytest.mark.parametrize("told", TOLD[:1], indirect=True, ids=str)
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart_under_other_guarantees(told, guarantee):
    for relation in RELATIONS:
        options = {**guarantee, "relation": relation}
        charged = (Fraction(1, 100), exhaustion.DELTA)
        exhaustion.assert_private(
            WHOLE, options, exhaustion.neighbours(relation, "any"), charged_at=charged, more_than=100
        )


@pytest.mark.parametrize("told", TOLD[1:2], indirect=True, ids=str)
def test_what_is_multiplied_out_is_drawn(told):
    """The same numbers get noise, and the same list is shown."""
    planned = plan(exhaustion.frame((("a", 0), ("a", 1), ("a", 1))), "sizes", "v", ratio=2)
    cells = read_statistics(planned, exhaustion.LOTS[0])
    assert cells.nodes.told.tolist() == [[2, 1, 0]]
    assert sum(exhaustion.joint_law(planned, cells).values()) == 1
    certain = plan(exhaustion.frame((("a", 0), ("a", 1), ("a", 1))), "sizes", "v", epsilon=80).audiences[0].mechanism
    drawn = certain.draw(cells.nodes)
    assert drawn.tolist() == [[2, 1, 0]]
    assert certain.show(drawn.tolist(), cells.nodes) == [(2, 1)]


class TestPlantedBugs:
    """The same comparison finds what would be a breach."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch, engine_once):
        monkeypatch.setitem(exhaustion.ASKED, WHOLE, ("sizes", "v"))
        monkeypatch.setitem(exhaustion.CHOSEN, WHOLE, {})
        monkeypatch.setattr(category_sizes, "HEAD", 1)
        monkeypatch.setattr(category_sizes, "BELOW", 1)
        yield
        exhaustion.forget_counts()

    def found(self, relation, mode="whole"):
        return exhaustion.caught(
            WHOLE, {**exhaustion.MODES[mode], "relation": relation}, exhaustion.neighbours(relation, "any")
        )

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_without_a_bug_nothing_is_caught(self, relation):
        assert not self.found(relation)

    def test_noise_for_one_number_where_two_move(self, monkeypatch):
        monkeypatch.setattr(category_sizes, "halved", lambda privacy: privacy)
        assert self.found("exchange")

    def test_counts_that_count_the_head_too(self, monkeypatch):
        real = SizesShape.tell

        def tell(self, found):
            told = real(self, found)
            told[self.head :] = [np.sum(found >= j) for j in range(1, self.below + 1)]
            return told

        monkeypatch.setattr(SizesShape, "tell", tell)
        assert self.found("add-remove")

    def test_as_many_sizes_as_there_are(self, monkeypatch):
        real = SortedSizes.show

        def show(self, drawn, nodes):
            lists = real(self, drawn, nodes)
            return [(*found, 0) if told[0] else found for found, told in zip(lists, nodes.told, strict=False)]

        monkeypatch.setattr(SortedSizes, "show", show)
        assert self.found("add-remove")

    def test_a_bound_by_the_records_that_have_a_value(self, monkeypatch):
        real = statistics.count_values

        def counted(*arguments, **options):
            found = real(*arguments, **options)
            totals = [found.of_cell(cell).sum() for cell in range(len(found))]
            return statistics.ValueCounts(found.ends, found.counts, np.array(totals))

        monkeypatch.setattr(category_sizes, "count_values", counted)
        assert self.found("exchange")

    def test_records_that_are_public_where_they_come_and_go(self, monkeypatch):
        real = category_sizes.Sizes.nodes
        monkeypatch.setattr(
            category_sizes.Sizes,
            "nodes",
            lambda self, found, relation: real(self, found, NeighbouringRelation.EXCHANGE),
        )
        assert self.found("add-remove")


def test_values_are_counted_without_their_names():
    table = open_table(exhaustion.frame((("a", 0), ("a", 1), ("b", 1), ("b", None), (None, 1))))
    found = statistics.count_values(table, table.column("v", "query"))
    assert sorted(found.of_cell(0).tolist()) == [1, 3]
    assert found.total.tolist() == [5]
