"""Laws of graphs: distances, numbering, depth, boundary graphs, morphisms, documents."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "family",
    [
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
    ],
)
@given(st.data())
@settings(deadline=None, max_examples=40)
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
projected = products.map(
    lambda product: morphism(product, product.factors[0], lambda node: node[0]),
)


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
