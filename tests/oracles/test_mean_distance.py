"""Mean loss on graphs: designs divided by symmetry against linear programs over all mechanisms, written out here."""

import contextlib
import io
import json
import math
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import irisdp.graphs._symmetry as symmetry_module
from irisdp import CertificateRejected, Privacy, audit, design
from irisdp.certify import verify_mechanism
from irisdp.graphs import Hamming, Path, Symmetry, graph_from_edges, graph_from_networkx, regular_layers, symmetry
from irisdp.mechanisms import read_document
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

SEEN = 1e-3
"""What a planted mistake moves at least: a million times the agreement asked for."""


AGREEMENT = 1e-9
"""HiGHS is asked for 1e-10, and the programs are small."""

ROUNDED = Fraction(1, 10**15)
"""Relative gap where the ratio has 128 bits."""


def best_mean_loss(edges, loss, weights, ratio, delta=0.0):
    """Solve LP[1] over all n² probabilities."""
    program = Program()
    first = program.table(len(loss), len(loss))
    program.private(first, len(loss), edges, ratio, delta)
    program.charge(first, [w * x for w, row in zip(weights, loss, strict=True) for x in row])
    return program.minimum()


def edge_list(graph):
    return [(i, j) for ends in graph.edges() for i, j in zip(*(end.tolist() for end in ends), strict=True)]


def hops(graph):
    """Distances by Floyd and Warshall."""
    n = graph.number_of_nodes
    found = np.full((n, n), np.inf)
    np.fill_diagonal(found, 0)
    for i, j in edge_list(graph):
        found[i, j] = found[j, i] = 1
    for k in range(n):
        found = np.minimum(found, found[:, [k]] + found[[k], :])
    return found


def verifier_says(document, path):
    path.write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()):
        return verify_mechanism.main(str(path))


SHAPES = [
    nx.cycle_graph(6),
    nx.star_graph(5),
    nx.circular_ladder_graph(3),
    nx.complete_bipartite_graph(2, 4),
    nx.wheel_graph(6),
    nx.hypercube_graph(3),
    nx.barbell_graph(3, 1),
]


