"""Examples, figures and theorems of [Gu2024]: any number of ranked answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, product
from typing import Any

from .._exact import ball, enclosure_of
from ..certify import audit
from ..design import compare, compare_lexicographically, continuous, rainbow, turning_points
from ..errors import Infeasible
from ..graphs import Cycle, Histograms, RankedGraph, boundary_graph, rank
from ..mechanisms import Mechanism, read_document
from ..privacy import Privacy, are_close, steps
from ._doliveira2021 import needed
from ._items import Fault, Holds, Item, all_equal, holds_at

# The formulas of [Gu2023] and [Gu2024] as printed: their operator, τ and closed form.
#
# With δ > 0 nothing here is private as claimed there. The code is separate, so that the printed formulas can be
# evaluated.

FIGURE_RATIO = Fraction("1.2")
CAPTION_ROW = tuple(map(Fraction, ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")))
WEIGHTS = tuple(map(Fraction, ("0.001", "0.015", "0.25", "0.5")))
"""What the boundary row of the figures is said to be e^ε/(1 + e^ε) times of, but for its last entry."""

EXAMPLE_1 = {"d_1": ("0.2", "0.1", "0.7"), "d_4": ("0.4", "0.1", "0.5"), "d_5": ("0.4", "0.05", "0.55")}
"""The given rows of Example 1, and one that fits at d_5, of which nothing is printed."""

Row = tuple[Fraction, ...]


def prefix_sums(row: Sequence[Fraction]) -> list[Fraction]:
    """Return s_1, …, s_q."""
    return list(accumulate(row))


def row_of(sums: Sequence[Fraction]) -> Row:
    """Return the law with these prefix sums."""
    return tuple(after - before for before, after in zip([Fraction(0), *sums[:-1]], sums, strict=True))


def moved(row: Sequence[Fraction], privacy: Privacy, t: int = 1) -> Row:
    """Return T^t of a row, by this library's operator."""
    return row_of([steps(s, t, privacy) for s in prefix_sums(row)])


def printed_step(s: Fraction, privacy: Privacy) -> Fraction:
    """Return s' of eq. (9) as printed, in both versions."""
    r, d = privacy.ratio, privacy.delta
    return min(Fraction(1), min(r * s, 1 - (1 - s) / r) + d)


def printed_tau(s: Fraction, privacy: Privacy, whole: Callable[[Fraction], int]) -> int | None:
    """Return τ of eq. (21) of [Gu2024], with `math.floor`, or eq. (20) of [Gu2023], with `math.ceil`."""
    r, d = privacy.ratio, privacy.delta
    rho = d / (r - 1)
    if s + rho == 0:
        return None
    quotient = (1 / (r + 1) + rho) / (s + rho)
    enclosure = enclosure_of(lambda: ball(quotient).log() / ball(r).log() + 1, width=Fraction(1, 10**30))
    low, high = whole(max(enclosure.lower, Fraction(0))), whole(max(enclosure.upper, Fraction(0)))
    # A whole logarithm is surrounded: then r^(low or high, less one) is the quotient itself.
    return low if low == high or r ** (low - 1) == quotient else high


def closed_form(s: Fraction, t: int, tau: int | None, privacy: Privacy) -> Fraction:
    """Return s^t of eq. (22) of [Gu2024], which is eq. (21) of [Gu2023], with a given τ."""
    r, d = privacy.ratio, privacy.delta
    rho = d / (r - 1)
    if tau is None:
        return s
    growing = min(Fraction(1), r ** min(t, tau) * (s + rho) - rho)
    return growing if t <= tau else min(Fraction(1), 1 + r * rho - (1 - growing + r * rho) / r ** (t - tau))


def chain(row: Sequence[Fraction], taus: Sequence[int | None], privacy: Privacy, last: int) -> list[Row]:
    """Return the rows of the printed closed form with given τ at depths 0, …, last, made laws by cutting at 0."""
    rows = []
    for t in range(last + 1):
        sums = [closed_form(s, t, tau, privacy) for s, tau in zip(prefix_sums(row), taus, strict=True)]
        rows.append(row_of(list(accumulate(sums, max))))
    return rows


