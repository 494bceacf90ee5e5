"""The boundary that `"best"` chooses, with its proof: both checkers recompute it, and it leaves no gap."""

import contextlib
import io
import json
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import Privacy, audit
from irisdp.certify import add_digest, check_optimality, verify_choice, verify_mechanism
from irisdp.design import consumer, geometric, rainbow, randomized_response
from irisdp.graphs import graph_from_edges
from irisdp.mechanisms import ALL_PRIVATE, SAME_ROWS, read_document

RUN = "import sys; sys.path.insert(0, {folder!r}); import verify_choice; sys.exit(verify_choice.check(sys.argv[1]))"


def chosen(seed, size=7, long=False):
    """A random tree with random rankings, and its best boundary."""
    pick = random.Random(seed)
    n, q = pick.randrange(2, size), pick.choice((2, 3, 4))
    edges = {(pick.randrange(max(0, i - 3), i), i) for i in range(1, n)}
    rankings = [tuple(pick.sample("abcd"[:q], q)) for _ in range(3)]
    ratio, delta = pick.choice(("6/5", "2", "4")), pick.choice(("0", "1/20"))
    privacy = Privacy(epsilon="1/3", delta=delta) if long else Privacy.from_ratio(ratio, delta=delta)
    ranking_of = [pick.choice(rankings) for _ in range(n)]
    weights = {i: [pick.randrange(4) for _ in range(q - 1)] for i in range(n)} if pick.random() < 0.6 else None
    return rainbow(graph_from_edges(edges, nodes=range(n)), ranking_of, privacy, boundary="best", weights=weights)


def proven(document, tmp_path):
    """Check with both; return the library's verdict once the two agree on status, bound and choice."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = verify_choice.check(str(path))
    verdict = audit(read_document(json.loads(path.read_text())))
    assert status == (0 if verdict.holds else 1), (text.getvalue(), verdict.optimality)
    if verdict.holds and verdict.optimality.choice is not None:
        other = verify_mechanism.read_mechanism(json.loads(path.read_text()))
        assert verify_choice.choice(other, other.document["certificate"]) == verdict.optimality.choice
        assert "choice: at most" in text.getvalue()
    return verdict


@pytest.mark.parametrize("seed", range(60))
def test_the_choice_is_proven_without_a_gap(seed, tmp_path):
    long = seed % 4 == 3
    made = chosen(seed, long=long)
    verdict = proven(made.to_document(), tmp_path)
    found = verdict.optimality
    assert verdict.holds and found.among in (ALL_PRIVATE, SAME_ROWS)
    tolerance = Fraction(1, 1 << 50) * max(found.value, Fraction(1)) if long else 0
    if found.among == ALL_PRIVATE:
        assert 0 <= found.gap <= tolerance
    elif found.choice is not None:
        assert 0 <= found.value - found.choice <= tolerance


def test_larger_graphs_have_the_proof_of_choice_too(tmp_path):
    seen = Counter()
    for seed in range(8):
        made = chosen(seed, size=400)
        found = proven(made.to_document(), tmp_path).optimality
        assert found.holds
        seen[found.among, found.choice is not None] += 1
        if found.choice is not None:
            assert 0 <= found.value - found.choice <= found.value / 10**12
    assert seen[SAME_ROWS, True] > 2, seen


def with_a_choice():
    """A design whose certificate is the narrow one, with a choice."""
    return next(d for s in range(99) if "choice" in (d := chosen(s).to_document())["certificate"])


@pytest.mark.parametrize("field", ["tangents", "multipliers"])
def test_bad_proofs_are_refused_or_only_weaker(field, tmp_path):
    document = with_a_choice()
    whole = proven(document, tmp_path).optimality.choice
    entries = document["certificate"]["choice"][field]
    for change in (
        lambda e: [*e[:3], "-1"],
        lambda e: [99, *e[1:]],
        lambda e: [e[0], 99, *e[2:]],
        lambda e: e[:3],
        lambda e: [*e[:2], "2", *e[3:]] if field == "tangents" else [*e[:2], 99, *e[3:]],
    ):
        for place in range(len(entries)):
            changed = json.loads(json.dumps(document))
            changed["certificate"]["choice"][field][place] = change(entries[place])
            assert not proven(add_digest(changed), tmp_path).holds
    document["certificate"]["choice"][field] = []
    weaker = check_optimality(read_document(add_digest(document)))
    assert weaker.holds and weaker.choice <= whole
    proven(add_digest(document), tmp_path)


def test_a_boundary_that_was_not_chosen_shows_a_gap(tmp_path):
    """A worse boundary under the proof of the best one: it holds given its rows, and the choice has a gap."""
    document = with_a_choice()
    rows = {tuple(row) for row in document.get("rows", document.get("matrix"))}
    uniform = [str(Fraction(1, len(document["outputs"])))] * len(document["outputs"])
    assert tuple(uniform) not in rows
    document.pop("rows", None), document.pop("row_of", None)
    document["matrix"] = [uniform] * len(document["inputs"])
    facts = document["certificate"]
    facts["theorem"], facts["fixed"] = "rainbow", list(range(len(document["inputs"])))
    loss = [[Fraction(x) for x in line] for line in facts["loss"]]
    value = sum(Fraction(w) * sum(x) / len(x) for w, x in zip(facts["weights"], loss, strict=True))
    document["objective"] = {"name": "", "value": str(value), "lower_bound": str(value)}
    found = proven(add_digest(document), tmp_path).optimality
    assert found.holds and found.gap == 0 and found.value - found.choice > 0


def test_the_file_runs_by_itself(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(with_a_choice()))
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN.format(folder=str(Path(verify_choice.__file__).parent)), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and "choice: at most 0 above" in ran.stdout, ran.stderr


@pytest.mark.parametrize("made", [
    lambda: geometric(3, Privacy(ratio=2)),
    lambda: consumer(3, "absolute", Privacy(ratio=2)),
    lambda: randomized_response(3, Privacy(ratio=2)),
    lambda: rainbow(graph_from_edges([(0, 1)]), [("a", "b"), ("b", "a")], Privacy(ratio=2)),
])  # fmt: skip
@pytest.mark.parametrize("choice", ["rainbow", None, 1, {"tangents": [], "multipliers": []}])
def test_where_nothing_is_chosen_nothing_may_be_said_of_a_choice(made, choice, tmp_path):
    document = made().to_document()
    document["certificate"]["choice"] = choice
    document.pop("objective", None)
    for key in ("loss", "weights", "aggregate"):
        document["certificate"].pop(key, None)
    assert not proven(add_digest(document), tmp_path).holds
