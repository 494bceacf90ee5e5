"""Which categories are the largest: the rule by which a mechanism is chosen, what is checked, and what is written."""

from .orders import ranking, top
from .plurality import Plurality, plurality
from .written import winner

__all__ = ["Plurality", "plurality", "ranking", "top", "winner"]
