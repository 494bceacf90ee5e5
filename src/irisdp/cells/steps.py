"""Values on a ladder of equal steps between two public bounds: what sums and means count in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..exact import rational_text

__all__ = ["Steps"]


@dataclass(frozen=True, slots=True)
class Steps:
    """The multiples of a step between two bounds, which are multiples of it as well; public.

    Parameters
    ----------
    least, most : int
        The bounds, in steps.
    size : Fraction
        The step; a decimal number above 0.
    """

    least: int
    most: int
    size: Fraction

    @property
    def span(self) -> int:
        """K: how many steps lie between the bounds."""
        return self.most - self.least

    @property
    def lower(self) -> Fraction:
        """The lower bound, as it was given."""
        return self.least * self.size

    @property
    def upper(self) -> Fraction:
        """The upper bound, as it was given."""
        return self.most * self.size

    @property
    def farthest(self) -> int:
        """How far, in steps, one value that comes or goes moves a sum at most."""
        return max(abs(self.least), abs(self.most))

    @property
    def widest(self) -> int:
        """How far, in steps, one value moves a sum that becomes another, or none, at most: none counts as 0."""
        return max(self.most, 0) - min(self.least, 0)

    def shown(self, number: int) -> int | float:
        """Return so many steps as people count: a whole number where steps are whole, else the nearest decimal."""
        value = number * self.size
        return int(value) if self.size.denominator == 1 else float(value)

    def to_document(self) -> dict[str, str]:
        """Return bounds and step as exact text."""
        return {name: rational_text(getattr(self, name)) for name in ("lower", "upper")} | {
            "step": rational_text(self.size)
        }
