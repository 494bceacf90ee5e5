"""Examples and figures of [DOliveira2021], §§ I–IV: two answers on coloured graphs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

from ..design import binary, compare, turning_points
from ..errors import Infeasible
from ..graphs import (
    ColouredGraph,
    Hamming,
    boundary_graph,
    check_morphism,
    colour,
    graph_from_edges,
    line,
    morphism,
    preserves_colours,
    rank,
)
from ..graphs import Path as Line
from ..mechanisms import Mechanism, balanced_truth
from ..privacy import Privacy, hockey_stick
from ._items import Fault, Holds, Item, compared

# The graphs of Figures 1 and 2 of [DOliveira2021].
#
# The graph of its Figure 2 is known by its picture alone. The text gives the colour, depth and probability of nodes.
# This fixes how far each node is from those whose probabilities are given, and nothing else enters the numbers.
# `FIGURE_2` is such a graph.

BLUE = "abcghkl"
FIGURE_2 = (
    "hc",
    "cg",
    "gl",
    "lk",
    "ga",
    "kb",
    "ab",
    "hi",
    "hn",
    "lq",
    "id",
    "no",
    "qm",
    "in",
    "dj",
    "or",
    "mp",
    "je",
    "pf",
)


@cache
def votes() -> ColouredGraph:
    """Return the graph of Figure 1a: what three voters said, and the majority."""
    words = ["".join(word) for word in itertools.product("12", repeat=3)]
    edges = [(v, w) for v, w in itertools.combinations(words, 2) if sum(a != b for a, b in zip(v, w, strict=True)) == 1]
    graph = graph_from_edges(edges, nodes=words)
    return colour(graph, lambda word: "blue" if word.count("1") > 1 else "red")


@cache
def voluntary() -> ColouredGraph:
    """Return the graph of Figure 1b: which of three took part; 1 and 2 say blue, 3 says red, and a tie is red."""
    groups = [frozenset(group) for size in range(4) for group in itertools.combinations("123", size)]
    named = {group: "".join(sorted(group)) or "nobody" for group in groups}
    edges = [(named[a], named[b]) for a, b in itertools.combinations(groups, 2) if len(a ^ b) == 1]
    graph = graph_from_edges(edges, nodes=named.values())
    return colour(graph, {named[g]: "blue" if len(g & {"1", "2"}) > len(g & {"3"}) else "red" for g in groups})


@cache
def figure_2() -> ColouredGraph:
    """Return a graph with the colours and distances that the text states of Figure 2."""
    graph = graph_from_edges([tuple(edge) for edge in FIGURE_2], nodes="abcdefghijklmnopqr")
    return colour(graph, lambda node: "blue" if node in BLUE else "red")


TWO = Privacy(ratio=2, delta="0.1")
LINE = Privacy(ratio="1.3", delta="0.1")
OPTIMALITY = "proofs/rainbow-optimality.md"
PULLBACK = "proofs/pullback.md"
TRUE_BLUE_SIDE = {"111": 1, "112": 2, "121": 2, "211": 2}


def needed(rows: Any, privacy: Privacy) -> Fraction:
    """Return the δ that rows need at the ratio, each being next to the one after it."""
    exact = [tuple(map(Fraction, row)) for row in rows]
    pairs = [pair for one, other in itertools.pairwise(exact) for pair in ((one, other), (other, one))]
    return max(hockey_stick(*pair, privacy.ratio) for pair in pairs)


def _two(first: str, second: str) -> list[tuple[Fraction, Fraction]]:
    """Return the rows of Example 1: the probability of 1 at node 1, and that of 2 at node 2."""
    one, two = Fraction(first), Fraction(second)
    return [(one, 1 - one), (1 - two, two)]


def _incomparable() -> Holds:
    ranked = rank(Line(2), [(1, 2), (2, 1)])
    one, other = (
        Mechanism.from_matrix(_two(*truth), privacy=TWO, graph=Line(2), outputs=(1, 2))
        for truth in (("0.58", "0.76"), ("0.64", "0.73"))
    )
    comparison = compare(one, other, ranked)
    return Holds(comparison == "incomparable", comparison)


def _ends(coloured: ColouredGraph) -> tuple[int, int]:
    """Return how many nodes of either colour the boundary graph has: n_B and n_R."""
    target, _ = boundary_graph(coloured)
    blue = int(target.in_class("blue").sum())
    return blue, target.graph.number_of_nodes - blue


def _corrected_example_2() -> Holds:
    target = line(2, 2)
    morphism_found = morphism(votes().graph, target.graph, {**TRUE_BLUE_SIDE, "122": 3, "212": 3, "221": 3, "222": 4})
    fits = preserves_colours(morphism_found, votes(), target)
    return Holds(False, "{122, 212, 221} ↦ d_3" + ("" if fits else ", which does not preserve colours"))


def _torn() -> Fault:
    """Count the ways to read Example 2 as printed, and those that are no morphism."""
    target, ways = line(2, 2), (1, 2, 3, 4)
    broken = 0
    for image in ways:  # 211 is printed on both sides, and 212 on neither
        printed = {**TRUE_BLUE_SIDE, "122": 3, "211": 3, "221": 3, "212": image, "222": 4}
        broken += not check_morphism(votes().graph, target.graph, printed).holds
    return Fault("ways to place 212 that tear neighbours apart", Fraction(broken), Fraction(len(ways) - 1))


def _majorities() -> Holds:
    """Count datasets, and nodes of the line, of 2n + 1 voters."""
    wrong = 0
    for n in range(5):
        voters = 2 * n + 1
        coloured = colour(Hamming(voters, 2), partial(_majority, n))
        target, _ = boundary_graph(coloured)
        wrong += (coloured.graph.number_of_nodes, target.graph.number_of_nodes) != (2**voters, 2 * (n + 1))
    return compared(5, wrong, "numbers of voters (1, 3, …, 9)")


def _majority(n: int, word: str) -> str:
    return "blue" if word.count("1") > n else "red"


@cache
def _given() -> Mechanism:
    return binary(figure_2().graph, dict(_colours(figure_2())), TWO, boundary={"h": "0.6", "l": "0.7"})


def _colours(coloured: ColouredGraph) -> Mapping[Any, Any]:
    return {node: coloured.colour_of(node) for node in coloured.graph.nodes}


def _truths(nodes: str) -> list[Fraction]:
    """Return the probabilities of the nodes' own colours where B_h = 0.6 and B_l = 0.7 are given."""
    return [_blue(node, _given()) if node in BLUE else _red(node, _given()) for node in nodes]


