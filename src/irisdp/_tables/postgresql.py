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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from ..errors import BadInput, Unavailable
from .arrow_values import LONGEST_TEXT
from .columns import Column, ColumnType, check_names, list_names
from .engine import Embedded, HeldRows, multiset_digest, streaming_connection
from .servers import SAID, Server, connected, driver, is_lost, is_passing, listening, read_server, state_of

if TYPE_CHECKING:
    import duckdb
    import psycopg
    import pyarrow as pa


# A table on a PostgreSQL server: its name, its columns, and SQL that reads their values and never fails.
#
# Columns are typed by the server's schema, which is public. How a value is read follows from its column's type alone,
# and a value outside the type's range is null. No value makes a statement end in an error, because functions of the
# server itself read every record. So a table whose reading runs code of somebody else is refused: a view, a foreign
# table, a cast of a user-defined type. Values that differ between users of the database are excluded too.

_OLDEST = 13
_WRITE = "write postgresql://USER@HOST/DATABASE#TABLE or #SCHEMA.TABLE"


class Reading(NamedTuple):
    """How values of a type are read: as a kind, by SQL over `{}` that never fails, into an Arrow type."""

    kind: ColumnType
    sql: str
    arrow: str = "string"


_TEXT = Reading(ColumnType.TEXT, f"CASE WHEN octet_length({{0}}::text) <= {LONGEST_TEXT} THEN {{0}}::text END")
_SOME = Reading(ColumnType.OTHER, "{0}::text")
_INSTANT = "CASE WHEN {{0}} >= '0001-01-01{0}' AND {{0}} < '10000-01-01{0}' THEN {{0}}{1} END"
_READINGS = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), Reading(ColumnType.INTEGER, "{0}::int8", "int64")),
    **dict.fromkeys(("float4", "float8"), Reading(ColumnType.NUMBER, "{0}::float8", "float64")),
    # Exact as text, and without zeros at the end: 1.0 and 1.00 are one number, and one person.
    "numeric": Reading(ColumnType.NUMBER, "trim_scale({0})::text"),
    "bool": Reading(ColumnType.BOOLEAN, "{0}::bool", "bool"),
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), _TEXT),
    "date": Reading(ColumnType.DATE, "CASE WHEN {0} BETWEEN '0001-01-01' AND '9999-12-31' THEN {0} END", "date32"),
    "timestamp": Reading(ColumnType.DATE, _INSTANT.format("", ""), "timestamp[us]"),
    "timestamptz": Reading(ColumnType.DATE, _INSTANT.format(" 00:00+00", " AT TIME ZONE 'UTC'"), "timestamp[us]"),
    "bytea": Reading(
        ColumnType.OTHER, f"CASE WHEN octet_length({{0}}) <= {LONGEST_TEXT // 2} THEN encode({{0}}, 'hex') END"
    ),
    **dict.fromkeys(("uuid", "time", "timetz", "interval", "inet", "cidr", "macaddr", "macaddr8"), _SOME),
}
"""Types of PostgreSQL's own that are read; of all others, but for enumerations, only whether there is a value."""

# A cast of an enumeration to text may be somebody's own function; what writes its label is the server's.
_ENUM = Reading(ColumnType.TEXT, "CASE WHEN {0} IS NOT NULL THEN concat({0}) END")
# Not IS NOT NULL, which asks a row of its fields.
_NESTED = Reading(ColumnType.NESTED, "CASE WHEN {0} IS DISTINCT FROM NULL THEN true END", "bool")

_RELATIONS = (
    "SELECT c.oid, c.relkind::text, c.relispartition, row_security_active(c.oid), current_database(),"
    " current_setting('server_encoding'), EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent)),"
    " EXISTS (SELECT FROM pg_partition_tree(c.oid) p JOIN pg_class k ON k.oid = p.relid WHERE k.relkind = 'f'),"
    " (SELECT count(*) = 2 FROM pg_class l WHERE l.relnamespace = n.oid AND l.relname IN ('ledger_format', 'turn')),"
    " has_schema_privilege(n.oid, 'USAGE')"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
)
_COLUMNS = (
    "WITH RECURSIVE typed AS (SELECT a.attnum, t.* FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
    " WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated IN ('', 's')"
    " UNION ALL SELECT d.attnum, t.* FROM typed d JOIN pg_type t ON t.oid = d.typbasetype WHERE d.typtype = 'd')"
    " SELECT a.attname, t.typtype::text, format_type(t.oid, NULL),"
    " CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname END,"
    " has_column_privilege(a.attrelid, a.attnum, 'SELECT')"
    " FROM typed t JOIN pg_attribute a ON a.attrelid = %s AND a.attnum = t.attnum WHERE t.typtype <> 'd'"
    " ORDER BY a.attnum"
)
_TABLES = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s"
    " AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1"
)


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where a table is: the database, and the schema and the table as they were written."""

    server: Server
    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column that is stored, with how it is read."""

    name: str
    reading: Reading

    @property
    def sql(self) -> str:
        """SQL of its value; it never fails, whatever the value is."""
        return self.reading.sql.format(quoted(self.name))

    @property
    def field(self) -> pa.Field:
        """The Arrow field of its values."""
        import pyarrow as pa

        return pa.field(self.name, pa.type_for_alias(self.reading.arrow))


