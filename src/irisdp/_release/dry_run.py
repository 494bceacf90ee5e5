"""What a plan would do, as `irisdp run --dry-run` says it: what each question costs, what is free, and the total."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, Unpack

from .._exact import checked, told_below
from .._ledger import (
    AudienceCost,
    AudienceSpending,
    ChargeRequest,
    Ledger,
    Release,
    SimulatedStore,
    Spending,
    as_noted,
    check_most,
    check_neighbours,
    currency_of,
    find_answer,
    last_version,
    ledgers_beside,
    place_of_table,
    read_limit,
    read_spending,
    remembered,
    say_unlimited,
    simulated,
    to_build_on,
    unlimited_in,
    version_to_charge,
    versions_of,
)
from ..accounting import EPSILON_DELTA, Charge, Cost, Currency
from ..errors import BudgetRefused, Refusal, ScopeRefused
from .dated_names import check_new
from .options import PublishOptions, with_options
from .pipeline import CheckedQuestion, check_asked, read_max_charge
from .plan_file import PlanFile, PlanQuestion, PlanText, in_keys, read_run
from .plans import Plan
from .project import Project, give_limit, limit_to_set
from .run_checks import Records, agreement_of, prepare_all, records_of

# What a dry run can say of the ledger: what is left, what would be new, and what would be refused.
#
# A copy of the ledger in memory is charged by the real code; no record is read. Iris remembers which version of the
# data each file held at its last release, so a dry run usually knows whether the data is unchanged (`expected`). Of a
# frame, and of a ledger from another machine, it does not know, and reports both cases.

LAST, NEW = None, ""
"""Versions of the data where no record is read: what a ledger last answered about, and one that it knows nothing of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What a dry run takes for the version of one table.

    Attributes
    ----------
    unchanged : str or None
        If the data is what it was at its last release; `LAST` for what the ledger last answered about.
    changed : str
        If it is not: a name that no ledger knows, and no other table has.
    expected : str or None
        One of these two, by what the file system says of the files; None if that does not tell.
    """

    unchanged: str | None
    changed: str
    expected: str | None

    @classmethod
    def of(cls, ready: CheckedQuestion, *, alone: bool = True) -> Versions:
        """Return the versions of the table of a question; `alone` tells that its ledger is asked about no other."""
        table, book = ready.planned.table, ready.book
        place = place_of_table(table)
        changed = f"{NEW}{place}" if place is not None else NEW
        known, covered = remembered(table, book, ready.secret, ready.stamp)
        if known is not None:
            # Of a partition whose records lie in one file with others, that file does not tell which of them changed.
            untold = _is_under_another_name(ready) or (table.part is not None and table.part.where is not None)
            expected = known.fingerprint if known.same else None if untold else changed
            return cls(unchanged=known.fingerprint, changed=changed, expected=expected)
        # A ledger of another name in the folder may know the data.
        elsewhere = ready.default and book.path is not None and bool({*ledgers_beside(book.path)} - {book})
        is_new = covered and not elsewhere and not _is_under_another_name(ready)
        return cls(unchanged=LAST if alone else changed, changed=changed, expected=changed if is_new else None)


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
        If the data is what it was at its last release, and if it is not.
    expected : Case or None
        Which of the two it is, where the files tell without being read.
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
    expected: Case | None = None
    audiences: Mapping[str, Charge] = field(default_factory=dict)
    unlimited: tuple[str, ...] = ()
    currency: Currency = EPSILON_DELTA

    @property
    def left(self) -> Charge | None:
        """What may still be spent; None without a limit."""
        return self.limit and self.limit.left_after(self.spent)

    @property
    def refused(self) -> bool:
        """Whether the release would be refused: as expected, or else whatever the data is."""
        if self.expected is not None:
            return self.expected.refusal is not None
        return self.unchanged.refusal is not None and self.changed.refusal is not None

    def describe(self, called: str | None = None) -> list[tuple[str, str]]:
        """Say it in lines for people, each with its heading; the ledger by its place, unless it is called otherwise."""
        stands = f"left {self.left.told(told_below)}" if self.left else "no limit is set"
        lines = [("ledger", f"{called or self.ledger}: {stands}")]
        lines += [
            ("audience", f"{name} may be told {left.told(told_below)} more") for name, left in self.audiences.items()
        ]
        lines += [("warning", line) for line in say_unlimited(self.unlimited, self.currency)]
        case, since = self.unchanged, IF_UNCHANGED
        if self.expected is not None:
            case, since = self.expected, "since the file has not changed"
        if not isinstance(self.changed.cost, Cost):
            lines.append(("charge", f"{self.changed.cost}: that is what this ledger counts"))
        if case.refusal is None:
            if case.repeated:
                lines.append(("new", f"nothing {since}: this was answered before, and is free"))
            elif case.cost != self.changed.cost:
                lines.append(("new", f"{case.cost.as_new()} {since}"))
        refusal = case.refusal or (self.changed.refusal if self.expected is None else None)
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
            "expected": self.expected and self.expected.to_document(),
            "if_unchanged": self.unchanged.to_document(),
            "if_changed": self.changed.to_document(),
            **({"audiences": audiences} if audiences else {}),
            **({"audiences_without_limit": list(self.unlimited)} if self.unlimited else {}),
        }


def _allowed(case: Case, most: Charge | None) -> Case:
    """Refuse a charge above the most that is allowed, if nothing else refuses it."""
    if case.refusal is None:
        try:
            check_most(most, case.cost)
        except BudgetRefused as refusal:
            return replace(case, refusal=refusal)
    return case


def _is_under_another_name(ready: CheckedQuestion) -> bool:
    """Tell whether a ledger would accept a table by its content alone, since it knows it under another name."""
    try:
        ready.book.check(ready.request.promise, NEW)
    except ScopeRefused as refusal:
        return "table" in refusal.document["differs"]
    return False


IF_UNCHANGED = "if the data is what it was at the last release"
"""When a dry run's better case holds, if the files do not tell."""


