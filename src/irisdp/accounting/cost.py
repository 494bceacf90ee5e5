"""What a release costs, and how costs add up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..errors import BadInput
from ..exact import checked, rational, rational_text
from ..renamed import renamed_method

__all__ = ["Cost"]

LONGEST_COST = 4096
"""Bits of a numerator or denominator, so that every total can be written in decimal."""


@checked
@dataclass(frozen=True, slots=True)
class Cost:
    """A privacy cost (ε, δ), both exact and at least 0; costs add up and compare component by component."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse what is no exact, non-negative number; a negative charge would give budget back."""
        for name in ("epsilon", "delta"):
            number = rational(getattr(self, name), name)
            if number < 0:
                raise BadInput(name, "must not be negative", "write a cost that is at least 0")
            if max(number.numerator, number.denominator).bit_length() > LONGEST_COST:
                raise BadInput(name, f"adds up to more than {LONGEST_COST} bits", "write costs as short decimals")
            object.__setattr__(self, name, number)

    def __add__(self, other: Cost) -> Cost:
        """Add component by component: basic composition."""
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)

    def __mul__(self, times: int) -> Cost:
        """Charge the same several times."""
        return Cost(self.epsilon * times, self.delta * times)

    def beyond(self, other: Cost) -> Cost:
        """Return what is left to charge where another cost was charged already, and never less than nothing."""
        return Cost(max(self.epsilon - other.epsilon, Fraction(0)), max(self.delta - other.delta, Fraction(0)))

    def fits_in(self, limit: Cost) -> bool:
        """Tell whether neither component exceeds the limit's."""
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta

    def __str__(self) -> str:
        """Write both components for people, exactly."""
        return f"ε = {rational_text(self.epsilon)}, δ = {rational_text(self.delta)}"

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, str]:
        """Write both components as exact text."""
        return {"epsilon": rational_text(self.epsilon), "delta": rational_text(self.delta)}
