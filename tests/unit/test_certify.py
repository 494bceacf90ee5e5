"""The audit: what it reports, what it refuses, and what it looks at."""

import json
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, audit, certify, mechanisms
from irisdp._exact import as_fraction, convert, flint_rational, parse_json
from irisdp.certify import digest
from irisdp.certify._audited_mechanism import RowPairs
from irisdp.certify._hockey_stick import INFINITE, smallest_ratio, tight_places, worst_delta
from irisdp.graphs import Complete, Path, graph_from_edges
from irisdp.mechanisms import geometric
from support.seeds import fresh_random

HALF = Fraction(1, 2)


def on_path(rows, privacy, **more):
    return Mechanism.from_matrix(rows, privacy=privacy, graph=Path(len(rows)), **more)


def test_the_document_is_the_contract_s():
    document = audit(
        mechanisms.line_mechanism(4, 3, mechanisms.balanced_line(Privacy(ratio=2, delta="1/10")))
    ).to_document()
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
    document = mechanisms.read_document({"matrix": [["1"], ["1"]]})
    with pytest.raises(BadInput, match="privacy: is missing"):
        audit(document, graph=Path(2))
    with pytest.raises(BadInput, match="graph: is missing"):
        audit(document, privacy=Privacy(ratio=2))
    assert audit(document, graph=Path(2), privacy=Privacy(ratio=2)).holds
    assert certify.privacy_profile(document, graph=Path(2)).total_variation == 0


