"""Published optima, and optima that docs/theory.md states, as fractions or to the digits printed."""

from fractions import Fraction

import networkx as nx
import pytest

from irisdp import Infeasible, Mechanism, Privacy, audit, design, graphs, mechanisms
from irisdp.design import binary, compare, curves, from_spec, rainbow, turning_points
from irisdp.mechanisms import DepthMechanism, balanced_line, balanced_truth, line_mechanism, read_document
from irisdp.privacy import are_close, steps
from support.programs import Program

PETERSEN = graphs.graph_from_networkx(nx.petersen_graph())

SIX_DIGITS = 5e-7
"""The stated values are rounded to six places."""


def test_the_consumer_of_table_1():
    """[Gupte2010], Table 1, n = 3, α = 1/4: exactly 168/415, which is printed rounded (docs/theory.md#corrections)."""
    privacy = Privacy(ratio=4)
    made = design.consumer(3, "absolute", privacy)
    assert (made.objective.value, made.objective.lower_bound) == (Fraction(168, 415), Fraction(168, 415))
    reading = [["68/83", "15/83", 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, "15/83", "68/83"]]
    assert mechanisms.geometric(3, privacy).post_process(reading).matrix() == made.matrix()
    assert made.row(0) == tuple(Fraction(x, 1660) for x in (1088, 489, 66, 17))
    # The reading as printed, 9/11 and 2/11, is a little worse.
    printed = [["9/11", "2/11", 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, "2/11", "9/11"]]
    rows = mechanisms.geometric(3, privacy).post_process(printed).matrix()
    assert max(sum(abs(i - v) * p for v, p in enumerate(row)) for i, row in enumerate(rows)) > Fraction(168, 415)


@pytest.mark.parametrize(("graph", "stated"), [
    (graphs.Cycle(7), 0.748252),
    (graphs.Hamming(3, 2), 0.806824),
    (PETERSEN, 0.935524),
    (graphs.Path(9), 0.701366),
    (graphs.Histograms(4, 3), 1.031329),
], ids=["7-cycle", "3-cube", "Petersen", "9-path", "(4,3)-histograms"])  # fmt: skip
def test_mean_distances(graph, stated):
    objective = design.distance(graph, Privacy(epsilon=1)).objective
    assert abs(float(objective.value) - stated) < SIX_DIGITS
    assert 0 <= objective.value - objective.lower_bound <= objective.value / 10**15


@pytest.mark.parametrize("ratio", [Fraction(3), Fraction(6, 5), Fraction(20)])
def test_petersen_is_the_exponential_mechanism_exactly(ratio):
    """Vertex-transitive with regular layers of 1, 3 and 6 nodes: the weights α^d are optimal [Alda2017]."""
    alpha = 1 / ratio
    stated = (3 * alpha + 12 * alpha**2) / (1 + 3 * alpha + 6 * alpha**2)
    objective = design.distance(PETERSEN, Privacy(ratio=ratio)).objective
    assert (objective.value, objective.lower_bound) == (stated, stated)
    if ratio == 3:
        assert stated == Fraction(7, 8)


@pytest.mark.parametrize("n", [4, 9])
def test_zero_one_consumers_get_the_balanced_optimum(n):
    """With everything possible, no mechanism is right more often at its worst than q values one after another allow."""
    made = design.consumer(1, "zero-one", Privacy(ratio=3, delta="1/10"))
    assert made.objective.value == 1 - mechanisms.balanced_truth(2, made.privacy)
    uniform = design.consumer(n, "absolute", Privacy(ratio=1))
    assert uniform.objective.value == Fraction(n, 2)


def test_sixteen_points_exactly():
    """How long it takes is measured in benchmarks/exact_optimum.py."""
    made = design.consumer(16, "absolute", Privacy(ratio=4))
    assert made.objective.value == made.objective.lower_bound == Fraction(6185760200, 11615077591)


def test_thirty_two_points_exactly():
    made = design.consumer(32, "absolute", Privacy(ratio=4))
    stated = Fraction(43254142578391251400, 81101798809460307031)
    assert made.objective.value == made.objective.lower_bound == stated


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", 1, 7, 20, 50])
def test_long_ratios_leave_no_gap_to_speak_of(epsilon):
    made = design.consumer(8, "absolute", Privacy(epsilon=epsilon))
    value, bound = made.objective.value, made.objective.lower_bound
    assert 0 <= value - bound <= value / 10**14
    assert max(len(str(x)) for row in made.rows for x in row) < 201


