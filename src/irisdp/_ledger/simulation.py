"""Copies of ledgers in memory, which the real code charges in their place: a dry run spends and writes nothing."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from .entries import keep_facts, pinned_facts
from .file_store import SQLiteRows
from .ledger import Ledger
from .store import VERSION, Damaged, LedgerStore, LedgerTransaction, currency_of, is_current, statements

T = TypeVar("T")

_LARGEST_WHOLE = 1 << 28
"""Bytes of a file that is copied page by page, which is fast; of a larger one, and of a server, rows are copied."""
_NO_ANSWERS = f"x'{zlib.compress(b'').hex()}'"


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedStore:
    """A copy of a ledger's rows in memory, under the ledger's name.

    Attributes
    ----------
    original : LedgerStore
        The ledger that was copied.
    """

    original: LedgerStore
    _connection: sqlite3.Connection = field(repr=False)

    @property
    def name(self) -> str:
        """What messages call the ledger that was copied."""
        return self.original.name

    @property
    def ledger(self) -> Ledger:
        """The copy as a ledger, which the code of releases charges."""
        copy = object.__new__(Ledger)
        object.__setattr__(copy, "store", self)
        return copy

    def exists(self) -> bool:
        """Tell that there is a ledger, whether there was one or not."""
        return True

    @contextlib.contextmanager
    def reading(self) -> Iterator[LedgerTransaction]:
        """Look at the copy."""
        try:
            yield SQLiteRows(self._connection)
        except (sqlite3.Error, Damaged, zlib.error, UnicodeDecodeError):
            with self.original.reading():  # which says in its own words what is wrong with it
                raise Damaged from None

    def write(self, work: Callable[[LedgerTransaction], T]) -> T:
        """Do some work on the copy; what raises leaves it as it was."""
        with self.reading() as rows:
            rows.change("SAVEPOINT work")
            try:
                return work(rows)
            except BaseException:
                rows.change("ROLLBACK TO work")
                raise
            finally:
                rows.change("RELEASE work")

    def rewind(self) -> None:
        """Make the copy again what the ledger is."""
        self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN")

    @contextlib.contextmanager
    def without_limits(self) -> Iterator[None]:
        """Lift all limits for a while: what would be refused is charged, so that later questions come after it."""
        with self.reading() as rows:
            columns = rows.columns("budget")
            kept, limits = rows.find(f"SELECT {', '.join(columns)} FROM budget"), _take_audiences(rows, self.name)
            rows.change("DELETE FROM budget")
            try:
                yield
            finally:
                for row in kept:
                    rows.change(f"INSERT INTO budget VALUES ({', '.join('?' * len(row))})", row)
                if limits:
                    keep_facts(rows, {**pinned_facts(rows, self.name), **limits})


def _take_audiences(rows: LedgerTransaction, name: str) -> dict[str, object]:
    """Remove the limits of audiences and of periods, and return them."""
    facts = pinned_facts(rows, name) if is_current(rows) else {}
    limits: dict[str, object] = {kind: facts.pop(kind) for kind in ("audiences", "periods") if kind in facts}
    if limits:
        keep_facts(rows, facts)
    return limits


@contextlib.contextmanager
def simulated(original: LedgerStore) -> Iterator[SimulatedStore]:
    """Copy a ledger into memory, where it can be charged like the real one; a missing ledger is empty."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        with original.reading() as rows:
            if isinstance(rows, SQLiteRows) and rows.size() <= _LARGEST_WHOLE:
                rows.copy_to(connection)
            else:
                _copy(rows, connection)
        connection.execute("BEGIN")
        yield SimulatedStore(original, connection)


def _copy(rows: LedgerTransaction, connection: sqlite3.Connection) -> None:
    """Copy what a charge looks at: no answers and no text of questions, which are most of a ledger."""
    currency, version = currency_of(rows), rows.version()
    costs = currency.cost.__slots__
    # A ledger of version 0.1 keeps its scope in the text of its questions alone.
    texts = () if is_current(rows) else ("question",)
    settlement = ("id", "settled", *texts, "question_hash", "fingerprint")
    release = ("id", "settlement", "audience", *costs, "details")
    copied = [("budget", ("id", *costs), {}), ("settlement", settlement, {"query": "''"})]
    copied += [("release", release, {"answers": _NO_ANSWERS})]
    if not texts:
        copied[1][2]["question"] = "''"
        copied.append(("promise", ("id", "facts"), {}))
    connection.execute("BEGIN")
    for statement in statements(currency, version):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")
    for table, columns, blank in copied:
        names, values = ", ".join((*columns, *blank)), ", ".join((*"?" * len(columns), *blank.values()))
        stored = rows.find(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id")
        connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", stored)
    if version >= VERSION:
        last = rows.find("SELECT id, event, hash FROM history ORDER BY id DESC LIMIT 1")
        connection.executemany("INSERT INTO history (id, event, hash) VALUES (?, ?, ?)", last)
    connection.execute("COMMIT")
