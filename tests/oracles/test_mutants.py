"""Mutation: whatever is wrong with a mechanism file, the audit and the stand-alone verifier both see it.

Every original is sealed. A mutant is left with the old seal, which must break, or sealed anew; then it is wrong if the
brute force below, which shares no code with either checker, finds a broken row or a broken edge, or if its value or its
bound was raised.
"""

import ast
import contextlib
import copy
import hashlib
import io
import itertools
import json
import pathlib
import subprocess
import sys
from fractions import Fraction

import pytest

from irisdp import IrisError, Privacy, audit, design
from irisdp.certify import verify_mechanism
from irisdp.design import Goal
from irisdp.graphs import Cycle, Hamming, Path, graph_from_edges
from irisdp.mechanisms import read_document
from support.closeness import hockey_stick
from support.seeds import fresh_random

TINY = Fraction(1, 10**30)
LINE = {"a": "no", "b": "no", "c": "yes", "d": "yes"}
PATH = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])

ORIGINALS = {
    "geometric": design.geometric(4, Privacy(ratio=2)),
    "geometric at a long ratio": design.geometric(6, Privacy(epsilon="0.7")),
    "randomised response": design.randomized_response(3, Privacy(ratio=2, delta="1/10")),
    "line": design.balanced_line(3, 2, Privacy(ratio=2)),
    "line with delta": design.balanced_line(2, 3, Privacy(ratio=2, delta="1/50")),
    "consumer": design.consumer(3, "absolute", Privacy(ratio=4)),
    "consumer with a prior": design.consumer(3, "squared", Privacy(ratio=2), prior=["1/2", "1/4", "1/8", "1/8"]),
    "consumer with delta": design.consumer(2, "zero-one", Privacy(ratio=2, delta="1/20")),
    "consumer at a long ratio": design.consumer(4, "absolute", Privacy(epsilon=1)),
    "mean distance": design.distance(Cycle(5), Privacy(ratio=3)),
    "mean distance on a cube": design.distance(Hamming(2, 2), Privacy(epsilon="0.5")),
    "winner": design.winner(3, Privacy(ratio=2), largest=2),
    "winner at worst": design.winner(3, Privacy(ratio=2), largest=2, relation="add-remove", objective="worst"),
    "binary": design.binary(PATH, LINE, Privacy(ratio=2, delta="1/10")),
    "binary with given ends": design.binary(PATH, LINE, Privacy(ratio=2), boundary={"b": "0.6", "c": "0.6"}),
    "rainbow": design.rainbow(
        Cycle(5), {k: ("x", "y", "z") if k < 3 else ("z", "x", "y") for k in range(5)}, Privacy(ratio="3/2")
    ),
}
SHAPE = Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta="1/20"), Privacy(ratio="11/10", delta="1/4")])
ORIGINALS |= {
    "randomised response under a shape": design.randomized_response(3, SHAPE),
    "optimum under a shape": design.optimal_mechanism(
        Goal(name="loss", loss=((0, 1, 2), (1, 0, 1), (2, 1, 0), (1, 1, 1)), weights=(1, 2, 1, 1)), Path(4), SHAPE
    ),
    "binary under a shape": design.binary(PATH, LINE, SHAPE),
    "rainbow under a shape": design.rainbow(
        Cycle(5), {k: ("x", "y", "z") if k < 3 else ("z", "x", "y") for k in range(5)}, SHAPE
    ),
}
DOCUMENTS = {name: json.loads(json.dumps(made.to_document())) for name, made in ORIGINALS.items()}


