"""[Alda2017], §§ 4–6: what no private mechanism on a long path can beat, and sorted counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product

from .._exact import ball, enclosure_of
from ..design import (
    distance,
    exponential_ratio,
    exponential_ratio_limit,
    middle_distance,
    middle_distance_bound,
    middle_distance_limit,
    one_answer,
    path_bound,
    path_bound_limit,
)
from ..graphs import Path as Line
from ..mechanisms import minimax_risk, noise_risk
from ..privacy import Privacy
from ._alda2017 import full_exponent, mean_distance
from ._items import Fault, Holds, Item, all_equal, holds_at

BOUNDS = "proofs/path-bounds.md"
SORTING = "proofs/sorting.md"
RATIOS = [Fraction("11/10"), Fraction(2), Fraction(5), Fraction(50)]
EIGHTH = Privacy(epsilon="1/8")
CONSTANT = 74
"""At least a 74th of the orders in the theorem on sorting is proved (proofs/sorting.md)."""


def _escape(s: int) -> tuple[Fraction, Fraction]:
    """Enclose 1 − (s + 1)e^−s."""
    enclosure = enclosure_of(lambda: 1 - (s + 1) / ball(Fraction(s)).exp(), width=Fraction(1, 10**30))
    return enclosure.lower, enclosure.upper


@cache
def _optimum(nodes: int, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Return the optimum of LP[1] on a path: what is attained, and the certified bound."""
    optimum = distance(Line(nodes), Privacy(ratio=ratio)).objective
    assert optimum is not None and optimum.lower_bound is not None
    return optimum.value, optimum.lower_bound


def _equation_11() -> Holds:
    pairs = []
    for ratio, length in product(RATIOS, range(7)):
        gamma, privacy = 1 / ratio, Privacy(ratio=ratio)
        sums = [sum((gamma**d * d**k for d in range(1, length + 1)), Fraction(0)) for k in (0, 1)]
        printed = 2 * sums[1] / (1 + 2 * sums[0])
        pairs.append((printed, one_answer(Line(2 * length + 1), length, privacy, layered=True).value))
        pairs.append((printed, middle_distance(length, privacy)))
    return all_equal(pairs, "optima of LP[5] around the middle")


def _increasing() -> Holds:
    values = [[middle_distance(length, Privacy(ratio=ratio)) for length in range(40)] for ratio in RATIOS]
    wrong = sum(not one < other for line in values for one, other in pairwise(line))
    return holds_at(39 * len(RATIOS), wrong, "lengths and ratios")


def _bounded() -> Holds:
    """Check (12) exactly and (13) with e^−s enclosed, l from 1 on."""
    cases = wrong = 0
    for ratio, length in product(RATIOS, range(1, 60)):
        gamma, privacy = 1 / ratio, Privacy(ratio=ratio)
        limit, value = 2 * gamma / (1 - gamma**2), middle_distance(length, privacy)
        twelve = limit * (1 - gamma**length - length * gamma**length * (1 - gamma))
        cases, wrong = (
            cases + 1,
            wrong + (not value > twelve or twelve != middle_distance_bound(privacy, length=length)),
        )
        for s in (1, 2, 5):
            if length >= s / (1 - gamma):
                cases, wrong = cases + 1, wrong + (not value > limit * _escape(s)[1])
    return holds_at(cases, wrong, "lengths, ratios and s")


def _summed() -> Holds:
    pairs = []
    for ratio, length in product(RATIOS, range(1, 20)):
        gamma = 1 / ratio
        left = sum((gamma ** (d - 1) * d for d in range(1, length + 1)), Fraction(0))
        pairs.append((left, (1 - gamma**length - length * gamma**length * (1 - gamma)) / (1 - gamma) ** 2))
    return all_equal(pairs, "sums")


def _limit() -> Holds:
    wrong = 0
    for ratio in RATIOS[1:]:
        privacy = Privacy(ratio=ratio)
        wrong += not 0 < middle_distance_limit(privacy) - middle_distance(120, privacy) < Fraction(1, 10**30)
    return holds_at(len(RATIOS) - 1, wrong, "ratios: f(120) is below by less than 1e-30")


