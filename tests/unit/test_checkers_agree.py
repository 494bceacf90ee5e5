"""What one checker once took and the other did not: now both say the same, in a sentence that names the field."""

import contextlib
import io
import json

import pytest

from irisdp._cli import run
from irisdp.certify import add_digest, check_optimality, verify_mechanism
from irisdp.certify._theorems import THEOREMS
from irisdp.mechanisms import read_document

ROWS = [["2/3", "1/3"], ["1/3", "2/3"]]
PATH = {"family": "path", "n": 2}
PLAIN = {"privacy": {"ratio": 2}, "graph": PATH, "matrix": ROWS}
GOAL = {"aggregate": "average", "loss": {"name": "absolute"}, "weights": ["1/2", "1/2"]}
WHOLE = [[0, 0, 1], [1, 1, 1]]


def test_both_know_the_same_theorems():
    assert set(verify_mechanism.THEOREMS) == {*THEOREMS, "pullback"}
    assert {*verify_mechanism.WITHOUT_A_GOAL} == set(THEOREMS) - {"geometric-reading"}


def nested(depth):
    name = "x"
    for _ in range(depth):
        name = [name]
    return name


def factors(n, *reading, **more):
    return {"privacy": {"ratio": 2}, "factors": [{"kind": "geometric", "n": n}, *reading], **more}


def checked(document, path, capsys):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    capsys.readouterr()
    verifier = io.StringIO()
    with contextlib.redirect_stdout(verifier):
        status = verify_mechanism.main(str(path))
    assert run(["audit", str(path)]) == status, verifier.getvalue()
    captured = capsys.readouterr()
    return status, captured.out + captured.err, verifier.getvalue()


MALFORMED = {
    "an unknown key of a graph": ({**PLAIN, "graph": {"edges": [[0, 1]], "weight": 1}}, "graph"),
    "an unknown key of a family": ({**PLAIN, "graph": {**PATH, "m": 2}}, "graph"),
    "no list of edges": ({**PLAIN, "graph": {"nodes": [0, 1], "edges": None}}, "edges"),
    "an empty row that no input has": (
        {"privacy": {"ratio": 2}, "graph": PATH, "rows": [*ROWS, []], "row_of": [0, 1]},
        "rows",
    ),
    "names nested too deep": ({**PLAIN, "outputs": [nested(17), "y"]}, "outputs"),
    "an objective that is true": ({**PLAIN, "objective": {"value": True}}, "objective"),
    "an objective that is text": ({**PLAIN, "objective": "small"}, "objective"),
    "a bound that is no number": ({**PLAIN, "objective": {"value": 1, "lower_bound": []}}, "objective"),
    "four things in an entry of a reading": (factors(1, {"reading": [[0, 0, 1, 1], [1, 1, 1]]}), "reading"),
    "two things in an entry of a reading": (factors(1, {"reading": [[0, 0], [1, 1, 1]]}), "reading"),
    "a reading that leaves out a number": (factors(1, {"reading": [[0, 0, 1]]}), "reading"),
    "a loop among factors": (factors(2, graph={"family": "cycle", "n": 3}), "graph"),
    "more factors than are judged": (factors(10**18 + 1), "n"),
    "factors with other inputs": (factors(1, inputs=["a", "b"]), "inputs"),
    "factors with outputs in another order": (factors(1, outputs=[1, 0]), "outputs"),
    "a list": ([PLAIN], "must be"),
    "privacy in a list": ({**PLAIN, "privacy": ["epsilon", 1]}, "privacy"),
    "a family that is a list": ({**PLAIN, "graph": {"family": ["path"], "n": 2}}, "family"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_both_refuse_what_is_malformed_and_name_the_field(name, tmp_path, capsys):
    document, field = MALFORMED[name]
    status, audited, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == 2 and verified.startswith("not a mechanism file: ") and verified.count("\n") == 1
    assert field in verified.removeprefix("not a mechanism file: "), verified
    assert audited.startswith("irisdp: ") and audited.count("\n") == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "dual", **GOAL},
        {"kind": "dual", "multipliers": {}, **GOAL},
        {"kind": "dual", "multipliers": [[0, 1, 2, 1]], **GOAL},
        {"kind": "dual", "multipliers": [], **GOAL, "loss": {"name": ["absolute"]}},
        {"kind": "dual", "multipliers": [], **GOAL, "aggregate": []},
        {"kind": [], "theorem": "geometric"},
        {"kind": "theorem", "theorem": ["geometric"]},
        {"kind": "theorem", "theorem": "rainbow", "rankings": [[0, 1]]},
        {"kind": "theorem", "theorem": "rainbow", "rankings": 1, "ranking_of": [0, 0], "fixed": [0]},
        {"kind": "theorem", "theorem": "pullback"},
        {"kind": "theorem", "theorem": "pullback", "mechanism": PLAIN, "query": [0, 1]},
        {"kind": "theorem", "theorem": "geometric", "within": {}},
        {},
    ],
    ids=str,
)
def test_no_reason_of_the_verifier_is_an_exception_of_python(facts, tmp_path, capsys):
    document = add_digest({**PLAIN, "objective": {"value": "1/3"}, "certificate": facts})
    status, _, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == 1 and verified.startswith("no: ") and verified.count("\n") == 1
    assert "another form" not in verified and "Error" not in verified and len(verified.split()) > 3


