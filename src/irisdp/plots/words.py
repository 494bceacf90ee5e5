"""What pictures say of numbers: short, for people."""

from __future__ import annotations

from fractions import Fraction

from ..exact import short_text, shown_below
from ..privacy import Guarantee, Privacy

__all__ = ["brief", "chance_text"]

_MOST_PLACES = 9


def brief(guarantee: Guarantee) -> str:
    """Write a guarantee to six digits.

    Examples
    --------
    >>> brief(Privacy(ratio=2, delta="1/3"))
    'ε = 0.693147, δ = 0.333333'
    """
    if not isinstance(guarantee, Privacy) or not guarantee.single:
        return str(guarantee)
    epsilon = f"ε = {short_text(guarantee.epsilon)}"
    return epsilon if guarantee.delta == 0 else f"{epsilon}, δ = {short_text(guarantee.delta)}"


def chance_text(chance: Fraction) -> str:
    """Write a probability rounded down, with so many digits that it does not look certain.

    Examples
    --------
    >>> chance_text(Fraction("0.76543")), chance_text(Fraction("0.999964")), chance_text(Fraction(1))
    ('0.765', '0.999964', '1')
    """
    left, places = 1 - chance, 3
    if not left:
        return "1"
    if left < Fraction(1, 10**_MOST_PLACES):
        return "more than 0." + "9" * _MOST_PLACES
    while left < Fraction(1, 10 ** (places - 1)):
        places += 1
    return shown_below(chance, places)
