"""What a release costs in ε and δ, and how such costs add up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..exact import checked, rational_text
from ..renamed import renamed_method
from .amounts import Charge

__all__ = ["Cost"]


@checked
@dataclass(frozen=True, slots=True)
class Cost(Charge):
    """A privacy cost (ε, δ), both exact and at least 0; costs add up and compare component by component."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __str__(self) -> str:
        """Write both components for people, exactly."""
        return f"ε = {rational_text(self.epsilon)}, δ = {rational_text(self.delta)}"

    document = renamed_method("document", "to_document")
