"""The checker that is proved in Coq says of every mechanism file what the audit and the stand-alone verifier say.

It is extracted from `formal/Certificates.v` and shares no line with either; it reads certificates by weak duality only.
`make reliability` compares 100,000 files, `make test` some of them; without Coq and OCaml every test is skipped.
"""

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from irisdp import IrisError, Privacy, audit
from irisdp._exact import parse_json
from irisdp.certify import add_digest, verify_mechanism
from irisdp.mechanisms import read_document
from irisdp.privacy import step, steps
from oracles.test_certify_agreement import Inventor
from support.seeds import fresh_random
from support.sweeps import tried

BUILD = [sys.executable, str(Path(__file__).parents[2] / "formal" / "make_checker.py"), "--no-install"]
PAIRS = [("2", "0"), ("3/2", "1/10"), ("1", "1/3"), ("7/3", "1/1000"), ("5", "0"), ("6/5", "1/20")]


def built(*options):
    done = subprocess.run([*BUILD, *options], capture_output=True, text=True, check=False)
    if done.returncode and "not installed" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.fixture(scope="module")
def checker():
    return built()


def says(program, texts):
    """Return one status for each file: 0 private, 1 not, 2 no mechanism file."""
    done = subprocess.run(
        [program, "--lines"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True
    )
    return [int(line) for line in done.stdout.split()]


def verifier_says(text):
    try:
        document = json.loads(text, parse_float=verify_mechanism.Decimal)
        mechanism = verify_mechanism.read_mechanism(document)
    except (ValueError, TypeError):
        return 2
    try:
        verify_mechanism.check_privacy(mechanism)
        if "certificate" in document:
            verify_mechanism.conclude(mechanism)
    except (ValueError, TypeError, LookupError):
        return 1
    return 0


def audit_says(text):
    try:
        return 0 if audit(read_document(parse_json(text, "mechanism"))).holds else 1
    except IrisError as refusal:
        return refusal.exit_status


def next_door(row, ratio, delta):
    """Return the furthest row that is close to this one, or a mixture of the two: it is on the border or inside."""
    sums = [min(Fraction(1), ratio * s + delta, 1 - (1 - s - delta) / ratio) for s in accumulate(row)]
    return [after - before for before, after in pairwise([Fraction(0), *sums])]


def ladder(pick):
    """Invent rows that are just private along a path, under names in any order, and often break one a little."""
    pairs = pick.sample(PAIRS, 1) if pick.random() < 0.8 else [("2", "0"), ("3/2", "1/10")]
    strictest = [(Fraction(ratio), Fraction(delta)) for ratio, delta in pairs]
    weights = [pick.randrange(1, 9) for _ in range(pick.randrange(1, 6))]
    rows = [[Fraction(weight, sum(weights)) for weight in weights]]
    for _ in range(pick.randrange(1, 6)):
        steps = [next_door(rows[-1], *pair) for pair in strictest]
        rows.append(min(steps, key=lambda row: list(accumulate(row))) if pick.random() < 0.8 else rows[-1])
    order = pick.sample(range(len(weights)), len(weights))
    rows = [[row[k] for k in order] for row in rows]
    edges = [pick.choice([[i, i + 1], [i + 1, i]]) for i in range(len(rows) - 1)]
    if pick.random() < 0.5:
        broken, place, other = pick.choice(rows), pick.randrange(len(weights)), pick.randrange(len(weights))
        tiny = pick.choice([1, -1]) * Fraction(1, pick.choice([10**2, 10**9, 10**30]))
        broken[place] += tiny
        broken[other] -= tiny * (pick.random() < 0.9)
    if pick.random() < 0.1:
        edges.append([pick.randrange(len(rows)), pick.randrange(len(rows) + 1)])
    stated = [{"ratio": ratio, "delta": delta} for ratio, delta in pairs]
    privacy = stated[0] if len(stated) == 1 else {"all": stated}
    graph = {"nodes": list(range(len(rows))), "edges": edges}
    return {"privacy": privacy, "graph": graph, "matrix": [[str(x) for x in row] for row in rows]}


def mutated(pick, text):
    """Change a letter of a file."""
    place = pick.randrange(len(text))
    letter = pick.choice('0123456789/".,[]{}-e ') if pick.random() < 0.8 else ""
    return text[:place] + letter + text[place + 1 :]


def certified(seed, number):
    """Yield sealed files with a certificate by weak duality, some of which state too much of it."""
    inventor = Inventor(f"certified {seed}")
    while number:
        document = inventor.document()[0]
        if "factors" not in document and document.get("certificate", {}).get("kind") == "dual":
            # a seal covers numbers as they are written: 0.25 as a text is one thing, as a number of JSON another
            yield json.dumps(add_digest(json.loads(json.dumps(document), parse_float=str)))
            number -= 1


def files(seed, number):
    """Yield files: half of them just private or nearly so, the rest of every family and form but factors."""
    pick, inventor = fresh_random(f"verified {seed}"), Inventor(f"verified {seed}")
    while number:
        document = ladder(pick) if pick.random() < 0.5 else inventor.document()[0]
        document = {key: value for key, value in document.items() if key not in ("certificate", "objective")}
        text = json.dumps(document)
        text = mutated(pick, text) if pick.random() < 0.1 else text
        if "factors" not in text:
            yield text
            number -= 1


@pytest.mark.parametrize("seed", range(tried(4, 10)))
def test_the_checker_the_audit_and_the_verifier_agree(seed, checker):
    texts = list(files(seed, tried(150, 10_000)))
    seen = Counter()
    for text, status in zip(texts, says(checker, texts), strict=True):
        assert status == audit_says(text), text
        assert status == verifier_says(text), text
        seen[status] += 1
    assert min(seen[0], seen[1], seen[2]) > 0, seen


@pytest.mark.parametrize("seed", range(2))
def test_all_three_agree_on_certificates(seed, checker):
    texts = list(certified(seed, tried(100, 2_500)))
    seen = Counter()
    for text, status in zip(texts, says(checker, texts), strict=True):
        assert status == audit_says(text) == verifier_says(text), text
        seen[status] += 1
    assert min(seen[0], seen[1]) > 0, seen


def test_steps_of_u_are_those_of_the_verified_operator(checker):
    """One step, many steps (a closed form in the library) and partition selection, which is steps from 0."""
    pick, lines, ours = fresh_random("verified steps"), [], []
    for _ in range(tried(300, 5_000)):
        ratio, delta = (
            Fraction(pick.randrange(10, 60), 10),
            Fraction(pick.choice([0, 1, 1, 30]), pick.choice([100, 999])),
        )
        count, s = pick.randrange(12), Fraction(pick.choice([0, pick.randrange(100)]), 100)
        lines.append(f"{ratio} {delta} {count} {s}")
        privacy = Privacy(ratio=ratio, delta=delta)
        ours.append((steps(s, count, privacy), step(s, privacy)))
    said = {"steps": lines, "step": [f"{a} {b} 1 {s}" for a, b, _, s in map(str.split, lines)]}
    for place, name in enumerate(("steps", "step")):
        done = subprocess.run(
            [checker, "--steps"], input="\n".join(said[name]), capture_output=True, text=True, check=True
        )
        assert [Fraction(x) for x in done.stdout.split()] == [pair[place] for pair in ours], name


def lopsided(pick):
    """Return two files of the same two rows, each way round, which break their guarantee in one direction alone."""
    ratio = Fraction(pick.randrange(11, 40), 10)
    rare = Fraction(pick.randrange(1, 100), 100) / (4 * ratio)
    often = rare * ratio + Fraction(1, pick.choice([10**2, 10**9, 10**30])) / ratio
    rows = [[str(often), str(1 - often)], [str(rare), str(1 - rare)]]
    assert often > ratio * rare and 1 - rare <= ratio * (1 - often)
    return [
        json.dumps({"privacy": {"ratio": str(ratio)}, "graph": {"nodes": [0, 1], "edges": [[0, 1]]}, "matrix": matrix})
        for matrix in (rows, rows[::-1])
    ]


def test_a_checker_of_one_direction_is_found_out(checker, tmp_path):
    one_sided = built("--one-sided", "--program", str(tmp_path / "one-sided" / "iris-check"))
    pick = fresh_random("lopsided")
    for _ in range(20):
        both = lopsided(pick)
        assert says(checker, both) == [1, 1] and sorted(says(one_sided, both)) == [0, 1], both
    texts = list(files("control", 500))
    assert all(a == b or (a, b) == (1, 0) for a, b in zip(says(checker, texts), says(one_sided, texts), strict=True))


def test_a_file_is_judged_in_words(checker, tmp_path):
    path = tmp_path / "m.json"
    document = {
        "privacy": {"ratio": 2},
        "graph": {"family": "path", "n": 2},
        "matrix": [["2/3", "1/3"], ["1/3", "2/3"]],
    }
    for change, status, words in [
        ({}, 0, "yes: private on every edge (inputs: 2, edges: 1)"),
        ({"privacy": {"ratio": "1.99"}}, 1, "no: "),
        ({"matrix": [["2/3", "1/3"], ["1/3", "1/3"]]}, 1, "no: "),
        ({"graph": {"family": "path", "n": 3}}, 2, "not a mechanism file: "),
    ]:
        path.write_text(json.dumps(document | change))
        done = subprocess.run([checker, path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[: len(words)]) == (status, words)
