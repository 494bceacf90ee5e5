"""What a release costs in ε and δ, and how such costs add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ..exact import checked
from ..renamed import renamed_method
from .amounts import Charge

__all__ = ["Cost"]


@checked
@dataclass(frozen=True, slots=True)
class Cost(Charge):
    """A privacy cost (ε, δ), both exact and at least 0; costs add up and compare component by component."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write both components for people."""
        return f"{tell('ε', self.epsilon)}, {tell('δ', self.delta)}"

    document = renamed_method("document", "to_document")
