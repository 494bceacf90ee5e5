"""Public designs and specs: certificates that the checker accepts, short files, refusals by name."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy, audit, design, mechanisms
from irisdp._exact.linprog import as_fmpq, exact_optimum
from irisdp.certify import check_optimality, digest
from irisdp.graphs import Cycle, Hamming, Path, graph_from_edges
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
        "kind": "consumer",
        "n": 3,
        "loss": [[0, 1, 2, 3]] * 4,
        "side_information": {"at_least": 1},
        "privacy": {"epsilon": 1},
    },
    "prior": {
        "kind": "consumer",
        "n": 1,
        "loss": "squared",
        "prior": ["1/2", 0.5],
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
}


@pytest.mark.parametrize("name", SPECS)
def test_specs_are_the_functions(name):
    made = design.from_spec(SPECS[name])
    assert audit(made).private
    assert check_optimality(made).holds


def test_a_spec_is_the_call_it_stands_for():
    assert design.from_spec(SPECS["consumer"]).to_document() == design.consumer(3, "absolute", SHORT).to_document()


@pytest.mark.parametrize(
    ("field", "spec"),
    [
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
    ],
)
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
