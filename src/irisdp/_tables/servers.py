"""PostgreSQL servers, as ledgers and tables are found on them: where one is, who reaches it, and what went wrong.

An address says where a server is and nothing that lets anybody in. A password in it would appear in lists of processes,
in files and in messages, so one is refused. PostgreSQL's own library reads its places for it (`~/.pgpass`, a service
file, PGPASSWORD), and this one never does. What a server complains of may quote what it read, so its words go nowhere:
all that is taken of them is their five-letter code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ..errors import BadInput

if TYPE_CHECKING:
    import psycopg


_LOOKS_LIKE_ONE = re.compile(r"\s*postgres\w*(\+\w+)?:", re.IGNORECASE)
_WORD = re.compile(r"(?:^|\s)(\w+)\s*=")
_PLACES = {"dbname", "host", "hostaddr", "port", "service", "user"}
_SECRETS = {"passfile", "password", "sslpassword"}
"""Words of libpq's other form of an address: two of the first, or one of these, and it is no path."""

_OPTIONS = {
    *("connect_timeout", "host", "hostaddr", "passfile", "port", "service", "target_session_attrs", "tcp_user_timeout"),
    *("channel_binding", "gssencmode", "krbsrvname", "require_auth"),
    *("sslcert", "sslcompression", "sslcrl", "sslkey", "sslmode", "sslnegotiation", "sslrootcert"),
}
"""What libpq takes besides, none of it secret; nothing here changes what is done once it is let in."""

_CONNECT = 15
"""Seconds to wait for a connection, unless the address says how many."""
SILENCE = 60
"""Seconds after which either side gives up the other, of which it hears nothing: a wire that is cut tells nobody."""
_LOST = ("57P01", "57P02", "57P03", "57P05", "08")
"""The server goes down, comes up, or cut the connection."""

_PASSING = (*_LOST, "25006", "40", "53", "55P03", "57014", "58")
"""Besides: it only reads, has conflicts, is full, has the table locked, was told to stop, or its disk fails."""

_NO_ROLE, _NO_DATABASE = "28000", "3D000"

SAID = {
    "28": ("does not let this role in", "check the user, and the password in ~/.pgpass, a service file or PGPASSWORD"),
    "3D": ("has no database of that name", "check the address, or have it made"),
}
"""What a code says of any server, by its first letters: rule and remedy."""


@dataclass(frozen=True, slots=True)
class Server:
    """A database on a server, as an address names it.

    Attributes
    ----------
    place : str
        Scheme, user, host and database.
    options : mapping
        Further connection parameters for libpq.
    own : mapping
        Words of the address that are not libpq's.
    inner : str
        What stands behind `#`, as it was written.
    """

    place: str
    options: Mapping[str, str] = field(hash=False)
    own: Mapping[str, str] = field(compare=False)
    inner: str

    @property
    def told(self) -> str:
        """Connection parameters for libpq."""
        return f"{self.place}?{urlencode(self.options)}" if self.options else self.place


def is_on_server(text: str) -> bool:
    """Tell whether text looks like what says where a PostgreSQL server is: then it is no path, and is never quoted."""
    words = {word.lower() for word in _WORD.findall(text)}
    return _LOOKS_LIKE_ONE.match(text) is not None or bool(words & _SECRETS) or len(words & _PLACES) > 1


