"""Automorphisms, orbits, pairs and layers against brute force over all permutations."""

from itertools import permutations, product

import numpy as np
import pytest

from irisdp import CertificateRejected, graphs
from irisdp.design._symmetry_reduction import constraints, pair_classes
from irisdp.graphs._symmetry import _check_automorphisms
from support.seeds import fresh_random

FAMILIES = [
    *(graphs.Path(n) for n in (1, 2, 3, 6)),
    *(graphs.Cycle(n) for n in (1, 2, 3, 4, 7)),
    graphs.Complete(1),
    graphs.Complete(5),
    graphs.Hamming(1, 4),
    graphs.Hamming(2, 2),
    graphs.Hamming(2, 3),
    graphs.Histograms(1, 4),
    graphs.Histograms(2, 3),
    graphs.Histograms(3, 2),
    graphs.SortedHistograms(5, 5),
]


def edge_set(graph):
    return {
        frozenset(pair) for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True)
    }


def automorphisms(graph, colours=None):
    """List every automorphism of a graph of at most 7 nodes."""
    edges, n = edge_set(graph), graph.number_of_nodes
    colours = colours or [0] * n
    return [
        turned
        for turned in permutations(range(n))
        if all(colours[i] == colours[turned[i]] for i in range(n))
        and all(frozenset(turned[i] for i in edge) in edges for edge in edges)
    ]


def partition(labels):
    groups = {}
    for place, label in enumerate(labels):
        groups.setdefault(label, set()).add(place)
    return sorted(map(sorted, groups.values()))


def orbits(images, items):
    return sorted({tuple(sorted({image(item) for image in images})) for item in items})


def random_graph(seed):
    chance = fresh_random(seed)
    n = chance.randint(2, 6)
    edges = [(i, j) for i in range(n) for j in range(i) if chance.random() < 0.5]
    return graphs.graph_from_edges(edges, nodes=range(n)), [chance.randint(0, 1) for _ in range(n)]


@pytest.mark.parametrize("seed", range(40))
def test_orbits_of_nodes_and_pairs_on_random_graphs(seed):
    graph, colours = random_graph(seed)
    for given in (None, colours):
        every = automorphisms(graph, given)
        group = graphs.symmetry(graph, colours=given)
        nodes = orbits([lambda i, t=t: t[i] for t in every], range(graph.number_of_nodes))
        assert partition(group.orbit_of.tolist()) == [list(orbit) for orbit in nodes]
        classes = pair_classes(group)
        pairs = list(product(range(graph.number_of_nodes), repeat=2))
        expected = orbits([lambda p, t=t: (t[p[0]], t[p[1]]) for t in every], pairs)
        found = {}
        for i in range(graph.number_of_nodes):
            for v, label in enumerate(classes.row(i).tolist()):
                found.setdefault(label, []).append((i, v))
        assert sorted(map(tuple, map(sorted, found.values()))) == expected


@pytest.mark.parametrize("graph", FAMILIES, ids=str)
def test_families_know_all_their_symmetry(graph):
    found, searched = graphs.symmetry(graph), graphs.symmetry(graphs.listed(graph))
    assert found.orbit_of.tolist() == searched.orbit_of.tolist()
    assert pair_classes(found).number == pair_classes(searched).number
    if graph.number_of_nodes <= 7:
        every = automorphisms(graph)
        assert found.number_of_orbits == len(orbits([t.__getitem__ for t in every], range(graph.number_of_nodes)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("by_kind", [False, True])
def test_constraints_are_all_edges(seed, by_kind):
    """Every triple (tail, head, answer) is found again, and is counted once."""
    graph, _ = random_graph(seed + 100)
    classes = pair_classes(graphs.symmetry(graph))
    pairs = constraints(graph, classes, by_kind=by_kind)
    counted = np.zeros(len(pairs.first), int)
    for i in range(graph.number_of_nodes):
        for j in graph.neighbours(i).tolist():
            place = pairs.find(classes.row(i), classes.row(j))
            assert (pairs.first[place] == classes.row(i)).all()
            assert (pairs.second[place] == classes.row(j)).all()
            np.add.at(counted, place, 1)
    assert counted.tolist() == (pairs.answers * pairs.edges[pairs.block]).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_layers_by_counting(seed):
    graph, _ = random_graph(seed + 200)
    n, edges = graph.number_of_nodes, edge_set(graph)
    if any(graph.distance(0, i) < 0 for i in range(n)):
        return
    for start in range(n):
        layer = [graph.distance(start, i) for i in range(n)]
        profile = {
            i: tuple(
                sum(frozenset((i, j)) in edges and layer[j] == layer[i] + step for j in range(n)) for step in (-1, 1)
            )
            for i in range(n)
        }
        expected = all(profile[i] == profile[j] for i in range(n) for j in range(n) if layer[i] == layer[j])
        verdict = graphs.regular_layers(graph, start)
        assert verdict.regular == expected
        if not verdict.regular:
            (i, j), toward = verdict.nodes, verdict.toward
            step = 0 if toward < verdict.layer else 1
            assert layer[i] == layer[j] == verdict.layer
            assert verdict.counts == (profile[i][step], profile[j][step])
            assert profile[i][step] != profile[j][step]


def test_a_permutation_that_is_no_automorphism_is_seen():
    with pytest.raises(CertificateRejected):
        _check_automorphisms(graphs.Path(3), np.array([[1, 0, 2]]))


def test_a_wrong_group_would_be_noticed_by_the_pair_oracle():
    """Negative control: with a generator too many, pairs merge that no automorphism joins."""
    wrong = graphs.Symmetry.generated(np.array([[1, 0, 2]]))
    assert pair_classes(wrong).number != len(orbits([t.__getitem__ for t in automorphisms(graphs.Path(3))], range(3)))
    assert pair_classes(wrong).number < pair_classes(graphs.symmetry(graphs.Path(3))).number + 1
