"""`design` and `audit` at the command line: files, verdicts, statuses."""

import json

import numpy as np
import pytest

from irisdp._cli import run
from irisdp._cli.mechanism_files import _REPAIRED
from irisdp.design._repair import _SLIP

SPECS = {
    "consumer": {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}},
    "bayes": {"kind": "consumer", "n": 3, "loss": "zero-one", "prior": [1, 1, 1, 1], "privacy": {"epsilon": 1}},
    "distance": {"kind": "distance", "graph": {"family": "cycle", "n": 7}, "privacy": {"epsilon": 1}},
    "geometric": {"kind": "geometric", "n": 9, "privacy": {"epsilon": "0.1"}},
}


def write(path, document):
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_what_is_designed_passes_the_audit(spec, tmp_path, capsys):
    if "prior" in spec:
        spec = spec | {"prior": ["1/4"] * 4}
    made = str(tmp_path / "m.json")
    assert run(["design", write(tmp_path / "s.json", spec), "-o", made]) == 0
    assert run(["audit", made]) == 0
    printed = capsys.readouterr()
    assert "holds" in printed.out
    assert run(["audit", made, "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["private"] is True
    assert verdict["rows_sum_to_one"] is True
    assert verdict["tightest"]["edge"]


def test_without_a_file_the_mechanism_is_printed(tmp_path, capsys):
    assert run(["design", write(tmp_path / "s.json", SPECS["consumer"]), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "irisdp/mechanism/1"
    assert document["objective"]["value"] == document["objective"]["lower_bound"] == "168/415"


def test_a_stricter_promise_does_not_hold(tmp_path, capsys):
    made = str(tmp_path / "m.json")
    run(["design", write(tmp_path / "s.json", SPECS["geometric"]), "-o", made])
    assert run(["audit", made, "--epsilon", "0.09", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert verdict["private"] is False
    assert run(["audit", made, "--epsilon", "0.09", "--delta", "1/2"]) == 0


def test_foreign_matrices_are_judged_as_given_and_can_be_repaired(tmp_path, capsys):
    matrix = np.array([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2]])
    np.save(tmp_path / "m.npy", matrix)
    graph = write(tmp_path / "g.json", {"family": "complete", "n": 2})
    fixed = str(tmp_path / "fixed.json")
    command = ["audit", str(tmp_path / "m.npy"), "--graph", graph, "--epsilon", "1.9", "--repair", fixed, "--json"]
    assert run(command) == 1
    verdict = json.loads(capsys.readouterr().out)
    # 0.7 + 0.1 + 0.2 as doubles is no 1, and log 7 is above 1.9.
    assert (verdict["private"], verdict["rows_sum_to_one"]) == (False, False)
    assert run(["audit", fixed]) == 0
    (tmp_path / "m.csv").write_text("2/3,1/3\n1/3,2/3\n")
    assert run(["audit", str(tmp_path / "m.csv"), "--graph", graph, "--ratio", "2"]) == 0
    assert run(["audit", str(tmp_path / "m.csv"), "--graph", graph, "--ratio", "1.9"]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "unheard of", "privacy": {"ratio": 2}},
        {"kind": "geometric", "privacy": {"ratio": 2}},
        {"kind": "geometric", "n": -1, "privacy": {"ratio": 2}},
        {"kind": "geometric", "n": 3},
        {"kind": "geometric", "n": 3, "privacy": {"ratio": 2}, "extra": 1},
        {"kind": "consumer", "n": 3, "loss": "cubic", "privacy": {"ratio": 2}},
        {"kind": "consumer", "n": 3, "loss": "absolute", "prior": [1], "privacy": {"ratio": 2}},
        {"kind": "distance", "graph": {"family": "torus", "n": 3}, "privacy": {"ratio": 2}},
        {"kind": "distance", "graph": {"nodes": ["a"], "edges": [["a", "b"]]}, "privacy": {"ratio": 2}},
        [],
    ],
)
def test_bad_specs_end_with_status_2(wrong, tmp_path, capsys):
    assert run(["design", write(tmp_path / "s.json", wrong)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1


def test_audit_needs_a_graph_and_a_promise(tmp_path, capsys):
    bare = write(tmp_path / "m.json", {"matrix": [[1, 0], [0, 1]]})
    assert run(["audit", bare]) == 2
    assert run(["audit", bare, "--epsilon", "1"]) == 2
    assert "graph" in capsys.readouterr().err


def test_an_audit_names_the_row_that_does_not_sum_to_1_the_entry_below_0_and_what_it_wrote(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    graph = write(tmp_path / "g.json", {"family": "complete", "n": 3})
    (tmp_path / "m.csv").write_text("1/3,1/3,1/3\n0.3333,0.3333,0.3333\n0.4,0.4,0.3\n")
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2"]) == 1
    said = capsys.readouterr().out
    assert "do NOT sum to exactly 1: that of input 1 is the first, 0.0001 too little; give more digits, or" in said
    assert "negative" not in said and "written" not in said and "--repair" not in said
    (tmp_path / "m.csv").write_text("1/3,1/3,1/3\n0.33333333,0.33333333,0.33333333\n1/3,1/3,1/3\n")
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2"]) == 1
    assert "input 1 is the first, 1e-08 too little; --repair OUT.json writes" in capsys.readouterr().out
    assert run(["audit", "m.csv", "--graph", graph, "--ratio", "2", "--repair", "f.json"]) == 1
    said = capsys.readouterr().out
    assert "the first, 1e-08 too little\n" in said and "  written    f.json\n" in said
    assert run(["audit", "f.json"]) == 0 and "rows       sum to exactly 1\n" in capsys.readouterr().out
    (tmp_path / "n.csv").write_text("1/2,1/2,0\n0.6,0.6,-0.2\n0.5,0.5,0.5\n")
    assert run(["audit", "n.csv", "--graph", graph, "--ratio", "2"]) == 1
    said = capsys.readouterr().out
    assert "negative   the first entry below 0 is that of input 1, output 2: -0.2" in said
    assert "that of input 2 is the first, 0.5 too much" in said
    assert _REPAIRED == _SLIP
