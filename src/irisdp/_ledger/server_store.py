"""A ledger in PostgreSQL: one schema, written by one client at a time, with every complaint in our own words.

A server must guarantee what a file guarantees: there is one writer at a time, and a returned answer has been synced to
disk. A writer first locks one empty table, before its transaction reads anything. So it waits for the previous writer
and then sees all its changes. Every transaction is also serialisable, whatever else uses the database. Where the
connection is lost while COMMIT is on its way, nobody knows whether it was carried out. Then the work is repeated. The
lock is only granted after the lost transaction has ended, and a question that it charged is then found in the ledger.
So it is neither charged twice nor shown without a charge (docs/decisions/ledger-storage.md).
"""

from __future__ import annotations

import contextlib
import random
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .._tables import SAID, connected, driver, is_lost, is_passing, listening, state_of
from ..accounting import CURRENCIES, EPSILON_DELTA, Currency
from ..errors import BadInput, NotShown, Unavailable
from . import store as ledger_store
from .addresses import Address
from .file_store import nowhere
from .history import settlement_row
from .scope import IF_THERE, KINDS
from .store import VERSION, Damaged, LedgerTransaction, statements

if TYPE_CHECKING:
    import psycopg


# Allowed contents of a ledger's schema: plain tables, and functions that check rows before they are added.
#
# A view, a rule, a default or a trigger is code of the schema's owner. It would run with the rights of the ledger's
# user, and could show an auditor other rows than a publisher. So only the functions whose text is listed here are
# allowed.

TABLES = ("turn", "ledger_format", "history", "promise", "settlement", "budget", "release", "output")

_SAFE = "SET search_path = pg_catalog, pg_temp"

_BY_ALL = ("promise", "release", "outputs")
"""What lines of the history may say that are not its owner's: neither of limits nor of moves."""
_CLOSING = ("moved", "awaits")
"""The last line of a ledger that accepts no more changes."""


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_NEXT = "NEW.id IS DISTINCT FROM top + 1"
"""Rows are numbered one by one, so that nobody uses the numbers up."""


def _wrong_facts(known: Mapping[str, str]) -> str:
    """Say which row of facts is wrong: one that changes what is pinned, or holds a fact that is not known."""
    return f"""
        EXISTS (SELECT FROM jsonb_each(stands) AS pinned
            WHERE NEW.facts::jsonb -> pinned.key IS DISTINCT FROM pinned.value)
        OR EXISTS (SELECT FROM jsonb_each(NEW.facts::jsonb) AS fact
            LEFT JOIN (VALUES {", ".join(f"('{fact}', '{kinds}')" for fact, kinds in known.items())})
                AS known (name, kinds) ON known.name = fact.key
            WHERE NOT coalesce(jsonb_exists(stands, fact.key), false)
                AND NOT coalesce(jsonb_typeof(fact.value) = ANY (string_to_array(known.kinds, ' ')), false))"""


_WRONG = {
    "history": f"""
        coalesce(NEW.event::jsonb ->> 'event', '') NOT IN ({_quoted(_BY_ALL)})
        OR {_NEXT}
        OR NEW.hash IS DISTINCT FROM encode(sha256(convert_to(
            coalesce(last.hash, 'irisdp ledger') || chr(10) || NEW.event, 'UTF8')), 'hex')""",
    "promise": _wrong_facts(KINDS),
    "settlement": _NEXT,
    "release": f"{_NEXT} OR jsonb_typeof(NEW.details::jsonb) <> 'object' OR NOT numbered",
    "output": "false",
}
"""By table, which row nobody adds, or makes of one that stands, but the ledger's owner. A line is the next of the
chain, so that none is added to what is seen as it was before the ledger was closed. Facts are those that are known, and
none that is pinned changes; numbers are some: else who publishes could make a ledger that nobody can read."""
_LOOKS = {**dict.fromkeys(_WRONG, "INSERT"), "promise": "INSERT OR UPDATE"}
_TOP = "EXECUTE format('SELECT coalesce(max(id), 0) FROM %s', TG_RELID::regclass) INTO top; "
_FIRST = {
    "history": _TOP,
    # What an INSERT that conflicts would replace is no OLD row of its own.
    "promise": "EXECUTE format('SELECT facts::jsonb FROM %s', TG_RELID::regclass) INTO stands;"
    " IF TG_OP = 'UPDATE' THEN stands := OLD.facts::jsonb; END IF; ",
    "settlement": _TOP,
    "release": f"""{_TOP}
        FOR named IN SELECT attname FROM pg_attribute WHERE attrelid = TG_RELID AND NOT attisdropped
                AND attname IN ('epsilon', 'delta', 'mu_squared', 'rho') LOOP
            EXECUTE format('SELECT ($1).%I', named) USING NEW INTO said;
            numbered := numbered AND said ~ '^[0-9]+([.][0-9]+|/[0-9]*[1-9][0-9]*){{0,1}}$';
        END LOOP; """,
}


