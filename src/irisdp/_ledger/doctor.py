"""Look a ledger over: what it is, whether its history holds, who may use it, and whether its secret is at hand.

Each finding is a line that says that something is as it should be, or what is wrong and how to mend it. Nothing is
changed, and no record is read.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._exact import so_many
from .._version import VERSION as IRISDP
from ..errors import BadInput, Unavailable
from .addresses import identity_of
from .entries import last_fingerprint
from .fingerprints import SECRET_BYTES, name_of_secret, secret_file, secrets_in
from .history import check_history, secret_in_use
from .known_heads import lost_heads, read_charge
from .ledger import Ledger
from .migration import whereabouts
from .roles import guards_missing, rights_of_roles
from .server_store import LedgerServer
from .store import VERSION, LedgerTransaction
from .table_state import TableState


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing.

    Attributes
    ----------
    name : str
    ok : bool
    says : str
        What it is, or what is wrong with it.
    remedy : str
        How to mend it; empty where nothing is wrong.
    """

    name: str
    ok: bool
    says: str
    remedy: str = ""

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"name": self.name, "ok": self.ok, "says": self.says, "remedy": self.remedy or None}


def examine(book: Ledger, beside: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Look over a ledger, and what this machine knows of it.

    Parameters
    ----------
    book : Ledger
    beside : path, optional
        The data, or the file beside which its secret is kept. [default: the ledger]

    Raises
    ------
    Unavailable
        Where the ledger cannot be reached.
    BadInput
        Where there is no ledger.
    """
    if not book.store.exists():
        raise BadInput("ledger", f"there is no ledger {book.store.name}", "name one that is there")
    home = beside if beside is not None else book.path
    found: list[Finding] = []
    try:
        with book.store.reading() as rows:
            found += [_version(rows), _history(rows), _open(rows), _heads(rows, book, home)]
            if isinstance(book.store, LedgerServer):
                found += _rights(rows, book.store.address.schema)
            in_use, published = secret_in_use(rows), last_fingerprint(rows) is not None
    except Unavailable:
        raise
    except BadInput as error:
        found.append(Finding("ledger", False, error.rule, error.remedy))
        in_use, published = None, False
    if book.path is not None:
        found.append(_file_rights(book.path))
    found += _secrets(home, book, in_use, published=published)
    return found


def _version(rows: LedgerTransaction) -> Finding:
    version = rows.version()
    server = rows.find("SELECT current_setting('server_version')") if not hasattr(rows, "size") else []
    engine = f"PostgreSQL {server[0][0]}" if server else f"SQLite {sqlite3.sqlite_version}"
    older = "" if version == VERSION else f", which the next change brings to {VERSION}"
    return Finding("version", True, f"format {version}{older}; irisdp {IRISDP}, {engine}")


def _history(rows: LedgerTransaction) -> Finding:
    history = check_history(rows)
    if history.problems:
        more = f", and {len(history.problems) - 1} more" if len(history.problems) > 1 else ""
        remedy = "find out who changed it, or restore it from a backup"
        return Finding("history", False, f"{history.problems[0]}{more}", remedy)
    return Finding("history", True, f"{so_many(history.lines, 'line')}, which hold; head {history.head or 'none'}")


def _open(rows: LedgerTransaction) -> Finding:
    told = whereabouts(rows)
    if "moved_to" in told:
        return Finding("place", False, f"was moved to {told['moved_to']}", "publish with the ledger there")
    if "awaits" in told:
        return Finding("place", False, f"awaits the ledger {told['awaits']}", "ask for the same move again")
    return Finding("place", True, "open")


def _heads(rows: LedgerTransaction, book: Ledger, home: Any) -> Finding:
    if home is None:
        return Finding("head", True, "not looked at: name the data, or the file of its secret, with beside=")
    state = TableState.beside(home)
    lost = lost_heads(rows, state, book.place)
    if lost:
        head = lost[0]
        charged = read_charge(head.spent)
        says = f"lacks line {head.line}, known since {head.noted[:10]}, when its charges added up to {charged}"
        is_beside = book.path is not None and book.path.parent == state.path.parent
        call = "Ledger(path).accept_restore()" if is_beside else "Ledger(path).accept_restore(data)"
        remedy = f"restore the newer ledger; if that is lost, {call} charges the lost releases"
        return Finding("head", False, says, remedy)
    known = state.find_heads(identity_of(book.place))
    says = f"line {known[0].line}, the last one that is known here, is there" if known else "no line is known here"
    return Finding("head", True, says)


def _rights(rows: LedgerTransaction, schema: str) -> Iterator[Finding]:
    rights = rights_of_roles(rows, schema)
    wrong = [f"{right.role} may {'; '.join(right.strange)}" for right in rights if right.strange]
    if wrong:
        remedy = "the ledger's owner takes the rights away with revoke(ledger, role), and grants again"
        yield Finding("roles", False, ", ".join(wrong), remedy)
    else:
        owner = next(right.role for right in rights if right.owns)
        named = {
            "publish": [right.role for right in rights if right.may == "publish"],
            "read": [right.role for right in rights if right.may == "read"],
        }
        lists = [f"{' and '.join(roles)} may {may}" for may, roles in named.items() if roles]
        yield Finding("roles", True, "; ".join([f"{owner} owns it", *lists]))
    publishers = [right.role for right in rights if right.may == "publish" or right.strange]
    missing = guards_missing(rows, schema)
    if publishers and missing:
        remedy = "the ledger's owner makes them with grant(ledger, role, may)"
        yield Finding("guards", False, f"{so_many(len(missing), 'trigger')} of the ledger are missing", remedy)
    else:
        says = "not there, and not needed: only the owner adds rows" if missing else "all are there"
        yield Finding("guards", True, says)


def _file_rights(path: Path) -> Finding:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & stat.S_IWOTH:
        remedy = f"take that away: chmod o-w {path.name}"
        return Finding("roles", False, "every user of this machine may write the file", remedy)
    return Finding("roles", True, "the rights on the file decide who may publish")


def _secrets(home: Any, book: Ledger, in_use: str | None, *, published: bool) -> Iterator[Finding]:
    if home is None:
        yield Finding("secret", True, "not looked at: name the data, or the file of its secret, with beside=")
        return
    file = secret_file(home)
    folders = [file.parent] if book.path is None else [file.parent, book.path.parent]
    keys = secrets_in(*folders)
    restore = f"restore {file.name}, or copy it from a machine that published"
    if not file.is_file():
        if published:
            yield Finding("secret", False, f"{file} is missing: questions would be charged again", restore)
        else:
            yield Finding("secret", True, "the first release draws one")
        return
    try:
        length = len(file.read_bytes())
    except OSError as error:
        yield Finding("secret", False, f"{file} cannot be read ({error.strerror})", "make it readable")
        return
    if length != SECRET_BYTES:
        yield Finding("secret", False, f"{file} has {length} bytes, not {SECRET_BYTES}", restore)
    elif in_use is not None and in_use not in map(name_of_secret, keys):
        says = f"{file} is not the one that the ledger's owner rotated to: questions would be charged again"
        yield Finding("secret", False, says, f"copy {file.name} from a machine that has it, and keep the old one too")
    elif os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & (stat.S_IRWXO):
        remedy = f"take that away: chmod o= {file.name}; then rotate_secret()"
        yield Finding("secret", False, f"every user of this machine may read {file}", remedy)
    else:
        old = len(keys) - 1
        yield Finding("secret", True, f"{file.name}" + (f", and {so_many(old, 'older one')}" if old else ""))
