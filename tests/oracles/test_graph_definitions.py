"""Graphs against NetworkX and against definitions written out in full."""

import functools
import itertools
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

from irisdp import graphs
from support.seeds import fresh_generator
from support.sweeps import tried


def joined_if(nodes, neighbours):
    """The graph whose edges are the pairs that satisfy a definition."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(pair for pair in itertools.combinations(nodes, 2) if neighbours(*pair))
    return graph


def words(length, symbols):
    separator = "," if symbols > 10 else ""
    spelled = {w: separator.join(map(str, w)) for w in itertools.product(range(symbols), repeat=length)}
    graph = joined_if(list(spelled), lambda v, w: sum(a != b for a, b in zip(v, w, strict=True)) == 1)
    return nx.relabel_nodes(graph, spelled)


def histograms(total, types):
    """From tables: all lists of records, counted; neighbours differ in one record."""
    every = [h for h in itertools.product(range(total + 1), repeat=types) if sum(h) == total]
    return joined_if(every, lambda v, w: sorted(a - b for a, b in zip(v, w, strict=True) if a != b) == [-1, 1])


def sorted_histograms(total, types):
    """Sort the histograms, and join two when any of their orders are neighbours: no distance is assumed."""
    named = histograms(total, types)
    quotient = nx.Graph()
    quotient.add_nodes_from(tuple(sorted(h, reverse=True)) for h in named)
    for ends in named.edges:
        tail, head = (tuple(sorted(h, reverse=True)) for h in ends)
        if tail != head:
            quotient.add_edge(tail, head)
    return quotient


@functools.cache
def neighbouring_counts(categories, relation, most):
    """From tables: all pairs of neighbouring counts of at most so many records."""
    found, places = [], range(categories)
    exchanges = (
        list(itertools.permutations(places, 2)) if relation == "exchange" else [(place, None) for place in places]
    )
    for counts in itertools.product(range(most + 1), repeat=categories):
        if sum(counts) <= most:
            found.append((counts, counts))
            for gains, loses in exchanges:
                moved = [one + (place == gains) - (place == loses) for place, one in enumerate(counts)]
                if min(moved) >= 0:
                    found.append((counts, moved))
    return found


def capped_gaps(categories, largest, relation, most=12):
    """Join the capped gaps of all neighbouring counts."""
    graph = nx.Graph()
    for pair in neighbouring_counts(categories, relation, most):
        tail, head = (tuple(min(max(counts) - one, largest) for one in counts) for counts in pair)
        graph.add_nodes_from([tail, head])
        if tail != head:
            graph.add_edge(tail, head)
    return graph


def product(*factors):
    graph = nx.Graph()
    graph.add_nodes_from(itertools.product(*factors))
    for node in list(graph):
        for place, factor in enumerate(factors):
            graph.add_edges_from((node, (*node[:place], other, *node[place + 1 :])) for other in factor[node[place]])
    return graph


split = nx.Graph([("a", "b"), ("c", "d")])

FAMILIES = [
    *((graphs.Path(n), nx.path_graph(n)) for n in (1, 2, 3, 7)),
    *((graphs.Cycle(n), nx.cycle_graph(n)) for n in (3, 4, 7, 8)),
    (graphs.Cycle(1), nx.path_graph(1)),
    (graphs.Cycle(2), nx.path_graph(2)),
    *((graphs.Complete(n), nx.complete_graph(n)) for n in (1, 2, 5)),
    *(
        (graphs.Hamming(*size), words(*size))
        for size in ((1, 1), (3, 1), (1, 2), (3, 2), (2, 3), (4, 2), (1, 12), (2, 11))
    ),
    *(
        (graphs.Histograms(*size), histograms(*size))
        for size in ((0, 3), (3, 1), (1, 3), (4, 2), (4, 3), (3, 4), (2, 5))
    ),
    *(
        (graphs.SortedHistograms(*size), sorted_histograms(*size))
        for size in ((0, 3), (3, 1), (1, 3), (5, 2), (7, 3), (4, 4), (6, 4), (3, 5))
    ),
    *(
        (graphs.Gaps(*size, relation), capped_gaps(*size, relation))
        for size in ((1, 2), (2, 1), (2, 5), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2))
        for relation in ("exchange", "add-remove")
    ),
    (graphs.Product((graphs.Path(3), graphs.Cycle(4))), product(nx.path_graph(3), nx.cycle_graph(4))),
    (
        graphs.Product((graphs.Complete(3), graphs.Path(2), graphs.Path(2))),
        product(nx.complete_graph(3), nx.path_graph(2), nx.path_graph(2)),
    ),
    (graphs.Product((graphs.graph_from_networkx(split), graphs.Path(2))), product(split, nx.path_graph(2))),
]


def disagreement(graph, expected):
    """Return what differs between a graph and a NetworkX graph, or None."""
    nodes = list(graph.nodes)
    if set(nodes) != set(expected) or not len(nodes) == graph.number_of_nodes == len(expected):
        return "nodes"
    if [graph.index_of(node) for node in nodes] != list(range(len(nodes))):
        return "index_of"
    pairs = [(int(a), int(b)) for tails, heads in graph.edges() for a, b in zip(tails, heads, strict=True)]
    if len(pairs) != graph.number_of_edges or len(pairs) != expected.number_of_edges():
        return "number of edges"
    if {frozenset((nodes[a], nodes[b])) for a, b in pairs} != set(map(frozenset, expected.edges)):
        return "edges"
    lengths = dict(nx.all_pairs_shortest_path_length(expected))
    for one, node in enumerate(nodes):
        beside = graph.neighbours(one).tolist()
        if beside != sorted(graph.index_of(other) for other in expected[node]):
            return "neighbours"
        distances = [lengths[node].get(other, graphs.UNREACHABLE) for other in nodes]
        if graph.distances_from(one).tolist() != distances:
            return "distances_from"
        if [graph.distance(one, other) for other in range(len(nodes))] != distances:
            return "distance"
        everyone = np.arange(len(nodes))
        if graph.adjacent(np.full(len(nodes), one), everyone).tolist() != [length == 1 for length in distances]:
            return "adjacent"
    diameter = max(max(row.values()) for row in lengths.values())
    return "diameter" if getattr(graph, "diameter", diameter) != diameter else None


@pytest.mark.parametrize(("graph", "expected"), FAMILIES, ids=lambda value: None)
def test_families_are_what_their_definitions_say(graph, expected):
    assert disagreement(graph, expected) is None
    assert disagreement(graphs.listed(graph), expected) is None
    assert disagreement(graphs.graph_from_document(graph.to_document()), expected) is None


@dataclass(frozen=True)
class OpenCycle(graphs.Cycle):
    """Distances that forget the way round."""

    def distances(self, first, second):
        return np.abs(first - second)


class TornHistograms(graphs.SortedHistograms):
    """Exchanges from any part, so that edges come up twice."""

    __slots__ = ()

    def _ends(self, counts):
        return counts > 0, super()._ends(counts)[1]


@dataclass(frozen=True, slots=True)
class ForgetfulGaps(graphs.Gaps):
    """Forget that the second category may give a record to the first."""

    def _moves(self, gaps):
        for place, move in enumerate(graphs.Gaps._moves(self, gaps)):
            if place:
                yield move


@pytest.mark.parametrize(("wrong", "expected", "where"), [
    (ForgetfulGaps(3, 2), capped_gaps(3, 2, "exchange"), "number of edges"),
    (OpenCycle(5), nx.cycle_graph(5), "distances_from"),
    (TornHistograms(4, 3), sorted_histograms(4, 3), "number of edges"),
    (graphs.Path(4), nx.path_graph(5), "nodes"),
    (graphs.Cycle(4), nx.path_graph(4), "number of edges"),
])  # fmt: skip
def test_a_wrong_family_is_caught(wrong, expected, where):
    """Negative control for the oracle itself."""
    assert disagreement(wrong, expected) == where


def random_case(seed):
    """A sparse random graph of several components, with 1 to 4 colours in patches."""
    generator = fresh_generator(seed)
    graph = nx.gnm_random_graph(40, int(generator.integers(0, 80)), seed=seed)
    colours = generator.integers(0, generator.integers(1, 5), 4)[np.arange(40) // 10]
    return graph, [int(c) for c in colours]


def depth_by_definition(graph, colours, *, within_class):
    """Distance to the boundary of one's own class, in the whole graph or inside the class."""
    edge_of_class = {v for v in graph if any(colours[v] != colours[w] for w in graph[v])}
    found = []
    for node in graph:
        own = [v for v in graph if colours[v] == colours[node]]
        lengths = nx.single_source_shortest_path_length(graph.subgraph(own) if within_class else graph, node)
        found.append(min((lengths[v] for v in own if v in edge_of_class and v in lengths), default=graphs.UNREACHABLE))
    return found


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("thin", [0, graphs._explicit.THIN])
def test_depth_is_the_distance_to_ones_own_boundary_in_the_graph_and_in_the_class(seed, thin, monkeypatch):
    """Both notions of distance, and both ways the search advances."""
    monkeypatch.setattr(graphs._explicit, "THIN", thin)
    graph, colours = random_case(seed)
    coloured = graphs.colour(graphs.graph_from_networkx(graph), colours)
    found = graphs.depth(coloured).tolist()
    assert found == depth_by_definition(graph, colours, within_class=False)
    assert found == depth_by_definition(graph, colours, within_class=True)
    assert graphs.boundary(coloured).tolist() == [length == 0 for length in found]
    assert graphs.interior(coloured).tolist() == [length != 0 for length in found]
    meeting = {frozenset((colours[v], colours[w])) for v, w in graph.edges if colours[v] != colours[w]}
    assert {frozenset(pair) for pair in graphs.touching(coloured)} == meeting
    assert len(graphs.touching(coloured)) == len(meeting)


