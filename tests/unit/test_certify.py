"""The audit: what it reports, what it refuses, and what it looks at."""

import json
from fractions import Fraction

import numpy as np
import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, audit
from irisdp._exact import parse_json
from irisdp.certify import add_digest, certify_depth_mechanism, check_optimality, digest, is_sealed, privacy_profile
from irisdp.graphs import Complete, Path, graph_from_edges
from irisdp.mechanisms import (
    FactoredMechanism,
    MechanismDocument,
    balanced_line,
    geometric,
    line_mechanism,
    randomized_response,
    read_document,
)

HALF = Fraction(1, 2)


def on_path(rows, privacy, **more):
    return Mechanism.from_matrix(rows, privacy=privacy, graph=Path(len(rows)), **more)


def test_the_document_is_the_contract_s():
    document = audit(line_mechanism(4, 3, balanced_line(Privacy(ratio=2, delta="1/10")))).to_document()
    assert document["private"] is document["rows_sum_to_one"] is True
    assert (document["delta"], document["delta_at_epsilon"], document["ratio_at_delta"]) == ("0.1", "0.1", "2")
    assert document["epsilon"] == document["epsilon_at_delta"] == "0.693147180559945309417232121459"
    assert len(document["tightest"]["edge"]) == 2
    assert json.loads(json.dumps(document)) == document


def test_the_tightest_edge_is_named_with_its_outputs():
    mechanism = on_path(
        [["1/2", "1/4", "1/4"], ["5/12", "1/3", "1/4"], ["1/6", "1/3", "1/2"]],
        privacy=Privacy(ratio=3),
        outputs=("low", "middle", "high"),
    )
    verdict = audit(mechanism)
    assert verdict.ratio_at_delta == Fraction(5, 2)
    assert verdict.tightest.edge == (1, 2)
    assert verdict.tightest.outputs == ("low",)
    assert verdict.private and verdict.delta_at_epsilon == 0


def test_other_edges_as_tight_are_named_once_each():
    tightest = audit(geometric(9, Privacy(ratio=2))).tightest
    edges = [frozenset(edge) for edge in (tightest.edge, *tightest.others)]
    assert len(set(edges)) == len(edges) == 5


def test_a_probability_that_faces_zero_needs_infinity():
    verdict = audit(on_path([["1", "0"], ["1/2", "1/2"]], Privacy(ratio=4)))
    assert not verdict.private
    assert verdict.ratio_at_delta is verdict.epsilon_at_delta is None
    assert verdict.tightest.edge == (1, 0) and verdict.tightest.outputs == (1,)
    assert verdict.to_document()["epsilon_at_delta"] == "infinity"
    forgiven = audit(on_path([["1", "0"], ["1/2", "1/2"]], Privacy(ratio=4, delta=HALF)))
    assert forgiven.private and forgiven.ratio_at_delta == 1


def test_equal_rows_and_lonely_inputs_cost_nothing():
    for graph, rows in ((Path(1), [["1/3", "2/3"]]), (Complete(3), [["1/3", "2/3"]] * 3)):
        verdict = audit(Mechanism.from_matrix(rows, privacy=Privacy(ratio=1), graph=graph))
        assert verdict.holds and verdict.tightest is None and verdict.epsilon_at_delta == 0


def test_an_edge_from_an_input_to_itself_costs_nothing():
    graph = graph_from_edges([("a", "a")], nodes=["a", "b"])
    assert audit(Mechanism.from_matrix([["1", "0"], ["0", "1"]], privacy=Privacy(ratio=1), graph=graph)).holds


def test_inputs_may_stand_in_another_order_than_the_nodes():
    graph = graph_from_edges([("a", "b"), ("b", "c")], nodes=["c", "a", "b"])
    rows = {"a": ["1/2", "1/2"], "b": ["1/4", "3/4"], "c": ["1/8", "7/8"]}
    made = Mechanism.from_matrix([rows[x] for x in "abc"], privacy=Privacy(ratio=2), graph=graph, inputs=list("abc"))
    assert audit(made).private
    swapped = Mechanism.from_matrix(
        [rows[x] for x in "abc"], privacy=Privacy(ratio=2), graph=graph, inputs=["a", "c", "b"]
    )
    assert not audit(swapped).private


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "x"], ["a", "b", "c", "d"]])
def test_a_graph_of_other_nodes_is_refused(names):
    mechanism = Mechanism.from_matrix([["1"]] * 3, privacy=Privacy(ratio=2), inputs=list("abc"))
    with pytest.raises(BadInput, match="graph: must have exactly the mechanism's inputs"):
        audit(mechanism, graph=graph_from_edges([], nodes=names))


