"""Laws of graphs: distances, numbering, depth, boundary graphs, morphisms, documents."""

import json
import time
from collections import Counter, deque
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from irisdp import BadInput, Privacy
from irisdp._sampling.bits import law_of
from irisdp.graphs import (
    UNREACHABLE,
    Complete,
    Cycle,
    Hamming,
    Histograms,
    Morphism,
    Path,
    Product,
    SortedHistograms,
    _histograms,
    boundary_graph,
    check_morphism,
    colour,
    depth,
    graph_from_arrays,
    graph_from_document,
    graph_from_edges,
    key_of_node,
    listed,
    morphism,
    node_from_key,
    preserves_colours,
    rank,
)
from irisdp.mechanisms import expected_changes, release_column
from irisdp.privacy import hockey_stick
from support.sweeps import tried

small = st.integers(1, 7)
families = st.one_of(
    st.builds(Path, small),
    st.builds(Cycle, small),
    st.builds(Complete, small),
    st.builds(Hamming, st.integers(1, 3), st.integers(1, 3)),
    st.builds(Histograms, st.integers(0, 5), st.integers(1, 4)),
    st.builds(SortedHistograms, st.integers(0, 9), st.integers(1, 5)),
)
products = st.lists(families.filter(lambda graph: graph.number_of_nodes < 12), min_size=1, max_size=2).map(
    lambda factors: Product(tuple(factors))
)
names = st.recursive(
    st.integers(-3, 10**20) | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4
)


@st.composite
def explicit_graphs(draw):
    count = draw(st.integers(1, 14))
    node = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=30))
    return graph_from_edges(edges, nodes=range(count))


graphs = st.one_of(families, products, explicit_graphs())
colours = st.sampled_from(["blue", "red", "green"])
rankings = st.permutations(("a", "b", "c")).map(tuple)


@st.composite
def coloured_graphs(draw, colours, build):
    graph = draw(graphs)
    count = graph.number_of_nodes
    # Few distinct colours, so that classes have an inside.
    palette = draw(st.lists(colours, min_size=1, max_size=3))
    return build(graph, [draw(st.sampled_from(palette)) for _ in range(count)])


coloured_or_ranked = st.one_of(coloured_graphs(colours, colour), coloured_graphs(rankings, rank))


def infinite(depths):
    """Depths with UNREACHABLE as what it means."""
    return np.where(depths == UNREACHABLE, np.inf, depths)


@given(graphs, st.data())
@settings(deadline=None)
def test_distance_is_a_metric(graph, data):
    node = st.integers(0, graph.number_of_nodes - 1)
    a, b, c = data.draw(node), data.draw(node), data.draw(node)
    to = infinite(np.array([graph.distance(a, b), graph.distance(b, c), graph.distance(a, c)]))
    assert (graph.distance(a, b) == 0) == (a == b)
    assert graph.distance(a, b) == graph.distance(b, a)
    assert to[2] <= to[0] + to[1]


@pytest.mark.parametrize("family", [
    Path(2**62),
    Cycle(2**62 - 1),
    Complete(2**61),
    Hamming(62, 2),
    Hamming(10, 50),
    Histograms(60, 15),
    Histograms(5000, 5),
    SortedHistograms(400, 40),
    SortedHistograms(2000, 4),
    Product((Hamming(20, 2), Histograms(30, 6), Path(10**6))),
])  # fmt: skip
@given(st.data())
@settings(deadline=None, max_examples=tried(16, 40))
def test_large_families_number_their_nodes_without_listing_them(family, data):
    indices = st.integers(0, family.number_of_nodes - 1)
    index, other = data.draw(indices), data.draw(indices)
    assert family.number_of_nodes > 10**7
    assert family.index_of(family.nodes[index]) == index
    assert (family.nodes[index] == family.nodes[other]) == (index == other)
    assert 0 <= family.distance(index, other) <= getattr(family, "diameter", 2**62)
    if not isinstance(family, Complete):
        for neighbour in family.neighbours(index).tolist():
            assert family.distance(index, neighbour) == 1


@given(coloured_or_ranked)
@settings(deadline=None)
def test_depth_changes_by_at_most_one_along_an_edge_of_a_class(coloured):
    depths = depth(coloured)
    for tails, heads in coloured.graph.edges():
        inside = coloured.codes[tails] == coloured.codes[heads]
        assert (np.abs(depths[tails] - depths[heads])[inside] <= 1).all()
        # On both sides of an edge between classes lies the boundary; and no edge leaves what has none.
        assert (depths[tails][~inside] == 0).all()
        assert (depths[heads][~inside] == 0).all()
        assert ((depths[tails] == UNREACHABLE) == (depths[heads] == UNREACHABLE)).all()


