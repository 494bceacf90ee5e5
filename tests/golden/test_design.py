"""Published optima, and optima that docs/theory.md states, as fractions or to the digits printed."""

from fractions import Fraction

import networkx as nx
import pytest

from irisdp import Privacy, design, mechanisms
from irisdp.graphs import Cycle, Hamming, Histograms, Path, graph_from_networkx

PETERSEN = graph_from_networkx(nx.petersen_graph())

SIX_DIGITS = 5e-7
"""The stated values are rounded to six places."""


def test_the_consumer_of_table_1():
    """[Gupte2010], Table 1, n = 3, α = 1/4: exactly 168/415, which is printed rounded (docs/theory.md#corrections)."""
    privacy = Privacy(ratio=4)
    made = design.consumer(3, "absolute", privacy)
    assert (made.objective.value, made.objective.lower_bound) == (Fraction(168, 415), Fraction(168, 415))
    reading = [["68/83", "15/83", 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, "15/83", "68/83"]]
    assert mechanisms.geometric(3, privacy).post_process(reading).matrix() == made.matrix()
    assert made.row(0) == tuple(Fraction(x, 1660) for x in (1088, 489, 66, 17))
    # The reading as printed, 9/11 and 2/11, is a little worse.
    printed = [["9/11", "2/11", 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, "2/11", "9/11"]]
    rows = mechanisms.geometric(3, privacy).post_process(printed).matrix()
    assert max(sum(abs(i - v) * p for v, p in enumerate(row)) for i, row in enumerate(rows)) > Fraction(168, 415)


@pytest.mark.parametrize(
    ("graph", "stated"),
    [
        (Cycle(7), 0.748252),
        (Hamming(3, 2), 0.806824),
        (PETERSEN, 0.935524),
        (Path(9), 0.701366),
        (Histograms(4, 3), 1.031329),
    ],
    ids=["7-cycle", "3-cube", "Petersen", "9-path", "(4,3)-histograms"],
)
def test_mean_distances(graph, stated):
    objective = design.distance(graph, Privacy(epsilon=1)).objective
    assert abs(float(objective.value) - stated) < SIX_DIGITS
    assert 0 <= objective.value - objective.lower_bound <= objective.value / 10**15


@pytest.mark.parametrize("ratio", [Fraction(3), Fraction(6, 5), Fraction(20)])
def test_petersen_is_the_exponential_mechanism_exactly(ratio):
    """Vertex-transitive with regular layers of 1, 3 and 6 nodes: the weights α^d are optimal [Alda2017]."""
    alpha = 1 / ratio
    stated = (3 * alpha + 12 * alpha**2) / (1 + 3 * alpha + 6 * alpha**2)
    objective = design.distance(PETERSEN, Privacy(ratio=ratio)).objective
    assert (objective.value, objective.lower_bound) == (stated, stated)
    if ratio == 3:
        assert stated == Fraction(7, 8)


@pytest.mark.parametrize("n", [4, 9])
def test_zero_one_consumers_get_the_balanced_optimum(n):
    """With everything possible, no mechanism is right more often at its worst than q values one after another allow."""
    made = design.consumer(1, "zero-one", Privacy(ratio=3, delta="1/10"))
    assert made.objective.value == 1 - mechanisms.balanced_truth(2, made.privacy)
    uniform = design.consumer(n, "absolute", Privacy(ratio=1))
    assert uniform.objective.value == Fraction(n, 2)


def test_sixteen_points_exactly():
    """How long it takes is measured in benchmarks/exact_optimum.py."""
    made = design.consumer(16, "absolute", Privacy(ratio=4))
    assert made.objective.value == made.objective.lower_bound == Fraction(6185760200, 11615077591)


def test_thirty_two_points_exactly():
    made = design.consumer(32, "absolute", Privacy(ratio=4))
    stated = Fraction(43254142578391251400, 81101798809460307031)
    assert made.objective.value == made.objective.lower_bound == stated


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", 1, 7, 20, 50])
def test_long_ratios_leave_no_gap_to_speak_of(epsilon):
    made = design.consumer(8, "absolute", Privacy(epsilon=epsilon))
    value, bound = made.objective.value, made.objective.lower_bound
    assert 0 <= value - bound <= value / 10**14
    assert max(len(str(x)) for row in made.rows for x in row) < 201


def test_the_lines_of_the_binary_paper():
    """Majority of three, ε = log 2, δ = 0.1: errors 0.3 at depth 0 and 0.1 at depth 1 (docs/theory.md#colourings)."""
    made = design.balanced_line(2, 2, Privacy(ratio=2, delta="1/10"), outputs=("no", "yes"))
    assert [row[1] for row in made.matrix()] == [Fraction(1, 10), Fraction(3, 10), Fraction(7, 10), Fraction(9, 10)]
    assert made.objective.value == made.objective.lower_bound == Fraction(1, 5)
