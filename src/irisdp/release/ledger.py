"""The budget on disk: charge and answer are one transaction.

A ledger is one SQLite file. `Ledger.settle` looks for the question, weighs its cost against the limit, draws the answer
and writes both down, all inside one immediate transaction, and returns only what the disk has confirmed. Whatever
happens in between (a kill, a full disk, a power loss) leaves either no charge and no answer, or a charge with its
answer, which asking again returns at no further cost. An answer without a charge cannot be.

What is spent is never stored: it is the sum of the rows, as exact rationals in text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from ..errors import BadInput, BudgetRefused
from ..exact import Rational, rational
from .cost import Cost
from .ledger_file import connection

__all__ = ["Cost", "Entry", "Ledger", "Release", "Settlement"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one audience gets: its share of the cost, the answers as bytes, and details as JSON text."""

    audience: str | None = None
    cost: Cost
    answers: bytes
    details: str = "{}"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The entries of a question as the disk holds them, their ids, and whether they were already there."""

    entries: tuple[Entry, ...]
    ids: tuple[int, ...]
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One line of the ledger; what is long (the question, the answers) is read when asked for."""

    id: int
    query: str
    question_hash: str
    audience: str | None
    cost: Cost
    settled: str
    """When, in UTC, as ISO 8601 text."""
    details: str
    """What was stored with the answers, as JSON text."""
    ledger: Ledger = field(repr=False)

    @property
    def question(self) -> str:
        """The question as canonical JSON text."""
        return self.ledger._read("question", self.id, str)

    @property
    def answers(self) -> bytes:
        """The answers as they were drawn."""
        return self.ledger._read("answers", self.id, zlib.decompress)


Price = Callable[[Sequence[Release]], Cost]
"""Works out a cost from the earlier releases of the same data, which an answer may build on."""

