"""Mechanism files written to mislead or to break: one line and one status from both checkers, and no forged output."""

import contextlib
import io
import json
import sys
import time
import unicodedata
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Privacy, audit, design, graphs
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
@pytest.mark.parametrize("number", [
    "1e99999999999999999999999",
    "1e4001",
    "1E-4001",
    "1" + "0" * 4300,
    "0." + "1" * 4301,
    "1e00009999",
    "NaN",
    "1" * 9000,
], ids=lambda number: number[:12])  # fmt: skip
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


# What a checker does not do, it refuses at once and in one line: both at the same limits.


def checked_at_limits(document, path, capsys):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    verifier = io.StringIO()
    with contextlib.redirect_stdout(verifier):
        status = verify_mechanism.main(str(path))
    capsys.readouterr()
    assert run(["audit", str(path)]) == status
    captured = capsys.readouterr()
    return status, captured.out + captured.err, verifier.getvalue()


def test_factors_beyond_the_limit_are_refused_at_once(tmp_path, capsys):
    document = {"privacy": {"ratio": 2}, "factors": [{"kind": "geometric", "n": 10**30}]}
    status, audited, verified = checked_at_limits(document, tmp_path / "m.json", capsys)
    assert status == 2 and audited.startswith("irisdp: factors: ") and "1000000" in verified
    assert verified.startswith("not a mechanism file: ")


def test_large_factors_are_checked_in_seconds(tmp_path, capsys):
    certificate = {"kind": "theorem", "theorem": "geometric"}
    document = add_digest(
        {"privacy": {"ratio": 2}, "factors": [{"kind": "geometric", "n": 10**5}], "certificate": certificate}
    )
    started = time.process_time()
    assert checked_at_limits(document, tmp_path / "m.json", capsys)[0] == 0
    assert time.process_time() - started < 20


COUNTS = "not checked: the inputs have more than 100,000,000 counts"
EDGES = "not checked: the graph has more than 4,194,304 edges"


@pytest.mark.parametrize(("graph", "inputs", "status", "says"), [
    ({"family": "histograms", "total": 1, "types": 1000}, 1000, 0, "edges: 499500"),
    ({"family": "histograms", "total": 2, "types": 1000}, 500_500, 2, COUNTS),  # they would take gigabytes
    ({"family": "sorted_histograms", "total": 2, "types": 1000}, 500_500, 2, COUNTS),
    ({"family": "complete", "n": 10_000}, None, 2, EDGES),
    ({"family": "histograms", "total": 3, "types": 140}, None, 2, EDGES),
    ({"family": "hamming", "length": 2, "symbols": 400}, None, 2, EDGES),
], ids=str)  # fmt: skip
def test_the_verifier_ends_in_seconds_and_says_what_it_does_not_check(graph, inputs, status, says, tmp_path, capsys):
    """The audit has faster ways; that the file were wrong is not said."""
    inputs = inputs or graphs.graph_from_document(graph).number_of_nodes
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * inputs}))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == status
    said = capsys.readouterr().out
    assert said.startswith(says) if status else says in said
    assert time.process_time() - started < 20


def test_what_takes_more_memory_than_there_is_is_not_checked(tmp_path, capsys, monkeypatch):
    def without_memory(document):
        raise MemoryError

    (tmp_path / "m.json").write_text("{}")
    monkeypatch.setattr(verify_mechanism, "read_mechanism", without_memory)
    assert verify_mechanism.main(str(tmp_path / "m.json")) == 2
    assert capsys.readouterr().out == "not checked: there is too little memory for it\n"


@pytest.mark.parametrize(("family", "total", "types", "size", "edges"), [
    ("histograms", 0, 1000, 1, 0),
    ("histograms", 1, 1000, 1000, 499_500),
    ("histograms", 4, 11, 1001, 15_730),
    ("sorted_histograms", 1, 1000, 1, 0),
    ("sorted_histograms", 23, 1000, 1255, 8227),
])  # fmt: skip
def test_histograms_of_many_types_are_checked_in_seconds(family, total, types, size, edges, tmp_path, capsys):
    """Files of three thousand characters: the names of the types are not worked through for every pair of types."""
    graph = {"family": family, "total": total, "types": types}
    document = {"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * size}
    started = time.process_time()
    status, _, verified = checked_at_limits(document, tmp_path / "m.json", capsys)
    assert status == 0 and audit(tmp_path / "m.json").edges == edges
    assert f"edges: {edges}" in verified
    assert time.process_time() - started < 20


@pytest.mark.parametrize("epsilon", ["999." + "7" * 1200, "1/" + "3" * 1200, "9" * 1203 + "/1" + "0" * 1200])
def test_an_epsilon_of_many_digits_is_read_in_seconds(epsilon, tmp_path, capsys):
    started = time.process_time()
    document = {"privacy": {"epsilon": epsilon}, "graph": {"family": "path", "n": 1}, "matrix": [[1]]}
    assert checked_at_limits(document, tmp_path / "m.json", capsys)[0] == 0
    assert time.process_time() - started < 20


@pytest.mark.parametrize("number", ["999." + "7" * 4000, "1/" + "3" * 4000, "1e4000", "1e-1300", 10**1300])
@pytest.mark.parametrize("field", ["epsilon", "ratio", "delta"])
def test_privacy_of_too_many_digits_is_refused_at_once_and_alike(number, field, tmp_path, capsys):
    started = time.process_time()
    privacy = {field: number} | ({"ratio": 2} if field == "delta" else {})
    document = {"privacy": privacy, "graph": {"family": "path", "n": 1}, "matrix": [[1]]}
    status, audited, verified = checked_at_limits(document, tmp_path / "m.json", capsys)
    assert status == 2 and audited.startswith(f"irisdp: {field}: has more than 4096 bits")
    assert verified.startswith(f"not a mechanism file: {field} has more than 4096 bits")
    with pytest.raises(BadInput, match=f"{field}: has more than 4096 bits"):
        Privacy(**privacy)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "epsilon", ["1e-1200", "1e-40", "1e-9", "0.3", "1", "2.718281828", "37/3", "100.125", "999.5", "1000"]
)
def test_both_round_the_ratio_alike(epsilon):
    assert verify_mechanism.ratio_of_epsilon(Fraction(epsilon)) == Privacy(epsilon=epsilon).ratio


