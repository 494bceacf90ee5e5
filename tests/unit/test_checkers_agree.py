"""What one checker once took and the other did not: now both say the same, in a sentence that names the field."""

import contextlib
import io
import json
import sys
import time
from fractions import Fraction

import pytest

from irisdp import Privacy, design
from irisdp._cli import run
from irisdp.certify import add_digest, check_optimality, verify_choice, verify_mechanism
from irisdp.certify._theorems import THEOREMS
from irisdp.mechanisms import ALL_PRIVATE, SAME_ROWS, geometric, randomized_response, read_document, too_many_events

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


@pytest.mark.parametrize("facts", [
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
], ids=str)  # fmt: skip
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


@pytest.mark.parametrize(("graph", "expected"), [
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
])  # fmt: skip
def test_a_few_letters_name_no_family_that_takes_all_memory(graph, expected, tmp_path, capsys):
    """Each is refused at once, by both, with a reason."""
    document = {name: value for name, value in PLAIN.items() if name not in ("inputs", "matrix", "graph")}
    document |= {"graph": graph, "rows": [["1/2", "1/2"]], "row_of": [0, 0]}
    status, _, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == expected
    assert "another form" not in verified


# A certificate that states no goal has no gap to show: its rows are the theorem's, and each theorem says its own.

TWO = Privacy.from_ratio(2)
RESPONSE = [[Fraction(1, 3) if i == v else Fraction(1, 6) for v in range(5)] for i in range(5)]
COUNTS = geometric(3, TWO).matrix()


def told(document, path, capsys):
    """Return status, the audit's verdict on the claim, and both texts; insist that the statuses agree."""
    path.write_text(json.dumps(document))
    capsys.readouterr()
    verifier = io.StringIO()
    with contextlib.redirect_stdout(verifier):
        status = verify_mechanism.main(str(path))
    assert run(["audit", str(path), "--json"]) == status
    found = json.loads(capsys.readouterr().out)["optimality"]
    assert run(["audit", str(path)]) == status
    return status, found, " ".join(capsys.readouterr().out.split()), " ".join(verifier.getvalue().split())


def claiming(rows, theorem, graph=None, **facts):
    return add_digest(
        {
            "privacy": {"ratio": "2"},
            "graph": graph or {"family": "path", "n": len(rows)},
            "outputs": list(range(len(rows[0]))),
            "matrix": [[str(p) for p in row] for row in rows],
            "certificate": {"kind": "theorem", "theorem": theorem, **facts},
        }
    )


ONE_RANKING = {"rankings": [[0, 1]], "ranking_of": [0, 0, 0]}
FALSE = {
    "always 0": ([[1, 0, 0, 0]] * 4, "geometric", {}),
    "uniform": ([["1/3"] * 3] * 3, "geometric", {}),
    "uniform response": ([["1/3"] * 3] * 3, "randomized-response", {"graph": {"family": "complete", "n": 3}}),
    "a half each": ([["1/2", "1/2"]] * 3, "homogeneous-rainbow", ONE_RANKING),
    "a half each, nothing fixed": ([["1/2", "1/2"]] * 3, "rainbow", {**ONE_RANKING, "fixed": []}),
    "another boundary": ([["1/2", "1/2"]] * 2, "balanced-line", {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]}),
}


@pytest.mark.parametrize("within", ["0", "1e-9", "1/2", 1, "1e4000"])
@pytest.mark.parametrize("name", FALSE)
def test_no_within_makes_other_rows_the_theorem_s(name, within, tmp_path, capsys):
    rows, theorem, facts = FALSE[name]
    status, found, text, verifier = told(claiming(rows, theorem, within=within, **facts), tmp_path / "m.json", capsys)
    assert status == 1 and not found["holds"] and found["among"] is None and found["says"] == "nothing is proven"
    assert "DOES NOT HOLD" in text and verifier.startswith("no:")
    assert ALL_PRIVATE not in text and ALL_PRIVATE not in verifier


