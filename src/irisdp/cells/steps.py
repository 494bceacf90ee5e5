"""Values in equal steps between two public bounds: the unit of sums and means."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    rounding : Fraction
        Largest distance between a value and the multiple of the step that it counts as; 0 where every value is known
        to be a multiple.
    """

    least: int
    most: int
    size: Fraction
    rounding: Fraction = Fraction(0)

    def rounds(self) -> Steps:
        """Return the same steps for values that are not known to be multiples of the step.

        A value is at most half a step away from the nearest multiple. Values are doubles, so that a value near the
        middle of two multiples can go to either: this adds a little to the distance, most where the bounds are large.
        """
        return replace(self, rounding=self.size * (Fraction(1, 2) + Fraction(self.farthest, 1 << 49)))

    @property
    def covered(self) -> str:
        """Say which errors an interval covers that is widened by the rounding of the values."""
        return f"noise, and rounding to multiples of {rational_text(self.size)}" if self.rounding else "noise only"

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