def read_server(text: str, field: str, write: str, *, own: tuple[str, ...] = ()) -> Server:
    """Read the address of a database.

    Parameters
    ----------
    field : str
        The option that names it.
    write : str
        What to write instead of an address that cannot be read.
    own : tuple of str
        Words that it may hold besides libpq's.

    Raises
    ------
    BadInput
        For one that holds a password or cannot be read. What was given is never quoted: it may hold a secret.
    """
    try:
        parts = urlsplit(text.strip())
        login, _, place = parts.netloc.rpartition("@")
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else []
        _ = parts.port
    except ValueError:
        raise BadInput(field, "is no address of a database", write) from None
    if parts.scheme not in ("postgresql", "postgres"):
        raise BadInput(field, "is no address of a database", write)
    names = [name for name, _ in options]
    if ":" in unquote(login) or any("password" in name or "secret" in name for name in names):
        raise BadInput(
            field,
            "holds a password, which lists of processes, files and messages would show",
            "leave it out, and keep it in ~/.pgpass, a service file or PGPASSWORD. Change it if others could see it",
        )
    given = dict(options)
    words = {name: given.pop(name) for name in own if name in given}
    if not re.fullmatch(r"[\w.-]*", unquote(parts.path).removeprefix("/")) or len(set(names)) < len(names):
        raise BadInput(field, "is no address of a database", write)
    if not given.keys() <= _OPTIONS or not text.isprintable() or "@" in place + "".join(given.values()):
        raise BadInput(field, "has an option that is not known here", write)
    if "," in place or any("," in given.get(name, "") for name in ("host", "hostaddr", "port")):
        raise BadInput(field, "names several servers, each of which would have a budget of its own", "name one")
    return Server(f"postgresql://{parts.netloc}{parts.path}", given, words, parts.fragment)


def connected(server: Server) -> psycopg.Connection[Any]:
    """Return a new connection, whose every statement is a transaction unless one is begun."""
    idle, interval, count = _probes()
    usual = {"connect_timeout": _CONNECT, "tcp_user_timeout": SILENCE * 1000}
    usual |= {"keepalives_idle": idle, "keepalives_interval": interval, "keepalives_count": count}
    more = {name: value for name, value in usual.items() if name not in server.options}
    library = driver()
    try:
        connection: psycopg.Connection[Any] = library.connect(
            server.told,
            autocommit=True,
            prepare_threshold=None,
            client_encoding="utf8",
            fallback_application_name="irisdp",
            **more,
        )
    except library.OperationalError as error:
        error.sqlstate = state_of(error) or _refused(error) or None
        raise
    return connection


def _refused(error: Any) -> str:
    """Return the code for why a server let nobody in, which its library keeps to itself; empty where none answered.

    Whatever language a server speaks, it puts the name that it does not know in quotes.
    """
    login, said = getattr(error, "pgconn", None), str(error).rpartition("failed:")[2]
    if login is None:
        return ""
    user, database = (
        bool(name) and re.search(rf"""["'«»„“”]\s?{re.escape(name.decode(errors="replace"))}\s?["'«»„“”]""", said)
        for name in (login.user, login.db)
    )
    if database and ("database" in said if user else True):
        return _NO_DATABASE if "exist" in said or "database" not in said else _NO_ROLE
    return _NO_ROLE if user or login.needs_password or login.used_password else ""


def listening() -> tuple[str, ...]:
    """Return statements by which the server, within a transaction, gives up a client of which it hears nothing."""
    idle, interval, count = _probes()
    return (
        f"SET LOCAL tcp_keepalives_idle = {idle}",
        f"SET LOCAL tcp_keepalives_interval = {interval}",
        f"SET LOCAL tcp_keepalives_count = {count}",
        # Probes are for who is waited for; an answer that nobody confirms would else be sent again for a quarter hour.
        f"SET LOCAL tcp_user_timeout = '{SILENCE}s'",
    )


def _probes() -> tuple[int, int, int]:
    """Return after how many seconds of silence to probe, how often, and how many times: `SILENCE` in all."""
    count = 3
    interval = max(1, SILENCE // (2 * count))
    return max(1, SILENCE - count * interval), interval, count


def driver() -> Any:
    """Return psycopg, or say what to install."""
    try:
        import psycopg
    except ImportError:
        raise BadInput("psycopg", "is not installed", 'pip install "irisdp[postgresql]"') from None
    return psycopg


def is_passing(error: Exception) -> bool:
    """Tell whether a server fails at present, so that the same request may succeed later."""
    return is_lost(error) or state_of(error).startswith(_PASSING)


def is_lost(error: Exception) -> bool:
    """Tell whether the connection was lost, or could not be had."""
    state = state_of(error)
    return state.startswith(_LOST) if state else type(error).__name__ in ("OperationalError", "ConnectionTimeout")


def state_of(error: Any) -> str:
    """Return the server's code for what went wrong (SQLSTATE); empty where it said none."""
    return str(getattr(error, "sqlstate", None) or "")