def test_the_depth_oracle_catches_a_boundary_without_one_node():
    """Negative control: searching from all but one boundary node is seen."""
    graph, colours = nx.path_graph(9), [0, 0, 0, 1, 1, 1, 1, 0, 0]
    coloured = graphs.colour(graphs.graph_from_networkx(graph), colours)
    explicit = graphs.listed(coloured.graph)
    sources = np.flatnonzero(graphs.boundary(coloured))
    broken = graphs._explicit.breadth_first(explicit.indptr, explicit.indices, sources[1:])
    assert broken.tolist() != depth_by_definition(graph, colours, within_class=False)


@pytest.mark.parametrize("seed", range(30))
def test_components(seed):
    graph, colours = random_case(seed)
    expected = sorted(map(sorted, nx.connected_components(graph)))
    coloured = graphs.colour(graphs.graph_from_networkx(graph), colours)
    numbers = graphs.components(coloured.graph)
    assert [np.flatnonzero(numbers == k).tolist() for k in range(len(expected))] == expected
    alone = [k for k, nodes in enumerate(expected) if len({colours[v] for v in nodes}) == 1]
    assert graphs.components_without_boundary(coloured).tolist() == alone


def test_components_of_long_and_star_like_graphs():
    order = fresh_generator(5).permutation(5000)
    for tails, heads in ((order[:-1], order[1:]), (np.zeros(4999, int), np.arange(1, 5000))):
        assert not graphs.components(graphs.graph_from_arrays(tails, heads, nodes=range(5001)))[:5000].any()


