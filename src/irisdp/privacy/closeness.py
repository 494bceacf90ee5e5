"""Closeness of two distributions: the one check that privacy comes down to (docs/theory.md#closeness)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .parameters import Privacy

__all__ = ["are_close", "hockey_stick"]


def hockey_stick(first: Sequence[Fraction], second: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """Return Σ_v max(0, P_v − r·Q_v): the least δ at which P keeps the ratio r to Q.

    Parameters
    ----------
    first, second : sequence of Fraction
        Two distributions over the same outputs, in the same order.
    ratio : Fraction
        r ≥ 0.
    """
    return sum((p - ratio * q for p, q in zip(first, second, strict=True) if p > ratio * q), start=Fraction(0))


def are_close(first: Sequence[Fraction], second: Sequence[Fraction], privacy: Privacy) -> bool:
    """Tell whether two distributions keep every pair (r, δ), in both directions and exactly.

    Parameters
    ----------
    first, second : sequence of Fraction
        Probabilities of the same events, in one order.
    privacy : Privacy
        One pair or several.
    """
    return all(
        hockey_stick(first, second, pair.ratio) <= pair.delta and hockey_stick(second, first, pair.ratio) <= pair.delta
        for pair in privacy.pairs
    )
