"""The public document of a ledger: limit, spending, scope and releases, and whether it is still open."""

from __future__ import annotations

from typing import Any

from ..errors import without_passwords
from .ledger_audiences import ToldSoFar
from .ledger_move import whereabouts
from .ledger_release import list_releases
from .ledger_rows import promise_document, read_limit, read_spent
from .ledger_store import Rows, Store
from .ledger_tables import currency_of
from .statement import statement

__all__ = ["ledger_document"]


def ledger_document(store: Store, rows: Rows) -> dict[str, Any]:
    """Return a ledger as JSON-ready data with exact numbers; of one that is closed nothing is left."""
    limit, spent, elsewhere = read_limit(rows), read_spent(rows), whereabouts(rows)
    left = limit and (limit.beyond(limit) if elsewhere else limit.left_after(spent))
    told = ToldSoFar.of(rows, store.name).to_document(closed=bool(elsewhere))
    return {
        "limit": limit and limit.to_document(),
        "spent": spent.to_document(),
        "left": left and left.to_document(),
        **elsewhere,
        **statement(currency_of(rows), limit, spent),
        **({"audiences": told} if told else {}),
        **_public(promise_document(rows, store.name)),
        "releases": [_public(release.to_document()) for release in list_releases(store, rows)],
    }


def _public(document: dict[str, Any]) -> dict[str, Any]:
    """Leave a password out of a table's name: before it was refused, a ledger could be pinned to one."""
    table = document.get("table")
    return {**document, "table": without_passwords(table)} if isinstance(table, str) else document