def add_digest(document):
    """The digest as certificates define it, written out anew."""
    certificate = {key: value for key, value in document["certificate"].items() if key != "digest"}
    text = json.dumps(
        {**document, "certificate": certificate}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    document["certificate"]["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return document


def audit_says(document):
    try:
        return audit(read_document(document)).holds
    except IrisError:
        return False


def verifier_says(document, path):
    path.write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()):
        return verify_mechanism.main(str(path)) == 0


def rows_of(document):
    if "matrix" in document:
        return [[Fraction(x) for x in row] for row in document["matrix"]]
    return [[Fraction(x) for x in document["rows"][k]] for k in document["row_of"]]


def edges_of(document):
    graph = document["graph"]
    if "edges" in graph:
        place = {str(node): k for k, node in enumerate(document["inputs"])}
        return [(place[str(a)], place[str(b)]) for a, b in graph["edges"]]
    if graph["family"] == "hamming":
        words = document["inputs"]
        near = [(a, b) for a in range(len(words)) for b in range(a)]
        return [(a, b) for a, b in near if sum(x != y for x, y in zip(words[a], words[b], strict=True)) == 1]
    if graph["family"] == "gaps":
        return edges_of_gaps(graph, {tuple(node): k for k, node in enumerate(document["inputs"])})
    n = graph["n"]
    pairs = [(k, k + 1) for k in range(n - 1)]
    if graph["family"] == "cycle":
        return [*pairs, (n - 1, 0)]
    return pairs if graph["family"] == "path" else [(a, b) for a in range(n) for b in range(a)]


def edges_of_gaps(graph, place):
    """From counts: whatever their gaps, beyond the cap by up to two, become when a record comes or is exchanged."""
    q, most = graph["categories"], graph["largest"]
    moves = [(a, b) for a in range(q) for b in (range(q) if graph["relation"] == "exchange" else [q]) if a != b]
    found = set()
    for counts in itertools.product(range(most + 3), repeat=q):
        for gains, loses in moves:
            moved = [n + (k == gains) - (k == loses) for k, n in enumerate(counts)]
            found.add(tuple(sorted(place[tuple(min(max(c) - n, most) for n in c)] for c in (counts, moved))))
    return [(a, b) for a, b in found if a != b]


def pairs_of(document):
    """Return (r, δ) of every pair that the file states."""
    return [
        (Privacy(**{key: pair[key] for key in pair if key != "delta"}).ratio, Fraction(pair.get("delta", 0)))
        for pair in document["privacy"].get("all", [document["privacy"]])
    ]


def is_private(document):
    rows, pairs = rows_of(document), pairs_of(document)
    if any(min(row) < 0 or sum(row) != 1 for row in rows):
        return False
    return all(
        hockey_stick(rows[a], rows[b], ratio) <= delta and hockey_stick(rows[b], rows[a], ratio) <= delta
        for a, b in edges_of(document)
        for ratio, delta in pairs
    )


def put(document, changed):
    document.pop("rows", None), document.pop("row_of", None)
    document["matrix"] = [[str(x) for x in row] for row in changed]
    return document


def mutants_of_privacy(document, stated):
    """Yield what promises a little more than the file did, in one pair at a time."""
    for factor in (Fraction(99, 100), Fraction(1) - TINY, Fraction(9, 10)):
        for place, (ratio, delta) in enumerate(stated):
            changes = {"the ratio": max(Fraction(1), ratio * factor), "delta": delta * factor}
            for what, value in changes.items() if delta else [("the ratio", changes["the ratio"])]:
                mutant = copy.deepcopy(document)
                pair = mutant["privacy"].get("all", [mutant["privacy"]])[place]
                if what == "the ratio":
                    pair.pop("epsilon", None)
                pair[what.removeprefix("the ")] = str(value)
                yield what, mutant


def mutants(document, number):
    """Yield (what was done, mutant) with the old seal."""
    pick = fresh_random(number)
    rows, stated = rows_of(document), pairs_of(document)
    tight = [
        (i, v)
        for a, b in edges_of(document)
        for i, j in ((a, b), (b, a))
        for v in range(len(rows[0]))
        if any(rows[i][v] == ratio * rows[j][v] > 0 for ratio, _ in stated)
    ]

    def fresh():
        return copy.deepcopy(document), [list(row) for row in rows]

    for i, v in pick.sample(tight, min(len(tight), 16)):
        mutant, changed = fresh()
        other = max((k for k in range(len(rows[0])) if k != v), key=lambda k: rows[i][k])
        changed[i][v] += TINY
        changed[i][other] -= TINY
        yield "across a tight constraint", put(mutant, changed)
    for _ in range(40):
        mutant, changed = fresh()
        i, (v, w) = pick.randrange(len(rows)), pick.sample(range(len(rows[0])), 2)
        moved = changed[i][v] * Fraction(pick.randrange(1, 10), 10)
        changed[i][v] -= moved
        changed[i][w] += moved
        yield "more than the slack", put(mutant, changed)
    for _ in range(14):
        mutant, changed = fresh()
        i, v = pick.randrange(len(rows)), pick.randrange(len(rows[0]))
        changed[i][v] += pick.choice((1, -1)) * Fraction(1, 10**40)
        yield "a row sum", put(mutant, changed)
    for _ in range(8):
        mutant, changed = fresh()
        i, j = pick.sample(range(len(rows)), 2)
        if changed[i] == changed[j]:
            continue
        changed[i], changed[j] = changed[j], changed[i]
        yield "two rows", put(mutant, changed)
    for _ in range(6):
        mutant, changed = fresh()
        i, j = pick.sample(range(len(rows)), 2)
        if {(i, j), (j, i)} & set(edges_of(document)):
            continue
        edges = [[document["inputs"][a], document["inputs"][b]] for a, b in {*edges_of(document), (i, j)}]
        mutant["graph"] = {"nodes": document["inputs"], "edges": edges}
        yield "the graph", mutant
    yield from mutants_of_privacy(document, stated)
    objective = document.get("objective")
    for step in (TINY, Fraction(1, 100)) if objective else ():
        for field in ("value", "lower_bound"):
            mutant, _ = fresh()
            mutant["objective"][field] = str(Fraction(objective[field]) + step)
            yield f"the {field}", mutant
    for _ in range(10 if document["certificate"].get("multipliers") else 0):
        mutant, _ = fresh()
        entry = pick.choice(mutant["certificate"]["multipliers"])
        entry[3] = str(Fraction(entry[3]) * pick.choice((Fraction(1, 2), Fraction(3, 2), -1)))
        yield "the dual", mutant


def is_certainly_wrong(what, document):
    """Brute force: broken rows or edges, another value, a bound above the value, or a dual that proves too little."""
    # The originals' values and bounds are exact, or rounded outward by less than any step above.
    return not is_private(document) or what in ("the value", "the lower_bound")


@pytest.mark.parametrize("name", ORIGINALS)
def test_originals_hold(name, tmp_path):
    assert audit_says(DOCUMENTS[name])
    assert verifier_says(DOCUMENTS[name], tmp_path / "m.json")
    assert is_private(DOCUMENTS[name])


@pytest.mark.parametrize(("number", "name"), list(enumerate(DOCUMENTS)))
def test_mutants_are_rejected_and_the_checkers_agree(number, name, tmp_path):
    wrong = agreed = 0
    for what, mutant in mutants(DOCUMENTS[name], number):
        # With the old seal every edit is seen, harmless or not.
        assert not audit_says(mutant), what
        assert not verifier_says(mutant, tmp_path / "m.json"), what
        wrong += 1
        resealed = add_digest(copy.deepcopy(mutant))
        verdicts = audit_says(resealed), verifier_says(resealed, tmp_path / "m.json")
        assert verdicts[0] == verdicts[1], what
        agreed += 1
        if is_certainly_wrong(what, resealed):
            assert verdicts == (False, False), what
            wrong += 1
    # About 150 and 80 of each original, 2000 and 1100 of all: none is left out.
    assert wrong >= 80, wrong
    assert agreed >= 40, agreed


def test_the_checkers_agree_on_random_files(tmp_path):
    """600 random matrices, about half of them private; no certificate, so that privacy alone decides."""
    pick, held = fresh_random(7), 0
    for _ in range(600):
        n, q = pick.randrange(2, 5), pick.randrange(2, 4)
        base = [pick.randrange(20, 30) for _ in range(q)]
        matrix = []
        for _ in range(n):
            row = [weight + pick.randrange(0, 6) for weight in base]
            matrix.append([str(Fraction(x, sum(row))) for x in row])
        privacy = {"ratio": str(Fraction(pick.randrange(100, 130), 100)), "delta": pick.choice(("0", "1/50"))}
        document = {"privacy": privacy, "graph": {"family": "path", "n": n}, "inputs": list(range(n)), "matrix": matrix}
        verdicts = audit_says(document), verifier_says(document, tmp_path / "m.json")
        assert verdicts == (is_private(document),) * 2
        held += verdicts[0]
    assert 100 < held < 500


def test_a_second_arithmetic_gives_the_same_verdicts():
    for document in DOCUMENTS.values():
        verdicts = [audit(read_document(document), arithmetic=name) for name in ("flint", "fractions", "gmpy2")]
        assert len({(v.private, v.pairs) for v in verdicts}) == 1


def test_a_table_that_gives_no_input_a_row_is_none(tmp_path):
    document = {"privacy": {"ratio": "2"}, "graph": {"family": "path", "n": 2}, "rows": [["1", "0"]], "row_of": []}
    (tmp_path / "m.json").write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert verify_mechanism.main(str(tmp_path / "m.json")) == 2
    assert printed.getvalue() == "not a mechanism file: row_of gives no input a row\n"
    assert not audit_says(document)


def imported_names(node):
    return [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]


def test_the_verifier_stands_alone(tmp_path):
    """It imports nothing but the standard library, and runs as a file, in an interpreter that can import no other."""
    source = pathlib.Path(verify_mechanism.__file__)
    imports = [
        node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in imports)
    names = {name.split(".")[0] for node in imports for name in imported_names(node)}
    assert names <= sys.stdlib_module_names
    copied = tmp_path / "verify.py"
    copied.write_bytes(source.read_bytes())
    file = tmp_path / "m.json"
    file.write_text(json.dumps(DOCUMENTS["line"]))
    for arguments, status in (([file], 0), ([tmp_path / "none.json"], 2), ([], 2)):
        command = [sys.executable, "-I", "-S", copied, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (status, "")
        begins = {0: "yes: private on every edge", 2: "not a mechanism file:"}[status] if arguments else "usage: "
        assert done.stdout.startswith(begins)
