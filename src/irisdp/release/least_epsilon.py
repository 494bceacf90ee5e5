"""The least ε that is enough, as a short decimal number: one unit of its last digit less is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import floor, log10

from ..errors import BadInput

__all__ = ["DIGITS", "least_epsilon", "on_grid"]

DIGITS = 12
"""Significant digits of an ε that is found."""

_LEAST, _MOST = -18, 3
"""Powers of ten between which an ε is looked for."""
_LADDER = 64
"""Smaller ε that are tried, where noise is chosen by its ε and so need not get better with every more of it."""


def least_epsilon(
    kept: Callable[[Fraction], bool], stretches: Iterable[tuple[float, float]] = (), *, ladder: bool = True
) -> Fraction:
    """Return the least decimal of twelve significant digits that is enough; a unit of the last digit less is not.

    Parameters
    ----------
    kept : callable
        Whether an ε is enough.
    stretches : iterable of (float, float)
        In ascending order, stretches of ε at whose ends smaller ones may be enough, too, and beyond which they may not.
    ladder : bool
        Whether more may be too little elsewhere, too: then smaller ones are looked for in steps of one per cent.

    Raises
    ------
    BadInput
        Where no ε from 1e-18 to 1,000 is enough, or all are.
    """

    def enough(epsilon: Fraction) -> bool:
        try:
            return kept(epsilon)
        except BadInput:  # less than any noise is drawn for
            if epsilon >= 1:
                raise
            return False

    found = Fraction(1)
    while not enough(found):
        found *= 10
        if found > 10**_MOST:
            rule = f"is kept by no ε up to {10**_MOST:,}"
            raise BadInput("within", rule, "ask for a larger distance, or a lower confidence")
    found = _least_below(enough, found)
    for start, end in stretches:
        if end >= found:
            break
        last = next((place for place in _last_before(end) if place < found and enough(place)), None)
        if last is not None:
            found = _least_below(enough, last, Fraction(start * (1 - 1e-11)))
            break
    for step in range(1, _LADDER if ladder else 1):
        smaller = on_grid(found * (100 - step) / 100)
        if enough(smaller):
            return _least_below(enough, smaller)
    return found


def _least_below(enough: Callable[[Fraction], bool], high: Fraction, low: Fraction = Fraction(0)) -> Fraction:
    """Return one that is enough, next to one that is not: at most `high`, which is enough, and above `low`."""
    low = low if low <= 0 or not enough(on_grid(low)) else Fraction(0)
    power = _power(high)
    while Fraction(10) ** power > low and enough(Fraction(10) ** power):
        high, power = Fraction(10) ** power, power - 1
        if power < _LEAST:
            raise BadInput("within", "is kept however small ε is", "ask for a smaller distance, or a higher confidence")
    unit = Fraction(10) ** (power - DIGITS + 1)
    first, last = max(10 ** (DIGITS - 1), floor(low / unit)), int(high / unit)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if enough(middle * unit) else (middle, last)
    return last * unit


def _last_before(end: float) -> Iterable[Fraction]:
    """Yield the grid's last numbers up to one that is nearly known."""
    last = on_grid(Fraction(end))
    unit = Fraction(10) ** (_power(last) - DIGITS + 1)
    return (last + unit, last, last - unit)


def on_grid(epsilon: Fraction) -> Fraction:
    """Round down to twelve significant digits."""
    unit = Fraction(10) ** (_power(abs(epsilon)) - DIGITS + 1)
    return floor(epsilon / unit) * unit


def _power(number: Fraction) -> int:
    """Return p with 10^p ≤ number < 10^(p + 1)."""
    power = floor((number.numerator.bit_length() - number.denominator.bit_length()) * log10(2))
    while Fraction(10) ** power > number:
        power -= 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return power
