"""Rows that are best beside given ones: the checker proved in Coq says of certificates what the verifier says.

`formal/FirstChoices.v` proves that no private mechanism which shares the given rows makes first choices likelier than
a file to which the checker says yes. Without Coq and OCaml every test is skipped.
"""

import json
import os
import subprocess
from collections import Counter
from fractions import Fraction

import pytest

from irisdp import Privacy, design
from irisdp.certify import add_digest, verify_mechanism
from irisdp.design import Goal
from irisdp.graphs import Path as PathGraph
from oracles.test_certify_agreement import Inventor
from oracles.test_verified_checker import audit_says, built, says, verifier_says
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
                "kind": "theorem", "theorem": "rainbow", "rankings": question["rankings"],
                "ranking_of": question["classes"], "fixed": sorted(given),
            },
        }
    )  # fmt: skip


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


def test_both_agree_on_files_of_any_design_and_on_their_siblings(checker):
    inventor, texts = Inventor("choices"), []
    while len(texts) < tried(120, 2_000):
        found = inventor.document()[0]
        certificate = found.get("certificate")
        if "factors" not in found and isinstance(certificate, dict) and certificate.get("theorem") in THEOREMS:
            texts.append(json.dumps(add_digest(json.loads(json.dumps(found), parse_float=str))))
    seen = Counter((verifier_says(text), status) for text, status in zip(texts, says(checker, texts), strict=True))
    assert seen[0, 0] > 0
    assert seen[1, 1] > 0
    assert set(seen) <= {(0, 0), (1, 1), (2, 2)}, seen


ROWS = [["2/3", "1/3"], ["1/3", "2/3"], ["1/6", "5/6"]]
PATH = {
    "pairs": [["2", "0"]], "nodes": 3, "edges": [(0, 1), (1, 2)], "classes": [0, 1, 1], "rankings": [[0, 1], [1, 0]],
}  # fmt: skip


@pytest.mark.parametrize(("rows", "given", "status", "words"), [
    (ROWS, {0, 1}, 0, "no private mechanism with the same rows at 2 of them makes first choices likelier"),
    ([*ROWS[:2], ["1/5", "4/5"]], {0, 1}, 1, "the rows are not the best beside those given"),
    ([*ROWS[:2], ["1/5", "4/5"]], {0, 1, 2}, 0, "with the same rows at 3 of them"),
    (ROWS, {0}, 0, "with the same rows at 1 of them"),
    (ROWS, set(), 1, "the rows are not the best beside those given"),
    (ROWS, {3}, 1, "the certificate cannot be read"),
])  # fmt: skip
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


LEAST = Goal(name="loss", loss=((0, 1, 2), (1, 0, 1), (2, 1, 0)), weights=(1, 2, 1))


def line(**changes):
    """Return a line of five with its goal, with some parts of its certificate changed, or left out if None."""
    return certifying(design.balanced_line(3, 2, Privacy(ratio=2)), changes)


def counts(**changes):
    return certifying(design.geometric(2, Privacy(ratio=2)), changes)


def consumer(**changes):
    return certifying(design.optimal_mechanism(LEAST, PathGraph(3), Privacy(ratio=2, delta="1/20")), changes)


def certifying(mechanism, changes):
    made = json.loads(json.dumps(mechanism.to_document()))
    certificate = {key: value for key, value in made["certificate"].items() if changes.get(key, value) is not None}
    made["certificate"] = certificate | {key: value for key, value in changes.items() if value is not None}
    return made


def without_goal(**changes):
    made = line(aggregate=None, loss=None, weights=None, **changes)
    return {key: value for key, value in made.items() if key != "objective"}


def stating(**changes):
    made = line()
    return made | {"objective": made["objective"] | changes}


WORSE = [["11/12", "1/12"], ["5/6", "1/6"], ["2/3", "1/3"], ["1/3", "2/3"], ["1/3", "2/3"]]
"""The last row is not the best: it would be 1/6, 5/6."""
UNBALANCED = [["8/9", "1/9"], ["7/9", "2/9"], ["5/9", "4/9"], ["1/3", "2/3"], ["1/6", "5/6"]]
"""Private, and the best beside its boundary, which is not the balanced one."""
HOMOGENEOUS = {"theorem": "homogeneous-rainbow"}
MISSES = {"value": "1/4", "lower_bound": "13/60"}
ALL = "all private mechanisms"