def _body(table: str, wrong: str = "") -> str:
    """Return the text of the function that looks at the rows of a table, for its own rule or an earlier one."""
    owns = "pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')"
    return (
        " DECLARE last record; top bigint; stands jsonb; named text; said text; numbered boolean := true;"
        f" BEGIN IF {owns} THEN RETURN NEW; END IF;"
        " EXECUTE format('SELECT event, hash FROM %I.history ORDER BY id DESC LIMIT 1', TG_TABLE_SCHEMA) INTO last;"
        f" {_FIRST.get(table, '')}"
        f"IF coalesce(last.event::jsonb ->> 'event', '') IN ({_quoted(_CLOSING)}) OR {wrong or _WRONG[table]}"
        " THEN RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege'; END IF; RETURN NEW; END "
    )


_BODIES = (
    *((f"keep_{table}", _body(table)) for table in _LOOKS),
    # Of a ledger whose roles were let in before there were partitions: they may do less, until they are let in again.
    ("keep_promise", _body("promise", _wrong_facts({name: KINDS[name] for name in KINDS if name not in IF_THERE}))),
)
"""The functions that a ledger may hold, by name and text."""


def guards(schema: str, there: Collection[str]) -> tuple[str, ...]:
    """Return the statements by which the server looks at rows, where rights on tables say too little.

    The scope is one row that grows, and every publisher adds lines. Triggers that are `there` stay: to remove one waits
    for all who read.
    """
    made: list[str] = []
    for table, change in _LOOKS.items():
        function = f'"{schema}".keep_{table}()'
        made.append(
            f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql {_SAFE} AS $${_body(table)}$$"
        )
        if f"keep_{table}" not in there:
            made.append(
                f"CREATE TRIGGER keep_{table} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}"
            )
    return tuple(made)


def kept(schema: str) -> str:
    """Return the statement that keeps a ledger's tables as they are until the end of a transaction.

    It comes before the transaction has seen anything, so that what is looked at is what is used.
    """
    named = (f'"{schema}".{table}' for table in TABLES)
    return f"LOCK TABLE {', '.join(named)} IN ACCESS SHARE MODE"


def is_plain(execute: Callable[..., Any], schema: str) -> bool:
    """Tell whether a ledger's tables are tables and no more, of one owner; names must be pg_catalog's meanwhile."""
    guards, bodies = zip(*_BODIES, strict=True)
    known = {"schema": schema, "names": list(TABLES), "guards": list(guards), "bodies": list(bodies)}
    ((plain,),) = execute(_PLAIN, known)
    columns = {tuple(row) for row in execute(_FOUND, {"schema": schema, "names": list(TABLES)})}
    return plain is True and any(columns == _columns(currency) for currency in CURRENCIES)


