"""Tables on a PostgreSQL server: `postgresql://USER@HOST/DATABASE#SCHEMA.TABLE`, read by psycopg in one snapshot.

From the first access to its records on, a table is read in one transaction, which sees one moment. Its digest, groups
and counts are of the same records, whatever is written meanwhile. Records are read by COPY, as CSV that the server
writes by fixed rules and Arrow splits, a few megabytes at a time. The SQL follows from the columns' types alone.
Nothing that the server says is passed on, for it may quote a record: only its five-letter code is.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import BadInput
from .columns import Column
from .engine import Embedded, streaming_connection
from .multisets import multiset_digest
from .server_tables import ServerTable, TableAddress, describe_table, read_table_address
from .servers import SAID, connected, driver, is_lost, listening, state_of

if TYPE_CHECKING:
    import duckdb
    import psycopg
    import pyarrow as pa

__all__ = ["ServerSource", "Snapshot", "open_server_table"]

T = TypeVar("T")

_PIECE = 4 << 20
"""Bytes of CSV that are split at once; one more record, of whatever length, is held beside them."""

_LONGEST = 99
"""Text beyond this many bytes is hashed for itself, so that a record of any length takes little memory."""

_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'postgres'",
    "SET LOCAL extra_float_digits = 1",
    # Records that a policy hides would make another table of it: an error is better.
    "SET LOCAL row_security = off",
)
"""What decides how a value is written, whatever the server, the database or the role is set to."""

_WORDS = {
    **SAID,
    "42501": ("does not let this role read the table", "ask its owner for SELECT on it and USAGE of its schema"),
    "57014": ("stopped reading after the time that it allows", "ask its administrator for more (statement_timeout)"),
    "55P03": ("has the table in use by others for too long", "ask again later"),
    "40": ("has the table in use by others for too long", "ask again later"),
    "42P01": ("does not have the table any more", "name a table that is there"),
}


class Snapshot:
    """One moment of a table, kept from the first look at its records until it is closed: a transaction that only reads.

    Attributes
    ----------
    turn : lock
        Held while reading: a connection has one answer on its way at a time.
    digest : bytes or None
        Of the records, once it was taken: within the snapshot it cannot change.
    """

    __slots__ = ("_address", "_broken", "_connection", "_fault", "_process", "_table", "_unlocked", "digest", "turn")

    def __init__(self, address: TableAddress, table: ServerTable) -> None:
        self._address, self._table = address, table
        self._connection: psycopg.Connection[Any] | None = None
        self._process, self._broken = 0, False
        self._fault: tuple[str, str] | None = None
        self._unlocked: Any = None
        self.digest: bytes | None = None
        self.turn = threading.RLock()

    def copy(self, statement: str) -> Iterator[bytes]:
        """Return what COPY writes of a query, some records at a time."""
        return self._copied(self._begun(), f"COPY ({statement}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)")

    def rest(self) -> None:
        """Close the connection; later reads see another moment."""
        self._end()
        self._broken, self.digest = False, None

    def fail(self, error: BaseException) -> None:
        """Let go of the server before all was read; nothing may be put together with what was read before."""
        self._fault = self._fault or explained(error)
        self._broken = True
        self._end()

    def saying(self, action: Callable[[], T]) -> T:
        """Do something; where the server failed, say it in our own words, once its own are gone."""
        self._fault = None
        try:
            done = action()
            if self._connection is not None and self._look(self._connection) != self._unlocked:
                raise BadInput("data", "was altered while it was read", "ask again; nothing was spent")
            return done
        except BadInput:
            raise
        except Exception as error:
            self.fail(error)
            if self._fault is None:
                raise
        raise BadInput("data", *self._fault)

    def __del__(self) -> None:
        """Let go of the server with whoever read."""
        self._end()

    def _copied(self, connection: psycopg.Connection[Any], statement: str) -> Iterator[bytes]:
        try:
            with connection.cursor() as cursor, cursor.copy(statement) as found:
                kept, size = [], 0
                for record in found:
                    kept.append(bytes(record))
                    size += len(record)
                    if size >= _PIECE:
                        yield b"".join(kept)
                        kept, size = [], 0
                if kept:
                    yield b"".join(kept)
        except BaseException as error:  # also of whoever stops in the middle: an answer on its way belongs to nobody
            self.fail(error)
            raise

    def _begun(self) -> psycopg.Connection[Any]:
        """Return the connection, inside the transaction."""
        if self._broken or (self._connection is not None and self._process != os.getpid()):
            raise BadInput("data", "was not read to its end before", "open it again")
        if self._connection is not None:
            return self._connection
        self._connection, self._process = connected(self._address.server), os.getpid()
        begin(self._connection)
        # Before anything is seen: from here on nobody empties the table or makes it anew, which a snapshot would see.
        self._connection.execute(f"LOCK TABLE {self._table.sql} IN ACCESS SHARE MODE")
        if describe_table(self._connection, self._address) != self._table:
            self._end()
            raise BadInput("data", "was altered since it was looked at", "ask again; nothing was spent")
        self._unlocked = self._look(self._connection)
        return self._connection

    def _look(self, connection: psycopg.Connection[Any]) -> Any:
        return connection.execute(self._table.unlocked).fetchone()

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            with contextlib.suppress(Exception):
                connection.close()


@dataclass(frozen=True, slots=True)
class ServerSource(Embedded):
    """A table on a PostgreSQL server."""

    table: ServerTable
    snapshot: Snapshot = field(repr=False, compare=False)

    @property
    def ordered(self) -> bool:
        """No: a table is a set of records."""
        return False

    @property
    def name(self) -> str:
        """What the table is called: by database, schema and table."""
        return self.table.name

    def rest(self) -> None:
        """Let go of the server."""
        with self.snapshot.turn:
            self.snapshot.rest()

    def digest(self) -> bytes:
        """Return a digest of the multiset of records, as the snapshot has them, and of the columns and their kinds.

        Each record is hashed by the server (SHA-256), so that 32 bytes of it travel, and no more.
        """
        with self.snapshot.turn:
            if self.snapshot.digest is None:
                self.snapshot.digest = self.snapshot.saying(self._digest)
            return self.snapshot.digest

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data` (at least the columns named) and those declared, by name."""
        with self.snapshot.turn:
            return self.snapshot.saying(lambda: Embedded.run(self, statement, names, declared))

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        import pyarrow as pa

        columns = {column.name: column for column in self.table.columns}
        schema = pa.schema([columns[name].field for name in names])
        listed = ", ".join(f"{columns[name].sql} AS c{place}" for place, name in enumerate(names))
        pieces = self.snapshot.copy(f"SELECT {listed} FROM {self.table.sql}")
        return streaming_connection(schema, (batch for piece in pieces for batch in _split(piece, schema)))

    def _digest(self) -> bytes:
        ((count,),) = (piece.split() for piece in self.snapshot.copy(f"SELECT count(*) FROM {self.table.sql}"))
        columns = self.table.columns
        # OFFSET 0: each value is worked out once, and then written and measured.
        plain = ", ".join(f"({column.sql})::text AS c{place}" for place, column in enumerate(columns))
        parts = ", ".join(_injective(f"c{place}") for place in range(len(columns)))
        record = f"array_to_string(ARRAY[{parts}], '')"
        hashed = (
            f"SELECT encode(sha256(convert_to({record}, 'UTF8')), 'hex')"
            f" FROM (SELECT {plain} FROM {self.table.sql} OFFSET 0) AS plain"
        )
        header = [(column.name, str(column.reading.kind), column.reading.arrow) for column in columns]
        number = int(count.strip(b'"'))
        return multiset_digest(("postgresql", header, number), number, lambda: map(_hashes, self.snapshot.copy(hashed)))


