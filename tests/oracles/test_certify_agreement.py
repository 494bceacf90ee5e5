"""The audit and the stand-alone verifier, which share no code, give the same exit status on thousands of odd files.

Every graph family, every form of the table, every kind of certificate, right and wrong: 0 all holds, 1 something does
not, 2 no mechanism file. Where no certificate decides, a third opinion written out here must agree as well.
"""

import contextlib
import io
import json
import os
import re
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from irisdp import BadInput, IrisError, Privacy, audit, design
from irisdp._exact import parse_json
from irisdp.certify import add_digest, check_optimality, read_mechanism, verify_choice, verify_mechanism
from irisdp.design import Goal
from irisdp.graphs import Complete, Cycle, Hamming, Path, graph_from_document, graph_from_edges
from irisdp.mechanisms import read_document
from support.closeness import hockey_stick
from support.malformed import mutant, sealed_text, written
from support.seeds import fresh_random
from support.sweeps import tried

TINY = Fraction(1, 10**30)


def library_says(text):
    try:
        return 0 if audit(read_document(parse_json(text, "mechanism"))).holds else 1
    except IrisError as refusal:
        return refusal.exit_status


def verifier_says(text, path):
    path.write_text(text)
    with contextlib.redirect_stdout(io.StringIO()):
        return verify_mechanism.main(str(path))


def third_opinion(document, graph):
    """Rows and edges by the definition; None where the file is malformed or a certificate has its say."""
    try:
        table = [[Fraction(str(x)) for x in row] for row in document.get("matrix", document.get("rows", []))]
        rows = table if "matrix" in document else [table[k] for k in document["row_of"]]
        privacy = Privacy(**document["privacy"])
    except (LookupError, ValueError, ZeroDivisionError):
        return None
    names = document.get("inputs", [list(n) if isinstance(n, tuple) else n for n in graph.nodes])
    if "certificate" in document or not rows or any(isinstance(x, bool) for row in table for x in row):
        return None
    at = {json.dumps(node): row for node, row in zip(names, rows, strict=True)}
    for row in rows:
        if min(row) < 0 or sum(row) != 1:
            return 1
    for tails, heads in graph.edges():
        for a, b in zip(tails.tolist(), heads.tolist(), strict=True):
            p, q = (at[json.dumps(graph.nodes[k])] for k in (a, b))
            for x, y in ((p, q), (q, p)):
                if hockey_stick(x, y, privacy.ratio) > privacy.delta:
                    return 1
    return 0