def _columns(currency: Currency) -> set[tuple[str, str, str, bool, str]]:
    """Return table, name, type, whether never null, and kind of identity of every column that Iris makes."""
    numbers = [f"{name} text" for name in currency.cost.__slots__]
    columns = {
        "turn": ["held integer?"],
        "ledger_format": ["application text", "version integer"],
        "history": ["id integer", "event text", "hash text"],
        "promise": ["id integer", "facts text"],
        "settlement": ["id integer", *(f"{name} text" for name in settlement_row()[1:])],
        "budget": ["id integer", *numbers],
        "release": ["id integer", "settlement integer", "audience text?", *numbers, "details text", "answers bytea"],
        "output": ["rowid bigint", "release integer", "path text"],
    }
    named = ((table, *column.split(" ")) for table in columns for column in columns[table])
    return {
        (table, name, kind.rstrip("?"), not kind.endswith("?"), "a" if name == "rowid" else "")
        for table, name, kind in named
    }


_FOUND = """
SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity::text
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %(schema)s) AND relname = ANY (%(names)s)
    AND attnum > 0 AND NOT attisdropped
"""

_PLAIN = """
WITH space AS (SELECT oid FROM pg_namespace WHERE nspname = %(schema)s),
    own AS (SELECT c.* FROM pg_class AS c JOIN space ON c.relnamespace = space.oid WHERE c.relname = ANY (%(names)s)),
    guard AS (
        SELECT p.oid FROM pg_proc AS p JOIN space ON p.pronamespace = space.oid
            JOIN unnest(%(guards)s::text[], %(bodies)s::text[]) AS known (name, body)
            ON p.proname = known.name AND p.prosrc = known.body
            JOIN pg_language AS l ON l.oid = p.prolang
        WHERE l.lanname = 'plpgsql' AND p.prokind = 'f' AND NOT p.prosecdef AND p.pronargs = 0
            AND p.proconfig = ARRAY['search_path=pg_catalog, pg_temp'])
SELECT (SELECT count(*) = cardinality(%(names)s::text[]) AND count(DISTINCT relowner) = 1
            AND bool_and(relkind = 'r' AND NOT relispartition AND NOT relrowsecurity) FROM own)
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent IN (SELECT oid FROM own)
        OR inhrelid IN (SELECT oid FROM own))
    AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM own))
    AND NOT EXISTS (SELECT FROM pg_attrdef WHERE adrelid IN (SELECT oid FROM own))
    AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM own) AND NOT tgisinternal
        AND (tgfoid NOT IN (SELECT oid FROM guard) OR tgqual IS NOT NULL OR tgenabled <> 'O'))
    AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid IN (SELECT oid FROM own))
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid IN (SELECT oid FROM own) AND (contype IN ('x', 't')
        OR (contype = 'c' AND pg_get_constraintdef(oid) <> 'CHECK ((id = 1))')))
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f'
        AND (conrelid IN (SELECT oid FROM own) OR confrelid IN (SELECT oid FROM own))
        AND (confrelid NOT IN (SELECT oid FROM own) OR (confupdtype, confdeltype) <> ('a', 'a')))
    AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid IN (SELECT oid FROM own)
        AND (indexprs IS NOT NULL OR indpred IS NOT NULL
            OR (indisunique AND NOT indisprimary AND indexrelid NOT IN (SELECT conindid FROM pg_constraint
                WHERE conrelid IN (SELECT oid FROM own) AND contype = 'u' AND NOT condeferrable
                    AND pg_get_constraintdef(oid) = 'UNIQUE (fingerprint, question_hash)'))
            OR EXISTS (SELECT FROM unnest(indclass) AS used JOIN pg_opclass AS o ON o.oid = used
                WHERE o.opcnamespace <> 'pg_catalog'::regnamespace)
            OR EXISTS (SELECT FROM unnest(indcollation) AS used WHERE used NOT IN (0, 100))))
    AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid IN (SELECT oid FROM own) AND attnum > 0
        AND NOT attisdropped AND (atttypid NOT IN (20, 23, 25, 17) OR attcollation NOT IN (0, 100)))
    AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace IN (SELECT oid FROM space)
        AND oid NOT IN (SELECT oid FROM guard))
    AND NOT EXISTS (SELECT FROM pg_operator WHERE oprnamespace IN (SELECT oid FROM space))
    AND NOT EXISTS (SELECT FROM pg_type AS t JOIN space ON t.typnamespace = space.oid
        WHERE t.typtype NOT IN ('c', 'b') OR (t.typtype = 'b' AND t.typelem = 0))
"""
"""bigint, integer, text and bytea are the types of a ledger's columns (20, 23, 25, 17)."""


