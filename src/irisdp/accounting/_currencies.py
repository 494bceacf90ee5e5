"""The currencies that a ledger may count in: ε and δ, μ², or ρ.

Each is a number, or two, that adds up over releases even where the next question depends on earlier answers, and that
what is left may be measured with (proofs/filters.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint

from .._exact import ball, checked, decimal_above, enclosure_of, rational, short_text
from ..errors import BadInput
from ..privacy import Gaussian, Guarantee, Pair, Privacy
from ._conversions import PLACES, gaussian_dp_mu, zcdp_rho
from ._costs import Charge, ConcentratedCost, Cost, GaussianCost

# Charge one point of the curve of a guarantee that is not a single pair, in a ledger of (ε, δ).

_CHARGE_PLACES = 12


def charged_pair(guarantee: Guarantee, delta: Any = 0) -> Privacy:
    """Return a pair that follows from a guarantee: itself, or the point of its curve at a δ.

    Parameters
    ----------
    guarantee : Guarantee
        One pair is charged unchanged. Of several, the pair with the smallest δ unless `delta` names another point.
    delta : number or text
        0 stands for none given.

    Returns
    -------
    Privacy
        ε, rounded up to twelve decimals, where it is no pair's own.

    Raises
    ------
    BadInput
        For Gaussian privacy without a δ, which has no ε, and for a δ smaller than that of every pair.
    """
    wanted = _checked_delta(rational(delta, "delta"))
    if isinstance(guarantee, Gaussian):
        # One unit more, so that e^ε rounded down, which group privacy multiplies by, is still enough.
        return Privacy(epsilon=charged_epsilon(guarantee.mu**2, wanted) + Fraction(1, 10**_CHARGE_PLACES), delta=wanted)
    if guarantee.single:
        return guarantee
    for pair in guarantee.pairs:
        if wanted in (pair.delta, 0):
            return Privacy.of((pair,))
    ratio, epsilon = guarantee.ratio_at(wanted), guarantee.epsilon_at(wanted)
    if ratio is None or epsilon is None:
        least = short_text(guarantee.pairs[0].delta)
        raise BadInput(
            "delta", f"is below {least}, the smallest of the pairs", f"give {least} or more, or leave it out"
        )
    return Privacy.of((Pair(ratio, wanted, decimal_above(epsilon, _CHARGE_PLACES)),))


@lru_cache(maxsize=64)
def charged_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """Return the ε that Gaussian privacy has at a δ, given μ², rounded up to twelve decimals."""
    from ._gaussian_losses import GaussianSide  # with the checks of mechanisms, which costs alone need not load

    if _checked_delta(delta) == 0:
        rule = "is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised"
        raise BadInput("delta", rule, "add delta=1e-6, or charge a ledger that has a limit in mu")
    return decimal_above(GaussianSide(square, upward=True).least_epsilon(delta), _CHARGE_PLACES)


def _checked_delta(delta: Fraction) -> Fraction:
    if not 0 <= delta < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return delta


# Convert a total in μ or ρ to an (ε, δ), rounded up.
#
# Gaussian privacy has its ε at each δ in closed form. From ρ, Rényi divergences of every order α > 1 are at most αρ,
# and each gives an ε. Floats find a good α, and the bound holds for every α.

_STATEMENT_PLACES = 30
_WIDTH = Fraction(1, 10 ** (_STATEMENT_PLACES + 5))
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
    return Cost(decimal_above(epsilon, _STATEMENT_PLACES), wanted)


def _of_mean(square: Fraction, delta: Fraction) -> Fraction:
    from ._gaussian_losses import GaussianSide  # with the checks of mechanisms, which costs alone need not load

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


def pair_price(guarantee: Guarantee, steps: Sequence[int], delta: Fraction = Fraction(0)) -> Cost:
    """Return what independent answers cost, each with the guarantee for one step, if each cell moves by its steps.

    Parameters
    ----------
    guarantee : Privacy or Gaussian
        A single pair is charged unchanged. k steps of it are charged as a group: kε, and δ(1 + r + … + r^(k−1)). Of
        several pairs the first is, unless a δ says at which point. Gaussian answers are charged as one, which is
        √(Σk²)·μ-GDP.
    steps : sequence of int
        One for each cell that moves.
    delta : Fraction
        The δ of the point that is charged if the guarantee is not one pair; 0 if none is given.

    Raises
    ------
    BadInput
        For Gaussian privacy without a δ, and where no ε goes with the δ.
    """
    if isinstance(guarantee, Gaussian):
        square = guarantee.mu**2 * sum(step**2 for step in steps)
        return Cost(charged_epsilon(square, delta), delta)
    pair = charged_pair(guarantee, delta)
    return Cost(
        sum(steps) * pair.epsilon,
        sum((pair.delta * pair.ratio**step for each in steps for step in range(each)), start=Fraction(0)),
    )


@dataclass(frozen=True, slots=True)
class Currency:
    """How charges are counted.

    Parameters
    ----------
    name : str
        What people call it.
    cost : type
        Its charges; called without arguments, nothing.
    refines : bool
        Whether a release that builds on an earlier one is charged the difference. Only if a sum bounds what both
        reveal. Given the coarser answer, the distribution of the finer one may be no better than both of their ε
        together; in μ and ρ, conditional distributions are counted. There every release is drawn afresh and charged in
        full.
    price : callable
        From a guarantee for one step, the steps that each cell moves, and a δ (which only pairs may need) to what
        independent answers with the guarantee cost.
    """

    name: str
    cost: type[Charge]
    refines: bool
    price: Callable[[Guarantee, Sequence[int], Fraction], Charge]


def _mean_price(guarantee: Guarantee, steps: Sequence[int], delta: Fraction) -> Charge:
    """Charge k steps of a cell as a group: (kμ)²; what was converted is rounded up to few digits, for people to add."""
    square = gaussian_dp_mu(guarantee) ** 2 * sum(step**2 for step in steps)
    return GaussianCost(square if isinstance(guarantee, Gaussian) else decimal_above(square, PLACES))


def _concentration_price(guarantee: Guarantee, steps: Sequence[int], delta: Fraction) -> Charge:
    """Charge k steps of a cell as a group: k²ρ ([Bun2016], Proposition 1.9)."""
    return ConcentratedCost(zcdp_rho(guarantee) * sum(step**2 for step in steps))


EPSILON_DELTA = Currency("epsilon and delta", Cost, refines=True, price=pair_price)
"""ε and δ add up; a later release of the same count may refine an earlier one."""

MU = Currency("mu", GaussianCost, refines=False, price=_mean_price)
"""μ² adds up: Gaussian differential privacy."""

RHO = Currency("rho", ConcentratedCost, refines=False, price=_concentration_price)
"""ρ adds up: zero-concentrated differential privacy."""

CURRENCIES = (EPSILON_DELTA, MU, RHO)
"""What a ledger may count in; proofs/filters.md says why adding up is enough where questions depend on answers."""
