"""What a plan would do, as `irisdp run --dry-run` says it: what each question costs, what is free, and the total."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._exact import checked, told_below
from .._ledger import (
    AudienceCost,
    AudienceSpending,
    Ledger,
    LedgerScope,
    Release,
    check_budget,
    check_neighbours,
    check_scope,
    hash_of,
    last_fingerprint,
    list_releases,
    pinned_facts,
    read_limit,
    read_spent,
    refuse_moved,
    say_unlimited,
    unlimited,
    unlimited_in,
)
from ..accounting import EPSILON_DELTA, Charge, Cost, Currency
from ..errors import BudgetRefused, Refusal, ScopeRefused
from .pipeline import CheckedQuestion
from .plan_file import PlanFile, PlanQuestion, in_keys, read_run
from .plans import Plan
from .project import Project, currency_with, limit_to_set
from .release_chain import details
from .run_checks import prepare_all, records_of

# What a dry run can say of the ledger: what is left, what would be new, and what would be refused.
#
# Only the ledger is looked at, which holds nothing but what was released, and never the data. A dry run does not know
# whether the data is unchanged since the ledger's last answer, so it reports both cases.

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
            when = "" if self.refused else refusal_condition(refusal)
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


def refusal_condition(refusal: Refusal) -> str:
    """Say when that will be refused which is not if the data is what the ledger last answered about.

    Under another name than the pinned one a table is known by its content alone.
    """
    if "table" in refusal.document.get("differs", ()):
        return " unless the data is what was answered about under another name"
    return " if the data has changed since the last release"


def foresee(
    book: Ledger,
    promise: LedgerScope,
    *,
    question: str,
    price: Callable[[Sequence[Release], Currency], Charge],
    tells: Callable[[Currency], AudienceCost] | None = None,
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
        told, version = AudienceSpending.of(rows, book.store.name), last_fingerprint(rows)
        without = unlimited(rows, book.store.name, () if tells is None else tells(currency).alone)

    known = NEW if version is None else LAST
    """Where the ledger answered about nothing, there is no content by which a table of another name is known."""

    def telling(charge: Charge) -> AudienceCost:
        return AudienceCost(alone={None: charge}) if tells is None else tells(currency)

    def case(charge: Charge, fingerprint: str | None, *, repeated: bool) -> Case:
        try:
            book.check(promise, fingerprint)
            if not repeated:
                check_budget(limit, spent, charge)
                told.check(telling(charge), version if fingerprint is LAST else fingerprint)
        except (ScopeRefused, BudgetRefused) as refusal:
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


# What a plan would cost, question after question, before anything is drawn: charges add up, and may refine each
# other.
#
# The ledgers are looked at and not written to. Each question is weighed as if those before it were charged already,
# so that a plan that would be refused at its last question is refused at its first.


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """Stands for a release that is yet to come, where later ones ask what they build on."""

    details: str


@dataclass(slots=True, kw_only=True)
class Account:
    """A ledger as it will stand when the questions before are charged.

    Attributes
    ----------
    book : Ledger
    currency : Currency
        What it counts in, or will.
    limit, before, spent : Charge
        The limit, the spending now, and the spending after the run; the limit may be None.
    told : AudienceSpending
        Spending of audiences with a limit, now and after the run.
    last : str or None
        The version of the data that it last answered about.
    fresh : bool
        Whether any question is new to it.
    refusal : BudgetRefused or None
        Of the first question that does not fit.
    named : list
        The audiences that questions name, in order.
    """

    book: Ledger
    currency: Currency
    limit: Charge | None
    before: Charge
    spent: Charge
    pinned: Mapping[str, Any]
    told: AudienceSpending
    last: str | None
    fresh: bool = False
    refusal: BudgetRefused | None = None
    first: str = ""
    named: list[str | None] = field(default_factory=list)
    known: set[str | None] = field(default_factory=set)
    earlier: dict[str | None, list[Any]] = field(default_factory=dict)
    answered: dict[str | None, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, book: Ledger, project: Project | None) -> Account:
        """Read a ledger without changing it, with the limit that a project would set."""
        promised = limit_to_set(project, book)
        currency = currency_with(book, promised)
        same = currency is book.currency
        with book.store.reading() as rows:
            refuse_moved(rows, book.store.name)
            spent = read_spent(rows) if same else currency.cost()
            limit = read_limit(rows) if promised is None else promised
            pinned = pinned_facts(rows, book.store.name)
            told, last = AudienceSpending.of(rows, book.store.name), last_fingerprint(rows)
        return cls(
            book=book,
            currency=currency,
            limit=limit,
            before=spent,
            spent=spent,
            pinned=pinned,
            told=told,
            last=last,
        )

    @property
    def left(self) -> Charge | None:
        """What may be spent today; None without a limit."""
        return self.limit and self.limit.left_after(self.before)

    @property
    def charged(self) -> Charge:
        """What all questions are charged together."""
        return self.spent.beyond(self.before)

    def refused(self) -> BudgetRefused | None:
        """Refuse all questions together, if they do not fit in what is left."""
        if self.refusal is None or self.limit is None:
            return None
        told = {name: value for name, value in self.refusal.document.items() if name != "error"}
        if "audience" in told:
            return BudgetRefused(f"{self.first}: {in_keys(str(self.refusal), (), toml=True)}", **told)
        _, _, remedy = in_keys(str(self.refusal), ("epsilon", "delta", "mu"), toml=True).partition("; ask with less")
        left = self.limit.left_after(self.before)
        told |= {"left": left.to_document(), "cost": self.charged.to_document()}
        return BudgetRefused(
            f"{self.book.store.name} has {left.told(told_below)} left of {self.limit.told(told_below)}, and the plan's"
            f" new questions cost {self.charged}. The first that does not fit is {self.first}. Nothing was spent."
            f" Ask with less{remedy}",
            **told,
        )

    def _load(self, version: str | None) -> None:
        if version in self.earlier:
            return
        releases = []
        if version is LAST:
            releases = self.book.latest()
        elif version != NEW:
            with self.book.store.reading() as rows:
                releases = list_releases(self.book.store, rows, version)
        self.earlier[version] = list(releases)
        self.answered[version] = {release.question_hash for release in releases}
        if releases or (version is LAST and self.last is not None):
            self.known.add(version)

    def weigh(self, question: PlanQuestion, ready: CheckedQuestion, version: str | None) -> Case:
        """Weigh a question about a version of the data, and take it for answered from here on.

        Raises
        ------
        ScopeRefused
            Where it does not keep what the ledger is pinned to, or what a question before would pin.
        BadInput
            Where it has no price in what the ledger counts.
        """
        self._load(version)
        planned = ready.planned
        self._restrict(planned.project)
        facts = ready.promise.facts()
        named = ["table"] if version in self.known else []
        check_scope(self.pinned, facts, self.book.store.name, except_for=named)
        self.pinned = {**facts, **self.pinned}
        self.known.add(version)
        asked = hash_of(planned.question())
        if asked in self.answered[version]:
            return Case(repeated=True, cost=self.currency.cost(), refusal=None)
        earlier = self.earlier[version]
        cost = planned.price.after(earlier if self.currency.refines else (), self.currency)
        refusal = None
        telling, of = planned.tells(self.currency), self.last if version is LAST else version
        try:
            check_budget(self.limit, self.spent, cost)
            self.told.check(telling, of)
        except BudgetRefused as refused:
            refusal = refused
            if self.refusal is None:
                self.refusal, self.first = refused, question.label
        self.spent, self.fresh = self.spent + cost, True
        self.told.add(telling, of)
        self.answered[version].add(asked)
        for audience in planned.audiences:
            self.named.append(audience.name)
            earlier.append(_Foreseen(details(planned.chain, audience.mechanism.chained)))
        return Case(repeated=False, cost=cost, refusal=refusal)

    def _restrict(self, project: Project | None) -> None:
        """Give the ledger the limit of another table's project, as the first question about that table will."""
        wanted = None if project is None else project.limit
        if wanted is None or wanted == self.limit:
            return
        if self.limit is not None or self.currency.cost is not type(wanted):
            raise ScopeRefused(
                f"{project and project.name} sets the limit {wanted}, and an earlier question of the plan gives "
                f"{self.book.store.name} another limit. Change one of the two",
                differs=["limit"],
            )
        self.limit = wanted


