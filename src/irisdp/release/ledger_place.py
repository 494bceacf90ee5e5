"""Which store holds a ledger: what its name says, a file or the address of a server."""

from __future__ import annotations

import os

from ..exact import file_path
from .ledger_address import address_of
from .ledger_file import LedgerFile, resolved
from .ledger_store import Store

__all__ = ["store_at"]


def store_at(place: str | os.PathLike[str]) -> Store:
    """Return the store of a ledger, which need not be there yet; nothing is opened.

    Raises
    ------
    BadInput
        For what is neither a usable path nor an address without a password.
    """
    address = address_of(place)
    if address is None:
        return LedgerFile(resolved(file_path(place, "ledger")))
    from .ledger_server import LedgerServer

    return LedgerServer(address)
