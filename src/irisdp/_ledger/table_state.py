"""What this machine remembers of tables, in a file beside their secret: the version that each place held last.

A dry run reads no record, and still has to know whether a file is what it was when Iris last answered about it. So each
release notes what the file system said of the files, and the version of the data that they held. The file is a memory
and no record: if it is missing or damaged, Iris knows less before it reads the data, and charges the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .fingerprints import fingerprint, secret_file

_NAME = ".tables.irisdp-state"
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS version (
        id INTEGER PRIMARY KEY, place TEXT NOT NULL, stamp TEXT NOT NULL, young INTEGER NOT NULL,
        fingerprint TEXT NOT NULL, key TEXT NOT NULL
    ) STRICT
"""
_YOUNG = 2_000_000_000
"""Nanoseconds: a file that was written so shortly before may be written again without another time."""
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
    sure : bool
        Whether they had been at rest for a while: then no change can have gone unnoticed.
    """

    fingerprint: str
    same: bool
    sure: bool


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
        asked = "SELECT stamp, young, fingerprint, key FROM version WHERE place = ? ORDER BY id DESC LIMIT 1"
        for noted, young, version, key in self._found(asked, (place,)):
            if key in map(_name_of_key, keys):
                return KnownVersion(version, stamp is not None and noted == _digest(stamp), not young)
        return None

    def has_lost_secret(self, place: str, keys: list[bytes]) -> bool:
        """Tell whether a place was known by a secret that is not there any more."""
        asked = "SELECT key FROM version WHERE place = ? ORDER BY id DESC LIMIT 1"
        return any(key not in map(_name_of_key, keys) for (key,) in self._found(asked, (place,)))

    def knows(self, versions: set[str]) -> bool:
        """Tell whether all of these versions were noted here, for any place."""
        return versions <= {version for (version,) in self._found("SELECT DISTINCT fingerprint FROM version", ())}

    def note_version(self, place: str, stamp: object, version: str, key: bytes) -> None:
        """Remember the version of the data that a place holds; where that cannot be written, do without."""
        row = (place, _digest(stamp), int(_is_young(stamp)), version, _name_of_key(key))
        columns = "place, stamp, young, fingerprint, key"
        with contextlib.suppress(sqlite3.Error, OSError), self._connected("rwc") as connection:
            connection.execute(_SCHEMA)
            asked = f"SELECT {columns} FROM version WHERE place = ? ORDER BY id DESC LIMIT 1"
            if connection.execute(asked, (place,)).fetchall() != [row]:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("DELETE FROM version WHERE place = ? AND fingerprint = ?", (place, version))
                connection.execute(f"INSERT INTO version ({columns}) VALUES (?, ?, ?, ?, ?)", row)
                connection.execute("COMMIT")

    def _found(self, statement: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
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


def _name_of_key(key: bytes) -> str:
    """Name a secret without saying anything about it."""
    return fingerprint(b"irisdp state", key)


def _digest(stamp: object) -> str:
    return hashlib.sha256(json.dumps(stamp).encode()).hexdigest()


def _is_young(stamp: object) -> bool:
    """Tell whether a file was changed so shortly before that another change might leave it the same time."""
    times = [number for _, facts in stamp for number in facts[3:]] if isinstance(stamp, tuple) else []
    return not times or time.time_ns() - max(times) < _YOUNG
