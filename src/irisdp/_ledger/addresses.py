"""The address of a ledger on a server: `postgresql://USER@HOST:PORT/DATABASE?schema=NAME`.

As libpq reads it, and one more word: the schema, which is the ledger.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from .._tables import Server, is_address, is_on_server, read_server
from ..errors import BadInput

DEFAULT_SCHEMA = "irisdp"

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_WRITE = "write postgresql://USER@HOST/DATABASE?schema=NAME"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a ledger is: what people and messages call it, the database, and the schema that holds it."""

    text: str
    server: Server
    schema: str

    @property
    def told(self) -> str:
        """Connection parameters for libpq."""
        return self.server.told


def address_of(value: Any) -> Address | None:
    """Parse an address; return None if the text is no address, such as the path of a file.

    Raises
    ------
    BadInput
        For one that holds a password or cannot be read. What was given is never quoted: it may hold a secret.
    """
    text = os.fsdecode(value) if isinstance(value, str | os.PathLike) else ""
    if not is_on_server(text):
        if is_address(text):
            raise BadInput("ledger", "is no address of a database", _WRITE)
        return None
    if not isinstance(value, str):
        raise BadInput("ledger", "is the address of a server, given as a path", "give it as text")
    server = read_server(text, "ledger", _WRITE, own=("schema",))
    schema = server.own.get("schema", DEFAULT_SCHEMA)
    if server.inner:
        raise BadInput("ledger", "is no address of a database", _WRITE)
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        rule = "has a schema that is no name of small letters, digits and _"
        raise BadInput("ledger", rule, "write for example ?schema=patients")
    # In one order, so that one ledger has one name.
    shown = urlencode({**dict(sorted(server.options.items())), "schema": schema}, safe="/")
    return Address(f"{server.place}?{shown}", server, schema)


_REACHES = ("host", "hostaddr", "port", "dbname", "service")
"""Options of an address that say which database it is, and not how or as whom it is used."""


def identity_of(place: str | os.PathLike[str]) -> str:
    """Return what is equal for all spellings of one ledger's place: users of a server, and ways to connect, differ.

    Examples
    --------
    >>> identity_of("postgresql://ann@db:5432/iris?sslmode=require") == identity_of("postgresql://bob@db/iris")
    True
    """
    address = address_of(place)
    if address is None:
        return os.fsdecode(place)
    scheme, _, rest = address.server.place.partition("://")
    host, slash, database = rest.rpartition("@")[2].partition("/")
    options = {name: value for name, value in sorted(address.server.options.items()) if name in _REACHES}
    return (
        f"{scheme}://{host.removesuffix(':5432')}{slash}{database}?{urlencode({**options, 'schema': address.schema})}"
    )
