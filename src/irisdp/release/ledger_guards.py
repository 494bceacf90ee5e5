"""What a ledger's schema on a server may hold: plain tables, and functions that look at rows before they are added.

A view, a rule, a default or a trigger is code of the schema's owner. It would run with the rights of the ledger's user,
and could show an auditor other rows than a publisher. So nothing of the kind may be there, but the functions whose text
is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..accounting import CURRENCIES, Currency
from .ledger_history import settlement_row
from .promise import KINDS

__all__ = ["TABLES", "guards", "is_plain", "kept"]

TABLES = ("turn", "ledger_format", "history", "promise", "settlement", "budget", "release", "output")

_SAFE = "SET search_path = pg_catalog, pg_temp"

_BY_ALL = ("promise", "release", "outputs")
"""What lines of the history may say that are not its owner's: neither of limits nor of moves."""
_CLOSING = ("moved", "awaits")
"""What the last line of a ledger says that takes nothing, whoever asks."""


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_NEXT = "NEW.id IS DISTINCT FROM top + 1"
"""Rows are numbered one by one, so that nobody uses the numbers up."""

_WRONG = {
    "history": f"""
        coalesce(NEW.event::jsonb ->> 'event', '') NOT IN ({_quoted(_BY_ALL)})
        OR {_NEXT}
        OR NEW.hash IS DISTINCT FROM encode(sha256(convert_to(
            coalesce(last.hash, 'irisdp ledger') || chr(10) || NEW.event, 'UTF8')), 'hex')""",
    "promise": f"""
        EXISTS (SELECT FROM jsonb_each(stands) AS pinned
            WHERE NEW.facts::jsonb -> pinned.key IS DISTINCT FROM pinned.value)
        OR EXISTS (SELECT FROM jsonb_each(NEW.facts::jsonb) AS fact
            LEFT JOIN (VALUES {", ".join(f"('{fact}', '{kinds}')" for fact, kinds in KINDS.items())})
                AS known (name, kinds) ON known.name = fact.key
            WHERE NOT coalesce(jsonb_exists(stands, fact.key), false)
                AND NOT coalesce(jsonb_typeof(fact.value) = ANY (string_to_array(known.kinds, ' ')), false))""",
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


def _body(table: str) -> str:
    """Return the text of the function that looks at the rows of a table."""
    owns = "pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')"
    return (
        " DECLARE last record; top bigint; stands jsonb; named text; said text; numbered boolean := true;"
        f" BEGIN IF {owns} THEN RETURN NEW; END IF;"
        " EXECUTE format('SELECT event, hash FROM %I.history ORDER BY id DESC LIMIT 1', TG_TABLE_SCHEMA) INTO last;"
        f" {_FIRST.get(table, '')}"
        f"IF coalesce(last.event::jsonb ->> 'event', '') IN ({_quoted(_CLOSING)}) OR {_WRONG[table]}"
        " THEN RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege'; END IF; RETURN NEW; END "
    )


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
    bodies = [f"keep_{table}" for table in _LOOKS], [_body(table) for table in _LOOKS]
    ((plain,),) = execute(_PLAIN, {"schema": schema, "names": list(TABLES), "guards": bodies[0], "bodies": bodies[1]})
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
