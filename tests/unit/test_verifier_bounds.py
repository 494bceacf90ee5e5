"""Small files that ask the stand-alone verifier for long numbers are not checked, in a time of their size."""

from __future__ import annotations

import json
import sys
import time
from fractions import Fraction

import pytest

from irisdp.certify import add_digest, verify_choice, verify_mechanism
from irisdp.mechanisms import too_many_events


def primes(number):
    found = []
    candidate = 2
    while len(found) < number:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def checked(tmp_path, rows, graph=None):
    path, graph = tmp_path / "m.json", graph or {"family": "path", "n": len(rows)}
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "matrix": rows}))
    return verify_mechanism.main(str(path))


def test_long_common_denominators_are_not_written(tmp_path, capsys, monkeypatch):
    shares = [f"1/{prime}" for prime in primes(300)]
    rows = [[*shares, "0"], ["0", *shares]]
    assert checked(tmp_path, rows) == 1
    assert capsys.readouterr().out.startswith("no: a row is negative somewhere or does not sum to exactly 1")
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 10**6)
    assert checked(tmp_path, rows) == 2
    assert "too long" in capsys.readouterr().out


def test_few_first_choices_are_followed_at_any_number_of_inputs():
    turns = [[*range(k, 16), *range(k)] for k in range(16)]  # 16 · 15 sets, and the whole one
    assert not too_many_events(turns, 10**7)
    more = [*turns, [*range(0, 16, 2), *range(1, 16, 2)], [*range(15, -1, -2), *range(0, 16, 2)]]
    assert too_many_events(more, 10**7)
    assert not too_many_events(more, 10**4)


def test_more_edges_than_are_listed_are_not_checked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verify_mechanism, "MOST_EDGES", 2)
    assert checked(tmp_path, [["1"]] * 3) == 0
    assert checked(tmp_path, [["1"]] * 4) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: the graph has more than 2 edges")
    monkeypatch.setattr(verify_mechanism, "check_privacy", lambda mechanism: bytearray(1 << 62))
    assert checked(tmp_path, [["1"]] * 3) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "not checked: there is too little memory for it"


def test_more_counts_than_are_written_are_not_checked(tmp_path, capsys, monkeypatch):
    graph = {"family": "histograms", "total": 1, "types": 5}
    assert checked(tmp_path, [["1"]] * 5, graph) == 0
    monkeypatch.setattr(verify_mechanism, "MOST_COUNTS", 24)
    assert checked(tmp_path, [["1"]] * 5, graph) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: the inputs have more than 24 counts")


LONG = [str(Fraction(1, 3**2000 + k)) for k in range(40)]


def sealed(certificate, **parts):
    document = {"privacy": {"ratio": 2}, "graph": {"family": "complete", "n": 2}, **parts}
    return add_digest({**document, "certificate": certificate})


def rows_of(entries):
    """A row of fractions that have nothing in common, two by two."""
    return [[str(Fraction(e) / len(entries)) for x in entries for e in (x, 1 - Fraction(x))]] * 2


