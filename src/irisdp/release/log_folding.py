"""The log of a ledger in a file, copied back into the file once something was written.

SQLite keeps what was written in a log beside the file (`-wal`) while anybody has the ledger open, and copies it back
when the last one leaves. A killed process never unregisters. Then the log stays, and a file that is moved without it
lacks the last answers. So who wrote copies the log back, before an answer is shown.

Up to SQLite 3.51.2 a copy that overlaps with a write of another connection can lose pages (the "WAL-reset bug"): a lost
charge. So it is made only while a second connection holds the right to write, and writes nothing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from . import ledger_store

__all__ = ["fold_log"]

Connected = Callable[[str], contextlib.AbstractContextManager[sqlite3.Connection]]
"""Connects to an address of SQLite's, with the settings of a ledger."""


def fold_log(path: Path, connected: Connected) -> None:
    """Copy the log of a ledger back, as far as that waits for nobody.

    Where it cannot be done the log holds all as before. Who writes meanwhile does it in our place. Who looks at an
    earlier moment keeps what came since in the log.
    """
    with ledger_store.turn, contextlib.suppress(sqlite3.Error, OSError):
        if not os.path.exists(f"{path}-wal"):  # nobody else has it open, as a rule: the log was copied back on leaving
            return
        place = f"{path.as_uri()}?mode=rw"
        with connected(place) as holder, connected(place) as folder:
            folder.execute("PRAGMA schema_version").fetchall()  # opens the log, and looks no longer
            holder.execute("PRAGMA busy_timeout = 0")
            holder.execute("BEGIN IMMEDIATE")
            folder.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
