"""The edges of histograms against a listing that moves one record after another, in the same order."""

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput
from irisdp.graphs import Histograms, SortedHistograms, _histograms
from support.sweeps import tried


def moved(counts, giver, taker):
    return tuple(count - (place == giver) + (place == taker) for place, count in enumerate(counts))


def one_by_one(graph):
    """Move a record from every type to every later one, at every node: no index is worked out from another."""
    nodes = list(graph.nodes)
    place = {node: index for index, node in enumerate(nodes)}
    found = []
    for giver in range(graph.types):
        for taker in range(giver + 1, graph.types):
            for tail, node in enumerate(nodes):
                head = place.get(moved(node, giver, taker))
                if head not in (None, tail):
                    found.append((tail, head))
    return found


def yielded(graph):
    return [pair for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True)]


def disagreement(graph):
    expected = one_by_one(graph)
    if yielded(graph) != expected:
        return "edges"
    if graph.number_of_edges != len(expected):
        return "number of edges"
    beside = Counter(expected)
    assert max(beside.values(), default=1) == 1
    near = [[] for _ in graph.nodes]
    for tail, head in expected:
        near[tail].append(head)
        near[head].append(tail)
    return None if all(graph.neighbours(k).tolist() == sorted(near[k]) for k in range(len(near))) else "neighbours"


@pytest.mark.parametrize("family", [Histograms, SortedHistograms])
@pytest.mark.parametrize("types", range(1, 8))
def test_all_small_histograms(family, types):
    for total in range(9):
        graph = family(total, types)
        if graph.number_of_nodes <= 500:
            assert disagreement(graph) is None


@given(st.sampled_from([Histograms, SortedHistograms]), st.integers(0, 60), st.integers(1, 60))
@settings(deadline=None, max_examples=tried(25, 60))
def test_any_histograms(family, total, types):
    try:
        graph = family(total, types)
    except BadInput:
        return
    if graph.number_of_nodes <= 400:
        assert disagreement(graph) is None
    index = graph.number_of_nodes - 1
    assert graph.index_of(graph.nodes[index]) == index
    for near in graph.neighbours(index)[:3].tolist():
        assert index in graph.neighbours(near) and graph.distance(index, near) == 1


class WithEqualParts(SortedHistograms):
    """Wrong: it moves a record between parts b + 1 and b, which changes nothing."""

    __slots__ = ()

    def _changes(self, given, taken):
        return given != -taken


class OneTooFar(Histograms):
    """Wrong: a record that moves is counted at the place of its taker too."""

    __slots__ = ()

    def _rises(self, counts):
        leaving, joining = super()._rises(counts)
        return leaving, joining + 1


@pytest.mark.parametrize("wrong", [WithEqualParts(4, 3), OneTooFar(4, 3)])
def test_a_wrong_listing_is_told(wrong):
    assert disagreement(wrong) == "edges"


@pytest.mark.parametrize(("family", "total", "types"), [(Histograms, 13, 6), (SortedHistograms, 36, 9)])
def test_blocks_and_chunks_change_no_edge_nor_their_order_within_a_block(family, total, types, monkeypatch):
    graph = family(total, types)
    whole = yielded(graph)
    monkeypatch.setattr(_histograms, "_BLOCK", 100)
    assert Counter(yielded(graph)) == Counter(whole)
    assert max(len(tails) for tails, _ in graph.edges()) <= 100
    assert [head for tail, head in yielded(graph) if tail == 3] == [head for tail, head in whole if tail == 3]


@pytest.mark.parametrize(
    "graph", [Histograms(0, 1000), Histograms(1, 1000), SortedHistograms(1, 1000), SortedHistograms(25, 1000)], ids=str
)
def test_many_types_take_no_longer_than_their_edges(graph):
    started = time.process_time()
    count = sum(len(tails) for tails, _ in graph.edges())
    assert graph.number_of_edges == count and len(graph.neighbours(0)) <= 999
    assert len(set(graph.nodes)) == graph.number_of_nodes
    assert time.process_time() - started < 10


def test_partitions_beyond_whole_numbers_are_refused():
    """Of numbers that would wrap none is believed."""
    assert SortedHistograms(60, 60).number_of_nodes == 966_467
    for total, types in ((416, 416), (10**4, 900), (10**6, 9)):
        with pytest.raises(BadInput):
            SortedHistograms(total, types)


@pytest.mark.parametrize("types", range(1, 12))
def test_how_many_partitions_there_are(types):
    """By the recurrence p(n, ≤ k) = p(n, ≤ k − 1) + p(n − k, ≤ k), one number at a time."""
    row = [1] + [0] * 300
    for parts in range(1, types + 1):
        for n in range(parts, 301):
            row[n] += row[n - parts]
    assert _histograms._partitions(300, types)[types].tolist() == row


def test_the_first_total_too_large():
    """Against the exact number of partitions, by Euler's pentagonal recurrence."""
    p = [1]
    for n in range(1, 420):
        terms = ((k, k * (3 * k - 1) // 2) for j in range(1, 30) for k in (j, -j))
        p.append(sum((1 if k % 2 else -1) * p[n - g] for k, g in terms if g <= n))
    last = max(n for n in range(420) if p[n] <= 1 << 62)
    assert SortedHistograms(last, 1000).number_of_nodes == p[last]
    with pytest.raises(BadInput):
        SortedHistograms(last + 1, 1000)
