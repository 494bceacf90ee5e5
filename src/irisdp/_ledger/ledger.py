"""The budget on disk: charge and answer are one transaction.

A ledger is one SQLite file, or one schema in PostgreSQL. `Ledger.settle` looks up the question, checks its cost against
the limit, draws the answer and records both. All of this happens in one transaction with no other writer, and only what
the disk has confirmed is returned. If the process is interrupted (by a kill, a full disk or a power loss), the ledger
holds either no charge and no answer, or both. In the second case asking again returns the answer at no further cost. An
answer without a charge cannot be.

The spent budget is never stored: it is the sum of the rows, as exact rationals in text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING
from pathlib import Path
from typing import Any

from .._events import report_event
from .._exact import Rational, checked, file_path, told_below
from .._hooks import Drawable, call_hook
from .._lazy import renamed_method
from ..accounting import CURRENCIES, Charge, Currency
from ..errors import BadInput, NotShown
from .addresses import address_of, identity_of
from .audience_limits import AudienceSpending, check_audience_limits, limit_audience
from .charging import ChargeRequest, Draw, Price, Quote, Tells, charge_question, quote
from .column_changes import ColumnChange
from .entries import (
    ChargedAnswer,
    check_pinned,
    hash_of,
    insist_on,
    known_fingerprints,
    last_fingerprint,
    read_limit,
    read_spending,
    read_spent,
    set_scope,
    write_limit,
)
from .file_store import LedgerFile, resolved
from .fingerprints import name_of_secret, rotate_secret
from .history import History, check_history, record
from .known_heads import charge_loss, read_head
from .limits import limit_of, named_limit
from .migration import begin, closing, move, refuse_moved
from .partitions import Spending
from .period_limits import limit_period
from .releases import Release, ledger_document, lines_as_html, list_releases
from .scope import LedgerScope
from .store import LedgerStore, LedgerTransaction, currency_of
from .table_state import TableState


def store_at(place: str | os.PathLike[str]) -> LedgerStore:
    """Return the store of a ledger, which need not be there yet; nothing is opened.

    Raises
    ------
    BadInput
        For what is neither a usable path nor an address without a password.
    """
    address = address_of(place)
    if address is None:
        return LedgerFile(resolved(file_path(place, "ledger")))
    from .server_store import LedgerServer

    return LedgerServer(address)


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Drawable):
    """A budget and the releases charged to it, in a file or on a server that outlives the process.

    The object holds only the place: it may be copied, pickled, shared by threads and carried across a fork. A ledger
    that is not there yet reads as empty and without limit; the first limit or settlement creates it (mode 0600).

    Parameters
    ----------
    path : path, or text
        The file, on a local disk, in a folder that can be written (SQLite keeps its log beside the file). Or an
        address without a password, `postgresql://USER@HOST/DATABASE?schema=NAME`: the schema, `irisdp` unless named,
        is the ledger (docs/decisions/ledger-storage.md).

    Raises
    ------
    BadInput
        From every method, in one line, when the place cannot serve: damaged, not a ledger, a folder, not writable, on a
        full disk, a server out of reach. Nothing is released then.
    NotShown
        When a server went away while it wrote, and does not come back: asking again costs nothing that was charged.
    """

    store: LedgerStore
    """Where the rows are kept."""

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        object.__setattr__(self, "store", store_at(path))

    def __repr__(self) -> str:
        """Say where it is."""
        return f"Ledger({str(self.place)!r})"

    @property
    def path(self) -> Path | None:
        """The file; None on a server."""
        return getattr(self.store, "path", None)

    @property
    def place(self) -> Path | str:
        """The file, or the address: `Ledger(book.place)` is the same ledger."""
        return self.path or self.store.name

    @property
    def currency(self) -> Currency:
        """What charges are counted in: ε and δ, unless the ledger was made with a limit in μ or ρ."""
        with self.store.reading() as rows:
            return currency_of(rows)

    @property
    def limit(self) -> Charge | None:
        """The most that may be spent; None where no limit was set."""
        with self.store.reading() as rows:
            return read_limit(rows)

    @property
    def closed(self) -> bool:
        """Whether nothing can be spent from it: it was moved, or awaits one that is being moved to it."""
        with self.store.reading() as rows:
            return bool(closing(rows))

    @property
    def spent(self) -> Charge:
        """What all releases cost together, exactly: the sum of all charges, but for partitions of a table.

        Of releases about partitions the largest sum counts, if what is protected lies in one partition.
        """
        return self.spending.total

    @property
    def spending(self) -> Spending:
        """What was charged for the whole table, and for each partition."""
        with self.store.reading() as rows:
            return read_spending(rows, self.store.name)

    @checked
    def set_limit(
        self,
        epsilon: Rational | None = None,
        delta: Rational = 0,
        *,
        mu: Rational | None = None,
        rho: Rational | None = None,
        audience: str | None = None,
    ) -> Charge:
        """Set the most that may be spent, in place of an earlier limit; the first one says what the ledger counts in.

        Parameters
        ----------
        epsilon, delta : number or text
            Sums of ε and of δ.
        mu : number or text
            Instead: μ of everything together, in (0, 1000]. Charges are μ², which add up to at most its square.
        rho : number or text
            Instead: ρ of everything together, in (0, 500000]. Charges are ρ.
        audience : str, optional
            Set instead the limit of this audience alone, within the ledger's limit. It bounds the sum of this
            audience's own answers and of the answers that name no audience. It holds where nobody asks on its behalf
            what somebody else's answers suggest; the ledger's limit holds whatever is asked (proofs/audiences.md).

        Returns
        -------
        Charge
            The amount spent already; with an audience, what this audience has spent. If this exceeds the
            new limit, nothing more can be spent.

        Raises
        ------
        BadInput
            For a limit of an audience where the ledger has none.
        ScopeRefused
            Where the ledger has a limit or a release in another currency.

        References
        ----------
        proofs/filters.md: that questions may depend on earlier answers in each currency.
        """
        return self.restrict(limit_of(epsilon=epsilon, delta=delta, mu=mu, rho=rho), audience=audience)

    @checked
    def restrict(self, limit: Charge, *, once: bool = False, audience: str | None = None) -> Charge:
        """Set the most that may be spent, as `set_limit` does, in any currency; `once` leaves one that is there."""
        wanted = next(currency for currency in CURRENCIES if currency.cost is type(limit))

        if audience is not None:
            check_audience_limits(self.limit, limit, audience)  # before a ledger is made for it

        def work(rows: LedgerTransaction) -> Charge:
            begin(rows, self.store.name)
            if audience is not None:
                limit_audience(rows, self.store.name, audience, limit)
                return AudienceSpending.of(rows, self.store.name).of_audience(audience)
            insist_on(rows, wanted, self.store.name)
            if not once or read_limit(rows) is None:
                write_limit(rows, limit)
            return read_spent(rows)

        return self.store.write(work)

    @checked
    def limit_period(self, period: str, limit: Any) -> Charge:
        """Set the most that may be spent in each calendar period of a length, within the ledger's limit.

        This is a pace, and no guarantee by itself: the ledger's limit bounds what all answers together tell. Periods
        begin at midnight in UTC, and weeks on Monday. A clock that is set back refreshes no allowance.

        Parameters
        ----------
        period : {"day", "week", "month", "year"}
        limit : number, text, sequence or Charge
            In the ledger's currency: ε, ε and δ, "mu=1", or "rho=1/2". None removes the limit.

        Returns
        -------
        Charge
            The amount spent already, in all periods.
        """

        most = None if limit is None else named_limit(limit)

        def work(rows: LedgerTransaction) -> Charge:
            begin(rows, self.store.name)
            limit_period(rows, self.store.name, period, most)
            return read_spent(rows)

        return self.store.write(work)

    def releases(self) -> list[Release]:
        """List what was released, oldest first."""
        with self.store.reading() as rows:
            return list_releases(self.store, rows)

    @checked
    def quote(self, request: ChargeRequest, currency: Currency) -> Quote:
        """Say what `charge` would charge for a question in a currency, and whether its answer is there already."""
        with self.store.reading() as rows:
            return quote(rows, self.store, request, currency)

    @checked
    def verify(self, head: str | None = None) -> History:
        """Compare the history with all that stands in the ledger; it must go on from a `head` that somebody kept."""
        with self.store.reading() as rows:
            return check_history(rows, head)

    @checked
    def copy_to(self, place: str | os.PathLike[str]) -> Ledger:
        """Carry all over to a place that is empty, or that it left before; close this ledger, return the one there."""
        there = Ledger(place)
        move(self.store, there.store, str(there.place))
        self._note_move(there)
        return there

    def _note_move(self, there: Ledger) -> None:
        """Note the last lines of both places where this machine knows this ledger: a backup of either is noticed."""
        states = dict.fromkeys(TableState.beside(book.path) for book in (self, there) if book.path is not None)
        for state in states:
            if state.find_heads(identity_of(self.place)):
                for book in (self, there):
                    with book.store.reading() as rows:
                        head = read_head(rows, book.store, book.place)
                    if head is not None:
                        state.note_head(head)

    @checked
    def change_columns(
        self,
        data: Any,
        *,
        was: Any = None,
        project: Any = None,
        secret: str | os.PathLike[str] | None = None,
        dry_run: bool = False,
        **reading: Any,
    ) -> ColumnChange:
        """Record that the table has the columns of some data from now on, as one line of the history.

        The table stays in its ledger, with all charges. Releases about data with the columns from before stay allowed.
        On a server only the ledger's owner can record it.

        Parameters
        ----------
        data : path or frame
            The table as it is now. Only its columns are read, unless `was` is given.
        was : path or frame, optional
            The table as it was before. If it holds the same records in all columns that both have, questions about
            those columns keep their answers: they are found for the new data at no cost. All records are read.
        project, secret : path, optional
            As for `irisdp.publish`.
        dry_run : bool
            Compare, and record nothing.
        **reading
            How the files are written, and `types`, as for `irisdp.publish`.

        Returns
        -------
        ColumnChange
            Which columns are added, dropped and changed.

        Raises
        ------
        Refusal
            For a dropped column that a release may have asked about, for a column of persons or a public column that
            is dropped or changed, and where `was` holds other records. Nothing is recorded.
        BadInput
            Where the ledger knows no columns yet.

        References
        ----------
        docs/decisions/ledger-scope.md: why charges keep adding up.
        """
        change: ColumnChange = call_hook(
            "columns", self, data, was=was, project=project, secret=secret, dry_run=dry_run, **reading
        )
        return change

    @checked
    def accept_restore(self, beside: str | os.PathLike[str] | None = None) -> Charge:
        """Charge a ledger that was restored from a backup with what it had lost; return the charge.

        Adds one line, which charges what the ledger had spent at the last line that this machine knows, beyond what it
        had spent at the last known line that it still has. Nothing is given back.

        Parameters
        ----------
        beside : path, optional
            The data, or the file that `secret` names, beside which this machine keeps what it knows of the ledger.
            [default: the ledger]

        Raises
        ------
        BadInput
            Where nothing is known that the ledger lacks.
        NotShown
            Where the ledger is charged and what this machine knows cannot be written. Asking again costs nothing.
        """
        state = TableState.beside(self._home(beside))
        charged = self.store.write(lambda rows: charge_loss(rows, self.store, self.place, state))
        report_event("ledger", "charged", level=WARNING, ledger=str(self.place), charge=charged)
        with self.store.reading() as rows:
            head = read_head(rows, self.store, self.place)
        assert head is not None
        try:
            state.accept_loss(head)
        except (OSError, sqlite3.Error):
            raise NotShown(
                f"accept_restore: the ledger is charged, and {state.path} cannot be written; make it writable and ask"
                " again, which costs nothing more"
            ) from None
        return charged

    @checked
    def rotate_secret(self, beside: str | os.PathLike[str] | None = None) -> Path:
        """Replace the secret by which the ledger knows the data; write its name, which tells nothing, into the history.

        The old secret stays beside the new one, under another name: answers stay free. Every machine that publishes
        needs both files.

        Parameters
        ----------
        beside : path, optional
            The data, or the file that `secret` names. [default: the ledger]

        Returns
        -------
        Path
            The file that holds the old secret.

        Raises
        ------
        BadInput
            Where there is no ledger or no secret, and on a server for others than the ledger's owner.
        """
        home = self._home(beside)
        if not self.store.exists():
            raise BadInput("ledger", f"there is no ledger {self.store.name}", "name one that is there")

        def check(rows: LedgerTransaction) -> None:
            begin(rows, self.store.name)
            rows.change("UPDATE budget SET id = 1 WHERE id = 0")  # only the owner may

        self.store.write(check)
        secret, kept = rotate_secret(home)

        def note(rows: LedgerTransaction) -> None:
            begin(rows, self.store.name)
            record(rows, "secret", {"name": name_of_secret(secret)})

        self.store.write(note)
        return kept

    def _home(self, beside: str | os.PathLike[str] | None) -> Path:
        """Return the file beside which this machine keeps the secret, and what it knows of the ledger."""
        home = beside if beside is not None else self.path
        if home is None:
            rule = "is missing, and a ledger on a server has no folder"
            raise BadInput("beside", rule, "name the data, or the file of its secret")
        return file_path(home, "beside")

    def latest(self) -> list[Release]:
        """List the releases of that version of the data which was answered about last, oldest first."""
        with self.store.reading() as rows:
            fingerprint = last_fingerprint(rows)
            return [] if fingerprint is None else list_releases(self.store, rows, fingerprint)

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return limit, spending, scope and releases at one moment as JSON-ready data with exact numbers.

        Nothing is left of a ledger that went elsewhere (`moved_to`), or that awaits one (`awaits`).
        """
        with self.store.reading() as rows:
            return ledger_document(self.store, rows)

    def _repr_html_(self) -> str:
        """Show in a notebook what `irisdp ledger` shows: spending, limit and the newest releases."""
        with self.store.reading() as rows:
            limit, spent = read_limit(rows), read_spent(rows)
            of = closing(rows) or ("; no limit is set" if limit is None else f" of {limit.told(told_below)}")
            return lines_as_html(f"Ledger: {self.store.name}; spent {spent}{of}", list_releases(self.store, rows))

    @checked
    def pin(self, facts: Mapping[str, Any]) -> None:
        """Pin facts before the first release; those that are pinned already must be the same.

        Parameters
        ----------
        facts : mapping
            As `irisdp._ledger.scope.scope_in_advance` returns them.
        """

        def work(rows: LedgerTransaction) -> None:
            begin(rows, self.store.name)
            set_scope(rows, self.store.name, facts)

        self.store.write(work)

    @checked
    def check(self, promise: LedgerScope, fingerprint: str | None = None) -> None:
        """Refuse a release that does not keep what the ledger is pinned to, before anything is read or drawn.

        Parameters
        ----------
        promise : LedgerScope
            What the release takes for granted.
        fingerprint : str, optional
            Fingerprint of the version of the data, once it is known. The table's name is checked only then, because
            data that the ledger has answered about is the same table under any name.

        Raises
        ------
        ScopeRefused
            Which facts differ, as pinned and as asked.
        """
        with self.store.reading() as rows:
            refuse_moved(rows, self.store.name)
            check_pinned(rows, self.store.name, promise.facts(), fingerprint)

    @checked
    def known(self, fingerprints: Sequence[str]) -> set[str]:
        """Return those fingerprints that the ledger has answered about."""
        with self.store.reading() as rows:
            return known_fingerprints(rows, fingerprints)

    @checked
    def answered(self, *questions: str) -> str | None:
        """Return the version of the data that a question was answered about last, in any of several words, or None."""
        with self.store.reading() as rows:
            listed = ", ".join("?" for _ in questions)
            asked = f"SELECT fingerprint FROM settlement WHERE question_hash IN ({listed}) ORDER BY id DESC LIMIT 1"
            found = rows.find(asked, tuple(map(hash_of, questions)))
            return str(found[0][0]) if found else None

    @checked
    def settle(
        self,
        *,
        query: str,
        question: str,
        fingerprint: str,
        promise: LedgerScope,
        cost: Charge | Price,
        draw: Draw,
        tells: Tells | None = None,
        outputs: Mapping[str | None, Sequence[str]] | None = None,
    ) -> ChargedAnswer:
        """Charge for a question and answer it, both or neither. A question charged before is answered again for free.

        Parameters
        ----------
        query : str
            One line for people.
        question : str
            Canonical JSON text of all public facts that decide the answer's distribution, its privacy among them.
        fingerprint : str
            Names the version of the data (`fingerprint`).
        promise : LedgerScope
            What the release takes for granted; the first one pins it, later ones must keep it.
        cost : Charge, or callable
            What the answer costs; or what it costs given the earlier releases of the same data, on which it may build,
            and the ledger's currency.
        draw : callable
            Called only where the cost fits, which it is given too; its entries share it out exactly. If it raises,
            nothing is spent. It is called once, and again where a server undid what it had drawn, which nobody saw.
        tells : callable, optional
            What the answers tell each audience by themselves, in a currency; by default what they cost, to everybody.
        outputs : mapping, optional
            For each audience the files that its answers will be written to.

        Returns
        -------
        ChargedAnswer
            Committed: the charge and the answers are on the disk.

        Raises
        ------
        BudgetRefused
            If the cost does not fit in the remaining budget of the ledger or of an audience. Nothing was drawn or
            spent.
        ScopeRefused
            Where the release does not keep what the ledger is pinned to; nothing was drawn or spent.
        BadInput
            Where the entries do not share out the cost, or the file cannot serve.

        References
        ----------
        tests/statistics/ledger: kills, failing writes, power loss and crowds of processes.
        """
        asked = ChargeRequest(
            query=query,
            text=question,
            fingerprint=fingerprint,
            promise=promise,
            cost=cost,
            draw=draw,
            tells=tells,
            outputs=outputs or {},
        )
        return self.charge(asked)

    @checked
    def charge(self, asked: ChargeRequest) -> ChargedAnswer:
        """Charge for a question and answer it, both or neither; see `settle`."""
        return self.store.write(lambda rows: charge_question(rows, self.store, asked))