def two_rows() -> tuple[list[Row], Privacy]:
    """Return (1/2, 1/2) and its neighbour by the printed operator at r = 2, δ = 0.1."""
    privacy, half = Privacy(ratio=2, delta="0.1"), Fraction(1, 2)
    first = printed_step(half, privacy)
    return [(half, half), (first, 1 - first)], privacy


def worse_than_claimed(rows: Sequence[Row], privacy: Privacy, what: str = "") -> Fault:
    """Return the δ that a chain of rows needs, beside the one that is claimed."""
    return Fault(what or "δ that the printed rows need", needed(rows, privacy), privacy.delta)


def true_row() -> Row:
    """Return the boundary row of the figures before it was rounded."""
    factor = FIGURE_RATIO / (1 + FIGURE_RATIO)
    first = [weight * factor for weight in WEIGHTS]
    return (*first, 1 - sum(first, Fraction(0)))


def floor_tau(s: Fraction, privacy: Privacy) -> int | None:
    """Return τ as [Gu2024] prints it."""
    return printed_tau(s, privacy, math.floor)


def ceiling_tau(s: Fraction, privacy: Privacy) -> int | None:
    """Return τ as [Gu2023] prints it."""
    return printed_tau(s, privacy, math.ceil)


# Example 1 and the figures of [Gu2024], which are also in [Gu2023]: no optimum, and five answers over depth.

NONE = "proofs/no-optimum.md"
OPERATOR = "proofs/operator.md"
DOUBLE = Privacy(ratio=2)


def figure_privacy(delta: str) -> Privacy:
    """Return what the figures are drawn for."""
    return Privacy(ratio=FIGURE_RATIO, delta=delta)


@cache
def example_1() -> RankedGraph:
    """Return the cycle of Example 1."""
    return rank(Cycle(5), [(1, 2, 3)] * 4 + [(1, 3, 2)])


def _rows(second: str, third: str) -> list[tuple[Fraction, ...]]:
    """Return the rows of a mechanism of Example 1, of which those at d_2 and d_3 are printed."""
    printed = (EXAMPLE_1["d_1"], second.split(), third.split(), EXAMPLE_1["d_4"], EXAMPLE_1["d_5"])
    return [tuple(map(Fraction, row)) for row in printed]


FIRST, SECOND = _rows("0.4 0.2 0.4", "0.4 0.2 0.4"), _rows("0.4 0.1 0.5", "0.7 0.05 0.25")
THIRD = [FIRST[0], FIRST[1], SECOND[2], *FIRST[3:]]


def _made(rows: Any) -> Mechanism:
    return Mechanism.from_matrix(rows, privacy=DOUBLE, graph=Cycle(5), outputs=(1, 2, 3))


def _valid(rows: Any) -> Holds:
    audited = audit(_made(rows)).private
    return Holds(audited, "private on every edge, with (.4, .05, .55) at d_5" if audited else "not private")


def _third() -> Holds:
    excess = THIRD[1][1] - 2 * THIRD[2][1]
    return Holds(excess > 0 and not audit(_made(THIRD)).private, f"{THIRD[1][1]} > 2·{THIRD[2][1]}")


@cache
def _witnesses() -> tuple[Mechanism, ...]:
    given = {0: dict(enumerate(EXAMPLE_1["d_1"], 1)), 3: dict(enumerate(EXAMPLE_1["d_4"], 1))}
    try:
        rainbow(Cycle(5), [(1, 2, 3)] * 4 + [(1, 3, 2)], DOUBLE, boundary=given)
    except Infeasible as refusal:
        witnesses = [read_document(document).mechanism() for document in refusal.document["witnesses"]]
        return tuple(witnesse for witnesse in witnesses if isinstance(witnesse, Mechanism))
    return ()


def _no_optimum() -> Holds:
    """Check that the design refuses, and that its witnesses are private and that neither dominates the other."""
    witnesses = _witnesses()
    holds = len(witnesses) == 2 and all(audit(witnesse).private for witnesse in witnesses)
    holds = holds and compare(witnesses[0], witnesses[1], example_1()) == "incomparable"
    return Holds(holds, "two private witnesses, neither of which dominates the other" if holds else "an optimum")