def open_server_table(text: str) -> tuple[list[Column], ServerSource]:
    """Open the table that an address names; no record is looked at.

    Raises
    ------
    BadInput
        For an address that holds a password or cannot be read, a server that cannot be reached, and what is no table
        there that can be read alike for everybody.
    """
    address = read_table_address(text)
    fault = None
    try:
        with contextlib.closing(connected(address.server)) as connection:
            begin(connection)
            table = describe_table(connection, address)
    except driver().Error as error:
        fault = explained(error)
    if fault is not None:
        raise BadInput("data", *fault)
    columns = [Column(column.name, column.reading.kind) for column in table.columns]
    return columns, ServerSource(table, Snapshot(address, table))


def begin(connection: psycopg.Connection[Any]) -> None:
    connection.execute("; ".join(("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", *_SETTINGS, *listening())))


def explained(error: BaseException) -> tuple[str, str] | None:
    """Return rule and remedy for an error of the server's or of the connection's; None for others."""
    if not isinstance(error, driver().Error):
        return None
    state = state_of(error)
    code = f" ({state})" if state else ""
    for start, (rule, remedy) in _WORDS.items():
        if state.startswith(start):
            return f"is on a server that {rule}{code}", remedy
    if is_lost(error):
        rule = f"is on a server that cannot be reached, or went away{code}"
        return rule, "check host and port, and whether the server runs"
    return f"is on a server that could not read it{code}", "check that the table is intact, and ask again"


def _split(piece: bytes, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Split CSV as the server writes it: each value in quotes, and nothing for null."""
    import pyarrow as pa
    from pyarrow import csv

    found: list[pa.RecordBatch] = csv.read_csv(
        pa.BufferReader(piece),
        csv.ReadOptions(column_names=schema.names, block_size=len(piece) + 1, use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=False,
        ),
    ).to_batches()
    return found


def _injective(text: str) -> str:
    """Return SQL for a text with its length in front, null told apart, so that no two records meet."""
    length = f"octet_length({text})"
    return (
        f"CASE WHEN {text} IS NULL THEN '-' WHEN {length} > {_LONGEST}"
        f" THEN {length} || ':' || encode(sha256(convert_to({text}, 'UTF8')), 'hex') ELSE {length} || ':' || {text} END"
    )


def _hashes(piece: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    content = bytes.fromhex(piece.replace(b'"', b"").decode("ascii"))
    hashes = pa.Array.from_buffers(pa.binary(32), len(content) // 32, [None, pa.py_buffer(content)])
    return pa.record_batch([hashes], names=["digest"])