@dataclass(frozen=True, slots=True)
class ServerTable:
    """A table of a database as its catalogue has it; public.

    Attributes
    ----------
    number : int
        The catalogue's identifier, independent of the name.
    partitioned : bool
        Whether its records are kept in parts.
    enumerations : tuple of str
        SQL of the types of its columns that are enumerations.
    """

    database: str
    schema: str
    table: str
    number: int
    partitioned: bool
    columns: tuple[StoredColumn, ...]
    enumerations: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called, without host and user; no two tables of a server are called alike."""
        return f"{_plain(self.database)}/{_plain(self.schema)}.{_plain(self.table)}"

    @property
    def sql(self) -> str:
        """The table, in SQL: with its partitions, and without a table that begins to inherit from it."""
        return f"{'' if self.partitioned else 'ONLY '}{quoted(self.schema)}.{quoted(self.table)}"

    @property
    def unlocked(self) -> str:
        """SQL of what a lock and a snapshot leave open: a partition may be attached, and a label written otherwise."""
        parts = f"ARRAY(SELECT relid::oid FROM pg_partition_tree({self.number}) ORDER BY 1)"
        return (
            f"SELECT concat_ws(' ', {', '.join([parts, *(f'enum_range(NULL::{each})' for each in self.enumerations)])})"
        )


def quoted(name: str) -> str:
    """Write an identifier of PostgreSQL's."""
    return '"' + name.replace('"', '""') + '"'


def read_table_address(text: str) -> TableAddress:
    """Read `postgresql://USER@HOST/DATABASE#SCHEMA.TABLE`; the schema is `public` unless named.

    A full stop within a name is written `%2E`.

    Raises
    ------
    BadInput
        For one that holds a password or names no table; what was given is not quoted.
    """
    server = read_server(text, "data", _WRITE)
    names = server.inner.split(".")
    if not (1 <= len(names) <= 2 and all(names)) or set(server.inner) & set("?&=@:/#"):
        raise BadInput("data", "is no address of a table in a database", _WRITE)
    schema, table = map(unquote, names if len(names) == 2 else ("public", *names))
    if not (schema + table).isprintable():
        raise BadInput("data", "is no address of a table in a database", _WRITE)
    return TableAddress(server, schema, table)


def describe_table(connection: psycopg.Connection[Any], address: TableAddress) -> ServerTable:
    """Look a table up in the server's catalogue, and refuse what could be read otherwise than record by record.

    If a name is not found as written, it is looked up in lower case, as in SQL.

    Raises
    ------
    BadInput
        For what is no table, is not the same for all who ask, or may not be read. None of it depends on a record.
    """
    if connection.info.server_version < _OLDEST * 10_000:
        raise BadInput("data", f"is on a server older than PostgreSQL {_OLDEST}", "export the table as Parquet")
    schema, table = address.schema, address.table
    relation = connection.execute(_RELATIONS, (schema, table)).fetchone()
    if relation is None:
        schema, table = schema.lower(), table.lower()
        relation = connection.execute(_RELATIONS, (schema, table)).fetchone()
    if relation is None or schema.startswith("pg_") or schema == "information_schema":
        tables = [name for (name,) in connection.execute(_TABLES, (schema,)).fetchall()]
        known = f"choose from {list_names(tables)}" if tables and relation is None else "name a schema that has some"
        raise BadInput("data", f"names the table {schema}.{table}, which the database does not have", known)
    number, kind, partition, secured, database, encoding, inherits, foreign, ledger, usable = relation
    named, copy = f"names {schema}.{table}", f"make a table of it: CREATE TABLE … AS SELECT * FROM {schema}.{table}"
    if kind not in "rp":
        raise BadInput("data", f"{named}, which is computed when it is read, or kept elsewhere", copy)
    if foreign:
        raise BadInput("data", f"{named}, of which a part is kept on another server", copy)
    if partition:
        raise BadInput("data", f"{named}, which is a part of a table", "name the whole, and ask it with a condition")
    if inherits and kind == "r":
        rule = f"{named}, which shares records with tables that inherit from it, or that it inherits from"
        raise BadInput("data", rule, copy)
    if ledger:
        raise BadInput("data", f"{named}, and {schema} is a ledger", "name a table of data")
    if secured:
        rule = f"{named}, of which this role sees what row-level security lets it see"
        raise BadInput("data", rule, "ask as a role that sees all of it")
    if encoding != "UTF8":
        raise BadInput("data", "is in a database that does not hold UTF-8", "export the table as Parquet")
    columns = connection.execute(_COLUMNS, (number, number)).fetchall()
    if not (usable and all(allowed for *_, allowed in columns)):
        rule = f"{named}, which this role may not read, or not all of it"
        raise BadInput("data", rule, "ask its owner for SELECT on the table and USAGE of its schema")
    check_names([name for name, *_ in columns])
    stored = tuple(StoredColumn(name, _reading(sort, known)) for name, sort, _, known, _ in columns)
    labelled = tuple(dict.fromkeys(written for _, sort, written, *_ in columns if sort == "e"))
    return ServerTable(database, schema, table, number, kind == "p", stored, labelled)


