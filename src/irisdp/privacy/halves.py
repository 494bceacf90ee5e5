"""What two independent releases may reveal each, so that both together keep a guarantee."""

from __future__ import annotations

from fractions import Fraction

from ..exact import ball, dyadic_below, enclosure_of
from .guarantee import Gaussian, Guarantee
from .parameters import Privacy

__all__ = ["halved"]

_BITS = 128


def halved(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee that two independent releases may keep each, and keep the one given together.

    Of a pair (ε, δ) that is (ε/2, δ/2), of several pairs the same of each, of μ it is μ/√2; roots are rounded down, to
    128 binary digits.

    References
    ----------
    Basic composition, pair by pair; [Dong2022], Corollary 2 (μ adds up as squares); proofs/sizes.md, claim 3.

    Examples
    --------
    >>> halved(Privacy.from_ratio(4, "1/10")) == Privacy.from_ratio(2, "1/20")
    True
    """
    if isinstance(guarantee, Gaussian):
        return Gaussian(_root_below(guarantee.mu**2 / 2))
    pairs = [Privacy.from_ratio(max(Fraction(1), _root_below(p.ratio)), p.delta / 2) for p in guarantee.pairs]
    return pairs[0] if len(pairs) == 1 else Privacy.all(pairs)


def _root_below(square: Fraction) -> Fraction:
    """Return a root, exactly where it is short and rounded down elsewhere."""
    width = Fraction(1, 1 << _BITS + 8)
    lower = enclosure_of(lambda: ball(square).sqrt(), width=width).lower
    nearest = dyadic_below(lower + width * 2, _BITS)
    return nearest if nearest**2 <= square else dyadic_below(lower, _BITS)
