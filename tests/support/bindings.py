"""Tables without the ledger that their first release bound them to, for tests that ask one table of many ledgers."""

import contextlib
import sqlite3
from pathlib import Path


def unbind(folder="."):
    """Remove the notes of a folder that bind tables to ledgers; what else is known of tables stays."""
    state = Path(folder, ".tables.irisdp-state")
    if state.is_file():
        with contextlib.closing(sqlite3.connect(state)) as connection, connection:
            connection.execute("DELETE FROM binding")
