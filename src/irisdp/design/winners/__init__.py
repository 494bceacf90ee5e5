"""Which category is the largest: the rule by which a mechanism is chosen, what is checked, and what is written."""

from .plurality import Plurality, plurality

__all__ = ["Plurality", "plurality"]
