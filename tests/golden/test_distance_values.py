"""Optima on graphs of datasets, and what full-exponent weights cost, as docs/theory.md#databases states."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design, graphs
from irisdp.design import layered_distance, relaxations
from irisdp.mechanisms import Exponential

OF_THE_RATIO = 1e-8
"""e is written as a fraction with a denominator up to 10^9."""


PETERSEN = graphs.graph_from_networkx(nx.petersen_graph())

SIX_DIGITS = 5e-7
"""The stated values are rounded to six places."""

FOUR_DIGITS = 5e-5

OPTIMA = [
    (graphs.Cycle(7), "0.748252"),
    (graphs.Hamming(3, 2), "0.806824"),
    (PETERSEN, "0.935524"),
    (graphs.Path(9), "0.701366"),
    (graphs.Histograms(4, 3), "1.031329"),
]


@pytest.mark.parametrize(("graph", "stated"), OPTIMA, ids=[stated for _, stated in OPTIMA])
def test_mean_distances_at_one(graph, stated):
    """Certified at e rounded to 128 bits; both routes where the graph is symmetric enough."""
    privacy = Privacy(epsilon=1)
    made = design.distance(graph, privacy)
    assert abs(float(made.objective.value) - float(stated)) < SIX_DIGITS
    assert 0 <= made.objective.value - made.objective.lower_bound < Fraction(1, 10**15)
    assert audit(made).holds
    if stated not in ("0.701366", "1.031329"):
        exponential = design.exponential(graph, privacy).objective
        assert abs(exponential.value - made.objective.value) < Fraction(1, 10**15)
        assert abs(layered_distance(graph, 0, privacy) - made.objective.value) < Fraction(1, 10**15)


def test_optima_as_fractions():
    """What the values above are at r = 3: cubes are independent bits, Petersen has layers of 1, 3 and 6 nodes."""
    privacy = Privacy(ratio=3)
    assert design.distance(graphs.Hamming(3, 2), privacy).objective.value == Fraction(3, 4)
    assert design.distance(graphs.Hamming(2, 3), privacy).objective.value == Fraction(4, 5)
    assert design.distance(PETERSEN, privacy).objective.value == Fraction(7, 8)
    assert design.distance(graphs.Cycle(7), privacy).objective.value == Fraction(2 * (9 + 6 + 3), 27 + 2 * (9 + 3 + 1))


def spent(graph, privacy):
    """Return the ε that weights r^−d really spend."""
    scores = [[-d for d in graph.distances_from(i).tolist()] for i in range(graph.number_of_nodes)]
    full = Exponential.of(scores, 1 / privacy.ratio)
    rows = [full.row(i) for i in range(graph.number_of_nodes)]
    return float(audit(Mechanism.from_matrix(rows, privacy=privacy, graph=graph)).epsilon_at_delta)


def test_full_exponent_costs_more_without_transitivity():
    privacy = Privacy(ratio=Fraction(math.e).limit_denominator(10**9))
    assert abs(spent(graphs.Path(9), privacy) - 1.2089) < FOUR_DIGITS
    assert abs(spent(graphs.Histograms(4, 3), privacy) - 1.2990) < FOUR_DIGITS
    assert abs(spent(graphs.Cycle(9), privacy) - 1) < OF_THE_RATIO
    assert abs(spent(PETERSEN, privacy) - 1) < OF_THE_RATIO


def test_spent_epsilon_by_hand():
    """The path of 9 nodes: ε more than its share is the log of neighbouring normalisers, in floats throughout."""
    distances = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    weights = np.exp(-distances.astype(float))
    rows = weights / weights.sum(axis=1, keepdims=True)
    assert abs(np.abs(np.diff(np.log(rows), axis=0)).max() - 1.2089) < FOUR_DIGITS


def test_all_relaxations_of_the_seven_cycle_agree():
    found = relaxations(graphs.Cycle(7), Privacy(ratio=3))
    stated = Fraction(36, 53)
    assert {found.two.value, found.three.value, found.layered[0].value, *found.closed_form} == {stated}


# Published graphs: figures 1 and 3 of [DOliveira2021], example 1 of [Gu2024], known sizes and diameters.

WORDS = ["".join(votes) for votes in itertools.product("12", repeat=3)]
VOTES = graphs.graph_from_edges(
    [(v, w) for v, w in itertools.combinations(WORDS, 2) if sum(a != b for a, b in zip(v, w, strict=True)) == 1],
    nodes=WORDS,
)


def majority(votes):
    return "blue" if votes.count("1") >= 2 else "red"


def is_line(coloured, n_blue, n_red):
    expected = graphs.line(n_blue, n_red, coloured.classes)
    return (
        coloured.graph.to_document() == expected.graph.to_document()
        and coloured.codes.tolist() == expected.codes.tolist()
    )


def test_majority_of_three_voters_is_the_2_2_line():
    """[DOliveira2021], Figures 1a and 1c, Definition 7."""
    coloured = graphs.colour(VOTES, majority)
    target, onto = graphs.boundary_graph(coloured)
    assert target.classes == ("blue", "red")
    assert is_line(target, 2, 2)
    assert {node: onto(node) for node in WORDS} == {
        **{"111": 1, "112": 2, "121": 2, "211": 2},
        **{"122": 3, "212": 3, "221": 3, "222": 4},
    }
    assert dict(zip(WORDS, graphs.depth(coloured).tolist(), strict=True)) == {
        word: 1 if word in ("111", "222") else 0 for word in WORDS
    }


def test_example_2_corrected():
    """[DOliveira2021], Example 2, with {122, 212, 221} for {122, 211, 221} (211 would be sent to two nodes)."""
    blue_side = {"111": 1, "112": 2, "121": 2, "211": 2}
    target = graphs.line(2, 2)
    corrected = graphs.morphism(VOTES, target.graph, {**blue_side, "122": 3, "212": 3, "221": 3, "222": 4})
    assert graphs.preserves_colours(corrected, graphs.colour(VOTES, majority), target)
    with pytest.raises(BadInput, match="leave out the node 212"):
        graphs.morphism(VOTES, target.graph, {**blue_side, "122": 3, "211": 3, "221": 3, "222": 4})
    # Read with 211 on the red side and 212 anywhere, it tears an edge: 111 and 211 become d_1 and d_3.
    for image in (1, 2, 3, 4):
        printed = {**blue_side, "122": 3, "211": 3, "221": 3, "212": image, "222": 4}
        assert not graphs.check_morphism(VOTES, target.graph, printed).holds


def test_voluntary_voters_are_the_2_2_line_too():
    """[DOliveira2021], Figure 1b: who of three took part; voters 1 and 2 vote blue, voter 3 red, a tie is red."""
    groups = [frozenset(group) for size in range(4) for group in itertools.combinations((1, 2, 3), size)]
    named = {group: "".join(map(str, sorted(group))) for group in groups}
    graph = graphs.graph_from_edges(
        [(named[a], named[b]) for a, b in itertools.combinations(groups, 2) if len(a ^ b) == 1], nodes=named.values()
    )
    coloured = graphs.colour(graph, {named[g]: "blue" if len(g & {1, 2}) > len(g & {3}) else "red" for g in groups})
    target, onto = graphs.boundary_graph(coloured)
    assert is_line(target, 2, 2)
    # Red comes first here, since nobody voting is a tie: the deepest red group is {3}, the deepest blue one {1, 2}.
    assert (onto("3"), onto("12")) == (1, 4)


def test_the_line():
    """[DOliveira2021], Definition 6 and Example 3: the (4, 3)-line, with nodes 1 to 7 and the boundary {4, 5}."""
    coloured = graphs.line(4, 3)
    assert coloured.graph.nodes[:] == (1, 2, 3, 4, 5, 6, 7)
    assert [coloured.colour_of(node) for node in range(1, 8)] == ["blue"] * 4 + ["red"] * 3
    assert graphs.depth(coloured).tolist() == [3, 2, 1, 0, 0, 1, 2]
    again, onto = graphs.boundary_graph(coloured)
    assert is_line(again, 4, 3)
    assert onto.images.tolist() == list(range(7))


def test_five_cycle_of_the_rainbow_paper():
    """[Gu2024], Example 1: d_1 to d_4 rank (1, 2, 3), d_5 ranks (1, 3, 2)."""
    graph = graphs.graph_from_edges([(f"d{i}", f"d{i % 5 + 1}") for i in range(1, 6)])
    first, second = (1, 2, 3), (1, 3, 2)
    ranked = graphs.rank(graph, {"d1": first, "d2": first, "d3": first, "d4": first, "d5": second})
    mask = ranked.in_class(first)
    assert [node for node, on in zip(graph.nodes, graphs.boundary(ranked) & mask, strict=True) if on] == ["d1", "d4"]
    assert [node for node, on in zip(graph.nodes, graphs.interior(ranked) & mask, strict=True) if on] == ["d2", "d3"]
    assert graphs.touching(ranked) == [(first, second)]
    target, onto = graphs.boundary_graph(ranked)
    assert isinstance(target, graphs.RankedGraph)
    assert target.outputs == (1, 2, 3)
    assert target.graph.nodes[:] == ((first, 0), (first, 1), (second, 0))
    assert [list(map(target.graph.nodes.at, pair)) for pair in ((0, 1), (0, 2))] == [
        [(first, 0), (first, 1)],
        [(first, 0), (second, 0)],
    ]
    assert target.graph.indices.tolist() == [1, 2, 0, 0]
    assert {node: onto(node) for node in graph.nodes} == {
        **{"d1": (first, 0), "d2": (first, 1), "d3": (first, 1), "d4": (first, 0)},
        "d5": (second, 0),
    }


def test_rankings_of_three_candidates_by_a_histogram():
    """[Gu2024], Definition 8 on more than two rankings: heads are joined exactly where classes touch."""
    graph = graphs.Histograms(4, 3)
    ranked = graphs.rank(graph, lambda counts: sorted("abc", key=lambda name: (-counts["abc".index(name)], name)))
    target, _ = graphs.boundary_graph(ranked)
    heads = [node for node in target.graph.nodes if node[1] == 0]
    joined = {
        frozenset((target.graph.nodes[i][0], target.graph.nodes[int(j)][0]))
        for i, node in enumerate(target.graph.nodes)
        for j in target.graph.neighbours(i)
        if node[1] == 0 == target.graph.nodes[int(j)][1]
    }
    assert len(heads) == len(ranked.classes) == 6
    assert joined == {frozenset(pair) for pair in graphs.touching(ranked)}


def test_components_without_a_boundary_get_a_node_of_their_own():
    graph = graphs.graph_from_edges([("a", "b"), ("b", "c"), ("d", "e")], nodes="abcde")
    coloured = graphs.colour(graph, ["blue", "blue", "red", "red", "red"])
    assert graphs.depth(coloured).tolist() == [1, 0, 0, graphs.UNREACHABLE, graphs.UNREACHABLE]
    assert graphs.components_without_boundary(coloured).tolist() == [1]
    target, onto = graphs.boundary_graph(coloured)
    assert target.graph.to_document() == {"nodes": [1, 2, 3, ["red", -1]], "edges": [[1, 2], [2, 3]]}
    assert onto("e") == ("red", -1)


@pytest.mark.parametrize(
    ("total", "types", "partitions"), [(5, 5, 7), (10, 10, 42), (20, 20, 627), (100, 100, 190_569_292), (100, 3, 884)]
)
def test_numbers_of_partitions(total, types, partitions):
    """OEIS A000041 and, for at most three parts, the nearest integer to (n + 3)²/12."""
    assert graphs.SortedHistograms(total, types).number_of_nodes == partitions


def test_sizes_of_hamming_graphs_and_histograms():
    """H(n, q) has q^n nodes of degree n(q − 1); histograms of N in T types number C(N + T − 1, T − 1)."""
    assert (graphs.Hamming(4, 3).number_of_nodes, graphs.Hamming(4, 3).number_of_edges) == (81, 81 * 8 // 2)
    assert (graphs.Histograms(18, 3).number_of_nodes, graphs.Histograms(18, 3).diameter) == (190, 18)
