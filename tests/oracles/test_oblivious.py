"""Averaging over datasets with equal count, on all databases of a few bits: still private, no worse [Gupte2010]."""

import itertools
from fractions import Fraction

import pytest

from irisdp import BadInput, Mechanism, Privacy, design
from irisdp.design import oblivious
from irisdp.graphs import Cycle, Hamming, Path, graph_from_edges
from support.closeness import hockey_stick
from support.seeds import fresh_random


def databases(n):
    return list(itertools.product((0, 1), repeat=n))


def distance(one, other):
    return sum(x != y for x, y in zip(one, other, strict=True))


def random_rows(pick, n, outputs, ratio, delta):
    """Weights that change by √ratio per record at most, each row divided by its sum; then a share δ of anything."""
    root, cube = Fraction(int(float(ratio) ** 0.5 * 1000), 1000), databases(n)
    columns = []
    for _ in range(outputs):
        peaks = [Fraction(pick.randrange(1, 40)) for _ in cube]
        columns.append([max(p / root ** distance(x, y) for y, p in zip(cube, peaks, strict=True)) for x in cube])
    rows = []
    for line in zip(*columns, strict=True):
        anything = pick.randrange(outputs)
        rows.append([(1 - delta) * x / sum(line) + delta * (v == anything) for v, x in enumerate(line)])
    return rows


def delta_needed(pairs, ratio):
    return max(hockey_stick(one, other, ratio) for pair in pairs for one, other in (pair, pair[::-1]))


def mechanism_on_cube(rows, n, privacy):
    placed = {"".join(map(str, bits)): row for bits, row in zip(databases(n), rows, strict=True)}
    graph = Hamming(n, 2)
    made = Mechanism.from_matrix([placed[node] for node in graph.nodes], privacy=privacy, graph=graph)
    return made, {node: node.count("1") for node in graph.nodes}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_averaging_keeps_privacy_and_loses_nothing(n):
    pick, cube = fresh_random(f"oblivious {n}"), databases(n)
    near = [(i, j) for i, j in itertools.combinations(range(len(cube)), 2) if distance(cube[i], cube[j]) == 1]
    looked = 0
    for _ in range(12):
        ratio, delta = pick.choice([Fraction(3, 2), Fraction(4)]), pick.choice([Fraction(0), Fraction(1, 10)])
        outputs = pick.randrange(2, 5)
        rows = random_rows(pick, n, outputs, ratio, delta)
        assert delta_needed([(rows[i], rows[j]) for i, j in near], ratio) <= delta
        made = oblivious(*mechanism_on_cube(rows, n, Privacy(ratio=ratio, delta=delta)))
        averaged = made.matrix()
        assert delta_needed(itertools.pairwise(averaged), ratio) <= delta
        assert made.graph.to_document() == Path(n + 1).to_document() and made.privacy.delta == delta
        for _ in range(5):
            loss = [[pick.randrange(10) for _ in range(outputs)] for _ in range(n + 1)]
            given = [
                sum(map(Fraction.__mul__, row, map(Fraction, loss[sum(x)]))) for x, row in zip(cube, rows, strict=True)
            ]
            for count, row in enumerate(averaged):
                there = [value for x, value in zip(cube, given, strict=True) if sum(x) == count]
                mean = sum(map(Fraction.__mul__, row, map(Fraction, loss[count])))
                assert mean == sum(there) / len(there) <= max(there)
                looked += mean < max(there)
    assert n == 1 or looked > 0


def test_what_looks_at_more_than_the_count_is_no_better_than_the_tailored_mechanism():
    pick, privacy = fresh_random("tailored"), Privacy(ratio=3)
    best = design.consumer(3, "absolute", privacy).objective.value
    for _ in range(10):
        made = oblivious(*mechanism_on_cube(random_rows(pick, 3, 4, privacy.ratio, Fraction(0)), 3, privacy))
        assert max(sum(abs(i - v) * p for v, p in enumerate(row)) for i, row in enumerate(made.matrix())) >= best


def test_where_the_graph_is_irregular_averaging_would_break_privacy_and_is_refused():
    """Negative control: along 0, 1, 1, 1 on a path of four, the average is too far from the first row."""
    ratio = Fraction(2)
    rows = [[1 - p, p] for p in (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))]
    given = Mechanism.from_matrix(rows, privacy=Privacy(ratio=ratio), graph=Path(4))
    assert delta_needed(itertools.pairwise(rows), ratio) == 0
    mean = [sum(column) / 3 for column in zip(*rows[1:], strict=True)]
    assert delta_needed([(rows[0], mean)], ratio) > 0
    with pytest.raises(BadInput, match="next count"):
        oblivious(given, {0: 0, 1: 1, 2: 1, 3: 1})


def test_counts_without_an_edge_between_them_are_refused():
    """Negative control: nothing is promised across components, so nothing may be promised along the path."""
    graph = graph_from_edges([], nodes=["a", "b"])
    given = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=Privacy(ratio=2), graph=graph)
    with pytest.raises(BadInput, match="next count"):
        oblivious(given, {"a": 0, "b": 1})


@pytest.mark.parametrize(("graph", "counts", "says"), [
    (None, {0: 0, 1: 1, 2: 1}, "no graph"),
    (Path(3), {0: 0, 1: 1}, "every dataset"),
    (Path(3), {0: 0, 1: 1, 2: 1, 3: 2}, "every dataset"),
    (Path(3), {0: 0, 1: 2, 2: 1}, "more than one"),
    (Path(3), {0: 1, 1: 2, 2: 3}, "0..n"),
    (Path(3), {0: 0, 1: 1, 2: "two"}, "counts"),
    (Path(3), {0: 0, 1: 1, 2: None}, "counts"),
    (Path(3), {0: 0, 1: 1, 2: True}, "counts"),
    (Cycle(3), {0: 0, 1: 0, 2: 2}, "0..n"),
])  # fmt: skip
def test_counts_that_do_not_fit_are_refused(graph, counts, says):
    given = Mechanism.from_matrix([["1/2", "1/2"]] * 3, privacy=Privacy(ratio=2), graph=graph)
    with pytest.raises(BadInput, match=says):
        oblivious(given, counts)
