"""What two independent releases may reveal each, so that both together keep a guarantee."""

from __future__ import annotations

from fractions import Fraction

from ..exact import ball, dyadic_below, enclosure_of, log_above
from .guarantee import Gaussian, Guarantee
from .nearby import changed
from .pair import Pair

__all__ = ["halved"]

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