# Translate errors of PostgreSQL to our own messages, because its messages may quote records or credentials.

_UNDONE = ("40001", "40P01")
"""Serialisation failure and deadlock: all of the transaction is undone, and it may be done again."""

_SAID = {
    **SAID,
    "42501": (
        "does not allow this role to do that",
        "limits, grants and moves are its owner's alone; to publish or read, have its owner let this role in:"
        " grant(ledger, role, may)",
    ),
    "57014": (
        "was told to stop, by an administrator or because its statement_timeout is short; nothing was spent",
        "ask again",
    ),
    "25006": ("is a copy, or open for reading only", "name the server that is written to"),
    "53": ("could not be written or read: the server is full", "make room and ask again: what was charged is kept"),
    "58": ("could not be written or read", "see to the server's disk and ask again: what was charged is kept"),
    "55P03": ("has been in use by others for too long", "ask again later"),
    "40": ("has been in use by others for too long", "ask again later"),
    "22": ("does not hold such text or numbers", "leave out what it cannot hold, such as NUL"),
}


def is_undone(error: Exception) -> bool:
    """Tell whether the server undid the whole transaction because of others."""
    return state_of(error) in _UNDONE


def explain(name: str, error: Exception) -> BadInput:
    """Return what to raise for an error of the server's."""
    kind = Unavailable if is_passing(error) else BadInput
    state = state_of(error) or {"DataError": "22"}.get(type(error).__name__, "")
    for start, (rule, remedy) in _SAID.items():
        if state.startswith(start):
            return kind("ledger", f"{name} {rule} ({state})", remedy)
    if is_lost(error):
        rule = "cannot be reached, or went away; nothing was spent"
        remedy = "check host and port, and whether the server runs"
        return kind("ledger", f"{name} {rule}{f' ({state})' if state else ''}", remedy)
    rule = f"{name} is damaged or not a ledger{f' ({state})' if state else ''}"
    return kind("ledger", rule, "restore it, or name another")


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
        self._version: int | None = None
        """Read once: nobody else changes it within the transaction, and each look is a message to the server."""

    def find(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        stored: list[tuple[Any, ...]] = self._execute(statement, values).fetchall()
        return stored

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
        if self._version is None:
            stored = self.find("SELECT application, version FROM ledger_format")
            if len(stored) != 1 or stored[0][0] != _APPLICATION:
                raise Damaged
            self._version = int(stored[0][1])
        return self._version

    def set_version(self, version: int) -> None:
        """Write down the format that the ledger has now."""
        self.change("UPDATE ledger_format SET version = ?", (version,))
        self._version = None

    def text_in(self, column: str, *path: str) -> str:
        """Return SQL for a member of a JSON object in a column of text; null where the object lacks it."""
        return f"({column}::jsonb #>> '{{{','.join(path)}}}')"

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
        # Every statement is written in this package; text from outside only enters by `values`.
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
    def reading(self) -> Iterator[LedgerTransaction]:
        """Look at one moment; where there is no ledger, at an empty one in memory."""
        with self._said(), self._connected() as connection:
            if self._is_there(connection):
                _begin(connection, "REPEATABLE READ READ ONLY")
                yield self._checked(connection)
            else:
                with nowhere() as rows:
                    yield rows

    def write(self, work: Callable[[LedgerTransaction], T]) -> T:
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

    def _once(self, work: Callable[[LedgerTransaction], T], attempt: _Attempt) -> T:
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
        stored = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL, to_regnamespace(%s) IS NOT NULL, current_setting('server_encoding'),"
            " current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on', pg_is_in_recovery(),"
            " NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'"
            " AND relpersistence <> 'p')",
            (f"{self.address.schema}.ledger_format", self.address.schema, self.address.schema),
        ).fetchone()
        there, taken, encoding, synced, standby, logged = stored or (False,) * 6
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
        """Create an empty ledger, safe against concurrent creation; others see none of it or all."""
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
                raise explain(self.name, error) from None

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