@given(coloured_or_ranked)
@settings(deadline=None)
def test_the_boundary_morphism_is_a_morphism_that_keeps_colours_and_depths(coloured):
    target, onto = boundary_graph(coloured)
    assert type(target) is type(coloured)
    assert check_morphism(coloured.graph, target.graph, onto.images).holds
    assert preserves_colours(onto, coloured, target)
    assert onto.pull_back(depth(target)).tolist() == depth(coloured).tolist()
    assert set(onto.images.tolist()) == set(range(target.graph.number_of_nodes))  # nothing that is not needed


@given(coloured_or_ranked)
@settings(deadline=None)
def test_a_boundary_graph_is_its_own_boundary_graph(coloured):
    once, _ = boundary_graph(coloured)
    twice, onto = boundary_graph(once)
    assert twice.graph.number_of_nodes == once.graph.number_of_nodes
    assert twice.graph.number_of_edges == once.graph.number_of_edges
    assert sorted(onto.images.tolist()) == list(range(once.graph.number_of_nodes))


def shifted(onto):
    """The same map with two images exchanged: seldom a morphism that keeps colours."""
    images = onto.images.copy()
    images[[0, -1]] = images[[-1, 0]]
    return images


def test_the_laws_catch_a_boundary_morphism_with_two_images_exchanged():
    """Negative control."""
    majority = colour(Hamming(3, 2), lambda word: word.count("1") >= 2)
    target, onto = boundary_graph(majority)
    assert not check_morphism(majority.graph, target.graph, shifted(onto)).holds
    assert not preserves_colours(Morphism(majority.graph, target.graph, shifted(onto)), majority, target)


counted = st.tuples(st.integers(1, 4), st.integers(1, 3)).map(
    lambda size: morphism(Hamming(*size), Histograms(*size), lambda w: tuple(w.count(str(s)) for s in range(size[1])))
)
forgotten = st.tuples(st.integers(0, 5), st.integers(1, 4)).map(
    lambda size: morphism(Histograms(*size), SortedHistograms(*size), lambda h: tuple(sorted(h, reverse=True)))
)
projected = products.map(lambda product: morphism(product, product.factors[0], lambda node: node[0]))


@given(st.one_of(counted, forgotten, projected), st.data())
@settings(deadline=None)
def test_a_node_is_at_least_as_deep_as_its_image(onto, data):
    """Whoever pulls back a mechanism from a small graph never asks for more depth than there is."""
    palette = st.sampled_from(["blue", "red"])
    target = colour(onto.target, [data.draw(palette) for _ in range(onto.target.number_of_nodes)])
    source = colour(onto.source, [target.classes[code] for code in onto.pull_back(target.codes)])
    assert preserves_colours(onto, source, target)
    assert (infinite(depth(source)) >= infinite(onto.pull_back(depth(target)))).all()


@given(st.integers(1, 4), st.integers(1, 3), st.data())
@settings(deadline=None)
def test_composition_applies_one_map_after_the_other_and_is_associative(length, symbols, data):
    first = morphism(
        Hamming(length, symbols), Histograms(length, symbols), lambda w: tuple(w.count(str(s)) for s in range(symbols))
    )
    second = morphism(first.target, SortedHistograms(length, symbols), lambda h: tuple(sorted(h, reverse=True)))
    third = morphism(second.target, Path(length + 1), lambda h: h[0])
    both = first.then(second)
    word = first.source.nodes[data.draw(st.integers(0, first.source.number_of_nodes - 1))]
    assert both(word) == second(first(word))
    assert check_morphism(both.source, both.target, both.images).holds
    assert both.then(third).images.tolist() == first.then(second.then(third)).images.tolist()
    values = np.arange(length + 1)
    assert both.then(third).pull_back(values).tolist() == both.pull_back(third.pull_back(values)).tolist()


@given(graphs)
@settings(deadline=None)
def test_documents_come_back_as_they_went(graph):
    document = json.loads(json.dumps(graph.to_document()))
    again = graph_from_document(document)
    assert again.to_document() == document
    assert again.nodes[:] == graph.nodes[:]
    assert listed(again).indices.tolist() == listed(graph).indices.tolist()


@given(st.lists(names, min_size=1, max_size=6, unique=True))
@settings(deadline=None)
def test_a_key_finds_its_node_unless_it_could_mean_two(listed):
    graph = graph_from_edges([], nodes=listed)
    keys = [key_of_node(node) for node in listed]
    for node, key in zip(listed, keys, strict=True):
        if keys.count(key) == 1 and sum(key_of_node(other) == key or other == key for other in listed) == 1:
            assert node_from_key(graph, key) == node
        assert node_from_key(graph, json.loads(json.dumps(node))) == node if not isinstance(node, str) else True


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=30))
@settings(deadline=None)
def test_order_direction_and_repetition_of_edges_do_not_matter(edges):
    graph = graph_from_edges(edges)
    tails, heads = np.array(edges[::-1] + edges[:3]).T
    again = graph_from_arrays(heads, tails)
    assert again.nodes[:] == graph.nodes[:]
    assert again.indptr.tolist() == graph.indptr.tolist()
    assert again.indices.tolist() == graph.indices.tolist()


