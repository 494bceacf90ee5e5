"""Examples and theorems of [Alda2017], §§ 2–4: the exponential mechanism on graphs of databases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial

from ..design import distance, layered_distance, middle_distance, middle_distance_limit, one_answer, relaxations
from ..graphs import (
    Complete,
    Cycle,
    DatasetGraph,
    Graph,
    Hamming,
    Histograms,
    SortedHistograms,
    graph_from_edges,
    listed,
    regular_layers,
    symmetry,
)
from ..graphs import Path as Line
from ..privacy import Privacy
from ._items import Fault, Holds, Item, all_equal, holds_at

SYMMETRY = "proofs/exponential-symmetry.md"
RATE = "proofs/exponential-rate.md"
BOUNDS = "proofs/path-bounds.md"
SORTING = "proofs/sorting.md"
TRIPLE = Privacy(ratio=3)
RATIOS = [Fraction("6/5"), Fraction(2), Fraction(3), Fraction(10)]

Rows = list[list[Fraction]]


@cache
def petersen() -> Graph:
    """Return the Petersen graph: pairs of five, neighbours where they share none."""
    pairs = list(itertools.combinations(range(5), 2))
    edges = [(one, other) for one, other in itertools.combinations(pairs, 2) if not set(one) & set(other)]
    return graph_from_edges([(f"{a}{b}", f"{c}{d}") for (a, b), (c, d) in edges])


REGULAR: dict[str, DatasetGraph] = {
    "7-cycle": Cycle(7),
    "3-cube": Hamming(3, 2),
    "words of 2 letters, 3 symbols": Hamming(2, 3),
    "4 mutual neighbours": Complete(4),
}


def _graph(name: str) -> DatasetGraph:
    return petersen() if name == "Petersen graph" else REGULAR[name]


def full_exponent(graph: DatasetGraph, rate: Fraction) -> Rows:
    """Return the rows p(y|x) proportional to rate^d(x, y)."""
    rows = []
    for x in range(graph.number_of_nodes):
        weights = [rate**d for d in graph.distances_from(x).tolist()]
        total = sum(weights, Fraction(0))
        rows.append([weight / total for weight in weights])
    return rows


def _edges(graph: DatasetGraph) -> Iterator[tuple[int, int]]:
    """Yield the edges by the indices of their ends."""
    for tails, heads in graph.edges():
        yield from zip(tails.tolist(), heads.tolist(), strict=True)


def worst_ratio(graph: DatasetGraph, rows: Rows) -> Fraction:
    """Return the least ratio that rows keep on the edges."""
    worst = Fraction(1)
    for tail, head in _edges(graph):
        worst = max(worst, *(max(p / q, q / p) for p, q in zip(rows[tail], rows[head], strict=True)))
    return worst


def mean_distance(graph: DatasetGraph, rows: Rows) -> Fraction:
    """Return f^G(p): the mean distance of the answer, inputs being equally likely."""
    total = sum(
        (p * d for x, row in enumerate(rows) for p, d in zip(row, graph.distances_from(x).tolist(), strict=True)),
        start=Fraction(0),
    )
    return total / len(rows)


def _lemma_1() -> Holds:
    """Weights with the full exponent cost between ε and 2ε."""
    wrong, examples = 0, []
    for graph in (Line(9), Histograms(4, 3), SortedHistograms(6, 3)):
        for ratio in RATIOS:
            spent = worst_ratio(graph, full_exponent(graph, 1 / ratio))
            wrong += not ratio <= spent <= ratio**2
            examples.append(spent > ratio)
    said = holds_at(len(examples), wrong, "graphs and ratios")
    return Holds(said.holds, f"{said.found}; more than ε is spent on {sum(examples)} of them")


def _factor_removed() -> Holds:
    wrong = cases = 0
    for name in (*REGULAR, "Petersen graph"):
        for ratio in RATIOS:
            cases += 1
            wrong += worst_ratio(_graph(name), full_exponent(_graph(name), 1 / ratio)) != ratio
    return holds_at(cases, wrong, "transitive graphs and ratios, where exactly ε is spent")


def _sensitivity() -> Fraction:
    """Return the largest change of d(·, y) along an edge."""
    graphs = (Line(9), Histograms(4, 3), SortedHistograms(6, 3), petersen())
    return Fraction(
        max(
            abs(away[a] - away[b])
            for graph in graphs
            for away in (graph.distances_from(y).tolist() for y in range(graph.number_of_nodes))
            for a, b in _edges(graph)
        )
    )


def _half_of_l1(graphs: Sequence[DatasetGraph]) -> Holds:
    """Compare distances found by search with half of the L1 distance."""
    pairs = []
    for graph in graphs:
        searched, nodes = listed(graph), list(graph.nodes)
        for x, node in enumerate(nodes):
            for y, d in enumerate(searched.distances_from(x).tolist()):
                pairs.append((Fraction(d), Fraction(_l1(node, nodes[y]), 2)))
    return all_equal(pairs, "distances, by breadth-first search")


def _l1(one: object, other: object) -> int:
    assert isinstance(one, tuple) and isinstance(other, tuple)
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


@cache
def _largest_only() -> Graph:
    """Return the graph of the largest count alone, for 4 records in 3 types."""
    whole = SortedHistograms(4, 3)
    names = [str(node)[1:].split(",")[0] for node in whole.nodes]
    edges = {tuple(sorted((names[a], names[b]))) for a, b in _edges(whole) if names[a] != names[b]}
    return graph_from_edges(sorted(edges))


def _initial_segments() -> Fault:
    graph = _largest_only()
    d = graph.distance(graph.index_of("4"), graph.index_of("3"))
    return Fault("exchanges from the largest count 4 to 3, against ½·|4 − 3|", Fraction(d), Fraction(1, 2))


def _theorem_1(name: str) -> Holds:
    """Compare the exponential mechanism with the optimum of LP[1], exactly, at e^ε = 3."""
    graph = _graph(name)
    rows = full_exponent(graph, Fraction(1, 3))
    optimum = distance(graph, TRIPLE).objective
    assert optimum is not None
    cost = mean_distance(graph, rows)
    holds = worst_ratio(graph, rows) == 3 and cost == optimum.value == optimum.lower_bound
    return Holds(holds, f"optimum and mechanism have mean distance {cost} at e^ε = 3, exactly")


def _relaxed() -> Holds:
    pairs = []
    for name in (*REGULAR, "Petersen graph"):
        relaxed = relaxations(_graph(name), TRIPLE)
        optimum = distance(_graph(name), TRIPLE).objective
        assert optimum is not None
        pairs += [(relaxed.two.value, optimum.value), (relaxed.three.value, optimum.value)]
        pairs += [(relaxed.two.lower_bound, relaxed.three.lower_bound)]
    return all_equal(pairs, "optima of LP[1], LP[2] and LP[3] at e^ε = 3")


def _corollary_1() -> Holds:
    pairs = []
    for name, ratio in itertools.product((*REGULAR, "Petersen graph"), RATIOS):
        relaxed = relaxations(_graph(name), Privacy(ratio=ratio))
        pairs.append((relaxed.two.value, relaxed.three.value))
    return all_equal(pairs, "optima on transitive graphs")


def _lemma_3() -> Holds:
    cases = wrong = 0
    for name, ratio in itertools.product((*REGULAR, "Petersen graph"), RATIOS):
        graph = _graph(name)
        rows = full_exponent(graph, 1 / ratio)
        for y in range(graph.number_of_nodes):
            layers = graph.distances_from(y).tolist()
            for a, b in _edges(graph):
                if layers[a] != layers[b]:
                    near, far = (a, b) if layers[a] < layers[b] else (b, a)
                    cases, wrong = cases + 1, wrong + (ratio * rows[far][y] != rows[near][y])
    return holds_at(cases, wrong, "edges between layers")


def _lemma_4() -> Holds:
    """No law whose layers fall by γ at most, or by less, is nearer than the one where all constraints are tight."""
    cases = wrong = 0
    sizes = [1, 3, 6]
    for ratio in RATIOS:
        best = layered_distance(petersen(), 0, Privacy(ratio=ratio))
        for growth in itertools.product((1, 2, 3), repeat=2):
            factors = [Fraction(1), Fraction(growth[0]), Fraction(growth[0] * growth[1])]
            masses = [size * factor / ratio**d for d, (size, factor) in enumerate(zip(sizes, factors, strict=True))]
            cost = sum((d * mass for d, mass in enumerate(masses)), Fraction(0)) / sum(masses)
            cases += 1
            wrong += cost < best or (cost == best) != (growth == (1, 1))
    return holds_at(cases, wrong, "feasible laws on the layers of the Petersen graph")


def _lemma_5() -> Holds:
    pairs = []
    for ratio in RATIOS:
        privacy = Privacy(ratio=ratio)
        for name in (*REGULAR, "Petersen graph"):
            graph = _graph(name)
            pairs.append((one_answer(graph, 0, privacy, layered=True).value, layered_distance(graph, 0, privacy)))
        pairs.append((one_answer(Line(9), 4, privacy, layered=True).value, layered_distance(Line(9), 4, privacy)))
    return all_equal(pairs, "optima of LP[5], with those of LP[4]")


def _without_constraint() -> Fault:
    """LP[4] with its constraint over an empty range puts everything on the start node; as meant it cannot."""
    meant = layered_distance(Cycle(7), 0, TRIPLE)
    return Fault(
        "optimum as meant on the 7-cycle at e^ε = 3, where (C4) as printed may be empty and leaves 0",
        meant,
        Fraction(0),
    )


def _one_path(lengths: int = 400) -> Holds:
    """Compare the printed sums with the optimum on long finite paths, which approaches them from below."""
    wrong = 0
    for ratio in RATIOS[1:]:
        gamma, privacy = 1 / ratio, Privacy(ratio=ratio)
        value = layered_distance(Line(lengths), 0, privacy)
        wrong += not 0 <= gamma / (1 - gamma) - value < Fraction(1, 10**12)
    return holds_at(len(RATIOS) - 1, wrong, "ratios: paths of 400 nodes are below by less than 1e-12")


def _two_paths() -> Holds:
    wrong = 0
    for ratio in RATIOS[1:]:
        gamma, privacy = 1 / ratio, Privacy(ratio=ratio)
        printed = 2 * gamma / (1 - gamma**2)
        wrong += printed != middle_distance_limit(privacy)
        wrong += not 0 <= printed - middle_distance(200, privacy) < Fraction(1, 10**12)
    return holds_at(len(RATIOS) - 1, wrong, "ratios: paths of 401 nodes are below by less than 1e-12")


def _bits_are_regular() -> Holds:
    wrong = sum(
        not (regular_layers(Hamming(n, 2)).regular and symmetry(Hamming(n, 2)).vertex_transitive) for n in range(1, 6)
    )
    return holds_at(5, wrong, "sizes of binary databases")


def _sorted_are_not() -> Holds:
    layers = regular_layers(SortedHistograms(6, 3))
    return Holds(not layers.regular, layers.text)


def _ends_and_middle() -> Holds:
    wrong = cases = 0
    for nodes in range(4, 12):
        for y in range(nodes):
            expected = y in (0, nodes - 1) or (nodes % 2 == 1 and y == nodes // 2)
            cases, wrong = cases + 1, wrong + (regular_layers(Line(nodes), y).regular != expected)
        wrong += symmetry(Line(nodes)).vertex_transitive
    return holds_at(cases, wrong, "nodes of paths")


_item = partial(Item, work="Alda2017", proof=SYMMETRY)

DATABASES = (
    _item(
        name="Lemma 1",
        printed="the exponential mechanism provides 2ε-differential privacy",
        compute=_lemma_1,
        proof=RATE,
    ),
    _item(name="Lemma 1, remark", printed="in several cases the factor 2 can be removed", compute=_factor_removed),
    _item(name="Section 3, sensitivity of −d", printed="1", compute=_sensitivity, proof=RATE),
    _item(
        name="Example 1",
        printed="d(x, y) = ½·‖x − y‖₁ on histograms",
        compute=lambda: _half_of_l1((Histograms(4, 3), Histograms(3, 4))),
        proof=SORTING,
    ),
    _item(
        name="Example 2",
        printed="d(x, y) = ½·‖x − y‖₁ on sorted histograms",
        compute=lambda: _half_of_l1((SortedHistograms(6, 3), SortedHistograms(8, 8))),
        proof=SORTING,
    ),
    _item(
        name="Example 2, the r largest",
        printed="d(x, y) = ½·‖x − y‖₁ on initial segments",
        compute=lambda: Holds(False, "not of initial segments: a record may move to where it is not seen"),
        proof=SORTING,
        misprint="Where r < T one exchange may change one visible entry by 1, so that ½·‖x − y‖₁ is less than d(x, y).",
        fault=_initial_segments,
    ),
    _item(name="Corollary 1", printed="LP[2] and LP[3] have one optimum on transitive graphs", compute=_corollary_1),
    _item(name="Lemma 3", printed="between layers p(y|x') = e^−ε·p(y|x)", compute=_lemma_3),
    *(
        _item(
            name=f"Theorem 1, {name}",
            printed="p(y|x) ∝ exp(−ε·d(x, y)) is an optimum of LP[1]",
            compute=partial(_theorem_1, name),
        )
        for name in (*REGULAR, "Petersen graph")
    ),
    _item(name="Theorem 1, relaxations", printed="and of LP[2] and LP[3]", compute=_relaxed),
    _item(
        name="Section 4, (C4)",
        printed="for all d ∈ [0 : d − 1]",
        compute=lambda: Holds(False, "for all d ∈ [0 : D − 1]"),
        misprint="d ranges over [0 : D − 1], where D is the diameter.",
        fault=_without_constraint,
    ),
    _item(name="Lemma 4", printed="LP[4] has one optimum, with all constraints tight", compute=_lemma_4),
    _item(name="Lemma 5", printed="on regular layers an optimum of LP[5] is that of LP[4]", compute=_lemma_5),
    _item(name="Example 3, G_1", printed="γ/(1 − γ)", compute=_one_path, proof=BOUNDS),
    _item(name="Example 3, G_2", printed="2γ/(1 − γ²)", compute=_two_paths, proof=BOUNDS),
    _item(
        name="Section 4, binary databases", printed="the regularity conditions are satisfied", compute=_bits_are_regular
    ),
    _item(name="Section 4, sorted histograms", printed="they are not fully satisfied", compute=_sorted_are_not),
    _item(
        name="Section 5, the path",
        printed="layers are regular from its ends, and from its middle if K is odd",
        compute=_ends_and_middle,
    ),
)
