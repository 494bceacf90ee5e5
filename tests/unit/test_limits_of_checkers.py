"""What a checker does not do, it refuses at once and in one line: both at the same limits."""

import contextlib
import io
import json
import time
from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy, audit, design
from irisdp._cli import run
from irisdp.certify import add_digest, verify_mechanism
from irisdp.graphs import Path, graph_from_document


def checked(document, path, capsys):
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
    status, audited, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == 2 and audited.startswith("irisdp: factors: ") and "1000000" in verified
    assert verified.startswith("not a mechanism file: ")


def test_large_factors_are_checked_in_seconds(tmp_path, capsys):
    certificate = {"kind": "theorem", "theorem": "geometric"}
    document = add_digest(
        {"privacy": {"ratio": 2}, "factors": [{"kind": "geometric", "n": 10**5}], "certificate": certificate}
    )
    started = time.process_time()
    assert checked(document, tmp_path / "m.json", capsys)[0] == 0
    assert time.process_time() - started < 20


LARGE = [
    {"family": "complete", "n": 10_000},
    {"family": "histograms", "total": 3, "types": 140},
    {"family": "hamming", "length": 2, "symbols": 400},
]


@pytest.mark.parametrize("graph", LARGE, ids=str)
def test_graphs_of_too_many_edges_are_not_checked_by_the_verifier_alone(graph, tmp_path, capsys):
    """The audit has faster ways; that the file were wrong is not said."""
    size = graph_from_document(graph).number_of_nodes
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * size}))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: the graph has more than 4,194,304 edges")
    assert time.process_time() - started < 20


def test_what_takes_more_memory_than_there_is_is_not_checked(tmp_path, capsys, monkeypatch):
    def without_memory(document):
        raise MemoryError

    (tmp_path / "m.json").write_text("{}")
    monkeypatch.setattr(verify_mechanism, "read_mechanism", without_memory)
    assert verify_mechanism.main(str(tmp_path / "m.json")) == 2
    assert capsys.readouterr().out == "not checked: there is too little memory for it\n"


def test_the_verifier_joins_long_names_in_seconds(tmp_path, capsys):
    graph = {"family": "histograms", "total": 1, "types": 1000}
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * 1000}))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == 0
    assert "edges: 499500" in capsys.readouterr().out
    assert time.process_time() - started < 20


@pytest.mark.parametrize("family", ["histograms", "sorted_histograms"])
def test_inputs_of_too_many_counts_are_not_checked_by_the_verifier_alone(family, tmp_path, capsys):
    """They would take gigabytes: half a million inputs of a thousand counts."""
    graph = {"family": family, "total": 2, "types": 1000}
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * 500_500}))
    started = time.process_time()
    assert verify_mechanism.main(str(path)) == 2
    assert capsys.readouterr().out.startswith("not checked: the inputs have more than 100,000,000 counts")
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("family", "total", "types", "size", "edges"),
    [
        ("histograms", 0, 1000, 1, 0),
        ("histograms", 1, 1000, 1000, 499_500),
        ("histograms", 4, 11, 1001, 15_730),
        ("sorted_histograms", 1, 1000, 1, 0),
        ("sorted_histograms", 23, 1000, 1255, 8227),
    ],
)
def test_histograms_of_many_types_are_checked_in_seconds(family, total, types, size, edges, tmp_path, capsys):
    """Files of three thousand characters: the names of the types are not worked through for every pair of types."""
    graph = {"family": family, "total": total, "types": types}
    document = {"privacy": {"ratio": 2}, "graph": graph, "rows": [[1]], "row_of": [0] * size}
    started = time.process_time()
    status, _, verified = checked(document, tmp_path / "m.json", capsys)
    assert status == 0 and audit(tmp_path / "m.json").edges == edges
    assert f"edges: {edges}" in verified
    assert time.process_time() - started < 20


@pytest.mark.parametrize("epsilon", ["999." + "7" * 1200, "1/" + "3" * 1200, "9" * 1203 + "/1" + "0" * 1200])
def test_an_epsilon_of_many_digits_is_read_in_seconds(epsilon, tmp_path, capsys):
    started = time.process_time()
    document = {"privacy": {"epsilon": epsilon}, "graph": {"family": "path", "n": 1}, "matrix": [[1]]}
    assert checked(document, tmp_path / "m.json", capsys)[0] == 0
    assert time.process_time() - started < 20


@pytest.mark.parametrize("number", ["999." + "7" * 4000, "1/" + "3" * 4000, "1e4000", "1e-1300", 10**1300])
@pytest.mark.parametrize("field", ["epsilon", "ratio", "delta"])
def test_privacy_of_too_many_digits_is_refused_at_once_and_alike(number, field, tmp_path, capsys):
    started = time.process_time()
    privacy = {field: number} | ({"ratio": 2} if field == "delta" else {})
    document = {"privacy": privacy, "graph": {"family": "path", "n": 1}, "matrix": [[1]]}
    status, audited, verified = checked(document, tmp_path / "m.json", capsys)
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
    status, audited, verified = checked(line(nodes, privacy), tmp_path / "m.json", capsys)
    assert status == 1 and "reach too far" in audited and "reach too far" in verified
    assert time.process_time() - started < 20


def test_the_limit_is_one_of_digits_not_of_steps(tmp_path, capsys):
    status, audited, verified = checked(line(1500, {"ratio": "2"}), tmp_path / "m.json", capsys)
    assert status == 1 and "reach too far" not in audited and "reach too far" not in verified


@pytest.mark.parametrize("certified", [False, True])
def test_designs_beyond_the_limit_carry_no_certificate_that_nobody_checks(certified):
    privacy = Privacy(ratio=2) if certified else Privacy(epsilon=1)
    for made in (
        design.binary(Path(700), ["a"] * 699 + ["b"], privacy),
        design.balanced_line(700, 1, privacy),
    ):
        assert (made.certificate is not None) is certified
        assert audit(made).optimality is None or certified
    assert json.dumps(design.balanced_line(20, 1, Privacy(epsilon=1)).to_document()).count("balanced-line") == 1
