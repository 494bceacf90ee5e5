"""What a total in μ or ρ comes to as an (ε, δ): the final statement of a ledger, rounded up.

Gaussian privacy has its ε at each δ in closed form. From ρ, Rényi divergences of every order α > 1 are at most αρ, and
each gives an ε. Floats find a good α, and the bound holds for every α.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint

from ..errors import BadInput
from ..exact import ball, checked, decimal_above, enclosure_of, rational
from .amounts import Charge
from .cost import Cost
from .single_costs import ConcentratedCost, GaussianCost

__all__ = ["as_pair"]

_PLACES = 30
_WIDTH = Fraction(1, 10 ** (_PLACES + 5))
_SEARCHED = 200
_SMALLEST, _LEAST_LOG = Fraction(1, 10**200), 1e-18
"""What floats take for ρ and −log δ where these are smaller; the bound is about the true ones."""
_GOLDEN = (math.sqrt(5) - 1) / 2


@checked
def as_pair(cost: Charge, delta: Any) -> Cost:
    """Return an (ε, δ) that everything that was charged keeps together.

    Parameters
    ----------
    cost : Charge
        A sum of charges, in any currency; a sum in ε and δ is returned unchanged.
    delta : number or text
        δ, above 0 and below 1.

    Returns
    -------
    Cost
        With ε rounded up to 30 decimals: the least for μ, and for ρ the least that its Rényi divergences show.

    Raises
    ------
    BadInput
        For a δ out of range.

    References
    ----------
    [Dong2022], Corollary 1; [Canonne2020], Corollary 13; proofs/filters.md, claim 6.

    Examples
    --------
    >>> from irisdp.accounting import GaussianCost, ConcentratedCost
    >>> f"{float(as_pair(GaussianCost(1), '1e-6').epsilon):.6f}"
    '4.886554'
    >>> f"{float(as_pair(ConcentratedCost('1/2'), '1e-6').epsilon):.6f}"
    '5.221534'
    """
    wanted = rational(delta, "delta")
    if not 0 < wanted < 1:
        raise BadInput("delta", "must be above 0 and below 1", "give a small probability such as 1e-6")
    if isinstance(cost, Cost):
        return cost
    if not any(cost.numbers):
        return Cost(Fraction(0), wanted)
    epsilon = _of_mean(cost.mu_squared, wanted) if isinstance(cost, GaussianCost) else _of_rho(cost, wanted)
    return Cost(decimal_above(epsilon, _PLACES), wanted)


def _of_mean(square: Fraction, delta: Fraction) -> Fraction:
    from .gaussian_sides import GaussianSide  # with the checks of mechanisms, which costs alone need not load

    return GaussianSide(square, upward=True).least_epsilon(delta)


def _of_rho(cost: Charge, delta: Fraction) -> Fraction:
    assert isinstance(cost, ConcentratedCost)
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    near = float(min(max(cost.rho, _SMALLEST), 1 / _SMALLEST))
    order = 1 + Fraction(math.exp(_best(near, min(log_delta, -_LEAST_LOG))))

    def curve() -> flint.arb:
        """αρ + log(1 − 1/α) − (log δ + log α)/(α − 1)."""
        kept = ball(order * cost.rho) + ball(1 - 1 / order).log()
        return kept - (ball(delta).log() + ball(order).log()) / ball(order - 1)

    return max(Fraction(0), enclosure_of(curve, width=_WIDTH).upper)


def _best(rho: float, log_delta: float) -> float:
    """Return log(α − 1) where the ε of order α is about the least, by golden section."""

    def epsilon(place: float) -> float:
        beyond = math.exp(place)
        return (1 + beyond) * rho + place - math.log1p(beyond) - (log_delta + math.log1p(beyond)) / beyond

    near = (math.log(-log_delta) - math.log(rho)) / 2  # the best for (α − 1)ρ − log δ/(α − 1)
    low, high = near - 10, near + 10
    for _ in range(_SEARCHED):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, second) if epsilon(first) < epsilon(second) else (first, high)
    return (low + high) / 2
