"""Among which mechanisms a certificate says that one is best: part of the file format, and of every claim."""

from __future__ import annotations

from ..privacy import Privacy

__all__ = ["ALL_PRIVATE", "LONGEST_PROPAGATION", "SAME_ROWS", "too_deep"]

ALL_PRIVATE = "all private mechanisms"
"""No private mechanism on the graph has a smaller goal."""

SAME_ROWS = "mechanisms with these boundary rows"
"""No private mechanism that gives some inputs (usually those on the boundary) the same rows has a smaller goal."""

LONGEST_PROPAGATION = 10**8
"""Bits, about, of the exact numbers that one event is propagated with; the stand-alone verifier has the same limit."""


def too_deep(deepest: int, privacy: Privacy) -> bool:
    """Tell whether a certificate whose rows follow from given ones this far away is not checked, nor written.

    Exact numbers grow with every step, by about the digits of a ratio and δ.
    """
    step = max(
        sum(number.numerator.bit_length() + number.denominator.bit_length() for number in (pair.ratio, pair.delta))
        for pair in privacy.pairs
    )
    return deepest * deepest * step > LONGEST_PROPAGATION
