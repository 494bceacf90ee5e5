"""Reading and writing exact numbers.

Everything that is released or certified is a rational. A number is accepted in the forms people write it in and
becomes a `Fraction` without any rounding: a float is read as its shortest decimal, so 0.1 is 1/10.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..errors import BadInput

Rational = Fraction | int | str | float | Decimal
"""The forms an exact number may be given in."""

_NUMBER = re.compile(r"[+-]?(\d+(/\d+)?|(\d+\.\d*|\.\d+|\d+)([eE][+-]?0*\d{1,6})?)", re.ASCII)
MOST_CHARACTERS = 8_000
"""Letters of one number."""
MOST_DIGITS = 4_300
"""Digits of one integer: CPython reads no more by default."""
LARGEST_EXPONENT = 4_000
"""Exponent of ten of one number, of either sign."""
_NEARBY = 10**15
"""Below it a remedy names the integers beside a fraction."""

_MOST_PLACES = 40
_WITH_COMMA = re.compile(r"[+-]?\d{0,20},\d{1,20}([eE][+-]?\d{1,6})?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3}){1,6}(\.\d{1,20})?", re.ASCII)


def rational(value: Any, field: str) -> Fraction:
    """Read one exact number.

    Parameters
    ----------
    value : Fraction, int, float, Decimal, str or NumPy scalar
        A float is read as its shortest decimal; text is a decimal ("0.25", "1e-9") or a quotient ("3/10").
    field : str
        How the caller names the value, for the error message.

    Returns
    -------
    Fraction
        Exactly the number written.

    Raises
    ------
    BadInput
        For booleans, NaN, infinities, text that is no number, and anything else.

    Examples
    --------
    >>> rational(0.1, "epsilon"), rational("3/10", "delta")
    (Fraction(1, 10), Fraction(3, 10))
    """
    if type(value) is Fraction:
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise BadInput(field, "must be a number, not true or false", "write it as a decimal or a quotient")
    if type(value).__name__ == "timedelta64":  # which NumPy counts among the integers
        raise BadInput(field, "must be a number, not a span of time", "write it as a decimal or a quotient")
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal) or (isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)):
        # NumPy's wider and narrower floats print their own shortest decimal; `repr(float(x))` would lengthen it.
        text = str(value)
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):  # floats end at 1e308
            raise BadInput(field, f"must be a finite number, not {text}", "write it as a decimal or a quotient")
        return _from_text(text, field)
    if isinstance(value, str):
        return _from_text(value.strip(), field)
    raise BadInput(field, f"must be a number, not {type(value).__name__}", "write it as a decimal or a quotient")


def integer(value: Any, field: str, *, at_least: int, at_most: int | None = None) -> int:
    """Read a whole number in a range; booleans, fractions and NaN are refused by name."""
    if isinstance(value, str) and meant_decimal(value) is not None:
        text = value.strip()
        near = Fraction(text.replace(",", "" if _THOUSANDS.fullmatch(text) else "."))
        remedy = f"write {near}" if near.denominator == 1 else f"write {math.floor(near)} or {math.ceil(near)}"
        raise BadInput(field, f"must be a whole number, and {text!r} has a comma in it", remedy)
    if isinstance(value, str) and len(value) <= MOST_CHARACTERS and not _NUMBER.fullmatch(value.strip()):
        open_end = at_most is None or at_most > _NEARBY
        remedy = f"write a number from {at_least} on" if open_end else f"write one from {at_least} to {at_most}"
        remedy = "write it in digits, such as 12" if at_least < -_NEARBY else remedy
        raise BadInput(field, "must be a whole number", remedy)
    number = rational(value, field)
    if number.denominator != 1:
        below = number.numerator // number.denominator
        fitting = at_least <= below < (_NEARBY if at_most is None else min(at_most, _NEARBY))
        remedy = f"write {below} or {below + 1}" if fitting else f"write an integer that is at least {at_least}"
        raise BadInput(field, "must be a whole number", remedy)
    whole = number.numerator
    if whole < at_least or (at_most is not None and whole > at_most):
        upper = "" if at_most is None else f" and at most {at_most}"
        raise BadInput(field, f"must be at least {at_least}{upper}", "choose a number in that range")
    return whole


def meant_decimal(text: str) -> str | None:
    """Return how to write a number that has a comma for the decimal point, or between thousands; None for other text.

    Examples
    --------
    >>> meant_decimal("0,5"), meant_decimal("1,000.5"), meant_decimal("12")
    ('0.5', '1000.5', None)
    >>> meant_decimal("1,000")
    '1000, or 1.000 if the comma is a decimal comma'
    """
    text = text.strip()
    with_point, plain = text.replace(",", "."), text.replace(",", "")
    if _THOUSANDS.fullmatch(text):
        both = text.count(",") == 1 and "." not in text
        return f"{plain}, or {with_point} if the comma is a decimal comma" if both else plain
    if not _WITH_COMMA.fullmatch(text):
        return None
    sign = text[:1] if text[:1] in "+-" else ""
    return f"{sign}0{with_point[len(sign) :]}" if text[len(sign)] == "," else with_point


def rational_text(value: Fraction) -> str:
    """Write a rational exactly and as people would: "3", "0.25" when the decimal is short, else "1/3"."""
    if value.denominator == 1:
        return _digits(value.numerator)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    if twos > _MOST_PLACES:
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    fives, rest = 0, value.denominator >> twos
    while rest % 5 == 0 and fives <= _MOST_PLACES:
        fives, rest = fives + 1, rest // 5
    places = max(twos, fives)
    if rest != 1 or places > _MOST_PLACES:
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    digits = _digits(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def nearest_float(value: Fraction) -> float | None:
    """Return the nearest float, for a reader who wants no more; None if it has no float."""
    try:
        return float(value)
    except OverflowError:
        return None


def _digits(whole: int) -> str:
    """Write an integer of any length: what was read in pieces of `MOST_DIGITS` may be longer when multiplied."""
    if whole.bit_length() < 3 * MOST_DIGITS:
        return str(whole)
    import flint  # rarely needed, and slow to load: see `irisdp._exact.enclosures`

    digits: str = flint.fmpz(whole).str()
    return digits


def short_text(value: Fraction, digits: int = 6) -> str:
    """Write a rational for people to read, to about `digits` significant digits; not for machines."""
    try:
        return f"{float(value):.{digits}g}"
    except OverflowError:
        return "beyond 1e308" if value > 0 else "beyond -1e308"


def _from_text(text: str, field: str) -> Fraction:
    if len(text) > MOST_CHARACTERS:
        raise BadInput(field, f"has more than {MOST_CHARACTERS} characters", "write a shorter number")
    if (meant := meant_decimal(text)) is not None:
        raise BadInput(field, f"must be a finite number, and {text!r} has a comma in it", f"write {meant}")
    if not _NUMBER.fullmatch(text):
        raise BadInput(field, "must be a finite number", 'write it as "0.25", "1e-9" or "3/10"')
    _, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        raise BadInput(field, f"has an exponent beyond {LARGEST_EXPONENT}", "write a number of ordinary size")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise BadInput(field, "divides by zero", "write a quotient with a non-zero denominator") from None
    except ValueError:  # CPython's bound on the digits of one integer, without or with a point in it
        raise BadInput(field, f"has an integer of more than {MOST_DIGITS} digits", "write a shorter number") from None