def test_missing_privacy_and_graph_are_asked_for():
    document = read_document({"matrix": [["1"], ["1"]]})
    with pytest.raises(BadInput, match="privacy: is missing"):
        audit(document, graph=Path(2))
    with pytest.raises(BadInput, match="graph: is missing"):
        audit(document, privacy=Privacy(ratio=2))
    assert audit(document, graph=Path(2), privacy=Privacy(ratio=2)).holds
    assert privacy_profile(document, graph=Path(2)).total_variation == 0


def test_a_negative_entry_is_no_privacy_whatever_the_ratio():
    document = read_document(
        {"privacy": {"ratio": 9}, "graph": {"family": "path", "n": 2}, "matrix": [["-1/2", "3/2"]] * 2}
    )
    verdict = audit(document)
    assert verdict.rows_sum_to_one and not verdict.non_negative and not verdict.private
    assert verdict.to_document()["epsilon_at_delta"] == "infinity"


def test_only_rows_in_use_are_judged():
    document = {
        "privacy": {"ratio": 2},
        "graph": {"family": "path", "n": 2},
        "rows": [["1/2", "1/2"], ["9", "9"]],
        "row_of": [0, 0],
    }
    assert audit(read_document(document)).holds
    document["row_of"] = [0, 1]
    verdict = audit(read_document(document))
    assert not verdict.rows_sum_to_one and not verdict.private


def test_other_graphs_and_promises_may_be_tried():
    mechanism = geometric(3, Privacy(ratio=2))
    assert not audit(mechanism, privacy=Privacy(ratio="3/2")).private
    assert audit(mechanism, privacy=Privacy(ratio="3/2", delta="1/3")).private
    assert audit(mechanism, graph=Complete(4)).ratio_at_delta == 8


def test_an_unknown_arithmetic_is_refused_by_name():
    with pytest.raises(BadInput, match="arithmetic: is not known"):
        audit(geometric(2, Privacy(ratio=2)), arithmetic="abacus")


def test_a_path_is_read_and_audited(tmp_path):
    file = tmp_path / "m.json"
    file.write_text(json.dumps(randomized_response(3, Privacy(epsilon=1)).to_document()))
    assert irisdp.audit(file).holds
    assert irisdp.audit(str(file)).epsilon_at_delta == 1


# What is never expanded.


