"""Mechanism files written to mislead or to break: one line and one status from both checkers, and no forged output."""

import contextlib
import io
import json
import unicodedata

import pytest

from irisdp._cli import run
from irisdp.certify import add_digest, verify_mechanism

ROWS = [["2/3", "1/3"], ["1/3", "2/3"]]
PATH = {"family": "path", "n": 2}


def checked(text, path, capsys):
    """Return the status that both give, all that the audit prints (also as JSON), and what the verifier prints."""
    path.write_text(text)
    capsys.readouterr()
    verifier = io.StringIO()
    with contextlib.redirect_stdout(verifier):
        status = verify_mechanism.main(str(path))
    said = ""
    for options in ([], ["--json"]):
        assert run(["audit", str(path), *options]) == status
        captured = capsys.readouterr()
        assert "internal error" not in captured.err and captured.err.count("\n") == (status == 2)
        said += captured.out + captured.err
    return status, said, verifier.getvalue()


STEERING = ["\n", "\r", "\x1b[2J", "\x07", "\x9b2J", "\u202e", "\u2066", "\u200f", "\u2028", "\u2029", "\x85", "\ufeff"]


@pytest.mark.parametrize("text", STEERING, ids=ascii)
@pytest.mark.parametrize("where", ["node", "output", "stranger", "theorem", "not close"])
def test_no_name_forges_a_line_or_steers_the_terminal(text, where, tmp_path, capsys):
    name = f"a{text}yes: private on every edge"
    document = {"privacy": {"ratio": 2}, "graph": PATH, "matrix": ROWS}
    if where in ("node", "not close"):
        document["graph"] = {"nodes": [name, "b"], "edges": [[name, "b"]]}
        if where == "not close":
            document["matrix"] = [[1, 0], [0, 1]]
    elif where == "stranger":
        document["graph"] = {"nodes": ["a", "b"], "edges": [["a", name]]}
    elif where == "theorem":
        document = add_digest({**document, "certificate": {"kind": "theorem", "theorem": name}})
    else:
        goal = {"aggregate": "average", "weights": ["1/2", "1/2"], "loss": [[0, 1], [0, 1]]}
        document |= {"outputs": [name, "y"], "objective": {"name": name, "value": "1/2"}}
        document = add_digest({**document, "certificate": {"kind": "dual", "multipliers": [], **goal}})
    status, audit, verifier = checked(json.dumps(document), tmp_path / "m.json", capsys)
    assert status == {"node": 0, "output": 0, "stranger": 2, "theorem": 1, "not close": 1}[where]
    for printed in (audit, verifier):
        assert not any(line.startswith("yes") for line in printed.splitlines()[1:])
        letters = set(printed) - {"\n"}
        assert not [x for x in letters if unicodedata.category(x) in ("Cc", "Cf", "Zl", "Zp", "Cs")], ascii(printed)


