"""Costs of one number: μ² of Gaussian differential privacy, and ρ of zero-concentrated differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ..exact import checked, short_above, short_below, short_text, told_above, told_below
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
        below, above = _roots(self.mu_squared)
        if below == above:
            mean = tell("μ", below)
        elif tell in (told_above, told_below):  # which way it is rounded
            mean = f"μ ≤ {short_above(above)}" if tell is told_above else f"μ ≥ {short_below(below)}"
        else:
            mean = f"μ ≈ {short_text(below)}"
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


def _roots(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return the square root twice where it is rational, else a number just below it and one just above."""
    exact = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if exact**2 == square:
        return exact, exact
    whole, parts = isqrt(square.numerator * square.denominator << 2 * _BITS), square.denominator << _BITS
    return Fraction(whole, parts), Fraction(whole + 1, parts)