def test_a_negative_entry_is_no_privacy_whatever_the_ratio():
    document = mechanisms.read_document(
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
    assert audit(mechanisms.read_document(document)).holds
    document["row_of"] = [0, 1]
    verdict = audit(mechanisms.read_document(document))
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
    file.write_text(json.dumps(mechanisms.randomized_response(3, Privacy(epsilon=1)).to_document()))
    assert irisdp.audit(file).holds
    assert irisdp.audit(str(file)).epsilon_at_delta == 1


# What is never expanded.


def test_a_factored_mechanism_is_judged_by_its_theorem():
    reading = {z: ((z // 2, Fraction(1)),) for z in range(5001)}
    verdict = audit(mechanisms.FactoredMechanism(privacy=Privacy(epsilon="0.1"), n=5000, reading=reading))
    assert verdict.holds and verdict.by_theorem and verdict.epsilon_at_delta == Fraction(1, 10)
    assert verdict.tightest.edge == (0, 1)


def test_a_factored_mechanism_is_not_judged_beyond_its_theorem():
    factored = mechanisms.FactoredMechanism(privacy=Privacy(ratio=2), n=4)
    with pytest.raises(BadInput, match="stricter than a factored mechanism was built for"):
        audit(factored, privacy=Privacy(ratio="3/2"))
    with pytest.raises(BadInput, match="must be the path"):
        audit(factored, graph=Complete(5))
    assert not audit(factored.expand(), graph=Complete(5)).private
    assert certify.privacy_profile(factored).ratio_at(0) == 2


def test_a_stepped_mechanism_is_judged_at_all_depths():
    stepped = mechanisms.balanced_line(Privacy(ratio=2, delta="1/100"))
    verdict = audit(stepped)
    assert verdict.holds and verdict.by_theorem and verdict.delta_at_epsilon == Fraction(1, 100)
    with pytest.raises(BadInput, match="built into its rows"):
        audit(stepped, privacy=Privacy(ratio=3))
    enclosed = certify.certify_depth_mechanism(stepped, depths=(0, 3, 10**9))
    assert enclosed.holds and enclosed.excess < Fraction(1, 1 << 150)
    with pytest.raises(BadInput, match="depths: must not be negative"):
        certify.certify_depth_mechanism(stepped, depths=(-1,))


def test_enclosed_rows_refute_a_wrong_step():
    """Negative control: rows of one privacy are judged against a stricter one."""
    stepped = mechanisms.balanced_line(Privacy(ratio=3))
    object.__setattr__(stepped, "boundary", ((Fraction(9, 10), Fraction(1, 10)),) * 2)
    verdict = certify.certify_depth_mechanism(stepped, depths=())
    assert not verdict.holds and verdict.boundary_delta > 0
    assert audit(stepped).ratio_at_delta is None


# Seals.


def sealed_line():
    document = mechanisms.line_mechanism(2, 2, mechanisms.balanced_line(Privacy(ratio=2))).to_document()
    facts = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 0, 1, 1]}
    return certify.add_digest({**document, "certificate": {"kind": "theorem", "theorem": "balanced-line", **facts}})


def test_a_seal_does_not_depend_on_the_order_of_keys():
    document = sealed_line()
    backwards = dict(reversed(document.items()))
    assert certify.is_sealed(backwards) and digest(backwards) == document["certificate"]["digest"]


@pytest.mark.parametrize("field", ["format", "inputs", "outputs", "graph", "privacy", "matrix", "certificate"])
def test_any_edit_breaks_the_seal(field):
    document = json.loads(json.dumps(sealed_line()))
    value = document[field]
    if isinstance(value, dict):
        value["note"] = "harmless"
    else:
        document[field] = [*value, "x"] if isinstance(value, list) else value + " "
    assert not certify.is_sealed(document)


def test_decimals_are_hashed_as_their_text():
    text = '{"privacy": {"epsilon": 0.10}, "certificate": {}}'
    longer = '{"privacy": {"epsilon": 0.1000000000000000000000000001}, "certificate": {}}'
    assert digest(parse_json(text, "m")) != digest(parse_json(longer, "m"))
    assert digest(parse_json(text, "m")) == digest({"privacy": {"epsilon": "0.10"}, "certificate": {}})


def test_what_cannot_be_sealed_is_refused():
    with pytest.raises(BadInput, match="certificate: must be there"):
        certify.add_digest({"matrix": [["1"]]})


@pytest.mark.parametrize("certificate", [
    [],
    {},
    {"kind": "dual"},
    {"kind": "theorem", "theorem": ["x"]},
    {"kind": "theorem", "theorem": "balanced-line", "rankings": "ab", "ranking_of": []},
    {"kind": "theorem", "theorem": "pullback"},
    {"kind": "theorem", "theorem": "geometric", "within": {}},
])  # fmt: skip
def test_a_malformed_certificate_does_not_hold_and_raises_nothing(certificate):
    document = {**geometric(2, Privacy(ratio=2)).to_document(), "certificate": certificate}
    verdict = certify.check_optimality(
        mechanisms.read_document(certify.add_digest(document) if isinstance(certificate, dict) else document)
    )
    assert not verdict.holds and verdict.reason and verdict.gap is None


@pytest.mark.parametrize(("within", "holds"), [("0", False), ("1e-21", False), ("1e-20", True), ("1/2", True)])
def test_shortened_rows_are_certified_with_their_distance(within, holds):
    document = sealed_line()
    matrix = [[Fraction(p) for p in row] for row in document["matrix"]]
    matrix[0][0] -= Fraction(1, 10**20)
    matrix[0][1] += Fraction(1, 10**20)
    document["matrix"] = [[str(p) for p in row] for row in matrix]
    document["certificate"]["within"] = within
    verdict = certify.check_optimality(mechanisms.read_document(certify.add_digest(document)))
    assert verdict.holds is holds
    assert verdict.distance == (Fraction(1, 10**20) if holds else None)


def test_a_wrong_value_is_reported_beside_the_right_one():
    document = mechanisms.randomized_response(2, Privacy(ratio=3)).to_document()
    goal = {"aggregate": "average", "loss": {"name": "zero-one"}, "weights": ["1/2", "1/2"]}
    document |= {"certificate": {"kind": "theorem", "theorem": "randomized-response", **goal}}
    verdict = certify.check_optimality(
        mechanisms.read_document(certify.add_digest({**document, "objective": {"value": "1/3"}}))
    )
    assert not verdict.holds and verdict.value == verdict.lower_bound == Fraction(1, 4)
    assert (
        certify.check_optimality(
            mechanisms.read_document(certify.add_digest({**document, "objective": {"value": "1/4"}}))
        ).gap
        == 0
    )


def test_without_a_certificate_nothing_is_claimed():
    assert certify.check_optimality(geometric(2, Privacy(ratio=2))) is None


def test_the_audit_of_a_document_without_inputs_uses_the_graph_s():
    document = mechanisms.read_document(
        {
            "privacy": {"ratio": 2},
            "graph": {"family": "sorted_histograms", "total": 4, "types": 3},
            "matrix": [["1"]] * 4,
        }
    )
    assert isinstance(document, mechanisms.MechanismDocument)
    assert audit(document).holds
    assert np.asarray(document.row_of).tolist() == [0, 0, 0, 0]


def test_a_row_that_does_not_sum_to_1_is_named_wherever_an_audit_is_shown(tmp_path):
    (tmp_path / "m.csv").write_text("0.6,0.25,0.1499\n0.3,0.4,0.3\n0.15,0.25,0.6\n")
    verdict = irisdp.audit(tmp_path / "m.csv", graph=Path(3), privacy=irisdp.Privacy(epsilon=1))
    assert verdict.wrong_row == (0, Fraction(-1, 10**4))
    said = "do NOT sum to exactly 1: that of input 0 is the first, 0.0001 too little"
    assert f"rows {said}" in repr(verdict) and said in verdict._repr_html_()
    assert "rows" not in repr(irisdp.audit(geometric(2, irisdp.Privacy(epsilon=1))))


# Floats leave out of an audit only what cannot matter: every verdict is that of looking at all pairs in fractions.

HAIR = Fraction(1, 1 << 70)
"""No float tells two entries apart that differ by this."""


def all_pairs(count):
    first, second = map(np.array, zip(*combinations(range(count), 2), strict=True))
    return RowPairs(first, second, first, second, np.ones(len(first), np.int64))


def rows_of(chance, count, outputs):
    """Rows with many ties, some of which a hair breaks, and entries that are 0."""
    found = []
    while len(found) < count:
        weights = [chance.choice([0, 1, 1, 2, 3, 6]) for _ in range(outputs)]
        if sum(weights):
            row = [Fraction(weight, sum(weights)) for weight in weights]
            if chance.random() < 0.5 and (there := [v for v, p in enumerate(row) if p]) and len(there) > 1:
                row[there[0]] += HAIR
                row[there[1]] -= HAIR
            found.append(tuple(row))
    return found


def verdicts(rows, ratio, delta, number):
    """Return all that is found out about rows, as fractions."""
    numbers, pairs = convert(rows, number), all_pairs(len(rows))
    ratio, delta = number(ratio), number(delta)
    worst, least = worst_delta(numbers, pairs, ratio), smallest_ratio(numbers, pairs, delta)
    value = INFINITE if least.value is INFINITE else as_fraction(least.value)
    tight = list(tight_places(numbers, pairs, least.value, delta))
    also = list(tight_places(numbers, pairs, ratio, as_fraction_of(number, as_fraction(worst.value))))
    return (as_fraction(worst.value), worst.place, worst.forward), (value, least.place, least.forward), tight, also


def as_fraction_of(number, value):
    return number(min(value, Fraction(1)))


def cases():
    chance = fresh_random("screening")
    for _ in range(25):
        rows = rows_of(chance, 20, chance.choice([2, 3, 5]))
        yield rows, Fraction(chance.choice(["1", "3/2", "2", "6"])), Fraction(chance.choice(["0", "1/10", "1/3"]))


def test_verdicts_are_those_of_every_pair():
    for rows, ratio, delta in cases():
        assert verdicts(rows, ratio, delta, flint_rational) == verdicts(rows, ratio, delta, Fraction)


@pytest.mark.parametrize("error", [-(2.0**-50), -(2.0**-60)])
def test_a_bound_that_is_too_small_is_seen(monkeypatch, error):
    """Negative control: pairs that are tight but for a hair are then left out."""
    monkeypatch.setattr(certify._hockey_stick, "_ERROR", error)
    found = []
    for rows, ratio, delta in cases():
        try:
            found.append(verdicts(rows, ratio, delta, flint_rational) == verdicts(rows, ratio, delta, Fraction))
        except AttributeError:  # no pair was left at all
            found.append(False)
    assert not all(found)


def test_few_pairs_are_looked_at(monkeypatch):
    chance = fresh_random("screening")
    rows = [[Fraction(chance.randrange(500, 1000)) for _ in range(4)] for _ in range(60)]
    rows = [tuple(p / sum(row) for p in row) for row in rows]
    asked, whole = [], certify._hockey_stick.hockey_stick
    monkeypatch.setattr(certify._hockey_stick, "hockey_stick", lambda *two: asked.append(two) or whole(*two))
    verdicts(rows, Fraction(2), Fraction(1, 20), flint_rational)
    assert len(asked) < 100 < 2 * len(all_pairs(60))


@pytest.mark.parametrize("smallest", [Fraction(1, 10**300), Fraction(1, 10**400)])
def test_entries_beyond_the_range_of_floats_are_looked_at_exactly(smallest):
    rows = [(smallest * k, 1 - smallest * k) for k in range(1, 25)]
    assert certify._hockey_stick.screen_of(convert(rows, flint_rational), 10**6) is None
    assert verdicts(rows, Fraction(23), Fraction(0), flint_rational) == verdicts(
        rows, Fraction(23), Fraction(0), Fraction
    )


def test_ratios_beyond_what_the_bound_is_for_leave_nothing_out():
    screen = certify._hockey_stick.screen_of(convert(rows_of(random.Random(1), 20, 3), flint_rational), 10**6)
    ends = np.zeros(3, np.int64)
    for ratio in (Fraction(10**12), Fraction(1, 2), Fraction(10) ** 400):
        assert screen.may_exceed(ends, ends, flint_rational(ratio), flint_rational(Fraction(0))).all()
        assert screen.may_be_worst(ends, ends, flint_rational(ratio)).all()
        assert screen.may_spend(ends, ends, flint_rational(ratio), flint_rational(Fraction(0))).all()
    for delta in (Fraction(2), Fraction(10) ** 400):
        assert screen.may_exceed(ends, ends, flint_rational(Fraction(2)), flint_rational(delta)).all()


@pytest.mark.parametrize(("size", "ratio", "outputs"), [(1, 1, 3), (1000, 9, 40), (Fraction(1, 10**6), 10**6, 200)])
def test_the_bound_is_that_of_the_errors_added_up_and_not_far_more(size, ratio, outputs):
    """Two rows alike have no divergence: whatever is less than what floats may be wrong by has to be looked at."""
    row = (Fraction(size, outputs),) * outputs
    screen = certify._hockey_stick.screen_of(convert([row, row], flint_rational), 10**6)
    bound = Fraction(1, 1 << 53) * size * (1 + ratio) * (Fraction("4.02") + Fraction("1.05") * outputs)
    ends = np.zeros(1, np.int64), np.ones(1, np.int64)
    for times, marked in ((1, True), (20, False)):
        delta = flint_rational(times * bound)
        assert screen.may_exceed(*ends, flint_rational(Fraction(ratio)), delta).all() == marked
        assert screen.may_spend(*ends, flint_rational(Fraction(ratio)), delta).all() == marked
