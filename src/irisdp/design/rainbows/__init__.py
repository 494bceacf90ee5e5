"""Any number of ranked answers on any graph: boundaries, depth, and what follows from them."""

from .curves import curves, turning_points
from .witnesses import compare, compare_lexicographically

__all__ = ["compare", "compare_lexicographically", "curves", "turning_points"]
