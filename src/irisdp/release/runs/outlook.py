"""What a plan would do, as `irisdp run --dry-run` says it: what each question costs, what is free, and the total."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...accounting import Charge, Currency
from ...errors import PromiseRefused, Refusal
from ...exact import checked
from ..ledger_audiences import unlimited_in
from ..outlook import LAST, NEW, Case
from ..places import check_neighbours
from ..plans import Plan
from ..preparing import Prepared
from .checking import prepare_all, records_of
from .foresight import Account, Accounts
from .reading import AskedQuestion, AskedRun, read_run

__all__ = ["Expected", "LedgerOutlook", "RunOutlook", "foresee_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What would become of one question of a plan.

    Attributes
    ----------
    number, name, dataset
        Its place, counted from 1, and what the plan calls it and its table.
    plan : Plan
        The question, its mechanism and its errors; public facts alone.
    unchanged, changed : Case
        If the data is what its ledger last answered about, and if it is not; after the questions before it.
    out : tuple of Path
        The files of answers.
    """

    number: int
    name: str | None
    dataset: str
    plan: Plan
    unchanged: Case
    changed: Case
    out: tuple[Path, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "question": self.plan.line,
            **self.plan.to_document(),
            "if_unchanged": self.unchanged.to_document(),
            "if_changed": self.changed.to_document(),
            "out": [str(path) for path in self.out],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerOutlook:
    """What a plan would charge to one ledger, all its questions together.

    Attributes
    ----------
    ledger : Path or str
    there : bool
        Whether there is such a ledger by now.
    limit, spent, left : Charge
        Where it stands; no limit may be set, and then nothing is left or not.
    unchanged, changed : Charge
        What it would be charged, if the data is what it last answered about, and if it is not.
    refusals : tuple
        Why that would be refused, in either case; None where it would not.
    unlimited : tuple of str
        The audiences named that have no limit, where others of the ledger have one.
    currency : Currency
        What the ledger counts in.
    """

    ledger: Path | str
    there: bool
    limit: Charge | None
    spent: Charge
    left: Charge | None
    unchanged: Charge
    changed: Charge
    refusals: tuple[Refusal | None, Refusal | None]
    unlimited: tuple[str, ...]
    currency: Currency

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "file": str(self.ledger),
            "limit": self.limit and self.limit.to_document(),
            "spent": self.spent.to_document(),
            "left": self.left and self.left.to_document(),
            "if_unchanged": self.unchanged.to_document(),
            "if_changed": self.changed.to_document(),
            **({"audiences_without_limit": list(self.unlimited)} if self.unlimited else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutlook:
    """What a run of a plan would do; no record was read, nothing was spent or created.

    Attributes
    ----------
    file : Path
    expected : tuple of Expected
    ledgers : tuple of LedgerOutlook
    """

    file: Path
    expected: tuple[Expected, ...]
    ledgers: tuple[LedgerOutlook, ...]

    @property
    def refusal(self) -> Refusal | None:
        """Why the plan would be refused, be the data what it may; None where it would not."""
        same, other = self._refused(0), self._refused(1)
        return None if other is None else same

    @property
    def refusal_if_changed(self) -> Refusal | None:
        """Why it would be refused if the data has changed; None where it would not."""
        return self._refused(1)

    def _refused(self, place: int) -> Refusal | None:
        cases = [(one.unchanged, one.changed)[place].refusal for one in self.expected]
        promises = [refusal for refusal in cases if isinstance(refusal, PromiseRefused)]
        budgets = [ledger.refusals[place] for ledger in self.ledgers]
        return next((refusal for refusal in (*promises, *budgets) if refusal is not None), None)

    def to_document(self) -> dict[str, Any]:
        """Return the dry run as `run --dry-run --json` prints it."""
        return {
            "plan": str(self.file),
            "dry_run": True,
            "refused": None if self.refusal is None else self.refusal.document,
            "questions": [one.to_document() for one in self.expected],
            "ledgers": [one.to_document() for one in self.ledgers],
        }


@checked
def foresee_run(
    plan: str | os.PathLike[str],
    *,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
) -> RunOutlook:
    """Check all that `irisdp.run` would, and say what it would cost; reads no record, spends and creates nothing.

    Parameters
    ----------
    plan, force
        As for `irisdp.run`.

    Raises
    ------
    BadInput
        As `irisdp.run`. A refusal is part of the dry run's result.
    """
    asked = read_run(plan, title=title, labels=labels)
    ready = prepare_all(asked, records_of(asked), force=force)
    _check_neighbours(asked, ready)
    unchanged, ledgers = _weighed(asked, ready, LAST)
    changed, others = _weighed(asked, ready, NEW)
    return RunOutlook(
        file=asked.file,
        expected=tuple(
            Expected(
                number=question.number,
                name=question.name,
                dataset=question.dataset.name,
                plan=one.planned,
                unchanged=same,
                changed=other,
                out=tuple(file.path for file, *_ in one.files),
            )
            for question, one, same, other in zip(asked.questions, ready, unchanged, changed, strict=True)
        ),
        ledgers=tuple(_ledger(same, other) for same, other in zip(ledgers, others, strict=True)),
    )


def _check_neighbours(asked: AskedRun, ready: Sequence[Prepared]) -> None:
    """Look around each ledger once."""
    seen = set()
    for question, one in zip(asked.questions, ready, strict=True):
        if one.book not in seen:
            with question.blamed():
                check_neighbours(one.book, default=one.default)
            seen.add(one.book)


def _weighed(asked: AskedRun, ready: Sequence[Prepared], version: str | None) -> tuple[list[Case], list[Account]]:
    accounts = Accounts()
    cases = [_case(question, one, accounts, version) for question, one in zip(asked.questions, ready, strict=True)]
    return cases, list(accounts)


def _case(question: AskedQuestion, ready: Prepared, accounts: Accounts, version: str | None) -> Case:
    try:
        with question.blamed():
            return accounts.weigh(question, ready, ready.book, version)
    except PromiseRefused as refusal:
        return Case(repeated=False, cost=ready.planned.cost, refusal=refusal)


def _ledger(same: Account, other: Account) -> LedgerOutlook:
    return LedgerOutlook(
        ledger=same.book.place,
        there=same.book.store.exists(),
        limit=same.limit,
        spent=same.before,
        left=same.left,
        unchanged=same.charged,
        changed=other.charged,
        refusals=(same.refused(), other.refused()),
        unlimited=unlimited_in(same.book, dict.fromkeys(same.named)),
        currency=same.currency,
    )