@pytest.mark.parametrize("shape", ["star", "path", "grid", "comb"])
def test_search_on_graphs_that_make_it_change_its_way(shape):
    """Frontiers that swell and shrink, against NetworkX."""
    graph = {
        "star": nx.star_graph(3000),
        "path": nx.path_graph(3000),
        "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(70, 70)),
        "comb": nx.compose(nx.path_graph(100), nx.star_graph(range(99, 2000))),
    }[shape]
    ours = graphs.graph_from_networkx(graph)
    for source in (0, 1, 50):
        lengths = nx.single_source_shortest_path_length(graph, ours.nodes[source])
        assert ours.distances_from(source).tolist() == [lengths[node] for node in ours.nodes]


@pytest.mark.parametrize("seed", range(tried(3, 10)))
def test_every_constructor_builds_the_same_graph(seed):
    import pandas
    import polars

    graph, _ = random_case(seed)
    edges = [(w, v) for v, w in graph.edges] + [(v, w) for v, w in graph.edges][:5] + [(0, 0)]
    tails, heads = np.array(edges).T
    frame = {"from": tails, "to": heads}
    whole = [
        graphs.graph_from_edges(edges, nodes=range(40)),
        graphs.graph_from_edges(edges, nodes=list(range(40))),
        graphs.graph_from_arrays(tails.astype(np.uint8), heads, nodes=range(40)),
        graphs.graph_from_networkx(nx.MultiDiGraph(nx.MultiGraph(edges + [(v, v) for v in range(40)]))),
        graphs.graph_from_sparse(nx.to_scipy_sparse_array(graph, nodelist=range(40))),
    ]
    touched = nx.Graph([*graph.edges, (0, 0)])
    some = [
        graphs.graph_from_edges(edges),
        graphs.graph_from_arrays(tails, heads),
        graphs.graph_from_frame(pandas.DataFrame(frame)),
        graphs.graph_from_frame(polars.LazyFrame(frame)),
        graphs.graph_from_frame(polars.DataFrame(frame).to_arrow()),
    ]
    touched.remove_edge(0, 0)
    for built, expected in [*((g, graph) for g in whole), *((g, touched) for g in some)]:
        assert disagreement(built, expected) is None
    assert all(list(built.nodes) == sorted(built.nodes) for built in some)


def test_names_of_other_kinds_keep_their_first_order():
    import polars

    by_name = graphs.graph_from_frame(polars.DataFrame({"a": ["x", "z"], "b": ["z", "y"]}))
    assert by_name.nodes[:] == ("x", "z", "y")
    far_apart = graphs.graph_from_arrays([10**12, -5], [7, 10**12])
    assert far_apart.nodes[:] == (-5, 7, 10**12)
    assert [far_apart.nodes[i] for i in far_apart.neighbours(2)] == [-5, 7]
    assert graphs.graph_from_arrays([4, 6], [5, 5]).nodes[:] == (4, 5, 6)


@pytest.mark.parametrize("seed", range(40))
def test_check_morphism_against_going_through_all_edges(seed):
    generator = fresh_generator(seed)
    graph, _ = random_case(seed)
    source, target = graphs.graph_from_networkx(graph), graphs.Cycle(5) if seed % 2 else graphs.listed(graphs.Cycle(5))
    # Mostly one value, so that both outcomes are seen.
    images = np.where(generator.random(40) < 0.9, 2, generator.integers(0, 5, 40))
    torn = [(v, w) for v, w in graph.edges if (images[v] - images[w]) % 5 in (2, 3)]
    check = graphs.check_morphism(source, target, images)
    assert check.holds == (not torn)
    assert check.broken_edge is None or tuple(sorted(check.broken_edge)) in {tuple(sorted(edge)) for edge in torn}
