"""Databases as graphs: the smallest distance from the truth, and when the exponential mechanism attains it."""

from .path_bounds import best_path_bound, path_bound
from .relaxed import relaxations

__all__ = ["best_path_bound", "path_bound", "relaxations"]
