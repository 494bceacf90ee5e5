"""Absurd sizes: an answer in seconds, or one clear refusal before memory is taken; in a process with little memory."""

import json
import resource
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from irisdp import Privacy, audit, graphs, interpret
from irisdp.certify import distinct_row_pairs
from irisdp.consumers import Consumer, optimal_reading
from irisdp.interpretation import NoisyCount, _remap
from irisdp.mechanisms import FactoredMechanism, randomized_response
from support.seeds import fresh_random
from support.sweeps import by_turns, tried

auditing = sys.modules["irisdp.certify._audit"]
"""The module: `irisdp.certify._audit` is the function of that name."""

PRIVACY = {"ratio": "2"}
MEMORY = 3 << 30
SECONDS = 240
"""A process that hangs is stopped; nothing is measured."""

NOISE = {"format": "irisdp/mechanism/1", "privacy": PRIVACY, "factors": [{"kind": "geometric", "n": 10**10}]}
READ = {**NOISE, "factors": [{"kind": "geometric", "n": 10**10}, {"reading": [[0, 0, 1]]}]}
SAME = {
    **{"format": "irisdp/mechanism/1", "privacy": PRIVACY, "graph": {"family": "complete", "n": 10**5}},
    **{"rows": [["1/2", "1/2"], ["1/3", "2/3"]], "row_of": [0, 1] * (10**5 // 2)},
}
RELEASE = {"format": "irisdp/release/1", "privacy": PRIVACY}
MILLION = {**RELEASE, "mechanism": {"kind": "geometric-noise", "lower": 0, "upper": 10**6}}
HUGE = {**RELEASE, "mechanism": {"kind": "geometric-noise", "lower": 0, "upper": 10**15}}
FAMILIES = [
    {"family": "path", "n": 10**12},
    {"family": "cycle", "n": 10**12},
    {"family": "complete", "n": 10**5},
    {"family": "complete", "n": 10**12},
    {"family": "hamming", "length": 40, "symbols": 2},
    {"family": "hamming", "length": 10**9, "symbols": 2},
    {"family": "histograms", "total": 10**9, "types": 3},
    {"family": "histograms", "total": 3, "types": 10**9},
    {"family": "sorted_histograms", "total": 10**9, "types": 5},
    {"family": "gaps", "categories": 3, "largest": 480, "relation": "exchange"},
    {"family": "gaps", "categories": 12, "largest": 10**9, "relation": "exchange"},
]
LIMITED = """
import contextlib, io, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({0}, {0}))
from irisdp._cli.main import run
for words in json.load(sys.stdin):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = run(words)
    print(json.dumps([status, errors.getvalue()]), flush=True)
"""


def run(folder, asked):
    """Run commands about documents, one after the other in one process with little memory; say how each ended."""
    commands = []
    for number, (document, words) in enumerate(asked):
        path = folder / f"given {number}.json"
        path.write_text(json.dumps(document))
        commands.append([str(path) if word == "FILE" else word for word in words])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(MEMORY)],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ends) == len(commands)
    for _, errors in ends:
        assert not [word for word in ("internal error", "Traceback", "memory:") if word in errors]
    return ends


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="memory cannot be limited here")
def test_large_files(tmp_path):
    asked = [
        (NOISE, ("audit", "FILE"), 0),
        (NOISE, ("interpret", "FILE", "--value", "3"), 2),
        (NOISE, ("interpret", "FILE", "--value", "3", "--at-most", "20"), 2),
        (NOISE, ("sample", "FILE", "--input", "3"), 0),
        (READ, ("audit", "FILE"), 2),
        (READ, ("interpret", "FILE", "--value", "3"), 2),
        (SAME, ("audit", "FILE"), 0),
        (HUGE, ("interpret", "FILE", "--value", "3"), 2),
        (HUGE, ("interpret", "FILE", "--value", "3", "--at-most", "20"), 0),
        *[
            (MILLION, ("interpret", "FILE", "--value", "3", "--loss", loss), 0)
            for loss in ("pinball:1:9", "threshold:3", "zero-one", "absolute", "squared", "excess:2")[: tried(3, 6)]
        ],
    ]
    ends = run(tmp_path, [(document, words) for document, words, _ in asked])
    assert [status for status, _ in ends] == [status for _, _, status in asked]


@pytest.mark.parametrize("kind", ["distance", "exponential", "binary", "rainbow"])
def test_large_families_are_refused(tmp_path, kind):
    about = {"kind": kind, "privacy": PRIVACY, "colors": {"0": "a"}, "rankings": {"0": ["a", "b"]}}
    ends = run(tmp_path, [({**about, "graph": graph}, ("design", "FILE")) for graph in FAMILIES])
    assert [(status, errors.count("\n")) for status, errors in ends] == [(2, 1)] * len(FAMILIES)


