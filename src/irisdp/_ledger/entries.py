"""What stands in a ledger, read and written inside a transaction of `Ledger`; exact rationals in text."""

from __future__ import annotations

import functools
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .._exact import rational
from ..accounting import CURRENCIES, Charge, Currency
from ..errors import BadInput, ScopeRefused
from .history import adopt, digests, is_same_as, record
from .partitions import Partition, Spending, is_parallel
from .scope import FACTS, IF_THERE, check_scope
from .store import Damaged, LedgerTransaction, added, check_kept, count_in, currency_of, is_current, typed, upgrade

LOSS = "restored"
"""Stands for the version of the data in a line that charges what a restored ledger had lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What one audience gets: its share of the cost, the answers as bytes, and details as JSON text."""

    audience: str | None = None
    cost: Charge
    answers: bytes
    details: str = "{}"


@dataclass(frozen=True, slots=True)
class ChargedAnswer:
    """The entries of a question as the disk holds them, their ids, when they were drawn, and whether they were there.

    The date is in UTC, as ISO 8601 text.
    """

    entries: tuple[LedgerEntry, ...]
    ids: tuple[int, ...]
    date: str
    repeated: bool

    @property
    def charged(self) -> Charge:
        """What was charged now: nothing for answers that were there."""
        first, *others = (entry.cost for entry in self.entries)
        return first * 0 if self.repeated else sum(others, first)


def read_limit(rows: LedgerTransaction) -> Charge | None:
    """Return the most that may be spent; None where no limit was set."""
    kind = currency_of(rows).cost
    stored = rows.find(f"SELECT {', '.join(kind.__slots__)} FROM budget")
    return read_cost(kind, *stored[0]) if stored else None


def insist_on(rows: LedgerTransaction, wanted: Currency, name: str) -> None:
    """Let an empty ledger count in a currency, and refuse one that counts in another.

    Raises
    ------
    ScopeRefused
        Where the ledger has a limit or a release in another currency.
    """
    if not count_in(rows, wanted):
        here = currency_of(rows).name
        raise ScopeRefused(
            f"{name} counts in {here}, which was fixed by its first limit or release, and not in"
            f" {wanted.name}; set a limit in {here}, or name a new ledger",
            differs=["currency"],
            pinned={"currency": here},
        )


def write_limit(rows: LedgerTransaction, limit: Charge) -> None:
    """Write down the most that may be spent, in the ledger's currency."""
    if read_limit(rows) != limit:
        _keep_one(rows, "budget", limit.to_document())
        record(rows, "limit", {"limit": limit.to_document()})


def read_spent(rows: LedgerTransaction, name: str = "") -> Charge:
    """Return what all releases cost together: the sum of all charges, except those about partitions of a table."""
    return read_spending(rows, name).total


def read_spending(rows: LedgerTransaction, name: str = "", *, since: int = 0) -> Spending:
    """Return what was charged for the whole table, and for each partition if the ledger knows any.

    Only charges from a number of `settlement` on count, if `since` names one.
    """
    # Grouped by text, which an index answers: 100,000 charges are a handful of different ones.
    kind = currency_of(rows).cost
    columns = ", ".join(kind.__slots__)
    of, numbered = (" WHERE settlement >= ?", (since,)) if since else ("", ())
    facts = pinned_facts(rows, name) if is_current(rows) else {}
    if "partition" not in facts:
        stored = rows.find(f"SELECT count(*), {columns} FROM release{of} GROUP BY {columns}", numbered)
        return Spending(sum((read_cost(kind, *numbers) * times for times, *numbers in stored), kind()))
    relation, unit, public = facts.get("relation", "exchange"), facts.get("unit"), facts.get("public_columns", [])
    spending = Spending(kind(), parallel=is_parallel(facts["partition"], relation, unit, public))
    value = rows.text_in("details", "partition", "value")
    asked = f"SELECT count(*), {value}, {columns} FROM release{of} GROUP BY {value}, {columns}"
    for times, partition, *numbers in rows.find(asked, numbered):
        if not isinstance(partition, str | None):
            raise Damaged
        spending = spending.after(partition, read_cost(kind, *numbers) * times)
    return spending


