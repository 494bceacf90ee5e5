"""Binary designs: what is refused and why, the privacy that would be enough, files, large and deep graphs."""

from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Infeasible, Privacy, audit
from irisdp.certify import check_optimality
from irisdp.design import binary, compare, from_spec
from irisdp.graphs import Path, graph_from_edges, rank
from irisdp.mechanisms import read_document
from support.seeds import fresh_generator

NINE_DIGITS = Fraction(1, 10**9)
"""How exact the suggested ε and δ must be."""


def certified(mechanism):
    return check_optimality(read_document(mechanism.to_document()))


def least_by_bisection(holds, low, high):
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


CONTRADICTIONS = [
    # path colours, fixed probabilities of the own colour, privacy
    ("bbbrr", {0: "0.95", 1: "0.3"}, {"epsilon": "0.5", "delta": "0.01"}),
    ("bbbrr", {0: "0.99", 3: "0.9", 4: "0.5"}, {"epsilon": "0.2"}),
    ("bbbbbbrrrr", {0: "0.999", 9: "0.999"}, {"ratio": "1.2", "delta": "0.001"}),
    ("bbbbbbrrrr", {0: "0.1", 4: "0.9", 6: "0.2", 9: "0.95"}, {"epsilon": "0.3", "delta": "0.02"}),
]


@pytest.mark.parametrize(("colours", "fixed", "privacy"), CONTRADICTIONS)
def test_smallest_epsilon_and_delta(colours, fixed, privacy):
    """Checked by bisection over a criterion of the test's own: every pair of fixed nodes, u iterated in floats."""
    privacy = Privacy(**privacy)
    with pytest.raises(Infeasible) as refusal:
        binary(Path(len(colours)), list(colours), privacy, boundary=fixed)
    document = refusal.value.document
    blue = {i: float(p) if colours[i] == "b" else 1 - float(p) for i, p in fixed.items()}

    def possible(ratio, delta):
        for i, target in blue.items():
            for j, s in blue.items():
                for _ in range(abs(i - j)):
                    s = min(1.0, ratio * s + delta, 1 - (1 - s - delta) / ratio)  # noqa: PLW2901
                if s < target:
                    return False
        return True

    assert not possible(float(privacy.ratio), float(privacy.delta))
    epsilon = least_by_bisection(lambda e: possible(np.exp(e), float(privacy.delta)), 0.0, 30.0)
    assert abs(Fraction(document["smallest_epsilon"]) - Fraction(epsilon)) < NINE_DIGITS
    delta = least_by_bisection(lambda d: possible(float(privacy.ratio), d), 0.0, 1.0)
    assert abs(Fraction(document["smallest_delta"]) - Fraction(delta)) < NINE_DIGITS
    assert len(document["pair"]) == 2
    assert Fraction(document["probability"]) > Fraction(document["bound"])
    # At the limits themselves the probabilities no longer contradict each other; a hair below, they do.
    for enough, too_little in (
        (
            Privacy(epsilon=document["smallest_epsilon"], delta=privacy.delta),
            Privacy(epsilon=Fraction(document["smallest_epsilon"]) - NINE_DIGITS, delta=privacy.delta),
        ),
        (
            privacy.with_delta(document["smallest_delta"]),
            privacy.with_delta(Fraction(document["smallest_delta"]) - NINE_DIGITS),
        ),
    ):
        assert status(colours, fixed, enough) != "infeasible"
        assert status(colours, fixed, too_little) == "infeasible"


def status(colours, fixed, privacy):
    try:
        binary(Path(len(colours)), list(colours), privacy, boundary=fixed)
    except Infeasible as refusal:
        return refusal.document["status"]
    return "designed"


def test_a_contradiction_of_a_hair_is_no_missing_optimum():
    hair = Fraction(1, 10**70)
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "bb", Privacy(ratio=2), boundary={0: "0.5", 1: Fraction(3, 4) + hair})
    assert refusal.value.document["status"] == "infeasible"
    assert binary(Path(2), "bb", Privacy(ratio=2), boundary={0: "0.5", 1: "0.75"}).row(1)[0] == Fraction(3, 4)


def test_a_limit_that_is_a_short_decimal_is_found_exactly():
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "br", Privacy(ratio=2), boundary="0.7")
    assert refusal.value.document["smallest_delta"] == "0.1"
    assert refusal.value.document["bound"] == "0.6"
    with pytest.raises(Infeasible):
        binary(Path(2), "br", Privacy(ratio=2), boundary="0.1")


def test_a_limit_that_does_not_exist_is_null():
    with pytest.raises(Infeasible) as refusal:
        binary(Path(2), "br", Privacy(ratio=2), boundary={0: 1, 1: 1})
    assert refusal.value.document["smallest_epsilon"] is None
    assert refusal.value.document["smallest_delta"] is None


