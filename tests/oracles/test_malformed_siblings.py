"""The audit and the stand-alone verifier give one verdict on malformed siblings of every kind of mechanism file.

Valid files of every kind that the design floor writes, and of the kinds only people write, are changed in a few places.
Both checkers must give the same status: 0 all holds, 1 something does not, 2 no mechanism file; and say why in a
sentence that names a field. `IRISDP_MALFORMED` asks for more mutants of each kind than the few tried always.
"""

import contextlib
import io
import json
import os
import re
from itertools import product

import pytest

from irisdp import IrisError, Privacy, audit, design
from irisdp.certify import add_digest, check_optimality, read_mechanism, verify_choice
from irisdp.design import Goal
from irisdp.graphs import Complete, Cycle, Hamming, Path, graph_from_edges
from irisdp.mechanisms import read_document
from support.malformed import mutant, sealed_text, written
from support.seeds import fresh_random
from support.sweeps import tried

MUTANTS = int(os.environ.get("IRISDP_MALFORMED", "40"))

TREE = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def pulled_back():
    inner = design.randomized_response(2, Privacy(ratio=2)).to_document()
    table = {"rows": inner["matrix"], "row_of": [0, 0, 1, 1]}
    query = {"kind": "theorem", "theorem": "pullback", "mechanism": inner, "query": [0, 0, 1, 1]}
    return add_digest(
        {
            "privacy": inner["privacy"],
            "graph": {"family": "cycle", "n": 4},
            "outputs": inner["outputs"],
            **table,
            "certificate": query,
            "objective": inner["objective"],
        }
    )


def resealed(name, **facts):
    """Give the rows of a design another certificate, and state what it proves."""
    document = json.loads(json.dumps(ORIGINALS[name].to_document()))
    document["certificate"] = {"kind": "theorem", **facts}
    if "loss" not in facts:
        return add_digest({key: value for key, value in document.items() if key != "objective"})
    found = check_optimality(read_document(add_digest({**document, "objective": {"value": "0"}})))
    stated = {"value": str(found.value), "lower_bound": str(found.lower_bound)}
    return add_digest({**document, "objective": {"name": "loss", **stated}})


def factored(reading, goal):
    factors = [{"kind": "geometric", "n": 3}]
    if reading:
        factors.append({"reading": [[z, r, p] for z in range(4) for r, p in ((z, "2/3"), (min(z + 1, 3), "1/3"))]})
    document = {"privacy": {"ratio": 2}, "factors": factors}
    if goal is None:
        return document
    certificate = {"kind": "theorem", "theorem": "geometric-reading", **goal} if goal else {"theorem": "geometric"}
    document = {**document, "certificate": {"kind": "theorem", **certificate}}
    return add_digest(document | ({"objective": {"name": "loss", "value": "2", "lower_bound": "0"}} if goal else {}))


MEAN = {"aggregate": "average", "loss": {"name": "absolute"}, "weights": ["1/4"] * 4}
WORST = {
    "aggregate": "worst",
    "loss": {"name": "squared"},
    "weights": ["0", "1/2", "1/2", "0"],
    "side_information": [1, 2],
}
RANKED = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 0, 0, 1, 1]}
COLOURS = {"a": "no", "b": "no", "c": "yes", "d": "yes"}

SHAPE = Privacy.all([Privacy(epsilon=1), Privacy(ratio=2, delta="1/20"), Privacy(ratio="11/10", delta="1/4")])

