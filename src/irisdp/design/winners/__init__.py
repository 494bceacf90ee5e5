"""Which category is the largest: the rule by which a mechanism is chosen, what is checked, and what is written."""

from .plurality import Plurality, plurality
from .written import winner

__all__ = ["Plurality", "plurality", "winner"]
