"""Where a ledger is kept, as the ledger sees it: rows, looked at in one moment or written alone.

`Store.reading` shows one moment. `Store.write` lets nobody else write meanwhile, and when it returns, all that was
written is on the disk; where it raises, nothing is. Statements are plain SQL, with `?` for each value.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from ..accounting import Currency

__all__ = ["Damaged", "Rows", "Store", "added", "check_kept", "turn"]

T = TypeVar("T")


class Damaged(Exception):
    """What stands in a ledger is not what one holds; the place says so in its own words."""


class Rows(Protocol):
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

    def is_intact(self) -> bool:
        """Tell whether all that is kept beside the tables, such as indexes, says what they say; all of it is read."""
        ...

    def recount(self, currency: Currency) -> None:
        """Give the tables of limit and charges, which are empty, the columns of a currency."""
        ...


class Store(Protocol):
    """One place that holds a ledger, or may: it is named, not opened, and travels as its name does."""

    @property
    def name(self) -> str:
        """What messages call the ledger."""
        ...

    def exists(self) -> bool:
        """Tell whether there is a ledger."""
        ...

    def reading(self) -> AbstractContextManager[Rows]:
        """Look at one moment; where there is no ledger, at an empty one that is kept nowhere."""
        ...

    def write(self, work: Callable[[Rows], T]) -> T:
        """Do some work alone and return what it returns once the disk holds it; what is not there yet is made.

        The work must have no effect but on rows.
        """
        ...


def added(rows: Rows, table: str, row: Mapping[str, Any]) -> int:
    """Add a row and return its id, once it reads back as it was written.

    Raises
    ------
    Damaged
        Where something in the ledger's place leaves the row out or changes it.
    """
    number = rows.insert(table, row)
    check_kept(rows, table, row, number)
    return number


def check_kept(rows: Rows, table: str, row: Mapping[str, Any], number: int) -> None:
    """Raise `Damaged` unless the row of an id reads back as it was written."""
    if rows.find(f"SELECT {', '.join(row)} FROM {table} WHERE id = ?", (number,)) != [tuple(row.values())]:
        raise Damaged


# A fork in the middle of an operation would give the child an idea of locks and connections that only the parent holds.
# So every operation of this process takes its turn here, and a fork waits for its own. Threads would queue anyway.
turn = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=turn.acquire, after_in_parent=turn.release, after_in_child=turn.release)
