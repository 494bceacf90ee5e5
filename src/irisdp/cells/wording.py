"""Numbers of records, and what is proven of noise, for people."""

from __future__ import annotations

__all__ = ["EVERY_LOSS", "records", "short"]

EVERY_LOSS = "least loss after post-processing, for any loss that never falls as the error grows"
"""What is proven of universally optimal noise (docs/theory.md#counts)."""


def records(number: int) -> str:
    """Write so many records, one of them in the singular.

    Examples
    --------
    >>> records(1), records(2000)
    ('1 record', '2,000 records')
    """
    return f"{number:,} record{'' if number == 1 else 's'}"


def short(number: float) -> str:
    """Write a number with thousands apart, and without a point where it is whole.

    Examples
    --------
    >>> short(0.0), short(1234.5), short(7)
    ('0', '1,234.5', '7')
    """
    return f"{number:,}".removesuffix(".0")
