"""A ledger in a file: one SQLite database, opened for one operation at a time; complaints in our own words."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .._files import create_once, drafts_of, is_there, open_regular
from ..accounting import CURRENCIES, Currency
from ..errors import BadInput, Unavailable
from . import store as ledger_store
from .store import VERSION, Damaged, LedgerTransaction, numbered, statements

# Copy the log of a ledger file back into the file after each write.
#
# While a connection is open, SQLite keeps changes in a log next to the file (`-wal`), and the last connection copies
# them back. A killed process never does. Then a file that is moved without its log lacks the last answers. So each
# writer copies the log back before an answer is shown.
#
# Up to SQLite 3.51.2 a copy that overlaps with a write of another connection can lose pages (the "WAL-reset bug"), and
# with them a charge. So a second connection holds the write lock during the copy and writes nothing.

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


T = TypeVar("T")

PATIENCE = 300
"""Seconds to wait for another process that is drawing; the lock of a dead one is lifted by the operating system."""

_APPLICATION = 0x49726973  # "Iris"
_MAGIC, _ID = b"SQLite format 3\0", slice(68, 72)
"""How a database of SQLite's begins, and where it says whose it is."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 4096
_READABLE = (1, 2, 3, VERSION)
_SCHEMA = f"""
    BEGIN;
    {"; ".join(statements())};
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {VERSION};
    COMMIT;
"""
SETTINGS = (
    # FULL, and as durable should the file ever be switched from the write-ahead log to another journal.
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    # The log is copied back by a connection that is alone, on leaving, or while nobody can write (see below): up
    # to SQLite 3.51.2 a copy that overlaps with a write can lose pages (the "WAL-reset bug"), and so a charge.
    "PRAGMA wal_autocheckpoint = 0",
)


