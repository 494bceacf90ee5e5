"""Rainbow designs: what is refused and why, the forms a boundary may take, files, long ratios."""

from fractions import Fraction

import pytest

from irisdp import BadInput, Infeasible, Privacy, audit
from irisdp.certify import check_optimality
from irisdp.design import compare, compare_lexicographically, from_spec, rainbow
from irisdp.graphs import Histograms, Path, rank
from irisdp.mechanisms import read_document

WITHIN = 1e-15
"""Files round what long ratios make, to 2^-50 at most; two ways of saying one boundary may round apart."""


SPEC = {
    "kind": "rainbow",
    "privacy": {"ratio": 2},
    "graph": {"family": "path", "n": 4},
    "rankings": {"0": ["a", "b", "c"], "1": ["a", "b", "c"], "2": ["c", "b", "a"], "3": ["c", "b", "a"]},
    "boundary": "balanced",
}
ROWS = {"a>b>c": {"a": "0.5", "b": "0.2", "c": "0.3"}, "c>b>a": {"a": "0.3", "b": "0.3", "c": "0.4"}}


def holds(mechanism):
    return audit(mechanism).private and check_optimality(read_document(mechanism.to_document())).holds


@pytest.mark.parametrize(
    "privacy", [{"ratio": 2}, {"epsilon": 1, "delta": "0.01"}, {"epsilon": "0.7"}, {"ratio": 1, "delta": ".2"}]
)
@pytest.mark.parametrize("boundary", ["balanced", "best", ROWS])
def test_designs_are_private_and_their_certificates_hold(privacy, boundary):
    assert holds(from_spec({**SPEC, "privacy": privacy, "boundary": boundary}))


@pytest.mark.parametrize(
    "privacy", [{"epsilon": 20}, {"epsilon": "1e-9", "delta": "1e-12"}, {"ratio": 1}, {"epsilon": "0.1"}]
)
def test_the_best_boundary_is_no_worse_than_the_balanced_one(privacy):
    """Also where numbers are extreme; the value is compared on the goal that "best" has by default."""
    graph, rankings = Path(60), [tuple("abc")] * 25 + [tuple("cba")] * 20 + [tuple("bca")] * 15
    best = rainbow(graph, rankings, Privacy(**privacy), boundary="best")
    balanced = rainbow(graph, rankings, Privacy(**privacy))
    assert holds(best)
    assert best.objective.value <= 60 * balanced.objective.value * (1 + Fraction(1, 10**15))


def test_rows_by_ranking_and_by_node_agree():
    by_ranking = from_spec({**SPEC, "boundary": ROWS})
    by_node = from_spec({**SPEC, "boundary": {"1": ROWS["a>b>c"], "2": ROWS["c>b>a"]}})
    assert by_ranking.matrix() == by_node.matrix()
    assert by_ranking.row(0) == (Fraction(3, 4), Fraction(1, 10), Fraction(3, 20))
    assert holds(by_node)


def test_long_ratios_by_node():
    privacy = {"epsilon": "0.57", "delta": "0.001"}
    graph = {"family": "path", "n": 40}
    rankings = {str(i): list("abc" if i < 25 else "cba") for i in range(40)}
    rows = {"24": ROWS["a>b>c"], "25": ROWS["c>b>a"]}
    mechanism = from_spec({**SPEC, "graph": graph, "rankings": rankings, "privacy": privacy, "boundary": rows})
    same = from_spec({**SPEC, "graph": graph, "rankings": rankings, "privacy": privacy, "boundary": ROWS})
    assert holds(mechanism)
    assert holds(same)
    assert max(abs(p - q) for i in range(40) for p, q in zip(mechanism.row(i), same.row(i), strict=True)) < WITHIN
    assert same.row(24) == (Fraction("0.5"), Fraction("0.2"), Fraction("0.3"))