def _long_paths() -> Iterator[tuple[int, Fraction, int]]:
    """Yield K, e^ε and s with K ≥ 4l for the least l ≥ s/(1 − γ)."""
    for nodes, ratio, s in product((20, 40, 60), RATIOS, (1, 2, 3, 5)):
        if nodes >= 4 * math.ceil(s / (1 - 1 / ratio)):
            yield nodes, ratio, s


def _printed_theorem_2(nodes: int, ratio: Fraction, s: int) -> Fraction:
    """Return the printed lower bound, its exponential rounded up."""
    gamma = 1 / ratio
    length = math.ceil(s / (1 - gamma))
    second = 2 * gamma / (1 + gamma) * (1 - Fraction(1, s)) * _escape(s)[1]
    return min(1 - Fraction(4 * s * length, nodes), second) / (1 - gamma)


def _theorem_2() -> Holds:
    cases = wrong = 0
    for nodes, ratio, s in _long_paths():
        value, bound = _optimum(nodes, ratio)
        cases += 1
        wrong += value < _printed_theorem_2(nodes, ratio, s) or path_bound(nodes, Privacy(ratio=ratio), s).value > bound
    return holds_at(cases, wrong, "paths, each beside its certified optimum")


WIDE = Privacy(ratio="11/10")
"""γ = 10/11, where the printed hypothesis of the third corollary is too weak."""


def _printed_length(privacy: Privacy, s: int) -> int:
    gamma = 1 / privacy.ratio
    return math.ceil(s**2 * math.ceil(s / (1 - gamma)) * (1 + gamma) / gamma)


def _hypothesis_of_corollary_3() -> Fault:
    """The bound that is claimed at the printed K, beside the minimum of the second theorem that is to give it."""
    nodes = _printed_length(WIDE, 2)
    claimed = middle_distance_limit(WIDE) * Fraction(1, 2) * _escape(2)[0]
    return Fault(
        f"bound claimed at γ = 10/11, s = 2, K = {nodes}, where Theorem 2 gives the second number",
        claimed,
        _printed_theorem_2(nodes, WIDE.ratio, 2),
    )


def _bracket_of_corollary_3() -> Fault:
    """The product that the second theorem gives, beside the difference that is printed."""
    privacy, s = Privacy(ratio=2), 2
    limit = middle_distance_limit(privacy)
    printed = limit * ((1 - Fraction(1, s)) - (1 - _escape(s)[0]))
    return Fault(
        "bound by Theorem 2 at γ = 1/2, s = 2, where the printed one is less", limit / 2 * _escape(s)[0], printed
    )


def _corrected_corollary_3() -> Holds:
    """The corrected statement beside the second theorem, for long paths."""
    cases = wrong = 0
    for ratio, s in product(RATIOS, (2, 3, 8)):
        gamma, privacy = 1 / ratio, Privacy(ratio=ratio)
        nodes = math.ceil(s**2 * math.ceil(s / (1 - gamma)) * max(Fraction(4), (1 + gamma) / gamma))
        cases, wrong = cases + 1, wrong + (path_bound_limit(nodes, privacy, s) != path_bound(nodes, privacy, s).value)
    said = "holds" if not wrong else "fails"
    return Holds(False, f"{said} in all of {cases} cases for K ≥ s²·l·max(4, (1 + γ)/γ)")


def _lemma_7() -> Holds:
    cases = wrong = 0
    for ratio, nodes in product(RATIOS, range(2, 20)):
        gamma = 1 / ratio
        cost = mean_distance(Line(nodes), full_exponent(Line(nodes), gamma))
        cases, wrong = cases + 1, wrong + (not cost < 2 * gamma / (1 - gamma**2))
    return holds_at(cases, wrong, "paths")