# The edges of histograms against a listing that moves one record after another, in the same order.


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
@settings(deadline=None, max_examples=tried(20, 60))
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


# A column released record by record = the exponential mechanism on the Hamming graph, exactly.
#
# The graph is walked, not computed: distances are those of a breadth-first search over tables that differ in one
# record.

LEVEL = 1e-6
"""How often a right sampler may fail this test."""


COLUMNS = [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (1, 4), (1, 5)]


def exponential(x, q, ratio):
    """p(y|x) ∝ r^−(steps from x to y)."""
    steps, waiting = {x: 0}, deque([x])
    while waiting:
        table = waiting.popleft()
        for place, value in product(range(len(x)), range(q)):
            near = (*table[:place], value, *table[place + 1 :])
            if near not in steps:
                steps[near] = steps[table] + 1
                waiting.append(near)
    weights = {y: ratio**-distance for y, distance in steps.items()}
    whole = sum(weights.values())
    return {y: weight / whole for y, weight in weights.items()}


def released(x, q, privacy, *, word_bits, words):
    def one(bits):
        return tuple(release_column(x, q, privacy, source=bits).tolist())

    return law_of(one, word_bits=word_bits, words=words)


def holds(law, stated):
    decided = law.outcomes
    return decided.keys() <= stated.keys() and all(
        decided.get(y, F(0)) <= p <= decided.get(y, F(0)) + law.undecided for y, p in stated.items()
    )


@pytest.mark.parametrize(("records", "q", "ratio"), [(1, 2, 3), (2, 2, 3), (3, 2, 3), (1, 3, 2), (2, 3, 2), (1, 4, 5)])
def test_every_small_column_is_drawn_exactly_from_the_exponential_mechanism(records, q, ratio):
    """Ratios that make every cumulative probability a binary fraction, so that no word is left open."""
    for x in product(range(q), repeat=records):
        law = released(x, q, Privacy(ratio=ratio), word_bits=3, words=records)
        assert law.undecided == 0
        assert law.outcomes == exponential(x, q, F(ratio))


@pytest.mark.parametrize(("records", "q"), COLUMNS)
@pytest.mark.parametrize("ratio", [F(6, 5), F(7, 3), F(10)])
def test_every_small_column_is_bracketed_by_the_exponential_mechanism(records, q, ratio):
    for x in list(product(range(q), repeat=records))[:: max(1, q**records // 3)]:
        law = released(x, q, Privacy(ratio=ratio), word_bits=4, words=records)
        assert holds(law, exponential(x, q, ratio))
        assert not holds(law, exponential(x, q, ratio * 3))  # negative control


def test_with_delta_a_record_is_the_best_randomised_response():
    privacy = Privacy(ratio=2, delta="1/10")
    law = released((1,), 3, privacy, word_bits=6, words=2)
    truth = (2 + F(1, 10) * 2) / 4
    assert holds(law, {(1,): truth, (0,): (1 - truth) / 2, (2,): (1 - truth) / 2})


@pytest.mark.parametrize(("records", "q"), [(2, 2), (3, 2), (2, 3)])
def test_neighbouring_columns_are_exactly_close_and_no_closer(records, q):
    ratio, columns = F(3), list(product(range(q), repeat=records))
    laws = {x: exponential(x, q, ratio) for x in columns}
    rows = {x: [laws[x][y] for y in columns] for x in columns}
    near = [(x, y) for x, y in product(columns, columns) if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
    assert max(hockey_stick(rows[x], rows[y], ratio) for x, y in near) == 0
    assert min(hockey_stick(rows[x], rows[y], ratio - F(1, 1000)) for x, y in near) > 0


@pytest.mark.parametrize(("records", "q"), COLUMNS)
def test_expected_changes_is_the_mean_distance(records, q):
    x = (0,) * records
    mean = sum(p * sum(a != b for a, b in zip(x, y, strict=True)) for y, p in exponential(x, q, F(7, 3)).items())
    assert expected_changes(records, q, Privacy(ratio=F(7, 3))) == mean


def test_released_columns_keep_their_shape_and_range():
    values = np.arange(60).reshape(3, 20) % 7
    drawn = release_column(values, 7, Privacy(epsilon="0.5"))
    assert drawn.shape == values.shape
    assert drawn.min() >= 0
    assert drawn.max() < 7


def test_categories_in_bulk_follow_their_law():
    """One chi-square over (true, released) pairs at 1e-6, which a ratio 3 % off fails."""
    q, each = 4, 250_000
    values = np.repeat(np.arange(q), each)
    drawn = release_column(values, q, Privacy(ratio=3))
    counts = np.bincount(values * q + drawn, minlength=q * q).reshape(q, q)

    def p_value(ratio):
        expected = np.where(np.eye(q, dtype=bool), ratio, 1) / (ratio + q - 1) * each
        return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), q * (q - 1))

    assert p_value(3) > LEVEL > p_value(3 * 1.03)