@pytest.mark.parametrize("n", [10**6, 10**6 + 1, 10**18])
@pytest.mark.parametrize("graph", [False, True])
def test_both_judge_the_privacy_of_any_count(n, graph, tmp_path, capsys):
    document = factors(n, **({"graph": {"family": "path", "n": n + 1}} if graph else {}))
    status, _, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == 0 and f"inputs: {n + 1}, edges: {n};" in verified


@pytest.mark.parametrize(("n", "expected"), [(10**6, 0), (10**6 + 1, 2)])
def test_both_check_certificates_up_to_the_same_count(n, expected, tmp_path, capsys):
    document = add_digest(factors(n, certificate={"kind": "theorem", "theorem": "geometric"}))
    status, audited, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == expected
    if expected == 2:
        assert "certificate" in audited and "certificate" in verified


@pytest.mark.parametrize(("value", "words"), [("1/3", "as stated"), ("1", "the value stated is larger")])
def test_a_value_is_called_as_stated_only_where_it_is(value, words):
    certificate = {"kind": "theorem", "theorem": "geometric-reading", **GOAL}
    document = factors(1, {"reading": WHOLE}, objective={"value": value}, certificate=certificate)
    found = check_optimality(read_document(add_digest(document)))
    assert found.holds and words in found.reason


@pytest.mark.parametrize("depth", [15, 16])
def test_names_may_be_nested_sixteen_deep(depth, tmp_path, capsys):
    assert checked({**PLAIN, "outputs": [nested(depth), "y"]}, tmp_path / "m.json", capsys)[0] == 0


@pytest.mark.parametrize("stated", [False, True])
def test_an_objective_that_nothing_proves_is_not_called_no_claim(stated, tmp_path, capsys):
    document = PLAIN | ({"objective": {"value": "0", "lower_bound": "0"}} if stated else {})
    status, audited, verified = checked(document, tmp_path / "m.json", capsys)
    for said in (audited, verified):
        assert status == 0 and ("it was not checked" in said) is stated and ("nothing is claimed" in said) is not stated


