"""The least μ such that a guarantee implies μ-Gaussian differential privacy.

A guarantee bounds what an event of probability s may have at a neighbour by u(s), and μ-GDP by Φ(Φ⁻¹(s) + μ). The first
climbs in straight pieces from kink to kink and the second is concave, so it lies above everywhere if it does at the
kinks. So μ is the maximum of Φ⁻¹(u(s)) − Φ⁻¹(s) over the kinks. At s = 0 the Gaussian is 0, so a guarantee with u(0) >
0 (a δ that no ε avoids) implies no μ at all.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import flint

from .._exact import ball, decimal_above, enclosure_of
from ..errors import BadInput
from ..privacy import Gaussian, Guarantee, Privacy

_PLACES = 30
_WIDTH = Fraction(1, 10 ** (_PLACES + 5))


def certain_delta(guarantee: Guarantee) -> Fraction:
    """Return the least δ that a guarantee has at any ε: 0 for Gaussian privacy, and for pairs the first one's."""
    return Fraction(0) if isinstance(guarantee, Gaussian) else guarantee.pairs[0].delta


def gaussian_dp_mu(guarantee: Guarantee) -> Fraction:
    """Return the least μ that a guarantee implies, rounded up to 30 decimals.

    Parameters
    ----------
    guarantee : Gaussian or Privacy
        Of several pairs all count together. For ε alone μ is 2·Φ⁻¹(e^ε/(1 + e^ε)).

    Raises
    ------
    BadInput
        Where δ is above 0 at every ε: something may happen with probability δ that no μ bounds.

    References
    ----------
    [Dong2022], Proposition 3 and Definition 4; proofs/filters.md, claim 3.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> f"{float(gaussian_dp_mu(Privacy(epsilon=1))):.6f}"
    '1.232035'
    """
    if isinstance(guarantee, Gaussian):
        return Fraction(guarantee.mu)
    if certain_delta(guarantee):
        raise BadInput(
            "delta",
            "is above 0 at every epsilon, and then no mu or rho is enough",
            "declare groups instead of selecting them, leave out delta=, or use a ledger in epsilon and delta",
        )
    return _of_pairs(guarantee)


@lru_cache(maxsize=1024)
def _of_pairs(privacy: Privacy) -> Fraction:
    shape = privacy.shape
    # The kinks beyond the diagonal are mirror images of these, with the same μ.
    kinks = [(s, shape.step(s)) for s in shape.starts[1 : len(privacy.pairs) + 1]]
    return max((_mean(s, u) for s, u in kinks if u > s), default=Fraction(0))


def _mean(s: Fraction, u: Fraction) -> Fraction:
    return decimal_above(enclosure_of(lambda: _quantile(u) - _quantile(s), width=_WIDTH).upper, _PLACES)


def _quantile(probability: Fraction) -> flint.arb:
    """Return Φ⁻¹, from the nearer end, where small probabilities keep their digits."""
    if probability > Fraction(1, 2):
        return -_quantile(1 - probability)
    return -flint.arb(2).sqrt() * ball(2 * probability).erfcinv()


# Find a ρ such that a guarantee implies ρ-zero-concentrated differential privacy.

PLACES = 18
"""Decimals of a charge that was converted."""


def zcdp_rho(guarantee: Guarantee) -> Fraction:
    """Return a ρ that a guarantee implies: μ²/2 (of pairs rounded up to 18 decimals), or ε²/2 where that is less.

    Parameters
    ----------
    guarantee : Gaussian or Privacy
        Gaussian privacy is exactly (μ²/2)-zCDP. Pairs imply their least μ. If the δ of the first of them is 0, they
        also imply ε-differential privacy, which is less for ε below about 5.

    Raises
    ------
    BadInput
        As `gaussian_dp_mu`: no ρ is enough either.

    References
    ----------
    [Bun2016], Propositions 1.4 and 1.6; proofs/filters.md, claim 4.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> zcdp_rho(Privacy(epsilon=1))
    Fraction(1, 2)
    """
    by_mean = gaussian_dp_mu(guarantee) ** 2 / 2
    if isinstance(guarantee, Gaussian):
        return by_mean
    return min(decimal_above(by_mean, PLACES), guarantee.pairs[0].epsilon ** 2 / 2)