def refusal_condition(refusal: Refusal) -> str:
    """Say when that will be refused which is not if the data is what the ledger last answered about.

    Under another name than the pinned one a table is known by its content alone.
    """
    if "table" in refusal.document.get("differs", ()):
        return " unless the data is what was answered about under another name"
    return " if the data has changed since the last release"


def simulate_charge(ready: CheckedQuestion) -> Outlook | None:
    """Say what a ledger would do with a question, or a batch; None where there is no ledger yet.

    Charges a copy of the ledger in memory; spends nothing and creates nothing.
    """
    book, request, project = ready.book, ready.request, ready.planned.project
    check_neighbours(book, default=ready.default)
    if limit_to_set(project, book) is None and not book.store.exists():
        return None
    versions = Versions.of(ready)
    with Accounts() as accounts:
        cases: dict[str | None, Case] = {}
        for version in (versions.unchanged, versions.changed):
            account = accounts.of(book)
            try:
                cases[version] = _allowed(account.charge(request, project, version), ready.max_charge)
            except ScopeRefused as refusal:
                cases[version] = Case(repeated=False, cost=account.quote(request, version), refusal=refusal)
            accounts.rewind()
        if versions.expected is not None and not cases[versions.expected].repeated:
            check_new(ready.outputs)
        telling = (
            AudienceCost(alone={None: account.before}) if request.tells is None else request.tells(account.currency)
        )
        return Outlook(
            ledger=book.place,
            limit=account.limit,
            spent=account.before,
            unchanged=cases[versions.unchanged],
            changed=cases[versions.changed],
            expected=None if versions.expected is None else cases[versions.expected],
            audiences={name: account.told.left(name) for name in account.told.concerned(telling)},
            unlimited=unlimited_in(book, () if request.tells is None else telling.alone),
            currency=account.currency,
        )


