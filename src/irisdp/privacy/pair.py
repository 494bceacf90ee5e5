"""One pair (ε, δ), and when one of several says nothing new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..exact import rational_text

__all__ = ["MOST_PAIRS", "Pair", "follows", "turning_point"]

MOST_PAIRS = 10_000
"""Pairs that a shape may have; the stand-alone verifier has the same limit."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One (ε,δ) guarantee: ratio r ≤ e^ε and δ, and the ε to be charged for it."""

    ratio: Fraction
    delta: Fraction
    epsilon: Fraction

    def __str__(self) -> str:
        """Write (ε, δ) for people."""
        text = f"ε = {rational_text(self.epsilon)}"
        return text if self.delta == 0 else f"{text}, δ = {rational_text(self.delta)}"


def turning_point(pair: Pair) -> Fraction:
    """Return θ = (1 − δ)/(r + 1), where the pair's u meets the diagonal 1 − s."""
    return (1 - pair.delta) / (pair.ratio + 1)


def follows(pairs: Sequence[Pair], place: int) -> bool:
    """Tell whether a pair, of pairs with falling ratio and rising δ, follows from its neighbours in the list.

    Up to the diagonal u is the least of the lines r·s + δ. A line is never below its two neighbours in the list if it
    is not so where they meet; the last is not below the one before it if that one reaches the diagonal first. The first
    begins below all others. Where none follows from its neighbours, none follows from all the others either: the places
    where each takes over from the one before then stand in order.
    """
    if place == 0:
        return False
    here, before = pairs[place], pairs[place - 1]
    if place == len(pairs) - 1:
        at = turning_point(before)
    else:
        after = pairs[place + 1]
        at = (after.delta - before.delta) / (before.ratio - after.ratio)
    return here.ratio * at + here.delta >= before.ratio * at + before.delta
