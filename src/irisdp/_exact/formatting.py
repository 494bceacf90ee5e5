"""Numbers as people read them: a few digits, rounded in a direction that the name says.

An error that is promised is rounded up, and a chance of being right down: what is shown is never better than what is
so. `short_above` and `short_below` do it for numbers of designs and audits, to more digits and without commas; what is
neither an upper nor a lower bound is written to the nearest by `short_text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from .rationals import rational_text

_LONGEST, _LONGEST_FRACTION = 16, 12
"""Characters of a number that is shown exactly; a decimal may have more, because its first digits show its size."""
_FRACTION_TOLD = re.compile(r"([^\W\d]+²?) = ([0-9]+/[1-9][0-9]*)")
_LEAST, _MOST = -5, 15
"""Powers of ten from which, and up to which, a number is written without an exponent."""


def shown_above(value: float | Fraction | Decimal, digits: int = 3) -> str:
    """Write a number in a few significant digits, rounded up; a float is taken to be the shortest decimal it is.

    Examples
    --------
    >>> shown_above(0.6201), shown_above(0.85), shown_above(1234.5), shown_above(Fraction(1, 3)), shown_above(3.111e-7)
    ('0.621', '0.85', '1,240', '0.334', '3.12e-7')
    """
    return _text(value, digits, ROUND_CEILING, ",")


def shown_below(value: float | Fraction | Decimal, digits: int = 3) -> str:
    """Write a number in a few significant digits, rounded down; a float is taken to be the shortest decimal it is.

    Examples
    --------
    >>> shown_below(0.6209), shown_below(Fraction(2, 3)), shown_below(0.99999)
    ('0.62', '0.666', '0.999')
    """
    return _text(value, digits, ROUND_FLOOR, ",")


def short_above(value: Fraction, digits: int = 6) -> str:
    """Write what is at most so much: as `short_text` does, and rounded up.

    Examples
    --------
    >>> short_above(Fraction(1, 3)), short_above(Fraction(168, 415), 10), short_above(Fraction(1234567))
    ('0.333334', '0.4048192772', '1234570')
    """
    return _text(value, digits, ROUND_CEILING, "")


def short_below(value: Fraction, digits: int = 6) -> str:
    """Write what is at least so much: as `short_text` does, and rounded down.

    Examples
    --------
    >>> short_below(Fraction(2, 3)), short_below(Fraction(168, 415), 10)
    ('0.666666', '0.4048192771')
    """
    return _text(value, digits, ROUND_FLOOR, "")


def told_above(name: str, value: Fraction) -> str:
    """Say what a number is: exactly where that is short, else what it is at most.

    Examples
    --------
    >>> told_above("ε", Fraction(1, 3)), told_above("ε", Fraction(123456789, 370370369)), told_above("δ", Fraction(0))
    ('ε = 1/3', 'ε ≤ 0.333334', 'δ = 0')
    >>> told_above("ε", 5 + Fraction(123456789, 370370369)), told_above("ε", Fraction(123456789, 37037036900))
    ('ε ≤ 5.333334', 'ε ≤ 0.003334')
    """
    return _told(name, value, "≤", short_above)


def told_below(name: str, value: Fraction) -> str:
    """Say what a number is: exactly where that is short, else what it is at least, as of what is left to be spent.

    Examples
    --------
    >>> told_below("ε", Fraction(1, 3)), told_below("ε", Fraction(123456789, 370370369))
    ('ε = 1/3', 'ε ≥ 0.333333')
    """
    return _told(name, value, "≥", short_below)


def told_exactly(name: str, value: Fraction) -> str:
    """Write a number exactly, however long that takes: for stored documents.

    Examples
    --------
    >>> told_exactly("ε", Fraction(123456789, 370370369))
    'ε = 123456789/370370369'
    """
    return f"{name} = {rational_text(value)}"


def in_short(words: str) -> str:
    """Tell people what a sentence says exactly, such as "ε = 123456789/370370368": long fractions rounded up.

    Examples
    --------
    >>> in_short("ε = 123456789/370370369, δ = 1/70"), in_short("μ = 1.5")
    ('ε ≤ 0.333334, δ = 1/70', 'μ = 1.5')
    """
    return _FRACTION_TOLD.sub(lambda match: told_above(match[1], Fraction(match[2])), words)


def percent_below(chance: Fraction) -> str:
    """Write a probability in percent, without the sign: exactly where that is short, else rounded down, never to 100.

    Examples
    --------
    >>> percent_below(Fraction(19, 20)), percent_below(Fraction(2, 3)), percent_below(1 - Fraction(1, 10**12))
    ('95', '66.6666', '99.9999999999')
    """
    exact = rational_text(100 * chance)
    return exact if "/" not in exact and len(exact) <= _LONGEST else shown_below(100 * chance, 6)


def so_many(number: int, what: str) -> str:
    """Say a number of things.

    Examples
    --------
    >>> so_many(1, "edge"), so_many(2000, "input")
    ('1 edge', '2,000 inputs')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


_PLACES = 6
"""Digits after the point of amounts from 1/1000 on. As all are cut at one place, what is spent and what is left of a
limit, rounded in opposite directions, add up to it."""


def _told(name: str, value: Fraction, sign: str, short: Callable[[Fraction, int], str]) -> str:
    exact = rational_text(value)
    if len(exact) <= (_LONGEST_FRACTION if "/" in exact else _LONGEST):
        return told_exactly(name, value)
    whole = len(str(int(value))) if value >= 1 else 0
    small = next((zeros for zeros in range(3) if value * 10 ** (zeros + 1) >= 1), 0) if value < 1 else 0
    rounded = short(value, _PLACES + whole - small)
    return f"{name} {'=' if Fraction(rounded) == value else sign} {rounded}"


def _text(value: float | Fraction | Decimal, digits: int, rounding: str, thousands: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    if isinstance(value, Fraction):
        rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    else:
        rounded = context.plus(value if isinstance(value, Decimal) else Decimal(repr(value)))
    if not rounded.is_finite() or not rounded:
        return "0" if not rounded else str(float(value))
    shortest = rounded.normalize(context)
    return f"{shortest:{thousands}f}" if _LEAST <= shortest.adjusted() < _MOST else f"{shortest:e}"