def random_case(seed):
    """Return a connected graph, weights (many alike), a loss or None, and a privacy."""
    chance = fresh_random(seed)
    if seed % 2:
        shape = nx.convert_node_labels_to_integers(SHAPES[seed // 2 % len(SHAPES)])
    else:
        n = chance.randint(2, 7)
        shape = nx.random_labeled_tree(n, seed=seed)
        shape.add_edges_from((i, j) for i in range(n) for j in range(i) if chance.random() < 0.3)
    graph = graph_from_edges(list(shape.edges), nodes=sorted(shape))
    n = graph.number_of_nodes
    weights = [chance.choice([0, 1, 1, 3]) for _ in range(n)] if chance.random() < 0.4 else [1] * n
    weights[chance.randrange(n)] += 0 if any(weights) else 1
    loss = None
    if chance.random() < 0.3:
        loss = [[chance.randint(-1, 3) for _ in range(n)] for _ in range(n)]
    elif chance.random() < 0.4:
        of = [0, *(chance.choice([1, 2, "1/2"]) for _ in range(n))]
        loss = [[of[int(d)] for d in row] for row in hops(graph)]
    delta = chance.choice(["0", "0", "1/1000", "1/10"])
    ratio = chance.choice(["1", "6/5", "2", "5", None])
    return graph, weights, loss, Privacy(**({"epsilon": "0.7"} if ratio is None else {"ratio": ratio}), delta=delta)


@pytest.mark.parametrize("seed", range(tried(40, 96)))
def test_orbits_lose_nothing_and_certificates_hold(seed, tmp_path):
    graph, weights, loss, privacy = random_case(seed)
    losses = hops(graph).astype(int).tolist() if loss is None else loss
    exact = [[Fraction(x) for x in row] for row in losses]
    shares = [Fraction(w, sum(weights)) for w in weights]
    floats = [[float(x) for x in row] for row in exact]
    expected = best_mean_loss(
        edge_list(graph), floats, list(map(float, shares)), float(privacy.ratio), float(privacy.delta)
    )
    made = design.distance(graph, privacy, weights=weights, loss=loss)
    objective = made.objective
    assert abs(float(objective.value) - expected) < AGREEMENT
    reached = sum(
        w * x * p
        for w, row, line in zip(shares, exact, made.matrix(), strict=True)
        for x, p in zip(row, line, strict=True)
    )
    assert objective.value == reached
    gap = objective.value - objective.lower_bound
    assert 0 <= gap <= (0 if privacy.ratio.denominator < 1000 else ROUNDED * max(1, abs(reached)))
    verdict = audit(made)
    assert verdict.holds
    assert verdict.optimality.holds
    assert verifier_says(made.to_document(), tmp_path / "made.json") == 0


@pytest.mark.parametrize("seed", range(12))
def test_paths_by_universality_are_the_same_optimum(seed, tmp_path):
    chance = fresh_random(seed)
    n = chance.randint(1, 11)
    weights = [chance.randint(0, 3) for _ in range(n - 1)] + [1]
    privacy = chance.choice([Privacy(ratio="6/5"), Privacy(ratio=3), Privacy(epsilon="0.4"), Privacy(ratio=1)])
    made = design.distance(Path(n), privacy, weights=weights)
    shares = [w / sum(weights) for w in weights]
    expected = best_mean_loss(edge_list(Path(n)), hops(Path(n)).tolist(), shares, float(privacy.ratio))
    assert abs(float(made.objective.value) - expected) < AGREEMENT
    assert 0 <= made.objective.value - made.objective.lower_bound <= ROUNDED
    assert audit(made).holds
    assert verifier_says(made.to_document(), tmp_path / "made.json") == 0


REGULAR = {
    "5-cycle": nx.cycle_graph(5),
    "8-cycle": nx.cycle_graph(8),
    "11-cycle": nx.cycle_graph(11),
    "K6": nx.complete_graph(6),
    "K4,4": nx.complete_bipartite_graph(4, 4),
    "K3,3,3": nx.complete_multipartite_graph(3, 3, 3),
    "3-cube": nx.hypercube_graph(3),
    "4-cube": nx.hypercube_graph(4),
    "Hamming(2,3)": nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(3)),
    "Petersen": nx.petersen_graph(),
    "octahedron": nx.octahedral_graph(),
    "icosahedron": nx.icosahedral_graph(),
    "dodecahedron": nx.dodecahedral_graph(),
    "Heawood": nx.heawood_graph(),
    "Pappus": nx.pappus_graph(),
    "Desargues": nx.desargues_graph(),
    "Paley 13": nx.circulant_graph(13, [1, 3, 4]),
    "K5,5 less a matching": nx.circulant_graph(10, [1, 3]),
    "complement of Petersen": nx.complement(nx.petersen_graph()),
}
"""Vertex-transitive graphs with regular layers: distance-regular ones, therefore."""

IRREGULAR = {
    "triangular prism": nx.circular_ladder_graph(3),
    "6-prism": nx.circular_ladder_graph(6),
    "Möbius ladder of 8": nx.circulant_graph(8, [1, 4]),
    "circulant 8: 1, 2": nx.circulant_graph(8, [1, 2]),
    "truncated tetrahedron": nx.truncated_tetrahedron_graph(),
    "doubled 9-cycle": nx.lexicographic_product(nx.cycle_graph(9), nx.empty_graph(2)),
    "doubled 12-cycle": nx.lexicographic_product(nx.cycle_graph(12), nx.empty_graph(2)),
}
"""Vertex-transitive graphs without. In a doubled cycle every node has a twin that joins the same neighbours."""


def closed_form(graph, ratio):
    """Return Σ s_d d α^d / Σ s_d α^d around node 0."""
    layers = hops(graph)[0].astype(int).tolist()
    return sum(d / ratio**d for d in layers) / sum(1 / ratio**d for d in layers)


@pytest.mark.parametrize("name", REGULAR)
def test_the_exponential_mechanism_is_optimal_with_symmetry_and_regular_layers(name):
    """[Alda2017], Theorem 1: closed form = linear program over everything, and the exact certificate closes the gap."""
    graph = graph_from_networkx(REGULAR[name])
    assert symmetry(graph).vertex_transitive
    assert regular_layers(graph).regular
    n, ratio = graph.number_of_nodes, Fraction(5, 2)
    expected = best_mean_loss(edge_list(graph), hops(graph).tolist(), [1 / n] * n, float(ratio))
    stated = closed_form(graph, ratio)
    assert abs(float(stated) - expected) < AGREEMENT
    made = design.exponential(graph, Privacy(ratio=ratio))
    assert (made.objective.value, made.objective.lower_bound) == (stated, stated)
    total = sum(1 / ratio ** int(d) for d in hops(graph)[0])
    assert made.matrix() == [tuple(1 / ratio ** int(d) / total for d in row) for row in hops(graph)]
    assert audit(made).holds
    assert design.distance(graph, Privacy(ratio=ratio)).objective.value == stated


@pytest.mark.parametrize("ratio", [Fraction(6, 5), Fraction(5, 2)], ids=str)
@pytest.mark.parametrize("name", IRREGULAR)
def test_without_regular_layers_symmetry_alone_decides_less(name, ratio):
    """Full ε is safe by transitivity and LP[1] = LP[2] = LP[3] still; but α^d may lose, as a twin is a dead end."""
    graph = graph_from_networkx(nx.convert_node_labels_to_integers(IRREGULAR[name]))
    assert symmetry(graph).vertex_transitive
    verdict = regular_layers(graph)
    assert not verdict.regular
    assert " neighbours in layer " in verdict.text
    n, privacy = graph.number_of_nodes, Privacy(ratio=ratio)
    expected = best_mean_loss(edge_list(graph), hops(graph).tolist(), [1 / n] * n, float(ratio))
    made, best = design.exponential(graph, privacy), design.distance(graph, privacy)
    assert made.objective.value == closed_form(graph, ratio)
    assert audit(made).ratio_at_delta == ratio
    assert abs(float(best.objective.value) - expected) < AGREEMENT
    assert best.objective.value == best.objective.lower_bound
    assert 0 <= best.objective.value - made.objective.lower_bound <= ROUNDED
    assert (best.objective.value < made.objective.value) == (name.startswith("doubled") and ratio < 2)
    relaxed = design.relaxations(graph, privacy)
    assert relaxed.two.value == relaxed.three.value == best.objective.value


def relaxed_by_scipy(graph, ratio, which):
    """Solve LP[2] (the whole sum) or LP[3] (the sum of every column) over all n² probabilities."""
    n, program = graph.number_of_nodes, Program()
    first = program.variables(n * n)
    program.private(first, n, edge_list(graph), ratio)
    if which == 2:
        program.equal(dict.fromkeys(range(first, first + n * n), 1), n)
    else:
        for v in range(n):
            program.equal(dict.fromkeys(range(first + v, first + n * n, n), 1), 1)
    program.charge(first, (hops(graph) / n).ravel())
    return program.minimum()


def one_answer_by_scipy(graph, y, ratio, *, layered):
    """Solve LP(y), or LP[5] with its edges away from y only."""
    layer, program = hops(graph)[y], Program()
    first = program.table(1, graph.number_of_nodes)
    for i, j in [pair for a, b in edge_list(graph) for pair in ((a, b), (b, a))]:
        if not layered or layer[j] == layer[i] + 1:
            program.at_most({first + i: 1, first + j: -ratio})
    program.charge(first, layer)
    return program.minimum()


def layers_by_scipy(graph, y, ratio):
    """Solve LP[4]."""
    sizes, program = np.bincount(hops(graph)[y].astype(int)).tolist(), Program()
    first = program.variables(len(sizes))
    for d in range(len(sizes) - 1):
        program.at_most({first + d: 1, first + d + 1: -ratio})
    program.equal({first + d: size for d, size in enumerate(sizes)}, 1)
    program.charge(first, [size * d for d, size in enumerate(sizes)])
    return program.minimum()


@pytest.mark.parametrize("seed", range(24))
def test_relaxations_are_the_papers_programs(seed):
    graph, _, _, privacy = random_case(seed)
    if privacy.ratio == 1:
        privacy = Privacy(ratio="3/2")
    ratio = float(privacy.ratio)
    found = design.relaxations(graph, privacy)
    assert abs(float(found.two.value) - relaxed_by_scipy(graph, ratio, 2)) < AGREEMENT
    assert abs(float(found.three.value) - relaxed_by_scipy(graph, ratio, 3)) < AGREEMENT
    for y, whole, layered, stated in zip(
        found.answers, found.one_answer, found.layered, found.closed_form, strict=True
    ):
        assert abs(float(whole.value) - one_answer_by_scipy(graph, y, ratio, layered=False)) < AGREEMENT
        assert abs(float(layered.value) - one_answer_by_scipy(graph, y, ratio, layered=True)) < AGREEMENT
        assert abs(float(stated) - layers_by_scipy(graph, y, ratio)) < AGREEMENT
        assert design.one_answer(graph, y, privacy).value == whole.value
        assert layered.value <= whole.value
    for bracket in (found.two, found.three, *found.one_answer, *found.layered):
        gap = bracket.value - bracket.lower_bound
        assert 0 <= gap <= (0 if privacy.ratio.denominator < 1000 else ROUNDED)
    best = design.distance(graph, privacy.pure).objective.value
    assert found.two.lower_bound <= found.three.value
    assert found.two.lower_bound <= best


def test_a_wrong_relaxation_is_seen():
    """Negative control: with edges kept in one direction only, LP(y) is another number."""
    graph = graph_from_networkx(nx.convert_node_labels_to_integers(IRREGULAR["doubled 12-cycle"]))
    both, one = (one_answer_by_scipy(graph, 0, 1.2, layered=layered) for layered in (False, True))
    assert one < both - 0.1


WRONG = {
    "not an automorphism": [1, 0, 2, 3, 4],
    "a fold that keeps neighbours": [0, 1, 2, 1, 0],
    "moves weights": [4, 3, 2, 1, 0],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_generator_is_rejected(name, monkeypatch):
    monkeypatch.setattr(symmetry_module, "_by_search", lambda graph, colours: [np.array(WRONG[name])])
    with pytest.raises(CertificateRejected):
        design.distance(graph_from_edges([(0, 1), (1, 2), (2, 3), (3, 4)]), Privacy(ratio=2), weights=[1, 2, 3, 4, 5])


def test_too_much_symmetry_would_be_noticed(monkeypatch):
    """Negative control: the group of the 6-cycle on a 6-cycle with a chord."""
    graph = graph_from_edges([(i, (i + 1) % 6) for i in range(6)] + [(0, 2)])
    expected = best_mean_loss(edge_list(graph), hops(graph).tolist(), [1 / 6] * 6, 2.0)
    right = design.distance(graph, Privacy(ratio=2)).objective.value
    assert abs(float(right) - expected) < AGREEMENT
    too_much = Symmetry.generated(np.array([np.roll(np.arange(6), 1), np.arange(6)[::-1]]))
    monkeypatch.setattr(design._symmetry_reduction, "group_of", lambda *given: too_much)
    wrong = design.distance(graph, Privacy(ratio=2))
    assert abs(float(wrong.objective.value) - expected) > SEEN
    assert not audit(wrong).holds


@pytest.mark.parametrize("tamper", ["multiplier", "bound", "row"])
def test_a_tampered_certificate_is_rejected(tamper, tmp_path):
    document = design.distance(Hamming(3, 2), Privacy(ratio=3)).to_document()
    assert verifier_says(document, tmp_path / "whole.json") == 0
    if tamper == "multiplier":
        document["certificate"]["multipliers"][0][3] = "7"
    elif tamper == "bound":
        document["objective"]["lower_bound"] = "4/5"
    else:
        row = document["rows" if "rows" in document else "matrix"][0]
        row[0], row[1] = row[1], row[0]
    assert verifier_says(document, tmp_path / "tampered.json") != 0
    assert not audit(read_document(document)).holds


def test_thousands_of_pairs_by_symmetry_are_the_closed_form():
    """The 9-cube, 512 nodes: 262,144 probabilities in 10 classes."""
    ratio = Fraction(3)
    objective = design.distance(Hamming(9, 2), Privacy(ratio=ratio)).objective
    assert objective.value == objective.lower_bound == Fraction(9) / (1 + ratio)


# Bounds on long paths against linear programs and against mechanisms written out here, in floats and fractions.

FLOATS = 1e-12
"""Closed forms of size 100 at most, worked out in doubles by a few operations."""


RATIOS = [Fraction(11, 10), Fraction(2), Fraction(5), Fraction(50)]


def exponential_cost(nodes, gamma):
    """Mean distance of weights γ^d on a path, in floats."""
    distances = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    weights = float(gamma) ** distances
    return float(((weights * distances).sum(axis=1) / weights.sum(axis=1)).mean())


def middle_by_scipy(length, ratio):
    """Solve LP[5] around the middle node of a path of 2·length + 1."""
    program = Program()
    first = program.table(1, 2 * length + 1)
    middle = first + length
    for away in range(length):
        for side in (-1, 1):
            program.at_most({middle + side * away: 1, middle + side * (away + 1): -ratio})
    program.charge(first, [abs(place - length) for place in range(2 * length + 1)])
    return program.minimum()


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_the_middle_distance_is_lp_5_and_lemma_6_holds(ratio):
    privacy = Privacy(ratio=ratio)
    limit = design.middle_distance_limit(privacy)
    values = [design.middle_distance(length, privacy) for length in range(12)]
    for length, value in enumerate(values):
        assert abs(float(value) - middle_by_scipy(length, float(ratio))) < AGREEMENT
        assert design.one_answer(Path(2 * length + 1), length, privacy, layered=True).value == value
        bound = design.middle_distance_bound(privacy, length=length)
        assert bound < value if length else bound == value == 0
        for slack in (Fraction(1, 3), 1, 2, 5):
            if length >= slack / (1 - 1 / ratio):
                assert design.middle_distance_bound(privacy, slack=slack) <= bound
    assert all(a < b < limit for a, b in pairwise(values))
    assert abs(float(limit) - 2 / float(ratio - 1 / ratio)) < FLOATS
    assert limit - design.middle_distance(1200, privacy) < limit / 10**9


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_slack_bounds_are_rounded_down(ratio):
    privacy = Privacy(ratio=ratio)
    for slack in (0, Fraction(1, 2), 1, 3, 20, 500):
        exact = float(design.middle_distance_limit(privacy)) * (1 - (float(slack) + 1) * math.exp(-slack))
        assert abs(float(design.middle_distance_bound(privacy, slack=slack)) - exact) < FLOATS
    assert design.middle_distance_bound(privacy, slack=0) <= 0


@pytest.mark.parametrize("nodes", [8, 20, 40, 150])
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_bound_optimum_mechanism(nodes, ratio):
    """Theorem 2 ≤ LP[1] ≤ exponential mechanism, safe exponent ≤ the one at ε/2; Lemma 7 beside it [Alda2017]."""
    privacy = Privacy(ratio=ratio)
    optimum = design.distance(Path(nodes), privacy).objective
    assert optimum.value - optimum.lower_bound < Fraction(1, 10**15)
    bound = design.best_path_bound(nodes, privacy)
    assert bound.value <= optimum.lower_bound
    assert optimum.value < design.middle_distance_limit(privacy)
    half = exponential_cost(nodes, float(ratio) ** -0.5)
    assert float(optimum.value) <= half + AGREEMENT
    if nodes <= 40:
        safe = design.exponential(Path(nodes), privacy).objective.value
        assert optimum.value <= safe
        assert float(safe) <= half + AGREEMENT
    assert exponential_cost(nodes, 1 / ratio) < design.middle_distance_limit(privacy)  # Lemma 7
    for slack in (Fraction(k, 32) for k in range(32, 320)):
        if nodes >= 4 * math.ceil(slack / (1 - 1 / ratio)):
            assert design.path_bound(nodes, privacy, slack).value <= bound.value * Fraction(101, 100)


@pytest.mark.parametrize("ratio", [Fraction(2), Fraction(5), Fraction(50)], ids=str)
def test_theorem_2_by_its_formula(ratio):
    gamma, nodes, s = 1 / float(ratio), 4000, 3.0
    least = math.ceil(s / (1 - gamma) - FLOATS)
    for length in (least, least + 5):
        found = design.path_bound(nodes, Privacy(ratio=ratio), 3, length)
        centre = 2 * gamma / (1 + gamma) * (1 - 1 / s) * (1 - (s + 1) * math.exp(-s))
        assert found.length == length
        assert abs(float(found.value) - min(1 - 4 * s * length / nodes, centre) / (1 - gamma)) < FLOATS


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_corollaries_follow_from_theorem_2(ratio):
    """Where Corollaries 3 and 4 are granted, Theorem 2 itself gives as much, and mechanisms agree."""
    privacy = Privacy(ratio=ratio)
    gamma = 1 / ratio
    for slack in (2, 3, 8):
        nodes = math.ceil(slack**2 * math.ceil(slack / (1 - gamma)) * max(4, (1 + gamma) / gamma))
        bound = design.path_bound_limit(nodes, privacy, slack)
        assert bound == design.path_bound(nodes, privacy, slack).value
        assert bound < design.middle_distance_limit(privacy)
        share = design.exponential_ratio(nodes, privacy, slack)
        assert 0 < share < design.exponential_ratio_limit(privacy) <= Fraction(1, 2)
        if nodes <= 3000:
            cost = exponential_cost(nodes, float(ratio) ** -0.5)
            assert float(bound) / cost >= float(share)
    assert abs(float(design.exponential_ratio_limit(privacy)) - math.sqrt(gamma) / (1 + gamma)) < FLOATS


def test_the_printed_hypothesis_of_corollary_3_is_too_weak():
    """At γ = 10/11 and the printed length the first term of Theorem 2 is the smaller one by far."""
    privacy, slack = Privacy(ratio="11/10"), 2
    gamma = Fraction(10, 11)
    printed = math.ceil(slack**2 * math.ceil(slack / (1 - gamma)) * (1 + gamma) / gamma)
    product = design.middle_distance_limit(privacy) * Fraction(1, 2) * (1 - 3 / Fraction(math.exp(2)))
    assert design.path_bound(printed, privacy, slack).value < product / 2


def test_a_bound_read_as_printed_would_be_noticed(monkeypatch):
    """Negative control: without its factor (1 − (s + 1)e^−s), or with a larger one, the bound passes the optimum."""
    privacy = Privacy(ratio=2)
    optimum = design.distance(Path(150), privacy).objective.value
    assert design.best_path_bound(150, privacy).value <= optimum
    monkeypatch.setattr(design._path_bounds, "_escape_below", lambda slack: Fraction(2))
    assert design.best_path_bound(150, privacy).value > optimum