def _blue(node: Any, mechanism: Mechanism) -> Fraction:
    return mechanism.row(node)[mechanism.outputs.index("blue")]


def _red(node: Any, mechanism: Mechanism) -> Fraction:
    return mechanism.row(node)[mechanism.outputs.index("red")]


def _refused() -> Holds:
    try:
        binary(figure_2().graph, dict(_colours(figure_2())), Privacy(ratio="1.1"), boundary={"h": "0.6", "l": "0.7"})
    except Infeasible as refusal:
        infeasible = refusal.document["infeasible"]
        return Holds(
            True, f"none: {infeasible['pair']} needs {infeasible['needs']}, and {infeasible['allows']} is allowed"
        )
    return Holds(False, "a mechanism was found")


@cache
def on_the_line() -> Mechanism:
    """Return the optimum on the (4,3)-line with R_4 = 0.8."""
    coloured = line(4, 3)
    return binary(coloured.graph, dict(_colours(coloured)), LINE, boundary={4: "0.2"})


@cache
def _pulled_back() -> Mechanism:
    """Return the optimum on Figure 2 with R_h = R_l = 1/13, straight from the graph."""
    return binary(
        figure_2().graph, dict(_colours(figure_2())), LINE, boundary={node: Fraction(12, 13) for node in "hl"}
    )


def _letter(node: str) -> str:
    return f"{'B' if node in BLUE else 'R'}_{node}"


def _errors(nodes: str) -> list[Fraction]:
    """Return the probabilities of red where R_h = R_l = 1/13 is given."""
    return [_red(node, _pulled_back()) for node in nodes]


def _votes_for_red(words: tuple[str, ...]) -> list[Fraction]:
    return [_red(word, _votes_balanced()) for word in words]


def _after(value: str, before: str) -> Fault:
    """Return the δ that two neighbours on the line need: R_i as printed beside R_{i+1}."""
    one, other = Fraction(value), Fraction(before)
    return Fault(
        "δ that the printed value needs beside its neighbour",
        needed([(1 - one, one), (1 - other, other)], LINE),
        LINE.delta,
    )


@cache
def _votes_balanced() -> Mechanism:
    return binary(votes().graph, dict(_colours(votes())), TWO)


def _boundary_error_of_the_introduction() -> Fault:
    """Two neighbours of different colours, Δ = 1 from each other, with the printed error at Δ = 1."""
    error = printed_error(1)
    return Fault(
        "δ that two neighbours of different colours need with the printed error",
        needed([(1 - error, error), (error, 1 - error)], TWO),
        TWO.delta,
    )


def printed_error(t: int) -> Fraction:
    """Return P_e as the introduction prints it, at ε = log 2 and δ = 0.1, for Δ = t."""
    r, d = TWO.ratio, TWO.delta
    return max((r - 1 - d * (r ** (t + 1) + r**t - 2)) / (r**t * (r + 1) * (r - 1)), Fraction(0))


def _errors_by_own_boundary() -> Holds:
    errors = [1 - max(_votes_balanced().row(word)) for word in ("112", "111")]
    agree = errors == [printed_error(0), printed_error(1)]
    return Holds(False, "it holds for Δ = distance to the boundary of the own colour" if agree else "it holds for no Δ")


def _tau_of_example_3() -> int | None:
    """Return τ: Definition 8 counts to one before the first step at which 1 − R has passed the operator's turn."""
    turn = turning_points(["0.2", "0.8"], LINE)[0]
    return None if turn is None else turn - 1


