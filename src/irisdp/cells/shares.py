"""What each of a person's records may reveal, so that all of them together reveal no more than the person may."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ..errors import BadInput
from ..exact import dyadic_below
from ..noise.laws import root_of
from ..privacy import Privacy

__all__ = ["share_of"]

_BITS = 128


@lru_cache(maxsize=64)
def share_of(privacy: Privacy, records: int) -> Privacy:
    """Return a guarantee of one record such that any M records of a person, wherever they are, keep another together.

    M steps of r′ = r^(1/M) and δ′ take a probability s to at most r′^M·s + δ′(1 + r′ + … + r′^(M−1)). The sum is at
    most (r − 1)/(r′ − 1), because r′^M is at most r. So δ′ = δ(r′ − 1)/(r − 1), or δ/M where r′ = 1, keeps (r, δ); all
    are rounded towards privacy. Where all records are in one group that is exact, but for rounding.

    Parameters
    ----------
    privacy : Privacy
        What a person may reveal: one pair.
    records : int
        M.

    Raises
    ------
    BadInput
        For several pairs at once.

    References
    ----------
    proofs/named-counts.md, claim 8.

    Examples
    --------
    >>> share = share_of(Privacy(ratio=4, delta="3/10"), 2)
    >>> share.ratio, float(share.delta)
    (Fraction(2, 1), 0.1)
    """
    if records == 1:
        return privacy
    if not privacy.single:
        rule = "is above 1, and several pairs at once have noise for one record of each only"
        raise BadInput("at_most", rule, "give epsilon= and delta=, or leave at_most out")
    root = root_of(privacy.pure, records)
    part = Fraction(1, records) if root.ratio == 1 else (root.ratio - 1) / (privacy.ratio - 1)
    return root.with_delta(dyadic_below(privacy.delta * part, _BITS))