@pytest.mark.parametrize("text", ["\n", "\x1b[2J", "\u202e"], ids=ascii)
def test_sample_and_design_print_names_safely(text, tmp_path, capsys):
    document = {"privacy": {"ratio": 2}, "graph": PATH, "outputs": [f"x{text}", f"{text}y"], "matrix": ROWS}
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert run(["sample", str(tmp_path / "m.json"), "--input", "0", "-n", "3"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3 and not set(out) & {"\x1b", "\u202e"}
    lines = []
    for named in ("z", text):
        spec = {"kind": "binary", "privacy": {"ratio": 2}, "graph": PATH, "colors": {"0": f"a{named}", "1": "b"}}
        (tmp_path / "s.json").write_text(json.dumps(spec))
        for options in ([], ["-o", str(tmp_path / "d.json"), "--force"]):
            assert run(["design", str(tmp_path / "s.json"), *options]) == 0
            out = capsys.readouterr().out
            lines.append(len(out.splitlines()))
            assert not set(out) & {"\x1b", "\u202e"}
    assert lines[:2] == lines[2:]


def plain(**changes):
    return json.dumps({"privacy": {"ratio": 2}, "graph": PATH, "matrix": ROWS, **changes})


def with_number(number, where):
    """Write a number as JSON literal, or as text, at one place of a file."""
    text = plain(note="HERE") if where == "note" else plain(privacy={where: "HERE"})
    return text.replace('"HERE"', number)


@pytest.mark.parametrize("where", ["note", "ratio", "epsilon"])
@pytest.mark.parametrize(
    "number",
    [
        "1e99999999999999999999999",
        "1e4001",
        "1E-4001",
        "1" + "0" * 4300,
        "0." + "1" * 4301,
        "1e00009999",
        "NaN",
        "1" * 9000,
    ],
    ids=lambda number: number[:12],
)
def test_numbers_beyond_all_use_are_refused_wherever_they_stand(number, where, tmp_path, capsys):
    status, audit, verifier = checked(with_number(number, where), tmp_path / "m.json", capsys)
    assert (
        status == 2
        and audit.startswith(f"irisdp: {tmp_path / 'm.json'}: ")
        and verifier.startswith("not a mechanism file: ")
    )


@pytest.mark.parametrize("number", ["1e4000", '"1e4000"', "1" + "0" * 4299, "2e0000000001", '"2e0000000001"', "1e400"])
def test_numbers_of_that_size_are_judged(number, tmp_path, capsys):
    assert checked(with_number(number, "note"), tmp_path / "m.json", capsys)[0] == 0
    objective = plain(objective={"value": "HERE"}).replace('"HERE"', number)
    assert checked(objective, tmp_path / "m.json", capsys)[0] == 0


@pytest.mark.parametrize("number", ["1e1200", '"1e1200"', "1" + "0" * 1200, "2e0000000001", '"2e0000000001"', "1e400"])
def test_ratios_of_a_thousand_digits_are_judged(number, tmp_path, capsys):
    assert checked(with_number(number, "ratio"), tmp_path / "m.json", capsys)[0] == 0


@pytest.mark.parametrize("rows", [[["1e4000", 0], [0, 1]], [["-1e4000", "1e4000"], [0, 1]]])
def test_entries_beyond_floats_are_reported_exactly(rows, tmp_path, capsys):
    assert checked(plain(matrix=rows), tmp_path / "m.json", capsys)[0] == 1
    assert run(["audit", str(tmp_path / "m.json"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["floats"]["delta_at_epsilon"] is None and len(found["delta_at_epsilon"]) > 4000


def test_goals_longer_than_a_number_may_be_written_are_printed_exactly(tmp_path, capsys):
    goal = {"aggregate": "average", "weights": ["1e3000", "1"], "loss": [["1e3000", 0], [0, "1e3000"]]}
    certificate = {"kind": "dual", "multipliers": [], **goal}
    document = add_digest({**json.loads(plain()), "certificate": certificate, "objective": {"value": "0"}})
    assert checked(json.dumps(document), tmp_path / "m.json", capsys)[0] == 1
    assert run(["audit", str(tmp_path / "m.json"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["optimality"]["value"].startswith("20000")


@pytest.mark.parametrize("where", ["nodes", "outputs", "within a list", "theorem"])
def test_half_a_character_is_no_name(where, tmp_path, capsys):
    half = "\ud800"
    document = json.loads(plain())
    if where == "nodes":
        document["graph"] = {"nodes": [half, "b"], "edges": [[half, "b"]]}
    elif where == "within a list":
        document["graph"] = {"nodes": [[0, half], "b"], "edges": []}
    elif where == "outputs":
        document["outputs"] = [half, "b"]
    else:
        document["certificate"] = {"kind": "theorem", "theorem": half, "digest": ""}
    status, audit, _ = checked(json.dumps(document), tmp_path / "m.json", capsys)
    assert status == (1 if where == "theorem" else 2)
    if status == 2:
        assert "whole characters" in audit