def _no_lexicographic_optimum() -> Holds:
    """The best first choices at d_2 and d_3 leave the second choice at d_3 less than half of what d_2 needs."""
    comparison = compare_lexicographically(_made(FIRST), _made(SECOND), example_1())
    best = all(FIRST[1] >= row and SECOND[2] >= other for row, other in _private_pairs())
    holds = comparison == "incomparable" and best and not audit(_made(THIRD)).private
    return Holds(holds, "either of the two is first at one node; both together are not private")


def _private_pairs() -> Iterator[tuple[Any, Any]]:
    """Yield private rows at d_2 and d_3 from a grid of twentieths, to compare with."""
    grid = [(Fraction(a, 20), Fraction(b, 20), Fraction(20 - a - b, 20)) for a in range(21) for b in range(21 - a)]
    seconds = [row for row in grid if are_close(row, FIRST[0], DOUBLE)]
    thirds = [row for row in grid if are_close(row, FIRST[3], DOUBLE)]
    return ((one, other) for one, other in product(seconds, thirds) if are_close(one, other, DOUBLE))


def _weights_row(place: int) -> Fraction:
    return true_row()[place]


def _cut_off() -> Fault:
    return Fault(
        "distance of .0081 from .015·e^ε/(1 + e^ε)", abs(true_row()[1] - Fraction("0.0081")), Fraction(1, 20_000)
    )


def example_1_items(work: str) -> tuple[Item, ...]:
    """Return the items of Example 1, which both versions print."""
    item = partial(Item, work=work, proof=NONE)
    return (
        item(name="Example 1, M_1", printed="M_1 is valid", compute=partial(_valid, FIRST)),
        item(name="Example 1, M_2", printed="M_2 is valid", compute=partial(_valid, SECOND)),
        item(
            name="Example 1, M_3(d_2)",
            printed="0.4, 0.2, 0.4",
            compute=lambda: moved(FIRST[0], DOUBLE),
            note="The best that M(d_1) allows.",
        ),
        item(
            name="Example 1, M_3(d_3)",
            printed="0.7, 0.05, 0.25",
            compute=lambda: moved(FIRST[3], DOUBLE),
            note="The best that M(d_4) allows.",
        ),
        item(name="Example 1, M_3", printed="M_3(d_2)_2 > e^ε M_3(d_3)_2 + δ", compute=_third),
        item(name="Example 1", printed="there is no optimal mechanism", compute=_no_optimum),
    )


def boundary_items(work: str) -> tuple[Item, ...]:
    """Return the items of the figures' boundary row, of which both versions print the same."""
    _item = partial(Item, work=work, proof=OPERATOR)
    return (
        *(
            _item(name=f"Section 5.3, m_{place + 1}", printed=printed, compute=partial(_weights_row, place))
            for place, printed in ((0, "0.0005"), (2, "0.1364"), (3, "0.2727"), (4, "0.5822"))
        ),
        _item(
            name="Section 5.3, m_2",
            printed="0.0081",
            compute=partial(_weights_row, 1),
            misprint=".015·e^ε/(1 + e^ε) = .00818 rounds to .0082; with .0081 the printed row adds up to .9999.",
            fault=_cut_off,
        ),
    )


def _ends_of_figure_3() -> list[int | None]:
    return [turning_points(CAPTION_ROW, figure_privacy("0"))[-1], turning_points([0, 1], figure_privacy("0"))[0]]


_EARLIER = "Of the row in the caption; of the row before rounding τ_1 is 37."

EXAMPLE_1_LEXICOGRAPHIC = Item(
    work="Gu2024",
    name="Section 6.3, Example 1",
    printed="no lexicographic optimum either",
    compute=_no_lexicographic_optimum,
    proof=NONE,
)

_item = partial(Item, work="Gu2024", proof=OPERATOR)

FIGURES = (
    *(
        _item(
            name=f"Figure {number}, τ_1 to τ_5",
            printed=printed,
            compute=partial(turning_points, CAPTION_ROW, figure_privacy(delta)),
            note=_EARLIER if number == 3 else "With the corrected operator, too.",
        )
        for number, delta, printed in (
            (3, "0", "38, 22, 7, 1, 0"),
            (4, "0.001", "25, 20, 7, 1, 0"),
            (5, "0.01", "13, 12, 6, 1, 0"),
        )
    ),
    _item(
        name="Section 5.3, Figure 3, degenerate phases",
        printed="0, ∞",
        compute=_ends_of_figure_3,
        note="τ_5, and τ_0 for the third phase of k = 1.",
    ),
)