def test_the_lines_of_the_binary_paper():
    """Majority of three, ε = log 2, δ = 0.1: errors 0.3 at depth 0 and 0.1 at depth 1 (docs/theory.md#colourings)."""
    made = design.balanced_line(2, 2, Privacy(ratio=2, delta="1/10"), outputs=("no", "yes"))
    assert [row[1] for row in made.matrix()] == [Fraction(1, 10), Fraction(3, 10), Fraction(7, 10), Fraction(9, 10)]
    assert made.objective.value == made.objective.lower_bound == Fraction(1, 5)


# Published values of binary designs [DOliveira2021], as fractions; corrected as in docs/theory.md#corrections.

PRIVACY = Privacy(ratio=2, delta="0.1")


@pytest.mark.parametrize(
    ("fixed", "same_colour", "other_colour"),
    [("0.6", Fraction(17, 20), Fraction(3, 4)), ("0.7", Fraction(9, 10), Fraction(7, 10))],
)
def test_beside_a_fixed_node(fixed, same_colour, other_colour):
    """[DOliveira2021], heterogeneous example: ε = log 2, δ = 0.1."""
    blue = binary(graphs.Path(2), ["blue", "blue"], PRIVACY, boundary={0: fixed})
    assert blue.row(1) == (same_colour, 1 - same_colour)
    red = binary(graphs.Path(2), ["blue", "red"], PRIVACY, boundary={0: fixed})
    assert red.row(1) == (1 - other_colour, other_colour)


def test_the_four_three_line():
    """ε = log 1.3, δ = 0.1: R_4 = 0.8 gives R_1 = 0.332/1.3; B_5 = 1/13 and then 0 (R_1 = .2554 is misprinted)."""
    spec = {
        "kind": "binary",
        "privacy": {"ratio": "1.3", "delta": "0.1"},
        "graph": {"family": "path", "n": 7},
        "colors": {**dict.fromkeys("0123", "blue"), **dict.fromkeys("456", "red")},
        "boundary": {"3": "0.2"},
    }
    mechanism = from_spec(spec)
    assert [mechanism.row(i)[1] for i in (2, 1, 0)] == [Fraction(16, 25), Fraction(54, 125), Fraction(83, 325)]
    assert [mechanism.row(i)[0] for i in (4, 5, 6)] == [Fraction(1, 13), 0, 0]


def test_majority_of_three():
    """ε = log 2, δ = 0.1, balanced: error 0.3 at depth 0 and 0.1 at depth 1; by words and on their line."""
    words = binary(graphs.Hamming(3, 2), lambda word: word.count("1") > 1, PRIVACY)
    assert words.outputs == ("no", "yes")
    assert words.row("000") == (Fraction(9, 10), Fraction(1, 10))
    assert words.row("011") == (Fraction(3, 10), Fraction(7, 10))
    assert len(words.rows) == 4


def test_two_boundary_values():
    """A free node takes the smallest of its bounds: 0.6 two steps away, 0.95 beside it, on a star with a tail."""
    graph = graphs.graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    mechanism = binary(graph, dict.fromkeys("abcd", "blue"), PRIVACY, boundary={"a": "0.6", "d": "0.95"})
    assert mechanism.row("b")[0] == Fraction("0.85")
    assert mechanism.row("c")[0] == min(Fraction("0.975"), Fraction(1))


def test_incomparable_mechanisms_of_the_first_example():
    """[DOliveira2021], Example 1: neither of the two dominates the other, in either order of comparison."""
    from irisdp import Mechanism
    from irisdp.design import compare, compare_lexicographically
    from irisdp.graphs import rank

    ranked = rank(graphs.Path(2), [("1", "2"), ("2", "1")])
    first, second = (
        Mechanism.from_matrix(rows, privacy=PRIVACY, graph=graphs.Path(2), outputs=("1", "2"))
        for rows in ([["0.58", "0.42"], ["0.24", "0.76"]], [["0.64", "0.36"], ["0.27", "0.73"]])
    )
    assert compare(first, second, ranked) == "incomparable"
    assert compare_lexicographically(first, second, ranked) == "incomparable"
    assert compare(first, first, ranked) == "equal"


# Published values of binary mechanisms, as fractions ([DOliveira2021], Examples and Theorem 4).


