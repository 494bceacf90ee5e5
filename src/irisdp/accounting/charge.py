"""What a ledger in (ε, δ) charges for a guarantee that is no single pair: one point of its curve."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import BadInput
from ..exact import decimal_above, rational, short_text
from ..privacy import Gaussian, Guarantee, Pair, Privacy

__all__ = ["charged_epsilon", "charged_pair"]

_PLACES = 12


def charged_pair(guarantee: Guarantee, delta: Any = 0) -> Privacy:
    """Return a pair that follows from a guarantee: itself, or the point of its curve at a δ.

    Parameters
    ----------
    guarantee : Guarantee
        One pair is charged unchanged. Of several, the pair with the smallest δ unless `delta` names another point.
    delta : number or text
        0 stands for none given.

    Returns
    -------
    Privacy
        ε, rounded up to twelve decimals, where it is no pair's own.

    Raises
    ------
    BadInput
        For Gaussian privacy without a δ, which has no ε, and for a δ smaller than that of every pair.
    """
    wanted = _checked_delta(rational(delta, "delta"))
    if isinstance(guarantee, Gaussian):
        # One unit more, so that e^ε rounded down, which group privacy multiplies by, is still enough.
        return Privacy(epsilon=charged_epsilon(guarantee.mu**2, wanted) + Fraction(1, 10**_PLACES), delta=wanted)
    if guarantee.single:
        return guarantee
    for pair in guarantee.pairs:
        if wanted in (pair.delta, 0):
            return Privacy.of((pair,))
    ratio, epsilon = guarantee.ratio_at(wanted), guarantee.epsilon_at(wanted)
    if ratio is None or epsilon is None:
        least = short_text(guarantee.pairs[0].delta)
        raise BadInput(
            "delta", f"is below {least}, the smallest of the pairs", f"give {least} or more, or leave it out"
        )
    return Privacy.of((Pair(ratio, wanted, decimal_above(epsilon, _PLACES)),))


@lru_cache(maxsize=64)
def charged_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """Return the ε that Gaussian privacy has at a δ, given μ², rounded up to twelve decimals."""
    from .gaussian_sides import GaussianSide  # with the checks of mechanisms, which costs alone need not load

    if _checked_delta(delta) == 0:
        rule = "is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised"
        raise BadInput("delta", rule, "add delta=1e-6, or charge a ledger that has a limit in mu")
    return decimal_above(GaussianSide(square, upward=True).least_epsilon(delta), _PLACES)


def _checked_delta(delta: Fraction) -> Fraction:
    if not 0 <= delta < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return delta
