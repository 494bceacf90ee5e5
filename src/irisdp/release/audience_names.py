"""What an audience may be called, and which names are one audience: a name is part of the names of its files."""

from __future__ import annotations

import re
import unicodedata

from ..errors import BadInput

__all__ = ["check_audience", "is_audience", "same_audience"]

_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def is_audience(name: str) -> bool:
    """Tell whether an audience may be called so."""
    return _NAME.fullmatch(name) is not None


def same_audience(name: str | None) -> str | None:
    """Return what is equal for all spellings of one audience, such as Press and press; None for everybody.

    Ledgers of earlier versions may hold any text as a name.
    """
    return None if name is None else unicodedata.normalize("NFKC", name).strip().casefold()


def check_audience(name: str) -> str:
    """Return the name of an audience, or refuse an invalid one."""
    if not is_audience(name):
        raise BadInput(
            "audience", "must be a name of up to 64 letters, digits, - and _", "write for example audience='press'"
        )
    return name
