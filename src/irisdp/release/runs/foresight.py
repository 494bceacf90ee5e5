"""What a plan would cost, question after question, before anything is drawn: charges add up, and may refine each other.

The ledgers are looked at and not written to. Each question is weighed as if those before it were charged already, so
that a plan that would be refused at its last question is refused at its first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...accounting import Charge, Currency
from ...errors import BudgetRefused, PromiseRefused, Refusal
from ...exact import told_below
from ..batches.wording import in_keys
from ..budget import check_budget
from ..chain import details
from ..ledger import Ledger
from ..ledger_audiences import ToldSoFar
from ..ledger_move import refuse_moved
from ..ledger_release import list_releases
from ..ledger_rows import hash_of, last_fingerprint, pinned_facts, read_limit, read_spent
from ..outlook import LAST, NEW, Case
from ..preparing import Prepared
from ..projects import Project, currency_with, limit_to_set
from ..promise import check_promise
from .reading import AskedQuestion

__all__ = ["Account", "Accounts"]


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
    told : ToldSoFar
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
    told: ToldSoFar
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
            told, last = ToldSoFar.of(rows, book.store.name), last_fingerprint(rows)
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

    def weigh(self, question: AskedQuestion, ready: Prepared, version: str | None) -> Case:
        """Weigh a question about a version of the data, and take it for answered from here on.

        Raises
        ------
        PromiseRefused
            Where it does not keep what the ledger is pinned to, or what a question before would pin.
        BadInput
            Where it has no price in what the ledger counts.
        """
        self._load(version)
        planned = ready.planned
        self._restrict(planned.project)
        facts = ready.promise.facts()
        named = ["table"] if version in self.known else []
        check_promise(self.pinned, facts, self.book.store.name, except_for=named)
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
            raise PromiseRefused(
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

    def weigh(self, question: AskedQuestion, ready: Prepared, book: Ledger, version: str | None) -> Case:
        """Weigh a question at a ledger; see `Account.weigh`."""
        account = self._of.get(book.place)
        if account is None:
            account = self._of[book.place] = Account.of(book, ready.planned.project)
        return account.weigh(question, ready, version)

    def refusal(self) -> Refusal | None:
        """Refuse the plan, if all of it does not fit in what is left; None where it does."""
        return next((refused for account in self if (refused := account.refused()) is not None), None)
