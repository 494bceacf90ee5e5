"""What the truth may be, given a published count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import checked, rational
from ..renamed import renamed_method
from ..tabular import InOneLine
from ..upstairs import Drawable

__all__ = ["Posterior"]

_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Posterior(InOneLine, Drawable):
    """Probabilities of the true counts first, first + 1, …; `prior` says in words what was assumed before."""

    first: int
    probabilities: NDArray[np.float64]
    prior: str

    def _summary(self) -> str:
        low, high = self.interval()
        likely = self.first + int(self.probabilities.argmax())
        return f"{low} to {high} with probability 95 %, most likely {likely}; before: {self.prior}"

    @checked
    def interval(self, level: float = 0.95) -> tuple[int, int]:
        """Return counts between which the truth lies with at least this probability, as much left out on each side.

        Raises
        ------
        BadInput
            For what is no probability below 1.
        """
        outside = (1 - _probability(level)) / 2
        below = np.cumsum(self.probabilities)
        low = int(np.searchsorted(below, outside, side="right"))
        high = int(np.searchsorted(below, 1 - outside))
        last = len(self.probabilities) - 1
        return self.first + min(low, last), self.first + min(high, last)

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return the posterior JSON-ready; where it is long, its most likely counts."""
        chosen = np.flatnonzero(self.probabilities > 0)
        if len(chosen) > _MOST_LISTED:
            chosen = np.sort(np.argsort(self.probabilities)[-_MOST_LISTED:])
        listed = self.probabilities[chosen].tolist()
        places = np.arange(len(self.probabilities))
        return {
            "prior": self.prior,
            "mean": self.first + float(places @ self.probabilities),
            "most_likely": self.first + int(self.probabilities.argmax()),
            "interval_95": list(self.interval()),
            "probabilities": [[self.first + place, p] for place, p in zip(chosen.tolist(), listed, strict=True)],
        }


def _probability(level: Any) -> float:
    number = rational(level, "level")
    if not 0 <= number < 1:
        raise BadInput("level", "must be at least 0 and below 1", "write for example 0.95")
    return float(number)
