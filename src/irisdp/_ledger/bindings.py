"""The ledger that a table is bound to: a release to another one must say so.

A team's budget would be no budget if leaving out `ledger` made a new one. So the first release of a table binds it: the
memory beside the data, and the one beside the secret, note the ledger (`TableState`). A project file can name the
ledger, too. A release to another ledger needs `another_ledger=True`. A ledger that was renamed or moved goes on: it
holds the last line that is known of the one before, which is gone or closed.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .._exact import file_path, told_below
from .._tables import Table
from ..errors import BadInput, ScopeRefused
from .addresses import identity_of
from .discovery import find_ledger, place_of_table, secret_key_file
from .known_heads import holds_head, read_charge, read_head
from .ledger import Ledger
from .table_state import KnownHead, TableState

_HERE = "./"
"""How a place begins that is in the folder of the memory: data and memory may be moved together."""


class DeclaredLedger(NamedTuple):
    """The ledger that a project file names."""

    file: str
    place: Path | str


@dataclass(frozen=True, slots=True)
class Binding:
    """The ledger that a table was released with, and the last line that was known of its history then."""

    ledger: Ledger
    head: KnownHead

    def is_continued_by(self, book: Ledger) -> bool:
        """Tell whether a ledger is this one, or this one under another name or in another place."""
        if is_same(self.ledger, book):
            return True
        with book.store.reading() as rows:
            holds = holds_head(rows, self.head)
        return holds and (not self.ledger.store.exists() or self.ledger.closed)

    def describe_spending(self) -> str:
        """Say what was spent, by the ledger or, where that cannot be read, by what was known of it."""
        try:
            if self.ledger.store.exists():
                spent, limit = self.ledger.spent, self.ledger.limit
                return f"has spent {spent}" + ("" if limit is None else f" of {limit.told(told_below)}")
        except BadInput:
            pass
        return f"had charged {read_charge(self.head.spent)} by {self.head.noted[:10]}, and cannot be read now"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChoice:
    """The ledger of a release, and what the table is bound to.

    Attributes
    ----------
    book : Ledger
    default : bool
        Whether it is the one beside the data, and was not named: another of the folder may know the data.
    table : str
        What messages call the table.
    bound : Binding or None
    declared : DeclaredLedger or None
        By the project file.
    another : bool
        Whether another ledger than the one that the table is bound to is wanted.
    named : bool
        Whether the caller named it.
    """

    book: Ledger
    default: bool
    table: str
    bound: Binding | None
    declared: DeclaredLedger | None
    another: bool
    named: bool

    def check(self, book: Ledger) -> None:
        """Refuse a ledger that is not the one of the table.

        Raises
        ------
        ScopeRefused
            It says which ledger that is, and what it has spent.
        """
        if self.another:
            return
        declared = None if self.declared is None else Ledger(self.declared.place)
        if declared is not None and self.declared is not None and not is_same(declared, book):
            there = _place(declared)
            raise ScopeRefused(
                f"{self.declared.file} sets the ledger {there}; you asked for {_place(book)}. Leave out ledger=, or add"
                " another_ledger=True to publish from a second budget over the same people",
                differs=["ledger"],
                pinned={"ledger": there},
                asked={"ledger": _place(book)},
            )
        bound = self.bound
        if bound is None or bound.is_continued_by(book):
            return
        there = _place(bound.ledger)
        leave_out = "Leave out ledger=" if self.named else f"Add ledger={there!r}"
        if declared is not None and self.declared is not None:
            leave_out = f"Name that ledger in {self.declared.file}"
        raise ScopeRefused(
            f"{self.table} is bound to {there}, which {bound.describe_spending()}; you asked for {_place(book)}."
            f" {leave_out}, or add another_ledger=True to publish from a second budget over the same people",
            differs=["ledger"],
            pinned={"ledger": there, "spent": json.loads(bound.head.spent)},
            asked={"ledger": _place(book)},
        )

    def describe(self, book: Ledger) -> str | None:
        """Say in a line which ledger the table is bound to, if that is not what the caller would expect."""
        if self.bound is None:
            return None
        there = _place(self.bound.ledger)
        if not self.bound.is_continued_by(book):
            spent = self.bound.describe_spending()
            return f"{self.table} is bound to {there}, which {spent}; {_place(book)} is a second budget"
        if self.named or self.default or self.declared is not None:
            return None
        return f"{self.table} is bound to {there}, which is charged"

    def binds(self, book: Ledger) -> bool:
        """Tell whether a release with a ledger binds the table to it."""
        if self.declared is not None and is_same(Ledger(self.declared.place), book):
            return True
        if self.another and self.declared is not None:
            return False
        return self.bound is None or self.bound.is_continued_by(book)


def choose_ledger(
    table: Table,
    ledger: str | os.PathLike[str] | Ledger | None,
    secret: str | os.PathLike[str] | None,
    *,
    declared: DeclaredLedger | None = None,
    another: bool = False,
) -> LedgerChoice:
    """Choose the ledger of a release: the one named, that of the project file, that of the table, or a new one.

    Parameters
    ----------
    table : Table
    ledger : path, address or Ledger, optional
        As the caller named it.
    secret : path, optional
        The file beside which the secret is kept, instead of beside the data.
    declared : DeclaredLedger, optional
        What the project file says.
    another : bool
        Whether a second ledger is wanted.

    Raises
    ------
    BadInput
        For a frame without a ledger, and where another ledger is wanted and none is named.
    """
    if not isinstance(another, bool):
        raise BadInput("another_ledger", "is a switch", "write another_ledger=True, or leave it out")
    secret = None if secret is None else file_path(secret, "secret")
    wanted = ledger if ledger is not None or declared is None else declared.place
    if another and wanted is None:
        raise BadInput("another_ledger", "does not say which ledger", "name it with ledger=")
    book = None if wanted is None else find_ledger(table, wanted)
    bound = find_binding(table, secret, book)
    default = False
    if book is None:
        # A ledger beside the data is asked for what its folder knows, as before the table was bound to it.
        beside = find_ledger(table, None) if table.location is not None or bound is None else None
        default = bound is None or bound.ledger == beside
        book = beside if default or bound is None else bound.ledger
        assert book is not None
    return LedgerChoice(
        book=book,
        default=default,
        table=table.called or "the data",
        bound=bound,
        declared=declared,
        another=another,
        named=ledger is not None,
    )


def find_binding(table: Table, secret: str | os.PathLike[str] | None, book: Ledger | None) -> Binding | None:
    """Return the ledger that a table is bound to; None for one that was not released yet, and for a frame."""
    for state in _states(table, secret, book):
        noted = state.find_binding(str(whole_place(table, state.path.parent)))
        if noted is not None:
            place, head = noted
            place = str(state.path.parent / place) if place.startswith(_HERE) else place
            return Binding(Ledger(place), head)
    return None


def bind(table: Table, secret: str | os.PathLike[str] | None, book: Ledger, charged: Ledger) -> None:
    """Bind a table to the ledger that was charged, in the memory beside the data and in the one beside the secret."""
    with charged.store.reading() as rows:
        head = read_head(rows, charged.store, charged.place)
    for state in _states(table, secret, book) if head is not None else ():
        assert head is not None
        folder, place = state.path.parent, charged.place
        is_here = isinstance(place, Path) and place.parent == folder
        state.bind(str(whole_place(table, folder)), f"{_HERE}{Path(place).name}" if is_here else str(place), head)


def is_same(one: Ledger, other: Ledger) -> bool:
    """Tell whether two ledgers are one, in whatever spelling."""
    return identity_of(one.place) == identity_of(other.place)


def _states(table: Table, secret: str | os.PathLike[str] | None, book: Ledger | None) -> list[TableState]:
    """Return the memories of a table: beside the data, and beside its secret; none of a frame."""
    if place_of_table(table) is None:
        return []
    homes = [] if table.path is None else [table.path]
    if secret is not None:
        homes.append(Path(secret))
    elif table.path is None and book is not None and book.path is not None:
        homes.append(Path(secret_key_file(None, None, book)))
    return list(dict.fromkeys(TableState.beside(home) for home in homes))


def whole_place(table: Table, folder: Path | None = None) -> str | None:
    """Name the place of a table with all its partitions, as seen from a folder it lies in; None for a frame."""
    location = table.location
    if location is None:
        return place_of_table(table)
    path = f"{_HERE}{location.path.name}" if location.path.parent == folder else str(location.path)
    return "\n".join((path, location.pattern, location.inner))


def _place(book: Ledger) -> str:
    return str(book.place)
