"""Several audiences of one count in [Gupte2010]: noise made of noise, coalitions, and the chain that resists them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

from .._sampling import kept_probability
from ..design import derivation
from ..mechanisms import geometric
from ..privacy import Privacy
from ._gupte2010 import derived, printed_range_restricted, times
from ._items import Fault, Holds, Item, all_equal, holds_at

AUDIENCES = "proofs/audiences.md"
ALPHAS = [Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)]


def _lemma_3() -> Holds:
    cases = wrong = 0
    for n in (1, 2, 3, 5):
        for a, b in product(ALPHAS, ALPHAS):
            if a < b:
                derived_mechanism = derived(printed_range_restricted(n, a), printed_range_restricted(n, b))
                ours = derivation(geometric(n, Privacy(ratio=1 / b)), Privacy(ratio=1 / a)).reading
                cases += 1
                wrong += any(x < 0 for row in derived_mechanism for x in row) or any(
                    sum(row) != 1 for row in derived_mechanism
                )
                wrong += ours is None or [list(row) for row in ours] != derived_mechanism
    return holds_at(cases, wrong, "matrices T, each stochastic and equal to this library's")


def _lemma_3_cases() -> Holds:
    cases = wrong = 0
    for a, b, i in product(ALPHAS, ALPHAS, range(4)):
        if a < b:
            left = (1 + a**2) * b ** (i + 1) - a * (b**i + b ** (i + 2))
            cases += 1
            wrong += left != b**i * (b - a) * (1 - a * b) or left <= 0
            wrong += not 1 + a**2 - 2 * a * b > (1 - a) ** 2
    return holds_at(cases, wrong, "exponents and pairs of α and β")


def _other_way_round() -> Fault:
    """T_{α_i, α_{i+1}} as Section 2.6 defines it makes the less private noise of the more private one."""
    obstacle = derivation(geometric(3, Privacy(ratio=4)), Privacy(ratio=2)).obstacle
    short = Fraction(0) if obstacle is None else obstacle.shortfall
    return Fault("shortfall in the condition for G_{1/4} from G_{1/2}", short, Fraction(0))


def _chain() -> list[list[list[Fraction]]]:
    """Return G_{1/4}, and the matrices that make the noise coarser step by step."""
    matrices = [[list(row) for row in printed_range_restricted(3, a)] for a in ALPHAS]
    return [matrices[0], *(derived(one, other) for one, other in pairwise(matrices))]


def _algorithm_1() -> Holds:
    """Multiply the steps of a chain for three audiences, and compare with each one's own noise."""
    reached, *steps = _chain()
    equal = True
    for step, alpha in zip(steps, ALPHAS[1:], strict=True):
        reached = times(reached, step)
        equal = equal and reached == [list(row) for row in printed_range_restricted(3, alpha)]
    return Holds(False, "for 1 ≤ i ≤ k − 1" if equal else "the chain does not reach its noise")


def _levels_asked_for() -> Fault:
    """Count the privacy levels that the loop reads for k = 3."""
    k = len(ALPHAS)
    return Fault(
        f"levels α_i that the loop reads for k = {k}", Fraction(max(i + 1 for i in range(1, k + 1))), Fraction(k)
    )


def _joint(members: Sequence[int]) -> list[dict[tuple[int, ...], Fraction]]:
    """Return the joint distribution of the answers of some of three audiences, for every count."""
    noise, *steps = _chain()
    laws = []
    for row in noise:
        seen: dict[tuple[int, ...], Fraction] = {}
        for a, b, c in product(range(4), repeat=3):
            key = tuple((a, b, c)[member] for member in members)
            seen[key] = seen.get(key, Fraction(0)) + row[a] * steps[0][a][b] * steps[1][b][c]
        laws.append(seen)
    return laws


def _ratio(laws: Sequence[dict[tuple[int, ...], Fraction]]) -> Fraction:
    return max(max(p[key] / q[key], q[key] / p[key]) for p, q in pairwise(laws) for key in p)


def _collusion() -> Holds:
    coalitions = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    wrong = sum(_ratio(_joint(members)) != 1 / ALPHAS[members[0]] for members in coalitions)
    return holds_at(len(coalitions), wrong, "coalitions of three, each with the ratio of its least private member")


def _naive() -> Holds:
    """Two audiences with independent noise, beside the chain."""
    first, second = (printed_range_restricted(3, a) for a in ALPHAS[:2])
    apart: list[dict[tuple[int, ...], Fraction]] = [
        {(a, b): one[a] * other[b] for a, b in product(range(4), repeat=2)}
        for one, other in zip(first, second, strict=True)
    ]
    together, alone = _ratio(_joint((0, 1))), _ratio(apart)
    return Holds(alone > together, f"ratio {alone} by independent noise, {together} by the chain (α = 1/4, 1/2)")


def _kept() -> Holds:
    """Compare the chain's closed form for unbounded noise by generating functions, at points enough to prove it."""
    pairs = []
    for a, b in pairwise(ALPHAS):
        keep = kept_probability(Privacy(ratio=1 / a), Privacy(ratio=1 / b))
        for t in (Fraction(k, 101) for k in range(1, 13)):
            one, other = ((1 - x) ** 2 / ((1 - x * t) * (1 - x / t)) for x in (a, b))
            pairs.append((one * (keep + (1 - keep) * other), other))
    return all_equal(pairs, "values of generating functions")


_item = partial(Item, work="Gupte2010", proof=AUDIENCES)

COUNT_AUDIENCES = (
    _item(
        name="Section 2.6, naive release",
        printed="independent noise for each consumer degrades privacy",
        compute=_naive,
    ),
    _item(
        name="Section 2.6, T_i",
        printed="T_i = T_{α_i, α_{i+1}}, where T_{α, β} re-reads G_β as G_α for α > β",
        compute=lambda: Holds(False, "T_i re-reads G_{α_i} as G_{α_{i+1}}, as in Lemma 3"),
        misprint="The indices are exchanged: noise of α_{i+1} > α_i is made of that of α_i, as Lemma 3 has it.",
        fault=_other_way_round,
    ),
    _item(
        name="Theorem 1, collusion",
        printed="a coalition learns what its least private member learns",
        compute=_collusion,
    ),
    _item(name="Lemma 3", printed="G_β = G_α·T with a stochastic T, for α ≤ β", compute=_lemma_3),
    _item(
        name="Lemma 3, cases",
        printed="β^i(β − α)(1 − αβ), and 1 + α² − 2αβ > (1 − α)²",
        compute=_lemma_3_cases,
    ),
    _item(
        name="Algorithm 1",
        printed="for 1 ≤ i ≤ k",
        compute=_algorithm_1,
        misprint="The loop that makes T_{i+1} ends at k − 1: there is no α_{k+1}.",
        fault=_levels_asked_for,
    ),
    _item(
        name="Lemma 4",
        printed="R(C) can be made of r_{c_1} alone",
        compute=_kept,
        note="For noise on all integers.",
    ),
)
