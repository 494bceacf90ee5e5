"""What is uploaded, as text that can be shown in a field again."""

from __future__ import annotations

import base64
import binascii

from ..errors import BadInput

__all__ = ["as_bytes", "as_text"]

_BINARY = "base64:"


def as_text(content: bytes) -> str:
    """Return a file as text; what is no UTF-8, such as a NumPy array, as ``base64:…``.

    Examples
    --------
    >>> as_text(b"[[1]]"), as_text(bytes([255]))
    ('[[1]]', 'base64:/w==')
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _BINARY + base64.b64encode(content).decode()


def as_bytes(text: str, field: str) -> bytes:
    """Return what `as_text` was given.

    Raises
    ------
    BadInput
        For ``base64:`` before invalid data.
    """
    if not text.startswith(_BINARY):
        return text.encode("utf-8", "surrogateescape")
    try:
        return base64.b64decode(text.removeprefix(_BINARY), validate=True)
    except (binascii.Error, ValueError):
        raise BadInput(field, "says base64: and holds something else", "upload the file again") from None