@pytest.mark.parametrize("power", [100, 300])
def test_an_epsilon_made_to_come_close_to_a_short_ratio_is_rounded_down(power):
    """ln 2 to many digits, from below and above."""
    unit = 10 ** (power + 20)
    digits = sum(unit // (k << k) for k in range(1, 4 * power + 100)) // 10**20
    below, above = (verify_mechanism.ratio_of_epsilon(Fraction(digits + more, 10**power)) for more in (0, 1))
    assert below == 2 - Fraction(1, 1 << 128) or below == 2 - Fraction(1, 1 << 127)
    assert above == 2
    for more, found in ((0, below), (1, above)):
        assert Privacy(epsilon=Fraction(digits + more, 10**power)).ratio == found


def line(nodes, privacy):
    """The row of one far end is given, and all others follow from it."""
    facts = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0] * (nodes - 1) + [1]}
    return add_digest(
        {
            "privacy": privacy,
            "graph": {"family": "path", "n": nodes},
            "rows": [["1/2", "1/2"]],
            "row_of": [0] * nodes,
            "certificate": {"kind": "theorem", "theorem": "homogeneous-rainbow", "within": 1, **facts},
        }
    )


@pytest.mark.parametrize(("nodes", "privacy"), [(6000, {"epsilon": "1"}), (6000, {"ratio": "2.000000001"})])
def test_rows_too_far_from_given_ones_are_refused_at_once(nodes, privacy, tmp_path, capsys):
    started = time.process_time()
    status, audited, verified = checked_at_limits(line(nodes, privacy), tmp_path / "m.json", capsys)
    assert status == 1 and "reach too far" in audited and "reach too far" in verified
    assert time.process_time() - started < 20


def test_the_limit_is_one_of_digits_not_of_steps(tmp_path, capsys):
    status, audited, verified = checked_at_limits(line(1500, {"ratio": "2"}), tmp_path / "m.json", capsys)
    assert status == 1 and "reach too far" not in audited and "reach too far" not in verified


@pytest.mark.parametrize("certified", [False, True])
def test_designs_beyond_the_limit_carry_no_certificate_that_nobody_checks(certified):
    privacy = Privacy(ratio=2) if certified else Privacy(epsilon=1)
    for made in (design.binary(graphs.Path(700), ["a"] * 699 + ["b"], privacy), design.balanced_line(700, 1, privacy)):
        assert (made.certificate is not None) is certified
        assert audit(made).optimality is None or certified
    assert json.dumps(design.balanced_line(20, 1, Privacy(epsilon=1)).to_document()).count("balanced-line") == 1


# Symmetry as people meet it: verdicts in words, refusals, sizes.


def test_a_verdict_names_its_witness():
    verdict = graphs.regular_layers(graphs.Histograms(4, 3))
    assert not verdict.regular
    assert (
        verdict.text == "nodes [2, 2, 0] and [2, 1, 1] in layer 2 of node [4, 0, 0] have 1 and 2 neighbours in layer 1"
    )
    assert (verdict.start, verdict.layer, verdict.toward, verdict.counts) == (0, 2, 1, (1, 2))


def test_regular_layers_around_one_node_or_all():
    assert graphs.regular_layers(graphs.Path(5), 2).text == "the layers around node 2 are regular"
    assert not graphs.regular_layers(graphs.Path(5)).regular
    assert graphs.regular_layers(graphs.Cycle(9)).text == "the layers around every node are regular"
    assert graphs.regular_layers(graphs.Hamming(8, 2), group=graphs.symmetry(graphs.Hamming(8, 2))).regular


def test_layers_need_a_connected_graph():
    with pytest.raises(BadInput, match="connected"):
        graphs.regular_layers(graphs.graph_from_edges([("a", "b")], nodes=["a", "b", "c"]))


def test_orbits_and_representatives():
    group = graphs.symmetry(graphs.Path(5))
    assert group.orbit_of.tolist() == [0, 1, 2, 1, 0]
    assert group.representatives.tolist() == [0, 1, 2]
    assert group.orbit_sizes.tolist() == [2, 2, 1]
    assert not group.vertex_transitive
    assert graphs.symmetry(graphs.Hamming(3, 3)).vertex_transitive


def test_colours_break_symmetry():
    assert graphs.symmetry(graphs.Cycle(6), colours=[1, 0, 0, 0, 0, 0]).number_of_orbits == 4
    assert graphs.symmetry(graphs.Cycle(6), colours=np.zeros(6, int)).vertex_transitive


def test_large_symmetric_graphs_are_quick():
    assert graphs.symmetry(graphs.Hamming(12, 2)).vertex_transitive


def test_a_missing_igraph_is_said_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(BadInput) as refused:
        graphs.symmetry(graphs.graph_from_edges([(0, 1), (1, 2)]))
    assert refused.value.field == "igraph"
    assert graphs.symmetry(graphs.Cycle(5)).vertex_transitive


def test_too_large_a_graph_is_refused():
    with pytest.raises(BadInput) as refused:
        graphs.symmetry(graphs.Path(10**9))
    assert refused.value.field == "graph"