P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class DryRun(Generic[P]):
    """What a question, or a batch, would do: its plan, the ledger it would charge, and what that would say."""

    plan: P
    ledger: Ledger
    outlook: Outlook | None


@checked
@with_options(PublishOptions)
def dry_run_question(data: Any, query: str, *arguments: str | int, **options: Unpack[PublishOptions]) -> DryRun[Plan]:
    """Check all that `irisdp.publish` would, and say what it would cost; reads no record, spends and creates nothing.

    Parameters
    ----------
    data, query, *arguments
        As for `irisdp.publish`.
    """
    ready = check_asked(data, query, arguments, options)
    return DryRun(ready.planned, ready.book, simulate_charge(ready))


# What a plan would cost, question after question: each is charged to the copy of its ledger, and those after it are
# weighed as if it were charged already. So a plan that would be refused at its last question is refused at its first.


@dataclass(slots=True, kw_only=True)
class Account:
    """A ledger as it will stand when the questions before are charged.

    Attributes
    ----------
    book : Ledger
        The ledger, which is only looked at.
    store : SimulatedStore
        Its copy in memory, which is charged.
    currency : Currency
        What it counts in, or will.
    limit, before : Charge
        The limit, which may be None, and the spending now.
    new : Spending
        What the questions so far are charged.
    told : AudienceSpending
        Spending of audiences with a limit, now.
    refusal : BudgetRefused or None
        Of the first question that does not fit.
    first : str
        What that question is called.
    named : list
        The audiences that questions name, in order.
    """

    book: Ledger
    store: SimulatedStore
    currency: Currency
    limit: Charge | None
    before: Charge
    new: Spending
    told: AudienceSpending
    refusal: BudgetRefused | None = None
    first: str = ""
    named: list[str | None] = field(default_factory=list)

    @classmethod
    def of(cls, book: Ledger, store: SimulatedStore) -> Account:
        """Open an account of a ledger on its copy."""
        with store.reading() as rows:
            spending = read_spending(rows, store.name)
            return cls(
                book=book,
                store=store,
                currency=currency_of(rows),
                limit=read_limit(rows),
                before=spending.total,
                new=Spending(spending.whole * 0),
                told=AudienceSpending.of(rows, store.name),
            )

    def charge(self, request: ChargeRequest, project: Project | None, version: str | None) -> Case:
        """Charge the copy for a question about a version of the data, as the ledger would be charged.

        Raises
        ------
        ScopeRefused
            Where it does not keep what the ledger is pinned to, or what a question before would pin.
        BadInput
            Where it has no price in what the ledger counts.
        """
        self._restrict(project)
        of = self._version(request, version)
        quoted: list[Charge] = []

        def cost(earlier: Sequence[Release], currency: Currency) -> Charge:
            quoted.append(request.price(earlier, currency))
            return quoted[-1]

        asked, refusal = replace(request, fingerprint=of, cost=cost), None
        try:
            settled = self.store.ledger.charge(asked)
        except BudgetRefused as refused:
            refusal = refused
            with self.store.without_limits():
                settled = self.store.ledger.charge(asked)
        price = settled.charged
        with self.store.reading() as rows:
            parallel = read_spending(rows, self.store.name).parallel
        self.new = replace(self.new.after(request.promise.part, price), parallel=parallel)
        return Case(repeated=settled.repeated, cost=quoted[0] if quoted else price, refusal=refusal)

    def _version(self, request: ChargeRequest, version: str | None) -> str:
        """Return a version of the data by its name: of `LAST`, what the ledger last answered about."""
        if version is not LAST:
            return version
        with self.book.store.reading() as rows:
            return last_version(rows, self.book.store.name, request.promise.part) or NEW

    def quote(self, request: ChargeRequest, version: str | None) -> Charge:
        """Return what a question costs that is refused whatever it costs."""
        of = self._version(request, version)
        with self.store.reading() as rows:
            request = as_noted(rows, replace(request, fingerprint=of))
            versions = versions_of(rows, of, request.text)
            if find_answer(rows, versions, request.text) is not None:
                return self.currency.cost()
            build_on = version_to_charge(versions, request.text)
            earlier = to_build_on(self.store, rows, build_on, refines=self.currency.refines)
            return request.price(earlier, self.currency)

    def weigh(self, question: PlanQuestion, ready: CheckedQuestion, version: str | None) -> Case:
        """Weigh a question of a plan, which is taken for answered from here on; see `charge`."""
        case = self.charge(ready.request, ready.planned.project, version)
        if case.refusal is not None and self.refusal is None:
            assert isinstance(case.refusal, BudgetRefused)
            self.refusal, self.first = case.refusal, question.label
        if not case.repeated:
            self.named += [audience.name for audience in ready.planned.audiences]
        return case

    def _restrict(self, project: Project | None) -> None:
        """Give the copy the limit of a project, as the first question about its table will."""
        wanted = None if project is None else project.limit
        if wanted is None or wanted == self.limit:
            return
        if self.limit is not None and self.book.limit is None:
            raise ScopeRefused(
                f"{project and project.name} sets the limit {wanted}, and an earlier question of the plan gives "
                f"{self.book.store.name} another limit. Change one of the two",
                differs=["limit"],
            )
        give_limit(project, self.store.ledger)
        if self.currency is not self.store.ledger.currency:  # it was empty
            self.currency = self.store.ledger.currency
            self.before = self.currency.cost()
            self.new = Spending(self.before)
        self.limit = wanted

    @property
    def left(self) -> Charge | None:
        """What may be spent today; None without a limit."""
        return self.limit and self.limit.left_after(self.before)

    @property
    def charged(self) -> Charge:
        """What all questions are charged together."""
        return self.new.total

    def refused(self, most: Charge | None = None) -> BudgetRefused | None:
        """Refuse all questions together, if they do not fit in what is left, or cost more than is allowed."""
        if self.refusal is None or self.limit is None:
            try:
                check_most(most, self.charged)
            except BudgetRefused as refusal:
                return refusal
            return None
        told = {name: value for name, value in self.refusal.document.items() if name != "error"}
        if "audience" in told or "period" in told:
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


