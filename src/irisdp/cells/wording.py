"""Numbers of records, for people."""

from __future__ import annotations

__all__ = ["records"]


def records(number: int) -> str:
    """Write so many records, one of them in the singular.

    Examples
    --------
    >>> records(1), records(2000)
    ('1 record', '2,000 records')
    """
    return f"{number:,} record{'' if number == 1 else 's'}"
