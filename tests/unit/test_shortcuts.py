"""Searches that pass long runs of nodes in one step find the distances that going node by node finds."""

from collections import deque

import numpy as np
import pytest

from irisdp.graphs import Cycle, Path, _explicit, graph_from_arrays, listed
from support.seeds import fresh_random


def plain(graph, sources):
    """Go node by node."""
    first, row = graph.indptr.tolist(), graph.indices.tolist()
    found, waiting = dict.fromkeys(sources, 0), deque(sources)
    while waiting:
        node = waiting.popleft()
        for other in row[first[node] : first[node + 1]]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return [found.get(node, -1) for node in range(graph.number_of_nodes)]


def found(graph, sources):
    return _explicit.breadth_first(graph.indptr, graph.indices, np.array(sources, np.int64)).tolist()


def broken_paths(chance):
    """A path in a row with some edges missing, some more anywhere, and nodes that none leads to."""
    nodes = chance.randrange(2, 90)
    edges = [(i, i + 1) for i in range(nodes - 1) if chance.random() < 0.97]
    edges += [tuple(chance.sample(range(nodes), 2)) for _ in range(chance.choice([0, 0, 1, 2, 6]))]
    tails, heads = np.array(sorted({(min(e), max(e)) for e in edges}) or [(0, 1)]).T
    sources = chance.sample(range(nodes), chance.choice([0, 1, 1, 2, min(5, nodes)]))
    return graph_from_arrays(tails, heads, nodes=range(nodes)), sources


def disagreements(chance, times=400):
    return sum(
        found(graph, sources) != plain(graph, sources)
        for graph, sources in (broken_paths(chance) for _ in range(times))
    )


@pytest.mark.parametrize("thin", [0, 2, 48])
@pytest.mark.parametrize("long", [1, 2, 5])
def test_distances_are_those_of_going_node_by_node(monkeypatch, thin, long):
    monkeypatch.setattr(_explicit, "THIN", thin)
    monkeypatch.setattr(_explicit, "LONG", long)
    passed = []
    fill = _explicit.Shortcuts.fill
    monkeypatch.setattr(
        _explicit.Shortcuts, "fill", lambda runs, far: passed.append(len(runs.first)) or fill(runs, far)
    )
    assert disagreements(fresh_random("shortcuts")) == 0
    assert sum(passed) > 200


@pytest.mark.parametrize("wrong", ["longer", "shorter", "left", "seen"])
def test_a_slip_is_seen(monkeypatch, wrong):
    """Negative control."""
    monkeypatch.setattr(_explicit, "LONG", 2)
    made = _explicit.shortcuts

    def slipped(indptr, indices, unseen):
        runs = made(indptr, indices, np.ones_like(unseen) if wrong == "seen" else unseen)
        more = {"longer": 1, "shorter": -1}.get(wrong, 0)
        runs.gates = {node: [(end, steps + more) for end, steps in ends] for node, ends in runs.gates.items()}
        if wrong == "left":
            runs.gates = {
                node: [(end, steps) for end, steps in ends if end < node] for node, ends in runs.gates.items()
            }
        return runs

    monkeypatch.setattr(_explicit, "shortcuts", slipped)
    assert disagreements(fresh_random("shortcuts"), times=200) > 0


@pytest.mark.parametrize("graph", [Path(1000), Cycle(1000)], ids=str)
@pytest.mark.parametrize("sources", [[0], [500], [0, 999], [3, 700], []])
def test_paths_and_cycles(graph, sources):
    assert found(listed(graph), sources) == plain(listed(graph), sources)


def test_a_graph_without_runs_has_no_shortcuts():
    grid = np.arange(900).reshape(30, 30)
    tails = np.concatenate((grid[:, :-1].ravel(), grid[:-1].ravel()))
    heads = np.concatenate((grid[:, 1:].ravel(), grid[1:].ravel()))
    graph = graph_from_arrays(tails, heads)
    runs = _explicit.shortcuts(graph.indptr, graph.indices, np.ones(900, np.bool_))
    assert (len(runs.first), runs.gates, len(runs.is_gate)) == (0, {}, 0)
