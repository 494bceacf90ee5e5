"""What a law on the integers must say of itself to be drawn from with one table of thresholds."""

from __future__ import annotations

from typing import Protocol

__all__ = ["IntegerLaw"]


class IntegerLaw(Protocol):
    """Brackets of its cumulative probabilities, and where it ends."""

    @property
    def first(self) -> int | None:
        """Smallest outcome, None if unbounded."""

    @property
    def last(self) -> int | None:
        """Largest outcome, None if unbounded."""

    @property
    def base(self) -> int | None:
        """How many outcomes a digit has that others stand before; None for the highest digit and for whole laws."""

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(below outcome) · 2^bits, at most a few units apart."""
