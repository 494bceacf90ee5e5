"""The ledger's file: one SQLite database, opened for one operation at a time, with every complaint in our own words."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..accounting import CURRENCIES, EPSILON_DELTA, Currency
from ..errors import BadInput
from .files import create_once, drafts_of

__all__ = ["connection", "count_in", "currency_of", "is_current", "resolved", "upgrade"]

PATIENCE = 300
"""Seconds to wait for another process that is drawing; the lock of a dead one is lifted by the operating system."""

_APPLICATION = 0x49726973  # "Iris"
_VERSION, _OTHER_CURRENCY = 2, 3
_READABLE = (1, _VERSION, _OTHER_CURRENCY)
# Format 3 is format 2 with other columns for limit and charges: μ² or ρ. Who knows formats up to 2 must not add to it.
# What format 2 has beyond format 1: what the ledger promises, and the files that answers were written to.
_ADDED = (
    "CREATE TABLE promise (id INTEGER PRIMARY KEY CHECK (id = 1), facts TEXT NOT NULL)",
    "CREATE TABLE output (release INTEGER NOT NULL REFERENCES release, path TEXT NOT NULL, UNIQUE (release, path))",
)


def _tables(currency: Currency) -> tuple[str, ...]:
    """Return the statements that make the tables with numbers of a currency, which its costs name the columns of."""
    columns = currency.cost.__slots__
    numbers = ", ".join(f"{column} TEXT NOT NULL" for column in columns)
    return (
        f"CREATE TABLE budget (id INTEGER PRIMARY KEY CHECK (id = 1), {numbers})",
        "CREATE TABLE release (id INTEGER PRIMARY KEY, settlement INTEGER NOT NULL REFERENCES settlement,"
        f" audience TEXT, {numbers}, details TEXT NOT NULL, answers BLOB NOT NULL)",
        "CREATE INDEX release_settlement ON release (settlement)",
        f"CREATE INDEX release_cost ON release ({', '.join(columns)})",
    )


_SCHEMA = f"""
    BEGIN;
    CREATE TABLE settlement (
        id INTEGER PRIMARY KEY,
        settled TEXT NOT NULL,
        query TEXT NOT NULL,
        question TEXT NOT NULL,
        question_hash TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        UNIQUE (fingerprint, question_hash)
    );
    {"; ".join((*_tables(EPSILON_DELTA), *_ADDED))};
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
    COMMIT;
"""
SETTINGS = (
    # FULL, and as durable should the file ever be switched from the write-ahead log to another journal.
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    # The log is copied back only by a connection that is alone, on leaving: up to SQLite 3.51.2 a copy that overlaps
    # with a write of another connection can lose pages (the "WAL-reset bug"), and that would be a lost charge.
    "PRAGMA wal_autocheckpoint = 0",
)

# A fork in the middle of an operation would give the child SQLite's idea of locks that only the parent holds. So every
# operation of this process takes its turn here, and a fork waits for its own. SQLite would queue threads anyway.
turn = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=turn.acquire, after_in_parent=turn.release, after_in_child=turn.release)


@contextlib.contextmanager
def connection(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect for one operation; where there is no file, to an empty ledger in memory."""
    with turn:
        try:
            exists = _exists(path, create=create)
            place = f"{path.as_uri()}?mode=rw" if exists else ":memory:"
            with _connected(place) as database:
                if not exists:
                    database.executescript(_SCHEMA)
                _check_kind(database, path)
                yield database
        except (sqlite3.Error, zlib.error, UnicodeDecodeError) as error:
            raise BadInput("ledger", *_explain(path, error)) from None


