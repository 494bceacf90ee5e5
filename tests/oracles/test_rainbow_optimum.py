"""Binary and rainbow optima against linear programs over all mechanisms, which share no code with the library.

Random graphs of up to 12 nodes, up to 4 answers, δ in {0, 0.01, 0.1}. Privacy is checked in exact rationals, optima to
1e-9.
"""

from collections import deque
from fractions import Fraction
from itertools import pairwise

import pytest

from irisdp import BadInput, Infeasible, Privacy
from irisdp.design import binary, rainbow
from irisdp.graphs import graph_from_edges
from irisdp.privacy import step
from support.closeness import hockey_stick
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

OPTIMUM = 1e-9
"""What the issue asks for: far above the solver's own 1e-10, far below any effect of a wrong formula."""

DELTAS = ("0", "0.01", "0.1")
RATIOS = ("1.2", "2", "3.5")


def violation(rows, edges, privacy):
    """The largest excess over a δ on any edge, exactly; at most 0 for a private mechanism."""
    return max(
        max(hockey_stick(rows[a], rows[b], pair.ratio), hockey_stick(rows[b], rows[a], pair.ratio)) - pair.delta
        for a, b in edges
        for pair in privacy.pairs
    )


def random_privacy(rng, seed, most):
    """A pair, or a shape of up to so many pairs, none of which follows from the others."""
    if most == 1:
        return Privacy(ratio=rng.choice(RATIOS), delta=DELTAS[seed % 3])
    while True:
        pairs = rng.randrange(1, most + 1)
        ratios = sorted((Fraction(n, 20) for n in rng.sample(range(20, 90), pairs)), reverse=True)
        deltas = sorted(Fraction(n, 400) for n in rng.sample(range(120), pairs))
        try:
            return Privacy.all([Privacy(ratio=r, delta=d) for r, d in zip(ratios, deltas, strict=True)])
        except BadInput:
            continue


def best_by_program(q, nodes, edges, privacy, gain, fixed=(), equal=()):
    """Maximise Σ gain[i][v]·x_iv over every private mechanism with these rows fixed, or equal in pairs."""
    program = Program()
    first = program.table(nodes, q)
    for pair in privacy.pairs:
        program.private(first, q, edges, pair.ratio, pair.delta)
    for i, row in dict(fixed).items():
        for v in range(q - 1):
            program.equal({first + i * q + v: 1}, row[v])
    for i, j in equal:
        for v in range(q - 1):
            program.equal({first + i * q + v: 1, first + j * q + v: -1}, 0)
    program.charge(first, [-gain[i][v] for i in range(nodes) for v in range(q)])
    solved = program.solve()
    return None if solved is None else -solved.value


def random_graph(rng, nodes):
    """A random forest of one or two trees with some edges more."""
    edges = {(rng.randrange(i), i) for i in range(1, nodes) if rng.random() < 0.95}
    for _ in range(rng.randrange(nodes)):
        a, b = sorted(rng.sample(range(nodes), 2))
        edges.add((a, b))
    return sorted(edges) or [(0, 1)]


def random_distribution(rng, q):
    cuts = sorted(rng.randrange(0, 101) for _ in range(q - 1))
    return [Fraction(b - a, 100) for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]


def contracted(rows, edges, privacy):
    """Move all rows towards the uniform one until they are private."""
    q = len(rows[0])
    for eighths in range(8, -1, -1):
        moved = [[p * eighths / 8 + Fraction(8 - eighths, 8 * q) for p in row] for row in rows]
        if not edges or violation(moved, edges, privacy) <= 0:
            return moved
    raise AssertionError("constant rows are private")


def prefix_gain(rankings, weights):
    """Gains whose sum is the weighted sum of prefix sums; weights[i][k] for the first k + 1 choices."""
    gain = []
    for ranking, line in zip(rankings, weights, strict=True):
        here = [Fraction(0)] * len(ranking)
        for place, v in enumerate(ranking):
            here[v] = sum(line[place:], Fraction(0))
        gain.append(here)
    return gain


