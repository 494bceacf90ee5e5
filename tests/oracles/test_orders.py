"""Top K and rankings: capped heights against all tables, the values of the theory, every edge, and linear programs."""

import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import Privacy, audit, certify, design
from irisdp.certify import verify_mechanism
from irisdp.design import UNIT
from irisdp.design._pull import best_alike, fixed_point, private_on_every_edge, pulled
from irisdp.design._rankings import _renamed, all_rankings, all_tops, order_rows, right_rankings, right_tops
from irisdp.graphs import Histograms, capped_heights, graph_from_edges, listed, number_of_heights, order_graph
from support.sweeps import tried

F = Fraction


def heights_of(counts, largest):
    """Capped heights, by their definition."""
    ascending = sorted(counts)
    caps = [largest] * len(counts) if isinstance(largest, int) else largest
    height, found = 0, {ascending[0]: 0}
    for lower, upper, cap in zip(ascending, ascending[1:], caps, strict=False):
        height += min(upper - lower, cap)
        found[upper] = height
    return tuple(found[count] for count in counts)


def tables(categories, total):
    """All counts by category of at most so many records."""
    return (counts for counts in itertools.product(range(total + 1), repeat=categories) if sum(counts) <= total)


def moved(counts, relation):
    """All counts that neighbours have; there is no end to how many records may come."""
    places = range(len(counts))
    if relation != "exchange":
        for place in places:
            yield tuple(count + (one == place) for one, count in enumerate(counts))
    if relation != "add-remove":
        for gains, loses in itertools.permutations(places, 2):
            if counts[loses]:
                yield tuple(count + (one == gains) - (one == loses) for one, count in enumerate(counts))


def named_edges(graph):
    nodes = graph.nodes[:]
    return {
        frozenset((nodes[one], nodes[other]))
        for tails, heads in graph.edges()
        for one, other in zip(tails.tolist(), heads.tolist(), strict=True)
    }


@pytest.mark.parametrize("relation", ["exchange", "add-remove", "any"])
@pytest.mark.parametrize(("categories", "largest", "total"), [
    (2, 1, 8),
    (2, 4, 8),
    (3, 1, 12),
    (3, 2, 16),
    (3, (2, 1), 16),
    (3, (1, 3), 16),
    (4, 1, 18),
    (4, 3, 8),
    (4, (1, 2, 1), 18),
])  # fmt: skip
def test_capped_heights_are_a_morphism_from_all_tables(categories, largest, total, relation):
    edges = named_edges(order_graph(categories, largest, relation))
    images = set()
    for counts in tables(categories, total):
        here = heights_of(counts, largest)
        images |= {
            frozenset((here, there))
            for other in moved(counts, relation)
            if (there := heights_of(other, largest)) != here
        }
    assert images <= edges
    farthest = largest if isinstance(largest, int) else max(largest)
    if (
        total >= (farthest + 3) * categories * (categories - 1) / 2
    ):  # enough for every edge to be the image of some pair
        assert images == edges


@pytest.mark.parametrize("caps", [(3,), (2, 5), (4, 1, 2), (1, 2, 1, 1)])
def test_heights_are_counted(caps):
    assert number_of_heights(caps) == order_graph(len(caps) + 1, caps).number_of_nodes


def test_heights_keep_what_is_right():
    for counts in tables(4, 7):
        found = capped_heights([counts], 1)
        assert tuple(found[0].tolist()) == heights_of(counts, 1)
        for answers, right in ((all_tops(2, 4), right_tops), (all_rankings(4), right_rankings)):
            assert right(found, answers).tolist() == right(np.array([counts]), answers).tolist()


def test_what_is_right():
    counts = np.array([[5, 2, 2]])
    assert right_tops(counts, all_tops(2, 3)).tolist() == [[True, True, False]]
    right = dict(zip(all_rankings(3), right_rankings(counts, all_rankings(3))[0].tolist(), strict=True))
    assert [answer for answer, one in right.items() if one] == [(0, 1, 2), (0, 2, 1)]


def question(graph, k):
    counts = np.array(graph.nodes[:], dtype=np.int64)
    categories = counts.shape[1]
    if k is None:
        return all_rankings(categories), right_rankings(counts, all_rankings(categories))
    return all_tops(k, categories), right_tops(counts, all_tops(k, categories))


def mean_error(found, right):
    return 1 - F(sum(found.weights[right].tolist()), UNIT * len(right))


def small_tables(categories, total):
    """The graph of all tables of at most so many records that are added or removed."""
    inside = set(tables(categories, total))
    return graph_from_edges(
        [(here, there) for here in inside for there in moved(here, "add-remove") if there in inside],
        nodes=sorted(inside),
    )


@pytest.mark.parametrize(
    ("graph", "k", "ratio", "error"),
    [(Histograms(10, 3), 2, 2, 0.24077), (Histograms(10, 3), 2, 4, 0.11170), (small_tables(3, 6), None, 4, 0.13396)],
    ids=["two of three", "two of three at 4", "three in order"],
)
def test_values_of_the_theory(graph, k, ratio, error):
    graph = listed(graph)
    _, right = question(graph, k)
    found = pulled(graph, right, F(ratio))
    assert found is not None
    assert float(mean_error(found, right)) == pytest.approx(error, abs=5.1e-6)