SIBLINGS = {
    "right": (line(), 0),
    "right without a goal": (without_goal(), 0),
    "any slack without a goal": (without_goal(**HOMOGENEOUS, within="1") | {"matrix": WORSE}, 1),
    "slack below 0": (line(within="-1"), 1),
    "rows beyond the slack with a goal": (
        line(**HOMOGENEOUS, within="1/10") | {"matrix": WORSE, "objective": MISSES},
        1,
    ),
    "rows within the slack with a goal that shows the gap": (
        line(**HOMOGENEOUS, within="1/6") | {"matrix": WORSE, "objective": MISSES},
        0,
    ),
    "any slack with a goal that hides the gap": (
        line(**HOMOGENEOUS, within="1") | {"matrix": WORSE, "objective": {"value": "1/4", "lower_bound": "1/4"}},
        1,
    ),
    "another value": (stating(value="1/5"), 1),
    "a bound too high": (stating(lower_bound="14/60"), 1),
    "a bound that is modest": (stating(lower_bound="1/60"), 0),
    "no bound": (stating(lower_bound=None), 0),
    "a goal without an objective": ({key: part for key, part in line().items() if key != "objective"}, 1),
    "an objective without a goal": (without_goal() | {"objective": MISSES}, 1),
    "a loss that falls": (line(loss=[["1", "0"]] * 5) | {"objective": {"value": "7/12", "lower_bound": "0"}}, 1),
    "weights below 0": (
        line(weights=["-1/5", "2/5", "2/5", "1/5", "1/5"]) | {"objective": {"value": "17/60", "lower_bound": "0"}},
        1,
    ),
    "a scope too wide": (line(among=ALL), 1),
    "a scope too wide without a goal": (without_goal(among=ALL), 1),
    "an unknown scope": (line(among="everything"), 1),
    "no scope": (line(among=None), 0),
    "counts": (counts(), 0),
    "counts in an unknown scope": (counts(among="everything"), 1),
    "a dual certificate": (consumer(), 0),
    "a dual certificate in an unknown scope": (consumer(among="everything"), 1),
    "a dual certificate with a slack below 0": (consumer(within="-1"), 1),
    "a boundary that is not balanced": (without_goal() | {"matrix": UNBALANCED}, 1),
    "a boundary that is called given": (without_goal(**HOMOGENEOUS) | {"matrix": UNBALANCED}, 0),
    "a boundary that is not balanced, any slack": (without_goal(within="1") | {"matrix": UNBALANCED}, 1),
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_all_three_say_the_same_of_what_a_file_claims(name, checker):
    document, status = SIBLINGS[name]
    text = json.dumps(add_digest(document))
    assert (*says(checker, [text]), verifier_says(text), audit_says(text)) == (status, status, status)


def answer(checker, path):
    done = subprocess.run([checker, path], capture_output=True, text=True, check=False, timeout=20)
    return done.returncode, done.stdout.strip()


def test_what_the_checker_does_not_read_it_says(checker, tmp_path):
    path = tmp_path / "m.json"
    response = json.loads(json.dumps(design.randomized_response(3, Privacy(ratio=2)).to_document()))
    for document, words in [
        (response, "no certificate was read; objective: not read; scope: not read; seal: not read"),
        ({key: response[key] for key in response if key != "certificate"}, "read; objective: not read"),
        (line(choice="1/10"), "goes below the bound; choice of the boundary: not read; seal: not read"),
        (line(**HOMOGENEOUS, within="1/6") | {"matrix": WORSE, "objective": MISSES}, "edges: 4); the goal has the"),
    ]:
        path.write_text(json.dumps(document))
        status, said = answer(checker, path)
        assert status == 0 and words in said, said


@pytest.mark.parametrize("name", ["pipe", "link", "folder", "/dev/zero", "large", "nothing"])
def test_the_checker_reads_regular_files_of_at_most_64_mib_without_waiting(name, checker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("pipe", "link")
    os.mkdir("folder")
    open("large", "wb").close()
    os.truncate("large", (64 << 20) + 1)
    words = {
        "large": "not checked: the file has more than 64 MiB",
        "nothing": "not a mechanism file: there is no such file",
    }
    assert answer(checker, name) == (2, words.get(name, f"not a mechanism file: {verify_mechanism.NO_FILE}"))