def test_large_counts(tmp_path):
    specs = {"kind": "consumer", "n": 10**10, "loss": "absolute"}, {"kind": "geometric", "n": 10**10}
    run(tmp_path, [({**spec, "privacy": PRIVACY}, ("design", "FILE")) for spec in specs])


def test_edges_are_walked_only_until_no_input_is_alone(monkeypatch):
    """A hundred thousand inputs, all neighbours, took half a minute for a count that is 0 after one edge each."""
    edges, walked = graphs.Complete.edges, []

    def counted(self):
        for chunk in edges(self):
            walked.append(len(chunk[0]))
            yield chunk

    monkeypatch.setattr(graphs.Complete, "edges", counted)
    assert auditing._alone(graphs.Complete(10**5)) == 0
    assert sum(walked) <= 2 * 10**5


@pytest.mark.parametrize("seed", range(20))
def test_inputs_without_a_neighbour_are_counted(seed):
    pick = fresh_random(seed)
    nodes = pick.randrange(1, 12)
    edges = [(i, j) for i in range(nodes) for j in range(i) if pick.random() < 0.2]
    lonely = set(range(nodes)) - {end for edge in edges for end in edge}
    assert auditing._alone(graphs.graph_from_edges(edges, nodes=range(nodes))) == len(lonely)


def test_a_complete_graph_is_not_walked_edge_by_edge():
    """All rows meet: as many pairs, edges and counts as its edges one by one say."""
    generator = np.random.default_rng(1)
    for nodes in (2, 3, 9, 30):
        row_of = generator.integers(0, 5, nodes)
        found = distinct_row_pairs(graphs.Complete(nodes), row_of)
        listed = distinct_row_pairs(graphs.listed(graphs.Complete(nodes)), row_of)
        for one, other in ((found.first, listed.first), (found.second, listed.second), (found.counts, listed.counts)):
            assert one.tolist() == other.tolist()
        assert (row_of[found.tails] == found.first).all()
        assert (row_of[found.heads] == found.second).all()
    assert audit(randomized_response(4, Privacy(ratio=2))).holds


def cumulative(value, count, alpha):
    """Return the probability that count + noise is at most a value."""
    if value >= count:
        return 1 - alpha ** (value - count + 1) / (1 + alpha)
    return alpha ** (count - value) / (1 + alpha)


LOSSES = [
    "absolute",
    "squared",
    "zero-one",
    *({"name": "pinball", "too_low": a, "too_high": b} for a, b in ((1, 9), (9, 1))),
]


@pytest.mark.parametrize(("loss", "ends"), by_turns(LOSSES, [None, (0, 60), (3, 40)]))
def test_many_counts_are_read_like_no_end_of_them(ends, loss, monkeypatch):
    """The rule for very many counts, made to serve few: stated losses are no less than true ones."""
    privacy, alpha = Privacy(ratio=2), Fraction(1, 2)
    low, high = (5, 40) if ends is None else (max(5, ends[0]), ends[1])
    release = NoisyCount(privacy=privacy, ends=(ends,))
    known = {"at_least": low, "at_most": high}
    narrow = interpret(release, 20, loss=loss, **known).answers[0].rule
    monkeypatch.setattr(_remap, "_WIDE", 20)
    monkeypatch.setattr(_remap, "_MANY", 1)
    rule = interpret(release, 20, loss=loss, **known).answers[0].rule
    assert isinstance(rule, _remap.UnboundedRemap)
    assert rule.lower_bound <= narrow.value <= rule.value
    assert rule.possible == (low, high)
    values = range(-60, 110) if ends is None else range(ends[0], ends[1] + 1)
    price = Consumer(0, loss).loss.at
    for truth in range(low, high + 1):
        below = [cumulative(value, truth, alpha) for value in values[:-1]] + [Fraction(1)]
        law = [b - a for a, b in zip([Fraction(0), *below], below, strict=False)]
        lines = [rule.at(rule.released(value)) for value in values]
        assert all(sum(p for _, p in line) == 1 for line in lines)
        cost = sum(p * sum(q * price(truth, v) for v, q in line) for p, line in zip(law, lines, strict=True))
        assert cost <= rule.value


@pytest.mark.parametrize(
    ("loss", "epsilon"),
    by_turns(["absolute", "squared", "zero-one", {"name": "pinball", "too_low": 1, "too_high": 9}], ["1", "1/50"]),
)
def test_the_bound_for_a_million_counts_is_near(loss, epsilon):
    release = NoisyCount(privacy=Privacy(epsilon=epsilon), ends=((0, 10**6),))
    answer = interpret(release, 500, loss=loss).answers[0]
    assert answer.rule.lower_bound <= answer.rule.value <= answer.rule.lower_bound * Fraction(1001, 1000)
    assert interpret(release, 500, loss=loss).posterior().interval()[0] <= 500
    clamped = optimal_reading(FactoredMechanism(privacy=release.privacy, n=300), Consumer(300, loss))
    assert clamped.lower_bound <= answer.rule.value