class Accounts(contextlib.ExitStack):
    """The ledgers that are charged in a dry run, each copied once, however many datasets are charged to it."""

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[Path | str, Account] = {}
        self._copies: dict[Path | str, SimulatedStore] = {}

    def __iter__(self) -> Any:
        """Iterate over the ledgers, in the order in which they are charged."""
        return iter(self._of.values())

    def of(self, book: Ledger) -> Account:
        """Return the account of a ledger, which is copied when it is first asked for."""
        if book.place not in self._of:
            if book.place not in self._copies:
                self._copies[book.place] = self.enter_context(simulated(book.store))
            self._of[book.place] = Account.of(book, self._copies[book.place])
        return self._of[book.place]

    def rewind(self) -> None:
        """Start again, with ledgers as they are."""
        self._of = {}
        for store in self._copies.values():
            store.rewind()

    def refusal(self, most: Charge | None = None) -> Refusal | None:
        """Refuse the plan, if all of it does not fit in what is left or in the most that any ledger may be charged."""
        return next((refused for account in self if (refused := account.refused(most)) is not None), None)


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
        If the data is what it was at its last release, and if it is not; after the questions before it.
    expected : Case or None
        What the files of all tables tell without being read; None if they do not.
    out : tuple of Path
        The files of answers.
    """

    number: int
    name: str | None
    dataset: str
    plan: Plan
    unchanged: Case
    changed: Case
    expected: Case | None
    out: tuple[Path, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "question": self.plan.line,
            **self.plan.to_document(),
            "expected": self.expected and self.expected.to_document(),
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
        What it would be charged, if the data is what it was at its last release, and if it is not.
    expected : Charge or None
        What it would be charged by what the files tell; None if they do not.
    refusals : tuple
        Why that would be refused, if unchanged, if changed, and as expected; None where it would not.
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
    expected: Charge | None
    refusals: tuple[Refusal | None, Refusal | None, Refusal | None]
    unlimited: tuple[str, ...]
    currency: Currency

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "file": str(self.ledger),
            "limit": self.limit and self.limit.to_document(),
            "spent": self.spent.to_document(),
            "left": self.left and self.left.to_document(),
            "expected": self.expected and self.expected.to_document(),
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
    questions : tuple of Expected
    ledgers : tuple of LedgerOutlook
    is_without_data : bool
        Whether a schema stood in for the tables, and new ledgers for those of the plan.
    agreement : str
        A digest of the questions; see `agreement_of`.
    """

    file: Path
    questions: tuple[Expected, ...]
    ledgers: tuple[LedgerOutlook, ...]
    is_without_data: bool = False
    agreement: str = ""

    @property
    def refusal(self) -> Refusal | None:
        """Why the plan would be refused: as expected, or else whatever the data is; None where it would not."""
        if self.is_known:
            return self._refused(2)
        same, other = self._refused(0), self._refused(1)
        return None if other is None else same

    @property
    def refusal_if_changed(self) -> Refusal | None:
        """Why it would be refused if the data has changed; None where it would not, and where it has not."""
        return None if self.is_known else self._refused(1)

    @property
    def is_known(self) -> bool:
        """Whether the files tell which of their tables have changed."""
        return all(one.expected is not None for one in self.questions)

    def _refused(self, place: int) -> Refusal | None:
        cases = [case.refusal for one in self.questions if (case := (one.unchanged, one.changed, one.expected)[place])]
        promises = [refusal for refusal in cases if isinstance(refusal, ScopeRefused)]
        budgets = [ledger.refusals[place] for ledger in self.ledgers]
        return next((refusal for refusal in (*promises, *budgets) if refusal is not None), None)

    def to_document(self) -> dict[str, Any]:
        """Return the dry run as `run --dry-run --json` prints it."""
        return {
            "plan": str(self.file),
            "dry_run": True,
            **({"without_data": True} if self.is_without_data else {}),
            "refused": None if self.refusal is None else self.refusal.document,
            "questions": [one.to_document() for one in self.questions],
            "ledgers": [one.to_document() for one in self.ledgers],
        }