Draw = Callable[[Sequence[Release]], Sequence[Entry]]
"""Draws the answers, given the earlier releases of the same data; it must neither fork nor write to a ledger, and other
threads that use one wait for it."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A budget and the releases charged to it, in a file that outlives the process.

    The object holds only the path: it may be copied, pickled, shared by threads and carried across a fork. A ledger
    that is not there yet reads as empty and without limit; the first limit or settlement creates it (mode 0600).

    Parameters
    ----------
    path : path
        The file, on a local disk, in a folder that can be written (SQLite keeps its log beside the file).

    Raises
    ------
    BadInput
        From every method, in one line, when the file cannot serve: damaged, not a ledger, a folder, not writable, on a
        full disk. Nothing is released then.
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        object.__setattr__(self, "path", Path(path).absolute())

    @property
    def limit(self) -> Cost | None:
        """The most that may be spent; None where no limit was set."""
        with self._connection() as connection:
            return _limit(connection)

    @property
    def spent(self) -> Cost:
        """The sum of all charges, exactly."""
        with self._connection() as connection:
            return _spent(connection)

    def set_limit(self, epsilon: Rational, delta: Rational = 0) -> Cost:
        """Set the most that may be spent, in place of an earlier limit.

        Returns
        -------
        Cost
            What is spent already. Where that does not fit in the new limit, nothing more can be spent.
        """
        limit = Cost(rational(epsilon, "epsilon"), rational(delta, "delta"))
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO budget VALUES (1, :epsilon, :delta)", limit.document())
            return _spent(connection)

    def releases(self) -> list[Release]:
        """List what was released, oldest first."""
        with self._connection() as connection:
            return self._releases(connection)

    def document(self) -> dict[str, Any]:
        """Return limit, spending and releases at one moment as JSON-ready data with exact numbers."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            limit = _limit(connection)
            return {
                "limit": limit and limit.document(),
                "spent": _spent(connection).document(),
                "releases": [
                    {"id": release.id, "query": release.query, **release.cost.document(), "audience": release.audience}
                    for release in self._releases(connection)
                ],
            }

    def settle(self, *, query: str, question: str, fingerprint: str, cost: Cost | Price, draw: Draw) -> Settlement:
        """Charge for a question and answer it, both or neither; a question settled before is answered again for free.

        Parameters
        ----------
        query : str
            One line for people.
        question : str
            Canonical JSON text of all public facts that decide the answer's distribution, its privacy among them.
        fingerprint : str
            Names the version of the data (`fingerprint`).
        cost : Cost, or callable
            What the answer costs; or what it costs given the earlier releases of the same data, on which it may build.
        draw : callable
            Called at most once, only where the cost fits; its entries share out the cost exactly. If it raises, nothing
            is spent.

        Returns
        -------
        Settlement
            Committed: the charge and the answers are on the disk.

        Raises
        ------
        BudgetRefused
            Where the cost does not fit in what is left; nothing was drawn or spent.
        BadInput
            Where the entries do not share out the cost, or the file cannot serve.

        References
        ----------
        tests/statistics/ledger: kills, failing writes, power loss and crowds of processes.
        """
        question_hash = hashlib.sha256(question.encode()).hexdigest()
        with self._transaction() as connection:
            settled = _settled(connection, fingerprint, question_hash)
            if settled is not None:
                return settled
            earlier = _Earlier(self, fingerprint)
            price = cost if isinstance(cost, Cost) else cost(earlier)
            _check_budget(_limit(connection), _spent(connection), price)
            entries = tuple(draw(earlier))
            if sum((entry.cost for entry in entries), Cost()) != price:
                raise BadInput(
                    "cost", "must be the sum of the entries' costs", "share it out among the entries exactly"
                )
            now = datetime.now(UTC).isoformat(timespec="seconds")
            settlement = connection.execute(
                "INSERT INTO settlement (settled, query, question, question_hash, fingerprint) VALUES (?, ?, ?, ?, ?)",
                (now, query, question, question_hash, fingerprint),
            ).lastrowid
            ids = tuple(_insert(connection, settlement, entry) for entry in entries)
        return Settlement(entries, ids, repeated=False)

    def _releases(self, connection: sqlite3.Connection, condition: str = "TRUE", *values: str) -> list[Release]:
        rows = connection.execute(
            "SELECT release.id, query, question_hash, audience, epsilon, delta, settled, details"
            " FROM release JOIN settlement ON settlement.id = release.settlement"
            f" WHERE {condition} ORDER BY release.id",
            values,
        )
        return [
            Release(
                id=number,
                query=query,
                question_hash=question_hash,
                audience=audience,
                cost=_cost(epsilon, delta),
                settled=settled,
                details=details,
                ledger=self,
            )
            for number, query, question_hash, audience, epsilon, delta, settled, details in rows
        ]

    def _read(self, column: str, number: int, convert: Callable[[Any], T]) -> T:
        with self._connection() as connection:
            row = connection.execute(
                f"SELECT {column} FROM release JOIN settlement ON settlement.id = release.settlement"
                " WHERE release.id = ?",
                (number,),
            ).fetchone()
            if row is None:
                raise sqlite3.DatabaseError
            return convert(row[0])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write, alone; leaving normally commits, and closing without a commit rolls back."""
        with self._connection(create=True) as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")

    def _connection(self, *, create: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return connection(self.path, create=create)


class _Earlier(Sequence[Release]):
    """The releases of one version of the data, read when first looked at: most draws never do."""

    def __init__(self, ledger: Ledger, fingerprint: str) -> None:
        self._ledger, self._fingerprint = ledger, fingerprint

    @functools.cached_property
    def _releases(self) -> list[Release]:
        with self._ledger._connection() as connection:
            return self._ledger._releases(connection, "fingerprint = ?", self._fingerprint)

    def __getitem__(self, index: Any) -> Any:
        return self._releases[index]

    def __len__(self) -> int:
        return len(self._releases)


def _limit(connection: sqlite3.Connection) -> Cost | None:
    row = connection.execute("SELECT epsilon, delta FROM budget").fetchone()
    return row and _cost(*row)


def _spent(connection: sqlite3.Connection) -> Cost:
    # Grouped by text, which an index answers: 100,000 charges are a handful of different ones.
    rows = connection.execute("SELECT epsilon, delta, count(*) FROM release GROUP BY epsilon, delta")
    return sum((_cost(epsilon, delta) * times for epsilon, delta, times in rows), Cost())


@functools.lru_cache
def _cost(epsilon: str, delta: str) -> Cost:
    try:
        return Cost(rational(epsilon, "epsilon"), rational(delta, "delta"))
    except BadInput:
        raise sqlite3.DatabaseError from None  # the file is to blame, not the caller


def _check_budget(limit: Cost | None, spent: Cost, cost: Cost) -> None:
    total = spent + cost  # without a limit, too: a total that is too long to be written must not come about
    if limit is None or total.fits_in(limit):
        return
    left = Cost(max(limit.epsilon - spent.epsilon, Fraction(0)), max(limit.delta - spent.delta, Fraction(0)))
    parts = {"limit": limit.document(), "left": left.document(), "cost": cost.document()}
    said = {name: f"epsilon {part['epsilon']}, delta {part['delta']}" for name, part in parts.items()}
    raise BudgetRefused(
        f"the ledger's limit is {said['limit']}; left is {said['left']}; the answer would cost {said['cost']}", **parts
    )


def _settled(connection: sqlite3.Connection, fingerprint: str, question_hash: str) -> Settlement | None:
    settlement = connection.execute(
        "SELECT id FROM settlement WHERE fingerprint = ? AND question_hash = ?", (fingerprint, question_hash)
    ).fetchone()
    if settlement is None:
        return None
    rows = connection.execute(
        "SELECT id, audience, epsilon, delta, answers, details FROM release WHERE settlement = ? ORDER BY id",
        settlement,
    ).fetchall()
    entries = (
        Entry(audience=audience, cost=_cost(epsilon, delta), answers=zlib.decompress(answers), details=details)
        for _, audience, epsilon, delta, answers, details in rows
    )
    return Settlement(tuple(entries), tuple(row[0] for row in rows), repeated=True)


def _insert(connection: sqlite3.Connection, settlement: int | None, entry: Entry) -> int:
    cost = entry.cost.document()
    number = connection.execute(
        "INSERT INTO release (settlement, audience, epsilon, delta, details, answers) VALUES (?, ?, ?, ?, ?, ?)",
        # The quickest compression: others wait meanwhile.
        (settlement, entry.audience, cost["epsilon"], cost["delta"], entry.details, zlib.compress(entry.answers, 1)),
    ).lastrowid
    return int(number or 0)
