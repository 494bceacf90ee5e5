"""Write the mechanism files of tests/golden/mechanisms as terms of Coq, into GoldenTerms.v; Golden.v proves them.

Run it after a file there has changed. Python's standard library is enough.
"""

import json
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "tests" / "golden" / "mechanisms"
HEAD = """(* Mechanism files as terms, written by golden.py from tests/golden/mechanisms: not to be edited. *)
From Coq Require Import ZArith List.
From Iris Require Import Fractions Checker Certificates.
Import ListNotations.

Local Definition q (above below : Z) : fraction := (above, below).
Local Definition e (i j : nat) : N * N := (N.of_nat i, N.of_nat j).
Local Open Scope Z_scope.
"""


def main():
    """Write GoldenTerms.v."""
    (HERE / "GoldenTerms.v").write_text(terms(FILES), encoding="utf-8")


def terms(folder):
    """Return the text of GoldenTerms.v for the files of a folder."""
    texts = [HEAD]
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        texts.append(file_term(path.stem, document))
        if document.get("certificate", {}).get("kind") == "dual":
            texts.append(certificate_terms(path.stem, document))
    return "\n".join(texts)


def pairs(document):
    """Return each (ratio, delta) that a file promises."""
    privacy = document["privacy"]
    return [(Fraction(one["ratio"]), Fraction(one.get("delta", 0))) for one in privacy.get("all", [privacy])]


def rows(document):
    """Return the rows of a file."""
    return [[Fraction(x) for x in row] for row in document["matrix"]]


def edges(document):
    """Return the edges of a file's graph, as places of its inputs."""
    graph, size = document["graph"], len(document["matrix"])
    if graph.get("family") == "path":
        return list(pairwise(range(size)))
    if graph.get("family") == "complete":
        return list(combinations(range(size), 2))
    place = {name: k for k, name in enumerate(document["inputs"])}
    return [(place[a], place[b]) for a, b in graph["edges"]]


def file_term(name, document):
    """Return the definition of a file."""
    listed = ";\n   ".join(row(one) for one in rows(document))
    promised = "; ".join(f"({fraction(r)}, {fraction(d)})" for r, d in pairs(document))
    joined = "; ".join(f"e {i} {j}" for i, j in edges(document))
    width = len(document["matrix"][0])
    return f"Definition {name} : file := File [{promised}] {width}\n  [{listed}]\n  [{joined}].\n"


def certificate_terms(name, document):
    """Return the definitions of what a certificate by weak duality states of a mean distance in the graph."""
    certificate, size, joined = document["certificate"], len(document["matrix"]), edges(document)
    if certificate["aggregate"] != "average" or certificate["loss"] != {"name": "graph-distance"}:
        raise ValueError(f"{name}: only a mean distance in the graph is written")
    losses = ";\n   ".join(row(one) for one in distances(size, joined))
    considered = "; ".join(["true"] * size)
    weights = row(Fraction(x) for x in certificate["weights"])
    prices = {}
    for i, j, v, price, *pair in certificate["multipliers"]:
        edge = joined.index((min(i, j), max(i, j)))
        place = (edge, i > j, pair[0] if pair else 0)
        prices.setdefault(place, [Fraction(0)] * len(document["matrix"][0]))[v] = Fraction(price)
    entries = ";\n   ".join(
        f"Entry (N.of_nat {edge}) {str(backward).lower()} (N.of_nat {pair}) {row(costs)}"
        for (edge, backward, pair), costs in sorted(prices.items())
    )
    value, bound = (fraction(Fraction(document["objective"][key])) for key in ("value", "lower_bound"))
    return (
        f"Definition {name}_goal : goal := Goal false {weights}\n  [{losses}]\n  [{considered}].\n"
        f"Definition {name}_value : fraction := {value}.\nDefinition {name}_bound : fraction := {bound}.\n"
        f"Definition {name}_prices : list entry :=\n  [{entries}].\n"
    )


def distances(size, joined):
    """Return the distance from every input to every other."""
    far = [[0 if i == j else size for j in range(size)] for i in range(size)]
    for i, j in joined:
        far[i][j] = far[j][i] = 1
    for k in range(size):
        far = [[min(far[i][j], far[i][k] + far[k][j]) for j in range(size)] for i in range(size)]
    return [[Fraction(steps) for steps in line] for line in far]


def row(numbers):
    """Write a list of fractions."""
    return "[" + "; ".join(fraction(x) for x in numbers) + "]"


def fraction(x):
    """Write a fraction."""
    return f"q {x.numerator} {x.denominator}"


if __name__ == "__main__":
    main()
