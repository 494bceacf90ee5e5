"""The largest safe exponent of exponential mechanisms, against privacy recomputed row by row in fractions."""

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design
from irisdp.design._exponential_rate import safe_rate
from irisdp.graphs import Cycle, Hamming, Histograms, Path, SortedHistograms, graph_from_edges, graph_from_networkx
from irisdp.mechanisms import Exponential, rate_above, sensitivity
from support.seeds import fresh_random
from support.sweeps import tried

FLOATS = 1e-14
"""A handful of operations in doubles on numbers of size 1."""


HAIR = Fraction(1, 1 << 29)
"""Safe rates are proved smallest to 2^-30 of their size."""


def edge_list(graph):
    return [(i, j) for ends in graph.edges() for i, j in zip(*(end.tolist() for end in ends), strict=True)]


def rows_at(scores, prior, rate):
    """Weights prior·rate^−score by the definition; whole scores."""
    weights = [[w / rate**score for w, score in zip(prior, row, strict=True)] for row in scores]
    return [[w / sum(row) for w in row] for row in weights]


def spent_ratio(rows, edges):
    pairs = [*edges, *((j, i) for i, j in edges)]
    return max((p / q for i, j in pairs for p, q in zip(rows[i], rows[j], strict=True)), default=Fraction(1))


def hop_scores(graph):
    return [[-d for d in graph.distances_from(i).tolist()] for i in range(graph.number_of_nodes)]


def random_case(seed):
    chance = fresh_random(seed)
    n, answers = chance.randint(2, 5), chance.randint(2, 5)
    edges = [(i, i + 1) for i in range(n - 1)] + [
        (i, j) for j in range(n) for i in range(j - 1) if chance.random() < 0.3
    ]
    scores = [[chance.randint(-4, 4) for _ in range(answers)] for _ in range(n)]
    prior = [Fraction(chance.choice([1, 1, 2, 10, "1/50"])) for _ in range(answers)]
    ratio = chance.choice(["101/100", "2", "5", "100"])
    return graph_from_edges(edges, nodes=range(n)), scores, prior, Privacy(ratio=ratio)


@pytest.mark.parametrize("seed", range(tried(30, 60)))
def test_the_safe_rate_is_private_and_nothing_below_is(seed):
    """Random scores and priors; rates below are tried on a grid and a hair away, since privacy need not be monotone."""
    graph, scores, prior, privacy = random_case(seed)
    made = design.safe_exponential(scores, graph, privacy, prior=prior)
    assert safe_rate(made.levels, made.prior, graph, privacy).proved
    exact = [list(made.row(i)) for i in range(len(scores))]
    assert spent_ratio(exact, edge_list(graph)) <= privacy.ratio
    units = [[score / made.unit for score in row] for row in scores]
    largest = sensitivity(scores, graph) / made.unit
    different = any(row != exact[0] for row in exact)  # otherwise any rate will do
    if all(x.denominator == 1 for row in units for x in row):
        whole = [[int(x) for x in row] for row in units]
        assert rows_at(whole, prior, made.rate) == exact
        below = [made.rate * (1 - HAIR), *(made.rate * Fraction(k, 40) for k in range(20, 40))]
        if different:
            for rate in below:
                assert spent_ratio(rows_at(whole, prior, rate), edge_list(graph)) > privacy.ratio
    if largest and different:
        half = rate_above(privacy, 2 * largest)
        assert made.rate <= half
        assert half ** int(2 * largest) * privacy.ratio >= 1


GRAPHS = {
    "cycle": Cycle(8),
    "cube": Hamming(3, 2),
    "words": Hamming(2, 3),
    "Petersen": graph_from_networkx(nx.petersen_graph()),
    "prism": graph_from_networkx(nx.circular_ladder_graph(5)),
    "path": Path(9),
    "histograms": Histograms(4, 3),
    "sorted histograms": SortedHistograms(7, 7),
    "star": graph_from_networkx(nx.star_graph(4)),
    "tree": graph_from_networkx(nx.balanced_tree(2, 2)),
}
TRANSITIVE = {"cycle", "cube", "words", "Petersen", "prism"}


