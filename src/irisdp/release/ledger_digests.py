"""The digest of a row of a ledger, as lines of its history hold it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["digest_of"]


def digest_of(row: Any) -> str:
    """Return SHA-256 of a row's cells in JSON, where bytes are in turn their SHA-256."""
    told = [hashlib.sha256(cell).hexdigest() if isinstance(cell, bytes) else cell for cell in row]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()