class Inventor:
    """Invents mechanism files, most of them nearly right."""

    def __init__(self, seed):
        self.pick = fresh_random(seed)

    def often(self, chance):
        return self.pick.random() < chance

    def graph(self):
        pick, kind = self.pick, self.pick.randrange(9)
        if kind < 3:
            return {"family": ("path", "cycle", "complete")[kind], "n": pick.randrange(1, 6)}
        if kind == 3:
            return {"family": "hamming", "length": pick.randrange(1, 3), "symbols": pick.choice([1, 2, 2, 3, 11])}
        if kind == 4:
            family = pick.choice(["histograms", "sorted_histograms"])
            return {"family": family, "total": pick.randrange(6), "types": pick.randrange(1, 4)}
        if kind == 8:
            sizes = {"categories": pick.randrange(1, 4), "largest": pick.randrange(1, 3)}
            return {"family": "gaps", **sizes, "relation": pick.choice(["exchange", "add-remove"])}
        n = pick.randrange(2, 6)
        names = (list(range(n)), [f"node {k}" for k in range(n)], [[k, "x"] for k in range(n)])[kind - 5]
        graph = {"edges": [[a, b] for a in names for b in names if self.often(0.3)]}
        return graph | ({"nodes": pick.sample(names, n)} if self.often(0.7) else {})

    def privacy(self):
        delta = {"delta": self.pick.choice(["0.1", "1/3", 0.05])} if self.often(0.4) else {}
        if self.often(0.5):
            return {"ratio": self.pick.choice(["2", "3/2", "1", "7/3"])} | delta
        return {"epsilon": self.pick.choice(["0", "0.5", 1, "1/3", 0.25, "2e-1"])} | delta

    def table(self, graph):
        pick, n = self.pick, graph.number_of_nodes
        q, rows = pick.randrange(1, 4), []
        for _ in range(pick.randrange(1, min(n, 3) + 1)):
            weights = [pick.randrange(3, 6) for _ in range(q)]
            rows.append([str(Fraction(w, sum(weights))) for w in weights])
        if self.often(0.1):
            rows[0][0] = str(Fraction(rows[0][0]) + TINY)
        if self.often(0.05):
            rows[0][0] = pick.choice([None, True, 0.5, "x", "1e5000", "1/0", [1], "-1/3", "١"])
        row_of = [pick.randrange(len(rows)) for _ in range(n)]
        return q, {"matrix": [rows[k] for k in row_of]} if self.often(0.5) else {"rows": rows, "row_of": row_of}

    def goal(self, n, q):
        pick = self.pick
        table = [
            [str(abs(i - v)) if self.often(0.9) else str(pick.randrange(-1, 4)) for v in range(q)] for i in range(n)
        ]
        named = {"name": pick.choice(["absolute", "squared", "zero-one", "graph-distance", "unheard of"])}
        goal = {"aggregate": pick.choice(["average", "worst"]), "weights": [str(Fraction(1, n))] * n}
        goal["loss"] = named if self.often(0.3) else table
        if self.often(0.3):
            goal["side_information"] = sorted(pick.sample(range(n), pick.randrange(1, n + 1)))
        if self.often(0.05):
            goal["weights"][0] = "-1"
        return goal

    def certificate(self, n, q, graph):
        pick = self.pick
        kind = pick.choice(["dual", "geometric", "geometric-reading", "randomized-response", "rainbow", "nothing"])
        if kind == "dual" and graph is not None:
            listed = []
            for i in range(n):
                near = [j for j in range(n) if j in graph.neighbours(i).tolist() or self.often(0.02)]
                listed += [[i, j, pick.randrange(q), pick.choice(["1/10", 0.25, "0"])] for j in near if self.often(0.5)]
            if listed and self.often(0.1):
                listed.append(pick.choice([listed[0], [0, 0, 0, "-1/9"], [0, n, 0, 1], [0, 1]]))
            return {"kind": "dual", "multipliers": listed, **self.goal(n, q)}
        if kind in ("rainbow", "nothing"):
            certificate = {"kind": "theorem", "rankings": [pick.sample(range(q), q) for _ in range(2)]}
            certificate["theorem"] = pick.choice(["rainbow", "homogeneous-rainbow", "balanced-line", "pullback", "?"])
            certificate["ranking_of"] = [pick.randrange(2) for _ in range(n)]
            if self.often(0.7):
                certificate["fixed"] = pick.sample(range(n), pick.randrange(n + 1))
        else:
            certificate = {"kind": "theorem", "theorem": kind}
        if self.often(0.8):
            certificate["within"] = pick.choice(["1", "1/2", 0])
        if kind == "geometric-reading" or self.often(0.3 * (kind != "geometric")):
            certificate |= self.goal(n, q)
        return certificate

    def factors(self):
        pick, n = self.pick, self.pick.randrange(5)
        factors = [{"kind": "geometric", "n": n}]
        if self.often(0.6):
            halves = [[z, pick.randrange(n + 1), p] for z in range(n + 1) for p in ("1/3", "2/3")]
            factors.append({"reading": [[z, z, 1] for z in range(n + 1)] if self.often(0.3) else halves})
        document = {"privacy": self.privacy(), "factors": factors}
        return n + 1, document | ({"graph": self.graph()} if self.often(0.2) else {})

    def document(self):
        pick = self.pick
        if self.often(0.15):
            n, document = self.factors()
            q, graph = n, None
        else:
            spec = self.graph()
            try:
                graph = graph_from_document(spec)
            except BadInput:
                return {"privacy": self.privacy(), "graph": spec, "matrix": [["1"]]}, None
            n = graph.number_of_nodes
            q, table = self.table(graph)
            document = {"format": "irisdp/mechanism/1", "privacy": self.privacy(), "graph": spec, **table}
            if self.often(0.5):
                names = [list(node) if isinstance(node, tuple) else node for node in graph.nodes]
                document["inputs"] = pick.sample(names, n) if self.often(0.5) else names
        if self.often(0.6):
            document["certificate"] = self.certificate(n, q, graph)
            document = self.stated(document)
        if self.often(0.02):
            document.pop(pick.choice(list(document)))
        return document, graph

    def stated(self, document):
        """State the value and bound that the certificate proves, nearly, and seal most of the time."""
        verdict = None
        with contextlib.suppress(IrisError):
            verdict = check_optimality(read_document(add_digest({**document, "objective": {"value": "1000"}})))
        nothing = verdict is None or verdict.value is None
        value, bound = (Fraction(1), Fraction(0)) if nothing else (verdict.value, verdict.lower_bound)
        value += self.pick.choice([0, 0, 0, TINY])
        bound += self.pick.choice([0, 0, -1, TINY])
        if not nothing or self.often(0.2):
            document = document | {"objective": {"name": "loss", "value": str(value), "lower_bound": str(bound)}}
        return add_digest(document) if self.often(0.95) else document


@pytest.mark.parametrize("seed", range(tried(1, 4)))
def test_both_checkers_give_the_same_status(seed, tmp_path):
    inventor, seen = Inventor(seed), Counter()
    for _ in range(300):
        document, graph = inventor.document()
        text = json.dumps(document)
        status = library_says(text)
        assert verifier_says(text, tmp_path / "m.json") == status, text
        opinion = third_opinion(document, graph) if graph is not None else None
        if opinion is not None and status != 2:
            assert status == opinion, text
            seen["third"] += 1
        seen[status] += 1
    assert min(seen[0], seen[1], seen[2], seen["third"]) > 0, seen


