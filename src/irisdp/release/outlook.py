"""What a dry run can say of the ledger: what is left, what would be new, and what would be refused.

Only the ledger is looked at, which holds nothing but what was released, and never the data. A dry run does not know
whether the data is unchanged since the ledger's last answer, so it reports both cases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..accounting import EPSILON_DELTA, Charge, Cost, Currency
from ..errors import BudgetRefused, PromiseRefused, Refusal
from ..exact import told_below
from .budget import check_budget
from .ledger import Ledger, Release
from .ledger_audiences import Telling, ToldSoFar, say_unlimited, unlimited
from .ledger_rows import last_fingerprint
from .projects import currency_with
from .promise import Promise

__all__ = ["LAST", "NEW", "Case", "Outlook", "foresee", "when_refused"]

LAST, NEW = None, ""
"""Versions of the data where no record is read: what a ledger last answered about, and one that it knows nothing of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The expected result: whether a stored answer comes back, the charge, and the reason of a refusal."""

    repeated: bool
    cost: Charge
    refusal: Refusal | None

    def to_document(self) -> dict[str, Any]:
        """Return the case as JSON-ready data."""
        refused = None if self.refusal is None else self.refusal.document
        return {"repeated": self.repeated, "cost": self.cost.to_document(), "refused": refused}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a ledger would do with a plan.

    Attributes
    ----------
    ledger : Path or str
        The ledger that would be charged.
    limit, spent : Charge
        Where it stands; no limit may be set.
    unchanged, changed : Case
        If the data is what the ledger last answered about, and if it is not.
    audiences : mapping
        Remaining budget of each audience that has a limit and would learn something.
    unlimited : tuple of str
        The audiences named that have no limit, where others have one.
    currency : Currency
        What the ledger counts in.
    """

    ledger: Path | str
    limit: Charge | None
    spent: Charge
    unchanged: Case
    changed: Case
    audiences: Mapping[str, Charge] = field(default_factory=dict)
    unlimited: tuple[str, ...] = ()
    currency: Currency = EPSILON_DELTA

    @property
    def left(self) -> Charge | None:
        """What may still be spent; None without a limit."""
        return self.limit and self.limit.left_after(self.spent)

    @property
    def refused(self) -> bool:
        """Whether the release would be refused, be the data what it may."""
        return self.unchanged.refusal is not None and self.changed.refusal is not None

    def describe(self, called: str | None = None) -> list[tuple[str, str]]:
        """Say it in lines for people, each with its heading; the ledger by its place, unless it is called otherwise."""
        stands = f"left {self.left.told(told_below)}" if self.left else "no limit is set"
        lines = [("ledger", f"{called or self.ledger}: {stands}")]
        lines += [
            ("audience", f"{name} may be told {left.told(told_below)} more") for name, left in self.audiences.items()
        ]
        lines += [("warning", line) for line in say_unlimited(self.unlimited, self.currency)]
        same, other = self.unchanged, self.changed
        if not isinstance(other.cost, Cost):
            lines.append(("charge", f"{other.cost}: that is what this ledger counts"))
        since = "if the data is what it was at the last release"
        if same.refusal is None:
            if same.repeated:
                lines.append(("new", f"nothing {since}: this was answered before, and is free"))
            elif same.cost != other.cost:
                lines.append(("new", f"{same.cost.as_new()} {since}"))
        refusal = same.refusal or other.refusal
        if refusal is not None:
            when = "" if self.refused else when_refused(refusal)
            lines.append(("refused", f"would be refused{when}: {refusal}"))
        return lines

    def to_document(self) -> dict[str, Any]:
        """Return the dry run as JSON-ready data."""
        audiences = {name: left.to_document() for name, left in self.audiences.items()}
        return {
            "file": str(self.ledger),
            "limit": self.limit and self.limit.to_document(),
            "spent": self.spent.to_document(),
            "left": self.left and self.left.to_document(),
            "refused": self.refused,
            "if_unchanged": self.unchanged.to_document(),
            "if_changed": self.changed.to_document(),
            **({"audiences": audiences} if audiences else {}),
            **({"audiences_without_limit": list(self.unlimited)} if self.unlimited else {}),
        }


def when_refused(refusal: Refusal) -> str:
    """Say when that will be refused which is not if the data is what the ledger last answered about.

    Under another name than the pinned one a table is known by its content alone.
    """
    if "table" in refusal.document.get("differs", ()):
        return " unless the data is what was answered about under another name"
    return " if the data has changed since the last release"


def foresee(
    book: Ledger,
    promise: Promise,
    *,
    question: str,
    price: Callable[[Sequence[Release], Currency], Charge],
    tells: Callable[[Currency], Telling] | None = None,
    limit: Charge | None = None,
) -> Outlook | None:
    """Say what a ledger would do with a plan; None where there is no ledger yet.

    Reads the ledger and nothing else; spends nothing and creates nothing.

    Parameters
    ----------
    book, promise
        The ledger, and what the release takes for granted.
    question : str
        The question as `Ledger.settle` is asked it.
    price : callable
        The cost, given the earlier releases of the same data and the ledger's currency.
    tells : callable, optional
        What the answers would tell each audience by themselves, as for `Ledger.settle`.
    limit : Charge, optional
        The limit that the release would give the ledger, which has none.
    """
    if limit is None and not book.store.exists():
        return None
    latest, currency = book.latest(), currency_with(book, limit)
    spent = book.spent if currency is book.currency else currency.cost()
    limit = book.limit if limit is None else limit
    asked = hashlib.sha256(question.encode()).hexdigest()
    repeated = any(release.question_hash == asked for release in latest)

    with book.store.reading() as rows:
        told, version = ToldSoFar.of(rows, book.store.name), last_fingerprint(rows)
        without = unlimited(rows, book.store.name, () if tells is None else tells(currency).alone)

    known = NEW if version is None else LAST
    """Where the ledger answered about nothing, there is no content by which a table of another name is known."""

    def telling(charge: Charge) -> Telling:
        return Telling(alone={None: charge}) if tells is None else tells(currency)

    def case(charge: Charge, fingerprint: str | None, *, repeated: bool) -> Case:
        try:
            book.check(promise, fingerprint)
            if not repeated:
                check_budget(limit, spent, charge)
                told.check(telling(charge), version if fingerprint is LAST else fingerprint)
        except (PromiseRefused, BudgetRefused) as refusal:
            return Case(repeated=False, cost=charge, refusal=refusal)
        return Case(repeated=repeated, cost=charge, refusal=None)

    return Outlook(
        ledger=book.place,
        limit=limit,
        spent=spent,
        unchanged=case(
            currency.cost() if repeated else price(latest if currency.refines else (), currency),
            known,
            repeated=repeated,
        ),
        changed=case(price((), currency), NEW, repeated=False),
        audiences={name: told.left(name) for name in told.concerned(telling(currency.cost()))},
        unlimited=without,
        currency=currency,
    )
