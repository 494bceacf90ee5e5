"""Who may do what with a ledger on a server: its owner lets roles publish, or only read.

The server enforces these rights for any client program. A publisher adds rows and pins open facts, but raises no limit,
closes no ledger, and changes and removes no row. A reader changes nothing. Iris computes the cost of a release, not the
server. So the owner must trust a publisher to charge that cost, with Iris.
"""

from __future__ import annotations

from typing import Literal

from .._exact import checked
from ..errors import BadInput
from .ledger import Ledger
from .server_store import LedgerServer, guards
from .store import LedgerTransaction

_ADDED_TO = ("settlement", "release", "output", "history", "promise")
"""The tables that a release adds rows to."""
_CHANGED = ("promise", "turn")
"""What is still open is pinned by the first release; and to lock a table is to be able to change it."""


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
        If the ledger is a file, the server does not know the role, or the caller is not the owner.
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

    def work(rows: LedgerTransaction) -> None:
        if not rows.find("SELECT 1 FROM pg_roles WHERE rolname = ?", (role,)):
            raise BadInput("grant", "names a role that the server does not know", "have it made: CREATE ROLE")
        there = rows.find(
            "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
            " WHERE relnamespace = to_regnamespace(?) AND NOT tgisinternal",
            (f'"{schema}"',),
        )
        for guard in guards(schema, {name for (name,) in there}) if may == "publish" else ():
            rows.change(guard)
        for each in allowed:
            rows.change(f"GRANT {each} TO {named}")

    book.store.write(work)