@pytest.mark.parametrize("name", ["a half each", "a half each, nothing fixed", "another boundary"])
def test_with_a_goal_the_gap_tells_what_other_rows_cost(name, tmp_path, capsys):
    rows, theorem, facts = FALSE[name]
    goal = {"aggregate": "average", "weights": [f"1/{len(rows)}"] * len(rows), "loss": [[0, 1]] * len(rows)}
    if name == "another boundary":
        goal["loss"] = [[0, 1], [1, 0]]
    document = claiming(rows, theorem, within=1, **facts, **goal)
    document = add_digest({**document, "objective": {"name": "x", "value": "1/2"}})
    status, found, _, verifier = told(document, tmp_path / "m.json", capsys)
    assert status == 0 and found["says"] is None
    assert Fraction(found["gap"]) == (0 if name == "another boundary" else Fraction(1, 2))
    assert f"at most {'0' if name == 'another boundary' else '0.5'} above the best" in verifier


@pytest.mark.parametrize(("power", "holds"), [(41, False), (46, True), (120, True)])
@pytest.mark.parametrize("theorem", ["geometric", "homogeneous-rainbow"])
def test_rounding_ends_at_two_to_the_minus_forty_five(theorem, power, holds, tmp_path, capsys):
    nudge = Fraction(1, 1 << power)
    rows = [list(row) for row in COUNTS] if theorem == "geometric" else [[Fraction(1), Fraction(0)]] * 3
    # Towards the other rows, and not at the edges that are tight.
    rows = (
        [[p * (1 - nudge) + nudge / len(row) for p in row] for row in rows]
        if theorem == "geometric"
        else [[1 - nudge, nudge]] * 3
    )
    facts = {} if theorem == "geometric" else ONE_RANKING
    status, found, _, verifier = told(claiming(rows, theorem, within="1", **facts), tmp_path / "m.json", capsys)
    assert status == (0 if holds else 1) and found["holds"] is holds
    assert ("up to" in verifier) is holds


