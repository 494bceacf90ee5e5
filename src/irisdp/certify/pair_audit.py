"""What an audit finds about one pair (ε, δ) that was promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..exact import log_above, nearest_float, rational_text
from ..privacy import Pair

__all__ = ["INFINITY", "PairAudit"]

INFINITY = "infinity"
"""How an ε that does not exist is written."""


@dataclass(frozen=True, slots=True)
class PairAudit:
    """One promised pair against what the mechanism needs; every number is exact.

    Parameters
    ----------
    pair : Pair
        What was promised.
    delta_at_epsilon : Fraction
        The smallest δ at the ratio promised.
    ratio_at_delta : Fraction or None
        The smallest ratio at the δ of the guarantee; None if no ratio is enough.
    """

    pair: Pair
    delta_at_epsilon: Fraction
    ratio_at_delta: Fraction | None

    @property
    def holds(self) -> bool:
        """Whether every edge is close under this pair."""
        return self.delta_at_epsilon <= self.pair.delta

    @property
    def strain(self) -> tuple[int, Fraction]:
        """What orders pairs from most to spare to broken worst.

        It is the needed ratio divided by the guarantee's ratio, at most 1 if the pair holds. Pairs for which no ratio
        suffices come after, ordered by the δ they need beyond the guarantee's.
        """
        if self.ratio_at_delta is None:
            return 1, self.delta_at_epsilon - self.pair.delta
        return 0, self.ratio_at_delta / self.pair.ratio

    @property
    def epsilon_at_delta(self) -> Fraction | None:
        """The smallest ε at the δ promised, rounded up to 30 decimals; None when none suffices."""
        return None if self.ratio_at_delta is None else log_above(self.ratio_at_delta)

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data: exact numbers as text, floats beside logarithms."""
        ratio, epsilon = self.ratio_at_delta, self.epsilon_at_delta
        return {
            "epsilon": rational_text(self.pair.epsilon),
            "delta": rational_text(self.pair.delta),
            "ratio": rational_text(self.pair.ratio),
            "delta_at_epsilon": rational_text(self.delta_at_epsilon),
            "epsilon_at_delta": INFINITY if epsilon is None else rational_text(epsilon),
            "ratio_at_delta": INFINITY if ratio is None else rational_text(ratio),
            "floats": {
                "delta_at_epsilon": nearest_float(self.delta_at_epsilon),
                "epsilon_at_delta": None if epsilon is None else nearest_float(epsilon),
            },
        }
