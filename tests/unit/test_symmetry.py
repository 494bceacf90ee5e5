"""Symmetry as people meet it: verdicts in words, refusals, sizes."""

import sys

import numpy as np
import pytest

from irisdp import BadInput
from irisdp.graphs import Cycle, Hamming, Histograms, Path, graph_from_edges, regular_layers, symmetry


def test_a_verdict_names_its_witness():
    verdict = regular_layers(Histograms(4, 3))
    assert not verdict.regular
    assert (
        verdict.text == "nodes [2, 2, 0] and [2, 1, 1] in layer 2 of node [4, 0, 0] have 1 and 2 neighbours in layer 1"
    )
    assert (verdict.start, verdict.layer, verdict.toward, verdict.counts) == (0, 2, 1, (1, 2))


def test_regular_layers_around_one_node_or_all():
    assert regular_layers(Path(5), 2).text == "the layers around node 2 are regular"
    assert not regular_layers(Path(5)).regular
    assert regular_layers(Cycle(9)).text == "the layers around every node are regular"
    assert regular_layers(Hamming(8, 2), group=symmetry(Hamming(8, 2))).regular


def test_layers_need_a_connected_graph():
    with pytest.raises(BadInput, match="connected"):
        regular_layers(graph_from_edges([("a", "b")], nodes=["a", "b", "c"]))


def test_orbits_and_representatives():
    group = symmetry(Path(5))
    assert group.orbit_of.tolist() == [0, 1, 2, 1, 0]
    assert group.representatives.tolist() == [0, 1, 2]
    assert group.orbit_sizes.tolist() == [2, 2, 1]
    assert not group.vertex_transitive
    assert symmetry(Hamming(3, 3)).vertex_transitive


def test_colours_break_symmetry():
    assert symmetry(Cycle(6), colours=[1, 0, 0, 0, 0, 0]).number_of_orbits == 4
    assert symmetry(Cycle(6), colours=np.zeros(6, int)).vertex_transitive


def test_large_symmetric_graphs_are_quick():
    assert symmetry(Hamming(12, 2)).vertex_transitive


def test_a_missing_igraph_is_said_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(BadInput) as refused:
        symmetry(graph_from_edges([(0, 1), (1, 2)]))
    assert refused.value.field == "igraph"
    assert symmetry(Cycle(5)).vertex_transitive


def test_too_large_a_graph_is_refused():
    with pytest.raises(BadInput) as refused:
        symmetry(Path(10**9))
    assert refused.value.field == "graph"