def expected(rows, gain):
    return sum(p * g for row, line in zip(rows, gain, strict=True) for p, g in zip(row, line, strict=True))


def random_weights(rng, nodes, q):
    return [[Fraction(rng.randrange(1, 10), 10) for _ in range(q - 1)] for _ in range(nodes)]


def boundary_of(edges, colours):
    return {i for a, b in edges if colours[a] != colours[b] for i in (a, b)}


def gap(mechanism, q, nodes, edges, privacy, rankings, rng, fixed=(), equal=()):
    """What a program over all mechanisms finds beyond the design, per unit of weight."""
    listed = [mechanism.row(i) for i in range(nodes)]
    order = [mechanism.outputs.index(v) for v in range(q)]
    rows = [[row[place] for place in order] for row in listed]
    assert violation(rows, edges, privacy) <= 0
    for i, row in dict(fixed).items():
        assert list(row) == rows[i]
    weights = random_weights(rng, nodes, q)
    gain = prefix_gain(rankings, weights)
    best = best_by_program(q, nodes, edges, privacy, gain, fixed, equal)
    return abs(best - float(expected(rows, gain))) / float(sum(map(sum, weights)))


@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("seed", range(tried(60, 160)))
def test_homogeneous_rainbow(seed, pairs):
    rng = fresh_random(seed)
    nodes, q = rng.randrange(2, 13 if seed % 5 == 0 else 8), rng.randrange(2, 5)
    privacy = random_privacy(rng, seed, pairs)
    edges = random_graph(rng, nodes)
    classes = sorted({tuple(rng.sample(range(q), q)) for _ in range(rng.randrange(1, 4))})
    rankings = [rng.choice(classes) for _ in range(nodes)]
    touching = [
        (classes.index(rankings[a]), classes.index(rankings[b])) for a, b in edges if rankings[a] != rankings[b]
    ]
    rows = contracted([random_distribution(rng, q) for _ in classes], touching, privacy)
    row_of = dict(zip(classes, rows, strict=True))
    graph = graph_from_edges(edges, nodes=range(nodes))
    given = {ranking: dict(enumerate(row_of[ranking])) for ranking in set(rankings)}
    mechanism = rainbow(graph, rankings, privacy, boundary=given)
    fixed = {i: row_of[rankings[i]] for i in boundary_of(edges, rankings)}
    assert gap(mechanism, q, nodes, edges, privacy, rankings, rng, fixed) < OPTIMUM


@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("seed", range(tried(60, 160)))
def test_heterogeneous_binary(seed, pairs):
    rng = fresh_random(1000 + seed)
    nodes = rng.randrange(2, 13 if seed % 5 == 0 else 9)
    privacy = random_privacy(rng, seed, pairs)
    edges = random_graph(rng, nodes)
    colours = [rng.randrange(2) for _ in range(nodes)]
    private = contracted([random_distribution(rng, 2) for _ in range(nodes)], edges, privacy)
    # One end of every edge between the colours, and some nodes more.
    chosen = {rng.choice(edge) for edge in edges if colours[edge[0]] != colours[edge[1]]}
    chosen |= {i for i in range(nodes) if rng.random() < 0.2}
    graph = graph_from_edges(edges, nodes=range(nodes))
    mechanism = binary(graph, colours, privacy, boundary={i: private[i][colours[i]] for i in chosen})
    if len(set(colours)) == 1:
        return
    fixed = {i: private[i] for i in chosen}
    rankings = [(c, 1 - c) for c in colours]
    assert gap(mechanism, 2, nodes, edges, privacy, rankings, rng, fixed) < OPTIMUM


