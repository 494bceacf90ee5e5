"""A ledger in PostgreSQL: one schema, written by one client at a time, with every complaint in our own words.

A server must guarantee what a file guarantees: there is one writer at a time, and a returned answer has been synced to
disk. A writer first locks one empty table, before its transaction reads anything. So it waits for the previous writer
and then sees all its changes. Every transaction is also serialisable, whatever else uses the database. Where the
connection is lost while COMMIT is on its way, nobody knows whether it was carried out. Then the work is repeated. The
lock is only granted after the lost transaction has ended, and a question that it charged is then found in the ledger.
So it is neither charged twice nor shown without a charge (docs/decisions/0040-a-ledger-for-a-team.md).
"""

from __future__ import annotations

import contextlib
import random
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..accounting import EPSILON_DELTA, Currency
from ..errors import BadInput, NotShown
from ..queries.servers import connected, driver, is_lost, listening
from . import ledger_store
from .ledger_address import Address
from .ledger_file import nowhere
from .ledger_guards import is_plain, kept
from .ledger_server_words import explain, is_undone
from .ledger_store import Damaged, Rows
from .ledger_tables import VERSION, statements

if TYPE_CHECKING:
    import psycopg

__all__ = ["LedgerServer", "ServerRows"]

T = TypeVar("T")

PATIENCE = 300
"""Seconds to wait for another client that is drawing."""
RETURN = 60
"""Seconds to wait for a server that went away in the middle of a transaction."""
_ATTEMPTS = 20
"""How often a transaction is done that others, who keep no turn, make the server undo."""
_LONGEST_PAUSE = 2

_APPLICATION = "irisdp ledger"
_READABLE = (VERSION,)
_UNDOABLE = (Damaged, zlib.error, UnicodeError)


def _settings() -> tuple[str, ...]:
    """Return what holds for one transaction, whatever the server, the role or the database is set to."""
    return (
        # Else a name of the catalogue may mean what somebody put on the path, which then runs with our rights.
        "SET LOCAL search_path = pg_catalog, pg_temp",
        "SET LOCAL synchronous_commit = on",
        f"SET LOCAL lock_timeout = '{PATIENCE}s'",
        "SET LOCAL statement_timeout = 0",
        # A draw may take its time. A client that is gone is noticed by its connection: at once, or after a minute.
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        *listening(),
        # Rows that a policy hides would be charges that are not counted: an error is better.
        "SET LOCAL row_security = off",
    )


def _begin(connection: psycopg.Connection[Any], level: str) -> None:
    connection.execute("; ".join((f"BEGIN ISOLATION LEVEL {level}", *_settings())))


def _schema() -> tuple[str, ...]:
    """Return the statements that make an empty ledger, in PostgreSQL's words."""
    made = [text.replace("BLOB", "BYTEA") for text in statements() if not text.startswith("CREATE INDEX release_cost")]
    # No index holds a cost or a path, which may be longer than an entry of one.
    output = (
        "CREATE TABLE output (rowid BIGINT GENERATED ALWAYS AS IDENTITY, release INTEGER NOT NULL REFERENCES release,"
    )
    made = [f"{output} path TEXT NOT NULL)" if "TABLE output" in text else text for text in made]
    return (
        *made,
        "CREATE INDEX output_release ON output (release)",
        "CREATE TABLE turn (held INTEGER)",
        "CREATE TABLE ledger_format (application TEXT NOT NULL, version INTEGER NOT NULL)",
        f"INSERT INTO ledger_format VALUES ('{_APPLICATION}', {VERSION})",
    )