def broken_edges(graph, chances, ratio):
    """Count the edges over which some chance grows by more than the ratio, as floats see it."""
    tails = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))
    over = (chances[graph.indices] > ratio * chances[tails] * (1 + 1e-9)).any(axis=1)
    return len({frozenset(edge) for edge in zip(tails[over].tolist(), graph.indices[over].tolist(), strict=True)})


def test_three_in_order_are_refused_where_records_are_exchanged():
    """Six edges of 816 fail, in both relations that exchange; pull must not be used, and the program is."""
    graph = order_graph(3, 6)
    answers, right = question(graph, None)
    chances = fixed_point(graph, right, 2.0)
    assert (graph.number_of_edges, broken_edges(graph, chances, 2.0)) == (816, 6)
    for relation in ("exchange", "any"):
        graph = order_graph(3, 6, relation)
        assert pulled(graph, right, F(2)) is None
        found, which = order_rows(graph, right, answers, F(2))
        assert which == "linear program"
        assert private_on_every_edge(graph, found.weights, F(2))
        assert float(mean_error(found, right)) == pytest.approx(0.331165, abs=1e-6)


CASES = [
    *((3, largest, 2, relation) for largest in (2, 6) for relation in ("exchange", "add-remove", "any")),
    (3, 4, None, "add-remove"),
    (4, 2, 2, "any"),
    (4, 1, 1, "exchange"),
    (3, 12, 2, "any"),
]


@pytest.mark.parametrize("ratio", [F(2), F(4)])
@pytest.mark.parametrize(("categories", "largest", "k", "relation"), CASES)
def test_pull_is_near_the_best_where_every_edge_passes(categories, largest, k, relation, ratio):
    graph = order_graph(categories, largest, relation)
    answers, right = question(graph, k)
    found = pulled(graph, right, ratio)
    assert found is not None
    rows = [found.row(node) for node in range(graph.number_of_nodes)]
    assert all(sum(row) == 1 for row in rows)
    for tails, heads in graph.edges():
        for one, other in zip(tails.tolist(), heads.tolist(), strict=True):
            assert all(p <= ratio * q and q <= ratio * p for p, q in zip(rows[one], rows[other], strict=True))
    best = best_alike(graph, right, ratio, _renamed(graph, answers), 40_000)
    assert mean_error(best, right) <= mean_error(found, right) + F(1, 10**6)
    assert mean_error(found, right) <= F(106, 100) * mean_error(best, right)


@pytest.mark.parametrize(("k", "relation"), [(2, "exchange"), (2, "add-remove"), (None, "exchange")])
def test_classes_of_chances_lose_nothing(k, relation):
    graph = order_graph(3, 3, relation)
    answers, right = question(graph, k)
    best = best_alike(graph, right, F(2), _renamed(graph, answers), 40_000)
    made = (design.ranking if k is None else lambda *rest, **cap: design.top(k, *rest, **cap))(
        3, Privacy(ratio=2), largest=3, relation=relation
    )
    assert made.objective.lower_bound == made.objective.value
    assert float(mean_error(best, right)) == pytest.approx(float(made.objective.value), abs=2e-7)


def test_a_row_moved_by_a_hair_is_noticed():
    graph = order_graph(3, 2)
    _, right = question(graph, 2)
    found = pulled(graph, right, F(2))
    assert private_on_every_edge(graph, found.weights, F(2))
    for change in (UNIT >> 20, -(UNIT >> 20)):
        weights = found.weights.copy()
        weights[0, 0] += change
        assert not private_on_every_edge(graph, weights, F(2))  # no distribution
        weights[0, 1] -= change
        broken = [
            not private_on_every_edge(graph, np.where(np.arange(len(weights))[:, None] == node, row, weights), F(2))
            for node, row in enumerate(found.weights + np.array([change, -change, 0]))
        ]
        assert any(broken)


@pytest.mark.parametrize("make", [
    lambda: design.top(2, 3, Privacy(epsilon=1)),
    lambda: design.top(2, 3, Privacy(epsilon="1/2"), relation="any"),
    lambda: design.top(1, 4, Privacy(epsilon=1), relation="add-remove", largest=2),
    lambda: design.top(2, 3, Privacy(ratio=2), total=10),
    lambda: design.ranking(3, Privacy(epsilon=1), largest=3),
    lambda: design.ranking(3, Privacy(epsilon=1), relation="any"),
    lambda: design.ranking(4, Privacy(epsilon=2), largest=1),
])  # fmt: skip
def test_files_are_private_and_what_they_claim_is_proved(make, tmp_path):
    made, path = make(), tmp_path / "made.json"
    path.write_text(json.dumps(made.to_document()), encoding="utf-8")
    assert audit(path).private
    alone = subprocess.run([sys.executable, "-I", verify_mechanism.__file__, path], capture_output=True, check=False)
    assert alone.returncode == 0, alone.stdout
    assert (made.certificate is None) == (made.objective.lower_bound is None)
    assert made.certificate is None or certify.check_optimality(made).holds