@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("seed", range(tried(30, 60)))
def test_heterogeneous_rainbow(seed, pairs):
    """An optimum is one, and two witnesses are private, keep the given rows, and are incomparable."""
    rng = fresh_random(2000 + seed)
    nodes, q = rng.randrange(3, 7), rng.randrange(2, 4)
    privacy = random_privacy(rng, seed, pairs)
    edges = random_graph(rng, nodes)
    classes = [tuple(rng.sample(range(q), q)) for _ in range(2)]
    rankings = [rng.choice(classes) for _ in range(nodes)]
    private = contracted([random_distribution(rng, q) for _ in range(nodes)], edges, privacy)
    # Given everywhere on the boundary there mostly is an optimum; given at two nodes only, mostly none.
    chosen = boundary_of(edges, rankings) | {0} if seed % 2 else set(rng.sample(range(nodes), 2))
    fixed = {i: private[i] for i in chosen}
    graph = graph_from_edges(edges, nodes=range(nodes))
    given = {i: dict(enumerate(row)) for i, row in fixed.items()}
    try:
        mechanism = rainbow(graph, rankings, privacy, boundary=given)
    except Infeasible as refusal:
        tables = []
        for witness in refusal.document["witnesses"]:
            order = [witness["outputs"].index(v) for v in range(q)]
            tables.append([[Fraction(row[place]) for place in order] for row in rows_of(witness)])
        for table in tables:
            assert violation(table, edges, privacy) <= 0
            assert all(table[i] == list(row) for i, row in fixed.items())
        ahead = [
            one - other
            for ranking, first, second in zip(rankings, *tables, strict=True)
            for one, other in zip(sums(first, ranking), sums(second, ranking), strict=True)
        ]
        assert min(ahead) < 0 < max(ahead)
        # The program that weights ask for, against the test's own.
        weights = random_weights(rng, nodes, q)
        chosen = rainbow(graph, rankings, privacy, boundary=given, weights=dict(enumerate(weights)))
        order = [chosen.outputs.index(v) for v in range(q)]
        rows = [[chosen.row(i)[place] for place in order] for i in range(nodes)]
        assert violation(rows, edges, privacy) <= 0
        gain = prefix_gain(rankings, weights)
        best = best_by_program(q, nodes, edges, privacy, gain, fixed)
        assert abs(best - float(expected(rows, gain))) < OPTIMUM * float(sum(map(sum, weights)))
        return
    assert gap(mechanism, q, nodes, edges, privacy, rankings, rng, fixed) < OPTIMUM


@pytest.mark.parametrize("seed", range(30))
def test_the_average_of_operators_is_not_private(seed):
    """A negative control: rows made with the average of the u of the pairs, not with the least, do not pass.

    At 0 the operators are the δ, which all differ; anywhere else they may all be 1.
    """
    rng = fresh_random(5000 + seed)
    privacy = random_privacy(rng, seed, 4)
    while privacy.single:
        privacy = random_privacy(rng, seed, 4)
    share = random_distribution(rng, 2)
    rows = [[Fraction(0), *share]]
    for _ in range(6):
        sums = [sum(rows[-1][:k], Fraction(0)) for k in (1, 2)]
        further = [sum(step(s, Privacy.of((pair,))) for pair in privacy.pairs) / len(privacy.pairs) for s in sums]
        rows.append([further[0], further[1] - further[0], 1 - further[1]])
    assert violation(rows, list(pairwise(range(7))), privacy) > 0


def rows_of(document):
    return document["matrix"] if "matrix" in document else [document["rows"][k] for k in document["row_of"]]


def sums(row, ranking):
    return [sum(row[v] for v in ranking[:k]) for k in range(1, len(ranking))]


