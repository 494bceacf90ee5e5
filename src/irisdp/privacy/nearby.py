"""Guarantees close to one that was asked for, and stricter: to compute with shorter numbers, or to pay for rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from ..exact.short import workable_ratio
from .pair import Pair, follows
from .parameters import Privacy

__all__ = ["changed", "tightened", "workable"]


def workable(privacy: Privacy) -> Privacy:
    """Return the guarantee with short ratios, each at most as large; see `exact.short.workable_ratio`.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    """
    return changed(privacy, lambda pair: replace(pair, ratio=workable_ratio(pair.ratio)))


def tightened(privacy: Privacy, margin: Fraction) -> Privacy:
    """Keep back so much of (r − 1)/r and of δ, in every pair.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    margin : Fraction
        At least 0 and below 1.
    """
    return changed(
        privacy,
        lambda pair: replace(
            pair,
            ratio=max(Fraction(1), pair.ratio - (pair.ratio - 1) * margin / pair.ratio),
            delta=pair.delta * (1 - margin),
        ),
    )


def changed(privacy: Privacy, change: Callable[[Pair], Pair]) -> Privacy:
    """Change every pair, and leave out what then follows from the others.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    change : callable
        From a pair to another. A smaller ratio does not become the larger one, and a larger δ stays larger.
    """
    pairs = [change(pair) for pair in privacy.pairs]
    place = 0
    while place < len(pairs):
        if place and (pairs[place - 1].ratio <= pairs[place].ratio or follows(pairs, place)):
            del pairs[place]
            place -= 1  # the one before has a new neighbour
        else:
            place += 1
    return privacy if tuple(pairs) == privacy.pairs else Privacy.of(tuple(pairs))
