"""Requests that no mechanism satisfies: found exactly where linear programming finds none, and explained each time.

The program and the checks of every explanation are written here and share no code with the library.
"""

import random
from collections import Counter, deque
from fractions import Fraction
from itertools import chain, combinations

import pytest

from irisdp import Infeasible, Privacy
from irisdp.design import binary, rainbow
from irisdp.graphs import graph_from_edges
from support.programs import Program
from support.sweeps import tried

SOLVED = 1e-8
"""HiGHS is asked for 1e-10 in each of some hundred rows; what a wrong verdict would move is far larger."""

SURELY = 1e-7
"""A slack in total variation beyond which HiGHS cannot be mistaken (its tolerance is 1e-9)."""

RATIOS, DELTAS = ("6/5", "3/2", "2", "4"), ("0", "1/20", "1/10")


def moved_at_least(nodes, q, edges, fixed, ratio, delta):
    """How far the given rows must be moved, in all entries together, to become possible: 0 when they are."""
    program = Program()
    first = program.table(nodes, q)
    program.private(first, q, edges, ratio, delta)
    for i, row in fixed.items():
        for v in range(q):
            up = program.variables(2)
            program.equal({first + i * q + v: 1, up: 1, up + 1: -1}, row[v])
            program.charge(up, [1, 1])
    return program.minimum()


def distances(nodes, edges, start):
    near = {i: [] for i in range(nodes)}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    found, queue = {start: 0}, deque([start])
    while queue:
        i = queue.popleft()
        for j in near[i]:
            if j not in found:
                found[j] = found[i] + 1
                queue.append(j)
    return found


def grown(s, count, ratio, delta):
    for _ in range(count):
        s = min(Fraction(1), ratio * s + delta, 1 - (1 - s - delta) / ratio)
    return s


def check_pair(why, nodes, edges, fixed, outputs, ratio, delta):
    """The pair is given, so far apart, and the event needs more than u^distance of what the other end gives it."""
    (a, b), event = why["pair"], [outputs.index(v) for v in why["event"]]
    assert distances(nodes, edges, a)[b] == why["distance"] and event
    needs, source = (sum(fixed[i][v] for v in event) for i in (a, b))
    allows = grown(source, why["distance"], ratio, delta)
    assert Fraction(why["needs"]) == needs > Fraction(why["allows"]) >= allows
    assert Fraction(why["allows"]) - allows < Fraction(1, 10**25)


def check_multipliers(why, nodes, edges, fixed, outputs, ratio, delta):
    """Σ y·given exceeds what weak duality allows every private mechanism, in rationals."""
    q = len(outputs)
    score = [[Fraction(0)] * q for _ in range(nodes)]
    largest, needs = Counter(), Fraction(0)
    joined = {pair for a, b in edges for pair in ((a, b), (b, a))}
    for node, output, y in why["multipliers"]["rows"]:
        v = outputs.index(output)
        score[node][v] -= Fraction(y)
        needs += Fraction(y) * fixed[node][v]
    for i, j, output, text in why["multipliers"]["edges"]:
        v, size = outputs.index(output), Fraction(text)
        assert (i, j) in joined and size >= 0
        score[i][v] += size
        score[j][v] -= ratio * size
        largest[i, j] = max(largest[i, j], size)
    allows = -(sum(map(min, score)) - delta * sum(largest.values()))
    assert (Fraction(why["needs"]), Fraction(why["allows"])) == (needs, allows)
    assert needs > allows
    for a in fixed:  # only what no pair explains
        for b, t in distances(nodes, edges, a).items():
            for event in chain.from_iterable(combinations(range(q), k) for k in range(1, q) if b in fixed):
                assert sum(fixed[a][v] for v in event) <= grown(sum(fixed[b][v] for v in event), t, ratio, delta)


def explain(refusal, *facts):
    """Check the explanation of a refusal and say which kind it was."""
    document = refusal.document
    assert "solver" not in str(refusal)
    if "witnesses" in document:
        assert len(document["witnesses"]) == 2
        return "no optimum"
    why = document["infeasible"]
    (check_pair if "pair" in why else check_multipliers)(why, *facts)
    return "pair" if "pair" in why else "multipliers"


def random_row(pick, q, near=None):
    row = [pick.randrange(0, 12) if near is None else max(0, near[v] + pick.randrange(-3, 4)) for v in range(q)]
    return row if sum(row) else [1] * q


