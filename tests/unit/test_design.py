"""Public designs and specs: certificates that the checker accepts, short files, refusals by name."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from irisdp import BadInput, Infeasible, Privacy, audit, design, mechanisms
from irisdp._exact.linprog import as_fmpq, exact_optimum
from irisdp.certify import check_optimality, digest
from irisdp.design import binary, compare, compare_lexicographically, from_spec, rainbow
from irisdp.graphs import Cycle, Hamming, Histograms, Path, graph_from_edges, rank
from irisdp.mechanisms import FactoredMechanism, read_document
from support.seeds import fresh_generator, fresh_random

LONG = Privacy(epsilon=1)
SHORT = Privacy(ratio=4)

DESIGNS = {
    "minimax, short ratio": lambda: design.consumer(5, "absolute", SHORT),
    "minimax, long ratio": lambda: design.consumer(5, "squared", LONG, side_information=[1, 2, 5]),
    "minimax, δ": lambda: design.consumer(5, "zero-one", Privacy(epsilon=1, delta="1/100")),
    "minimax, table": lambda: design.consumer(2, [[0, "1/3", 2], [1, -1, 0.5], [9, 1, 0]], LONG),
    "Bayesian": lambda: design.consumer(3, "absolute", LONG, prior=[0.1, 0.2, 0.3, 0.4]),
    "Bayesian, short ratio": lambda: design.consumer(3, "squared", Privacy(ratio=2, delta="0.1"), prior=["1/4"] * 4),
    "distance": lambda: design.distance(Cycle(6), LONG),
    "distance, δ": lambda: design.distance(Hamming(2, 3), Privacy(ratio=3, delta="1/50")),
    "geometric, short": lambda: design.geometric(8, SHORT),
    "geometric, long": lambda: design.geometric(40, LONG),
    "geometric, one count": lambda: design.geometric(0, LONG),
    "line, short": lambda: design.balanced_line(4, 3, Privacy(ratio="13/10", delta="1/10")),
    "line, long": lambda: design.balanced_line(3, 50, Privacy(epsilon="0.3", delta="1e-6")),
    "line, no privacy to lose": lambda: design.balanced_line(2, 2, Privacy(ratio=1)),
    "randomised response": lambda: design.randomized_response(5, Privacy(epsilon=1, delta="0.05")),
    "randomised response, names": lambda: design.randomized_response(["yes", "no", "perhaps"], LONG),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_checker_accepts_what_design_writes(name):
    made = DESIGNS[name]()
    document = json.loads(json.dumps(made.to_document()))
    read = read_document(document)
    assert digest(document) == document["certificate"]["digest"]
    for subject in (made, read):
        assert audit(subject).private
        verdict = check_optimality(subject)
        assert verdict.holds, verdict.reason
        assert verdict.gap is None or 0 <= verdict.gap <= verdict.value / 10**14


def test_a_tampered_design_is_rejected():
    document = design.consumer(3, "absolute", SHORT).to_document()
    for change in (
        {"objective": {**document["objective"], "lower_bound": "169/415"}},
        {"objective": {**document["objective"], "value": "167/415"}},
        {"certificate": {**document["certificate"], "weights": ["1/4"] * 4}},
        {"outputs": [0, 1, 3, 2]},
    ):
        assert not check_optimality(read_document({**document, **change})).holds
        resealed = design.add_digest({**document, **change})
        assert not check_optimality(read_document(resealed)).holds


def test_sealing_twice_changes_nothing():
    document = design.geometric(3, SHORT).to_document()
    assert design.add_digest(document) == document
    assert design.add_digest(design.add_digest({**document, "note": "harmless"})) != document


def test_geometric_files_stay_short():
    text = json.dumps(design.geometric(100, LONG).to_document())
    assert len(text) < 2_000_000
    assert max(map(len, re.findall(r"\d+", text))) < 100
    assert len(json.dumps(design.geometric(100, Privacy(ratio="6/5")).to_document())) < 2_000_000


def test_geometric_is_the_formula_where_that_is_short_and_near_it_where_not():
    assert design.geometric(6, SHORT).matrix() == mechanisms.geometric(6, SHORT).matrix()
    exact, made = mechanisms.geometric(60, LONG).matrix(), design.geometric(60, LONG)
    farthest = max(
        abs(x - y) for here, there in zip(made.matrix(), exact, strict=True) for x, y in zip(here, there, strict=True)
    )
    assert 0 < farthest <= Fraction(made.certificate["within"]) < Fraction(1, 10**30)
    assert made.privacy.delta == 0
    large = design.geometric(5000, LONG)
    assert isinstance(large, FactoredMechanism)
    assert (large.n, large.reading) == (5000, None)


def test_side_information_as_bounds_is_the_list():
    bounds = design.consumer(6, "absolute", SHORT, side_information={"at_least": 2, "at_most": 4})
    assert bounds.objective == design.consumer(6, "absolute", SHORT, side_information=[4, 2, 3]).objective
    upper = design.consumer(6, "absolute", SHORT, side_information={"at_most": 6})
    assert upper.objective == design.consumer(6, "absolute", SHORT).objective
    assert design.consumer(6, "absolute", SHORT, side_information=[2]).objective.value == 0


def test_a_prior_normalised_in_floats_is_a_prior():
    weights = fresh_generator(1).random(8)
    made = design.consumer(7, "absolute", SHORT, prior=weights / weights.sum())
    assert sum(map(Fraction, made.certificate["weights"])) == 1
    assert made.objective.value == made.objective.lower_bound


def test_a_point_prior_needs_no_noise():
    assert design.consumer(4, "absolute", LONG, prior=[0, 0, 1, 0, 0]).objective.value == 0


SPECS = {
    "consumer": {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}},
    "bounds": {
        "kind": "consumer", "n": 3, "loss": [[0, 1, 2, 3]] * 4, "side_information": {"at_least": 1},
        "privacy": {"epsilon": 1},
    },
    "prior": {
        "kind": "consumer", "n": 1, "loss": "squared", "prior": ["1/2", 0.5],
        "privacy": {"epsilon": "0.5", "delta": 0.01},
    },
    "distance": {"kind": "distance", "graph": {"family": "cycle", "n": 5}, "privacy": {"ratio": "3/2"}},
    "geometric": {"kind": "geometric", "n": 4, "privacy": {"epsilon": 1}},
    "line": {"kind": "balanced-line", "n_blue": 2, "n_red": 3, "privacy": {"ratio": 2}},
    "response": {"kind": "randomized-response", "choices": ["a", "b"], "privacy": {"ratio": 2}},
    "winner": {"kind": "plurality", "categories": 3, "largest": 3, "relation": "exchange", "privacy": {"ratio": 2}},
    "winner, at worst": {
        **{"kind": "plurality", "categories": 3, "largest": 2, "relation": "add-remove", "objective": "worst"},
        "privacy": {"epsilon": 1},
    },
    "winner of counts": {"kind": "plurality", "categories": 3, "total": 4, "privacy": {"epsilon": "1/2"}},
    "first winner": {
        **{"kind": "plurality", "categories": 2, "largest": 4, "relation": "add-remove", "ties": "first"},
        "privacy": {"epsilon": 1},
    },
    "top": {"kind": "top", "k": 2, "categories": 3, "largest": 1, "relation": "any", "privacy": {"ratio": 2}},
    "ranking": {"kind": "ranking", "categories": 3, "total": 4, "privacy": {"epsilon": 1}},
}  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
def test_specs_are_the_functions(name):
    made = design.from_spec(SPECS[name])
    assert audit(made).private
    assert check_optimality(made).holds


def test_a_spec_is_the_call_it_stands_for():
    assert design.from_spec(SPECS["consumer"]).to_document() == design.consumer(3, "absolute", SHORT).to_document()


@pytest.mark.parametrize(("field", "spec"), [
    ("spec", None),
    ("spec", []),
    ("kind", {}),
    ("kind", {"kind": ["consumer"]}),
    ("kind", {"kind": "best", "privacy": {"ratio": 2}}),
    ("n", {"kind": "geometric", "privacy": {"ratio": 2}}),
    ("n", {"kind": "geometric", "n": True, "privacy": {"ratio": 2}}),
    ("n", {"kind": "geometric", "n": [3], "privacy": {"ratio": 2}}),
    ("n", {"kind": "geometric", "n": None, "privacy": {"ratio": 2}}),
    ("n", {"kind": "geometric", "n": 2.5, "privacy": {"ratio": 2}}),
    ("privacy", {"kind": "geometric", "n": 3}),
    ("privacy", {"kind": "geometric", "n": 3, "privacy": 1}),
    ("ratio", {"kind": "geometric", "n": 3, "privacy": {"ratio": "1/2"}}),
    ("spec", {"kind": "geometric", "n": 3, "privacy": {"ratio": 2}, "loss": "absolute"}),
    ("categories", {"kind": "plurality", "privacy": {"ratio": 2}}),
    ("categories", SPECS["winner"] | {"categories": 10**9}),
    ("largest", SPECS["winner"] | {"largest": 10**9}),
    ("largest", SPECS["winner"] | {"largest": 0}),
    ("largest", SPECS["winner"] | {"categories": 100, "largest": 1}),
    ("total", SPECS["winner"] | {"total": 3}),
    ("total", SPECS["winner of counts"] | {"total": 10**9}),
    ("total", SPECS["winner of counts"] | {"relation": "add-remove"}),
    ("relation", SPECS["winner"] | {"relation": "swap"}),
    ("k", SPECS["top"] | {"k": 3}),
    ("k", SPECS["top"] | {"k": 0}),
    ("largest", SPECS["top"] | {"largest": 0}),
    ("largest", SPECS["top"] | {"largest": 10**9}),
    ("categories", SPECS["top"] | {"categories": 6}),
    ("relation", SPECS["top"] | {"relation": "swap"}),
    ("total", SPECS["ranking"] | {"largest": 2}),
    ("total", SPECS["ranking"] | {"total": 10**9}),
    ("total", SPECS["ranking"] | {"relation": "any"}),
    ("privacy", SPECS["ranking"] | {"privacy": {"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}}),
    ("ties", SPECS["winner"] | {"ties": "last"}),
    ("objective", SPECS["winner"] | {"objective": "best"}),
    ("loss", SPECS["consumer"] | {"loss": "cubic"}),
    ("loss", SPECS["consumer"] | {"loss": [[0, 1], [1, 0]]}),
    ("loss", SPECS["consumer"] | {"loss": [[0, 1, 2, "x"]] * 4}),
    ("loss", SPECS["consumer"] | {"loss": 3}),
    ("loss", SPECS["consumer"] | {"loss": None}),
    ("loss", SPECS["consumer"] | {"loss": ["0123"] * 4}),
    ("side_information", SPECS["consumer"] | {"side_information": [4]}),
    ("side_information", SPECS["consumer"] | {"side_information": []}),
    ("side_information", SPECS["consumer"] | {"side_information": "0123"}),
    ("side_information", SPECS["consumer"] | {"side_information": {"from": 1}}),
    ("side_information", SPECS["consumer"] | {"side_information": {"at_least": 3, "at_most": 1}}),
    ("side_information", SPECS["consumer"] | {"side_information": 3}),
    ("prior", SPECS["consumer"] | {"prior": [1]}),
    ("prior", SPECS["consumer"] | {"prior": [1, 1, 1, 1]}),
    ("prior", SPECS["consumer"] | {"prior": [2, -1, 0, 0]}),
    ("prior", SPECS["consumer"] | {"prior": {"0": 1}}),
    ("prior", SPECS["consumer"] | {"prior": [1, 0, 0, 0], "side_information": [1, 2]}),
    ("graph", {"kind": "distance", "graph": {"nodes": [1, 2], "edges": []}, "privacy": {"ratio": 2}}),
    ("graph", {"kind": "distance", "graph": {"family": "path", "n": 10**6}, "privacy": {"ratio": 2}}),
    ("graph", {"kind": "distance", "graph": 5, "privacy": {"ratio": 2}}),
    ("n", SPECS["consumer"] | {"n": 10**7}),
    ("n_red", SPECS["line"] | {"n_red": 0}),
    ("choices", SPECS["response"] | {"choices": "ab"}),
    ("choices", SPECS["response"] | {"choices": ["a"]}),
    ("choices", SPECS["response"] | {"choices": 1}),
    ("choices", SPECS["response"] | {"choices": [["a"], 0.5]}),
    ("choices", SPECS["response"] | {"choices": ["a", "a"]}),
])  # fmt: skip
def test_bad_specs_are_refused_by_field(field, spec):
    with pytest.raises(BadInput) as refused:
        design.from_spec(spec)
    assert refused.value.field == field
    assert "\n" not in str(refused.value)


def test_a_goal_of_no_kind_is_refused():
    loss = ((Fraction(0), Fraction(1)),) * 2
    for wrong in ({}, {"weights": (Fraction(1),)}, {"side_information": ()}, {"side_information": (7,)}):
        with pytest.raises(BadInput):
            design.Goal(name="", loss=loss, **wrong)
    with pytest.raises(BadInput):
        design.Goal(name="", loss=loss, weights=(Fraction(1), Fraction(0)), side_information=(0,))


def test_a_goal_reads_arrays_frames_and_floats_as_lists():
    loss, weights = [[0, 0.1, 2], [1, 0, 1], [2, 1, 0]], [0.1, 0.2, 0.7]
    wanted = design.Goal(name="", loss=loss, weights=["1/10", "1/5", "7/10"])
    assert wanted.loss[0][1] == Fraction(1, 10)
    for table, list_ in (
        (np.array(loss), np.array(weights)),
        (np.array(loss, dtype=np.float32), tuple(weights)),
        (pd.DataFrame(loss, columns=["a", "b", "c"]), pd.Series(weights, index=["x", "y", "z"])),
        (pl.DataFrame(loss, orient="row", strict=False), pl.Series(weights)),
        (scipy.sparse.csr_array(np.array(loss)), iter(weights)),
    ):
        assert design.Goal(name="", loss=table, weights=list_) == wanted
    worst = design.Goal(name="", loss=loss, side_information=np.array([2, 0, 2], dtype=np.uint8))
    assert worst.side_information == (0, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"loss": [[0, float("nan")], [1, 0]]},
        {"loss": [[0, 1], [1]]},
        {"loss": []},
        {"loss": "absolute"},
        {"weights": [1, -1]},
        {"weights": [1]},
        {"weights": None, "side_information": [0, 2]},
        {"weights": None, "side_information": {"at_least": 1}},
        {"loss_name": "cubic"},
    ],
)
def test_a_goal_is_refused_when_it_is_made(wrong):
    with pytest.raises(BadInput, match=r"^(loss|weights|side_information|loss_name): "):
        design.Goal(**{"name": "", "loss": [[0, 1], [1, 0]], "weights": [1, 1], **wrong})


def test_a_goal_and_a_graph_speak_of_the_same_inputs():
    goal = design.Goal(name="", loss=[[0, 1], [1, 0]], weights=[1, 1])
    with pytest.raises(BadInput, match=r"^goal: has 2 inputs, and the graph 3 nodes; "):
        design.optimal_mechanism(goal, Path(3), SHORT)
    with pytest.raises(BadInput, match=r"^outputs: must be 2 names; "):
        design.optimal_mechanism(goal, Path(2), SHORT, outputs=["a"])


def test_a_goal_has_the_name_of_its_loss_or_none():
    for answers, wrong in (([0, 1], 2), ([-1, 5], 4)):
        table = [[(i - v) ** 2 for v in answers] for i in range(2)]
        goal = design.Goal(name="", loss=table, loss_name="squared", weights=[1, 1])
        assert design.optimal_mechanism(goal, Path(2), SHORT, outputs=answers).certificate["loss"] == {
            "name": "squared"
        }
        table[1][1] = wrong
        for outputs in (answers, ["a", "b"]):
            goal = design.Goal(name="", loss=table, loss_name="squared", weights=[1, 1])
            with pytest.raises(BadInput, match=r"^loss_name: is squared, and the table holds another loss"):
                design.optimal_mechanism(goal, Path(2), SHORT, outputs=outputs)


def test_components_are_designed_for_apart():
    graph = graph_from_edges([("a", "b"), ("c", "d")])
    loss = tuple(tuple(Fraction(i != v) for v in range(4)) for i in range(4))
    goal = design.Goal(name="error", loss=loss, weights=(Fraction(1, 4),) * 4)
    made = design.optimal_mechanism(goal, graph, Privacy(ratio=3))
    assert made.objective.value == Fraction(1, 4)
    assert audit(made).private


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 10**9), Fraction(1), Fraction(1000)])
def test_a_solver_that_fails_costs_optimality_and_never_privacy(monkeypatch, noise):
    """Whatever the solver returns, the mechanism is private and the gap it states is true."""
    chance = fresh_random(3)

    def failing(program, **options):
        found = exact_optimum(program)
        values, duals = ([x + as_fmpq(noise * chance.randint(-3, 3)) for x in xs] for xs in (found.values, found.duals))
        return replace(found, values=values, duals=duals, exact=False)

    best = design.consumer(5, "absolute", LONG).objective.value
    monkeypatch.setattr(sys.modules["irisdp.design._optimal_mechanism"], "exact_optimum", failing)
    for made in (
        design.consumer(5, "absolute", LONG),
        design.consumer(5, "absolute", SHORT),
        design.distance(Cycle(5), Privacy(epsilon=1, delta="1/100")),
    ):
        assert audit(made).private
        verdict = check_optimality(made)
        assert verdict.holds, verdict.reason
        assert 0 <= verdict.gap <= verdict.value
    assert design.consumer(5, "absolute", LONG).objective.value >= best * (1 - Fraction(1, 10**15))


def test_the_tree_of_kinds_is_the_contract():
    assert {"consumer", "distance", "geometric"} <= set(design.KINDS)


def test_a_path_and_its_list_of_edges_give_one_optimum():
    edges = [(i, i + 1) for i in range(4)]
    loss = tuple(tuple(Fraction(abs(i - v)) for v in range(5)) for i in range(5))
    goal = design.Goal(name="", loss=loss, side_information=tuple(range(5)))
    values = {
        design.optimal_mechanism(goal, graph, SHORT).objective.value for graph in (Path(5), graph_from_edges(edges))
    }
    assert values == {design.consumer(4, "absolute", SHORT).objective.value}


def test_geometric_noise_is_for_one_epsilon_and_says_what_is_for_several():
    several = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    said = r"^privacy: holds 2 pairs, and geometric noise is best for one epsilon; of several"
    with pytest.raises(BadInput, match=said):
        design.geometric(3, several)


# Rainbow designs: what is refused and why, the forms a boundary may take, files, long ratios.

WITHIN = 1e-15
"""Files round what long ratios make, to 2^-50 at most; two ways of saying one boundary may round apart."""


SPEC = {
    "kind": "rainbow",
    "privacy": {"ratio": 2},
    "graph": {"family": "path", "n": 4},
    "rankings": {"0": ["a", "b", "c"], "1": ["a", "b", "c"], "2": ["c", "b", "a"], "3": ["c", "b", "a"]},
    "boundary": "balanced",
}
ROWS = {"a>b>c": {"a": "0.5", "b": "0.2", "c": "0.3"}, "c>b>a": {"a": "0.3", "b": "0.3", "c": "0.4"}}


def holds(mechanism):
    return audit(mechanism).private and check_optimality(read_document(mechanism.to_document())).holds


@pytest.mark.parametrize(
    "privacy", [{"ratio": 2}, {"epsilon": 1, "delta": "0.01"}, {"epsilon": "0.7"}, {"ratio": 1, "delta": ".2"}]
)
@pytest.mark.parametrize("boundary", ["balanced", "best", ROWS])
def test_designs_are_private_and_their_certificates_hold(privacy, boundary):
    assert holds(from_spec({**SPEC, "privacy": privacy, "boundary": boundary}))


@pytest.mark.parametrize(
    "privacy", [{"epsilon": 20}, {"epsilon": "1e-9", "delta": "1e-12"}, {"ratio": 1}, {"epsilon": "0.1"}]
)
def test_the_best_boundary_is_no_worse_than_the_balanced_one(privacy):
    """Also where numbers are extreme; the value is compared on the goal that "best" has by default."""
    graph, rankings = Path(60), [tuple("abc")] * 25 + [tuple("cba")] * 20 + [tuple("bca")] * 15
    best = rainbow(graph, rankings, Privacy(**privacy), boundary="best")
    balanced = rainbow(graph, rankings, Privacy(**privacy))
    assert holds(best)
    assert best.objective.value <= 60 * balanced.objective.value * (1 + Fraction(1, 10**15))


def test_rows_by_ranking_and_by_node_agree():
    by_ranking = from_spec({**SPEC, "boundary": ROWS})
    by_node = from_spec({**SPEC, "boundary": {"1": ROWS["a>b>c"], "2": ROWS["c>b>a"]}})
    assert by_ranking.matrix() == by_node.matrix()
    assert by_ranking.row(0) == (Fraction(3, 4), Fraction(1, 10), Fraction(3, 20))
    assert holds(by_node)


def test_long_ratios_by_node():
    privacy = {"epsilon": "0.57", "delta": "0.001"}
    graph = {"family": "path", "n": 40}
    rankings = {str(i): list("abc" if i < 25 else "cba") for i in range(40)}
    rows = {"24": ROWS["a>b>c"], "25": ROWS["c>b>a"]}
    mechanism = from_spec({**SPEC, "graph": graph, "rankings": rankings, "privacy": privacy, "boundary": rows})
    same = from_spec({**SPEC, "graph": graph, "rankings": rankings, "privacy": privacy, "boundary": ROWS})
    assert holds(mechanism)
    assert holds(same)
    assert max(abs(p - q) for i in range(40) for p, q in zip(mechanism.row(i), same.row(i), strict=True)) < WITHIN
    assert same.row(24) == (Fraction("0.5"), Fraction("0.2"), Fraction("0.3"))


def test_a_boundary_that_is_not_private_names_the_pair():
    rows = {"a>b>c": {"a": "0.5", "b": "0.4", "c": "0.1"}, "c>b>a": {"a": "0.5", "c": "0.4", "b": "0.1"}}
    with pytest.raises(Infeasible) as refusal:
        from_spec({**SPEC, "boundary": rows})
    document = refusal.value.document
    assert document["pair"] in ([1, 2], [2, 1])
    assert document["smallest_delta"] == "0.2"
    epsilon = Fraction(document["smallest_epsilon"])
    assert abs(float(epsilon) - 1.3862943611198906) < 1e-9
    assert holds(from_spec({**SPEC, "boundary": rows, "privacy": {"epsilon": str(epsilon)}}))
    assert holds(from_spec({**SPEC, "boundary": rows, "privacy": {"ratio": 2, "delta": "0.2"}}))
    with pytest.raises(Infeasible) as by_node:
        from_spec({**SPEC, "boundary": {"1": rows["a>b>c"], "2": rows["c>b>a"]}})
    assert by_node.value.document["smallest_delta"] == "0.2"


def test_given_rows_too_far_apart_along_a_path():
    sure, never = {"a": 1}, {"c": 1}
    with pytest.raises(Infeasible) as refusal:
        from_spec({**SPEC, "boundary": {"0": sure, "3": never}})
    assert refusal.value.document["distance"] == 3
    assert refusal.value.document["smallest_epsilon"] is None


def test_plurality_of_a_histogram():
    """Keys that are lists name histogram nodes; classes touch along ties."""
    graph = Histograms(3, 3)
    mechanism = rainbow(graph, lambda h: tuple(sorted("xyz", key=lambda v: (-h["xyz".index(v)], v))), Privacy(ratio=3))
    assert holds(mechanism)
    spec_rankings = {str(list(h)): sorted("xyz", key=lambda v: (-h["xyz".index(v)], v)) for h in graph.nodes}
    spec = {**SPEC, "graph": {"family": "histograms", "total": 3, "types": 3}, "rankings": spec_rankings}
    spec["privacy"] = {"ratio": 3}
    assert from_spec(spec).matrix() == mechanism.matrix()


def test_dominance_and_the_lexicographic_order():
    ranked = rank(Path(2), [("a", "b", "c")] * 2)

    def mechanism(row):
        spec = {**SPEC, "graph": {"family": "path", "n": 2}, "rankings": {"0": list("abc"), "1": list("abc")}}
        return from_spec({**spec, "boundary": {"0": row, "1": row}})

    one, other, third = (
        mechanism(dict(zip("abc", row, strict=True)))
        for row in (("0.5", "0.1", "0.4"), ("0.4", "0.4", "0.2"), ("0.4", "0.3", "0.3"))
    )
    assert compare(one, other, ranked) == "incomparable"
    assert compare_lexicographically(one, other, ranked) == "better"
    assert compare(third, other, ranked) == compare_lexicographically(third, other, ranked) == "worse"


@pytest.mark.parametrize(("change", "field"), [
    ({"boundary": "greatest"}, "boundary"),
    ({"boundary": 0.5}, "boundary"),
    ({"boundary": {"a>b>c": ROWS["a>b>c"]}}, "boundary"),
    ({"boundary": {**ROWS, "a>b": {"a": 1}}}, "boundary"),
    ({"boundary": {"9": {"a": 1}}}, "boundary"),
    ({"boundary": {"0": {"a": 1, "d": 0}}}, "boundary"),
    ({"boundary": {"0": {"a": "0.5"}}}, "boundary"),
    ({"boundary": {"0": {"a": "1.5", "b": "-0.5"}}}, "boundary"),
    ({"boundary": {"0": [1, 0, 0]}}, "boundary"),
    ({"weights": {"0": 1}}, "weights"),
    ({"boundary": "best", "weights": {"0": -1}}, "weights"),
    ({"boundary": "best", "weights": {"0": [1, 1, 1]}}, "weights"),
    ({"boundary": "best", "weights": [1]}, "weights"),
    ({"boundary": "best", "weights": {"0": float("nan")}}, "weights"),
    ({"rankings": {"0": ["a"], "1": ["a"], "2": ["b"], "3": ["b"]}}, "rankings"),
    ({"rankings": {"0": "abc", "1": "abc", "2": "abc", "3": "abc"}}, "rankings"),
    ({"rankings": {str(i): [True, False] for i in range(4)}}, "rankings"),
    ({"color": 1}, "spec"),
])  # fmt: skip
def test_bad_input_names_the_field(change, field):
    with pytest.raises(BadInput) as error:
        from_spec({**SPEC, **change})
    assert error.value.field.startswith(field)


# Binary designs: what is refused and why, the privacy that would be enough, files, large and deep graphs.

NINE_DIGITS = Fraction(1, 10**9)
"""How exact the suggested ε and δ must be."""


def certified(mechanism):
    return check_optimality(read_document(mechanism.to_document()))


def least_by_bisection(holds, low, high):
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


CONTRADICTIONS = [
    # path colours, fixed probabilities of the own colour, privacy
    ("bbbrr", {0: "0.95", 1: "0.3"}, {"epsilon": "0.5", "delta": "0.01"}),
    ("bbbrr", {0: "0.99", 3: "0.9", 4: "0.5"}, {"epsilon": "0.2"}),
    ("bbbbbbrrrr", {0: "0.999", 9: "0.999"}, {"ratio": "1.2", "delta": "0.001"}),
    ("bbbbbbrrrr", {0: "0.1", 4: "0.9", 6: "0.2", 9: "0.95"}, {"epsilon": "0.3", "delta": "0.02"}),
]


@pytest.mark.parametrize(("colours", "fixed", "privacy"), CONTRADICTIONS)
def test_smallest_epsilon_and_delta(colours, fixed, privacy):
    """Checked by bisection over a criterion of the test's own: every pair of fixed nodes, u iterated in floats."""
    privacy = Privacy(**privacy)
    with pytest.raises(Infeasible) as refusal:
        binary(Path(len(colours)), list(colours), privacy, boundary=fixed)
    document = refusal.value.document
    blue = {i: float(p) if colours[i] == "b" else 1 - float(p) for i, p in fixed.items()}

    def possible(ratio, delta):
        for i, target in blue.items():
            for j, s in blue.items():
                for _ in range(abs(i - j)):
                    s = min(1.0, ratio * s + delta, 1 - (1 - s - delta) / ratio)  # noqa: PLW2901
                if s < target:
                    return False
        return True

    assert not possible(float(privacy.ratio), float(privacy.delta))
    epsilon = least_by_bisection(lambda e: possible(np.exp(e), float(privacy.delta)), 0.0, 30.0)
    assert abs(Fraction(document["smallest_epsilon"]) - Fraction(epsilon)) < NINE_DIGITS
    delta = least_by_bisection(lambda d: possible(float(privacy.ratio), d), 0.0, 1.0)
    assert abs(Fraction(document["smallest_delta"]) - Fraction(delta)) < NINE_DIGITS
    assert len(document["pair"]) == 2
    assert Fraction(document["probability"]) > Fraction(document["bound"])
    # At the limits themselves the probabilities no longer contradict each other; a hair below, they do.
    for enough, too_little in (
        (
            Privacy(epsilon=document["smallest_epsilon"], delta=privacy.delta),
            Privacy(epsilon=Fraction(document["smallest_epsilon"]) - NINE_DIGITS, delta=privacy.delta),
        ),
        (
            privacy.with_delta(document["smallest_delta"]),
            privacy.with_delta(Fraction(document["smallest_delta"]) - NINE_DIGITS),
        ),
    ):
        assert status(colours, fixed, enough) != "infeasible"
        assert status(colours, fixed, too_little) == "infeasible"