def is_current(connection: sqlite3.Connection) -> bool:
    """Tell whether the file has a format of today; format 1, of version 0.1, is read as it is."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return bool(version >= _VERSION)


def currency_of(connection: sqlite3.Connection) -> Currency:
    """Return what the ledger counts in, which the columns of its budget say."""
    columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(budget)"))[1:]
    for currency in CURRENCIES:
        if currency.cost.__slots__ == columns:
            return currency
    raise sqlite3.DatabaseError


def count_in(connection: sqlite3.Connection, currency: Currency) -> bool:
    """Let an empty ledger count in a currency, inside the caller's transaction; tell whether it now does.

    One that has a limit or a release keeps the currency it has.
    """
    if currency_of(connection) is currency:
        return True
    if any(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in ("budget", "settlement")):
        return False
    if not is_current(connection):
        upgrade(connection)
    for table in ("budget", "release"):
        connection.execute(f"DROP TABLE {table}")
    for statement in _tables(currency):
        connection.execute(statement)
    version = _VERSION if currency is EPSILON_DELTA else _OTHER_CURRENCY
    connection.execute(f"PRAGMA user_version = {version}")
    return True


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring a ledger of format 1 to today's, inside the caller's transaction: a kill leaves the one or the other."""
    for statement in _ADDED:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _exists(path: Path, *, create: bool) -> bool:
    # The log is looked at first: a ledger that another process creates meanwhile is there before its log.
    orphaned = os.path.exists(f"{path}-wal")
    try:
        with contextlib.suppress(FileNotFoundError):
            _check_names(path)
            return True
        if create and not orphaned:
            create_once(path, _write_empty)
        elif not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file name"
        rule = f"{path} cannot be opened or created ({reason})"
        raise BadInput("ledger", rule, "name a file in a folder that can be written") from None
    if orphaned:
        raise BadInput("ledger", f"{path} is gone but its log is not", "restore it, or remove the log")
    return create


def _check_names(path: Path) -> None:
    """Refuse a file that has several names: each would have a log of its own, and so a budget of its own."""
    if os.lstat(path).st_nlink > 1:
        # Whoever creates a ledger right now, or was killed at it, leaves the passing name that nobody opens. They are
        # counted first: a name that goes meanwhile makes the second figure smaller, never larger.
        passing = sum(_same_file(draft, path) for draft in path.parent.glob(drafts_of(path)))
        if os.lstat(path).st_nlink > 1 + passing and path.is_file():
            rule = f"{path} has another name (a hard link), under which it would count apart"
            raise BadInput("ledger", rule, "keep one name and remove the others; a symbolic link may stand in for them")


def _same_file(first: Path, second: Path) -> bool:
    try:
        return os.path.samestat(os.lstat(first), os.lstat(second))
    except OSError:
        return False


@contextlib.contextmanager
def _connected(place: str) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(place, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
        for setting in SETTINGS:
            connection.execute(setting)
        yield connection


def _write_empty(file: Path) -> None:
    with _connected(file.as_uri()) as connection:
        # In this order nothing is left to the copy on closing, which would fail silently.
        connection.executescript(_SCHEMA)
        connection.execute("PRAGMA journal_mode = WAL")


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise BadInput("ledger", f"{path} is not a ledger", "name another file; nothing was changed")
    if version not in _READABLE:
        raise BadInput(
            "ledger",
            f"{path} has format {version}, and {_OTHER_CURRENCY} is the last known here",
            "use the irisdp that wrote it",
        )


def _explain(path: Path, error: Exception) -> tuple[str, str]:
    """Say in our own words what SQLite complains of; its message might quote what it read."""
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
    match name.split("_")[1]:
        case "FULL" | "IOERR":
            rule, remedy = "could not be written or read", "make room and ask again: what was charged is kept"
        case "CANTOPEN" | "READONLY" | "PERM" | "AUTH":
            rule, remedy = "cannot be opened and written as a file", "check the permissions of the file and its folder"
        case "BUSY" | "LOCKED" | "PROTOCOL":
            rule, remedy = "has been in use by others for too long", "ask again later"
        case _:
            rule, remedy = "is damaged or not a ledger", "restore it, or name another file"
    return f"{path} {rule} ({name})", remedy


def resolved(path: Path) -> Path:
    """Follow links, so that two names of a ledger are one ledger; what is no path at all is found out on opening."""
    try:
        path = path.expanduser()
        # A link that leads nowhere is refused on opening: where it leads may be a disk that is not there today.
        return path.absolute() if path.is_symlink() and not path.exists() else path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
