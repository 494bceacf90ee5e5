"""Charge a question inside a ledger's transaction: find its answer, or check the cost, draw and record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..accounting import Charge, Currency
from ..errors import BadInput
from .budget import check_budget
from .ledger_audiences import Telling, ToldSoFar, with_told
from .ledger_move import begin
from .ledger_release import Earlier, Release, list_releases
from .ledger_rows import (
    Entry,
    Settlement,
    check_pinned,
    find_settlement,
    hash_of,
    insert_settlement,
    note_outputs,
    pin,
    read_limit,
    read_spent,
)
from .ledger_store import Damaged, Rows, Store
from .ledger_tables import currency_of
from .promise import Promise

__all__ = ["Draw", "Price", "Question", "Tells", "settled"]

Price = Callable[[Sequence[Release], Currency], Charge]
"""Works out a cost in the ledger's currency from the earlier releases of the same data, which an answer may build on;
there are none where the currency refines nothing."""

Draw = Callable[[Sequence[Release], Charge], Sequence[Entry]]
"""Draws the answers, given the same releases and what to charge; it must neither fork nor write to a ledger, and other
threads that use one wait for it."""

Tells = Callable[[Currency], Telling]
"""Works out what the answers tell each audience by themselves, in the ledger's currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The input of `Ledger.settle`, which explains it."""

    query: str
    text: str
    """The question as canonical JSON."""
    fingerprint: str
    promise: Promise
    cost: Charge | Price
    draw: Draw
    tells: Tells | None
    outputs: Mapping[str | None, Sequence[str]]
    drawn: set[tuple[Entry, ...]] = field(default_factory=set)
    """What was drawn for it so far; more than once only where a server undid it."""


def settled(rows: Rows, store: Store, asked: Question) -> Settlement:
    """Charge a question, with no other writer of the ledger; nothing holds before the transaction is committed."""
    begin(rows, store.name)
    facts = asked.promise.facts()
    check_pinned(rows, store.name, facts, asked.fingerprint)
    pin(rows, store.name, facts)  # rolled back with everything else
    question_hash = hash_of(asked.text)
    found = find_settlement(rows, asked.fingerprint, question_hash)
    if found is not None:
        note_outputs(rows, found, asked.outputs)
        # Ours, where a server went away before it could say that it had written it down.
        return replace(found, repeated=found.entries not in asked.drawn)
    currency = currency_of(rows)
    # Given earlier answers, what builds on them may be less private than their sums say: proofs/filters.md.
    earlier = Earlier(lambda: list_releases(store, rows, asked.fingerprint) if currency.refines else [])
    price = asked.cost if isinstance(asked.cost, Charge) else asked.cost(earlier, currency)
    limit, spent = read_limit(rows), read_spent(rows)
    check_budget(limit, spent, price)
    telling = Telling(alone={None: price}) if asked.tells is None else asked.tells(currency)
    ToldSoFar.of(rows, store.name).check(telling, asked.fingerprint)
    entries = tuple(asked.draw(earlier, price))
    if sum((entry.cost for entry in entries), currency.cost()) != price:
        raise BadInput("cost", "must be the sum of the entries' costs", "share it out among the entries exactly")
    if asked.tells is not None:
        entries = with_told(entries, telling)
    row = {
        "query": asked.query,
        "question": asked.text,
        "question_hash": question_hash,
        "fingerprint": asked.fingerprint,
    }
    fresh = insert_settlement(rows, row, entries)
    note_outputs(rows, fresh, asked.outputs)
    # What comes back is what asking again finds, and what the next question is weighed against.
    kept = find_settlement(rows, asked.fingerprint, question_hash)
    if kept != replace(fresh, repeated=True) or (read_limit(rows), read_spent(rows)) != (limit, spent + price):
        raise Damaged
    asked.drawn.add(entries)
    return fresh
