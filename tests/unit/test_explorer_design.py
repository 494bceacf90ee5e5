"""The room Design: the optimum for what is pasted or chosen, and the same file from the command line and Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")


from irisdp import BadInput, audit
from irisdp._explorer.design import DESIGN, design
from irisdp._explorer.design_form import DESIGN_FIELDS, FAMILIES, KINDS, asked
from irisdp._explorer.forms import read_values
from irisdp.design import KINDS as SPEC_KINDS
from irisdp.graphs import _loading
from irisdp.mechanisms import FactoredMechanism, read_document
from support.commands import irisdp

CUBE = "000: 001 010 100\n011: 001 010 111\n101: 001 100 111\n110: 010 100 111"
MAJORITY = "000: no\n001: no\n010: no\n100: no\n*: yes"
HOSTILE = "</script><script>alert(1)</script>"


def made(**said):
    return design(read_values(DESIGN_FIELDS, said), lambda phase: None)


def file_of(result, name):
    return next(file.content for file in result.files if file.name == name)


def fact(result, name):
    return next(one.value for one in result.facts if one.name == name)


ONE_OF_EACH = {
    "binary": {"graph": CUBE, "colors": MAJORITY, "delta": "1/100"},
    "rainbow": {"family": "path", "family_n": "4", "rankings": "0..1: a>b>c\n*: c>b>a", "scale": "ratio", "ratio": "2"},
    "distance": {"family": "hamming", "family_length": "2"},
    "exponential": {"family": "cycle", "family_n": "5"},
    "consumer": {"n": "4", "loss": "pinball", "too_high": "5/2", "at_most": "3"},
    "geometric": {"n": "4"},
    "randomized-response": {"choices": "3"},
    "balanced-line": {"n_blue": "2", "n_red": "3"},
    "plurality": {"categories": "3", "largest": "2", "objective": "worst"},
    "top": {"k": "1", "categories": "3", "largest": "1"},
    "ranking": {"categories": "3", "largest": "1"},
    "spec": {"spec": '{"kind": "geometric", "n": 3, "privacy": {"epsilon": 0.5}}'},
}


def test_a_delta_is_said_to_mean_what_it_means():
    found = made(kind="randomized-response", choices="3", delta="1/7")
    assert fact(found, "δ means") == (
        "With probability up to 14.29 % an answer tells neighbours apart for certain, however small ε is: that is much"
    )
    small = fact(made(kind="randomized-response", choices="3", delta="1/7000"), "δ means")
    assert small.startswith("With probability up to 0.000142858 an answer") and "much" not in small
    assert "δ means" not in [one.name for one in made(kind="randomized-response", choices="3").facts]


def test_the_form_knows_what_specs_and_graphs_know():
    assert set(KINDS) == set(SPEC_KINDS)
    for kind, told in KINDS.items():
        _, required, optional = SPEC_KINDS[kind]
        assert {*told.parts, *(("graph",) if told.graph else ())} == required | optional
    assert {family: sizes for family, (_, sizes) in FAMILIES.items()} == {
        family: sizes for family, (_, sizes) in _loading._FAMILIES.items()
    }
    names = {one.name for one in DESIGN_FIELDS}
    assert {f"family_{size}" for _, sizes in FAMILIES.values() for size in sizes} <= names
    assert set(ONE_OF_EACH) == {*KINDS, "spec"}


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_each_kind_is_designed_checked_and_made_again_by_the_command_line(kind, tmp_path, monkeypatch):
    result = made(kind=kind, **ONE_OF_EACH[kind])
    mechanism = file_of(result, "mechanism.json")
    assert result.verdict == "good"
    assert audit(read_document(json.loads(mechanism))).holds
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_bytes(file_of(result, "spec.json"))
    for line in result.command.splitlines():
        assert irisdp(line.removeprefix("irisdp ")).status == 0
    assert Path("mechanism.json").read_bytes() == mechanism


@pytest.mark.parametrize("kind", ["binary", "consumer"])
def test_the_python_makes_the_same_file(kind, tmp_path):
    result = made(kind=kind, **ONE_OF_EACH[kind])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    subprocess.run([sys.executable, "-c", result.python], cwd=tmp_path, env=environment, check=True, timeout=300)
    assert (tmp_path / "mechanism.json").read_bytes() == file_of(result, "mechanism.json")


def test_the_optimum_for_a_pasted_graph_of_eight_nodes():
    result = made(graph=CUBE, colors=MAJORITY)
    assert result.headline.startswith("Proved best: mean probability of missing the first choice 0.226440571;")
    assert result.headline.endswith("no private mechanism with the same rows on the boundary has less.")
    assert fact(result, "Size") == "8 inputs, 2 answers"
    bound = next(one for one in result.facts if one.name == "Bound")
    assert "given at 6 of 8 inputs" in bound.remark
    assert fact(result, "Gap") == "0" and fact(result, "Bound") == fact(result, "Value"), (
        "one number is written one way"
    )
    assert fact(result, "Goal").startswith("mean probability of missing the first choice"), "as the headline says"
    by_depth, matrix = result.tables
    assert [row[:2] for row in by_depth.rows] == [
        ("on the boundary", "no"),
        ("on the boundary", "yes"),
        ("1 inside", "no"),
        ("1 inside", "yes"),
    ]
    assert by_depth.rows[0][2:] == ("001, 010, 100", "0.731059", "0.268941")
    assert len(matrix.rows) == 8
    assert result.pictures


def test_what_is_asked_is_the_spec_of_the_command_line():
    values = read_values(
        DESIGN_FIELDS,
        {"graph": "0 1\n1 2", "colors": "0: a\n*: b", "epsilon": "1/2", "delta": "1e-3", "boundary": '{"0": 0.75}'},
    )
    assert asked(values).spec == {
        "kind": "binary",
        "graph": {"nodes": [0, 1, 2], "edges": [[0, 1], [1, 2]]},
        "colors": {"0": "a", "1": "b", "2": "b"},
        "boundary": {"0": "0.75"},
        "privacy": {"epsilon": "1/2", "delta": "1e-3"},
    }


def test_what_no_mechanism_does_is_explained():
    result = made(graph="a b\nb c", colors="a: x\n*: y", boundary="0.9")
    assert result.verdict == "bad"
    assert result.headline.startswith("No private mechanism has these probabilities: a is given 0.9 for x")
    assert fact(result, "Inputs in conflict") == "a and b"
    assert fact(result, "Possible from ε") == "2.19723"
    assert json.loads(file_of(result, "explanation.json"))["infeasible"]["pair"] == ["a", "b"]
    assert result.command


def test_no_optimum_shows_two_witnesses():
    result = made(graph="a b\nb c\nc d", colors="a: x\nb: x\nc: y\nd: y", boundary='{"a": "0.9", "d": "0.9"}')
    assert result.verdict == "bad"
    assert len(json.loads(file_of(result, "explanation.json"))["witnesses"]) == 2


def test_loops_are_noticed():
    result = made(graph="a b\nb b", colors="a: x\nb: y")
    assert "One edge joins a node to itself" in result.notes[-1]


def test_names_are_names_and_nothing_else():
    result = made(graph=json.dumps([[HOSTILE, "b\u202e\n"]]), colors=json.dumps({HOSTILE: "x", "b\u202e\n": "\"'"}))
    assert result.verdict == "good"
    assert HOSTILE in result.tables[-1].rows[0][0]
    compile(result.python, "python", "exec")
    assert "\u202e" not in result.python


@pytest.mark.parametrize(("said", "field"), [
    ({"kind": "nothing"}, "kind"),
    ({"graph": "a b"}, "colors"),
    ({"graph": "a b", "colors": "a: x\nb: y\nc: z"}, "colors"),
    ({"graph": "a b c", "colors": "*: x"}, "graph"),
    ({"graph": "a b", "colors": "*: x", "epsilon": "nan"}, "epsilon"),
    ({"graph": "a b", "colors": "*: x", "epsilon": ""}, "epsilon"),
    ({"graph": "a b", "colors": "*: x", "epsilon": "1e999999999"}, "epsilon"),
    ({"graph": "a b", "colors": "*: x", "epsilon": "-1"}, "epsilon"),
    ({"graph": "a b", "colors": "*: x", "delta": "2"}, "delta"),
    ({"graph": "a b", "colors": "*: x", "scale": "ratio", "ratio": "0"}, "ratio"),
    ({"family": "path", "family_n": "1000000"}, "graph"),
    ({"family": "path", "family_n": "-3"}, "family_n"),
    ({"family": "path", "family_n": ""}, "family_n"),
    ({"family": "hamming", "family_length": "60"}, "graph"),
    ({"family": "gaps", "family_relation": "other"}, "family_relation"),
    ({"family": "nothing"}, "family"),
    ({"kind": "consumer", "loss": "/etc/passwd"}, "loss"),
    ({"kind": "consumer", "loss": "x.json"}, "loss"),
    ({"kind": "consumer", "loss": "table", "loss_table": "{"}, "loss_table"),
    ({"kind": "consumer", "loss": "threshold", "beyond": "1:2"}, "beyond"),
    ({"kind": "consumer", "n": "1e300"}, "n"),
    ({"kind": "consumer", "n": "x"}, "n"),
    ({"kind": "consumer", "prior": "[NaN]"}, "prior"),
    ({"kind": "spec", "spec": ""}, "spec"),
    ({"kind": "spec", "spec": "[" * 10_000}, "spec"),
    ({"kind": "spec", "spec": '"spec.json"'}, "spec"),
    ({"kind": "spec", "spec": '{"kind": "distance", "graph": {"family": "path", "n": 99999}}'}, "graph"),
    ({"kind": "distance", "graph": "a b", "weights": "7"}, "weights"),
])  # fmt: skip
def test_what_cannot_be_designed_gets_one_line(said, field):
    with pytest.raises(BadInput) as caught:
        made(**said)
    assert caught.value.field.partition("[")[0] == field
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_nothing_is_answered_before_something_is_asked():
    assert "then press Design" in DESIGN.answer(read_values(DESIGN_FIELDS, {})).text


def test_of_a_formula_over_many_counts_a_part_is_shown(monkeypatch):
    """Exact rows have as many digits as there are counts: one took longer than a minute."""

    def never(self, node):
        raise AssertionError("an exact row of many counts is worked out")

    monkeypatch.setattr(FactoredMechanism, "row", never)
    found = made(kind="geometric", n="20000")
    (table,) = found.tables
    assert "the first 40 of 20001 inputs" in table.caption and "answers" in table.caption
    assert table.rows[0][1] == "0.7311" and len(table.rows) == 40
    assert "inputs 100 are drawn" in found.pictures[0].description


def test_a_graph_without_edges_is_noticed():
    assert any("no edge" in note for note in made(graph="a-b\nb-c", colors="*: x").notes)
    assert not any("no edge" in note for note in made(graph="a b", colors="*: x").notes)
