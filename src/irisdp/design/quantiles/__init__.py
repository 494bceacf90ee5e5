"""Which of several ordered bins holds a quantile: tables that were checked edge by edge, and weights by score."""

from .choice import Quantile, quantile, read_share
from .forms import RankError
from .ladder import exponential_base, ladder

__all__ = ["Quantile", "RankError", "exponential_base", "ladder", "quantile", "read_share"]
