"""Theorems, definitions and lemmas of [DOliveira2021] as they are printed, beside the operator iterated exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .._exact import ball, enclosure_of
from ..design import binary
from ..graphs import ColouredGraph, boundary_graph, line
from ..mechanisms import balanced_line
from ..privacy import Privacy, are_close, steps
from ._doliveira2021 import figure_2, needed, voluntary, votes
from ._items import Fault, Holds, Item, all_equal, holds_at

OPERATOR = "proofs/operator.md"
OPTIMALITY = "proofs/rainbow-optimality.md"
PULLBACK = "proofs/pullback.md"
TENTHS = [Fraction(k, 10) for k in range(11)]
RATIOS = [Fraction(r) for r in ("11/10", "1.3", "2", "5")]
DELTAS = [Fraction(d) for d in ("0", "1/100", "1/10")]
DEEP = 6
"""Steps from the boundary that are compared."""


def _cases() -> Iterator[Privacy]:
    yield from (Privacy(ratio=r, delta=d) for r in RATIOS for d in DELTAS)


def printed_tau(error: Fraction, privacy: Privacy) -> int:
    """Return τ of Definition 8 as it is printed, for R at the boundary."""
    r, d = privacy.ratio, privacy.delta
    if r == 1:
        return -1
    quotient = (r - 1 + 2 * d) / ((1 - error) * (r**3 - r) + d * (r**2 + r)) if error < 1 or d else None
    if quotient is None:
        return 10**9  # R = 1 and δ = 0: it never turns
    enclosure = enclosure_of(lambda: ball(quotient).log() / ball(r).log(), width=Fraction(1, 10**30))
    low, high = math.ceil(enclosure.lower), math.ceil(enclosure.upper)
    # Where the quotient is a power of r the logarithm is whole, and both ends surround it.
    return low if low == high or quotient <= r**low else high


def printed_initial(error: Fraction, i: int, privacy: Privacy) -> Fraction:
    """Return R_Ini of Definition 9, read as a probability (footnote 3)."""
    r, d = privacy.ratio, privacy.delta
    return max(Fraction(0), 1 - r**i * (1 - error) - d * (r**i - 1) / (r - 1))


def printed_terminal(error: Fraction, i: int, privacy: Privacy) -> Fraction:
    """Return R_Ter of Definition 10, read as a probability (footnote 3)."""
    r, d = privacy.ratio, privacy.delta
    if r == 1:
        return max(Fraction(0), error - i * d)
    return max(Fraction(0), error / r**i - d * (r**i - 1) / (r**i * (r - 1)))


def _printed_error(error: Fraction, i: int, privacy: Privacy) -> Fraction:
    """Return R_{n_B − i} of Theorem 4 where τ ≥ −1."""
    tau = max(-1, printed_tau(error, privacy))
    if i <= tau + 1:
        return printed_initial(error, i, privacy)
    return printed_terminal(printed_initial(error, tau + 1, privacy) if tau >= 0 else error, i - tau - 1, privacy)


def _theorem_4() -> Holds:
    pairs = [
        (_printed_error(error, i, privacy), 1 - steps(1 - error, i, privacy))
        for privacy in (*_cases(), Privacy(ratio=1, delta="1/20"))
        for error in TENTHS
        for i in range(1, DEEP + 1)
    ]
    return all_equal(pairs, "probabilities (τ cut off at −1)")


def _low_tau() -> tuple[int, int]:
    """Return the node that Theorem 4 refers to with τ as printed, on the (3,1)-line, and how many nodes there are."""
    tau = printed_tau(Fraction(1, 100), Privacy(ratio="1.3"))
    return 3 - tau - 1, 4


def _definition_8() -> Holds:
    node, nodes = _low_tau()
    return Holds(False, f"R = 0.01, ε = log 1.3, δ = 0 on the (3,1)-line: τ refers to node {node} of {nodes}")


def _theorem_1() -> Holds:
    """Pull a mechanism of the line back to a graph, and go through every edge."""
    wrong = cases = 0
    for coloured in (votes(), voluntary(), figure_2()):
        target, onto = boundary_graph(coloured)
        for privacy in _cases():
            colours = {node: target.colour_of(node) for node in target.graph.nodes}
            rows = onto.pull_back(range(target.graph.number_of_nodes)).tolist()
            small = binary(target.graph, colours, privacy).matrix()
            for tails, heads in coloured.graph.edges():
                for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
                    cases += 1
                    wrong += not are_close(small[rows[tail]], small[rows[head]], privacy)
    return holds_at(cases, wrong, "edges")


def _theorem_3() -> Holds:
    """Compare the optimum on a graph with that of its line, pulled back."""
    pairs = []
    for coloured in (votes(), voluntary(), figure_2()):
        target, onto = boundary_graph(coloured)
        for privacy in _cases():
            for truth in (Fraction(1, 2), Fraction(privacy.ratio / (privacy.ratio + 1))):
                whole, small = (_homogeneous(one, privacy, truth) for one in (coloured, target))
                for node in coloured.graph.nodes:
                    pairs.append((whole.row(node)[0], small.row(onto(node))[0]))
    return all_equal(pairs, "probabilities on three graphs")


def _homogeneous(coloured: ColouredGraph, privacy: Privacy, truth: Fraction) -> Any:
    first, second = sorted(set(coloured.classes), key=str)
    code = {node: coloured.colour_of(node) for node in coloured.graph.nodes}
    made = binary(coloured.graph, code, privacy, boundary=truth)
    order = [made.outputs.index(name) for name in (first, second)]
    return made.post_process([[int(order[column] == place) for column in (0, 1)] for place in (0, 1)])


def _two_with_one_boundary() -> Fault:
    """Two mechanisms on the (2,1)-line with the same boundary: the optimum, and one that is constant in blue."""
    privacy = Privacy(ratio=2, delta="0.1")
    best = [(steps(Fraction(7, 10), 1, privacy)), Fraction(7, 10), Fraction(3, 10)]
    flat = [Fraction(7, 10), Fraction(7, 10), Fraction(3, 10)]
    private = [rows for rows in (best, flat) if needed([(p, 1 - p) for p in rows], privacy) <= privacy.delta]
    return Fault("private mechanisms on the (2,1)-line with B_2 = 0.7", Fraction(len(private)), Fraction(1))


def _bound_4() -> Fault:
    """The bound on a neighbour of 0.6 as it is rewritten in the proof of Theorem 2."""
    privacy, b = Privacy(ratio=2, delta="0.1"), Fraction(6, 10)
    r, d = privacy.ratio, privacy.delta
    printed = min(Fraction(1), (r * b + r + d - 1) / r, r * b + d)
    return Fault(
        "δ that the largest neighbour of 0.6 within the printed bounds needs",
        needed([(b, 1 - b), (printed, 1 - printed)], privacy),
        d,
    )


def _corollary_1() -> Holds:
    pairs = [
        (printed_terminal(error, i, privacy), 1 - steps(1 - error, i, privacy))
        for privacy in _cases()
        for error in (Fraction(k, 20) for k in range(11))
        for i in range(1, DEEP + 1)
    ]
    return all_equal(pairs, "probabilities (read as 0 below 0, footnote 3)")


def _corollary_2() -> Holds:
    pairs = []
    for privacy in _cases():
        r, d = privacy.ratio, privacy.delta
        made = balanced_line(privacy)
        for t in range(DEEP + 1):
            printed = (r - 1 - d * (r ** (t + 1) + r**t - 2)) / (r**t * (r + 1) * (r - 1))
            pairs.append((max(Fraction(0), printed), 1 - made.row(0, t)[0]))
    return all_equal(pairs, "probabilities (read as 0 below 0, footnote 3)")


def _unrolled(initial: bool) -> Holds:
    """Compare the solved recurrences of Lemmas 2 and 3 with the recurrences."""
    pairs = []
    for privacy in _cases():
        y, z = privacy.ratio, privacy.delta
        for x in TENTHS:
            one = x
            for i in range(1, DEEP + 1):
                one = 1 + y * one - y - z if initial else (one - z) / y
                solved = (
                    1 + y**i * (x - 1) - z * (1 - y**i) / (1 - y)
                    if initial
                    else x / y**i - z * (1 - y**i) / ((1 - y) * y**i)
                )
                pairs.append((one, solved))
    return all_equal(pairs, "terms of the recurrence")


def _lemma_1(ratios: list[Fraction]) -> tuple[int, int]:
    """Return how many points of a grid there are, and at how many of them the two sides of Lemma 1 disagree."""
    cases = wrong = 0
    for x in TENTHS:
        for y in ratios:
            for z in (Fraction(k, 20) for k in range(20)):
                left = 1 - y + x * y - z > (x - z) / y
                right = (x == 1 and y > 1) or z < x * y + x - y
                cases, wrong = cases + 1, wrong + (left != right)
    return cases, wrong


def _lemma_1_above_1() -> Holds:
    cases, wrong = _lemma_1(RATIOS)
    at_one = _lemma_1([Fraction(1)])[1]
    return Holds(not wrong and not at_one, f"holds at all of {cases:,} points with y > 1; fails at {at_one} with y = 1")


def _lemma_4() -> Holds:
    cases = wrong = 0
    for x in (Fraction(k, 20) for k in range(11)):
        for y in (Fraction(1), *RATIOS):
            for z in (Fraction(k, 10) for k in range(11)):
                cases, wrong = cases + 1, wrong + (1 - y + x * y - z > (x - z) / y)
    return holds_at(cases, wrong, "points of a grid")


def _equation_11() -> Holds:
    """Compare where the proof says that the first bound gives way with the operator's own turn, one step on."""
    cases = wrong = 0
    for privacy in _cases():
        r, d = privacy.ratio, privacy.delta
        bound = (r**2 + d * r + 2 * d + r - 1) / (r**2 + r)
        for error in (Fraction(k, 50) for k in range(51)):
            following = 1 - r + r * error - d
            cases, wrong = cases + 1, wrong + ((error <= bound) != ((r + 1) * following - r <= d))
    return holds_at(cases, wrong, "points of a grid")