@checked
def dry_run_plan(
    plan: str | os.PathLike[str] | PlanText,
    *,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    max_charge: Any = None,
    schema: str | os.PathLike[str] | None = None,
    another_ledger: bool = False,
) -> RunOutlook:
    """Check all that `irisdp.run` would, and say what it would cost; reads no record, spends and creates nothing.

    Parameters
    ----------
    plan : path or PlanText
        As for `irisdp.run`, or a plan that is not saved yet.
    force, max_charge, another_ledger
        As for `irisdp.run`.
    schema : path, optional
        A JSON file of the columns and their types: then neither the tables nor the ledgers of the plan are opened.
        See `without_data`.

    Raises
    ------
    BadInput
        As `irisdp.run`. A refusal is part of the dry run's result.
    """
    asked = read_run(plan, title=title, labels=labels, divided=schema is None)
    most = read_max_charge(max_charge)
    if schema is None:
        return _foreseen(asked, most, records_of(asked), force=force, another=another_ledger)
    from .schema_runs import without_data

    with tempfile.TemporaryDirectory(prefix="irisdp-") as folder:
        replaced = without_data(asked, schema, Path(folder))
        foreseen = _foreseen(replaced.asked, most, records_of(asked), force=force, another=True)
        ledgers = (replace(one, ledger=replaced.ledgers[str(one.ledger)]) for one in foreseen.ledgers)
        return replace(foreseen, ledgers=tuple(ledgers), is_without_data=True)


