"""Class and depth of every query against breadth-first search on the explicit graph of histograms.

A cell of a table is a histogram (yes, no, abstaining). Nothing here knows a formula: a node's class is the question
asked of it, its boundary is found by looking at neighbours, its depth by walking there.
"""

from collections import deque
from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest

from irisdp import NeighbouringRelation
from irisdp._measurements import NO_BOUNDARY
from irisdp._queries import Count
from irisdp._queries.majority import Majority
from irisdp._queries.statistics import Statistics
from irisdp._queries.threshold import AtLeast, AtMost

CHECKED = 6
"""Add-remove histograms up to this size are checked; depths are at most 9, and the graph reaches 10 sizes further."""
LARGEST = CHECKED + 10


def histograms(largest, *, abstain=True, no=True):
    sizes = range(largest + 1)
    return {node for node in product(sizes, sizes if no else (0,), sizes if abstain else (0,)) if sum(node) <= largest}


def add_remove_graph(nodes):
    graph = {node: set() for node in nodes}
    for node in nodes:
        for place in range(3):
            more = tuple(count + (other == place) for other, count in enumerate(node))
            if more in nodes:
                graph[node].add(more)
                graph[more].add(node)
    return graph


def exchange_graph(nodes):
    graph = {node: set() for node in nodes}
    for node in nodes:
        for lost, won in product(range(3), repeat=2):
            moved = list(node)
            moved[lost] -= 1
            moved[won] += 1
            if tuple(moved) != node and tuple(moved) in nodes:
                graph[node].add(tuple(moved))
    return graph


def search(graph, truth):
    """Return the distance of every node to its class's boundary, walking inside the component; -1 if there is none."""
    boundary = {node for node, near in graph.items() if any(truth(other) != truth(node) for other in near)}
    depth = dict.fromkeys(graph, -1)
    for label in {truth(node) for node in graph}:
        queue = deque((node, 0) for node in boundary if truth(node) == label)
        seen = {node for node, _ in queue}
        while queue:
            node, steps = queue.popleft()
            if truth(node) == label:
                depth[node] = steps
            for other in graph[node] - seen:
                seen.add(other)
                queue.append((other, steps + 1))
    return depth


def check(query, truth, relation, graph, nodes):
    nodes = sorted(nodes)
    yes, no, abstain = (np.array(column) for column in zip(*nodes, strict=True))
    found = query.nodes(Statistics(total=yes + no + abstain, yes=yes, no=no), relation)
    depth = search(graph, truth)
    for place, node in enumerate(nodes):
        assert found.classes[found.true_class[place]] == truth(node), node
        assert found.depth[place] == depth[node], (node, found.depth[place], depth[node])
    return len(nodes)


def majority_truth(node):
    return "yes" if node[0] > node[1] else "no"


def at_least_truth(threshold):
    return lambda node: "yes" if node[0] >= threshold else "no"


def check_majority(query, relation):
    if relation is NeighbouringRelation.ADD_REMOVE:
        nodes = histograms(LARGEST)
        small = {node for node in nodes if sum(node) <= CHECKED}
        return check(query, majority_truth, relation, add_remove_graph(nodes), small)
    nodes = histograms(8)
    return check(query, majority_truth, relation, exchange_graph(nodes), nodes)


def at_most_truth(threshold):
    return lambda node: "yes" if node[0] <= threshold else "no"


def check_threshold(query, relation, **shape):
    truth = {"at-least": at_least_truth, "at-most": at_most_truth}[query.name](query.threshold)
    if relation is NeighbouringRelation.ADD_REMOVE:
        nodes = histograms(LARGEST, **shape)
        small = {node for node in nodes if sum(node) <= CHECKED}
        return check(query, truth, relation, add_remove_graph(nodes), small)
    nodes = histograms(7, **shape)
    return check(query, truth, relation, exchange_graph(nodes), nodes)


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_majority(relation):
    assert (
        check_majority(Majority("x"), relation)
        == {NeighbouringRelation.ADD_REMOVE: 84, NeighbouringRelation.EXCHANGE: 165}[relation]
    )


@pytest.mark.parametrize("query", [AtLeast, AtMost])
@pytest.mark.parametrize("threshold", range(10))
@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_thresholds(query, threshold, relation):
    """All K from 0 to beyond the public n (7 at most), n = 0 and 1 included."""
    check_threshold(query(threshold, "x"), relation)


@pytest.mark.parametrize("query", [AtLeast, AtMost])
@pytest.mark.parametrize("threshold", range(10))
@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_thresholds_without_a_condition(query, threshold, relation):
    """Every record is a yes: under exchange each table is alone, and its answer certain."""
    check_threshold(query(threshold), relation, no=False, abstain=False)


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_majority_where_nobody_can_abstain(relation):
    """A condition that is never null only visits part of the graph; the same depths hold there."""
    nodes = histograms(8, abstain=False)
    if relation is NeighbouringRelation.EXCHANGE:
        check(Majority("x"), majority_truth, relation, exchange_graph(nodes), nodes)
    else:
        larger = histograms(18, abstain=False)
        check(Majority("x"), majority_truth, relation, add_remove_graph(larger), nodes)


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("expression", ["x", None])
def test_counts_are_a_morphism_to_their_path(relation, expression):
    nodes = histograms(6, no=expression is not None, abstain=expression is not None)
    graph = (exchange_graph if relation is NeighbouringRelation.EXCHANGE else add_remove_graph)(nodes)

    def on_path(node):
        yes, no, abstain = (np.array([count]) for count in node)
        found = Count(expression).nodes(Statistics(total=yes + no + abstain, yes=yes, no=no), relation)
        return found.values[0], found.lower[0], None if found.upper is None else found.upper[0]

    for node, near in graph.items():
        value, lower, upper = on_path(node)
        assert value == node[0]
        assert lower <= value and (upper is None or value <= upper)
        for other in near:
            moved, *ends = on_path(other)
            assert abs(moved - value) <= 1
            if relation is NeighbouringRelation.EXCHANGE:
                assert tuple(ends) == (lower, upper)  # the path itself is public


def off_by_one(query_type, shift):
    class Planted(query_type):
        def nodes(self, statistics, relation):
            found = super().nodes(statistics, relation)
            deeper = np.where(found.depth == NO_BOUNDARY, NO_BOUNDARY, found.depth + shift)
            return type(found)(found.classes, found.true_class, deeper)

    return Planted


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_a_planted_depth_off_by_one_is_caught(relation):
    """Negative control: one deeper, one shallower, and the wrong rounding in an exchange."""
    for shift in (1, -1):
        with pytest.raises(AssertionError):
            check_majority(off_by_one(Majority, shift)("x"), relation)
        for query in (AtLeast, AtMost):
            with pytest.raises(AssertionError):
                check_threshold(off_by_one(query, shift)(3, "x"), relation)


@pytest.mark.parametrize("rounded", [lambda lead: lead // 2, lambda lead: (lead - 1) // 2], ids=["wrong", "right"])
def test_a_planted_wrong_rounding_is_caught(rounded):
    """Negative control: a yes at ⌊d/2⌋ is caught where ⌊(d − 1)/2⌋ passes."""

    class Planted(Majority):
        def nodes(self, statistics, relation):
            found = Majority.nodes(self, statistics, relation)
            lead = statistics.yes - statistics.no
            return type(found)(found.classes, found.true_class, np.where(lead >= 1, rounded(lead), found.depth))

    with nullcontext() if rounded(2) == 0 else pytest.raises(AssertionError):
        check_majority(Planted("x"), NeighbouringRelation.EXCHANGE)
