"""Accounting: costs in each currency, how they add up, and the exact total of releases fixed in advance."""

from ..facades import when_used
from ..privacy import Gaussian

with when_used(__name__):
    from .amounts import Charge
    from .charge import charged_pair
    from .concentration import concentration
    from .cost import Cost
    from .currencies import CURRENCIES, EPSILON_DELTA, MU, RHO, Currency
    from .least_mean import least_mean
    from .single_costs import ConcentratedCost, GaussianCost
    from .statements import as_pair
    from .totals import delta, delta_above, total

__all__ = [
    "CURRENCIES",
    "EPSILON_DELTA",
    "MU",
    "RHO",
    "Charge",
    "ConcentratedCost",
    "Cost",
    "Currency",
    "Gaussian",
    "GaussianCost",
    "as_pair",
    "charged_pair",
    "concentration",
    "delta",
    "delta_above",
    "least_mean",
    "total",
]
