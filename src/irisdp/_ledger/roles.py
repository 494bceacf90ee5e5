"""Who may do what with a ledger on a server: its owner lets roles publish, or only read.

The server enforces these rights for any client program. A publisher adds rows and pins open facts, but raises no limit,
closes no ledger, and changes and removes no row. A reader changes nothing. Iris computes the cost of a release, not the
server. So the owner must trust a publisher to charge that cost, with Iris.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .._exact import checked
from ..errors import BadInput, Refusal
from .history import record
from .ledger import Ledger
from .migration import begin
from .server_store import TABLES, LedgerServer, guards
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
    schema, named = _schema(book, "grant"), _named(role, "grant", "publish=alice")
    allowed = [f'USAGE ON SCHEMA "{schema}"', f'SELECT ON ALL TABLES IN SCHEMA "{schema}"']
    if may == "publish":
        allowed += [f"INSERT ON {', '.join(_ADDED_TO)}", f"UPDATE ON {', '.join(_CHANGED)}"]

    def work(rows: LedgerTransaction) -> None:
        if not _is_role(rows, role):
            raise BadInput("grant", "names a role that the server does not know", "have it made: CREATE ROLE")
        for guard in guards(schema, _triggers(rows, schema)) if may == "publish" else ():
            rows.change(guard)
        for each in allowed:
            rows.change(f"GRANT {each} TO {named}")

    book.store.write(work)


@checked
def revoke(book: Ledger, role: str) -> None:
    """Take all rights on a ledger away from a role, and write that into the history; only its owner can.

    What the role read or copied before, it keeps. If it knows the secret of the data, rotate that.

    Parameters
    ----------
    book : Ledger
        On a server.
    role : str
        A role that the server knows.

    Raises
    ------
    BadInput
        If the ledger is a file, the server does not know the role, or the role or caller owns the ledger or not.
    Refusal
        Where the role has lost its own rights, and still has some as a member of another role, or as everybody has.
    """
    schema, named = _schema(book, "revoke"), _named(role, "revoke", "alice")
    if not book.store.exists():
        raise BadInput("revoke", f"there is no ledger {book.store.name}", "name one that is there")

    def work(rows: LedgerTransaction) -> list[str]:
        begin(rows, book.store.name)
        if not _is_role(rows, role):
            raise BadInput(
                "revoke", "names a role that the server does not know", "examine(ledger) lists those that have rights"
            )
        owner = next(right.role for right in rights_of_roles(rows, schema) if right.owns)
        if owner == role:
            raise BadInput(
                "revoke", f"names {role}, who owns the ledger", "have its tables given to another role first"
            )
        rows.change("UPDATE budget SET id = 1 WHERE id = 0")  # others than the owner add lines to the history, too
        for each in (f'ALL ON ALL TABLES IN SCHEMA "{schema}"', f'ALL ON SCHEMA "{schema}"'):
            rows.change(f"REVOKE {each} FROM {named} CASCADE")
        for table in TABLES:  # of single columns
            columns = ", ".join(rows.columns(table))
            rows.change(f"REVOKE ALL ({columns}) ON {table} FROM {named} CASCADE")
        record(rows, "revoked", {"role": role})
        return _still(rows, schema, role)

    still = book.store.write(work)
    if still:
        raise Refusal(
            f"{role} has lost its own rights on {book.store.name}, and may still use it {', and '.join(still)}."
            " Take that away in the database",
            role=role,
            still=still,
        )


def _schema(book: Ledger, field: str) -> str:
    if not isinstance(book.store, LedgerServer):
        rule = "is for ledgers on a server: the rights on a file decide who may write it"
        raise BadInput(field, rule, "use the permissions of the file and its folder")
    return book.store.address.schema


def _named(role: str, field: str, example: str) -> str:
    """Return the name of a role in quotes, for a statement."""
    if not role or not role.isprintable():
        raise BadInput(field, "must name a role", f"write for example {example}")
    return '"' + role.replace('"', '""') + '"'


def _is_role(rows: LedgerTransaction, role: str) -> bool:
    return bool(rows.find("SELECT 1 FROM pg_roles WHERE rolname = ?", (role,)))


def _triggers(rows: LedgerTransaction, schema: str) -> set[str]:
    there = rows.find(
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE relnamespace = to_regnamespace(?) AND NOT tgisinternal",
        (f'"{schema}"',),
    )
    return {name for (name,) in there}


def _still(rows: LedgerTransaction, schema: str, role: str) -> list[str]:
    """Say through what a role that has no rights of its own may still use a ledger."""
    if rows.find("SELECT 1 FROM pg_roles WHERE rolname = ? AND rolsuper", (role,)):
        return ["as a superuser of the server"]
    others = [right.role for right in rights_of_roles(rows, schema)]
    everybody = ["as everybody may"] if EVERYBODY in others else []
    members = rows.find(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY (?) AND rolname <> ? AND pg_has_role(?, oid, 'MEMBER')"
        " ORDER BY rolname",
        (others, role, role),
    )
    return [*everybody, *(f"as a member of {name}" for (name,) in members)]


EVERYBODY = "everybody"
"""What messages call the rights that every role has."""


@dataclass(frozen=True, slots=True)
class RoleRights:
    """What a role of the server may do with a ledger by rights of its own.

    Attributes
    ----------
    role : str
    owns : bool
    may : {"publish", "read"} or None
        What Iris granted; None for nothing of it.
    strange : tuple of str
        Rights that Iris never grants, in words.
    """

    role: str
    owns: bool
    may: Literal["publish", "read"] | None
    strange: tuple[str, ...]


def rights_of_roles(rows: LedgerTransaction, schema: str) -> list[RoleRights]:
    """Return what each role may do that has any right on a ledger; the owner first.

    Superusers and members of a role have its rights without being named.
    """
    ((owner,),) = rows.find("SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass('turn')")
    held: dict[str, set[tuple[str, str, bool]]] = {str(owner): set()}
    for role, table, right, passed_on in rows.find(_RIGHTS, (schema, schema, schema)):
        held.setdefault(EVERYBODY if role is None else str(role), set()).add((table, right, passed_on))
    return [
        _rights_of(role, own, owns=role == owner) for role, own in sorted(held.items(), key=lambda one: one[0] != owner)
    ]


def guards_missing(rows: LedgerTransaction, schema: str) -> set[str]:
    """Return the triggers that the server should look at rows with and that are not there."""
    return {f"keep_{table}" for table in _ADDED_TO} - _triggers(rows, schema)


def _rights_of(role: str, held: Iterable[tuple[str, str, bool]], *, owns: bool) -> RoleRights:
    if owns:
        return RoleRights(role, owns, None, ())
    usual = {("", "USAGE"), *((table, "SELECT") for table in TABLES)}
    publishes = {*((table, "INSERT") for table in _ADDED_TO), *((table, "UPDATE") for table in _CHANGED)}
    rights = {(table, right) for table, right, _ in held}
    strange = [f"{right} {table or 'in the schema'}" for table, right in sorted(rights - usual - publishes)]
    strange += [f"pass on {right} {table}".strip() for table, right, passed_on in sorted(held) if passed_on]
    if role == EVERYBODY:
        strange = [f"{right} {table or 'the schema'}" for table, right in sorted(rights)]
    may: Literal["publish", "read"] | None = "read" if ("release", "SELECT") in rights else None
    return RoleRights(role, owns, "publish" if rights & publishes else may, tuple(strange))


_RIGHTS = """
SELECT role.rolname, found.named, found.privilege_type, found.is_grantable FROM (
    SELECT c.relname AS named, a.* FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND c.relkind = 'r'
            AND a.grantee <> c.relowner
    UNION ALL
    SELECT c.relname, a.* FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
        WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND c.relkind = 'r'
            AND a.grantee <> c.relowner
    UNION ALL
    SELECT '', a.* FROM pg_namespace AS n, aclexplode(n.nspacl) AS a WHERE n.nspname = ? AND a.grantee <> n.nspowner
) AS found LEFT JOIN pg_roles AS role ON role.oid = found.grantee
"""
