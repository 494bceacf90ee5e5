"""What a table on a PostgreSQL server is: its name, its columns, and SQL that reads their values and never fails.

Columns are typed by the server's schema, which is public. How a value is read follows from its column's type alone, and
a value outside the type's range is null. No value makes a statement end in an error, because functions of the server
itself read every record. So whatever runs code of somebody else's when it is read is no table here: a view, a foreign
table, a cast of a type that the database's users made. Values that differ between users of the database are excluded
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from ..errors import BadInput
from .columns import Kind, check_names, list_names
from .servers import Server, read_server
from .total import LONGEST_TEXT

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

__all__ = ["ServerTable", "StoredColumn", "TableAddress", "describe_table", "quoted", "read_table_address"]

_OLDEST = 13
_WRITE = "write postgresql://USER@HOST/DATABASE#TABLE or #SCHEMA.TABLE"


class Reading(NamedTuple):
    """How values of a type are read: as a kind, by SQL over `{}` that never fails, into an Arrow type."""

    kind: Kind
    sql: str
    arrow: str = "string"


_TEXT = Reading(Kind.TEXT, f"CASE WHEN octet_length({{0}}::text) <= {LONGEST_TEXT} THEN {{0}}::text END")
_SOME = Reading(Kind.OTHER, "{0}::text")
_INSTANT = "CASE WHEN {{0}} >= '0001-01-01{0}' AND {{0}} < '10000-01-01{0}' THEN {{0}}{1} END"
_READINGS = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), Reading(Kind.INTEGER, "{0}::int8", "int64")),
    **dict.fromkeys(("float4", "float8"), Reading(Kind.NUMBER, "{0}::float8", "float64")),
    # Exact as text, and without zeros at the end: 1.0 and 1.00 are one number, and one person.
    "numeric": Reading(Kind.NUMBER, "trim_scale({0})::text"),
    "bool": Reading(Kind.BOOLEAN, "{0}::bool", "bool"),
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), _TEXT),
    "date": Reading(Kind.DATE, "CASE WHEN {0} BETWEEN '0001-01-01' AND '9999-12-31' THEN {0} END", "date32"),
    "timestamp": Reading(Kind.DATE, _INSTANT.format("", ""), "timestamp[us]"),
    "timestamptz": Reading(Kind.DATE, _INSTANT.format(" 00:00+00", " AT TIME ZONE 'UTC'"), "timestamp[us]"),
    "bytea": Reading(Kind.OTHER, f"CASE WHEN octet_length({{0}}) <= {LONGEST_TEXT // 2} THEN encode({{0}}, 'hex') END"),
    **dict.fromkeys(("uuid", "time", "timetz", "interval", "inet", "cidr", "macaddr", "macaddr8"), _SOME),
}
"""Types of PostgreSQL's own that are read; of all others, but for enumerations, only whether there is a value."""

# A cast of an enumeration to text may be somebody's own function; what writes its label is the server's.
_ENUM = Reading(Kind.TEXT, "CASE WHEN {0} IS NOT NULL THEN concat({0}) END")
# Not IS NOT NULL, which asks a row of its fields.
_NESTED = Reading(Kind.NESTED, "CASE WHEN {0} IS DISTINCT FROM NULL THEN true END", "bool")

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
        By which the catalogue knows it, whatever it is called.
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

    A name that is not found as it is written is looked for in small letters, as SQL would.

    Raises
    ------
    BadInput
        For what is no table, is not the same for all who ask, or may not be read. None of it depends on a record.
    """
    if connection.info.server_version < _OLDEST * 10_000:
        raise BadInput("data", f"is on a server older than PostgreSQL {_OLDEST}", "export the table as Parquet")
    schema, table = address.schema, address.table
    found = connection.execute(_RELATIONS, (schema, table)).fetchone()
    if found is None:
        schema, table = schema.lower(), table.lower()
        found = connection.execute(_RELATIONS, (schema, table)).fetchone()
    if found is None or schema.startswith("pg_") or schema == "information_schema":
        tables = [name for (name,) in connection.execute(_TABLES, (schema,)).fetchall()]
        known = f"choose from {list_names(tables)}" if tables and found is None else "name a schema that has some"
        raise BadInput("data", f"names the table {schema}.{table}, which the database does not have", known)
    number, kind, partition, secured, database, encoding, inherits, foreign, ledger, usable = found
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
