"""How well any private mechanism can do on a long path: the bounds of [Alda2017], §4 and §5.

Everything is about mean distance under uniform inputs on a path of K nodes, with γ = 1/r. All values are exact
rationals, or bounds of them on the safe side where e^−s enters. Corollaries 3 and 4 are corrected as in
docs/theory.md#corrections, 8: (1 − 1/s)(1 − (s + 1)e^−s) is a product, and 1 − √γ² means 1 − γ. They need more than is
printed: where γ > 1/3, K ≥ s²·l·(1 + γ)/γ does not make the second term of Theorem 2 the smaller one. For example γ =
0.9 and s = 2 give 0.05 against 0.28. K ≥ 4·s²·l does, because then 1 − 4sl/K ≥ 1 − 1/s; so K ≥ s²·l·max(4, (1 + γ)/γ)
is asked for. All proofs are in proofs/path-bounds.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from .._exact import ball, checked, enclosure_of, integer, rational
from ..errors import BadInput
from ..privacy import Privacy

_WIDTH = Fraction(1, 1 << 96)

_STEPS = 256

_LARGEST_EXPONENT = Fraction(128)
"""e^−s is rounded up to e^−128 beyond: nothing that matters, and e^s stays short."""


def middle_distance(length: int, privacy: Privacy) -> Fraction:
    """Return f(l): the optimum of LP[5] around the middle of a path with l nodes on either side.

    2·Σ_{d≤l} γ^d d / (1 + 2·Σ_{d≤l} γ^d), eq. (11). It grows with l, to `middle_distance_limit`.

    Examples
    --------
    >>> middle_distance(1, Privacy.from_ratio(2)), middle_distance_limit(Privacy.from_ratio(2))
    (Fraction(1, 2), Fraction(4, 3))
    """
    length = integer(length, "length", at_least=0)
    gamma = 1 / privacy.ratio
    powers = [gamma**d for d in range(1, length + 1)]
    weighted = sum((d * power for d, power in enumerate(powers, 1)), start=Fraction(0))
    return 2 * weighted / (1 + 2 * sum(powers, start=Fraction(0)))


def middle_distance_limit(privacy: Privacy) -> Fraction:
    """Return 2γ/(1 − γ²): the limit of f(l), eq. (10), and what Lemma 7 says the full exponential stays below."""
    gamma = _decay(privacy)
    return 2 * gamma / (1 - gamma**2)


def middle_distance_bound(privacy: Privacy, *, length: int | None = None, slack: Any = None) -> Fraction:
    """Return a lower bound of f(l) in closed form (Lemma 6).

    Parameters
    ----------
    privacy : Privacy
    length : int, optional
        l: the bound is 2γ/(1 − γ²)·(1 − γ^l − l·γ^l·(1 − γ)), eq. (12).
    slack : number, optional
        s ≥ 0: the bound is 2γ/(1 − γ²)·(1 − (s + 1)e^−s), eq. (13), for every l ≥ s/(1 − γ); rounded down.
    """
    if (length is None) == (slack is None):
        raise BadInput("length", "or slack must be given, not both", "give one of the two")
    gamma = _decay(privacy)
    if length is not None:
        power = gamma ** integer(length, "length", at_least=0)
        return middle_distance_limit(privacy) * (1 - power - length * power * (1 - gamma))
    return middle_distance_limit(privacy) * _escape_below(_slack(slack, at_least=0))


@dataclass(frozen=True, slots=True)
class PathBound:
    """Theorem 2 with its free parameters: no private mechanism on the path has a smaller mean distance than `value`."""

    value: Fraction
    length: int
    slack: Fraction


@checked
def path_bound(nodes: int, privacy: Privacy, slack: Any, length: int | None = None) -> PathBound:
    """Return the lower bound of Theorem 2 on the mean distance of every private mechanism on a path.

    1/(1 − γ) · min{1 − 4sl/K, 2γ/(1 + γ)·(1 − 1/s)·(1 − (s + 1)e^−s)}, rounded down, or 0 if that is negative.

    Parameters
    ----------
    nodes : int
        K ≥ 4l.
    privacy : Privacy
        Ratio above 1.
    slack : number
        s ≥ 1.
    length : int, optional
        l ≥ s/(1 − γ); the smallest when left out, which gives the best bound.

    Raises
    ------
    BadInput
        When a hypothesis of the theorem fails.
    """
    nodes, gamma, s = integer(nodes, "nodes", at_least=1), _decay(privacy), _slack(slack, at_least=1)
    least = ceil(s / (1 - gamma))
    length = least if length is None else integer(length, "length", at_least=least)
    if nodes < 4 * length:
        raise BadInput("nodes", f"must be at least {4 * length} for this slack", "take a longer path or less slack")
    value = min(_terms(nodes, gamma, s, length)) / (1 - gamma)
    return PathBound(max(value, Fraction(0)), length, s)


def _terms(nodes: int, gamma: Fraction, slack: Fraction, length: int) -> tuple[Fraction, Fraction]:
    """Return the two terms of Theorem 2: the first falls with s and l, the second grows with s."""
    return 1 - 4 * slack * length / nodes, 2 * gamma / (1 + gamma) * (1 - 1 / slack) * _escape_below(slack)


@checked
def best_path_bound(nodes: int, privacy: Privacy) -> PathBound:
    """Return the best bound of Theorem 2, over l in steps of 2 % and s in steps of 1/256; 0 where it says nothing.

    Parameters
    ----------
    nodes : int
        Length of the path, at least 1.
    privacy : Privacy

    Examples
    --------
    >>> round(float(best_path_bound(10**6, Privacy(epsilon=1)).value), 4)  # the optimum is below 0.851
    0.8477
    """
    nodes = integer(nodes, "nodes", at_least=1, at_most=10**18)
    gamma = _decay(privacy)
    best, length = PathBound(Fraction(0), 0, Fraction(1)), ceil(1 / (1 - gamma))
    while 4 * length <= nodes:
        longest = max(Fraction(1), Fraction(floor(length * (1 - gamma) * _STEPS), _STEPS))
        low, high = Fraction(1), longest
        while high - low > Fraction(1, _STEPS):
            middle = Fraction(floor((low + high) / 2 * _STEPS), _STEPS)
            first, second = _terms(nodes, gamma, middle, length)
            low, high = (middle, high) if first > second else (low, middle)
        bound = max((path_bound(nodes, privacy, s, length) for s in (low, high)), key=lambda bound: bound.value)
        best = max(best, bound, key=lambda bound: bound.value)
        if high < longest:
            break  # the terms meet within reach: a larger l lowers the first and helps nothing
        length = max(length + 1, length * 102 // 100)
    return best


def path_bound_limit(nodes: int, privacy: Privacy, slack: Any) -> Fraction:
    """Return the bound of Corollary 3: 2γ/(1 − γ²)·(1 − 1/s)·(1 − (s + 1)e^−s), rounded down.

    Raises
    ------
    BadInput
        Unless s ≥ 2 and K ≥ s²·l·max(4, (1 + γ)/γ) for the smallest l ≥ s/(1 − γ).
    """
    s = _check_long_path(nodes, privacy, slack)
    return middle_distance_limit(privacy) * (1 - 1 / s) * _escape_below(s)


def exponential_ratio(nodes: int, privacy: Privacy, slack: Any) -> Fraction:
    """Return Corollary 4's lower bound, rounded down, on optimum / exponential mechanism at half the exponent.

    √γ·(1 − γ)/(1 − γ²)·(1 − 1/s)·(1 − (s + 1)e^−s), that is √γ/(1 + γ) times the same two factors.
    """
    s = _check_long_path(nodes, privacy, slack)
    return exponential_ratio_limit(privacy) * (1 - 1 / s) * _escape_below(s)


def exponential_ratio_limit(privacy: Privacy) -> Fraction:
    """Return √γ/(1 + γ), rounded down: the limit of Corollary 4's bound on long paths; 1/2 where γ tends to 1."""
    gamma = _decay(privacy)
    return enclosure_of(lambda: ball(gamma).sqrt(), width=_WIDTH).lower / (1 + gamma)


def _check_long_path(nodes: int, privacy: Privacy, slack: Any) -> Fraction:
    nodes, gamma, s = integer(nodes, "nodes", at_least=1), _decay(privacy), _slack(slack, at_least=2)
    needed = ceil(s**2 * ceil(s / (1 - gamma)) * max(Fraction(4), (1 + gamma) / gamma))
    if nodes < needed:
        raise BadInput("nodes", f"must be at least {needed} for this slack", "take a longer path or less slack")
    return s


def _decay(privacy: Privacy) -> Fraction:
    if privacy.ratio == 1:
        raise BadInput("epsilon", "must be above 0", "choose a larger epsilon")
    return 1 / privacy.ratio


def _slack(slack: Any, *, at_least: int) -> Fraction:
    s = rational(slack, "slack")
    if s < at_least:
        raise BadInput("slack", f"must be at least {at_least}", "choose a larger slack")
    return s


def _escape_below(slack: Fraction) -> Fraction:
    """Return 1 − (s + 1)e^−s, rounded down."""
    exponent = min(slack, _LARGEST_EXPONENT)
    return 1 - (slack + 1) / enclosure_of(lambda: ball(exponent).exp(), width=_WIDTH).lower