@pytest.mark.parametrize("ratio", [Fraction(11, 10), Fraction(3), Fraction(40)], ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_as_scores_full_epsilon_if_transitive_else_the_most_the_audit_accepts(name, ratio):
    graph, privacy = GRAPHS[name], Privacy(ratio=ratio)
    scores = hop_scores(graph)
    assert sensitivity(scores, graph) == 1
    made = design.safe_exponential(scores, graph, privacy)

    def verdict(rate):
        rows = rows_at(scores, [Fraction(1)] * len(scores), rate)
        return audit(Mechanism.from_matrix(rows, privacy=privacy, graph=graph))

    assert verdict(made.rate).private
    assert not verdict(made.rate * (1 - HAIR)).private
    assert made.rate**2 <= 1 / ratio * (1 + HAIR)
    assert (made.rate == 1 / ratio) == (name in TRANSITIVE)
    if name not in TRANSITIVE:
        assert not verdict(1 / ratio).private
    design_itself = design.exponential(graph, privacy)
    assert audit(design_itself).holds
    value = sum(
        d * p for row, line in zip(scores, verdict_rows(made), strict=True) for d, p in zip(row, line, strict=True)
    )
    assert abs(design_itself.objective.value + value / len(scores)) < Fraction(1, 10**30)


def verdict_rows(made):
    return [made.row(i) for i in range(len(made.levels))]


def test_a_too_generous_search_would_be_noticed():
    """Negative control: the rate of full ε passes on the cycle, and breaks on the path (docs/theory.md#databases)."""
    privacy = Privacy(ratio=Fraction(math.e).limit_denominator(10**9))
    for graph, cost in ((Cycle(9), 1.0), (Path(9), 1.2089)):
        rows = rows_at(hop_scores(graph), [1] * 9, 1 / privacy.ratio)
        assert abs(math.log(spent_ratio(rows, edge_list(graph))) - cost) < 5e-5


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 7), Fraction(10**6), Fraction(5, 3)], ids=str)
def test_units_and_shifts_of_a_row_change_nothing(scale):
    graph, privacy = Path(4), Privacy(ratio=3)
    scores = hop_scores(graph)
    shifted = [[scale * score + 5 * i for score in row] for i, row in enumerate(scores)]
    first, second = (design.safe_exponential(table, graph, privacy) for table in (scores, shifted))
    assert (first.rate, first.levels) == (second.rate, second.levels)
    assert second.unit == scale


@pytest.mark.parametrize("gap", [10**6, 10**9])
def test_nothing_underflows(gap):
    """ε·score of 10^6 and beyond: the smallest probability is enclosed, rows are private, the best answer wins."""
    scores = [[0, -1, -gap], [-1, 0, -gap]]
    graph, privacy = Path(2), Privacy(ratio=Fraction(math.e).limit_denominator(1000))
    made = design.safe_exponential(scores, graph, privacy)
    if gap == 10**6:
        smallest = made.probability(0, 2)
        assert 0 < smallest.lower <= smallest.upper
        assert smallest.upper - smallest.lower <= smallest.lower / 2**50
        size = smallest.lower.numerator.bit_length() - smallest.lower.denominator.bit_length()
        expected = gap * math.log(made.rate) - math.log(1 + float(made.rate))
        assert abs(size * math.log(2) - expected) < 2
    else:
        with pytest.raises(BadInput, match="probability"):
            made.probability(0, 2)
    low, high = made.brackets(0, 64)[2]
    assert 2**64 - 2 <= low <= 2**64 <= high
    written = design.exponential(graph, privacy, scores=scores)
    assert audit(written).holds
    assert written.row(0)[2] < Fraction(1, 10**30)
    assert abs(float(written.row(0)[0]) - 1 / (1 + float(made.rate))) < FLOATS


def test_probabilities_and_brackets_enclose_the_exact_rows():
    made = Exponential.of([[3, 0, "7/2", -2]], "2/5", prior=[1, 2, "1/3", 9])
    exact = made.row(0)
    weights = [w * 0.4 ** (-2 * float(s)) for w, s in zip([1, 2, 1 / 3, 9], [3, 0, 3.5, -2], strict=True)]
    assert np.allclose([float(x) for x in exact], np.array(weights) / sum(weights), rtol=FLOATS)
    for answer, p in enumerate(exact):
        found = made.probability(0, answer)
        assert found.lower <= p <= found.upper
        assert found.upper - found.lower <= p / 2**60
        low, high = made.brackets(0, 100)[answer]
        assert low <= sum(exact[:answer]) * 2**100 <= high <= low + 2
