"""What PostgreSQL complains of, in our own words: its message might quote what it read, or how it was let in."""

from __future__ import annotations

from ..queries.servers import SAID, is_lost, state_of

__all__ = ["explain", "is_undone"]

_UNDONE = ("40001", "40P01")
"""Serialisation failure and deadlock: all of the transaction is undone, and it may be done again."""

_SAID = {
    **SAID,
    "42501": (
        "does not allow this role to do that",
        "limits, grants and moves are its owner's alone; to publish or read, have its owner let this role in:"
        " grant(ledger, role, may)",
    ),
    "57014": (
        "was told to stop, by an administrator or because its statement_timeout is short; nothing was spent",
        "ask again",
    ),
    "25006": ("is a copy, or open for reading only", "name the server that is written to"),
    "53": ("could not be written or read: the server is full", "make room and ask again: what was charged is kept"),
    "58": ("could not be written or read", "see to the server's disk and ask again: what was charged is kept"),
    "55P03": ("has been in use by others for too long", "ask again later"),
    "40": ("has been in use by others for too long", "ask again later"),
    "22": ("does not hold such text or numbers", "leave out what it cannot hold, such as NUL"),
}


def is_undone(error: Exception) -> bool:
    """Tell whether the server undid the whole transaction because of others."""
    return state_of(error) in _UNDONE


def explain(name: str, error: Exception) -> tuple[str, str]:
    """Return rule and remedy."""
    state = state_of(error) or {"DataError": "22"}.get(type(error).__name__, "")
    for start, (rule, remedy) in _SAID.items():
        if state.startswith(start):
            return f"{name} {rule} ({state})", remedy
    if is_lost(error):
        rule = "cannot be reached, or went away; nothing was spent"
        remedy = "check host and port, and whether the server runs"
        return f"{name} {rule}{f' ({state})' if state else ''}", remedy
    return f"{name} is damaged or not a ledger{f' ({state})' if state else ''}", "restore it, or name another"