def test_the_four_three_line_in_closed_form():
    """[DOliveira2021], the (4,3)-line at ε = log 1.3, δ = 0.1 and R_4 = 0.8."""
    privacy = Privacy(ratio="1.3", delta="0.1")
    blue, red = Fraction(1, 5), Fraction(12, 13)
    mechanism = DepthMechanism(
        privacy=privacy, rankings=(("blue", "red"), ("red", "blue")), boundary=((blue, 1 - blue), (red, 1 - red))
    )
    line = line_mechanism(4, 3, mechanism)
    red_at = [row[1] for row in line.matrix()]
    assert red_at[:4] == [Fraction("0.332") / Fraction("1.3"), Fraction("0.432"), Fraction("0.64"), Fraction("0.8")]
    assert [1 - p for p in red_at[4:]] == [Fraction(1, 13), 0, 0]
    assert all(are_close(a, b, privacy) for a, b in zip(line.matrix(), line.matrix()[1:], strict=False))


def test_majority_of_three_balanced():
    """[DOliveira2021], introduction: ε = log 2, δ = 0.1 errs with 0.3 at depth 0 and 0.1 at depth 1."""
    mechanism = balanced_line(Privacy(ratio=2, delta="0.1"))
    assert 1 - mechanism.row(0, 0)[0] == Fraction(3, 10)
    assert 1 - mechanism.row(1, 1)[0] == Fraction(1, 10)


@pytest.mark.parametrize("ratio", ["2", "1.3", "5", "101/100"])
@pytest.mark.parametrize("delta", ["0", "0.01", "0.1"])
def test_balanced_error_in_closed_form(ratio, delta):
    """max{0, (r − 1 − δ(r^(t+1) + r^t − 2)) / (r^t (r+1)(r−1))}, docs/theory.md#colourings."""
    privacy = Privacy(ratio=ratio, delta=delta)
    r, d = privacy.ratio, privacy.delta
    mechanism = balanced_line(privacy)
    for t in range(12):
        error = (r - 1 - d * (r ** (t + 1) + r**t - 2)) / (r**t * (r + 1) * (r - 1))
        assert 1 - mechanism.row(0, t)[0] == max(Fraction(0), error)


def test_balanced_truth_for_more_answers():
    """(r + δ(q−1)) / (r + q − 1), docs/theory.md#colourings."""
    assert balanced_truth(3, Privacy(ratio=4)) == Fraction(4, 6)
    assert balanced_truth(2, Privacy(ratio=2, delta="0.1")) == Fraction(21, 30)


# Published values of rainbow designs ([Gu2024]; with the corrected operator; docs/theory.md#corrections).

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
    ranked = graphs.rank(graphs.Cycle(5), RANKINGS)
    with pytest.raises(Infeasible, match="answers at different nodes trade off") as refusal:
        from_spec(CYCLE_SPEC)
    witnesses = refusal.value.witnesses
    assert list(witnesses) == [read_document(document).mechanism() for document in refusal.value.document["witnesses"]]
    assert refusal.value.said("in other words").witnesses == witnesses
    assert all(audit(witness).private for witness in witnesses)
    assert compare(*witnesses, ranked) == "incomparable"
    ends = (("0.2", "0.1", "0.7"), ("0.4", "0.1", "0.5"))
    fifth = ("0.4", "0.05", "0.55")
    published = [
        Mechanism.from_matrix(
            [ends[0], second, third, ends[1], fifth], privacy=Privacy(ratio=2), graph=graphs.Cycle(5), outputs=(1, 2, 3)
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
    ranked = graphs.rank(graphs.Cycle(4), [tuple(one) for one in ONE_FREE_NODE["rankings"].values()])
    with pytest.raises(Infeasible, match="the answers at 1 trade off among themselves, and neither") as refusal:
        from_spec(ONE_FREE_NODE)
    witnesses = refusal.value.witnesses
    assert list(witnesses) == [read_document(document).mechanism() for document in refusal.value.document["witnesses"]]
    assert refusal.value.said("in other words").witnesses == witnesses
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
    balanced = rainbow(graphs.Complete(4), rankings, privacy)
    assert balanced.row(0) == (truth, *[(1 - truth) / 3] * 3)
    best = rainbow(graphs.Complete(4), rankings, privacy, boundary="best")
    assert best.objective.value == 4 * balanced.objective.value == 4 * (1 - truth)


def test_a_component_without_boundary_tells_the_truth():
    graph = graphs.listed(graphs.Path(3))
    mechanism = rainbow(graph, [("a", "b", "c")] * 3, Privacy(ratio=2))
    assert mechanism.rows == ((1, 0, 0),)
