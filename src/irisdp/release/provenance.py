"""Where published answers come from: of which table, when, and drawn by which version of the library.

The ledger stores all of it with the answers, so asking again returns the same. It is public: the ledger holds nothing
but what was released.
"""

from __future__ import annotations

from typing import Any

from ..version import VERSION
from .ledger_rows import Settlement, read_object
from .ledger_store import Damaged

__all__ = ["drawn_by", "provenance"]


def drawn_by(table: str | None) -> dict[str, Any]:
    """Return what the ledger keeps of where answers come from, JSON-ready: the table's name, and this version."""
    return {"table": table, "version": VERSION}


def provenance(settled: Settlement, place: int = 0) -> dict[str, Any]:
    """Return where the answers of a settlement's entry come from, JSON-ready.

    Returns
    -------
    dict
        `table`, its name; `date`, when the answers were drawn, in UTC; `version`, of the library that drew them. None
        where the ledger does not say: a table without a name, answers drawn by a version that kept less.
    """
    try:
        kept = read_object(settled.entries[place].details)
    except Damaged:
        kept = {}  # the answers and their date are there all the same
    return {"table": kept.get("table"), "date": settled.date, "version": kept.get("version")}