def read_cost(kind: type[Charge], *numbers: str) -> Charge:
    """Read a cost back from text; an invalid cost means that the file is damaged."""
    return _read_cost(kind.__slots__, *numbers)


@functools.lru_cache
def _read_cost(columns: tuple[str, ...], *numbers: str) -> Charge:
    kind = next(currency.cost for currency in CURRENCIES if currency.cost.__slots__ == columns)
    try:
        return kind(*(rational(number, "cost") for number in numbers))
    except BadInput:
        raise Damaged from None  # the file is to blame, not the caller


def find_settlement(rows: LedgerTransaction, fingerprint: str, question_hash: str) -> ChargedAnswer | None:
    """Return the stored answers to a question about one version of the data, or None."""
    settled = rows.find(
        "SELECT id, settled FROM settlement WHERE fingerprint = ? AND question_hash = ?", (fingerprint, question_hash)
    )
    if not settled:
        return None
    ((number, date),) = typed(("id", "settled"), settled)
    kind = currency_of(rows).cost
    columns = ("id", "audience", "answers", "details", *kind.__slots__)
    asked = f"SELECT {', '.join(columns)} FROM release WHERE settlement = ? ORDER BY id"
    stored = typed(columns, rows.find(asked, (number,)))
    if not stored:
        raise Damaged
    entries = (
        LedgerEntry(
            audience=audience, cost=read_cost(kind, *numbers), answers=zlib.decompress(answers), details=details
        )
        for _, audience, answers, details, *numbers in stored
    )
    return ChargedAnswer(tuple(entries), tuple(row[0] for row in stored), date, repeated=True)


