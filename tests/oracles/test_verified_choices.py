"""Rows that are best beside given ones: the checker proved in Coq says of certificates what the verifier says.

`formal/FirstChoices.v` proves that no private mechanism which shares the given rows makes first choices likelier than
a file to which the checker says yes. Without Coq and OCaml every test is skipped.
"""

import json
import subprocess
from collections import Counter
from fractions import Fraction

import pytest

from irisdp.certify import add_digest
from oracles.test_certify_agreement import Inventor
from oracles.test_verified_checker import built, says, verifier_says
from oracles.test_verified_designs import designs
from support.seeds import fresh_random
from support.sweeps import tried

THEOREMS = ("balanced-line", "homogeneous-rainbow", "rainbow")


@pytest.fixture(scope="module")
def checker():
    return built()


def document(question, rows, given):
    """Return a sealed file of a design, with the rows that are given."""
    stated = [{"ratio": ratio, "delta": delta} for ratio, delta in question["pairs"]]
    return add_digest(
        {
            "format": "irisdp/mechanism/1",
            "privacy": stated[0] if len(stated) == 1 else {"all": stated},
            "graph": {"nodes": list(range(question["nodes"])), "edges": [list(edge) for edge in question["edges"]]},
            "matrix": [[str(x) for x in row] for row in rows],
            "certificate": {
                "kind": "theorem",
                "theorem": "rainbow",
                "rankings": question["rankings"],
                "ranking_of": question["classes"],
                "fixed": sorted(given),
            },
        }
    )


def boundary_of(question):
    classes = question["classes"]
    return {i for edge in question["edges"] for i in edge if classes[edge[0]] != classes[edge[1]]}


def spoiled(pick, question, rows, given):
    """Give one row more or less, or draw one a little toward another: often what is left is not the best."""
    rows, given = [list(row) for row in rows], set(given)
    turn = pick.randrange(4)
    if turn == 0:
        given.add(pick.randrange(len(rows)))
    elif turn == 1 and given:
        given.remove(pick.choice(sorted(given)))
    else:
        one, other = pick.randrange(len(rows)), pick.randrange(len(rows))
        share = Fraction(1, pick.choice([2, 10**3, 10**12, 10**30]))
        rows[one] = [(1 - share) * x + share * y for x, y in zip(rows[one], rows[other], strict=True)]
    return rows, given


def certified(seed, number):
    pick = fresh_random(f"verified choices {seed}")
    for question, _, rows in designs(f"choices {seed}", number):
        given = boundary_of(question)
        for changed, kept in [(rows, given), spoiled(pick, question, rows, given)]:
            yield json.dumps(document(question, changed, kept))


def test_both_agree_on_designs_and_on_spoiled_ones(checker):
    texts = list(certified("agree", tried(150, 3_000)))
    seen = Counter()
    for text, status in zip(texts, says(checker, texts), strict=True):
        assert status == verifier_says(text), text
        seen[status] += 1
    assert seen[0] > len(texts) // 3
    assert seen[1] > len(texts) // 20


def test_what_the_verifier_accepts_of_any_file_is_accepted(checker):
    """Not the other way: balanced rows, losses along the rankings and stated goals are the verifier's alone."""
    inventor, texts = Inventor("choices"), []
    while len(texts) < tried(60, 1_000):
        found = inventor.document()[0]
        certificate = found.get("certificate")
        if "factors" not in found and isinstance(certificate, dict) and certificate.get("theorem") in THEOREMS:
            texts.append(json.dumps(add_digest(json.loads(json.dumps(found), parse_float=str))))
    seen = Counter((verifier_says(text), status) for text, status in zip(texts, says(checker, texts), strict=True))
    assert seen[0, 0] > 0
    assert seen[1, 1] > 0
    assert not seen[0, 1] and not seen[0, 2]


ROWS = [["2/3", "1/3"], ["1/3", "2/3"], ["1/6", "5/6"]]
PATH = {
    "pairs": [["2", "0"]],
    "nodes": 3,
    "edges": [(0, 1), (1, 2)],
    "classes": [0, 1, 1],
    "rankings": [[0, 1], [1, 0]],
}


@pytest.mark.parametrize(
    ("rows", "given", "status", "words"),
    [
        (ROWS, {0, 1}, 0, "no private mechanism with the same rows at 2 of them makes first choices likelier"),
        ([*ROWS[:2], ["1/5", "4/5"]], {0, 1}, 1, "the rows are not the best beside those given"),
        ([*ROWS[:2], ["1/5", "4/5"]], {0, 1, 2}, 0, "with the same rows at 3 of them"),
        (ROWS, {0}, 0, "with the same rows at 1 of them"),
        (ROWS, set(), 1, "the rows are not the best beside those given"),
        (ROWS, {3}, 1, "the certificate cannot be read"),
    ],
)
def test_in_words(checker, tmp_path, rows, given, status, words):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document(PATH, rows, given)))
    done = subprocess.run([checker, path], capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stdout) == (status, True), done.stdout


def test_rows_of_a_file_without_a_goal_may_be_rounded_by_a_little(checker):
    for distance, status in [(Fraction(1, 2**50), 0), (Fraction(1, 2**40), 1)]:
        rows = [*ROWS[:2], [str(Fraction(1, 6) + distance), str(Fraction(5, 6) - distance)]]
        found = document(PATH, rows, {0, 1})
        found["certificate"]["within"] = "1/1000000"
        text = json.dumps(add_digest(found))
        assert says(checker, [text]) == [status] == [verifier_says(text)]
