"""What a certificate proves is said with the mechanisms it speaks of, whatever the file says of itself."""

import contextlib
import io
import itertools
import json
from fractions import Fraction

import pyarrow as pa
import pytest

from irisdp import Privacy, audit, design, plan
from irisdp._cli import run
from irisdp._exact import so_many
from irisdp._queries import NOT_OPTIMAL_TOGETHER
from irisdp.certify import add_digest, verify_mechanism
from irisdp.graphs import Complete, Cycle, Path, graph_from_edges
from irisdp.mechanisms import ALL_PRIVATE, SAME_ROWS, read_document

HALF = Privacy.from_ratio(2)


def printed(document, path):
    """Return status and text of the stand-alone verifier."""
    path.write_text(json.dumps(document))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = verify_mechanism.main(str(path))
    return status, text.getvalue()


def told(document, path, capsys):
    """Return the audit's JSON and its text, and the verifier's text, and insist that the statuses agree."""
    status, verifier = printed(document, path)
    capsys.readouterr()
    assert run(["audit", str(path), "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert run(["audit", str(path)]) == status
    return status, found, " ".join(capsys.readouterr().out.split()), " ".join(verifier.split())


DESIGNS = {
    "binary": (lambda: design.binary(Path(4), list("aabb"), HALF), SAME_ROWS),
    "given": (lambda: design.binary(Path(3), list("abb"), HALF, boundary={"0": "0.6"}), SAME_ROWS),
    "whole": (lambda: design.binary(Path(2), ["a", "a"], HALF), ALL_PRIVATE),
    "rainbow": (lambda: design.rainbow(Path(3), [tuple("abc")] * 2 + [tuple("cab")], HALF), SAME_ROWS),
    "line": (lambda: design.balanced_line(3, 2, HALF), SAME_ROWS),
    "long": (lambda: design.balanced_line(40, 30, Privacy(epsilon="0.3", delta="1e-7")), SAME_ROWS),
    "consumer": (lambda: design.consumer(3, "absolute", HALF), ALL_PRIVATE),
    "reading": (lambda: design.consumer(40, "absolute", HALF), ALL_PRIVATE),
    "distance": (lambda: design.distance(Cycle(5), HALF), ALL_PRIVATE),
    "geometric": (lambda: design.geometric(3, HALF), ALL_PRIVATE),
    "response": (lambda: design.randomized_response(3, HALF), ALL_PRIVATE),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_file_audit_and_verifier_name_the_same_scope(name, tmp_path, capsys):
    make, among = DESIGNS[name]
    document = (made := make()).to_document()
    assert document["certificate"]["among"] == among
    status, found, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert status == 0 and found["optimality"]["holds"]
    assert found["optimality"]["among"] == among == audit(made).optimality.among
    assert among in text and among in verifier
    edges = found["edges"]
    assert so_many(edges, "edge") in text and f"edges: {edges};" in verifier
    if name != "geometric":
        assert "value" in text and "bound" in text and "gap" in text
        assert Fraction(found["optimality"]["value"]) >= Fraction(found["optimality"]["lower_bound"])


@pytest.mark.parametrize("name", DESIGNS)
def test_a_file_of_version_0_1_states_no_scope_and_is_still_read(name, tmp_path, capsys):
    make, among = DESIGNS[name]
    document = make().to_document()
    del document["certificate"]["among"]
    status, found, _, verifier = told(add_digest(document), tmp_path / "m.json", capsys)
    assert status == 0 and found["optimality"]["among"] == among and among in verifier


@pytest.mark.parametrize("name", [name for name, (_, among) in DESIGNS.items() if among == SAME_ROWS])
def test_a_scope_that_is_too_wide_is_refused(name, tmp_path, capsys):
    document = DESIGNS[name][0]().to_document()
    document["certificate"]["among"] = ALL_PRIVATE
    status, found, text, verifier = told(add_digest(document), tmp_path / "m.json", capsys)
    assert status == 1 and not found["optimality"]["holds"] and found["optimality"]["among"] == SAME_ROWS
    assert "DOES NOT HOLD" in text and verifier.startswith("no: the scope is wider")


def forged(rows, **certificate):
    """A path of as many nodes as rows, ratio 10, with a certificate that a stranger wrote and sealed."""
    n, q = len(rows), len(rows[0])
    loss = certificate.pop("loss", [[int(v != 0) for v in range(q)] for _ in range(n)])
    weights = certificate.pop("weights", [f"1/{n}"] * n)
    value = sum(
        Fraction(w) * sum(x * Fraction(p) for x, p in zip(line, row, strict=True))
        for w, line, row in zip(weights, loss, rows, strict=True)
    )
    return add_digest(
        {
            "privacy": {"ratio": 10},
            "graph": certificate.pop("graph", {"family": "path", "n": n}),
            "inputs": list(range(n)),
            "outputs": list(range(q)),
            "matrix": rows,
            "objective": {"name": "best of all", "value": str(value), "lower_bound": str(value)},
            "certificate": {"aggregate": "average", "loss": loss, "weights": weights, **certificate},
        }
    )


def test_best_given_a_bad_boundary_is_not_called_best(tmp_path, capsys):
    made = design.binary(Path(2), ["a", "b"], Privacy.from_ratio(10), boundary="0.1")
    status, found, text, verifier = told(made.to_document(), tmp_path / "m.json", capsys)
    assert status == 0 and found["optimality"]["among"] == SAME_ROWS
    assert found["optimality"]["given_rows"] == {"inputs": 2, "of": 2, "off_boundary": 0}
    for words in (text, verifier):
        assert "2 of 2 inputs" in words and "nothing is left to compare" in words
        assert ALL_PRIVATE not in words and "best of all" not in words
    # Always answering the other way misses less, and is said to.
    assert Fraction(found["optimality"]["goal"]["constant"]) < Fraction(found["optimality"]["value"])


def test_all_rows_fixed_and_rows_fixed_off_the_boundary_are_counted(tmp_path, capsys):
    facts = {"kind": "theorem", "theorem": "rainbow", "rankings": [[0, 1]], "ranking_of": [0, 0, 0]}
    rows = [["1/2", "1/2"]] * 3
    status, found, text, verifier = told(forged(rows, fixed=[0, 1, 2], **facts), tmp_path / "m.json", capsys)
    assert status == 0 and found["optimality"]["given_rows"] == {"inputs": 3, "of": 3, "off_boundary": 3}
    for words in (text, verifier):
        assert SAME_ROWS in words and "3 of them not on the boundary" in words and "nothing is left" in words
    assert told(forged(rows, fixed=[], **facts), tmp_path / "m.json", capsys)[0] == 1


def test_one_ranking_listed_twice_makes_no_boundary(tmp_path, capsys):
    """Else every input could be put on a boundary that is none, and every row be its own best."""
    facts = {"kind": "theorem", "theorem": "homogeneous-rainbow", "rankings": [[0, 1], [0, 1]]}
    document = forged([["1/2", "1/2"]] * 2, ranking_of=[0, 1], **facts)
    assert told(document, tmp_path / "m.json", capsys)[0] == 1


def test_within_cannot_hide_another_boundary(tmp_path, capsys):
    """The bound is about the rows in the file: it cannot lie above their value."""
    facts = {"kind": "theorem", "theorem": "balanced-line", "rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]}
    document = forged([["1", "0"], ["1", "0"]], within="1", loss=[[0, 1], [1, 0]], **facts)
    status, found, _, _ = told(document, tmp_path / "m.json", capsys)
    assert status == 0 and Fraction(found["optimality"]["gap"]) == 0
    assert found["optimality"]["among"] == SAME_ROWS


@pytest.mark.parametrize(("changes", "words"), [
    ({"weights": ["0", "0"]}, "compares nothing"),
    ({"loss": [[1, 1], [1, 1]]}, "compares nothing"),
    ({"weights": ["1", "0"]}, "1 of 2 inputs"),
    ({"loss": [[0, 1], [0, 1]]}, "by always answering 0"),
], ids=["no weights", "constant loss", "one-sided weights", "one-sided loss"])  # fmt: skip
def test_goals_that_are_easy_to_reach_are_described(changes, words, tmp_path, capsys):
    rows = [["1", "0"]] * 2
    document = forged(rows, kind="dual", multipliers=[], **changes)
    status, found, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert status == 0
    assert words.removeprefix("by ") in verifier and words.removeprefix("by ").split(" of ")[0] in text
    goal = found["optimality"]["goal"]
    assert goal["compares_nothing"] == (words == "compares nothing")
    assert goal["constant"] == found["optimality"]["value"]


def test_worst_cases_count_only_what_is_considered(tmp_path, capsys):
    document = forged([["1", "0"]] * 2, kind="dual", multipliers=[], weights=["1", "0"], loss=[[0, 1], [0, 1]])
    document["certificate"] |= {"aggregate": "worst", "side_information": [0]}
    status, found, text, verifier = told(add_digest(document), tmp_path / "m.json", capsys)
    assert status == 0 and "over 1 of 2 inputs" in text and "over 1 of 2 inputs" in verifier
    assert found["optimality"]["goal"]["words"].startswith("largest expected")


def test_a_graph_without_edges_compares_nothing_and_says_so(tmp_path, capsys):
    made = design.binary(graph_from_edges([], nodes=[0, 1]), ["a", "b"], HALF)
    status, found, text, verifier = told(made.to_document(), tmp_path / "m.json", capsys)
    assert status == 0 and found["edges"] == 0
    assert "0 edges: nothing is compared" in text and "edges: 0, so nothing is compared" in verifier


def test_missing_edges_show_in_the_counts(tmp_path, capsys):
    document = design.randomized_response(3, HALF).to_document()
    del document["certificate"], document["objective"]
    document["graph"] = {"nodes": [0, 1, 2], "edges": [[0, 1]]}
    _, found, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert found["edges"] == 1 and found["inputs_without_neighbours"] == 1 and found["optimality"] is None
    assert "1 edge; 1 input has no neighbour" in text and "inputs: 3, edges: 1;" in verifier
    assert "nothing is claimed" in text and "nothing is claimed" in verifier


def test_the_privacy_that_was_checked_is_printed(tmp_path, capsys):
    document = design.randomized_response(3, Privacy.from_ratio(10**6)).to_document()
    _, _, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert "ratio 1000000, delta 0" in verifier and "promised ε = 13.8" in text


def test_what_is_no_private_mechanism_is_the_best_of_none(tmp_path, capsys):
    document = design.consumer(1, "zero-one", HALF).to_document()
    document["matrix"], document["objective"] = [["1", "0"], ["0", "1"]], {"name": "", "value": "0"}
    status, found, text, verifier = told(add_digest(document), tmp_path / "m.json", capsys)
    assert status == 1 and not found["optimality"]["holds"]
    assert "no private mechanism" in text and verifier.startswith("no:")


def test_huge_numbers_are_shown(tmp_path, capsys):
    huge = 10**400
    document = forged([["1", "0"]] * 2, kind="dual", multipliers=[], loss=[[huge, huge]] * 2)
    status, _, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert status == 0 and "1e+400" in text and "beyond" in verifier


def test_names_of_outputs_cannot_write_to_the_terminal(tmp_path, capsys):
    document = forged([["1", "0"]] * 2, kind="dual", multipliers=[], loss=[[0, 1], [0, 1]])
    document["outputs"] = ["\x1b[2Jyes", "b"]
    _, _, text, verifier = told(add_digest(document), tmp_path / "m.json", capsys)
    assert "\x1b" not in text and "\x1b" not in verifier


def test_a_pullback_keeps_the_scope_of_the_inner_mechanism(tmp_path, capsys):
    inner = design.binary(Path(2), ["a", "b"], HALF).to_document()
    outer = {
        "privacy": inner["privacy"],
        "graph": {"nodes": [0, 1, 2, 3], "edges": [[0, 2], [1, 3], [0, 3], [1, 2]]},
        "inputs": [0, 1, 2, 3],
        "outputs": inner["outputs"],
        "matrix": [inner["matrix"][k] for k in (0, 0, 1, 1)],
        "objective": inner["objective"],
        "certificate": {"kind": "theorem", "theorem": "pullback", "mechanism": inner, "query": [0, 0, 1, 1]},
    }
    status, found, _, verifier = told(add_digest(outer), tmp_path / "m.json", capsys)
    assert status == 0 and found["optimality"]["among"] == SAME_ROWS and SAME_ROWS in verifier
    assert found["optimality"]["given_rows"] == {"inputs": 4, "of": 4, "off_boundary": 0}
    outer["certificate"]["among"] = ALL_PRIVATE
    assert told(add_digest(outer), tmp_path / "m.json", capsys)[0] == 1


def test_the_command_says_among_what_a_design_is_best(tmp_path, capsys):
    spec = {
        "kind": "binary",
        "privacy": {"ratio": 2},
        "graph": {"family": "path", "n": 2},
        "colors": {"0": "a", "1": "b"},
    }
    (tmp_path / "s.json").write_text(json.dumps(spec))
    assert run(["design", str(tmp_path / "s.json"), "-o", str(tmp_path / "m.json")]) == 0
    assert f"among {SAME_ROWS}" in " ".join(capsys.readouterr().out.split())


def test_json_keys_of_the_contract(tmp_path):
    plain = read_document({"privacy": {"ratio": 2}, "graph": Complete(2).to_document(), "matrix": [["1", "0"]] * 2})
    found = audit(plain).to_document()
    assert found["optimality"] is None and found["edges"] == 1
    claimed = audit(design.consumer(2, "absolute", HALF)).to_document()["optimality"]
    assert set(claimed) >= {"holds", "value", "lower_bound", "among"}


@pytest.mark.parametrize(("options", "several"), [
    ({"relation": "exchange", "by": "g", "groups": "a,b"}, True),
    ({"relation": "exchange", "by": "g", "groups": "a,b", "public_membership": True}, False),
    ({"relation": "exchange"}, False),
    ({"by": "g", "groups": "a,b"}, False),
])  # fmt: skip
def test_a_plan_says_where_nothing_is_optimal_at_the_charge(options, several):
    table = pa.table({"g": ["a", "b"], "v": [1, 0]})
    for query in (("majority", "v = 1"), ("at-least", 2, "v = 1"), ("count", "v = 1")):
        planned = plan(table, *query, epsilon=1, **options)
        assert (NOT_OPTIMAL_TOGETHER in planned.describe_cost()) is several
        assert planned.cost.epsilon == (2 if several else 1)


@pytest.mark.parametrize("ratio", [Fraction(6, 5), Fraction(3), Fraction(55)])
def test_a_joint_mechanism_for_two_groups_errs_less_than_two_that_are_optimal_alone(ratio):
    """proofs/grouped-releases.md, 5: counts K − 1 and K are 0 and 1, and so are no and yes."""
    whole = ratio**2 + 4 * ratio + 1
    level, apart = (ratio**2, 2 * ratio, 1), (ratio**2 + ratio, ratio, ratio + 1)
    pairs = list(itertools.product((0, 1), repeat=2))

    def row(node):
        weights = level if node[0] == node[1] else apart
        return {answer: weights[sum(a != b for a, b in zip(answer, node, strict=True))] / whole for answer in pairs}

    for one, other in itertools.permutations(pairs, 2):
        if {one, other} != {(0, 0), (1, 1)}:
            assert all(row(one)[answer] <= ratio * row(other)[answer] for answer in pairs)
    for node in pairs:
        assert sum(row(node).values()) == 1
        for cell in (0, 1):
            wrong = sum(p for answer, p in row(node).items() if answer[cell] != node[cell])
            assert wrong == (2 * ratio + 1) / whole < 1 / (1 + float(ratio) ** 0.5)