def status(colours, fixed, privacy):
    try:
        binary(Path(len(colours)), list(colours), privacy, boundary=fixed)
    except Infeasible as refusal:
        return refusal.document["status"]
    return "designed"


def test_a_contradiction_of_a_hair_is_no_missing_optimum():
    hair = Fraction(1, 10**70)
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "bb", Privacy(ratio=2), boundary={0: "0.5", 1: Fraction(3, 4) + hair})
    assert refusal.value.document["status"] == "infeasible"
    assert binary(Path(2), "bb", Privacy(ratio=2), boundary={0: "0.5", 1: "0.75"}).row(1)[0] == Fraction(3, 4)


def test_a_limit_that_is_a_short_decimal_is_found_exactly():
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "br", Privacy(ratio=2), boundary="0.7")
    assert refusal.value.document["smallest_delta"] == "0.1"
    assert refusal.value.document["bound"] == "0.6"
    with pytest.raises(Infeasible):
        binary(Path(2), "br", Privacy(ratio=2), boundary="0.1")


def test_a_limit_that_does_not_exist_is_null():
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "br", Privacy(ratio=2), boundary={0: 1, 1: 1})
    assert refusal.value.document["smallest_epsilon"] is None
    assert refusal.value.document["smallest_delta"] is None


@pytest.mark.parametrize("privacy", [Privacy(ratio=2, delta="0.1"), Privacy(epsilon="0.3", delta="1e-6")])
def test_a_free_edge_between_the_colours_leaves_no_optimum(privacy):
    with pytest.raises(Infeasible) as refusal:
        binary(Path(4), "bbrr", privacy, boundary={0: "0.9"})
    first, second = (read_document(document).mechanism() for document in refusal.value.document["witnesses"])
    assert audit(first).private
    assert audit(second).private
    assert compare(first, second, rank(Path(4), [("b", "r")] * 2 + [("r", "b")] * 2)) == "incomparable"


