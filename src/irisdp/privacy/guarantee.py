"""What a release may promise: pairs (ε, δ), or Gaussian privacy itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import checked, rational, rational_text
from .parameters import Privacy

__all__ = ["Gaussian", "Guarantee"]

_LARGEST, _SMALLEST = 100, Fraction(1, 10**6)


@checked
@dataclass(frozen=True, slots=True, repr=False)
class Gaussian:
    """μ-Gaussian differential privacy itself, such as a count has under Gaussian noise of deviation 1/μ.

    `Privacy.gaussian(mu)` is a polygon below it, of pairs that ask for hardly more: designs keep that, and noise and
    charges this.

    Parameters
    ----------
    mu : number or text
        μ, from 1e-6 to 100: neighbours are no easier to tell apart than N(0, 1) and N(μ, 1).

    References
    ----------
    [Dong2022], Definition 4.
    """

    mu: Any

    def __post_init__(self) -> None:
        """Hold an exact number."""
        mu = rational(self.mu, "mu")
        if not _SMALLEST <= mu <= _LARGEST:
            raise BadInput("mu", "must lie between 1e-6 and 100", "give for example 1")
        object.__setattr__(self, "mu", mu)

    def __repr__(self) -> str:
        """Write it as Python would read it."""
        return f"Gaussian({rational_text(self.mu)!r})"

    def __str__(self) -> str:
        """Write μ for people."""
        return f"μ = {rational_text(self.mu)}"


Guarantee = Privacy | Gaussian
"""What one step on a cell's graph may reveal."""
