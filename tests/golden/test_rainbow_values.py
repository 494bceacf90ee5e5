"""Published values of rainbow designs ([Gu2024]; with the corrected operator; docs/theory.md#corrections)."""

from fractions import Fraction

import pytest

from irisdp import Infeasible, Mechanism, Privacy, audit
from irisdp.design import compare, curves, from_spec, rainbow, turning_points
from irisdp.graphs import Complete, Cycle, Path, listed, rank
from irisdp.mechanisms import read_document
from irisdp.privacy import steps
from support.programs import Program

FLOATS = 1e-12
"""Sums of a few probabilities in doubles: 60 steps of at most five roundings of 2^-53 each stay far below."""

FIGURE_ROW = ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")
RANKINGS = [(1, 2, 3)] * 4 + [(1, 3, 2)]
CYCLE_SPEC = {
    "kind": "rainbow",
    "privacy": {"ratio": 2},
    "graph": {"family": "cycle", "n": 5},
    "rankings": dict(zip("01234", map(list, RANKINGS), strict=True)),
    "boundary": {"0": {"1": ".2", "2": ".1", "3": ".7"}, "3": {"1": ".4", "2": ".1", "3": ".5"}},
}


@pytest.mark.parametrize(
    ("delta", "expected"),
    [("0", [38, 22, 7, 1, 0]), ("0.001", [25, 20, 7, 1, 0]), ("0.01", [13, 12, 6, 1, 0]), ("0.1", [4, 4, 2, 0, 0])],
)
def test_turning_points_of_the_figures(delta, expected):
    """[Gu2024], Figures 3–5 (the corrected operator gives the same τ), and δ = 0.1."""
    assert turning_points(FIGURE_ROW, Privacy(ratio="1.2", delta=delta)) == expected


@pytest.mark.parametrize("delta", ["0", "0.001", "0.01"])
def test_curves_pass_through_the_mechanism(delta):
    privacy = Privacy(ratio="1.2", delta=delta)
    row = [Fraction(p) for p in FIGURE_ROW]
    found = curves(FIGURE_ROW, range(60), privacy)
    ahead = [sum(row[: k + 1]) for k in range(5)]
    for depth in (0, 1, 6, 12, 30, 59):
        exact = [float(steps(s, depth, privacy)) for s in ahead]
        assert found[depth].cumsum() == pytest.approx(exact, abs=FLOATS)


def test_the_five_cycle_has_no_optimum():
    """[Gu2024], Example 1: the published pair is incomparable, and so are the witnesses found."""
    ranked = rank(Cycle(5), RANKINGS)
    with pytest.raises(Infeasible, match="answers at different nodes trade off") as refusal:
        from_spec(CYCLE_SPEC)
    witnesses = [read_document(document).mechanism() for document in refusal.value.document["witnesses"]]
    assert all(audit(witness).private for witness in witnesses)
    assert compare(*witnesses, ranked) == "incomparable"
    ends = (("0.2", "0.1", "0.7"), ("0.4", "0.1", "0.5"))
    fifth = ("0.4", "0.05", "0.55")
    published = [
        Mechanism.from_matrix(
            [ends[0], second, third, ends[1], fifth], privacy=Privacy(ratio=2), graph=Cycle(5), outputs=(1, 2, 3)
        )
        for second, third in (
            (("0.4", "0.2", "0.4"), ("0.4", "0.2", "0.4")),
            (("0.4", "0.1", "0.5"), ("0.7", "0.05", "0.25")),
        )
    ]
    assert all(audit(mechanism).private for mechanism in published)
    assert compare(*published, ranked) == "incomparable"


ONE_FREE_NODE = {
    "kind": "rainbow",
    "privacy": {"ratio": 3, "delta": "1/10"},
    "graph": {"family": "cycle", "n": 4},
    "rankings": {"0": list("abcd"), "1": list("abcd"), "2": list("abcd"), "3": list("abdc")},
    "boundary": {
        "0": dict(zip("abcd", ["4/10", "3/10", "1/10", "2/10"], strict=True)),
        "2": dict(zip("abcd", ["2/10", "7/10", "0", "1/10"], strict=True)),
        "3": dict(zip("abcd", ["7/10", "7/30", "0", "1/15"], strict=True)),
    },
}


def test_the_answers_of_the_only_free_node_may_trade_off():
    """A cycle of four, one row free: the refusal names the node, and the two witnesses differ there alone."""
    ranked = rank(Cycle(4), [tuple(one) for one in ONE_FREE_NODE["rankings"].values()])
    with pytest.raises(Infeasible, match="the answers at 1 trade off among themselves, and neither") as refusal:
        from_spec(ONE_FREE_NODE)
    witnesses = [read_document(document).mechanism() for document in refusal.value.document["witnesses"]]
    assert all(audit(witness).private for witness in witnesses)
    assert compare(*witnesses, ranked) == "incomparable"
    assert all(witnesses[0].row(node) == witnesses[1].row(node) for node in (0, 2, 3))


def test_no_row_of_the_only_free_node_has_all_its_largest_prefix_sums():
    """The same cycle by linear programs that share no code with the library."""
    given = {int(node): [float(Fraction(p)) for p in row.values()] for node, row in ONE_FREE_NODE["boundary"].items()}

    def largest(costs):
        program = Program()
        first = program.table(4, 4)
        program.private(first, 4, [(0, 1), (1, 2), (2, 3), (3, 0)], 3, 0.1)
        for node, row in given.items():
            for place, p in enumerate(row):
                program.equal({first + 4 * node + place: 1}, p)
        program.charge(first + 4, [-cost for cost in costs])
        return -program.minimum()

    alone = [largest([1] * k + [0] * (4 - k)) for k in (1, 2, 3)]
    assert alone == pytest.approx([7 / 10, 14 / 15, 29 / 30])
    assert largest([3, 2, 1, 0]) < sum(alone) - 0.01


def test_weights_choose_among_incomparable_mechanisms():
    """At the third node alone the bound 0.7 for its first choice is attained, as in the published example."""
    mechanism = from_spec({**CYCLE_SPEC, "weights": {"2": 1}})
    assert mechanism.row(2)[0] == Fraction("0.7")
    assert mechanism.objective.value == Fraction("0.3")
    assert audit(mechanism).private


def test_symmetric_boundary():
    """Truth (r + δ(q−1))/(r + q − 1), rest equal; no first choice likelier for all (docs/theory.md#colourings)."""
    privacy = Privacy(ratio=3, delta="0.05")
    names = tuple("abcd")
    rankings = [names[k:] + names[:k] for k in range(4)]
    truth = (3 + Fraction("0.05") * 3) / 6
    balanced = rainbow(Complete(4), rankings, privacy)
    assert balanced.row(0) == (truth, *[(1 - truth) / 3] * 3)
    best = rainbow(Complete(4), rankings, privacy, boundary="best")
    assert best.objective.value == 4 * balanced.objective.value == 4 * (1 - truth)


def test_a_component_without_boundary_tells_the_truth():
    graph = listed(Path(3))
    mechanism = rainbow(graph, [("a", "b", "c")] * 3, Privacy(ratio=2))
    assert mechanism.rows == ((1, 0, 0),)