def test_a_free_edge_where_nothing_trades_off():
    """Both ends are bound so low by their neighbours that the edge between them is no constraint: an optimum exists."""
    privacy = Privacy(ratio=2)
    graph = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    colours = {"a": "blue", "b": "blue", "c": "red", "d": "red"}
    mechanism = binary(graph, colours, privacy, boundary={"a": "0.3", "d": "0.3"})
    assert mechanism.row("b")[0] == mechanism.row("c")[1] == Fraction(3, 5)
    assert audit(mechanism).private


@pytest.mark.parametrize(
    "boundary", ["balanced", "0.55", {13: "0.6", 3: "0.9"}, {14: "0.6", 0: "0.999"}, {13: "0.6", 29: "0.00001", 3: 0}]
)
@pytest.mark.parametrize("privacy", [{"epsilon": "0.5", "delta": "1e-6"}, {"epsilon": 2}, {"ratio": 2, "delta": "0.1"}])
def test_designs_are_private_and_their_certificates_hold_binary(boundary, privacy):
    mechanism = (
        binary(Path(30), "b" * 14 + "r" * 16, Privacy(**privacy), boundary=boundary)
        if status("b" * 14 + "r" * 16, boundary, Privacy(**privacy)) == "designed"
        else None
    )
    if mechanism is not None:
        assert audit(mechanism).private
        assert certified(mechanism).holds