OPTIMALITY = "proofs/rainbow-optimality.md"
PULLBACK = "proofs/pullback.md"
CASES = [Privacy(ratio=r, delta=d) for r in ("1.2", "2", "5") for d in ("0", "1/100", "1/10")]
PURE = [Privacy(ratio=r) for r in ("1.2", "2", "5")]
STARTS = [Fraction(k, 97) for k in range(1, 97, 5)]
"""Prefix sums that never meet the turn of the operator exactly."""


@cache
def _laws() -> list[tuple[Fraction, ...]]:
    """Return the laws on three answers with probabilities in tenths."""
    return [(Fraction(a, 10), Fraction(b, 10), Fraction(10 - a - b, 10)) for a in range(11) for b in range(11 - a)]


def _dominated() -> Holds:
    """Go through pairs of close laws on three answers."""
    cases = wrong = 0
    for privacy in (Privacy(ratio=2), Privacy(ratio=2, delta="1/10")):
        for law in _laws():
            best = prefix_sums(moved(law, privacy))
            for other in _laws():
                if are_close(law, other, privacy):
                    cases += 1
                    wrong += any(s > most for s, most in zip(prefix_sums(other), best, strict=True))
            wrong += not are_close(law, moved(law, privacy), privacy)
    return holds_at(cases, wrong, "pairs of close laws (with the corrected operator)")


def _monotone() -> Holds:
    cases = wrong = 0
    for privacy in CASES[::2]:
        images = [(prefix_sums(law), prefix_sums(moved(law, privacy))) for law in _laws()]
        for (one, above), (other, below) in product(images, images):
            if all(a >= b for a, b in zip(one, other, strict=True)):
                cases += 1
                wrong += any(a < b for a, b in zip(above, below, strict=True))
    return holds_at(cases, wrong, "pairs of laws of which one dominates the other")


def _stronger() -> Holds:
    cases = wrong = 0
    for one, other in product(_laws(), _laws()):
        if all(a >= b for a, b in zip(prefix_sums(one), prefix_sums(other), strict=True)):
            cases, wrong = cases + 1, wrong + (one < other)
    only = ((Fraction(1, 2), Fraction(0), Fraction(1, 2)), (Fraction(2, 5), Fraction(3, 5), Fraction(0)))
    first_but_not_above = only[0] > only[1] and sum(only[0][:2]) < sum(only[1][:2])
    return holds_at(cases, wrong + (not first_but_not_above), "pairs of laws, and not the other way round")


@cache
def _histogram() -> RankedGraph:
    """Return four records in three types, ranked by how many there are."""
    return rank(Histograms(4, 3), lambda counts: sorted("abc", key=lambda one: (-counts["abc".index(one)], one)))


def _optimal_on_graphs() -> Holds:
    examples = []
    for privacy in CASES[:6]:
        ranked = _histogram()
        rankings = {node: ranked.colour_of(node) for node in ranked.graph.nodes}
        examples.append(audit(rainbow(ranked.graph, rankings, privacy)))
    wrong = sum(not (example.holds and example.private) for example in examples)
    return holds_at(len(examples), wrong, "designs on histograms of 4 records in 3 types, by their certificates")


def _pulled_back() -> Holds:
    pairs = []
    for privacy in CASES[:6]:
        ranked = _histogram()
        target, onto = boundary_graph(ranked)
        whole, small = (
            rainbow(one.graph, {node: one.colour_of(node) for node in one.graph.nodes}, privacy)
            for one in (ranked, target)
        )
        order = [small.outputs.index(name) for name in whole.outputs]
        for node in ranked.graph.nodes:
            row = small.row(onto(node))
            pairs += list(zip(whole.row(node), (row[place] for place in order), strict=True))
    return all_equal(pairs, "probabilities on histograms of 4 records in 3 types")