def insert_settlement(
    rows: LedgerTransaction, asked: Mapping[str, str], entries: tuple[LedgerEntry, ...]
) -> ChargedAnswer:
    """Write down a question as it was asked, and what each audience gets."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    settlement = added(rows, "settlement", {"settled": date, **asked})
    ids = tuple(_insert_entry(rows, settlement, entry) for entry in entries)
    record(rows, "release", digests(rows, settlement, ids))
    return ChargedAnswer(entries, ids, date, repeated=False)


def _insert_entry(rows: LedgerTransaction, settlement: int, entry: LedgerEntry) -> int:
    """Write down what one audience gets, and return its id."""
    row = {
        "settlement": settlement,
        "audience": entry.audience,
        **entry.cost.to_document(),
        "details": entry.details,
        "answers": zlib.compress(entry.answers, 1),  # the quickest compression: others wait meanwhile
    }
    return added(rows, "release", row)


def superseded_by(rows: LedgerTransaction, question_hash: str) -> dict[str | None, int]:
    """Return for each audience the last release of a question, which was about an earlier version of the data."""
    asked = "SELECT audience, max(release.id) FROM release JOIN settlement ON settlement.id = release.settlement"
    return dict(rows.find(f"{asked} WHERE question_hash = ? GROUP BY audience", (question_hash,)))


def with_facts(
    entries: Iterable[LedgerEntry], partition: Partition | None, superseded: Mapping[str | None, int]
) -> tuple[LedgerEntry, ...]:
    """Keep with the answers which partition they are about, by which spending is read, and what they supersede."""
    result = []
    for entry in entries:
        told: dict[str, Any] = {} if partition is None else {"partition": partition.to_document()}
        if entry.audience in superseded:
            told["supersedes"] = superseded[entry.audience]
        details = json.dumps({**read_object(entry.details), **told}, ensure_ascii=False) if told else entry.details
        result.append(replace(entry, details=details))
    return tuple(result)


def note_outputs(
    rows: LedgerTransaction, settlement: ChargedAnswer, outputs: Mapping[str | None, Sequence[str]]
) -> None:
    """Write down to which files the answers are going to be written, each once."""
    written = []
    for number, entry in zip(settlement.ids, settlement.entries, strict=True):
        for path in outputs.get(entry.audience, ()):
            if not rows.find("SELECT 1 FROM output WHERE release = ? AND path = ?", (number, path)):
                rows.change("INSERT INTO output (release, path) VALUES (?, ?)", (number, path))
                written.append([number, path])
    if written:
        record(rows, "outputs", {"outputs": written})


def read_outputs(rows: LedgerTransaction) -> dict[int, tuple[str, ...]]:
    """Return the files of every release that has some, in the order in which they were written."""
    result: dict[int, tuple[str, ...]] = {}
    if is_current(rows):
        columns = ("release", "path")
        for number, path in typed(columns, rows.find("SELECT release, path FROM output ORDER BY rowid")):
            result[number] = (*result.get(number, ()), path)
    return result


def known_fingerprints(rows: LedgerTransaction, fingerprints: Iterable[str]) -> set[str]:
    """Return those fingerprints that the ledger has answered about, or that its owner named for another of these."""
    asked = set(fingerprints)
    statement = "SELECT fingerprint FROM settlement WHERE fingerprint = ? LIMIT 1"
    stored = {stored for fingerprint in asked for (stored,) in rows.find(statement, (fingerprint,))}
    return stored | (asked & read_same_records(rows).keys())


def read_same_records(rows: LedgerTransaction) -> dict[str, dict[str, Any]]:
    """Return the versions of the data that hold the records of an earlier one, as the owner recorded it."""
    if not is_current(rows):
        return {}
    stored = rows.find("SELECT facts FROM promise")
    found: dict[str, dict[str, Any]] = _facts(stored[0][0]).get("same_records", {}) if stored else {}
    return found


def all_fingerprints(rows: LedgerTransaction) -> set[str]:
    """Return all versions of the data that the ledger has answered about."""
    return {str(stored) for (stored,) in rows.find("SELECT DISTINCT fingerprint FROM settlement")} - {LOSS}


def last_fingerprint(rows: LedgerTransaction) -> str | None:
    """Return which version of the data, or of any partition of it, was answered about last."""
    stored = rows.find("SELECT fingerprint FROM settlement WHERE fingerprint <> ? ORDER BY id DESC LIMIT 1", (LOSS,))
    return str(stored[0][0]) if stored else None


def last_version(rows: LedgerTransaction, name: str, partition: str | None) -> str | None:
    """Return which version of a partition, or of the whole table, was answered about last."""
    if not is_current(rows) or "partition" not in pinned_facts(rows, name):
        return last_fingerprint(rows) if partition is None else None
    value = rows.text_in("details", "partition", "value")
    asked = (
        "SELECT fingerprint FROM settlement JOIN release ON settlement.id = release.settlement WHERE fingerprint <> ?"
    )
    which, values = ("IS NULL", ()) if partition is None else ("= ?", (partition,))
    stored = rows.find(f"{asked} AND {value} {which} ORDER BY settlement.id DESC LIMIT 1", (LOSS, *values))
    return str(stored[0][0]) if stored else None


def pinned_facts(rows: LedgerTransaction, name: str) -> dict[str, Any]:
    """Return what the ledger is pinned to; facts that are open yet are missing.

    Raises
    ------
    ScopeRefused
        For a ledger of version 0.1 whose releases have different relations or units: their sum guarantees nothing.
    """
    if not is_current(rows):
        return _facts_of_questions(rows, name)
    stored = rows.find("SELECT facts FROM promise")
    return _facts(stored[0][0]) if stored else {}


def promise_document(rows: LedgerTransaction, name: str) -> dict[str, Any]:
    """Return the pinned facts, None for those still open; add a note if the ledger's sum guarantees nothing."""
    try:
        pinned, note = pinned_facts(rows, name), {}
    except ScopeRefused as refusal:
        pinned, note = {}, {"note": str(refusal)}
    known = {fact: pinned.get(fact) for fact in FACTS if fact in pinned or fact not in IF_THERE}
    return {**known, **note}


def check_pinned(rows: LedgerTransaction, name: str, asked: Mapping[str, Any], fingerprint: str | None = None) -> None:
    """Refuse a release outside the ledger's scope; data that was answered about is the same table under any name."""
    known = fingerprint is None or known_fingerprints(rows, [fingerprint])
    check_scope(pinned_facts(rows, name), asked, name, except_for=["table"] if known else [])


def pin(rows: LedgerTransaction, name: str, asked: Mapping[str, Any]) -> None:
    """Pin the facts that are open yet; a ledger of format 1 becomes one of today's, in the same transaction."""
    pinned = pinned_facts(rows, name)
    if not is_current(rows):
        upgrade(rows)
        adopt(rows)
    elif asked.keys() <= pinned.keys():
        return
    facts = {**asked, **pinned}
    keep_facts(rows, facts)
    record(rows, "promise", {"facts": facts})