def _last_display() -> Fault:
    """Compare both sides of the first equality of the proof's last display, at R_{i+1} = 3/5."""
    r, d, error = Fraction(2), Fraction(1, 10), Fraction(3, 5)
    before = (error - d) / r
    left = r * before + before - r
    right = r * error - r * d + error - d - r**2
    return Fault("difference of the two sides at e^ε = 2, δ = 0.1, R_{i+1} = 0.6", abs(left - right), Fraction(0))


def _last_display_multiplied() -> Holds:
    wrong = 0
    for privacy in _cases():
        r, d = privacy.ratio, privacy.delta
        for error in TENTHS:
            before = (error - d) / r
            wrong += r * (r * before + before - r) != r * error - r * d + error - d - r**2
    return Holds(False, "equal after multiplication by e^ε; the conclusion stays" if not wrong else "not equal")


def _bounds_are_sharp() -> Holds:
    """Check that the largest probability within (2) to (5) is private beside its neighbour, and more is not."""
    cases = wrong = 0
    more = Fraction(1, 10**9)
    for privacy in _cases():
        r, d = privacy.ratio, privacy.delta
        for b in TENTHS:
            most = min(Fraction(1), r * b + d, 1 - (1 - b - d) / r)
            beyond = most + more
            fits = needed([(b, 1 - b), (most, 1 - most)], privacy) <= d
            cases += 1
            wrong += not fits or (beyond <= 1 and needed([(b, 1 - b), (beyond, 1 - beyond)], privacy) <= d)
    return holds_at(cases, wrong, "values of B_d")


