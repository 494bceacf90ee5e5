"""Accounting: costs in each currency, how they add up, and the exact total of releases fixed in advance."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._conversions import gaussian_dp_mu, zcdp_rho
    from ._costs import Charge, ConcentratedCost, Cost, GaussianCost
    from ._currencies import CURRENCIES, EPSILON_DELTA, MU, RHO, Currency, as_pair, charged_pair
    from ._totals import delta, delta_above, total

__all__ = [
    "CURRENCIES",
    "EPSILON_DELTA",
    "MU",
    "RHO",
    "Charge",
    "ConcentratedCost",
    "Cost",
    "Currency",
    "GaussianCost",
    "as_pair",
    "charged_pair",
    "delta",
    "delta_above",
    "gaussian_dp_mu",
    "total",
    "zcdp_rho",
]

exports(__name__)
