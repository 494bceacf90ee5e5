"""Notice a ledger that was restored from a backup: its history lacks a line that this machine knows.

A restored ledger has forgotten charges. The same questions would be drawn again, and charged once for two draws. So
each release notes the last line of the ledger's history beside the secret (`TableState`). Before anything is read, the
ledger must contain the last line that is known of it. An owner whose newer ledger is lost can accept the loss: then the
ledger is charged what it had lost, and nothing is given back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ..accounting import CURRENCIES, Charge
from ..errors import BadInput, ScopeRefused
from .addresses import identity_of
from .entries import LOSS, LedgerEntry, find_settlement, hash_of, insert_settlement, insist_on, read_cost, read_spending
from .migration import begin
from .store import VERSION, Damaged, LedgerStore, LedgerTransaction
from .table_state import KnownHead, TableState

_QUERY = "restored from a backup"


def read_head(rows: LedgerTransaction, store: LedgerStore, place: Any) -> KnownHead | None:
    """Return the current last line of a ledger's history; None if it has no history yet."""
    if rows.version() < VERSION:
        return None
    last = rows.find("SELECT id, hash FROM history ORDER BY id DESC LIMIT 1")
    if not last:
        return None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    # The plain sum: of partitions that are charged in parallel, the largest charge would hide what the others lose.
    spent = json.dumps(read_spending(rows, store.name).summed.to_document())
    return KnownHead(identity_of(place), store.name, _first(rows), int(last[0][0]), str(last[0][1]), spent, now)


def lost_heads(rows: LedgerTransaction, state: TableState, place: Any) -> list[KnownHead]:
    """Return what is known of a ledger and is missing from its history, the latest line first."""
    return [head for head in state.find_heads(identity_of(place)) if not holds_head(rows, head)]


def holds_head(rows: LedgerTransaction, head: KnownHead) -> bool:
    """Tell whether a ledger's history holds a known line."""
    asked = "SELECT 1 FROM history WHERE id = ? AND hash = ?"
    return rows.version() >= VERSION and bool(rows.find(asked, (head.line, head.hash)))


def loss(store: LedgerStore, lost: Sequence[KnownHead], *, is_beside: bool) -> ScopeRefused:
    """Return the refusal of a ledger that lacks lines which are known of it.

    Parameters
    ----------
    store : LedgerStore
    lost : sequence of KnownHead
        The lines, the latest first.
    is_beside : bool
        Whether they are noted in the ledger's own folder.
    """
    head = lost[0]
    spent = read_charge(head.spent)
    known = f"line {head.line} of its history, known since {head.noted[:10]}, when its charges added up to {spent}"
    call = "Ledger(path).accept_restore()" if is_beside else "Ledger(path).accept_restore(data)"
    remedy = f"Restore the newer ledger; if that is lost, {call} charges the lost releases"
    return ScopeRefused(
        f"{store.name} lacks {known}. It was restored from a backup, or is another ledger. Nothing was read or spent."
        f" {remedy}",
        differs=["history"],
        pinned={"line": head.line, "hash": head.hash, "noted": head.noted, "spent": json.loads(head.spent)},
    )


def charge_loss(rows: LedgerTransaction, store: LedgerStore, place: Any, state: TableState) -> Charge:
    """Charge a restored ledger with the releases that it has lost, as far as they are known; return what was charged.

    The loss is what charges added up to at the ledger's last known line, beyond what they added up to at the last known
    line that it still has. What it charged since it was restored is not taken off: those were other draws.

    Raises
    ------
    BadInput
        Where nothing is lost.
    """
    begin(rows, store.name)
    lost = lost_heads(rows, state, place)
    if not lost:
        rule = f"finds nothing that {store.name} lacks: {state.path} knows no later line of its history"
        raise BadInput("accept_restore", rule, "name the data, or the file of its secret, with beside=")
    lost_charges = []
    for head in lost:
        kept = next((one for one in state.heads_before(head) if holds_head(rows, one)), None)
        spent = read_charge(head.spent)
        lost_charges.append(spent if kept is None else spent.beyond(read_charge(kept.spent)))
    charge = sum(lost_charges[1:], lost_charges[0])
    insist_on(rows, next(currency for currency in CURRENCIES if currency.cost is type(charge)), store.name)
    question = json.dumps({"restored": sorted([head.line, head.hash] for head in lost)})
    if find_settlement(rows, LOSS, hash_of(question)) is not None:
        return charge * 0  # by an earlier call, which was killed before this machine knew
    entry = LedgerEntry(cost=charge, answers=b"", details="{}")
    row = {"query": _QUERY, "question": question, "question_hash": hash_of(question), "fingerprint": LOSS}
    insert_settlement(rows, row, (entry,))
    return entry.cost


def _first(rows: LedgerTransaction) -> str:
    first = rows.find("SELECT hash FROM history WHERE id = 1")
    return str(first[0][0]) if first else ""


def read_charge(text: str) -> Charge:
    """Read what had been spent, as it was noted."""
    document = json.loads(text)
    for currency in CURRENCIES:
        if sorted(currency.cost.__slots__) == sorted(document):
            return read_cost(currency.cost, *(document[name] for name in currency.cost.__slots__))
    raise Damaged
