"""Bugs planted in the K largest and in rankings: the same comparison that finds nothing in the library finds each."""

import numpy as np
import pytest

from irisdp import NeighbouringRelation
from irisdp._measurements import CategoryNodes, LargestCategories
from irisdp._queries.reading import QUERIES
from support.exhaustion import ASKED, MODES, caught, engine_once, neighbours

__all__ = ["engine_once"]

ORDERS = [name for name, words in ASKED.items() if words[0] in ("top", "ranking")]

pytestmark = pytest.mark.usefixtures("engine_once")

WRONG_COUNTS = {
    "counted twice": lambda counts: 2 * counts,
    "off by one where somebody is": lambda counts: counts + (counts > 0),
    "left out where somebody is alone": lambda counts: counts * (counts > 1),
}


@pytest.mark.parametrize("counts", WRONG_COUNTS)
@pytest.mark.parametrize("mode", ["whole", "declared"])
@pytest.mark.parametrize("query", ORDERS)
def test_wrong_counts_by_category_are_caught(query, mode, counts, monkeypatch):
    change = WRONG_COUNTS[counts]
    monkeypatch.setattr(
        QUERIES[ASKED[query][0]],
        "nodes",
        lambda self, statistics, relation: CategoryNodes(self.categories.names, change(statistics.counts)),
    )
    assert caught(query, {**MODES[mode], "relation": "add-remove"}, neighbours("add-remove", "any"))


@pytest.mark.parametrize("query", ORDERS)
def test_an_order_that_is_put_right_is_caught(query, monkeypatch):
    def put_right(self, drawn, nodes):
        orders = np.argsort(-nodes.counts, axis=1, kind="stable")[:, : self.k]
        return [self.named(order, nodes) for order in orders.tolist()[: len(drawn)]]

    monkeypatch.setattr(LargestCategories, "show", put_right)
    assert caught(query, {"relation": "add-remove"}, neighbours("add-remove", "any"))


@pytest.mark.parametrize("query", ORDERS)
def test_an_exchange_of_two_counts_taken_for_one_step_is_caught(query, monkeypatch):
    """Planted: the table, or the noise, of records that come and go, where one is exchanged and two counts move."""
    kind = QUERIES[ASKED[query][0]]
    real = kind.mechanism
    monkeypatch.setattr(
        kind, "mechanism", lambda self, privacy, relation: real(self, privacy, NeighbouringRelation.ADD_REMOVE)
    )
    assert caught(query, {"relation": "exchange"}, neighbours("exchange", "any"))


@pytest.mark.parametrize("query", ORDERS)
def test_names_in_the_order_of_the_data_are_caught(query, monkeypatch):
    monkeypatch.setattr(
        LargestCategories,
        "ends",
        lambda self, nodes: {"names": [nodes.categories[place] for place in np.argsort(-nodes.counts[0])]},
    )
    assert caught(query, {"relation": "add-remove"}, neighbours("add-remove", "any"))
