"""Laws of certify: streaming equals listing, the smallest ratio is smallest, pairs dominate adaptive composition, and
the stand-alone verifier's own graphs and ratios are the library's."""

import itertools
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Mechanism, Privacy, audit
from irisdp._exact import exp_below
from irisdp.certify import _audited_mechanism, _privacy_profile, dominating_pair, privacy_profile, verify_mechanism
from irisdp.graphs import Path, graph_from_arrays, graph_from_document
from support.closeness import hockey_stick
from support.seeds import fresh_generator
from support.sweeps import tried

ratios = st.fractions(min_value=1, max_value=6, max_denominator=12)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=20)


def laws(outputs):
    weights = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    return weights.map(lambda row: tuple(Fraction(weight, sum(row)) for weight in row))


# Streaming over edges.


@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 60), st.integers(0, 10**6), st.integers(1, 8))
@settings(max_examples=tried(32, 200), deadline=None)
def test_distinct_pairs_are_those_of_the_listed_edges(nodes, rows, edges, seed, buffer):
    random = fresh_generator(seed)
    tails, heads = random.integers(0, nodes, (2, edges))
    graph = graph_from_arrays(tails, heads, nodes=range(nodes)) if edges else Path(nodes)
    row_of = random.integers(0, rows, graph.number_of_nodes)
    expected = defaultdict(int)
    for some_tails, some_heads in graph.edges():
        for a, b in zip(some_tails.tolist(), some_heads.tolist(), strict=True):
            if row_of[a] != row_of[b]:
                expected[tuple(sorted((int(row_of[a]), int(row_of[b]))))] += 1
    before, _audited_mechanism._BUFFER = (
        _audited_mechanism._BUFFER,
        buffer,
    )  # merge often, as on graphs of many millions of edges
    try:
        found = _audited_mechanism.distinct_row_pairs(graph, row_of)
    finally:
        _audited_mechanism._BUFFER = before
    listed = zip(found.first.tolist(), found.second.tolist(), strict=True)
    assert dict(zip(listed, found.counts.tolist(), strict=True)) == expected
    assert graph.adjacent(found.tails, found.heads).all()
    assert (row_of[found.tails] == found.first).all() and (row_of[found.heads] == found.second).all()


# The audit's two numbers and its tightest edge.


@given(st.lists(laws(3), min_size=2, max_size=4), ratios, deltas)
@settings(max_examples=tried(48, 300), deadline=None)
def test_the_audit_is_the_definition(rows, ratio, delta):
    verdict = audit(Mechanism.from_matrix(rows, privacy=Privacy(ratio=ratio, delta=delta), graph=Path(len(rows))))
    directed = [pair for a, b in itertools.pairwise(rows) for pair in ((a, b), (b, a))]
    assert verdict.delta_at_epsilon == max(hockey_stick(p, q, ratio) for p, q in directed)
    assert verdict.private == (verdict.delta_at_epsilon <= delta)
    smallest = verdict.ratio_at_delta
    if smallest is None:
        assert max(sum(a for a, b in zip(p, q, strict=True) if b == 0) for p, q in directed) > delta
        return
    assert all(hockey_stick(p, q, smallest) <= delta for p, q in directed)
    if smallest > 1:
        below = smallest - Fraction(1, 10**30)
        assert any(hockey_stick(p, q, below) > delta for p, q in directed)
    if verdict.tightest is not None:
        p, q = (rows[node] for node in verdict.tightest.edge)
        event = [int(v in verdict.tightest.outputs) for v in range(3)]
        gained = sum(e * (a - smallest * b) for e, a, b in zip(event, p, q, strict=True))
        assert gained == hockey_stick(p, q, smallest)
        assert gained == delta or smallest == 1


@given(st.lists(laws(3), min_size=2, max_size=4))
@settings(max_examples=tried(32, 200), deadline=None)
def test_a_profile_is_convex_falls_and_mirrors_itself(rows):
    found = privacy_profile(Mechanism.from_matrix(rows, privacy=Privacy(ratio=1), graph=Path(len(rows))))
    slopes = [(b - a) / (s - r) for (r, a), (s, b) in itertools.pairwise(zip(found.ratios, found.deltas, strict=True))]
    assert slopes == sorted(slopes) and all(-1 <= slope < 0 for slope in slopes)
    assert found.delta_at(ratio=0) == 1
    for ratio in (Fraction(1, 3), Fraction(1), Fraction(7, 4)):
        assert found.delta_at(ratio=ratio) == 1 - ratio + ratio * found.delta_at(ratio=1 / ratio)


# Adaptive composition: the second mechanism is chosen by the first answer.