def _reading(kind: str, name: str | None) -> Reading:
    return _ENUM if kind == "e" else _READINGS.get(name or "", _NESTED)


def _plain(name: str) -> str:
    """Write a name so that it holds neither `/` nor `.`, which stand between names, and nothing that is not shown."""
    return "".join(
        sign if sign.isprintable() and sign not in "%./" else quote(sign, safe="").replace(".", "%2E") for sign in name
    )


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
        self._fault: BadInput | None = None
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
        raise self._fault

    def __del__(self) -> None:
        """Close the connection together with its reader."""
        self._end()

    def _copied(self, connection: psycopg.Connection[Any], statement: str) -> Iterator[bytes]:
        try:
            with connection.cursor() as cursor, cursor.copy(statement) as copied:
                kept, size = [], 0
                for record in copied:
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

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> HeldRows:
        """Run a statement as `run` does, and hold what it finds in the engine's memory."""
        with self.snapshot.turn:
            return self.snapshot.saying(lambda: Embedded.hold(self, statement, names, declared))

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        import pyarrow as pa

        columns = {column.name: column for column in self.table.columns}
        schema = pa.schema([columns[name].field for name in names])
        listed = ", ".join(f"{columns[name].sql} AS c{index}" for index, name in enumerate(names))
        pieces = self.snapshot.copy(f"SELECT {listed} FROM {self.table.sql}")
        return streaming_connection(schema, (batch for piece in pieces for batch in _split(piece, schema)))

    def _digest(self) -> bytes:
        ((count,),) = (piece.split() for piece in self.snapshot.copy(f"SELECT count(*) FROM {self.table.sql}"))
        columns = self.table.columns
        # OFFSET 0: each value is worked out once, and then written and measured.
        plain = ", ".join(f"({column.sql})::text AS c{index}" for index, column in enumerate(columns))
        parts = ", ".join(_injective(f"c{index}") for index in range(len(columns)))
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
        raise fault
    columns = [Column(column.name, column.reading.kind) for column in table.columns]
    return columns, ServerSource(table, Snapshot(address, table))


def begin(connection: psycopg.Connection[Any]) -> None:
    """Begin a read-only transaction that sees the table at one moment."""
    connection.execute("; ".join(("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", *_SETTINGS, *listening())))


def explained(error: BaseException) -> BadInput | None:
    """Return what to raise for an error of the server's or of the connection's; None for others."""
    if not isinstance(error, driver().Error):
        return None
    kind = Unavailable if is_passing(error) else BadInput
    state = state_of(error)
    code = f" ({state})" if state else ""
    for start, (rule, remedy) in _WORDS.items():
        if state.startswith(start):
            return kind("data", f"is on a server that {rule}{code}", remedy)
    if is_lost(error):
        rule = f"is on a server that cannot be reached, or went away{code}"
        return kind("data", rule, "check host and port, and whether the server runs")
    return kind("data", f"is on a server that could not read it{code}", "check that the table is intact, and ask again")


def _split(piece: bytes, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Split CSV as the server writes it: each value in quotes, and nothing for null."""
    import pyarrow as pa
    from pyarrow import csv

    result: list[pa.RecordBatch] = csv.read_csv(
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
    return result


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