def test_a_boundary_that_is_not_private_names_the_pair():
    rows = {"a>b>c": {"a": "0.5", "b": "0.4", "c": "0.1"}, "c>b>a": {"a": "0.5", "c": "0.4", "b": "0.1"}}
    with pytest.raises(Infeasible) as refusal:
        from_spec({**SPEC, "boundary": rows})
    document = refusal.value.document
    assert document["pair"] in ([1, 2], [2, 1])
    assert document["smallest_delta"] == "0.2"
    epsilon = Fraction(document["smallest_epsilon"])
    assert abs(float(epsilon) - 1.3862943611198906) < 1e-9
    assert holds(from_spec({**SPEC, "boundary": rows, "privacy": {"epsilon": str(epsilon)}}))
    assert holds(from_spec({**SPEC, "boundary": rows, "privacy": {"ratio": 2, "delta": "0.2"}}))
    with pytest.raises(Infeasible) as by_node:
        from_spec({**SPEC, "boundary": {"1": rows["a>b>c"], "2": rows["c>b>a"]}})
    assert by_node.value.document["smallest_delta"] == "0.2"


def test_given_rows_too_far_apart_along_a_path():
    sure, never = {"a": 1}, {"c": 1}
    with pytest.raises(Infeasible) as refusal:
        from_spec({**SPEC, "boundary": {"0": sure, "3": never}})
    assert refusal.value.document["distance"] == 3
    assert refusal.value.document["smallest_epsilon"] is None


def test_plurality_of_a_histogram():
    """Keys that are lists name histogram nodes; classes touch along ties."""
    graph = Histograms(3, 3)
    mechanism = rainbow(graph, lambda h: tuple(sorted("xyz", key=lambda v: (-h["xyz".index(v)], v))), Privacy(ratio=3))
    assert holds(mechanism)
    spec_rankings = {str(list(h)): sorted("xyz", key=lambda v: (-h["xyz".index(v)], v)) for h in graph.nodes}
    spec = {**SPEC, "graph": {"family": "histograms", "total": 3, "types": 3}, "rankings": spec_rankings}
    spec["privacy"] = {"ratio": 3}
    assert from_spec(spec).matrix() == mechanism.matrix()


def test_dominance_and_the_lexicographic_order():
    ranked = rank(Path(2), [("a", "b", "c")] * 2)

    def mechanism(row):
        spec = {**SPEC, "graph": {"family": "path", "n": 2}, "rankings": {"0": list("abc"), "1": list("abc")}}
        return from_spec({**spec, "boundary": {"0": row, "1": row}})

    one, other, third = (
        mechanism(dict(zip("abc", row, strict=True)))
        for row in (("0.5", "0.1", "0.4"), ("0.4", "0.4", "0.2"), ("0.4", "0.3", "0.3"))
    )
    assert compare(one, other, ranked) == "incomparable"
    assert compare_lexicographically(one, other, ranked) == "better"
    assert compare(third, other, ranked) == compare_lexicographically(third, other, ranked) == "worse"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"boundary": "greatest"}, "boundary"),
        ({"boundary": 0.5}, "boundary"),
        ({"boundary": {"a>b>c": ROWS["a>b>c"]}}, "boundary"),
        ({"boundary": {**ROWS, "a>b": {"a": 1}}}, "boundary"),
        ({"boundary": {"9": {"a": 1}}}, "boundary"),
        ({"boundary": {"0": {"a": 1, "d": 0}}}, "boundary"),
        ({"boundary": {"0": {"a": "0.5"}}}, "boundary"),
        ({"boundary": {"0": {"a": "1.5", "b": "-0.5"}}}, "boundary"),
        ({"boundary": {"0": [1, 0, 0]}}, "boundary"),
        ({"weights": {"0": 1}}, "weights"),
        ({"boundary": "best", "weights": {"0": -1}}, "weights"),
        ({"boundary": "best", "weights": {"0": [1, 1, 1]}}, "weights"),
        ({"boundary": "best", "weights": [1]}, "weights"),
        ({"boundary": "best", "weights": {"0": float("nan")}}, "weights"),
        ({"rankings": {"0": ["a"], "1": ["a"], "2": ["b"], "3": ["b"]}}, "rankings"),
        ({"rankings": {"0": "abc", "1": "abc", "2": "abc", "3": "abc"}}, "rankings"),
        ({"rankings": {str(i): [True, False] for i in range(4)}}, "rankings"),
        ({"color": 1}, "spec"),
    ],
)
def test_bad_input_names_the_field(change, field):
    with pytest.raises(BadInput) as error:
        from_spec({**SPEC, **change})
    assert error.value.field.startswith(field)
