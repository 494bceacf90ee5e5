"""Rows by depth, and whole designs on random graphs, against programs extracted from their definitions in Coq.

`formal/Rows.v` and `formal/Layers.v` prove that these programs compute T, the distance to the boundary and the
design of `formal/Graphs.v`. Without Coq and OCaml every test is skipped.
"""

import json
import subprocess
from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp.design import rainbow
from irisdp.graphs import depth, graph_from_edges, rank
from irisdp.mechanisms import DepthMechanism
from oracles.test_rainbow_optimum import random_privacy
from oracles.test_verified_checker import built
from support.seeds import fresh_random
from support.sweeps import tried

WIDTH = Fraction(1, 10**20)


@pytest.fixture(scope="module")
def program():
    return built()


def answers(program, option, questions):
    """Ask the program one question a line."""
    text = "".join(json.dumps(question, default=str) + "\n" for question in questions)
    done = subprocess.run([program, option], input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def row_of(text):
    return tuple(Fraction(x) for x in text.split())


def pairs_of(privacy):
    return [[str(pair.ratio), str(pair.delta)] for pair in privacy.pairs]


def law(pick, size):
    weights = [pick.choice([0, 1, 1, 2, 5, 9]) for _ in range(size)]
    weights[pick.randrange(size)] += 1
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def rows_by_depth(seed, number):
    """Yield a question about one row, the library's row and its enclosure of the first choice."""
    pick = fresh_random(f"verified rows {seed}")
    for turn in range(number):
        privacy, row = random_privacy(pick, turn, 1 + turn % 3), law(pick, pick.randrange(1, 7))
        if turn % 10 == 0:
            privacy = Privacy(ratio=1, delta=Fraction(pick.randrange(2), 20))
        mechanism = DepthMechanism(privacy=privacy, rankings=(tuple(range(len(row))),), boundary=(row,))
        far = pick.randrange(9)
        question = {"pairs": pairs_of(privacy), "depth": far, "row": row}
        yield question, mechanism.row(0, far), mechanism.truth(0, far, width=WIDTH)


def differing_rows(program, cases):
    said = [row_of(line) for line in answers(program, "--row", [question for question, _, _ in cases])]
    return [case for case, row in zip(cases, said, strict=True) if case[1] != row or row[0] not in case[2]]


def test_rows_by_depth_are_those_of_the_verified_operator(program):
    cases = list(rows_by_depth("rows", tried(400, 10_000)))
    assert not differing_rows(program, cases)


def test_a_row_one_step_too_deep_is_found_out(program):
    cases = [({**question, "depth": question["depth"] + 1}, *ours) for question, *ours in rows_by_depth("control", 300)]
    assert len(differing_rows(program, cases)) > 60


def designs(seed, number):
    """Yield a question about a coloured graph, the library's depths and its rows.

    Every ranking has one row, mixed with the even one until any two are private whatever they rank.
    """
    pick = fresh_random(f"verified designs {seed}")
    for turn in range(number):
        nodes, q = pick.randrange(1, 11), pick.randrange(2, 5)
        edges = {tuple(sorted(pick.sample(range(nodes), 2))) for _ in range(pick.randrange(nodes) if nodes > 1 else 0)}
        kinds = [pick.sample(range(q), q) for _ in range(pick.randrange(1, 4))]
        rankings = [kind for place, kind in enumerate(kinds) if kind not in kinds[:place]]
        classes = [pick.randrange(len(rankings)) for _ in range(nodes)]
        if turn % 2:  # long ways to the boundary: a path through the classes, one after another
            classes.sort()
            edges = {(i, i + 1) for i in range(nodes - 1)} | set(sorted(edges)[: turn % 3])
        privacy = random_privacy(pick, turn, 1 + turn % 3)
        share = min(Fraction(1), min(pair.ratio for pair in privacy.pairs) - 1) / (2 * q)
        rows = [tuple((1 - share) / q + share * x for x in law(pick, q)) for _ in rankings]
        graph = graph_from_edges(sorted(edges), nodes=range(nodes))
        ranked = [tuple(rankings[kind]) for kind in classes]
        boundary = {
            ">".join(map(str, kind)): dict(zip(map(str, kind), row, strict=True))
            for kind, row in zip(rankings, rows, strict=True)
            if tuple(kind) in ranked
        }
        named = [tuple(map(str, ranking)) for ranking in ranked]
        mechanism = rainbow(graph, named, privacy, boundary=boundary)
        place = [mechanism.outputs.index(str(v)) for v in range(q)]
        ours = [tuple(mechanism.row(i)[k] for k in place) for i in range(nodes)]
        question = {
            "pairs": pairs_of(privacy), "nodes": nodes, "edges": sorted(edges), "classes": classes,
            "rankings": rankings, "rows": rows,
        }  # fmt: skip
        depths = [int(k) for k in depth(rank(graph, named))]
        yield question, depths, ours


def differing_designs(program, cases):
    found = []
    for case, line in zip(cases, answers(program, "--design", [case[0] for case in cases]), strict=True):
        depths, *rows = line.split(";")
        reached = [int(k) if int(k) < case[0]["nodes"] else -1 for k in depths.split()]
        if (reached, [row_of(row) for row in rows]) != (case[1], case[2]):
            found.append(case)
    return found


def test_depths_and_designs_are_those_of_the_graph_theorem(program):
    cases = list(designs("designs", tried(200, 3_000)))
    assert not differing_designs(program, cases)
    assert sum(max(depths) >= 2 for _, depths, _ in cases) > len(cases) // 20
    assert sum(min(depths) < 0 for _, depths, _ in cases) > len(cases) // 20


def test_a_lost_edge_is_found_out(program):
    cases = [({**question, "edges": question["edges"][1:]}, *ours) for question, *ours in designs("control", 100)]
    assert len(differing_designs(program, cases)) > 20
