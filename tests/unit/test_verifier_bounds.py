"""Small files that ask the stand-alone verifier for long numbers are not checked, in a time of their size."""

from __future__ import annotations

import json

import pytest

from irisdp.certify import verify_mechanism
from irisdp.mechanisms.scope import too_many_events


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


@pytest.mark.parametrize("limit", ["LONGEST_ROW", "LONGEST_ROWS"])
def test_long_common_denominators_are_not_written(tmp_path, capsys, monkeypatch, limit):
    shares = [f"1/{prime}" for prime in primes(300)]
    rows = [[*shares, "0"], ["0", *shares]]
    assert checked(tmp_path, rows) == 1
    assert capsys.readouterr().out.startswith("no: a row is negative somewhere or does not sum to exactly 1")
    monkeypatch.setattr(verify_mechanism, limit, 10**5)
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
