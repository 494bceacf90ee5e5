"""Exact numbers as facts: what is enough is rounded up, with the digits said; what is below 1 is not shown as 1."""

from __future__ import annotations

from fractions import Fraction

from ..exact import short_above, short_below, short_text

__all__ = ["at_most", "entry"]


def at_most(value: Fraction, digits: int, remark: str = "") -> tuple[str, str]:
    """Write what is enough, rounded up, and beside a remark to how many digits; of a short number the remark alone.

    Examples
    --------
    >>> at_most(Fraction(1, 3), 4, "at this δ"), at_most(Fraction(1, 2), 4, "at this δ")
    (('0.3334', 'at this δ, rounded up to 4 digits'), ('0.5', 'at this δ'))
    """
    text = short_above(value, digits)
    if Fraction(text) == value:
        return text, remark
    return text, f"{remark}{', ' if remark else ''}rounded up to {digits} digits"


def entry(probability: Fraction, digits: int) -> str:
    """Write a probability among others: the nearest, but never 1 for less.

    Examples
    --------
    >>> entry(Fraction(2, 3), 4), entry(1 - Fraction(1, 10**9), 4), entry(Fraction(1), 4)
    ('0.6667', '0.9999', '1')
    """
    text = short_text(probability, digits)
    return text if text != "1" or probability == 1 else short_below(probability, digits)
