"""Charge a question inside a ledger's transaction: find its answer, or check the cost, draw and record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..accounting import Charge, Currency
from ..errors import BadInput
from .audience_limits import AudienceCost, AudienceSpending, with_told
from .entries import (
    ChargedAnswer,
    LedgerEntry,
    check_pinned,
    find_settlement,
    hash_of,
    insert_settlement,
    note_outputs,
    pin,
    read_limit,
    read_spending,
    superseded_by,
    with_facts,
)
from .limits import check_budget, check_most
from .migration import begin
from .partitions import check_protected, check_spelling
from .period_limits import check_periods
from .releases import Release, to_build_on
from .same_records import find_answer, version_to_charge, versions_of
from .scope import LedgerScope
from .store import Damaged, LedgerStore, LedgerTransaction, currency_of

Price = Callable[[Sequence[Release], Currency], Charge]
"""Works out a cost in the ledger's currency from the earlier releases of the same data, which an answer may build on;
no links of chains are among them where the currency refines nothing."""

Draw = Callable[[Sequence[Release], Charge], Sequence[LedgerEntry]]
"""Draws the answers, given the same releases and what to charge; it must neither fork nor write to a ledger, and other
threads that use one wait for it."""

Tells = Callable[[Currency], AudienceCost]
"""Works out what the answers tell each audience by themselves, in the ledger's currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """The input of `Ledger.settle`, which explains it.

    A question is known before its data: what it asks to be charged says who gets answers and no more until the version
    of the data and a way to draw are put in. A dry run charges it without.
    """

    query: str
    text: str
    """The question as canonical JSON."""
    aliases: tuple[str, ...] = ()
    """The same question as it may have been noted before, by other releases of an engine that read the same."""
    promise: LedgerScope
    cost: Charge | Price
    tells: Tells | None = None
    fingerprint: str = ""
    draw: Draw
    outputs: Mapping[str | None, Sequence[str]] = field(default_factory=dict)
    most: Charge | None = None
    """The most that the caller allows to be charged; 0 allows only what is free."""
    drawn: set[tuple[LedgerEntry, ...]] = field(default_factory=set)
    """What was drawn for it so far; more than once only where a server undid it."""

    def price(self, earlier: Sequence[Release], currency: Currency) -> Charge:
        """Return what it costs after earlier releases of the same data, in the ledger's currency."""
        return self.cost if isinstance(self.cost, Charge) else self.cost(earlier, currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a ledger would do with a question about one version of the data, if nothing else is charged before.

    Attributes
    ----------
    repeated : bool
        Whether it has the answer already.
    cost : Charge
        What it would charge.
    """

    repeated: bool
    cost: Charge


def as_noted(rows: LedgerTransaction, asked: ChargeRequest) -> ChargeRequest:
    """Return a question in the words under which its answer is stored, if it is stored under any."""
    for text in (asked.text, *asked.aliases):
        if find_answer(rows, versions_of(rows, asked.fingerprint, text), text) is not None:
            return replace(asked, text=text)
    return asked


def quote(rows: LedgerTransaction, store: LedgerStore, asked: ChargeRequest, currency: Currency) -> Quote:
    """Say what `charge_question` would charge; limits are not looked at."""
    asked = as_noted(rows, asked)
    versions = versions_of(rows, asked.fingerprint, asked.text)
    if find_answer(rows, versions, asked.text) is not None:
        return Quote(repeated=True, cost=currency.cost())
    version = version_to_charge(versions, asked.text)
    earlier = to_build_on(store, rows, version, refines=currency.refines)
    return Quote(repeated=False, cost=asked.price(earlier, currency))


def charge_question(rows: LedgerTransaction, store: LedgerStore, asked: ChargeRequest) -> ChargedAnswer:
    """Charge a question, with no other writer of the ledger; nothing holds before the transaction is committed."""
    begin(rows, store.name)
    if asked.promise.partition is not None:
        promise = asked.promise
        check_protected(asked.promise.partition.by(), promise.relation, promise.unit, promise.public_columns)
    facts = asked.promise.facts()
    check_pinned(rows, store.name, facts, asked.fingerprint)
    pin(rows, store.name, facts)  # rolled back with everything else
    asked = as_noted(rows, asked)
    question_hash = hash_of(asked.text)
    versions = versions_of(rows, asked.fingerprint, asked.text)
    found = find_answer(rows, versions, asked.text)
    if found is not None:
        note_outputs(rows, found, asked.outputs)
        # Ours, where a server went away before it could say that it had written it down.
        return replace(found, repeated=found.entries not in asked.drawn)
    asked = replace(asked, fingerprint=version_to_charge(versions, asked.text))
    currency = currency_of(rows)
    earlier = to_build_on(store, rows, asked.fingerprint, refines=currency.refines)
    price = asked.price(earlier, currency)
    check_most(asked.most, price)
    limit, spending, partition = read_limit(rows), read_spending(rows, store.name), asked.promise.part
    if partition is not None:
        check_spelling(spending.parts, partition, where=store.name)
    check_budget(limit, spending, price, partition)
    check_periods(rows, store.name, price, partition)
    telling = AudienceCost(alone={None: price}) if asked.tells is None else asked.tells(currency)
    AudienceSpending.of(rows, store.name).check(telling, asked.fingerprint)
    entries = tuple(asked.draw(earlier, price))
    if sum((entry.cost for entry in entries), currency.cost()) != price:
        raise BadInput("cost", "must be the sum of the entries' costs", "share it out among the entries exactly")
    if asked.tells is not None:
        entries = with_told(entries, telling)
    entries = with_facts(entries, asked.promise.partition, superseded_by(rows, question_hash))
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
    told = read_limit(rows), read_spending(rows, store.name)
    if kept != replace(fresh, repeated=True) or told != (limit, spending.after(partition, price)):
        raise Damaged
    asked.drawn.add(entries)
    return fresh
