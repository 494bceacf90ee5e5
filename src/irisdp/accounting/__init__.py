"""Accounting: what releases cost, how costs add up, and the exact total of releases fixed in advance."""

from ..privacy import Gaussian
from .charge import charged_pair
from .cost import Cost
from .totals import delta, total

__all__ = ["Cost", "Gaussian", "charged_pair", "delta", "total"]
