"""Published values of binary designs [DOliveira2021], as fractions; corrected as in docs/theory.md#corrections."""

from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp.design import binary, from_spec
from irisdp.graphs import Hamming, Path, graph_from_edges

PRIVACY = Privacy(ratio=2, delta="0.1")


@pytest.mark.parametrize(
    ("fixed", "same_colour", "other_colour"),
    [("0.6", Fraction(17, 20), Fraction(3, 4)), ("0.7", Fraction(9, 10), Fraction(7, 10))],
)
def test_beside_a_fixed_node(fixed, same_colour, other_colour):
    """[DOliveira2021], heterogeneous example: ε = log 2, δ = 0.1."""
    blue = binary(Path(2), ["blue", "blue"], PRIVACY, boundary={0: fixed})
    assert blue.row(1) == (same_colour, 1 - same_colour)
    red = binary(Path(2), ["blue", "red"], PRIVACY, boundary={0: fixed})
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
    words = binary(Hamming(3, 2), lambda word: word.count("1") > 1, PRIVACY)
    assert words.outputs == ("no", "yes")
    assert words.row("000") == (Fraction(9, 10), Fraction(1, 10))
    assert words.row("011") == (Fraction(3, 10), Fraction(7, 10))
    assert len(words.rows) == 4


def test_two_boundary_values():
    """A free node takes the smallest of its bounds: 0.6 two steps away, 0.95 beside it, on a star with a tail."""
    graph = graph_from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    mechanism = binary(graph, dict.fromkeys("abcd", "blue"), PRIVACY, boundary={"a": "0.6", "d": "0.95"})
    assert mechanism.row("b")[0] == Fraction("0.85")
    assert mechanism.row("c")[0] == min(Fraction("0.975"), Fraction(1))


def test_incomparable_mechanisms_of_the_first_example():
    """[DOliveira2021], Example 1: neither of the two dominates the other, in either order of comparison."""
    from irisdp import Mechanism
    from irisdp.design import compare, compare_lexicographically
    from irisdp.graphs import rank

    ranked = rank(Path(2), [("1", "2"), ("2", "1")])
    first, second = (
        Mechanism.from_matrix(rows, privacy=PRIVACY, graph=Path(2), outputs=("1", "2"))
        for rows in ([["0.58", "0.42"], ["0.24", "0.76"]], [["0.64", "0.36"], ["0.27", "0.73"]])
    )
    assert compare(first, second, ranked) == "incomparable"
    assert compare_lexicographically(first, second, ranked) == "incomparable"
    assert compare(first, first, ranked) == "equal"