@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("seed", range(tried(20, 45)))
def test_best_boundary(seed, pairs):
    """The best homogeneous boundary: a program over all mechanisms whose boundary rows are equal within a class."""
    rng = fresh_random(3000 + seed)
    nodes, q = rng.randrange(2, 9), rng.randrange(2, 5)
    privacy = random_privacy(rng, seed, pairs)
    edges = random_graph(rng, nodes)
    classes = [tuple(rng.sample(range(q), q)) for _ in range(3)]
    rankings = [rng.choice(classes) for _ in range(nodes)]
    weights = random_weights(rng, nodes, q)
    graph = graph_from_edges(edges, nodes=range(nodes))
    mechanism = rainbow(graph, rankings, privacy, boundary="best", weights=dict(enumerate(weights)))
    border = sorted(boundary_of(edges, rankings))
    equal = [(i, j) for i in border for j in border if i < j and rankings[i] == rankings[j]]
    gain = prefix_gain(rankings, weights)
    order = [mechanism.outputs.index(v) for v in range(q)]
    rows = [[mechanism.row(i)[place] for place in order] for i in range(nodes)]
    assert violation(rows, edges, privacy) <= 0
    best = best_by_program(q, nodes, edges, privacy, gain, equal=equal)
    assert abs(best - float(expected(rows, gain))) < OPTIMUM * float(sum(map(sum, weights)))


def depths_of(edges, colours):
    found = dict.fromkeys(boundary_of(edges, colours), 0)
    waiting = deque(found)
    while waiting:
        node = waiting.popleft()
        for a, b in edges:
            for here, there in ((a, b), (b, a)):
                if here == node and there not in found:
                    found[there] = found[node] + 1
                    waiting.append(there)
    return found


def iterated(row, count, operator):
    ahead = [sum(row[:k], Fraction(0)) for k in range(len(row) + 1)]
    for _ in range(count):
        ahead = [Fraction(0), *map(operator, ahead[1:-1]), Fraction(1)]
    return [b - a for a, b in pairwise(ahead)]


@pytest.mark.parametrize("delta", ["0.01", "0.1"])
def test_the_operator_as_printed_fails_the_same_check(delta):
    """[Gu2024], eq. (9): 1 − (1−s)/r + δ. Negative control: it needs exactly r·δ (docs/theory.md#corrections, 1)."""
    privacy = Privacy(ratio=2, delta=delta)
    edges = [(0, 1), (1, 2), (2, 3)]
    colours = [0, 0, 0, 1]
    given = [Fraction(1, 2), Fraction(1, 2)]

    def rows(operator):
        depths = depths_of(edges, colours)
        ranked = [iterated(given, depths[i], operator) for i in range(4)]
        return [row if colour == 0 else row[::-1] for row, colour in zip(ranked, colours, strict=True)]

    def corrected(s):
        return min(Fraction(1), 2 * s + privacy.delta, 1 - (1 - s - privacy.delta) / 2)

    def printed(s):
        return min(Fraction(1), 2 * s + privacy.delta, 1 - (1 - s) / 2 + privacy.delta)

    assert violation(rows(corrected), edges, privacy) <= 0
    assert violation(rows(printed), edges, privacy) == privacy.delta
    mechanism = rainbow(
        graph_from_edges(edges, nodes=range(4)),
        [(c, 1 - c) for c in colours],
        privacy,
        boundary={(0, 1): {0: "1/2", 1: "1/2"}, (1, 0): {0: "1/2", 1: "1/2"}},
    )
    assert [list(mechanism.row(i)) for i in range(4)] == rows(corrected)


def test_a_mechanism_that_is_wrong_by_one_edge_is_seen():
    """Negative control: an optimum for the path without its last edge is not private with it."""
    privacy = Privacy(ratio=2)
    mechanism = binary(graph_from_edges([(0, 1), (1, 2)], nodes=range(4)), [0, 1, 1, 1], privacy)
    rows = [mechanism.row(i) for i in range(4)]
    assert violation(rows, [(0, 1), (1, 2)], privacy) <= 0
    assert violation(rows, [(0, 1), (1, 2), (0, 3)], privacy) > 0


def test_a_worse_mechanism_is_seen():
    """Negative control: with 0.6 at the boundary rows are private, but not the best of all mechanisms."""
    rng = fresh_random(0)
    privacy = Privacy(ratio=2)
    edges, colours = [(0, 1), (1, 2)], [0, 1, 1]
    mechanism = binary(graph_from_edges(edges), colours, privacy, boundary="0.6")
    rankings = [(c, 1 - c) for c in colours]
    assert gap(mechanism, 2, 3, edges, privacy, rankings, rng) > OPTIMUM
