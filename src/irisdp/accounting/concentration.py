"""A ρ such that a guarantee implies ρ-zero-concentrated differential privacy."""

from __future__ import annotations

from fractions import Fraction

from ..exact import decimal_above
from ..privacy import Gaussian, Guarantee
from .least_mean import least_mean

__all__ = ["PLACES", "concentration"]

PLACES = 18
"""Decimals of a charge that was converted."""


def concentration(guarantee: Guarantee) -> Fraction:
    """Return a ρ that a guarantee implies: μ²/2 (of pairs rounded up to 18 decimals), or ε²/2 where that is less.

    Parameters
    ----------
    guarantee : Gaussian or Privacy
        Gaussian privacy is exactly (μ²/2)-zCDP. Pairs imply their least μ. If the δ of the first of them is 0, they
        also imply ε-differential privacy, which is less for ε below about 5.

    Raises
    ------
    BadInput
        As `least_mean`: no ρ is enough either.

    References
    ----------
    [Bun2016], Propositions 1.4 and 1.6; proofs/filters.md, claim 4.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> concentration(Privacy(epsilon=1))
    Fraction(1, 2)
    """
    by_mean = least_mean(guarantee) ** 2 / 2
    if isinstance(guarantee, Gaussian):
        return by_mean
    return min(decimal_above(by_mean, PLACES), guarantee.pairs[0].epsilon ** 2 / 2)