def _asymptotically() -> Holds:
    """The optimum tends to the limit: what is missing, times K, does not grow."""
    ratio = Fraction(2)
    limit = middle_distance_limit(Privacy(ratio=ratio))
    missing = [(limit - _optimum(nodes, ratio)[0]) * nodes for nodes in (20, 40, 60)]
    return Holds(all(0 < one < 3 for one in missing), f"limit less optimum is {float(missing[-1] / 60):.4g} at K = 60")


def _corollary_4_rows() -> Holds:
    """Compare both printed lines, squared: √γ is no fraction, its square is."""
    pairs = []
    for ratio in RATIOS:
        gamma = 1 / ratio
        first = gamma * (1 - gamma) ** 2 / (1 - gamma**2) ** 2  # γ²/γ for (γ/√γ)²; 1 − √γ² is 1 − γ
        pairs.append((first, gamma / (1 + gamma) ** 2))
    return all_equal(pairs, "values of γ, with 1 − √γ² read as 1 − γ")


def _corrected_corollary_4() -> Holds:
    """The exponential mechanism at ε/2 beside the corrected bound, on long paths with a rate √γ that is a fraction."""
    cases = wrong = 0
    for rate in (Fraction(1, 2), Fraction(2, 3)):
        gamma, s = rate**2, 2
        nodes = math.ceil(s**2 * math.ceil(s / (1 - gamma)) * max(Fraction(4), (1 + gamma) / gamma))
        cost = mean_distance(Line(nodes), full_exponent(Line(nodes), rate))
        cases += 1
        wrong += _optimum(nodes, 1 / gamma)[1] / cost < exponential_ratio(nodes, Privacy(ratio=1 / gamma), s)
    said = "holds" if not wrong else "fails"
    return Holds(False, f"{said} on {cases} paths for K ≥ s²·l·max(4, (1 + γ)/γ)")


def _half_in_the_limit() -> Holds:
    value = exponential_ratio_limit(Privacy(ratio=Fraction(100, 99)))
    return Holds(Fraction(1, 2) - value < Fraction(1, 10**4), f"{float(value):.6f} at γ = .99")


def _sensitivity_of_sorting() -> Fraction:
    """Return the largest L1 change of the r largest of four counts, when one record is exchanged."""
    most = 0
    for counts in product(range(4), repeat=4):
        for away, to in product(range(4), repeat=2):
            if away != to and counts[away]:
                other = [count - (k == away) + (k == to) for k, count in enumerate(counts)]
                for r in range(1, 5):
                    tops = [sorted(v, reverse=True)[:r] for v in (counts, other)]
                    most = max(most, sum(abs(a - b) for a, b in zip(*tops, strict=True)))
    return Fraction(most)


def _error_of_noise() -> Holds:
    """The mean error of noise of ratio e^(ε/2) on each of r counts is at most 2r/ε."""
    cases = wrong = 0
    for epsilon, r in product(("1/100", "1/8", "1", "4"), (1, 5, 40)):
        cases, wrong = cases + 1, wrong + (noise_risk(r, Privacy(epsilon=epsilon)) > 2 * r / Fraction(epsilon))
    return holds_at(cases, wrong, "r and ε: at most 2r/ε")


def _consistent(case: int) -> Holds:
    """Compare the order with what noise, or the constant answer 0, errs: neither is below a 74th of it."""
    cases = wrong = 0
    for total, r, epsilon in product((1, 2, 3, 8, 100, 10**4, 10**6), (1, 2, 10, 100), ("1/8", "1/20", "1/100")):
        regimes = dict(minimax_risk(total, r, Privacy(epsilon=epsilon)).regimes)
        if case in regimes and not (case == 1 and total == 1):
            cases += 1
            least = min(float(noise_risk(r, Privacy(epsilon=epsilon))), float(total))
            wrong += least * CONSTANT < regimes[case]
    return holds_at(cases, wrong, "N, r and ε: a 74th of it is proved, and no mechanism here is below")


def _case_2_refuted() -> Fault:
    total, order = 10**8, math.isqrt(8 * 10**8)
    least = CONSTANT * noise_risk(1, EIGHTH)
    return Fault(
        f"√(N/ε) at r = 1, ε = 1/8, N = {total:,}, against 74 times the error of noise", Fraction(order), least
    )


