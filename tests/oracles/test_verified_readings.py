"""Certificates on counts: the checker proved in Coq says of them what the audit and the stand-alone verifier say.

`formal/Readings.v` proves that no private mechanism goes below a bound to which the checker says yes, and that whoever
reads what it accepts as the geometric mechanism is served as well as by any. Without Coq and OCaml all is skipped.
"""

import json
import subprocess
from collections import Counter
from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp.certify import add_digest
from irisdp.design import consumer, geometric
from oracles.test_certify_agreement import Inventor
from oracles.test_verified_checker import audit_says, built, says, verifier_says
from support.seeds import fresh_random
from support.sweeps import tried

TINY = Fraction(1, 10**30)
RATIOS = ["2", "3/2", "7/3", "5", "101/100", "123456789/100000007"]


@pytest.fixture(scope="module")
def checker():
    return built()


def noise(n, ratio):
    """Return the rows of the geometric mechanism on 0..n, from what it is: a two-sided walk that stops at the ends."""
    alpha = 1 / Fraction(ratio)
    inside, end = (1 - alpha) / (1 + alpha), 1 / (1 + alpha)
    return [[(end if z in (0, n) else inside) * alpha ** abs(i - z) for z in range(n + 1)] for i in range(n + 1)]


def losses_of(pick, n):
    """Return what stands in a certificate as its loss, and the table: negative, uneven, and at times falling."""
    name = pick.choice(["absolute", "squared", "zero-one", None, None, None])
    if name:
        formula = {"absolute": lambda x: x, "squared": lambda x: x * x, "zero-one": bool}[name]
        return {"name": name}, [[Fraction(formula(abs(i - v))) for v in range(n + 1)] for i in range(n + 1)]
    table = []
    falls = pick.random() < 0.15
    for i in range(n + 1):
        row = [Fraction(pick.randrange(-3, 4), pick.choice([1, 1, 3]))] * (n + 1)
        for v in range(i + 1, n + 1):
            row[v] = row[v - 1] + Fraction(pick.choice([0, 0, 1, 2]), pick.choice([1, 7]))
        for v in range(i - 1, -1, -1):
            row[v] = row[v + 1] + pick.choice([0, 0, 1, 5])
        if falls:
            pick.shuffle(row)
        table.append(row)
    return [[str(x) for x in row] for row in table], table


def best_reading(rows, weights, table):
    """Return the bound of universality, and the reading that reaches it as one answer for each released number."""
    bound, answers = Fraction(0), []
    for z in range(len(rows)):
        masses = [w * row[z] for w, row in zip(weights, rows, strict=True)]
        costs = [sum(map(Fraction.__mul__, masses, column)) for column in zip(*table, strict=True)]
        answers.append(costs.index(min(costs)))
        bound += min(costs)
    return bound, answers


def reading_file(pick):
    """Return a file with a certificate that holds, and what it is made of."""
    n, ratio = pick.randrange(1, 7), pick.choice(RATIOS)
    loss, table = losses_of(pick, n)
    worst = pick.random() < 0.4
    number = pick.randrange(1, n + 2) if worst and pick.random() < 0.5 else n + 1
    possible = sorted(pick.sample(range(n + 1), number))
    weights = [Fraction(pick.randrange(0, 4) if i in possible else 0) for i in range(n + 1)]
    weights[pick.choice(possible)] += 1
    if worst:
        weights = [w / sum(weights) for w in weights]
    rows = noise(n, ratio)
    bound, answers = best_reading(rows, weights, table)
    read = [[Fraction(0)] * (n + 1) for _ in rows]
    for into, row in zip(read, rows, strict=True):
        for p, v in zip(row, answers, strict=True):
            into[v] += p
    if pick.random() < 0.3:  # no best one, and private all the same
        read = pick.choice([rows, [rows[0]] * (n + 1)])
    risks = [sum(map(Fraction.__mul__, *pair)) for pair in zip(table, read, strict=True)]
    value = max(risks[i] for i in possible) if worst else sum(w * x for w, x in zip(weights, risks, strict=True))
    certificate = {
        "kind": "theorem", "theorem": "geometric-reading", "aggregate": "worst" if worst else "average", "loss": loss,
        "weights": [str(w) for w in weights],
    }  # fmt: skip
    if worst and len(possible) <= n:
        certificate["side_information"] = possible
    document = {
        "format": "irisdp/mechanism/1",
        "privacy": {"ratio": ratio},
        "graph": {"family": "path", "n": n + 1},
        "matrix": [[str(x) for x in row] for row in read],
        "objective": {"name": "loss", "value": str(value), "lower_bound": str(bound)},
        "certificate": certificate,
    }
    return document, value, bound