def random_request(seed):
    pick = random.Random(seed)
    nodes, q = pick.randrange(2, 8), pick.choice((2, 3, 3, 4))
    edges = {(pick.randrange(i), i) for i in range(1, nodes) if pick.random() < 0.95}
    edges |= {tuple(sorted(pick.sample(range(nodes), 2))) for _ in range(pick.randrange(2))}
    if not edges:
        edges = {(0, 1)}
    base = random_row(pick, q)
    chosen = pick.sample(range(nodes), pick.randrange(1, min(nodes, 4) + 1))
    fixed = {}
    for i in chosen:
        row = random_row(pick, q, base if pick.random() < 0.9 else None)
        fixed[i] = tuple(Fraction(x, sum(row)) for x in row)
    return pick, nodes, q, sorted(edges), fixed, Fraction(pick.choice(RATIOS)), Fraction(pick.choice(DELTAS))


def answered(pick, nodes, q, edges, fixed, ratio, delta):
    """Ask the library; return what it said, after checking every explanation and every given row."""
    outputs = ["abcd"[v] for v in range(q)]
    graph = graph_from_edges(edges, nodes=range(nodes))
    privacy = Privacy.from_ratio(ratio, delta=delta)
    rankings = [tuple(pick.sample(outputs, q)) for _ in range(pick.randrange(1, 3))]
    ranking_of = [pick.choice(rankings) for _ in range(nodes)]
    boundary = {i: dict(zip(outputs, row, strict=True)) for i, row in fixed.items()}
    weights = {i: 1 for i in range(nodes)} if pick.random() < 0.3 else None
    try:
        made = rainbow(graph, ranking_of, privacy, boundary=boundary, weights=weights)
    except Infeasible as refusal:
        return explain(refusal, nodes, edges, fixed, outputs, ratio, delta)
    for i, row in fixed.items():
        assert dict(zip(made.outputs, made.row(i), strict=True)) == dict(zip(outputs, row, strict=True))
    return "made"


@pytest.mark.parametrize("block", range(tried(3, 8)))
def test_infeasible_exactly_where_a_program_says_so(block):
    seen = Counter()
    for seed in range(block * 100, block * 100 + 100):
        request = random_request(seed)
        said = answered(*request)
        slack = moved_at_least(*request[1:])
        if slack > SURELY:
            assert said in ("pair", "multipliers"), (seed, slack, said)
        elif said in ("pair", "multipliers"):
            assert slack > 0, seed  # proved in rationals above, too small for floats
        else:
            assert slack < SURELY
        seen[said] += 1
    assert seen["pair"] > 10 and seen["made"] > 10, seen


def test_two_rows_are_possible_exactly_if_no_event_tells_them_apart():
    """The theorem itself: on a path, with rows at both ends, a program and all 2^q events agree."""
    pick, seen = random.Random(1), Counter()
    for _ in range(200):
        t, q = pick.randrange(1, 5), pick.choice((2, 3, 4))
        ratio, delta = Fraction(pick.choice(RATIOS)), Fraction(pick.choice(DELTAS))
        base = random_row(pick, q)
        rows = [random_row(pick, q, base) for _ in range(2)]
        p, s = (tuple(Fraction(x, sum(row)) for x in row) for row in rows)
        events = chain.from_iterable(combinations(range(q), k) for k in range(1, q))
        told = any(sum(s[v] for v in e) > grown(sum(p[v] for v in e), t, ratio, delta) for e in events)
        edges = [(i, i + 1) for i in range(t)]
        slack = moved_at_least(t + 1, q, edges, {0: p, t: s}, ratio, delta)
        assert told == (slack > SOLVED)
        said = answered(pick, t + 1, q, edges, {0: p, t: s}, ratio, delta)
        assert (said == "pair") == told
        seen[told] += 1
    assert min(seen.values()) > 30


@pytest.mark.parametrize("slip", ["0", "1e-9", "1e-12", "1e-30", "1e-60", "-1e-12", "-1e-60"])
def test_rows_at_the_very_limit_are_told_apart_exactly(slip):
    """Far ends exactly T^t apart are possible; a hair more is not, and is explained, however thin the hair."""
    slip = Fraction(slip)
    for seed in range(12):
        pick = random.Random(seed)
        t, ratio, delta = pick.randrange(1, 6), Fraction(pick.choice(RATIOS)), Fraction(pick.choice(DELTAS))
        row = random_row(pick, 3)
        p = tuple(Fraction(x, sum(row)) for x in row)
        sums = [grown(s, t, ratio, delta) for s in (p[0], p[0] + p[1])]
        far = (sums[0] + slip, sums[1] - sums[0], 1 - sums[1] - slip)
        if min(far) < 0:
            continue
        edges = [(i, i + 1) for i in range(t)] + [(0, t + 1)]
        said = answered(pick, t + 2, 3, edges, {0: p, t: far}, ratio, delta)
        assert (said == "pair") == (slip > 0), (seed, said)


