"""That what is refused spent nothing: ledgers and answers in a folder, before and after."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_STEPS = 1_000_000
"""Steps of SQLite's machine after which a damaged ledger is called unreadable: it may be read for ever."""
_KEPT: dict[Path, dict[str, bytes]] = {}
_BESIDE_LEDGERS = ("-wal", "-shm", "-journal")


class Charged(AssertionError):
    """What was refused left a charge, or answers."""


def keep(folder: Path) -> None:
    """Remember a folder as it is, for all inputs to find it so."""
    _KEPT[folder] = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def lay(folder: Path) -> None:
    """Make a folder what it was, whatever the last input left there: each input can then be taken again alone."""
    files = _KEPT[folder]
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in files or path.is_symlink():
            path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


@dataclass(frozen=True)
class Held:
    """What a folder holds of what is spent.

    Attributes
    ----------
    charged : dict
        Of each ledger that charged anything, every line: its cost, its answers, what was asked.
    files : dict
        All other files, but those whose names begin with a dot: a secret may be made before something is refused.
    """

    charged: dict[str, object]
    files: dict[str, bytes]

    def check(self, after: Held, what: object) -> None:
        """Refuse a difference."""
        if self.charged != after.charged:
            raise Charged(f"spent: {what}")
        if self.files != after.files:
            names = sorted(name for name, _ in self.files.items() ^ after.files.items())
            raise Charged(f"left {names}: {what}")


def held(folder: Path) -> Held:
    """Read all ledgers and files of a folder, not of those in it."""
    charged: dict[str, object] = {}
    files: dict[str, bytes] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.endswith(_BESIDE_LEDGERS):
            continue
        content = path.read_bytes()
        if content[:16] == b"SQLite format 3\0" or path.suffix == ".ledger":
            if lines := _lines(path, content):
                charged[path.name] = lines
        elif not path.name.startswith("."):
            files[path.name] = content
    return Held(charged, files)


def _lines(path: Path, content: bytes) -> object:
    """Return what a ledger charged; of a damaged one all of its bytes, which nothing may be added to either."""
    try:
        with closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)) as connection:
            connection.set_progress_handler(lambda: 1, _STEPS)
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            return [
                (table, row)
                for table in ("settlement", "release")
                if table in tables
                for row in connection.execute(f"SELECT * FROM {table} ORDER BY id")
            ]
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return content


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
