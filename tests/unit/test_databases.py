"""Databases as graphs: what is asked for wrongly is refused by field, and commands agree with functions.

Theorems and corollaries are those of [Alda2017].
"""

import json
import sys
from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy, audit, design, load
from irisdp._cli import run
from irisdp.design import _path_bounds, one_answer, relaxations
from irisdp.graphs import Cycle, Hamming, Path, graph_from_edges
from irisdp.mechanisms import Exponential, sensitivity

TWO = Privacy(ratio=2)
APART = graph_from_edges([(0, 1)], nodes=[0, 1, 2])

REFUSED = {
    "distance on an unconnected graph": ("graph", lambda: design.distance(APART, TWO)),
    "too few weights": ("weights", lambda: design.distance(Cycle(4), TWO, weights=[1, 2])),
    "a negative weight": ("weights", lambda: design.distance(Cycle(3), TWO, weights=[1, -1, 1])),
    "weights that are all 0": ("weights", lambda: design.distance(Path(3), TWO, weights=[0, 0, 0])),
    "a weight that is no number": ("weights", lambda: design.distance(Path(2), TWO, weights=[float("nan"), 1])),
    "a loss of another shape": ("loss", lambda: design.distance(Cycle(3), TWO, loss=[[0, 1], [1, 0]])),
    "a graph too large to pair": ("graph", lambda: design.distance(Cycle(10_000), TWO)),
    "a graph too large for symmetry": ("graph", lambda: design.distance(Cycle(10**9), TWO)),
    "a path too large": ("graph", lambda: design.distance(Path(10**9), TWO)),
    "an exponential mechanism too large": ("graph", lambda: design.exponential(Hamming(30, 2), TWO)),
    "relaxations too large": ("graph", lambda: relaxations(Cycle(10**9), TWO)),
    "weights without symmetry on too large a graph": (
        "graph",
        lambda: design.distance(Hamming(7, 2), TWO, weights=range(1, 129)),
    ),
    "exponential on an unconnected graph": ("graph", lambda: design.exponential(APART, TWO)),
    "scores for too few nodes": ("scores", lambda: design.exponential(Path(3), TWO, scores=[[1, 2], [2, 1]])),
    "ragged scores": ("scores", lambda: design.exponential(Path(2), TWO, scores=[[1, 2], [2]])),
    "no scores": ("scores", lambda: design.safe_exponential([], Path(1), TWO)),
    "an infinite score": ("scores", lambda: design.exponential(Path(2), TWO, scores=[[1, float("inf")], [0, 1]])),
    "a prior of 0": ("prior", lambda: design.exponential(Path(2), TWO, scores=[[1, 2], [2, 1]], prior=[0, 1])),
    "a prior that is too short": ("prior", lambda: design.exponential(Path(2), TWO, prior=[1])),
    "outputs that are too few": ("outputs", lambda: design.exponential(Path(2), TWO, scores=[[1, 2]] * 2, outputs="a")),
    "outputs that come twice": ("outputs", lambda: design.exponential(Path(2), TWO, scores=[[1, 2]] * 2, outputs="aa")),
    "outputs without scores": ("outputs", lambda: design.exponential(Path(2), TWO, outputs="ab")),
    "a rate above 1": ("rate", lambda: Exponential.of([[1, 2]], 2)),
    "a rate of 0": ("rate", lambda: Exponential.of([[1, 2]], 0)),
    "sensitivity of too few rows": ("scores", lambda: sensitivity([[1]], Path(2))),
    "relaxations of an unconnected graph": ("graph", lambda: relaxations(APART, TWO)),
    "one answer of an unconnected graph": ("graph", lambda: one_answer(APART, 0, TWO)),
    "a negative length": ("length", lambda: _path_bounds.middle_distance(-1, TWO)),
    "neither length nor slack": ("length", lambda: _path_bounds.middle_distance_bound(TWO)),
    "both length and slack": ("length", lambda: _path_bounds.middle_distance_bound(TWO, length=1, slack=1)),
    "a negative slack": ("slack", lambda: _path_bounds.middle_distance_bound(TWO, slack=-1)),
    "Theorem 2 with too little slack": ("slack", lambda: _path_bounds.path_bound(100, TWO, "1/2")),
    "Theorem 2 on too short a path": ("nodes", lambda: _path_bounds.path_bound(7, TWO, 1)),
    "Theorem 2 with too short a middle": ("length", lambda: _path_bounds.path_bound(100, TWO, 2, 3)),
    "bounds without an epsilon": ("epsilon", lambda: _path_bounds.best_path_bound(100, Privacy(ratio=1))),
    "Corollary 3 with too little slack": ("slack", lambda: _path_bounds.path_bound_limit(10**6, TWO, 1)),
    "Corollary 3 on too short a path": ("nodes", lambda: _path_bounds.path_bound_limit(63, TWO, 2)),
    "Corollary 4 on too short a path": ("nodes", lambda: _path_bounds.exponential_ratio(63, TWO, 2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_by_field(name):
    field, ask = REFUSED[name]
    with pytest.raises(BadInput) as refused:
        ask()
    assert refused.value.field == field


def test_scores_and_weights_of_any_size_make_an_exact_mechanism():
    privacy = Privacy(epsilon=1)
    for scores, prior in (
        ([[0, 10**30], [1, 0], [2, 2]], None),
        ([[10**6, 0], [0, 1], [1, 5]], ["1e-300", "1e300"]),
        ([[0, 10**12, 2], [1, 0, 5], [2, 2, 2]], None),
    ):
        made = design.exponential(Path(3), privacy, scores=scores, prior=prior)
        assert audit(made, graph=Path(3), privacy=privacy).private
        assert all(sum(row) == 1 for row in made.rows)


def test_answers_may_be_named_by_lists():
    made = design.exponential(Path(2), Privacy(epsilon=1), scores=[[0, 1], [1, 0]], outputs=[[1], [0, 2]])
    assert made.outputs == ((1,), (0, 2))


def test_hypotheses_at_their_edge_are_granted():
    assert _path_bounds.path_bound(8, TWO, 1).length == 2
    assert _path_bounds.path_bound_limit(64, TWO, 2) > 0
    assert _path_bounds.best_path_bound(3, TWO).value == 0


def test_the_smallest_graphs():
    for privacy in (TWO, Privacy(ratio=1), Privacy(ratio=2, delta="1/10")):
        for graph in (Path(1), Cycle(1), graph_from_edges([], nodes=["a"])):
            assert design.distance(graph, privacy).matrix() == [(1,)]
            assert design.exponential(graph, privacy).matrix() == [(1,)]
    assert design.distance(graph_from_edges([(0, 1)]), TWO).objective.value == Fraction(1, 3)


def test_no_epsilon_leaves_one_answer_for_all():
    """At r = 1 all rows are equal: the centre of the star is as good as any answer gets."""
    star = graph_from_edges([("c", leaf) for leaf in "abde"])
    made = design.distance(star, Privacy(ratio=1))
    assert made.objective.value == made.objective.lower_bound == Fraction(4, 5)
    assert audit(design.exponential(star, Privacy(ratio=1))).holds


def test_names_of_nodes_and_answers_are_kept():
    square = graph_from_edges([("north", "east"), ("east", "south"), ("south", "west"), ("west", "north")])
    made = design.exponential(square, TWO)
    assert set(made.outputs) == set(made.inputs) == {"north", "east", "south", "west"}
    assert made.row("north")[made.outputs.index("north")] == Fraction(4, 9)
    named = design.exponential(Path(2), TWO, scores=[[1, 0], [0, 1]], outputs=["low", "high"])
    assert named.outputs == ("low", "high")


def test_a_prior_moves_the_answer():
    plain = design.exponential(Path(3), TWO)
    tilted = design.exponential(Path(3), TWO, prior=[1, 1, 100])
    assert tilted.row(0)[2] > plain.row(0)[2]
    assert audit(tilted).holds


def test_delta_is_not_promised_where_it_is_not_used():
    made = design.exponential(Cycle(5), Privacy(ratio=2, delta="1/10"))
    assert made.privacy.delta == 0
    assert design.distance(Cycle(5), Privacy(ratio=2, delta="1/10")).objective.value < made.objective.value


def test_without_igraph_the_same_optimum_is_found(monkeypatch):
    graph = graph_from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
    with_symmetry = design.distance(graph, TWO).objective
    monkeypatch.setitem(sys.modules, "igraph", None)
    assert design.distance(graph, TWO).objective == with_symmetry


SPECS = {
    "distance": {"kind": "distance", "graph": {"family": "hamming", "length": 3, "symbols": 2}},
    "weighted": {"kind": "distance", "graph": {"family": "path", "n": 4}, "weights": [1, 2, 3, 4]},
    "loss": {"kind": "distance", "graph": {"edges": [["a", "b"]]}, "loss": [[0, 1], [2, 0]]},
    "exponential": {"kind": "exponential", "graph": {"family": "histograms", "total": 3, "types": 3}},
    "scores": {
        "kind": "exponential",
        "graph": {"family": "path", "n": 3},
        "scores": [["1/2", 0], [0, 0], [0, "0.5"]],
        "outputs": ["yes", "no"],
        "prior": [1, "2/3"],
    },
}


@pytest.mark.parametrize("name", SPECS)
def test_designs_from_the_command_line_pass_the_audit(name, tmp_path, capsys):
    spec, out = tmp_path / "spec.json", tmp_path / "made.json"
    spec.write_text(json.dumps({**SPECS[name], "privacy": {"epsilon": 1}}))
    assert run(["design", str(spec), "-o", str(out)]) == 0
    assert run(["audit", str(out)]) == 0
    assert audit(load(out)).holds
    capsys.readouterr()


@pytest.mark.parametrize(
    "wrong",
    [
        {"graph": 3},
        {"scores": "high"},
        {"scores": 5},
        {"scores": [1, 2, 3]},
        {"prior": 7},
        {"speed": 1},
        {"outputs": 5, "scores": [[1], [1], [1]]},
        {"outputs": [None], "scores": [[1], [1], [1]]},
        {"outputs": [{"a": 1}], "scores": [[1], [1], [1]]},
    ],
)
def test_malformed_specs_are_refused_with_status_2(wrong, tmp_path, capsys):
    spec = tmp_path / "spec.json"
    fields = {"kind": "exponential", "graph": {"family": "path", "n": 3}, "privacy": {"epsilon": 1}}
    spec.write_text(json.dumps({**fields, **wrong}))
    assert run(["design", str(spec), "-o", str(tmp_path / "made.json")]) == 2
    complaint = capsys.readouterr().err
    assert "Traceback" not in complaint and "internal error" not in complaint