ORIGINALS = {
    "geometric": design.geometric(3, Privacy(ratio=2)),
    "geometric at a long ratio": design.geometric(3, Privacy(epsilon="0.7")),
    "geometric as a formula": design.geometric(1000, Privacy(epsilon=1)),
    "randomised response": design.randomized_response(3, Privacy(ratio=2, delta="1/10")),
    "line": design.balanced_line(3, 2, Privacy(ratio=2)),
    "consumer": design.consumer(2, "absolute", Privacy(ratio=4)),
    "consumer with a prior": design.consumer(2, "squared", Privacy(ratio=2), prior=["1/2", "1/4", "1/4"]),
    "consumer with side information": design.consumer(
        3, "zero-one", Privacy(ratio=2, delta="1/20"), side_information=[1, 2]
    ),
    "mean distance": design.distance(Cycle(5), Privacy(ratio=3)),
    "mean distance on a cube": design.distance(Hamming(2, 2), Privacy(epsilon="0.5")),
    "binary": design.binary(TREE, COLOURS, Privacy(ratio=2, delta="1/10")),
    "rainbow": design.rainbow(
        Cycle(5), {k: ("x", "y", "z") if k < 3 else ("z", "x", "y") for k in range(5)}, Privacy(ratio="3/2")
    ),
    "rainbow with a choice": design.rainbow(
        graph_from_edges([(0, 1), (0, 3), (1, 2), (1, 4)]),
        [tuple(word) for word in ("cbad", "bdac", "abcd", "bdac", "cbad")],
        Privacy(ratio=4, delta="1/20"),
        boundary="best",
    ),
    "rainbow with a choice by weights": design.rainbow(
        graph_from_edges([(0, 1), (0, 2), (1, 3), (1, 4), (4, 5)]),
        [tuple(word) for word in ("bca", "bca", "acb", "bca", "acb", "acb")],
        Privacy(ratio="6/5"),
        boundary="best",
        weights=dict(enumerate([[3, 1], [1, 0], [0, 1], [1, 1], [1, 2], [2, 1]])),
    ),
    "binary with given ends": design.binary(TREE, COLOURS, Privacy(ratio=2), boundary={"b": "0.6", "c": "0.6"}),
    "complete graph": design.rainbow(Complete(3), [("x", "y"), ("y", "x"), ("x", "y")], Privacy.from_ratio(2)),
    "response under a shape": design.randomized_response(3, SHAPE),
    "optimum under a shape": design.optimal_mechanism(
        Goal(name="loss", loss=((0, 1, 2), (1, 0, 1), (2, 1, 0)), weights=(1, 2, 1)), Path(3), SHAPE
    ),
    "binary under a shape": design.binary(TREE, COLOURS, SHAPE),
    "rainbow with a choice under a shape": design.rainbow(
        graph_from_edges([(0, 1), (0, 3), (1, 2), (1, 4)]),
        [tuple(word) for word in ("cba", "bac", "abc", "bac", "cba")],
        SHAPE,
        boundary="best",
    ),
    "path of one": design.geometric(0, Privacy(ratio=2)),
}
DOCUMENTS = {name: json.loads(json.dumps(made.to_document())) for name, made in ORIGINALS.items()} | {
    "pullback": pulled_back(),
    "geometric by universality": resealed("geometric", theorem="geometric-reading", **MEAN),
    "geometric by universality, worst case": resealed("geometric", theorem="geometric-reading", **WORST),
    "line with ends given": resealed("line", theorem="rainbow", **RANKED, fixed=[0, 2, 3]),
    "line without a goal": resealed("line", theorem="homogeneous-rainbow", **RANKED),
    "factors": factored(False, None),
    "factors with a reading": factored(True, None),
    "factors, sealed": factored(False, {}),
    "factors with a mean": factored(True, MEAN),
    "factors with a worst case": factored(True, WORST),
    "bare": {"privacy": {"ratio": 2}, "graph": {"edges": [["a", "b"]]}, "matrix": [["2/3", "1/3"], ["1/3", "2/3"]]},
    "bare, under a shape": {
        "privacy": {"all": [{"ratio": 2}, {"epsilon": "1/2", "delta": 0.05}]},
        "graph": {"edges": [["a", "b"]]},
        "matrix": [["3/5", "2/5"], ["2/5", "3/5"]],
    },
    "histograms": {
        "privacy": {"epsilon": 1, "delta": 0.1},
        "graph": {"family": "sorted_histograms", "total": 3, "types": 2},
        "rows": [["1/2", "1/2"], [0.4, 0.6]],
        "row_of": [0, 1],
    },
    "gaps": {
        "privacy": {"ratio": "2"},
        "graph": {"family": "gaps", "categories": 2, "largest": 1, "relation": "exchange"},
        "rows": [["1/2", "1/2"], [0.6, 0.4], [0.4, 0.6]],
        "row_of": [0, 1, 2],
    },
    "words": {
        "privacy": {"ratio": "2"},
        "graph": {"family": "hamming", "length": 1, "symbols": 11},
        "inputs": [str(k) for k in range(11)],
        "rows": [["1"]],
        "row_of": [0] * 11,
    },
}


def audit_says(path):
    try:
        verdict = audit(read_mechanism(path))
    except IrisError as refusal:
        return refusal.exit_status, str(refusal)
    return (0 if verdict.holds else 1), "" if verdict.optimality is None else verdict.optimality.reason


def verifier_says(path):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = verify_choice.check(str(path))
    return status, said.getvalue()


UNFORESEEN = re.compile(r"another form than it should")
"""What the verifier says where none of its checks saw what was wrong: every reason should name a field instead."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_originals_are_what_they_say(name, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(DOCUMENTS[name]))
    assert audit_says(path)[0] == verifier_says(path)[0] == 0, (audit_says(path), verifier_says(path))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_both_checkers_say_the_same_of_malformed_siblings(name, tmp_path):
    pick, path = fresh_random(f"malformed {name}"), tmp_path / "m.json"
    for _ in range(MUTANTS):
        made = mutant(DOCUMENTS[name], pick)
        text = sealed_text(made) if pick.random() < 0.9 else written(made)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        audited, verified = audit_says(path), verifier_says(path)
        assert audited[0] == verified[0], (audited, verified, text)
        assert audited[0] == 0 or not UNFORESEEN.search(verified[1]), (audited, verified, text)


THEOREMS = (
    *("geometric", "geometric-reading", "rainbow", "homogeneous-rainbow", "randomized-response", "exponential"),
    *("balanced-line", "pullback", "choice", None),
)
LOSS_NAMES = ("absolute", "squared", "zero-one", "graph-distance", "none")
GOAL = {"aggregate": "average", "weights": ["1/4"] * 4}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_both_checkers_say_the_same_of_any_theorem_under_any_loss(name, tmp_path):
    """Certificates whose parts are each of a form that some file has, and do not belong together."""
    path, document = tmp_path / "m.json", DOCUMENTS[name]
    kept = document.get("certificate", {})
    large = name == "geometric as a formula"  # the losses of a thousand counts are a million; factors are small ones
    every = tried(20 if large else 2, 1)  # one in so many pairs; of every second each theorem and each loss is one
    for theorem, loss in list(product(THEOREMS, LOSS_NAMES))[::every]:
        given = {"kind": "theorem", "theorem": theorem} if theorem else {"kind": "dual", "multipliers": []}
        for certificate in (
            {**GOAL, **kept, **given, "loss": {"name": loss}},
            {**GOAL, **given, "loss": {"name": loss}},
        ):
            objective = {"name": "loss", "value": "2", "lower_bound": "0"}
            text = sealed_text({**document, "certificate": certificate, "objective": objective})
            path.write_text(text, encoding="utf-8")
            audited, verified = audit_says(path), verifier_says(path)
            assert audited[0] == verified[0], (audited, verified, text)
            assert audited[0] == 0 or not UNFORESEEN.search(verified[1]), (audited, verified, text)
