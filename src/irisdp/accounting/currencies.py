"""The currencies that a ledger may count in: ε and δ, μ², or ρ.

Each is a number, or two, that adds up over releases even where the next question depends on earlier answers, and that
what is left may be measured with (proofs/filters.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..exact import decimal_above
from ..privacy import Gaussian, Guarantee
from .amounts import Charge
from .concentration import PLACES, concentration
from .cost import Cost
from .least_mean import least_mean
from .pair_price import pair_price
from .single_costs import ConcentratedCost, GaussianCost

__all__ = ["CURRENCIES", "EPSILON_DELTA", "MU", "RHO", "Currency"]


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
    square = least_mean(guarantee) ** 2 * sum(step**2 for step in steps)
    return GaussianCost(square if isinstance(guarantee, Gaussian) else decimal_above(square, PLACES))


def _concentration_price(guarantee: Guarantee, steps: Sequence[int], delta: Fraction) -> Charge:
    """Charge k steps of a cell as a group: k²ρ ([Bun2016], Proposition 1.9)."""
    return ConcentratedCost(concentration(guarantee) * sum(step**2 for step in steps))


EPSILON_DELTA = Currency("epsilon and delta", Cost, refines=True, price=pair_price)
"""ε and δ add up; a later release of the same count may refine an earlier one."""

MU = Currency("mu", GaussianCost, refines=False, price=_mean_price)
"""μ² adds up: Gaussian differential privacy."""

RHO = Currency("rho", ConcentratedCost, refines=False, price=_concentration_price)
"""ρ adds up: zero-concentrated differential privacy."""

CURRENCIES = (EPSILON_DELTA, MU, RHO)
"""What a ledger may count in; proofs/filters.md says why adding up is enough where questions depend on answers."""