@given(st.tuples(laws(2), laws(2)), st.tuples(laws(2), laws(2)), st.tuples(laws(2), laws(2)), ratios)
@settings(max_examples=tried(48, 300), deadline=None)
def test_a_pair_that_dominates_both_choices_dominates_adaptive_composition(first, second, third, ratio):
    graph = Path(2)
    made = [Mechanism.from_matrix(rows, privacy=Privacy(ratio=1), graph=graph) for rows in (first, second, third)]
    profiles = [privacy_profile(one) for one in made]
    later = _privacy_profile.profile_of_lines(
        line
        for one in (second, third)
        for pair in (one, one[::-1])
        for line in _privacy_profile.lines_of_pair(flint_pairs(*pair))
    )
    joint = [tuple(row[0] * p for p in second[k]) + tuple(row[1] * p for p in third[k]) for k, row in enumerate(first)]
    pair_one, pair_two = dominating_pair(profiles[0]), dominating_pair(later)
    assert all(later.dominates(one) for one in profiles[1:])
    product_p = [a * b for a, b in itertools.product(pair_one.upper, pair_two.upper)]
    product_q = [a * b for a, b in itertools.product(pair_one.lower, pair_two.lower)]
    bound = hockey_stick(product_p, product_q, ratio)
    assert max(hockey_stick(*joint, ratio), hockey_stick(*joint[::-1], ratio)) <= bound


def flint_pairs(p, q):
    from irisdp._exact import flint_rational

    return [(flint_rational(a), flint_rational(b)) for a, b in zip(p, q, strict=True)]


def test_edge_by_edge_is_no_bound_for_adaptive_choices():
    """Negative control: choosing the second question by the first answer can need more than either question always."""
    response = ((Fraction(4, 5), Fraction(1, 5), Fraction(0)), (Fraction(1, 5), Fraction(4, 5), Fraction(0)))
    giveaway = ((Fraction(4, 5), Fraction(1, 5), Fraction(0)), (Fraction(4, 5), Fraction(0), Fraction(1, 5)))
    first, ratio = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))), Fraction(2)

    def needed(after_0, after_1):
        laws = [[row[0] * p for p in after_0[k]] + [row[1] * p for p in after_1[k]] for k, row in enumerate(first)]
        return max(hockey_stick(*laws, ratio), hockey_stick(*laws[::-1], ratio))

    fixed = max(needed(response, response), needed(giveaway, giveaway))
    assert fixed == Fraction(1, 2)
    assert needed(response, giveaway) == Fraction(11, 20) > fixed


# The verifier's own graphs and ratios.


SPECS = [
    *({"family": family, "n": n} for family in ("path", "cycle", "complete") for n in range(1, 7)),
    *({"family": "hamming", "length": a, "symbols": b} for a, b in itertools.product(range(1, 5), range(1, 4))),
    {"family": "hamming", "length": 2, "symbols": 11},
    {"family": "hamming", "length": 1, "symbols": 12},
    *(
        {"family": family, "total": total, "types": types}
        for family in ("histograms", "sorted_histograms")
        for total, types in itertools.product(range(7), range(1, 5))
    ),
    {"family": "sorted_histograms", "total": 12, "types": 12},
    *(
        {"family": "gaps", "categories": categories, "largest": largest, "relation": relation}
        for categories, largest in ((1, 3), (2, 1), (2, 5), (3, 1), (3, 2), (3, 4), (4, 1), (4, 3), (5, 1), (6, 1))
        for relation in ("exchange", "add-remove")
    ),
    {"edges": [[3, 1], [1, 2], [2, 2], [1, 3]]},
    {"edges": [["b", "a"], ["a", "c"]]},
    {"nodes": ["z", [1, "x"], 7], "edges": [[[1, "x"], "z"]]},
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_verifier_s_graphs_are_the_library_s(spec):
    graph = graph_from_document(spec)
    near = verify_mechanism.neighbours_of_nodes(spec, graph.number_of_nodes)
    nodes = list(graph.nodes)
    assert list(near) == nodes
    for index, node in enumerate(nodes):
        assert near[node] == set(graph.neighbours(index).tolist())


@given(st.fractions(min_value=0, max_value=1000, max_denominator=10**12))
@settings(max_examples=tried(64, 400), deadline=None)
def test_the_verifier_s_ratio_is_the_library_s(epsilon):
    assert verify_mechanism.ratio_of_epsilon(epsilon) == exp_below(epsilon)


@pytest.mark.parametrize(
    "epsilon", ["1e-60", "1e-39", "1e-38", "88.7", "89", "1000", "0.693147180559945309417232121459"]
)
def test_the_verifier_s_ratio_at_extremes(epsilon):
    assert verify_mechanism.ratio_of_epsilon(Fraction(epsilon)) == exp_below(Fraction(epsilon))
