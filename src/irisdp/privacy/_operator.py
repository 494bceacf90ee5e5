"""One step away: the operator u, its iterates in closed form, and rigorous enclosures of them.

`u(s)` is the largest probability a neighbour may give to an event that has probability s here. Everything that is
optimal on a coloured graph is u applied as often as the graph is deep, so this short file carries the library.
docs/theory.md#operator. The second branch is the corrected one, 1 − (1 − s − δ)/r: as [Gu2024] prints it, eq. (9), it
costs r·δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .._exact import Enclosure, ball, enclosure_of
from ._parameters import Privacy
from ._shape import enclose_runs

# Closeness of two distributions, the check that defines privacy (docs/theory.md#closeness).


def hockey_stick(first: Sequence[Fraction], second: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """Return Σ_v max(0, P_v − r·Q_v): the least δ at which P keeps the ratio r to Q.

    Parameters
    ----------
    first, second : sequence of Fraction
        Two distributions over the same outputs, in the same order.
    ratio : Fraction
        r ≥ 0.
    """
    return sum((p - ratio * q for p, q in zip(first, second, strict=True) if p > ratio * q), start=Fraction(0))


def are_close(first: Sequence[Fraction], second: Sequence[Fraction], privacy: Privacy) -> bool:
    """Tell whether two distributions keep every pair (r, δ), in both directions and exactly.

    Parameters
    ----------
    first, second : sequence of Fraction
        Probabilities of the same events, in one order.
    privacy : Privacy
        One pair or several.
    """
    return all(
        hockey_stick(first, second, pair.ratio) <= pair.delta and hockey_stick(second, first, pair.ratio) <= pair.delta
        for pair in privacy.pairs
    )


def step(probability: Fraction, privacy: Privacy) -> Fraction:
    """Return u(s) = min{1, r·s + δ, 1 − (1 − s − δ)/r}, for several pairs the least of theirs.

    Parameters
    ----------
    probability : Fraction
        s in [0, 1].
    privacy : Privacy
        One pair or several.

    References
    ----------
    docs/theory.md#operator; [Gu2024] eq. (9) with its second branch corrected.
    """
    if not privacy.single:
        return privacy.shape.step(probability)
    ratio, delta = privacy.ratio, privacy.delta
    return min(Fraction(1), ratio * probability + delta, 1 - (1 - probability - delta) / ratio)


def step_down(probability: Fraction, privacy: Privacy) -> Fraction:
    """Return 1 − u(1 − s): the smallest probability a neighbour may give to the event.

    Parameters
    ----------
    probability : Fraction
        s in [0, 1].
    privacy : Privacy
        One pair or several.
    """
    return 1 - step(1 - probability, privacy)


def steps(probability: Fraction, count: int, privacy: Privacy) -> Fraction:
    """Return u applied `count` times, exactly.

    The result has about `count` times as many digits as r: for far-away nodes use `enclose_steps`.

    Parameters
    ----------
    probability : Fraction
        s in [0, 1].
    count : int
        How often, at least 0.
    privacy : Privacy
        One pair or several.
    """
    for _ in range(count):
        further = step(probability, privacy)
        if further == probability:  # at 1, or at 0 where no δ lifts it
            break
        probability = further
    return probability


def enclose_steps(probability: Fraction, count: int, privacy: Privacy, *, width: Fraction) -> Enclosure:
    """Enclose u applied `count` times, for any count, through the closed form; for several pairs in runs.

    Parameters
    ----------
    probability : Fraction
        s_0 in [0, 1].
    count : int
        t ≥ 0; 10^12 is as easy as 10.
    privacy : Privacy
    width : Fraction
        Largest width of the interval, more than 0.

    Returns
    -------
    Enclosure
        Within [0, 1] and certain to hold s_t.

    References
    ----------
    docs/theory.md#operator, closed form with ρ = δ/(r−1), θ = (1−δ)/(r+1) and τ the first t with s_t ≥ θ.
    """
    if not privacy.single:
        return enclose_runs(probability, count, privacy.shape, width=width)
    ratio, delta = privacy.ratio, privacy.delta
    if count == 0 or probability == 1 or (probability == 0 and delta == 0):
        return Enclosure.exactly(probability)
    if ratio == 1:
        return Enclosure.exactly(min(Fraction(1), probability + count * delta))
    rho = delta / (ratio - 1)
    growing = probability + rho
    # A τ that is off by one moves s_t by at most r times the distance of s_τ from θ, so an exponent this exact will do.
    first, last = _crossing(growing, (1 - delta) / (ratio + 1) + rho, ratio, width / ((1 + rho) * ratio**2))
    # Around an exact tie both neighbours of τ may be undecided; u's branches agree at θ, so the hull is still narrow.
    candidates = [_closed_form(growing, rho, ratio, count, crossing, width) for crossing in range(first, last + 1)]
    hull = candidates[0]
    for other in candidates[1:]:
        hull = hull.hull(other)
    return hull.clamp(Fraction(0), Fraction(1))


def _crossing(growing: Fraction, target: Fraction, ratio: Fraction, precision: Fraction) -> tuple[int, int]:
    """Bracket τ, the first t ≥ 0 with r^t·growing ≥ target, between two integers at most one apart."""
    if growing >= target:
        return 0, 0
    exponent = enclosure_of(
        lambda: ball(target / growing).log() / ball(ratio).log(), width=min(precision, Fraction(1, 1 << 20))
    )
    lower, upper = -(-exponent.lower // 1), -(-exponent.upper // 1)
    return lower, upper


def _closed_form(
    growing: Fraction, rho: Fraction, ratio: Fraction, count: int, crossing: int, width: Fraction
) -> Enclosure:
    if count <= crossing:
        return enclosure_of(lambda: ball(ratio) ** count * ball(growing) - ball(rho), width=width)
    # s_t = 1 + ρ − (1 + ρ − s_τ)/r^(t−τ) with s_τ = r^τ·growing − ρ, multiplied out so that no term overflows.
    return enclosure_of(
        lambda: (
            1
            + ball(rho)
            - ball(1 + 2 * rho) / ball(ratio) ** (count - crossing)
            + ball(growing) * ball(ratio) ** (2 * crossing - count)
        ),
        width=width,
    )
