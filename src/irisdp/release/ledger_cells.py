"""Check the kind of value in each cell of a ledger, because SQLite keeps any kind in any column.

A digest cannot distinguish bytes from the text of their hash, and a value of the wrong kind would fail at an unexpected
place. So kinds are looked at wherever rows are read, and where a history is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .ledger_store import Damaged

__all__ = ["is_typed", "typed"]

_KINDS: dict[str, Any] = {
    **dict.fromkeys(("id", "settlement", "release"), int),
    "audience": str | None,
    "answers": bytes,
}
"""By column; all others hold text."""


def is_typed(columns: Sequence[str], row: Sequence[Any]) -> bool:
    """Tell whether each cell of a row is of the kind that its column holds."""
    return all(isinstance(cell, _KINDS.get(name, str)) for name, cell in zip(columns, row, strict=True))


def typed(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows as they are.

    Raises
    ------
    Damaged
        Where a cell is of another kind than its column holds.
    """
    found = list(rows)
    if not all(is_typed(columns, row) for row in found):
        raise Damaged
    return found