class ServerRows:
    """The rows of a ledger in PostgreSQL, by a connection that is inside a transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def find(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        found: list[tuple[Any, ...]] = self._execute(statement, values).fetchall()
        return found

    def change(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement that returns nothing."""
        self._execute(statement, values)

    def insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Add a row, and return its id; nobody else adds one meanwhile, so no number is left out."""
        statement = (
            f"INSERT INTO {table} (id, {', '.join(row)})"
            f" SELECT COALESCE(MAX(id), 0) + 1{', ?' * len(row)} FROM {table} RETURNING id"
        )
        ((number,),) = self._execute(statement, tuple(row.values())).fetchall()
        return int(number)

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the names of a table's columns, in their order."""
        statement = (
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped"
            " ORDER BY attnum"
        )
        return tuple(name for (name,) in self.find(statement, (table,)))

    def version(self) -> int:
        """Return the format that the ledger has."""
        found = self.find("SELECT application, version FROM ledger_format")
        if len(found) != 1 or found[0][0] != _APPLICATION:
            raise Damaged
        return int(found[0][1])

    def set_version(self, version: int) -> None:
        """Write down the format that the ledger has now."""
        self.change("UPDATE ledger_format SET version = ?", (version,))

    def is_intact(self) -> bool:
        """Tell that indexes are what they should be: a server's are its own, on whole columns of plain tables."""
        return True

    def recount(self, currency: Currency) -> None:
        """Give the tables of limit and charges, which are empty, the columns of a currency; who may use them, may."""
        for table in ("budget", "release"):
            for column in set(self.columns(table)) & set(EPSILON_DELTA.cost.__slots__):
                self.change(f"ALTER TABLE {table} DROP COLUMN {column}")
            for column in currency.cost.__slots__:
                self.change(f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL")

    def _execute(self, statement: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
        # Every statement is written in this room; what others say comes by `values` alone.
        return self._connection.execute(statement.replace("?", "%s"), tuple(values) or None)


@dataclass(frozen=True, slots=True)
class LedgerServer:
    """A ledger in a schema of a database, which need not be there yet."""

    address: Address

    @property
    def name(self) -> str:
        """The address, which holds nothing secret."""
        return self.address.text

    def exists(self) -> bool:
        """Tell whether there is such a ledger."""
        with self._said(), self._connected() as connection:
            return self._is_there(connection)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Rows]:
        """Look at one moment; where there is no ledger, at an empty one in memory."""
        with self._said(), self._connected() as connection:
            if self._is_there(connection):
                _begin(connection, "REPEATABLE READ READ ONLY")
                yield self._checked(connection)
            else:
                with nowhere() as rows:
                    yield rows

    def write(self, work: Callable[[Rows], T]) -> T:
        """Write, alone; done again where the server undid it or went away, until it is known what became of it."""
        undone, deadline, unsure = 0, 0.0, False
        with ledger_store.turn, self._said():
            while True:
                attempt = _Attempt()
                try:
                    return self._once(work, attempt)
                except driver().Error as error:
                    lost = is_lost(error) or attempt.lost
                    undone += is_undone(error)
                    unsure |= lost and attempt.committing
                    now = time.monotonic()
                    if lost and (attempt.begun or deadline):
                        deadline = deadline or now + RETURN
                    if (lost and now < deadline) or (is_undone(error) and undone < _ATTEMPTS):
                        time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.05 * 2 ** min(undone + attempt.begun, 5))))
                        continue
                    if unsure:
                        raise NotShown(
                            f"ledger: the connection to {self.name} was lost during a charge, so the charge may or may"
                            " not be recorded. Ask the same question again when the server is back; if the charge was"
                            " recorded, the answer is free"
                        ) from None
                    raise

    def _once(self, work: Callable[[Rows], T], attempt: _Attempt) -> T:
        with self._connected() as connection:
            try:
                if not self._is_there(connection, writing=True):
                    self._create(connection)
                _begin(connection, "SERIALIZABLE READ WRITE")
                attempt.begun = True
                # Before anything is looked at: what is seen then is what the writer before left.
                connection.execute(f'LOCK TABLE "{self.address.schema}".turn IN EXCLUSIVE MODE')
                done = work(self._checked(connection))
                attempt.committing = True
                # A transaction that failed before answers COMMIT by ROLLBACK, and calls that no error.
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    attempt.committing = False
                    raise Damaged
            finally:
                attempt.lost = connection.closed
            return done

    def _checked(self, connection: psycopg.Connection[Any]) -> ServerRows:
        schema = self.address.schema
        connection.execute(kept(schema))
        if not is_plain(connection.execute, schema):
            rule = f"{self.name} holds more than plain tables, or has another schema than Iris writes"
            raise BadInput("ledger", rule, "find out who changed it, or restore it")
        connection.execute(f'SET LOCAL search_path = "{schema}", pg_temp')
        rows = ServerRows(connection)
        version = rows.version()
        if version not in _READABLE:
            rule = f"{self.name} has format {version}, and {VERSION} is the last known here"
            raise BadInput("ledger", rule, "use the irisdp that wrote it")
        return rows

    def _is_there(self, connection: psycopg.Connection[Any], *, writing: bool = False) -> bool:
        """Tell whether the schema holds a ledger, in a transaction of its own."""
        _begin(connection, "READ COMMITTED READ ONLY")
        there = self._found(connection, writing=writing)
        connection.execute("COMMIT")
        return there

    def _found(self, connection: psycopg.Connection[Any], *, writing: bool = False) -> bool:
        """Tell whether the schema holds a ledger, and refuse a server that might lose what it says is written."""
        found = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL, to_regnamespace(%s) IS NOT NULL, current_setting('server_encoding'),"
            " current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on', pg_is_in_recovery(),"
            " NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'"
            " AND relpersistence <> 'p')",
            (f"{self.address.schema}.ledger_format", self.address.schema, self.address.schema),
        ).fetchone()
        there, taken, encoding, synced, standby, logged = found or (False,) * 6
        if taken and not there:
            rule = f"{self.name} is not a ledger: the schema is there and holds none"
            raise BadInput("ledger", rule, "name another schema, which is made then, or drop this one if it is empty")
        if encoding != "UTF8":
            raise BadInput("ledger", f"{self.name} is a database that does not hold UTF-8", "name another database")
        if writing and standby:
            raise BadInput("ledger", f"{self.name} is a copy that cannot be written", "name the server it is a copy of")
        if writing and not (synced and logged):
            raise BadInput(
                "ledger",
                f"{self.name} may lose charges with a power cut: fsync or full_page_writes is off, or a table unlogged",
                "switch them on, or name another server",
            )
        return bool(there)

    def _create(self, connection: psycopg.Connection[Any]) -> None:
        """Make an empty ledger, whoever else does the same; others see none of it or all."""
        schema = self.address.schema
        _begin(connection, "READ COMMITTED READ WRITE")
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{_APPLICATION} {schema}",))
        if not self._found(connection):
            try:
                connection.execute(f'CREATE SCHEMA "{schema}"')
            except driver().errors.InsufficientPrivilege:
                rule = f"{self.name} is not there, and this role may make no schema in that database (42501)"
                remedy = "have the database's owner make the ledger, or let the role: GRANT CREATE ON DATABASE"
                raise BadInput("ledger", rule, remedy) from None
            connection.execute(f'SET LOCAL search_path = "{schema}", pg_temp')
            for statement in _schema():
                connection.execute(statement)
        connection.execute("COMMIT")

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        """Say what goes wrong in our own words: the server's might quote what it read."""
        errors = (driver().Error, *_UNDOABLE)
        with ledger_store.turn:
            try:
                yield
            except errors as error:
                raise BadInput("ledger", *explain(self.name, error)) from None

    @contextlib.contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        connection = connected(self.address.server)
        try:
            yield connection
        finally:
            with contextlib.suppress(driver().Error, OSError):
                connection.close()


class _Attempt:
    """How far one attempt at a transaction came."""

    def __init__(self) -> None:
        self.begun = self.committing = self.lost = False
