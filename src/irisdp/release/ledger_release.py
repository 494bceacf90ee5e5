"""The lines of a ledger, as people and later releases look at them."""

from __future__ import annotations

import functools
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .cost import Cost
from .ledger_rows import read_cost, read_object, read_outputs

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["Earlier", "Release", "list_releases"]

_SHOWN = ("table", "groups", "refines", "coarsens")
"""What `publish` stores with the answers for people to see."""


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
    """What was stored with the answers, as JSON text: public, like the answers."""
    outputs: tuple[str, ...]
    """The files that the answers were written to."""
    ledger: Ledger = field(repr=False)

    @property
    def question(self) -> str:
        """The question as canonical JSON text."""
        return self.ledger._read("question", self.id, str)

    @property
    def answers(self) -> bytes:
        """The answers as they were drawn."""
        return self.ledger._read("answers", self.id, zlib.decompress)

    def document(self) -> dict[str, Any]:
        """Return the line as `ledger --json` prints it; version 0.1 stored no table, groups and outputs."""
        kept = read_object(self.details)
        return {
            "id": self.id,
            "query": self.query,
            **self.cost.document(),
            "audience": self.audience,
            "date": self.settled,
            **{name: kept.get(name) for name in _SHOWN},
            "outputs": list(self.outputs),
        }


class Earlier(Sequence[Release]):
    """The releases of one version of the data, read when first looked at: most draws never do."""

    def __init__(self, read: Callable[[], list[Release]]) -> None:
        self._read = read

    @functools.cached_property
    def _releases(self) -> list[Release]:
        return self._read()

    def __getitem__(self, index: Any) -> Any:
        """Return a release, or a slice of them."""
        return self._releases[index]

    def __len__(self) -> int:
        """Count the releases."""
        return len(self._releases)


def list_releases(ledger: Ledger, connection: sqlite3.Connection, fingerprint: str | None = None) -> list[Release]:
    """List the releases of one version of the data, or of all, oldest first."""
    rows = connection.execute(
        "SELECT release.id, query, question_hash, audience, epsilon, delta, settled, details"
        " FROM release JOIN settlement ON settlement.id = release.settlement"
        f" {'' if fingerprint is None else 'WHERE fingerprint = ?'} ORDER BY release.id",
        () if fingerprint is None else (fingerprint,),
    ).fetchall()
    outputs = read_outputs(connection)
    return [
        Release(
            id=number,
            query=query,
            question_hash=question_hash,
            audience=audience,
            cost=read_cost(epsilon, delta),
            settled=settled,
            details=details,
            outputs=outputs.get(number, ()),
            ledger=ledger,
        )
        for number, query, question_hash, audience, epsilon, delta, settled, details in rows
    ]
