"""What pictures say of numbers: short, for people."""

from __future__ import annotations

from ..exact import short_text
from ..privacy import Guarantee, Privacy

__all__ = ["brief"]


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