def _line_without_delta() -> Holds:
    pairs = []
    for privacy in PURE:
        for s in STARTS:
            printed = s
            for t in range(1, 12):
                printed = printed_step(printed, privacy)
                pairs.append((printed, steps(s, t, privacy)))
    return all_equal(pairs, "prefix sums at δ = 0")


def _tau_without_delta() -> Holds:
    pairs = []
    for privacy in PURE:
        for s in STARTS:
            turn = turning_points([s, 1 - s], privacy)[0]
            pairs.append((Fraction(floor_tau(s, privacy) or 0), Fraction(turn or 0)))
    return all_equal(pairs, "values of τ")


def _closed_form_without_delta() -> Holds:
    pairs = [
        (closed_form(s, t, floor_tau(s, privacy), privacy), steps(s, t, privacy))
        for privacy in PURE
        for s in STARTS
        for t in range(12)
    ]
    return all_equal(pairs, "prefix sums at δ = 0")


def _figure_5_at_a_tenth() -> tuple[list[int | None], list[int | None]]:
    """Return τ as (21) prints it, and its true value, for the row of the figures at δ = 0.1."""
    privacy = figure_privacy("0.1")
    printed = [floor_tau(s, privacy) for s in prefix_sums(CAPTION_ROW)]
    return printed, turning_points(CAPTION_ROW, privacy)


def _equation_21() -> Holds:
    printed, ours = _figure_5_at_a_tenth()
    return Holds(printed == ours, f"with (1 − δ)/(e^ε + 1): at δ = 0.1 τ = {ours} for the figures' row, not {printed}")


def _late_switch() -> Fault:
    """Let the first branch run to the printed τ, with ρ corrected in the second one: what s_3 then needs at δ = 0.1."""
    privacy = figure_privacy("0.1")
    printed, _ = _figure_5_at_a_tenth()
    place = 2
    r, rho, s = privacy.ratio, privacy.delta / (privacy.ratio - 1), prefix_sums(CAPTION_ROW)[place]
    sums = [min(Fraction(1), r**t * (s + rho) - rho) for t in range((printed[place] or 0) + 1)]
    return worse_than_claimed([(x, 1 - x) for x in sums], privacy, "δ that s_3 needs up to the printed τ_3 at δ = 0.1")


def _two_pieces(delta: str) -> Fault:
    privacy = figure_privacy(delta)
    taus = [floor_tau(s, privacy) for s in prefix_sums(CAPTION_ROW)]
    return worse_than_claimed(chain(CAPTION_ROW, taus, privacy, 40), privacy, f"δ that the chain needs at δ = {delta}")


def _one_too_far() -> Fault:
    privacy = figure_privacy("0.001")
    s = CAPTION_ROW[0]
    tau = floor_tau(s, privacy) or 0
    turn = 1 / (privacy.ratio + 1)
    return Fault(f"s_1 at t = τ_1 = {tau} in Figure 4", closed_form(s, tau, tau, privacy), turn)


def _continuous() -> Holds:
    """Compare the continuous design on a grid with the operator applied to the distribution function."""
    wrong = cases = 0
    for privacy in CASES[3:6]:
        made = continuous(lambda x: x, privacy, lower=0, upper=1)
        for depth in (1, 2, 4):
            for x in (Fraction(k, 16) for k in range(17)):
                cases += 1
                wrong += abs(float(made.cdf(float(x), depth)) - float(steps(x, depth, privacy))) > _FLOATS
    return holds_at(cases, wrong, "points of distribution functions, to 1e-12")


_FLOATS = 1e-12


def _pull_back_private() -> Holds:
    cases = wrong = 0
    for privacy in CASES[:6]:
        ranked = _histogram()
        target, onto = boundary_graph(ranked)
        small = rainbow(target.graph, {node: target.colour_of(node) for node in target.graph.nodes}, privacy).matrix()
        images = onto.images.tolist()
        for tails, heads in ranked.graph.edges():
            for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
                cases += 1
                wrong += not are_close(small[images[tail]], small[images[head]], privacy)
    return holds_at(cases, wrong, "edges of histograms of 4 records in 3 types")