class Accounts:
    """The ledgers of a plan, each once, however many datasets are charged to it."""

    def __init__(self) -> None:
        self._of: dict[Path | str, Account] = {}

    def __iter__(self) -> Any:
        """Iterate over the ledgers, in the order in which they are charged."""
        return iter(self._of.values())

    def weigh(self, question: PlanQuestion, ready: CheckedQuestion, book: Ledger, version: str | None) -> Case:
        """Weigh a question at a ledger; see `Account.weigh`."""
        account = self._of.get(book.place)
        if account is None:
            account = self._of[book.place] = Account.of(book, ready.planned.project)
        return account.weigh(question, ready, version)

    def refusal(self) -> Refusal | None:
        """Refuse the plan, if all of it does not fit in what is left; None where it does."""
        return next((refused for account in self if (refused := account.refused()) is not None), None)


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
        promises = [refusal for refusal in cases if isinstance(refusal, ScopeRefused)]
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
        file=asked.path,
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


def _check_neighbours(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> None:
    """Look around each ledger once."""
    seen = set()
    for question, one in zip(asked.questions, ready, strict=True):
        if one.book not in seen:
            with question.blamed():
                check_neighbours(one.book, default=one.default)
            seen.add(one.book)


def _weighed(
    asked: PlanFile, ready: Sequence[CheckedQuestion], version: str | None
) -> tuple[list[Case], list[Account]]:
    accounts = Accounts()
    cases = [_case(question, one, accounts, version) for question, one in zip(asked.questions, ready, strict=True)]
    return cases, list(accounts)


def _case(question: PlanQuestion, ready: CheckedQuestion, accounts: Accounts, version: str | None) -> Case:
    try:
        with question.blamed():
            return accounts.weigh(question, ready, ready.book, version)
    except ScopeRefused as refusal:
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