def pulled(document):
    """Ask a query with two inputs over each value first."""
    size = len(document["matrix"])
    near = range(size)
    edges = [
        [2 * i + s, 2 * j + t]
        for i in near
        for j in near
        for s in (0, 1)
        for t in (0, 1)
        if i < j and (document["graph"]["family"] == "complete" or j == i + 1)
    ]
    return add_digest(
        {
            "privacy": document["privacy"],
            "graph": {"nodes": list(range(2 * size)), "edges": edges},
            "outputs": document["outputs"],
            "matrix": [document["matrix"][k // 2] for k in range(2 * size)],
            "certificate": {
                "kind": "theorem",
                "theorem": "pullback",
                "query": [str(k // 2) for k in range(2 * size)],
                "mechanism": document,
            },
        }
    )


TRUE = {
    "geometric": claiming(COUNTS, "geometric"),
    "randomized-response": claiming(RESPONSE, "randomized-response", {"family": "complete", "n": 5}),
    "homogeneous-rainbow": claiming([[1, 0, 0]] * 3, "homogeneous-rainbow", rankings=[[0, 1, 2]], ranking_of=[0] * 3),
    "given": claiming(
        [["2/3", "1/3"], ["1/3", "2/3"]], "homogeneous-rainbow", rankings=[[0, 1], [1, 0]], ranking_of=[0, 1]
    ),
}
SAYS = {
    "geometric": ("whoever reads it well", "prior alike on inputs of one value"),
    "randomized-response": ("the mean probability of the true answer, over all inputs", "true value of the query"),
    "homogeneous-rainbow": ("at every input, and for every k, the first k choices", "averaged over the inputs of any"),
    "given": ("at every input, and for every k, the first k choices", "averaged over the inputs of any"),
}


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("name", TRUE)
def test_each_theorem_says_its_own_sentence_in_both_checkers(name, above, tmp_path, capsys):
    document = pulled(TRUE[name]) if above else TRUE[name]
    status, found, text, verifier = told(document, tmp_path / "m.json", capsys)
    assert status == 0
    among = SAME_ROWS if name == "given" else ALL_PRIVATE
    assert found["among"] == among and SAYS[name][above] in found["says"]
    sentence = found["says"].split(among)[0] + among
    assert sentence in text and sentence in verifier
    others = {start for key, pair in SAYS.items() for start in pair} - {SAYS[name][above]}
    if name != "geometric":
        assert not any(other in text or other in verifier for other in others)


def test_pulled_back_rows_are_counted_as_given_however_the_query_is_written(tmp_path, capsys):
    status, found, text, verifier = told(pulled(TRUE["given"]), tmp_path / "m.json", capsys)
    assert status == 0 and found["given_rows"] == {"inputs": 4, "of": 4, "off_boundary": 0}
    assert "4 of 4 inputs" in text and "4 of 4 inputs" in verifier


def test_a_pullback_of_a_pullback_says_nothing_without_a_goal(tmp_path, capsys):
    outer = pulled(TRUE["given"])
    twice = {**outer, "certificate": {**outer["certificate"], "mechanism": outer, "query": [0, 1, 2, 3]}}
    status, _, text, verifier = told(add_digest(twice), tmp_path / "m.json", capsys)
    assert status == 1 and "compose the two queries" in text and verifier.startswith("no: a pullback of a pullback")


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-18", "1e-9", "0.1", "50", "700"])
def test_designs_are_within_rounding(epsilon, tmp_path, capsys):
    for made in (
        design.geometric(30, Privacy(epsilon=epsilon)),
        design.randomized_response(4, Privacy(epsilon=epsilon)),
    ):
        assert told(made.to_document(), tmp_path / "m.json", capsys)[0] == 0


def test_a_wrong_within_is_refused_whatever_the_proof(tmp_path, capsys):
    for document in (pulled(TRUE["geometric"]), TRUE["geometric"]):
        for wrong in ("x", "-1", None):
            changed = add_digest({**document, "certificate": {**document["certificate"], "within": wrong}})
            assert told(changed, tmp_path / "m.json", capsys)[0] == 1


def test_the_mechanisms_are_the_ones_meant():
    assert [list(row) for row in randomized_response(5, TWO).matrix()] == RESPONSE
    assert read_document(TRUE["geometric"]).rows == tuple(COUNTS)


# Small files that ask the stand-alone verifier for long numbers are not checked, in a time of their size.


def primes(number):
    found = []
    candidate = 2
    while len(found) < number:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def checked_in_time(tmp_path, rows, graph=None):
    path, graph = tmp_path / "m.json", graph or {"family": "path", "n": len(rows)}
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "matrix": rows}))
    return verify_mechanism.main(str(path))


def test_long_common_denominators_are_not_written(tmp_path, capsys, monkeypatch):
    shares = [f"1/{prime}" for prime in primes(300)]
    rows = [[*shares, "0"], ["0", *shares]]
    assert checked_in_time(tmp_path, rows) == 1
    assert capsys.readouterr().out.startswith("no: a row is negative somewhere or does not sum to exactly 1")
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 10**6)
    assert checked_in_time(tmp_path, rows) == 2
    assert "too long" in capsys.readouterr().out


def test_few_first_choices_are_followed_at_any_number_of_inputs():
    turns = [[*range(k, 16), *range(k)] for k in range(16)]  # 16 · 15 sets, and the whole one
    assert not too_many_events(turns, 10**7)
    more = [*turns, [*range(0, 16, 2), *range(1, 16, 2)], [*range(15, -1, -2), *range(0, 16, 2)]]
    assert too_many_events(more, 10**7)
    assert not too_many_events(more, 10**4)


def test_more_edges_than_are_listed_are_not_checked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verify_mechanism, "MOST_EDGES", 2)
    assert checked_in_time(tmp_path, [["1"]] * 3) == 0
    assert checked_in_time(tmp_path, [["1"]] * 4) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: the graph has more than 2 edges")
    monkeypatch.setattr(verify_mechanism, "check_privacy", lambda mechanism: bytearray(1 << 62))
    assert checked_in_time(tmp_path, [["1"]] * 3) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "not checked: there is too little memory for it"


def test_more_counts_than_are_written_are_not_checked(tmp_path, capsys, monkeypatch):
    graph = {"family": "histograms", "total": 1, "types": 5}
    assert checked_in_time(tmp_path, [["1"]] * 5, graph) == 0
    monkeypatch.setattr(verify_mechanism, "MOST_COUNTS", 24)
    assert checked_in_time(tmp_path, [["1"]] * 5, graph) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: the inputs have more than 24 counts")


LONG = [str(Fraction(1, 3**2000 + k)) for k in range(40)]