def test_a_factored_mechanism_is_judged_by_its_theorem():
    reading = {z: ((z // 2, Fraction(1)),) for z in range(5001)}
    verdict = audit(FactoredMechanism(privacy=Privacy(epsilon="0.1"), n=5000, reading=reading))
    assert verdict.holds and verdict.by_theorem and verdict.epsilon_at_delta == Fraction(1, 10)
    assert verdict.tightest.edge == (0, 1)


def test_a_factored_mechanism_is_not_judged_beyond_its_theorem():
    factored = FactoredMechanism(privacy=Privacy(ratio=2), n=4)
    with pytest.raises(BadInput, match="stricter than a factored mechanism was built for"):
        audit(factored, privacy=Privacy(ratio="3/2"))
    with pytest.raises(BadInput, match="must be the path"):
        audit(factored, graph=Complete(5))
    assert not audit(factored.expand(), graph=Complete(5)).private
    assert privacy_profile(factored).ratio_at(0) == 2


def test_a_stepped_mechanism_is_judged_at_all_depths():
    stepped = balanced_line(Privacy(ratio=2, delta="1/100"))
    verdict = audit(stepped)
    assert verdict.holds and verdict.by_theorem and verdict.delta_at_epsilon == Fraction(1, 100)
    with pytest.raises(BadInput, match="built into its rows"):
        audit(stepped, privacy=Privacy(ratio=3))
    enclosed = certify_depth_mechanism(stepped, depths=(0, 3, 10**9))
    assert enclosed.holds and enclosed.excess < Fraction(1, 1 << 150)
    with pytest.raises(BadInput, match="depths: must not be negative"):
        certify_depth_mechanism(stepped, depths=(-1,))


def test_enclosed_rows_refute_a_wrong_step():
    """Negative control: rows of one privacy are judged against a stricter one."""
    stepped = balanced_line(Privacy(ratio=3))
    object.__setattr__(stepped, "boundary", ((Fraction(9, 10), Fraction(1, 10)),) * 2)
    verdict = certify_depth_mechanism(stepped, depths=())
    assert not verdict.holds and verdict.boundary_delta > 0
    assert audit(stepped).ratio_at_delta is None


# Seals.


def sealed_line():
    document = line_mechanism(2, 2, balanced_line(Privacy(ratio=2))).to_document()
    facts = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 0, 1, 1]}
    return add_digest({**document, "certificate": {"kind": "theorem", "theorem": "balanced-line", **facts}})


def test_a_seal_does_not_depend_on_the_order_of_keys():
    document = sealed_line()
    backwards = dict(reversed(document.items()))
    assert is_sealed(backwards) and digest(backwards) == document["certificate"]["digest"]


@pytest.mark.parametrize("field", ["format", "inputs", "outputs", "graph", "privacy", "matrix", "certificate"])
def test_any_edit_breaks_the_seal(field):
    document = json.loads(json.dumps(sealed_line()))
    value = document[field]
    if isinstance(value, dict):
        value["note"] = "harmless"
    else:
        document[field] = [*value, "x"] if isinstance(value, list) else value + " "
    assert not is_sealed(document)


def test_decimals_are_hashed_as_their_text():
    text = '{"privacy": {"epsilon": 0.10}, "certificate": {}}'
    longer = '{"privacy": {"epsilon": 0.1000000000000000000000000001}, "certificate": {}}'
    assert digest(parse_json(text, "m")) != digest(parse_json(longer, "m"))
    assert digest(parse_json(text, "m")) == digest({"privacy": {"epsilon": "0.10"}, "certificate": {}})


def test_what_cannot_be_sealed_is_refused():
    with pytest.raises(BadInput, match="certificate: must be there"):
        add_digest({"matrix": [["1"]]})


@pytest.mark.parametrize(
    "certificate",
    [
        [],
        {},
        {"kind": "dual"},
        {"kind": "theorem", "theorem": ["x"]},
        {"kind": "theorem", "theorem": "balanced-line", "rankings": "ab", "ranking_of": []},
        {"kind": "theorem", "theorem": "pullback"},
        {"kind": "theorem", "theorem": "geometric", "within": {}},
    ],
)
def test_a_malformed_certificate_does_not_hold_and_raises_nothing(certificate):
    document = {**geometric(2, Privacy(ratio=2)).to_document(), "certificate": certificate}
    verdict = check_optimality(read_document(add_digest(document) if isinstance(certificate, dict) else document))
    assert not verdict.holds and verdict.reason and verdict.gap is None


@pytest.mark.parametrize(("within", "holds"), [("0", False), ("1e-21", False), ("1e-20", True), ("1/2", True)])
def test_shortened_rows_are_certified_with_their_distance(within, holds):
    document = sealed_line()
    matrix = [[Fraction(p) for p in row] for row in document["matrix"]]
    matrix[0][0] -= Fraction(1, 10**20)
    matrix[0][1] += Fraction(1, 10**20)
    document["matrix"] = [[str(p) for p in row] for row in matrix]
    document["certificate"]["within"] = within
    verdict = check_optimality(read_document(add_digest(document)))
    assert verdict.holds is holds
    assert verdict.distance == (Fraction(1, 10**20) if holds else None)


def test_a_wrong_value_is_reported_beside_the_right_one():
    document = randomized_response(2, Privacy(ratio=3)).to_document()
    goal = {"aggregate": "average", "loss": {"name": "zero-one"}, "weights": ["1/2", "1/2"]}
    document |= {"certificate": {"kind": "theorem", "theorem": "randomized-response", **goal}}
    verdict = check_optimality(read_document(add_digest({**document, "objective": {"value": "1/3"}})))
    assert not verdict.holds and verdict.value == verdict.lower_bound == Fraction(1, 4)
    assert check_optimality(read_document(add_digest({**document, "objective": {"value": "1/4"}}))).gap == 0


def test_without_a_certificate_nothing_is_claimed():
    assert check_optimality(geometric(2, Privacy(ratio=2))) is None


def test_the_audit_of_a_document_without_inputs_uses_the_graph_s():
    document = read_document(
        {
            "privacy": {"ratio": 2},
            "graph": {"family": "sorted_histograms", "total": 4, "types": 3},
            "matrix": [["1"]] * 4,
        }
    )
    assert isinstance(document, MechanismDocument)
    assert audit(document).holds
    assert np.asarray(document.row_of).tolist() == [0, 0, 0, 0]


def test_a_row_that_does_not_sum_to_1_is_named_wherever_an_audit_is_shown(tmp_path):
    (tmp_path / "m.csv").write_text("0.6,0.25,0.1499\n0.3,0.4,0.3\n0.15,0.25,0.6\n")
    verdict = irisdp.audit(tmp_path / "m.csv", graph=Path(3), privacy=irisdp.Privacy(epsilon=1))
    assert verdict.wrong_row == (0, Fraction(-1, 10**4))
    said = "do NOT sum to exactly 1: that of input 0 is the first, 0.0001 too little"
    assert f"rows {said}" in repr(verdict) and said in verdict._repr_html_()
    assert "rows" not in repr(irisdp.audit(geometric(2, irisdp.Privacy(epsilon=1))))