@pytest.mark.parametrize(("outputs", "expected"), [(["a", "b"], 0), (["b", "a"], 1), ([0, 1], 1)])
def test_the_true_answer_is_the_one_that_the_names_say(outputs, expected, tmp_path, capsys):
    """Rows that answer "b" to the input "a" twice as often as "a" make no true answer as probable as can be."""
    named = {"inputs": ["a", "b"], "outputs": outputs, "graph": {"edges": [["a", "b"]]}}
    document = add_digest({**PLAIN, **named, "certificate": {"kind": "theorem", "theorem": "randomized-response"}})
    assert checked(document, tmp_path / "m.json", capsys)[0] == expected
    goal = {"aggregate": "average", "loss": [[0, 1], [1, 0]], "weights": ["1/2", "1/2"]}
    certificate = {"kind": "theorem", "theorem": "randomized-response", **goal}
    document = add_digest({**PLAIN, **named, "certificate": certificate, "objective": {"value": "1/3"}})
    assert checked(document, tmp_path / "m.json", capsys)[0] == 0


@pytest.mark.parametrize(("depth", "expected"), [(99, 0), (100, 2), (500, 2), *((d, 2) for d in range(900, 1000, 7))])
def test_files_may_be_nested_to_one_depth_whoever_reads_them(depth, expected, tmp_path, capsys):
    text = json.dumps({**PLAIN, "note": "HERE"}).replace('"HERE"', "[" * depth + "]" * depth)
    status, _, verified = checked(text, tmp_path / "m.json", capsys)
    assert status == expected and ("deep" in verified) is (expected == 2)


def test_a_matrix_is_no_spec_whatever_else_the_file_says(tmp_path, capsys):
    """Both pass over fields that they do not know, such as the "kind" that specs have."""
    without_format = {name: value for name, value in PLAIN.items() if name != "format"}
    assert checked({**without_format, "kind": "1."}, tmp_path / "m.json", capsys)[0] == 0


@pytest.mark.parametrize("certificate", [5, "x", [], True, -(2**63) - 1])
@pytest.mark.parametrize(
    "form", [{"matrix": [["1"]], "graph": {"family": "path", "n": 1}}, {"factors": [{"kind": "geometric", "n": 3}]}]
)
def test_a_certificate_that_is_no_object_does_not_hold(form, certificate, tmp_path, capsys):
    document = {"privacy": {"ratio": 2}, **form, "certificate": certificate}
    assert checked(document, tmp_path / "m.json", capsys)[0] == 1


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"family": "sorted_histograms", "total": 2, "types": 1000}, 0),  # two of them: no function may nest 1000 deep
        ({"family": "sorted_histograms", "total": 3, "types": 1000}, 2),
        ({"family": "sorted_histograms", "total": 3, "types": 10**12}, 2),
        ({"family": "histograms", "total": 0, "types": 10**12}, 2),
        ({"family": "histograms", "total": 10**12, "types": 2}, 2),
        ({"family": "hamming", "length": 1, "symbols": 10**12}, 2),
        ({"family": "hamming", "length": 10**9, "symbols": 1}, 2),
        ({"family": "complete", "n": 10**12}, 2),
        ({"family": "gaps", "categories": 1, "largest": 3, "relation": "exchange"}, 2),
        ({"family": "gaps", "categories": 2, "largest": 10**6, "relation": "exchange"}, 2),
        ({"family": "gaps", "categories": 2, "largest": 10**12, "relation": "add-remove"}, 2),
        ({"family": "gaps", "categories": 10**12, "largest": 1, "relation": "exchange"}, 2),
        ({"family": "gaps", "categories": 20, "largest": 1, "relation": "exchange"}, 2),
        ({"family": "gaps", "categories": 2, "largest": 1, "relation": {}}, 2),
    ],
)
def test_a_few_letters_name_no_family_that_takes_all_memory(graph, expected, tmp_path, capsys):
    """Each is refused at once, by both, with a reason."""
    document = {name: value for name, value in PLAIN.items() if name not in ("inputs", "matrix", "graph")}
    document |= {"graph": graph, "rows": [["1/2", "1/2"]], "row_of": [0, 0]}
    status, _, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == expected
    assert "another form" not in verified