@pytest.mark.parametrize("privacy", [Privacy(ratio=2, delta="0.1"), Privacy(epsilon="0.3", delta="1e-6")])
def test_a_free_edge_between_the_colours_leaves_no_optimum(privacy):
    with pytest.raises(Infeasible) as refusal:
        binary(Path(4), "bbrr", privacy, boundary={0: "0.9"})
    first, second = (read_document(document).mechanism() for document in refusal.value.document["witnesses"])
    assert audit(first).private
    assert audit(second).private
    assert compare(first, second, rank(Path(4), [("b", "r")] * 2 + [("r", "b")] * 2)) == "incomparable"


def test_a_free_edge_where_nothing_trades_off():
    """Both ends are bound so low by their neighbours that the edge between them is no constraint: an optimum exists."""
    privacy = Privacy(ratio=2)
    graph = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    colours = {"a": "blue", "b": "blue", "c": "red", "d": "red"}
    mechanism = binary(graph, colours, privacy, boundary={"a": "0.3", "d": "0.3"})
    assert mechanism.row("b")[0] == mechanism.row("c")[1] == Fraction(3, 5)
    assert audit(mechanism).private


@pytest.mark.parametrize(
    "boundary", ["balanced", "0.55", {13: "0.6", 3: "0.9"}, {14: "0.6", 0: "0.999"}, {13: "0.6", 29: "0.00001", 3: 0}]
)
@pytest.mark.parametrize("privacy", [{"epsilon": "0.5", "delta": "1e-6"}, {"epsilon": 2}, {"ratio": 2, "delta": "0.1"}])
def test_designs_are_private_and_their_certificates_hold(boundary, privacy):
    mechanism = (
        binary(Path(30), "b" * 14 + "r" * 16, Privacy(**privacy), boundary=boundary)
        if status("b" * 14 + "r" * 16, boundary, Privacy(**privacy)) == "designed"
        else None
    )
    if mechanism is not None:
        assert audit(mechanism).private
        assert certified(mechanism).holds


def test_a_tampered_design_is_rejected():
    """Negative control: one probability less, and the certificate no longer holds."""
    document = binary(Path(4), "bbrr", Privacy(ratio=2)).to_document()
    assert check_optimality(read_document(document)).holds
    document["matrix"][0] = ["0.7", "0.3"]
    assert not check_optimality(read_document(document)).holds


def test_deep_lines_stay_short():
    """A long ratio over a thousand steps: numbers stay short, privacy exact, and far nodes share a row."""
    privacy = Privacy(epsilon="0.1", delta="1e-9")
    mechanism = binary(Path(2000), np.arange(2000) < 900, privacy)
    assert audit(mechanism).private
    assert all(p.denominator < 10**90 for row in mechanism.rows for p in row)
    assert len(mechanism.rows) < 1600
    assert 1 - mechanism.row(0)[0] < Fraction(1, 10**6)


def test_many_fixed_values_with_a_long_ratio():
    rng = fresh_generator(0)
    nodes = 400
    privacy = Privacy(epsilon="0.4", delta="1e-6")
    tails = np.arange(nodes - 1)
    edges = [(int(i), int(i) + 1) for i in tails] + [(int(i), int(j)) for i, j in rng.integers(0, nodes, (200, 2))]
    fixed = {
        int(i): Fraction(int(p), 1000) for i, p in zip(range(0, nodes, 40), rng.integers(500, 600, 10), strict=True)
    }
    mechanism = binary(graph_from_edges(edges, nodes=range(nodes)), [0] * nodes, privacy, boundary=fixed)
    assert audit(mechanism).private
    assert certified(mechanism).holds
    assert all(mechanism.row(i)[0] == p for i, p in fixed.items())


SPEC = {
    "kind": "binary",
    "privacy": {"ratio": 2},
    "graph": {"family": "path", "n": 3},
    "colors": {"0": 0, "1": 1, "2": 1},
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"boundary": "best"}, "boundary"),
        ({"boundary": "nan"}, "boundary"),
        ({"boundary": "1.5"}, "boundary"),
        ({"boundary": -1}, "boundary"),
        ({"boundary": True}, "boundary"),
        ({"boundary": [1]}, "boundary"),
        ({"boundary": {"7": "0.5"}}, "boundary"),
        ({"boundary": {"0": "half"}}, "boundary"),
        ({"boundary": {"0": None}}, "boundary"),
        ({"colors": {"0": 0, "1": 1}}, "colors"),
        ({"colors": {"0": 0, "1": 1, "2": 2}}, "colors"),
        ({"colors": {"0": 0, "1": 1, "2": 0.5}}, "colors"),
        ({"colors": [0, 1, 1]}, "colors"),
        ({"graph": {"family": "ring", "n": 3}}, "graph"),
    ],
)
def test_bad_input_names_the_field(change, field):
    assert audit(from_spec(SPEC)).private
    with pytest.raises(BadInput) as error:
        from_spec({**SPEC, **change})
    assert error.value.field.startswith(field)
