"""A certificate that states no goal has no gap to show: its rows are the theorem's, and each theorem says its own."""

import contextlib
import io
import json
from fractions import Fraction

import pytest

from irisdp import Privacy, design
from irisdp._cli import run
from irisdp.certify import add_digest, verify_mechanism
from irisdp.mechanisms import ALL_PRIVATE, SAME_ROWS, geometric, randomized_response, read_document

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
    "uniform response": (
        [["1/3"] * 3] * 3,
        "randomized-response",
        {"graph": {"family": "complete", "n": 3}},
    ),
    "a half each": ([["1/2", "1/2"]] * 3, "homogeneous-rainbow", ONE_RANKING),
    "a half each, nothing fixed": ([["1/2", "1/2"]] * 3, "rainbow", {**ONE_RANKING, "fixed": []}),
    "another boundary": (
        [["1/2", "1/2"]] * 2,
        "balanced-line",
        {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]},
    ),
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