MATRIX = [["1/2", "1/2"], ["1/2", "1/2"]]
AVERAGE = {"aggregate": "average", "loss": [[0, 1], [1, 0]], "weights": ["1/2", "1/2"]}
CHOSEN = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]}
TABLE = {"privacy": {"ratio": 2}, "graph": {"family": "complete", "n": 2}, "matrix": MATRIX}
SMALL = {
    "rows": ("over_common_denominator", {**TABLE, "matrix": rows_of(LONG)}),
    "pairs of rows": ("check_privacy", TABLE),
    "sums where rows are not alike": (
        "check_privacy",
        {**TABLE, "privacy": {"ratio": 2, "delta": "1/2"}, "matrix": [["1/5", "4/5"], ["3/5", "2/5"]]},
    ),
    "epsilons": ("ratio_of_epsilon", {**TABLE, "privacy": {"epsilon": 1}}),
    "weights": ("total", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "tables of a row often used": ("conclude", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "goals": ("expected_loss", sealed({"kind": "dual", **AVERAGE, "multipliers": []}, **TABLE)),
    "multipliers": (
        "lower_bound",
        sealed({"kind": "dual", **AVERAGE, "multipliers": [[0, 1, 0, "1/4"], [1, 0, 1, "1/4"]]}, **TABLE),
    ),
    "distances": (
        "smallest_reaching",
        sealed({"kind": "dual", **AVERAGE, "loss": {"name": "graph-distance"}, "multipliers": []}, **TABLE),
    ),
    "steps of rankings": (
        "u",
        sealed(
            {
                "kind": "theorem",
                "theorem": "homogeneous-rainbow",
                "rankings": [[0, 1], [1, 0]],
                "ranking_of": [0, 0, 1],
            },
            privacy={"ratio": 2},
            graph={"family": "path", "n": 3},
            matrix=[["1/2", "1/2"]] * 3,
        ),
    ),
    "first choices": (
        "most",
        sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE),
    ),
    "best rows": ("dominance", sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE)),
    "rankings": ("read_rankings", sealed({"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN}, **TABLE)),
    "readings": (
        "read_reading",
        {
            "privacy": {"ratio": 2},
            "factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1, 1, "1/2"], [1, 1, "1/2"]]}],
        },
    ),
}
FACTORED = {
    "kind": "theorem",
    "theorem": "geometric-reading",
    "aggregate": "average",
    "loss": [[0, 1], [1, 0]],
    "weights": [1, 1],
}
for name, function in {"releases": "geometric_reading", "values of factors": "expected_loss"}.items():
    SMALL[name] = (
        function,
        add_digest(
            {
                "privacy": {"ratio": 2},
                "factors": [{"kind": "geometric", "n": 1}],
                "objective": {"value": 2},
                "certificate": FACTORED,
            }
        ),
    )


@pytest.mark.parametrize("name", SMALL)
def test_every_loop_that_can_be_long_counts_its_work(name, tmp_path, capsys, monkeypatch):
    """The work of one function is bounded to nothing, and whatever else it takes is free."""
    function, document = SMALL[name]
    take, path = verify_mechanism.take, tmp_path / "m.json"
    path.write_text(json.dumps(document))

    def only_there(steps, *longest):
        if sys._getframe(1).f_code.co_name == function:
            take(steps << 50, *longest)

    monkeypatch.setattr(verify_mechanism, "take", only_there)
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out == (
        "not checked: its numbers are too many, or too long, to be worked through in half an hour\n"
    )


def complete(nodes, **certificate):
    parts = {"graph": {"family": "complete", "n": nodes}, "rows": [["1"] + ["0"] * (nodes - 1)], "row_of": [0] * nodes}
    return sealed(certificate, **parts)


BOMBS = {
    "rows of many long numbers": lambda: {**TABLE, "matrix": [rows_of(LONG * 5)[0]] * 2},
    "many pairs of rows": lambda: {
        "privacy": {"ratio": 2},
        "graph": {"family": "complete", "n": 400},
        "matrix": [["1/400"] * 400] * 400,
    },
    "one row used often": lambda: sealed(
        {"kind": "dual", **AVERAGE, "weights": [1] * 9000, "loss": {"name": "zero-one"}, "multipliers": []},
        graph={"family": "path", "n": 9000},
        rows=[["1"] + ["0"] * 8999],
        row_of=[0] * 9000,
    ),
    "distances from everywhere": lambda: complete(
        400,
        kind="dual",
        aggregate="average",
        weights=[1] * 400,
        loss={"name": "graph-distance"},
        multipliers=[],
    ),
    "long steps of many events": lambda: sealed(
        {"kind": "theorem", "theorem": "homogeneous-rainbow", **CHOSEN, "ranking_of": [0] * 69 + [1]},
        privacy={"ratio": str(Fraction(2 * 3**2000 + 1, 3**2000))},
        graph={"family": "path", "n": 70},
        rows=[["1/2", "1/2"]],
        row_of=[0] * 70,
    ),
    "many outputs ranked": lambda: sealed(
        {"kind": "theorem", "theorem": "homogeneous-rainbow", "rankings": [[*range(3000)]], "ranking_of": [0, 0]},
        graph={"family": "path", "n": 2},
        matrix=[["1"] + ["0"] * 2999] * 2,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_that_take_hours_are_not_checked(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 1 << 30)  # seconds
    path = tmp_path / "m.json"
    path.write_text(json.dumps(BOMBS[name]()))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: its numbers are too many")
    assert time.process_time() - started < 20


def test_long_numbers_that_have_nothing_in_common_are_compared_crosswise(tmp_path):
    """Over a common denominator this took a minute; and what is not alike is still found."""
    rows = rows_of([str(Fraction(1, 3**4000 + k)) for k in range(25)])
    started = time.process_time()
    assert checked(tmp_path, rows) == 0
    wrong = rows_of([str(Fraction(1, 5**2500 + k)) for k in range(25)])
    assert checked(tmp_path, [rows[0], wrong[0][::-1]]) == 1
    assert time.process_time() - started < 20


def test_work_is_counted_for_each_file_alone(tmp_path):
    taken = []
    for _ in range(2):
        assert checked(tmp_path, MATRIX) == 0
        taken += verify_mechanism.work
    assert taken[0] == taken[1] > 0


def test_a_choice_of_boundary_counts_its_work_too(tmp_path, capsys, monkeypatch):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(sealed({"kind": "dual", **AVERAGE, "choice": {}, "multipliers": []}, **TABLE)))
    monkeypatch.setattr(verify_mechanism, "main", lambda _: 0)
    assert verify_choice.check(str(path)) == 1
    monkeypatch.setattr(verify_mechanism, "MOST_WORK", 1)
    assert verify_choice.check(str(path)) == 2
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: its numbers are too many")


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "graph-distance"])
@pytest.mark.parametrize("kind", [{"kind": "dual", "multipliers": []}, {"kind": "theorem", "theorem": "rainbow"}])
def test_more_losses_than_are_written_are_not_checked(loss, kind, tmp_path, capsys):
    """A file of 54 KB, one row for 6,000 inputs, took 3.3 GB and minutes for losses that it has only by a name."""
    size = 6000
    goal = {"aggregate": "average", "loss": {"name": loss}, "weights": [0] * size}
    document = {"privacy": {"ratio": 2}, "graph": {"family": "path", "n": size}, "objective": {"value": 0}}
    document |= {"rows": [[1, *[0] * (size - 1)]], "row_of": [0] * size, "certificate": kind | goal}
    path, start = tmp_path / "m.json", time.process_time()
    path.write_text(json.dumps(add_digest(document)))
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: the goal has more than 8,388,608 losses")
    assert time.process_time() - start < 20


def test_distances_are_not_listed_for_answers_that_are_no_inputs(tmp_path, capsys):
    size = 40_000
    goal = {"aggregate": "average", "loss": {"name": "graph-distance"}, "weights": [0] * size}
    document = {"privacy": {"ratio": 2}, "graph": {"family": "path", "n": size}, "objective": {"value": 0}}
    document |= {"rows": [[1]], "row_of": [0] * size, "certificate": {"kind": "dual", "multipliers": []} | goal}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(add_digest(document)))
    assert verify_mechanism.main(str(path)) == 1
    assert capsys.readouterr().out == "no: distances need outputs that are the inputs\n"
