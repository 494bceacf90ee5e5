"""Counts: the best mechanism for a reader, and what geometric noise can be read as."""

from .derivability import derivation, nearest_reading
from .universality import side_by_side

__all__ = ["derivation", "nearest_reading", "side_by_side"]
