"""Who may do what with a ledger on a server: its owner lets roles publish, or only read.

The server holds them to it, whatever program they use: who publishes adds rows and pins what is open, but raises no
limit, closes no ledger, and changes and removes nothing that stands; who reads changes nothing at all. What a release
costs is worked out by Iris and not by the server, so whoever may publish is trusted to charge what it costs, with Iris.
"""

from __future__ import annotations

from typing import Literal

from ..errors import BadInput
from ..exact import checked
from .ledger import Ledger
from .ledger_server import LedgerServer
from .ledger_store import Rows

__all__ = ["grant"]

_ADDED_TO = ("settlement", "release", "output", "history", "promise")
"""The tables that a release adds rows to."""
_CHANGED = ("promise", "turn")
"""What is still open is pinned by the first release; and to lock a table is to be able to change it."""

_BY_ALL = ("promise", "release", "outputs")
"""What lines of the history may say that are not its owner's: neither of limits nor of moves."""


def _guards(schema: str) -> tuple[str, ...]:
    """Return the statements by which the server looks at rows, where rights on tables say too little.

    A promise is one row that grows, and lines of the history are added by all who publish.
    """
    refuse = "RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege'"
    events = ", ".join(f"'{event}'" for event in _BY_ALL)
    conditions = {
        "history": ("INSERT", f"coalesce(NEW.event::jsonb ->> 'event', '') NOT IN ({events})"),
        "promise": (
            "UPDATE",
            "EXISTS (SELECT FROM jsonb_each(OLD.facts::jsonb) AS pinned"
            " WHERE NEW.facts::jsonb -> pinned.key IS DISTINCT FROM pinned.value)",
        ),
    }
    made: list[str] = []
    for table, (change, wrong) in conditions.items():
        function = f'"{schema}".keep_{table}()'
        made += [
            f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql"
            f" SET search_path = pg_catalog, pg_temp AS $$ BEGIN"
            f" IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')"
            f" AND ({wrong}) THEN {refuse}; END IF; RETURN NEW; END $$",
            f"DROP TRIGGER IF EXISTS keep_{table} ON {table}",
            f"CREATE TRIGGER keep_{table} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}",
        ]
    return tuple(made)


@checked
def grant(book: Ledger, role: str, may: Literal["publish", "read"]) -> None:
    """Let a role of the server publish with a ledger, or only read it; only its owner can.

    Parameters
    ----------
    book : Ledger
        On a server; it is made where it is not there yet.
    role : str
        A role that the server knows.
    may : {"publish", "read"}
        Publish, which is to read, too; or only read: limit, spending, questions and all answers.

    Raises
    ------
    BadInput
        For a ledger in a file, a role that the server does not know, and whoever is not the owner.
    """
    if not isinstance(book.store, LedgerServer):
        rule = "is for ledgers on a server: a file is written by whoever may write it"
        raise BadInput("grant", rule, "use the permissions of the file and its folder")
    if not role or not role.isprintable():
        raise BadInput("grant", "must name a role", "write for example publish=alice")
    named = '"' + role.replace('"', '""') + '"'
    schema = book.store.address.schema
    allowed = [f'USAGE ON SCHEMA "{schema}"', f'SELECT ON ALL TABLES IN SCHEMA "{schema}"']
    if may == "publish":
        allowed += [f"INSERT ON {', '.join(_ADDED_TO)}", f"UPDATE ON {', '.join(_CHANGED)}"]

    def work(rows: Rows) -> None:
        if not rows.find("SELECT 1 FROM pg_roles WHERE rolname = ?", (role,)):
            raise BadInput("grant", "names a role that the server does not know", "have it made: CREATE ROLE")
        for guard in _guards(schema) if may == "publish" else ():
            rows.change(guard)
        for each in allowed:
            rows.change(f"GRANT {each} TO {named}")

    book.store.write(work)
