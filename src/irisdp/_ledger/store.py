"""The interface of the stores that hold a ledger: rows, read at one moment or written exclusively.

`LedgerStore.reading` shows one moment. `LedgerStore.write` excludes other writers. When it returns, all changes are on
the disk; if it raises, none is. Statements are plain SQL, with `?` for each value.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from ..accounting import CURRENCIES, EPSILON_DELTA, Currency

T = TypeVar("T")


class Damaged(Exception):
    """The content of a ledger is not valid; the store words the error."""


class LedgerTransaction(Protocol):
    """The tables of one ledger, inside one transaction."""

    def find(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        ...

    def change(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement that returns nothing."""
        ...

    def insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Add a row to a table whose rows have ids, and return its id: one more than the largest."""
        ...

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the names of a table's columns, in their order."""
        ...

    def version(self) -> int:
        """Return the format that the ledger has."""
        ...

    def set_version(self, version: int) -> None:
        """Write down the format that the ledger has now."""
        ...

    def text_in(self, column: str, *path: str) -> str:
        """Return SQL for a member of a JSON object in a column of text; null where the object lacks it."""
        ...

    def is_intact(self) -> bool:
        """Tell whether all that is kept beside the tables, such as indexes, says what they say; all of it is read."""
        ...

    def recount(self, currency: Currency) -> None:
        """Give the tables of limit and charges, which are empty, the columns of a currency."""
        ...


class LedgerStore(Protocol):
    """One place that holds a ledger, or may: it is named, not opened, and travels as its name does."""

    @property
    def name(self) -> str:
        """What messages call the ledger."""
        ...

    def exists(self) -> bool:
        """Tell whether there is a ledger."""
        ...

    def reading(self) -> AbstractContextManager[LedgerTransaction]:
        """Look at one moment; where there is no ledger, at an empty one that is kept nowhere."""
        ...

    def write(self, work: Callable[[LedgerTransaction], T]) -> T:
        """Do some work alone and return what it returns once the disk holds it; what is not there yet is made.

        The work must have no effect but on rows.
        """
        ...


def added(rows: LedgerTransaction, table: str, row: Mapping[str, Any]) -> int:
    """Add a row and return its id, once it reads back as it was written.

    Raises
    ------
    Damaged
        Where something in the ledger's place leaves the row out or changes it.
    """
    number = rows.insert(table, row)
    check_kept(rows, table, row, number)
    return number


def check_kept(rows: LedgerTransaction, table: str, row: Mapping[str, Any], number: int) -> None:
    """Raise `Damaged` unless the row of an id reads back as it was written."""
    if rows.find(f"SELECT {', '.join(row)} FROM {table} WHERE id = ?", (number,)) != [tuple(row.values())]:
        raise Damaged


# A fork in the middle of an operation would give the child an idea of locks and connections that only the parent holds.
# So every operation of this process takes its turn here, and a fork waits for its own. Threads would queue anyway.
turn = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=turn.acquire, after_in_parent=turn.release, after_in_child=turn.release)


# Check the type of each value in a ledger, because SQLite stores any type in any column.
#
# A digest cannot distinguish bytes from the text of their hash, and a value of the wrong type would fail at an
# unexpected place. So types are checked wherever rows are read, and when a history is verified.

_KINDS: dict[str, Any] = {
    **dict.fromkeys(("id", "settlement", "release"), int),
    "audience": str | None,
    "answers": bytes,
}
"""By column; all others hold text."""


def is_typed(columns: Sequence[str], row: Sequence[Any]) -> bool:
    """Tell whether each cell of a row is of the kind that its column holds."""
    return all(isinstance(cell, _KINDS.get(name, str)) for name, cell in zip(columns, row, strict=True))


def typed(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows as they are.

    Raises
    ------
    Damaged
        Where a cell is of another kind than its column holds.
    """
    result = list(rows)
    if not all(is_typed(columns, row) for row in result):
        raise Damaged
    return result


# The tables of a ledger and their formats. The columns for limits and charges show the currency.

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


def is_current(rows: LedgerTransaction) -> bool:
    """Return whether the ledger records its scope; format 1, of version 0.1, is read without one."""
    return rows.version() >= _PROMISING


def currency_of(rows: LedgerTransaction) -> Currency:
    """Return what the ledger counts in, which the columns of its budget say."""
    columns = rows.columns("budget")[1:]
    for currency in CURRENCIES:
        if currency.cost.__slots__ == columns:
            return currency
    raise Damaged


def count_in(rows: LedgerTransaction, currency: Currency) -> bool:
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


def upgrade(rows: LedgerTransaction) -> None:
    """Bring a ledger of format 1 to today's, inside the caller's transaction: a kill leaves the one or the other."""
    for statement in (*_ADDED, HISTORY):
        rows.change(statement)
    rows.set_version(VERSION)
