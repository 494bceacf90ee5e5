"""The address of a ledger on a server: where it is, and nothing that lets anybody in.

`postgresql://USER@HOST:PORT/DATABASE?schema=NAME`, as libpq reads it, and one more word: the schema, which is the
ledger. A password in it would stand in lists of processes, in files and in messages, so one is refused; PostgreSQL's
own places for it (`~/.pgpass`, a service file, PGPASSWORD) are read by its own library, and never by this one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ..errors import BadInput

__all__ = ["DEFAULT_SCHEMA", "Address", "address_of"]

DEFAULT_SCHEMA = "irisdp"

_LOOKS_LIKE_ONE = re.compile(r"\s*postgres(ql)?:", re.IGNORECASE)
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_OPTIONS = {
    *("connect_timeout", "host", "hostaddr", "passfile", "port", "service", "target_session_attrs", "tcp_user_timeout"),
    *("channel_binding", "gssencmode", "krbsrvname", "require_auth"),
    *("sslcert", "sslcompression", "sslcrl", "sslkey", "sslmode", "sslnegotiation", "sslrootcert"),
}
"""What libpq takes besides, none of it secret; nothing here changes what the ledger does once it is let in."""
_WRITE = "write postgresql://USER@HOST/DATABASE?schema=NAME"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a ledger is: what people and messages call it, what libpq is told, and the schema that holds it."""

    text: str
    told: str
    schema: str


def address_of(value: Any) -> Address | None:
    """Read an address; None for what is none, such as the path of a file.

    Raises
    ------
    BadInput
        For one that holds a password or cannot be read. What was given is never quoted: it may hold a secret.
    """
    text = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not _LOOKS_LIKE_ONE.match(text):
        return None
    if not isinstance(value, str):
        raise BadInput("ledger", "is the address of a server, given as a path", "give it as text")
    try:
        parts = urlsplit(text.strip())
        login, _, place = parts.netloc.rpartition("@")
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else []
        _ = parts.port
    except ValueError:
        raise BadInput("ledger", "is no address of a database", _WRITE) from None
    names = [name for name, _ in options]
    if ":" in unquote(login) or any("password" in name or "secret" in name for name in names):
        raise BadInput(
            "ledger",
            "holds a password, which lists of processes, files and messages would show",
            "leave it out, and keep it in ~/.pgpass, a service file or PGPASSWORD; change it if others could see it",
        )
    database = unquote(parts.path).removeprefix("/")
    given = dict(options)
    schema = given.pop("schema", DEFAULT_SCHEMA)
    if not re.fullmatch(r"[\w.-]*", database) or parts.fragment or len(set(names)) < len(names):
        raise BadInput("ledger", "is no address of a database", _WRITE)
    if not given.keys() <= _OPTIONS or not text.isprintable() or "@" in place + "".join(given.values()):
        raise BadInput("ledger", "has an option that is not known here", _WRITE)
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        rule = "has a schema that is no name of small letters, digits and _"
        raise BadInput("ledger", rule, "write for example ?schema=patients")
    if "," in place or any("," in given.get(name, "") for name in ("host", "hostaddr", "port")):
        raise BadInput("ledger", "names several servers, each of which would have a budget of its own", "name one")
    told = f"postgresql://{parts.netloc}{parts.path}"
    shown = urlencode({**given, "schema": schema}, safe="/")
    return Address(f"{told}?{shown}", f"{told}?{urlencode(given)}" if given else told, schema)