def keep_facts(rows: LedgerTransaction, facts: Mapping[str, Any]) -> None:
    """Write down what the ledger is pinned to, in place of what it was."""
    _keep_one(rows, "promise", {"facts": json.dumps(facts, sort_keys=True, ensure_ascii=False)})


def set_scope(rows: LedgerTransaction, name: str, facts: Mapping[str, Any]) -> None:
    """Pin facts before the first release; those that are pinned already must be the same."""
    pinned = pinned_facts(rows, name)
    # Both ways: in advance nothing may be narrowed either.
    check_scope(pinned, {**pinned, **facts}, name)
    check_scope(facts, {**facts, **pinned}, name)
    pin(rows, name, facts)


def hash_of(question: str) -> str:
    """Return the hash by which a ledger finds a question."""
    return hashlib.sha256(question.encode()).hexdigest()


def _keep_one(rows: LedgerTransaction, table: str, row: Mapping[str, Any]) -> None:
    """Write the only row of a table, in place of the one that is there."""
    names = ", ".join(row)
    newer = ", ".join(f"{name} = excluded.{name}" for name in row)
    rows.change(
        f"INSERT INTO {table} (id, {names}) VALUES (1{', ?' * len(row)}) ON CONFLICT (id) DO UPDATE SET {newer}",
        tuple(row.values()),
    )
    check_kept(rows, table, row, 1)


def _facts_of_questions(rows: LedgerTransaction, name: str) -> dict[str, Any]:
    """Derive the scope of a ledger of version 0.1 from the facts on which all its questions agree."""
    promised = set()
    public: set[str] = set()
    for (text,) in rows.find("SELECT question FROM settlement"):
        question = read_object(text)
        promised.add((question.get("relation"), question.get("unit")))
        if question.get("public_membership"):
            public.update(map(str, question.get("by") or ()))
    if len(promised) > 1:
        relations, units = ({pair[place] for pair in promised} for place in (0, 1))
        mixed = {"relation": relations, "unit": units}
        pinned = {name: sorted(map(str, values)) for name, values in mixed.items() if len(values) > 1}
        raise ScopeRefused(
            f"{name} was written by irisdp 0.1 and adds up releases with different settings ({', '.join(pinned)})."
            " Its total therefore guarantees nothing, and Iris adds no release to it. Name a new ledger with ledger=,"
            " and lower its limit by what was spent here",
            differs=list(pinned),
            pinned=pinned,
        )
    for relation, unit in promised:
        if relation is not None:
            return {"relation": relation, "unit": unit, "public_columns": sorted(public)}
    return {}


def read_object(text: str) -> dict[str, Any]:
    """Read a JSON object back; any other value means that the file is damaged."""
    try:
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise Damaged from None  # the file is to blame, not the caller
    if not isinstance(document, dict):
        raise Damaged
    return document


def _is_division(by: Mapping[str, Any]) -> bool:
    """Tell whether this says what a table is divided by."""
    return (
        "column" in by
        and by.keys() <= {"column", "period", "reading"}
        and all(isinstance(one, str) for one in by.values())
    )


def _facts(text: str) -> dict[str, Any]:
    facts = read_object(text)
    kinds = {"table": str | None, "columns": dict, "relation": str, "unit": str | None, "public_columns": list}
    kinds["audiences"] = kinds["periods"] = dict  # limits: _ledger/audience_limits.py, _ledger/period_limits.py
    kinds["partition"] = dict
    kinds["earlier_columns"], kinds["same_records"] = list, dict  # _ledger/column_changes.py
    if not facts.keys() <= kinds.keys() or not all(isinstance(facts[fact], kinds[fact]) for fact in facts):
        raise Damaged
    if not all(isinstance(columns, dict) for columns in facts.get("earlier_columns", ())):
        raise Damaged
    if not all(map(is_same_as, facts.get("same_records", {}).values())):
        raise Damaged
    if not _is_division(facts.get("partition", {"column": ""})):
        raise Damaged
    return facts