def test_categories_are_treated_alike():
    for made in (design.top(2, 3, Privacy(epsilon=1), largest=2), design.ranking(3, Privacy(epsilon=1), largest=2)):
        for node in made.inputs:
            row = dict(zip(made.outputs, made.row(node), strict=True))
            for order in itertools.permutations(range(3)):
                renamed = made.row(tuple(node[order.index(place)] for place in range(3)))
                there = dict(zip(made.outputs, renamed, strict=True))
                for answer, chance in row.items():
                    other = tuple(order[one] for one in answer)
                    assert abs(there[other if other in there else tuple(sorted(other))] - chance) < F(1, 10**9)


# `answer_probability` of top K and rankings: the least probability of a right answer over all small tables.
#
# The probabilities are added up here by another method than the library's: noisy sums are gone through from the
# highest to the lowest, and the state is the set of the categories that have been met. All terms are positive
# floats.

TAIL = 1e-8
NOBODY = pa.table({"c": pa.array([], pa.string())})


def tables_least_probability(categories, records):
    """Return all counts of at most so many records, and the counts 0, 1, 2, …, whose sum may be more."""
    every = itertools.product(range(records + 1), repeat=categories)
    return np.array([*(counts for counts in every if sum(counts) <= records), tuple(range(categories))])


def right_sets(counts, named):
    """Tell, for every table and every set of categories, whether the set may come first."""
    places = np.arange(counts.shape[1])
    columns = []
    for number in range(1 << len(places)):
        inside = (number >> places & 1).astype(bool)
        if inside.all() or not inside.any() or named not in (None, inside.sum()):
            columns.append(np.ones(len(counts), bool))
        else:
            columns.append(counts[:, inside].min(axis=1) >= counts[:, ~inside].max(axis=1))
    return np.stack(columns)


def right_by_sorting(counts, named, ratio):
    """Return how often sums with two-sided geometric noise, equal ones in the order of the categories, are right."""
    categories = counts.shape[1]
    reach = math.ceil(math.log(2 * categories / TAIL) / math.log(ratio))
    noise = (ratio - 1) / (ratio + 1) * float(ratio) ** -np.arange(reach + counts.max() + 1)
    allowed, sets = right_sets(counts, named), np.arange(1 << categories)
    before = [sets[sets >> place & 1 == 0] for place in range(categories)]
    moves = [(without, without | 1 << place, allowed[without | 1 << place]) for place, without in enumerate(before)]
    held = np.zeros((1 << categories, len(counts)))
    held[0] = 1
    for value in range(counts.max() + reach, -reach - 1, -1):
        for place, (without, joined, right) in enumerate(moves):
            held[joined] += held[without] * (noise[np.abs(value - counts[:, place])] * right)
    return held[-1]


def right_by_table(counts, named, table):
    """Return how often a table of chances is right."""
    chances = table.at(counts) / 2**60
    allowed = right_sets(counts, named)
    right = np.zeros(len(counts))
    for answer, column in zip(table.answers, chances.T, strict=True):
        heads = [answer[:length] for length in range(1, len(answer) + 1)] if named is None else [answer]
        right += column * np.prod([allowed[sum(1 << place for place in head)] for head in heads], axis=0)
    return right


@pytest.mark.parametrize("epsilon", [2, 1, 0.5][: tried(2, 3)])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("categories", range(2, tried(4, 6) + 1))
def test_the_stated_probability_is_the_least_over_all_tables(categories, relation, epsilon):
    counts = tables_least_probability(categories, tried(4, 12))
    names = [str(place) for place in range(categories)]
    for named in (None, *range(1, categories)):
        words = ("ranking", "c") if named is None else ("top", named, "c")
        planned = irisdp.plan(NOBODY, *words, categories=names, epsilon=epsilon, relation=relation)
        mechanism = planned.audiences[0].mechanism
        ratio = math.exp(epsilon / 2 if relation == "exchange" else epsilon)
        by_sorting = mechanism.table is None
        right = right_by_sorting(counts, named, ratio) if by_sorting else right_by_table(counts, named, mechanism.table)
        ((stated,),) = mechanism.assurance(["any"], ["any"], None, planned.confidence).columns.values()
        assert stated <= right.min() + TAIL
        assert right.min() - stated < 1.02e-6  # rounded down to six digits, and attained


def test_values_that_were_worked_out_elsewhere():
    # A project note of 2026-11-26: least probabilities, by a dynamic program of its own.
    found = {
        (None, 6, 2): 0.27239, (2, 6, 2): 0.47175, (2, 6, 4): 0.89684, (2, 7, 1): 0.14231, (3, 10, 4): 0.83402
    }  # fmt: skip
    for (named, categories, epsilon), least in found.items():
        words = ("ranking", "c") if named is None else ("top", named, "c")
        planned = irisdp.plan(NOBODY, *words, categories=list(map(str, range(categories))), epsilon=epsilon)
        ((stated,),) = planned.audiences[0].mechanism.assurance(["a"], ["a"], None, None).columns.values()
        assert round(stated + 5e-7, 5) == least
