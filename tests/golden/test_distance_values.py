"""Optima on graphs of datasets, and what full-exponent weights cost, as docs/theory.md#databases states."""

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from irisdp import Mechanism, Privacy, audit, design
from irisdp.design import layered_distance, relaxations
from irisdp.graphs import Cycle, Hamming, Histograms, Path, graph_from_networkx
from irisdp.mechanisms import Exponential

OF_THE_RATIO = 1e-8
"""e is written as a fraction with a denominator up to 10^9."""


PETERSEN = graph_from_networkx(nx.petersen_graph())

SIX_DIGITS = 5e-7
"""The stated values are rounded to six places."""

FOUR_DIGITS = 5e-5

OPTIMA = [
    (Cycle(7), "0.748252"),
    (Hamming(3, 2), "0.806824"),
    (PETERSEN, "0.935524"),
    (Path(9), "0.701366"),
    (Histograms(4, 3), "1.031329"),
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
    assert design.distance(Hamming(3, 2), privacy).objective.value == Fraction(3, 4)
    assert design.distance(Hamming(2, 3), privacy).objective.value == Fraction(4, 5)
    assert design.distance(PETERSEN, privacy).objective.value == Fraction(7, 8)
    assert design.distance(Cycle(7), privacy).objective.value == Fraction(2 * (9 + 6 + 3), 27 + 2 * (9 + 3 + 1))


def spent(graph, privacy):
    """Return the ε that weights r^−d really spend."""
    scores = [[-d for d in graph.distances_from(i).tolist()] for i in range(graph.number_of_nodes)]
    full = Exponential.of(scores, 1 / privacy.ratio)
    rows = [full.row(i) for i in range(graph.number_of_nodes)]
    return float(audit(Mechanism.from_matrix(rows, privacy=privacy, graph=graph)).epsilon_at_delta)


def test_full_exponent_costs_more_without_transitivity():
    privacy = Privacy(ratio=Fraction(math.e).limit_denominator(10**9))
    assert abs(spent(Path(9), privacy) - 1.2089) < FOUR_DIGITS
    assert abs(spent(Histograms(4, 3), privacy) - 1.2990) < FOUR_DIGITS
    assert abs(spent(Cycle(9), privacy) - 1) < OF_THE_RATIO
    assert abs(spent(PETERSEN, privacy) - 1) < OF_THE_RATIO


def test_spent_epsilon_by_hand():
    """The path of 9 nodes: ε more than its share is the log of neighbouring normalisers, in floats throughout."""
    distances = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    weights = np.exp(-distances.astype(float))
    rows = weights / weights.sum(axis=1, keepdims=True)
    assert abs(np.abs(np.diff(np.log(rows), axis=0)).max() - 1.2089) < FOUR_DIGITS


def test_all_relaxations_of_the_seven_cycle_agree():
    found = relaxations(Cycle(7), Privacy(ratio=3))
    stated = Fraction(36, 53)
    assert {found.two.value, found.three.value, found.layered[0].value, *found.closed_form} == {stated}
