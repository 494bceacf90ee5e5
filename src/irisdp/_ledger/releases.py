"""The lines of a ledger, as people and later releases look at them."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .._frames import InOneLine, html_table
from .._lazy import renamed_method
from ..accounting import Charge
from ..errors import without_passwords
from .audience_limits import AudienceSpending
from .entries import promise_document, read_cost, read_limit, read_object, read_outputs, read_spending
from .forecasts import forecast
from .limits import statement
from .migration import whereabouts
from .period_limits import read_periods
from .store import Damaged, LedgerStore, LedgerTransaction, currency_of, typed

T = TypeVar("T")


_SHOWN = ("table", "groups", "refines", "coarsens")
"""What `publish` stores with the answers for people to see."""
_SHOWN_WHERE_KEPT = ("guarantee", "partition", "supersedes")
"""What was asked for, where it was converted to be charged; which partition of a growing table it is about; and which
release it stands in for, of an earlier version of the data."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Release(InOneLine):
    """One line of the ledger; what is long (the question, the answers) is read when asked for."""

    id: int
    query: str
    question_hash: str
    audience: str | None
    cost: Charge
    settled: str
    """When, in UTC, as ISO 8601 text."""
    details: str
    """What was stored with the answers, as JSON text: public, like the answers."""
    outputs: tuple[str, ...]
    """The files that the answers were written to."""
    store: LedgerStore = field(repr=False)
    """The ledger that the line is in."""

    def _summary(self) -> str:
        reader = "" if self.audience is None else f" for {self.audience}"
        return f"#{self.id}, {self.query}{reader}; charged {self.cost.as_charged()}; {self.settled[:10]}"

    @property
    def question(self) -> str:
        """The question as canonical JSON text."""
        return self._read("question", str)

    def asked(self) -> dict[str, Any]:
        """Return the question as the ledger holds it: all public facts that decide the distribution of the answers."""
        return self._read("question", read_object)

    @property
    def answers(self) -> bytes:
        """The answers as they were drawn."""
        return self._read("answers", zlib.decompress)

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return the line as `ledger --json` prints it; version 0.1 stored no table, groups and outputs."""
        kept = read_object(self.details)
        return {
            "id": self.id,
            "query": self.query,
            **self.cost.to_document(),
            "audience": self.audience,
            "date": self.settled,
            **{name: kept.get(name) for name in _SHOWN},
            "outputs": list(self.outputs),
            **{name: kept[name] for name in _SHOWN_WHERE_KEPT if name in kept},
        }

    def _read(self, column: str, convert: Callable[[Any], T]) -> T:
        with self.store.reading() as rows:
            stored = rows.find(
                f"SELECT {column} FROM release JOIN settlement ON settlement.id = release.settlement"
                " WHERE release.id = ?",
                (self.id,),
            )
            if not stored:
                raise Damaged
            ((cell,),) = typed((column,), stored)
            return convert(cell)


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


def list_releases(store: LedgerStore, rows: LedgerTransaction, fingerprint: str | None = None) -> list[Release]:
    """List the releases of one version of the data, or of all, oldest first."""
    kind = currency_of(rows).cost
    columns = ("id", "query", "question_hash", "audience", "settled", "details", *kind.__slots__)
    stored = rows.find(
        f"SELECT release.{', '.join(columns)}"
        " FROM release JOIN settlement ON settlement.id = release.settlement"
        f" {'' if fingerprint is None else 'WHERE fingerprint = ?'} ORDER BY release.id",
        () if fingerprint is None else (fingerprint,),
    )
    for row in typed(columns, stored):
        read_object(row[columns.index("details")])  # here, where what is damaged is said to be
    outputs = read_outputs(rows)
    return [
        Release(
            id=number,
            query=query,
            question_hash=question_hash,
            audience=audience,
            cost=read_cost(kind, *numbers),
            settled=settled,
            details=details,
            outputs=outputs.get(number, ()),
            store=store,
        )
        for number, query, question_hash, audience, settled, details, *numbers in stored
    ]


def to_build_on(
    store: LedgerStore, rows: LedgerTransaction, fingerprint: str | None, *, refines: bool
) -> Sequence[Release]:
    """Return the releases of one version of the data on which answers may build, read when first looked at.

    Where nothing is refined these are no links of chains: given earlier links, a finer one may be less private than
    the sum says (proofs/filters.md).
    """

    def read() -> list[Release]:
        found = list_releases(store, rows, fingerprint)
        return found if refines else [release for release in found if "chain" not in read_object(release.details)]

    return Earlier(read)


def lines_as_html(title: str, releases: Sequence[Release]) -> str:
    """Show lines of a ledger in a notebook, the newest first."""
    rows = [(line.id, line.settled[:10], line.query, line.audience, line.cost) for line in reversed(releases)]
    return html_table(title, ["id", "date", "question", "audience", "cost"], rows)


def ledger_document(store: LedgerStore, rows: LedgerTransaction) -> dict[str, Any]:
    """Return a ledger as JSON-ready data with exact numbers; of one that is closed nothing is left."""
    limit, spending, elsewhere = read_limit(rows), read_spending(rows, store.name), whereabouts(rows)
    spent = spending.total
    left = limit and (limit.beyond(limit) if elsewhere else limit.left_after(spent))
    told = AudienceSpending.of(rows, store.name).to_document(closed=bool(elsewhere))
    periods = {one.name: one.to_document(closed=bool(elsewhere)) for one in read_periods(rows, store.name)}
    document = {
        "limit": limit and limit.to_document(),
        "spent": spent.to_document(),
        "left": left and left.to_document(),
        **elsewhere,
        **statement(currency_of(rows), limit, spent),
        **({"audiences": told} if told else {}),
        **({"periods": periods} if periods else {}),
        **({"partitions": spending.to_document()} if spending.parts else {}),
        **_public(promise_document(rows, store.name)),
        "releases": [_public(release.to_document()) for release in list_releases(store, rows)],
    }
    expected = forecast(document)
    return document if expected is None else {**document, "forecast": expected.to_document()}


def _public(document: dict[str, Any]) -> dict[str, Any]:
    """Leave a password out of a table's name: before it was refused, a ledger could be pinned to one."""
    table = document.get("table")
    return {**document, "table": without_passwords(table)} if isinstance(table, str) else document