@pytest.mark.parametrize("seed", range(2))
def test_both_checkers_put_nodes_that_only_edges_name_in_one_order(seed, tmp_path):
    """Integers of any size, negative or not, and mixed with text or lists: the rows belong to the nodes in order."""
    pick, seen = fresh_random(f"names {seed}"), Counter()
    for _ in range(400):
        pool = [pick.choice([0, 1, 7, -3, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, -(10**25)]) for _ in range(4)]
        if pick.random() < 0.4:
            pool += [pick.choice(["a", "0", "-3", [0], [2**64, "x"]]) for _ in range(2)]
        edges = [[pick.choice(pool), pick.choice(pool)] for _ in range(pick.randrange(1, 4))]
        ends = {json.dumps(end) for edge in edges for end in edge}
        # Rows on a ladder: which nodes are close depends on which row is whose.
        rows = [["1/2", "1/2"], ["1/4", "3/4"], ["1/8", "7/8"], ["1/16", "15/16"], ["1/32", "31/32"], ["0", "1"]]
        matrix = [pick.choice(rows) for _ in ends]
        document = {"privacy": {"ratio": 2}, "graph": {"edges": edges}, "matrix": matrix}
        text = json.dumps(document)
        status = library_says(text)
        assert verifier_says(text, tmp_path / "m.json") == status, text
        if all(type(end) is int for edge in edges for end in edge):
            order = sorted({end for edge in edges for end in edge})
            at = dict(zip(order, ([Fraction(p) for p in row] for row in matrix), strict=True))
            near = [(at[a], at[b]) for a, b in edges] + [(at[b], at[a]) for a, b in edges]
            assert status == any(p > 2 * q for one, other in near for p, q in zip(one, other, strict=True)), text
            seen["opinion"] += 1
        seen[status] += 1
    assert min(seen[0], seen[1], seen["opinion"]) > 0, seen


# The audit and the stand-alone verifier give one verdict on malformed siblings of every kind of mechanism file.
#
# Valid files of every kind that designs write, and of the kinds only people write, are changed in a few
# places. Both checkers must give the same status: 0 all holds, 1 something does not, 2 no mechanism file; and say
# why in a sentence that names a field. `IRISDP_MALFORMED` asks for more mutants of each kind than the few tried
# always.

MUTANTS = int(os.environ.get("IRISDP_MALFORMED", "40"))

TREE = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def pulled_back():
    inner = design.randomized_response(2, Privacy(ratio=2)).to_document()
    table = {"rows": inner["matrix"], "row_of": [0, 0, 1, 1]}
    query = {"kind": "theorem", "theorem": "pullback", "mechanism": inner, "query": [0, 0, 1, 1]}
    return add_digest(
        {
            "privacy": inner["privacy"], "graph": {"family": "cycle", "n": 4}, "outputs": inner["outputs"], **table,
            "certificate": query, "objective": inner["objective"],
        }
    )  # fmt: skip


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


def verifier_says_malformed(path):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = verify_choice.check(str(path))
    return status, said.getvalue()


UNFORESEEN = re.compile(r"another form than it should")
"""What the verifier says where none of its checks saw what was wrong: every reason should name a field instead."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_originals_are_what_they_say(name, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(DOCUMENTS[name]))
    assert audit_says(path)[0] == verifier_says_malformed(path)[0] == 0, (
        audit_says(path),
        verifier_says_malformed(path),
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_both_checkers_say_the_same_of_malformed_siblings(name, tmp_path):
    pick, path = fresh_random(f"malformed {name}"), tmp_path / "m.json"
    for _ in range(MUTANTS):
        made = mutant(DOCUMENTS[name], pick)
        text = sealed_text(made) if pick.random() < 0.9 else written(made)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        audited, verified = audit_says(path), verifier_says_malformed(path)
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
    every = tried(20 if large else 3, 1)  # one in so many pairs; of every third each theorem and each loss is one
    for theorem, loss in list(product(THEOREMS, LOSS_NAMES))[::every]:
        given = {"kind": "theorem", "theorem": theorem} if theorem else {"kind": "dual", "multipliers": []}
        for certificate in (
            {**GOAL, **kept, **given, "loss": {"name": loss}},
            {**GOAL, **given, "loss": {"name": loss}},
        ):
            objective = {"name": "loss", "value": "2", "lower_bound": "0"}
            text = sealed_text({**document, "certificate": certificate, "objective": objective})
            path.write_text(text, encoding="utf-8")
            audited, verified = audit_says(path), verifier_says_malformed(path)
            assert audited[0] == verified[0], (audited, verified, text)
            assert audited[0] == 0 or not UNFORESEEN.search(verified[1]), (audited, verified, text)