STAR = [("7/34", "269/510", "4/15"), ("21/100", "7/20", "11/25"), ("1/12", "31/60", "2/5")]


def test_three_rows_that_only_fail_together():
    """A star whose leaves are possible in pairs and not all three (docs/theory.md#closeness)."""
    ratio, delta = Fraction(6, 5), Fraction(1, 20)
    leaves = [tuple(map(Fraction, row)) for row in STAR]
    for p, s in combinations(leaves, 2):
        for e in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
            assert sum(s[v] for v in e) <= grown(sum(p[v] for v in e), 2, ratio, delta)
    # By hand: every centre needs third + second + first of the leaves to be at least (1 − 3δ)/r.
    assert leaves[0][2] + leaves[1][1] + leaves[2][0] == Fraction(7, 10) < (1 - 3 * delta) / ratio == Fraction(17, 24)
    edges, fixed = [(0, 1), (0, 2), (0, 3)], {i + 1: row for i, row in enumerate(leaves)}
    facts = (random.Random(0), 4, 3, edges, fixed, ratio, delta)
    assert answered(*facts) == "multipliers"
    for two in combinations(fixed, 2):
        assert answered(*facts[:4], {i: fixed[i] for i in two}, ratio, delta) in ("made", "no optimum")


def test_more_rows_that_only_fail_together():
    """Around the star, with longer arms and other leaves: multipliers where no pair explains, a program agreeing."""
    seen = Counter()
    for seed in range(120):
        pick = random.Random(seed)
        leaves = []
        for row in STAR:
            entries = [int(5100 * Fraction(x)) + pick.randrange(0, 120) for x in row]
            leaves.append(tuple(Fraction(x, sum(entries)) for x in entries))
        edges, fixed = [(0, 1), (0, 2), (0, 3), (3, 4)], {i + 1: row for i, row in enumerate(leaves)}
        facts = (5, 3, edges, fixed, Fraction(6, 5), Fraction(1, 20))
        said = answered(pick, *facts)
        assert (said in ("pair", "multipliers")) == (moved_at_least(*facts) > SOLVED)
        seen[said] += 1
    assert seen["multipliers"] > 10 and len(seen) > 1, seen


@pytest.mark.parametrize("seed", range(tried(30, 60)))
def test_yes_or_no_requests_are_explained(seed):
    pick = random.Random(seed)
    nodes = pick.randrange(2, 8)
    edges = [(pick.randrange(i), i) for i in range(1, nodes)]
    ratio, delta = Fraction(pick.choice(RATIOS)), Fraction(pick.choice(DELTAS))
    colours = [pick.choice("ab") for _ in range(nodes)]
    colours[:2] = "ab"
    truth = {i: Fraction(pick.randrange(0, 21), 20) for i in pick.sample(range(nodes), pick.randrange(1, nodes + 1))}
    fixed = {i: (p, 1 - p) if colours[i] == "a" else (1 - p, p) for i, p in truth.items()}
    slack = moved_at_least(nodes, 2, edges, fixed, ratio, delta)
    try:
        binary(
            graph_from_edges(edges, nodes=range(nodes)), colours, Privacy.from_ratio(ratio, delta=delta), boundary=truth
        )
        said = "made"
    except Infeasible as refusal:
        said = explain(refusal, nodes, edges, fixed, ["a", "b"], ratio, delta)
    assert (said == "pair") == (slack > SOLVED)


def test_long_ratios_and_long_ways_are_explained():
    """At ε = 1/10 and 40 steps nothing is a short number, and needs still exceed what is shown as allowed."""
    privacy = Privacy(epsilon="1/10", delta="1e-9")
    fixed = {0: (Fraction(1), Fraction(0), Fraction(0)), 40: (Fraction(1, 1000), Fraction(0), Fraction(999, 1000))}
    graph = graph_from_edges([(i, i + 1) for i in range(40)])
    boundary = {i: dict(zip("abc", row, strict=True)) for i, row in fixed.items()}
    with pytest.raises(Infeasible) as refusal:
        rainbow(graph, [tuple("abc")] * 41, privacy, boundary=boundary)
    why = refusal.value.document["infeasible"]
    assert why["distance"] == 40 and Fraction(why["needs"]) > Fraction(why["allows"])