def sealed(certificate, **parts):
    document = {"privacy": {"ratio": 2}, "graph": {"family": "complete", "n": 2}, **parts}
    return add_digest({**document, "certificate": certificate})


def rows_of(entries):
    """A row of fractions that have nothing in common, two by two."""
    return [[str(Fraction(e) / len(entries)) for x in entries for e in (x, 1 - Fraction(x))]] * 2


MATRIX = [["1/2", "1/2"], ["1/2", "1/2"]]
AVERAGE = {"aggregate": "average", "loss": [[0, 1], [1, 0]], "weights": ["1/2", "1/2"]}
CHOSEN = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]}
TABLE = {"privacy": {"ratio": 2}, "graph": {"family": "complete", "n": 2}, "matrix": MATRIX}
SMALL = {
    "rows": ("over_common_denominator", {**TABLE, "matrix": rows_of(LONG)}),
    "pairs of rows": ("check_privacy", TABLE),
    "sums where rows are not alike": (
        "check_privacy",
        {**TABLE, "privacy": {"ratio": 2, "delta": "1/2"}, "matrix": [["1/5", "4/5"], ["3/5", "2/5"]]},
    ),
    "epsilons": ("ratio_of_epsilon", {**TABLE, "privacy": {"epsilon": 1}}),
    "weights": ("total", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "tables of a row often used": ("conclude", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "goals": ("expected_loss", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "multipliers": (
        "lower_bound",
        sealed({"kind": "dual", **AVERAGE, "multipliers": [[0, 1, 0, "1/4"], [1, 0, 1, "1/4"]]}, **TABLE),
    ),
    "distances": (
        "smallest_reaching",
        sealed({"kind": "dual", **AVERAGE, "loss": {"name": "graph-distance"}, "multipliers": []}, **TABLE),
    ),
    "steps of rankings": (
        "u",
        sealed(
            {
                "kind": "theorem",
                "theorem": "homogeneous-rainbow",
                "rankings": [[0, 1], [1, 0]],
                "ranking_of": [0, 0, 1],
            },
            privacy={"ratio": 2},
            graph={"family": "path", "n": 3},
            matrix=[["1/2", "1/2"]] * 3,
        ),
    ),
    "first choices": ("most", sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE)),
    "best rows": ("dominance", sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE)),
    "rankings": ("read_rankings", sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE)),
    "readings": (
        "read_reading",
        {
            "privacy": {"ratio": 2},
            "factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1, 1, "1/2"], [1, 1, "1/2"]]}],
        },
    ),
}
FACTORED = {
    "kind": "theorem", "theorem": "geometric-reading", "aggregate": "average", "loss": [[0, 1], [1, 0]],
    "weights": [1, 1],
}  # fmt: skip
for name, function in {"releases": "geometric_reading", "values of factors": "expected_loss"}.items():
    SMALL[name] = (
        function,
        add_digest(
            {
                "privacy": {"ratio": 2},
                "factors": [{"kind": "geometric", "n": 1}],
                "objective": {"value": 2},
                "certificate": FACTORED,
            }
        ),
    )


@pytest.mark.parametrize("name", SMALL)
def test_every_loop_that_can_be_long_counts_its_work(name, tmp_path, capsys, monkeypatch):
    """The work of one function is bounded to nothing, and whatever else it takes is free."""
    function, document = SMALL[name]
    take, path = verify_mechanism.take, tmp_path / "m.json"
    path.write_text(json.dumps(document))

    def only_there(steps, *longest):
        if sys._getframe(1).f_code.co_name == function:
            take(steps << 50, *longest)

    monkeypatch.setattr(verify_mechanism, "take", only_there)
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out == (
        "not checked: its numbers are too many, or too long, to be worked through in half an hour\n"
    )


def complete(nodes, **certificate):
    parts = {"graph": {"family": "complete", "n": nodes}, "rows": [["1"] + ["0"] * (nodes - 1)], "row_of": [0] * nodes}
    return sealed(certificate, **parts)