def test_a_tampered_design_is_rejected_binary():
    """Negative control: one probability less, and the certificate no longer holds."""
    document = binary(Path(4), "bbrr", Privacy(ratio=2)).to_document()
    assert check_optimality(read_document(document)).holds
    document["matrix"][0] = ["0.7", "0.3"]
    assert not check_optimality(read_document(document)).holds


def test_deep_lines_stay_short():
    """A long ratio over a thousand steps: numbers stay short, privacy exact, and far nodes share a row."""
    privacy = Privacy(epsilon="0.1", delta="1e-9")
    mechanism = binary(Path(2000), np.arange(2000) < 900, privacy)
    assert audit(mechanism).private
    assert all(p.denominator < 10**90 for row in mechanism.rows for p in row)
    assert len(mechanism.rows) < 1600
    assert 1 - mechanism.row(0)[0] < Fraction(1, 10**6)


def test_many_fixed_values_with_a_long_ratio():
    rng = fresh_generator(0)
    nodes = 400
    privacy = Privacy(epsilon="0.4", delta="1e-6")
    tails = np.arange(nodes - 1)
    edges = [(int(i), int(i) + 1) for i in tails] + [(int(i), int(j)) for i, j in rng.integers(0, nodes, (200, 2))]
    fixed = {
        int(i): Fraction(int(p), 1000) for i, p in zip(range(0, nodes, 40), rng.integers(500, 600, 10), strict=True)
    }
    mechanism = binary(graph_from_edges(edges, nodes=range(nodes)), [0] * nodes, privacy, boundary=fixed)
    assert audit(mechanism).private
    assert certified(mechanism).holds
    assert all(mechanism.row(i)[0] == p for i, p in fixed.items())