class SQLiteRows:
    """The rows of a ledger in SQLite, by an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return self._connection.execute(statement, tuple(values)).fetchall()

    def change(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement that returns nothing."""
        self._connection.execute(statement, tuple(values))

    def insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Add a row, and return its id."""
        statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        return int(self._connection.execute(statement, tuple(row.values())).lastrowid or 0)

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the names of a table's columns, in their order."""
        return tuple(row[1] for row in self._connection.execute(f"PRAGMA table_info({table})"))

    def version(self) -> int:
        """Return the format that the ledger has."""
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        return int(version)

    def set_version(self, version: int) -> None:
        """Write down the format that the ledger has now."""
        self._connection.execute(f"PRAGMA user_version = {version}")

    def text_in(self, column: str, *path: str) -> str:
        """Return SQL for a member of a JSON object in a column of text; null where the object lacks it."""
        return f"json_extract({column}, '$.{'.'.join(path)}')"

    def is_intact(self) -> bool:
        """Tell whether the file is sound, and its indexes hold the rows of their tables."""
        return self._connection.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]

    def size(self) -> int:
        """Return how many bytes all that stands here takes."""
        (pages,), (bytes_each,) = (self.find(f"PRAGMA {name}")[0] for name in ("page_count", "page_size"))
        return int(pages) * int(bytes_each)

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy all that stands here into another database, page by page."""
        self._connection.backup(other)

    def recount(self, currency: Currency) -> None:
        """Give the tables of limit and charges, which are empty, the columns of a currency."""
        for table in ("budget", "release"):
            self._connection.execute(f"DROP TABLE {table}")
        for statement in numbered(currency):
            self._connection.execute(statement)


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A ledger in a file, which need not be there yet."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.name

    def exists(self) -> bool:
        """Tell whether there is such a file, or what is left of one: a link that leads nowhere, or its log."""
        return is_there(self.path) or is_there(self.path.with_name(f"{self.path.name}-wal"))

    @contextlib.contextmanager
    def reading(self) -> Iterator[LedgerTransaction]:
        """Look at one moment; where there is no file, at an empty ledger in memory."""
        with _connection(self.path, "BEGIN", create=False) as connection:
            yield SQLiteRows(connection)

    def write(self, work: Callable[[LedgerTransaction], T]) -> T:
        """Write, alone: returning commits, and closing without a commit rolls back."""
        committed = False
        try:
            with _connection(self.path, "BEGIN IMMEDIATE", create=True) as connection:
                done = work(SQLiteRows(connection))
                connection.execute("COMMIT")
                committed = True
            fold_log(self.path, _connected)
        except Exception:
            # What is committed is charged, and an error would say that nothing was. Closing and folding only tidy up:
            # what they leave undone the log keeps, and the next to write folds it.
            if not committed:
                raise
        return done


@contextlib.contextmanager
def nowhere() -> Iterator[LedgerTransaction]:
    """Look at an empty ledger that is kept nowhere."""
    with _connected(":memory:") as connection:
        connection.executescript(_SCHEMA)
        yield SQLiteRows(connection)


@contextlib.contextmanager
def _connection(path: Path, begin: str, *, create: bool) -> Iterator[sqlite3.Connection]:
    """Begin a transaction of one operation; where there is no file, on an empty ledger in memory."""
    with ledger_store.turn:
        try:
            exists = _exists(path, create=create)
            place = f"{path.as_uri()}?mode=rw" if exists else ":memory:"
            with _connected(place) as database:
                if not exists:
                    database.executescript(_SCHEMA)
                _check_kind(database, path)
                database.execute(begin)
                _check_schema(database, path)
                yield database
        except (sqlite3.Error, Damaged, zlib.error, UnicodeDecodeError) as error:
            raise _explain(path, error) from None


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
        kind = BadInput if isinstance(error, FileNotFoundError | ValueError) else Unavailable
        raise kind("ledger", rule, "name a file in a folder that can be written") from None
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


_BLANKS = re.compile(r"[ \t\n\f\r]+")
"""What SQLite takes for blanks; version 0.1 put each column on a line of its own."""


def _schema(connection: sqlite3.Connection) -> dict[tuple[str, str, str], str | None]:
    """Return the text of every table, index, trigger and view, by type, name and table; blanks as Iris writes them."""
    stored = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    return {(kind, name, table): sql and _without_blanks(str(sql)) for kind, name, table, sql in stored}


def _without_blanks(sql: str) -> str:
    return _BLANKS.sub(" ", sql).replace("( ", "(").replace(" )", ")")


@functools.cache
def _schemas(version: int) -> tuple[dict[tuple[str, str, str], str | None], ...]:
    """Return the schemas that Iris writes in a format, one for each currency."""
    made = []
    for currency in CURRENCIES:
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            for statement in statements(currency, version):
                connection.execute(statement)
            made.append(_schema(connection))
    return tuple(made)


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse any schema that Iris does not write: it may drop or change rows, or run code of the file's author.

    The text in `sqlite_schema` is all that SQLite knows of a table: its columns, types, conditions, collations,
    defaults, conflict clauses and options.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    present, known = _schema(connection), _schemas(version)
    if present not in known:
        nearest = min(known, key=lambda schema: len(schema.items() ^ present.items()))
        names = sorted(name for _, name, _ in dict(nearest.items() - present.items()))
        which = f": {', '.join(names)}" if names else ""
        rule = f"{path} has another schema than Iris writes{which}; its sums may leave charges out"
        raise BadInput("ledger", rule, "find out who changed it, or restore it")


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise BadInput("ledger", f"{path} is not a ledger", "name another file; nothing was changed")
    if version not in _READABLE:
        raise BadInput(
            "ledger",
            f"{path} has format {version}, and {VERSION} is the last known here",
            "use the irisdp that wrote it",
        )


def _explain(path: Path, error: Exception) -> BadInput:
    """Say in our own words what SQLite complains of; its message might quote what it read."""
    kind: type[BadInput] = BadInput if path.is_dir() else Unavailable
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
    match name.split("_")[1]:
        case "FULL" | "IOERR":
            rule, remedy = "could not be written or read", "make room and ask again: what was charged is kept"
        case "CANTOPEN" | "READONLY" | "PERM" | "AUTH":
            rule, remedy = "cannot be opened and written as a file", "check the permissions of the file and its folder"
        case "BUSY" | "LOCKED" | "PROTOCOL":
            rule, remedy = "has been in use by others for too long", "ask again later"
        case _:
            kind = BadInput
            rule, remedy = "is damaged or not a ledger", "restore it, or name another file"
    return kind("ledger", f"{path} {rule} ({name})", remedy)


def is_another_file(path: Path) -> bool:
    """Tell whether something is certainly no ledger, and never was: a folder, text, or another program's database.

    What is empty, cut off or all zeros may be what is left of a ledger.

    Raises
    ------
    OSError
        For what cannot be read, and what is no file.
    """
    if path.is_dir():
        return True
    with open_regular(path) as file:
        start = file.read(_LOOKED_AT)
    if start.startswith(_MAGIC):
        return len(start) >= _ID.stop and int.from_bytes(start[_ID], "big") != _APPLICATION
    return start.startswith(_UTF_16) or (bool(start) and b"\0" not in start)


def resolved(path: Path) -> Path:
    """Follow links, so that two names of a ledger are one ledger; what is no path at all is found out on opening."""
    try:
        path = path.expanduser()
        # A link that leads nowhere is refused on opening: where it leads may be a disk that is not there today.
        return path.absolute() if path.is_symlink() and not path.exists() else path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
