"""Privacy that lets an answer say something: ε above 0, or a δ beside it that may stand in for it."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput
from ..exact import rational
from .parameters import Privacy

__all__ = ["informative", "too_private"]


def informative(*, epsilon: Any = None, ratio: Any = None, delta: Any = 0, field: str | None = None) -> Privacy:
    """Read one guarantee for answers that are to say something.

    `Privacy` itself may have ε = 0, as a sum of charges may. A request for less is refused at once with the least value
    at which answers carry information, instead of one at 0 that would be refused again.

    Parameters
    ----------
    epsilon, ratio, delta : number or text
        As for `Privacy`.
    field : str, optional
        What the caller calls the number that is wrong, where it is no option of that name.

    Returns
    -------
    Privacy
        With ε above 0 wherever δ is 0.

    Raises
    ------
    BadInput
        For other numbers.

    Examples
    --------
    >>> informative(epsilon="1/2").epsilon
    Fraction(1, 2)
    >>> informative(ratio=1, delta="1/10").delta
    Fraction(1, 10)
    """
    called, value, least = ("ratio", ratio, 1) if epsilon is None else ("epsilon", epsilon, 0)
    name = field or called
    if value is not None:
        number = rational(value, name)
        if number < least or (number == least and rational(delta, "delta") == 0):
            raise too_private(name, least)
    try:
        return Privacy(epsilon=epsilon, ratio=ratio, delta=delta)
    except BadInput as error:
        if error.field != called:
            raise
        raise BadInput(name, error.rule, error.remedy) from None


def too_private(field: str, least: int = 0, why: str = "") -> BadInput:
    """Return the refusal of an ε at which answers say nothing.

    Parameters
    ----------
    field : str
        What the caller calls it.
    least : int
        0; or 1, of an e^ε.
    why : str
        Further text, to be read after the number.
    """
    rule = f"must be above {least}: at {least}{why} an answer says nothing"
    return BadInput(field, rule, f"give for example {least + 1}")
