"""The guarantee of a release: pairs (ε, δ), or Gaussian privacy itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .._exact import (
    ball,
    checked,
    decimal_above,
    dyadic_below,
    enclosure_of,
    log_above,
    rational,
    rational_text,
    short_text,
)
from .._frames import html_table
from .._hooks import Drawable
from ..errors import BadInput
from ._gaussian import DEFAULT_GAP, gaussian_delta, zcdp_mean
from ._parameters import Privacy, changed, even_odds
from ._shape import Pair

_LARGEST, _SMALLEST = 100, Fraction(1, 10**6)


@checked
@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Drawable):
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

    @classmethod
    @checked
    def zcdp(cls, rho: Any) -> Gaussian:
        """Return what is enough for ρ-zero-concentrated privacy: μ = √(2ρ), rounded down; see `Privacy.zcdp`."""
        return cls(zcdp_mean(rho))

    def polygon_document(self) -> dict[str, str]:
        """Write in short what pairs `as_pairs` takes: `privacy_from_document` makes them again."""
        return {"gaussian": rational_text(self.mu), "gap": rational_text(DEFAULT_GAP)}

    def __repr__(self) -> str:
        """Write it as Python would read it."""
        return f"Gaussian({rational_text(self.mu)!r})"

    def _repr_html_(self) -> str:
        """Show in a notebook what pairs follow, and what an adversary may guess."""
        epsilons = [short_text(self.mu**2 / 2 + steps * self.mu, 4) for steps in (0, 2, 4, 6)]
        rows = [(epsilon, _at_most(gaussian_delta(self.mu, Fraction(epsilon)))) for epsilon in epsilons]
        return html_table(f"{self}; {even_odds(gaussian_delta(self.mu, Fraction(0)))}", ["ε", "δ at most"], rows)

    def __str__(self) -> str:
        """Write μ for people."""
        return f"μ = {rational_text(self.mu)}"


Guarantee = Privacy | Gaussian
"""What one step on a cell's graph may reveal."""


def _at_most(delta: Fraction) -> str:
    """Write a small probability, rounded up."""
    places = 3 - min(0, math.floor(math.log10(delta))) if delta else 0
    return short_text(decimal_above(delta, places), 4)


def as_pairs(guarantee: Guarantee) -> Privacy:
    """Return pairs (ε, δ) that imply a guarantee: itself, or a polygon below the curve, for μ from 0.0001 to 5."""
    return _polygon(guarantee) if isinstance(guarantee, Gaussian) else guarantee


@lru_cache(maxsize=16)
def _polygon(gaussian: Gaussian) -> Privacy:
    return Privacy.gaussian(gaussian.mu)


# Divide a guarantee between two independent releases, so that both together satisfy it.

_BITS = 128


def halved(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee that two independent releases may keep each, and keep the one given together.

    Of a pair (ε, δ) that is (ε/2, δ/2), of several pairs the same of each that does not then follow from the others, of
    μ it is μ/√2; roots are rounded down, to 128 binary digits.

    References
    ----------
    Basic composition, pair by pair; [Dong2022], Corollary 2 (μ adds up as squares); proofs/sizes.md, claim 3.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> halved(Privacy.from_ratio(4, "1/10")) == Privacy.from_ratio(2, "1/20")
    True
    """
    if isinstance(guarantee, Gaussian):
        return Gaussian(_root_below(guarantee.mu**2 / 2))
    return changed(guarantee, _halved)


def _halved(pair: Pair) -> Pair:
    ratio = max(Fraction(1), _root_below(pair.ratio))
    return Pair(ratio, pair.delta / 2, log_above(ratio))


def _root_below(square: Fraction) -> Fraction:
    """Return a root, exactly where it is short and rounded down elsewhere."""
    width = Fraction(1, 1 << _BITS + 8)
    lower = enclosure_of(lambda: ball(square).sqrt(), width=width).lower
    nearest = dyadic_below(lower + width * 2, _BITS)
    return nearest if nearest**2 <= square else dyadic_below(lower, _BITS)