def _item(name: str, printed: str, compute: Any, proof: str = OPTIMALITY, **more: Any) -> Item:
    return Item(work="DOliveira2021", name=name, printed=printed, compute=compute, proof=proof, **more)


_RECONSTRUCTED = "On a graph with the colours and distances that the text states; the picture shows more."

_AFTER_THEOREM_2 = (
    ("ab", "1"),
    ("gk", "0.9"),
    ("c", "0.85"),
    ("q", "0.7"),
    ("in", "0.75"),
    ("m", "0.9"),
    ("do", "0.925"),
    ("efjpr", "1"),
)
_AFTER_THEOREM_5 = (("ab", "0"), ("cgk", "0"), ("inq", "0.2"), ("dom", "0.36"), ("jpr", "0.568"))
_AFTER_COROLLARY_2 = (
    (("111",), "0.1"),
    (("211", "121", "112"), "0.3"),
    (("122", "212", "221"), "0.7"),
    (("222",), "0.9"),
)

COLOURINGS = (
    _item(
        "Introduction, P_e",
        "P_e(Δ) with Δ the shortest path to the nearest dataset of opposite colour",
        _errors_by_own_boundary,
        misprint="Δ is the distance to the boundary of the own colour, as in Corollary 2, not to the other colour.",
        fault=_boundary_error_of_the_introduction,
    ),
    _item("Introduction, 2n + 1 voters", "from 2^(2n+1) to 2(n+1) datasets", _majorities, PULLBACK),
    _item("Figure 1a, boundary graph", "2, 2", lambda: _ends(votes()), PULLBACK, note="N_B and n_R of the line."),
    _item("Figure 1b, boundary graph", "2, 2", lambda: _ends(voluntary()), PULLBACK, note="N_B and n_R of the line."),
    _item("Figure 2, boundary graph", "3, 4", lambda: _ends(figure_2()), PULLBACK, note=_RECONSTRUCTED),
    _item("Example 1, M_1", "0.1", lambda: needed(_two("0.58", "0.76"), TWO), PULLBACK, note="The δ it needs."),
    _item("Example 1, M_2", "0.1", lambda: needed(_two("0.64", "0.73"), TWO), PULLBACK, note="The δ it needs."),
    _item("Example 1, comparison", "neither dominates the other", _incomparable),
    _item(
        "Example 2",
        "{122, 211, 221} ↦ d_3",
        _corrected_example_2,
        PULLBACK,
        misprint="{122, 211, 221} should read {122, 212, 221}: 211 is sent to two nodes, and 212 to none.",
        fault=_torn,
    ),
    *(
        _item(
            f"After Theorem 2, {', '.join(map(_letter, nodes))}",
            ", ".join([value] * len(nodes)),
            partial(_truths, nodes),
            note=_RECONSTRUCTED,
        )
        for nodes, value in _AFTER_THEOREM_2
    ),
    _item(
        "After Theorem 2, ε = log 1.1",
        "there is no (log 1.1, 0)-DP mechanism",
        _refused,
        "proofs/two-rows.md",
        note=_RECONSTRUCTED,
    ),
    _item("Example 3, τ of the blue side", "1", _tau_of_example_3),
    _item("Example 3, R_3", "0.64", lambda: _red(3, on_the_line())),
    _item("Example 3, R_2", "0.432", lambda: _red(2, on_the_line())),
    _item(
        "Example 3, R_1",
        "0.2553",
        lambda: _red(1, on_the_line()),
        misprint="The digits are cut off, not rounded: .2553846 is .2554, and a smaller value is not private.",
        fault=lambda: _after("0.2553", "0.432"),
    ),
    _item("Example 3, B_5", "1/13", lambda: 1 - _red(5, on_the_line())),
    _item("Example 3, B_6 and B_7", "0, 0", lambda: [1 - _red(node, on_the_line()) for node in (6, 7)]),
    *(
        _item(
            f"After Theorem 5, {', '.join(f'R_{node}' for node in nodes)}",
            ", ".join([value] * len(nodes)),
            partial(_errors, nodes),
            note=_RECONSTRUCTED,
        )
        for nodes, value in _AFTER_THEOREM_5
    ),
    _item(
        "After Theorem 5, R_e, R_f",
        "0.7447, 0.7447",
        partial(_errors, "ef"),
        misprint="It is .7446 (.744615…): the printed value is 1 − .2553, and is not private beside .568.",
        fault=lambda: _after("0.7447", "0.568"),
    ),
    *(
        _item(
            f"After Corollary 2, {', '.join(f'R_{word}' for word in words)}",
            ", ".join([value] * len(words)),
            partial(_votes_for_red, words),
        )
        for words, value in _AFTER_COROLLARY_2
    ),
    _item(
        "Corollary 2, proof, (e^ε + δ)/(1 + e^ε)", "0.7", lambda: balanced_truth(2, TWO), note="At ε = log 2, δ = 0.1."
    ),
)