def spoiled(pick, document, value, bound):
    """Change one thing; often, not always, that makes it wrong."""
    document = json.loads(json.dumps(document))
    certificate, n = document["certificate"], len(document["matrix"]) - 1
    turn = pick.randrange(11)
    if turn == 0:
        document["objective"]["lower_bound"] = str(bound + pick.choice([TINY, -TINY, Fraction(1, 10)]))
    elif turn == 1:
        document["objective"]["value"] = str(value + pick.choice([TINY, -TINY]))
    elif turn == 2:
        certificate["loss"] = pick.choice([{"name": "graph-distance"}, {"name": "cubed"}, [], [["0"] * n] * (n + 1)])
    elif turn == 3:
        document["privacy"]["delta"] = pick.choice(["0", "1/1000"])
    elif turn == 4:
        document["privacy"] = {"all": [{"ratio": "5"}, {"ratio": "2", "delta": "1/3"}]}
    elif turn == 5:
        edges = [[i, i + 1] for i in range(n)]
        kept = [edge for edge in edges if pick.random() < 0.8]
        listed = pick.choice([edges, edges[::-1], kept, [*edges, [0, n]]])
        document["graph"] = {"nodes": list(range(n + 1)), "edges": listed}
    elif turn == 6:
        document[pick.choice(["inputs", "outputs"])] = pick.sample(range(n + 1), n + 1)
    elif turn == 7:
        row = pick.choice(document["matrix"])
        row[0] = str(Fraction(row[0]) + pick.choice([TINY, -TINY]))
    elif turn == 8:
        certificate["weights"][0] = pick.choice(["-1", "0", "1/2", "x"])
    elif turn == 9:
        document["objective"].pop("lower_bound")
    else:
        certificate[pick.choice(["loss", "aggregate", "within", "among", "side_information"])] = pick.choice(
            [None, {}, "worst", "-1", "all private mechanisms", [0], 3]
        )
    return document


def noise_file(pick):
    """Return the geometric mechanism as its own best, at times not quite."""
    n, ratio = pick.randrange(1, 8), pick.choice(RATIOS)
    rows, certificate = noise(n, ratio), {"kind": "theorem", "theorem": "geometric"}
    turn = pick.randrange(6)
    if turn == 0:  # private still, and another mechanism
        other = noise(n, Fraction(ratio) - TINY)
        rows = pick.choice([other, rows[::-1], [row[::-1] for row in rows], [rows[0]] * (n + 1)])
    elif turn == 1:  # drawn a little toward the even row: private still, and as far off as it says, or farther
        share = pick.choice([TINY, Fraction(1, 10**6)])
        even = share / (n + 1)
        drawn = [[(1 - share) * x + even for x in row] for row in rows]
        far = max(abs(x - y) for pair in zip(rows, drawn, strict=True) for x, y in zip(*pair, strict=True))
        rows, certificate["within"] = drawn, str(far * pick.choice([1, 1, 2, Fraction(99, 100)]))
    elif turn == 2:
        certificate |= {"weights": ["1"] * (n + 1), "aggregate": "average", "loss": {"name": "absolute"}}
    return {
        "format": "irisdp/mechanism/1",
        "privacy": {"ratio": ratio},
        "graph": {"family": "path", "n": n + 1},
        "matrix": [[str(x) for x in row] for row in rows],
        "certificate": certificate,
    }


def certified(seed, number):
    pick = fresh_random(f"verified readings {seed}")
    for _ in range(number):
        document, value, bound = reading_file(pick)
        for one in (document, spoiled(pick, document, value, bound), noise_file(pick)):
            yield json.dumps(add_digest(one))


def test_all_three_agree_on_designs_and_on_spoiled_ones(checker):
    texts = list(certified("agree", tried(150, 3_000)))
    seen = Counter()
    for text, status in zip(texts, says(checker, texts), strict=True):
        assert status == verifier_says(text) == audit_says(text), text
        seen[status, json.loads(text)["certificate"]["theorem"]] += 1
    assert (
        min(seen[status, kind] for status in (0, 1) for kind in ("geometric", "geometric-reading")) > len(texts) // 40
    )


