"""Text that can be written down, and paths that can name a file: JSON and Python can spell others."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..errors import BadInput

__all__ = ["file_path", "plain_text"]


def plain_text(value: str, field: str) -> str:
    """Return text, or refuse text with half a character (a lone surrogate), which has no UTF-8 form.

    Examples
    --------
    >>> plain_text("town = 'Ely'", "expression")
    "town = 'Ely'"
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(field, "holds half a character (a lone surrogate)", "write whole characters") from None
    return value


def file_path(value: Any, field: str) -> Path:
    """Return a path that names something: not empty, without NUL, and written in characters that the system has.

    Examples
    --------
    >>> file_path("votes.csv", "out").name
    'votes.csv'
    """
    if not isinstance(value, str | os.PathLike):
        raise BadInput(field, "must be the path of a file", "write it as text")
    try:
        path = Path(os.fsdecode(value))
        usable = bool(os.fsencode(path)) and b"\0" not in os.fsencode(path) and bool(os.fspath(value))
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise BadInput(field, "is not a usable path", "give the path of a file")
    if re.match(r"\s*[A-Za-z][\w+.-]+:/", os.fsdecode(value)):  # it may hold a secret, and is not quoted
        raise BadInput(field, "is an address, and no path of a file", "name a file on this machine")
    return path
