"""The tables of a ledger and their formats; the columns of limit and charges say what it counts in."""

from __future__ import annotations

from ..accounting import CURRENCIES, EPSILON_DELTA, Currency
from .ledger_store import Damaged, Rows

__all__ = ["HISTORY", "VERSION", "count_in", "currency_of", "is_current", "numbered", "statements", "upgrade"]

VERSION = 4
# Format 1 is that of version 0.1. Formats 2 and 3, which counts μ² or ρ, have what `_ADDED` makes: what the ledger
# promises, and the files that answers were written to. Format 4 counts anything, and has a history besides: who does
# not know it must not add to it.
_PROMISING = 2
_ADDED = (
    "CREATE TABLE promise (id INTEGER PRIMARY KEY CHECK (id = 1), facts TEXT NOT NULL)",
    "CREATE TABLE output (release INTEGER NOT NULL REFERENCES release, path TEXT NOT NULL, UNIQUE (release, path))",
)

HISTORY = "CREATE TABLE history (id INTEGER PRIMARY KEY, event TEXT NOT NULL, hash TEXT NOT NULL)"


def statements(currency: Currency = EPSILON_DELTA, version: int = VERSION) -> tuple[str, ...]:
    """Return the statements that make an empty ledger of a currency and format, in SQLite's words."""
    return (
        "CREATE TABLE settlement (id INTEGER PRIMARY KEY, settled TEXT NOT NULL, query TEXT NOT NULL,"
        " question TEXT NOT NULL, question_hash TEXT NOT NULL, fingerprint TEXT NOT NULL,"
        " UNIQUE (fingerprint, question_hash))",
        *numbered(currency),
        *(_ADDED if version >= _PROMISING else ()),
        *((HISTORY,) if version >= VERSION else ()),
    )


def numbered(currency: Currency) -> tuple[str, ...]:
    """Return the statements that make the tables with numbers of a currency, which its costs name the columns of."""
    columns = currency.cost.__slots__
    numbers = ", ".join(f"{column} TEXT NOT NULL" for column in columns)
    return (
        f"CREATE TABLE budget (id INTEGER PRIMARY KEY CHECK (id = 1), {numbers})",
        "CREATE TABLE release (id INTEGER PRIMARY KEY, settlement INTEGER NOT NULL REFERENCES settlement,"
        f" audience TEXT, {numbers}, details TEXT NOT NULL, answers BLOB NOT NULL)",
        "CREATE INDEX release_settlement ON release (settlement)",
        f"CREATE INDEX release_cost ON release ({', '.join(columns)})",
    )


def is_current(rows: Rows) -> bool:
    """Return whether the ledger records its scope; format 1, of version 0.1, is read without one."""
    return rows.version() >= _PROMISING


def currency_of(rows: Rows) -> Currency:
    """Return what the ledger counts in, which the columns of its budget say."""
    columns = rows.columns("budget")[1:]
    for currency in CURRENCIES:
        if currency.cost.__slots__ == columns:
            return currency
    raise Damaged


def count_in(rows: Rows, currency: Currency) -> bool:
    """Let an empty ledger count in a currency, inside the caller's transaction; tell whether it now does.

    One that has a limit or a release keeps the currency it has.
    """
    if currency_of(rows) is currency:
        return True
    if any(rows.find(f"SELECT 1 FROM {table} LIMIT 1") for table in ("budget", "settlement")):
        return False
    if not is_current(rows):
        upgrade(rows)
    rows.recount(currency)
    return True


def upgrade(rows: Rows) -> None:
    """Bring a ledger of format 1 to today's, inside the caller's transaction: a kill leaves the one or the other."""
    for statement in (*_ADDED, HISTORY):
        rows.change(statement)
    rows.set_version(VERSION)
