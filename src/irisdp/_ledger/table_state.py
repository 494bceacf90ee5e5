"""What this machine remembers of tables and their ledgers, in a file beside the secret of the data.

A dry run reads no record, and still has to know whether a file is what it was when Iris last answered about it. So each
release notes what the file system said of the files, and the version of the data that they held. It also notes which
ledger it charged, the last line of that ledger's history and what had been spent: so a ledger that was restored from a
backup is noticed (`known_heads`), and a release to another ledger (`bindings`). The file is a memory and no record: if
it is missing or damaged, Iris knows less.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .fingerprints import name_of_secret, secret_file

_NAME = ".tables.irisdp-state"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS version (id INTEGER PRIMARY KEY, place TEXT NOT NULL, stamp TEXT NOT NULL,"
    " fingerprint TEXT NOT NULL, key TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS head (id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, name TEXT NOT NULL,"
    " first TEXT NOT NULL, line INTEGER NOT NULL, hash TEXT NOT NULL, spent TEXT NOT NULL, noted TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS binding (place TEXT PRIMARY KEY, at TEXT NOT NULL, ledger TEXT NOT NULL, name TEXT NOT"
    " NULL, first TEXT NOT NULL, line INTEGER NOT NULL, hash TEXT NOT NULL, spent TEXT NOT NULL, noted TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS head_of_ledger ON head (ledger, first, line)",
)
_HEAD = "ledger, name, first, line, hash, spent, noted"
_VERSION = "place, stamp, fingerprint, key"
_PATIENCE = 5


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """The version of the data that a place held when Iris last answered about it.

    Attributes
    ----------
    fingerprint : str
        Of the data, as the ledger knows it.
    same : bool
        Whether the files are still what they were then.
    """

    fingerprint: str
    same: bool


@dataclass(frozen=True, slots=True)
class KnownHead:
    """The last line of a ledger's history, at the time of a release.

    Attributes
    ----------
    ledger : str
        Where the ledger was, the same for all spellings (`identity_of`).
    name : str
        What messages call it.
    first : str
        Hash of the first line, which tells one history of a place from another.
    line, hash
        Number and hash of the last line.
    spent : str
        What had been spent, as JSON.
    noted : str
        When, in UTC, as ISO 8601 text.
    """

    ledger: str
    name: str
    first: str
    line: int
    hash: str
    spent: str
    noted: str


@dataclass(frozen=True, slots=True)
class TableState:
    """The memory beside a secret.

    Parameters
    ----------
    path : Path
        Its file, which need not be there.
    """

    path: Path

    @classmethod
    def beside(cls, home: str | os.PathLike[str]) -> TableState:
        """Return the memory of the data whose secret is kept beside `home`."""
        return cls(secret_file(home).with_name(_NAME))

    def find_version(self, place: str, stamp: object, keys: list[bytes]) -> KnownVersion | None:
        """Return the version that a place held last; None if it is unknown, or was named with a secret that is gone."""
        asked = "SELECT stamp, fingerprint, key FROM version WHERE place = ? ORDER BY id DESC LIMIT 1"
        for noted, version, key in self._found(asked, (place,)):
            if key in map(name_of_secret, keys):
                return KnownVersion(version, stamp is not None and noted == _digest(stamp))
        return None

    def names_with(self, version: str, keys: list[bytes]) -> bool | None:
        """Tell whether a version of the data was named with one of some secrets; None if it is not known here."""
        found = self._found("SELECT key FROM version WHERE fingerprint = ? ORDER BY id DESC LIMIT 1", (version,))
        return found[0][0] in map(name_of_secret, keys) if found else None

    def knows(self, versions: set[str]) -> bool:
        """Tell whether all of these versions were noted here, for any place."""
        return versions <= {version for (version,) in self._found("SELECT DISTINCT fingerprint FROM version", ())}

    def note_version(self, place: str, stamp: object, version: str, key: bytes) -> None:
        """Remember the version of the data that a place holds; where that cannot be written, do without."""
        row = (place, _digest(stamp), version, name_of_secret(key))
        asked = f"SELECT {_VERSION} FROM version WHERE place = ? ORDER BY id DESC LIMIT 1"
        if self._found(asked, (place,)) != [row]:
            self._change(
                ("DELETE FROM version WHERE place = ? AND fingerprint = ?", (place, version)),
                (f"INSERT INTO version ({_VERSION}) VALUES (?, ?, ?, ?)", row),
            )

    def find_heads(self, ledger: str) -> list[KnownHead]:
        """Return the last line that is known of each history that a place has held, the longest one first."""
        asked = f"SELECT {_HEAD}, max(line) FROM head WHERE ledger = ? GROUP BY first ORDER BY line DESC"
        return [KnownHead(*row[:-1]) for row in self._found(asked, (ledger,))]

    def heads_before(self, head: KnownHead) -> list[KnownHead]:
        """Return all earlier lines that are known of the same ledger, the last one first."""
        asked = f"SELECT {_HEAD} FROM head WHERE ledger = ? AND first = ? AND line < ? ORDER BY line DESC"
        return [KnownHead(*row) for row in self._found(asked, (head.ledger, head.first, head.line))]

    def note_head(self, head: KnownHead) -> None:
        """Remember the last line of a ledger beside the earlier ones; where that cannot be written, do without.

        Two publishers may note theirs in any order.
        """
        asked = "SELECT 1 FROM head WHERE ledger = ? AND first = ? AND hash = ?"
        if not self._found(asked, (head.ledger, head.first, head.hash)):
            self._change((f"INSERT INTO head ({_HEAD}) VALUES (?, ?, ?, ?, ?, ?, ?)", _row(head)))

    def find_binding(self, place: str) -> tuple[str, KnownHead] | None:
        """Return the ledger that a place is bound to, as it was noted, and its last line at the last release."""
        for at, *head in self._found(f"SELECT at, {_HEAD} FROM binding WHERE place = ?", (place,)):
            return at, KnownHead(*head)
        return None

    def bind(self, place: str, at: str, head: KnownHead) -> None:
        """Bind a place to a ledger; where that cannot be written, do without. A repeat leaves the memory alone."""
        known = self.find_binding(place)
        if known is None or (known[0], replace(known[1], noted=head.noted)) != (at, head):
            self._change(
                (
                    f"INSERT OR REPLACE INTO binding (place, at, {_HEAD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (place, at, *_row(head)),
                )
            )

    def accept_loss(self, head: KnownHead) -> None:
        """Remember the last line of a restored ledger in place of all that it lost.

        Raises
        ------
        OSError, sqlite3.Error
            Where that cannot be written.
        """
        self._change(
            ("DELETE FROM head WHERE ledger = ?", (head.ledger,)),
            (f"INSERT INTO head ({_HEAD}) VALUES (?, ?, ?, ?, ?, ?, ?)", _row(head)),
            must=True,
        )

    def _change(self, *statements: tuple[str, tuple[Any, ...]], must: bool = False) -> None:
        """Change the memory in one transaction; unless it must be changed, do without where that cannot be written."""
        passed_over = () if must else (sqlite3.Error, OSError)
        with contextlib.suppress(*passed_over), self._connected("rwc") as connection:
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("BEGIN IMMEDIATE")
            for statement, values in statements:
                connection.execute(statement, values)
            connection.execute("COMMIT")

    def _found(self, statement: str, values: tuple[str | int, ...]) -> list[tuple[Any, ...]]:
        """Return what a query finds; nothing where there is no memory, or it cannot be read."""
        if self.path.is_file():
            with contextlib.suppress(sqlite3.Error, OSError), self._connected("ro") as connection:
                return connection.execute(statement, values).fetchall()
        return []

    @contextlib.contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        if mode == "rwc" and not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        place = f"{self.path.as_uri()}?mode={mode.rstrip('c')}"
        with contextlib.closing(
            sqlite3.connect(place, uri=True, timeout=_PATIENCE, isolation_level=None)
        ) as connection:
            yield connection


def _row(head: KnownHead) -> tuple[str | int, ...]:
    return (head.ledger, head.name, head.first, head.line, head.hash, head.spent, head.noted)


def _digest(stamp: object) -> str:
    return hashlib.sha256(json.dumps(stamp).encode()).hexdigest()
