"""Accounting: what releases cost, how costs add up, and the exact total of releases fixed in advance."""

from .cost import Cost
from .gaussian import Gaussian
from .totals import delta, total

__all__ = ["Cost", "Gaussian", "delta", "total"]