BOMBS = {
    "rows of many long numbers": lambda: {**TABLE, "matrix": [rows_of(LONG * 5)[0]] * 2},
    "many pairs of rows": lambda: {
        "privacy": {"ratio": 2},
        "graph": {"family": "complete", "n": 400},
        "matrix": [["1/400"] * 400] * 400,
    },
    "one row used often": lambda: sealed(
        {"kind": "dual", **AVERAGE, "weights": [1] * 9000, "loss": {"name": "zero-one"}, "multipliers": []},
        graph={"family": "path", "n": 9000},
        rows=[["1"] + ["0"] * 8999],
        row_of=[0] * 9000,
    ),
    "distances from everywhere": lambda: complete(
        400, kind="dual", aggregate="average", weights=[1] * 400, loss={"name": "graph-distance"}, multipliers=[]
    ),
    "long steps of many events": lambda: sealed(
        {"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN, "ranking_of": [0] * 69 + [1]},
        privacy={"ratio": str(Fraction(2 * 3**2000 + 1, 3**2000))},
        graph={"family": "path", "n": 70},
        rows=[["1/2", "1/2"]],
        row_of=[0] * 70,
    ),
    "many outputs ranked": lambda: sealed(
        {"kind": "theorem", "theorem": "homogeneous-rainbow", "rankings": [[*range(3000)]], "ranking_of": [0, 0]},
        graph={"family": "path", "n": 2},
        matrix=[["1"] + ["0"] * 2999] * 2,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_that_take_hours_are_not_checked(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 1 << 30)  # seconds
    path = tmp_path / "m.json"
    path.write_text(json.dumps(BOMBS[name]()))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: its numbers are too many")
    assert time.process_time() - started < 20


def test_long_numbers_that_have_nothing_in_common_are_compared_crosswise(tmp_path):
    """Over a common denominator this took a minute; and what is not alike is still found."""
    rows = rows_of([str(Fraction(1, 3**4000 + k)) for k in range(25)])
    started = time.process_time()
    assert checked_in_time(tmp_path, rows) == 0
    wrong = rows_of([str(Fraction(1, 5**2500 + k)) for k in range(25)])
    assert checked_in_time(tmp_path, [rows[0], wrong[0][::-1]]) == 1
    assert time.process_time() - started < 20


def test_work_is_counted_for_each_file_alone(tmp_path):
    taken = []
    for _ in range(2):
        assert checked_in_time(tmp_path, MATRIX) == 0
        taken += verify_mechanism.work
    assert taken[0] == taken[1] > 0


def test_a_choice_of_boundary_counts_its_work_too(tmp_path, capsys, monkeypatch):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(sealed({"kind": "dual", **AVERAGE, "choice": {}, "multipliers": []}, **TABLE)))
    monkeypatch.setattr(verify_mechanism, "main", lambda _: 0)
    assert verify_choice.check(str(path)) == 1
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 1)
    assert verify_choice.check(str(path)) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: its numbers are too many")


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "graph-distance"])
@pytest.mark.parametrize("kind", [{"kind": "dual", "multipliers": []}, {"kind": "theorem", "theorem": "rainbow"}])
def test_more_losses_than_are_written_are_not_checked(loss, kind, tmp_path, capsys):
    """A file of 54 KB, one row for 6,000 inputs, took 3.3 GB and minutes for losses that it has only by a name."""
    size = 6000
    goal = {"aggregate": "average", "loss": {"name": loss}, "weights": [0] * size}
    document = {"privacy": {"ratio": 2}, "graph": {"family": "path", "n": size}, "objective": {"value": 0}}
    document |= {"rows": [[1, *[0] * (size - 1)]], "row_of": [0] * size, "certificate": kind | goal}
    path, start = tmp_path / "m.json", time.process_time()
    path.write_text(json.dumps(add_digest(document)))
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: the goal has more than 8,388,608 losses")
    assert time.process_time() - start < 20


def test_distances_are_not_listed_for_answers_that_are_no_inputs(tmp_path, capsys):
    size = 40_000
    goal = {"aggregate": "average", "loss": {"name": "graph-distance"}, "weights": [0] * size}
    document = {"privacy": {"ratio": 2}, "graph": {"family": "path", "n": size}, "objective": {"value": 0}}
    document |= {"rows": [[1]], "row_of": [0] * size, "certificate": {"kind": "dual", "multipliers": []} | goal}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(add_digest(document)))
    assert verify_mechanism.main(str(path)) == 1
    assert capsys.readouterr().out == "no: distances need outputs that are the inputs\n"
