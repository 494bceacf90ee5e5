"""Tables in SQLite databases: `sqlite:///clinic.db#visits`, read by Python's own module and nothing else.

SQLite types values, not columns: a column of whole numbers may hold text, and each record may hold another type. So
every value is read as text, and then as the declared type of its column, by the rules of docs/decisions/text-files.md.
A value that does not fit is null, and no record changes how another is read. Views, virtual tables and columns that are
computed when they are read are code, which one record could make fail: they are not read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..errors import BadInput
from .arrow_values import LONGEST_TEXT, text_schema, texts
from .columns import Column, ColumnType, check_names, list_names
from .engine import Embedded, guarded, multiset_digest, quote_name, streaming_connection
from .locations import Location, locate, plain_lower

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


_RECORDS = 512
"""Read at once: as many texts of the greatest length fit into memory."""

_TYPES = (
    ("BOOL", "boolean"),
    ("DATETIME|TIMESTAMP", "timestamp"),
    ("DATE", "date"),
    ("INT", "integer"),
    ("CHAR|CLOB|TEXT", "text"),
    ("REAL|FLOA|DOUB|NUM|DEC", "number"),
)
"""What a declared type says, as SQLite reads it: by the first of these words that is in it."""


@dataclass(frozen=True, slots=True)
class SqliteSource(Embedded):
    """A table in a SQLite database.

    Attributes
    ----------
    table : str
        Its name there.
    types : dict
        The types of columns, as far as the database declares any.
    """

    location: Location
    table: str
    names: tuple[str, ...] = field(repr=False)
    types: dict[str, str] = field(repr=False)

    @property
    def ordered(self) -> bool:
        """No: a table is a set of records."""
        return False

    @property
    def reading(self) -> str:
        """How it is read, in words."""
        return "from a SQLite database; a value that is not of its column's type is null"

    def digest(self) -> bytes:
        """Return a digest of the multiset of records, and of the columns and their declared types."""
        with closing(_connected(self.location)) as database:
            ((count,),) = database.execute(f"SELECT count(*) FROM {quote_name(self.table)}")
        parts = ", ".join(f"coalesce(strlen({name}) || ':' || {name}, '-')" for name in map(quote_name, self.names))

        def hashes() -> Iterator[pa.RecordBatch]:
            with closing(self.connect(self.names)) as connection:
                digests = connection.sql(f"SELECT unhex(sha256(concat({parts}))) AS digest FROM data")
                yield from digests.to_arrow_table().to_batches()

        return multiset_digest(("sqlite", self.names, sorted(self.types.items()), count), count, hashes)

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        schema = text_schema(names)
        return streaming_connection(schema, self._batches(names, schema))

    def _batches(self, names: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        listed = ", ".join(map(_readable, names))
        with closing(_connected(self.location)) as database:
            records = database.execute(f"SELECT {listed} FROM {quote_name(self.table)}")
            while rows := records.fetchmany(_RECORDS):
                yield pa.record_batch([texts(list(map(_text, column))) for column in zip(*rows, strict=True)], schema)


def open_sqlite(text: str) -> tuple[list[Column], SqliteSource]:
    """Open the table that an address names.

    Raises
    ------
    BadInput
        For a file that is no SQLite database, and what is no table in it.
    """
    location = guarded(lambda: locate(text), "is not a usable path", "write sqlite:///FILE#TABLE")
    if not guarded(location.path.is_file, "is not a usable path", "write sqlite:///FILE#TABLE"):
        raise BadInput("data", f"finds no file at {str(location.path)!r}", "give the path of an existing file")
    rule, remedy = "is no SQLite database that can be read", "check the file, or name another"
    tables = guarded(lambda: _tables(location), rule, remedy)
    match = next(((name, sql) for name, sql in tables.items() if plain_lower(name) == location.inner), None)
    if match is None:
        known = f"choose from {list_names(sorted(tables))}" if tables else "put one there"
        raise BadInput("data", f"names the table {location.inner!r}, which the database does not have", known)
    name, sql = match
    if sql is None or re.match(r"\s*CREATE\s+VIRTUAL", sql, re.IGNORECASE):
        rule = f"names {name}, which is computed when it is read"
        raise BadInput("data", rule, f"make a table of it: CREATE TABLE … AS SELECT * FROM {name}")
    columns = guarded(lambda: _columns(location, name), rule, remedy)
    check_names(list(columns))
    types = {name: kind for name, declared in columns.items() if (kind := _type(declared)) is not None}
    return [Column(name, ColumnType.UNTYPED) for name in columns], SqliteSource(location, name, tuple(columns), types)


def _tables(location: Location) -> dict[str, str | None]:
    """Return the tables of the database, with how they were made, and the views, with None."""
    with closing(_connected(location)) as database:
        database.text_factory = str
        listed = database.execute(
            "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
    return {name: sql if kind == "table" else None for name, kind, sql in listed if not name.startswith("sqlite_")}


def _columns(location: Location, table: str) -> dict[str, str]:
    """Return the columns of a table that are stored, and their declared types."""
    with closing(_connected(location)) as database:
        database.text_factory = str
        asked = "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden IN (0, 3) ORDER BY cid"
        return dict(database.execute(asked, [table]).fetchall())


def _type(declared: str) -> str | None:
    return next((kind for words, kind in _TYPES if re.search(words, declared.upper())), None)


def _connected(location: Location) -> sqlite3.Connection:
    # The engine asks for records from threads of its own, one at a time.
    address = f"file:{quote(str(location.path))}?mode=ro"
    database = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    database.text_factory = bytes
    for setting in ("query_only = ON", "trusted_schema = OFF"):
        database.execute(f"PRAGMA {setting}")
    return database


def _readable(name: str) -> str:
    """Return SQL for a value as the database holds it, null where it is of bytes, or longer than any text may be."""
    value = quote_name(name)
    short = f"CASE WHEN length(CAST({value} AS BLOB)) <= {LONGEST_TEXT} THEN {value} END"
    return f"CASE typeof({value}) WHEN 'blob' THEN NULL WHEN 'text' THEN {short} ELSE {value} END"


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return repr(value)