_item = partial(Item, work="Alda2017", proof=BOUNDS)

LONG_PATHS = (
    _item(name="Lemma 6, (11)", printed="f(l) = 2Σγ^d d/(1 + 2Σγ^d), d ≤ l", compute=_equation_11),
    _item(name="Lemma 6, 2", printed="f is strictly increasing", compute=_increasing),
    _item(
        name="Lemma 6, (12) and (13)",
        printed="two lower bounds of f(l)",
        compute=_bounded,
        note="For l ≥ 1; at l = 0 both sides of (12) are 0.",
    ),
    _item(name="Lemma 6, proof", printed="Σγ^(d−1) d = (1 − γ^l − lγ^l(1 − γ))/(1 − γ)², d ≤ l", compute=_summed),
    _item(name="Lemma 6, 4", printed="f(l) → 2γ/(1 − γ²)", compute=_limit),
    _item(name="Theorem 2", printed="a lower bound on OPT[1]", compute=_theorem_2),
    _item(
        name="Corollary 3, bracket",
        printed="(1 − 1/s)·1 − (s + 1)e^−s",
        compute=lambda: Holds(False, "(1 − 1/s)·(1 − (s + 1)e^−s)"),
        misprint="A bracket is missing: Theorem 2 gives the product, which Corollary 4 uses.",
        fault=_bracket_of_corollary_3,
    ),
    _item(
        name="Corollary 3, hypothesis",
        printed="K ≥ s²·l·(1 + γ)/γ",
        compute=_corrected_corollary_3,
        misprint="It does not make the second term of Theorem 2 the smaller one where γ > 1/3.",
        fault=_hypothesis_of_corollary_3,
    ),
    _item(name="Lemma 7", printed="the full exponent has mean distance below 2γ/(1 − γ²)", compute=_lemma_7),
    _item(name="Lemma 7, remark", printed="this is optimal asymptotically", compute=_asymptotically),
    _item(
        name="Corollary 4, hypothesis",
        printed="K ≥ s²·l·(1 + γ)/γ",
        compute=_corrected_corollary_4,
        misprint="It rests on Corollary 3, whose hypothesis is too weak where γ > 1/3; 1 − √γ² is to be read 1 − γ.",
        fault=_hypothesis_of_corollary_3,
    ),
    _item(name="Corollary 4, two lines", printed="γ(1 − √γ²)/(√γ(1 − γ²)) ≥ √γ/(1 + γ)", compute=_corollary_4_rows),
    _item(
        name="Corollary 4, remark", printed="√γ/(1 + γ) is close to 1/2 if γ is close to 1", compute=_half_in_the_limit
    ),
    _item(name="Section 6, sensitivity of sorting", printed="2", compute=_sensitivity_of_sorting, proof=SORTING),
    _item(
        name="Section 6, exponential mechanism", printed="its error is O(r/ε)", compute=_error_of_noise, proof=SORTING
    ),
    _item(
        name="Theorem 3, case 1",
        printed="R* = Ω(N) if N ≤ 1 + 1/(4ε)",
        compute=partial(_consistent, 1),
        proof=SORTING,
        note="But for N = 1 where a record is exchanged: a sorted list has no secret then.",
    ),
    _item(
        name="Theorem 3, case 2",
        printed="R* = Ω(√(N/ε)) if N ≥ 1/(2ε)",
        compute=lambda: Holds(False, "only up to N = r(r + 1)/(4ε) + r"),
        proof=SORTING,
        misprint="It is false beyond N = r(r + 1)/(4ε) + r: noise on the sorted list errs by at most 2r/ε, for any N.",
        fault=_case_2_refuted,
    ),
    _item(
        name="Theorem 3, case 3",
        printed="R* = Ω(r/ε) if N ≥ r(r + 1)/(4ε) + r",
        compute=partial(_consistent, 3),
        proof=SORTING,
    ),
)