def _foreseen(asked: PlanFile, most: Charge | None, records: Records, *, force: bool, another: bool) -> RunOutlook:
    ready = prepare_all(asked, records, force=force, another=another)
    _check_neighbours(asked, ready)
    with Accounts() as accounts:
        versions = _versions(ready)
        weighed: dict[tuple[str | None, ...], tuple[list[Case], list[Account]]] = {}
        passes = []
        for wanted in ("unchanged", "changed", "expected"):
            known = tuple(getattr(each, wanted) for each in versions)
            if known not in weighed:
                weighed[known] = _weighed(asked, ready, accounts, known)
                accounts.rewind()
            passes.append(weighed[known])
    is_known = all(each.expected is not None for each in versions)
    return RunOutlook(
        file=asked.path,
        agreement=agreement_of(ready),
        questions=tuple(
            Expected(
                number=question.number,
                name=question.name,
                dataset=question.dataset.name,
                plan=one.planned,
                unchanged=same,
                changed=other,
                expected=third if is_known else None,
                out=tuple(file.path for file, *_ in one.files),
            )
            for question, one, same, other, third in zip(
                asked.questions, ready, *(cases for cases, _ in passes), strict=True
            )
        ),
        ledgers=tuple(
            _ledger(*accounts, is_known=is_known, most=most)
            for accounts in zip(*(ledgers for _, ledgers in passes), strict=True)
        ),
    )


def _check_neighbours(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> None:
    """Look around each ledger once."""
    seen = set()
    for question, one in zip(asked.questions, ready, strict=True):
        if one.book not in seen:
            with question.blamed():
                check_neighbours(one.book, default=one.default)
            seen.add(one.book)


def _versions(ready: Sequence[CheckedQuestion]) -> list[Versions]:
    """Return the versions for each question: those of one table are looked up once."""
    tables: dict[Path | str, set[str | None]] = {}
    names: dict[Path | str, set[str | None]] = {}
    for one in ready:
        tables.setdefault(one.book.place, set()).add(place_of_table(one.planned.table))
        names.setdefault(one.book.place, set()).add(one.request.promise.table)
    known: dict[tuple[Path | str, str | None], Versions] = {}
    result = []
    for one in ready:
        key = one.book.place, place_of_table(one.planned.table)
        if key not in known:
            known[key] = Versions.of(one, alone=len(tables[one.book.place]) == 1)
            if len(names[one.book.place]) > 1 and known[key].expected == known[key].changed:
                # The ledger accepts a second table only if it holds what the first does, which only reading tells.
                known[key] = replace(known[key], expected=None)
        result.append(known[key])
    return result


def _weighed(
    asked: PlanFile, ready: Sequence[CheckedQuestion], accounts: Accounts, versions: Sequence[str | None]
) -> tuple[list[Case], list[Account]]:
    cases = [
        _case(question, one, accounts, version)
        for question, one, version in zip(asked.questions, ready, versions, strict=True)
    ]
    return cases, list(accounts)


def _case(question: PlanQuestion, ready: CheckedQuestion, accounts: Accounts, version: str | None) -> Case:
    try:
        with question.blamed():
            return accounts.of(ready.book).weigh(question, ready, version)
    except ScopeRefused as refusal:
        return Case(repeated=False, cost=ready.planned.cost, refusal=refusal)


def _ledger(same: Account, other: Account, third: Account, *, is_known: bool, most: Charge | None) -> LedgerOutlook:
    return LedgerOutlook(
        ledger=same.book.place,
        there=same.book.store.exists(),
        limit=same.limit,
        spent=same.before,
        left=same.left,
        unchanged=same.charged,
        changed=other.charged,
        expected=third.charged if is_known else None,
        refusals=(same.refused(most), other.refused(most), third.refused(most) if is_known else None),
        unlimited=unlimited_in(same.book, dict.fromkeys(same.named)),
        currency=same.currency,
    )