def _line_definition() -> Holds:
    coloured = line(4, 3)
    colours = [coloured.colour_of(node) for node in range(1, 8)]
    return Holds(colours == ["blue"] * 4 + ["red"] * 3, "nodes 1 to 4 are blue, 5 to 7 red")


def _item(name: str, printed: str, compute: Any, proof: str = OPTIMALITY, **more: Any) -> Item:
    return Item(work="DOliveira2021", name=name, printed=printed, compute=compute, proof=proof, **more)


COLOURING_THEOREMS = (
    _item("Theorem 1", "a mechanism pulled back along a morphism is as private", _theorem_1, PULLBACK),
    _item(
        "Theorem 2",
        "there is at most one (ε, δ)-DP mechanism with these values at the boundary",
        lambda: Holds(False, "there is at most one optimal one"),
        misprint="There are many such mechanisms; at most one of them is optimal, as the proof shows.",
        fault=_two_with_one_boundary,
    ),
    _item("Theorem 2, proof, bounds (2) to (5)", "B_{d'} is at most the least of them", _bounds_are_sharp, OPERATOR),
    _item(
        "Theorem 2, proof, (4) rewritten",
        "B_{d'} ≤ (e^ε B_d + e^ε + δ − 1)/e^ε",
        lambda: Holds(False, "B_{d'} ≤ (B_d + e^ε + δ − 1)/e^ε"),
        OPERATOR,
        misprint="B_d has no factor e^ε there; the values computed after the theorem do not have it either.",
        fault=_bound_4,
    ),
    _item("Definition 6", "the (n_B, n_R)-line", _line_definition, PULLBACK),
    _item("Theorem 3", "the optimum is that of the boundary graph, pulled back", _theorem_3),
    _item(
        "Definition 8",
        "τ without a lower end",
        _definition_8,
        OPERATOR,
        misprint="τ is to be cut off at −1; below it Theorem 4 starts from a node that is not blue, or not there.",
        fault=lambda: Fault("number of the node that τ refers to", *map(Fraction, _low_tau())),
    ),
    _item("Theorem 4", "R by Definitions 9 and 10, with τ of Definition 8", _theorem_4, OPERATOR),
    _item("Theorem 4, proof, (11)", "R_{n_B − i} at most this exactly if the next one turns", _equation_11, OPERATOR),
    _item(
        "Theorem 4, proof, last display",
        "e^ε R_i + R_i − e^ε = e^ε R_{i+1} − e^ε δ + R_{i+1} − δ − e^(2ε)",
        _last_display_multiplied,
        OPERATOR,
        misprint="The right-hand side is e^ε times the left-hand side; its sign, which the proof needs, is the same.",
        fault=_last_display,
    ),
    _item("Corollary 1", "only R_Ter where R_{n_B} ≤ 1/2", _corollary_1, OPERATOR),
    _item("Corollary 2", "R at every depth of the balanced optimum", _corollary_2),
    _item(
        "Lemma 1",
        "for y ≥ 1: (12) exactly if x = 1, y > 1 or z < xy + x − y",
        _lemma_1_above_1,
        OPERATOR,
        misprint="It needs y > 1, which its proof assumes: at y = 1 the two sides of (12) are equal.",
        fault=lambda: Fault(
            "points with y = 1 where the sides disagree", Fraction(_lemma_1([Fraction(1)])[1]), Fraction(0)
        ),
    ),
    _item("Lemma 2", "the initial recurrence, solved", lambda: _unrolled(True), OPERATOR),
    _item("Lemma 3", "the terminal recurrence, solved", lambda: _unrolled(False), OPERATOR),
    _item("Lemma 4", "1 − y + xy − z ≤ (x − z)/y for x ≤ 1/2", _lemma_4, OPERATOR),
)
