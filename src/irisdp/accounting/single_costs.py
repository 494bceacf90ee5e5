"""Costs of one number: μ² of Gaussian differential privacy, and ρ of zero-concentrated differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ..exact import checked, short_text
from .amounts import Charge

__all__ = ["ConcentratedCost", "GaussianCost"]

_BITS = 64
"""To which a root is found that is no rational."""


@checked
@dataclass(frozen=True, slots=True)
class GaussianCost(Charge):
    """What μ-Gaussian privacy costs: μ², which adds up; releases of μ_1, …, μ_k are √(μ_1² + … + μ_k²)-GDP together.

    References
    ----------
    [Dong2022], Corollary 2; proofs/filters.md, claim 1.
    """

    mu_squared: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write μ² for people, and the μ that it is the square of."""
        root = _root(self.mu_squared)
        mean = tell("μ", root) if root**2 == self.mu_squared else f"μ ≈ {short_text(root)}"
        return f"{tell('μ²', self.mu_squared)} ({mean})"


@checked
@dataclass(frozen=True, slots=True)
class ConcentratedCost(Charge):
    """What ρ-zero-concentrated differential privacy costs: ρ, which adds up.

    References
    ----------
    [Bun2016], Definition 1.1 and Lemma 1.7; proofs/filters.md, claim 2.
    """

    rho: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write ρ for people."""
        return tell("ρ", self.rho)


def _root(square: Fraction) -> Fraction:
    """Return the square root: exactly where it is rational, else nearly."""
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if Fraction(above, below) ** 2 == square:
        return Fraction(above, below)
    return Fraction(isqrt(square.numerator * square.denominator << 2 * _BITS), square.denominator << _BITS)
