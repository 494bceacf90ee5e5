"""What an audience may be called: its name is part of the names of its files."""

from __future__ import annotations

import re

from ..errors import BadInput

__all__ = ["check_audience", "is_audience"]

_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def is_audience(name: str) -> bool:
    """Tell whether an audience may be called so."""
    return _NAME.fullmatch(name) is not None


def check_audience(name: str) -> str:
    """Return a name of an audience, or refuse what is none."""
    if not is_audience(name):
        raise BadInput(
            "audience", "must be a name of up to 64 letters, digits, - and _", "write for example audience='press'"
        )
    return name