def _total_variation() -> Fault:
    """The proof's first step at p = (1/2, 1/2): its p̃ is close to p, and p' within δ of p̃."""
    rows, privacy = two_rows()
    return worse_than_claimed(rows, privacy, "δ that p' needs beside p = (1/2, 1/2)")


RAINBOWS = (
    _item(
        name="Section 1.1",
        printed="dominance is stronger than lexicographic order",
        compute=_stronger,
        proof=OPTIMALITY,
    ),
    _item(
        name="Theorem 1", printed="a mechanism pulled back is as private", compute=_pull_back_private, proof=PULLBACK
    ),
    *example_1_items("Gu2024"),
    EXAMPLE_1_LEXICOGRAPHIC,
    _item(
        name="Theorem 2",
        printed="with a homogeneous boundary there is a unique optimum",
        compute=_optimal_on_graphs,
        proof=OPTIMALITY,
    ),
    _item(
        name="Theorem 3",
        printed="the optimum is that of the boundary graph, pulled back",
        compute=_pulled_back,
        proof=OPTIMALITY,
    ),
    _item(name="Theorem 4, δ = 0", printed="M(d) = T^d(m) with eq. (9)", compute=_line_without_delta),
    _item(
        name="Theorem 4, eq. (9)",
        printed="s' = min{1, min{e^ε s, 1 − e^−ε(1 − s)} + δ}",
        compute=lambda: Holds(False, "s' = min{1, e^ε s + δ, 1 − e^−ε(1 − s − δ)}"),
        misprint="The second branch must be 1 − e^−ε(1 − s − δ); as printed the mechanism is only (ε, e^ε δ)-DP.",
        fault=lambda: worse_than_claimed(*two_rows(), "δ that (.5, .5) and its printed neighbour (.85, .15) need"),
    ),
    _item(
        name="Lemma 1, step 1",
        printed="p̃ is (ε, 0)-close to p and TV(p̃, p') ≤ δ, so p' is (ε, δ)-close to p",
        compute=lambda: Holds(False, "it is (ε, e^ε δ)-close"),
        misprint="Total variation of δ costs e^ε δ in one direction: P(S) ≤ e^ε(P'(S) + δ).",
        fault=_total_variation,
    ),
    _item(
        name="Lemma 1", printed="T(p) is close to p, and dominates all that are", compute=_dominated, proof=OPTIMALITY
    ),
    _item(name="Lemma 2", printed="T preserves dominance", compute=_monotone),
    _item(name="Section 5.1, eq. (18)", printed="τ_k = ⌊max{−log(s_k(e^ε + 1))/ε + 1, 0}⌋", compute=_tau_without_delta),
    _item(name="Section 5.1, eq. (19)", printed="s_k^t before and after τ_k", compute=_closed_form_without_delta),
    _item(
        name="Section 5.2, eq. (21)",
        printed="τ_k with 1/(e^ε + 1)",
        compute=_equation_21,
        misprint="The branches meet at θ = (1 − δ)/(e^ε + 1), not at 1/(e^ε + 1).",
        fault=_late_switch,
    ),
    _item(
        name="Section 5.2, after eq. (21)",
        printed="s_k^t ≤ 1/(e^ε + 1) for t ≤ τ_k",
        compute=lambda: Holds(False, "for t ≤ τ_k − 1, as in Section 5.1"),
        misprint="It holds for t ≤ τ_k − 1, as in Section 5.1: τ_k is the first t that is beyond.",
        fault=_one_too_far,
    ),
    _item(
        name="Section 5.2, eq. (22)",
        printed="1 + e^ε ρ − e^(−ε(t − τ_k))(1 − s_k^τ_k + e^ε ρ)",
        compute=lambda: Holds(False, "1 + ρ − e^(−ε(t − τ_k))(1 − s_k^τ_k + ρ)"),
        misprint="ρ stands there without e^ε, since the second branch must be 1 − e^−ε(1 − s − δ).",
        fault=lambda: _two_pieces("0.01"),
    ),
    *boundary_items("Gu2024"),
    *FIGURES,
    _item(
        name="Section 6.5",
        printed="Theorems 2 and 4 are expected to hold for V = [0, 1]",
        compute=_continuous,
        proof="proofs/continuous-answers.md",
        note="Proved here.",
    ),
)