SPEC_BINARY = {
    "kind": "binary",
    "privacy": {"ratio": 2},
    "graph": {"family": "path", "n": 3},
    "colors": {"0": 0, "1": 1, "2": 1},
}


@pytest.mark.parametrize(("change", "field"), [
    ({"boundary": "best"}, "boundary"),
    ({"boundary": "nan"}, "boundary"),
    ({"boundary": "1.5"}, "boundary"),
    ({"boundary": -1}, "boundary"),
    ({"boundary": True}, "boundary"),
    ({"boundary": [1]}, "boundary"),
    ({"boundary": {"7": "0.5"}}, "boundary"),
    ({"boundary": {"0": "half"}}, "boundary"),
    ({"boundary": {"0": None}}, "boundary"),
    ({"colors": {"0": 0, "1": 1}}, "colors"),
    ({"colors": {"0": 0, "1": 1, "2": 2}}, "colors"),
    ({"colors": {"0": 0, "1": 1, "2": 0.5}}, "colors"),
    ({"colors": [0, 1, 1]}, "colors"),
    ({"graph": {"family": "ring", "n": 3}}, "graph"),
])  # fmt: skip
def test_bad_input_names_the_field_binary(change, field):
    assert audit(from_spec(SPEC_BINARY)).private
    with pytest.raises(BadInput) as error:
        from_spec({**SPEC_BINARY, **change})
    assert error.value.field.startswith(field)
