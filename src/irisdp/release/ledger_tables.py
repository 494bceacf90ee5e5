"""The tables of a ledger and their formats; the columns of limit and charges say what it counts in."""

from __future__ import annotations

from ..accounting import CURRENCIES, EPSILON_DELTA, Currency
from .ledger_store import Damaged, Rows

__all__ = ["OTHER_CURRENCY", "VERSION", "count_in", "currency_of", "is_current", "numbered", "statements", "upgrade"]

VERSION, OTHER_CURRENCY = 2, 3
# Format 3 is format 2 with other columns for limit and charges: μ² or ρ. Who knows formats up to 2 must not add to it.
# What format 2 has beyond format 1: what the ledger promises, and the files that answers were written to.
_ADDED = (
    "CREATE TABLE promise (id INTEGER PRIMARY KEY CHECK (id = 1), facts TEXT NOT NULL)",
    "CREATE TABLE output (release INTEGER NOT NULL REFERENCES release, path TEXT NOT NULL, UNIQUE (release, path))",
)


def statements() -> tuple[str, ...]:
    """Return the statements that make an empty ledger of ε and δ, in SQLite's words."""
    return (
        "CREATE TABLE settlement (id INTEGER PRIMARY KEY, settled TEXT NOT NULL, query TEXT NOT NULL,"
        " question TEXT NOT NULL, question_hash TEXT NOT NULL, fingerprint TEXT NOT NULL,"
        " UNIQUE (fingerprint, question_hash))",
        *numbered(EPSILON_DELTA),
        *_ADDED,
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
    """Tell whether the ledger has a format of today; format 1, of version 0.1, is read as it is."""
    return rows.version() >= VERSION


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
    rows.set_version(VERSION if currency is EPSILON_DELTA else OTHER_CURRENCY)
    return True


def upgrade(rows: Rows) -> None:
    """Bring a ledger of format 1 to today's, inside the caller's transaction: a kill leaves the one or the other."""
    for statement in _ADDED:
        rows.change(statement)
    rows.set_version(VERSION)
