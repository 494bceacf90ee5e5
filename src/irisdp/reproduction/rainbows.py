"""Examples, figures and theorems of [Gu2024]: any number of ranked answers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from itertools import product

from ..certify import audit
from ..design import continuous, rainbow
from ..design.rainbows import turning_points
from ..graphs import Histograms, RankedGraph, boundary_graph, rank
from ..privacy import Privacy, are_close, steps
from .items import Fault, Holds, Item, all_equal, holds_at
from .printed_rainbows import (
    CAPTION_ROW,
    chain,
    closed_form,
    floor_tau,
    moved,
    prefix_sums,
    printed_step,
    two_rows,
    worse_than_claimed,
)
from .rainbow_examples import EXAMPLE_1_LEXICOGRAPHIC, FIGURES, boundary_items, example_1_items, figure_privacy

__all__ = ["ITEMS"]

OPTIMALITY = "proofs/rainbow-optimality.md"
OPERATOR = "proofs/operator.md"
PULLBACK = "proofs/pullback.md"
NONE = "proofs/no-optimum.md"
DOUBLE = Privacy(ratio=2)
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
    found = []
    for privacy in CASES[:6]:
        ranked = _histogram()
        rankings = {node: ranked.colour_of(node) for node in ranked.graph.nodes}
        found.append(audit(rainbow(ranked.graph, rankings, privacy)))
    wrong = sum(not (one.holds and one.private) for one in found)
    return holds_at(len(found), wrong, "designs on histograms of 4 records in 3 types, by their certificates")


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
    """Return τ as (21) prints it, and as it is, for the row of the figures at δ = 0.1."""
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


_item = partial(Item, work="Gu2024", proof=OPERATOR)

ITEMS = (
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
