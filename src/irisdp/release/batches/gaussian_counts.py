"""Gaussian noise for the counts of a batch: of many releases it tells less than geometric noise of the same size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...accounting import Cost
from ...privacy import Gaussian
from ..audiences import Audience
from ..plans import Plan
from .noise_kinds import parts_of, selector_at, weighted

__all__ = ["GaussianCounts"]

_AS_LARGE = Fraction(4, 5)
"""μ = 4/5 of the share: with it the mean error is near that of geometric noise at ε = share, 1/share."""

_SMALLEST, _LARGEST = Fraction(1, 8000), Fraction(20)
"""μ for which there is such noise."""


@dataclass(frozen=True, slots=True)
class GaussianCounts:
    """Counts with Gaussian noise of μ = 4/5·share, rounded to whole numbers; alone they add up in closed form.

    A selection of groups has ε = share, as with any other noise.

    References
    ----------
    proofs/batches.md, claim 3; [Dong2022], Corollary 2.
    """

    name: str = "gaussian"
    adds_up: bool = False

    def allows(self, share: Fraction) -> bool:
        """Tell whether there is such noise."""
        return _SMALLEST <= _AS_LARGE * share <= _LARGEST

    def describe(self, scale: Fraction) -> str:
        """Say what weights come to."""
        return f"{weighted('μ', _AS_LARGE * scale)} (Gaussian noise)"

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with Gaussian noise in each cell; it has no ε of its own, so what it costs stays open."""
        mechanism = planned.query.mechanism(Gaussian(_AS_LARGE * share), planned.asked.cell_relation)
        return replace(
            planned, audiences=(Audience(None, mechanism),), selector=selector_at(planned, share), cost=Cost()
        )

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return the guarantees of the cells that one neighbour moves, and of the selection."""
        return parts_of(planned)