def test_a_checker_that_lets_losses_fall_is_found_out(checker, tmp_path):
    """What it accepts is no bound: with a loss that falls, other private mechanisms may do better."""
    broken = built("--losses-fall", "--program", str(tmp_path / "broken" / "iris-check"))
    texts = list(certified("control", 150))
    wrong = [text for text, status in zip(texts, says(broken, texts), strict=True) if status != verifier_says(text)]
    assert wrong and all(verifier_says(text) == 1 for text in wrong)


def test_what_the_verifier_accepts_of_any_file_is_accepted(checker):
    """Not the other way: a single count and the ratio 1 are the verifier's alone."""
    inventor, texts = Inventor("readings"), []
    while len(texts) < tried(60, 1_000):
        found = inventor.document()[0]
        certificate = found.get("certificate")
        kinds = ("geometric", "geometric-reading")
        if "factors" not in found and isinstance(certificate, dict) and certificate.get("theorem") in kinds:
            texts.append(json.dumps(add_digest(json.loads(json.dumps(found), parse_float=str))))
    seen = Counter((verifier_says(text), status) for text, status in zip(texts, says(checker, texts), strict=True))
    assert seen[1, 1] > 0
    assert not seen[0, 1] and not seen[0, 2]


def judged(checker, path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    done = subprocess.run([checker, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("privacy", [Privacy(ratio="3/2"), Privacy(epsilon="0.1")])
def test_what_the_library_writes_of_counts_is_accepted(checker, tmp_path, privacy):
    for made, theorem, words in [
        (consumer(33, "absolute", privacy), "geometric-reading", "no private mechanism goes below the bound"),
        (geometric(33, privacy), "geometric", "whoever reads it well is served as well as by any private mechanism"),
    ]:
        path = tmp_path / f"{theorem}.json"
        made.save(path)
        assert json.loads(path.read_text())["certificate"]["theorem"] == theorem
        done = subprocess.run([checker, path], capture_output=True, text=True, check=False)
        assert (done.returncode, words in done.stdout) == (0, True), done.stdout


def test_in_words(checker, tmp_path):
    pick, path = fresh_random("readings in words"), tmp_path / "m.json"
    document = noise_file(pick)
    while len(document["certificate"]) != 2 or verifier_says(json.dumps(add_digest(document))):
        document = noise_file(pick)
    certificate = document["certificate"]
    single = {"graph": {"family": "path", "n": 1}, "matrix": [["1"]]}
    constant = {"matrix": [document["matrix"][0]] * len(document["matrix"])}
    for change, status, words in [
        ({}, 0, "whoever reads it well is served as well as by any private mechanism"),
        (constant, 1, "the rows are not those of the geometric mechanism"),
        (constant | {"certificate": certificate | {"within": "1"}}, 1, "the rows are not those of the geometric"),
        ({"certificate": certificate | {"within": "1e-20"}}, 0, "for losses that never fall, but for rounding"),
        ({"certificate": certificate | {"within": "-1"}}, 1, "within must be at least 0"),
        ({"objective": {"value": "1"}}, 1, "the theorem is about no goal"),
        ({"certificate": certificate | {"theorem": "geometric-reading"}}, 1, "the certificate cannot be read"),
        (single, 0, "a single count, or the ratio 1, is not read by this program"),
        (constant | {"privacy": {"ratio": 1}}, 0, "a single count, or the ratio 1, is not read by this program"),
    ]:
        found = judged(checker, path, document | change)
        assert (found[0], words in found[1]) == (status, True), found


def test_hostile_certificates_end_soon_and_in_a_refusal(checker, tmp_path):
    pick, path = fresh_random("hostile readings"), tmp_path / "m.json"
    document, _, _ = reading_file(pick)
    certificate = document["certificate"]
    size = len(document["matrix"])
    for change in [
        {"weights": ["1e4000"] * size},
        {"weights": []},
        {"weights": [{}] * size},
        {"loss": [["1"] * size] * 10_000},
        {"loss": [[[]]]},
        {"loss": {"name": ["absolute"]}},
        {"loss": "absolute"},
        {"aggregate": 1},
        {"among": "all mechanisms"},
        {"within": "1/0"},
        {"within": [["1"]]},
    ]:
        status, said = judged(checker, path, document | {"certificate": certificate | change})
        assert status == 1 and said.startswith("no: "), (change, said)
    deep = json.dumps(document).replace('"loss":', '"loss":' + "[" * 10_000)
    assert judged(checker, path, deep)[0] == 2
